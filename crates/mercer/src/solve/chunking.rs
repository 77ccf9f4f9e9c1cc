//! Chunking, as in the first experiments with support vector machines (Vapnik 1982; Boser, Guyon and Vapnik 1992).
//!
//! Solve on a chunk of rows, keep its support vectors, add the rows that violate the KKT conditions most, and repeat
//! until none does. Every chunk holds all support vectors found so far, so the last one solves the whole problem. It
//! is kept as a reference implementation: each chunk's matrix is recomputed, and `f` is computed in f64 between
//! chunks. Cost: (chunk)^2 / 2 kernel values per round and n x (support vectors) in f64.

use super::pair::{low_bit, up_bit};
use super::problem::{Groups, Problem, Shift};
use super::state::State;
use super::{Job, Method, Outcome, Params, solve as solve_all};
use crate::error::Result;
use crate::watch::Stop;

/// Number of rows added to a chunk per round.
const ADDED: usize = 500;

/// Solves by chunking.
pub(super) fn solve(state: &mut State<'_>, job: &mut Job<'_, '_>) -> Result<Outcome> {
    let mut last = f64::INFINITY;
    loop {
        job.gap = state.gap();
        if job.gap <= job.tol() {
            return Ok(Outcome::Converged);
        }
        if job.left() == 0 {
            return Ok(Outcome::Limit);
        }
        job.offer(state, None);
        if job.report(job.iterations, job.gap, state.support_count()).is_break() {
            return Ok(Outcome::Cancelled);
        }
        let objective = state.objective();
        if objective >= last {
            return Ok(Outcome::Stalled);
        }
        last = objective;

        let rows = chunk(state);
        let sub = state.problem.rows.subset(&rows);
        let (n, sides) = (state.n, state.total / state.n);
        let variables: Vec<usize> =
            (0..sides).flat_map(|side| rows.iter().map(move |&r| side * n + r as usize)).collect();
        let pick = |from: &[f64]| -> Vec<f64> { variables.iter().map(|&v| from[v]).collect() };
        let whole = state.problem;
        let problem = Problem {
            rows: sub.as_ref(),
            linear: pick(&whole.linear),
            lower: pick(&whole.lower),
            upper: pick(&whole.upper),
            groups: match &whole.groups {
                Groups::ByRow(of) => Groups::ByRow(rows.iter().map(|&r| of[r as usize]).collect()),
                other => other.clone(),
            },
            shift: match &whole.shift {
                Shift::Each(of) => Shift::Each(pick(of)),
                other => other.clone(),
            },
            start: Some(pick(&state.beta)),
        };
        // Slightly tighter than the tolerance, so that the check over all rows does not fail by rounding.
        let params = Params {
            tol: 0.9 * job.params.tol,
            max_iter: Some(job.left()),
            method: Method::Smo,
            ..job.params.clone()
        };
        let found = solve_all(&problem, &params, &mut *job.watch)?;
        job.iterations += found.info.iterations;
        job.kernel_values += found.info.kernel_values + (state.n * rows.len()) as u64;
        for (&v, &b) in variables.iter().zip(&found.beta) {
            state.beta[v] = b;
        }
        state.recompute(job.params.exec);
        if found.unbounded.is_some() {
            return Ok(Outcome::RunsAway);
        }
        if found.info.stop == Stop::Cancelled {
            job.cancelled = true;
            return Ok(Outcome::Cancelled);
        }
    }
}

/// The support vectors and the worst violators among the other rows, in ascending order.
fn chunk(state: &State<'_>) -> Vec<u32> {
    let brackets = state.brackets();
    let mut worst = vec![f64::NEG_INFINITY; state.n];
    let mut from_above = vec![false; state.n];
    for v in 0..state.total {
        let (group, g, flags) = (state.problem.group(v), state.gradient(v), state.flags(v));
        let rise = if flags & up_bit(group) != 0 { brackets[group].highest - g } else { f64::NEG_INFINITY };
        let fall = if flags & low_bit(group) != 0 { g - brackets[group].lowest } else { f64::NEG_INFINITY };
        let own = if state.beta[v] == 0.0 { rise.max(fall) } else { f64::INFINITY };
        if own > worst[v % state.n] {
            (worst[v % state.n], from_above[v % state.n]) = (own, fall > rise);
        }
    }
    let (mut rows, mut others): (Vec<u32>, Vec<u32>) = (0..state.n as u32)
        .filter(|&r| worst[r as usize] > 0.0)
        .partition(|&r| worst[r as usize].is_infinite());
    others.sort_by(|&a, &b| worst[b as usize].total_cmp(&worst[a as usize]));
    // Take violators from both ends of the bracket, or a chunk could hold one class only.
    let (high, low): (Vec<u32>, Vec<u32>) = others.into_iter().partition(|&r| from_above[r as usize]);
    rows.extend(high.into_iter().take(ADDED / 2));
    rows.extend(low.into_iter().take(ADDED / 2));
    rows.sort_unstable();
    rows
}
