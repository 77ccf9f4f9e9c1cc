//! Newton steps whose systems are solved by conjugate gradients; the squared loss takes one.
//!
//! A step is shortened until the objective decreases sufficiently. Early systems are solved approximately, with a
//! relative residual that decreases with the gradient (Dembo, Eisenstat and Steihaug 1982), which saves passes.

use std::time::Instant;

use super::gradients::{Gradients, Place};
use super::precondition::{Coordinates, passes};
use super::{Fitted, LargeAsk, LargeFunction, LargeProblem, Limits, Start};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::Fault;
use crate::watch::{Info, Step, Stop, Watch};

/// Maximum number of halvings of a step.
const HALVINGS: usize = 12;
/// Passes between evaluations on held-out rows, and passes without improvement after which a fit stops.
const LOOK: u64 = 2;
const PATIENCE: u64 = 8;
/// A slope of the mean that is so much smaller than that of 0 is rounding.
const ROUNDING: f64 = 1e-13;
/// Newton steps without a smaller error that end a fit.
const STEPS: u64 = 3;

/// The function with the smallest error on held-out rows.
struct Best {
    error: f64,
    coef: Vec<f64>,
    offset: Vec<f64>,
    /// When it was found, in passes or steps.
    when: u64,
}

/// Solves on the centres, given their own matrix. If the watcher cancels, returns the current function if there is
/// one.
pub(crate) fn fit(
    problem: &LargeProblem<'_>,
    start: Start<'_>,
    params: &Limits,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Fitted> {
    let clock = Instant::now();
    if watch(&Step::new("preconditioner", 0, None)).is_break() {
        return Err(Error::Cancelled);
    }
    let total = problem.rows.weight();
    let lambda = problem.lambda / total;
    // The curvature at outputs of 0, for the first step.
    let k = problem.loss.outputs();
    let bent = if problem.loss.is_quadratic() { 1.0 } else { problem.loss.curvature(&[0.0], &vec![0.0; k]) };
    let s = match &start {
        Start::Here(_, Some(stand)) => stand.values.len() / problem.centres.max(1),
        _ => problem.centres,
    };
    let curvature: Vec<f64> = (0..s).map(|i| bent * problem.weight.get(i).copied().unwrap_or(1.0)).collect();
    let exact = (problem.rounding, passes(problem.centres, problem.rows.rows(), k));
    let coordinates = Coordinates::new(start, exact, (lambda, &curvature), exec)?;
    let mut job = Job { problem, coordinates, total, lambda, exec, passes: 0, numbers: 0, bent, best: None };
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
    let (mut coef, mut offset) = (found.coef, found.offset);
    let held_out = job.best.take().map(|best| {
        if found.early {
            info.note("stopped early: the error on held-out rows no longer falls");
        }
        (coef, offset) = (best.coef, best.offset);
        best.error
    });
    Ok(Fitted { coef, offset, held_out, info })
}

struct Job<'a> {
    problem: &'a LargeProblem<'a>,
    coordinates: Coordinates<'a>,
    /// The sum of weights.
    total: f64,
    /// Per unit of weight.
    lambda: f64,
    exec: Exec,
    passes: u64,
    /// Functions that were asked for.
    numbers: u64,
    /// The mean of the curvature at the current point.
    bent: f64,
    /// The best function on held-out rows so far.
    best: Option<Best>,
}

struct Found {
    coef: Vec<f64>,
    offset: Vec<f64>,
    value: f64,
    gap: f64,
    stop: Stop,
    steps: u64,
    /// Whether it was stopped early.
    early: bool,
}

/// A function with its value and gradient. `z = L' c`: the penalty is `lambda / 2 |z|^2`.
struct Point {
    number: u64,
    z: Vec<f64>,
    coef: Vec<f64>,
    b: Vec<f64>,
    value: f64,
    /// In coordinates of z and b.
    slope: Place,
}

