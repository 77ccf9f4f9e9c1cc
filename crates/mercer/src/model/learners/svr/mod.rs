//! Support vector regression with five losses.
//!
//! ```text
//! minimise over f   1/2 |w|^2 + C sum_i w_i loss(y_i - f(x_i)),      f(x) = w . Phi(x) + b
//!
//! epsilon   max(0, |r| - epsilon)                          zero within a tube (Vapnik 1995)
//! nu        the same, with epsilon found such that at most a share nu of the rows lies outside the tube and at
//!           least a share nu are support vectors (Schoelkopf, Smola, Williamson and Bartlett 2000)
//! laplace   |r|
//! huber     r^2 / (2 delta) while |r| <= delta, then |r| - delta / 2        (Huber 1964)
//! squared   r^2 / 2: kernel ridge regression with an offset, lambda = 1 / C
//! ```
//!
//! The duals are one quadratic problem in `beta_i = alpha_i - alpha_i*` (Mueller et al. 2001, section IV): two
//! variables per row with a tube, one without; Huber's loss adds `delta / C` to the diagonal. The solver's tolerance
//! and the scale of C are LIBSVM's (its nu-SVR, too: the boxes are C, and the sum of all |beta| is nu C n). Cost:
//! that of the solver, or n^3 / 3 for the squared loss.

mod params;
mod virtuals;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::Rows;
use crate::model::classified::check_reals;
use crate::model::common::kernel_or_default;
use crate::model::learners::dual::{self, Dual, bounded};
use crate::model::learners::given::Given;
use crate::model::learners::ridge::RidgeParams;
use crate::model::svc::collapsed_with_dual;
use crate::model::{Learner, Machine, Role, Sample};
use crate::solve::{self, Groups, Problem, Shift, Solution};
use crate::watch::Watch;

pub use params::SvrParams;

/// The loss. See the module's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Zero within a tube of half-width `epsilon`.
    #[default]
    Epsilon,
    /// A tube whose width follows from `nu`.
    Nu,
    /// The absolute error.
    Laplace,
    /// Quadratic near 0, then linear.
    Huber,
    /// The squared error.
    Squared,
}

