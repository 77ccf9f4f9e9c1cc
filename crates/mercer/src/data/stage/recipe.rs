//! Recipes: stages yet to be fitted, written in a line.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Stage;
use super::kinds::{Entry, Frame, ROWS, Training};
use crate::data::call::{Args, Call};
use crate::data::points::{Data, View};
use crate::data::targets::Labels;
use crate::error::{Error, Result};
use crate::exec::Exec;

/// A stage yet to be fitted. [`Recipe::ALL`] is the table of their names, arguments and meanings.
///
/// ```
/// use mercer::data::stage::Recipe;
/// let recipe = Recipe::parse("minmax(-1, 1)")?;
/// assert_eq!(recipe.to_string(), "minmax(lo=-1, hi=1)");
/// assert_eq!(Recipe::parse(&recipe.to_string())?, recipe);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Recipe {
    /// The row of the table.
    row: usize,
    args: Args,
}

impl Recipe {
    /// Reads `name` or `name(argument, key=value)`; arguments left out take the defaults of [`Recipe::ALL`].
    pub fn parse(line: &str) -> Result<Self> {
        let call = Call::parse("stage", line)?;
        let row = Self::ALL.iter().position(|e| e.name == call.name()).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|e| e.name).collect();
            Error::param("stage", format!("`{line}`"), format!("one of {}", names.join(", ")))
        })?;
        let args = call.bind(Self::ALL[row].args)?.settled();
        (ROWS[row].learns)(&args)?;
        Ok(Recipe { row, args })
    }

    /// Whether anything is fitted; otherwise the stage can be applied before rows are divided into folds.
    pub fn learns(&self) -> bool {
        (ROWS[self.row].learns)(&self.args).unwrap_or(true)
    }

    /// The name in the table.
    pub fn name(&self) -> &'static str {
        Self::ALL[self.row].name
    }

    /// The stage fitted on these points. Fails if it requires labels: see [`Recipe::fit_with`].
    pub fn fit(&self, points: View<'_>, exec: Exec) -> Result<Stage> {
        self.fit_with(points, None, exec)
    }

    /// The same where the points' classes are known.
    pub fn fit_with(&self, points: View<'_>, labels: Option<&Labels>, exec: Exec) -> Result<Stage> {
        let Entry { image: only_images, sequence, table, .. } = Self::ALL[self.row];
        let refused = |got, expected| {
            Err(Error::shape(format!("points to fit stage {} on", self.name()), got, expected))
        };
        let numbers =
            !matches!(points.data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. });
        if table && !matches!(points.data, Data::Table { .. }) {
            return refused(points.kind(), "a table");
        }
        if !sequence && !table && (!numbers || points.d == 0) {
            return refused(points.kind(), "rows of numbers, at least one column");
        }
        let image = points.image.filter(|shape| !shape.is_empty());
        if only_images && image.is_none() {
            return refused("rows without image shape", "images");
        }
        let op = (ROWS[self.row].fit)(&self.args, &Training { points, image, labels, exec })?;
        Stage { at: Frame { d: points.d, image }, op }.checked()
    }
}

impl fmt::Display for Recipe {
    /// Numbers always, words only where they are not the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args = self.args.to_string();
        f.write_str(self.name())?;
        if args.is_empty() { Ok(()) } else { write!(f, "({args})") }
    }
}

impl std::str::FromStr for Recipe {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self> {
        Self::parse(line)
    }
}

impl TryFrom<String> for Recipe {
    type Error = Error;

    fn try_from(line: String) -> Result<Self> {
        Self::parse(&line)
    }
}

impl From<Recipe> for String {
    fn from(recipe: Recipe) -> Self {
        recipe.to_string()
    }
}
