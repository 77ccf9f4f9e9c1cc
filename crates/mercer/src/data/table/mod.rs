//! Tables with columns of numbers or text, and missing values.
//!
//! Readers return a [`Table`] if not every feature is a number in every row. Kernels do not accept it: the stage
//! `table` is fitted on it and encodes each column as numbers. [`Kind`] is the kind of a column, detected from the
//! data by default.

pub(super) mod code;
pub(super) mod date;
mod fit;
pub mod kind;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

pub use self::kind::{ColumnKinds, Found, Kind};
use crate::error::{Error, Result};

/// The code of a missing value in a column of text.
pub const MISSING: u32 = u32::MAX;

/// Named columns of one length.
///
/// ```
/// use mercer::data::Points;
/// use mercer::data::table::{Column, Table};
///
/// let age = Column::Numbers(vec![31.0, f64::NAN, 58.0]);
/// let colour = Column::text([Some("red"), Some("blue"), None]);
/// let table = Table::new(vec!["age".into(), "colour".into()], vec![age, colour])?;
/// assert_eq!((table.rows(), table.columns()[1].missing()), (3, 1));
/// let points = Points::table(table);
/// assert_eq!((points.len(), points.dim(), points.kind()), (3, 2, "table"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Column>,
    given: Vec<Option<Kind>>,
    rows: usize,
}

/// One column.
#[derive(Debug, Clone)]
pub enum Column {
    /// Numbers; NaN is a missing value.
    Numbers(Vec<f64>),
    /// Text, each different piece stored once.
    Text {
        /// The different texts. Rows that were left out since may have had some of them.
        pool: Arc<Vec<String>>,
        /// For each row the place of its text in the pool, or [`MISSING`].
        of_row: Vec<u32>,
    },
}

impl Table {
    /// A table of named columns. Names must differ, columns must be of one length, numbers finite or NaN, and codes of text
    /// within their pool, whose texts differ.
    pub fn new(names: Vec<String>, columns: Vec<Column>) -> Result<Self> {
        if names.len() != columns.len() {
            return Err(Error::shape("names of a table's columns", names.len(), columns.len()));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some([name, ..]) = sorted.windows(2).find(|w| w[0] == w[1]) {
            let got = format!("`{name}` twice");
            return Err(Error::shape("names of a table's columns", got, "a different name for each column"));
        }
        let rows = columns.first().map_or(0, Column::len);
        for (name, column) in names.iter().zip(&columns) {
            if column.len() != rows {
                return Err(Error::shape(format!("rows of column `{name}`"), column.len(), rows));
            }
            column.check(name)?;
        }
        let given = vec![None; columns.len()];
        Ok(Table { names, columns, given, rows })
    }

    /// The same table with given kinds of columns; `None` leaves a kind to detection.
    pub fn with_kinds(mut self, kinds: Vec<Option<Kind>>) -> Result<Self> {
        if kinds.len() != self.columns.len() {
            return Err(Error::shape("kinds of a table's columns", kinds.len(), self.columns.len()));
        }
        self.given = kinds;
        Ok(self)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What somebody said the columns are.
    pub fn given(&self) -> &[Option<Kind>] {
        &self.given
    }

    /// What each column is: as given, else by the data of all rows.
    pub fn kinds(&self) -> Vec<Found> {
        (0..self.columns.len()).map(|j| self.kind_of(j, 0..self.rows)).collect()
    }

    /// What a column is: as given, else by the data of some rows.
    pub(super) fn kind_of(&self, j: usize, rows: std::ops::Range<usize>) -> Found {
        match &self.given[j] {
            Some(kind) => Found { kind: kind.clone(), why: None, odd: Vec::new() },
            None => kind::find(&self.names[j], &self.columns[j], rows),
        }
    }

    /// Copies of some rows, in the order asked.
    #[must_use]
    pub(super) fn gather(&self, rows: &(impl ExactSizeIterator<Item = usize> + Clone)) -> Self {
        Table {
            names: self.names.clone(),
            columns: self.columns.iter().map(|c| c.gather(rows.clone())).collect(),
            given: self.given.clone(),
            rows: rows.len(),
        }
    }

    /// Some columns, in the order asked.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> Self {
        Table {
            names: columns.iter().map(|&j| self.names[j].clone()).collect(),
            columns: columns.iter().map(|&j| self.columns[j].clone()).collect(),
            given: columns.iter().map(|&j| self.given[j].clone()).collect(),
            rows: self.rows,
        }
    }

    /// These rows, then the other's, whose columns must have the same names.
    pub(super) fn concat(&self, other: &Table) -> Result<Self> {
        if self.names != other.names {
            let (got, want) = (other.names.join(", "), self.names.join(", "));
            return Err(Error::shape("columns of the table to append", got, want));
        }
        let both = self.columns.iter().zip(&other.columns);
        Ok(Table {
            names: self.names.clone(),
            columns: both.map(|(a, b)| a.concat(b)).collect(),
            given: self.given.clone(),
            rows: self.rows + other.rows,
        })
    }

    /// The same with every text of its columns, and every name, changed. Texts that become equal are one.
    pub(super) fn map_texts(&self, f: impl Fn(&str) -> String) -> Self {
        let one = |column: &Column| match column {
            Column::Numbers(_) => column.clone(),
            Column::Text { .. } => {
                let cells: Vec<Option<String>> =
                    (0..self.rows).map(|i| column.cell(i).map(|text| f(&text))).collect();
                Column::text(cells.iter().map(Option::as_deref))
            }
        };
        let columns = self.columns.iter().map(one).collect();
        Table { columns, names: self.names.iter().map(|name| f(name)).collect(), ..self.clone() }
    }

    /// Bytes of this many rows, with all texts.
    pub(super) fn bytes(&self, rows: usize) -> usize {
        let text = |pool: &[String]| pool.iter().map(|t| t.len() + size_of::<String>()).sum::<usize>();
        let of = |c: &Column| match c {
            Column::Numbers(_) => 8 * rows,
            Column::Text { pool, .. } => 4 * rows + text(pool),
        };
        self.columns.iter().map(of).sum()
    }
}

impl Column {
    /// A column of text from one piece per row; `None` is a missing value.
    pub fn text<'a>(rows: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut pool = Pool::default();
        let of_row = rows.into_iter().map(|text| text.map_or(MISSING, |text| pool.code(text))).collect();
        Column::Text { pool: Arc::new(pool.list), of_row }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Numbers(x) => x.len(),
            Column::Text { of_row, .. } => of_row.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of missing values.
    pub fn missing(&self) -> usize {
        match self {
            Column::Numbers(x) => x.iter().filter(|v| v.is_nan()).count(),
            Column::Text { of_row, .. } => of_row.iter().filter(|&&k| k == MISSING).count(),
        }
    }

