//! The linear map `x -> A x + b`. Cost: n d k multiply-adds; sparse rows touch only the columns they have.

use rayon::prelude::*;

use crate::data::points::{Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::Mat;
use crate::num::product::Algebra;

/// A linear map of d columns; the matrix row by row, one row an output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linear<'a> {
    pub(super) d: usize,
    pub(super) matrix: &'a [f64],
    pub(super) offset: &'a [f64],
}

/// f32 rows widened at a time.
const BLOCK: usize = 1024;

impl Linear<'_> {
    pub(super) fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let k = self.offset.len();
        match points.data {
            Data::F32(x) => Points::dense_f32(self.narrow(x, exec), k),
            Data::F64(x) => Points::dense(self.product(x, points.n, exec), k),
            Data::Csr { start, column, value } => {
                // Columns of A as rows: a sparse row adds up those of its entries.
                let mut turned = vec![0.0; self.matrix.len()];
                for (o, row) in self.matrix.chunks_exact(self.d).enumerate() {
                    row.iter().enumerate().for_each(|(c, v)| turned[c * k + o] = *v);
                }
                let mut out = self.offset.repeat(points.n);
                let rows = points.n.div_ceil(exec.threads()).max(1);
                out.par_chunks_mut(rows * k).enumerate().for_each(|(piece, out)| {
                    for (i, out) in out.chunks_exact_mut(k).enumerate() {
                        let i = piece * rows + i;
                        for p in start[i]..start[i + 1] {
                            let from = &turned[column[p] as usize * k..][..k];
                            out.iter_mut().zip(from).for_each(|(to, a)| *to += value[p] * a);
                        }
                    }
                });
                Points::dense(out, k)
            }
            Data::Sequences { .. } | Data::RowNumbers(_) => {
                Err(Error::shape("points for stage linear", points.kind(), "rows of numbers"))
            }
        }
    }

    /// The matrix product `X A' + b` for f64 rows.
    fn product(&self, x: &[f64], n: usize, exec: Exec) -> Vec<f64> {
        let k = self.offset.len();
        let mut out = self.offset.repeat(n);
        let (x, a) = (Mat::new(x, n, self.d), Mat::new(self.matrix, k, self.d));
        f64::product_nt(&mut out, k, true, 1.0, x, a, exec.threads());
        out
    }

    /// f32 rows are widened in blocks: the matrix may be badly conditioned (a whitening is), and f32 sums would show it.
    fn narrow(&self, x: &[f32], exec: Exec) -> Vec<f32> {
        let mut out = Vec::with_capacity(x.len() / self.d * self.offset.len());
        for block in x.chunks(BLOCK * self.d) {
            let wide: Vec<f64> = block.iter().map(|&v| f64::from(v)).collect();
            out.extend(self.product(&wide, block.len() / self.d, exec).iter().map(|&v| v as f32));
        }
        out
    }
}
