//! Many small bound-constrained problems at once, by limited-memory quasi-Newton steps in lock step.
//!
//! ```text
//! minimise f_w(x),   lo <= x <= hi,   for every walker w
//! ```
//!
//! Each walker has its own memory, direction and step length. They share the evaluation, so that thousands of
//! objectives and gradients are one matrix product. A trial point is projected into the box; coordinates held by a
//! bound are excluded from the direction (Bertsekas 1982; Nocedal 1980). A trial is accepted if it satisfies the
//! Armijo condition, otherwise its step is shortened, so f never increases. Cost per round: one evaluation of the
//! active walkers, and 4 d per stored pair.

use crate::watch::{Step, Watch};

/// Parameters of the descent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LbfgsParams {
    /// Lower and upper bound of every coordinate.
    pub bounds: Option<(f64, f64)>,
    /// Length of a step below which a walker has converged.
    pub tol: f64,
    /// Maximum number of steps.
    pub max_iter: usize,
    /// Number of stored pairs of steps and gradient changes.
    pub memory: usize,
}

impl Default for LbfgsParams {
    fn default() -> Self {
        LbfgsParams { bounds: None, tol: 1e-8, max_iter: 200, memory: 8 }
    }
}

/// The result of a walker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct End {
    /// f at the final point.
    pub value: f64,
    /// Number of steps.
    pub steps: u32,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Values and gradients of some walkers at some points: `(walkers, points, values, gradients)`.
pub(crate) type Evaluate<'a> = dyn FnMut(&[usize], &[f64], &mut [f64], &mut [f64]) + 'a;

/// Number of cuts of a step after which a walker counts as converged.
const CUTS: u32 = 25;
/// Growth of the step length along directions of negative curvature, where the memory gives no scale.
const GROWTH: f64 = 4.0;

struct Walker {
    x: Vec<f64>,
    f: f64,
    g: Vec<f64>,
    trial: Vec<f64>,
    pairs: Vec<(Vec<f64>, Vec<f64>, f64)>,
    step: f64,
    /// The length of the last step if the curvature along it was not positive, so that it could not enter the memory;
    /// otherwise 0.
    strode: f64,
    direction: Vec<f64>,
    cuts: u32,
    steps: u32,
    done: bool,
    converged: bool,
}

/// Moves each row of d numbers in `x` to a local minimum of its own objective.
pub(crate) fn minimise(
    x: &mut [f64],
    d: usize,
    params: &LbfgsParams,
    evaluate: &mut Evaluate<'_>,
    watch: &mut Watch<'_>,
) -> Vec<End> {
    let mut walkers: Vec<Walker> = x
        .chunks(d.max(1))
        .map(|x| {
            let mut x = x.to_vec();
            project(&mut x, params.bounds);
            let (g, direction) = (vec![0.0; d], vec![0.0; d]);
            let (f, pairs) = (f64::NAN, Vec::new());
            Walker {
                trial: x.clone(),
                x,
                f,
                g,
                pairs,
                step: 1.0,
                strode: 0.0,
                direction,
                cuts: 0,
                steps: 0,
                done: false,
                converged: false,
            }
        })
        .collect();
    // A round is one evaluation; shortened steps cost rounds without counting as steps.
    for _ in 0..params.max_iter.saturating_mul(3).saturating_add(1) {
        let active: Vec<usize> = (0..walkers.len()).filter(|&w| !walkers[w].done).collect();
        let arrived = (walkers.len() - active.len()) as u64;
        if active.is_empty() || watch(&Step::new("descent", arrived, Some(walkers.len() as u64))).is_break() {
            break;
        }
        let trial: Vec<f64> = active.iter().flat_map(|&w| walkers[w].trial.iter().copied()).collect();
        let (mut f, mut g) = (vec![0.0; active.len()], vec![0.0; active.len() * d]);
        evaluate(&active, &trial, &mut f, &mut g);
        for (r, &w) in active.iter().enumerate() {
            walkers[w].judge(f[r], &g[r * d..(r + 1) * d], params);
        }
    }
    x.chunks_mut(d.max(1)).zip(&walkers).for_each(|(x, w)| x.copy_from_slice(&w.x));
    walkers.iter().map(|w| End { value: w.f, steps: w.steps, converged: w.converged }).collect()
}

