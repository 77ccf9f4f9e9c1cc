//! What a classifier is told: its parameters, their ranges and defaults.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Labels, Transformations};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::common::budget;
use crate::model::param::{self, Allowed, ParamSpec};
use crate::solve;

/// Which problem a machine solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Errors cost C each, by how far they are off (Cortes and Vapnik 1995).
    #[default]
    C,
    /// A share nu bounds margin errors and support vectors (Schoelkopf, Smola, Williamson and Bartlett 2000).
    Nu,
    /// No errors at all: the widest margin, or a proof that there is none.
    Hard,
}

/// How a C-machine counts errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slack {
    /// `C sum xi`: a box on the coefficients.
    #[default]
    Linear,
    /// `C/2 sum xi^2`: 1/C on the diagonal, no box.
    Squared,
}

/// How several classes are told apart by two-class machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Multi {
    /// A machine for each pair of classes; the class with most votes wins.
    #[default]
    OneVsOne,
    /// A machine for each class against all others; the largest output wins.
    OneVsRest,
}

/// Which class wins when votes tie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// The one whose name comes first, as in LIBSVM and scikit-learn.
    #[default]
    First,
    /// The one whose machines' outputs sum to most.
    Sum,
}

/// Factors of C by class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeights {
    /// All classes alike.
    #[default]
    Even,
    /// `n / (classes * rows of the class)`: every class weighs the same as a whole.
    Balanced,
    /// By name; 1 for a class that is not named.
    Given(BTreeMap<String, f64>),
}

/// Parameters of a support vector classifier. See [`SvcParams::TABLE`] for ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvcParams {
    /// The kernel; none: a Gaussian whose width follows from the data's spread.
    pub kernel: Option<Kernel>,
    /// Which problem is solved.
    pub kind: Kind,
    /// Cost of errors, for kind C. Infinity is the hard margin: the fit is then of kind [`Kind::Hard`].
    #[serde(with = "param::number")]
    pub c: f64,
    /// Bound on margin errors and support vectors, for kind nu.
    pub nu: f64,
    /// How errors count, for kind C.
    pub slack: Slack,
    /// Added to the kernel matrix's diagonal while training: for kernels that are not quite positive definite
    /// (Schoelkopf 1997, section 1.3.5).
    pub shift: f64,
    /// How several classes are told apart.
    pub multi: Multi,
    /// Which class wins when votes tie.
    pub ties: Ties,
    /// Factors of C by class.
    pub class_weights: ClassWeights,
    /// Whether outputs are calibrated to probabilities, by cross-validation inside the fit.
    pub probability: bool,
    /// Folds of that cross-validation.
    pub folds: u32,
    /// Seed of its splits.
    pub seed: u64,
    /// Largest violation of the optimality conditions left; what LIBSVM's `-e` means.
    pub tol: f64,
    /// Most steps of the solver, a machine.
    pub max_iter: Option<u64>,
    /// Whether rows that cannot move are left out for a while.
    pub shrinking: bool,
    /// Bytes for kernel values; none: half of the machine's memory.
    pub memory: Option<u64>,
    /// Transformations that do not change what a point is: support vectors are moved by them, and the machines trained
    /// again on both (Schoelkopf 1997, section 4.2.1). Empty: one run.
    pub virtual_vectors: Transformations,
    /// The kernel of further runs; none: the same.
    pub virtual_kernel: Option<Kernel>,
    /// Further runs, each on the support vectors of the one before and on what is made from them.
    pub virtual_rounds: u32,
    /// Whether each machine goes on with the support vectors of all, not only with its own.
    pub virtual_union: bool,
}

impl Default for SvcParams {
    fn default() -> Self {
        SvcParams {
            kernel: None,
            kind: Kind::C,
            c: 1.0,
            nu: 0.5,
            slack: Slack::Linear,
            shift: 0.0,
            multi: Multi::OneVsOne,
            ties: Ties::First,
            class_weights: ClassWeights::Even,
            probability: false,
            folds: 5,
            seed: 0,
            tol: 1e-3,
            max_iter: None,
            shrinking: true,
            memory: None,
            virtual_vectors: Transformations::default(),
            virtual_kernel: None,
            virtual_rounds: 1,
            virtual_union: false,
        }
    }
}

const fn spec(name: &'static str, allowed: Allowed, default: &'static str, doc: &'static str) -> ParamSpec {
    ParamSpec { name, allowed, default, doc }
}

