//! Partial dependence of predictions on one column (Friedman 2001).
//!
//! All rows get the same value of a column, the other columns keep theirs, and the predictions are averaged; doing so
//! for several values gives a curve. It shows the direction of an effect, which permutation importance does not.
//! Where columns are correlated, the average includes unrealistic rows, and opposite effects in two groups of rows
//! cancel.
//!
//! Cost: a prediction of at most 300 rows for each column and each of at most 20 values.

use std::collections::HashMap;

use serde::Serialize;

use super::importance::{column_name, columns_of, with_columns};
use crate::data::table::{Column, MISSING};
use crate::data::{Dataset, Points, Row, Targets, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Model, Query, Task};
use crate::watch::{Step, Watch};

/// Maximum number of rows that predictions are averaged over.
const ROWS: usize = 300;
/// Maximum number of values of a numeric column.
const NUMBERS: usize = 20;
/// A numeric column with at most this many distinct values is evaluated at each of them.
const FEW: usize = 12;
/// Maximum number of categories; the most frequent are used.
const CATEGORIES: usize = 12;

/// Partial dependence of several columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependences {
    /// The averaged response: `probability`, `share` (of rows predicted as the class, cluster or outlier) or
    /// `prediction`.
    pub response: &'static str,
    /// Names of the classes or clusters; one empty name for regression.
    pub outputs: Vec<String>,
    /// Number of rows averaged over.
    pub rows: usize,
    /// The columns, in the requested order.
    pub columns: Vec<Dependence>,
    /// Requested columns without a curve, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<(String, String)>,
}

/// The curve of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// The column's name.
    pub column: String,
    /// Whether its values are numbers; otherwise they are categories in descending frequency, or dates in order.
    pub numeric: bool,
    /// The values, with the mean predictions.
    pub places: Vec<Place>,
}

/// A value of a column and the mean predictions if all rows have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The value as text.
    pub value: String,
    /// The value as a number, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// The mean of each output.
    pub mean: Vec<f64>,
}

impl Dependence {
    /// The range of an output over the values: largest mean minus smallest.
    pub fn range(&self, output: usize) -> f64 {
        let of = || self.places.iter().map(|place| place.mean[output]);
        of().fold(f64::NEG_INFINITY, f64::max) - of().fold(f64::INFINITY, f64::min)
    }

    /// The output with the largest range.
    pub fn widest(&self) -> usize {
        let k = self.places.first().map_or(0, |place| place.mean.len());
        (0..k).fold(0, |best, o| if self.range(o) > self.range(best) { o } else { best })
    }
}

/// Partial dependence of a model's predictions on some columns (indices from 0) of data, which needs no targets.
///
/// Not supported for kernel features, images, sequences and precomputed kernels. Columns that the model ignores are
/// skipped.
///
/// ```
/// use mercer::assess::dependence;
/// use mercer::data::{Dataset, Points, Targets};
/// use mercer::model::{Plan, Wishes};
/// use mercer::{Exec, watch};
/// let x: Vec<f64> = (0..80).flat_map(|i| [f64::from(i * 37 % 101), f64::from(i * i % 89)]).collect();
/// let y = x.chunks(2).map(|row| 3.0 * row[0]).collect();
/// let data = Dataset::new(Points::dense(x, 2)?, Targets::Reals(y))?;
/// let model = Plan::new(&data, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
/// let found = dependence(&model, &data, &[0, 1], 0, Exec::one(), &mut watch::silent())?;
/// // The first column makes the target, the second does nothing.
/// assert!(found.columns[0].range(0) > 150.0 && found.columns[1].range(0) < 30.0);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn dependence(
    model: &Model,
    data: &Dataset,
    columns: &[usize],
    seed: u64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Dependences> {
    let d = columns_of(data)?;
    if data.points.image().is_some() {
        return Err(Error::Unsupported(
            "a single pixel has little effect: partial dependence is not computed for images".into(),
        ));
    }
    if data.is_empty() {
        return Err(Error::shape("rows to average predictions over", 0, "at least 1"));
    }
    if let Some(&column) = columns.iter().find(|&&column| column >= d) {
        return Err(Error::shape("requested columns", column + 1, format!("at most {d}")));
    }
    let rows: Vec<usize> = split::shuffle(data.len(), seed).into_iter().take(ROWS).collect();
    let mut some = data.gather(&rows);
    let (response, outputs) = response(model)?;
    let mut found = Dependences {
        response,
        outputs,
        rows: rows.len(),
        columns: Vec::with_capacity(columns.len()),
        skipped: Vec::new(),
    };
    let kinds = model.coding();
    let points = some.points.clone();
    for (at, &j) in columns.iter().enumerate() {
        if watch(&Step::new("curves", at as u64, Some(columns.len() as u64))).is_break() {
            return Err(Error::Cancelled);
        }
        let column = column_name(data, j);
        // The data's table may have columns that the model was not trained with.
        let kind = kinds.iter().find(|coded| coded.name == column).map(|coded| coded.kind);
        if kind == Some("ignored") {
            found.skipped.push((column, "the model ignores it".into()));
            continue;
        }
        let values = values(&data.points, j, kind == Some("date"));
        if values.is_empty() {
            found.skipped.push((column, "all of its values are missing".into()));
            continue;
        }
        let numeric = values.iter().all(|value| matches!(value, Value::Number(_)));
        let mut places = Vec::with_capacity(values.len());
        for value in values {
            some.points = with_columns(&points, &[j], |column| value.fill(column))?;
            places.push(Place { mean: mean(model, &some, found.outputs.len(), exec)?, ..value.place() });
        }
        found.columns.push(Dependence { column, numeric, places });
    }
    Ok(found)
}

