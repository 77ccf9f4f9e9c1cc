//! Dual coordinate descent for linear machines on many rows (Hsieh et al. 2008; Ho and Lin 2012).
//!
//! With a linear kernel the matrix is never needed: `w = sum_i beta_i x_i` is kept, and one variable at a time is set
//! to its own minimum. In the notation of the other solvers, with e the tube's half-width (0 for classifiers):
//!
//! ```text
//! minimise  1/2 |w|^2 + 1/2 sum_i shift_i beta_i^2 + sum_i linear_i beta_i + e sum_i |beta_i|,   lower <= beta <= upper
//! ```
//!
//! An offset b that is not penalised imposes the constraint `sum beta = 0`, which changing a single variable would
//! break. It is met by the method of multipliers: rows get one more feature of size `sqrt(mu)`, which penalises (b -
//! b_0)^2 / (2 mu), and b_0 is moved to the b found until it no longer changes. These are proximal steps in b alone,
//! each warm-started, and they converge to the solution that the other solvers find. An epoch costs two passes over
//! the data. Shrinking skips rows at a bound, and convergence is declared only after an epoch over all rows. Where
//! epochs converge slowly, [`newton`] steps on the few free variables are interleaved. Once the epochs have cost as
//! much as an [`interior`] point method on few columns would, that is tried once.

mod interior;
mod newton;
mod sharpen;

pub use sharpen::sharpen;

use std::time::Instant;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::Shift;
use crate::error::{Error, Result};
use crate::watch::{Info, Note, Step, Stop, Watch};

/// Cost of an epoch per stored value of the data, in multiply-adds of a matrix product: each row is read twice, in
/// random order.
const EPOCH: f64 = 8.0;

/// Largest factor by which a step of the offset is extrapolated.
const FURTHER: f64 = 16.0;

/// Number of epochs before Newton steps are tried, and between further attempts.
const PATIENCE: u64 = 30;

/// Rows of numbers, as a linear machine uses them.
pub trait Vectors {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Number of columns.
    fn dim(&self) -> usize;
    /// `x_i . w`.
    fn dot(&self, i: usize, w: &[f64]) -> f64;
    /// `w += a x_i`.
    fn add(&self, i: usize, a: f64, w: &mut [f64]);
    /// `|x_i|^2`.
    fn square(&self, i: usize) -> f64;
    /// `|w|^2`.
    fn length(&self, w: &[f64]) -> f64 {
        w.iter().map(|w| w * w).sum()
    }
    /// Number of non-zero entries of row i; the dimension for types that do not count them.
    fn entries(&self, _i: usize) -> usize {
        self.dim()
    }
    /// `out += sum_i weight_i x_i x_i'`, d x d row by row.
    fn gram(&self, weight: &[f64], out: &mut [f64]) {
        let d = self.dim();
        let mut row = vec![0.0; d];
        for (i, &weight) in weight.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            row.fill(0.0);
            self.add(i, 1.0, &mut row);
            for (j, line) in out.chunks_mut(d).enumerate().filter(|(j, _)| row[*j] != 0.0) {
                let factor = weight * row[j];
                line.iter_mut().zip(&row).for_each(|(o, x)| *o += factor * x);
            }
        }
    }
}

/// A linear machine's problem: see the module's text for the symbols.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearProblem {
    /// One per row: `-y_i` for a classifier with labels of +1 and -1, minus the target for regression.
    pub linear: Vec<f64>,
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// What squared slack adds to the diagonal.
    pub shift: Shift,
    /// Half-width of the tube; 0 for classifiers.
    pub epsilon: f64,
    /// Whether there is an offset.
    pub offset: bool,
    /// A starting point inside the box; without it 0, clipped to the box.
    pub start: Option<Vec<f64>>,
}

/// Parameters of the descent.
#[derive(Debug, Clone, PartialEq)]
pub struct DescentParams {
    /// Stopping tolerance on a variable's KKT violation; the violation of a pair, as in [`solve`](super::solve), is
    /// at most twice this.
    pub tol: f64,
    /// Maximum number of epochs over the data.
    pub max_epochs: u64,
    /// Whether rows at a bound are skipped for a while.
    pub shrinking: bool,
    /// Seed of the random order of rows in each epoch.
    pub seed: u64,
}

impl Default for DescentParams {
    fn default() -> Self {
        DescentParams { tol: 1e-3, max_epochs: 10_000, shrinking: true, seed: 0 }
    }
}

