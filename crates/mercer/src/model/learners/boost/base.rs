//! Base learners of boosting: stumps, networks and kernel functions, and the expansion that contains all hypotheses.

use super::{BaseLearner, BoostParams};
use crate::data::{Csr, Data, Points};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::learners::given::Given;
use crate::model::{NetworkParams, Place, Weights};
use crate::num::{Mat, product};
use crate::solve::network::{Network, NetworkProblem, adapt};
use crate::watch::silent;

/// A hypothesis.
enum Hypothesis {
    /// `sign (x_column - threshold)`.
    Stump { column: usize, threshold: f64, sign: f64 },
    /// The sign of a network's output.
    Network(Box<Network>),
    /// `sign k(x_row, .) / scale`.
    Kernel { row: usize, sign: f64 },
}

/// A base learner with the hypotheses it has produced.
pub(super) struct Bases<'a> {
    params: &'a BoostParams,
    kernel: Kernel,
    points: &'a Points,
    rows: &'a [u32],
    exec: Exec,
    made: Vec<Hypothesis>,
    /// The points as numbers, for stumps and networks.
    x: Vec<f64>,
    /// For stumps: the rows sorted by each column.
    order: Vec<Vec<u32>>,
    /// For kernel functions: the matrix and the largest of its values.
    gram: Vec<f64>,
    scale: f64,
}

impl<'a> Bases<'a> {
    pub(super) fn new(
        params: &'a BoostParams,
        given: &Given<'_>,
        points: &'a Points,
        rows: &'a [u32],
    ) -> Result<Self> {
        let exec = given.exec;
        let mut bases = Bases {
            params,
            kernel: given.kernel.clone(),
            points,
            rows,
            exec,
            made: Vec::new(),
            x: Vec::new(),
            order: Vec::new(),
            gram: Vec::new(),
            scale: 1.0,
        };
        let (n, d) = (points.len(), points.dim());
        match params.base {
            BaseLearner::Kernel => {
                bases.gram = given.matrix(rows, 2)?;
                let largest = bases.gram.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                bases.scale = if largest > 0.0 { largest } else { 1.0 };
            }
            BaseLearner::Stump => {
                bases.x = points.view().to_f64_within(exec.memory())?;
                let x = &bases.x;
                let sorted = |j: usize| {
                    let mut order: Vec<u32> = (0..n as u32).collect();
                    order.sort_by(|&a, &b| x[a as usize * d + j].total_cmp(&x[b as usize * d + j]));
                    order
                };
                bases.order = (0..d).map(sorted).collect();
            }
            BaseLearner::Network => {
                // Converted first, because the width of a Gaussian requires numbers too.
                bases.x = points.view().to_f64_within(exec.memory())?;
                let Kernel::Rbf { .. } = bases.kernel else {
                    return Err(Error::param("kernel", &bases.kernel, "rbf for networks whose centres move"));
                };
            }
        }
        Ok(bases)
    }

    pub(super) fn len(&self) -> usize {
        self.made.len()
    }

    /// A hypothesis with a large edge under weights d; returns its values on all rows.
    pub(super) fn next(&mut self, y: &[f64], d: &[f64]) -> Result<Vec<f64>> {
        let (hypothesis, values) = match self.params.base {
            BaseLearner::Stump => self.stump(y, d),
            BaseLearner::Kernel => self.kernel_function(y, d),
            BaseLearner::Network => self.network(y, d)?,
        };
        self.made.push(hypothesis);
        Ok(values)
    }

    /// The stump with the largest edge, by one pass over each sorted column.
    fn stump(&self, y: &[f64], d: &[f64]) -> (Hypothesis, Vec<f64>) {
        let (n, dim) = (y.len(), self.points.dim());
        let all: f64 = y.iter().zip(d).map(|(y, d)| y * d).sum();
        // The constant hypothesis: all rows on one side of the first column.
        let least = self.order.first().and_then(|o| o.first()).map_or(0.0, |&i| self.x[i as usize * dim]);
        let mut best = (all.abs(), 0, least - 1.0, if all >= 0.0 { 1.0 } else { -1.0 });
        for (j, order) in self.order.iter().enumerate() {
            let mut edge = all;
            for (p, &i) in order.iter().enumerate().take(n - 1) {
                edge -= 2.0 * d[i as usize] * y[i as usize];
                let (here, next) = (self.x[i as usize * dim + j], self.x[order[p + 1] as usize * dim + j]);
                if next > here && edge.abs() > best.0 + 1e-12 {
                    best = (edge.abs(), j, 0.5 * (here + next), if edge >= 0.0 { 1.0 } else { -1.0 });
                }
            }
        }
        let (_, column, threshold, sign) = best;
        let side = |i: usize| if self.x[i * dim + column] > threshold { sign } else { -sign };
        (Hypothesis::Stump { column, threshold, sign }, (0..n).map(side).collect())
    }

    fn kernel_function(&self, y: &[f64], d: &[f64]) -> (Hypothesis, Vec<f64>) {
        let n = y.len();
        let pull: Vec<f64> = y.iter().zip(d).map(|(y, d)| y * d).collect();
        let mut edge = vec![0.0; n];
        product::nn(&mut edge, Mat::new(&self.gram, n, n), Mat::new(&pull, n, 1), self.exec.threads());
        let row =
            (0..n).max_by(|&a, &b| edge[a].abs().total_cmp(&edge[b].abs()).then(b.cmp(&a))).expect("a row");
        let sign = if edge[row] >= 0.0 { 1.0 } else { -1.0 };
        let values = self.gram[row * n..(row + 1) * n].iter().map(|k| sign * k / self.scale).collect();
        (Hypothesis::Kernel { row, sign }, values)
    }

