//! CSV and TSV: a line a row, fields between commas, tabs, semicolons or blanks.
//!
//! The first line is a header if none of its fields is a number, or if one of its fields is text where the next line has
//! a number. Fields may stand in double quotes (a doubled quote inside is one quote) and then hold delimiters and line
//! ends. Lines that begin with `#` are skipped before the first record, blank lines everywhere. Every field but the
//! label's must be a finite number; missing values, text and ragged rows are refused with line and column.

use std::io::Write;

use super::ReadOptions;
use super::label_column::label_column;
use super::labels::Collector;
use super::records::{Record, Records, delimiter_of};
use super::source::Input;
use super::text::{line_fault, name_of, number, shown};
use crate::data::{Data, Dataset, Points, TargetFrom, Targets};
use crate::error::{Error, Fault, Result};
use crate::watch::Note;

/// How missing values are written.
const MISSING: [&str; 8] = ["", "?", "na", "n/a", "nan", "null", "none", "-"];

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let delimiter = match options.delimiter {
        Some(c) => u8::try_from(c)
            .ok()
            .filter(|b| b.is_ascii() && !matches!(b, b'"' | b'\n' | b'\r'))
            .ok_or_else(|| Error::param("delimiter", format!("{c:?}"), "an ASCII character, not a quote"))?,
        None => delimiter_of(&input.head),
    };
    let mut records = Records::new(input, delimiter);
    let (mut first, mut second) = (Record::default(), Record::default());
    if !records.next(&mut first)? {
        return Err(records.lines.input.fault(Some("no rows"), "at least one line of fields"));
    }
    let has_second = records.next(&mut second)?;
    let header = options.header.unwrap_or_else(|| is_header(&first, has_second.then_some(&second)));
    let names = if header { Some(names_of(records.lines.input, &first)?) } else { None };
    let mut pending = if header || !has_second { None } else { Some(second.clone()) };
    let mut record = if header { second } else { first.clone() };
    if header && !has_second {
        return Err(records.lines.input.fault(Some("a header and no rows"), "at least one row"));
    }
    let from = label_column(&records.lines.input.name, &record, names.as_deref(), &options.label)?;
    let mut rows = Rows {
        width: first.len(),
        label: from.as_ref().map(|from| from.column - 1),
        names,
        labels: Collector::new(options.targets),
        values: Vec::new(),
    };
    loop {
        rows.push(&record, &records.lines.input.name)?;
        let bytes = rows.values.len() * 8 + rows.labels.bytes();
        records.lines.input.budget.check(&records.lines.input.name, Some(record.line), bytes, 1)?;
        if let Some(next) = pending.take() {
            record = next;
        } else if !records.next(&mut record)? {
            break;
        }
    }
    let mut data = rows.finish()?;
    data.notes.extend(from.as_ref().and_then(|from| note(from, first.len())).map(Note::from));
    data.target_from = from;
    Ok(data)
}

/// As [`read`], between tabs unless asked otherwise.
pub(super) fn read_tsv(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let delimiter = options.delimiter.or(Some('\t'));
    read(input, &ReadOptions { delimiter, ..options.clone() })
}

struct Rows {
    width: usize,
    label: Option<usize>,
    names: Option<Vec<String>>,
    labels: Collector,
    values: Vec<f64>,
}

