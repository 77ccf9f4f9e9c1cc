//! The full problem during a solve: the variables, and `f = K (sum of each row's variables)` in f64.

use mercer_num::pass::{self, Element};

use super::pair::{Local, Look, flags, low_bit, up_bit};
use super::problem::Problem;
use super::store::Store;
use super::{Solution, Threshold};
use crate::exec::Exec;
use crate::watch::{Info, Stop};

/// Variables, f, and derived quantities.
pub(super) struct State<'p> {
    pub(super) problem: &'p Problem<'p>,
    pub(super) n: usize,
    pub(super) total: usize,
    pub(super) groups: usize,
    pub(super) beta: Vec<f64>,
    pub(super) f: Vec<f64>,
    pub(super) diag: Vec<f64>,
    /// The variables at the time `f` was last computed in f64.
    pub(super) anchor: Vec<f64>,
    /// The largest value on the diagonal.
    pub(super) scale: f64,
    /// Whether all bounds are finite.
    pub(super) bounded: bool,
}

/// The interval of a group's gradients that violates most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket {
    /// The smallest gradient that may increase.
    pub(super) lowest: f64,
    /// The largest gradient that may decrease.
    pub(super) highest: f64,
}

impl Bracket {
    /// The bracket of no variables.
    pub(super) const EMPTY: Bracket = Bracket { lowest: f64::INFINITY, highest: f64::NEG_INFINITY };

    /// Adds a variable.
    pub(super) fn widen(&mut self, flags: u8, group: usize, gradient: f64) {
        if flags & up_bit(group) != 0 && gradient < self.lowest {
            self.lowest = gradient;
        }
        if flags & low_bit(group) != 0 && gradient > self.highest {
            self.highest = gradient;
        }
    }

    /// Merges with another bracket.
    pub(super) fn join(&mut self, other: &Bracket) {
        self.lowest = self.lowest.min(other.lowest);
        self.highest = self.highest.max(other.highest);
    }

    pub(super) fn gap(&self) -> f64 {
        // An infinite end means that no variable may increase, or none may decrease.
        if self.lowest.is_finite() && self.highest.is_finite() {
            (self.highest - self.lowest).max(0.0)
        } else {
            0.0
        }
    }
}

impl<'p> State<'p> {
    /// The starting state, with f = 0.
    pub(super) fn new(problem: &'p Problem<'p>) -> Self {
        let (n, total) = (problem.rows.len(), problem.linear.len());
        let beta = problem.start.clone().unwrap_or_else(|| {
            problem.lower.iter().zip(&problem.upper).map(|(&lo, &up)| 0.0_f64.clamp(lo, up)).collect()
        });
        let diag = problem.rows.diag();
        State {
            problem,
            n,
            total,
            groups: problem.group_count(),
            anchor: vec![0.0; total],
            beta,
            f: vec![0.0; n],
            scale: diag.iter().fold(0.0, |a, &d| if d.abs() > a { d.abs() } else { a }),
            diag,
            bounded: problem.lower.iter().chain(&problem.upper).all(|b| b.is_finite()),
        }
    }

    pub(super) fn gradient(&self, v: usize) -> f64 {
        self.f[v % self.n] + self.problem.linear[v] + self.problem.shift(v) * self.beta[v]
    }

    pub(super) fn flags(&self, v: usize) -> u8 {
        flags(self.beta[v], self.problem.lower[v], self.problem.upper[v], self.problem.group(v))
    }

    /// The rows with a non-zero coefficient, and their coefficients.
    pub(super) fn support(&self) -> (Vec<u32>, Vec<f64>) {
        let sum = |r: usize| (r..self.total).step_by(self.n).map(|v| self.beta[v]).sum::<f64>();
        (0..self.n).map(|r| (r as u32, sum(r))).filter(|&(_, c)| c != 0.0).unzip()
    }

    /// Recomputes f from scratch in f64.
    pub(super) fn recompute(&mut self, exec: Exec) {
        let (rows, coef) = self.support();
        self.f.fill(0.0);
        self.anchor.copy_from_slice(&self.beta);
        if !rows.is_empty() {
            self.problem.rows.apply(&rows, &coef, &mut self.f, exec);
        }
    }