    fn network(&mut self, y: &[f64], d: &[f64]) -> Result<(Hypothesis, Vec<f64>)> {
        let n = y.len();
        // Weights with mean 1, so that the decay has the same effect in every round.
        let weight: Vec<f64> = d.iter().map(|d| d * n as f64).collect();
        let dim = self.points.dim();
        let problem = NetworkProblem {
            x: &self.x,
            dim,
            target: y,
            outputs: 1,
            weight: &weight,
            lambda: self.params.lambda,
        };
        let params = NetworkParams {
            centres: self.params.centres,
            place: Place::Adapted,
            weights: Weights::PseudoInverse,
            // A different seed each round: equal initial centres would converge to equal networks.
            seed: self.params.seed.wrapping_add(1 + self.made.len() as u64),
            ..NetworkParams::default()
        };
        let centres = params.started(&problem, true, self.exec);
        let Kernel::Rbf { gamma } = self.kernel else {
            return Err(Error::param("kernel", &self.kernel, "rbf for networks whose centres move"));
        };
        let first = self.made.is_empty();
        let net =
            adapt(&problem, &centres, gamma, first, self.params.steps as usize, self.exec, &mut silent())?;
        if first {
            self.kernel = Kernel::Rbf { gamma: net.gamma };
        }
        let signs = net.residual.iter().zip(y).map(|(e, y)| if e + y > 0.0 { 1.0 } else { -1.0 }).collect();
        Ok((Hypothesis::Network(Box::new(net)), signs))
    }

    /// One expansion of all hypotheses with a non-zero weight, the hypotheses of its outputs, and whether it is
    /// plain: weights are included already.
    pub(super) fn expansion(
        &self,
        votes: &[(f64, usize)],
        k: usize,
    ) -> Result<(Expansion, Vec<usize>, bool)> {
        let kept: Vec<usize> = (0..self.made.len()).filter(|&t| votes[t].0 > 0.0).collect();
        let (t, d) = (kept.len(), self.points.dim());
        match self.params.base {
            BaseLearner::Kernel => {
                let n = self.points.len();
                let mut coef = vec![0.0; n * k];
                for &h in &kept {
                    if let Hypothesis::Kernel { row, sign } = self.made[h] {
                        coef[row * k + votes[h].1] += votes[h].0 * sign / self.scale;
                    }
                }
                let f = Expansion::new(self.kernel.clone(), self.points.clone(), coef, vec![0.0; k])?;
                Ok((f, kept, true))
            }
            BaseLearner::Stump => {
                let mut columns: Vec<usize> = Vec::new();
                let mut entries = Vec::new();
                let mut offset = vec![0.0; t];
                for (o, &h) in kept.iter().enumerate() {
                    if let Hypothesis::Stump { column, threshold, sign } = self.made[h] {
                        let place = columns.iter().position(|&c| c == column).unwrap_or_else(|| {
                            columns.push(column);
                            columns.len() - 1
                        });
                        entries.push((place, o, sign));
                        offset[o] = -sign * threshold;
                    }
                }
                let mut coef = vec![0.0; columns.len() * t];
                entries.iter().for_each(|&(place, o, sign)| coef[place * t + o] = sign);
                Ok((Expansion::new(Kernel::Linear, self.units(&columns)?, coef, offset)?, kept, false))
            }
            BaseLearner::Network => {
                let m: usize = self.nets(&kept).map(|net| net.coef.len()).sum();
                let mut centres = Vec::with_capacity(m * d);
                let mut coef = vec![0.0; m * t];
                let mut offset = Vec::with_capacity(t);
                for (o, net) in self.nets(&kept).enumerate() {
                    let from = centres.len() / d;
                    net.coef.iter().enumerate().for_each(|(j, a)| coef[(from + j) * t + o] = *a);
                    centres.extend_from_slice(&net.centres);
                    offset.push(net.offset[0]);
                }
                let f = Expansion::new(self.kernel.clone(), Points::dense(centres, d)?, coef, offset)?;
                Ok((f, kept, false))
            }
        }
    }

    fn nets<'b>(&'b self, kept: &'b [usize]) -> impl Iterator<Item = &'b Network> {
        kept.iter().filter_map(|&h| {
            if let Hypothesis::Network(net) = &self.made[h] { Some(net.as_ref()) } else { None }
        })
    }

    /// Unit vectors of some columns, in the data's storage format.
    fn units(&self, columns: &[usize]) -> Result<Points> {
        let d = self.points.dim();
        if let Data::Csr { .. } = self.points.view().data {
            let csr = Csr {
                start: (0..=columns.len()).collect(),
                column: columns.iter().map(|&c| c as u32).collect(),
                value: vec![1.0; columns.len()],
            };
            return Points::sparse(csr, d);
        }
        let mut values = vec![0.0; columns.len() * d];
        columns.iter().enumerate().for_each(|(i, &c)| values[i * d + c] = 1.0);
        Points::dense(values, d)
    }

    /// The training rows that are centres, for kernel functions.
    pub(super) fn support(&self, votes: &[(f64, usize)]) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.made.len())
            .filter(|&t| votes[t].0 > 0.0)
            .filter_map(|t| {
                if let Hypothesis::Kernel { row, .. } = self.made[t] { Some(self.rows[row]) } else { None }
            })
            .collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}
