//! Rows of points for coordinate descent: one at a time, in their own float type.

use crate::data::{Data, View};
use crate::exec::{Exec, room_for_table};
use crate::gram::Rows;
use crate::num::{Mat, Real, product};
use crate::solve::Vectors;

/// Points that are rows of numbers, as [`descend`](crate::solve::descend) reads them.
#[derive(Debug, Clone, Copy)]
pub struct PointRows<'a>(View<'a>);

impl<'a> PointRows<'a> {
    /// These points; `None` if they are not rows of numbers or have more columns than weights fit in memory.
    pub fn new(points: View<'a>, exec: Exec) -> Option<Self> {
        let numbers = matches!(points.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. });
        let fits =
            room_for_table("weights of all columns", 2, points.d, points.bytes(), exec.memory()).is_ok();
        (numbers && fits).then_some(PointRows(points))
    }
}

/// Eight partial sums, so that the loop vectorises.
fn dot<T: Real>(x: &[T], w: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let ((x, x_rest), (w, w_rest)) = (x.as_chunks::<8>(), w.as_chunks::<8>());
    for (x, w) in x.iter().zip(w) {
        (0..8).for_each(|k| lanes[k] += x[k].f64() * w[k]);
    }
    lanes.iter().sum::<f64>() + x_rest.iter().zip(w_rest).map(|(x, w)| x.f64() * w).sum::<f64>()
}

fn add<T: Real>(x: &[T], a: f64, w: &mut [f64]) {
    w.iter_mut().zip(x).for_each(|(w, x)| *w += a * x.f64());
}

/// Rows per matrix product; some hundreds are needed for its full speed.
const ROWS: usize = 512;

/// `out += X' diag(weight) X`, by products of blocks of rows.
fn dense_gram<T: Real>(x: &[T], d: usize, weight: &[f64], out: &mut [f64]) {
    let mut block = vec![0.0; d * d];
    let (mut plain, mut scaled) = (Vec::new(), Vec::new());
    for (rows, weight) in x.chunks(ROWS * d.max(1)).zip(weight.chunks(ROWS)) {
        let m = weight.len();
        // Transposed, so that the product is of rows with rows.
        plain.clear();
        scaled.clear();
        for j in 0..d {
            plain.extend(rows[j..].iter().step_by(d).map(|v| v.f64()));
            scaled.extend(plain[j * m..].iter().zip(weight).map(|(v, w)| v * w));
        }
        product::nt(&mut block, Mat::new(&scaled, d, m), Mat::new(&plain, d, m), 1);
        out.iter_mut().zip(&block).for_each(|(o, b)| *o += b);
    }
}

impl Vectors for PointRows<'_> {
    fn len(&self) -> usize {
        self.0.n
    }

    fn dim(&self) -> usize {
        self.0.d
    }

    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let row = i * self.0.d..(i + 1) * self.0.d;
        match self.0.data {
            Data::F32(x) => dot(&x[row], w),
            Data::F64(x) => dot(&x[row], w),
            Data::Csr { start, column, value } => {
                let run = start[i]..start[i + 1];
                column[run.clone()].iter().zip(&value[run]).map(|(&c, v)| v * w[c as usize]).sum()
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => 0.0,
        }
    }

    fn add(&self, i: usize, a: f64, w: &mut [f64]) {
        let row = i * self.0.d..(i + 1) * self.0.d;
        match self.0.data {
            Data::F32(x) => add(&x[row], a, w),
            Data::F64(x) => add(&x[row], a, w),
            Data::Csr { start, column, value } => {
                let run = start[i]..start[i + 1];
                column[run.clone()].iter().zip(&value[run]).for_each(|(&c, v)| w[c as usize] += a * v);
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {}
        }
    }

    fn entries(&self, i: usize) -> usize {
        match self.0.data {
            Data::Csr { start, .. } => start[i + 1] - start[i],
            _ => self.0.d,
        }
    }

    fn gram(&self, weight: &[f64], out: &mut [f64]) {
        match self.0.data {
            Data::F32(x) => dense_gram(x, self.0.d, weight, out),
            Data::F64(x) => dense_gram(x, self.0.d, weight, out),
            Data::Csr { start, column, value } => {
                for (i, &weight) in weight.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                    let run = start[i]..start[i + 1];
                    let (column, value) = (&column[run.clone()], &value[run]);
                    for (&a, v) in column.iter().zip(value) {
                        let (line, factor) = (&mut out[a as usize * self.0.d..][..self.0.d], weight * v);
                        column.iter().zip(value).for_each(|(&b, v)| line[b as usize] += factor * v);
                    }
                }
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {}
        }
    }

    fn square(&self, i: usize) -> f64 {
        let row = i * self.0.d..(i + 1) * self.0.d;
        match self.0.data {
            Data::F32(x) => x[row].iter().map(|v| v.f64() * v.f64()).sum(),
            Data::F64(x) => x[row].iter().map(|v| v * v).sum(),
            Data::Csr { start, value, .. } => value[start[i]..start[i + 1]].iter().map(|v| v * v).sum(),
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => 0.0,
        }
    }
}

