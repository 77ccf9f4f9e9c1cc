//! Solvers for the quadratic problem behind every machine. Floor 4.
//!
//! [`solve`] takes a [`Problem`] (K as [`Rows`](crate::gram::Rows), a linear term, box constraints, equality
//! constraints) and returns numbers; it knows no kernel, points or labels. Rows of K are f32 and the gradient is f64.
//! Before a solution is returned, its optimality is checked against f64 kernel values wherever f32 rounding could
//! matter at the requested tolerance.
//!
//! Other solvers for the learners: linear systems, many small smooth problems at once, machines on given centres in
//! the primal, discriminants, linear and quadratic programs, boosting, networks of Gaussians, clustering, perceptron
//! and Adatron, and the billiard in version space. Public ones are eigenvectors ([`eigen`]), the regularisation path
//! of two-class machines ([`path()`]) and coordinate descent for linear machines ([`descend`]).

mod basis;
pub(crate) mod billiard;
pub(crate) mod boost;
mod choose;
mod chunking;
mod descent;
mod door;
pub mod eigen;
mod exact;
pub(crate) mod fisher;
pub(crate) mod greedy;
pub mod kmeans;
pub(crate) mod large;
pub(crate) mod lbfgs;
mod linear;
pub(crate) mod network;
mod newton;
mod pair;
mod parts;
mod path;
pub(crate) mod perceptron;
mod problem;

mod smo;
pub(crate) mod sparse;
mod state;
mod store;
mod working;

use std::ops::ControlFlow;
use std::time::Instant;

use mercer_num::Buffer;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::RowCache;
use crate::watch::{Info, Note, Step, Stop, Watch};

pub use basis::{BasisLoss, BasisProblem, fit_basis_within};
pub(crate) use basis::{fit_basis, hinge_shift};
pub use descent::{DescentParams, LinearProblem, LinearSolution, Vectors, descend, sharpen};
pub use door::{Nystrom, SolveBackend, SolveDoor, Solved, System, solve_batch, solve_on_device};
pub(crate) use door::{linear_on_device, nystrom_on_device};
pub(crate) use linear::{LinearParams, solve_linear};
pub use mercer_num::program;
use pair::Look;
pub use path::{Path, PathParams, PathPoint, PathProblem, path};
pub use problem::{Groups, Problem, Shift};
use state::State;

/// Which algorithm solves the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The cheapest one; [`Info::notes`] names it.
    #[default]
    Auto,
    /// SMO on the whole matrix in memory.
    Smo,
    /// Working sets; rows are computed on demand and cached within the memory budget.
    WorkingSet,
    /// Chunking, as the first support vector machines were trained: a reference implementation, not a fast one.
    Chunking,
}

/// Parameters of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Stopping tolerance: maximum KKT violation, the same as LIBSVM's `-e`.
    pub tol: f64,
    /// Maximum number of iterations; `None`: ten million or a hundred per variable, whichever is more.
    pub max_iter: Option<u64>,
    /// Whether variables that are unlikely to change are removed from the problem for a while (shrinking).
    pub shrinking: bool,
    /// Threads, memory for rows of K, device.
    pub exec: Exec,
    /// Which algorithm to use.
    pub method: Method,
}

impl Default for Params {
    fn default() -> Self {
        Params::new(1e-3, None, true, Exec::one())
    }
}

impl Params {
    /// With the cheapest algorithm.
    pub fn new(tol: f64, max_iter: Option<u64>, shrinking: bool, exec: Exec) -> Self {
        Params { tol, max_iter, shrinking, exec, method: Method::Auto }
    }

    fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(Error::param("tol", self.tol, "above 0"));
        }
        Ok(())
    }
}

/// The interval that separates a group's gradients at the optimum: variables at the lower bound have theirs above it,
/// those at the upper bound below.
///
/// The offset b of a classifier or regressor is minus [`Threshold::value`]; the rho of a one-class machine is the
/// value itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The largest gradient among variables at their upper bound; minus infinity if there are none.
    pub lo: f64,
    /// The smallest gradient among variables at their lower bound; infinity if there are none.
    pub hi: f64,
    /// The mean gradient of the free variables (strictly between their bounds), if there are any.
    pub free: Option<f64>,
}

impl Threshold {
    /// The mean over free variables; without any, the middle of the interval, or its only finite end.
    pub fn value(&self) -> f64 {
        self.free.unwrap_or(match (self.lo.is_finite(), self.hi.is_finite()) {
            (true, true) => f64::midpoint(self.lo, self.hi),
            (true, false) => self.lo,
            (false, true) => self.hi,
            (false, false) => 0.0,
        })
    }
}

/// The result of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The variables. They are also the checkpoint: passed as [`Problem::start`] of the same problem, they continue
    /// the solve.
    pub beta: Vec<f64>,
    /// `K (sum of each row's variables)`, one value per row: the machine's output before the offset.
    pub output: Vec<f64>,
    /// The objective reached.
    pub objective: f64,
    /// One per group.
    pub thresholds: Vec<Threshold>,
    /// A direction along which the objective decreases without bound while all constraints hold, if there is one
    /// (only possible with infinite bounds). For a hard-margin machine: the weights of two equal points in the convex
    /// hulls of the two classes.
    pub unbounded: Option<Vec<f64>>,
    /// Statistics of the run.
    pub info: Info,
}

