//! An interior point method for linear machines with few columns.
//!
//! Coordinate descent needs ever more epochs as C grows: at C = 100 on 32,561 rows of 123 columns more than ten
//! thousand. The number of Newton steps of an interior point method hardly depends on C (Ferris and Munson 2002). In
//! the notation of the descent, with `g` and `h` the slacks to the lower and upper bounds, `z` and `t` their dual
//! variables and `b` the offset, a step solves
//!
//! ```text
//! (X X' + D) d + db = r,    sum d = -sum,    D = shift + z / g + t / h
//! ```
//!
//! `X X'` has at most the rank of X, so Woodbury's identity leaves a system of that order, `I + X' D^-1 X`. Predictor
//! and corrector follow Mehrotra (1992). Cost per step: one weighted Gram matrix of the columns (the sum over rows of
//! the square of their entries), one factorisation of it, and about ten passes over the data.
//!
//! The tube's |beta| splits each row's variable into two, one increasing and one decreasing; at the solution one of
//! them is 0. Variables close to a bound are rounded onto it, and coordinate descent finishes the solve.

use mercer_num::factor::Spd;

use super::{Descent, Vectors};

/// Maximum number of steps; about twenty are usual.
const STEPS: usize = 60;

/// A step covers at most this fraction of the distance to the nearest bound.
const NEARLY: f64 = 0.995;

/// Below this duality gap linear solves are refined: the dual variables then spread over many orders of magnitude,
/// and Woodbury's identity loses digits.
const REFINE: f64 = 1e-2;

/// Once the gap is below this fraction of the tolerance, the solution is polished by Newton steps on its free
/// variables.
const POLISH: f64 = 1e-3;

/// Smallest curvature of a variable. Below it, its reciprocal dominates the sum over rows, and the other terms lose
/// all their digits.
const LEAST: f64 = 1e-12;

/// Maximum number of columns: their Gram matrix must be factorised.
const MOST_COLUMNS: usize = 2000;

/// Multiply-adds per step times the usual number of steps; infinite where there are too many columns.
pub(super) fn cost<V: Vectors>(x: &V) -> f64 {
    let (n, d) = (x.len(), x.dim());
    if d > MOST_COLUMNS {
        return f64::INFINITY;
    }
    let (mut squares, mut entries) = (0.0, 0.0);
    for i in 0..n {
        let own = x.entries(i) as f64;
        squares += own * own;
        entries += own;
    }
    20.0 * (squares + (d as f64).powi(3) / 3.0 + 12.0 * entries)
}

/// A variable between bounds: +1 or -1 tells whether it increases or decreases its row's coefficient.
struct Variable {
    row: u32,
    sign: f64,
    lower: f64,
    upper: f64,
    linear: f64,
    shift: f64,
}

struct Interior<'a, V: Vectors> {
    x: &'a V,
    v: Vec<Variable>,
    /// Contribution of variables without room between their bounds to the weights and to the sum.
    fixed: Vec<f64>,
    fixed_sum: f64,
    offset: bool,
    at: Vec<f64>,
    b: f64,
    /// Dual variables of the bounds; 0 where a bound is infinite.
    low: Vec<f64>,
    high: Vec<f64>,
}

impl<V: Vectors> Descent<'_, V> {
    /// Runs the interior point method and takes its solution over. Returns whether that satisfies the tolerance.
    pub(super) fn interior(&mut self, tol: f64, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let mut inside = Interior::new(self);
        for _ in 0..STEPS {
            let Some(gap) = inside.step() else { return false };
            if gap <= tol {
                let (beta, b) = inside.rounded();
                let kept = (self.beta.clone(), self.w.clone(), self.sum, self.anchor);
                self.take(beta, b);
                let mut worst = self.worst();
                // Polishing costs more than a step and can only remove what rounding leaves.
                if worst > tol && gap <= POLISH * tol {
                    self.polish();
                    worst = self.worst();
                }
                if worst <= tol && (self.mu * self.sum).abs() <= 0.5 * tol {
                    return true;
                }
                // Not converged: the descent continues from the better of the two points.
                if !worst.is_finite() {
                    (self.beta, self.w, self.sum, self.anchor) = kept;
                    return false;
                }
            }
            if !go_on(gap) {
                return false;
            }
        }
        false
    }

    /// The largest violation of any variable; infinite where a value is not finite.
    pub(super) fn worst(&self) -> f64 {
        let slopes = (0..self.beta.len()).map(|i| (i, self.slope(i)));
        // `f64::max` ignores NaN, which must not pass as converged.
        slopes.fold(
            0.0,
            |worst: f64, (i, slope)| {
                if slope.is_finite() { worst.max(self.violation(i, slope)) } else { f64::INFINITY }
            },
        )
    }

    /// Continues from these variables and this offset.
    pub(super) fn take(&mut self, beta: Vec<f64>, b: f64) {
        self.w.fill(0.0);
        for (i, &v) in beta.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            self.x.add(i, v, &mut self.w);
        }
        self.sum = beta.iter().sum();
        self.beta = beta;
        if self.mu > 0.0 {
            self.anchor = b - self.mu * self.sum;
        }
    }
}