/// A linear machine.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSolution {
    /// The weights.
    pub w: Vec<f64>,
    /// The offset: outputs are `w . x + b`.
    pub b: f64,
    /// The variables.
    pub beta: Vec<f64>,
    /// The dual objective reached.
    pub objective: f64,
    /// Statistics of the run; an iteration is an epoch.
    pub info: Info,
}

/// The state of a descent.
struct Descent<'a, V: Vectors> {
    x: &'a V,
    p: &'a LinearProblem,
    beta: Vec<f64>,
    w: Vec<f64>,
    /// `|x_i|^2 + mu + shift_i`.
    bend: Vec<f64>,
    sum: f64,
    mu: f64,
    /// The offset b_0 from which the penalty is measured.
    anchor: f64,
}

impl<V: Vectors> Descent<'_, V> {
    fn offset(&self) -> f64 {
        self.anchor + self.mu * self.sum
    }

    fn shift(&self, i: usize) -> f64 {
        match &self.p.shift {
            Shift::None => 0.0,
            Shift::Same(s) => *s,
            Shift::Each(s) => s[i],
        }
    }

    /// The derivative of the smooth part along variable i.
    fn slope(&self, i: usize) -> f64 {
        self.x.dot(i, &self.w) + self.offset() + self.p.linear[i] + self.shift(i) * self.beta[i]
    }

    /// KKT violation of variable i: 0 must lie between the left and right derivatives.
    fn violation(&self, i: usize, slope: f64) -> f64 {
        let (b, e) = (self.beta[i], self.p.epsilon);
        let right = if b >= 0.0 { slope + e } else { slope - e };
        let left = if b > 0.0 { slope + e } else { slope - e };
        let rise = if b < self.p.upper[i] { -right } else { 0.0 };
        let fall = if b > self.p.lower[i] { left } else { 0.0 };
        rise.max(fall).max(0.0)
    }

    /// Sets variable i to its minimum.
    fn settle(&mut self, i: usize, slope: f64) {
        let (b, h, e) = (self.beta[i], self.bend[i], self.p.epsilon);
        if h <= 0.0 {
            // A row of zeros without an offset or squared slack has no curvature: its objective is linear, and the
            // minimum is a bound or 0.
            let target = if slope > e {
                self.p.lower[i]
            } else if slope < -e {
                self.p.upper[i]
            } else {
                0.0
            };
            if target.is_finite() {
                self.set(i, target.clamp(self.p.lower[i], self.p.upper[i]));
            }
            return;
        }
        // The minimum of h/2 (z - b)^2 + slope (z - b) + e |z|.
        // Soft thresholding: the closed form of the minimum with the absolute value.
        let free = b - slope / h;
        let shrunk = free.abs() - e / h;
        let target = if shrunk > 0.0 { shrunk.copysign(free) } else { 0.0 };
        self.set(i, target.clamp(self.p.lower[i], self.p.upper[i]));
    }

    fn set(&mut self, i: usize, target: f64) {
        let change = target - self.beta[i];
        if change != 0.0 {
            self.beta[i] = target;
            self.sum += change;
            self.x.add(i, change, &mut self.w);
        }
    }

    fn objective(&self) -> f64 {
        let own = |(i, b): (usize, &f64)| {
            b * self.p.linear[i] + self.p.epsilon * b.abs() + 0.5 * self.shift(i) * b * b
        };
        0.5 * self.x.length(&self.w) + self.beta.iter().enumerate().map(own).sum::<f64>()
    }
}

