//! Working set selection: which variables to optimise next, and which missing rows are worth computing.
//!
//! A variable that is not selected is not lost: every round sees the gradient of all variables. Two rules were found
//! by measurement to matter. First, compute new rows only once the problem on the cached rows is nearly solved;
//! before that, the worst violators are artefacts (on a9a 14,500 rows are computed instead of 31,000). Second, scale
//! the batch with the size of the solution: a machine that ends with 200 support vectors should not start by
//! computing 1000 rows.

use std::ops::Range;

use rayon::prelude::*;

use super::pair::{low_bit, up_bit};
use super::state::{Bracket, State};
use crate::exec::Exec;

/// Smallest number of variables that is worth a thread of its own.
const LEAST_PIECE: usize = 4096;

/// Minimum number of cached variables that violate only against others whose rows are not cached.
const OTHERS: usize = 16;

/// Applies `look` to consecutive runs of the variables, in parallel; results are in order.
fn by_pieces<A: Send>(total: usize, exec: Exec, look: impl Fn(Range<usize>) -> A + Sync) -> Vec<A> {
    let pieces = exec.threads().min(total / LEAST_PIECE).max(1);
    if pieces == 1 {
        return vec![look(0..total)];
    }
    (0..pieces).into_par_iter().map(|p| look(p * total / pieces..(p + 1) * total / pieces)).collect()
}

/// The gradient and the flags of all variables, with the brackets computed from them.
pub(super) struct Survey {
    gradient: Vec<f64>,
    flags: Vec<u8>,
    /// Over all variables.
    pub(super) all: Vec<Bracket>,
    /// Over those whose rows are cached.
    pub(super) here: Vec<Bracket>,
    /// Number of non-zero variables.
    pub(super) support: usize,
}

/// The working set of a round.
pub(super) struct Choice {
    /// Variables in ascending order.
    pub(super) variables: Vec<u32>,
    /// How many of them have rows that are not cached.
    pub(super) missing: usize,
    /// Positions of those in `variables`: they are the worst violators, so all of them are about to change.
    pub(super) fetched: Vec<u32>,
}

fn widest(brackets: &[Bracket]) -> f64 {
    brackets.iter().map(Bracket::gap).fold(0.0, f64::max)
}

/// KKT violation of a variable against a bracket; negative where it cannot violate.
fn violation(flags: u8, group: usize, gradient: f64, bracket: &Bracket) -> f64 {
    let rise = if flags & up_bit(group) != 0 { bracket.highest - gradient } else { f64::NEG_INFINITY };
    let fall = if flags & low_bit(group) != 0 { gradient - bracket.lowest } else { f64::NEG_INFINITY };
    rise.max(fall)
}

/// A hash that breaks ties between equal candidates, so that the order of the data (sorted by class, for example)
/// does not decide.
pub(super) fn scatter(v: u32) -> u32 {
    let mixed = (v ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b1);
    (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b)
}

#[derive(Clone, Copy)]
struct Candidate {
    violation: f64,
    variable: u32,
}

#[derive(Default)]
struct Candidates {
    /// Row cached: free, or violating against other cached ones.
    kept: Vec<Candidate>,
    /// Row cached: violating only against variables whose rows are not.
    others: Vec<Candidate>,
    /// Row missing, may increase.
    below: Vec<Candidate>,
    /// Row missing, may decrease.
    above: Vec<Candidate>,
}

/// Keeps the `count` largest violations.
fn keep_worst(list: &mut Vec<Candidate>, count: usize) {
    if list.len() > count {
        if count > 0 {
            list.select_nth_unstable_by(count - 1, |a, b| {
                b.violation
                    .total_cmp(&a.violation)
                    .then_with(|| scatter(a.variable).cmp(&scatter(b.variable)))
            });
        }
        list.truncate(count);
    }
}

impl Survey {
    /// Scans all variables; `here` tells whether a row is cached.
    pub(super) fn new(state: &State<'_>, here: impl Fn(u32) -> bool + Sync, exec: Exec) -> Self {
        let parts = by_pieces(state.total, exec, |piece| Self::of(state, &here, piece));
        let mut parts = parts.into_iter();
        let mut survey = parts.next().expect("at least one piece");
        for part in parts {
            survey.gradient.extend(part.gradient);
            survey.flags.extend(part.flags);
            survey.all.iter_mut().zip(&part.all).for_each(|(a, b)| a.join(b));
            survey.here.iter_mut().zip(&part.here).for_each(|(a, b)| a.join(b));
            survey.support += part.support;
        }
        survey
    }

