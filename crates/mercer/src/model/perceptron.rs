//! Machines that learn row by row: the kernel perceptron and the kernel Adatron.
//!
//! ```text
//! perceptron   a_i += y_i  where y_i f(x_i) <= 0                      (Rosenblatt 1958; Aizerman, Braverman and Rozonoer 1964)
//! Adatron      a_i += (1 - y_i f(x_i)) / k_ii within [0, C]            (Friess, Cristianini and Campbell 1998)
//! ```
//!
//! Several classes: each against the rest, largest output wins. Cost: n^2 a pass, with the matrix in memory.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::split::shuffle;
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::classified::{self, Classified, matrix};
use crate::model::common::kernel_or_default;
use crate::model::param::{self, Allowed, ParamSpec, spec};
use crate::model::{Learner, Sample};
use crate::solve::perceptron::{adatron, perceptron};
use crate::watch::{Info, Stop, Watch};

/// Which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnlineRule {
    /// The perceptron's.
    #[default]
    Perceptron,
    /// The Adatron's.
    Adatron,
}

/// Parameters of a machine that learns row by row. See [`PerceptronParams::TABLE`] for ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PerceptronParams {
    /// The kernel; none: a Gaussian whose width follows from the data's spread.
    pub kernel: Option<Kernel>,
    /// Which rule.
    pub rule: OnlineRule,
    /// Most passes over the rows.
    pub passes: u64,
    /// Whether the perceptron answers with the mean of all it has been.
    pub averaged: bool,
    /// Largest coefficient of the Adatron.
    pub c: f64,
    /// Largest change of a coefficient in the Adatron's last pass.
    pub tol: f64,
    /// Seed of the rows' order.
    pub seed: u64,
}

impl Default for PerceptronParams {
    fn default() -> Self {
        PerceptronParams {
            kernel: None,
            rule: OnlineRule::Perceptron,
            passes: 100,
            averaged: true,
            c: 1.0,
            tol: 1e-4,
            seed: 0,
        }
    }
}

impl PerceptronParams {
    /// Names, ranges, defaults.
    pub const TABLE: &'static [ParamSpec] = &[
        spec("kernel", Allowed::Kernel, "rbf, width by the data", "the kernel"),
        spec(
            "rule",
            Allowed::OneOf(&["perceptron", "adatron"]),
            "perceptron",
            "how a row changes its coefficient",
        ),
        spec("passes", Allowed::Whole(1), "100", "most passes over the rows"),
        spec("averaged", Allowed::Flag, "true", "answer with the mean of all it has been"),
        spec("c", Allowed::Above(0.0), "1", "cost of an error: the largest coefficient"),
        spec("tol", Allowed::Above(0.0), "0.0001", "largest change of a coefficient left"),
        spec("seed", Allowed::Whole(0), "0", "seed of what is drawn"),
    ];

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        param::check(Self::TABLE, &[("passes", self.passes as f64), ("c", self.c), ("tol", self.tol)])?;
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.check(None))
    }

    /// Fits on the sample's points and classes. Weights scale the Adatron's C; to the perceptron a row counts or does not.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        sample.check()?;
        let classes = Classified::of(&sample)?;
        let kernel = kernel_or_default(self.kernel.as_ref(), &sample)?;
        let gram = matrix(&kernel, &sample, &classes.rows, exec)?;
        let (codes, n) = (classes.codes(), classes.rows.len());
        let k = codes.len();
        let order = shuffle(n, self.seed);
        let upper: Vec<f64> = classes.weight.iter().map(|w| w * self.c).collect();
        let (mut coef, mut offset, mut updates) = (vec![0.0; n * k], vec![0.0; k], 0);
        let mut info = Info { kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
        for (o, y) in codes.iter().enumerate() {
            let found = match self.rule {
                OnlineRule::Perceptron => perceptron(&gram, y, &order, self.passes, self.averaged, watch),
                OnlineRule::Adatron => adatron(&gram, y, &upper, true, self.tol, self.passes, watch),
            };
            found.coef.iter().enumerate().for_each(|(i, a)| coef[i * k + o] = *a);
            offset[o] = found.offset;
            updates += found.updates;
            info.iterations += found.passes;
            info.gap = info.gap.max(found.left);
            if found.stop != Stop::Converged {
                info.stop = found.stop;
            }
            if found.stop == Stop::Cancelled {
                break;
            }
        }
        let (expansion, support) = classified::expansion(kernel, &sample, &classes.rows, coef, offset, exec)?;
        let mut model = Machine::new(expansion, classes.role(), Learner::Perceptron(self.clone()), info);
        model.support = support;
        model.tell("updates", updates as f64);
        model.info.seconds = clock.elapsed().as_secs_f64();
        Ok(model)
    }
}
