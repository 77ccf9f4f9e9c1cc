//! How a stage is saved: a small header for JSON, and named arrays for the tensors of a model file.
//!
//! What comes back is checked as if a stranger had written it: sizes that agree, numbers that are finite, parameters
//! in their range. A stage that exists can be applied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Op, Stage};
use crate::data::image::Edges;
use crate::data::points::ImageShape;
use crate::error::{Error, Result};

/// A named array.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name within the stage, such as `mean`.
    pub name: String,
    /// Its sizes; the values are stored last index fastest.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Vec<f64>,
}

/// A stage taken apart.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Parts {
    /// The small part: name, sizes and parameters.
    pub header: Value,
    /// The arrays.
    pub tensors: Vec<Tensor>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    columns: usize,
    image: Option<ImageShape>,
    stage: Op,
}

impl Stage {
    /// The stage as a small header and named arrays.
    ///
    /// ```
    /// use mercer::data::Points;
    /// use mercer::data::stage::{Recipe, Stage};
    ///
    /// let train = Points::dense(vec![0.0, 10.0, 5.0, 30.0], 2)?;
    /// let stage = Recipe::parse("standard")?.fit(train.view(), mercer::Exec::one())?;
    /// let parts = stage.to_parts();
    /// assert_eq!(parts.header["stage"]["name"], "standard");
    /// assert_eq!(parts.tensors[0].name, "mean");
    /// assert_eq!(Stage::from_parts(parts)?, stage);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn to_parts(&self) -> Parts {
        let header = Header { columns: self.d, image: self.image, stage: self.op.clone() };
        let tensor = |name: &str, values: &[f64]| Tensor {
            name: name.to_owned(),
            shape: vec![values.len()],
            values: values.to_vec(),
        };
        let tensors = match &self.op {
            Op::MinMax { min, max, .. } => vec![tensor("min", min), tensor("max", max)],
            Op::Standard { mean, std, .. } => vec![tensor("mean", mean), tensor("std", std)],
            Op::LogOdds { letters, classes, table } => {
                vec![Tensor { shape: vec![self.d, *letters, *classes], ..tensor("table", table) }]
            }
            Op::Linear { outputs, matrix, offset, .. } => vec![
                Tensor { shape: vec![*outputs, self.d], ..tensor("matrix", matrix) },
                tensor("offset", offset),
            ],
            _ => vec![],
        };
        Parts { header: serde_json::to_value(header).expect("plain numbers and words"), tensors }
    }

    /// A stage from its parts, which are not trusted.
    pub fn from_parts(parts: Parts) -> Result<Self> {
        let Header { columns, image, stage: mut op } = serde_json::from_value(parts.header).map_err(|e| {
            Error::shape("header of a saved stage", e, "a stage's name, sizes and parameters")
        })?;
        let mut tensors = parts.tensors;
        let mut take = |name: &str, shape: Option<&[usize]>| -> Result<Vec<f64>> {
            let found = tensors.iter().position(|t| t.name == name).map(|p| tensors.swap_remove(p));
            let tensor = found.ok_or_else(|| Error::shape("saved stage", "no such array", name))?;
            let whole = tensor.shape.iter().try_fold(1usize, |a, &b| a.checked_mul(b));
            let fits = shape.map_or(tensor.shape.len() == 1, |s| tensor.shape == s);
            if !fits || whole != Some(tensor.values.len()) {
                let got = format!("{} values of shape {:?}", tensor.values.len(), tensor.shape);
                let want = shape.map_or("one index".to_owned(), |s| format!("shape {s:?}"));
                return Err(Error::shape(format!("saved stage's array {name}"), got, want));
            }
            Ok(tensor.values)
        };
        match &mut op {
            Op::MinMax { min, max, .. } => (*min, *max) = (take("min", None)?, take("max", None)?),
            Op::Standard { mean, std, .. } => (*mean, *std) = (take("mean", None)?, take("std", None)?),
            Op::LogOdds { letters, classes, table } => {
                *table = take("table", Some(&[columns, *letters, *classes]))?;
            }
            Op::Linear { outputs, matrix, offset, .. } => {
                *matrix = take("matrix", Some(&[*outputs, columns]))?;
                *offset = take("offset", Some(&[*outputs]))?;
            }
            _ => {}
        }
        if let Some(extra) = tensors.first() {
            return Err(Error::shape("arrays of a saved stage", &extra.name, "none besides the stage's own"));
        }
        Stage { d: columns, image, op }.checked()
    }

    /// The stage, if all in it fits together.
    pub(super) fn checked(self) -> Result<Self> {
        let Stage { d, image, .. } = self;
        let bad = |what: &str, got: String, expected: &str| {
            Err(Error::shape(format!("{what} of stage {}", self.name()), got, expected))
        };
        let sizes = |s: ImageShape| s.height.checked_mul(s.width)?.checked_mul(s.channels);
        if d == 0 || image.is_some_and(|s| sizes(s) != Some(d)) {
            return bad("columns", d.to_string(), "at least one, and as many as the image has values");
        }
        if image.is_none()
            && !matches!(
                self.op,
                Op::Scale { .. }
                    | Op::MinMax { .. }
                    | Op::Standard { .. }
                    | Op::Unit
                    | Op::Power { .. }
                    | Op::Pad { .. }
                    | Op::OneHot { .. }
                    | Op::LogOdds { .. }
                    | Op::Linear { invariance: None, .. }
            )
        {
            return bad("image shape", "none".into(), "height, width and channels");
        }
        let numbers: &[f64] = match &self.op {
            Op::Scale { by, add } => &[*by, *add],
            Op::MinMax { lo, hi, .. } => &[*lo, *hi],
            Op::Power { p: v } | Op::Smooth { sigma: v } | Op::Deskew { background: v } => &[*v],
            Op::CentreMass { background, level } => &[*background, level.unwrap_or(0.0)],
            Op::Silhouette { background, level } => &[*background, *level],
            Op::Linear { invariance: Some(lambda), .. } => &[*lambda],
            _ => &[],
        };
        let arrays: [&[f64]; 2] = match &self.op {
            Op::MinMax { min: a, max: b, .. } | Op::Standard { mean: a, std: b, .. } => {
                if a.len() != b.len() || a.is_empty() || d % a.len() != 0 {
                    let got = format!("{} and {}", a.len(), b.len());
                    return bad("array lengths", got, "equal ones that divide the columns");
                }
                [a, b]
            }
            Op::Linear { outputs, matrix, offset, .. } => {
                let fits = *outputs > 0 && outputs.checked_mul(d) == Some(matrix.len());
                if !fits || offset.len() != *outputs {
                    let got = format!("{} values and {} offsets", matrix.len(), offset.len());
                    return bad("matrix", got, &format!("{outputs} rows of {d}, and an offset for each row"));
                }
                [matrix, offset]
            }
            Op::LogOdds { table, .. } => [table, &[]],
            _ => [&[], &[]],
        };
        let mut all = numbers.iter().chain(arrays[0]).chain(arrays[1]);
        if let Some(v) = all.find(|v| !v.is_finite()) {
            return bad("numbers", v.to_string(), "finite ones");
        }
        let ok = match &self.op {
            Op::MinMax { lo, hi, min, max } => {
                hi > lo
                    && (hi - lo).is_finite()
                    && min.iter().zip(max).all(|(a, b)| a <= b && (b - a).is_finite())
            }
            Op::Standard { std, .. } => std.iter().all(|&s| s > 0.0),
            Op::Power { p } => *p > 0.0,
            Op::Smooth { sigma } => (0.0..=100.0).contains(sigma),
            Op::Silhouette { level, .. } | Op::CentreMass { level: Some(level), .. } => *level >= 0.0,
            Op::Downsample { height, width } => {
                let fits = |s: ImageShape| (1..=s.height).contains(height) && (1..=s.width).contains(width);
                image.is_some_and(fits)
            }
            Op::Edges { keep } => d.checked_mul(Edges::maps(*keep)).is_some(),
            Op::Pad { columns } => *columns > 0 && d.checked_add(*columns).is_some(),
            Op::OneHot { letters } => (1..=256).contains(letters) && d.checked_mul(*letters).is_some(),
            Op::LogOdds { letters, classes, table } => {
                let size = d.checked_mul(*letters).and_then(|n| n.checked_mul(*classes));
                *letters > 0 && *classes > 0 && size == Some(table.len())
            }
            _ => true,
        };
        if ok {
            Ok(self)
        } else {
            bad("parameters", self.describe(), "within the ranges the table of stages gives")
        }
    }
}

impl From<Stage> for Parts {
    fn from(stage: Stage) -> Self {
        stage.to_parts()
    }
}

impl TryFrom<Parts> for Stage {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        Self::from_parts(parts)
    }
}
