//! Common code of machines whose dual is a single quadratic problem: one-class hyperplanes, spheres, regression.
//!
//! Rows of the kernel matrix, the problem on them, a start (a checkpoint's, where a fit is resumed), the solve with
//! its checkpoints, and the machine that a solution is. Learners differ in the problem and in how its solution is
//! interpreted.

use super::Declared;
use super::common::{go_on_from, support};
use super::given::Given;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::model::{Checkpoint, Machine, Sample};
use crate::solve::{self, Problem, Solution};
use crate::watch::{Stop, Watch};

/// A machine whose dual is a single quadratic problem.
pub(super) trait Dual: Declared + Sync {
    /// The problem on rows of a kernel matrix with these weights and a start, and the solver's parameters.
    fn pose<'r>(
        &self,
        given: &Given<'_>,
        rows: &'r dyn Rows,
        weights: &[f64],
    ) -> Result<(Problem<'r>, solve::Params)>;

    /// The machine of a solution; a row's coefficient is the sum of its variables.
    fn machine(
        &self,
        given: &Given<'_>,
        rows: &dyn Rows,
        weights: &[f64],
        coef: Vec<f64>,
        found: Solution,
    ) -> Result<Machine>;
}

/// Fits, from a checkpoint if there is one.
pub(super) fn fit(
    dual: &impl Dual,
    sample: Sample<'_>,
    from: Option<&[f64]>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    fit_from(dual, sample, |problem| go_on_from(problem, from), exec, watch)
}

/// Fits from coefficients of another fit, multiplied by `times`.
pub(super) fn fit_near(
    dual: &impl Dual,
    sample: Sample<'_>,
    near: &Machine,
    times: f64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let Some(coef) = row_coefficients(near, sample.points.len(), 1) else {
        return fit(dual, sample, None, exec, watch);
    };
    let begin = |problem: &mut Problem<'_>| {
        // Two variables per row are the coefficient's positive and negative parts.
        let side = |up: bool| coef.iter().map(move |c| times * if up { c.max(0.0) } else { c.min(0.0) });
        let guess = match problem.sides() {
            2 => side(true).chain(side(false)).collect(),
            _ => coef.iter().map(|c| times * c).collect(),
        };
        problem.start_near(guess)
    };
    fit_from(dual, sample, begin, exec, watch)
}

/// Coefficients of all n training rows, n x outputs, of a machine whose centres are training rows; none where they are not.
pub(super) fn row_coefficients(machine: &Machine, n: usize, outputs: usize) -> Option<Vec<f64>> {
    let (support, k) = (&machine.support, machine.expansion.outputs());
    let held = if machine.dual.0.is_empty() { machine.expansion.coef() } else { &machine.dual.0 };
    let known = !support.is_empty() && !machine.origin.compressed && held.len() == support.len() * k;
    if !known || k != outputs || support.iter().any(|&row| row as usize >= n) {
        return None;
    }
    let mut coef = vec![0.0; n * k];
    for (&row, held) in support.iter().zip(held.chunks(k)) {
        coef[row as usize * k..][..k].copy_from_slice(held);
    }
    Some(coef)
}

fn fit_from(
    dual: &impl Dual,
    sample: Sample<'_>,
    begin: impl Fn(&mut Problem<'_>) -> Result<()>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Machine> {
    let given = Given::new(dual, sample, exec)?;
    let n = sample.points.len();
    let weights: Vec<f64> = (0..n).map(|i| sample.weight(i)).collect();
    if weights.iter().all(|&w| w == 0.0) {
        return Err(Error::param("row weights", 0, "above 0 for at least one row"));
    }
    given.on_rows(|rows| {
        let (mut problem, params) = dual.pose(&given, rows, &weights)?;
        begin(&mut problem)?;
        let machine = |found: Solution| {
            let coef: Vec<f64> = (0..n).map(|i| found.beta.iter().skip(i).step_by(n).sum()).collect();
            let unfinished = found.info.stop != Stop::Converged;
            let checkpoint = unfinished.then(|| Checkpoint::Variables(found.beta.clone()));
            let support = support(&coef);
            let machine = dual.machine(&given, rows, &weights, coef, found)?;
            Ok::<_, Error>(given.timed(Machine { support, checkpoint, ..machine }))
        };
        let mut keep = |now: &dyn Fn() -> Solution| {
            let Some(keeper) = sample.keeper.filter(|keeper| keeper.is_due()) else { return };
            if let Ok(machine) = machine(now()) {
                keeper.take(machine);
            }
        };
        machine(solve::solve_kept(&problem, &params, watch, Some(&mut keep))?)
    })
}

/// The number of coefficients at their bound.
pub(super) fn bounded(coef: &[f64], bounds: &[f64]) -> f64 {
    coef.iter().zip(bounds).filter(|(c, bound)| **c != 0.0 && c.abs() >= **bound).count() as f64
}

/// Rounding error of an output, relative to the sum of absolute values of its terms.
const ROUNDING: f64 = 1e-14;

/// The outputs `K coef` in f64; a solver's own outputs may be based on f32 values.
pub(super) struct Exact {
    pub(super) output: Vec<f64>,
    /// Allowed difference between outputs computed with another order of summation, such as in prediction; positive.
    pub rounding: f64,
}

impl Exact {
    pub(super) fn new(rows: &dyn Rows, coef: &[f64], exec: Exec) -> Self {
        let held = support(coef);
        let some: Vec<f64> = held.iter().map(|&i| coef[i as usize]).collect();
        let mut output = vec![0.0; rows.len()];
        rows.apply(&held, &some, &mut output, exec);
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let total: f64 = some.iter().map(|c| c.abs()).sum();
        // The diagonal bounds all values of a positive definite kernel; for other kernels the outputs are used
        // instead.
        let size = (total.max(1.0) * largest(&rows.diag())).max(largest(&output));
        Exact { output, rounding: (ROUNDING * size).max(f64::MIN_POSITIVE) }
    }

    /// The threshold on `score`, a value per row, for which nu's bound holds exactly: rows below their upper bound
    /// have scores above it.
    ///
    /// Free rows have scores equal to the threshold only up to the tolerance: about half of them are below their mean
    /// and would count as outliers, and rows without a coefficient may be slightly below it too. The sum of the
    /// coefficients limits the share of rows at their upper bound to nu, so only these may be outside. The threshold
    /// moves by at most the remaining KKT violation. Without free rows, any threshold that separates the rows at the
    /// two bounds is optimal, and `middle` is used if it does.
    pub(super) fn threshold(
        &self,
        score: impl Fn(usize) -> f64,
        coef: &[f64],
        upper: &[f64],
        middle: f64,
    ) -> f64 {
        let below = || (0..coef.len()).filter(|&i| coef[i] < upper[i]);
        match below().map(score).reduce(f64::min) {
            Some(lowest) if below().any(|i| coef[i] > 0.0) => lowest - self.rounding,
            Some(lowest) => middle.min(lowest - self.rounding),
            None => middle,
        }
    }
}
