//! Lines of a table that are not rows: titles above the header, a line of units below it, the header once more where
//! files were joined, totals and sources at the end.
//!
//! Each is recognised only if it can hardly be a row: see the functions. A note reports skipped lines.

use std::collections::VecDeque;

use super::dialect::Dialect;
use super::records::Record;
use crate::error::Result;

/// Maximum number of lines above a header, and at the end of a file.
const MOST_ABOVE: usize = 20;
const MOST_BELOW: usize = 3;
/// Bytes of the longest word below, with a colon.
const LONGEST_TOTAL: usize = 14;
/// First words of a line of totals, in lower case.
const TOTALS: [&str; 16] = [
    "total",
    "totals",
    "grand total",
    "subtotal",
    "sum",
    "sums",
    "average",
    "mean",
    "summe",
    "gesamt",
    "gesamtsumme",
    "mittelwert",
    "somme",
    "totaux",
    "suma",
    "totale",
];

/// The number of leading records that precede the table: at most one text field each, or two if the table has at
/// least four columns, while nearly all records have more.
pub(super) fn above(sample: &[Record], dialect: &Dialect) -> usize {
    let width = usual_width(sample);
    if width < 2 {
        return 0;
    }
    let stray = |r: &Record| {
        let filled = r.fields().filter(|f| !f.is_empty()).count();
        let first = r.fields().find(|f| !f.is_empty());
        let text = first.is_some_and(|f| dialect.number(f).is_none() && !dialect.is_missing(f));
        filled == 0 || text && (filled == 1 || filled == 2 && r.len() < width && width >= 4)
    };
    let count = sample.iter().take_while(|r| stray(r)).count();
    let others = sample.iter().skip(count).filter(|r| stray(r)).count();
    // Where many rows look like that, it is the table itself that is nearly empty.
    if count <= MOST_ABOVE && count + 1 < sample.len() && others * 10 <= sample.len() - count {
        count
    } else {
        0
    }
}

/// The number of fields that most records have; of two that are as frequent, the larger.
fn usual_width(sample: &[Record]) -> usize {
    let mut widths: Vec<usize> = sample.iter().map(Record::len).collect();
    widths.sort_unstable();
    widths.chunk_by(|a, b| a == b).max_by_key(|same| (same.len(), same[0])).map_or(0, |same| same[0])
}

/// Whether the record below the header holds units: text in every column that has numbers in all other rows, and there are
/// at least two such columns.
pub(super) fn is_units(first: &Record, rest: &[Record], dialect: &Dialect) -> bool {
    let number = |field: &[u8]| dialect.number(field).is_some();
    let numeric = |at: usize| {
        let cells =
            || rest.iter().filter(|r| r.len() > at).map(|r| r.field(at)).filter(|f| !dialect.is_missing(f));
        cells().count() >= 2 && cells().all(number)
    };
    let columns: Vec<usize> = (0..first.len()).filter(|&at| numeric(at)).collect();
    let text = |at: &&usize| {
        let field = first.field(**at);
        !field.is_empty() && !number(field) && !dialect.is_missing(field)
    };
    let empty = |at: &usize| first.field(*at).is_empty();
    let texts = columns.iter().filter(text).count();
    texts >= 2 && columns.iter().all(|at| empty(at) || text(&at))
}

/// Whether the record below the header is a rule: every field is of dashes, as in Markdown and in what database consoles
/// write, and one of at least three, since a dash or two mark missing values.
pub(super) fn is_rule(record: &Record) -> bool {
    let dashes = |field: &[u8]| field.iter().all(|b| matches!(b, b'-' | b'=' | b':' | b'+'));
    record.len() > 1
        && record.fields().all(|f| dashes(f.trim_ascii()))
        && record.fields().any(|f| f.trim_ascii().len() >= 3)
}

/// Whether a record repeats the header.
pub(super) fn is_header_again(record: &Record, names: &[String]) -> bool {
    record.len() >= names.len()
        && names.iter().enumerate().all(|(at, name)| record.field(at) == name.as_bytes())
        && names.iter().any(|name| !name.is_empty())
}

/// Removes trailing records that are not rows of a table with this number of columns, and returns their number.
/// `totals`: earlier rows begin with the same words, so that these do not indicate totals.
pub(super) fn take_below(records: &mut VecDeque<Record>, width: usize, totals: bool) -> usize {
    let totals = totals || records.iter().rev().skip(MOST_BELOW).any(is_total);
    let below =
        records.iter().rev().take(MOST_BELOW).take_while(|r| is_remark(r, width) || !totals && is_total(r));
    let count = below.count();
    records.truncate(records.len() - count);
    count
}

/// Whether the first cell of a record that is not empty says that it is a total.
pub(super) fn is_total(record: &Record) -> bool {
    let Some(field) = record.fields().find(|f| !f.is_empty()) else { return false };
    // Nearly all rows end here.
    if field.len() > LONGEST_TOTAL || !field[0].is_ascii_alphabetic() {
        return false;
    }
    let text = String::from_utf8_lossy(field).to_lowercase();
    TOTALS.contains(&text.trim_end_matches([':', '.', ' ']))
}

/// Whether a record is one field of several words, in a table of at least three columns.
fn is_remark(record: &Record, width: usize) -> bool {
    let words = |field: &[u8]| field.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count();
    width >= 3 && record.len() == 1 && words(record.field(0)) > 1
}

/// Records with a few of them held back, so that those at the end are known as such.
pub(super) struct Tail {
    waiting: VecDeque<Record>,
    ended: bool,
    width: usize,
    /// Whether a row began with the word of a total.
    totals: bool,
    /// How many records at the end were no rows.
    pub(super) below: usize,
}

impl Tail {
    /// Begins with records that were read already; whether there are no more.
    pub(super) fn new(waiting: VecDeque<Record>, ended: bool, width: usize) -> Self {
        Tail { waiting, ended, width, totals: false, below: 0 }
    }

    /// The next record; false at the end. The record given is used again.
    pub(super) fn next(
        &mut self,
        more: &mut dyn FnMut(&mut Record) -> Result<bool>,
        record: &mut Record,
    ) -> Result<bool> {
        while !self.ended && self.waiting.len() <= MOST_BELOW {
            let mut fresh = std::mem::take(record);
            if more(&mut fresh)? {
                self.waiting.push_back(fresh);
            } else {
                self.ended = true;
                self.below = take_below(&mut self.waiting, self.width, self.totals);
            }
        }
        let Some(next) = self.waiting.pop_front() else { return Ok(false) };
        self.totals = self.totals || is_total(&next);
        *record = next;
        Ok(true)
    }
}
