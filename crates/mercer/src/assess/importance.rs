//! Permutation importance of columns (Breiman 2001).
//!
//! The values of a column are shuffled among the rows, which removes its information, and the increase of the error
//! is the column's importance. It describes the model, not the data: a duplicated column shares its importance with
//! the copy, and a column that matters only in combination has all of it. On training rows it includes overfitting,
//! so use rows that the model was not trained on. Pixels are shuffled in squares, since a single one hardly ever
//! matters. Novelty detection and clustering need no targets: the share of rows whose prediction changes is measured.
//!
//! Cost: a prediction of at most 2000 rows for each column and repetition.

use serde::Serialize;

use super::evaluation::Evaluation;
use super::metric;
use crate::data::table::Column;
use crate::data::{Data, Dataset, ImageShape, Points, Table, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Model, Query, Task};
use crate::watch::{Step, Watch};

/// Maximum number of rows on which errors are measured.
const ROWS: usize = 2000;
/// Maximum number of columns; beyond it the list is of no use and takes long.
const MOST_COLUMNS: usize = 2000;
/// Number of squares along a side of images.
const SQUARES: usize = 7;

/// The importance of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The column's name; for images, the rows and columns of pixels of the square.
    pub column: String,
    /// The columns that were shuffled together, from 0: one, or the pixels of a square.
    #[serde(skip)]
    pub members: Vec<usize>,
    /// The increase of the error if its values are shuffled: error rate or root mean squared error; without targets,
    /// the share of predictions that change.
    pub rise: f64,
    /// The standard deviation of the increase over the repetitions.
    pub spread: f64,
}

/// The importance of all columns in descending order, with the metric used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importances {
    /// The metric: `error`, `rmse`, or `changed` where there are no targets.
    pub metric: &'static str,
    /// The error on the unshuffled rows.
    pub error: f64,
    /// Rows.
    pub rows: usize,
    /// Number of repetitions per column.
    pub repeats: usize,
    /// The columns.
    pub columns: Vec<Importance>,
    /// The shape of the rows, where they are images.
    #[serde(skip)]
    pub image: Option<ImageShape>,
}

