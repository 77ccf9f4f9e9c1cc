//! The rows of a table during reading: dense numbers as long as possible, else columns.

use std::sync::Arc;

use super::dialect::{Dialect, is_code, text_of};
use super::label_column::listed;
use super::labels::Collector;
use super::records::Record;
use super::strays::is_header_again;
use super::text::{line_fault, shown};
use super::{Missing, ReadOptions};
use crate::data::table::{Column, Kind, MISSING, Pool, Table};
use crate::data::{Dataset, Points, Targets};
use crate::error::{Error, Fault, Result};
use crate::watch::Note;

/// The use of each column of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    kinds: Vec<Option<Kind>>,
    ignored: Vec<bool>,
    /// Columns to copy verbatim, with their names.
    copied: Vec<(usize, String)>,
}

impl Layout {
    pub(super) fn new(
        source: &str,
        width: usize,
        names: Option<&[String]>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let find = |what: &str, name: &str| {
            let by_name = names.and_then(|names| {
                let same = names.iter().position(|n| n == name);
                same.or_else(|| names.iter().position(|n| n.eq_ignore_ascii_case(name)))
            });
            let by_number =
                || name.parse::<usize>().ok().and_then(|k| k.checked_sub(1)).filter(|&k| k < width);
            by_name.or_else(by_number).ok_or_else(|| {
                let allowed = match names {
                    Some(names) => format!("one of the columns of {source}: {}", listed(names)),
                    None => format!("a number from 1 to {width}: {source} has no header"),
                };
                Error::param(what, name, allowed)
            })
        };
        let mut layout = Layout { kinds: vec![None; width], ignored: vec![false; width], copied: Vec::new() };
        if let Some(names) = names {
            for (name, kind) in &options.model_kinds {
                if let Some(at) = names.iter().position(|n| n == name) {
                    layout.kinds[at].clone_from(kind);
                }
            }
        }
        for (name, kind) in &options.kinds.0 {
            layout.kinds[find("columns", name)?] = Some(kind.clone());
        }
        for name in &options.ignore {
            layout.ignored[find("ignore", name)?] = true;
        }
        for name in &options.copy {
            let at = find("with", name)?;
            let name = names.map_or_else(|| name.clone(), |names| names[at].clone());
            if !layout.copied.iter().any(|(k, _)| *k == at) {
                layout.copied.push((at, name));
            }
        }
        Ok(layout)
    }

    /// Whether a column is ignored.
    pub(super) fn ignores(&self, at: usize) -> bool {
        self.ignored[at]
    }

    /// Whether a column may turn out to hold numbers.
    pub(super) fn may_be_numbers(&self, at: usize) -> bool {
        !self.ignored[at] && matches!(self.kinds[at], None | Some(Kind::Number))
    }
}

/// A column that grows.
enum Growing {
    /// Numbers, and how those were written that are rather codes, by row: the column may turn out to be text.
    Numbers {
        values: Vec<f64>,
        codes: Vec<(usize, String)>,
    },
    Text {
        pool: Pool,
        of_row: Vec<u32>,
    },
}

/// The rows of a table.
pub(super) struct Rows {
    layout: Layout,
    width: usize,
    label: Option<usize>,
    names: Option<Vec<String>>,
    dialect: Dialect,
    missing: Missing,
    keep_unlabelled: bool,
    labels: Collector,
    /// The file's columns that are features.
    features: Vec<usize>,
    count: usize,
    /// All features of all rows, while they are numbers.
    dense: Option<Vec<f64>>,
    /// How some of them were written, by row and feature: see [`Growing::Numbers`].
    codes: Vec<(usize, usize, String)>,
    code_bytes: usize,
    columns: Vec<Growing>,
    copied: Vec<(Pool, Vec<u32>)>,
    /// Rows left out for want of a label, of a feature; rows kept without a label.
    without_label: usize,
    without_feature: usize,
    unlabelled: usize,
    filled_text: usize,
    /// Whether cells may lack at the end of a row, and how many rows lack some.
    trimmed: bool,
    short: usize,
    /// Whether names come from a header, and how often it came again.
    header: bool,
    headers: usize,
}

