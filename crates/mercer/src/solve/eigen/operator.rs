//! Symmetric matrices known by their products: dense ones, rows of kernel values, and the same centred.

use rayon::prelude::*;

use crate::gram::Rows;
use crate::num::product::Algebra;
use crate::num::{Buffer, Mat, product};
use crate::par::Par;

/// A symmetric n x n matrix A that multiplies blocks of vectors.
pub trait Operator: Sync {
    /// n.
    fn len(&self) -> usize;

    /// Whether n is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `out = x A`: rows of n numbers, as many in `out` as in `x`.
    fn apply(&self, x: &[f64], out: &mut [f64], par: Par);

    /// Multiply-adds that one block product costs beside those of its vectors, n^2 each: kernel values computed anew.
    fn overhead(&self) -> f64 {
        0.0
    }
}

/// A matrix in memory, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Dense<'a> {
    /// n x n values.
    pub values: &'a [f64],
    /// n.
    pub n: usize,
}

impl Operator for Dense<'_> {
    fn len(&self) -> usize {
        self.n
    }

    fn apply(&self, x: &[f64], out: &mut [f64], par: Par) {
        let n = self.n;
        product::nn(out, Mat::new(x, x.len() / n.max(1), n), Mat::new(self.values, n, n), par.threads());
    }
}

/// `H A H` with `H = 1 - 11'/n`: what centring in feature space does to a kernel matrix.
#[expect(missing_debug_implementations, reason = "the matrix inside is known by its products alone")]
#[derive(Clone, Copy)]
pub struct Centred<'a>(pub &'a dyn Operator);

impl Operator for Centred<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, x: &[f64], out: &mut [f64], par: Par) {
        let n = self.len().max(1);
        let centre = |v: &mut [f64]| {
            for line in v.chunks_mut(n) {
                let mean = line.iter().sum::<f64>() / n as f64;
                line.iter_mut().for_each(|v| *v -= mean);
            }
        };
        let mut x = x.to_vec();
        centre(&mut x);
        self.0.apply(&x, out, par);
        centre(out);
    }

    fn overhead(&self) -> f64 {
        self.0.overhead()
    }
}

/// Rows of kernel values in f32, widened tile by tile: sums are in f64.
///
/// The whole matrix is kept if it fits into the bytes given; else every product computes it anew, a batch of rows at a
/// time, and vectors had better come in wide blocks.
#[expect(missing_debug_implementations, reason = "holds rows that are known by what they compute")]
pub struct RowsOperator<'a> {
    rows: &'a dyn Rows,
    kept: Option<Buffer<f32>>,
}

/// Rows computed at a time where the matrix is not kept.
const BATCH: usize = 512;
/// Rows and columns of a tile of f64: half a megabyte.
const TILE_ROWS: usize = 128;
const TILE_COLS: usize = 512;

impl<'a> RowsOperator<'a> {
    /// Rows ready for products, the whole matrix in memory if `memory` bytes allow it.
    pub fn new(rows: &'a dyn Rows, memory: usize, par: Par) -> Self {
        let n = rows.len();
        let fits = n.saturating_mul(n).saturating_mul(4) <= memory;
        let kept = (rows.whole().is_none() && fits).then(|| {
            let mut values = Buffer::zeroed(n * n);
            rows.fill(&mut values, par);
            values
        });
        RowsOperator { rows, kept }
    }

    /// Whether every product computes the kernel values anew.
    pub fn recomputes(&self) -> bool {
        self.whole().is_none()
    }

    /// The whole matrix, if it is in memory.
    pub fn whole(&self) -> Option<&[f32]> {
        self.kept.as_deref().or_else(|| self.rows.whole())
    }

