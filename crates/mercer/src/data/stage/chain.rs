//! Stages in a row: fitted in order, each on what the ones before it make of the training points.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Stage;
use super::parts::{Parts, StageTensor};
use super::recipe::Recipe;
use crate::data::points::{Data, Points, View};
use crate::data::targets::Labels;
use crate::error::{Error, Result};
use crate::exec::Exec;

/// Fitted stages, applied in order.
///
/// ```
/// use mercer::Exec;
/// use mercer::data::stage::Stages;
/// use mercer::data::{ImageShape, Points};
///
/// let train = Points::dense((0..32).map(f64::from).collect(), 16)?.with_image(ImageShape::grey(4, 4))?;
/// let recipes = Stages::parse("smooth(0.75) | downsample(2, 2) | minmax(-1, 1)")?;
/// let (stages, fitted) = Stages::fit(&recipes, train.view(), Exec::one())?;
/// assert_eq!(fitted.dim(), 4);
/// assert_eq!(stages.apply(train.view(), Exec::one())?, fitted);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stages {
    /// The stages, first to last.
    pub list: Vec<Stage>,
}

impl Stages {
    /// Recipes separated by `|`; an empty line is no stage.
    pub fn parse(line: &str) -> Result<Vec<Recipe>> {
        if line.trim().is_empty() {
            return Ok(Vec::new());
        }
        line.split('|').map(Recipe::parse).collect()
    }

    /// The recipes for these points: for a table, `table` comes first, unless it is there already.
    pub fn recipes_for(points: View<'_>, mut recipes: Vec<Recipe>) -> Result<Vec<Recipe>> {
        let first = recipes.first().map(Recipe::name);
        if matches!(points.data, Data::Table { .. }) && first != Some("table") {
            recipes.insert(0, Recipe::parse("table")?);
        }
        Ok(recipes)
    }

    /// The fitted stages, and what they make of the training points.
    pub fn fit(recipes: &[Recipe], points: View<'_>, exec: Exec) -> Result<(Self, Points)> {
        Self::fit_with(recipes, points, None, exec)
    }

    /// The same where the points' classes are known, which some stages look at.
    ///
    /// ```
    /// use mercer::Exec;
    /// use mercer::data::{Labels, Points, Sequences, Stages};
    ///
    /// let dna = Sequences { alphabet: b"ACGT".to_vec(), start: vec![0, 2, 4], symbol: vec![0, 2, 3, 2] };
    /// let dna = Points::sequences(dna)?;
    /// let labels = Labels::new(["gene", "junk"]);
    /// let recipes = Stages::parse("log-odds | scale(by=2)")?;
    /// let (_, scores) = Stages::fit_with(&recipes, dna.view(), Some(&labels), Exec::one())?;
    /// assert_eq!(scores.dim(), 4); // two places, two classes
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit_with(
        recipes: &[Recipe],
        points: View<'_>,
        labels: Option<&Labels>,
        exec: Exec,
    ) -> Result<(Self, Points)> {
        let mut list = Vec::with_capacity(recipes.len());
        let mut now: Option<Points> = None;
        for recipe in recipes {
            let before = now.as_ref().map_or(points, Points::view);
            let stage = recipe.fit_with(before, labels, exec)?;
            now = Some(stage.apply(before, exec)?);
            list.push(stage);
        }
        Ok((Stages { list }, now.unwrap_or_else(|| copy(points))))
    }

    /// The points after the last stage.
    pub fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let mut now: Option<Points> = None;
        for stage in &self.list {
            now = Some(stage.apply(now.as_ref().map_or(points, Points::view), exec)?);
        }
        Ok(now.unwrap_or_else(|| copy(points)))
    }

    /// The points before the first stage, for points after the last one; fails where a stage cannot be undone.
    pub fn undo(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let mut now: Option<Points> = None;
        for stage in self.list.iter().rev() {
            now = Some(stage.undo(now.as_ref().map_or(points, Points::view), exec)?);
        }
        Ok(now.unwrap_or_else(|| copy(points)))
    }

    /// Whether there is no stage.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Number of stages.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The chain as a list of headers and the arrays of all stages, named `0.mean`, `0.std`, `1.min`, ...
    pub fn to_parts(&self) -> Parts {
        let mut headers = Vec::new();
        let mut tensors = Vec::new();
        for (i, stage) in self.list.iter().enumerate() {
            let parts = stage.to_parts();
            headers.push(parts.header);
            tensors.extend(
                parts.tensors.into_iter().map(|t| StageTensor { name: format!("{i}.{}", t.name), ..t }),
            );
        }
        Parts { header: Value::Array(headers), tensors }
    }

    /// A chain from its parts, which are not trusted: each stage is checked, and each must take what the one before
    /// it gives.
    pub fn from_parts(parts: Parts) -> Result<Self> {
        let Value::Array(headers) = parts.header else {
            return Err(Error::shape("header of saved stages", parts.header, "a list"));
        };
        let mut of_stage: Vec<Vec<StageTensor>> = headers.iter().map(|_| Vec::new()).collect();
        for tensor in parts.tensors {
            let split =
                tensor.name.split_once('.').and_then(|(i, name)| Some((i.parse::<usize>().ok()?, name)));
            match split {
                Some((i, name)) if i < of_stage.len() => {
                    let name = name.to_owned();
                    of_stage[i].push(StageTensor { name, ..tensor });
                }
                _ => {
                    return Err(Error::shape(
                        "array of saved stages",
                        tensor.name,
                        "a stage's number and a name",
                    ));
                }
            }
        }
        let mut list: Vec<Stage> = Vec::with_capacity(headers.len());
        for (header, tensors) in headers.into_iter().zip(of_stage) {
            let stage = Stage::from_parts(Parts { header, tensors })?;
            if let Some(before) = list.last().filter(|before| before.output_dim() != stage.input_dim()) {
                let what = format!("columns of saved stage {}", stage.name());
                return Err(Error::shape(what, stage.input_dim(), before.output_dim()));
            }
            list.push(stage);
        }
        Ok(Stages { list })
    }
}

impl fmt::Display for Stages {
    /// One stage a line, in words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.list.iter().map(Stage::describe).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// All rows of a view as points of their own.
fn copy(points: View<'_>) -> Points {
    points.gather(&(0..points.n).collect::<Vec<_>>())
}
