//! The frame of machines whose dual is one problem: one-class hyperplanes, spheres, regression.
//!
//! Rows of the kernel matrix, the problem on them, a start (a checkpoint's, where a fit is resumed), the solve with its
//! checkpoints, and the machine that a solution is. What differs is the problem and the reading of its solution.

use super::Declared;
use super::common::{go_on_from, support};
use super::given::Given;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::model::{Checkpoint, Machine, Sample};
use crate::solve::{self, Problem, Solution};
use crate::watch::{Stop, Watch};

/// A machine whose dual is one problem.
pub(super) trait Dual: Declared + Sync {
    /// The problem on rows of a kernel matrix with these weights, with a start, and what its solve obeys.
    fn pose<'r>(
        &self,
        given: &Given<'_>,
        rows: &'r dyn Rows,
        weights: &[f64],
    ) -> Result<(Problem<'r>, solve::Params)>;

    /// The machine that a solution is; a row's coefficient is the sum of its variables.
    fn machine(
        &self,
        given: &Given<'_>,
        rows: &dyn Rows,
        weights: &[f64],
        coef: Vec<f64>,
        found: Solution,
    ) -> Result<Machine>;
}

/// Fits, from a checkpoint where there is one.
pub(super) fn fit(
    dual: &impl Dual,
    sample: Sample<'_>,
    from: Option<&[f64]>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let given = Given::new(dual, sample, exec)?;
    let n = sample.points.len();
    let weights: Vec<f64> = (0..n).map(|i| sample.weight(i)).collect();
    if weights.iter().all(|&w| w == 0.0) {
        return Err(Error::param("row weights", 0, "above 0 for at least one row"));
    }
    given.on_rows(|rows| {
        let (mut problem, params) = dual.pose(&given, rows, &weights)?;
        go_on_from(&mut problem, from)?;
        let machine = |found: Solution| {
            let coef: Vec<f64> = (0..n).map(|i| found.beta.iter().skip(i).step_by(n).sum()).collect();
            let unfinished = found.info.stop != Stop::Converged;
            let checkpoint = unfinished.then(|| Checkpoint::Variables(found.beta.clone()));
            let support = support(&coef);
            let machine = dual.machine(&given, rows, &weights, coef, found)?;
            Ok::<_, Error>(given.timed(Machine { support, checkpoint, ..machine }))
        };
        let mut keep = |now: &dyn Fn() -> Solution| {
            let Some(keeper) = sample.keeper.filter(|keeper| keeper.is_due()) else { return };
            if let Ok(machine) = machine(now()) {
                keeper.take(machine);
            }
        };
        machine(solve::solve_kept(&problem, &params, watch, Some(&mut keep))?)
    })
}

/// How many coefficients are on their bound.
pub(super) fn bounded(coef: &[f64], bounds: &[f64]) -> f64 {
    coef.iter().zip(bounds).filter(|(c, bound)| **c != 0.0 && c.abs() >= **bound).count() as f64
}
