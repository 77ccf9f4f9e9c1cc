//! Sequential minimal optimisation on a problem whose rows are available.
//!
//! Each iteration selects the variable i that may increase and has the smallest gradient, selects its partner j among
//! those that may decrease by second-order information (Fan, Chen and Lin 2005), takes the exact step along `e_i -
//! e_j`, and updates the gradient. An iteration is two passes over m entries and allocates nothing. It stops by
//! LIBSVM's rule, when no pair of a group violates the optimality conditions by more than the tolerance: `max{g_j : j
//! may decrease} - min{g_i : i may increase} <= tol`.

use std::ops::ControlFlow;

use mercer_num::Real;
use mercer_num::pass::{self, Element, Lowest};

use super::problem::MAX_GROUPS;

/// The flag bit that marks a variable that may increase.
pub(super) fn up_bit(group: usize) -> u8 {
    1 << (2 * group)
}

/// The flag bit that marks a variable that may decrease.
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
    /// The same in f32, for ranking partners.
    pub(super) diag32: Vec<f32>,
    pub(super) shift: Vec<f64>,
    pub(super) flags: Vec<u8>,
    pub(super) group: Vec<u8>,
    pub(super) groups: usize,
}

/// Rows of K on a local problem's variables.
pub(super) trait LocalRows {
    /// f32, or f64 for full precision.
    type T: Element;
    /// Makes a row available. The rows of the last `2 * MAX_GROUPS` calls stay available.
    fn load(&mut self, variable: usize);
    /// A row that has been loaded.
    fn row(&self, variable: usize) -> &[Self::T];
}

/// The whole matrix K in memory, one row per variable.
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

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// No pair violates by more than the tolerance.
    Converged,
    /// The iteration limit was reached.
    Limit,
    /// The caller's check cancelled.
    Broken,
    /// The step no longer changes the variables in f64 arithmetic.
    Stalled,
    /// The objective decreases without bound along this pair.
    Unbounded(usize, usize),
}

/// How a run went.
pub(super) struct Run {
    pub(super) end: End,
    pub(super) iterations: u64,
}

/// The state shown to the caller's check.
pub(super) struct Look<'a> {
    pub(super) local: &'a Local,
    pub(super) iterations: u64,
    pub(super) gap: f64,
    /// The smallest gradient that may increase, one per group.
    pub(super) lowest: &'a [Lowest; MAX_GROUPS],
    /// The largest gradient that may decrease, one per group.
    pub(super) highest: &'a [f64; MAX_GROUPS],
}

/// Limits of a run.
pub(super) struct Rule {
    pub(super) tol: f64,
    pub(super) limit: u64,
    /// Number of iterations between calls of the caller's check.
    pub(super) every: u64,
}

/// Curvature below this fraction of the diagonal is rounding error of the rows' precision.
fn floor_of_curvature<T: Element>() -> f64 {
    T::EPSILON.f64().max(1e-12)
}

/// Iterates until one of the [`End`]s is reached.
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
            // The first variable of the maximal violating pair; a step keeps the sum of its group, so both come from
            // one group.
            let i = lowest[g].at;
            if i == usize::MAX {
                continue;
            }
            rows.load(i);
            let own = p.diag32[i];
            // LIBSVM's tau: a non-positive curvature is replaced by a small one, so that the ranking stays finite.
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
        // With several groups the most violating pair is taken, and each group must satisfy the tolerance by itself.
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
        // Second derivative along e_i - e_j, in f64; `diag` holds K's diagonal with the shift.
        let bend = p.diag[i] + p.diag[j] - 2.0 * row_i[j].f64();
        let wanted = (p.gradient[j] - p.gradient[i]) / bend.max(tau * scale).max(1e-12);
        let (room_i, room_j) = (p.upper[i] - p.beta[i], p.beta[j] - p.lower[j]);
        // Clipped to the box: beta_i can rise by room_i and beta_j can fall by room_j.
        let t = wanted.min(room_i).min(room_j);
        // No curvature and no bound: with a negative slope the objective has no minimum along this pair.
        if bend <= 0.0 && room_i.min(room_j) == f64::INFINITY {
            return ended(End::Unbounded(i, j));
        }
        let (old_i, old_j) = (p.beta[i], p.beta[j]);
        // Set exactly to the bound, because the flags compare with it.
        p.beta[i] = if t == room_i { p.upper[i] } else { old_i + t };
        p.beta[j] = if t == room_j { p.lower[j] } else { old_j - t };
        if p.beta[i] == old_i && p.beta[j] == old_j {
            return ended(End::Stalled);
        }
        for v in [i, j] {
            p.flags[v] = flags(p.beta[v], p.lower[v], p.upper[v], usize::from(p.group[v]));
        }
        // The shift is on the diagonal only, so the rows do not contain it.
        p.gradient[i] += p.shift[i] * t;
        p.gradient[j] -= p.shift[j] * t;
        // The update of the gradient and the search for the next i of group 0 are one pass over memory.
        lowest[0] = pass::step(&mut p.gradient, row_i, row_j, t, &p.flags, up_bit(0));
        for g in 1..p.groups {
            lowest[g] = pass::lowest(&p.gradient, &p.flags, up_bit(g));
        }
        iterations += 1;
    }
}
