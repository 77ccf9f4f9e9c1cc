//! The device interface of this module: "solve these problems on these rows".
//!
//! All machines are solved through [`solve_kept`](super::solve_kept), a batch of one, or [`solve_batch`]. Both ask
//! the call's device first. A device must run the whole loop itself to be fast, and needs many machines at once to be
//! fully used. A back end recognises its own rows by [`Rows::owner`](crate::gram::Rows::owner); problems that it
//! declines are solved on the CPU.

use std::fmt;

use super::{Params, Problem, Solution, solve_here};
use crate::error::Result;
use crate::exec::{Exec, side_by_side};
use crate::gram::Rows;
use crate::watch::{Info, Watch};

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

    /// Solves a system in a matrix that the device keeps, or `None` if it does not: too large, too small, or no
    /// progress. The CPU then solves it.
    fn linear(&self, system: &System<'_>, exec: Exec, watch: &mut Watch<'_>) -> Option<Result<Solved>> {
        let _ = (system, exec, watch);
        None
    }

    /// Some columns of a matrix that the device keeps, prepared for machines on the centres they belong to, or `None`:
    /// too large, too small, or rows of another owner. The CPU then computes them.
    fn nystrom(&self, rows: &dyn Rows, centres: &[u32], exec: Exec) -> Option<Result<Box<dyn Nystrom>>> {
        let _ = (rows, centres, exec);
        None
    }
}

/// Columns N (n x m) of a matrix on a device, their own square M (m x m), and factors `M + ridge I = L L'` and
/// `by L' D L + lambda I = A A'`. Vectors lie one after another; any number of them is taken.
pub trait Nystrom: Send + Sync {
    /// `out = N x`: n numbers for each vector of m.
    fn times(&self, x: &[f64], out: &mut [f64]) -> Result<()>;

    /// `out = N' x`: m numbers for each vector of n.
    fn times_transposed(&self, x: &[f64], out: &mut [f64]) -> Result<()>;

    /// Computes L. False: the matrix is not positive definite.
    fn factor(&self, ridge: f64) -> Result<bool>;

    /// Computes A from L and a number d per centre; none: 1. False: the matrix is not positive definite.
    fn factor_inner(&self, by: f64, d: &[f64], lambda: f64) -> Result<bool>;

    /// Solves with L, or with A if `inner`, in place.
    fn solve(&self, inner: bool, transposed: bool, x: &mut [f64]) -> Result<()>;

    /// `out = L x`: m numbers for each vector of m.
    fn times_factor(&self, x: &[f64], out: &mut [f64]) -> Result<()>;
}

/// `(K + diag(shift)) x = b` for several b: what [`SolveBackend::linear`] is asked.
#[expect(missing_debug_implementations, reason = "holds rows that are known by what they compute")]
#[derive(Clone, Copy)]
pub struct System<'a> {
    /// K.
    pub rows: &'a dyn Rows,
    /// What is added to the diagonal, a number per row.
    pub shift: &'a [f64],
    /// The right-hand sides, n numbers each.
    pub right: &'a [Vec<f64>],
    /// Tolerance on the norm of the residual, computed in f64, relative to the right-hand side.
    pub tol: f64,
}

/// The solutions of a system, one per right-hand side, and statistics; [`Info::gap`] is the largest relative residual.
pub type Solved = (Vec<Vec<f64>>, Info);

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

/// Asks the device that keeps a system's rows to solve it; `None` if it is not the call's device, or declines.
pub(crate) fn linear_on_device(
    system: &System<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Option<Solved>> {
    let device = exec.device();
    if system.rows.owner().is_none_or(|owner| owner.device != device) {
        return Ok(None);
    }
    let Some(door) = device.door::<SolveDoor>() else { return Ok(None) };
    let Some(solved) = door.0.linear(system, exec, watch) else { return Ok(None) };
    device.note();
    let (x, mut info) = solved?;
    info.device = Some(device.name().to_owned());
    Ok(Some((x, info)))
}

/// Asks the device that keeps rows for columns of their matrix; `None` if it is not the call's device, or declines.
pub(crate) fn nystrom_on_device(
    rows: &dyn Rows,
    centres: &[u32],
    exec: Exec,
) -> Result<Option<Box<dyn Nystrom>>> {
    let device = exec.device();
    if rows.owner().is_none_or(|owner| owner.device != device) {
        return Ok(None);
    }
    let Some(door) = device.door::<SolveDoor>() else { return Ok(None) };
    let Some(kept) = door.0.nystrom(rows, centres, exec) else { return Ok(None) };
    device.note();
    kept.map(Some)
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
    let order: Vec<usize> = (0..problems.len()).collect();
    let workers = params.exec.threads().min(order.len());
    side_by_side(workers, &order, || (), |(): &mut (), m| problems[m].check())?;
    let Some(solved) = door.0.solve(problems, params, watch) else { return Ok(None) };
    device.note();
    let mut solutions = solved?;
    solutions.iter_mut().for_each(|solution| solution.info.device = Some(device.name().to_owned()));
    Ok(Some(solutions))
}
