//! Batches of a table's records.

use super::super::ReadOptions;
use super::super::dialect::Dialect;
use super::super::records::{Record, Records, delimiter_of};
use super::super::source::Input;
use super::super::table::{Decided, Given, decide, delimiter};
use super::text::{Batch, Begun};
use crate::data::Dataset;
use crate::error::Result;

/// Receives a batch: its bytes, and whether it is the last.
pub(super) type Take<'t> = dyn FnMut(&Begun, Batch, usize, bool) -> Result<()> + 't;

/// Divides a table into batches of about this many bytes of text.
pub(super) fn batches(
    input: &mut Input<'_>,
    options: &ReadOptions,
    bytes: usize,
    take: &mut Take<'_>,
) -> Result<()> {
    let delimiter = delimiter(options)?.unwrap_or_else(|| delimiter_of(&input.head));
    let (name, budget) = (input.name.clone(), input.budget);
    let mut records = Records::new(input, delimiter);
    let mut next = |record: &mut Record| records.next(record);
    let given = Given { name: &name, budget, delimiter, names: None };
    let (decided, mut waiting) = decide(&given, &mut next, options)?;
    let begun = Begun { name: name.clone(), budget, decided: Some(decided) };
    let (mut batch, mut size) = (Vec::new(), 0);
    loop {
        let mut record = Record::default();
        if let Some(first) = waiting.pop_front() {
            record = first;
        } else if !next(&mut record)? {
            return take(&begun, Batch::Records(batch), size, true);
        }
        size += record.bytes();
        batch.push(record);
        if size >= bytes {
            take(&begun, Batch::Records(std::mem::take(&mut batch)), size, false)?;
            size = 0;
        }
    }
}

/// The records as a data set; nothing where none of them counts.
pub(super) fn parsed(
    records: &[Record],
    decided: &Decided,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Dataset>> {
    let mut rows = decided.rows(options)?;
    for record in records {
        rows.push(record, name)?;
    }
    if rows.is_empty() { Ok(None) } else { rows.finish(name).map(Some) }
}

/// Which columns have missing cells, and which have text: a sample must contain both, or kinds of columns would be
/// detected wrongly.
#[derive(Default)]
pub(super) struct Odd {
    seen: Vec<[bool; 2]>,
}

/// A cell that is not a number: its row in the batch, its column, and whether it is text.
type Cell = (usize, usize, usize);

impl Odd {
    /// The first such cells of a batch.
    pub(super) fn found(&self, records: &[Record], decided: &Decided) -> Vec<Cell> {
        let dialect: &Dialect = decided.dialect();
        let mut seen = self.seen.clone();
        seen.resize(decided.width(), [false; 2]);
        let features: Vec<usize> = (0..decided.width()).filter(|&at| decided.is_feature(at)).collect();
        let mut out = Vec::new();
        for (i, record) in records.iter().enumerate() {
            for &at in features.iter().filter(|&&at| at < record.len()) {
                if seen[at] == [true; 2] || dialect.number(record.field(at)).is_some() {
                    continue;
                }
                let kind = usize::from(!dialect.is_missing(record.field(at)));
                if !seen[at][kind] {
                    seen[at][kind] = true;
                    out.push((i, at, kind));
                }
            }
        }
        out
    }

    /// The rows of those cells that no batch before had.
    pub(super) fn take(&mut self, found: Vec<Cell>) -> Vec<usize> {
        let mut rows = Vec::new();
        for (row, at, kind) in found {
            if self.seen.len() <= at {
                self.seen.resize(at + 1, [false; 2]);
            }
            if !self.seen[at][kind] {
                self.seen[at][kind] = true;
                rows.push(row);
            }
        }
        rows
    }
}
