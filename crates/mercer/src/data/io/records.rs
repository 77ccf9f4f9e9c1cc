//! Lines of a table cut into fields: quotes, delimiters, comments before the first record, blank lines.
//!
//! A record knows the line it begins in, whatever line ends, blank lines and quoted line ends came before it.

use super::source::Input;
use super::text::{Lines, first_lines, line_fault, shown};
use crate::error::Result;

/// One record: its fields, and the line it begins in.
#[derive(Debug, Default, Clone)]
pub(super) struct Record {
    text: Vec<u8>,
    ends: Vec<usize>,
    /// The line it begins in.
    pub(super) line: u64,
}

impl Record {
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>()
    }

    /// Number of fields.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field; blanks around it were left out, unless they stood in quotes.
    pub(super) fn field(&self, at: usize) -> &[u8] {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[begin..self.ends[at]]
    }

    /// Ends the field that began at `begin`, whose quotes closed at `closed`; gives where the next begins.
    fn end_field(&mut self, begin: usize, closed: Option<usize>) -> usize {
        // Quoted text is not changed; only blanks after the quotes are dropped.
        let keep = closed.unwrap_or(begin);
        let blanks = self.text[keep..].len() - self.text[keep..].trim_ascii_end().len();
        self.text.truncate(self.text.len() - blanks);
        if closed.is_none() {
            let blanks = self.text[begin..].len() - self.text[begin..].trim_ascii_start().len();
            self.text.drain(begin..begin + blanks);
        }
        self.ends.push(self.text.len());
        self.text.len()
    }

    /// Removes all fields.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a field as it is.
    pub(super) fn push(&mut self, field: &[u8]) {
        self.text.extend_from_slice(field);
        self.ends.push(self.text.len());
    }

    /// All fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.field(at))
    }
}

/// The records of a source.
pub(super) struct Records<'i, 'a> {
    pub(super) lines: Lines<'i, 'a>,
    delimiter: u8,
    /// Whether a record was given: comments are skipped only before.
    begun: bool,
}

impl<'i, 'a> Records<'i, 'a> {
    pub(super) fn new(input: &'i mut Input<'a>, delimiter: u8) -> Self {
        Records { lines: Lines::new(input), delimiter, begun: false }
    }

    /// Refuses a line that is not valid UTF-8: the characters of its other bytes are unknown.
    fn check_text(&self) -> Result<()> {
        let line = self.lines.line();
        let Err(bad) = std::str::from_utf8(line) else { return Ok(()) };
        let around = &line[bad.valid_up_to().saturating_sub(20)..line.len().min(bad.valid_up_to() + 20)];
        let got = format!("bytes that are not UTF-8 in {}", shown(around));
        let expected = "text in UTF-8; pass --encoding latin-1 for text in Latin-1 or Windows-1252, --encoding utf-16 for \
                        UTF-16 without a byte order mark";
        Err(self.lines.fault(Some(got), expected))
    }

    /// The next record; false at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool> {
        record.text.clear();
        record.ends.clear();
        loop {
            if !self.lines.advance()? {
                return Ok(false);
            }
            let line = self.lines.line().trim_ascii_start();
            let comment = !self.begun && line.starts_with(b"#");
            // DOS marks the end of a text by Ctrl-Z.
            if !line.is_empty() && !comment && line != b"\x1a" {
                break;
            }
        }
        self.begun = true;
        record.line = self.lines.number;
        self.check_text()?;
        if self.delimiter == b' ' && !self.lines.line().contains(&b'"') {
            for word in self.lines.line().split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()) {
                record.text.extend_from_slice(word);
                record.ends.push(record.text.len());
            }
            return Ok(true);
        }
        let line = self.lines.line();
        if !line.contains(&b'"') {
            for field in line.split(|&b| b == self.delimiter) {
                record.text.extend_from_slice(field.trim_ascii());
                record.ends.push(record.text.len());
            }
            return Ok(true);
        }
        self.quoted(record)
    }

    /// Fields of a record that has quotes somewhere; it may go on over several lines.
    fn quoted(&mut self, record: &mut Record) -> Result<bool> {
        let mut inside = false;
        let mut begin = 0;
        // Where the quotes of the field being read closed.
        let mut closed = None;
        let blanks = self.delimiter == b' ';
        let ends = |byte: u8| byte == self.delimiter || blanks && byte.is_ascii_whitespace();
        loop {
            let line = self.lines.line();
            let mut at = 0;
            while at < line.len() {
                let byte = line[at];
                if inside && byte == b'"' && line.get(at + 1) == Some(&b'"') {
                    record.text.push(b'"');
                    at += 1;
                } else if inside && byte == b'"' {
                    inside = false;
                    closed = Some(record.text.len());
                } else if !inside && byte == b'"' && record.text[begin..].trim_ascii().is_empty() {
                    record.text.truncate(begin);
                    inside = true;
                } else if !inside && ends(byte) {
                    // Of a run of blanks only the first ends a field.
                    if !blanks || closed.is_some() || record.text.len() > begin {
                        begin = record.end_field(begin, closed.take());
                    }
                } else {
                    record.text.push(byte);
                }
                at += 1;
            }
            if !inside {
                if !blanks || closed.is_some() || record.text.len() > begin {
                    record.end_field(begin, closed);
                }
                return Ok(true);
            }
            // A line end in quotes is one character, however it is written.
            while record.text.len() > begin && record.text.last() == Some(&b'\r') {
                record.text.pop();
            }
            record.text.push(b'\n');
            let budget = self.lines.input.budget;
            budget.check(&self.lines.input.name, Some(record.line), record.text.len(), 1)?;
            if !self.lines.advance()? {
                let name = &self.lines.input.name;
                return Err(line_fault(
                    name,
                    record.line,
                    Some("a quote that is never closed".into()),
                    "a closing quote",
                ));
            }
            self.check_text()?;
        }
    }
}

/// The delimiter that cuts the first lines into the same number of fields, more than one; else the one that does so for most
/// of more lines, below titles; blanks if none does.
pub(super) fn delimiter_of(head: &[u8]) -> u8 {
    let lines = first_lines(head, 50);
    let few = &lines[..lines.len().min(5)];
    let counts = |d: u8| few.iter().map(move |line| count_outside_quotes(line, d));
    let agree = |d: u8| {
        let first = counts(d).next().unwrap_or(0);
        first > 0 && counts(d).all(|c| c == first)
    };
    let candidates = *b"\t;,|";
    let first_line_has = |d: &u8| counts(*d).next().unwrap_or(0) > 0;
    candidates
        .into_iter()
        .find(|&d| agree(d))
        .or_else(|| candidates.into_iter().find(|&d| most_agree(&lines, d)))
        .or_else(|| candidates.into_iter().find(first_line_has))
        .unwrap_or(b' ')
}

/// Whether a delimiter cuts more than half of the lines into the same number of fields, more than one.
fn most_agree(lines: &[&[u8]], delimiter: u8) -> bool {
    let mut counts: Vec<usize> = lines.iter().map(|line| count_outside_quotes(line, delimiter)).collect();
    counts.sort_unstable();
    counts.chunk_by(|a, b| a == b).any(|same| same[0] > 0 && 2 * same.len() > lines.len())
}

fn count_outside_quotes(line: &[u8], delimiter: u8) -> usize {
    let mut inside = false;
    let mut count = 0;
    for &byte in line {
        inside ^= byte == b'"';
        count += usize::from(!inside && byte == delimiter);
    }
    count
}
