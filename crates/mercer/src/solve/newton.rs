//! Newton steps on the variables between their bounds.
//!
//! Pairs creep where the free variables' matrix is nearly singular: at C = 1e6 a smooth kernel can take tens of
//! millions of steps. There the bounds hardly change any more, and what is left is an equality-constrained quadratic
//! problem: one Cholesky factorisation of order (free variables), a step until a bound is met, and again with it. Pairs and
//! Newton steps take turns; both only ever go down, and pairs alone decide when it is over.

use std::ops::ControlFlow;

use mercer_num::Real;
use mercer_num::factor::{Spd, solve_spd};
use mercer_num::pass::accumulate;

use super::pair::{self, End, Local, LocalRows, Look, Rule, Run, flags, low_bit, up_bit};
use super::problem::MAX_GROUPS;

/// Pair steps for each variable before Newton steps are tried.
const PATIENCE: u64 = 10;

/// Most free variables: a factorisation of this order takes about a second.
const MOST_FREE: usize = 3000;

/// Newton steps in a row: each ends at a bound, so more of them than this means that the bounds are not settled.
const STEPS: usize = 128;

/// Runs pairs, with Newton steps where pairs take long.
pub(super) fn run<R: LocalRows>(
    p: &mut Local,
    rows: &mut R,
    rule: &Rule,
    check: &mut dyn FnMut(Look<'_>) -> ControlFlow<()>,
) -> Run {
    let mut patience = PATIENCE * p.beta.len() as u64 + 1000;
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
        patience = if steps(p, rows) == STEPS { patience } else { 2 * patience };
    }
}

/// Newton steps until one is not ended by a bound; returns how many were. One factorisation serves all of them: a variable
/// that meets its bound is a further constraint, which costs one solution of the system.
fn steps<R: LocalRows>(p: &mut Local, rows: &mut R) -> usize {
    let bits = |v: usize| up_bit(usize::from(p.group[v])) | low_bit(usize::from(p.group[v]));
    let free: Vec<usize> = (0..p.beta.len()).filter(|&v| p.flags[v] == bits(v)).collect();
    let m = free.len();
    if !(2..=MOST_FREE).contains(&m) {
        return 0;
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
    let Ok(factor) = Spd::new(&matrix, m) else { return 0 };
    drop(matrix);
    let mut walk = Walk::new(p, &free, factor);
    let mut blocked = 0;
    while blocked < STEPS && walk.step(p, &free) {
        blocked += 1;
    }
    settle(p, rows, &free, walk.beta);
    blocked
}

/// A walk over the free variables: `u = -K^-1 g`, and `K^-1` of each constraint's row.
struct Walk {
    factor: Spd,
    beta: Vec<f64>,
    gradient: Vec<f64>,
    u: Vec<f64>,
    /// One after the other: first the groups' sums, then variables on their bound.
    columns: Vec<f64>,
    group: Vec<usize>,
    groups: usize,
    fixed: Vec<usize>,
}

impl Walk {
    fn new(p: &Local, free: &[usize], factor: Spd) -> Self {
        let (m, groups) = (free.len(), p.groups);
        let gradient: Vec<f64> = free.iter().map(|&v| p.gradient[v]).collect();
        let group: Vec<usize> = free.iter().map(|&v| usize::from(p.group[v])).collect();
        let mut u: Vec<f64> = gradient.iter().map(|g| -g).collect();
        factor.solve(&mut u, 1);
        let mut columns = vec![0.0; m * groups];
        (0..m).for_each(|x| columns[group[x] * m + x] = 1.0);
        factor.solve(&mut columns, groups);
        let beta = free.iter().map(|&v| p.beta[v]).collect();
        Walk { factor, beta, gradient, u, columns, group, groups, fixed: Vec::new() }
    }

    /// A constraint's row times a vector.
    fn times(&self, constraint: usize, vector: &[f64]) -> f64 {
        match constraint.checked_sub(self.groups) {
            Some(at) => vector[self.fixed[at]],
            None => vector.iter().zip(&self.group).filter(|(_, g)| **g == constraint).map(|(v, _)| v).sum(),
        }
    }

    /// The direction in which the minimum lies with all constraints kept, and the matrix times it.
    fn direction(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (m, c) = (self.u.len(), self.groups + self.fixed.len());
        let column = |b: usize| &self.columns[b * m..(b + 1) * m];
        let mut small = vec![0.0; c * c];
        for a in 0..c {
            for b in 0..=a {
                let v = self.times(a, column(b));
                (small[a * c + b], small[b * c + a]) = (v, v);
            }
            // A group without free variables has nothing to keep.
            if small[a * c + a] == 0.0 {
                small[a * c + a] = 1.0;
            }
        }
        let wanted: Vec<f64> = (0..c).map(|a| -self.times(a, &self.u)).collect();
        let (price, _) = solve_spd(&small, c, &wanted, 1).ok()?;
        let mut direction = self.u.clone();
        let mut pull: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        for (b, price) in price.iter().enumerate() {
            direction.iter_mut().zip(column(b)).for_each(|(d, w)| *d += price * w);
            match b.checked_sub(self.groups) {
                Some(at) => pull[self.fixed[at]] += price,
                None => {
                    pull.iter_mut().zip(&self.group).filter(|(_, g)| **g == b).for_each(|(k, _)| *k += price);
                }
            }
        }
        self.fixed.iter().for_each(|&x| direction[x] = 0.0);
        Some((direction, pull))
    }

    /// One step; whether a bound ended it.
    fn step(&mut self, p: &Local, free: &[usize]) -> bool {
        let Some((direction, pull)) = self.direction() else { return false };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (slope, bend) = (dot(&self.gradient, &direction), dot(&pull, &direction));
        if slope >= 0.0 || bend <= 0.0 || !slope.is_finite() || !bend.is_finite() {
            return false;
        }
        let (mut length, mut blocking) = (-slope / bend, None);
        for (x, (&v, &d)) in free.iter().zip(&direction).enumerate() {
            let bound = if d > 0.0 { p.upper[v] } else { p.lower[v] };
            let room = (bound - self.beta[x]) / d;
            if d != 0.0 && room < length {
                (length, blocking) = (room.max(0.0), Some((x, bound)));
            }
        }
        for (x, (&v, d)) in free.iter().zip(&direction).enumerate() {
            self.beta[x] = (self.beta[x] + length * d).clamp(p.lower[v], p.upper[v]);
            self.u[x] -= length * d;
            self.gradient[x] += length * pull[x];
        }
        let Some((x, bound)) = blocking else { return false };
        self.beta[x] = bound;
        self.fixed.push(x);
        let at = self.columns.len();
        self.columns.resize(at + self.u.len(), 0.0);
        self.columns[at + x] = 1.0;
        self.factor.solve(&mut self.columns[at..], 1);
        true
    }
}

/// Takes new values, keeps the sums to the last bit that f64 has, and brings the gradient up to date.
fn settle<R: LocalRows>(p: &mut Local, rows: &mut R, free: &[usize], mut target: Vec<f64>) {
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