    /// The bracket of every group.
    pub(super) fn brackets(&self) -> Vec<Bracket> {
        let mut out = vec![Bracket::EMPTY; self.groups];
        for v in 0..self.total {
            let group = self.problem.group(v);
            out[group].widen(self.flags(v), group, self.gradient(v));
        }
        out
    }

    /// The largest violation.
    pub(super) fn gap(&self) -> f64 {
        self.brackets().iter().map(Bracket::gap).fold(0.0, f64::max)
    }

    /// Variables that are not 0.
    pub(super) fn support_count(&self) -> usize {
        self.beta.iter().filter(|&&b| b != 0.0).count()
    }

    /// Distance of the coefficients from where `f` was last exact; `local` holds values that have not been written
    /// back yet.
    pub(super) fn drift(&self, local: Option<(&Local, Option<&[u32]>)>) -> f64 {
        let square = |b: f64, v: usize| (b - self.anchor[v]).powi(2);
        let all: f64 = match local {
            Some((local, None)) => local.beta.iter().enumerate().map(|(v, &b)| square(b, v)).sum(),
            Some((local, Some(of))) => {
                let outside: f64 = (0..self.total).map(|v| square(self.beta[v], v)).sum();
                let moved = |(&v, &b): (&u32, &f64)| {
                    square(b, v as usize) - square(self.beta[v as usize], v as usize)
                };
                outside + of.iter().zip(&local.beta).map(moved).sum::<f64>()
            }
            None => (0..self.total).map(|v| square(self.beta[v], v)).sum(),
        };
        all.max(0.0).sqrt()
    }

    /// The violation below which the most violating pair has no digits left: a gradient is the sum of an output and the
    /// linear part, so rounding hides differences below a few units in the last place of the larger of the two. Other
    /// variables, such as an outlier at its bound, do not count.
    pub(super) fn digits(&self) -> f64 {
        let mut pairs = vec![[(f64::INFINITY, 0.0), (f64::NEG_INFINITY, 0.0)]; self.groups];
        for v in 0..self.total {
            let (group, g, flags) = (self.problem.group(v), self.gradient(v), self.flags(v));
            let size = || self.f[v % self.n].abs() + self.problem.linear[v].abs();
            let [lowest, highest] = &mut pairs[group];
            if flags & up_bit(group) != 0 && g < lowest.0 {
                *lowest = (g, size());
            }
            if flags & low_bit(group) != 0 && g > highest.0 {
                *highest = (g, size());
            }
        }
        let largest = pairs.iter().flatten().fold(0.0_f64, |most, (_, size)| most.max(*size));
        4.0 * f64::EPSILON * largest
    }

    /// Whether the variables diverge: along their own direction the quadratic part is flat (below this fraction of
    /// the diagonal) and the linear part decreases.
    pub(super) fn runs_away(&self, flat: f64) -> bool {
        if self.bounded {
            return false;
        }
        let mass: f64 = self.beta.iter().map(|b| b.abs()).sum();
        let (mut bend, mut slope) = (0.0, 0.0);
        for (v, &b) in self.beta.iter().enumerate() {
            bend += b * (self.f[v % self.n] + self.problem.shift(v) * b);
            slope += b * self.problem.linear[v];
        }
        // Only once the variables exceed the scale at which a solution could lie.
        slope < 0.0 && bend <= flat * self.scale * mass * mass && mass * self.scale > 1.0
    }

    /// The problem restricted to some variables, or all of them.
    pub(super) fn local(&self, variables: Option<&[u32]>) -> Local {
        let mut p = Local { groups: self.groups, ..Local::default() };
        let m = variables.map_or(self.total, <[u32]>::len);
        let pick = |k: usize| variables.map_or(k, |of| of[k] as usize);
        p.gradient = (0..m).map(|k| self.gradient(pick(k))).collect();
        p.beta = (0..m).map(|k| self.beta[pick(k)]).collect();
        p.lower = (0..m).map(|k| self.problem.lower[pick(k)]).collect();
        p.upper = (0..m).map(|k| self.problem.upper[pick(k)]).collect();
        p.shift = (0..m).map(|k| self.problem.shift(pick(k))).collect();
        p.diag = (0..m).map(|k| self.diag[pick(k) % self.n] + p.shift[k]).collect();
        p.diag32 = p.diag.iter().map(|&d| d as f32).collect();
        p.flags = (0..m).map(|k| self.flags(pick(k))).collect();
        p.group = (0..m).map(|k| self.problem.group(pick(k)) as u8).collect();
        p
    }

