//! LIBSVM (svmlight) text: one line per row, `label index:value index:value ...`.
//!
//! Indices count from 1 and rise within a line. `qid:` fields are ignored, `#` begins a comment, blank lines are
//! skipped. The label may be any word; a file whose first row has none has none in any row. Zeros may be written or
//! omitted. Cost: one pass, about 12 bytes of memory per pair.
//!
//! Where [`Storage::Auto`](super::Storage::Auto) is asked, rows become dense when at least a quarter of all values
//! are there: dense rows then take at most 2.7 times the memory of sparse ones and their kernel values come from one
//! matrix product.

use std::io::Write;

use super::labels::Collector;
use super::limits::Budget;
use super::source::Input;
use super::text::{Lines, leading_number, shown};
use super::{ReadOptions, Storage, TargetKind};
use crate::data::{Csr, Data, Dataset, Points, Row, Targets};
use crate::error::{Error, Result};

/// The largest index, LIBSVM's own limit.
pub(super) const LARGEST_INDEX: u64 = i32::MAX as u64;

/// Where files that count from 0 come from. They are refused, not shifted: the same index would be another column in a file
/// that does not use column 0, and rows of a given kernel matrix begin with `0:number`.
const FROM_ZERO: &str = " (scikit-learn's dump_svmlight_file counts from 1 with zero_based=False)";

/// Share of values that must be there for rows to be stored densely.
const DENSE_FROM: f64 = 0.25;

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let columns = match options.columns {
        Some(d) if d as u64 > LARGEST_INDEX => {
            return Err(Error::param("columns", d, format!("at most {LARGEST_INDEX} for sparse rows")));
        }
        other => other,
    };
    let largest = columns.map_or(LARGEST_INDEX, |d| d as u64);
    let mut rows = Rows::new(options.targets);
    let mut lines = Lines::new(input);
    while lines.advance()? {
        if let Err(wrong) = rows.push(lines.line(), largest) {
            let declared = columns.filter(|_| wrong.too_large).map(|d| format!(" (columns = {d})"));
            return Err(lines.fault(Some(wrong.got), wrong.expected + &declared.unwrap_or_default()));
        }
        lines.input.budget.check(&lines.input.name, Some(lines.number), rows.bytes(), 1)?;
    }
    if rows.start.len() == 1 {
        return Err(input.fault(Some("no rows"), "at least one line `label index:value ...`"));
    }
    let d = columns.unwrap_or(rows.d as usize);
    if d == 0 {
        return Err(input.fault(Some("only labels"), "at least one `index:value`"));
    }
    rows.finish(d, &input.name, input.budget, options.storage)
}

/// What is wrong with a line.
pub(super) struct Wrong {
    pub(super) got: String,
    pub(super) expected: String,
    pub(super) too_large: bool,
}

impl Wrong {
    fn new(got: impl Into<String>, expected: impl Into<String>) -> Self {
        Wrong { got: got.into(), expected: expected.into(), too_large: false }
    }
}

/// A line without its comment and the blanks around it.
pub(super) fn content(line: &[u8]) -> &[u8] {
    let comment = if line.contains(&b'#') { line.iter().position(|&b| b == b'#') } else { None };
    line[..comment.unwrap_or(line.len())].trim_ascii()
}

/// The rows read so far.
pub(super) struct Rows {
    start: Vec<usize>,
    column: Vec<u32>,
    value: Vec<f64>,
    /// Largest index seen, also of a written zero.
    d: u64,
    labels: Collector,
    labelled: Option<bool>,
    skipped_qid: bool,
}

impl Rows {
    pub(super) fn new(kind: TargetKind) -> Self {
        Rows {
            start: vec![0],
            column: Vec::new(),
            value: Vec::new(),
            d: 0,
            labels: Collector::new(kind),
            labelled: None,
            skipped_qid: false,
        }
    }

    fn bytes(&self) -> usize {
        self.value.len() * 12 + self.start.len() * 8 + self.labels.bytes()
    }

    /// The largest index so far.
    pub(super) fn width(&self) -> usize {
        self.d as usize
    }

    pub(super) fn push(&mut self, line: &[u8], largest: u64) -> std::result::Result<(), Wrong> {
        let line = content(line);
        let first = &line[..word_end(line)];
        if first.is_empty() {
            return Ok(());
        }
        let has_label = !first.contains(&b':');
        if *self.labelled.get_or_insert(has_label) != has_label {
            let expected =
                if has_label { "`index:value`, as the rows before have no label" } else { "a label first" };
            return Err(Wrong::new(shown(first), expected));
        }
        let mut rest = line;
        if has_label {
            self.labels.push(first).map_err(|(got, expected)| Wrong::new(got, expected))?;
            rest = line[first.len()..].trim_ascii_start();
        }
        let mut last = 0;
        while !rest.is_empty() {
            let Some((index, value, len)) = pair(rest) else {
                let word = &rest[..word_end(rest)];
                if !word.starts_with(b"qid:") {
                    return Err(bad_pair(word));
                }
                self.skipped_qid = true;
                rest = rest[word.len()..].trim_ascii_start();
                continue;
            };
            // One comparison for both ends: nothing is below 0.
            if index.wrapping_sub(1) >= largest {
                let word = &rest[..len];
                let got = if index == 0 { format!("index 0 in {}", shown(word)) } else { shown(word) };
                let hint = if index == 0 { FROM_ZERO } else { "" };
                let expected = format!("an index from 1 to {largest}{hint}");
                return Err(Wrong { got, expected, too_large: index > largest });
            }
            if index <= last {
                let got = format!("index {index} after {last}");
                return Err(Wrong::new(got, "indices in increasing order within a line"));
            }
            last = index;
            if value != 0.0 {
                self.column.push((index - 1) as u32);
                self.value.push(value);
            }
            rest = rest[len..].trim_ascii_start();
        }
        self.d = self.d.max(last);
        self.start.push(self.column.len());
        Ok(())
    }

