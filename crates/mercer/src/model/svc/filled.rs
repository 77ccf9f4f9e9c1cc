//! Rows whose whole matrix was computed into memory that someone else holds.

use crate::gram::Rows;
use crate::par::Par;

/// A whole matrix of f32 values beside the rows it was computed from, which still give the exact sums.
#[derive(Clone, Copy)]
pub(super) struct Filled<'a> {
    pub(super) values: &'a [f32],
    pub(super) exact: &'a dyn Rows,
}

impl Rows for Filled<'_> {
    fn len(&self) -> usize {
        self.exact.len()
    }

    fn diag(&self) -> Vec<f64> {
        self.exact.diag()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], _par: Par) {
        let n = self.len();
        for (&r, out) in rows.iter().zip(out.chunks_mut(n)) {
            out.copy_from_slice(&self.values[r as usize * n..(r as usize + 1) * n]);
        }
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], par: Par) {
        self.exact.apply(rows, coef, out, par);
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        self.exact.subset(keep)
    }

    fn whole(&self) -> Option<&[f32]> {
        Some(self.values)
    }

    fn cost(&self) -> f64 {
        0.0
    }
}
