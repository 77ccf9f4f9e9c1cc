//! One two-class machine: from labels and weights to the quadratic problem, and from its solution to `f(x)`.
//!
//! With y = +1 and -1, coefficients `beta_i = y_i alpha_i` and weights v_i (row weight times class weight), it is to
//! minimise `1/2 beta' (K + S) beta + q' beta` where
//!
//! ```text
//! C, linear slack     q = -y,  0 <= y_i beta_i <= C v_i,  sum beta = 0,  S = shift      (Cortes and Vapnik 1995)
//! C, squared slack    q = -y,  0 <= y_i beta_i,           sum beta = 0,  S = shift + 1 / (C v_i)
//! nu                  q = 0,   0 <= y_i beta_i <= v_i,    sum of each class = y nu sum(v) / 2
//!                                                         (Schoelkopf, Smola, Williamson and Bartlett 2000)
//! ```
//!
//! and `f(x) = sum_i beta_i k(x_i, x) + b`. The nu-machine's f is divided by its margin rho, so that in all three cases
//! f = +1 and f = -1 are the margins. The hard margin has a file of its own. A C-machine under the linear kernel on many
//! rows needs no matrix: coordinate descent works on the rows themselves.

use serde::{Deserialize, Serialize};

use super::hard_margin::{self, Found, Overlap};
use super::params::{Kind, Slack, SvcParams};
use super::vectors::PointRows;
use crate::error::{Error, Result};
use crate::gram::Rows;
use crate::solve::{
    self, DescentParams, Groups, Keep, LinearProblem, Problem, Shift, Solution, Vectors, descend, solve_kept,
};
use crate::watch::{Info, Stop, Watch};

/// Two classes and the matrix of their rows.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) rows: &'a dyn Rows,
    /// The rows' points, if the kernel is linear and there are so many that training without a matrix is better.
    pub(super) vectors: Option<PointRows<'a>>,
    /// Whether a row belongs to the positive class.
    pub(super) positive: &'a [bool],
    /// v: a row of weight 0 is not trained on, but f is computed for it.
    pub(super) weight: &'a [f64],
    /// The classes' names, for messages: negative, positive.
    pub(super) names: [&'a str; 2],
}

/// The solution of a machine.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    /// The solver's variables, for resuming.
    pub(super) beta: Vec<f64>,
    /// Coefficients are beta times this.
    pub(super) scale: f64,
    /// b.
    pub(super) offset: f64,
    /// f on the machine's own rows, b included.
    pub(super) output: Vec<f64>,
    /// The margin, for hard-margin machines.
    pub(super) margin: Option<Margin>,
    /// The point where the classes overlap, if there is no margin. Row numbers are those of the task.
    pub(super) overlap: Option<Overlap>,
    pub(super) info: Info,
}

/// The certificate of a hard margin: the widest slab between two classes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Margin {
    /// Distance of the nearest training row from the hyperplane in feature space: a lower bound of the margin.
    pub width: f64,
    /// Upper bound of half the distance between the two classes' convex hulls: no hyperplane has a larger margin.
    pub at_most: f64,
    /// Radius of a sphere in feature space that contains all rows of the machine.
    pub radius: f64,
}

impl Task<'_> {
    fn sign(&self, row: usize) -> f64 {
        if self.positive[row] { 1.0 } else { -1.0 }
    }

    /// The problem of a linear C-machine on the rows themselves.
    fn linear(&self, params: &SvcParams) -> LinearProblem {
        let n = self.positive.len();
        let labels: Vec<f64> = (0..n).map(|i| self.sign(i)).collect();
        let bound: Vec<f64> = (0..n).map(|i| self.bound(params, i)).collect();
        LinearProblem { shift: self.shift(params), ..LinearProblem::classify(&labels, &bound, true) }
    }

    /// The largest `|beta|` of a row.
    pub(super) fn bound(&self, params: &SvcParams, row: usize) -> f64 {
        let v = self.weight[row];
        match (params.kind, params.slack) {
            _ if v == 0.0 => 0.0,
            (Kind::C, Slack::Linear) => params.c * v,
            (Kind::Nu, _) => v,
            (Kind::C, Slack::Squared) | (Kind::Hard, _) => f64::INFINITY,
        }
    }

    /// The sum of weights of each class: negative, positive. Fails if a class has none.
    pub(super) fn class_weight(&self) -> Result<[f64; 2]> {
        let mut sum = [0.0; 2];
        for (&positive, &v) in self.positive.iter().zip(self.weight) {
            sum[usize::from(positive)] += v;
        }
        match sum.iter().position(|&s| s <= 0.0) {
            Some(side) => {
                Err(Error::param(format!("weight of class {}", self.names[side]), 0, "above 0 for a row"))
            }
            None => Ok(sum),
        }
    }

    /// The name of a class with a single row.
    pub(super) fn lonely(&self) -> Option<&str> {
        let rows = |side: bool| {
            self.positive.iter().zip(self.weight).filter(|&(&p, &v)| p == side && v > 0.0).count()
        };
        [false, true].into_iter().find(|&side| rows(side) == 1).map(|side| self.names[usize::from(side)])
    }

    /// What is added to the matrix's diagonal.
    fn shift(&self, params: &SvcParams) -> Shift {
        match (params.kind, params.slack) {
            (Kind::C, Slack::Squared) => {
                let own = |v: f64| if v > 0.0 { 1.0 / (params.c * v) } else { 0.0 };
                Shift::Each(self.weight.iter().map(|&v| params.shift + own(v)).collect())
            }
            _ if params.shift > 0.0 => Shift::Same(params.shift),
            _ => Shift::None,
        }
    }

    /// The quadratic problem, before its start.
    pub(super) fn problem(&self, params: &SvcParams) -> Problem<'_> {
        let n = self.positive.len();
        let bound: Vec<f64> = (0..n).map(|i| self.bound(params, i)).collect();
        let labels: Vec<f64> = (0..n).map(|i| self.sign(i)).collect();
        let mut problem = Problem::classify(self.rows, &labels, &bound);
        // 0 times infinity is NaN, which is no bound.
        problem.lower.iter_mut().for_each(|v| *v = if *v == 0.0 { 0.0 } else { *v });
        problem.shift = self.shift(params);
        if params.kind != Kind::C {
            problem.linear.fill(0.0);
            problem.groups = Groups::ByRow(self.positive.iter().map(|&p| u8::from(p)).collect());
        }
        problem
    }
}

