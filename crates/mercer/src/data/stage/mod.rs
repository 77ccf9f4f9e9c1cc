//! Stages: fitted maps from points to points, kept in order inside a model.
//!
//! A [`Recipe`] is a stage yet to be fitted, written in a line such as `minmax(-1, 1)`; fitted on training points it
//! becomes a [`Stage`], which holds all it needs and treats test points as it treated those. [`Stages`] is a chain.
//! Stages that need kernels live further up and hold these inside.
//!
//! Points keep their kind: f32 stays f32 and sparse stays sparse, unless a stage turns zeros into other values, which
//! makes sparse points dense ([`Stage::keeps_sparse`]). [`Stage::linear`] makes dense points of sparse ones always.

mod chain;
mod invariant;
mod linear;
mod parts;
mod recipe;
mod scale;
mod sequence;
mod table;

pub use chain::Stages;
pub use parts::{Parts, Tensor};
pub use recipe::{Per, Recipe};
use serde::{Deserialize, Serialize};
pub use table::Entry;

use self::linear::Linear;
use self::scale::{Columns, Pad, Power, Unit};
use self::sequence::Places;
use super::image::{CentreMass, Deskew, Downsample, Edges, Mass, Silhouette, Smooth};
use super::map::{OnSparse, RowMap, map_rows};
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
    d: usize,
    image: Option<ImageShape>,
    op: Op,
}

/// What a stage does. Arrays are left out of the header: see `parts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
enum Op {
    Scale {
        by: f64,
        add: f64,
    },
    #[serde(rename = "minmax")]
    MinMax {
        lo: f64,
        hi: f64,
        #[serde(skip)]
        min: Vec<f64>,
        #[serde(skip)]
        max: Vec<f64>,
    },
    Standard {
        centred: bool,
        #[serde(skip)]
        mean: Vec<f64>,
        #[serde(skip)]
        std: Vec<f64>,
    },
    Unit,
    Power {
        p: f64,
    },
    Smooth {
        sigma: f64,
    },
    CentreMass {
        background: f64,
        level: Option<f64>,
    },
    Downsample {
        height: usize,
        width: usize,
    },
    Edges {
        keep: bool,
    },
    Silhouette {
        background: f64,
        level: f64,
    },
    Deskew {
        background: f64,
    },
    Pad {
        columns: usize,
    },
    OneHot {
        letters: usize,
    },
    LogOdds {
        letters: usize,
        classes: usize,
        #[serde(skip)]
        table: Vec<f64>,
    },
    Linear {
        outputs: usize,
        /// The lambda of an invariance, where the map is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invariance: Option<f64>,
        #[serde(skip)]
        matrix: Vec<f64>,
        #[serde(skip)]
        offset: Vec<f64>,
    },
}

impl Stage {
    /// The linear map `x -> A x + b`: A row by row with `d` columns, b by default 0. Images stay images where A is
    /// square.
    pub fn linear(matrix: Vec<f64>, d: usize, offset: Option<Vec<f64>>) -> Result<Self> {
        if d == 0 || matrix.is_empty() || !matrix.len().is_multiple_of(d) {
            return Err(Error::shape("matrix of a linear map", matrix.len(), format!("rows of {d} values")));
        }
        let outputs = matrix.len() / d;
        let offset = offset.unwrap_or_else(|| vec![0.0; outputs]);
        Stage { d, image: None, op: Op::Linear { outputs, invariance: None, matrix, offset } }.checked()
    }

    /// So many columns of zeros behind the d that are there: room for what a kernel keeps beside a point.
    pub fn pad(d: usize, columns: usize) -> Result<Self> {
        Stage { d, image: None, op: Op::Pad { columns } }.checked()
    }

