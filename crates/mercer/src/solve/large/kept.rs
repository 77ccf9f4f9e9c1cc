//! Passes over rows whose values a device keeps: both products run there, the loss is evaluated here.
//!
//! Outputs and slopes travel: n k numbers each way per pass, against n m values that stay.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::precondition::turned;
use super::{LargeAsk, LargeFunction, LargeRows, LargeSums, Loss};
use crate::error::Result;
use crate::exec::Exec;
use crate::solve::Nystrom;

/// Rows whose losses are summed together: sums have a fixed order for any number of threads.
const RUN: usize = 1024;

/// Rows of this process with values on a device.
pub(crate) struct OnDevice<'a> {
    pub(crate) kept: &'a dyn Nystrom,
    pub(crate) loss: &'a dyn Loss,
    /// The targets of the rows, in the form of the loss, and a weight for each; empty: 1.
    pub(crate) targets: &'a [f64],
    pub(crate) weight: &'a [f64],
    pub(crate) rows: usize,
    /// The sum of the weights.
    pub(crate) total: f64,
    pub(crate) exec: Exec,
    /// The number of a function and its outputs, n x k.
    pub(crate) outputs: Mutex<(u64, Vec<f32>)>,
}

/// Transforms a row's outputs: its place, weight, target and outputs, which are replaced.
type Change<'r> = dyn Fn(usize, f64, &[f64], &mut [f64]) -> [f64; 2] + Sync + 'r;

impl OnDevice<'_> {
    /// `N c + b`, n x k.
    fn function(&self, at: &LargeFunction<'_>) -> Result<Vec<f64>> {
        let k = at.offset.len();
        let mut out = vec![0.0; self.rows * k];
        self.kept.times(&turned(at.coef, k, self.exec), &mut out)?;
        let mut out = turned(&out, self.rows, self.exec);
        out.chunks_mut(k).for_each(|f| f.iter_mut().zip(at.offset).for_each(|(f, b)| *f += b));
        Ok(out)
    }

    /// Sums over rows whose outputs are changed first.
    fn sums(&self, mut f: Vec<f64>, k: usize, change: &Change<'_>) -> LargeSums {
        let (n, wide) = (self.rows, self.targets.len() / self.rows.max(1));
        let run = |(p, f): (usize, &mut [f64])| {
            let mut sums = LargeSums::zero(0, k);
            for (i, f) in (p * RUN..).zip(f.chunks_mut(k)) {
                let weight = self.weight.get(i).copied().unwrap_or(1.0);
                let values = change(i, weight, &self.targets[i * wide..(i + 1) * wide], f);
                sums.values.iter_mut().zip(values).for_each(|(to, v)| *to += v);
                sums.ones.iter_mut().zip(&*f).for_each(|(to, v)| *to += v);
            }
            sums
        };
        let parts: Vec<LargeSums> = if self.exec.threads() == 1 {
            f.chunks_mut(RUN * k).enumerate().map(run).collect()
        } else {
            f.par_chunks_mut(RUN * k).enumerate().map(run).collect()
        };
        let mut all = LargeSums::zero(0, k);
        parts.iter().for_each(|part| all.add(part));
        let r = turned(&f, k, self.exec);
        debug_assert_eq!(r.len(), n * k);
        LargeSums { against: r, ..all }
    }

    /// `N' R` in the place of R, which lies output by output; m x k.
    fn against(&self, sums: LargeSums, m: usize, k: usize) -> Result<LargeSums> {
        let mut out = vec![0.0; m * k];
        self.kept.times_transposed(&sums.against, &mut out)?;
        Ok(LargeSums { against: turned(&out, m, self.exec), ..sums })
    }
}

/// In the type in which losses take the outputs of rows.
fn short(f: &[f64]) -> Vec<f32> {
    f.iter().map(|f| *f as f32).collect()
}

impl LargeRows for OnDevice<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn weight(&self) -> f64 {
        self.total
    }

    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
        let (loss, k) = (self.loss, ask.outputs());
        let mut kept = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        let (m, sums) = match *ask {
            LargeAsk::Slope { at } => {
                let f = self.function(&at)?;
                let quadratic = loss.is_quadratic();
                if !quadratic {
                    *kept = (at.number, short(&f));
                }
                let change = |_: usize, weight: f64, target: &[f64], f: &mut [f64]| {
                    let bent = if quadratic { 0.0 } else { loss.curvature(target, f) };
                    let value = weight * loss.slope(target, f);
                    f.iter_mut().for_each(|f| *f *= weight);
                    [value, bent]
                };
                (at.coef.len() / k, self.sums(f, k, &change))
            }
            LargeAsk::Bend { at, along } => {
                let v = self.function(&along)?;
                if let Some(at) = &at
                    && (kept.0 != at.number || kept.1.len() != self.rows * k)
                {
                    *kept = (at.number, short(&self.function(at)?));
                }
                let outputs = &kept.1;
                let change = |i: usize, weight: f64, target: &[f64], v: &mut [f64]| {
                    if at.is_some() {
                        loss.bend(target, &outputs[i * k..(i + 1) * k], v);
                    }
                    v.iter_mut().for_each(|v| *v *= weight);
                    [0.0; 2]
                };
                (along.coef.len() / k, self.sums(v, k, &change))
            }
        };
        self.against(sums, m, k)
    }
}
