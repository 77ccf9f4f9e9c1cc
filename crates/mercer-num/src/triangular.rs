//! Cholesky factors for repeated use, in f32 or f64: factorisation in place, solves with it and with its transpose,
//! and the matrices `L' D L` and `V D V'`. By faer.
//!
//! Cost: n^3 / 3 multiply-adds for the factor and for `L' D L`, n^2 / 2 per solve and right side, and per column of
//! V.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Spec};

use rayon::prelude::*;

use crate::product::par;
use crate::{Buffer, Fault, Real};

/// Columns that are solved for together.
const COLUMNS: usize = 6;

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
    /// `L'^-1` times a column-major n x k matrix, in its place.
    fn lower_solve_transposed(l: &[Self], n: usize, right: &mut [Self], threads: usize);
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

            fn lower_solve_transposed(l: &[Self], n: usize, right: &mut [Self], threads: usize) {
                let l = MatRef::from_column_major_slice(l, n, n);
                let k = right.len() / n;
                let right = MatMut::from_column_major_slice_mut(right, n, k);
                solve_upper_triangular_in_place(l.transpose(), right, par(threads));
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
        self.some_at_a_time(right, k, threads, |part| T::lower_solve_columns(&self.values, self.n, part, 1));
    }

    /// `L'^-1` times a row-major n x k matrix, in its place. The same bits on any number of threads.
    pub fn solve_transposed(&self, right: &mut [T], k: usize, threads: usize) {
        self.some_at_a_time(right, k, threads, |part| {
            T::lower_solve_transposed(&self.values, self.n, part, 1);
        });
    }

    /// Solves for a fixed number of columns at a time, because the order of summation depends on their number.
    fn some_at_a_time(&self, right: &mut [T], k: usize, threads: usize, solve: impl Fn(&mut [T]) + Sync) {
        assert_eq!(right.len(), self.n * k);
        let n = self.n;
        let together = |first: usize| {
            let wide = COLUMNS.min(k - first);
            let mut part: Vec<T> = (0..n * wide).map(|p| right[p % n * k + first + p / n]).collect();
            solve(&mut part);
            part
        };
        let starts: Vec<usize> = if n == 0 { Vec::new() } else { (0..k).step_by(COLUMNS).collect() };
        let parts: Vec<Vec<T>> = if threads <= 1 {
            starts.iter().map(|&first| together(first)).collect()
        } else {
            starts.par_iter().map(|&first| together(first)).collect()
        };
        for (&first, part) in starts.iter().zip(&parts) {
            for (column, values) in part.chunks(n).enumerate() {
                values.iter().enumerate().for_each(|(i, v)| right[i * k + first + column] = *v);
            }
        }
    }
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
