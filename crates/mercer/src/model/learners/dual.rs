//! The frame of machines whose dual is one problem: one-class hyperplanes, spheres, regression.
//!
//! Rows of the kernel matrix, the problem on them, a start (a checkpoint's, where a fit is resumed), the solve with its
//! checkpoints, and the machine that a solution is. What differs is the problem and the reading of its solution.

use std::time::Instant;

use super::Declared;
use super::common::{go_on_from, kernel_or_default, on_rows};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::kernel::Kernel;
use crate::model::{Machine, Sample};
use crate::solve::{self, Problem, Solution};
use crate::watch::Watch;

/// A machine whose dual is one problem.
pub(super) trait Dual: Declared {
    /// The problem on rows of a kernel matrix with these weights, with a start, and what its solve obeys.
    fn pose<'r>(
        &self,
        rows: &'r dyn Rows,
        sample: &Sample<'_>,
        weights: &[f64],
        exec: Exec,
    ) -> Result<(Problem<'r>, solve::Params)>;

    /// The machine that a solution is.
    fn machine(
        &self,
        kernel: &Kernel,
        rows: &dyn Rows,
        sample: &Sample<'_>,
        weights: &[f64],
        found: Solution,
        exec: Exec,
    ) -> Result<Machine>;
}

/// Fits, from a checkpoint where there is one.
pub(super) fn fit(
    dual: &(impl Dual + Sync),
    sample: Sample<'_>,
    from: Option<&[f64]>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let clock = Instant::now();
    dual.check()?;
    sample.check()?;
    let kernel = kernel_or_default(dual.kernel(), &sample)?;
    let weights: Vec<f64> = (0..sample.points.len()).map(|i| sample.weight(i)).collect();
    if weights.iter().all(|&w| w == 0.0) {
        return Err(Error::param("row weights", 0, "above 0 for at least one row"));
    }
    on_rows(&kernel, &sample, exec, |rows| {
        let (mut problem, params) = dual.pose(rows, &sample, &weights, exec)?;
        go_on_from(&mut problem, from)?;
        let machine = |found: Solution| {
            let mut machine = dual.machine(&kernel, rows, &sample, &weights, found, exec)?;
            machine.info.seconds = clock.elapsed().as_secs_f64();
            Ok::<_, Error>(machine)
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
