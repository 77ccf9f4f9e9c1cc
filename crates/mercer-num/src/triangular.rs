//! Cholesky factors for repeated use, in f32 or f64: factorisation in place, solves with it and with its transpose,
//! and the matrices `L' D L` and `V D V'`. By faer.
//!
//! Cost: n^3 / 3 multiply-adds for the factor and for `L' D L`, n^2 / 2 per solve and right side, and per column of
//! V.

use std::ops::Range;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Spec};

use rayon::prelude::*;

use crate::product::par;
use crate::{Buffer, Fault, Mat, Real, narrow};

/// Columns of a factor that are solved for before what is below them.
const BLOCK: usize = 256;
/// Rows below that are one piece of work.
const RUN: usize = 512;

/// What a factor needs of its float type, by faer.
pub trait Factor: Sized {
    /// The lower half of a column-major matrix becomes its Cholesky factor; whether it is positive definite.
    fn cholesky(a: &mut [Self], n: usize, threads: usize) -> bool;
    /// The lower half of `out` becomes `l' r` of two lower triangular column-major matrices.
    fn lower_gram(out: &mut [Self], l: &[Self], r: &[Self], n: usize, threads: usize);
    /// The lower half of `out` becomes `v v'` of a column-major n x k matrix.
    fn lower_outer(out: &mut [Self], v: &[Self], n: usize, threads: usize);
    /// `L^-1` times a column-major n x k matrix, in its place.
    fn lower_solve_columns(l: &[Self], n: usize, right: &mut [Self], threads: usize);
    /// Solves with a block on the diagonal, or its transpose, for these rows of a column-major n x k matrix.
    fn lower_solve_part(
        l: &[Self],
        n: usize,
        block: Range<usize>,
        right: &mut [Self],
        k: usize,
        transposed: bool,
    );
}

macro_rules! factor {
    ($t:ty) => {
        impl Factor for $t {
            fn cholesky(a: &mut [Self], n: usize, threads: usize) -> bool {
                let par = par(threads);
                let need = factor::cholesky_in_place_scratch::<$t>(n, par, Spec::default());
                let a = MatMut::from_column_major_slice_mut(a, n, n);
                let stack = &mut MemBuffer::new(need);
                let ridge = factor::LltRegularization::default();
                factor::cholesky_in_place(a, ridge, par, MemStack::new(stack), Spec::default()).is_ok()
            }

            fn lower_gram(out: &mut [Self], l: &[Self], r: &[Self], n: usize, threads: usize) {
                matmul(
                    MatMut::from_column_major_slice_mut(out, n, n),
                    BlockStructure::TriangularLower,
                    Accum::Replace,
                    MatRef::from_column_major_slice(l, n, n).transpose(),
                    BlockStructure::TriangularUpper,
                    MatRef::from_column_major_slice(r, n, n),
                    BlockStructure::TriangularLower,
                    1.0,
                    par(threads),
                );
            }

            fn lower_outer(out: &mut [Self], v: &[Self], n: usize, threads: usize) {
                let v = MatRef::from_column_major_slice(v, n, v.len() / n);
                matmul(
                    MatMut::from_column_major_slice_mut(out, n, n),
                    BlockStructure::TriangularLower,
                    Accum::Replace,
                    v,
                    BlockStructure::Rectangular,
                    v.transpose(),
                    BlockStructure::Rectangular,
                    1.0,
                    par(threads),
                );
            }

            fn lower_solve_columns(l: &[Self], n: usize, right: &mut [Self], threads: usize) {
                let l = MatRef::from_column_major_slice(l, n, n);
                let k = right.len() / n;
                let right = MatMut::from_column_major_slice_mut(right, n, k);
                solve_lower_triangular_in_place(l, right, par(threads));
            }

            fn lower_solve_part(
                l: &[Self],
                n: usize,
                block: Range<usize>,
                right: &mut [Self],
                k: usize,
                transposed: bool,
            ) {
                let size = block.len();
                let l = MatRef::from_column_major_slice(l, n, n);
                let l = l.submatrix(block.start, block.start, size, size);
                let right = MatMut::from_column_major_slice_mut(right, n, k).subrows_mut(block.start, size);
                if transposed {
                    solve_upper_triangular_in_place(l.transpose(), right, faer::Par::Seq);
                } else {
                    solve_lower_triangular_in_place(l, right, faer::Par::Seq);
                }
            }
        }
    };
}
factor!(f32);
factor!(f64);

