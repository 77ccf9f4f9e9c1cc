//! The device interface of this module: "solve these problems on these rows".
//!
//! All machines are solved through [`solve_kept`](super::solve_kept), a batch of one, or [`solve_batch`]. Both ask
//! the call's device first. A device must run the whole loop itself to be fast, and needs many machines at once to be
//! fully used. A back end recognises its own rows by [`Rows::owner`](crate::gram::Rows::owner); problems that it
//! declines are solved on the CPU.

use std::fmt;

use super::{Params, Problem, Solution, solve_here};
use crate::error::Result;
use crate::watch::Watch;

/// Solves batches of problems on a device.
pub trait SolveBackend: Send + Sync {
    /// One solution per problem, in order, or `None` if the batch is not supported; the CPU then solves it.
    ///
    /// Problems have been checked. If the watcher cancels, the solutions are marked so
    /// ([`Stop::Cancelled`](crate::watch::Stop)) and hold the state reached.
    fn solve(
        &self,
        problems: &[Problem<'_>],
        params: &Params,
        watch: &mut Watch<'_>,
    ) -> Option<Result<Vec<Solution>>>;
}

/// A back end as a device holds it: pass it, boxed, to [`Device::new`](crate::exec::Device::new).
pub struct SolveDoor(pub Box<dyn SolveBackend>);

impl fmt::Debug for SolveDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("solve::SolveDoor")
    }
}

/// Solves problems together: on the call's device if it accepts them, else one after another on the CPU.
pub fn solve_batch(
    problems: &[Problem<'_>],
    params: &Params,
    watch: &mut Watch<'_>,
) -> Result<Vec<Solution>> {
    match solve_on_device(problems, params, watch)? {
        Some(solutions) => Ok(solutions),
        None => problems.iter().map(|problem| solve_here(problem, params, watch, None)).collect(),
    }
}

/// Asks the call's device to solve problems together; `None` if it is the CPU or declines them.
///
/// For callers that divide the work on the CPU themselves.
pub fn solve_on_device(
    problems: &[Problem<'_>],
    params: &Params,
    watch: &mut Watch<'_>,
) -> Result<Option<Vec<Solution>>> {
    let device = params.exec.device();
    if device.is_cpu() {
        return Ok(None);
    }
    let Some(door) = device.door::<SolveDoor>() else { return Ok(None) };
    params.check()?;
    problems.iter().try_for_each(Problem::check)?;
    let Some(solved) = door.0.solve(problems, params, watch) else { return Ok(None) };
    device.note();
    let mut solutions = solved?;
    solutions.iter_mut().for_each(|solution| solution.info.device = Some(device.name().to_owned()));
    Ok(Some(solutions))
}