/// Solves a machine, from a start of the same or a similar problem if there is one.
pub(super) fn train(
    params: &SvcParams,
    task: &Task<'_>,
    start: Option<Vec<f64>>,
    solver: &solve::Params,
    watch: &mut Watch<'_>,
    keep: Option<&mut Keep<'_>>,
) -> Result<Solved> {
    let [negative, positive] = task.class_weight()?;
    match params.kind {
        Kind::C => {
            let mut problem = task.problem(params);
            if let Some(start) = start {
                problem.start_near(start)?;
            }
            if task.vectors.is_some() && !solver.exec.device().is_cpu() {
                let found = solve::solve_on_device(std::slice::from_ref(&problem), solver, watch)?;
                if let Some(found) = found.and_then(|mut found| found.pop()) {
                    return Ok(soft(found));
                }
            }
            if let Some(x) = &task.vectors
                && let Some(solved) = train_linear(params, task, x, problem.start.as_ref(), solver, watch)?
            {
                return Ok(solved);
            }
            Ok(soft(solve_kept(&problem, solver, watch, keep)?))
        }
        Kind::Nu => {
            let all = negative + positive;
            let most = 2.0 * negative.min(positive) / all;
            if params.nu > most * (1.0 + 1e-12) {
                let allowed = format!("at most {most} to separate {} from {}", task.names[0], task.names[1]);
                return Err(Error::param("nu", params.nu, allowed));
            }
            let mut problem = task.problem(params);
            // Rounding must not require more of a class than its rows can carry.
            let half = (params.nu * all / 2.0).min(negative).min(positive);
            problem.start_at_sums(&[-half, half])?;
            if let Some(start) = start {
                problem.start_near(start)?;
            }
            train_nu(problem, solver, watch, keep)
        }
        Kind::Hard => {
            let (what, found) = hard_margin::separate(params, task, start, solver, watch, keep)?;
            let whole = found.info.stop != Stop::Cancelled;
            Ok(match what {
                Found::Slab { margin, scale, offset } => {
                    Solved { margin: whole.then_some(margin), ..scaled(found, scale, offset) }
                }
                Found::Meeting(overlap) => {
                    Solved { overlap: whole.then_some(overlap), ..scaled(found, 1.0, 0.0) }
                }
            })
        }
    }
}

/// A C-machine from its solution.
pub(super) fn soft(found: Solution) -> Solved {
    let offset = -found.thresholds.first().map_or(0.0, solve::Threshold::value);
    scaled(found, 1.0, offset)
}

/// Number of epochs after which coordinate descent is considered unsuitable for the problem (badly scaled columns, a
/// huge C).
const EPOCHS: u64 = 1000;

/// A linear C-machine by coordinate descent; `None` if that did not converge.
fn train_linear(
    params: &SvcParams,
    task: &Task<'_>,
    x: &PointRows<'_>,
    start: Option<&Vec<f64>>,
    solver: &solve::Params,
    watch: &mut Watch<'_>,
) -> Result<Option<Solved>> {
    let n = x.len();
    let problem = LinearProblem { start: start.cloned(), ..task.linear(params) };
    let rule = DescentParams {
        // Two variables that each violate by half violate by the whole as a pair.
        tol: solver.tol / 2.0,
        max_epochs: solver.max_iter.map_or(EPOCHS, |most| (most / n as u64).clamp(1, EPOCHS)),
        shrinking: params.shrinking,
        seed: params.seed,
    };
    let found = descend(x, &problem, &rule, watch)?;
    if found.info.stop == Stop::Limit && params.max_iter.is_none() {
        return Ok(None);
    }
    Ok(Some(Solved {
        output: (0..n).map(|i| x.dot(i, &found.w) + found.b).collect(),
        beta: found.beta,
        scale: 1.0,
        offset: found.b,
        margin: None,
        overlap: None,
        info: found.info,
    }))
}