/// The Cholesky factor L of a symmetric positive definite n x n matrix, `A = L L'`.
#[derive(Debug)]
pub struct Lower<T: Real> {
    /// Column by column; only the lower half is valid.
    values: Buffer<T>,
    n: usize,
}

impl<T: Real> Lower<T> {
    /// Factors a symmetric matrix in its place, of which the lower half is read (column by column); fails where it is
    /// not positive definite to rounding, or not finite.
    ///
    /// ```
    /// use mercer_num::{Buffer, triangular::Lower};
    /// let mut a = Buffer::zeroed(4);
    /// a.copy_from_slice(&[4.0, 2.0, 2.0, 5.0]);
    /// let l = Lower::new(a, 2, 1)?;
    /// let mut x = [8.0, 14.0];
    /// l.solve(&mut x, 1, 1);
    /// l.solve_transposed(&mut x, 1, 1);
    /// assert_eq!(x, [0.75, 2.5]);
    /// # Ok::<(), mercer_num::Fault>(())
    /// ```
    pub fn new(mut a: Buffer<T>, n: usize, threads: usize) -> Result<Self, Fault> {
        assert_eq!(a.len(), n * n);
        let fine = n == 0 || T::cholesky(&mut a, n, threads);
        // Non-finite input propagates to a pivot.
        let fine = fine && (0..n).map(|i| a[i * n + i].f64()).all(|pivot| pivot > 0.0 && pivot.is_finite());
        if fine { Ok(Lower { values: a, n }) } else { Err(Fault::NotPositiveDefinite { n }) }
    }

    /// The order.
    pub fn order(&self) -> usize {
        self.n
    }

    /// The lower half, column by column, of the symmetric matrix `L' D L`; D is diagonal, the identity if there is none.
    pub fn gram(&self, diagonal: Option<&[f64]>, threads: usize) -> Buffer<T> {
        let n = self.n;
        let mut out = Buffer::stale(n * n);
        if n == 0 {
            return out;
        }
        if let Some(d) = diagonal {
            let mut scaled = Buffer::stale(n * n);
            for (to, from) in scaled.chunks_mut(n).zip(self.values.chunks(n)) {
                to.iter_mut().zip(from).zip(d).for_each(|((t, f), d)| *t = *f * T::of(*d));
            }
            T::lower_gram(&mut out, &self.values, &scaled, n, threads);
        } else {
            T::lower_gram(&mut out, &self.values, &self.values, n, threads);
        }
        out
    }

    /// `L` times a row-major n x k matrix, in f64.
    pub fn times(&self, right: &[f64], k: usize) -> Vec<f64> {
        assert_eq!(right.len(), self.n * k);
        let mut out = vec![0.0; right.len()];
        if k == 0 {
            return out;
        }
        for (j, (column, from)) in self.values.chunks(self.n.max(1)).zip(right.chunks(k)).enumerate() {
            for (to, l) in out[j * k..].chunks_mut(k).zip(&column[j..]) {
                to.iter_mut().zip(from).for_each(|(t, f)| *t += l.f64() * f);
            }
        }
        out
    }

    /// `L^-1` times columns of n numbers each, one after the other, in their place.
    pub fn solve_columns(&self, columns: &mut [T], threads: usize) {
        assert_eq!(columns.len() % self.n.max(1), 0);
        if !columns.is_empty() {
            T::lower_solve_columns(&self.values, self.n, columns, threads);
        }
    }

