//! The learners: a file or folder each, a variant of [`Learner`] and a row of [`Learner::ALL`].
//!
//! A learner is a struct of parameters (`params!`) with `fit`, which returns a [`Machine`]; `learners!` registers its
//! name. Everything else (files, flags, help, tuning, explaining, compressing, exporting, Python) follows from that.

mod bayes_point;
mod boost;
pub(in crate::model) mod classified;
mod cluster;
pub(in crate::model) mod common;
mod dual;
mod given;
mod invariance;
mod kfd;
mod kpca;
mod large;
mod learner;
mod lp_machine;
mod neighbours;
mod network;
mod one_class;
pub(in crate::model) mod param;
mod perceptron;
mod programs;
mod ridge;
mod sphere;
pub mod svc;
mod svr;
mod virtuals;

pub use bayes_point::BayesPointParams;
pub use boost::{BaseLearner, BoostKind, BoostParams};
pub use cluster::{ClusterParams, ClusterStart, spectral};
pub use invariance::{Invariance, InvarianceParams};
pub use kfd::{KfdForm, KfdParams, KfdPenalty, KfdThreshold};
pub use kpca::{
    DenoiseParams, Denoiser, KpcaMethod, KpcaParams, Tried, empirical_map, noise_level, whitening_map,
};
pub use large::{
    Landmarks, LargeAsk, LargeCentres, LargeFunction, LargeLoss, LargeParams, LargeRows, LargeShard,
    LargeSums,
};
pub(in crate::model) use learner::Declared;
pub use learner::LearnerEntry;
pub use lp_machine::LpMachineParams;
pub use neighbours::{KnnParams, ParzenParams};
pub use network::{NetworkParams, Place, Weights};
pub use one_class::OneClassParams;
pub use perceptron::{OnlineRule, PerceptronParams};
pub(crate) use ridge::right_sides;
pub use ridge::{RidgeMethod, RidgeParams};
pub use sphere::{SphereParams, enclosing_radius2};
pub use svc::SvcParams;
pub use svr::{Loss, SvrParams};

use crate::error::Result;
use crate::exec::Exec;
use crate::model::svc::Kind;
use crate::model::{Checkpoint, Machine, Sample, Task};
use crate::watch::Watch;

/// Declares the learners: a variant for each, and for each of its forms a row of [`Learner::ALL`] with name, tasks,
/// one line of documentation, main parameters, unused parameters, and the parameter by which the form differs from
/// the first one. `resumes` names the state of [`Checkpoint`] from which `resume` of the parameters continues.
macro_rules! learners {
    ($(
        $(#[$about:meta])*
        $variant:ident($params:ident) $(resumes $state:ident)? {
            $($name:literal [$($task:ident)+] $doc:literal,
                known by [$($known:ident)*] $(not [$($not:ident)+])? $(with $field:ident: $value:expr)?;)*
        }
    )*) => {
        /// A learner and its parameters.
        ///
        /// ```
        /// use mercer::prelude::*;
        /// let mut learner = Learner::find("svr")?.learner();
        /// learner.set("epsilon", 0.2.into())?;
        /// let (points, targets) = mercer::data::toy::sinc(40, 1);
        /// let machine = learner.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
        /// assert_eq!(machine.learner.get("epsilon"), Some(0.2.into()));
        /// # Ok::<(), mercer::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Learner {
            $($(#[$about])* $variant($params),)*
        }

        impl Learner {
            /// All learners. The first one of a task is its default.
            pub const ALL: &'static [LearnerEntry] = &[$($(LearnerEntry {
                name: $name,
                tasks: &[$(Task::$task),+],
                doc: $doc,
                params: &[$(stringify!($known)),*],
                not: &[$($(stringify!($not)),+)?],
                make: || Learner::$variant($params { $($field: $value,)? ..$params::default() }),
            },)*)*];

            /// The name of its row. Kernel PCA has no row in the table.
            fn form(&self) -> Option<&'static str> {
                match self {
                    $(Learner::$variant(params) => {
                        let _ = params;
                        let forms: &[(&str, bool)] = &[$(($name, true $(&& params.$field == $value)?)),*];
                        forms.iter().rev().find(|form| form.1).map(|form| form.0)
                    })*
                }
            }

            fn declared(&self) -> &dyn Declared {
                match self {
                    $(Learner::$variant(params) => params,)*
                }
            }

            fn declared_mut(&mut self) -> &mut dyn Declared {
                match self {
                    $(Learner::$variant(params) => params,)*
                }
            }

            fn fitted(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
                match self {
                    $(Learner::$variant(params) => params.fit(sample, exec, watch),)*
                }
            }

            /// The machine of a fit resumed from its state; `None` if the learner does not support this.
            fn resumed(
                &self,
                sample: Sample<'_>,
                from: &Checkpoint,
                exec: Exec,
                watch: &mut Watch<'_>,
            ) -> Option<Result<Machine>> {
                match self {
                    $($(Learner::$variant(params) => {
                        from.$state().map(|from| params.resume(sample, from, exec, watch))
                    })?)*
                    _ => None,
                }
            }

            /// Whether its fits can be resumed.
            pub(in crate::model) fn resumes(&self) -> bool {
                match self {
                    $($(Learner::$variant(_) => !stringify!($state).is_empty(),)?)*
                    _ => false,
                }
            }
        }
    };
}

