//! Rows on demand: working sets that grow around the rows already in memory.
//!
//! A round chooses some hundreds to thousands of variables, computes the rows that are missing as one product, solves
//! the small problem by pairs in cache (its rows are gathered from the full ones when first read), and brings `f` up to
//! date on all n rows by one product. As rows stay in memory within the budget, each needed row is computed once and
//! the rounds are few; when the budget is short, old rows make way and are computed again.
//!
//! Cost: (rows fetched) x n kernel values, (rows changed in each round) x n multiply-adds, two passes over the working
//! set an iteration. The choice of working sets goes back to Joachims (1999); keeping what is solved in memory before
//! asking for more is the older idea of chunking (Vapnik 1982; Osuna, Freund and Girosi 1997).

use mercer_num::pass::Element;

use super::choose::Survey;
use super::newton;
use super::pair::{End, Look, Rule};
use super::state::State;
use super::store::{Gathered, Store};
use super::{Job, Outcome};
use crate::gram::RowCache;

/// A small problem is solved to this share of the violation it started with.
const INNER: f64 = 0.05;

/// Rows at hand are solved before others are fetched, unless they violate less than this share of the worst.
const SOLVED: f64 = 0.1;

/// But at most so many rounds in a row go by without fetching.
const HOLDS: usize = 4;

/// Rows fetched at once: a quarter of the present solution, at most so many.
const BATCH: usize = 1024;

/// Rows there must be room for, whatever the budget.
pub(super) const LEAST_ROOM: usize = 64;

/// Values from which on rows are long.
const LONG: usize = 1 << 14;

/// Most variables of a small problem.
const MOST: usize = 8192;

impl<T: Element> Store for RowCache<T> {
    type T = T;
    fn row(&self, row: u32) -> &[T] {
        RowCache::row(self, row)
    }
}

/// Solves with rows that `compute` writes.
pub(super) fn solve<T: Element>(
    state: &mut State<'_>,
    cache: &mut RowCache<T>,
    job: &mut Job<'_, '_>,
    mut compute: impl FnMut(&[u32], &mut [T]),
) -> Outcome {
    let n = state.n;
    let room = cache.capacity();
    let most = if room == n { MOST } else { MOST.min(room - LEAST_ROOM / 4) };
    // Few rows at first where they are dear: what is fetched on early evidence is often not needed.
    let few = ((1 << 14) / state.problem.rows.cost().max(1.0) as usize).clamp(64, 512).min(n / 8).max(64);
    let (mut holds, mut idle) = (0, 0);
    let mut gathered = Vec::new();
    // Rows whose coefficient changed in the last round: they are likely to change again, and where rows are long it pays to
    // gather them on all threads before anyone asks. Short rows belong to machines that run side by side on busy threads.
    let mut moved = vec![false; n];
    loop {
        let survey = Survey::new(state, |r| cache.has(r), job.params.exec);
        let (gap, gap_here) = (survey.gap(), survey.gap_here());
        job.gap = gap;
        let target = job.target(state);
        if gap <= target {
            return Outcome::Converged;
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
        // A set that let nothing move is followed by the most violating pairs alone.
        let hold = gap_here > SOLVED * gap && holds < HOLDS && idle == 0;
        holds = if hold { holds + 1 } else { 0 };
        let batch = (survey.support / 4).clamp(few, BATCH).min(room / 2).max(2);
        let begun = if hold { gap_here } else { gap };
        let tol = (INNER * begun).max(0.8 * target);
        let fetch = if hold { 0 } else { batch };
        let choice = survey.choose(state, |r| cache.has(r), fetch, most, job.params.exec);
        let columns: Vec<u32> = choice.variables.iter().map(|&v| v % n as u32).collect();
        job.kernel_values += cache.fetch(&columns, &mut compute) as u64 * n as u64;

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
        idle = if run.iterations == 0 && choice.missing == 0 { idle + 1 } else { 0 };
        if idle > 2 || run.end == End::Stalled {
            return Outcome::Stalled;
        }
    }
}
