//! The one-class machine: a hyperplane that separates most of the data from the origin of feature space.
//!
//! ```text
//! minimise    1/2 |w|^2 - nu n rho + sum_i w_i max(0, rho - w . Phi(x_i))
//! dual        1/2 a' K a,    0 <= a_i <= w_i,    sum a = nu sum w        (Schoelkopf, Platt et al. 2001)
//! decision    f(x) = sum_i a_i k(x_i, x) - rho: positive for inliers
//! ```
//!
//! nu bounds the share of rows with f < 0 from above and the share of support vectors from below (Mueller et al.
//! 2001, theorem 2), for any tolerance: rho is the smallest output among rows below their upper bound. The scale is
//! LIBSVM's and scikit-learn's, boxes of 1 and a sum of nu n, so that decision values agree; the paper's own `a_i <=
//! 1 / (nu n)` with sum 1 gives values smaller by the factor nu n. Cost: the solver's.

use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::Rows;
use crate::kernel::Kernel;
use crate::model::learners::dual::{self, Dual, Exact, bounded};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::svc::collapsed_with_dual;
use crate::model::{Learner, Machine, Role, Sample};
use crate::solve::{self, Groups, Problem, Shift, Solution};
use crate::watch::Watch;

params! {
    /// Parameters of a one-class machine. See [`OneClassParams::TABLE`] for ranges.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let (points, targets) = mercer::data::toy::half_circle(100, 1);
    /// let params = OneClassParams { nu: 0.1, kernel: Some(Kernel::Rbf { gamma: 2.0 }), ..OneClassParams::default() };
    /// let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// let outside = machine.decision(points.view(), Exec::one())?.iter().filter(|f| **f < 0.0).count();
    /// assert!(outside <= 10, "nu bounds the fraction of outliers");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub struct OneClassParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        nu: f64 = 0.5, UpTo(0.0, 1.0) => "upper bound on the fraction of outliers, lower bound on that of support vectors";
        /// Stopping tolerance: maximum KKT violation.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
        max_iter: Option<u64> = None, WholeOrNone(1), "none" => "maximum iterations";
        /// Whether variables that are unlikely to change are removed for a while (shrinking).
        shrinking: bool = true, Flag => "use shrinking";
    }
}

impl OneClassParams {
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
}

impl Dual for OneClassParams {
    fn pose<'r>(
        &self,
        given: &Given<'_>,
        rows: &'r dyn Rows,
        weights: &[f64],
    ) -> Result<(Problem<'r>, solve::Params)> {
        let n = rows.len();
        let mut problem = Problem {
            rows,
            linear: vec![0.0; n],
            lower: vec![0.0; n],
            upper: weights.to_vec(),
            groups: Groups::One,
            shift: Shift::None,
            start: None,
        };
        problem.start_at_sums(&[self.nu * weights.iter().sum::<f64>()])?;
        Ok((problem, solve::Params::new(self.tol, self.max_iter, self.shrinking, given.exec)))
    }

    fn machine(
        &self,
        given: &Given<'_>,
        rows: &dyn Rows,
        weights: &[f64],
        coef: Vec<f64>,
        found: Solution,
    ) -> Result<Machine> {
        let exact = Exact::new(rows, &coef, given.exec);
        let rho = exact.threshold(|i| exact.output[i], &coef, weights, found.thresholds[0].value());
        let bounded = bounded(&coef, weights);
        let whole = Expansion::new(given.kernel.clone(), given.sample.points.clone(), coef, vec![-rho])?;
        let learner = Learner::OneClass(self.clone());
        let (f, dual) = collapsed_with_dual(whole, given.exec)?;
        let mut machine = Machine { dual, ..Machine::new(f, Role::Novelty, learner, found.info) };
        machine.tell("bounded", bounded);
        Ok(machine)
    }
}