/// Receives the solver's state at each step as a function, and calls it if it wants a copy.
///
/// The state is a [`Solution`] as if the solve were cancelled there, with current variables and thresholds; `output`
/// and `objective` may be some iterations older.
pub type Keep<'a> = dyn FnMut(&dyn Fn() -> Solution) + Send + 'a;

/// Why a method stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Converged,
    Limit,
    Cancelled,
    /// No further progress in f64 arithmetic.
    Stalled,
    /// The variables seem to grow without limit.
    RunsAway,
    /// The objective is unbounded along this pair.
    Unbounded(u32, u32),
}

/// The state that all methods share.
struct Job<'a, 'w> {
    params: &'a Params,
    watch: &'a mut Watch<'w>,
    keep: Option<&'a mut Keep<'w>>,
    max_iter: u64,
    iterations: u64,
    gap: f64,
    kernel_values: u64,
    cancelled: bool,
    /// Whether rows are in full f64 precision.
    exact: bool,
    notes: Vec<Note>,
}

/// Error of an output caused by f32 rows, relative to the norm of the coefficients: the standard deviation of a
/// kernel value's rounding, times the number of standard deviations that the largest of many outputs reaches.
const F32_NOISE: f64 = 8.0 * (f32::EPSILON / 2.0) as f64;

/// A direction counts as flat if its quadratic form is below this fraction of the largest diagonal value: the
/// distance between the convex hulls of a hard-margin machine is then 1e-5 times the data's radius.
const FLAT: f64 = 1e-10;

impl Job<'_, '_> {
    /// Estimated error that f32 rows have brought into the gradient.
    fn noise(&self, state: &State<'_>, local: Option<(&pair::Local, Option<&[u32]>)>) -> f64 {
        if self.exact { 0.0 } else { F32_NOISE * state.scale * state.drift(local) }
    }

    /// The tolerance, plus the rounding of the f32 scores by which pairs are ranked.
    fn tol(&self) -> f64 {
        self.params.tol * (1.0 + 1e-6)
    }

    /// The violation at which a method may stop. Below the tolerance by a margin for rounding noise if possible, and
    /// never below the noise itself, where further iterations would only follow rounding errors.
    fn target(&self, state: &State<'_>) -> f64 {
        let noise = self.noise(state, None);
        if noise <= 0.6 * self.params.tol {
            (self.tol() - 1.2 * noise).max(0.3 * self.params.tol)
        } else {
            self.tol().max(noise)
        }
    }

    /// Whether the variables diverge.
    fn runs_away(&self, state: &State<'_>) -> Option<Outcome> {
        let flat = if self.exact { FLAT } else { F32_NOISE };
        state.runs_away(flat).then_some(Outcome::RunsAway)
    }

    fn left(&self) -> u64 {
        self.max_iter.saturating_sub(self.iterations)
    }

    /// Number of iterations until the whole problem is examined again: all that are left, unless the variables could
    /// diverge.
    fn leash(&self, state: &State<'_>, variables: usize) -> u64 {
        if state.bounded { self.left() } else { self.left().min(16384.max(40 * variables as u64)) }
    }

    /// Offers the current state to the caller's `keep` function, with the values of a local problem inserted if one
    /// is being solved.
    fn offer(&mut self, state: &State<'_>, local: Option<(&Look<'_>, Option<&[u32]>)>) {
        let Some(keep) = &mut self.keep else { return };
        let (iterations, gap) = (self.iterations, self.gap);
        keep(&|| {
            let mut now = state.underway(local);
            let look = local.map(|(look, _)| (iterations + look.iterations, look.gap));
            (now.info.iterations, now.info.gap) = look.unwrap_or((iterations, gap));
            now
        });
    }

    /// Reports progress; breaks if the watcher cancels.
    fn report(&mut self, iterations: u64, gap: f64, support: usize) -> ControlFlow<()> {
        let step = Step::new("solve", iterations, None).gap(gap).centres(support);
        let flow = (self.watch)(&step);
        self.cancelled |= flow.is_break();
        flow
    }
}

/// Where rows come from.
enum Engine<'a> {
    /// The matrix was given by the caller.
    Given(&'a [f32]),
    /// The matrix was computed.
    Filled(Buffer<f32>),
    /// Rows are computed on demand.
    Cached(RowCache<f32>),
}

/// If the whole matrix costs fewer multiply-adds than this, it is computed: selecting rows would cost more.
const CHEAP: f64 = 3e7;