    fn of(state: &State<'_>, here: impl Fn(u32) -> bool, piece: Range<usize>) -> Self {
        let mut survey = Survey {
            gradient: Vec::with_capacity(piece.len()),
            flags: Vec::with_capacity(piece.len()),
            all: vec![Bracket::EMPTY; state.groups],
            here: vec![Bracket::EMPTY; state.groups],
            support: 0,
        };
        for v in piece {
            let (g, flags, group) = (state.gradient(v), state.flags(v), state.problem.group(v));
            survey.all[group].widen(flags, group, g);
            if here((v % state.n) as u32) {
                survey.here[group].widen(flags, group, g);
            }
            survey.support += usize::from(state.beta[v] != 0.0);
            survey.gradient.push(g);
            survey.flags.push(flags);
        }
        survey
    }

    /// The largest violation.
    pub(super) fn gap(&self) -> f64 {
        widest(&self.all)
    }

    /// The largest violation among variables with cached rows.
    pub(super) fn gap_here(&self) -> f64 {
        widest(&self.here)
    }

    /// Selects at most `most` variables: cached ones that are free or violate among themselves, the worst of the
    /// other cached ones, and up to `fetch` with missing rows, half from each end of the bracket.
    pub(super) fn choose(
        &self,
        state: &State<'_>,
        here: impl Fn(u32) -> bool + Sync,
        fetch: usize,
        most: usize,
        exec: Exec,
    ) -> Choice {
        let lists = by_pieces(state.total, exec, |piece| self.candidates(state, &here, fetch, piece));
        let mut lists = lists.into_iter();
        let mut all = lists.next().expect("at least one piece");
        for list in lists {
            all.kept.extend(list.kept);
            all.others.extend(list.others);
            all.below.extend(list.below);
            all.above.extend(list.above);
        }
        let Candidates { mut kept, mut others, mut below, mut above } = all;
        let half = fetch / 2;
        // Where one end has fewer than half of the candidates, the other end takes the rest.
        let from_above = (fetch - half.min(below.len())).min(above.len());
        keep_worst(&mut above, from_above);
        keep_worst(&mut below, fetch - from_above);
        let missing = above.len() + below.len();
        keep_worst(&mut kept, most.saturating_sub(missing));
        // The maximal violating pair must be included, or a round could make no progress.
        keep_worst(&mut others, fetch.max(OTHERS).min(most.saturating_sub(missing + kept.len()).max(2)));
        // Each paired with whether its row was missing.
        let here = [&kept, &others].into_iter().flatten().map(|c| (c.variable, false));
        let fetched = [&below, &above].into_iter().flatten().map(|c| (c.variable, true));
        let mut marked: Vec<(u32, bool)> = here.chain(fetched).collect();
        marked.sort_unstable();
        Choice {
            variables: marked.iter().map(|&(v, _)| v).collect(),
            missing,
            fetched: (0..marked.len() as u32).filter(|&at| marked[at as usize].1).collect(),
        }
    }

    /// The candidates in a run of the variables.
    fn candidates(
        &self,
        state: &State<'_>,
        here: impl Fn(u32) -> bool,
        fetch: usize,
        piece: Range<usize>,
    ) -> Candidates {
        let mut found = Candidates::default();
        for v in piece {
            let (g, flags, group) = (self.gradient[v], self.flags[v], state.problem.group(v));
            let variable = v as u32;
            let worst = violation(flags, group, g, &self.all[group]);
            if here((v % state.n) as u32) {
                let near = violation(flags, group, g, &self.here[group]);
                let free = flags & up_bit(group) != 0 && flags & low_bit(group) != 0;
                if free || near > 0.0 {
                    found.kept.push(Candidate { violation: near, variable });
                } else if worst > 0.0 {
                    found.others.push(Candidate { violation: worst, variable });
                }
            } else if worst > 0.0 && fetch > 0 {
                let from_above = flags & low_bit(group) != 0 && g - self.all[group].lowest >= worst;
                let list = if from_above { &mut found.above } else { &mut found.below };
                list.push(Candidate { violation: worst, variable });
            }
        }
        // No more of a piece can be among the worst of all.
        keep_worst(&mut found.below, fetch);
        keep_worst(&mut found.above, fetch);
        keep_worst(&mut found.others, fetch.max(OTHERS));
        found
    }
}
