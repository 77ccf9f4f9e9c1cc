//! Chunking, as in the first experiments with support vector machines (Vapnik 1982; Boser, Guyon and Vapnik 1992).
//!
//! Solve on a chunk of rows; keep those with a coefficient; add the rows that violate most; until none does. Every
//! chunk holds all support vectors so far, so the last one is the whole solution's. Kept as the reference it is: each
//! chunk's matrix is computed anew and `f` is exact (f64) between chunks. Cost: (chunk)^2 / 2 kernel values a round and
//! n x (support vectors) in f64.

use super::pair::{low_bit, up_bit};
use super::problem::{Groups, Problem, Shift};
use super::state::State;
use super::{Job, Method, Outcome, Params, solve as solve_all};
use crate::error::Result;
use crate::watch::Stop;

/// Rows added to a chunk at once.
const ADDED: usize = 500;

/// Solves chunk by chunk.
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
        // A little inside the tolerance: the next look at all rows must not trip over the last digit.
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

/// The rows with a coefficient and the worst violators among the others, rising.
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
    // From both ends, or a chunk could hold one class only.
    let (high, low): (Vec<u32>, Vec<u32>) = others.into_iter().partition(|&r| from_above[r as usize]);
    rows.extend(high.into_iter().take(ADDED / 2));
    rows.extend(low.into_iter().take(ADDED / 2));
    rows.sort_unstable();
    rows
}
