//! Rows of points for coordinate descent: one at a time, in their own float type.

use crate::data::{Data, View};
use crate::exec::{Exec, room_for_table};
use crate::gram::Rows;
use crate::num::{Mat, Real, product};
use crate::solve::Vectors;

/// Points that are rows of numbers, as [`descend`](crate::solve::descend) reads them.
#[derive(Debug, Clone, Copy)]
pub struct PointRows<'a> {
    points: View<'a>,
    /// The value of one more column, which all rows have.
    constant: Option<f64>,
}

impl<'a> PointRows<'a> {
    /// These points; `None` if they are not rows of numbers or have more columns than weights fit in memory.
    pub fn new(points: View<'a>, exec: Exec) -> Option<Self> {
        let numbers = matches!(points.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. });
        let fits =
            room_for_table("weights of all columns", 2, points.d, points.bytes(), exec.memory()).is_ok();
        (numbers && fits).then_some(PointRows { points, constant: None })
    }

    /// The same rows with one more column, of this value in every row: its weight is a penalised offset.
    #[must_use]
    pub fn with_constant(self, constant: f64) -> Self {
        PointRows { constant: Some(constant), ..self }
    }

    /// Where row i lies among dense values.
    fn run(&self, i: usize) -> std::ops::Range<usize> {
        i * self.points.d..(i + 1) * self.points.d
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

/// `out += X' diag(weight) X`, by products of blocks of rows; lines of `out` are `stride` apart.
fn dense_gram<T: Real>(x: &[T], d: usize, weight: &[f64], out: &mut [f64], stride: usize) {
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
        for (out, block) in out.chunks_mut(stride).zip(block.chunks(d.max(1))) {
            out.iter_mut().zip(block).for_each(|(o, b)| *o += b);
        }
    }
}

impl Vectors for PointRows<'_> {
    fn len(&self) -> usize {
        self.points.n
    }

    fn dim(&self) -> usize {
        self.points.d + usize::from(self.constant.is_some())
    }

    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let (w, own) = w.split_at(self.points.d);
        let row = match self.points.data {
            Data::F32(x) => dot(&x[self.run(i)], w),
            Data::F64(x) => dot(&x[self.run(i)], w),
            Data::Csr { start, column, value } => {
                let run = start[i]..start[i + 1];
                column[run.clone()].iter().zip(&value[run]).map(|(&c, v)| v * w[c as usize]).sum()
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => 0.0,
        };
        self.constant.map_or(row, |v| row + v * own[0])
    }

    fn add(&self, i: usize, a: f64, w: &mut [f64]) {
        let (w, own) = w.split_at_mut(self.points.d);
        if let Some(v) = self.constant {
            own[0] += a * v;
        }
        match self.points.data {
            Data::F32(x) => add(&x[self.run(i)], a, w),
            Data::F64(x) => add(&x[self.run(i)], a, w),
            Data::Csr { start, column, value } => {
                let run = start[i]..start[i + 1];
                column[run.clone()].iter().zip(&value[run]).for_each(|(&c, v)| w[c as usize] += a * v);
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {}
        }
    }

    fn entries(&self, i: usize) -> usize {
        let own = usize::from(self.constant.is_some());
        match self.points.data {
            Data::Csr { start, .. } => start[i + 1] - start[i] + own,
            _ => self.points.d + own,
        }
    }

    fn gram(&self, weight: &[f64], out: &mut [f64]) {
        let (d, stride) = (self.points.d, self.dim());
        match self.points.data {
            Data::F32(x) => dense_gram(x, d, weight, out, stride),
            Data::F64(x) => dense_gram(x, d, weight, out, stride),
            Data::Csr { start, column, value } => {
                for (i, &weight) in weight.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                    let run = start[i]..start[i + 1];
                    let (column, value) = (&column[run.clone()], &value[run]);
                    for (&a, v) in column.iter().zip(value) {
                        let (line, factor) = (&mut out[a as usize * stride..][..stride], weight * v);
                        column.iter().zip(value).for_each(|(&b, v)| line[b as usize] += factor * v);
                    }
                }
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {}
        }
        let Some(v) = self.constant else { return };
        // The constant's line and column: the weighted sum of the rows, and that of the weights.
        let mut sums = vec![0.0; stride];
        for (i, &weight) in weight.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            self.add(i, weight, &mut sums);
        }
        for (j, sum) in sums[..d].iter().enumerate() {
            out[j * stride + d] += v * sum;
            out[d * stride + j] += v * sum;
        }
        out[d * stride + d] += v * sums[d];
    }

    fn square(&self, i: usize) -> f64 {
        let row: f64 = match self.points.data {
            Data::F32(x) => x[self.run(i)].iter().map(|v| v.f64() * v.f64()).sum(),
            Data::F64(x) => x[self.run(i)].iter().map(|v| v * v).sum(),
            Data::Csr { start, value, .. } => value[start[i]..start[i + 1]].iter().map(|v| v * v).sum(),
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => 0.0,
        };
        self.constant.map_or(row, |v| row + v * v)
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

    #[test]
    fn a_constant_column_is_one_more_column() {
        let (n, d, v) = (9, 5, 0.75);
        let x = toy::normals(n, d, 4);
        let wide: Vec<f64> = x.chunks(d).flat_map(|row| [row, &[v]].concat()).collect();
        let (w, weight) = (toy::normals(1, d + 1, 5), toy::normals(1, n, 6));
        let with_column = Points::dense(wide, d + 1).expect("whole rows");
        let want = PointRows::new(with_column.view(), Exec::one()).expect("rows of numbers");
        let csr = Csr {
            start: (0..=n).map(|i| i * d).collect(),
            column: (0..n * d).map(|p| (p % d) as u32).collect(),
            value: x.clone(),
        };
        for points in [Points::dense(x.clone(), d), Points::sparse(csr, d)].map(|p| p.expect("whole rows")) {
            let rows = PointRows::new(points.view(), Exec::one()).expect("rows of numbers").with_constant(v);
            assert_eq!((rows.len(), rows.dim(), rows.entries(3)), (n, d + 1, d + 1));
            let (mut sums, mut wanted) = (vec![1.0; (d + 1) * (d + 1)], vec![1.0; (d + 1) * (d + 1)]);
            rows.gram(&weight, &mut sums);
            want.gram(&weight, &mut wanted);
            sums.iter().zip(&wanted).for_each(|(a, b)| close(*a, *b, 1e-12));
            for i in 0..n {
                close(rows.dot(i, &w), want.dot(i, &w), 1e-13);
                close(rows.square(i), want.square(i), 1e-13);
                let (mut moved, mut wanted) = (w.clone(), w.clone());
                rows.add(i, -0.5, &mut moved);
                want.add(i, -0.5, &mut wanted);
                moved.iter().zip(&wanted).for_each(|(a, b)| close(*a, *b, 1e-13));
            }
        }
    }
}
