//! The learners, and the one model that all of them leave behind. Floor 7.
//!
//! | room | holds |
//! |---|---|
//! | `machine` | [`Machine`] and [`Model`]: what was learned, and what it predicts |
//! | `learners` | how it is learned: a struct of parameters with `fit` each |
//! | `plan` | from data and a few settings to a fit: other settings are chosen from the data |
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
pub use learners::*;
pub(crate) use machine::largest;
pub use machine::{
    Ball, Calibration, Checkpoint, Components, Description, Dual, Features, Machine, Model, Names, Nearest,
    Normals, Origin, Part, Probabilities, Readout, Reject, Role, Sides, Sigmoid, Task, Votes, Wanted,
};
pub use plan::{Choice, Open, Plan, Scaling, Wishes, inexact};
pub use sample::Sample;
pub use uses::{
    ColumnWeight, CompressParams, Compressed, CompressionFacts, Explanation, Goal, Influence, MachineFacts,
    Prediction, Query, Rejection, Suspect,
};