impl<'a, V: Vectors> Interior<'a, V> {
    fn new(from: &Descent<'a, V>) -> Self {
        let (p, n) = (from.p, from.beta.len());
        let mut inside = Interior {
            x: from.x,
            v: Vec::with_capacity(n),
            fixed: vec![0.0; from.w.len()],
            fixed_sum: 0.0,
            offset: p.offset,
            at: Vec::new(),
            b: 0.0,
            low: Vec::new(),
            high: Vec::new(),
        };
        for i in 0..n {
            let (lo, up, linear, shift) = (p.lower[i], p.upper[i], p.linear[i], from.shift(i));
            let row = i as u32;
            if lo == up {
                from.x.add(i, lo, &mut inside.fixed);
                inside.fixed_sum += lo;
            } else if p.epsilon == 0.0 {
                inside.v.push(Variable { row, sign: 1.0, lower: lo, upper: up, linear, shift });
            } else {
                for (sign, lower, upper) in
                    [(1.0, lo.max(0.0), up.max(0.0)), (-1.0, (-up).max(0.0), (-lo).max(0.0))]
                {
                    if lower < upper {
                        let linear = sign * linear + p.epsilon;
                        inside.v.push(Variable { row, sign, lower, upper, linear, shift });
                    }
                }
            }
        }
        inside.begin();
        inside
    }

    /// Starts in the middle of the box, with dual variables that satisfy the conditions on the gradient.
    fn begin(&mut self) {
        self.at = self
            .v
            .iter()
            .map(|v| match (v.lower.is_finite(), v.upper.is_finite()) {
                (true, true) => f64::midpoint(v.lower, v.upper),
                (true, false) => v.lower + 1.0,
                (false, true) => v.upper - 1.0,
                (false, false) => 0.0,
            })
            .collect();
        let slope = self.slopes();
        let usual = 0.1 * slope.iter().map(|s| s.abs()).sum::<f64>() / slope.len().max(1) as f64 + 0.1;
        let price = |bounded: bool, pull: f64| if bounded { pull.max(0.0) + usual } else { 0.0 };
        self.low = self.v.iter().zip(&slope).map(|(v, &s)| price(v.lower.is_finite(), s)).collect();
        self.high = self.v.iter().zip(&slope).map(|(v, &s)| price(v.upper.is_finite(), -s)).collect();
    }

    /// `X X' at + linear + shift at + b`, for each variable with its sign.
    fn slopes(&self) -> Vec<f64> {
        let mut w = self.fixed.clone();
        self.spread(&self.at, &mut w);
        let outputs: Vec<f64> = (0..self.x.len()).map(|i| self.x.dot(i, &w) + self.b).collect();
        let slope = |(v, at): (&Variable, &f64)| v.sign * outputs[v.row as usize] + v.linear + v.shift * at;
        self.v.iter().zip(&self.at).map(slope).collect()
    }

    /// `w += X' v`, with the variables' signs.
    fn spread(&self, values: &[f64], w: &mut [f64]) {
        for (v, &a) in self.v.iter().zip(values).filter(|(_, a)| **a != 0.0) {
            self.x.add(v.row as usize, v.sign * a, w);
        }
    }

    /// `X w`, with the variables' signs.
    fn outputs(&self, w: &[f64]) -> Vec<f64> {
        self.v.iter().map(|v| v.sign * self.x.dot(v.row as usize, w)).collect()
    }

    fn sum(&self, values: &[f64]) -> f64 {
        self.v.iter().zip(values).map(|(v, a)| v.sign * a).sum()
    }

    /// The slacks to both bounds; infinite where there is no bound.
    fn room(&self) -> (Vec<f64>, Vec<f64>) {
        let pairs = self.v.iter().zip(&self.at);
        pairs.map(|(v, at)| (at - v.lower, v.upper - at)).unzip()
    }

