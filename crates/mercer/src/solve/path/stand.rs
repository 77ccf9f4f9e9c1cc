//! State of a path at one C: coefficients, outputs and sets of rows, and their correction.

use super::walk::{Place, Walk};
use crate::error::{Error, Result};
use crate::num::factor;
use crate::solve::{self, Method, Problem, Shift};
use crate::watch::{Stop, Watch};

impl Walk<'_> {
    pub(super) fn y(&self, i: usize) -> f64 {
        self.problem.labels[i]
    }

    pub(super) fn v(&self, i: usize) -> f64 {
        self.problem.weights[i]
    }

    pub(super) fn mass(&self) -> f64 {
        self.beta.iter().map(|b| b.abs()).sum()
    }

    /// Row i of K with the shift, in f64.
    pub(super) fn row(&mut self, i: usize) -> &[f64] {
        let (problem, n, exec) = (self.problem, self.n, self.params.exec);
        self.rows[i].get_or_insert_with(|| {
            let mut line = vec![0.0; n];
            problem.rows.apply(&[i as u32], &[1.0], &mut line, exec);
            line[i] += problem.shift;
            line.into_boxed_slice()
        })
    }

    /// `out += sum of coef K_i` over some rows.
    pub(super) fn apply(&mut self, rows: &[(usize, f64)], out: &mut [f64]) {
        for &(i, coef) in rows {
            out.iter_mut().zip(self.row(i)).for_each(|(o, k)| *o += coef * k);
        }
    }

    /// Solves the problem at this C, from the current coefficients.
    pub(super) fn solve(&mut self, watch: &mut Watch<'_>) -> Result<()> {
        let bound: Vec<f64> = self.problem.weights.iter().map(|v| self.c * v).collect();
        let mut problem = Problem::classify(self.problem.rows, self.problem.labels, &bound);
        if self.problem.shift > 0.0 {
            problem.shift = Shift::Same(self.problem.shift);
        }
        let inside = |(b, limit): (&f64, &f64)| b.abs() <= *limit;
        if self.beta.iter().zip(&bound).all(inside) {
            problem.start = Some(self.beta.clone());
        }
        let rule = solve::Params {
            tol: self.params.tol / 10.0,
            exec: self.params.exec,
            method: Method::Auto,
            ..solve::Params::default()
        };
        let found = solve::solve(&problem, &rule, watch)?;
        if found.info.stop == Stop::Cancelled {
            return Err(Error::Cancelled);
        }
        self.offset = -found.thresholds[0].value();
        self.beta = found.beta;
        self.free.clear();
        for (i, limit) in bound.iter().enumerate() {
            // Round coefficients near a bound onto it: a coefficient of the size of rounding errors is none.
            let share = self.beta[i].abs() / limit;
            self.place[i] = match share {
                s if s <= 1e-12 => Place::Idle,
                s if s >= 1.0 - 1e-12 => Place::Bounded,
                _ => Place::Free,
            };
            match self.place[i] {
                Place::Idle => self.beta[i] = 0.0,
                Place::Bounded => self.beta[i] = limit * self.problem.labels[i],
                Place::Free => self.free.push(i),
            }
        }
        self.recompute_pull();
        self.recompute();
        self.correct();
        if self.free.is_empty() {
            let [low, high] = self.bracket(self.c);
            self.move_offset(f64::midpoint(low.0, high.0));
        }
        Ok(())
    }

    pub(super) fn recompute_pull(&mut self) {
        let bounded: Vec<(usize, f64)> = (0..self.n)
            .filter(|&i| self.place[i] == Place::Bounded)
            .map(|i| (i, self.v(i) * self.y(i)))
            .collect();
        let mut pull = vec![0.0; self.n];
        self.apply(&bounded, &mut pull);
        self.pull = pull;
    }

    /// Recomputes f from beta.
    pub(super) fn recompute(&mut self) {
        let mut f = vec![self.offset; self.n];
        f.iter_mut().zip(&self.pull).for_each(|(f, p)| *f += self.c * p);
        let free: Vec<(usize, f64)> = self.free.iter().map(|&i| (i, self.beta[i])).collect();
        self.apply(&free, &mut f);
        self.f = f;
    }

    pub(super) fn move_offset(&mut self, to: f64) {
        let by = to - self.offset;
        self.offset = to;
        self.f.iter_mut().for_each(|f| *f += by);
    }

    /// Solves the bordered system `K_EE x + b 1 = right, 1'x = sum`.
    pub(super) fn bordered(&mut self, right: &[f64], sum: f64) -> Option<(Vec<f64>, f64)> {
        let m = self.free.len();
        let free = self.free.clone();
        let mut a = vec![0.0; m * m];
        for (line, &i) in a.chunks_mut(m).zip(&free) {
            let row = self.row(i);
            line.iter_mut().zip(&free).for_each(|(a, &j)| *a = row[j]);
        }
        let scale = (0..m).map(|i| a[i * m + i].abs()).sum::<f64>() / m as f64;
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let mut shifted = a.clone();
        shifted.iter_mut().for_each(|v| *v += scale);
        let both: Vec<f64> = right.iter().flat_map(|r| [1.0, r + scale * sum]).collect();
        let (solved, _) = factor::solve_spd(&shifted, m, &both, 2).ok()?;
        let total = |k: usize| solved.iter().skip(k).step_by(2).sum::<f64>();
        let b = (total(1) - sum) / total(0);
        let x: Vec<f64> = solved.chunks(2).map(|s| s[1] - b * s[0]).collect();
        // The criterion is the residual: f on the margin must be as required.
        let size = right.iter().chain([&b]).fold(1e-300, |s: f64, r| s.max(r.abs()));
        let off = a
            .chunks(m)
            .zip(right)
            .map(|(line, r)| (line.iter().zip(&x).map(|(a, x)| a * x).sum::<f64>() + b - r).abs());
        let sound = x.iter().all(|v| v.is_finite()) && off.fold(0.0, f64::max) <= 1e-6 * size;
        sound.then_some((x, b))
    }

    /// Moves beta on the margin and b so that f = y there; does nothing where that would leave the box.
    pub(super) fn correct(&mut self) {
        if self.free.is_empty() {
            return;
        }
        let right: Vec<f64> = self.free.iter().map(|&i| self.y(i) - self.f[i]).collect();
        let sum = -self.beta.iter().sum::<f64>();
        let Some((x, b)) = self.bordered(&right, sum) else { return };
        let inside = self.free.iter().zip(&x).all(|(&i, x)| {
            let alpha = self.y(i) * (self.beta[i] + x);
            alpha >= 0.0 && alpha <= self.c * self.v(i)
        });
        if inside {
            for (&i, x) in self.free.iter().zip(&x) {
                self.beta[i] += x;
            }
            self.offset += b;
            self.recompute();
        }
    }

    /// The largest KKT violation.
    pub(super) fn violated(&self) -> f64 {
        let off = |i: usize| {
            let m = self.y(i) * self.f[i] - 1.0;
            match self.place[i] {
                Place::Idle => -m,
                Place::Free => m.abs(),
                Place::Bounded => m,
            }
        };
        (0..self.n).map(off).fold(self.beta.iter().sum::<f64>().abs() / self.c.max(1.0), f64::max)
    }

    /// Recomputes f and corrects accumulated rounding errors; false if that is not enough.
    pub(super) fn mend(&mut self) -> bool {
        self.recompute();
        if self.violated() > self.params.tol / 100.0 {
            self.correct();
        }
        let off = self.violated();
        if off <= self.params.tol {
            self.violation = self.violation.max(off);
        }
        off <= self.params.tol
    }
}