impl Rows {
    pub(super) fn new(
        mut layout: Layout,
        label: Option<usize>,
        names: Option<Vec<String>>,
        dialect: Dialect,
        options: &ReadOptions,
    ) -> Result<Self> {
        let width = layout.kinds.len();
        let features: Vec<usize> =
            (0..width).filter(|&at| Some(at) != label && !layout.ignored[at]).collect();
        if features.is_empty() {
            return Err(Error::shape("columns other than the label and those ignored", 0, "at least 1"));
        }
        if names.is_none() && options.model_kinds.len() == features.len() {
            for (&at, (_, kind)) in features.iter().zip(&options.model_kinds) {
                layout.kinds[at] = layout.kinds[at].clone().or_else(|| kind.clone());
            }
        }
        // Where some rows have no label, no row has a target; the label as it is written still stands beside a prediction.
        if let Some(at) = label.filter(|&at| {
            options.keep_unlabelled
                && !options.copy.is_empty()
                && !layout.copied.iter().any(|(k, _)| *k == at)
        }) {
            let name = names.as_ref().map_or_else(|| "label".to_owned(), |names| names[at].clone());
            layout.copied.push((at, name));
        }
        let numbers_only = features.iter().all(|&at| matches!(layout.kinds[at], None | Some(Kind::Number)));
        let dense = (numbers_only && options.kinds.0.is_empty()).then(Vec::new);
        let mut rows = Rows {
            width,
            label,
            names,
            dialect,
            missing: options.missing,
            keep_unlabelled: options.keep_unlabelled,
            labels: Collector::new(options.targets),
            count: 0,
            codes: Vec::new(),
            code_bytes: 0,
            columns: Vec::new(),
            copied: layout.copied.iter().map(|_| Default::default()).collect(),
            without_label: 0,
            without_feature: 0,
            unlabelled: 0,
            filled_text: 0,
            trimmed: false,
            short: 0,
            header: false,
            headers: 0,
            layout,
            features,
            dense,
        };
        if rows.dense.is_none() {
            rows.begin_columns(&[]);
        }
        Ok(rows)
    }

    /// The same where cells may lack at the end of a row: they are missing values.
    pub(super) fn trimmed(mut self, trimmed: bool) -> Self {
        self.trimmed = trimmed;
        self
    }

    /// The same where names come from a header that was found, not asked for: it may come again.
    pub(super) fn below_header(mut self, header: bool) -> Self {
        self.header = header;
        self
    }

    /// Whether there is no row yet.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes held so far, nearly.
    pub(super) fn bytes(&self) -> usize {
        let column = |c: &Growing| match c {
            Growing::Numbers { values, .. } => values.len() * 8,
            Growing::Text { pool, of_row } => pool.bytes + of_row.len() * 4,
        };
        self.dense.as_ref().map_or(0, |x| x.len() * 8)
            + self.labels.bytes()
            + self.code_bytes
            + self.columns.iter().map(column).sum::<usize>()
            + self.copied.iter().map(|(pool, of_row)| pool.bytes + of_row.len() * 4).sum::<usize>()
    }

    /// Takes a row.
    pub(super) fn push(&mut self, record: &Record, source: &str) -> Result<()> {
        if self.header && self.names.as_ref().is_some_and(|names| is_header_again(record, names)) {
            self.headers += 1;
            return Ok(());
        }
        match self.dialect.plain(record) {
            Some(plain) => self.push_plain(&plain, source),
            None => self.push_plain(record, source),
        }
    }