    /// The mean complementarity product, and the residual of the conditions on gradients and sum.
    fn gap(&self, room: &(Vec<f64>, Vec<f64>), residual: &[f64]) -> (f64, f64) {
        let product = |price: &f64, room: &f64| if *price > 0.0 { price * room } else { 0.0 };
        let all: f64 = self
            .low
            .iter()
            .zip(&room.0)
            .chain(self.high.iter().zip(&room.1))
            .map(|(p, r)| product(p, r))
            .sum();
        let count = self.low.iter().chain(&self.high).filter(|p| **p > 0.0).count();
        (all / count.max(1) as f64, residual.iter().fold(0.0, |a, r| a.max(r.abs())))
    }

    /// One step. Returns the larger of the mean complementarity product (relative to the box) and the residual, or
    /// `None` where values overflowed.
    fn step(&mut self) -> Option<f64> {
        let room = self.room();
        let slope = self.slopes();
        let m = self.v.len();
        // The conditions on the gradient: slope = low - high.
        let residual: Vec<f64> = (0..m).map(|k| slope[k] - self.low[k] + self.high[k]).collect();
        let (mean, _) = self.gap(&room, &residual);
        let diagonal: Vec<f64> = (0..m)
            .map(|k| self.v[k].shift + self.low[k] / room.0[k] + self.high[k] / room.1[k])
            .map(|d| d.max(LEAST))
            .collect();
        let system = System::new(self, &diagonal, usize::from(mean < REFINE))?;
        let off = if self.offset { self.sum(&self.at) + self.fixed_sum } else { 0.0 };

        // The predictor aims at complementarity products of 0.
        let plain = |k: usize| -residual[k] - self.low[k] + self.high[k];
        let (way, _) = system.solve(self, &(0..m).map(plain).collect::<Vec<_>>(), -off);
        let (low, high) = self.prices(&way, &room, |_| (0.0, 0.0));
        let far = self.length(&way, &low, &high, &room);
        let after: f64 = (0..m)
            .map(|k| {
                let (at, z, t) = (far * way[k], self.low[k] + far * low[k], self.high[k] + far * high[k]);
                let one = |price: f64, room: f64| if room.is_finite() { price * room } else { 0.0 };
                one(z, room.0[k] + at) + one(t, room.1[k] - at)
            })
            .sum();
        let count = self.low.iter().chain(&self.high).filter(|p| **p > 0.0).count().max(1) as f64;
        let centre = if mean > 0.0 { (after / count / mean).clamp(0.0, 1.0).powi(3) } else { 0.0 };

        // The corrector aims at the central path and subtracts the predictor's second-order error.
        let aim = |k: usize| (centre * mean - way[k] * low[k], centre * mean + way[k] * high[k]);
        let share = |aim: f64, room: f64| if room.is_finite() { aim / room } else { 0.0 };
        let right: Vec<f64> = (0..m)
            .map(|k| {
                let (z, t) = aim(k);
                plain(k) + share(z, room.0[k]) - share(t, room.1[k])
            })
            .collect();
        let (step, rise) = system.solve(self, &right, -off);
        let (low, high) = self.prices(&step, &room, aim);
        let length = (NEARLY * self.length(&step, &low, &high, &room)).min(1.0);
        if !(length > 1e-12 && length.is_finite() && rise.is_finite()) {
            return None;
        }
        for k in 0..m {
            self.at[k] += length * step[k];
            self.low[k] += length * low[k];
            self.high[k] += length * high[k];
        }
        self.b += length * rise;
        if self.at.iter().chain(&self.low).chain(&self.high).any(|v| !v.is_finite()) {
            return None;
        }
        let left = (1.0 - length) * residual.iter().fold(0.0, |a: f64, r| a.max(r.abs()));
        // A complementarity product divided by the box's width has the unit of a gradient.
        let width = self.v.iter().map(|v| v.upper - v.lower).filter(|w| w.is_finite()).fold(0.0, f64::max);
        let mean = self.gap(&self.room(), &residual).0;
        Some(left.max(mean / if width > 0.0 { width.min(1.0) } else { 1.0 }))
    }

    /// Changes of the dual variables along a step towards complementarity products of `aim`.
    fn prices(
        &self,
        step: &[f64],
        room: &(Vec<f64>, Vec<f64>),
        aim: impl Fn(usize) -> (f64, f64),
    ) -> (Vec<f64>, Vec<f64>) {
        let change = |k: usize| {
            let (z, t) = aim(k);
            let low = if room.0[k].is_finite() {
                (z - self.low[k] * step[k]) / room.0[k] - self.low[k]
            } else {
                0.0
            };
            let high = if room.1[k].is_finite() {
                (t + self.high[k] * step[k]) / room.1[k] - self.high[k]
            } else {
                0.0
            };
            (low, high)
        };
        (0..step.len()).map(change).unzip()
    }

