//! The table of learners: a row each, read by the command, by help, by bindings and by the tests that every learner must pass.

use super::{Learner, LearnerEntry};
use crate::model::svc::Kind;
use crate::model::{
    BayesPointParams, BoostKind, BoostParams, ClusterParams, KfdForm, KfdParams, KnnParams, KpcaParams, Loss,
    LpMachineParams, NetworkParams, OneClassParams, OnlineRule, ParzenParams, PerceptronParams, RidgeParams,
    SphereParams, SvcParams, SvrParams, Task,
};

/// The row of kernel PCA, which is fitted by commands of its own and predicts nothing: not one of [`Learner::ALL`].
pub(super) const FEATURES: LearnerEntry = LearnerEntry {
    name: "kpca",
    tasks: &[Task::Features],
    doc: "kernel principal components",
    params: &["kernel", "components", "share", "centred", "whiten", "method", "rows", "tol", "seed"],
    make: || Learner::Kpca(KpcaParams::default()),
};

impl Learner {
    /// All learners. The first one of a task is its default.
    pub const ALL: &'static [LearnerEntry] = &[
        LearnerEntry {
            name: "svc",
            tasks: &[Task::Classification],
            doc: "support vector machine; errors cost C",
            params: &["c", "slack"],
            make: || Learner::Svc(SvcParams::default()),
        },
        LearnerEntry {
            name: "nu-svc",
            tasks: &[Task::Classification],
            doc: "support vector machine; nu bounds the share of margin errors",
            params: &["nu"],
            make: || Learner::Svc(SvcParams { kind: Kind::Nu, ..SvcParams::default() }),
        },
        LearnerEntry {
            name: "hard-margin",
            tasks: &[Task::Classification],
            doc: "the widest margin without any error, or a proof that there is none",
            params: &[],
            make: || Learner::Svc(SvcParams { kind: Kind::Hard, ..SvcParams::default() }),
        },
        LearnerEntry {
            name: "svr",
            tasks: &[Task::Regression],
            doc: "support vector regression; errors below epsilon are free",
            params: &["c", "epsilon"],
            make: || Learner::Svr(SvrParams::default()),
        },
        LearnerEntry {
            name: "nu-svr",
            tasks: &[Task::Regression],
            doc: "the same; nu bounds the share of rows outside the tube",
            params: &["c", "nu"],
            make: || Learner::Svr(SvrParams { loss: Loss::Nu, ..SvrParams::default() }),
        },
        LearnerEntry {
            name: "huber",
            tasks: &[Task::Regression],
            doc: "squared errors up to delta, then absolute ones: few outliers do no harm",
            params: &["c", "delta"],
            make: || Learner::Svr(SvrParams { loss: Loss::Huber, ..SvrParams::default() }),
        },
        LearnerEntry {
            name: "laplace",
            tasks: &[Task::Regression],
            doc: "absolute errors: the conditional median",
            params: &["c"],
            make: || Learner::Svr(SvrParams { loss: Loss::Laplace, ..SvrParams::default() }),
        },
        LearnerEntry {
            name: "ridge",
            tasks: &[Task::Regression, Task::Classification],
            doc: "squared errors: kernel ridge regression; on classes, least-squares machines",
            params: &["kernel", "lambda", "offset", "method", "tol"],
            make: || Learner::Ridge(RidgeParams::default()),
        },
        LearnerEntry {
            name: "one-class",
            tasks: &[Task::Novelty],
            doc: "a plane between most of the data and the origin of feature space",
            params: &["nu"],
            make: || Learner::OneClass(OneClassParams::default()),
        },
        LearnerEntry {
            name: "sphere",
            tasks: &[Task::Novelty],
            doc: "the smallest ball around most of the data in feature space",
            params: &["nu"],
            make: || Learner::Sphere(SphereParams::default()),
        },
        LearnerEntry {
            name: "kfd",
            tasks: &[Task::Classification, Task::Regression],
            doc: "Fisher discriminant: classes far apart beside their own spread; every row is a centre",
            params: &["kernel", "lambda", "penalty", "threshold", "leave_one_out"],
            make: || Learner::Kfd(KfdParams::default()),
        },
        LearnerEntry {
            name: "kfd-sparse",
            tasks: &[Task::Classification, Task::Regression],
            doc: "the same with few centres: a quadratic program",
            params: &["kernel", "lambda", "threshold", "tol"],
            make: || Learner::Kfd(KfdParams { form: KfdForm::Sparse, ..KfdParams::default() }),
        },
        LearnerEntry {
            name: "kfd-lp",
            tasks: &[Task::Classification, Task::Regression],
            doc: "the same with absolute errors: a linear program",
            params: &["kernel", "lambda", "threshold", "tol"],
            make: || Learner::Kfd(KfdParams { form: KfdForm::Linear, ..KfdParams::default() }),
        },
        LearnerEntry {
            name: "kfd-greedy",
            tasks: &[Task::Classification, Task::Regression],
            doc: "the same with centres chosen one by one: for many rows",
            params: &[
                "kernel",
                "lambda",
                "penalty",
                "threshold",
                "centres",
                "candidates",
                "leave_one_out",
                "seed",
            ],
            make: || Learner::Kfd(KfdParams { form: KfdForm::Greedy, ..KfdParams::default() }),
        },
        LearnerEntry {
            name: "adaboost",
            tasks: &[Task::Classification],
            doc: "many weak hypotheses, each on what the ones before got wrong, and a vote",
            params: &["kernel", "base", "rounds", "centres", "lambda", "steps", "seed"],
            make: || Learner::Boost(BoostParams::default()),
        },
        LearnerEntry {
            name: "arc-gv",
            tasks: &[Task::Classification],
            doc: "the same, towards the largest least margin",
            params: &["kernel", "base", "rounds", "centres", "lambda", "steps", "seed"],
            make: || Learner::Boost(BoostParams { kind: BoostKind::ArcGv, ..BoostParams::default() }),
        },
        LearnerEntry {
            name: "adaboost-reg",
            tasks: &[Task::Classification],
            doc: "the same, giving up rows that stay hard: soft margins",
            params: &["c", "kernel", "base", "rounds", "centres", "lambda", "steps", "seed"],
            make: || Learner::Boost(BoostParams { kind: BoostKind::Regularised, ..BoostParams::default() }),
        },
        LearnerEntry {
            name: "lpboost",
            tasks: &[Task::Classification],
            doc: "the same by a linear program; nu bounds the share of rows below the margin",
            params: &["nu", "kernel", "base", "rounds", "centres", "lambda", "steps", "seed"],
            make: || Learner::Boost(BoostParams { kind: BoostKind::Program, ..BoostParams::default() }),
        },
        LearnerEntry {
            name: "rbf-network",
            tasks: &[Task::Classification, Task::Regression],
            doc: "a few Gaussians: centres by k-means, moved downhill, or support vectors",
            params: &["kernel", "centres", "place", "weights", "lambda", "steps", "c", "seed"],
            make: || Learner::Network(NetworkParams::default()),
        },
        LearnerEntry {
            name: "lp-machine",
            tasks: &[Task::Classification, Task::Regression],
            doc: "few kernel functions, by a linear program",
            params: &["kernel", "c", "tol"],
            make: || Learner::LpMachine(LpMachineParams::default()),
        },
        LearnerEntry {
            name: "perceptron",
            tasks: &[Task::Classification],
            doc: "learns row by row from its errors",
            params: &["kernel", "passes", "averaged", "seed"],
            make: || Learner::Perceptron(PerceptronParams::default()),
        },
        LearnerEntry {
            name: "adatron",
            tasks: &[Task::Classification],
            doc: "learns row by row, towards the largest margin",
            params: &["kernel", "passes", "c", "tol"],
            make: || {
                Learner::Perceptron(PerceptronParams {
                    rule: OnlineRule::Adatron,
                    ..PerceptronParams::default()
                })
            },
        },
        LearnerEntry {
            name: "bayes-point",
            tasks: &[Task::Classification],
            doc: "the centre of all machines that make no error, by a billiard",
            params: &["kernel", "shift", "bounces", "seed"],
            make: || Learner::BayesPoint(BayesPointParams::default()),
        },
        LearnerEntry {
            name: "parzen",
            tasks: &[Task::Classification, Task::Novelty],
            doc: "each class by the mean of its kernel functions; without classes, a density",
            params: &["kernel", "nu"],
            make: || Learner::Parzen(ParzenParams::default()),
        },
        LearnerEntry {
            name: "knn",
            tasks: &[Task::Classification, Task::Regression],
            doc: "the rows nearest in feature space vote",
            params: &["kernel", "neighbours"],
            make: || Learner::Knn(KnnParams::default()),
        },
        LearnerEntry {
            name: "kmeans",
            tasks: &[Task::Clustering],
            doc: "points whose images lie together: kernel k-means",
            params: &["kernel", "clusters", "start", "starts", "max_iter", "seed"],
            make: || Learner::Cluster(ClusterParams::default()),
        },
    ];
}
