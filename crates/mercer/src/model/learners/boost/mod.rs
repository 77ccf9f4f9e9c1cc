//! Boosting: a weighted vote of weak hypotheses, each trained on rows weighted by the errors of those before.
//!
//! ```text
//! f(x) = sum_t alpha_t h_t(x),   sum alpha = 1:   y f(x) is the margin of a row (Mueller et al. 2001, section IV-D)
//! ```
//!
//! Hypotheses are decision stumps, networks of Gaussians with trained centres (Raetsch, Onoda and Mueller 2001), or
//! kernel functions `k(x_i, .)`. All of them are expansions: a stump's argument is the product with a unit vector,
//! and a network is a sum of kernels, so a vote is one expansion with T outputs followed by signs. The networks of a
//! vote share one width, determined by the first. Kernel functions vote by value instead of sign, so their vote is a
//! single expansion. Several classes: one-vs-rest. Cost: the number of rounds times that of the base learner.

mod base;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::classified::Classified;
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Learner, Sample};
use crate::model::{Machine, Readout, Votes};
use crate::solve::boost::{Rule, boost};
use crate::watch::{Info, Stop, Watch};
use base::Bases;

/// How the hypotheses' weights are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoostKind {
    /// AdaBoost.
    #[default]
    AdaBoost,
    /// Arc-GV: maximises the smallest margin.
    ArcGv,
    /// AdaBoost_Reg: tolerates errors on rows that stay hard to classify.
    Regularised,
    /// LPBoost: a linear program.
    Program,
}

/// The type of hypotheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseLearner {
    /// Networks of Gaussians with trained centres.
    #[default]
    Network,
    /// One column against a threshold.
    Stump,
    /// Kernel functions of single rows, with either sign.
    Kernel,
}

params! {
    /// Parameters of boosting. See [`BoostParams::TABLE`] for ranges.
    pub struct BoostParams {
        /// The kernel of networks and kernel functions; none: a Gaussian whose width follows from the data's spread.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        kind: BoostKind = BoostKind::AdaBoost, OneOf(&["ada_boost", "arc_gv", "regularised", "program"]), "ada_boost" => "boosting variant";
        base: BaseLearner = BaseLearner::Network, OneOf(&["network", "stump", "kernel"]), "network" => "base learner";
        /// Maximum number of hypotheses, for each class of one-vs-rest.
        rounds: u64 = 100, Whole(1) => "maximum number of hypotheses";
        /// AdaBoost_Reg's C: larger values tolerate errors on hard rows sooner.
        c: f64 = 0.1, AtLeast(0.0) => "softness of the margin: larger ignores hard rows sooner";
        nu: f64 = 0.1, UpTo(0.0, 1.0) => "upper bound on the fraction of rows below the margin";
        centres: u64 = 6, Whole(1) => "maximum number of centres";
        lambda: f64 = 1e-4, AtLeast(0.0), "0.0001" => "regularisation strength";
        /// Maximum number of gradient steps of a network's centres.
        steps: u64 = 10, Whole(0) => "maximum gradient steps";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl BoostParams {
    /// Fits on the sample's points, classes and weights.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{BaseLearner, BoostParams, Sample};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(100, 1);
    /// let params = BoostParams { base: BaseLearner::Stump, ..BoostParams::default() };
    /// let model = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// // A decision value is a margin: between -1 and 1.
    /// assert!(model.decision(points.view(), Exec::one())?.iter().all(|f| f.abs() <= 1.0 + 1e-12));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::basis(self, sample, exec)?;
        let classes = Classified::of(&sample)?;
        let codes = classes.codes();
        let k = codes.len();
        let points = given.points(&classes.rows);
        let mut bases = Bases::new(self, &given, &points, &classes.rows)?;
        let rule = match self.kind {
            BoostKind::AdaBoost => Rule::AdaBoost,
            BoostKind::ArcGv => Rule::ArcGv,
            BoostKind::Regularised => Rule::Regularised(self.c),
            BoostKind::Program => Rule::Program(self.nu),
        };
        let mut info = Info::default();
        // The weight of each hypothesis and the output that it votes for.
        let mut votes: Vec<(f64, usize)> = Vec::new();
        let (mut least, mut mean, mut value) = (f64::INFINITY, 0.0, None);
        for (o, y) in codes.iter().enumerate() {
            let found =
                boost(y, &classes.weight, rule, self.rounds as usize, &mut |d| bases.next(y, d), watch)?;
            least = found.margin.iter().copied().fold(least, f64::min);
            mean += found.margin.iter().sum::<f64>() / (found.margin.len() * k) as f64;
            value = found.value.map_or(value, |v| Some(value.map_or(v, |w: f64| w.min(v))));
            // Hypotheses that were not accepted have no weight.
            let made = bases.len() - votes.len();
            votes.extend((0..made).map(|t| (found.alpha.get(t).copied().unwrap_or(0.0), o)));
            info.iterations += found.info.iterations;
            // Only the linear program has a convergence criterion; other rules run for the given number of rounds.
            match found.info.stop {
                Stop::Limit if self.kind != BoostKind::Program => {}
                Stop::Converged => {}
                early => info.stop = early,
            }
            if info.stop == Stop::Cancelled && o + 1 < k {
                return Err(Error::Cancelled);
            }
        }
        let (expansion, kept, plain) = bases.expansion(&votes, k)?;
        let hypotheses = kept.len();
        let mut model = Machine::new(expansion, classes.role(), Learner::Boost(self.clone()), info);
        if !plain {
            let mut weight = vec![0.0; hypotheses * k];
            kept.iter().enumerate().for_each(|(t, &h)| weight[t * k + votes[h].1] = votes[h].0);
            model.readout = Readout::Votes(Votes { weight, values: k });
        }
        model.support = bases.support(&votes);
        model.tell("hypotheses", hypotheses as f64);
        model.tell("least_margin", least);
        model.tell("mean_margin", mean);
        if let Some(value) = value {
            model.tell("lp_margin", value);
        }
        Ok(given.timed(model))
    }
}