    /// `out` (rows x b) = some rows of the matrix times the b vectors in the rows of `x`.
    fn multiply(values: &[f32], n: usize, x: &[f64], out: &mut [f64], par: Par) {
        let b = x.len() / n;
        let work = |(values, out): (&[f32], &mut [f64])| {
            let rows = out.len() / b;
            let mut tile = vec![0.0; rows * TILE_COLS];
            for from in (0..n).step_by(TILE_COLS) {
                let cols = TILE_COLS.min(n - from);
                for (to, line) in tile.chunks_mut(cols).zip(values.chunks(n)) {
                    to.iter_mut().zip(&line[from..from + cols]).for_each(|(t, &v)| *t = f64::from(v));
                }
                let right = Mat { values: &x[from..], rows: b, cols, stride: n };
                f64::product_nt(out, b, from > 0, 1.0, Mat::new(&tile, rows, cols), right, 1);
            }
        };
        if par.threads() == 1 {
            values.chunks(TILE_ROWS * n).zip(out.chunks_mut(TILE_ROWS * b)).for_each(work);
        } else {
            values.par_chunks(TILE_ROWS * n).zip(out.par_chunks_mut(TILE_ROWS * b)).for_each(work);
        }
    }
}

impl Operator for RowsOperator<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn apply(&self, x: &[f64], out: &mut [f64], par: Par) {
        let n = self.len();
        if x.is_empty() {
            return;
        }
        let b = x.len() / n;
        let mut turned = vec![0.0; n * b];
        if let Some(whole) = self.whole() {
            Self::multiply(whole, n, x, &mut turned, par);
        } else {
            let mut values = Buffer::zeroed(BATCH.min(n) * n);
            for (p, out) in turned.chunks_mut(BATCH * b).enumerate() {
                let rows: Vec<u32> = (0..out.len() / b).map(|r| (p * BATCH + r) as u32).collect();
                let values = &mut values[..rows.len() * n];
                self.rows.block(&rows, values, par);
                Self::multiply(values, n, x, out, par);
            }
        }
        for (j, line) in out.chunks_mut(n).enumerate() {
            line.iter_mut().enumerate().for_each(|(i, v)| *v = turned[i * b + j]);
        }
    }

    fn overhead(&self) -> f64 {
        let n = self.len() as f64;
        if self.recomputes() { n * n * self.rows.cost() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::Matrix;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn every_operator_is_the_product() {
        let (n, b) = (300, 3);
        let x = toy::normals(n, 5, 1);
        let a = reference::gram(&x, &x, 5, |p, q| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>());
        let v = toy::normals(b, n, 2);
        let want = reference::product(&v, &a, b, n, n);
        let mut out = vec![f64::NAN; b * n];
        Dense { values: &a, n }.apply(&v, &mut out, Par::one());
        assert::close_to_scale(&out, &want, 1e-13);
        let matrix = Matrix::new(a.clone(), n).expect("symmetric");
        for par in [Par::one(), Par::new(2)] {
            RowsOperator::new(&matrix, 0, par).apply(&v, &mut out, par);
            assert::close_to_scale(&out, &want, 1e-6);
        }
        let means = crate::gram::Means::of(&a, n);
        let mut centred = a;
        means.centre_square(&mut centred);
        let want = reference::product(&v, &centred, b, n, n);
        let a = reference::gram(&x, &x, 5, |p, q| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>());
        Centred(&Dense { values: &a, n }).apply(&v, &mut out, Par::one());
        assert::close_to_scale(&out, &want, 1e-12);
    }

    /// Rows that are computed, not kept, give the same product.
    #[test]
    fn what_does_not_fit_is_computed_anew() {
        use crate::data::Points;
        use crate::gram::KernelRows;
        use crate::kernel::Kernel;
        let n = 700;
        let points = Points::dense(toy::normals(n, 4, 3), 4).expect("whole rows");
        let kernel = Kernel::Rbf { gamma: 0.3 };
        let rows = KernelRows::new(&kernel, &points).expect("dense");
        let v = toy::normals(5, n, 2);
        let (mut kept, mut anew) = (vec![0.0; 5 * n], vec![0.0; 5 * n]);
        let (large, small) =
            (RowsOperator::new(&rows, 1 << 30, Par::one()), RowsOperator::new(&rows, 0, Par::one()));
        assert!(!large.recomputes() && small.recomputes());
        large.apply(&v, &mut kept, Par::one());
        small.apply(&v, &mut anew, Par::one());
        assert::close_to_scale(&anew, &kept, 1e-6);
    }
}