/// Trains a linear machine.
///
/// ```
/// use mercer::solve::{DescentParams, LinearProblem, Shift, Vectors, descend};
///
/// struct Points(Vec<[f64; 2]>);
/// impl Vectors for Points {
///     fn len(&self) -> usize { self.0.len() }
///     fn dim(&self) -> usize { 2 }
///     fn dot(&self, i: usize, w: &[f64]) -> f64 { self.0[i][0] * w[0] + self.0[i][1] * w[1] }
///     fn add(&self, i: usize, a: f64, w: &mut [f64]) { (0..2).for_each(|j| w[j] += a * self.0[i][j]) }
///     fn square(&self, i: usize) -> f64 { self.dot(i, &self.0[i]) }
/// }
///
/// // Two points a side, the nearer ones at 1 and 3: the plane between is at 2.
/// let x = Points(vec![[1.0, 0.0], [0.0, 0.5], [3.0, 0.0], [4.0, 0.5]]);
/// let problem = LinearProblem::classify(&[-1.0, -1.0, 1.0, 1.0], &[100.0; 4], true);
/// let machine = descend(&x, &problem, &DescentParams { tol: 1e-6, ..DescentParams::default() }, &mut mercer::watch::silent())?;
/// assert!((machine.w[0] * 2.0 + machine.b).abs() < 1e-3);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn descend<V: Vectors>(
    x: &V,
    problem: &LinearProblem,
    params: &DescentParams,
    watch: &mut Watch<'_>,
) -> Result<LinearSolution> {
    let clock = Instant::now();
    let n = x.len();
    problem.check(n)?;
    if !(params.tol > 0.0 && params.tol.is_finite()) {
        return Err(Error::param("tol", params.tol, "above 0"));
    }
    let squares: Vec<f64> = (0..n).map(|i| x.square(i)).collect();
    let typical = squares.iter().sum::<f64>() / n as f64;
    // The extra feature is as long as a typical row, which keeps the curvatures of all variables comparable.
    let mu = if !problem.offset {
        0.0
    } else if typical > 0.0 {
        typical
    } else {
        1.0
    };
    let mut state = Descent {
        x,
        p: problem,
        beta: problem.first(),
        w: vec![0.0; x.dim()],
        bend: Vec::new(),
        sum: 0.0,
        mu,
        anchor: 0.0,
    };
    state.bend = (0..n).map(|i| squares[i] + mu + state.shift(i)).collect();
    for i in 0..n {
        if state.beta[i] != 0.0 {
            state.x.add(i, state.beta[i], &mut state.w);
        }
    }
    state.sum = state.beta.iter().sum();

    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut active = n;
    // Skip a row at a bound when its gradient points outwards by more than the worst violation of the last epoch
    // (Hsieh et al. 2008).
    let mut reach = f64::INFINITY;
    let (mut epochs, mut stop, mut gap) = (0, Stop::Limit, f64::INFINITY);
    let mut last = None;
    let (mut spent, mut interior) = (0.0, interior::cost(x));
    let entries: f64 = (0..n).map(|i| x.entries(i) as f64).sum();
    let mut notes: Vec<Note> = vec!["dual coordinate descent on the rows themselves".into()];
    while epochs < params.max_epochs {
        order[..active].shuffle(&mut rng);
        let (mut worst, mut at) = (0.0_f64, 0);
        while at < active {
            let i = order[at] as usize;
            let slope = state.slope(i);
            let violation = state.violation(i, slope);
            worst = worst.max(violation);
            if params.shrinking && violation == 0.0 && problem.outward(i, state.beta[i], slope) > reach {
                active -= 1;
                order.swap(at, active);
                continue;
            }
            if violation > 0.0 {
                state.settle(i, slope);
            }
            at += 1;
        }
        epochs += 1;
        if !worst.is_finite() {
            return Err(mercer_num::Fault::NotFinite { what: "the rows of a linear machine" }.into());
        }
        gap = worst;
        if watch(&Step::new("solve", epochs, None).gap(gap)).is_break() {
            stop = Stop::Cancelled;
            break;
        }
        reach = if worst > 0.0 { worst } else { f64::INFINITY };
        // The penalty's centre moves too; convergence requires that its remaining movement is below the tolerance.
        let moved = (state.mu * state.sum).abs();
        // The inner problem is solved only ten times more accurately than the centre still moves.
        if problem.offset && worst <= params.tol.max(0.1 * moved) {
            let here = (state.anchor, state.mu * state.sum);
            state.anchor += proximal(here, last);
            last = Some(here);
            active = n;
            reach = f64::INFINITY;
        }
        if worst <= params.tol && moved <= 0.5 * params.tol {
            // Violations were measured while the variables changed; only a scan at a fixed point decides.
            gap = (0..n).map(|i| state.violation(i, state.slope(i))).fold(0.0, f64::max);
            if gap <= params.tol {
                stop = Stop::Converged;
                break;
            }
        }
        if worst > params.tol && epochs % PATIENCE == 0 {
            state.polish();
        }
        spent += EPOCH * entries;
        // Tried once: on failure the descent continues, and at most doubles the total cost.
        if worst > params.tol && spent >= interior {
            interior = f64::INFINITY;
            let mut cancelled = false;
            let solved = state.interior(params.tol, &mut |gap| {
                cancelled = watch(&Step::new("solve", epochs, None).gap(gap)).is_break();
                !cancelled
            });
            if cancelled {
                stop = Stop::Cancelled;
                break;
            }
            if solved {
                notes.push("finished by an interior point method on the columns".into());
            }
            active = n;
            reach = f64::INFINITY;
        }
        if worst <= params.tol || epochs % PATIENCE == 0 {
            active = n;
            reach = f64::INFINITY;
        }
    }
    let objective = state.objective();
    if !objective.is_finite() {
        return Err(mercer_num::Fault::NotFinite { what: "the rows of a linear machine" }.into());
    }
    let info = Info {
        stop,
        iterations: epochs,
        gap,
        objective: Some(objective),
        seconds: clock.elapsed().as_secs_f64(),
        notes,
        ..Info::default()
    };
    Ok(LinearSolution {
        b: if problem.offset { state.offset() } else { 0.0 },
        w: state.w,
        beta: state.beta,
        objective,
        info,
    })
}

