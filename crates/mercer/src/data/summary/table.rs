//! What the columns of a table hold.

use std::collections::HashMap;

use serde::Serialize;

use crate::data::Targets;
use crate::data::table::{Column, Kind, MISSING, Table};

/// Values shown of each column.
const EXAMPLES: usize = 3;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// Its kind, a word of [`Kind`](crate::data::table::Kind).
    pub kind: &'static str,
    /// Why it is of that kind; nothing where somebody said so.
    pub why: Option<String>,
    /// Share of rows without a value.
    pub missing: f64,
    /// Different values.
    pub values: usize,
    /// The most frequent values; of numbers and dates the first.
    pub examples: Vec<String>,
}

impl TableColumn {
    /// The columns of a table.
    pub(super) fn of_all(table: &Table) -> Vec<Self> {
        let columns = table.names().iter().zip(table.columns()).zip(table.kinds());
        columns
            .map(|((name, column), found)| TableColumn {
                name: name.clone(),
                kind: found.kind.name(),
                why: found.why,
                missing: column.missing() as f64 / column.len().max(1) as f64,
                values: different(column),
                examples: examples(column),
            })
            .collect()
    }
}

/// The columns of some rows of a table that hold the target itself: the same number, or for each class a value of its own.
/// Identifiers, dates and free text are not looked at.
pub(super) fn leaks(table: &Table, first: usize, targets: &Targets) -> Vec<usize> {
    let used = |j: &usize| {
        let kind = table.kind_of(*j, first..first + targets.len().unwrap_or(0)).kind;
        kind.is_used() && kind != Kind::Date
    };
    let equal = |j: &usize| match (&table.columns()[*j], targets) {
        (Column::Numbers(x), Targets::Reals(y)) => {
            x[first..].iter().zip(y).all(|(x, y)| x == y) && y.iter().any(|v| *v != y[0])
        }
        (column, Targets::Classes(labels)) => one_to_one(column, first, &labels.of_row),
        _ => false,
    };
    (0..table.columns().len()).filter(equal).filter(used).collect()
}

/// Whether each value is of one class and each class, of which there are several, has one value.
fn one_to_one(column: &Column, first: usize, classes: &[u32]) -> bool {
    let (mut value_of, mut class_of) = (HashMap::new(), HashMap::new());
    for (row, &class) in classes.iter().enumerate() {
        let value = column.key(first + row);
        if *class_of.entry(value).or_insert(class) != class
            || *value_of.entry(class).or_insert(value) != value
        {
            return false;
        }
    }
    class_of.len() > 1
}

fn different(column: &Column) -> usize {
    match column {
        Column::Numbers(x) => {
            let mut sorted: Vec<f64> = x.iter().copied().filter(|v| !v.is_nan()).collect();
            sorted.sort_by(f64::total_cmp);
            sorted.dedup();
            sorted.len()
        }
        Column::Text { .. } => counts(column).iter().filter(|c| **c > 0).count(),
    }
}

fn counts(column: &Column) -> Vec<usize> {
    let Column::Text { pool, of_row } = column else { return Vec::new() };
    let mut counts = vec![0; pool.len()];
    of_row.iter().filter(|&&k| k != MISSING).for_each(|&k| counts[k as usize] += 1);
    counts
}

fn examples(column: &Column) -> Vec<String> {
    match column {
        Column::Numbers(x) => {
            let mut out: Vec<String> = Vec::new();
            for v in x.iter().filter(|v| !v.is_nan()) {
                let text = v.to_string();
                if !out.contains(&text) {
                    out.push(text);
                }
                if out.len() == EXAMPLES {
                    break;
                }
            }
            out
        }
        Column::Text { pool, .. } => {
            let counts = counts(column);
            let mut order: Vec<usize> = (0..pool.len()).filter(|&k| counts[k] > 0).collect();
            order.sort_by_key(|&k| (std::cmp::Reverse(counts[k]), k));
            order.into_iter().take(EXAMPLES).map(|k| pool[k].clone()).collect()
        }
    }
}