/// The response and the names of its outputs.
fn response(model: &Model) -> Result<(&'static str, Vec<String>)> {
    match model.task() {
        Task::Regression => Ok(("prediction", vec![String::new(); model.outputs()])),
        Task::Classification if model.machine.has_probabilities() => Ok(("probability", model.classes())),
        Task::Classification | Task::Clustering | Task::Novelty => Ok(("share", model.classes())),
        Task::Features => Err(Error::Unsupported(
            "kernel PCA models make no predictions, so there is no partial dependence".into(),
        )),
    }
}

/// The mean predictions over all rows.
fn mean(model: &Model, data: &Dataset, outputs: usize, exec: Exec) -> Result<Vec<f64>> {
    let probabilities = model.task() == Task::Classification && model.machine.has_probabilities();
    let query = Query { probabilities, ..Query::default() };
    let got = model.predict_data(data, &query, exec)?;
    let mut sum = vec![0.0; outputs];
    match (got.probabilities, &got.targets) {
        (Some(all), _) => {
            all.values.chunks(outputs).for_each(|line| sum.iter_mut().zip(line).for_each(|(s, p)| *s += p));
        }
        (None, Targets::Classes(labels)) => labels.of_row.iter().for_each(|&c| sum[c as usize] += 1.0),
        (None, Targets::Reals(y)) => {
            y.chunks(outputs).for_each(|line| sum.iter_mut().zip(line).for_each(|(s, v)| *s += v));
        }
        (None, Targets::None) => {}
    }
    Ok(sum.into_iter().map(|s| s / data.len() as f64).collect())
}

/// A value assigned to a whole column.
enum Value {
    Number(f64),
    Text(String),
}

impl Value {
    fn fill(&self, column: &mut Column) {
        let rows = column.len();
        *column = match self {
            Value::Number(value) => Column::Numbers(vec![*value; rows]),
            Value::Text(text) => Column::text((0..rows).map(|_| Some(text.as_str()))),
        };
    }

    fn place(self) -> Place {
        match self {
            Value::Number(value) => Place { value: value.to_string(), number: Some(value), mean: Vec::new() },
            Value::Text(value) => Place { value, number: None, mean: Vec::new() },
        }
    }
}

/// The values at which a column is evaluated: all values of a numeric column if they are few, else some between the
/// 2nd and the 98th percentile; for text the most frequent ones.
fn values(points: &Points, j: usize, dates: bool) -> Vec<Value> {
    let numbers = match points.as_table().map(|table| &table.columns()[j]) {
        Some(Column::Numbers(numbers)) => numbers.clone(),
        Some(Column::Text { pool, of_row }) => {
            let mut count = HashMap::<u32, usize>::new();
            of_row
                .iter()
                .filter(|&&code| code != MISSING)
                .for_each(|&code| *count.entry(code).or_default() += 1);
            let mut codes: Vec<(u32, usize)> = count.into_iter().collect();
            codes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            let text = |(code, _): &(u32, usize)| pool[*code as usize].clone();
            if dates {
                // Dates are mostly distinct: use some of them, in order.
                let mut all: Vec<String> = codes.iter().map(text).collect();
                all.sort();
                let step = all.len().div_ceil(CATEGORIES).max(1);
                return all.into_iter().step_by(step).map(Value::Text).collect();
            }
            return codes.iter().take(CATEGORIES).map(text).map(Value::Text).collect();
        }
        None => (0..points.len()).map(|i| number(points.row(i), j)).collect(),
    };
    let mut sorted: Vec<f64> = numbers.into_iter().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let mut different = sorted.clone();
    different.dedup();
    if different.len() > FEW {
        let last = sorted.len() - 1;
        let quantile = |q: f64| sorted[(q * last as f64).round() as usize];
        let (low, high) = (quantile(0.02), quantile(0.98));
        // Equal steps show the curve's shape; if one value dominates the column, the percentiles leave no range for
        // them.
        different = if low < high {
            (0..NUMBERS).map(|i| low + (high - low) * i as f64 / (NUMBERS - 1) as f64).collect()
        } else {
            vec![sorted[0], low, sorted[last]]
        };
        different.dedup();
    }
    different.into_iter().map(Value::Number).collect()
}

