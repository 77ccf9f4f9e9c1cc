//! Stages: fitted maps from points to points, kept in order inside a model.
//!
//! A [`Recipe`] is a stage yet to be fitted, written in a line such as `minmax(-1, 1)`; fitted on training points it
//! becomes a [`Stage`], which contains everything it needs and treats test points in the same way. [`Stages`] is a
//! chain. Whatever needs kernels is defined at higher floors and contains stages.
//!
//! Points keep their kind: f32 stays f32 and sparse stays sparse, unless a stage turns zeros into other values, which
//! makes sparse points dense ([`Stage::keeps_sparse`]). [`Stage::linear`] makes dense points of sparse ones always.

mod chain;
mod columns;
mod kinds;
mod parts;
mod recipe;
mod sequence;

pub use chain::Stages;
pub use kinds::{CodedColumn, Entry};
pub use parts::{Parts, StageTensor};
pub use recipe::Recipe;
use serde::{Deserialize, Serialize};

use self::kinds::{Frame, Kind, Op};
use super::map::map_rows;
use super::points::{Data, ImageShape, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;

/// A fitted map from points to points.
///
/// ```
/// use mercer::Exec;
/// use mercer::data::Points;
/// use mercer::data::stage::Recipe;
///
/// let train = Points::dense(vec![0.0, 10.0, 5.0, 30.0], 2)?;
/// let stage = Recipe::parse("minmax(-1, 1)")?.fit(train.view(), Exec::one())?;
/// let test = Points::dense(vec![10.0, 20.0], 2)?;
/// assert_eq!(stage.apply(test.view(), Exec::one())?.view().to_f64()?, [3.0, 0.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
///
/// It is saved as a small header and named arrays, see [`Stage::to_parts`]; with serde it travels as both together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Stage {
    at: Frame,
    op: Op,
}

impl Stage {
    fn kind(&self) -> &dyn Kind {
        self.op.kind()
    }

    /// The points under the map. They must have as many columns as the training points had; sparse points may have
    /// fewer, whose missing columns are zeros. Image stages take the shape from the training points where these
    /// points have none.
    pub fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        // Sparse rows and sequences may end early.
        let ragged = matches!(points.data, Data::Csr { .. } | Data::Sequences { .. });
        if points.d != self.at.d && !(ragged && points.d < self.at.d) {
            return Err(Error::columns(
                format!("columns of the points for stage {}", self.name()),
                points.d,
                self.at.d,
            ));
        }
        if let (Some(got), Some(want)) = (points.image, self.at.image)
            && got != want
        {
            let text = |s: ImageShape| format!("{} x {} x {}", s.height, s.width, s.channels);
            return Err(Error::shape(
                format!("image shape for stage {}", self.name()),
                text(got),
                text(want),
            ));
        }
        let out = self.kind().apply(self.at, points, exec)?;
        match self.output_image().or(points.image) {
            Some(shape) if shape.len() == out.dim() => out.with_image(shape),
            _ => Ok(out),
        }
    }

    /// The map backwards, for points this stage made, such as pre-images: scaling and powers have one, and what
    /// minmax parked as constant returns to its training value. The others fail, saying so.
    ///
    /// ```
    /// use mercer::Exec;
    /// use mercer::data::Points;
    /// use mercer::data::stage::Recipe;
    ///
    /// let train = Points::dense(vec![0.0, 10.0, 5.0, 30.0], 2)?;
    /// let stage = Recipe::parse("minmax(-1, 1)")?.fit(train.view(), Exec::one())?;
    /// let scaled = stage.apply(train.view(), Exec::one())?;
    /// assert_eq!(stage.undo(scaled.view(), Exec::one())?, train);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn undo(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let d = self.at.d;
        let map = self.kind().inverse(self.at);
        let map = map.ok_or_else(|| Error::Unsupported(format!("stage {} cannot be undone", self.name())))?;
        if points.d != d {
            return Err(Error::columns(
                format!("columns of the points to undo {} on", self.name()),
                points.d,
                d,
            ));
        }
        let out = map_rows(points, d, map.as_ref(), exec)?;
        match self.at.image.or(points.image) {
            Some(shape) => out.with_image(shape),
            None => Ok(out),
        }
    }

    /// The name in the table of stages.
    pub fn name(&self) -> &'static str {
        self.op.name()
    }

    /// Columns it takes.
    pub fn input_dim(&self) -> usize {
        self.at.d
    }

    /// Columns it gives.
    pub fn output_dim(&self) -> usize {
        self.kind().output(self.at).d
    }

    /// The shape of the training points' images, where they were images.
    pub fn input_image(&self) -> Option<ImageShape> {
        self.at.image
    }

    /// The shape of its results, where they are images.
    pub fn output_image(&self) -> Option<ImageShape> {
        self.kind().output(self.at).image
    }

    /// Whether sparse points stay sparse.
    pub fn keeps_sparse(&self) -> bool {
        self.kind().keeps_sparse(self.at)
    }

    /// What it does, in a line for people.
    pub fn describe(&self) -> String {
        self.kind().describe(self.at)
    }
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/stages.md")]
struct Document;