    pub(super) fn finish(self, d: usize, name: &str, budget: Budget, storage: Storage) -> Result<Dataset> {
        let n = self.start.len() - 1;
        let all = n as f64 * d as f64;
        let dense_fits = budget.allows(n as u128 * d as u128, 8);
        let dense = match storage {
            Storage::Auto => self.value.len() as f64 >= DENSE_FROM * all && dense_fits,
            Storage::F32 | Storage::F64 => true,
            Storage::Sparse => false,
        };
        let csr = Csr { start: self.start, column: self.column, value: self.value };
        let points = if dense {
            budget.check_table(name, n, d, 8)?;
            let mut values = vec![0.0; n * d];
            for (i, row) in csr.start.windows(2).enumerate() {
                for p in row[0]..row[1] {
                    values[i * d + csr.column[p] as usize] = csr.value[p];
                }
            }
            Points::dense(values, d)?
        } else {
            Points::sparse(csr, d)?
        };
        let targets = if self.labelled == Some(true) { self.labels.finish() } else { Targets::None };
        let mut data = Dataset::new(points, targets)?;
        if self.skipped_qid {
            data.note("`qid:` fields were ignored");
        }
        Ok(data)
    }
}

/// Where the first word ends.
pub(super) fn word_end(text: &[u8]) -> usize {
    text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len())
}

/// The `index:value` at the beginning of a text, and how many bytes it takes.
fn pair(text: &[u8]) -> Option<(u64, f64, usize)> {
    let mut index = 0u64;
    for (at, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            index = index.saturating_mul(10).saturating_add(u64::from(digit));
        } else if byte == b':' && at > 0 {
            let (value, len) = leading_number(&text[at + 1..])?;
            return Some((index, value, at + 1 + len));
        } else {
            return None;
        }
    }
    None
}

/// An error message for a word that is not a pair.
fn bad_pair(word: &[u8]) -> Wrong {
    let Some(colon) = word.iter().position(|&b| b == b':') else {
        return Wrong::new(shown(word), "`index:value`");
    };
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
        return Wrong::new(shown(word), "an index that is a whole number from 1");
    }
    Wrong::new(format!("{} in {}", shown(value), shown(word)), "a finite number after the colon")
}

/// Writes LIBSVM text: class names or numbers first, zeros omitted.
///
/// The number of columns survives: where the last column is empty, the first row writes its zero.
pub(super) fn write(out: &mut dyn Write, data: &Dataset, source: &str, _memory: u64) -> Result<()> {
    let view = data.points.view();
    if matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. }) {
        return Err(Error::shape("points to write as LIBSVM text", view.kind(), "rows of numbers"));
    }
    if let Targets::Classes(labels) = &data.targets
        && let Some(name) = labels.names.iter().find(|n| !writable(n))
    {
        let allowed = "a word without spaces, `:` or `#` in LIBSVM text";
        return Err(Error::param("class name", format!("{name:?}"), allowed));
    }
    let refused = |e| Error::io(source, e);
    let mut pairs = Vec::new();
    let widest = (0..view.n).filter_map(|i| last_column(view.row(i))).max();
    let unseen = view.d > 0 && widest != Some(view.d - 1);
    for i in 0..view.n {
        pairs.clear();
        each_value(view.row(i), |j, v| {
            let blank = if pairs.is_empty() { "" } else { " " };
            write!(pairs, "{blank}{}:{v}", j + 1)
        })
        .map_err(refused)?;
        let empty = pairs.is_empty();
        if i == 0 && unseen {
            write!(pairs, "{}{}:0", if empty { "" } else { " " }, view.d).map_err(refused)?;
        }
        let blank = if pairs.is_empty() { "" } else { " " };
        match &data.targets {
            Targets::Classes(labels) => write!(out, "{}{blank}", labels.name_of(i)),
            Targets::Reals(y) => write!(out, "{}{blank}", y[i]),
            // A row that is empty and has no label would be a blank line.
            Targets::None if pairs.is_empty() => write!(out, "1:0"),
            Targets::None => Ok(()),
        }
        .and_then(|()| out.write_all(&pairs))
        .and_then(|()| out.write_all(b"\n"))
        .map_err(refused)?;
    }
    Ok(())
}

fn writable(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == ':' || c == '#')
}

/// Calls for each value that is not zero.
fn each_value(row: Row<'_>, mut f: impl FnMut(usize, f64) -> std::io::Result<()>) -> std::io::Result<()> {
    match row {
        Row::F32(x) => {
            x.iter().enumerate().filter(|(_, v)| **v != 0.0).try_for_each(|(j, &v)| f(j, v.into()))
        }
        Row::F64(x) => x.iter().enumerate().filter(|(_, v)| **v != 0.0).try_for_each(|(j, &v)| f(j, v)),
        Row::Sparse { column, value, .. } => {
            column.iter().zip(value).filter(|(_, v)| **v != 0.0).try_for_each(|(&j, &v)| f(j as usize, v))
        }
        Row::Sequence(_) | Row::Number(_) | Row::Cells { .. } => Ok(()),
    }
}

fn last_column(row: Row<'_>) -> Option<usize> {
    match row {
        Row::F32(x) => x.iter().rposition(|&v| v != 0.0),
        Row::F64(x) => x.iter().rposition(|&v| v != 0.0),
        Row::Sparse { column, value, .. } => {
            value.iter().rposition(|&v| v != 0.0).map(|p| column[p] as usize)
        }
        Row::Sequence(_) | Row::Number(_) | Row::Cells { .. } => None,
    }
}
