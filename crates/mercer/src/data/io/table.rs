//! CSV and TSV: one line per row, fields separated by commas, tabs, semicolons or blanks.
//!
//! The first line is a header if none of its fields is a number, or if one of its fields is text where the next line
//! has a number; but a line of text whose fields come back in the rows below is a row itself. Fields may stand in
//! double quotes (a doubled quote inside is one quote) and then hold delimiters and line ends. Lines that begin with
//! `#` are skipped before the first record, blank lines everywhere, and so is a delimiter at the end of every line.
//! Where each row has one field more than the header, the first is the row's name.
//! Below a header, cells that lack at the end of a row are missing values, unless the features are numbers alone.
//!
//! Where every feature is a number in every row, the points are dense; else they are a [`Table`](crate::data::Table).

use std::collections::VecDeque;

use super::amount::Amounts;
use super::dialect::{Dialect, text_of};
use super::header::{check_names, has_row_names, is_header, names_of};
use super::label_column::{Sample, label_column};
use super::labels::{Collector, TargetKind};
use super::limits::Budget;
use super::records::{Record, Records, delimiter_of};
use super::source::{Input, fault};
use super::strays::{Tail, above, is_rule, is_units, take_below};
use super::table_rows::{Layout, Rows};
use super::text::{line_fault, shown};
use super::{Missing, ReadOptions};
use crate::data::{Dataset, TargetFrom};
use crate::error::{Error, Result};
use crate::watch::Note;

/// Number of records, and of their bytes, that are examined to detect header, label and decimal sign.
const SAMPLE: usize = 1000;
const SAMPLE_BYTES: usize = 1 << 20;
/// However long they are: a header and some rows.
const SAMPLE_AT_LEAST: usize = 4;

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let delimiter = delimiter(options)?.unwrap_or_else(|| delimiter_of(&input.head));
    let (name, budget) = (input.name.clone(), input.budget);
    let mut records = Records::new(input, delimiter);
    let mut next = |record: &mut Record| records.next(record);
    assemble(&Given { name: &name, budget, delimiter, names: None }, &mut next, options)
}

/// The delimiter asked for.
pub(super) fn delimiter(options: &ReadOptions) -> Result<Option<u8>> {
    let one = |c: char| {
        u8::try_from(c)
            .ok()
            .filter(|b| b.is_ascii() && !matches!(b, b'"' | b'\n' | b'\r'))
            .ok_or_else(|| Error::param("delimiter", format!("{c:?}"), "an ASCII character, not a quote"))
    };
    options.delimiter.map(one).transpose()
}

/// The state of a table before its records are read.
pub(super) struct Given<'a> {
    pub(super) name: &'a str,
    pub(super) budget: Budget,
    /// What separates fields; a comma where nothing does.
    pub(super) delimiter: u8,
    /// The columns' names, where the format has them; else the first record may be a header.
    pub(super) names: Option<Vec<String>>,
}

/// The dialect detected from the first records, by which all others are read.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    layout: Layout,
    width: usize,
    names: Option<Vec<String>>,
    dialect: Dialect,
    from: Option<TargetFrom>,
    trimmed: bool,
    header: bool,
    /// Whether the examined records are all there are.
    ended: bool,
    /// Notes on skipped lines and converted cells.
    notes: Vec<Note>,
}

impl Decided {
    /// Number of columns, the label included.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How cells are written.
    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// The label's column.
    fn label(&self) -> Option<usize> {
        self.from.as_ref().map(|from| from.column - 1)
    }

    /// The label's column, counted from 1.
    pub(super) fn label_number(&self) -> Option<i64> {
        self.from.as_ref().map(|from| from.column as i64)
    }

    /// How the label was found.
    pub(super) fn from(&self) -> Option<&TargetFrom> {
        self.from.as_ref()
    }

    /// Whether a column is a feature.
    pub(super) fn is_feature(&self, at: usize) -> bool {
        Some(at) != self.label() && !self.layout.ignores(at)
    }

