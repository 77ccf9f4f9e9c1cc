//! Newton steps on the free variables (strictly between their bounds).
//!
//! SMO converges slowly where the kernel matrix of the free variables is nearly singular: at C = 1e6 a smooth kernel
//! can take tens of millions of iterations. By then the set of bounded variables hardly changes, and an
//! equality-constrained quadratic problem is left: one Cholesky factorisation of the order of the free variables,
//! then steps that each stop at the next bound. SMO and Newton steps alternate. Both decrease the objective, and only
//! SMO's stopping rule decides convergence.

use std::ops::ControlFlow;

use mercer_num::Real;
use mercer_num::factor::{Spd, solve_spd};
use mercer_num::pass::accumulate;

use super::pair::{self, End, Local, LocalRows, Look, Rule, Run, flags, low_bit, up_bit};
use super::problem::MAX_GROUPS;

/// SMO iterations per variable before Newton steps are tried.
const PATIENCE: u64 = 10;

/// Maximum number of free variables: a factorisation of this order takes about a second.
const MOST_FREE: usize = 3000;

/// Maximum number of consecutive Newton steps. Each ends at a bound, so a longer sequence means that the bounded set
/// has not settled.
const STEPS: usize = 128;

/// Runs SMO, with Newton steps where it converges slowly.
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
        // Wait twice as long after each attempt that ended early, so that failed factorisations stay a small part of
        // the cost.
        patience = if steps(p, rows) == STEPS { patience } else { 2 * patience };
    }
}

/// Takes Newton steps until one reaches its minimum without meeting a bound; returns the number that met one. One
/// factorisation serves all steps: a variable that reaches its bound becomes one more constraint, which costs one
/// solve with the factor.
fn steps<R: LocalRows>(p: &mut Local, rows: &mut R) -> usize {
    let bits = |v: usize| up_bit(usize::from(p.group[v])) | low_bit(usize::from(p.group[v]));
    let free: Vec<usize> = (0..p.beta.len()).filter(|&v| p.flags[v] == bits(v)).collect();
    let m = free.len();
    // A single free variable cannot move while its group's sum is kept.
    if !(2..=MOST_FREE).contains(&m) {
        return 0;
    }
    let scale = free.iter().map(|&v| p.diag[v].abs()).sum::<f64>() / m as f64;
    // A proximal term: eigenvalues below the precision of the rows are noise, and steps along them must stay bounded.
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
    // Not positive definite even with the ridge: leave the problem to SMO.
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

/// State of consecutive Newton steps: `u = -K^-1 g`, and `K^-1` times the gradient of each constraint.
struct Walk {
    factor: Spd,
    beta: Vec<f64>,
    gradient: Vec<f64>,
    u: Vec<f64>,
    /// One column per constraint: the sums of the groups first, then the variables fixed at a bound.
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

    /// The gradient of a constraint times a vector.
    fn times(&self, constraint: usize, vector: &[f64]) -> f64 {
        match constraint.checked_sub(self.groups) {
            Some(at) => vector[self.fixed[at]],
            None => vector.iter().zip(&self.group).filter(|(_, g)| **g == constraint).map(|(v, _)| v).sum(),
        }
    }

    /// The direction to the minimum subject to all constraints, and the matrix times it.
    fn direction(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (m, c) = (self.u.len(), self.groups + self.fixed.len());
        let column = |b: usize| &self.columns[b * m..(b + 1) * m];
        let mut small = vec![0.0; c * c];
        for a in 0..c {
            for b in 0..=a {
                let v = self.times(a, column(b));
                (small[a * c + b], small[b * c + a]) = (v, v);
            }
            // A group without free variables imposes no constraint; 1 keeps the small system regular.
            if small[a * c + a] == 0.0 {
                small[a * c + a] = 1.0;
            }
        }
        // Schur complement of the KKT system: the multipliers that make the step keep every constraint.
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

    /// One step; returns whether it ended at a bound.
    fn step(&mut self, p: &Local, free: &[usize]) -> bool {
        let Some((direction, pull)) = self.direction() else { return false };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (slope, bend) = (dot(&self.gradient, &direction), dot(&pull, &direction));
        // Rounding has turned the direction upwards, or left no curvature: stop before any damage.
        if slope >= 0.0 || bend <= 0.0 || !slope.is_finite() || !bend.is_finite() {
            return false;
        }
        // The exact minimum along the direction, unless a bound is nearer.
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
        // The gradient is linear along the step, so `u` and `gradient` need no new product with the matrix.
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

/// Writes the new values back, restores the equality constraints to f64 precision, and updates the gradient.
fn settle<R: LocalRows>(p: &mut Local, rows: &mut R, free: &[usize], mut target: Vec<f64>) {
    // Assign the rounding error of a group's sum to the variable with most room on both sides.
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
