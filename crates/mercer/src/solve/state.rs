//! The full problem while it is being solved: variables, and `f = K (sum of each row's variables)` in f64.

use mercer_num::pass::{self, Element};

use super::Threshold;
use super::pair::{Local, flags, low_bit, up_bit};
use super::problem::Problem;
use super::store::Store;
use crate::par::Par;

/// Variables, f, and the bookkeeping of a solve.
pub(super) struct State<'p> {
    pub(super) problem: &'p Problem<'p>,
    pub(super) n: usize,
    pub(super) total: usize,
    pub(super) groups: usize,
    pub(super) beta: Vec<f64>,
    pub(super) f: Vec<f64>,
    pub(super) diag: Vec<f64>,
}

/// The most violating values of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket {
    /// The lowest gradient that may rise.
    pub(super) lowest: f64,
    /// The highest that may fall.
    pub(super) highest: f64,
}

impl Bracket {
    pub(super) fn gap(&self) -> f64 {
        // Infinite ends mean that nothing may rise or nothing may fall.
        if self.lowest.is_finite() && self.highest.is_finite() {
            (self.highest - self.lowest).max(0.0)
        } else {
            0.0
        }
    }
}

impl<'p> State<'p> {
    /// At the start, with f still 0.
    pub(super) fn new(problem: &'p Problem<'p>) -> Self {
        let (n, total) = (problem.rows.len(), problem.linear.len());
        let beta = problem.start.clone().unwrap_or_else(|| {
            problem.lower.iter().zip(&problem.upper).map(|(&lo, &up)| 0.0_f64.clamp(lo, up)).collect()
        });
        State {
            problem,
            n,
            total,
            groups: problem.group_count(),
            beta,
            f: vec![0.0; n],
            diag: problem.rows.diag(),
        }
    }

    pub(super) fn gradient(&self, v: usize) -> f64 {
        self.f[v % self.n] + self.problem.linear[v] + self.problem.shift(v) * self.beta[v]
    }

    pub(super) fn flags(&self, v: usize) -> u8 {
        flags(self.beta[v], self.problem.lower[v], self.problem.upper[v], self.problem.group(v))
    }

    /// The rows with a coefficient, and the coefficients.
    pub(super) fn support(&self) -> (Vec<u32>, Vec<f64>) {
        let sum = |r: usize| (r..self.total).step_by(self.n).map(|v| self.beta[v]).sum::<f64>();
        (0..self.n).map(|r| (r as u32, sum(r))).filter(|&(_, c)| c != 0.0).unzip()
    }

    /// f from nothing, exact.
    pub(super) fn recompute(&mut self, par: Par) {
        let (rows, coef) = self.support();
        self.f.fill(0.0);
        if !rows.is_empty() {
            self.problem.rows.apply(&rows, &coef, &mut self.f, par);
        }
    }

    /// The most violating values of every group.
    pub(super) fn brackets(&self) -> Vec<Bracket> {
        let mut out = vec![Bracket { lowest: f64::INFINITY, highest: f64::NEG_INFINITY }; self.groups];
        for v in 0..self.total {
            let (g, flags) = (self.gradient(v), self.flags(v));
            let group = self.problem.group(v);
            let b = &mut out[group];
            if flags & up_bit(group) != 0 && g < b.lowest {
                b.lowest = g;
            }
            if flags & low_bit(group) != 0 && g > b.highest {
                b.highest = g;
            }
        }
        out
    }

    /// The problem on some variables, or on all.
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

    /// Takes back what a local problem on some variables found, and returns the rows whose coefficient changed.
    pub(super) fn take(&mut self, local: &Local, variables: Option<&[u32]>) -> (Vec<u32>, Vec<f64>) {
        let mut change = vec![0.0; self.n];
        for (k, &b) in local.beta.iter().enumerate() {
            let v = variables.map_or(k, |of| of[k] as usize);
            change[v % self.n] += b - self.beta[v];
            self.beta[v] = b;
        }
        change.iter().enumerate().filter(|&(_, &c)| c != 0.0).map(|(r, &c)| (r as u32, c)).unzip()
    }

    /// `f += sum of change * row`. Columns are cut among threads, so the sums do not depend on how many there are.
    pub(super) fn update<S: Store + Sync>(&mut self, store: &S, rows: &[u32], change: &[f64], par: Par)
    where
        S::T: Element,
    {
        let rows: Vec<&[S::T]> = rows.iter().map(|&r| store.row(r)).collect();
        let work = rows.len() * self.n;
        let pieces = if work < 1 << 18 { 1 } else { par.threads() };
        if pieces == 1 {
            pass::accumulate(&mut self.f, &rows, change);
            return;
        }
        let piece = self.n.div_ceil(pieces).next_multiple_of(16);
        rayon::scope(|scope| {
            for (p, f) in self.f.chunks_mut(piece).enumerate() {
                let rows = &rows;
                scope.spawn(move |_| {
                    let part: Vec<&[S::T]> =
                        rows.iter().map(|r| &r[p * piece..p * piece + f.len()]).collect();
                    pass::accumulate(f, &part, change);
                });
            }
        });
    }

    /// The value of the quadratic form to be minimised.
    pub(super) fn objective(&self) -> f64 {
        (0..self.total)
            .map(|v| {
                let b = self.beta[v];
                b * (self.problem.linear[v] + 0.5 * (self.f[v % self.n] + self.problem.shift(v) * b))
            })
            .sum()
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