/// The rows of a given matrix as points of a linear machine: points whose inner products are its values. A weight
/// vector is represented by its coefficients.
pub(super) struct MatrixRows {
    values: Vec<f64>,
    n: usize,
}

impl MatrixRows {
    /// Maximum number of rows.
    const MOST: usize = 1000;

    /// Reads the whole matrix; `None` if it is large.
    pub(super) fn new(rows: &dyn Rows, exec: Exec) -> Option<Self> {
        let n = rows.len();
        if n == 0 || n > Self::MOST {
            return None;
        }
        let mut values = vec![0.0; n * n];
        values.chunks_mut(n).enumerate().for_each(|(i, row)| rows.apply(&[i as u32], &[1.0], row, exec));
        Some(MatrixRows { values, n })
    }
}

impl Vectors for MatrixRows {
    fn len(&self) -> usize {
        self.n
    }
    fn dim(&self) -> usize {
        self.n
    }
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        dot(&self.values[i * self.n..][..self.n], w)
    }
    fn add(&self, i: usize, a: f64, w: &mut [f64]) {
        w[i] += a;
    }
    fn square(&self, i: usize) -> f64 {
        self.values[i * self.n + i]
    }
    fn length(&self, w: &[f64]) -> f64 {
        (0..self.n).filter(|&i| w[i] != 0.0).map(|i| w[i] * self.dot(i, w)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Csr, Points};
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn a_row_is_the_same_row_in_every_storage() {
        let (n, d) = (9, 21);
        let x: Vec<f64> = toy::normals(n, d, 4)
            .iter()
            .map(|v| if v.abs() < 0.7 { 0.0 } else { f64::from(*v as f32) })
            .collect();
        let w = toy::normals(1, d, 5);
        let wide = Points::dense(x.clone(), d).expect("whole rows");
        let narrow = Points::dense_f32(x.iter().map(|&v| v as f32).collect(), d).expect("whole rows");
        let entries = || (0..n * d).filter(|&p| x[p] != 0.0);
        let csr = Csr {
            start: (0..=n).map(|i| entries().filter(|&p| p < i * d).count()).collect(),
            column: entries().map(|p| (p % d) as u32).collect(),
            value: entries().map(|p| x[p]).collect(),
        };
        let sparse = Points::sparse(csr, d).expect("whole rows");
        let weight: Vec<f64> = (0..n).map(|i| if i == 3 { 0.0 } else { i as f64 - 2.5 }).collect();
        let gram = |j: usize, k: usize| (0..n).map(|i| weight[i] * x[i * d + j] * x[i * d + k]).sum::<f64>();
        for points in [&wide, &narrow, &sparse] {
            let rows = PointRows::new(points.view(), Exec::one()).expect("rows of numbers");
            assert_eq!((rows.len(), rows.dim()), (n, d));
            let mut sums = vec![1.0; d * d];
            rows.gram(&weight, &mut sums);
            (0..d * d).for_each(|p| close(sums[p], 1.0 + gram(p / d, p % d), 1e-12));
            for i in 0..n {
                let row = &x[i * d..(i + 1) * d];
                close(rows.dot(i, &w), row.iter().zip(&w).map(|(a, b)| a * b).sum(), 1e-13);
                close(rows.square(i), row.iter().map(|v| v * v).sum(), 1e-13);
                let mut moved = w.clone();
                rows.add(i, -0.5, &mut moved);
                (0..d).for_each(|j| close(moved[j], w[j] - 0.5 * row[j], 1e-13));
            }
        }
    }
}