/// A column of one row.
fn number(row: Row<'_>, j: usize) -> f64 {
    match row {
        Row::F32(x) => f64::from(x[j]),
        Row::F64(x) => x[j],
        Row::Sparse { column, value, .. } => {
            column.binary_search(&(j as u32)).map_or(0.0, |place| value[place])
        }
        Row::Sequence(_) | Row::Number(_) | Row::Cells { .. } => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Table, toy};
    use crate::model::{Plan, Wishes};
    use crate::watch::silent;

    fn fitted(data: &Dataset, probability: bool) -> Model {
        let params = if probability { vec![("probability", true.into())] } else { Vec::new() };
        let wishes = Wishes { params, ..Wishes::default() };
        let plan = Plan::new(data, &wishes, Exec::one()).expect("a plan");
        plan.fit(Exec::one(), &mut silent()).expect("a fit")
    }

    fn of(model: &Model, data: &Dataset, columns: &[usize]) -> Result<Dependences> {
        dependence(model, data, columns, 1, Exec::one(), &mut silent())
    }

    #[test]
    fn the_curve_is_the_mean_of_predictions_with_that_value() {
        let (x, y) = toy::banana(60, 1);
        let data = Dataset::new(x.clone(), y).expect("whole");
        let model = fitted(&data, true);
        let found = of(&model, &data, &[1]).expect("a curve");
        assert_eq!((found.response, found.rows), ("probability", 60));
        let place = &found.columns[0].places[7];
        let mut values = x.view().to_f64().expect("numbers");
        values.chunks_mut(2).for_each(|row| row[1] = place.number.expect("a number"));
        let p = model.probabilities(Points::dense(values, 2).expect("rows").view(), Exec::one());
        let want = p.expect("probabilities").values.chunks(2).map(|p| p[1]).sum::<f64>() / 60.0;
        assert!((place.mean[1] - want).abs() < 1e-12, "{} {want}", place.mean[1]);
        assert!((place.mean[0] + place.mean[1] - 1.0).abs() < 1e-9);
        assert!(of(&model, &data, &[2]).is_err());
    }

    #[test]
    fn categories_numbers_and_missing_values_of_tables() {
        let n = 150;
        let kind = |i: usize| ["red", "green", "blue"][(i * 7) % 3];
        let noise: Vec<f64> =
            (0..n).map(|i| if i % 10 == 3 { f64::NAN } else { ((i * 7919) % 541) as f64 }).collect();
        let labels = Labels::new((0..n).map(|i| if kind(i) == "red" { "warm" } else { "cold" }));
        let columns = vec![
            Column::Numbers(noise),
            Column::text((0..n).map(|i| Some(kind(i)))),
            Column::Numbers(vec![f64::NAN; n]),
        ];
        let table =
            Table::new(vec!["noise".into(), "colour".into(), "empty".into()], columns).expect("a table");
        let data = Dataset::new(Points::table(table), Targets::Classes(labels)).expect("whole");
        let found = of(&fitted(&data, false), &data, &[1, 0, 2]).expect("curves");
        assert_eq!((found.response, found.outputs.join(" ")), ("share", "cold warm".into()));
        let colour = &found.columns[0];
        assert!(!colour.numeric && colour.places.len() == 3);
        for place in &colour.places {
            let warm = f64::from(u8::from(place.value == "red"));
            assert!((place.mean[1] - warm).abs() < 0.05, "{place:?}");
        }
        let noise = &found.columns[1];
        assert!(noise.numeric && noise.places.len() == NUMBERS && noise.range(1) < 0.05, "{noise:?}");
        assert_eq!(found.skipped[0].0, "empty");
    }

    #[test]
    fn a_column_of_few_values_is_asked_at_each() {
        let numbers = |x: Vec<f64>| -> Vec<f64> {
            let points = Points::dense(x, 1).expect("rows");
            let values = values(&points, 0, false);
            values.iter().map(|v| if let Value::Number(v) = v { *v } else { f64::NAN }).collect()
        };
        assert_eq!(numbers(vec![1.0, 0.0, 1.0, 0.0]), [0.0, 1.0]);
        assert_eq!(numbers((0..1000).map(f64::from).collect()).len(), NUMBERS);
        // Nearly all values are the same.
        let mut peaked = vec![5.0; 2000];
        peaked.extend((0..14).map(f64::from));
        assert_eq!(numbers(peaked), [0.0, 5.0, 13.0]);
    }
}
