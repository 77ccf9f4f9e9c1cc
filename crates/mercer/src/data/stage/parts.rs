//! How a stage is saved: a small header for JSON, and named arrays for the tensors of a model file.
//!
//! Saved stages are not trusted: sizes must agree, numbers must be finite, parameters in range. Every stage that
//! exists can be applied.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kinds::{Frame, Op};
use super::{Recipe, Stage};
use crate::data::points::ImageShape;
use crate::error::{Error, Result};

/// A named array.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StageTensor {
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
    pub tensors: Vec<StageTensor>,
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
        let Stage { at, mut op } = self.clone();
        let tensors = op.arrays(at).into_iter().map(|array| {
            let values = std::mem::take(array.values);
            StageTensor {
                name: array.name.to_owned(),
                shape: array.shape.unwrap_or(vec![values.len()]),
                values,
            }
        });
        let tensors = tensors.collect();
        let header = Header { columns: at.d, image: at.image, stage: op };
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
        let at = Frame { d: columns, image };
        for array in op.arrays(at) {
            *array.values = take(array.name, array.shape.as_deref())?;
        }
        if let Some(extra) = tensors.first() {
            return Err(Error::shape("arrays of a saved stage", &extra.name, "none besides the stage's own"));
        }
        Stage { at, op }.checked()
    }

    /// The stage, if all in it fits together.
    pub(super) fn checked(mut self) -> Result<Self> {
        let (at, name) = (self.at, self.name());
        let bad = |what: &str, got: String, expected: &str| {
            Err(Error::shape(format!("{what} of stage {name}"), got, expected))
        };
        let sizes = |s: ImageShape| s.height.checked_mul(s.width)?.checked_mul(s.channels);
        if at.d == 0 || at.image.is_some_and(|s| sizes(s) != Some(at.d)) {
            return bad("columns", at.d.to_string(), "at least one, and as many as the image has values");
        }
        if at.image.is_none() && Recipe::ALL.iter().any(|e| e.name == name && e.image) {
            return bad("image shape", "none".into(), "height, width and channels");
        }
        let arrays = self.op.arrays(at);
        if let Some(v) = arrays.iter().flat_map(|a| a.values.iter()).find(|v| !v.is_finite()) {
            return bad("numbers", v.to_string(), "finite ones");
        }
        if !self.kind().is_valid(at) {
            return bad("parameters", self.describe(), "within the ranges the table of stages gives");
        }
        Ok(self)
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
