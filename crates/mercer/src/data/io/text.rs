//! Shared by the text readers: lines, numbers, and excerpts for messages.

use std::io::{BufRead, Read};

use super::source::{HEAD, Input, LONGEST_LINE};
use crate::error::{Error, Fault, Result};

/// The lines of a source, one at a time in one buffer, numbered from 1.
pub(super) struct Lines<'i, 'a> {
    pub(super) input: &'i mut Input<'a>,
    /// Number of the line last given.
    pub(super) number: u64,
    buffer: Vec<u8>,
}

impl<'i, 'a> Lines<'i, 'a> {
    pub(super) fn new(input: &'i mut Input<'a>) -> Self {
        Lines { input, number: 0, buffer: Vec::new() }
    }

    /// Fills the buffer with the next line, without its end; false at the end of the source.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.buffer.clear();
        let longest = LONGEST_LINE.min(self.input.budget.bytes().max(1));
        let mut limited = (&mut self.input.reader).take(longest);
        let count = match limited.read_until(b'\n', &mut self.buffer) {
            Ok(count) => count,
            Err(e) => return Err(self.input.failed(e)),
        };
        if count == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            if self.buffer.last() == Some(&b'\r') {
                self.buffer.pop();
            }
        } else if count as u64 == longest && longest < LONGEST_LINE {
            self.input.budget.check(&self.input.name, Some(self.number), count + 1, 1)?;
        } else if count as u64 == longest {
            return Err(self.fault(None, format!("a line of less than {LONGEST_LINE} bytes")));
        }
        Ok(true)
    }

    /// The line last read.
    pub(super) fn line(&self) -> &[u8] {
        &self.buffer
    }

    /// An error about the line last read.
    pub(super) fn fault(&self, got: Option<String>, expected: impl Into<String>) -> Error {
        line_fault(&self.input.name, self.number, got, expected)
    }
}

/// The first lines of a head, at most so many: blank ones, comments and one that is cut off left out.
pub(super) fn first_lines(head: &[u8], most: usize) -> Vec<&[u8]> {
    let cut = head.len() as u64 >= HEAD;
    let end = head.iter().rposition(|&b| b == b'\n').filter(|_| cut).unwrap_or(head.len());
    head[..end]
        .split(|&b| b == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|l| !l.is_empty() && !l.trim_ascii_start().starts_with(b"#"))
        .take(most)
        .collect()
}

/// An error about a line.
pub(super) fn line_fault(name: &str, line: u64, got: Option<String>, expected: impl Into<String>) -> Error {
    Fault {
        source: Some(name.to_owned()),
        line: Some(line),
        got,
        expected: expected.into(),
        ..Fault::default()
    }
    .into()
}

/// Text as messages show it: between backticks, shortened, nothing unprintable.
pub(super) fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let text = String::from_utf8_lossy(text);
    let mut out: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        out.push_str("...");
    }
    format!("`{out}`")
}

/// The text as a label or a name; it must be UTF-8.
pub(super) fn name_of(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text).ok()
}

/// Powers of ten that are exact in f64.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The finite number that a piece of text is, correctly rounded; `None` for anything else, NaN and infinity included.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    leading_number(text).filter(|&(_, len)| len == text.len()).map(|(value, _)| value)
}

/// Whether the text is a number, but NaN, an infinity or beyond f64.
pub(super) fn is_not_finite(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|t| t.parse::<f64>().is_ok_and(|v| !v.is_finite()))
}

/// The finite number at the beginning of a text, up to a blank or its end, and how many bytes it takes.
pub(super) fn leading_number(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let begin = usize::from(negative || text.first() == Some(&b'+'));
    let (mut mantissa, mut point, mut at) = (0u64, None, begin);
    // Most numbers in files are short decimals: both the digits and the power of ten are exact, so one division rounds
    // correctly. Everything else goes the standard library's way.
    while let Some(&byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() {
            point = Some(at);
        } else if byte.is_ascii_whitespace() {
            break;
        } else {
            return general(text);
        }
        at += 1;
    }
    let decimals = point.map_or(0, |point| at - point - 1);
    let digits = at - begin - usize::from(point.is_some());
    if digits == 0 || digits > 19 || mantissa > 1 << 53 {
        return general(text);
    }
    let value = mantissa as f64 / POWERS[decimals];
    Some((if negative { -value } else { value }, at))
}

#[cold]
fn general(text: &[u8]) -> Option<(f64, usize)> {
    let len = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let value: f64 = std::str::from_utf8(&text[..len]).ok()?.parse().ok()?;
    value.is_finite().then_some((value, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let texts = [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "-.5",
            "0.1",
            "123456.789",
            "9007199254740993",
            "9007199254740992",
            "0.000000000000000001",
            "12345678901234567890",
            "1e5",
            "1E-5",
            "-2.5e+3",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "4.9e-324",
            "00012",
            "0.1234567890123456789",
        ];
        for text in texts {
            let expected: f64 = text.parse().expect("a number");
            let got = number(text.as_bytes()).expect("a number");
            assert_eq!(got.to_bits(), expected.to_bits(), "{text}");
        }
        for text in [
            "",
            "-",
            "+",
            ".",
            "nan",
            "inf",
            "-Infinity",
            "1e999",
            "1,5",
            "abc",
            "1 ",
            "--1",
            "1.2.3",
            "0x10",
        ] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_leading_number_ends_at_a_blank() {
        assert_eq!(leading_number(b"1.5 2"), Some((1.5, 3)));
        assert_eq!(leading_number(b"-1e3\t2"), Some((-1000.0, 4)));
        assert_eq!(leading_number(b"1.5x 2"), None);
        assert_eq!(leading_number(b" 1"), None);
    }

    #[test]
    fn shown_text_is_short_and_printable() {
        assert_eq!(shown(b"a\tb"), "`a\\tb`");
        assert_eq!(shown(&[b'x'; 100]).len(), 40 + 3 + 2);
    }
}