    /// The points under the map. They must have as many columns as the training points had; sparse points may have
    /// fewer, whose missing columns are zeros. Image stages take the shape from the training points where these
    /// points have none.
    pub fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        // Sparse rows and sequences may end early.
        let ragged = matches!(points.data, Data::Csr { .. } | Data::Sequences { .. });
        if points.d != self.d && !(ragged && points.d < self.d) {
            return Err(Error::columns(
                format!("columns of the points for stage {}", self.name()),
                points.d,
                self.d,
            ));
        }
        if let (Some(got), Some(want)) = (points.image, self.image)
            && got != want
        {
            let text = |s: ImageShape| format!("{} x {} x {}", s.height, s.width, s.channels);
            return Err(Error::shape(
                format!("image shape for stage {}", self.name()),
                text(got),
                text(want),
            ));
        }
        let out = match &self.op {
            Op::Linear { matrix, offset, .. } => Linear { d: self.d, matrix, offset }.apply(points, exec)?,
            Op::OneHot { letters } => {
                Places { d: self.d, letters: *letters, channels: *letters, table: &[] }.apply(points, exec)?
            }
            Op::LogOdds { letters, classes, table } => {
                Places { d: self.d, letters: *letters, channels: *classes, table }.apply(points, exec)?
            }
            _ => map_rows(points, self.d, self.row_map().as_ref(), exec)?,
        };
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
        let d = self.d;
        let map: Option<Box<dyn RowMap>> = match &self.op {
            Op::Scale { by, add } => Columns::scale(d, *by, *add).undo(&[]).map(|c| Box::new(c) as _),
            Op::MinMax { lo, hi, min, max } => {
                Columns::minmax(d, *lo, *hi, min, max).undo(min).map(|c| Box::new(c) as _)
            }
            Op::Standard { mean, std, .. } => {
                Columns::standard(d, mean, std).undo(&[]).map(|c| Box::new(c) as _)
            }
            Op::Power { p } => Some(Box::new(Power { d, p: 1.0 / p })),
            _ => None,
        };
        let map = map.ok_or_else(|| Error::Unsupported(format!("stage {} cannot be undone", self.name())))?;
        if points.d != d {
            return Err(Error::columns(
                format!("columns of the points to undo {} on", self.name()),
                points.d,
                d,
            ));
        }
        let out = map_rows(points, d, map.as_ref(), exec)?;
        match self.image.or(points.image) {
            Some(shape) => out.with_image(shape),
            None => Ok(out),
        }
    }

    /// The name in the table of stages.
    pub fn name(&self) -> &'static str {
        match self.op {
            Op::Scale { .. } => "scale",
            Op::MinMax { .. } => "minmax",
            Op::Standard { .. } => "standard",
            Op::Unit => "unit",
            Op::Power { .. } => "power",
            Op::Smooth { .. } => "smooth",
            Op::CentreMass { .. } => "centre-mass",
            Op::Downsample { .. } => "downsample",
            Op::Edges { .. } => "edges",
            Op::Silhouette { .. } => "silhouette",
            Op::Deskew { .. } => "deskew",
            Op::Pad { .. } => "pad",
            Op::OneHot { .. } => "one-hot",
            Op::LogOdds { .. } => "log-odds",
            Op::Linear { invariance: Some(_), .. } => "invariant",
            Op::Linear { .. } => "linear",
        }
    }

    /// Columns it takes.
    pub fn input_dim(&self) -> usize {
        self.d
    }

    /// Columns it gives.
    pub fn output_dim(&self) -> usize {
        match (&self.op, self.output_image()) {
            (Op::Linear { outputs, .. }, _) => *outputs,
            (Op::Pad { columns }, _) => self.d + columns,
            (_, Some(shape)) => shape.len(),
            (_, None) => self.d,
        }
    }

    /// The shape of the training points' images, where they were images.
    pub fn input_image(&self) -> Option<ImageShape> {
        self.image
    }

    /// The shape of its results, where they are images.
    pub fn output_image(&self) -> Option<ImageShape> {
        if let Op::OneHot { letters: channels } | Op::LogOdds { classes: channels, .. } = self.op {
            return Some(ImageShape { height: 1, width: self.d, channels });
        }
        let shape = self.image?;
        Some(match self.op {
            Op::Downsample { height, width } => ImageShape { height, width, ..shape },
            Op::Edges { keep } => ImageShape { channels: shape.channels * Edges::maps(keep), ..shape },
            _ => shape,
        })
    }

    /// Whether sparse points stay sparse.
    pub fn keeps_sparse(&self) -> bool {
        match self.op {
            Op::Linear { .. } | Op::OneHot { .. } | Op::LogOdds { .. } => false,
            Op::Scale { .. } | Op::MinMax { .. } | Op::Standard { .. } => {
                self.row_map().on_sparse() != OnSparse::Dense
            }
            _ => true,
        }
    }

    /// What it does, in a line for people.
    pub fn describe(&self) -> String {
        let columns = |groups: usize| match groups {
            1 => "all values together".to_owned(),
            g if g == self.d => format!("each of {g} columns"),
            g => format!("each of {g} channels"),
        };
        match &self.op {
            Op::Scale { by, add } => format!("scale: every value times {by} plus {add}"),
            Op::MinMax { lo, hi, min, max } => {
                let constant = min.iter().zip(max).filter(|(a, b)| a == b).count();
                format!("minmax: {} to [{lo}, {hi}]; {constant} constant", columns(min.len()))
            }
            Op::Standard { centred, std, .. } => {
                let how = if *centred { "centred and divided" } else { "not centred, divided" };
                format!("standard: {} {how} by the standard deviation", columns(std.len()))
            }
            Op::Unit => "unit: every row to length 1".to_owned(),
            Op::Power { p } => format!("power: sign(x) |x|^{p}"),
            Op::Smooth { sigma } => format!("smooth: Gaussian of {sigma} pixels, edge pixels repeated"),
            Op::CentreMass { background, level: None } => {
                format!("centre-mass: centre of mass to the frame's centre, background {background}")
            }
            Op::CentreMass { background, level: Some(level) } => {
                format!(
                    "centre-mass: figure further than {level} from background {background} to the frame's centre"
                )
            }
            Op::Downsample { height, width } => format!("downsample: area means, {height} x {width} pixels"),
            Op::Edges { keep } => {
                format!("edges: four directions{}", if *keep { " beside the image" } else { "" })
            }
            Op::Silhouette { background, level } => {
                format!("silhouette: 1 where further than {level} from background {background}, else 0")
            }
            Op::Deskew { background } => format!("deskew: slant taken out, background {background}"),
            Op::Pad { columns } => format!("pad: {} columns and {columns} of zeros", self.d),
            Op::OneHot { letters } => {
                format!("one-hot: {} places, {letters} letters as unit vectors", self.d)
            }
            Op::LogOdds { letters, classes, .. } => {
                format!("log-odds: {} places, {letters} letters as scores of {classes} classes", self.d)
            }
            Op::Linear { outputs, invariance: Some(lambda), .. } => {
                format!("invariant: {} columns to {outputs}, lambda {lambda}", self.d)
            }
            Op::Linear { outputs, .. } => format!("linear: {} columns to {outputs}", self.d),
        }
    }

    /// The loop body of all stages but the linear one, which is a matrix product, and those on sequences.
    fn row_map(&self) -> Box<dyn RowMap + '_> {
        let d = self.d;
        let shape = self.image.unwrap_or(ImageShape::grey(1, d));
        match &self.op {
            Op::Scale { by, add } => Box::new(Columns::scale(d, *by, *add)),
            Op::MinMax { lo, hi, min, max } => Box::new(Columns::minmax(d, *lo, *hi, min, max)),
            Op::Standard { mean, std, .. } => Box::new(Columns::standard(d, mean, std)),
            Op::Unit | Op::Linear { .. } | Op::OneHot { .. } | Op::LogOdds { .. } => Box::new(Unit { d }),
            Op::Power { p } => Box::new(Power { d, p: *p }),
            Op::Pad { columns } => Box::new(Pad { d, columns: *columns }),
            Op::Smooth { sigma } => Box::new(Smooth::new(shape, *sigma)),
            &Op::CentreMass { background, level } => {
                Box::new(CentreMass::new(shape, Mass { background, level }))
            }
            Op::Downsample { height, width } => Box::new(Downsample::new(shape, *height, *width)),
            Op::Edges { keep } => Box::new(Edges::new(shape, *keep)),
            Op::Silhouette { background, level } => Box::new(Silhouette::new(shape, *background, *level)),
            Op::Deskew { background } => Box::new(Deskew::new(shape, *background)),
        }
    }
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/stages.md")]
struct Document;