    /// Takes a row whose numbers are plain ones.
    fn push_plain(&mut self, record: &Record, source: &str) -> Result<()> {
        let more = record.len() == self.width + 1 && record.field(self.width).is_empty();
        if record.len() < self.width && self.trimmed {
            let mut whole = record.clone();
            (record.len()..self.width).for_each(|_| whole.push(b""));
            self.short += 1;
            return self.push_plain(&whole, source);
        }
        if record.len() != self.width && !more {
            let got = format!("{} fields", record.len());
            let expected = format!("{} as in the first line", self.width);
            return Err(line_fault(source, record.line, Some(got), expected));
        }
        let fault = |rows: &Self, at: usize, (got, expected): (String, String)| {
            Error::from(Fault {
                source: Some(source.to_owned()),
                line: Some(record.line),
                column: Some(rows.column(at)),
                got: Some(got),
                expected,
                ..Fault::default()
            })
        };
        let unlabelled = self.label.filter(|&at| self.dialect.is_missing_label(record.field(at)));
        if unlabelled.is_some() && !self.keep_unlabelled && !self.labels.is_idle() {
            self.without_label += 1;
            return Ok(());
        }
        if self.missing == Missing::Rows
            && self.features.iter().any(|&at| self.dialect.is_missing(record.field(at)))
        {
            self.without_feature += 1;
            return Ok(());
        }
        match (self.label, unlabelled) {
            (Some(_), Some(_)) => self.unlabelled += 1,
            (Some(at), None) => {
                let field = record.field(at);
                let plain = self.dialect.has_decimal_comma().then(|| self.dialect.text(field).into_owned());
                let text = plain.as_ref().map_or(field, |text| text.as_bytes());
                let decoded = text_of(text);
                self.labels.push(decoded.as_bytes()).map_err(|wrong| fault(self, at, wrong))?;
            }
            (None, _) => {}
        }
        if let Err((at, wrong)) = self.push_features(record) {
            return Err(fault(self, at, wrong));
        }
        for ((at, _), (pool, of_row)) in self.layout.copied.iter().zip(&mut self.copied) {
            let field = record.field(*at);
            of_row.push(if field.is_empty() { MISSING } else { pool.code(&text_of(field)) });
        }
        self.count += 1;
        Ok(())
    }

    fn push_features(&mut self, record: &Record) -> std::result::Result<(), (usize, (String, String))> {
        if let Some(dense) = &mut self.dense {
            let begin = dense.len();
            let mut fine = true;
            for (j, &at) in self.features.iter().enumerate() {
                let field = record.field(at);
                let Some(value) = self.dialect.number(field) else {
                    fine = false;
                    break;
                };
                dense.push(value);
                if is_code(field) {
                    let text = String::from_utf8_lossy(field).into_owned();
                    self.code_bytes += text.len() + size_of::<(usize, usize, String)>();
                    self.codes.push((self.count, j, text));
                }
            }
            if fine {
                return Ok(());
            }
            dense.truncate(begin);
            self.codes.retain(|(row, ..)| *row < self.count);
            let dense = self.dense.take().unwrap_or_default();
            self.begin_columns(&dense);
        }
        for j in 0..self.features.len() {
            let at = self.features[j];
            self.push_cell(j, record.field(at)).map_err(|wrong| (at, wrong))?;
        }
        Ok(())
    }

    /// Switches to columns.
    fn begin_columns(&mut self, dense: &[f64]) {
        let d = self.features.len();
        let as_text = |kind: &Option<Kind>| !matches!(kind, None | Some(Kind::Number));
        for (j, &at) in self.features.iter().enumerate() {
            self.columns.push(if as_text(&self.layout.kinds[at]) {
                Growing::Text { pool: Pool::default(), of_row: Vec::new() }
            } else {
                let values = dense.iter().skip(j).step_by(d).copied().collect();
                Growing::Numbers { values, codes: Vec::new() }
            });
        }
        for (row, j, text) in std::mem::take(&mut self.codes) {
            if let Growing::Numbers { codes, .. } = &mut self.columns[j] {
                codes.push((row, text));
            }
        }
    }

    /// Adds a cell of a feature. The error says what was received and what was expected.
    fn push_cell(&mut self, j: usize, field: &[u8]) -> std::result::Result<(), (String, String)> {
        let missing = self.dialect.is_missing(field);
        if missing && self.missing == Missing::Refuse {
            let got = if field.is_empty() { "an empty field".into() } else { shown(field) };
            let expected = "a value, since missing values are refused: --missing fill fills them in, --missing rows skips \
                            such rows";
            return Err((got, expected.into()));
        }
        let kind = &self.layout.kinds[self.features[j]];
        match &mut self.columns[j] {
            Growing::Numbers { values, .. } if missing => values.push(f64::NAN),
            Growing::Text { of_row, .. } if missing => of_row.push(MISSING),
            Growing::Numbers { values, codes } => {
                if let Some(value) = self.dialect.number(field) {
                    if is_code(field) {
                        let text = String::from_utf8_lossy(field).into_owned();
                        self.code_bytes += text.len() + size_of::<(usize, String)>();
                        codes.push((values.len(), text));
                    }
                    values.push(value);
                } else if std::str::from_utf8(field).is_ok_and(|t| t.parse::<f64>().is_ok()) {
                    let expected =
                        "a finite number; if it stands for a missing value, name it in --missing-values";
                    return Err((shown(field), expected.into()));
                } else if kind.is_none() {
                    let mut pool = Pool::default();
                    let mut of_row = as_text(values, codes, &mut pool);
                    of_row.push(pool.code(&self.dialect.text(field)));
                    self.columns[j] = Growing::Text { pool, of_row };
                } else if self.missing == Missing::Fill {
                    self.filled_text += 1;
                    values.push(f64::NAN);
                } else {
                    let expected = "a number; if it stands for a missing value, name it in --missing-values; --missing fill \
                                    treats all text in columns of numbers as missing";
                    return Err((shown(field), expected.into()));
                }
            }
            Growing::Text { pool, of_row } => {
                of_row.push(pool.code(&self.dialect.text(field)));
            }
        }
        Ok(())
    }

