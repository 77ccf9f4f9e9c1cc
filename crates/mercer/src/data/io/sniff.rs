//! Detection of the format of a source from its first bytes.

use super::source::Input;
use super::text::first_lines;
use super::{FORMATS, Format, idx, json_lines, npy, picture, records};
use crate::error::Result;

/// Beginnings of files that people have and this library does not read, with a word about each.
const FOREIGN: [(&[u8], &str); 18] = [
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an Excel workbook of the old format (.xls): save it as .xlsx or CSV",
    ),
    (b"SQLite format 3\0", "an SQLite database: export a table as CSV"),
    (b"%PDF", "a PDF document"),
    (b"@relation", "an ARFF file of Weka: export it as CSV"),
    (b"@RELATION", "an ARFF file of Weka: export it as CSV"),
    (b"$FL2", "an SPSS file: export it as CSV"),
    (b"<stata_dta>", "a Stata file: export it as CSV"),
    (b"<!DOCTYPE", "a web page, not the data: the download may have asked for a login"),
    (b"<!doctype", "a web page, not the data: the download may have asked for a login"),
    (b"<html", "a web page, not the data: the download may have asked for a login"),
    (b"<table", "a table of a web page: open it in a spreadsheet and save it as .xlsx or CSV"),
    (b"<TABLE", "a table of a web page: open it in a spreadsheet and save it as .xlsx or CSV"),
    (b"<?xml", "an XML file"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the data: run `git lfs pull`"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"FEA1", "a Feather file of version 1"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"MATLAB", "a MATLAB file"),
];

/// Number of lines examined to distinguish text formats.
const SAMPLE: usize = 20;

/// The format of the source, or an error that says what it is instead.
pub(super) fn format_of(input: &Input<'_>) -> Result<Format> {
    let head = input.head.as_slice();
    if let Some(format) = bytes_format(head).filter(|_| !is_open_document(head)) {
        return Ok(format);
    }
    let names: Vec<&str> = FORMATS.iter().map(|row| row.name).collect();
    let expected = format!("one of {}, plain or as gz, bz2, xz or zst", names.join(", "));
    if is_open_document(head) {
        return Err(input.fault(Some("an OpenDocument spreadsheet: save it as .xlsx or CSV"), expected));
    }
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

/// The format of bytes that are not text.
pub(super) fn bytes_format(head: &[u8]) -> Option<Format> {
    if npy::begins(head) {
        Some(Format::Npy)
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Some(if is_workbook(head) { Format::Xlsx } else { Format::Npz })
    } else if head.starts_with(b"PAR1") {
        Some(Format::Parquet)
    } else if head.starts_with(b"ARROW1") || is_arrow_stream(head) {
        Some(Format::Arrow)
    } else if idx::begins(head) {
        Some(Format::Idx)
    } else if picture::is_png(head) {
        Some(Format::Png)
    } else if picture::is_pnm(head) {
        Some(Format::Pnm)
    } else {
        picture::photo_format(head)
    }
}

/// Whether an archive begins as LibreOffice's spreadsheets do.
fn is_open_document(head: &[u8]) -> bool {
    let begin = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet";
    head.get(30..).is_some_and(|rest| rest.starts_with(begin))
}

/// Whether the first entry of an archive is one of a workbook.
fn is_workbook(head: &[u8]) -> bool {
    let begins = ["[Content_Types].xml", "_rels/", "docProps/", "xl/"];
    head.get(30..).is_some_and(|name| begins.iter().any(|begin| name.starts_with(begin.as_bytes())))
}

/// Whether the bytes begin an Arrow stream: a mark, then the length of the schema, a multiple of eight.
fn is_arrow_stream(head: &[u8]) -> bool {
    let [0xff, 0xff, 0xff, 0xff, a, b, c, d, ..] = *head else { return false };
    let length = u32::from_le_bytes([a, b, c, d]);
    length > 0 && length % 8 == 0
}

/// Which text format the first lines are in.
fn text_format(head: &[u8]) -> Format {
    let lines = first_lines(head, SAMPLE);
    if lines.first().is_some_and(|l| l.starts_with(b">")) {
        Format::Fasta
    } else if json_lines::begins_document(head) || lines.first().is_some_and(|l| json_lines::begins(l)) {
        Format::JsonLines
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

/// An optional label, and then words with a colon: close enough to LIBSVM text for its reader to report what is
/// wrong.
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
        let cases: [(&str, Format); 21] = [
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
            ("{\"a\": 1}\n{\"a\": 2}\n", Format::JsonLines),
            ("[1, 2]\n[3, 4]\n", Format::JsonLines),
            ("{\"a\": broken\n", Format::JsonLines),
            ("[a],[b]\n1,2\n", Format::Csv),
            ("[\n  {\n    \"a\": 1\n  }\n]\n", Format::JsonLines),
            ("[[1, 2], [3, 4]]\n", Format::JsonLines),
            ("a|b\n1|2\n", Format::Csv),
            ("\n\n>id\nACGT\n", Format::Fasta),
        ];
        for (text, format) in cases {
            assert_eq!(text_format(text.as_bytes()), format, "{text:?}");
        }
    }
}