/// The next centre of the offset's penalty: the result of the proximal step `moved`, extrapolated to the limit of the
/// steps if the last two agree in direction. The sum of the variables decreases as the centre increases.
fn proximal((anchor, moved): (f64, f64), last: Option<(f64, f64)>) -> f64 {
    let Some((before, moved_before)) = last else { return moved };
    let slope = (moved - moved_before) / (anchor - before);
    let further = -moved / slope;
    if slope < 0.0 && further.is_finite() && further.abs() > moved.abs() {
        further.clamp(-FURTHER * moved.abs(), FURTHER * moved.abs())
    } else {
        moved
    }
}

impl LinearProblem {
    /// A classifier with hinge loss: labels of +1 and -1, one penalty per row.
    pub fn classify(labels: &[f64], c: &[f64], offset: bool) -> Self {
        let side = |sign: f64| {
            labels.iter().zip(c).map(|(&y, &c)| if y * sign > 0.0 { sign * c } else { 0.0 }).collect()
        };
        LinearProblem {
            linear: labels.iter().map(|y| -y).collect(),
            lower: side(-1.0),
            upper: side(1.0),
            shift: Shift::None,
            epsilon: 0.0,
            offset,
            start: None,
        }
    }

    /// Regression with a tube: one penalty per row.
    pub fn regress(targets: &[f64], epsilon: f64, c: &[f64], offset: bool) -> Self {
        LinearProblem {
            linear: targets.iter().map(|y| -y).collect(),
            lower: c.iter().map(|c| -c).collect(),
            upper: c.to_vec(),
            shift: Shift::None,
            epsilon,
            offset,
            start: None,
        }
    }

    fn first(&self) -> Vec<f64> {
        let nearest = |(&lo, &up): (&f64, &f64)| 0.0_f64.clamp(lo, up);
        self.start.clone().unwrap_or_else(|| self.lower.iter().zip(&self.upper).map(nearest).collect())
    }

    /// How far inside its optimality condition a variable is that sits at a bound, or at 0 inside the tube.
    fn outward(&self, i: usize, b: f64, slope: f64) -> f64 {
        if b == 0.0 && self.lower[i] < 0.0 && self.upper[i] > 0.0 {
            self.epsilon - slope.abs()
        } else if b <= self.lower[i] {
            slope + if b >= 0.0 { self.epsilon } else { -self.epsilon }
        } else if b >= self.upper[i] {
            -(slope + if b > 0.0 { self.epsilon } else { -self.epsilon })
        } else {
            f64::NEG_INFINITY
        }
    }

    fn check(&self, n: usize) -> Result<()> {
        let same = |what: &str, got: usize| {
            if got == n { Ok(()) } else { Err(Error::shape(what, got, format!("{n}, one per row"))) }
        };
        if n == 0 {
            return Err(Error::shape("rows", n, "at least one"));
        }
        same("linear terms", self.linear.len())?;
        same("lower bounds", self.lower.len())?;
        same("upper bounds", self.upper.len())?;
        if let Shift::Each(s) = &self.shift {
            same("shifts", s.len())?;
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(Error::param("epsilon", self.epsilon, "finite and not negative"));
        }
        if let Some(start) = &self.start {
            same("start", start.len())?;
        }
        for i in 0..n {
            let (lo, up) = (self.lower[i], self.upper[i]);
            if lo.is_nan() || up.is_nan() || lo > up {
                return Err(Error::param(format!("bounds[{i}]"), format!("[{lo}, {up}]"), "lower <= upper"));
            }
            if let Some(start) = &self.start
                && !(start[i] >= lo && start[i] <= up && start[i].is_finite())
            {
                return Err(Error::param(format!("start[{i}]"), start[i], format!("within [{lo}, {up}]")));
            }
        }
        Ok(())
    }
}