    /// Writes the result of a local problem back, and returns the rows whose coefficient changed.
    pub(super) fn take(&mut self, local: &Local, variables: Option<&[u32]>) -> (Vec<u32>, Vec<f64>) {
        let mut change = vec![0.0; self.n];
        for (k, &b) in local.beta.iter().enumerate() {
            let v = variables.map_or(k, |of| of[k] as usize);
            change[v % self.n] += b - self.beta[v];
            self.beta[v] = b;
        }
        change.iter().enumerate().filter(|&(_, &c)| c != 0.0).map(|(r, &c)| (r as u32, c)).unzip()
    }

    /// `f += sum of change * row`, on rows that are in memory.
    pub(super) fn update<S: Store + Sync>(&mut self, store: &S, rows: &[u32], change: &[f64], exec: Exec)
    where
        S::T: Element,
    {
        let rows: Vec<&[S::T]> = rows.iter().map(|&r| store.row(r)).collect();
        self.add(&rows, change, exec);
    }

    /// The same for any rows. Columns are divided among threads, so the sums do not depend on the number of threads.
    pub(super) fn add<T: Element>(&mut self, rows: &[&[T]], change: &[f64], exec: Exec) {
        let work = rows.len() * self.n;
        let pieces = if work < 1 << 18 { 1 } else { exec.threads() };
        if pieces == 1 {
            pass::accumulate(&mut self.f, rows, change);
            return;
        }
        // Pieces of whole cache lines, so that threads rarely write to the same one.
        let piece = self.n.div_ceil(pieces).next_multiple_of(16);
        rayon::scope(|scope| {
            for (p, f) in self.f.chunks_mut(piece).enumerate() {
                scope.spawn(move |_| {
                    let part: Vec<&[T]> = rows.iter().map(|r| &r[p * piece..p * piece + f.len()]).collect();
                    pass::accumulate(f, &part, change);
                });
            }
        });
    }

    /// The objective.
    pub(super) fn objective(&self) -> f64 {
        (0..self.total)
            .map(|v| {
                let b = self.beta[v];
                b * (self.problem.linear[v] + 0.5 * (self.f[v % self.n] + self.problem.shift(v) * b))
            })
            .sum()
    }

    /// The current state as a cancelled solution, with the values of a local problem inserted.
    pub(super) fn underway(&self, local: Option<(&Look<'_>, Option<&[u32]>)>) -> Solution {
        let mut beta = self.beta.clone();
        let thresholds = match local {
            Some((look, variables)) => {
                for (k, &b) in look.local.beta.iter().enumerate() {
                    beta[variables.map_or(k, |of| of[k] as usize)] = b;
                }
                // The bracket of the maximal violating pair, as seen by the local problem.
                let level =
                    |g: usize| Threshold { lo: look.highest[g], hi: look.lowest[g].value, free: None };
                (0..self.groups).map(level).collect()
            }
            None => self.thresholds(),
        };
        Solution {
            beta,
            output: self.f.clone(),
            objective: self.objective(),
            thresholds,
            unbounded: None,
            info: Info { stop: Stop::Cancelled, objective: Some(self.objective()), ..Info::default() },
        }
    }

    /// The threshold of every group: see [`Threshold`].
    pub(super) fn thresholds(&self) -> Vec<Threshold> {
        let mut lo = vec![f64::NEG_INFINITY; self.groups];
        let mut hi = vec![f64::INFINITY; self.groups];
        let mut free = vec![(0.0, 0_usize); self.groups];
        for v in 0..self.total {
            let (g, k) = (self.gradient(v), self.problem.group(v));
            let flags = self.flags(v);
            match (flags & up_bit(k) != 0, flags & low_bit(k) != 0) {
                (true, true) => free[k] = (free[k].0 + g, free[k].1 + 1),
                (true, false) => hi[k] = hi[k].min(g),
                (false, true) => lo[k] = lo[k].max(g),
                (false, false) => {}
            }
        }
        (0..self.groups)
            .map(|k| Threshold {
                lo: lo[k],
                hi: hi[k],
                free: (free[k].1 > 0).then(|| free[k].0 / free[k].1 as f64),
            })
            .collect()
    }
}
