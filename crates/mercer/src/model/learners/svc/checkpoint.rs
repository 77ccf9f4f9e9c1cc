//! The stored state of each machine: enough to resume an interrupted fit with the same result.

use serde::{Deserialize, Serialize};

use super::hard_margin::Overlap;
use super::machine::{Margin, Solved, Task};
use super::params::SvcParams;
use crate::data::Labels;
use crate::error::{Error, Result};
use crate::model::learners::dual::row_coefficients;
use crate::model::{Machine, Role, Sides, Sigmoid};
use crate::watch::{Info, Stop};

/// The state of an interrupted fit, from which [`SvcParams::resume`] continues.
///
/// Completed machines are kept bit for bit; the others continue from their coefficients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvcCheckpoint {
    pub(super) rows: usize,
    pub(super) sides: Vec<Sides>,
    pub(super) machines: Vec<Fitted>,
}

/// A trained or partially trained machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Fitted {
    /// The sample's rows with a coefficient, in the order of the machine's own rows.
    pub(super) support: Vec<u32>,
    /// Their variables, as the solver left them.
    pub(super) beta: Vec<f64>,
    /// Which of them are at their bound.
    pub(super) bounded: Vec<bool>,
    pub(super) scale: f64,
    pub(super) offset: f64,
    pub(super) margin: Option<Margin>,
    /// The common point of both classes' hulls, where they overlap. Row numbers are the sample's.
    pub(super) overlap: Option<Overlap>,
    pub(super) sigmoid: Option<Sigmoid>,
    pub(super) rows: usize,
    pub(super) info: Info,
}

impl Fitted {
    pub(super) fn new(params: &SvcParams, task: &Task<'_>, index: &[usize], solved: &Solved) -> Self {
        let support: Vec<usize> = (0..index.len()).filter(|&i| solved.beta[i] != 0.0).collect();
        Fitted {
            support: support.iter().map(|&i| index[i] as u32).collect(),
            beta: support.iter().map(|&i| solved.beta[i]).collect(),
            bounded: support.iter().map(|&i| solved.beta[i].abs() >= task.bound(params, i)).collect(),
            scale: solved.scale,
            offset: solved.offset,
            margin: solved.margin,
            overlap: solved.overlap.as_ref().map(|o| o.renumbered(index)),
            sigmoid: None,
            rows: index.len(),
            // JSON cannot hold the infinity of a gap that was not measured.
            info: Info { gap: solved.info.gap.min(f64::MAX), ..solved.info.clone() },
        }
    }

    /// A machine that was not started.
    pub(super) fn not_begun() -> Self {
        let info = Info { stop: Stop::Cancelled, ..Info::default() };
        Fitted {
            support: Vec::new(),
            beta: Vec::new(),
            bounded: Vec::new(),
            scale: 1.0,
            offset: 0.0,
            margin: None,
            overlap: None,
            sigmoid: None,
            rows: 0,
            info,
        }
    }

    /// The variables on a machine's rows as a starting point; `None` if it was not started.
    pub(super) fn start(&self, index: &[usize]) -> Option<Vec<f64>> {
        if self.rows == 0 {
            return None;
        }
        let mut by_row: Vec<(u32, f64)> =
            self.support.iter().copied().zip(self.beta.iter().copied()).collect();
        by_row.sort_unstable_by_key(|&(row, _)| row);
        let of = |i: usize| by_row.binary_search_by_key(&(i as u32), |&(row, _)| row);
        let start = index.iter().map(|&i| of(i).map_or(0.0, |p| by_row[p].1));
        Some(start.collect())
    }
}

impl SvcCheckpoint {
    /// A start from a machine fitted on the same rows, its coefficients multiplied by `times`; `None` if it has other
    /// classes or rows.
    pub(super) fn near(machine: &Machine, labels: &Labels, sides: &[Sides], times: f64) -> Option<Self> {
        let (rows, k) = (labels.len(), sides.len());
        let same = matches!(&machine.role, Role::Classes(names) if *names == labels.names);
        let coef = row_coefficients(machine, rows, k).filter(|_| same)?;
        let one = |o: usize| {
            let held: Vec<usize> = (0..rows).filter(|row| coef[row * k + o] != 0.0).collect();
            Fitted {
                beta: held.iter().map(|row| times * coef[row * k + o]).collect(),
                bounded: vec![false; held.len()],
                support: held.into_iter().map(|row| row as u32).collect(),
                rows,
                info: Info { stop: Stop::Limit, ..Info::default() },
                ..Fitted::not_begun()
            }
        };
        Some(SvcCheckpoint { rows, sides: sides.to_vec(), machines: (0..k).map(one).collect() })
    }

    /// Fails unless this belongs to a fit on this number of rows with these machines.
    pub(super) fn check(&self, rows: usize, sides: &[Sides]) -> Result<()> {
        let fits = self.sides == sides && self.machines.len() == sides.len();
        let sound = |f: &Fitted| f.beta.len() == f.support.len() && f.bounded.len() == f.support.len();
        let inside = |f: &Fitted| f.support.iter().all(|&r| (r as usize) < rows);
        if self.rows != rows || !fits || !self.machines.iter().all(|f| sound(f) && inside(f)) {
            let got = format!("{} machines on {} rows", self.machines.len(), self.rows);
            return Err(Error::shape("checkpoint", got, format!("{} machines on {rows} rows", sides.len())));
        }
        Ok(())
    }
}
