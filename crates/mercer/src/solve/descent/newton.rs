//! Newton steps for slowly converging coordinate descent.
//!
//! Close to the solution of a linear machine few variables lie strictly between bounds (about as many as columns),
//! and a single one can hardly move without the others. For those few, with their signs fixed, the optimality
//! conditions are a linear system in the variables *and* the offset:
//!
//! ```text
//! (X X' + shift) d + db = -slope,    sum d = -sum
//! ```
//!
//! A step stops at a bound or at a change of sign. The epochs of coordinate descent continue from there, and they
//! alone decide convergence.

use mercer_num::factor::solve_spd;

use super::{Descent, Vectors};

/// Maximum number of variables in a step.
const MOST: usize = 800;

/// Maximum number of consecutive steps; each removes one variable.
const STEPS: usize = 60;

impl<V: Vectors> Descent<'_, V> {
    /// Takes Newton steps for as long as they end at a bound.
    pub(super) fn polish(&mut self) {
        for _ in 0..STEPS {
            if !self.newton() {
                return;
            }
        }
    }

    /// Number of variables that a step would move.
    pub(super) fn free(&self) -> usize {
        (0..self.beta.len()).filter(|&i| self.inside(i)).count()
    }

    /// One step; returns whether it ended at a bound.
    pub(super) fn newton(&mut self) -> bool {
        let free: Vec<usize> = (0..self.beta.len()).filter(|&i| self.inside(i)).collect();
        let m = free.len();
        if m == 0 || m > MOST {
            return false;
        }
        let sign = |i: usize| if self.beta[i] > 0.0 { 1.0 } else { -1.0 };
        let slope: Vec<f64> = free.iter().map(|&i| self.slope(i) + self.p.epsilon * sign(i)).collect();
        let Some((direction, rise)) = self.direction(&free, &slope) else { return false };

        let (mut length, mut blocking) = (1.0, None);
        for (x, (&i, &d)) in free.iter().zip(&direction).enumerate() {
            let bound = match (d > 0.0, self.p.epsilon > 0.0) {
                (true, true) if self.beta[i] < 0.0 => self.p.upper[i].min(0.0),
                (false, true) if self.beta[i] > 0.0 => self.p.lower[i].max(0.0),
                (true, _) => self.p.upper[i],
                (false, _) => self.p.lower[i],
            };
            let room = (bound - self.beta[i]) / d;
            if d != 0.0 && room < length {
                (length, blocking) = (room, Some((x, bound)));
            }
        }
        let before = slope.iter().fold(0.0_f64, |a, s| a.max(s.abs()));
        let kept = (self.beta.clone(), self.w.clone(), self.sum, self.anchor);
        let offset = self.offset() + length * rise;
        for (x, (&i, &d)) in free.iter().zip(&direction).enumerate() {
            let target = match blocking {
                Some((at, bound)) if at == x => bound,
                _ => (self.beta[i] + length * d).clamp(self.p.lower[i], self.p.upper[i]),
            };
            self.set(i, target);
        }
        if self.mu > 0.0 {
            self.anchor = offset - self.mu * self.sum;
        }
        let after = free.iter().filter(|&&i| self.inside(i)).map(|&i| {
            let sign = if self.beta[i] > 0.0 { 1.0 } else { -1.0 };
            (self.slope(i) + self.p.epsilon * sign).abs()
        });
        // Undo a step that does not reduce the violation: the matrix is nearly singular and the step is rounding
        // error.
        if after.fold(0.0, f64::max) > before.max(f64::MIN_POSITIVE) {
            (self.beta, self.w, self.sum, self.anchor) = kept;
            return false;
        }
        blocking.is_some()
    }

    /// Whether a variable lies strictly between bounds and is smooth there.
    fn inside(&self, i: usize) -> bool {
        let b = self.beta[i];
        b > self.p.lower[i] && b < self.p.upper[i] && (self.p.epsilon == 0.0 || b != 0.0)
    }

    /// The step of the variables and of the offset.
    fn direction(&self, free: &[usize], slope: &[f64]) -> Option<(Vec<f64>, f64)> {
        let m = free.len();
        let mut matrix = vec![0.0; m * m];
        let mut row = vec![0.0; self.w.len()];
        for (x, &i) in free.iter().enumerate() {
            row.fill(0.0);
            self.x.add(i, 1.0, &mut row);
            for (y, &j) in free.iter().enumerate().take(x + 1) {
                let value = self.x.dot(j, &row);
                (matrix[x * m + y], matrix[y * m + x]) = (value, value);
            }
        }
        let scale = (0..m).map(|x| matrix[x * m + x]).sum::<f64>() / m as f64;
        for (x, &i) in free.iter().enumerate() {
            matrix[x * m + x] += self.shift(i) + 1e-11 * scale;
        }
        let right: Vec<f64> = slope.iter().flat_map(|&s| [-s, 1.0]).collect();
        let (found, _) = solve_spd(&matrix, m, &right, 2).ok()?;
        let total = |k: usize| (0..m).map(|x| found[2 * x + k]).sum::<f64>();
        // d = found_0 - db found_1 with sum d = -sum.
        let rise = if self.mu > 0.0 { (total(0) + self.sum) / total(1) } else { 0.0 };
        let direction: Vec<f64> = (0..m).map(|x| found[2 * x] - rise * found[2 * x + 1]).collect();
        (rise.is_finite() && direction.iter().all(|d| d.is_finite())).then_some((direction, rise))
    }
}