    /// A column for a message: its number, and its name where it has one.
    fn column(&self, at: usize) -> String {
        match self.names.as_ref().map(|names| &names[at]) {
            Some(name) => format!("{} ({})", at + 1, shown(name.as_bytes())),
            None => (at + 1).to_string(),
        }
    }

    /// The data set.
    pub(super) fn finish(mut self, source: &str) -> Result<Dataset> {
        if self.count == 0 {
            let got = match (self.without_label, self.without_feature) {
                (0, 0) => "no rows".to_owned(),
                (labels, 0) => format!("{labels} rows and no label in any of them"),
                (_, rows) => format!("{rows} rows with missing values, and none without"),
            };
            return Err(super::source::fault(source, Some(&got), "at least one training row"));
        }
        let d = self.features.len();
        let name_of = |at: usize| {
            self.names.as_ref().map_or_else(|| format!("column {}", at + 1), |names| names[at].clone())
        };
        let names: Vec<String> = self.features.iter().map(|&at| name_of(at)).collect();
        let points = if let Some(mut dense) = self.dense.take() {
            dense.shrink_to_fit();
            Points::dense(dense, d)?
        } else {
            let columns = self.columns.into_iter().map(Growing::finished).collect();
            let kinds = self.features.iter().map(|&at| self.layout.kinds[at].clone()).collect();
            Points::table(Table::new(names.clone(), columns)?.with_kinds(kinds)?)
        };
        let targets =
            if self.label.is_some() && self.unlabelled == 0 { self.labels.finish() } else { Targets::None };
        let mut data = Dataset::new(points, targets)?;
        if !self.layout.copied.is_empty() {
            let names = self.layout.copied.iter().map(|(_, name)| name.clone()).collect();
            let text = |(pool, of_row): (Pool, Vec<u32>)| Column::Text { pool: Arc::new(pool.list), of_row };
            data.copied = Some(Table::new(names, self.copied.into_iter().map(text).collect())?);
        }
        if let Some(all) = self.names {
            data.target_name = self.label.map(|at| all[at].clone());
            data.column_names = Some(names);
        }
        if self.dialect.has_decimal_comma() {
            data.note("numbers with a decimal comma");
        }
        for (rows, what) in [
            (self.short, "are shorter than the header: absent cells count as missing values"),
            (self.without_label, "skipped: they have no label"),
            (self.without_feature, "skipped: they have missing values"),
            (self.unlabelled, "have no label"),
            (self.headers, "skipped: they repeat the header"),
        ] {
            if rows > 0 {
                data.note(Note::warning(format!("{rows} rows {what}")));
            }
        }
        if self.filled_text > 0 {
            let text = format!("{} values of text in columns of numbers count as missing", self.filled_text);
            data.note(Note::warning(text));
        }
        Ok(data)
    }
}

impl Growing {
    fn finished(self) -> Column {
        match self {
            Growing::Numbers { mut values, .. } => {
                values.shrink_to_fit();
                Column::Numbers(values)
            }
            Growing::Text { pool, of_row } => Column::Text { pool: Arc::new(pool.list), of_row },
        }
    }
}

/// Numbers as the texts that they would have been: see [`Dialect::text`].
fn as_text(values: &[f64], codes: &[(usize, String)], pool: &mut Pool) -> Vec<u32> {
    let mut codes = codes.iter().peekable();
    let one = |(row, value): (usize, &f64)| match codes.next_if(|(at, _)| *at == row) {
        Some((_, text)) => pool.code(text),
        None if value.is_nan() => MISSING,
        None => pool.code(&(value + 0.0).to_string()),
    };
    values.iter().enumerate().map(one).collect()
}
