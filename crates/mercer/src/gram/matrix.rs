//! A whole kernel matrix in memory: given by the caller, or computed once and shared.

use crate::data::View;
use crate::error::{Error, Fault, Result};
use crate::exec::Exec;
use crate::gram::{Layout, Rows, Side};
use crate::kernel::Kernel;
use crate::num::Buffer;
use crate::num::pass::accumulate;

/// A symmetric matrix in memory, in f32 for the solvers; values given in f64 are kept as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    n: usize,
    values: Buffer<f32>,
    exact: Option<Vec<f64>>,
}

impl Matrix {
    /// A precomputed matrix, row by row. Must be square, finite and symmetric to a relative 1e-6.
    pub fn new(values: Vec<f64>, n: usize) -> Result<Self> {
        if values.len() != n * n {
            return Err(Error::shape("values of a precomputed matrix", values.len(), format!("{n} x {n}")));
        }
        let fault = |i: usize, j: usize, expected: String| Fault {
            row: Some(i as u64 + 1),
            column: Some((j + 1).to_string()),
            got: Some(values[i * n + j].to_string()),
            expected,
            ..Fault::default()
        };
        for i in 0..n {
            for j in 0..n {
                let (v, w) = (values[i * n + j], values[j * n + i]);
                if !v.is_finite() {
                    return Err(fault(i, j, "a finite kernel value".into()).into());
                }
                if (v - w).abs() > 1e-6 * v.abs().max(w.abs()).max(1e-300) {
                    return Err(fault(
                        i,
                        j,
                        format!("{w}, the value across the diagonal: the matrix must be symmetric"),
                    )
                    .into());
                }
            }
        }
        Ok(Matrix {
            n,
            values: values.iter().map(|&v| v as f32).collect::<Vec<_>>().into(),
            exact: Some(values),
        })
    }

    /// A matrix of computed f32 values.
    pub(crate) fn from_f32(values: Buffer<f32>, n: usize) -> Self {
        debug_assert_eq!(values.len(), n * n);
        Matrix { n, values, exact: None }
    }

    /// The whole f32 matrix of a kernel on points. Half of the values are computed and mirrored.
    pub fn of(kernel: &Kernel, points: View<'_>, exec: Exec) -> Result<Self> {
        Self::under(kernel, points, &Layout::of(kernel, points, exec), exec)
    }

    /// The same under a given layout: that of the rows that matter, where others may be far away.
    pub fn under(kernel: &Kernel, points: View<'_>, layout: &Layout, exec: Exec) -> Result<Self> {
        super::check(kernel, points, points, exec.memory())?;
        let mut out = Buffer::stale(points.n * points.n);
        if !super::door::square(kernel, points, &mut out, exec)? {
            let side = Side::new(kernel, points, layout, exec)?;
            super::symmetric(kernel, &side, &mut out, exec);
        }
        Ok(Matrix::from_f32(out, points.n))
    }

    /// The matrix on some of its rows and columns, in f32, in a reused buffer.
    pub(crate) fn part(&self, keep: &[usize], mut buffer: Buffer<f32>) -> Self {
        let m = keep.len();
        if buffer.len() != m * m {
            buffer = Buffer::stale(m * m);
        }
        for (&i, line) in keep.iter().zip(buffer.chunks_mut(m.max(1))) {
            let row = &self.values[i * self.n..(i + 1) * self.n];
            line.iter_mut().zip(keep).for_each(|(v, &j)| *v = row[j]);
        }
        Matrix { n: m, values: buffer, exact: None }
    }

    /// Returns the buffer for reuse by the next matrix.
    pub(crate) fn into_buffer(self) -> Buffer<f32> {
        self.values
    }

    /// A row.
    pub(crate) fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    fn exact(&self, i: usize, j: usize) -> f64 {
        let at = i * self.n + j;
        self.exact.as_ref().map_or_else(|| f64::from(self.values[at]), |e| e[at])
    }
}

impl Rows for Matrix {
    fn len(&self) -> usize {
        self.n
    }

    fn diag(&self) -> Vec<f64> {
        (0..self.n).map(|i| self.exact(i, i)).collect()
    }

    fn block(&self, rows: &[u32], out: &mut [f32], _exec: Exec) {
        for (&r, out) in rows.iter().zip(out.chunks_mut(self.n)) {
            out.copy_from_slice(&self.values[r as usize * self.n..(r as usize + 1) * self.n]);
        }
    }

    fn apply(&self, rows: &[u32], coef: &[f64], out: &mut [f64], _exec: Exec) {
        let run = |r: u32| r as usize * self.n..(r as usize + 1) * self.n;
        if let Some(exact) = &self.exact {
            let lines: Vec<&[f64]> = rows.iter().map(|&r| &exact[run(r)]).collect();
            accumulate(out, &lines, coef);
        } else {
            let lines: Vec<&[f32]> = rows.iter().map(|&r| &self.values[run(r)]).collect();
            accumulate(out, &lines, coef);
        }
    }

    fn subset(&self, keep: &[u32]) -> Box<dyn Rows + '_> {
        let m = keep.len();
        let pick =
            |n: usize| keep.iter().flat_map(move |&i| keep.iter().map(move |&j| i as usize * n + j as usize));
        let values = pick(self.n).map(|at| self.values[at]).collect::<Vec<_>>().into();
        let exact = self.exact.as_ref().map(|e| pick(self.n).map(|at| e[at]).collect());
        Box::new(Matrix { n: m, values, exact })
    }

    fn whole(&self) -> Option<&[f32]> {
        Some(&self.values)
    }

    fn rounded(&self) -> bool {
        self.exact.is_some()
    }

    fn cost(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_is_the_matrix_on_its_rows() {
        let m = Matrix::new(vec![1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0], 3).expect("symmetric");
        let s = m.subset(&[2, 0]);
        assert_eq!(s.whole(), Some(&[6.0, 3.0, 3.0, 1.0][..]));
        let mut out = [0.0; 2];
        s.apply(&[0], &[2.0], &mut out, Exec::one());
        assert_eq!(out, [12.0, 6.0]);
    }

    #[test]
    fn what_is_no_kernel_matrix_is_refused_with_its_place() {
        let e = Matrix::new(vec![1.0, 2.0, 3.0, 1.0], 2).expect_err("not symmetric");
        assert_eq!(
            e.to_string(),
            "row 1, column 2: got 2, expected 3, the value across the diagonal: the matrix must be symmetric"
        );
        assert!(Matrix::new(vec![f64::NAN], 1).is_err());
    }
}
