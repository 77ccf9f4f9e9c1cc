//! The parameters of a classifier, their ranges and defaults.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Labels, Transformations};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Readout;
use crate::model::param::params;
use crate::solve;

/// Which problem a machine solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Errors are penalised by C times their size (Cortes and Vapnik 1995).
    #[default]
    C,
    /// nu bounds the shares of margin errors and support vectors (Schoelkopf, Smola, Williamson and Bartlett 2000).
    Nu,
    /// No errors: the maximum margin, or a proof that the classes overlap.
    Hard,
}

/// The loss of a C-machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slack {
    /// `C sum xi`: a box on the coefficients.
    #[default]
    Linear,
    /// `C/2 sum xi^2`: 1/C on the diagonal, no box.
    Squared,
}

/// How several classes are separated by two-class machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multi {
    /// One-vs-one: a machine for each pair of classes; the class with most votes wins.
    #[default]
    OneVsOne,
    /// One-vs-rest: a machine for each class against all others; the largest output wins.
    OneVsRest,
}

/// Which class wins when votes tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// The one whose name comes first, as in LIBSVM and scikit-learn.
    #[default]
    First,
    /// The one with the largest sum of its machines' outputs.
    Sum,
}

/// Factors of C by class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// 1 for all classes.
    #[default]
    Even,
    /// `n / (classes * rows of the class)`: every class has the same total weight.
    Balanced,
    /// By name; 1 for a class that is not named.
    Given(BTreeMap<String, f64>),
}

params! {
    /// Parameters of a support vector classifier. See [`SvcParams::TABLE`] for ranges.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let (points, targets) = mercer::data::toy::banana(80, 1);
    /// let params = SvcParams { c: 10.0, kernel: Some("rbf(gamma=1)".parse()?), ..SvcParams::default() };
    /// let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// assert!(machine.support.len() < 80);
    /// assert!(SvcParams { c: -1.0, ..SvcParams::default() }.check().is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub struct SvcParams where Self::together {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        kind: Kind = Kind::C, OneOf(&["c", "nu", "hard"]), "c" => "formulation: cost C of errors, bound nu on their fraction, or hard margin";
        /// Infinity gives the hard margin: the fit is then of kind [`Kind::Hard`].
        #[serde(with = "crate::model::param::number")]
        c: f64 = 1.0, AboveOrInf(0.0) => "cost of errors (kind c); inf is the hard margin";
        nu: f64 = 0.5, UpTo(0.0, 1.0) => "upper bound on the fraction of margin errors, lower bound on that of support vectors (kind nu)";
        slack: Slack = Slack::Linear, OneOf(&["linear", "squared"]), "linear" => "loss: hinge or squared hinge (kind c)";
        /// Added to the kernel matrix's diagonal while training: for kernels that are not quite positive definite
        /// (Schoelkopf 1997, section 1.3.5).
        shift: f64 = 0.0, AtLeast(0.0) => "added to the diagonal of the kernel matrix, for indefinite kernels";
        multi: Multi = Multi::OneVsOne, OneOf(&["one_vs_one", "one_vs_rest"]), "one_vs_one" => "multi-class strategy: one-vs-one or one-vs-rest";
        ties: Ties = Ties::First, OneOf(&["first", "sum"]), "first" => "class that wins when votes tie";
        class_weights: ClassWeights = ClassWeights::Even, ClassWeights, "even" => "class weights: even, balanced, or given by name";
        /// Whether outputs are calibrated to probabilities, by cross-validation inside the fit.
        probability: bool = false, Flag => "calibrate probability estimates by cross-validation";
        folds: u32 = 5, Whole(2) => "cross-validation folds of the calibration";
        seed: u64 = 0, Whole(0) => "seed of the cross-validation splits";
        /// Stopping tolerance: maximum KKT violation; the same as LIBSVM's `-e`.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
        max_iter: Option<u64> = None, WholeOrNone(1), "none" => "maximum iterations per machine";
        shrinking: bool = true, Flag => "use shrinking";
        /// Label-preserving transformations: they are applied to the support vectors, and the machines are retrained
        /// on both (Schoelkopf 1997, section 4.2.1). Empty: one run.
        virtual_vectors: Transformations = Transformations::default(), Transformations, "none" => "retrain on virtual support vectors made by these label-preserving transformations";
        virtual_kernel: Option<Kernel> = None, Kernel, "the same" => "kernel of the retraining on virtual support vectors";
        /// Number of further runs, each on the support vectors of the previous run and their virtual examples.
        virtual_rounds: u32 = 1, Whole(1) => "rounds of retraining on virtual support vectors";
        /// Whether each machine is retrained on the support vectors of all machines instead of its own.
        virtual_union: bool = false, Flag => "share the support vectors of all machines when retraining";
    }
}