    /// Takes the label of a record: nothing where the record does not count for want of one; how many different labels there
    /// are now if it is the first of its name, else 0.
    pub(super) fn label_of(
        &self,
        record: &Record,
        labels: &mut Collector,
        source: &str,
    ) -> Result<Option<usize>> {
        let Some(at) = self.label().filter(|&at| at < record.len() && !labels.is_idle()) else {
            return Ok(Some(0));
        };
        let field = record.field(at);
        if self.dialect.is_missing_label(field) {
            return Ok(None);
        }
        let amounts = self.dialect.amounts.get(at).and_then(Option::as_ref);
        let plain = amounts.and_then(|amounts| amounts.plain(field));
        let field = plain.as_ref().map_or(field, |text| text.as_bytes());
        let text = if self.dialect.has_decimal_comma() { self.dialect.text(field) } else { text_of(field) };
        let wrong = |(got, expected): (String, String)| line_fault(source, record.line, Some(got), expected);
        labels.pass(text.as_bytes()).map_err(wrong).map(|first| Some(first.unwrap_or(0)))
    }

    /// No rows yet.
    pub(super) fn rows(&self, options: &ReadOptions) -> Result<Rows> {
        let rows =
            Rows::new(self.layout.clone(), self.label(), self.names.clone(), self.dialect.clone(), options)?;
        Ok(rows.trimmed(self.trimmed).below_header(self.header && options.header.is_none()))
    }
}

/// Examines the first records without consuming them.
pub(super) fn decide(
    given: &Given<'_>,
    next: &mut dyn FnMut(&mut Record) -> Result<bool>,
    options: &ReadOptions,
) -> Result<(Decided, VecDeque<Record>)> {
    let Given { name, delimiter, ref names, .. } = *given;
    let (mut sample, ended) = first_records(next)?;
    if sample.is_empty() {
        return Err(fault(name, Some("no rows"), "at least one row"));
    }
    let mut notes = Vec::new();
    let mut dialect = Dialect::of(&sample, delimiter, options);
    // Blanks cut titles into words; formats with names of their own have no titles.
    // Whoever says whether there is a header knows the lines of the file: then all others are rows.
    let guessed = options.header.is_none();
    let titled = names.is_none() && guessed && delimiter != b' ';
    let titles = if titled { above(&sample, &dialect) } else { 0 };
    if titles > 0 {
        sample.drain(..titles);
        dialect = Dialect::of(&sample, delimiter, options);
        notes.push(Note::from(format!("{} above the table skipped", counted(titles, "line"))));
    }
    let first = &sample[0];
    let header =
        names.is_none() && options.header.unwrap_or_else(|| is_header(first, &sample[1..], &dialect));
    let trailing = names.is_none() && ends_in_delimiter(&sample);
    let row_names = header && guessed && has_row_names(&sample);
    let width = first.len() - usize::from(trailing) + usize::from(row_names);
    let from_header = header;
    let names = match names {
        Some(names) => {
            check_names(name, first.line, names)?;
            Some(names.clone())
        }
        None if header => {
            let (names, renamed) = names_of(first, width, row_names, given)?;
            notes.extend(renamed);
            Some(names)
        }
        None => None,
    };
    if row_names {
        let text = "the header has one name fewer than each row has fields: the first field is a row's name, as R writes it";
        notes.push(text.into());
    }
    let mut waiting: VecDeque<Record> = sample.into();
    if header {
        waiting.pop_front();
        if guessed && waiting.len() > 1 && is_rule(&waiting[0]) {
            notes.push(Note::from(format!("line {} skipped: it contains only dashes", waiting[0].line)));
            waiting.pop_front();
        }
        let rest = waiting.make_contiguous();
        if guessed && rest.len() > 2 && delimiter != b' ' && is_units(&rest[0], &rest[1..], &dialect) {
            notes.push(Note::from(format!("line {} skipped: it holds units or descriptions", rest[0].line)));
            waiting.pop_front();
        }
    }
    let below =
        if guessed && ended && waiting.len() > 1 { take_below(&mut waiting, width, false) } else { 0 };
    notes.extend((below > 0).then(|| below_note(below)));
    if waiting.is_empty() {
        return Err(fault(name, Some("a header and no rows"), "at least one row"));
    }
    let looked_at = waiting.make_contiguous();
    let layout = Layout::new(name, width, names.as_deref(), options)?;
    let column =
        |at: usize| names.as_ref().map_or_else(|| (at + 1).to_string(), |names| shown(names[at].as_bytes()));
    let amounts =
        |at: usize| Amounts::of(looked_at, at, &dialect, delimiter).filter(|_| layout.may_be_numbers(at));
    dialect.amounts = (0..width).map(amounts).collect();
    let plain = |record: &Record, dialect: &Dialect| dialect.plain(record).unwrap_or_else(|| record.clone());
    let clean: Vec<Record> = looked_at.iter().map(|record| plain(record, &dialect)).collect();
    let sample = Sample { rows: &clean, width, names: names.as_deref(), dialect: &dialect, layout: &layout };
    let from = label_column(name, &sample, &options.label)?;
    let label = from.as_ref().map(|from| from.column - 1);
    // Spreadsheets leave out empty cells at the end of a row. Where rows are numbers alone, a short row is rather a mistake.
    let other = |r: &Record| {
        r.len() >= width && (0..width).any(|at| Some(at) != label && dialect.number(r.field(at)).is_none())
    };
    let trimmed =
        header && delimiter != b' ' && options.missing != Missing::Refuse && clean.iter().any(other);
    if let Some(at) = label {
        // Few whole amounts are rather names of classes, and keep their units.
        let kept = |a: &Amounts| {
            options.targets == TargetKind::Reals
                || options.targets == TargetKind::Auto && a.are_numbers(looked_at, at)
        };
        dialect.amounts[at] = dialect.amounts[at].take().filter(kept);
    }
    let read = dialect.amounts.iter().enumerate().filter_map(|(at, a)| Some(a.as_ref()?.note(&column(at))));
    notes.extend(read.map(Note::from));
    let decided = Decided { layout, width, names, dialect, from, trimmed, header: from_header, ended, notes };
    Ok((decided, waiting))
}

