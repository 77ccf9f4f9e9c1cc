//! SMO on the whole matrix in memory, with shrinking.
//!
//! A round solves the problem on the variables that can still violate their optimality conditions. Then `f` is
//! updated on *all* rows from the coefficients that changed, and only the violation over all variables decides
//! convergence, so shrinking never affects the solution. An iteration costs two passes over the round's m variables;
//! the update between rounds costs (changed rows) x n.

use std::ops::ControlFlow;

use mercer_num::pass::Element;

use super::newton;
use super::pair::{Direct, End, Look, Rule, low_bit, up_bit};
use super::state::{Bracket, State};
use super::store::{Gathered, Whole};
use super::{Job, Outcome};

/// A round ends early if shrinking would leave at most this fraction of its variables.
const WORTH_SHRINKING: f64 = 0.75;

/// Number of rounds after which shrinking is disabled.
const MOST_ROUNDS: usize = 40;

/// Whether a variable at a bound cannot violate with any other: its gradient lies outside the bracket on the side of
/// its bound.
fn settled(flags: u8, group: usize, gradient: f64, bracket: &Bracket) -> bool {
    match (flags & up_bit(group) != 0, flags & low_bit(group) != 0) {
        (true, true) => false,
        (true, false) => gradient > bracket.highest,
        (false, true) => gradient < bracket.lowest,
        (false, false) => true,
    }
}

/// Solves on the whole matrix.
pub(super) fn solve<T: Element>(state: &mut State<'_>, whole: &[T], job: &mut Job<'_, '_>) -> Outcome {
    let n = state.n;
    let store = Whole { values: whole, n };
    let mut active: Option<Vec<u32>> = None;
    let mut rounds = 0;
    let mut gathered = Vec::new();
    loop {
        rounds += 1;
        let mut local = state.local(active.as_deref());
        let m = local.beta.len();
        let may_shrink = job.params.shrinking && rounds < MOST_ROUNDS;
        let rule =
            // The check costs a pass over the m variables, so it runs about once per m iterations, as in LIBSVM.
            Rule { tol: job.params.tol, limit: job.leash(state, m), every: (m as u64).clamp(256, 1024) };
        let (params, before, mut shrunk) = (job.params, job.iterations, false);
        let of = active.as_deref();
        let mut check = |look: Look<'_>| {
            job.offer(state, Some((&look, of)));
            job.report(before + look.iterations, look.gap, state.support_count())?;
            // The violation is within the rounding of f32 rows: exact values are needed to go further.
            if look.gap <= job.noise(state, Some((look.local, of))) {
                return ControlFlow::Break(());
            }
            if may_shrink && worth_shrinking(&look) {
                shrunk = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        // With all variables active and one variable per row, rows are used in place; otherwise their entries are
        // gathered.
        let run = match (&active, n == state.total) {
            (None, true) => newton::run(&mut local, &mut Direct { values: whole, n }, &rule, &mut check),
            (active, _) => {
                let columns = match active {
                    Some(of) => of.iter().map(|&v| v % n as u32).collect(),
                    None => (0..state.total).map(|v| (v % n) as u32).collect(),
                };
                let mut rows = Gathered::new(&store, columns, params.exec.budget() / 4, &mut gathered);
                newton::run(&mut local, &mut rows, &rule, &mut check)
            }
        };
        job.iterations += run.iterations;
        let (rows, change) = state.take(&local, active.as_deref());
        state.update(&store, &rows, &change, job.params.exec);

        if let End::Unbounded(i, j) = run.end {
            let pick = |k: usize| active.as_ref().map_or(k, |of| of[k] as usize);
            return Outcome::Unbounded(pick(i) as u32, pick(j) as u32);
        }
        if job.cancelled {
            return Outcome::Cancelled;
        }
        if let Some(outcome) = job.runs_away(state) {
            return outcome;
        }
        let brackets = state.brackets();
        let gap = brackets.iter().map(Bracket::gap).fold(0.0, f64::max);
        job.gap = gap;
        match run.end {
            _ if gap <= job.tol().max(job.noise(state, None)) => return Outcome::Converged,
            _ if gap <= state.digits() => return Outcome::Stalled,
            End::Limit if job.left() == 0 => return Outcome::Limit,
            // No progress with all variables active: the limit of f64 arithmetic.
            End::Stalled if active.is_none() => return Outcome::Stalled,
            End::Converged if active.is_none() && run.iterations == 0 => return Outcome::Stalled,
            _ => {}
        }
        // A stall on a shrunk problem may be caused by the missing variables, so continue with all of them.
        let all_in = !shrunk && run.end == End::Stalled || rounds >= MOST_ROUNDS || !job.params.shrinking;
        active = (!all_in).then(|| {
            (0..state.total)
                .filter(|&v| {
                    let group = state.problem.group(v);
                    !settled(state.flags(v), group, state.gradient(v), &brackets[group])
                })
                .map(|v| v as u32)
                .collect()
        });
    }
}

fn worth_shrinking(look: &Look<'_>) -> bool {
    let p = look.local;
    let keep = (0..p.beta.len())
        .filter(|&k| {
            let g = usize::from(p.group[k]);
            let bracket = Bracket { lowest: look.lowest[g].value, highest: look.highest[g] };
            !settled(p.flags[k], g, p.gradient[k], &bracket)
        })
        .count();
    (keep as f64) < WORTH_SHRINKING * p.beta.len() as f64
}
