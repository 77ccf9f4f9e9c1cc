//! Learning with Mercer kernels.
//!
//! One way for data to flow: [`data`] becomes kernel values ([`kernel`], [`gram`]), a solver ([`solve`]) turns
//! those into coefficients, and every learner ends in the same object, an [`expansion`]
//! `f(x) = sum_i c_i k(x_i, x) + b`. What makes expansions small or turns them back into points ([`reduce`]), what learns them ([`model`]), what
//! judges them ([`assess`]) all stand on that one type. What shows them is a crate of its own, `mercer-report`.
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
