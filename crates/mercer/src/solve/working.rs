//! Decomposition with rows computed on demand: working sets that grow around the cached rows.
//!
//! A round selects some hundreds to thousands of variables, computes the missing rows as one matrix product, solves
//! the small problem by SMO in cache (its rows are gathered from the full ones on first use), and updates `f` on all
//! n rows by one product. If the cache holds all rows that are needed, each is computed once and few rounds are
//! needed. With a small memory budget old rows are evicted and recomputed.
//!
//! Cost: (rows computed) x n kernel values, (rows changed in each round) x n multiply-adds, two passes over the
//! working set per iteration. Working set selection goes back to Joachims (1999), and solving on the rows in memory
//! before computing more to chunking (Vapnik 1982; Osuna, Freund and Girosi 1997).

use mercer_num::pass::Element;

use super::choose::Survey;
use super::newton;
use super::pair::{End, Look, Rule};
use super::state::State;
use super::store::{Gathered, Store};
use super::{Job, Outcome};
use crate::gram::RowCache;

/// A small problem is solved to this fraction of its initial violation.
const INNER: f64 = 0.05;

/// Rows in the cache are optimised before others are computed, unless their violation is below this fraction of the
/// worst.
const SOLVED: f64 = 0.1;

/// Maximum number of consecutive rounds without computing rows.
const HOLDS: usize = 4;

/// Rows computed at once: a quarter of the current support vectors, at most this many.
const BATCH: usize = 1024;

/// Minimum number of cached rows, whatever the budget.
pub(super) const LEAST_ROOM: usize = 64;

/// Row length from which rows count as long.
const LONG: usize = 1 << 14;

/// Maximum number of variables of a small problem.
const MOST: usize = 8192;

/// Number of rounds between two looks at whether f64 still has digits for the violation.
const DIGITS_EVERY: u32 = 16;

impl<T: Element> Store for RowCache<T> {
    type T = T;
    fn row(&self, row: u32) -> &[T] {
        RowCache::row(self, row)
    }
}

/// Solves with rows computed by `compute`.
pub(super) fn solve<T: Element>(
    state: &mut State<'_>,
    cache: &mut RowCache<T>,
    job: &mut Job<'_, '_>,
    mut compute: impl FnMut(&[u32], &mut [T]),
) -> Outcome {
    let n = state.n;
    let room = cache.capacity();
    let most = if room == n { MOST } else { MOST.min(room - LEAST_ROOM / 4) };
    // Start with few rows where kernel values are expensive: rows selected on early gradients are often not needed.
    let few = ((1 << 14) / state.problem.rows.cost().max(1.0) as usize).clamp(64, 512).min(n / 8).max(64);
    let (mut holds, mut idle, mut rounds) = (0, 0, 0_u32);
    let mut gathered = Vec::new();
    // Rows whose coefficient changed in the last round. They are likely to change again, and gathering long rows on
    // all threads in advance pays. Short rows belong to machines that are trained side by side on busy threads.
    let mut moved = vec![false; n];
    loop {
        let survey = Survey::new(state, |r| cache.has(r), job.params.exec);
        let (gap, gap_here) = (survey.gap(), survey.gap_here());
        job.gap = gap;
        let target = job.target(state);
        if gap <= target {
            return Outcome::Converged;
        }
        // A tolerance that f64 cannot reach: rounds would swap units in the last place until the limit. Few rounds end so,
        // and a look at all variables in each would be a tenth of the time of a large, easy problem.
        rounds += 1;
        if rounds % DIGITS_EVERY == 0 && gap <= state.digits() {
            return Outcome::Stalled;
        }
        if job.left() == 0 {
            return Outcome::Limit;
        }
        job.offer(state, None);
        if job.report(job.iterations, gap, survey.support).is_break() {
            return Outcome::Cancelled;
        }
        if let Some(outcome) = job.runs_away(state) {
            return outcome;
        }
        // After a round without progress, compute rows of the most violating pairs instead of holding.
        let hold = gap_here > SOLVED * gap && holds < HOLDS && idle == 0;
        holds = if hold { holds + 1 } else { 0 };
        let batch = (survey.support / 4).clamp(few, BATCH).min(room / 2).max(2);
        let begun = if hold { gap_here } else { gap };
        // Solving far below the round's violation is wasted: the next rows change the gradient again.
        let tol = (INNER * begun).max(0.8 * target);
        let fetch = if hold { 0 } else { batch };
        let choice = survey.choose(state, |r| cache.has(r), fetch, most, job.params.exec);
        let columns: Vec<u32> = choice.variables.iter().map(|&v| v % n as u32).collect();
        job.kernel_values += cache.fetch(&columns, job.params.exec, &mut compute) as u64 * n as u64;

        let mut local = state.local(Some(&choice.variables));
        let mut rows = Gathered::new(&*cache, columns, job.params.exec.budget() / 8, &mut gathered);
        let mut next = choice.fetched.iter().peekable();
        let likely: Vec<u32> = (0..choice.variables.len() as u32)
            .filter(|at| next.next_if_eq(&at).is_some() || moved[choice.variables[*at as usize] as usize % n])
            .collect();
        rows.prepare(&likely, job.params.exec);
        let rule = Rule { tol, limit: job.leash(state, local.beta.len()), every: 1024 };
        let before = job.iterations;
        let run = newton::run(&mut local, &mut rows, &rule, &mut |look: Look<'_>| {
            job.offer(state, Some((&look, Some(&choice.variables))));
            job.report(before + look.iterations, look.gap, survey.support)
        });
        job.iterations += run.iterations;
        let (rows, change) = state.take(&local, Some(&choice.variables));
        state.update(&*cache, &rows, &change, job.params.exec);
        if n >= LONG {
            moved.fill(false);
            rows.iter().for_each(|&r| moved[r as usize] = true);
        }
        if let End::Unbounded(i, j) = run.end {
            return Outcome::Unbounded(choice.variables[i], choice.variables[j]);
        }
        if job.cancelled {
            return Outcome::Cancelled;
        }
        // Three rounds without an iteration and without a new row: no further progress is possible.
        idle = if run.iterations == 0 && choice.missing == 0 { idle + 1 } else { 0 };
        if idle > 2 || run.end == End::Stalled {
            return Outcome::Stalled;
        }
    }
}