impl SvcParams {
    /// Names, ranges, defaults.
    pub const TABLE: &'static [ParamSpec] = &[
        spec("kernel", Allowed::Kernel, "rbf, width by the data", "the kernel"),
        spec(
            "kind",
            Allowed::OneOf(&["c", "nu", "hard"]),
            "c",
            "errors cost C, are bounded by nu, or are not allowed",
        ),
        spec("c", Allowed::AboveOrInf(0.0), "1", "cost of errors (kind c); inf is the hard margin"),
        spec(
            "nu",
            Allowed::UpTo(0.0, 1.0),
            "0.5",
            "bounds margin errors from above, support vectors from below (kind nu)",
        ),
        spec("slack", Allowed::OneOf(&["linear", "squared"]), "linear", "how errors count (kind c)"),
        spec(
            "shift",
            Allowed::AtLeast(0.0),
            "0",
            "added to the kernel matrix's diagonal, for kernels not quite positive",
        ),
        spec(
            "multi",
            Allowed::OneOf(&["one_vs_one", "one_vs_rest"]),
            "one_vs_one",
            "how several classes are told apart",
        ),
        spec("ties", Allowed::OneOf(&["first", "sum"]), "first", "which class wins when votes tie"),
        spec(
            "class_weights",
            Allowed::ClassWeights,
            "even",
            "factors of C by class: even, balanced, or given",
        ),
        spec("probability", Allowed::Flag, "false", "calibrate outputs to probabilities by cross-validation"),
        spec("folds", Allowed::Whole(2), "5", "folds of that cross-validation"),
        spec("seed", Allowed::Whole(0), "0", "seed of its splits"),
        spec("tol", Allowed::Above(0.0), "0.001", "violation of the optimality conditions left"),
        spec("max_iter", Allowed::WholeOrNone(1), "none", "most solver steps a machine"),
        spec("shrinking", Allowed::Flag, "true", "leave out rows that cannot move for a while"),
        spec("memory", Allowed::WholeOrNone(1), "half of RAM", "bytes for kernel values"),
        spec(
            "virtual_vectors",
            Allowed::Transformations,
            "none",
            "train again on support vectors moved by these transformations",
        ),
        spec("virtual_kernel", Allowed::Kernel, "the same", "the kernel of that second run"),
        spec("virtual_rounds", Allowed::Whole(1), "1", "further runs on moved support vectors"),
        spec("virtual_union", Allowed::Flag, "false", "machines share each other's support vectors then"),
    ];

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        param::check(
            Self::TABLE,
            &[
                ("c", self.c),
                ("nu", self.nu),
                ("shift", self.shift),
                ("folds", f64::from(self.folds)),
                ("tol", self.tol),
                ("max_iter", self.max_iter.unwrap_or(1) as f64),
                ("memory", self.memory.unwrap_or(1) as f64),
                ("virtual_rounds", f64::from(self.virtual_rounds)),
            ],
        )?;
        if let Some(kernel) = &self.virtual_kernel {
            kernel.check(None)?;
        }
        if let ClassWeights::Given(by_name) = &self.class_weights
            && let Some((name, weight)) = by_name.iter().find(|(_, w)| !(**w > 0.0 && w.is_finite()))
        {
            return Err(Error::param(format!("weight of class {name}"), weight, "a number above 0"));
        }
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.check(None))
    }

    /// The same problem, with an infinite C told as what it is: the hard margin. The solver of finite C would never come
    /// to an end on classes that overlap.
    pub(super) fn hardened(&self) -> Cow<'_, Self> {
        if self.kind == Kind::C && self.c == f64::INFINITY {
            Cow::Owned(SvcParams { kind: Kind::Hard, slack: Slack::Linear, ..self.clone() })
        } else {
            Cow::Borrowed(self)
        }
    }

    /// The factor of C of each class. Fails on a name that no class has: it would be without effect.
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

    /// Bytes for kernel values.
    pub(super) fn budget(&self) -> usize {
        budget(self.memory)
    }

    /// What each machine's solve obeys.
    pub(super) fn solver(&self, memory: usize, exec: Exec) -> solve::Params {
        solve::Params {
            tol: self.tol,
            max_iter: self.max_iter,
            shrinking: self.shrinking,
            memory,
            exec,
            ..solve::Params::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_every_field_and_every_word() {
        let value = serde_json::to_value(SvcParams::default()).expect("plain data");
        let mut fields: Vec<&String> = value.as_object().expect("a struct").keys().collect();
        let mut names: Vec<&str> = SvcParams::TABLE.iter().map(|s| s.name).collect();
        fields.sort();
        names.sort_unstable();
        assert_eq!(fields, names);
        for spec in SvcParams::TABLE {
            let Allowed::OneOf(words) = spec.allowed else { continue };
            assert_eq!(value[spec.name], spec.default, "{}", spec.name);
            for word in words {
                let text = format!("{{\"{}\": \"{word}\"}}", spec.name);
                assert!(serde_json::from_str::<SvcParams>(&text).is_ok(), "{text}");
            }
        }
        let line = serde_json::to_string(&SvcParams::default()).expect("plain data");
        assert_eq!(serde_json::from_str::<SvcParams>(&line).expect("as written"), SvcParams::default());
    }

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
