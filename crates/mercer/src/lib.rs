//! Learning with Mercer kernels.
//!
//! [`data`] becomes kernel values ([`kernel`], [`gram`]), a solver ([`solve`]) turns them into coefficients, and every learner
//! ([`model`]) returns the same object, an [`expansion`] `f(x) = sum_i c_i k(x_i, x) + b`. Compression and pre-images
//! ([`reduce`]) and evaluation ([`assess`]) work on that one type. Reports and figures are a crate of their own,
//! `mercer-report`.
//!
//! Begin with [`prelude`]: read a file ([`data::io::read`]), let a [`Plan`](model::Plan) choose what you do not set, fit,
//! predict, save.
//!
//! ```
//! use mercer::prelude::*;
//! let (points, targets) = mercer::data::toy::banana(200, 1);
//! let data = Dataset::new(points, targets)?;
//! let plan = Plan::new(&data, &Wishes::default(), Exec::default())?;
//! let model = plan.fit(Exec::default(), &mut watch::silent())?;
//! let found = model.predict_data(&data, &Query::default(), Exec::default())?;
//! assert_eq!(found.rows, 200);
//! # Ok::<(), Error>(())
//! ```
//!
//! A module names only the modules before it in this list:
//! `error`, `exec`, `param`, `line`, `watch`, `num` (floor 0), `data` (1), `kernel` (2), `gram` (3), `solve` (4), `expansion` (5),
//! `reduce` (6), `model` (7), `assess` (8).
#![forbid(unsafe_code)]

pub mod assess;
pub mod data;
pub mod error;
pub mod exec;
pub mod expansion;
pub mod gram;
pub mod kernel;
mod line;
pub mod model;
pub mod param;
pub mod reduce;
pub mod solve;
pub mod watch;

pub use error::{Error, Result};
pub use exec::Exec;
pub use mercer_num as num;

/// The types that most programs name.
///
/// ```
/// use mercer::prelude::*;
/// let points = Points::dense(vec![0.0, 0.2, 1.0, 1.2], 1)?;
/// let targets = Targets::Classes(Labels::new(["low", "low", "high", "high"]));
/// let svc = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
/// let machine = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
/// let found = Model::from(machine).predict_rows(points.view(), &Query::default(), Exec::one())?;
/// assert_eq!(found.targets, targets);
/// # Ok::<(), Error>(())
/// ```
pub mod prelude {
    pub use crate::assess::Evaluation;
    pub use crate::data::{Dataset, ImageShape, Labels, Points, Stages, Targets, Transformations, View};
    pub use crate::expansion::Expansion;
    pub use crate::kernel::Kernel;
    pub use crate::model::{
        KpcaParams, Learner, Machine, Model, OneClassParams, Plan, Prediction, Query, RidgeParams, Sample,
        SvcParams, SvrParams, Task, Wishes,
    };
    pub use crate::reduce::preimage::PreimageParams;
    pub use crate::{Error, Exec, watch};
}

/// The examples of both READMEs run too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod crate_readme {}

/// So do those of the page on components.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/components.md")]
mod components_page {}

/// And those of the page on choosing a model.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/selection.md")]
mod selection_page {}

/// And those of the page on prior knowledge.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/prior-knowledge.md")]
mod prior_knowledge_page {}
