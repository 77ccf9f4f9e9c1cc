//! Solvers for the quadratic problem behind every machine. Floor 4.
//!
//! [`solve`] takes a [`Problem`] (K as [`Rows`](crate::gram::Rows), a linear term, a box, sums) and returns numbers: it
//! knows no kernel, no points and no labels. Rows of K are f32; the gradient is f64, and before a solution is handed
//! out its optimality is checked against f64 kernel values wherever f32 rounding could matter at the tolerance asked.

mod linear;
mod pair;
mod problem;
mod smo;
mod state;
mod store;

use std::ops::ControlFlow;
use std::time::Instant;

use mercer_num::Buffer;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::par::Par;
use crate::watch::{Info, Step, Stop, Watch};

pub use linear::{LinearParams, solve_linear};
pub use problem::{Groups, Problem, Shift};
use state::State;

/// How to go about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// What costs least; [`Info::notes`] says what was taken.
    #[default]
    Auto,
    /// Pairs on the whole matrix in memory.
    Smo,
}

/// What a solve obeys.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Largest violation of the optimality conditions that is left; means what LIBSVM's `-e` means.
    pub tol: f64,
    /// Most steps; `None`: ten million or a hundred a variable, whichever is more.
    pub max_iter: Option<u64>,
    /// Whether variables that cannot move are left out for a while.
    pub shrinking: bool,
    /// Bytes for rows of K.
    pub memory: usize,
    /// Threads.
    pub par: Par,
    /// How to go about it.
    pub method: Method,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            tol: 1e-3,
            max_iter: None,
            shrinking: true,
            memory: 1 << 30,
            par: Par::default(),
            method: Method::Auto,
        }
    }
}

impl Params {
    fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(Error::param("tol", self.tol, "above 0"));
        }
        Ok(())
    }
}

/// Where a group's gradients part: variables that may only rise have theirs above it, those that may only fall below.
///
/// A classifier's or regressor's offset b is minus [`Threshold::value`]; a one-class machine's rho is the value itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The highest gradient among variables on their upper bound; minus infinity if there are none.
    pub lo: f64,
    /// The lowest gradient among variables on their lower bound; infinity if there are none.
    pub hi: f64,
    /// The mean gradient of the variables strictly between their bounds, if there are any.
    pub free: Option<f64>,
}

impl Threshold {
    /// The mean over free variables; without any, the middle of the bracket, or its one finite end.
    pub fn value(&self) -> f64 {
        self.free.unwrap_or(match (self.lo.is_finite(), self.hi.is_finite()) {
            (true, true) => f64::midpoint(self.lo, self.hi),
            (true, false) => self.lo,
            (false, true) => self.hi,
            (false, false) => 0.0,
        })
    }
}

/// What a solve found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The variables. Also the checkpoint: as [`Problem::start`] of the same problem, solving goes on from here.
    pub beta: Vec<f64>,
    /// `K (sum of each row's variables)`, one value a row: the machine's output before the offset.
    pub output: Vec<f64>,
    /// The value of the quadratic form reached.
    pub objective: f64,
    /// One for each group.
    pub thresholds: Vec<Threshold>,
    /// A direction along which the objective falls for ever and all constraints hold, if there is one (bounds at
    /// infinity only): for a machine with hard margin, the weights under which the two classes' hulls meet.
    pub unbounded: Option<Vec<f64>>,
    /// How it went.
    pub info: Info,
}

/// How a method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Converged,
    Limit,
    Cancelled,
    /// f64 has no more digits.
    Stalled,
    Unbounded(usize, usize),
}

/// What all methods share while they run.
struct Job<'a, 'w> {
    params: &'a Params,
    watch: &'a mut Watch<'w>,
    max_iter: u64,
    iterations: u64,
    gap: f64,
    kernel_values: u64,
    cancelled: bool,
    notes: Vec<String>,
}

impl Job<'_, '_> {
    fn left(&self) -> u64 {
        self.max_iter.saturating_sub(self.iterations)
    }

    /// Tells the watcher; breaks if it does.
    fn report(&mut self, iterations: u64, gap: f64) -> ControlFlow<()> {
        let step = Step::new("solve", iterations, None).gap(gap);
        let flow = (self.watch)(&step);
        self.cancelled |= flow.is_break();
        flow
    }
}

/// Solves a problem.
///
/// Errors only on a problem that is none (lengths, bounds, a start outside the box, values that are not finite).
/// Reaching a limit or being cancelled is told in [`Solution::info`].
///
/// ```
/// use mercer::gram::Matrix;
/// use mercer::solve::{Params, Problem, solve};
///
/// // Four points on a line, the outer ones of one class, under (x y)^2.
/// let x = [-2.0_f64, -1.0, 1.0, 2.0];
/// let k: Vec<f64> = x.iter().flat_map(|a| x.map(|b| (a * b).powi(2))).collect();
/// let rows = Matrix::new(k, 4)?;
/// let problem = Problem::classify(&rows, &[1.0, -1.0, -1.0, 1.0], &[10.0; 4]);
/// let found = solve(&problem, &Params::default(), &mut mercer::watch::silent())?;
/// let offset = -found.thresholds[0].value();
/// assert!(found.output[0] + offset >= 0.99 && found.output[1] + offset <= -0.99);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn solve(problem: &Problem<'_>, params: &Params, watch: &mut Watch<'_>) -> Result<Solution> {
    let clock = Instant::now();
    params.check()?;
    problem.check()?;
    let mut state = State::new(problem);
    let total = state.total as u64;
    let mut job = Job {
        params,
        watch,
        max_iter: params.max_iter.unwrap_or(10_000_000.max(100 * total)),
        iterations: 0,
        gap: f64::INFINITY,
        kernel_values: 0,
        cancelled: false,
        notes: Vec::new(),
    };
    if state.beta.iter().any(|&b| b != 0.0) {
        state.recompute(params.par);
    }
    let outcome = if let Some(whole) = problem.rows.whole() {
        job.notes.push("pairs on the whole matrix, given".into());
        smo::solve(&mut state, whole, &mut job)
    } else {
        let n = state.n;
        let mut whole = Buffer::<f32>::zeroed(n * n);
        problem.rows.fill(&mut whole, params.par);
        job.kernel_values += (n as u64 * (n as u64 + 1)) / 2;
        job.notes.push("pairs on the whole matrix, computed first".into());
        smo::solve(&mut state, &whole, &mut job)
    };
    let objective = state.objective();
    if !objective.is_finite() {
        return Err(mercer_num::Fault::NotFinite { what: "the matrix of a quadratic problem" }.into());
    }
    let stop = match outcome {
        Outcome::Converged => Stop::Converged,
        Outcome::Cancelled => Stop::Cancelled,
        Outcome::Limit | Outcome::Stalled | Outcome::Unbounded(..) => Stop::Limit,
    };
    let unbounded = match outcome {
        Outcome::Unbounded(i, j) => {
            let mut ray = vec![0.0; state.total];
            (ray[i], ray[j]) = (1.0, -1.0);
            Some(ray)
        }
        _ => None,
    };
    Ok(Solution {
        objective,
        thresholds: state.thresholds(),
        unbounded,
        info: Info {
            stop,
            iterations: job.iterations,
            gap: job.gap,
            objective: Some(objective),
            kernel_values: job.kernel_values,
            seconds: clock.elapsed().as_secs_f64(),
            notes: job.notes,
        },
        beta: state.beta,
        output: state.f,
    })
}
