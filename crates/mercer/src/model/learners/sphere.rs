//! Enclosing spheres in feature space: the smallest that contains all rows, and a soft one that contains most.
//!
//! ```text
//! minimise over centre c and R    R^2 + 1 / (nu sum w) sum_i w_i max(0, |Phi(x_i) - c|^2 - R^2)
//! dual        b' K b - sum_i b_i K_ii,    0 <= b_i <= w_i / (nu sum w),    sum b = 1,    c = sum_i b_i Phi(x_i)
//! decision    R^2 - |Phi(x) - c|^2: positive inside
//! ```
//!
//! With nu = 0 no row may lie outside (Schoelkopf 1997, section 2.6.1); bounds of the form `R^2 |w|^2` use this
//! radius. With positive nu at most a share nu of the rows lies outside (Tax and Duin 1999). If k(x, x) is constant,
//! the soft sphere and the one-class hyperplane with the same nu are the same machine: decision values differ by the
//! factor `2 / (nu n)`. Cost: the solver's.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::Rows;
use crate::kernel::Kernel;
use crate::model::learners::dual::{self, Dual, Exact, bounded};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Ball, Learner, Machine, Readout, Role, Sample};
use crate::solve::{self, Groups, Problem, Shift, Solution};
use crate::watch::Watch;

params! {
    /// Parameters of a sphere. See [`SphereParams::TABLE`] for ranges.
    pub struct SphereParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        nu: f64 = 0.0, Within(0.0, 1.0) => "upper bound on the fraction of rows outside; 0 encloses all";
        /// Stopping tolerance: maximum KKT violation, relative to the data's squared diameter and to the largest
        /// weight of a row.
        tol: f64 = 1e-4, Above(0.0), "0.0001" => "stopping tolerance (maximum KKT violation, relative to the squared diameter)";
        max_iter: Option<u64> = None, WholeOrNone(1), "none" => "maximum iterations";
        /// Whether variables that are unlikely to change are removed for a while (shrinking).
        shrinking: bool = true, Flag => "use shrinking";
    }
}

/// Fraction of the tolerance to which a hard sphere is solved: the tolerance is relative to a squared distance that
/// may be four times the squared radius, which is then accurate to half the tolerance.
const HARD: f64 = 1.0 / 16.0;

/// The same for a soft sphere, as a fraction of the largest weight of a row. With a narrow Gaussian nearly all rows
/// lie close to the sphere, and the remaining violation decides on which side new rows fall. On normal rows in 2 to 8
/// columns this changes at most 4 labels in 10,000, for up to three times the time. Where the kernel matrix is nearly
/// singular (two columns, gamma 5) 6 in 10,000 were observed, and ten to forty times the time.
const SOFT: f64 = 1.0 / 1000.0;

/// R^2 of the smallest sphere around all rows of a kernel matrix, and the convex weights of its centre.
///
/// R^2 is the largest squared distance of a row from that centre, so the sphere contains all rows for any tolerance;
/// it exceeds the smallest possible by at most about `tol` times the squared diameter.
pub fn enclosing_radius2(rows: &dyn Rows, exec: Exec, watch: &mut Watch<'_>) -> Result<(f64, Vec<f64>)> {
    let n = rows.len();
    if n == 0 {
        return Err(Error::shape("rows to enclose", 0, "at least 1"));
    }
    let (params, weights) = (SphereParams::default(), vec![1.0; n]);
    let (problem, solver) = params.posed(rows, &weights, exec)?;
    let found = solve::solve_kept(&problem, &solver, watch, None)?;
    let ball = params.ball(rows, &weights, &found, exec);
    Ok((ball.radius2, found.beta))
}

