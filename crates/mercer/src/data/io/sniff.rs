//! Which format a source is in, told by its first bytes.

use super::source::Input;
use super::text::first_lines;
use super::{Format, idx, npy, picture, records};
use crate::error::Result;

/// Beginnings of files that people have and this library does not read, with a word about each.
const FOREIGN: [(&[u8], &str); 8] = [
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"BZh", "a bzip2 file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"MATLAB", "a MATLAB file"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
];

/// Lines looked at to tell one text format from another.
const SAMPLE: usize = 20;

/// The format of the source, or a message about what it is instead.
pub(super) fn format_of(input: &Input<'_>) -> Result<Format> {
    let head = input.head.as_slice();
    if npy::begins(head) {
        return Ok(Format::Npy);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Ok(Format::Npz);
    }
    if idx::begins(head) {
        return Ok(Format::Idx);
    }
    if picture::is_png(head) {
        return Ok(Format::Png);
    }
    if picture::is_pnm(head) {
        return Ok(Format::Pnm);
    }
    let expected = "LIBSVM, CSV, TSV, sequences, FASTA, NPY, NPZ, IDX, PNG or PGM, plain or as gz, xz or zst";
    if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(input.fault(Some(what), expected));
    }
    if head.trim_ascii().is_empty() {
        return Err(input.fault(Some("an empty file"), "at least one row"));
    }
    if head.contains(&0) {
        return Err(input.fault(Some("bytes that are neither text nor a known format"), expected));
    }
    Ok(text_format(head))
}

/// Which text format the first lines are in.
fn text_format(head: &[u8]) -> Format {
    let lines = first_lines(head, SAMPLE);
    if lines.first().is_some_and(|l| l.starts_with(b">")) {
        Format::Fasta
    } else if lines.iter().find(|l| !is_word(l) || has_pairs(l)).is_some_and(|l| has_pairs(l)) {
        Format::Libsvm
    } else if !lines.is_empty() && lines.iter().all(|l| is_sequence(l)) {
        Format::Sequences
    } else if records::delimiter_of(head) == b'\t' {
        Format::Tsv
    } else {
        Format::Csv
    }
}

/// A label, or nothing, and then words with a colon: close enough to LIBSVM text for its reader to say what is wrong.
fn has_pairs(line: &[u8]) -> bool {
    let line = line.split(|&b| b == b'#').next().unwrap_or(line);
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    let is_pair = |word: &[u8]| {
        let colon = word.iter().position(|&b| b == b':');
        colon.is_some_and(|at| {
            at > 0 && (word[..at].iter().all(u8::is_ascii_digit) || word.starts_with(b"qid:"))
        })
    };
    let Some(first) = words.next() else { return false };
    match words.next() {
        Some(second) => is_pair(second) && !first.contains(&b','),
        None => is_pair(first) && !first.contains(&b','),
    }
}

/// One word: a row of zeros in LIBSVM text.
fn is_word(line: &[u8]) -> bool {
    let line = line.split(|&b| b == b'#').next().unwrap_or(line);
    !line.trim_ascii().iter().any(|b| b.is_ascii_whitespace() || matches!(b, b',' | b';'))
}

/// `class<TAB>letters`.
fn is_sequence(line: &[u8]) -> bool {
    let mut fields = line.split(|&b| b == b'\t');
    let (Some(_), Some(letters), None) = (fields.next(), fields.next(), fields.next()) else { return false };
    let letters = letters.trim_ascii();
    !letters.is_empty()
        && letters.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'*' | b'.'))
        && !matches!(letters.to_ascii_lowercase().as_slice(), b"nan" | b"na" | b"inf" | b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_formats_are_told_by_their_lines() {
        let cases: [(&str, Format); 14] = [
            ("1 1:2 3:4\n-1 2:1\n", Format::Libsvm),
            ("# comment\n1 qid:3 1:2 # x\n0\n", Format::Libsvm),
            ("1:2 3:4\n", Format::Libsvm),
            ("1 0:5\n", Format::Libsvm),
            ("spam 3:1\n", Format::Libsvm),
            ("1,2,3\n4,5,6\n", Format::Csv),
            ("a b c\n1 2 3\n", Format::Csv),
            ("time,x\n12:30,4\n", Format::Csv),
            ("x\ty\n1\t2\n", Format::Tsv),
            ("5\n6\n", Format::Csv),
            ("+\tacgt\n-\tACGT\n", Format::Sequences),
            ("EI\tMKV\n", Format::Sequences),
            (">id class\nACGT\n", Format::Fasta),
            ("\n\n>id\nACGT\n", Format::Fasta),
        ];
        for (text, format) in cases {
            assert_eq!(text_format(text.as_bytes()), format, "{text:?}");
        }
    }
}