    /// `L^-1` times a row-major n x k matrix, in its place. The same bits on any number of threads.
    pub fn solve(&self, right: &mut [T], k: usize, threads: usize) {
        let n = self.n;
        let mut x = turned(right, n, k);
        for first in (0..n).step_by(BLOCK) {
            let end = n.min(first + BLOCK);
            T::lower_solve_part(&self.values, n, first..end, &mut x, k, false);
            // What the block takes from the rows below it.
            let by: Vec<T> =
                (first..end).flat_map(|j| (0..k).map(move |o| o * n + j)).map(|p| x[p]).collect();
            let parts = run_by_run(end..n, threads, |run| {
                let columns = Mat {
                    values: &self.values[first * n + run.start..],
                    rows: end - first,
                    cols: run.len(),
                    stride: n,
                };
                let mut out = vec![T::ZERO; k * run.len()];
                narrow::sums(&mut out, columns, &by);
                out
            });
            for (run, part) in parts {
                for (o, part) in part.chunks(run.len()).enumerate() {
                    x[o * n + run.start..o * n + run.end].iter_mut().zip(part).for_each(|(x, p)| *x -= *p);
                }
            }
        }
        right.copy_from_slice(&turned(&x, k, n));
    }

    /// `L'^-1` times a row-major n x k matrix, in its place. The same bits on any number of threads.
    pub fn solve_transposed(&self, right: &mut [T], k: usize, threads: usize) {
        let n = self.n;
        let mut x = turned(right, n, k);
        for first in (0..n).step_by(BLOCK).rev() {
            let end = n.min(first + BLOCK);
            if end < n && k > 0 {
                let below = Mat { values: &x[end..], rows: k, cols: n - end, stride: n };
                let parts = run_by_run(first..end, threads, |run| {
                    let columns = Mat {
                        values: &self.values[run.start * n + end..],
                        rows: run.len(),
                        cols: n - end,
                        stride: n,
                    };
                    let mut out = vec![T::ZERO; run.len() * k];
                    narrow::dots(&mut out, columns, below);
                    out
                });
                for (run, part) in parts {
                    for (j, part) in run.zip(part.chunks(k)) {
                        part.iter().enumerate().for_each(|(o, p)| x[o * n + j] -= *p);
                    }
                }
            }
            T::lower_solve_part(&self.values, n, first..end, &mut x, k, true);
        }
        right.copy_from_slice(&turned(&x, k, n));
    }
}

/// A row-major a x b matrix, its columns one after the other.
fn turned<T: Real>(from: &[T], a: usize, b: usize) -> Vec<T> {
    assert_eq!(from.len(), a * b);
    (0..b).flat_map(|j| (0..a).map(move |i| i * b + j)).map(|p| from[p]).collect()
}