fn project(x: &mut [f64], bounds: Option<(f64, f64)>) {
    if let Some((lo, hi)) = bounds {
        x.iter_mut().for_each(|v| *v = v.clamp(lo, hi));
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Walker {
    /// Accepts the trial or shortens the step.
    fn judge(&mut self, f: f64, g: &[f64], params: &LbfgsParams) {
        let finite = f.is_finite() && g.iter().all(|v| v.is_finite());
        if self.f.is_nan() {
            // The first evaluation: there is nothing to compare with.
            (self.f, self.done) = (f, !finite);
            self.g.copy_from_slice(g);
            if finite {
                self.aim(params);
            }
            return;
        }
        let moved: Vec<f64> = self.trial.iter().zip(&self.x).map(|(t, x)| t - x).collect();
        let expected = dot(&moved, &self.g);
        // Armijo's condition with the usual constant; projection may turn `expected` positive.
        if !finite || f > self.f + 1e-4 * expected.min(0.0) {
            self.cuts += 1;
            // The quadratic model may mislead: restart from the gradient once, then stop.
            if self.cuts > CUTS {
                if self.pairs.is_empty() {
                    (self.done, self.converged) = (true, true);
                } else {
                    self.pairs.clear();
                    self.aim(params);
                }
                return;
            }
            self.step *= 0.4;
            self.try_step(params);
            return;
        }
        let change: Vec<f64> = g.iter().zip(&self.g).map(|(a, b)| a - b).collect();
        let (curve, length) = (dot(&moved, &change), dot(&moved, &moved).sqrt());
        // Only pairs with positive curvature keep the inverse Hessian positive definite.
        if curve > 1e-12 * dot(&change, &change).sqrt() * length {
            if self.pairs.len() == params.memory {
                self.pairs.remove(0);
            }
            self.pairs.push((moved, change, 1.0 / curve));
            self.strode = 0.0;
        } else {
            self.strode = length;
        }
        self.x.copy_from_slice(&self.trial);
        self.g.copy_from_slice(g);
        self.f = f;
        self.steps += 1;
        if length <= params.tol {
            (self.done, self.converged) = (true, true);
        } else if self.steps as usize >= params.max_iter {
            self.done = true;
        } else {
            self.aim(params);
        }
    }

    /// Computes a new direction by the two-loop recursion, on coordinates not held by a bound.
    fn aim(&mut self, params: &LbfgsParams) {
        let held = |x: f64, g: f64| {
            params.bounds.is_some_and(|(lo, hi)| (x <= lo && g > 0.0) || (x >= hi && g < 0.0))
        };
        let free: Vec<bool> = self.x.iter().zip(&self.g).map(|(&x, &g)| !held(x, g)).collect();
        let mut q: Vec<f64> =
            self.g.iter().zip(&free).map(|(&g, &free)| if free { g } else { 0.0 }).collect();
        let slope = dot(&q, &q).sqrt();
        if slope == 0.0 {
            (self.done, self.converged) = (true, true);
            return;
        }
        let steepest = q.clone();
        let mut along = vec![0.0; self.pairs.len()];
        for (i, (s, y, rho)) in self.pairs.iter().enumerate().rev() {
            along[i] = rho * dot(s, &q);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= along[i] * y);
        }
        if let Some((_, y, rho)) = self.pairs.last() {
            // Initial Hessian s'y / y'y of the latest pair (Nocedal 1980).
            let scale = 1.0 / (rho * dot(y, y));
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for (i, (s, y, rho)) in self.pairs.iter().enumerate() {
            let back = rho * dot(y, &q);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += (along[i] - back) * s);
        }
        for ((to, q), free) in self.direction.iter_mut().zip(&q).zip(&free) {
            *to = if *free { -q } else { 0.0 };
        }
        let down = dot(&self.direction, &self.g);
        // Not a descent direction within rounding: fall back to steepest descent.
        if down.is_nan() || down > -1e-12 * slope * dot(&self.direction, &self.direction).sqrt() {
            self.pairs.clear();
            self.direction.iter_mut().zip(&steepest).for_each(|(d, g)| *d = -g);
        }
        // Without memory the gradient does not determine a step length: start with a small multiple of the tolerance,
        // and grow it while the curvature stays negative.
        self.step =
            if self.pairs.is_empty() { (1e3 * params.tol).max(GROWTH * self.strode) / slope } else { 1.0 };
        self.cuts = 0;
        self.try_step(params);
    }

    fn try_step(&mut self, params: &LbfgsParams) {
        for ((t, x), d) in self.trial.iter_mut().zip(&self.x).zip(&self.direction) {
            *t = x + self.step * d;
        }
        project(&mut self.trial, params.bounds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::assert::{all_close, close};

    /// Rosenbrock's valley and a shifted bowl side by side: each walker has its own objective.
    fn evaluate(rows: &[usize], x: &[f64], f: &mut [f64], g: &mut [f64]) {
        for (r, &w) in rows.iter().enumerate() {
            let (a, b) = (x[2 * r], x[2 * r + 1]);
            if w == 0 {
                f[r] = (1.0 - a).powi(2) + 100.0 * (b - a * a).powi(2);
                g[2 * r] = -2.0 * (1.0 - a) - 400.0 * a * (b - a * a);
                g[2 * r + 1] = 200.0 * (b - a * a);
            } else {
                f[r] = (a - 3.0).powi(2) + 5.0 * (b + 2.0).powi(2);
                (g[2 * r], g[2 * r + 1]) = (2.0 * (a - 3.0), 10.0 * (b + 2.0));
            }
        }
    }

    #[test]
    fn walkers_reach_their_own_minima_and_keep_to_the_box() {
        let params = LbfgsParams { tol: 1e-10, max_iter: 500, ..LbfgsParams::default() };
        let mut x = vec![-1.2, 1.0, 0.0, 0.0];
        let ends = minimise(&mut x, 2, &params, &mut evaluate, &mut silent());
        all_close(&x, &[1.0, 1.0, 3.0, -2.0], 1e-7);
        assert!(ends.iter().all(|e| e.converged) && ends[1].steps < ends[0].steps);
        let boxed = LbfgsParams { bounds: Some((-0.5, 0.5)), ..params };
        let mut x = vec![-1.2, 1.0, 0.0, 0.0];
        let ends = minimise(&mut x, 2, &boxed, &mut evaluate, &mut silent());
        all_close(&x, &[0.5, 0.25, 0.5, -0.5], 1e-7);
        close(ends[1].value, 6.25 + 5.0 * 2.25, 1e-12);
    }

    #[test]
    fn a_walker_on_a_slope_that_steepens_strides_out() {
        // A dent a hundred wide, seen from four hundred away, where it is nearly flat and curves downward.
        let mut dent = |_: &[usize], x: &[f64], f: &mut [f64], g: &mut [f64]| {
            let (u, v) = (x[0] / 100.0, x[1] / 100.0);
            let depth = 1.0 / (1.0 + u * u + v * v);
            f[0] = -depth;
            (g[0], g[1]) = (2.0 * u * depth * depth / 100.0, 2.0 * v * depth * depth / 100.0);
        };
        let mut x = vec![320.0, -240.0];
        let params = LbfgsParams { tol: 1e-3, max_iter: 40, ..LbfgsParams::default() };
        let ends = minimise(&mut x, 2, &params, &mut dent, &mut silent());
        assert!(ends[0].converged, "{x:?} after {} steps", ends[0].steps);
        all_close(&x, &[0.0, 0.0], 0.1);
    }

    #[test]
    fn a_start_without_a_value_stays_where_it_is() {
        let mut x = vec![7.0];
        let ends = minimise(
            &mut x,
            1,
            &LbfgsParams::default(),
            &mut |_, _, f, g| (f[0], g[0]) = (f64::NAN, 0.0),
            &mut silent(),
        );
        assert!(x == [7.0] && !ends[0].converged);
    }
}
