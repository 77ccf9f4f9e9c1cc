//! The hard-margin machine, or a proof that the classes overlap.
//!
//! The margin is half the distance between the convex hulls of the two classes in feature space (Bennett and
//! Bredensteiner 2000; Keerthi et al. 2000). So this solves, over convex weights on each class,
//!
//! ```text
//! minimise  1/2 |sum_+ a_i Phi(x_i) - sum_- a_i Phi(x_i)|^2     a >= 0,  sum_+ a = sum_- a = 1
//! ```
//!
//! which has a solution whether or not the classes are separable, without a C that would have to be "large". With `w
//! = sum y_i a_i Phi(x_i)` and `s = min_+ w.x - max_- w.x`, the hulls' distance lies between `s / |w|` and `|w|`.
//! Either s > 0, and w with the middle threshold separates with a margin of at least `s / (2 |w|)`; or |w| converges
//! to 0, and the weights define a point that both hulls share, so that no hyperplane separates. Both cases are
//! verified with kernel values in f64.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::machine::{Margin, Task, again};
use super::params::SvcParams;
use crate::error::Result;
use crate::gram::Rows;
use crate::model::enclosing_radius2;
use crate::solve::{self, Keep, Solution, solve_kept};
use crate::watch::{Stop, Watch};

/// Hulls whose squared distance is below this fraction of the largest squared norm count as overlapping: this is the
/// rounding of f64 sums.
const MEET: f64 = 1e-12;

/// Maximum number of rounds of solving with decreasing tolerance.
const ROUNDS: usize = 24;

/// Whether two classes are separable without error, with a certificate.
#[derive(Debug, Clone, PartialEq)]
pub enum Separation {
    /// Separable, with this margin.
    Separable(Margin),
    /// Not separable: a point common to their hulls.
    Overlap(Overlap),
    /// Not known: the watcher cancelled.
    Unknown,
}

/// Convex weights of a point common to the hulls of two classes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Overlap {
    /// Rows of the first-named class and their weights, which sum to 1.
    pub negative: Vec<(u32, f64)>,
    /// Rows of the other class and their weights, which sum to 1.
    pub positive: Vec<(u32, f64)>,
    /// Distance in feature space between the two weighted sums.
    pub distance: f64,
    /// Largest norm of a row in feature space, for comparison with the distance.
    pub scale: f64,
}

impl Overlap {
    /// The same with other row numbers.
    pub(super) fn renumbered(&self, index: &[usize]) -> Self {
        let side = |rows: &[(u32, f64)]| rows.iter().map(|&(r, w)| (index[r as usize] as u32, w)).collect();
        Overlap { negative: side(&self.negative), positive: side(&self.positive), ..*self }
    }
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "two classes overlap: convex combinations of {} and {} of their rows agree to {:.1e} of the largest norm",
            self.negative.len(),
            self.positive.len(),
            self.distance / self.scale.max(f64::MIN_POSITIVE)
        )
    }
}

/// The result of [`separate`], besides the convex weights.
pub(super) enum Found {
    /// Coefficients are the weights, signed by class, times `scale`.
    Slab { margin: Margin, scale: f64, offset: f64 },
    /// Row numbers are those of the task.
    Meeting(Overlap),
}

/// Separates the two classes, or finds a point where they overlap.
pub(super) fn separate(
    params: &SvcParams,
    task: &Task<'_>,
    start: Option<Vec<f64>>,
    solver: &solve::Params,
    watch: &mut Watch<'_>,
    mut keep: Option<&mut Keep<'_>>,
) -> Result<(Found, Solution)> {
    let mut problem = task.problem(params);
    match start {
        Some(start) => problem.start = Some(start),
        None => problem.start_at_sums(&[-1.0, 1.0])?,
    }
    let n = task.positive.len();
    let largest = task.rows.diag().iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs())) + params.shift;
    let mut rule = solve::Params { tol: 1e-3 * largest, ..solver.clone() };
    let mut spent = (0, 0);
    for round in 1.. {
        let mut found = solve_kept(&problem, &rule, watch, again(&mut keep))?;
        spent = (spent.0 + found.info.iterations, spent.1 + found.info.kernel_values);
        (found.info.iterations, found.info.kernel_values) = spent;
        found.output = exact_output(task.rows, &found.beta, solver);
        let gradient = |i: usize| found.output[i] + params.shift * found.beta[i];
        let w2: f64 = (0..n).map(|i| found.beta[i] * gradient(i)).sum();
        let side =
            |positive: bool| (0..n).filter(move |&i| task.positive[i] == positive && task.weight[i] > 0.0);
        let lowest = side(true).map(gradient).fold(f64::INFINITY, f64::min);
        let highest = side(false).map(gradient).fold(f64::NEG_INFINITY, f64::max);
        let slab = lowest - highest;

        let meet = w2 <= MEET * largest;
        let stuck = found.info.stop != Stop::Converged || round == ROUNDS;
        if !meet && slab > 0.0 && (slab >= (1.0 - params.tol) * w2 || stuck) {
            let cancelled = found.info.stop == Stop::Cancelled;
            let radius = if cancelled { f64::NAN } else { radius(task, solver, watch)? };
            let margin = Margin { width: slab / (2.0 * w2.sqrt()), at_most: w2.sqrt() / 2.0, radius };
            let (scale, offset) = (2.0 / slab, -(lowest + highest) / slab);
            return Ok((Found::Slab { margin, scale, offset }, found));
        }
        if meet || stuck {
            let weights = |positive: bool| {
                side(positive).map(|i| (i as u32, found.beta[i].abs())).filter(|(_, b)| *b > 0.0).collect()
            };
            let overlap = Overlap {
                negative: weights(false),
                positive: weights(true),
                distance: w2.max(0.0).sqrt(),
                scale: largest.sqrt(),
            };
            return Ok((Found::Meeting(overlap), found));
        }
        // Continue with a tolerance at which the next slab would be accurate enough if |w| did not change.
        rule.tol = (0.25 * params.tol * w2).min(rule.tol / 4.0);
        problem.start = Some(found.beta);
    }
    unreachable!("the last round returns")
}

/// `K beta` with kernel values in f64.
fn exact_output(rows: &dyn Rows, beta: &[f64], solver: &solve::Params) -> Vec<f64> {
    let (support, coef): (Vec<u32>, Vec<f64>) =
        (0u32..).zip(beta).filter(|(_, b)| **b != 0.0).map(|(i, b)| (i, *b)).unzip();
    let mut output = vec![0.0; beta.len()];
    rows.apply(&support, &coef, &mut output, solver.exec);
    output
}

/// The radius of a sphere that contains all rows with a weight (Schoelkopf 1997, section 2.6.1).
fn radius(task: &Task<'_>, solver: &solve::Params, watch: &mut Watch<'_>) -> Result<f64> {
    let keep: Vec<u32> = (0u32..).zip(task.weight).filter(|(_, w)| **w > 0.0).map(|(i, _)| i).collect();
    let (radius2, _) = if keep.len() == task.weight.len() {
        enclosing_radius2(task.rows, solver.exec, watch)?
    } else {
        enclosing_radius2(task.rows.subset(&keep).as_ref(), solver.exec, watch)?
    };
    Ok(radius2.sqrt())
}
