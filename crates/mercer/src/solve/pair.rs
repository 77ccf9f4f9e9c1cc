//! Sequential minimal optimisation on a problem whose rows are at hand.
//!
//! Repeats: the variable i that may rise and has the lowest gradient; its partner j that may fall, chosen by the second
//! order (Fan, Chen and Lin 2005); the exact step along `e_i - e_j`; the gradient. An iteration is two passes over m
//! entries and allocates nothing. Stops when no pair of a group violates the optimality conditions by more than the
//! tolerance: `max{g_j : j may fall} - min{g_i : i may rise} <= tol`, LIBSVM's own rule.

use std::ops::ControlFlow;

use mercer_num::Real;
use mercer_num::pass::{self, Element, Lowest};

use super::problem::MAX_GROUPS;

/// The bit of a variable's flags that says it may rise.
pub(super) fn up_bit(group: usize) -> u8 {
    1 << (2 * group)
}

/// The bit that says it may fall.
pub(super) fn low_bit(group: usize) -> u8 {
    2 << (2 * group)
}

/// The flags of a variable at this value.
pub(super) fn flags(beta: f64, lower: f64, upper: f64, group: usize) -> u8 {
    (if beta < upper { up_bit(group) } else { 0 }) | (if beta > lower { low_bit(group) } else { 0 })
}

/// A problem of m variables, as arrays.
#[derive(Default)]
pub(super) struct Local {
    pub(super) gradient: Vec<f64>,
    pub(super) beta: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// K's diagonal with the shift.
    pub(super) diag: Vec<f64>,
    /// The same for ranking.
    pub(super) diag32: Vec<f32>,
    pub(super) shift: Vec<f64>,
    pub(super) flags: Vec<u8>,
    pub(super) group: Vec<u8>,
    pub(super) groups: usize,
}

/// Rows of K on a local problem's variables.
pub(super) trait LocalRows {
    /// f32, or f64 for the last digits.
    type T: Element;
    /// Makes a row ready. The rows of the last `2 * MAX_GROUPS` calls stay ready.
    fn load(&mut self, variable: usize);
    /// A row that is ready.
    fn row(&self, variable: usize) -> &[Self::T];
}

/// The whole of K in memory, a variable a row.
pub(super) struct Direct<'a, T> {
    pub(super) values: &'a [T],
    pub(super) n: usize,
}

impl<T: Element> LocalRows for Direct<'_, T> {
    type T = T;
    fn load(&mut self, _variable: usize) {}
    fn row(&self, variable: usize) -> &[T] {
        &self.values[variable * self.n..(variable + 1) * self.n]
    }
}

/// Why the loop was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// No pair violates by more than the tolerance.
    Converged,
    /// So many iterations were allowed.
    Limit,
    /// The caller's check broke off.
    Broken,
    /// The step no longer changes the variables: the limit of f64.
    Stalled,
    /// A pair along which the objective falls for ever.
    Unbounded(usize, usize),
}

/// How a run went.
pub(super) struct Run {
    pub(super) end: End,
    pub(super) iterations: u64,
}

/// What the caller's check gets to see.
pub(super) struct Look<'a> {
    pub(super) local: &'a Local,
    pub(super) iterations: u64,
    pub(super) gap: f64,
    /// The lowest gradient that may rise, group by group.
    pub(super) lowest: &'a [Lowest; MAX_GROUPS],
    /// The highest that may fall.
    pub(super) highest: &'a [f64; MAX_GROUPS],
}

/// What a run obeys.
pub(super) struct Rule {
    pub(super) tol: f64,
    pub(super) limit: u64,
    /// The caller's check is called once in so many iterations.
    pub(super) every: u64,
}

/// Curvature below this share of the diagonal is rounding: rows have no more digits than that.
fn floor_of_curvature<T: Element>() -> f64 {
    T::EPSILON.f64().max(1e-12)
}

/// Runs until one of the ends.
pub(super) fn run<R: LocalRows>(
    p: &mut Local,
    rows: &mut R,
    rule: &Rule,
    check: &mut dyn FnMut(Look<'_>) -> ControlFlow<()>,
) -> Run {
    let tau = floor_of_curvature::<R::T>();
    let mut lowest = [Lowest { value: f64::INFINITY, at: usize::MAX }; MAX_GROUPS];
    let mut highest = [f64::NEG_INFINITY; MAX_GROUPS];
    for g in 0..p.groups {
        lowest[g] = pass::lowest(&p.gradient, &p.flags, up_bit(g));
    }
    let mut iterations = 0;
    loop {
        let mut gap = 0.0;
        let mut pair = None;
        for g in 0..p.groups {
            let i = lowest[g].at;
            if i == usize::MAX {
                continue;
            }
            rows.load(i);
            let own = p.diag32[i];
            let least = (tau * f64::from(own.abs())).max(1e-12) as f32;
            let floor = lowest[g].value;
            let found =
                pass::partner(&p.gradient, rows.row(i), &p.diag32, own, least, floor, &p.flags, low_bit(g));
            let rise = f64::from(found.rise);
            highest[g] = floor + rise;
            if let Some(j) = found.at
                && rise > gap
            {
                gap = rise;
                pair = Some((i, j));
            }
        }
        let ended = |end| Run { end, iterations };
        let Some((i, j)) = pair.filter(|_| gap > rule.tol) else { return ended(End::Converged) };
        if iterations >= rule.limit {
            return ended(End::Limit);
        }
        if iterations % rule.every == rule.every - 1 {
            let look = Look { local: p, iterations, gap, lowest: &lowest, highest: &highest };
            if check(look).is_break() {
                return ended(End::Broken);
            }
        }

        rows.load(j);
        let (row_i, row_j) = (rows.row(i), rows.row(j));
        let scale = f64::midpoint(p.diag[i].abs(), p.diag[j].abs());
        let bend = p.diag[i] + p.diag[j] - 2.0 * row_i[j].f64();
        let wanted = (p.gradient[j] - p.gradient[i]) / bend.max(tau * scale).max(1e-12);
        let (room_i, room_j) = (p.upper[i] - p.beta[i], p.beta[j] - p.lower[j]);
        let t = wanted.min(room_i).min(room_j);
        if bend <= 0.0 && room_i.min(room_j) == f64::INFINITY {
            return ended(End::Unbounded(i, j));
        }
        let (old_i, old_j) = (p.beta[i], p.beta[j]);
        // On a bound exactly, so that flags are exact too.
        p.beta[i] = if t == room_i { p.upper[i] } else { old_i + t };
        p.beta[j] = if t == room_j { p.lower[j] } else { old_j - t };
        if p.beta[i] == old_i && p.beta[j] == old_j {
            return ended(End::Stalled);
        }
        for v in [i, j] {
            p.flags[v] = flags(p.beta[v], p.lower[v], p.upper[v], usize::from(p.group[v]));
        }
        p.gradient[i] += p.shift[i] * t;
        p.gradient[j] -= p.shift[j] * t;
        lowest[0] = pass::step(&mut p.gradient, row_i, row_j, t, &p.flags, up_bit(0));
        for g in 1..p.groups {
            lowest[g] = pass::lowest(&p.gradient, &p.flags, up_bit(g));
        }
        iterations += 1;
    }
}
