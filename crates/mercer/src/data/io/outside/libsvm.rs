//! Batches of lines of LIBSVM text.

use super::super::ReadOptions;
use super::super::labels::Collector;
use super::super::libsvm::{LARGEST_INDEX, Rows, content, word_end};
use super::super::source::Input;
use super::super::text::{Lines, line_fault};
use super::table::Take;
use super::text::{Batch, Begun};
use crate::data::Dataset;
use crate::error::Result;

/// Divides the text into batches of about this many bytes.
pub(super) fn batches(input: &mut Input<'_>, bytes: usize, take: &mut Take<'_>) -> Result<()> {
    let begun = Begun { name: input.name.clone(), budget: input.budget, decided: None };
    let mut lines = Lines::new(input);
    let (mut batch, mut size) = (Vec::new(), 0);
    while lines.advance()? {
        size += lines.line().len() + 1;
        if !content(lines.line()).is_empty() {
            batch.push((lines.number, lines.line().to_vec()));
        }
        if size >= bytes {
            take(&begun, Batch::Lines(std::mem::take(&mut batch)), size, false)?;
            size = 0;
        }
    }
    take(&begun, Batch::Lines(batch), size, true)
}

fn rows(lines: &[(u64, Vec<u8>)], begun: &Begun, options: &ReadOptions) -> Result<Rows> {
    let largest = options.columns.map_or(LARGEST_INDEX, |d| d as u64);
    let mut rows = Rows::new(options.targets);
    for (number, line) in lines {
        if let Err(wrong) = rows.push(line, largest) {
            let declared = options.columns.filter(|_| wrong.too_large).map(|d| format!(" (columns = {d})"));
            let expected = wrong.expected + &declared.unwrap_or_default();
            return Err(line_fault(&begun.name, *number, Some(wrong.got), expected));
        }
    }
    Ok(rows)
}

/// The lines as a data set.
pub(super) fn parsed(lines: &[(u64, Vec<u8>)], begun: &Begun, options: &ReadOptions) -> Result<Dataset> {
    let rows = rows(lines, begun, options)?;
    let d = options.columns.unwrap_or_else(|| rows.width());
    rows.finish(d.max(1), &begun.name, begun.budget, options.storage)
}

/// The largest index of the lines.
pub(super) fn widest(lines: &[(u64, Vec<u8>)], begun: &Begun, options: &ReadOptions) -> Result<usize> {
    Ok(rows(lines, begun, options)?.width())
}

/// Takes the label of a line; how many different ones there are now, if it is the first of its name.
pub(super) fn label_of(
    (number, line): &(u64, Vec<u8>),
    labels: &mut Collector,
    name: &str,
) -> Result<Option<usize>> {
    let line = content(line);
    let word = &line[..word_end(line)];
    if word.contains(&b':') {
        return Ok(None);
    }
    labels.pass(word).map_err(|(got, expected)| line_fault(name, *number, Some(got), expected))
}