impl SphereParams {
    /// Fits on the sample's points and weights; targets are ignored.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        dual::fit(self, sample, None, exec, watch)
    }

    /// Resumes a fit of the same parameters on the same sample from its machine's checkpoint.
    pub fn resume(
        &self,
        sample: Sample<'_>,
        checkpoint: &[f64],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        dual::fit(self, sample, Some(checkpoint), exec, watch)
    }

    /// Fits from the solution of another fit on the same rows.
    pub(in crate::model) fn fit_near(
        &self,
        sample: Sample<'_>,
        near: &Machine,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        dual::fit_near(self, sample, near, 1.0, exec, watch)
    }

    /// Upper bounds of the weights; infinite for a hard sphere, which may depend on one row alone.
    fn boxes(&self, weights: &[f64]) -> Vec<f64> {
        let sum: f64 = weights.iter().sum();
        let bound = |w: f64| if self.nu > 0.0 { w / (self.nu * sum) } else { f64::from(u8::from(w > 0.0)) };
        weights.iter().map(|&w| bound(w)).collect()
    }

    /// The problem on rows with these weights, and the solver's parameters.
    fn posed<'r>(
        &self,
        rows: &'r dyn Rows,
        weights: &[f64],
        exec: Exec,
    ) -> Result<(Problem<'r>, solve::Params)> {
        let n = rows.len();
        let diag = rows.diag();
        let upper = self.boxes(weights);
        // The largest squared distance from one row is between a quarter of the squared diameter and all of it.
        let first = weights.iter().position(|&w| w > 0.0).unwrap_or(0);
        let mut across = vec![0.0; n];
        rows.apply(&[first as u32], &[1.0], &mut across, exec);
        let far = (0..n).filter(|&i| weights[i] > 0.0).map(|i| diag[i] + diag[first] - 2.0 * across[i]);
        let scale = far.fold(0.0, f64::max);
        if !scale.is_finite() {
            return Err(crate::num::Fault::NotFinite { what: "kernel matrix" }.into());
        }
        let mut problem = Problem {
            rows,
            linear: diag.iter().map(|k| -k / 2.0).collect(),
            lower: vec![0.0; n],
            upper,
            groups: Groups::One,
            shift: Shift::None,
            start: None,
        };
        problem.start_at_sums(&[1.0])?;
        // Weights of a soft sphere are at most 1 / (nu n), and the gradient scales with them: a violation of tol in
        // the one-class hyperplane, whose weights go up to 1, corresponds to that fraction of tol here. A hard
        // sphere's radius is that of the farthest row, whose squared distance is off by twice the violation.
        let most = match self.nu {
            0.0 => HARD,
            _ => SOFT * problem.upper.iter().copied().fold(0.0, f64::max).min(1.0),
        };
        let tol = (self.tol * scale * most).max(f64::MIN_POSITIVE);
        Ok((problem, solve::Params::new(tol, self.max_iter, self.shrinking, exec)))
    }

    /// Radius and norm of a solution's sphere.
    fn ball(&self, rows: &dyn Rows, weights: &[f64], found: &Solution, exec: Exec) -> Ball {
        let (diag, exact) = (rows.diag(), Exact::new(rows, &found.beta, exec));
        let norm2: f64 = found.beta.iter().zip(&exact.output).map(|(b, f)| b * f).sum();
        let distance2 = |i: usize| (diag[i] - 2.0 * exact.output[i] + norm2).max(0.0);
        // If all rows must be inside, none of them is at its upper bound.
        let unbounded = || weights.iter().map(|&w| if w > 0.0 { f64::INFINITY } else { 0.0 }).collect();
        let upper = if self.nu > 0.0 { self.boxes(weights) } else { unbounded() };
        // The gradient is f_i - K_ii / 2.
        let middle = 2.0 * found.thresholds[0].value() - norm2;
        let radius2 = -exact.threshold(|i| -distance2(i), &found.beta, &upper, middle);
        Ball { radius2: radius2.max(0.0), norm2 }
    }
}

impl Dual for SphereParams {
    fn pose<'r>(
        &self,
        given: &Given<'_>,
        rows: &'r dyn Rows,
        weights: &[f64],
    ) -> Result<(Problem<'r>, solve::Params)> {
        self.posed(rows, weights, given.exec)
    }

    fn machine(
        &self,
        given: &Given<'_>,
        rows: &dyn Rows,
        weights: &[f64],
        coef: Vec<f64>,
        found: Solution,
    ) -> Result<Machine> {
        let readout = Readout::Ball(self.ball(rows, weights, &found, given.exec));
        let bounded = if self.nu > 0.0 { bounded(&coef, &self.boxes(weights)) } else { 0.0 };
        let centre = Expansion::new(given.kernel.clone(), given.sample.points.clone(), coef, vec![0.0])?;
        let mut machine = Machine::new(centre, Role::Novelty, Learner::Sphere(self.clone()), found.info);
        machine.tell("bounded", bounded);
        Ok(Machine { readout, ..machine })
    }
}
