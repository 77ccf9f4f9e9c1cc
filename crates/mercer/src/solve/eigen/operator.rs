//! Symmetric operators known by their products: dense matrices, rows of kernel values, and both centred.

use rayon::prelude::*;

use crate::exec::Exec;
use crate::gram::Rows;
use crate::num::{Buffer, Mat, Real, product};

/// A symmetric n x n matrix A that multiplies blocks of vectors.
pub trait Operator: Sync {
    /// n.
    fn len(&self) -> usize;

    /// Whether n is 0.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `out = x A`: rows of n numbers, as many in `out` as in `x`.
    fn apply(&self, x: &[f64], out: &mut [f64], exec: Exec);

    /// Multiply-adds of one block product beyond n^2 per vector: the cost of recomputing kernel values.
    fn overhead(&self) -> f64 {
        0.0
    }

    /// Rounding error of a product, relative to the largest eigenvalue; a residual below it is noise.
    fn rounding(&self) -> f64 {
        4.0 * f64::EPSILON * (self.len() as f64).sqrt()
    }
}

/// Rows of the matrix that are multiplied at a time by each thread, without a copy.
const STRIP: usize = 128;

/// `out` (rows x b) = rows of n values times the b vectors in the rows of `x`.
fn strips<T: Real>(values: &[T], n: usize, x: &[T], out: &mut [T], exec: Exec) {
    let b = x.len() / n;
    let work = |(values, out): (&[T], &mut [T])| {
        product::nt(out, Mat::new(values, out.len() / b, n), Mat::new(x, b, n), 1);
    };
    if exec.threads() == 1 {
        values.chunks(STRIP * n).zip(out.chunks_mut(STRIP * b)).for_each(work);
    } else {
        values.par_chunks(STRIP * n).zip(out.par_chunks_mut(STRIP * b)).for_each(work);
    }
}

/// The n x b result of [`strips`] as b rows.
fn turn<T: Real>(from: &[T], b: usize, to: &mut [f64]) {
    let n = from.len() / b;
    for (j, line) in to.chunks_mut(n).enumerate() {
        line.iter_mut().enumerate().for_each(|(i, v)| *v = from[i * b + j].f64());
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

    fn apply(&self, x: &[f64], out: &mut [f64], exec: Exec) {
        if x.is_empty() {
            return;
        }
        let mut turned = vec![0.0; x.len()];
        strips(self.values, self.n, x, &mut turned, exec);
        turn(&turned, x.len() / self.n, out);
    }
}

/// `H A H` with `H = 1 - 11'/n`: the kernel matrix centred in feature space.
#[expect(missing_debug_implementations, reason = "the matrix inside is known by its products alone")]
#[derive(Clone, Copy)]
pub struct Centred<'a>(pub &'a dyn Operator);

impl Operator for Centred<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn apply(&self, x: &[f64], out: &mut [f64], exec: Exec) {
        let n = self.len().max(1);
        let centre = |v: &mut [f64]| {
            for line in v.chunks_mut(n) {
                let mean = line.iter().sum::<f64>() / n as f64;
                line.iter_mut().for_each(|v| *v -= mean);
            }
        };
        let mut x = x.to_vec();
        centre(&mut x);
        self.0.apply(&x, out, exec);
        centre(out);
    }

    fn overhead(&self) -> f64 {
        self.0.overhead()
    }

    fn rounding(&self) -> f64 {
        self.0.rounding()
    }
}

/// Rows of kernel values in f32, multiplied in f32: half of the bytes and twice the speed of f64. This is accurate
/// enough for eigenvectors whose eigenvalues are to 1e-5 or so and not tiny compared with the first
/// ([`Operator::rounding`]).
///
/// The whole matrix is kept if it fits into the memory budget; otherwise every product recomputes it in batches of
/// rows, and wide blocks of vectors are advisable.
#[expect(missing_debug_implementations, reason = "holds rows that are known by what they compute")]
pub struct RowsOperator<'a> {
    rows: &'a dyn Rows,
    kept: Option<Buffer<f32>>,
    /// Whether a device keeps the matrix.
    on_device: bool,
}