/// Measures the importance of each column of labelled data, which the model should not have been trained on. For novelty
/// and clusters it needs no labels. Not supported for kernel features, sequences and precomputed kernels.
///
/// ```
/// use mercer::assess::importance;
/// use mercer::data::{Dataset, Points, Targets};
/// use mercer::model::{Plan, Wishes};
/// use mercer::{Exec, watch};
/// let x: Vec<f64> = (0..80).flat_map(|i| [f64::from(i * 37 % 101), f64::from(i * i % 89)]).collect();
/// let y = x.chunks(2).map(|row| row[0] * row[0]).collect();
/// let data = Dataset::new(Points::dense(x, 2)?, Targets::Reals(y))?;
/// let model = Plan::new(&data, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
/// let found = importance(&model, &data, 3, 0, Exec::one(), &mut watch::silent())?;
/// assert_eq!(found.columns[0].column, "column 1");
/// assert!(found.columns[0].rise > 10.0 * found.columns[1].rise.abs());
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn importance(
    model: &Model,
    data: &Dataset,
    repeats: usize,
    seed: u64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Importances> {
    if repeats == 0 {
        return Err(Error::param("repeats", repeats, "at least 1"));
    }
    let rows: Vec<usize> = split::shuffle(data.len(), seed).into_iter().take(ROWS).collect();
    let data = data.gather(&rows);
    let groups = groups(&data)?;
    let before = Before::new(model, &data, exec)?;
    let (metric, error) = before.error(model, &data, exec)?;
    let mut columns = Vec::with_capacity(groups.len());
    let mut other = data.clone();
    for (at, (name, members)) in groups.iter().enumerate() {
        if watch(&Step::new("columns", at as u64, Some(groups.len() as u64))).is_break() {
            return Err(Error::Cancelled);
        }
        let mut rises = Vec::with_capacity(repeats);
        for repeat in 0..repeats {
            // Every column is shuffled by the same permutations, so that their effect is common to all columns.
            let order = split::shuffle(data.len(), seed.wrapping_add(1 + repeat as u64));
            other.points = with_columns(&data.points, members, |column| {
                *column = column.gather(order.iter().copied());
            })?;
            rises.push(before.error(model, &other, exec)?.1 - error);
        }
        let rise = rises.iter().sum::<f64>() / repeats as f64;
        let off: f64 = rises.iter().map(|r| (r - rise).powi(2)).sum();
        let spread = (off / (repeats.max(2) - 1) as f64).sqrt();
        columns.push(Importance { column: name.clone(), members: members.clone(), rise, spread });
    }
    columns.sort_by(|a, b| b.rise.total_cmp(&a.rise));
    let image = data.points.image();
    Ok(Importances { metric, error, rows: data.len(), repeats, columns, image })
}

/// The reference for shuffled rows: their targets, or the earlier predictions.
enum Before {
    Targets,
    Predictions(Vec<u32>),
}

impl Before {
    fn new(model: &Model, data: &Dataset, exec: Exec) -> Result<Self> {
        match model.task() {
            Task::Classification | Task::Regression => Ok(Before::Targets),
            Task::Novelty | Task::Clustering => Ok(Before::Predictions(predicted(model, data, exec)?)),
            Task::Features => Err(Error::Unsupported(
                "kernel PCA models make no predictions: importance of columns is not supported".into(),
            )),
        }
    }

    fn error(&self, model: &Model, data: &Dataset, exec: Exec) -> Result<(&'static str, f64)> {
        match (self, model.task()) {
            (Before::Predictions(before), _) => {
                Ok(("changed", metric::error_rate(&predicted(model, data, exec)?, before)))
            }
            (Before::Targets, Task::Regression) => {
                let got = model.predict_data(data, &Query::default(), exec)?;
                Ok(("rmse", metric::rmse(got.targets.reals()?, data.targets.reals()?)))
            }
            (Before::Targets, _) => match Evaluation::new(model, data, exec)? {
                Evaluation::Classification(e) => Ok(("error", e.error)),
                _ => Err(Error::class_targets("none")),
            },
        }
    }
}

fn predicted(model: &Model, data: &Dataset, exec: Exec) -> Result<Vec<u32>> {
    Ok(model.predict_data(data, &Query::default(), exec)?.targets.classes()?.of_row.clone())
}

/// The name of a column, by index from 0.
pub(super) fn column_name(data: &Dataset, j: usize) -> String {
    let given = data.points.as_table().map(Table::names).or(data.column_names.as_deref());
    given.and_then(|names| names.get(j)).cloned().unwrap_or_else(|| format!("column {}", j + 1))
}

/// The number of columns; fails if rows have none, or too many.
pub(super) fn columns_of(data: &Dataset) -> Result<usize> {
    let points = &data.points;
    if matches!(points.view().data, Data::Sequences { .. } | Data::RowNumbers(_)) {
        return Err(Error::shape("points", points.kind(), "columns: rows of numbers, or a table"));
    }
    let d = points.dim();
    if d > MOST_COLUMNS && points.image().is_none() {
        return Err(Error::shape("columns to shuffle one by one", d, format!("at most {MOST_COLUMNS}")));
    }
    Ok(d)
}

/// The groups of columns that are shuffled together, with names.
fn groups(data: &Dataset) -> Result<Vec<(String, Vec<usize>)>> {
    let d = columns_of(data)?;
    Ok(match data.points.image() {
        Some(shape) => squares(shape),
        None => (0..d).map(|j| (column_name(data, j), vec![j])).collect(),
    })
}

/// The pixels of squares that cover an image.
fn squares(shape: ImageShape) -> Vec<(String, Vec<usize>)> {
    let side = shape.height.max(shape.width).div_ceil(SQUARES).max(1);
    let mut all = Vec::new();
    for top in (0..shape.height).step_by(side) {
        for left in (0..shape.width).step_by(side) {
            let (bottom, right) = ((top + side).min(shape.height), (left + side).min(shape.width));
            let pixels = (top..bottom).flat_map(|y| (left..right).map(move |x| y * shape.width + x));
            let members =
                pixels.flat_map(|p| (0..shape.channels).map(move |c| p * shape.channels + c)).collect();
            all.push((format!("pixels {}-{}, {}-{}", top + 1, bottom, left + 1, right), members));
        }
    }
    all
}

/// The points with some columns changed. Sparse rows become dense ones.
pub(super) fn with_columns(
    points: &Points,
    members: &[usize],
    mut change: impl FnMut(&mut Column),
) -> Result<Points> {
    if let Some(table) = points.as_table() {
        let mut columns: Vec<Column> = table.columns().to_vec();
        members.iter().for_each(|&j| change(&mut columns[j]));
        let table = Table::new(table.names().to_vec(), columns)?.with_kinds(table.given().to_vec())?;
        return Ok(Points::table(table));
    }
    let d = points.dim();
    let mut values = points.view().to_f64()?;
    for &j in members {
        let mut column = Column::Numbers(values.iter().skip(j).step_by(d.max(1)).copied().collect());
        change(&mut column);
        if let Column::Numbers(changed) = column {
            values.chunks_mut(d).zip(changed).for_each(|(row, value)| row[j] = value);
        }
    }
    let moved = Points::dense(values, d)?;
    match points.image() {
        Some(shape) => moved.with_image(shape),
        None => Ok(moved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Targets, toy};
    use crate::model::{Plan, Wishes};
    use crate::watch::silent;

    fn fitted(data: &Dataset) -> Model {
        let plan = Plan::new(data, &Wishes::default(), Exec::one()).expect("a plan");
        plan.fit(Exec::one(), &mut silent()).expect("a fit")
    }

    #[test]
    fn a_column_of_noise_is_worth_nothing_in_tables_and_arrays() {
        let n = 200;
        let kind = |i: usize| ["red", "green", "blue"][(i * 7) % 3];
        let noise: Vec<f64> = (0..n).map(|i| ((i * 7919) % 541) as f64).collect();
        let labels = Labels::new((0..n).map(|i| if kind(i) == "red" { "warm" } else { "cold" }));
        let columns = vec![Column::Numbers(noise), Column::text((0..n).map(|i| Some(kind(i))))];
        let table = Table::new(vec!["noise".into(), "colour".into()], columns).expect("a table");
        let data = Dataset::new(Points::table(table), Targets::Classes(labels)).expect("whole");
        let found = importance(&fitted(&data), &data, 4, 1, Exec::one(), &mut silent()).expect("columns");
        assert_eq!((found.metric, found.rows), ("error", n));
        assert_eq!(found.columns[0].column, "colour");
        assert!(found.columns[0].rise > 0.3 && found.columns[0].spread < 0.1, "{found:?}");
        assert!(found.columns[1].rise.abs() < 0.02, "{found:?}");
        let again = importance(&fitted(&data), &data, 4, 1, Exec::new(2), &mut silent()).expect("columns");
        assert_eq!(found, again);
        assert!(importance(&fitted(&data), &data, 0, 1, Exec::one(), &mut silent()).is_err());
    }

    #[test]
    fn pixels_are_shuffled_by_squares_that_cover_the_image() {
        for shape in
            [ImageShape::grey(8, 8), ImageShape::grey(5, 9), ImageShape { height: 16, width: 3, channels: 3 }]
        {
            let mut all: Vec<usize> = squares(shape).into_iter().flat_map(|(_, members)| members).collect();
            all.sort_unstable();
            assert_eq!(all, (0..shape.len()).collect::<Vec<_>>());
        }
        let (points, targets) = toy::banana(60, 1);
        let data = Dataset::new(points, targets).expect("whole");
        let found = importance(&fitted(&data), &data, 2, 0, Exec::one(), &mut silent()).expect("columns");
        assert_eq!(found.columns.len(), 2);
        assert!(found.columns.iter().all(|c| c.rise > 0.05), "{found:?}");
    }
}