/// Refines the same C-machine under the linear kernel or a given matrix if that is cheap: its labels are then those
/// of the exact solution for any tolerance.
pub(super) fn sharpened<V: Vectors>(params: &SvcParams, task: &Task<'_>, x: &V, solved: Solved) -> Solved {
    if params.kind != Kind::C || solved.info.stop != Stop::Converged || solved.scale != 1.0 {
        return solved;
    }
    let problem = task.linear(params);
    let Some(found) = solve::sharpen(x, &problem, solved.beta.clone(), solved.offset, params.tol) else {
        return solved;
    };
    let mut info = solved.info;
    info.objective = Some(found.objective);
    info.gap = info.gap.min(2.0 * found.info.gap);
    Solved {
        output: (0..x.len()).map(|i| x.dot(i, &found.w) + found.b).collect(),
        beta: found.beta,
        offset: found.b,
        info,
        ..solved
    }
}

/// Solves a nu-machine with a tolerance that also holds after f is divided by the margin rho, which may be small and
/// is not known in advance.
fn train_nu(
    mut problem: Problem<'_>,
    solver: &solve::Params,
    watch: &mut Watch<'_>,
    mut keep: Option<&mut Keep<'_>>,
) -> Result<Solved> {
    let mut rule = solver.clone();
    let mut spent = (0, 0);
    loop {
        let mut found = solve_kept(&problem, &rule, watch, again(&mut keep))?;
        spent = (spent.0 + found.info.iterations, spent.1 + found.info.kernel_values);
        (found.info.iterations, found.info.kernel_values) = spent;
        let (low, high) = (found.thresholds[0].value(), found.thresholds[1].value());
        let (rho, offset) = ((high - low) / 2.0, -f64::midpoint(low, high));
        let wanted = solver.tol * rho.abs().min(1.0);
        let degenerate = rule.tol <= FINEST * solver.tol;
        if rule.tol > wanted && !degenerate && found.info.stop == Stop::Converged {
            // A margin dominated by error gives little information on the required tolerance.
            rule.tol = (wanted * 0.9).max(rule.tol * 1e-2);
            problem.start = Some(found.beta);
            continue;
        }
        let scale = per_margin(rho, rule.tol);
        if rho <= 0.0 || degenerate {
            found.info.note(format!("nu: the margin is {rho:.1e}, so outputs are not exact at its scale"));
        }
        return Ok(scaled(found, scale, offset * scale));
    }
}

/// What a nu-machine's f is multiplied with. Under an indefinite kernel the margin may be negative, and dividing by it puts
/// the classes on their sides all the same, as in LIBSVM; a margin of 0 but for the tolerance has no sign.
fn per_margin(rho: f64, tol: f64) -> f64 {
    if rho > 0.0 || rho < -10.0 * tol { 1.0 / rho } else { 1.0 }
}

/// The same `keep` function for another solve.
pub(super) fn again<'k>(keep: &'k mut Option<&mut Keep<'_>>) -> Option<&'k mut Keep<'k>> {
    match keep {
        Some(keep) => Some(&mut **keep),
        None => None,
    }
}

impl Solved {
    /// A machine in training, in its current state.
    pub(super) fn underway(params: &SvcParams, now: Solution) -> Self {
        let level: Vec<f64> = now.thresholds.iter().map(solve::Threshold::value).collect();
        match (params.kind, level.as_slice()) {
            // Each class has its own level, and the margin is between them.
            (Kind::Nu | Kind::Hard, &[low, high]) => {
                let (rho, offset) = ((high - low) / 2.0, -f64::midpoint(low, high));
                let scale = per_margin(rho, params.tol);
                scaled(now, scale, offset * scale)
            }
            (_, level) => scaled(now, 1.0, -level.first().copied().unwrap_or(0.0)),
        }
    }
}

/// Smallest tolerance of a nu-machine, as a fraction of the requested one.
const FINEST: f64 = 1e-8;

fn scaled(found: Solution, scale: f64, offset: f64) -> Solved {
    let objective = found.objective * scale * scale;
    Solved {
        output: found.output.iter().map(|f| f * scale + offset).collect(),
        beta: found.beta,
        scale,
        offset,
        margin: None,
        overlap: None,
        info: Info { objective: Some(objective), ..found.info },
    }
}
