//! Orthonormalisation of rows, against an existing basis and among themselves.
//!
//! Classical block Gram-Schmidt, repeated. The block itself is orthonormalised through the eigenvectors of its Gram
//! matrix (Stathopoulos and Wu 2002), so only matrix products are needed, and linearly dependent directions show as
//! small eigenvalues.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::exec::Exec;
use crate::num::product::Algebra;
use crate::num::{Fault, Mat, factor, product};

/// Orthonormal rows of n numbers.
#[derive(Debug)]
pub(super) struct Basis {
    pub n: usize,
    pub rows: Vec<f64>,
    pub exec: Exec,
    rng: ChaCha8Rng,
}

/// A block `W = along V + beyond Q` with V the basis and Q orthonormal, orthogonal to V.
#[derive(Debug)]
pub(super) struct Split {
    /// w x m.
    pub along: Vec<f64>,
    /// w x r.
    pub beyond: Vec<f64>,
    /// r x n.
    pub q: Vec<f64>,
    /// r.
    pub rank: usize,
}

impl Basis {
    pub(super) fn new(n: usize, seed: u64, exec: Exec) -> Self {
        Basis { n, rows: Vec::new(), exec, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len() / self.n
    }

    /// Splits a block. Directions shorter than `small` are noise and are dropped.
    ///
    /// A Gram matrix resolves directions only down to the square root of machine precision. Directions are therefore
    /// processed in groups of similar length: each group is orthonormalised and removed from the block before the
    /// next is examined.
    pub(super) fn split(&self, mut w: Vec<f64>, small: f64) -> Result<Split> {
        let (m, width) = (self.len(), w.len() / self.n);
        let (mut along, mut beyond) = (vec![0.0; width * m], vec![0.0; width * width]);
        let (mut q, mut rank) = (Vec::new(), 0);
        self.take_out(&mut w, &self.rows, Some((&mut along, m)));
        for _ in 0..8 {
            let (s, u) = self.gram(&w)?;
            let floor = (small * small).max(1e-10 * s[0]);
            let keep = s.iter().take_while(|&&s| s > floor).count().min(width - rank);
            if keep == 0 {
                break;
            }
            let mut fresh = self.turned(&w, &s, &u, keep);
            for _ in 0..2 {
                self.take_out(&mut fresh, &self.rows, None);
                self.take_out(&mut fresh, &q, None);
                let (s, u) = self.gram(&fresh)?;
                fresh = self.turned(&fresh, &s, &u, keep);
                // Where nothing was lost, nothing is left to take out.
                if s[keep - 1] > 0.5 {
                    break;
                }
            }
            self.take_out(&mut w, &fresh, Some((&mut beyond[rank..], width)));
            q.extend(fresh);
            rank += keep;
            if rank == width {
                break;
            }
            // What the rest is made from next must not hold rounding along the basis.
            self.take_out(&mut w, &self.rows, Some((&mut along, m)));
        }
        let beyond = beyond.chunks(width.max(1)).flat_map(|row| row[..rank].iter().copied()).collect();
        Ok(Split { along, beyond, q, rank })
    }

    /// `w -= (w v') v` for orthonormal rows v; the coefficients are added to a matrix with the given row stride.
    fn take_out(&self, w: &mut [f64], v: &[f64], coef: Option<(&mut [f64], usize)>) {
        let (n, threads) = (self.n, self.exec.threads());
        let (rows, m) = (w.len() / n, v.len() / n);
        if rows == 0 || m == 0 {
            return;
        }
        let h = inner_products(w, v, n, threads);
        f64::product_nn(w, n, true, -1.0, Mat::new(&h, rows, m), Mat::new(v, m, n), threads);
        if let Some((coef, stride)) = coef {
            for (to, h) in coef.chunks_mut(stride).zip(h.chunks(m)) {
                to.iter_mut().zip(h).for_each(|(t, h)| *t += h);
            }
        }
    }

    /// Eigenvalues in descending order, and eigenvectors, of `w w'`.
    fn gram(&self, w: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
        let rows = w.len() / self.n;
        let g = inner_products(w, w, self.n, self.exec.threads());
        if g.iter().any(|v| !v.is_finite()) {
            return Err(Fault::NotFinite { what: "product with the matrix" }.into());
        }
        Ok(factor::eigen(&g, rows)?)
    }

    /// `S^-1/2 U' w` on the first directions.
    fn turned(&self, w: &[f64], s: &[f64], u: &[f64], keep: usize) -> Vec<f64> {
        let rows = w.len() / self.n;
        let turn: Vec<f64> =
            (0..keep * rows).map(|p| u[p % rows * rows + p / rows] / s[p / rows].sqrt()).collect();
        let mut out = vec![0.0; keep * self.n];
        product::nn(&mut out, Mat::new(&turn, keep, rows), Mat::new(w, rows, self.n), self.exec.threads());
        out
    }

    /// The given number of random orthonormal rows, orthogonal to the basis and to `more`.
    pub(super) fn random(&mut self, count: usize, more: &[f64]) -> Result<Vec<f64>> {
        let (n, have) = (self.n, self.rows.len());
        self.rows.extend_from_slice(more);
        let w = (0..count * n).map(|_| self.rng.next_u32() as f64 / f64::from(u32::MAX) - 0.5).collect();
        let split = self.split(w, 1e-8);
        self.rows.truncate(have);
        Ok(split?.q)
    }
}

/// Columns whose products are summed together: a fixed number, so that sums do not depend on threads.
const RUN: usize = 2048;

/// `w v'` for rows of n numbers. Few numbers come out and n is large, so threads share the columns, not the output.
fn inner_products(w: &[f64], v: &[f64], n: usize, threads: usize) -> Vec<f64> {
    let (rows, m) = (w.len() / n, v.len() / n);
    let mut sum = vec![0.0; rows * m];
    let part = |first: usize| {
        let cols = RUN.min(n - first);
        let of = |values, rows| Mat { values, rows, cols, stride: n };
        let mut out = vec![0.0; rows * m];
        product::nt(&mut out, of(&w[first..], rows), of(&v[first..], m), 1);
        out
    };
    let starts: Vec<usize> = (0..n).step_by(RUN).collect();
    // Some runs at a time: each has a whole output.
    for some in starts.chunks(64) {
        let parts: Vec<Vec<f64>> = if threads == 1 {
            some.iter().map(|&first| part(first)).collect()
        } else {
            some.par_iter().map(|&first| part(first)).collect()
        };
        parts.iter().for_each(|part| sum.iter_mut().zip(part).for_each(|(s, p)| *s += p));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn a_split_gives_the_block_back_however_ill_conditioned() {
        let n = 40;
        let mut basis = Basis::new(n, 1, Exec::one());
        basis.rows = basis.random(5, &[]).expect("finite");
        let mut w = toy::normals(4, n, 2);
        // The third row is the first up to 1e-9; the fourth lies in the basis.
        for i in 0..n {
            w[2 * n + i] = w[i] + 1e-9 * w[2 * n + i];
            w[3 * n + i] = basis.rows[i];
        }
        let split = basis.split(w.clone(), 1e-13).expect("finite");
        assert_eq!(split.rank, 3);
        let mut back = reference::product(&split.along, &basis.rows, 4, 5, n);
        let rest = reference::product(&split.beyond, &split.q, 4, 3, n);
        back.iter_mut().zip(&rest).for_each(|(b, r)| *b += r);
        assert::close_to_scale(&back, &w, 1e-14);
        let all = [basis.rows.as_slice(), &split.q].concat();
        let unit: Vec<f64> = (0..64).map(|p| f64::from(u8::from(p / 8 == p % 8))).collect();
        let turned: Vec<f64> = (0..n * 8).map(|p| all[p % 8 * n + p / 8]).collect();
        assert::all_close(&reference::product(&all, &turned, 8, n, 8), &unit, 1e-13);
    }

    #[test]
    fn inner_products_have_the_same_bits_for_any_number_of_threads() {
        for n in [1, 7, RUN, 3 * RUN + 5, 65 * RUN + 1] {
            let (w, v) = (toy::normals(3, n, 1), toy::normals(2, n, 2));
            let turned: Vec<f64> = (0..2 * n).map(|p| v[p % 2 * n + p / 2]).collect();
            let got = inner_products(&w, &v, n, 1);
            assert::all_close(&got, &reference::product(&w, &turned, 3, n, 2), 1e-10 * (n as f64));
            for threads in [2, 5] {
                assert_eq!(inner_products(&w, &v, n, threads), got, "{n} columns, {threads} threads");
            }
        }
    }
}