    /// A row's value as text; `None` where it is missing.
    pub fn cell(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            Column::Numbers(x) => (!x[row].is_nan()).then(|| Cow::Owned(x[row].to_string())),
            Column::Text { pool, of_row } => {
                pool.get(of_row[row] as usize).map(|text| Cow::Borrowed(text.as_str()))
            }
        }
    }

    /// A number that is the same for two rows if and only if their values are.
    pub(super) fn key(&self, row: usize) -> u64 {
        match self {
            // Adding 0 makes the two zeros one.
            Column::Numbers(x) if x[row].is_nan() => u64::MAX,
            Column::Numbers(x) => (x[row] + 0.0).to_bits(),
            Column::Text { of_row, .. } => u64::from(of_row[row]),
        }
    }

    fn check(&self, name: &str) -> Result<()> {
        match self {
            Column::Numbers(x) => match x.iter().position(|v| v.is_infinite()) {
                Some(row) => Err(Error::shape(
                    format!("column `{name}`, row {}", row + 1),
                    x[row],
                    "a finite number, or NaN for a missing value",
                )),
                None => Ok(()),
            },
            Column::Text { pool, of_row } => {
                if let Some(&k) = of_row.iter().find(|&&k| k != MISSING && k as usize >= pool.len()) {
                    let expected = format!("a place among {} texts", pool.len());
                    return Err(Error::shape(format!("code of column `{name}`"), k, expected));
                }
                let mut sorted: Vec<&String> = pool.iter().collect();
                sorted.sort_unstable();
                match sorted.windows(2).find(|w| w[0] == w[1]) {
                    Some([text, ..]) => {
                        let got = format!("`{text}` twice");
                        Err(Error::shape(format!("texts of column `{name}`"), got, "different ones"))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Its values in some rows, in the order asked.
    #[must_use]
    pub(crate) fn gather(&self, rows: impl Iterator<Item = usize>) -> Self {
        match self {
            Column::Numbers(x) => Column::Numbers(rows.map(|i| x[i]).collect()),
            Column::Text { pool, of_row } => {
                Column::Text { pool: Arc::clone(pool), of_row: rows.map(|i| of_row[i]).collect() }
            }
        }
    }

    fn concat(&self, other: &Column) -> Self {
        if let (Column::Numbers(a), Column::Numbers(b)) = (self, other) {
            return Column::Numbers([a.as_slice(), b].concat());
        }
        let mut pool = Pool::default();
        let mut of_row = Vec::with_capacity(self.len() + other.len());
        for column in [self, other] {
            let cells = (0..column.len()).map(|row| column.cell(row));
            of_row.extend(cells.map(|cell| cell.map_or(MISSING, |text| pool.code(&text))));
        }
        Column::Text { pool: Arc::new(pool.list), of_row }
    }
}

/// Missing numbers are equal; two columns of text are equal if their rows are, whatever else is in the pools.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Column::Numbers(a), Column::Numbers(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
            }
            (Column::Text { .. }, Column::Text { .. }) => {
                self.len() == other.len() && (0..self.len()).all(|row| self.cell(row) == other.cell(row))
            }
            _ => false,
        }
    }
}

/// Different texts with their codes, as they are collected.
#[derive(Debug, Default)]
pub(super) struct Pool {
    place: HashMap<String, u32>,
    pub(super) list: Vec<String>,
    pub(super) bytes: usize,
}

impl Pool {
    /// The text's code; a new one where it is new.
    pub(super) fn code(&mut self, text: &str) -> u32 {
        if let Some(&code) = self.place.get(text) {
            return code;
        }
        let code = self.list.len() as u32;
        self.list.push(text.to_owned());
        self.place.insert(text.to_owned(), code);
        // Twice the text, two string headers and a place in the map.
        self.bytes += 2 * text.len() + 64;
        code
    }
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/tables.md")]
struct Document;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;

