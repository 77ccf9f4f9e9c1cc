//! Newton steps whose systems are solved by conjugate gradients; the squared loss takes one.
//!
//! A step is shortened until the objective falls enough. Early systems are solved roughly (the residual relative to the
//! gradient falls with the gradient itself: Dembo, Eisenstat and Steihaug 1982), so that passes go where they count.

use std::time::Instant;

use super::gradients::{Gradients, Place};
use super::pass::{Outputs, pass};
use super::precondition::Coordinates;
use super::{Fitted, LargeProblem, Limits, Own};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::Fault;
use crate::watch::{Info, Step, Stop, Watch};

/// Most halvings of a step.
const HALVINGS: usize = 12;

/// Solves on the centres whose own matrix is given. If the watcher breaks, the function is what there was, unless there was
/// none yet.
pub(crate) fn fit(
    problem: &LargeProblem<'_>,
    own: Own,
    params: &Limits,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Fitted> {
    let clock = Instant::now();
    if watch(&Step::new("preconditioner", 0, None)).is_break() {
        return Err(Error::Cancelled);
    }
    let total = problem.total;
    let lambda = problem.lambda / total;
    // The curvature of every loss at outputs of 0, where there is nothing better yet.
    let k = problem.loss.outputs();
    let start = if problem.loss.is_quadratic() { 1.0 } else { problem.loss.curvature(&[0.0], &vec![0.0; k]) };
    let coordinates = Coordinates::new(own, problem.rounding, (lambda, start), exec)?;
    let mut job = Job {
        problem,
        coordinates,
        lambda,
        exec,
        passes: 0,
        kept: Vec::new(),
        here: (Vec::new(), Vec::new()),
        bent: 0.0,
    };
    let found = job.newton(params, watch)?;
    let mut info = Info {
        stop: found.stop,
        iterations: job.passes,
        gap: found.gap,
        objective: Some(found.value * total),
        seconds: clock.elapsed().as_secs_f64(),
        ..Info::default()
    };
    let kind =
        if problem.loss.is_quadratic() { String::new() } else { format!("{} Newton steps, ", found.steps) };
    info.note(format!("{kind}{} passes of preconditioned conjugate gradients", job.passes));
    Ok(Fitted { coef: found.coef, offset: found.offset, info })
}

struct Job<'a> {
    problem: &'a LargeProblem<'a>,
    coordinates: Coordinates,
    /// Per unit of weight.
    lambda: f64,
    exec: Exec,
    passes: u64,
    /// Outputs at the current point, for losses whose curvature depends on them; where they are too many,
    kept: Vec<f32>,
    /// the point itself, coefficients and offsets,
    here: (Vec<f64>, Vec<f64>),
    /// and the mean of the curvature there.
    bent: f64,
}

struct Found {
    coef: Vec<f64>,
    offset: Vec<f64>,
    value: f64,
    gap: f64,
    stop: Stop,
    steps: u64,
}

/// A function and what is known of it. `z = L' c`: the penalty is `lambda / 2 |z|^2`.
struct Point {
    z: Vec<f64>,
    b: Vec<f64>,
    value: f64,
    /// In coordinates of z and b.
    slope: Place,
}