/// The records to look at, and whether there are no more.
fn first_records(next: &mut dyn FnMut(&mut Record) -> Result<bool>) -> Result<(Vec<Record>, bool)> {
    let (mut sample, mut bytes) = (Vec::new(), 0);
    // A header may be longer than the bytes examined: rows below it decide whether it is one.
    while sample.len() < SAMPLE_AT_LEAST || (sample.len() < SAMPLE && bytes < SAMPLE_BYTES) {
        let mut record = Record::default();
        if !next(&mut record)? {
            return Ok((sample, true));
        }
        bytes += record.bytes();
        sample.push(record);
    }
    Ok((sample, false))
}

fn below_note(lines: usize) -> Note {
    Note::warning(format!("{} at the end skipped: totals or remarks, not data", counted(lines, "line")))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Makes a data set of records, wherever they come from.
pub(super) fn assemble(
    given: &Given<'_>,
    next: &mut dyn FnMut(&mut Record) -> Result<bool>,
    options: &ReadOptions,
) -> Result<Dataset> {
    let (decided, waiting) = decide(given, next, options)?;
    let Given { name, budget, .. } = *given;
    let mut rows = decided.rows(options)?;
    let mut tail = Tail::new(waiting, decided.ended, decided.width);
    let mut record = Record::default();
    while tail.next(next, &mut record)? {
        rows.push(&record, name)?;
        budget.check(name, Some(record.line), rows.bytes(), 1)?;
    }
    let mut data = rows.finish(name)?;
    data.notes.extend(decided.notes);
    data.notes.extend((tail.below > 0).then(|| below_note(tail.below)));
    data.notes.extend(decided.from.as_ref().and_then(|from| note(from, decided.width)).map(Note::from));
    data.target_from = decided.from;
    Ok(data)
}

/// As [`read`], between tabs unless --sheet names another.
pub(super) fn read_tsv(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let delimiter = options.delimiter.or(Some('\t'));
    read(input, &ReadOptions { delimiter, ..options.clone() })
}

/// Whether all lines end in a delimiter: of several records, each has nothing in its last field.
fn ends_in_delimiter(sample: &[Record]) -> bool {
    let width = sample[0].len();
    let empty = |r: &Record| r.len() == width && r.field(width - 1).is_empty();
    sample.len() > 1 && width > 1 && sample.iter().all(empty)
}

/// A note about the label column if it was not given and its own name does not identify it.
fn note(from: &TargetFrom, width: usize) -> Option<String> {
    let why = from.why.as_ref()?;
    if from.column == width && !why.contains("name") {
        return Some("the last column is the label".into());
    }
    (from.column == 1 && !why.contains("name"))
        .then(|| "the first column is the label: the only one that holds no numbers".into())
}
