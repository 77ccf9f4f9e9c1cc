//! Which variables to work on next, and which rows that is worth computing.
//!
//! What is left out is not lost: every round sees the gradient of all variables. Two things were measured to matter.
//! A row is worth fetching only once the rows at hand are nearly solved: while they are not, the worst violators are
//! artefacts (a9a: 14.5 thousand rows fetched instead of 31 thousand). And the batch must follow the size of the
//! solution: a machine that ends with 200 support vectors should not begin with 1000 rows.

use std::ops::Range;

use rayon::prelude::*;

use super::pair::{low_bit, up_bit};
use super::state::{Bracket, State};
use crate::exec::Exec;

/// Variables that are looked at by one thread; fewer are not worth another.
const LEAST_PIECE: usize = 4096;

/// What `look` finds on runs of the variables, in order.
fn by_pieces<A: Send>(total: usize, exec: Exec, look: impl Fn(Range<usize>) -> A + Sync) -> Vec<A> {
    let pieces = exec.threads().min(total / LEAST_PIECE).max(1);
    if pieces == 1 {
        return vec![look(0..total)];
    }
    (0..pieces).into_par_iter().map(|p| look(p * total / pieces..(p + 1) * total / pieces)).collect()
}

/// The gradient and the flags of all variables, with what follows from them.
pub(super) struct Survey {
    gradient: Vec<f64>,
    flags: Vec<u8>,
    /// Over all variables.
    pub(super) all: Vec<Bracket>,
    /// Over those whose rows are here.
    pub(super) here: Vec<Bracket>,
    /// Variables that are not 0.
    pub(super) support: usize,
}

/// What a round works on.
pub(super) struct Choice {
    /// Variables, rising.
    pub(super) variables: Vec<u32>,
    /// How many of them have rows that are not here.
    pub(super) missing: usize,
    /// Places in `variables` of those: they are the worst violators, so all of them are about to move.
    pub(super) fetched: Vec<u32>,
}

fn widest(brackets: &[Bracket]) -> f64 {
    brackets.iter().map(Bracket::gap).fold(0.0, f64::max)
}

/// By how much a variable violates against a bracket; negative where it cannot violate.
fn violation(flags: u8, group: usize, gradient: f64, bracket: &Bracket) -> f64 {
    let rise = if flags & up_bit(group) != 0 { bracket.highest - gradient } else { f64::NEG_INFINITY };
    let fall = if flags & low_bit(group) != 0 { gradient - bracket.lowest } else { f64::NEG_INFINITY };
    rise.max(fall)
}

/// A number that spreads equal candidates over the rows: sorted data must not decide.
fn scatter(v: u32) -> u32 {
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
    /// Rows here: free, or violating against each other.
    kept: Vec<Candidate>,
    /// Rows here that violate only against the others.
    others: Vec<Candidate>,
    /// Rows missing, violating from below.
    below: Vec<Candidate>,
    /// Rows missing, violating from above.
    above: Vec<Candidate>,
}

/// Keeps the `count` worst.
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
    /// Looks at all variables; `here` tells whether a row is in memory.
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

    /// The largest violation among variables whose rows are here.
    pub(super) fn gap_here(&self) -> f64 {
        widest(&self.here)
    }

    /// At most `most` variables: those here that are free or violate against each other, the worst of the others here,
    /// and up to `fetch` whose rows are missing, half of them from below and half from above.
    pub(super) fn choose(
        &self,
        state: &State<'_>,
        here: impl Fn(u32) -> bool + Sync,
        fetch: usize,
        most: usize,
        exec: Exec,
    ) -> Choice {
        let lists = by_pieces(state.total, exec, |piece| self.candidates(state, &here, fetch > 0, piece));
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
        let from_above = (fetch - half.min(below.len())).min(above.len());
        keep_worst(&mut above, from_above);
        keep_worst(&mut below, fetch - from_above);
        let missing = above.len() + below.len();
        keep_worst(&mut kept, most.saturating_sub(missing));
        // The most violating pair must be in, or a round could find nothing to do.
        keep_worst(&mut others, fetch.max(16).min(most.saturating_sub(missing + kept.len()).max(2)));
        // Each with whether its row was missing.
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

    /// What could be chosen among a run of the variables.
    fn candidates(
        &self,
        state: &State<'_>,
        here: impl Fn(u32) -> bool,
        fetch: bool,
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
            } else if worst > 0.0 && fetch {
                let from_above = flags & low_bit(group) != 0 && g - self.all[group].lowest >= worst;
                let list = if from_above { &mut found.above } else { &mut found.below };
                list.push(Candidate { violation: worst, variable });
            }
        }
        found
    }
}