impl Job<'_> {
    fn newton(&mut self, params: &Limits, watch: &mut Watch<'_>) -> Result<Found> {
        let (m, k) = (self.problem.design.centres(), self.problem.loss.outputs());
        let quadratic = self.problem.loss.is_quadratic();
        if !quadratic && self.problem.keep {
            self.kept = vec![0.0; self.problem.design.rows() * k];
        }
        let mut now = self.at(vec![0.0; m * k], vec![0.0; k])?;
        let first = self.whitened(&now.slope).length();
        let (mut gap, mut stop, mut steps) = (1.0, Stop::Limit, 0);
        if first == 0.0 {
            (gap, stop) = (0.0, Stop::Converged);
        }
        while stop == Stop::Limit && self.passes < params.max_iter {
            if steps > 0 && !quadratic {
                self.bend(&now)?;
            }
            let slope = self.whitened(&now.slope);
            gap = slope.length() / first;
            if !gap.is_finite() {
                return Err(Fault::NotFinite { what: "the gradient" }.into());
            }
            if gap <= params.tol {
                stop = Stop::Converged;
                break;
            }
            let goal = if quadratic { params.tol * first } else { slope.length() * gap.sqrt().min(0.1) };
            let mut right = slope;
            negate(&mut right);
            let mut gradients = Gradients::new(right, self.problem.loss.is_coupled());
            let mut broken = false;
            while gradients.left() > goal && self.passes < params.max_iter {
                let product = self.hessian(gradients.direction())?;
                let further = gradients.advance(&product);
                if quadratic {
                    gap = gradients.left() / first;
                }
                broken = watch(&Step::new("solve", self.passes, None).gap(gap)).is_break();
                if broken || !further {
                    break;
                }
            }
            if !gradients.step.is_finite() {
                return Err(Fault::NotFinite { what: "a step of the solver" }.into());
            }
            steps += 1;
            let mut step = gradients.step;
            self.coordinates.whiten(&mut step.x, k, self.exec);
            if quadratic {
                now.z.iter_mut().zip(&step.x).for_each(|(z, s)| *z += s);
                let by = self.offset_scale();
                now.b.iter_mut().zip(&step.b).for_each(|(b, s)| *b += by * s);
                stop = match (broken, gap <= params.tol) {
                    (true, _) => Stop::Cancelled,
                    (false, true) => Stop::Converged,
                    // A pass that leads nowhere is what rounding allows.
                    (false, false) => {
                        if self.passes < params.max_iter {
                            Stop::Converged
                        } else {
                            Stop::Limit
                        }
                    }
                };
                break;
            }
            let moved = self.search(&mut now, &step)?;
            if broken {
                stop = Stop::Cancelled;
            } else if !moved {
                stop = Stop::Converged;
            }
        }
        let mut coef = now.z;
        self.coordinates.coef(&mut coef, k, self.exec);
        Ok(Found { coef, offset: now.b, value: now.value, gap, stop, steps })
    }

    /// Goes along a step as far as the objective falls enough; whether it went anywhere.
    fn search(&mut self, now: &mut Point, step: &Place) -> Result<bool> {
        let by = self.offset_scale();
        let along: f64 = now.slope.x.iter().zip(&step.x).map(|(g, s)| g * s).sum::<f64>()
            + now.slope.b.iter().zip(&step.b).map(|(g, s)| g * s * by).sum::<f64>();
        // Where the objective no longer tells steps apart, the slope does.
        let flat = along.abs() <= 1e-9 * now.value.abs();
        let before = if flat { self.whitened(&now.slope).length() } else { 0.0 };
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let z = now.z.iter().zip(&step.x).map(|(z, s)| z + length * s).collect();
            let b = now.b.iter().zip(&step.b).map(|(b, s)| b + length * by * s).collect();
            let next = self.at(z, b)?;
            let gained = if flat {
                self.whitened(&next.slope).length() < 0.9 * before
            } else {
                next.value <= now.value + 1e-4 * length * along
            };
            if gained {
                *now = next;
                return Ok(true);
            }
            length /= 2.0;
        }
        // The outputs that are kept must be those of the point that stays.
        *now = self.at(std::mem::take(&mut now.z), std::mem::take(&mut now.b))?;
        Ok(false)
    }

    /// Value and slope at a function; its outputs are kept where curvatures depend on them.
    fn at(&mut self, z: Vec<f64>, b: Vec<f64>) -> Result<Point> {
        let (problem, k) = (self.problem, b.len());
        let mut coef = z.clone();
        self.coordinates.coef(&mut coef, k, self.exec);
        let quadratic = problem.loss.is_quadratic();
        let again = !quadratic && self.kept.is_empty();
        let mean = again || !quadratic && problem.places.is_none();
        let outputs = if self.kept.is_empty() { Outputs::None } else { Outputs::Write(&mut self.kept) };
        let row = |target: &[f64], weight: f64, _: &[f32], f: &mut [f64]| {
            let bent = if mean {
                let at: Vec<f32> = f.iter().map(|f| *f as f32).collect();
                problem.loss.curvature(target, &at)
            } else {
                0.0
            };
            let value = weight * problem.loss.slope(target, f);
            f.iter_mut().for_each(|f| *f *= weight);
            [value, bent]
        };
        let sums = pass(problem.design, (&coef, &b), outputs, &row, self.exec)?;
        self.passes += 1;
        self.bent = sums.values[1] / problem.design.rows().max(1) as f64;
        if again {
            self.here = (coef, b.clone());
        }
        let penalty = self.lambda / 2.0 * z.iter().map(|z| z * z).sum::<f64>();
        let mut slope = Place { x: sums.against, b: sums.ones };
        self.coordinates.coef_back(&mut slope.x, k, self.exec);
        slope.x.iter_mut().zip(&z).for_each(|(g, z)| *g = *g / self.problem.total + self.lambda * z);
        slope.b.iter_mut().for_each(|g| *g = if problem.offset { *g / self.problem.total } else { 0.0 });
        Ok(Point { z, b, value: sums.values[0] / self.problem.total + penalty, slope })
    }

    /// A gradient in the preconditioner's coordinates.
    fn whitened(&self, slope: &Place) -> Place {
        let mut out = slope.clone();
        self.coordinates.whiten_back(&mut out.x, slope.b.len(), self.exec);
        let by = self.offset_scale();
        out.b.iter_mut().for_each(|b| *b *= by);
        out
    }

    /// The offset's own coordinate.
    fn offset_scale(&self) -> f64 {
        if self.problem.offset { 1.0 } else { 0.0 }
    }

    /// The Hessian times a direction, both in the preconditioner's coordinates.
    fn hessian(&mut self, direction: &Place) -> Result<Place> {
        let (problem, k, by) = (self.problem, direction.b.len(), self.offset_scale());
        let mut z = direction.x.clone();
        self.coordinates.whiten(&mut z, k, self.exec);
        let mut coef = z.clone();
        self.coordinates.coef(&mut coef, k, self.exec);
        let b: Vec<f64> = direction.b.iter().map(|b| by * b).collect();
        let row = |target: &[f64], weight: f64, at: &[f32], v: &mut [f64]| {
            problem.loss.bend(target, at, v);
            v.iter_mut().for_each(|v| *v *= weight);
            [0.0; 2]
        };
        let outputs = match (problem.loss.is_quadratic(), self.kept.is_empty()) {
            (true, _) => Outputs::None,
            (false, false) => Outputs::Read(&self.kept),
            (false, true) => Outputs::Again(&self.here.0, &self.here.1),
        };
        let sums = pass(problem.design, (&coef, &b), outputs, &row, self.exec)?;
        self.passes += 1;
        let mut x = sums.against;
        self.coordinates.coef_back(&mut x, k, self.exec);
        x.iter_mut().zip(&z).for_each(|(g, z)| *g = *g / self.problem.total + self.lambda * z);
        self.coordinates.whiten_back(&mut x, k, self.exec);
        Ok(Place { x, b: sums.ones.iter().map(|g| by * g / self.problem.total).collect() })
    }

    /// Takes the curvature at the current point into the preconditioner: at the centres where they are rows, else the mean.
    fn bend(&mut self, now: &Point) -> Result<()> {
        let (problem, k) = (self.problem, now.b.len());
        let m = problem.design.centres();
        let d: Vec<f64> = match problem.places {
            Some((rows, targets)) if !self.kept.is_empty() => {
                let targets = targets.chunks(targets.len() / rows.len().max(1));
                let at = |(&i, target)| problem.loss.curvature(target, &self.kept[i * k..(i + 1) * k]);
                rows.iter().zip(targets).map(at).collect()
            }
            _ => vec![self.bent; m],
        };
        // A centre far beyond the margin still stands for rows that are not.
        let mean = d.iter().sum::<f64>() / m.max(1) as f64;
        let d: Vec<f64> = d.iter().map(|d| d.max(1e-3 * mean)).collect();
        self.coordinates.bend(&d, self.lambda, self.exec)
    }
}

fn negate(place: &mut Place) {
    place.x.iter_mut().chain(&mut place.b).for_each(|v| *v = -*v);
}