/// Work on runs of a fixed length, which are the same on any number of threads.
fn run_by_run<T: Send>(
    all: Range<usize>,
    threads: usize,
    work: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Vec<(Range<usize>, Vec<T>)> {
    let long = if all.len() > 2 * BLOCK { RUN } else { BLOCK / 8 };
    let runs: Vec<Range<usize>> =
        all.clone().step_by(long).map(|first| first..all.end.min(first + long)).collect();
    let one = |run: Range<usize>| (run.clone(), work(run));
    if threads <= 1 { runs.into_iter().map(one).collect() } else { runs.into_par_iter().map(one).collect() }
}

/// The lower half, column by column, of `V V'`, V being columns of n numbers each, one after the other.
pub fn outer<T: Real>(columns: &[T], n: usize, threads: usize) -> Buffer<T> {
    assert_eq!(columns.len() % n.max(1), 0);
    let mut out = Buffer::zeroed(n * n);
    if !columns.is_empty() {
        T::lower_outer(&mut out, columns, n, threads);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close_to_scale, reference, toy};

    fn buffer(values: &[f64]) -> Buffer<f64> {
        let mut out = Buffer::zeroed(values.len());
        out.copy_from_slice(values);
        out
    }

    #[test]
    fn factors_solve_and_multiply_like_the_matrices_they_stand_for() {
        for n in [1, 7, 150] {
            let x = toy::normals(n, n + 3, 5);
            let a = reference::gram(&x, &x, n + 3, |a, b| a.iter().zip(b).map(|(p, q)| p * q).sum());
            for threads in [1, 2] {
                let l = Lower::new(buffer(&a), n, threads).expect("positive definite");
                assert_eq!(l.order(), n);
                let want = toy::normals(n, 3, 6);
                let mut got = reference::product(&a, &want, n, n, 3);
                l.solve(&mut got, 3, threads);
                l.solve_transposed(&mut got, 3, threads);
                close_to_scale(&got, &want, 1e-6);
                // L' D L has the entries e_i' L' D L e_j.
                let lower: Vec<f64> =
                    (0..n * n).map(|p| if p / n <= p % n { l.values[p] } else { 0.0 }).collect();
                let d: Vec<f64> = (0..n).map(|i| 0.5 + i as f64).collect();
                let scaled: Vec<f64> = lower.iter().enumerate().map(|(p, v)| v * d[p % n]).collect();
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(p, q)| p * q).sum();
                let half =
                    |a: &[f64]| (0..n * n).filter(|p| p / n <= p % n).map(|p| a[p]).collect::<Vec<_>>();
                let want = reference::gram(&lower, &scaled, n, dot);
                close_to_scale(&half(&l.gram(Some(&d), threads)), &half(&want), 1e-12);
                let want = reference::gram(&lower, &lower, n, dot);
                close_to_scale(&half(&l.gram(None, threads)), &half(&want), 1e-12);
                // Columns of their own.
                let v = toy::normals(4, n, 7);
                let mut solved = v.clone();
                l.solve_columns(&mut solved, threads);
                for (solved, v) in solved.chunks(n).zip(v.chunks(n)) {
                    close_to_scale(&l.times(solved, 1), v, 1e-8);
                }
                let rows: Vec<f64> = (0..4 * n).map(|p| v[p % 4 * n + p / 4]).collect();
                let want = reference::gram(&rows, &rows, 4, dot);
                close_to_scale(&half(&outer(&v, n, threads)), &half(&want), 1e-12);
                let twice = l.times(&v.iter().flat_map(|v| [*v, 2.0 * v]).take(2 * n).collect::<Vec<_>>(), 2);
                close_to_scale(
                    &twice.chunks(2).map(|p| p[1]).collect::<Vec<_>>(),
                    &l.times(&v[..n], 1).iter().map(|p| 2.0 * p).collect::<Vec<_>>(),
                    1e-12,
                );
            }
        }
    }

    /// Large enough that work is shared out.
    #[test]
    fn bits_do_not_depend_on_threads() {
        let (n, k) = (700, 7);
        let x = toy::normals(n, 40, 5);
        let mut a = reference::gram(&x, &x, 40, |a, b| a.iter().zip(b).map(|(p, q)| p * q).sum());
        (0..n).for_each(|i| a[i * n + i] += 1.0);
        let right: Vec<f32> = toy::normals(n, k, 6).iter().map(|v| *v as f32).collect();
        let of = |threads: usize| {
            let mut short = Buffer::zeroed(n * n);
            short.iter_mut().zip(&a).for_each(|(s, v)| *s = *v as f32);
            let l: Lower<f32> = Lower::new(short, n, threads).expect("positive definite");
            let (mut forth, mut back, mut wide) = (right.clone(), right.clone(), right.clone());
            l.solve(&mut forth, k, threads);
            l.solve_transposed(&mut back, k, threads);
            l.solve_columns(&mut wide, threads);
            let half = |m: &[f32]| (0..n * n).filter(|p| p / n <= p % n).map(|p| m[p]).collect::<Vec<f32>>();
            [
                half(&l.values),
                forth,
                back,
                wide.clone(),
                half(&l.gram(None, threads)),
                half(&outer(&wide, n, threads)),
            ]
        };
        let want = of(1);
        for threads in [2, 3, 8] {
            for (i, (got, want)) in of(threads).iter().zip(&want).enumerate() {
                let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert!(bits(got) == bits(want), "part {i} on {threads} threads");
            }
        }
    }

    #[test]
    fn what_has_no_factor_is_told() {
        assert!(Lower::new(buffer(&[1.0, 2.0, 2.0, 1.0]), 2, 1).is_err());
        assert!(Lower::new(buffer(&[f64::NAN]), 1, 1).is_err());
        assert!(Lower::new(buffer(&[0.0]), 1, 1).is_err());
        assert_eq!(Lower::new(buffer(&[]), 0, 1).expect("empty").order(), 0);
    }
}
