//! The interface between kernels and solvers.

use crate::exec::{Device, Exec};

/// Identifies rows on a device to its back end for solvers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The device.
    pub device: Device,
    /// A number that the device assigned to the rows; it has no meaning elsewhere.
    pub key: u64,
}

/// Rows of a symmetric n x n matrix of kernel values.
///
/// Values are f32, which is enough to choose directions and steps. [`Rows::apply`] is computed in f64, so that a
/// solver can correct accumulated f32 rounding and converge to any tolerance.
pub trait Rows: Sync {
    /// n.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The diagonal, in f64.
    fn diag(&self) -> Vec<f64>;

    /// Some rows against all columns: `out[p * n + j] = K(rows[p], j)`. Larger batches cost less per row.
    fn block(&self, rows: &[u32], out: &mut [f32], exec: Exec);

    /// `out[i] += sum_p coef[p] K(i, rows[p])` for all i, with values and sums in f64.
    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], exec: Exec);

    /// Products with b vectors where a device keeps the whole matrix: `out[c * n + i] = sum_j K(i, j) x[c * n + j]`,
    /// values in f32 and sums in f64. Returns false if nothing was computed. Without vectors it only tells whether
    /// such products are available.
    fn times(&self, x: &[f64], out: &mut [f64]) -> bool {
        let _ = (x, out);
        false
    }

    /// [`Rows::apply`] at some rows only: `out[s] += sum_p coef[p] K(at[s], rows[p])`.
    fn apply_at(&self, rows: &[u32], coef: &[f64], at: &[u32], out: &mut [f64], exec: Exec) {
        let mut row = vec![0.0; self.len()];
        for (out, &i) in out.iter_mut().zip(at) {
            row.fill(0.0);
            self.apply(&[i], &[1.0], &mut row, exec);
            *out += rows.iter().zip(coef).map(|(&r, c)| c * row[r as usize]).sum::<f64>();
        }
    }

    /// The same matrix on some of its rows and columns: row p of the view is row `keep[p]` here. Prepared for many
    /// calls: the points are gathered, so it costs a copy of them.
    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_>;

    /// The whole matrix, if it is in memory: n * n values row by row.
    fn whole(&self) -> Option<&[f32]> {
        None
    }

    /// Writes the whole matrix to `out` (n * n values). Implementations that can compute half and mirror it do so.
    fn fill(&self, out: &mut [f32], exec: Exec) {
        let n = self.len();
        if let Some(whole) = self.whole() {
            out.copy_from_slice(whole);
            return;
        }
        let rows: Vec<u32> = (0..n as u32).collect();
        for (rows, out) in rows.chunks(256).zip(out.chunks_mut(256 * n.max(1))) {
            self.block(rows, out, exec);
        }
    }

    /// Whether the f32 values are rounded, so that [`Rows::apply`] is more precise than [`Rows::block`].
    fn rounded(&self) -> bool {
        true
    }

    /// Whether other problems use the rows that this one asks for, so that it should ask for few.
    fn shared(&self) -> bool {
        false
    }

    /// The device that keeps the rows; `None` for the CPU.
    fn owner(&self) -> Option<Owner> {
        None
    }

    /// Multiply-adds per kernel value, for deciding what is worth computing.
    fn cost(&self) -> f64;
}

impl std::fmt::Debug for dyn Rows + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows({})", self.len())
    }
}

/// The whole matrix in f64, n x n.
pub(crate) fn exact(rows: &dyn Rows, exec: Exec) -> Vec<f64> {
    let n = rows.len();
    let mut out = vec![0.0; n * n];
    for (i, line) in (0u32..).zip(out.chunks_mut(n.max(1))) {
        rows.apply(&[i], &[1.0], line, exec);
    }
    out
}