impl Rows {
    fn push(&mut self, record: &Record, source: &str) -> Result<()> {
        if record.len() != self.width {
            let got = format!("{} fields", record.len());
            return Err(line_fault(
                source,
                record.line,
                Some(got),
                format!("{} as in the first line", self.width),
            ));
        }
        for (at, field) in record.fields().enumerate() {
            let wrong = if self.label == Some(at) {
                self.labels.push(field).err()
            } else if let Some(value) = number(field) {
                self.values.push(value);
                None
            } else {
                Some(not_a_number(field))
            };
            if let Some((got, expected)) = wrong {
                return Err(Fault {
                    source: Some(source.to_owned()),
                    line: Some(record.line),
                    column: Some(self.column(at)),
                    got: Some(got),
                    expected,
                    ..Fault::default()
                }
                .into());
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

    fn finish(mut self) -> Result<Dataset> {
        let d = self.width - usize::from(self.label.is_some());
        let targets = if self.label.is_some() { self.labels.finish() } else { Targets::None };
        self.values.shrink_to_fit();
        let mut data = Dataset::new(Points::dense(self.values, d)?, targets)?;
        if let Some(mut names) = self.names {
            data.target_name = self.label.map(|at| names.remove(at));
            data.column_names = Some(names);
        }
        Ok(data)
    }
}

fn is_missing(field: &[u8]) -> bool {
    MISSING.iter().any(|m| field.eq_ignore_ascii_case(m.as_bytes()))
}

fn not_a_number(field: &[u8]) -> (String, String) {
    if is_missing(field) {
        let got = if field.is_empty() { "an empty field".into() } else { shown(field) };
        return (got, "a number: fill in or leave out rows with missing values first".into());
    }
    (shown(field), "a finite number: a column of text can only be the label".into())
}

fn is_header(first: &Record, second: Option<&Record>) -> bool {
    let text = |field: &[u8]| number(field).is_none() && !is_missing(field);
    if first.fields().all(text) {
        // One row of one word is a row of text, not a header without rows.
        return first.len() > 1 || second.is_some_and(|s| s.fields().any(|f| number(f).is_some()));
    }
    let Some(second) = second.filter(|s| s.len() == first.len()) else { return false };
    first.fields().zip(second.fields()).any(|(a, b)| text(a) && number(b).is_some())
}

/// What to say about the label column where nobody named it and its own name does not tell.
fn note(from: &TargetFrom, width: usize) -> Option<String> {
    let why = from.why.as_ref()?;
    if from.column == width && !why.contains("name") {
        return Some("the last column is the label".into());
    }
    (from.column == 1 && !why.contains("name"))
        .then(|| "the first column is the label: the only one that holds no numbers".into())
}

/// The columns' names, all different: columns are matched by name, and two of one name cannot be told apart.
fn names_of(input: &Input<'_>, header: &Record) -> Result<Vec<String>> {
    let source = &input.name;
    // A name of one letter takes two strings' worth of memory.
    input.budget.check(source, Some(header.line), header.len(), 64)?;
    let names = header
        .fields()
        .map(|f| {
            let wrong = || line_fault(source, header.line, Some(shown(f)), "column names in UTF-8");
            name_of(f).map(str::to_owned).ok_or_else(wrong)
        })
        .collect::<Result<Vec<String>>>()?;
    let Some((first, second)) = same_name(&names) else { return Ok(names) };
    let got = match names[first].as_str() {
        "" => format!("no name for columns {} and {}", first + 1, second + 1),
        name => format!(
            "column name {} twice, in columns {} and {}",
            shown(name.as_bytes()),
            first + 1,
            second + 1
        ),
    };
    Err(line_fault(source, header.line, Some(got), "a different name for each column"))
}

/// The first two columns of one name.
fn same_name(names: &[String]) -> Option<(usize, usize)> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]).then(a.cmp(&b)));
    let twins = order.windows(2).filter(|w| names[w[0]] == names[w[1]]);
    twins.map(|w| (w[0], w[1])).min_by_key(|&(_, second)| second)
}

pub(super) fn write_csv(out: &mut dyn Write, data: &Dataset, source: &str, memory: u64) -> Result<()> {
    write(out, data, (source, memory), b',')
}

pub(super) fn write_tsv(out: &mut dyn Write, data: &Dataset, source: &str, memory: u64) -> Result<()> {
    write(out, data, (source, memory), b'\t')
}

/// Writes a header and rows, the target last; numbers as short as they can be and still be read back the same.
fn write(out: &mut dyn Write, data: &Dataset, (source, memory): (&str, u64), delimiter: u8) -> Result<()> {
    let view = data.points.view();
    if matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_)) {
        return Err(Error::shape("points to write as a table", view.kind(), "rows of numbers"));
    }
    // A row as numbers and as text, and all names.
    crate::exec::room_for_table("a table of all columns", 8, view.d, view.bytes(), memory)?;
    let refused = |e| Error::io(source, e);
    let mut line = Vec::new();
    for j in 0..view.d {
        let given = data.column_names.as_ref().and_then(|names| names.get(j)).cloned();
        push_field(&mut line, &given.unwrap_or_else(|| format!("x{}", j + 1)), delimiter);
    }
    if data.targets != Targets::None {
        push_field(&mut line, data.target_name.as_deref().unwrap_or("label"), delimiter);
    }
    end_line(&mut line);
    out.write_all(&line).map_err(refused)?;
    for i in 0..view.n {
        line.clear();
        for value in view.row(i).to_f64() {
            push_field(&mut line, &value.to_string(), delimiter);
        }
        match &data.targets {
            Targets::None => {}
            Targets::Classes(labels) => push_field(&mut line, labels.name_of(i), delimiter),
            Targets::Reals(y) => push_field(&mut line, &y[i].to_string(), delimiter),
        }
        end_line(&mut line);
        out.write_all(&line).map_err(refused)?;
    }
    Ok(())
}

/// Adds a field and a delimiter, with quotes where it needs them.
fn push_field(line: &mut Vec<u8>, field: &str, delimiter: u8) {
    let special = |b: u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r' | b'#');
    let blank_ends = field.trim() != field || field.is_empty();
    if field.bytes().any(special) || blank_ends {
        line.push(b'"');
        line.extend(field.replace('"', "\"\"").bytes());
        line.push(b'"');
    } else {
        line.extend(field.bytes());
    }
    line.push(delimiter);
}

/// Replaces the last delimiter by the line's end.
fn end_line(line: &mut Vec<u8>) {
    line.pop();
    line.push(b'\n');
}
