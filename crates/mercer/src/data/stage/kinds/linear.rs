//! The linear map `x -> A x + b`. Cost: n d k multiply-adds; sparse rows touch only the columns they have.

use rayon::prelude::*;

use super::prelude::*;
use crate::data::stage::Stage;
use crate::exec::FEW;
use crate::num::Mat;
use crate::num::product::Algebra;
use crate::num::vector::Vector as _;

/// A linear map; the matrix row by row, one row an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::data::stage) struct Linear {
    pub(super) outputs: usize,
    /// The lambda of an invariance, where the map is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) invariance: Option<f64>,
    #[serde(skip)]
    pub(super) matrix: Vec<f64>,
    #[serde(skip)]
    pub(super) offset: Vec<f64>,
}

impl Stage {
    /// The linear map `x -> A x + b`: A row by row with `d` columns, b by default 0. Images stay images where A is
    /// square.
    pub fn linear(matrix: Vec<f64>, d: usize, offset: Option<Vec<f64>>) -> Result<Self> {
        if d == 0 || matrix.is_empty() || !matrix.len().is_multiple_of(d) {
            return Err(Error::shape("matrix of a linear map", matrix.len(), format!("rows of {d} values")));
        }
        let outputs = matrix.len() / d;
        let offset = offset.unwrap_or_else(|| vec![0.0; outputs]);
        if offset.len() != outputs {
            return Err(Error::shape("offsets of a linear map", offset.len(), outputs));
        }
        let linear = Linear { outputs, invariance: None, matrix, offset };
        Stage { at: Frame { d, image: None }, op: Op::Linear(linear) }.checked()
    }
}

impl Kind for Linear {
    fn name(&self) -> Option<&'static str> {
        self.invariance.is_none().then_some("linear")
    }

    fn describe(&self, at: Frame) -> String {
        match self.invariance {
            Some(lambda) => format!("invariant: {} columns to {}, lambda {lambda}", at.d, self.outputs),
            None => format!("linear: {} columns to {}", at.d, self.outputs),
        }
    }

    fn apply(&self, at: Frame, points: View<'_>, exec: Exec) -> Result<Points> {
        Product { d: at.d, matrix: &self.matrix, offset: &self.offset }.apply(points, exec)
    }

    fn output(&self, at: Frame) -> Frame {
        Frame { d: self.outputs, image: at.image.filter(|_| self.outputs == at.d) }
    }

    fn arrays(&mut self, at: Frame) -> Vec<Array<'_>> {
        vec![
            Array { name: "matrix", shape: Some(vec![self.outputs, at.d]), values: &mut self.matrix },
            Array { name: "offset", shape: Some(vec![self.outputs]), values: &mut self.offset },
        ]
    }

    fn is_valid(&self, at: Frame) -> bool {
        self.outputs > 0
            && self.outputs.checked_mul(at.d) == Some(self.matrix.len())
            && self.offset.len() == self.outputs
    }
}

/// The map on points. The matrix is row by row, one row an output.
pub(super) struct Product<'a> {
    pub(super) d: usize,
    pub(super) matrix: &'a [f64],
    pub(super) offset: &'a [f64],
}

/// f32 rows widened at a time.
const BLOCK: usize = 1024;

impl Product<'_> {
    fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let k = self.offset.len();
        if let Data::F32(x) = points.data {
            return Points::dense_f32(self.narrow(x, exec), k);
        }
        Points::dense(self.wide("linear", points, exec)?, k)
    }

    /// The values in f64, row by row, for a stage of this name.
    pub(super) fn wide(&self, stage: &str, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let k = self.offset.len();
        match points.data {
            Data::F32(x) => {
                let mut out = Vec::with_capacity(points.n * k);
                self.each_block(x, exec, |values| out.extend_from_slice(values));
                Ok(out)
            }
            Data::F64(x) => Ok(self.product(x, points.n, exec)),
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
                Ok(out)
            }
            Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
                Err(Error::shape(format!("points for stage {stage}"), points.kind(), "rows of numbers"))
            }
        }
    }

    /// The matrix product `X A' + b` for f64 rows.
    fn product(&self, x: &[f64], n: usize, exec: Exec) -> Vec<f64> {
        let k = self.offset.len();
        let mut out = self.offset.repeat(n);
        if n <= FEW {
            let mut sums = vec![0.0; k];
            for (x, out) in x.chunks(self.d).zip(out.chunks_mut(k)) {
                f64::dots(x, self.matrix, &mut sums);
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
            }
            return out;
        }
        let (x, a) = (Mat::new(x, n, self.d), Mat::new(self.matrix, k, self.d));
        f64::product_nt(&mut out, k, true, 1.0, x, a, exec.threads());
        out
    }

    /// f32 rows are widened in blocks: the matrix may be badly conditioned (a whitening is), and f32 sums would show it.
    fn narrow(&self, x: &[f32], exec: Exec) -> Vec<f32> {
        let mut out = Vec::with_capacity(x.len() / self.d * self.offset.len());
        self.each_block(x, exec, |values| out.extend(values.iter().map(|&v| v as f32)));
        out
    }

    fn each_block(&self, x: &[f32], exec: Exec, mut take: impl FnMut(&[f64])) {
        for block in x.chunks(BLOCK * self.d) {
            let wide: Vec<f64> = block.iter().map(|&v| f64::from(v)).collect();
            take(&self.product(&wide, block.len() / self.d, exec));
        }
    }
}
