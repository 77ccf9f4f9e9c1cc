//! The learners. Floor 7.
//!
//! A learner is a plain struct of parameters with `check()` and `fit()`; what it returns holds an expansion, what only
//! that learner knows, and an [`Info`](crate::watch::Info) that says how the fit went. Optimisation happens in
//! `solve`, kernel values come from [`gram`](crate::gram).

mod columns;
mod common;
mod compress;
mod explain;
mod invariance;
mod json;
mod kpca;
mod layered;
mod learner;
mod libsvm;
#[expect(clippy::module_inception, reason = "the whole saved thing has no better name")]
mod model;
mod one_class;
pub mod onnx;
pub mod param;
mod persist;
mod plan;
mod ridge;
mod sample;
mod sphere;
pub mod svc;
mod svr;

pub use compress::{CompressParams, Compressed, Compression, Goal};
pub use explain::{ColumnWeight, Explanation, Influence, MachineFacts, Suspect};
pub use invariance::{Invariance, InvarianceParams};
pub use kpca::{
    DenoiseParams, Denoiser, KpcaMethod, KpcaModel, KpcaParams, Tried, empirical_map, noise_level,
    whitening_map,
};
pub use layered::Layered;
pub use learner::{Learner, LearnerEntry};
pub use model::{Body, Description, Model, Names, Task};
pub use one_class::{OneClassModel, OneClassParams};
pub use plan::{Choice, Plan, Scaling, Wishes};
pub(crate) use ridge::right_sides;
pub use ridge::{RidgeMethod, RidgeModel, RidgeParams};
pub use sample::Sample;
pub use sphere::{SphereModel, SphereParams, enclosing_radius2};
pub use svc::{SvcModel, SvcParams};
pub use svr::{Loss, SvrModel, SvrParams};
