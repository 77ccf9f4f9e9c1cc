//! Which variables to work on next, and which rows that is worth computing.
//!
//! What is left out is not lost: every round sees the gradient of all variables. Two things were measured to matter.
//! A row is worth fetching only once the rows at hand are nearly solved: while they are not, the worst violators are
//! artefacts (a9a: 14.5 thousand rows fetched instead of 31 thousand). And the batch must follow the size of the
//! solution: a machine that ends with 200 support vectors should not begin with 1000 rows.

use super::pair::{low_bit, up_bit};
use super::state::{Bracket, State};

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
    pub(super) fn new(state: &State<'_>, here: impl Fn(u32) -> bool) -> Self {
        let mut survey = Survey {
            gradient: Vec::with_capacity(state.total),
            flags: Vec::with_capacity(state.total),
            all: vec![Bracket::EMPTY; state.groups],
            here: vec![Bracket::EMPTY; state.groups],
            support: 0,
        };
        for v in 0..state.total {
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
        here: impl Fn(u32) -> bool,
        fetch: usize,
        most: usize,
    ) -> Choice {
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        let mut missing = [Vec::new(), Vec::new()];
        for v in 0..state.total {
            let (g, flags, group) = (self.gradient[v], self.flags[v], state.problem.group(v));
            let variable = v as u32;
            let worst = violation(flags, group, g, &self.all[group]);
            if here((v % state.n) as u32) {
                let near = violation(flags, group, g, &self.here[group]);
                let free = flags & up_bit(group) != 0 && flags & low_bit(group) != 0;
                if free || near > 0.0 {
                    kept.push(Candidate { violation: near, variable });
                } else if worst > 0.0 {
                    others.push(Candidate { violation: worst, variable });
                }
            } else if worst > 0.0 && fetch > 0 {
                let from_above = flags & low_bit(group) != 0 && g - self.all[group].lowest >= worst;
                missing[usize::from(from_above)].push(Candidate { violation: worst, variable });
            }
        }
        let [mut below, mut above] = missing;
        let half = fetch / 2;
        let from_above = (fetch - half.min(below.len())).min(above.len());
        keep_worst(&mut above, from_above);
        keep_worst(&mut below, fetch - from_above);
        let missing = above.len() + below.len();
        keep_worst(&mut kept, most.saturating_sub(missing));
        // The most violating pair must be in, or a round could find nothing to do.
        keep_worst(&mut others, fetch.max(16).min(most.saturating_sub(missing + kept.len()).max(2)));
        let mut variables: Vec<u32> =
            [kept, others, below, above].iter().flatten().map(|c| c.variable).collect();
        variables.sort_unstable();
        Choice { variables, missing }
    }
}