learners! {
    /// Support vector classification.
    Svc(SvcParams) resumes machines {
        "svc" [Classification] "support vector machine with cost C of margin errors",
            known by [c slack] not [kind nu];
        "nu-svc" [Classification] "support vector machine; nu bounds the fraction of margin errors",
            known by [nu] not [kind c slack] with kind: Kind::Nu;
        "hard-margin" [Classification] "largest margin without training errors, or a certificate that there is none",
            known by [] not [kind c nu slack] with kind: Kind::Hard;
    }
    /// Support vector regression.
    Svr(SvrParams) resumes variables {
        "svr" [Regression] "support vector regression with an epsilon-insensitive loss",
            known by [c epsilon] not [loss nu delta];
        "nu-svr" [Regression] "support vector regression; nu bounds the fraction of rows outside the tube",
            known by [c nu] not [loss epsilon delta] with loss: Loss::Nu;
        "huber" [Regression] "Huber loss: squared up to delta, then linear; robust to outliers",
            known by [c delta] not [loss epsilon nu] with loss: Loss::Huber;
        "laplace" [Regression] "absolute loss: estimates the conditional median",
            known by [c] not [loss epsilon nu delta] with loss: Loss::Laplace;
    }
    /// Kernel ridge regression; on classes, the least-squares machine.
    Ridge(RidgeParams) {
        "ridge" [Regression Classification] "kernel ridge regression (squared loss); on classes, least-squares machines",
            known by [kernel lambda offset method tol];
    }
    /// A one-class hyperplane.
    OneClass(OneClassParams) resumes variables {
        "one-class" [Novelty] "hyperplane that separates most of the data from the origin of feature space",
            known by [nu];
    }
    /// A sphere in feature space.
    Sphere(SphereParams) resumes variables {
        "sphere" [Novelty] "smallest sphere around most of the data in feature space",
            known by [nu];
    }
    /// A Fisher discriminant.
    Kfd(KfdParams) {
        "kfd" [Classification Regression] "Fisher discriminant: maximises between-class over within-class scatter; every row is a centre",
            known by [kernel lambda penalty threshold leave_one_out] not [form centres candidates tol seed];
        "kfd-sparse" [Classification Regression] "sparse Fisher discriminant by a quadratic program",
            known by [kernel lambda threshold tol] not [form penalty centres candidates leave_one_out seed]
            with form: KfdForm::Sparse;
        "kfd-lp" [Classification Regression] "sparse Fisher discriminant with absolute errors by a linear program",
            known by [kernel lambda threshold tol] not [form penalty centres candidates leave_one_out seed]
            with form: KfdForm::Linear;
        "kfd-greedy" [Classification Regression] "Fisher discriminant on greedily selected centres, for many rows",
            known by [kernel lambda penalty threshold centres candidates leave_one_out seed] not [form tol]
            with form: KfdForm::Greedy;
    }
    /// Boosted hypotheses.
    Boost(BoostParams) {
        "adaboost" [Classification] "AdaBoost: weighted vote of weak hypotheses",
            known by [kernel base rounds centres lambda steps seed] not [kind c nu];
        "arc-gv" [Classification] "boosting that maximises the minimum margin",
            known by [kernel base rounds centres lambda steps seed] not [kind c nu] with kind: BoostKind::ArcGv;
        "adaboost-reg" [Classification] "AdaBoost with soft margins",
            known by [c kernel base rounds centres lambda steps seed] not [kind nu] with kind: BoostKind::Regularised;
        "lpboost" [Classification] "boosting by a linear program; nu bounds the fraction of margin errors",
            known by [nu kernel base rounds centres lambda steps seed] not [kind c] with kind: BoostKind::Program;
    }
    /// A network of radial basis functions.
    Network(NetworkParams) {
        "rbf-network" [Classification Regression] "RBF network; centres by k-means, gradient descent, or support vectors",
            known by [kernel centres place weights lambda steps c seed];
    }
    /// A linear-programming machine.
    LpMachine(LpMachineParams) {
        "lp-machine" [Classification Regression] "sparse kernel expansion by a linear program (L1 penalty)",
            known by [kernel c tol];
    }
    /// An online learner.
    Perceptron(PerceptronParams) {
        "perceptron" [Classification] "kernel perceptron",
            known by [kernel passes averaged seed] not [rule c tol];
        "adatron" [Classification] "kernel adatron: converges to the largest margin",
            known by [kernel passes c tol] not [rule averaged seed] with rule: OnlineRule::Adatron;
    }
    /// A Bayes point machine.
    BayesPoint(BayesPointParams) {
        "bayes-point" [Classification] "centre of the version space, by a billiard",
            known by [kernel shift bounces seed];
    }
    /// Parzen windows.
    Parzen(ParzenParams) {
        "parzen" [Classification Novelty] "Parzen windows per class; without classes, a density estimate",
            known by [kernel nu];
    }
    /// Nearest neighbours.
    Knn(KnnParams) {
        "knn" [Classification Regression] "nearest neighbours in feature space",
            known by [kernel neighbours];
    }
    /// Kernel k-means.
    Cluster(ClusterParams) {
        "kmeans" [Clustering] "kernel k-means",
            known by [kernel clusters start starts max_iter seed];
    }
    /// A machine on few centres for many rows.
    Large(LargeParams) {
        "large" [Regression Classification] "for many rows: squared loss on few centres, by preconditioned conjugate gradients",
            known by [kernel centres place lambda offset tol max_iter seed] not [loss];
        "large-logistic" [Classification] "for many rows: logistic loss on few centres; class probabilities",
            known by [kernel centres place lambda offset tol max_iter seed] not [loss] with loss: LargeLoss::Logistic;
        "large-hinge" [Classification] "for many rows: squared hinge loss on few centres",
            known by [kernel centres place lambda offset tol max_iter seed] not [loss] with loss: LargeLoss::SquaredHinge;
    }
    /// Kernel principal components.
    Kpca(KpcaParams) {}
}

/// The row of kernel PCA, which has its own commands and makes no predictions, so it is not in [`Learner::ALL`].
pub(in crate::model) const FEATURES: LearnerEntry = LearnerEntry {
    name: "kpca",
    tasks: &[Task::Features],
    doc: "kernel principal components",
    params: &["kernel", "components", "share", "centred", "whiten", "method", "rows", "tol", "seed"],
    not: &[],
    make: || Learner::Kpca(KpcaParams::default()),
};
