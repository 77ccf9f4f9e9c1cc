//! Newton steps on the variables between their bounds.
//!
//! Pairs creep where the free variables' matrix is nearly singular: at C = 1e6 a smooth kernel can take tens of
//! millions of steps. There the bounds hardly change any more, and what is left is an equality-constrained quadratic
//! problem: one Cholesky factorisation of order (free variables), a step until a bound is met, and again. Pairs and
//! Newton steps take turns; both only ever go down, and pairs alone decide when it is over.

use std::ops::ControlFlow;

use mercer_num::Real;
use mercer_num::factor::solve_spd;
use mercer_num::pass::accumulate;

use super::pair::{self, End, Local, LocalRows, Look, Rule, Run, flags, low_bit, up_bit};
use super::problem::MAX_GROUPS;

/// Pair steps for each variable before Newton steps are tried.
const PATIENCE: u64 = 20;

/// Most free variables: a factorisation of this order takes about a second.
const MOST_FREE: usize = 3000;

/// Newton steps in a row: each ends at a bound, so more of them than this means that the bounds are not settled.
const STEPS: usize = 24;

/// Runs pairs, with Newton steps where pairs take long.
pub(super) fn run<R: LocalRows>(
    p: &mut Local,
    rows: &mut R,
    rule: &Rule,
    check: &mut dyn FnMut(Look<'_>) -> ControlFlow<()>,
) -> Run {
    let mut patience = PATIENCE * p.beta.len() as u64 + 5000;
    let mut done = 0;
    loop {
        let left = rule.limit - done;
        let part = Rule { tol: rule.tol, limit: left.min(patience), every: rule.every };
        let run =
            pair::run(p, rows, &part, &mut |look| check(Look { iterations: done + look.iterations, ..look }));
        done += run.iterations;
        if run.end != End::Limit || done >= rule.limit {
            return Run { iterations: done, ..run };
        }
        // Where it does not help it is tried ever less often.
        let blocked = (0..STEPS).take_while(|_| step(p, rows) == Step::Blocked).count();
        patience = if blocked == STEPS { patience } else { 2 * patience };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Ended at a bound.
    Blocked,
    /// The minimum over the free variables, as far as the numbers go.
    Full,
    /// There was nothing to gain.
    None,
}

/// One Newton step.
fn step<R: LocalRows>(p: &mut Local, rows: &mut R) -> Step {
    let bits = |v: usize| up_bit(usize::from(p.group[v])) | low_bit(usize::from(p.group[v]));
    let free: Vec<usize> = (0..p.beta.len()).filter(|&v| p.flags[v] == bits(v)).collect();
    let m = free.len();
    if !(2..=MOST_FREE).contains(&m) {
        return Step::None;
    }
    let scale = free.iter().map(|&v| p.diag[v].abs()).sum::<f64>() / m as f64;
    // What rows of this precision cannot resolve is not to be followed: a proximal step.
    let ridge = scale * if R::T::EPSILON.f64() > 1e-10 { 1e-7 } else { 1e-11 };
    let mut matrix = vec![0.0; m * m];
    for (&v, line) in free.iter().zip(matrix.chunks_mut(m)) {
        rows.load(v);
        let row = rows.row(v);
        for (a, &w) in line.iter_mut().zip(&free) {
            *a = row[w].f64();
        }
    }
    for (x, &v) in free.iter().enumerate() {
        matrix[x * m + x] = p.diag[v] + ridge;
    }
    let Some(direction) = direction(p, &free, &matrix) else { return Step::None };

    let slope: f64 = free.iter().zip(&direction).map(|(&v, d)| p.gradient[v] * d).sum();
    let bend: f64 = matrix
        .chunks(m)
        .zip(&direction)
        .map(|(line, d)| d * line.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>())
        .sum();
    if slope >= 0.0 || bend <= 0.0 || !slope.is_finite() || !bend.is_finite() {
        return Step::None;
    }
    let (mut length, mut blocking) = (-slope / bend, None);
    for (x, (&v, &d)) in free.iter().zip(&direction).enumerate() {
        let bound = if d > 0.0 { p.upper[v] } else { p.lower[v] };
        let room = (bound - p.beta[v]) / d;
        if d != 0.0 && room < length {
            (length, blocking) = (room, Some((x, bound)));
        }
    }
    apply(p, rows, &free, &direction, length, blocking);
    if blocking.is_some() { Step::Blocked } else { Step::Full }
}

/// Minus the inverse times the gradient, with each group's sum taken out.
fn direction(p: &Local, free: &[usize], matrix: &[f64]) -> Option<Vec<f64>> {
    let (m, groups) = (free.len(), p.groups);
    let k = groups + 1;
    let group = |x: usize| usize::from(p.group[free[x]]);
    let mut right = vec![0.0; m * k];
    for x in 0..m {
        right[x * k] = -p.gradient[free[x]];
        right[x * k + 1 + group(x)] = 1.0;
    }
    let (inverse, _) = solve_spd(matrix, m, &right, k).ok()?;
    let mut sums = vec![0.0; groups * groups];
    let mut wanted = vec![0.0; groups];
    for x in 0..m {
        wanted[group(x)] -= inverse[x * k];
        for h in 0..groups {
            sums[group(x) * groups + h] += inverse[x * k + 1 + h];
        }
    }
    // A group without free variables has nothing to keep.
    for g in 0..groups {
        if sums[g * groups + g] == 0.0 {
            sums[g * groups + g] = 1.0;
        }
    }
    let (price, _) = solve_spd(&sums, groups, &wanted, 1).ok()?;
    let part = |x: usize, h: usize| price[h] * inverse[x * k + 1 + h];
    Some((0..m).map(|x| inverse[x * k] + (0..groups).map(|h| part(x, h)).sum::<f64>()).collect())
}

/// Moves, keeps the sums to the last bit that f64 has, and brings the gradient up to date.
fn apply<R: LocalRows>(
    p: &mut Local,
    rows: &mut R,
    free: &[usize],
    direction: &[f64],
    length: f64,
    blocking: Option<(usize, f64)>,
) {
    let mut target: Vec<f64> = free
        .iter()
        .zip(direction)
        .map(|(&v, d)| (p.beta[v] + length * d).clamp(p.lower[v], p.upper[v]))
        .collect();
    if let Some((x, bound)) = blocking {
        target[x] = bound;
    }
    // What rounding leaves of a sum goes to the variable with most room.
    for g in 0..p.groups {
        let members = || (0..free.len()).filter(|&x| usize::from(p.group[free[x]]) == g);
        let left: f64 = members().map(|x| target[x] - p.beta[free[x]]).sum();
        let room = |x: usize| (p.upper[free[x]] - target[x]).min(target[x] - p.lower[free[x]]);
        if let Some(x) = members().max_by(|&a, &b| room(a).total_cmp(&room(b))) {
            target[x] = (target[x] - left).clamp(p.lower[free[x]], p.upper[free[x]]);
        }
    }
    let change: Vec<f64> = free.iter().zip(&target).map(|(&v, t)| t - p.beta[v]).collect();
    for (x, &v) in free.iter().enumerate() {
        p.beta[v] = target[x];
        p.gradient[v] += p.shift[v] * change[x];
        p.flags[v] = flags(p.beta[v], p.lower[v], p.upper[v], usize::from(p.group[v]));
    }
    for (free, change) in free.chunks(2 * MAX_GROUPS).zip(change.chunks(2 * MAX_GROUPS)) {
        free.iter().for_each(|&v| rows.load(v));
        let batch: Vec<&[R::T]> = free.iter().map(|&v| rows.row(v)).collect();
        accumulate(&mut p.gradient, &batch, change);
    }
}