impl Loss {
    /// All losses by name.
    pub const NAMES: &'static [&'static str] = &["epsilon", "nu", "laplace", "huber", "squared"];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl SvrParams {
    /// Fits on the sample's points, real targets and weights.
    ///
    /// ```
    /// use mercer::data::{Points, Targets};
    /// use mercer::model::{Sample, SvrParams};
    /// use mercer::{Exec, watch};
    ///
    /// let points = Points::dense(vec![0.0, 1.0, 2.0, 3.0], 1)?;
    /// let targets = Targets::Reals(vec![1.0, 3.0, 5.0, 7.0]);
    /// let params = SvrParams { kernel: Some("linear".parse()?), c: 100.0, epsilon: 0.01, ..SvrParams::default() };
    /// let model = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// let at = Points::dense(vec![10.0], 1)?;
    /// assert!((model.decision(at.view(), Exec::one())?[0] - 21.0).abs() < 0.1);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        if !self.virtual_vectors.is_empty() {
            // Such fits cannot be resumed, so no checkpoints are kept.
            return virtuals::fit(self, Sample { keeper: None, ..sample }, exec, watch);
        }
        self.fit_from(sample, None, exec, watch)
    }

    /// Resumes an interrupted fit of the same parameters on the same sample from its model's `checkpoint`. Not
    /// supported with virtual vectors.
    pub fn resume(
        &self,
        sample: Sample<'_>,
        checkpoint: &[f64],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        self.fit_from(sample, Some(checkpoint), exec, watch)
    }

    /// Fits from the solution of another fit on the same rows; for another C its coefficients are scaled.
    pub(in crate::model) fn fit_near(
        &self,
        sample: Sample<'_>,
        near: &Machine,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let Learner::Svr(before) = &near.learner else { return self.fit(sample, exec, watch) };
        if !self.virtual_vectors.is_empty() || self.loss == Loss::Squared {
            return self.fit(sample, exec, watch);
        }
        self.check_sample(&sample)?;
        dual::fit_near(self, sample, near, self.c / before.c, exec, watch)
    }

    fn fit_from(
        &self,
        sample: Sample<'_>,
        from: Option<&[f64]>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        self.check_sample(&sample)?;
        if self.loss == Loss::Squared {
            return self.fit_squared(sample, exec, watch);
        }
        dual::fit(self, sample, from, exec, watch)
    }

    fn check_sample(&self, sample: &Sample<'_>) -> Result<()> {
        self.check()?;
        sample.check()?;
        let targets = sample.targets.reals()?;
        check_reals(targets, 0..targets.len())
    }

    /// The dual problem.
    fn problem<'r>(&self, rows: &'r dyn Rows, targets: &[f64], c: &[f64]) -> Result<Problem<'r>> {
        let one_side = |shift: Shift| Problem {
            rows,
            linear: targets.iter().map(|y| -y).collect(),
            lower: c.iter().map(|c| -c).collect(),
            upper: c.to_vec(),
            groups: Groups::One,
            shift,
            start: None,
        };
        match self.loss {
            Loss::Epsilon if self.epsilon > 0.0 => Ok(Problem::regress(rows, targets, self.epsilon, c)),
            // Without a tube both sides of a row share one variable.
            Loss::Epsilon | Loss::Laplace | Loss::Squared => Ok(one_side(Shift::None)),
            Loss::Huber => {
                // A row of weight 0 stays at 0, whatever its diagonal entry.
                let shift = c.iter().map(|&c| if c > 0.0 { self.delta / c } else { 0.0 }).collect();
                Ok(one_side(Shift::Each(shift)))
            }
            Loss::Nu => {
                let mut problem = Problem::regress(rows, targets, 0.0, c);
                problem.groups = Groups::BySide;
                let half = self.nu * c.iter().sum::<f64>() / 2.0;
                problem.start_at_sums(&[half, -half])?;
                Ok(problem)
            }
        }
    }

    fn fit_squared(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let kernel = kernel_or_default(self.kernel.as_ref(), &sample)?;
        let ridge = RidgeParams { kernel: Some(kernel), lambda: 1.0 / self.c, ..RidgeParams::default() };
        Ok(Machine { learner: Learner::Svr(self.clone()), ..ridge.fit(sample, exec, watch)? })
    }

    /// C of each row.
    fn costs(&self, weights: &[f64]) -> Vec<f64> {
        weights.iter().map(|w| self.c * w).collect()
    }
}

impl Dual for SvrParams {
    fn pose<'r>(
        &self,
        given: &Given<'_>,
        rows: &'r dyn Rows,
        weights: &[f64],
    ) -> Result<(Problem<'r>, solve::Params)> {
        let problem = self.problem(rows, given.sample.targets.reals()?, &self.costs(weights))?;
        Ok((problem, solve::Params::new(self.tol, self.max_iter, self.shrinking, given.exec)))
    }

    fn machine(
        &self,
        given: &Given<'_>,
        _rows: &dyn Rows,
        weights: &[f64],
        coef: Vec<f64>,
        found: Solution,
    ) -> Result<Machine> {
        let levels: Vec<f64> = found.thresholds.iter().map(solve::Threshold::value).collect();
        // The levels of the two sides are epsilon above and below -b.
        let (offset, epsilon) = match self.loss {
            Loss::Nu => (-f64::midpoint(levels[0], levels[1]), Some((levels[1] - levels[0]) / 2.0)),
            Loss::Epsilon => (-levels[0], Some(self.epsilon)),
            _ => (-levels[0], None),
        };
        let bounded = bounded(&coef, &self.costs(weights));
        let whole = Expansion::new(given.kernel.clone(), given.sample.points.clone(), coef, vec![offset])?;
        let learner = Learner::Svr(self.clone());
        let (f, dual) = collapsed_with_dual(whole, given.exec)?;
        let mut machine = Machine { dual, ..Machine::new(f, Role::Numbers, learner, found.info) };
        machine.tell("bounded", bounded);
        epsilon.into_iter().for_each(|e| machine.tell("epsilon", e));
        Ok(machine)
    }
}
