//! Online learners: the kernel perceptron and the kernel Adatron.
//!
//! ```text
//! perceptron   a_i += y_i  where y_i f(x_i) <= 0                      (Rosenblatt 1958; Aizerman, Braverman and Rozonoer 1964)
//! Adatron      a_i += (1 - y_i f(x_i)) / k_ii within [0, C]            (Friess, Cristianini and Campbell 1998)
//! ```
//!
//! Several classes: one-vs-rest, the largest output wins. Cost: n^2 per pass, with the matrix in memory.

use serde::{Deserialize, Serialize};

use crate::data::split::shuffle;
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::classified::Classified;
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Learner, Sample};
use crate::solve::perceptron::{adatron, perceptron};
use crate::watch::{Info, Stop, Watch};

/// The update rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnlineRule {
    /// The perceptron's.
    #[default]
    Perceptron,
    /// The Adatron's.
    Adatron,
}

params! {
    /// Parameters of an online learner. See [`PerceptronParams::TABLE`] for ranges.
    pub struct PerceptronParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        rule: OnlineRule = OnlineRule::Perceptron, OneOf(&["perceptron", "adatron"]), "perceptron" => "update rule";
        passes: u64 = 100, Whole(1) => "maximum passes over the rows";
        /// Whether the perceptron predicts with the mean of all its hypotheses.
        averaged: bool = true, Flag => "predict with the average of all hypotheses (averaged perceptron)";
        c: f64 = 1.0, Above(0.0) => "cost of errors: upper bound of the coefficients";
        /// Largest change of a coefficient in the Adatron's last pass.
        tol: f64 = 1e-4, Above(0.0), "0.0001" => "stopping tolerance (largest change of a coefficient)";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl PerceptronParams {
    /// Fits on the sample's points and classes. Weights scale the Adatron's C; the perceptron only ignores rows of
    /// weight 0.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let classes = Classified::of(&sample)?;
        let gram = given.matrix(&classes.rows, 2)?;
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
        let learner = Learner::Perceptron(self.clone());
        let mut model = given.machine(&classes.rows, coef, offset, classes.role(), learner, info)?;
        model.tell("updates", updates as f64);
        Ok(model)
    }
}
