//! The learners, and the one model that all of them leave behind. Floor 7.
//!
//! | room | holds |
//! |---|---|
//! | `machine` | [`Machine`] and [`Model`]: what was learned, and what it predicts |
//! | `learners` | how it is learned: a struct of parameters with `fit` each |
//! | `plan` | from data and a few settings to a fit: what nobody said is chosen from the data |
//! | `uses` | predicting, matching columns, looking inside a model, making it small |
//! | `files` | model files, JSON, LIBSVM's text, ONNX |
//!
//! Optimisation happens in `solve`, kernel values come from [`gram`](crate::gram).

mod files;
mod keep;
mod learners;
mod machine;
mod plan;
mod sample;
mod uses;

use learners::{classified, common, param};

pub use files::onnx;
pub use keep::Keeper;
pub(crate) use learners::right_sides;
pub use learners::{
    BaseLearner, BayesPointParams, BoostKind, BoostParams, ClusterParams, ClusterStart, DenoiseParams,
    Denoiser, Invariance, InvarianceParams, KfdForm, KfdParams, KfdPenalty, KnnParams, KpcaMethod,
    KpcaParams, Learner, LearnerEntry, Loss, LpMachineParams, NetworkParams, OneClassParams, OnlineRule,
    ParzenParams, PerceptronParams, Place, RidgeMethod, RidgeParams, SphereParams, SvcParams, SvrParams,
    Threshold, Tried, Weights, empirical_map, enclosing_radius2, noise_level, svc, whitening_map,
};
pub use machine::{
    Ball, Calibration, Checkpoint, Components, Description, Dual, Features, Machine, Model, Names, Nearest,
    Normals, Origin, Part, Probabilities, Readout, Reject, Role, Sides, Sigmoid, Task, Votes, Wanted,
};
pub use plan::{Choice, Plan, Scaling, Wishes};
pub use sample::Sample;
pub use uses::{
    ColumnWeight, CompressParams, Compressed, Compression, Explanation, Goal, Influence, MachineFacts,
    Prediction, Query, Rejection, Suspect,
};
