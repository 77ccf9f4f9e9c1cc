//! The door of this floor: "solve these problems on these rows".
//!
//! All machines are solved through [`solve_kept`](super::solve_kept), a batch of one, or [`solve_batch`]. Both ask the
//! device of the call first, because a device must keep the whole loop to itself to be fast, and many machines at once
//! to be busy. A back end knows its own rows by [`Rows::owner`](crate::gram::Rows::owner); what it does not know it
//! declines, and the CPU solves it.

use std::fmt;

use super::{Params, Problem, Solution, solve_here};
use crate::error::Result;
use crate::watch::Watch;

/// Solves batches of problems on a device.
pub trait SolveBackend: Send + Sync {
    /// One solution for each problem, in their order; None: not supported, the CPU does it.
    ///
    /// Problems were checked. Where the watcher breaks, solutions say so ([`Stop::Cancelled`](crate::watch::Stop)) and
    /// hold what there was.
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

/// Solves problems together: on the device of the call if it takes them, else one after another on the CPU.
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

/// Asks the device of the call to solve problems together; none where it is the CPU or declines them.
///
/// For callers with a way of their own to share the work on the CPU.
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