impl Job<'_> {
    fn newton(&mut self, params: &Limits, watch: &mut Watch<'_>) -> Result<Found> {
        let (m, k) = (self.problem.centres, self.problem.loss.outputs());
        let quadratic = self.problem.loss.is_quadratic();
        let mut now = self.at(vec![0.0; m * k], vec![0.0; k])?;
        // Squared errors begin at the mean of the targets: digits of numbers far from 0 would be lost in it, and the tolerance
        // is relative to what is left to explain.
        let far = now.slope.length();
        if quadratic && self.problem.offset && far > 0.0 {
            let mean = now.slope.b.iter().map(|g| -g).collect();
            now = self.at(vec![0.0; m * k], mean)?;
        }
        let mut first = self.whitened(&now.slope)?.length();
        if now.slope.length() <= ROUNDING * far {
            first = 0.0;
        }
        let (mut gap, mut stop, mut steps, mut early) = (1.0, Stop::Limit, 0, false);
        if first == 0.0 {
            (gap, stop) = (0.0, Stop::Converged);
        }
        while stop == Stop::Limit && self.passes < params.max_iter {
            if steps > 0 && !quadratic {
                self.bend(&now)?;
            }
            let slope = self.whitened(&now.slope)?;
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
                let product = match self.hessian(&now, gradients.direction()) {
                    // Cancelled within a pass: the step so far, if there is one.
                    Err(Error::Cancelled) if steps > 0 || gradients.step.length() > 0.0 => {
                        broken = true;
                        break;
                    }
                    product => product?,
                };
                let further = gradients.advance(&product);
                if quadratic {
                    gap = gradients.left() / first;
                }
                broken = watch(&Step::new("solve", self.passes, None).gap(gap)).is_break();
                if quadratic && self.problem.judge.is_some() && self.passes.is_multiple_of(LOOK) {
                    early = self.judged_step(&now, &gradients.step, PATIENCE)?;
                }
                if broken || !further || early {
                    break;
                }
            }
            if !gradients.step.is_finite() {
                return Err(Fault::NotFinite { what: "a step of the solver" }.into());
            }
            steps += 1;
            let mut step = gradients.step;
            self.coordinates.whiten(&mut step.x, k, self.exec)?;
            if quadratic {
                now.z.iter_mut().zip(&step.x).for_each(|(z, s)| *z += s);
                let by = self.offset_scale();
                now.b.iter_mut().zip(&step.b).for_each(|(b, s)| *b += by * s);
                stop = match (broken, gap <= params.tol || early) {
                    (true, _) => Stop::Cancelled,
                    (false, true) => Stop::Converged,
                    // A step without progress means that rounding limits the accuracy.
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
            let moved = broken && step.length() == 0.0
                || self.search(&mut now, &step, if broken { 1 } else { HALVINGS })?;
            if self.problem.judge.is_some() {
                early = self.judged(&now.coef, &now.b, (steps, STEPS));
            }
            if broken {
                stop = Stop::Cancelled;
            } else if !moved || early {
                stop = Stop::Converged;
            }
        }
        let mut coef = now.z;
        self.coordinates.coef(&mut coef, k, self.exec)?;
        if self.problem.judge.is_some() && !early {
            self.judged(&coef, &now.b, (u64::MAX, u64::MAX));
        }
        Ok(Found { coef, offset: now.b, value: now.value, gap, stop, steps, early })
    }

    /// Evaluates the function after a step on held-out rows; returns whether to stop.
    fn judged_step(&mut self, now: &Point, step: &Place, patience: u64) -> Result<bool> {
        let (k, by) = (now.b.len(), self.offset_scale());
        let mut coef = step.x.clone();
        self.coordinates.whiten(&mut coef, k, self.exec)?;
        self.coordinates.coef(&mut coef, k, self.exec)?;
        coef.iter_mut().zip(&now.coef).for_each(|(c, n)| *c += n);
        let b: Vec<f64> = now.b.iter().zip(&step.b).map(|(b, s)| b + by * s).collect();
        Ok(self.judged(&coef, &b, (self.passes, patience)))
    }

    /// Evaluates a function on held-out rows; returns whether the error has not improved for `patience`.
    fn judged(&mut self, coef: &[f64], offset: &[f64], (now, patience): (u64, u64)) -> bool {
        let Some(judge) = self.problem.judge else { return false };
        let error = judge.error(self.problem.loss, coef, offset, self.exec);
        match &self.best {
            Some(best) if best.error <= error || error.is_nan() => now - best.when.min(now) >= patience,
            _ => {
                let (coef, offset) = (coef.to_vec(), offset.to_vec());
                self.best = Some(Best { error, coef, offset, when: now });
                false
            }
        }
    }

    /// Line search along a step in so many tries; returns whether it made progress.
    fn search(&mut self, now: &mut Point, step: &Place, tries: usize) -> Result<bool> {
        let by = self.offset_scale();
        let along: f64 = now.slope.x.iter().zip(&step.x).map(|(g, s)| g * s).sum::<f64>()
            + now.slope.b.iter().zip(&step.b).map(|(g, s)| g * s * by).sum::<f64>();
        // Where rounding hides changes of the objective, the slope decides.
        let flat = along.abs() <= 1e-9 * now.value.abs();
        let before = if flat { self.whitened(&now.slope)?.length() } else { 0.0 };
        let mut length = 1.0;
        for _ in 0..tries {
            let z = now.z.iter().zip(&step.x).map(|(z, s)| z + length * s).collect();
            let b = now.b.iter().zip(&step.b).map(|(b, s)| b + length * by * s).collect();
            let next = self.at(z, b)?;
            let gained = if flat {
                self.whitened(&next.slope)?.length() < 0.9 * before
            } else {
                next.value <= now.value + 1e-4 * length * along
            };
            if gained {
                *now = next;
                return Ok(true);
            }
            length /= 2.0;
        }
        // The stored outputs must belong to the point that is kept.
        *now = self.at(std::mem::take(&mut now.z), std::mem::take(&mut now.b))?;
        Ok(false)
    }

    /// Value and slope at a function.
    fn at(&mut self, z: Vec<f64>, b: Vec<f64>) -> Result<Point> {
        let (problem, k) = (self.problem, b.len());
        let mut coef = z.clone();
        self.coordinates.coef(&mut coef, k, self.exec)?;
        self.numbers += 1;
        let at = LargeFunction { number: self.numbers, coef: &coef, offset: &b };
        let sums = problem.rows.pass(&LargeAsk::Slope { at })?;
        self.passes += 1;
        self.bent = sums.values[1] / problem.rows.rows().max(1) as f64;
        let penalty = self.lambda / 2.0 * z.iter().map(|z| z * z).sum::<f64>();
        let mut slope = Place { x: sums.against, b: sums.ones };
        self.coordinates.coef_back(&mut slope.x, k, self.exec)?;
        slope.x.iter_mut().zip(&z).for_each(|(g, z)| *g = *g / self.total + self.lambda * z);
        slope.b.iter_mut().for_each(|g| *g = if problem.offset { *g / self.total } else { 0.0 });
        let value = sums.values[0] / self.total + penalty;
        Ok(Point { number: self.numbers, z, coef, b, value, slope })
    }

    /// A gradient in the preconditioner's coordinates.
    fn whitened(&self, slope: &Place) -> Result<Place> {
        let mut out = slope.clone();
        self.coordinates.whiten_back(&mut out.x, slope.b.len(), self.exec)?;
        let by = self.offset_scale();
        out.b.iter_mut().for_each(|b| *b *= by);
        Ok(out)
    }

    /// The offset's own coordinate.
    fn offset_scale(&self) -> f64 {
        if self.problem.offset { 1.0 } else { 0.0 }
    }

    /// The Hessian at a point times a direction, both in the preconditioner's coordinates.
    fn hessian(&mut self, now: &Point, direction: &Place) -> Result<Place> {
        let (problem, k, by) = (self.problem, direction.b.len(), self.offset_scale());
        let mut z = direction.x.clone();
        self.coordinates.whiten(&mut z, k, self.exec)?;
        let mut coef = z.clone();
        self.coordinates.coef(&mut coef, k, self.exec)?;
        let b: Vec<f64> = direction.b.iter().map(|b| by * b).collect();
        self.numbers += 1;
        let along = LargeFunction { number: self.numbers, coef: &coef, offset: &b };
        let at = (!problem.loss.is_quadratic()).then_some(LargeFunction {
            number: now.number,
            coef: &now.coef,
            offset: &now.b,
        });
        let sums = problem.rows.pass(&LargeAsk::Bend { at, along })?;
        self.passes += 1;
        let mut x = sums.against;
        self.coordinates.coef_back(&mut x, k, self.exec)?;
        x.iter_mut().zip(&z).for_each(|(g, z)| *g = *g / self.total + self.lambda * z);
        self.coordinates.whiten_back(&mut x, k, self.exec)?;
        Ok(Place { x, b: sums.ones.iter().map(|g| by * g / self.total).collect() })
    }

    /// Takes the curvature at the current point into the preconditioner: at the rows that stand for all where their targets
    /// are known or do not matter, else the mean.
    fn bend(&mut self, now: &Point) -> Result<()> {
        let (problem, k) = (self.problem, now.b.len());
        let mut f = self.coordinates.outputs(&now.z, k, self.exec)?;
        f.chunks_mut(k).for_each(|f| f.iter_mut().zip(&now.b).for_each(|(f, b)| *f += b));
        let s = f.len() / k;
        let wide = problem.targets.len() / s.max(1);
        let known = wide > 0 || !problem.loss.curves_by_target();
        let at = |(i, f): (usize, &[f64])| {
            let target = if wide > 0 { &problem.targets[i * wide..(i + 1) * wide] } else { &[0.0][..] };
            let bent = if known { problem.loss.curvature(target, f) } else { self.bent };
            bent * problem.weight.get(i).copied().unwrap_or(1.0)
        };
        let d: Vec<f64> = f.chunks(k).enumerate().map(at).collect();
        // A row far beyond the margin still stands for rows that are not.
        let mean = d.iter().sum::<f64>() / s.max(1) as f64;
        let d: Vec<f64> = d.iter().map(|d| d.max(1e-3 * mean)).collect();
        self.coordinates.bend(&d, self.lambda, self.exec)
    }
}

fn negate(place: &mut Place) {
    place.x.iter_mut().chain(&mut place.b).for_each(|v| *v = -*v);
}