impl<'a> Engine<'a> {
    fn new(problem: &Problem<'a>, params: &Params, job: &mut Job<'_, '_>) -> Self {
        let rows = problem.rows;
        let n = rows.len();
        let bytes = n.saturating_mul(n).saturating_mul(size_of::<f32>());
        if let (Some(whole), true) = (rows.whole(), params.method != Method::WorkingSet) {
            job.notes.push("pairs on the matrix in memory".into());
            return Engine::Given(whole);
        }
        let (half, cost) = ((n * n) as f64 / 2.0, rows.cost());
        let fill = match params.method {
            Method::Smo => true,
            Method::WorkingSet | Method::Chunking => false,
            Method::Auto => bytes <= params.exec.budget() / 2 && half * cost.max(1.0) <= CHEAP,
        };
        if fill {
            job.notes.push(format!("pairs on the full matrix, {} MiB, computed first", bytes >> 20).into());
            let mut whole = Buffer::stale(n * n);
            rows.fill(&mut whole, params.exec);
            job.kernel_values += half as u64 + n as u64 / 2;
            return Engine::Filled(whole);
        }
        // A quarter of the budget is left for gathered rows of working sets and for the vectors of length n.
        let bytes = (params.exec.budget() / 4 * 3).min(RowCache::<f32>::worth_keeping(cost));
        let cache = RowCache::new(n, bytes, working::LEAST_ROOM);
        job.notes.push(format!("working sets, room for {} of {n} rows", cache.capacity()).into());
        Engine::Cached(cache)
    }

    fn solve(&mut self, state: &mut State<'_>, job: &mut Job<'_, '_>) -> Outcome {
        let (rows, exec) = (state.problem.rows, job.params.exec);
        match self {
            Engine::Given(whole) => smo::solve(state, whole, job),
            Engine::Filled(whole) => smo::solve(state, whole, job),
            Engine::Cached(cache) => working::solve(state, cache, job, |r, out| rows.block(r, out, exec)),
        }
    }
}

/// Solves a problem.
///
/// Fails only on invalid problems (lengths, bounds, a start outside the box, values that are not finite). Reaching a
/// limit and being cancelled are reported in [`Solution::info`].
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
    solve_kept(problem, params, watch, None)
}

/// Solves a problem as [`solve`] does, and offers its state at each step.
///
/// A device that takes the problem offers no state before its end.
pub fn solve_kept(
    problem: &Problem<'_>,
    params: &Params,
    watch: &mut Watch<'_>,
    keep: Option<&mut Keep<'_>>,
) -> Result<Solution> {
    if !params.exec.device().is_cpu()
        && let Some(mut solved) = solve_on_device(std::slice::from_ref(problem), params, watch)?
        && let Some(solution) = solved.pop()
    {
        return Ok(solution);
    }
    solve_here(problem, params, watch, keep)
}

/// Solves a problem on the CPU.
fn solve_here(
    problem: &Problem<'_>,
    params: &Params,
    watch: &mut Watch<'_>,
    keep: Option<&mut Keep<'_>>,
) -> Result<Solution> {
    let clock = Instant::now();
    params.check()?;
    problem.check()?;
    let mut state = State::new(problem);
    let total = state.total as u64;
    let mut job = Job {
        params,
        watch,
        keep: match keep {
            Some(keep) => Some(keep),
            None => None,
        },
        max_iter: params.max_iter.unwrap_or(10_000_000.max(100 * total)),
        iterations: 0,
        gap: f64::INFINITY,
        kernel_values: 0,
        cancelled: false,
        exact: !problem.rows.rounded(),
        notes: Vec::new(),
    };
    if state.beta.iter().any(|&b| b != 0.0) {
        state.recompute(params.exec);
        job.kernel_values += (state.support_count() * state.n) as u64;
    }
    let outcome = if params.method == Method::Chunking {
        chunking::solve(&mut state, &mut job)?
    } else {
        let mut engine = Engine::new(problem, params, &mut job);
        if matches!(engine, Engine::Cached(_)) {
            parts::start(&mut state, &mut job);
        }
        exact::run(&mut state, &mut engine, &mut job)
    };
    let objective = state.objective();
    if !objective.is_finite() {
        return Err(mercer_num::Fault::NotFinite { what: "the matrix of a quadratic problem" }.into());
    }
    let stop = match outcome {
        Outcome::Converged => Stop::Converged,
        Outcome::Cancelled => Stop::Cancelled,
        _ => Stop::Limit,
    };
    let unbounded = match outcome {
        Outcome::Unbounded(i, j) => {
            let mut ray = vec![0.0; state.total];
            // The pair's sum is kept, so this direction satisfies the equality constraint.
            (ray[i as usize], ray[j as usize]) = (1.0, -1.0);
            Some(ray)
        }
        Outcome::RunsAway => {
            let mass: f64 = state.beta.iter().map(|b| b.abs()).sum();
            Some(state.beta.iter().map(|b| 2.0 * b / mass).collect())
        }
        _ => None,
    };
    if outcome == Outcome::Stalled {
        job.notes.push("stopped at the precision of f64".into());
    }
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
            device: None,
            held_out: Vec::new(),
        },
        beta: state.beta,
        output: state.f,
    })
}