impl SvcParams {
    /// Checks combinations of parameters.
    fn together(&self) -> Result<()> {
        if let ClassWeights::Given(by_name) = &self.class_weights
            && let Some((name, weight)) = by_name.iter().find(|(_, w)| !(**w > 0.0 && w.is_finite()))
        {
            return Err(Error::param(format!("weight of class {name}"), weight, "a number above 0"));
        }
        Ok(())
    }

    /// The same problem, with an infinite C replaced by the hard margin: a solver for finite C would not converge on
    /// classes that overlap.
    pub(super) fn hardened(&self) -> Cow<'_, Self> {
        if self.kind == Kind::C && self.c == f64::INFINITY {
            Cow::Owned(SvcParams { kind: Kind::Hard, slack: Slack::Linear, ..self.clone() })
        } else {
            Cow::Borrowed(self)
        }
    }

    /// The factor of C of each class. Fails on names that no class has, which would have no effect.
    pub(crate) fn weights_of(&self, labels: &Labels) -> Result<Vec<f64>> {
        let k = labels.names.len();
        match &self.class_weights {
            ClassWeights::Even => Ok(vec![1.0; k]),
            ClassWeights::Balanced => {
                let even = labels.len() as f64 / k as f64;
                Ok(labels.counts().iter().map(|&count| even / count as f64).collect())
            }
            ClassWeights::Given(by_name) => {
                if let Some(name) = by_name.keys().find(|name| !labels.names.contains(name)) {
                    let allowed = format!("one of the classes {}", labels.names.join(", "));
                    return Err(Error::param("class_weights", name, allowed));
                }
                Ok(labels.names.iter().map(|name| by_name.get(name).copied().unwrap_or(1.0)).collect())
            }
        }
    }

    /// How the outputs of machines for this number of classes are interpreted.
    pub fn readout(&self, classes: usize) -> Readout {
        if classes > 2 && self.multi == Multi::OneVsOne { Readout::Pairs(self.ties) } else { Readout::Plain }
    }

    /// The solver's parameters for each machine.
    pub(super) fn solver(&self, exec: Exec) -> solve::Params {
        solve::Params::new(self.tol, self.max_iter, self.shrinking, exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_their_range_are_named() {
        let bad = |params: SvcParams| params.check().expect_err("out of range").to_string();
        assert_eq!(
            bad(SvcParams { c: 0.0, ..SvcParams::default() }),
            "c = 0: must be a number above 0, or inf"
        );
        assert_eq!(
            bad(SvcParams { nu: 1.5, ..SvcParams::default() }),
            "nu = 1.5: must be a number above 0 and at most 1"
        );
        let given = ClassWeights::Given(BTreeMap::from([("a".to_owned(), -1.0)]));
        let params = SvcParams { class_weights: given, ..SvcParams::default() };
        assert_eq!(bad(params), "weight of class a = -1: must be a number above 0");
    }

    #[test]
    fn balanced_classes_weigh_alike() {
        let labels = Labels::new(["a", "a", "a", "b"]);
        let params = SvcParams { class_weights: ClassWeights::Balanced, ..SvcParams::default() };
        assert_eq!(params.weights_of(&labels).expect("names match"), [4.0 / 6.0, 2.0]);
        let unknown = ClassWeights::Given(BTreeMap::from([("z".to_owned(), 1.0)]));
        assert!(SvcParams { class_weights: unknown, ..params }.weights_of(&labels).is_err());
    }
}