/// [`Operator::rounding`] in f32: rounding errors of n terms have both signs, so sums stay well below the rounding of
/// the largest eigenvalue.
pub const ROUNDING_F32: f64 = 0.125 * f32::EPSILON as f64;

/// Rows computed at a time when the matrix is not kept.
const BATCH: usize = 512;
impl<'a> RowsOperator<'a> {
    /// Prepares rows for products; keeps the whole matrix if the memory budget allows it.
    pub fn new(rows: &'a dyn Rows, exec: Exec) -> Self {
        let n = rows.len();
        let fits = n.saturating_mul(n).saturating_mul(4) <= exec.budget();
        let on_device = rows.owner().is_some() && rows.times(&[], &mut []);
        let kept = (rows.whole().is_none() && fits && !on_device).then(|| {
            let mut values = Buffer::zeroed(n * n);
            rows.fill(&mut values, exec);
            values
        });
        RowsOperator { rows, kept, on_device }
    }

    /// Whether every product recomputes the kernel values.
    pub fn recomputes(&self) -> bool {
        self.whole().is_none() && !self.on_device
    }

    /// The whole matrix, if it is in memory.
    pub fn whole(&self) -> Option<&[f32]> {
        self.kept.as_deref().or_else(|| self.rows.whole())
    }
}

impl Operator for RowsOperator<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn apply(&self, x: &[f64], out: &mut [f64], exec: Exec) {
        let n = self.len();
        if x.is_empty() || self.on_device && self.rows.times(x, out) {
            return;
        }
        let b = x.len() / n;
        let x: Vec<f32> = x.iter().map(|&v| v as f32).collect();
        let mut turned = vec![0.0; n * b];
        if let Some(values) = self.whole() {
            strips(values, n, &x, &mut turned, exec);
        } else {
            let mut values = vec![0.0; BATCH.min(n) * n];
            for (p, out) in turned.chunks_mut(BATCH * b).enumerate() {
                let rows: Vec<u32> = (0..out.len() / b).map(|r| (p * BATCH + r) as u32).collect();
                let values = &mut values[..rows.len() * n];
                self.rows.block(&rows, values, exec);
                strips(values, n, &x, out, exec);
            }
        }
        turn(&turned, b, out);
    }

    fn overhead(&self) -> f64 {
        let n = self.len() as f64;
        if self.recomputes() { n * n * self.rows.cost() } else { 0.0 }
    }

    fn rounding(&self) -> f64 {
        ROUNDING_F32
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
        Dense { values: &a, n }.apply(&v, &mut out, Exec::one());
        assert::close_to_scale(&out, &want, 1e-13);
        let matrix = Matrix::new(a.clone(), n).expect("symmetric");
        for exec in [Exec::one(), Exec::new(2)] {
            RowsOperator::new(&matrix, exec.with_memory(0)).apply(&v, &mut out, exec);
            assert::close_to_scale(&out, &want, 1e-6);
        }
        let means = crate::gram::Means::of(&a, n);
        let mut centred = a;
        means.centre_square(&mut centred);
        let want = reference::product(&v, &centred, b, n, n);
        let a = reference::gram(&x, &x, 5, |p, q| p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>());
        Centred(&Dense { values: &a, n }).apply(&v, &mut out, Exec::one());
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
        let rows = KernelRows::new(&kernel, &points, Exec::one()).expect("dense");
        let v = toy::normals(5, n, 2);
        let (mut kept, mut anew) = (vec![0.0; 5 * n], vec![0.0; 5 * n]);
        let (large, small) =
            (RowsOperator::new(&rows, Exec::one()), RowsOperator::new(&rows, Exec::one().with_memory(0)));
        assert!(!large.recomputes() && small.recomputes());
        large.apply(&v, &mut kept, Exec::one());
        small.apply(&v, &mut anew, Exec::one());
        assert::close_to_scale(&anew, &kept, 1e-6);
    }
}