    /// The largest step that keeps slacks and dual variables non-negative, at most 1.
    fn length(&self, step: &[f64], low: &[f64], high: &[f64], room: &(Vec<f64>, Vec<f64>)) -> f64 {
        let until = |left: f64, change: f64| if change < 0.0 { -left / change } else { f64::INFINITY };
        (0..step.len()).fold(1.0, |far: f64, k| {
            far.min(until(room.0[k], step[k]))
                .min(until(room.1[k], -step[k]))
                .min(until(self.low[k], low[k]))
                .min(until(self.high[k], high[k]))
        })
    }

    /// The rows' variables, rounded onto the bounds they approach, and the offset.
    fn rounded(&self) -> (Vec<f64>, f64) {
        let mut beta = vec![0.0; self.x.len()];
        for (k, v) in self.v.iter().enumerate() {
            let (g, h) = (self.at[k] - v.lower, v.upper - self.at[k]);
            let width = if g + h < f64::INFINITY { g + h } else { 1.0 };
            let at = if g <= self.low[k] * width {
                v.lower
            } else if h <= self.high[k] * width {
                v.upper
            } else {
                self.at[k]
            };
            beta[v.row as usize] += v.sign * at;
        }
        (beta, self.b)
    }
}

/// `(X X' + D) d + b = r, sum d = s`, factorised for several right-hand sides.
struct System<'a> {
    diagonal: &'a [f64],
    inner: Spd,
    /// Number of refinement rounds.
    refine: usize,
    /// The solution for `r` = the variables' signs, and its sum: the effect of a change of the offset.
    ones: Vec<f64>,
    total: f64,
}

impl<'a> System<'a> {
    fn new<V: Vectors>(of: &Interior<'_, V>, diagonal: &'a [f64], refine: usize) -> Option<Self> {
        let d = of.x.dim();
        let mut weight = vec![0.0; of.x.len()];
        for (v, &own) in of.v.iter().zip(diagonal) {
            weight[v.row as usize] += 1.0 / own;
        }
        let mut gram = vec![0.0; d * d];
        of.x.gram(&weight, &mut gram);
        (0..d).for_each(|j| gram[j * d + j] += 1.0);
        let inner = Spd::new(&gram, d).ok()?;
        let mut system = System { diagonal, inner, refine, ones: Vec::new(), total: 0.0 };
        if of.offset {
            let signs: Vec<f64> = of.v.iter().map(|v| v.sign).collect();
            system.ones = system.inverse(of, &signs);
            system.total = of.sum(&system.ones);
        }
        Some(system)
    }

    /// `(X X' + D)^-1 r`, refined.
    fn inverse<V: Vectors>(&self, of: &Interior<'_, V>, right: &[f64]) -> Vec<f64> {
        let mut found = self.woodbury(of, right);
        for _ in 0..self.refine {
            let mut w = vec![0.0; of.x.dim()];
            of.spread(&found, &mut w);
            let outputs = of.outputs(&w);
            let left: Vec<f64> =
                (0..right.len()).map(|k| right[k] - outputs[k] - self.diagonal[k] * found[k]).collect();
            let more = self.woodbury(of, &left);
            found.iter_mut().zip(more).for_each(|(f, m)| *f += m);
        }
        found
    }

    /// `D^-1 r - D^-1 X (I + X' D^-1 X)^-1 X' D^-1 r`.
    fn woodbury<V: Vectors>(&self, of: &Interior<'_, V>, right: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = right.iter().zip(self.diagonal).map(|(r, d)| r / d).collect();
        let mut w = vec![0.0; of.x.dim()];
        of.spread(&scaled, &mut w);
        self.inner.solve(&mut w, 1);
        let outputs = of.outputs(&w);
        (0..right.len()).map(|k| (right[k] - outputs[k]) / self.diagonal[k]).collect()
    }

    /// The step in the variables and in the offset.
    fn solve<V: Vectors>(&self, of: &Interior<'_, V>, right: &[f64], sum: f64) -> (Vec<f64>, f64) {
        let mut found = self.inverse(of, right);
        if !of.offset {
            return (found, 0.0);
        }
        let rise = (of.sum(&found) - sum) / self.total;
        found.iter_mut().zip(&self.ones).for_each(|(f, o)| *f -= rise * o);
        (found, rise)
    }
}