    fn table() -> Table {
        let names = ["age", "colour"].map(String::from).to_vec();
        let age = Column::Numbers(vec![31.0, f64::NAN, 58.0]);
        Table::new(names, vec![age, Column::text([Some("red"), Some("blue"), None])]).expect("a table")
    }

    #[test]
    fn gather_slice_and_concat_keep_the_cells() {
        let points = Points::table(table());
        let part = points.gather(&[2, 0]);
        assert_eq!(part, points.view().slice(0..3).gather(&[2, 0]));
        assert_eq!(part, points.view().slice(1..3).gather(&[1]).concat(&points.gather(&[0])).expect("alike"));
        let cells = |points: &Points, row| {
            let table = points.as_table().expect("a table");
            table.columns().iter().map(|c| c.cell(row).map(Cow::into_owned)).collect::<Vec<_>>()
        };
        assert_eq!(cells(&part, 0), [Some("58".into()), None]);
        assert_eq!(cells(&part, 1), [Some("31".into()), Some("red".into())]);
        assert!(points.view().to_f64().is_err() && points.to_dense().is_err());
        assert!(points.concat(&Points::dense(vec![1.0, 2.0], 2).expect("a row")).is_err());
    }

    #[test]
    fn numbers_and_text_are_joined_as_text() {
        let numbers = Column::Numbers(vec![1.0, f64::NAN, 2.5]);
        let text = Column::text([Some("1"), Some("x")]);
        let wanted = Column::text([Some("1"), None, Some("2.5"), Some("1"), Some("x")]);
        assert_eq!(numbers.concat(&text), wanted);
    }

    #[test]
    fn bad_parts_are_refused() {
        let new = |names: &[&str], columns| {
            Table::new(names.iter().map(ToString::to_string).collect(), columns).map(drop)
        };
        let one = || Column::Numbers(vec![1.0]);
        for (names, columns, part) in [
            (&["a"][..], vec![], "names of a table's columns: got 1"),
            (&["a", "a"], vec![one(), one()], "`a` twice"),
            (&["a", "b"], vec![one(), Column::Numbers(vec![])], "rows of column `b`: got 0"),
            (&["a"], vec![Column::Numbers(vec![f64::INFINITY])], "column `a`, row 1: got inf"),
            (
                &["a"],
                vec![Column::Text { pool: Arc::new(vec![]), of_row: vec![0] }],
                "code of column `a`: got 0",
            ),
            (
                &["a"],
                vec![Column::Text { pool: Arc::new(vec!["x".into(), "x".into()]), of_row: vec![0] }],
                "texts of column `a`: got `x` twice",
            ),
        ] {
            let message = new(names, columns).expect_err(part).to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
