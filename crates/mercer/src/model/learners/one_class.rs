//! The one-class machine: a hyperplane that separates most of the data from the origin of feature space.
//!
//! ```text
//! minimise    1/2 |w|^2 - nu n rho + sum_i w_i max(0, rho - w . Phi(x_i))
//! dual        1/2 a' K a,    0 <= a_i <= w_i,    sum a = nu sum w        (Schoelkopf, Platt et al. 2001)
//! decision    f(x) = sum_i a_i k(x_i, x) - rho: positive for points like the data
//! ```
//!
//! nu bounds the share of rows with f < 0 from above and the share of support vectors from below (Mueller et al. 2001,
//! theorem 2). The scale is LIBSVM's and scikit-learn's: boxes of 1 and a sum of nu n, so that decision values are
//! theirs; the paper's own `a_i <= 1 / (nu n)` with sum 1 gives values smaller by the factor nu n. Cost: the solver's.

use std::time::Instant;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::common::{checkpoint, go_on_from, kernel_or_default, on_rows, support};
use crate::model::learners::learner::learner;
use crate::model::param::params;
use crate::model::svc::collapsed;
use crate::model::{Learner, Machine, Role, Sample};
use crate::solve::{self, Groups, Problem, Shift, Solution};
use crate::watch::{Info, Watch};

params! {
    /// Parameters of a one-class machine. See [`OneClassParams::TABLE`] for ranges.
    pub struct OneClassParams {
        /// The kernel; none: a Gaussian whose width follows from the data's spread.
        kernel: Option<Kernel> = None, Kernel, "rbf, width by the data" => "kernel";
        nu: f64 = 0.5, UpTo(0.0, 1.0) => "upper bound on the fraction of outliers, lower bound on that of support vectors";
        /// Largest violation of the optimality conditions left.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
        max_iter: Option<u64> = None, WholeOrNone(1), "none" => "maximum iterations";
        /// Whether rows that cannot move are left out for a while.
        shrinking: bool = true, Flag => "use shrinking";
    }
}

learner!(OneClassParams, |_| "one-class", resumes with variables);

impl OneClassParams {
    /// Fits on the sample's points and weights; targets are not looked at.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        self.fit_from(sample, None, exec, watch)
    }

    /// Goes on with a fit of the same parameters on the same sample from where it was broken off: its model's
    /// `checkpoint`.
    pub fn resume(
        &self,
        sample: Sample<'_>,
        checkpoint: &[f64],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        self.fit_from(sample, Some(checkpoint), exec, watch)
    }

    fn fit_from(
        &self,
        sample: Sample<'_>,
        from: Option<&[f64]>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        sample.check()?;
        let kernel = kernel_or_default(self.kernel.as_ref(), &sample)?;
        let n = sample.points.len();
        let upper: Vec<f64> = (0..n).map(|i| sample.weight(i)).collect();
        let sum = self.nu * upper.iter().sum::<f64>();
        if sum <= 0.0 {
            return Err(Error::param("row weights", 0, "above 0 for at least one row"));
        }
        let found = on_rows(&kernel, &sample, exec, |rows| {
            let mut problem = Problem {
                rows,
                linear: vec![0.0; n],
                lower: vec![0.0; n],
                upper: upper.clone(),
                groups: Groups::One,
                shift: Shift::None,
                start: None,
            };
            problem.start_at_sums(&[sum])?;
            go_on_from(&mut problem, from)?;
            let params = solve::Params {
                tol: self.tol,
                max_iter: self.max_iter,
                shrinking: self.shrinking,
                exec,
                ..solve::Params::default()
            };
            let mut keep = |now: &dyn Fn() -> Solution| {
                let Some(keeper) = sample.keeper.filter(|keeper| keeper.is_due()) else { return };
                if let Ok(model) = self.model(&kernel, sample, &upper, now(), clock, exec) {
                    keeper.take(model);
                }
            };
            solve::solve_kept(&problem, &params, watch, Some(&mut keep))
        })?;
        self.model(&kernel, sample, &upper, found, clock, exec)
    }

    /// The model that a solution is.
    fn model(
        &self,
        kernel: &Kernel,
        sample: Sample<'_>,
        upper: &[f64],
        found: Solution,
        clock: Instant,
        exec: Exec,
    ) -> Result<Machine> {
        let rho = found.thresholds[0].value();
        let (checkpoint, support) = (checkpoint(&found), support(&found.beta));
        let bounded = found.beta.iter().zip(upper).filter(|(b, u)| **b > 0.0 && b >= u).count();
        let whole = Expansion::new(kernel.clone(), sample.points.clone(), found.beta, vec![-rho])?;
        let info = Info { seconds: clock.elapsed().as_secs_f64(), ..found.info };
        let learner = Learner::OneClass(self.clone());
        let mut machine = Machine::new(collapsed(whole, exec)?, Role::Novelty, learner, info);
        machine.tell("bounded", bounded as f64);
        Ok(Machine { support, checkpoint, ..machine })
    }
}
