//! The learners. Floor 7.
//!
//! A learner is a plain struct of parameters with `check()` and `fit()`; what it returns holds an expansion, what only
//! that learner knows, and an [`Info`](crate::watch::Info) that says how the fit went. Optimisation happens in
//! `solve`, kernel values come from [`gram`](crate::gram).

mod bayes_point;
mod boost;
mod classified;
mod cluster;
mod columns;
mod common;
mod compress;
mod explain;
mod files;
mod invariance;
mod json;
mod keep;
mod kfd;
mod kpca;
mod learner;
mod libsvm;
mod lp_machine;
mod machine;
mod neighbours;
mod network;
mod one_class;
pub mod onnx;
mod param;
mod perceptron;
mod plan;
mod programs;
mod ridge;
mod sample;
mod sphere;
pub mod svc;
mod svr;
mod target;

pub use bayes_point::BayesPointParams;
pub use boost::{BaseLearner, BoostKind, BoostParams};
pub use cluster::{ClusterParams, ClusterStart};
pub use compress::{CompressParams, Compressed, Compression, Goal};
pub use explain::{ColumnWeight, Explanation, Influence, MachineFacts, Suspect};
pub use invariance::{Invariance, InvarianceParams};
pub use keep::Keeper;
pub use kfd::{KfdForm, KfdParams, KfdPenalty, Threshold};
pub use kpca::{
    DenoiseParams, Denoiser, KpcaMethod, KpcaParams, Tried, empirical_map, noise_level, whitening_map,
};
pub use learner::{Learner, LearnerEntry};
pub use lp_machine::LpMachineParams;
pub use machine::{
    Ball, Calibration, Checkpoint, Components, Description, Features, Machine, Model, Names, Nearest,
    Normals, Origin, Part, Probabilities, Readout, Reject, Role, Sides, Sigmoid, Task, Votes, Wanted,
};
pub use neighbours::{KnnParams, ParzenParams};
pub use network::{NetworkParams, Place, Weights};
pub use one_class::OneClassParams;
pub use perceptron::{OnlineRule, PerceptronParams};
pub use plan::{Choice, Plan, Scaling, Wishes};
pub(crate) use ridge::right_sides;
pub use ridge::{RidgeMethod, RidgeParams};
pub use sample::Sample;
pub use sphere::{SphereParams, enclosing_radius2};
pub use svc::SvcParams;
pub use svr::{Loss, SvrParams};
