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

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::{Bundle, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::common::{checkpoint, go_on_from, kernel_or_default, on_rows, outputs, support};
use crate::model::param::{self, Allowed, ParamSpec, spec};
use crate::model::persist::{
    Persist, Read, params, restored_checkpoint, restored_info, restored_rows, saved_info, saved_params,
    store_checkpoint, store_rows,
};
use crate::model::svc::collapsed;
use crate::model::{Body, Sample};
use crate::solve::{self, Groups, Problem, Shift, Solution};
use crate::watch::{Info, Watch};

/// Parameters of a one-class machine. See [`OneClassParams::TABLE`] for ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OneClassParams {
    /// The kernel; none: a Gaussian whose width follows from the data's spread.
    pub kernel: Option<Kernel>,
    /// Bound on the share of training rows told to be outliers.
    pub nu: f64,
    /// Largest violation of the optimality conditions left.
    pub tol: f64,
    /// Most steps of the solver.
    pub max_iter: Option<u64>,
    /// Whether rows that cannot move are left out for a while.
    pub shrinking: bool,
}

impl Default for OneClassParams {
    fn default() -> Self {
        OneClassParams { kernel: None, nu: 0.5, tol: 1e-3, max_iter: None, shrinking: true }
    }
}

/// A fitted one-class machine.
#[derive(Debug, Clone, PartialEq)]
pub struct OneClassModel {
    /// f, one output; its offset is -rho.
    pub expansion: Expansion,
    /// What it was fitted with.
    pub params: OneClassParams,
    /// The training rows with a coefficient: the centres, unless the kernel is linear and they were collapsed to one.
    pub support: Vec<u32>,
    /// How many of them are on their bound.
    pub bounded: usize,
    /// The solver's variables, where the fit was broken off or ran into its limit: [`OneClassParams::resume`] goes on from them.
    pub checkpoint: Option<Vec<f64>>,
    /// How the fit went.
    pub info: Info,
}

impl OneClassParams {
    /// Names, ranges, defaults.
    pub const TABLE: &'static [ParamSpec] = &[
        spec("kernel", Allowed::Kernel, "rbf, width by the data", "the kernel"),
        spec(
            "nu",
            Allowed::UpTo(0.0, 1.0),
            "0.5",
            "bounds the share of outliers from above, of support vectors from below",
        ),
        spec("tol", Allowed::Above(0.0), "0.001", "optimality violation left"),
        spec("max_iter", Allowed::WholeOrNone(1), "none", "most solver steps"),
        spec("shrinking", Allowed::Flag, "true", "leave out rows that cannot move"),
    ];

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        param::check(Self::TABLE, &[("nu", self.nu), ("tol", self.tol)])?;
        param::check(Self::TABLE, &[("max_iter", self.max_iter.unwrap_or(1) as f64)])?;
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.check(None))
    }

    /// Fits on the sample's points and weights; targets are not looked at.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<OneClassModel> {
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
    ) -> Result<OneClassModel> {
        self.fit_from(sample, Some(checkpoint), exec, watch)
    }

    fn fit_from(
        &self,
        sample: Sample<'_>,
        from: Option<&[f64]>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<OneClassModel> {
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
                    keeper.take(Body::OneClass(model));
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
    ) -> Result<OneClassModel> {
        let rho = found.thresholds[0].value();
        Ok(OneClassModel {
            checkpoint: checkpoint(&found),
            support: support(&found.beta),
            bounded: found.beta.iter().zip(upper).filter(|(b, u)| **b > 0.0 && b >= u).count(),
            expansion: collapsed(
                Expansion::new(kernel.clone(), sample.points.clone(), found.beta, vec![-rho])?,
                exec,
            )?,
            params: self.clone(),
            info: Info { seconds: clock.elapsed().as_secs_f64(), ..found.info },
        })
    }
}

impl OneClassModel {
    /// f at new points: positive for points like the data.
    pub fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        outputs(&self.expansion, points, exec)
    }

    /// The level rho that outputs are compared with.
    pub fn rho(&self) -> f64 {
        -self.expansion.offset()[0]
    }
}

impl Persist for OneClassModel {
    const TAG: &'static str = "one-class";

    fn store(&self, bundle: &mut Bundle) -> Result<Value> {
        let expansion = self.expansion.store("f", bundle)?;
        store_rows("support", &self.support, bundle);
        store_checkpoint(self.checkpoint.as_deref(), bundle);
        Ok(json!({
            "expansion": expansion,
            "params": saved_params(&self.params)?,
            "bounded": self.bounded,
            "info": saved_info(&self.info),
        }))
    }

    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self> {
        let expansion = Expansion::restore("f", &meta["expansion"], bundle)?;
        if expansion.outputs() != 1 {
            return Err(format!("a one-class machine with {} outputs, expected 1", expansion.outputs()));
        }
        let params: OneClassParams = params(meta)?;
        params.check().map_err(|e| e.to_string())?;
        Ok(OneClassModel {
            expansion,
            params,
            support: restored_rows("support", bundle)?,
            bounded: meta["bounded"].as_u64().ok_or("`bounded` is missing")? as usize,
            checkpoint: restored_checkpoint(bundle)?,
            info: restored_info(meta)?,
        })
    }
}
