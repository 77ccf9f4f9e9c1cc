//! Text encodings other than UTF-8: UTF-16, and Latin-1 as Windows writes it.
//!
//! UTF-16 is recognised by its byte order mark, or without one by the zero bytes beside the first letters. Latin-1 has no
//! mark, and every byte is a valid character: it is assumed, with a note, where the text is not UTF-8 and its further
//! letters stand as they do in Western European languages. In other encodings of one or two bytes they stand in runs.

use std::io::{self, BufRead, Read};
use std::str::FromStr;

use crate::error::Error;

/// The encoding of a text file.
///
/// ```
/// use mercer::data::io::{Encoding, ReadOptions, read_bytes};
/// let options = ReadOptions { encoding: Some(Encoding::Latin1), ..ReadOptions::default() };
/// let data = read_bytes("t.csv", b"gr\xf6sse,label\n1,a\n2,b\n", &options)?;
/// assert_eq!(data.column_names, Some(vec!["grösse".to_owned()]));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with a byte order mark or without.
    Utf8,
    /// UTF-16; without a byte order mark, the position of zero bytes determines the byte order.
    Utf16,
    /// Latin-1 with the further characters of Windows-1252.
    Latin1,
}

impl Encoding {
    /// The encoding of a byte order mark.
    pub(super) fn of_mark(head: &[u8]) -> Option<Self> {
        match head {
            [0xef, 0xbb, 0xbf, ..] => Some(Encoding::Utf8),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(Encoding::Utf16),
            _ => None,
        }
    }

    /// Whether text begins in UTF-16 without a byte order mark: nearly all of the first pairs of bytes are a letter of ASCII
    /// beside a zero, always on the same side.
    pub(super) fn is_utf16_without_mark(head: &[u8]) -> bool {
        const PAIRS: usize = 32;
        let pairs = || head.as_chunks::<2>().0.iter().take(PAIRS);
        let ascii = |b: u8| matches!(b, b' '..=b'~' | b'\t' | b'\r' | b'\n');
        let count = pairs().count();
        let of = |side: usize| pairs().filter(|pair| ascii(pair[side]) && pair[1 - side] == 0).count();
        let zeros = pairs().any(|pair| *pair == [0, 0]);
        count >= 4 && !zeros && (0..2).any(|side| of(side) * 4 >= count * 3)
    }

    /// Whether bytes that are not UTF-8 are probably Western European text in Windows-1252: no character of UTF-8 beyond
    /// ASCII, no control characters, and nearly all further letters alone or in pairs. A file in UTF-8 with a damaged
    /// character is none.
    pub(super) fn is_western(head: &[u8]) -> bool {
        const LONGEST_RUN: usize = 3;
        let Err(bad) = std::str::from_utf8(head) else { return false };
        if bad.error_len().is_none() || !head[..bad.valid_up_to()].is_ascii() {
            return false;
        }
        let control = |b: u8| b < b' ' && !matches!(b, b'\t' | b'\r' | b'\n' | 0x1a) || b == 0x7f;
        let unused = |b: u8| matches!(b, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
        if head.iter().any(|&b| control(b) || unused(b)) {
            return false;
        }
        let runs = || head.split(u8::is_ascii).filter(|run| !run.is_empty());
        // Two letters in a row may look like one of UTF-8; most do not.
        let utf8 = runs().filter(|run| run.len() > 1 && std::str::from_utf8(run).is_ok()).count();
        runs().all(|run| run.len() <= LONGEST_RUN) && utf8 * 10 <= runs().count()
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(Encoding::Utf8),
            "utf-16" | "utf16" => Ok(Encoding::Utf16),
            "latin-1" | "latin1" | "iso-8859-1" | "windows-1252" | "cp1252" => Ok(Encoding::Latin1),
            _ => Err(Error::param("encoding", text, "utf-8, utf-16 or latin-1")),
        }
    }
}

/// The characters of Windows-1252 from 0x80 to 0x9f; the five bytes without one stay control characters.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Bytes that are not valid UTF-16.
#[derive(Debug, thiserror::Error)]
#[error("bytes that are not UTF-16, at byte {at}")]
pub(super) struct BadText {
    at: u64,
}

/// Which bytes make a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Units {
    Latin,
    LittleEndian,
    BigEndian,
}

/// A stream of text as UTF-8.
pub(super) struct Decoder<R> {
    inner: R,
    units: Units,
    /// Bytes of UTF-8 that are not taken yet.
    ready: Vec<u8>,
    taken: usize,
    /// The first half of a character beyond 0xffff.
    high: Option<u16>,
    /// The first byte of a pair.
    half: Option<u8>,
    /// Bytes read so far.
    at: u64,
}

impl<R: BufRead> Decoder<R> {
    /// Decodes the bytes of `inner`, which begin with `head`.
    pub(super) fn new(encoding: Encoding, inner: R, head: &[u8]) -> Self {
        let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|b| **b == 0).count();
        let units = match (encoding, head) {
            (Encoding::Latin1 | Encoding::Utf8, _) => Units::Latin,
            (_, [0xff, 0xfe, ..]) => Units::LittleEndian,
            (_, [0xfe, 0xff, ..]) => Units::BigEndian,
            _ if zeros(0) > zeros(1) => Units::BigEndian,
            _ => Units::LittleEndian,
        };
        Decoder { inner, units, ready: Vec::new(), taken: 0, high: None, half: None, at: 0 }
    }

    /// Decodes the next bytes; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        self.ready.clear();
        self.taken = 0;
        // A piece may hold no whole character.
        while self.ready.is_empty() {
            let bytes = self.inner.fill_buf()?;
            let count = bytes.len();
            let bad = |at| io::Error::new(io::ErrorKind::InvalidData, BadText { at });
            if count == 0 {
                return if self.half.is_some() || self.high.is_some() {
                    Err(bad(self.at))
                } else {
                    Ok(false)
                };
            }
            let mut push = |c: char| self.ready.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            for (k, &byte) in bytes.iter().enumerate() {
                if self.units == Units::Latin {
                    push(match byte {
                        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
                        _ => char::from(byte),
                    });
                    continue;
                }
                let Some(first) = self.half.take() else {
                    self.half = Some(byte);
                    continue;
                };
                let unit = match self.units {
                    Units::BigEndian => u16::from_be_bytes([first, byte]),
                    _ => u16::from_le_bytes([first, byte]),
                };
                let place = self.at + k as u64 - 1;
                if place == 0 && unit == 0xfeff {
                    continue;
                }
                match (self.high.take(), unit) {
                    (None, 0xd800..=0xdbff) => self.high = Some(unit),
                    (high, unit) => {
                        let pair = [high.unwrap_or(unit), unit];
                        let units = if high.is_some() { &pair[..] } else { &pair[..1] };
                        // Two units that do not belong together give an error first.
                        match char::decode_utf16(units.iter().copied()).next() {
                            Some(Ok(c)) => push(c),
                            _ => return Err(bad(place)),
                        }
                    }
                }
            }
            self.at += count as u64;
            self.inner.consume(count);
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() && !self.fill()? {
            return Ok(0);
        }
        let count = out.len().min(self.ready.len() - self.taken);
        out[..count].copy_from_slice(&self.ready[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ReadOptions, read_bytes, read_from};
    use super::*;
    use crate::data::Dataset;

    const TEXT: &str = "größe,€,label\n1,2,a\n3,4,𝄞\n";

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |u: u16| if big { u.to_be_bytes() } else { u.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn read(bytes: &[u8], encoding: Option<Encoding>) -> crate::error::Result<Dataset> {
        read_bytes("t.csv", bytes, &ReadOptions { encoding, ..ReadOptions::default() })
    }

    #[test]
    fn utf_16_reads_as_the_same_text_in_utf_8() {
        let mut plain = read(TEXT.as_bytes(), None).expect("UTF-8");
        plain.notes.clear();
        for big in [false, true] {
            let bare = utf16(TEXT, big);
            let marked = [utf16("\u{feff}", big), bare.clone()].concat();
            for (bytes, encoding) in
                [(&marked, None), (&marked, Some(Encoding::Utf16)), (&bare, Some(Encoding::Utf16))]
            {
                let mut got = read(bytes, encoding).expect("UTF-16");
                got.notes.clear();
                assert_eq!(got, plain);
            }
            let one = std::io::BufReader::with_capacity(1, &marked[..]);
            let options = ReadOptions::default();
            let got = read_from("t.csv", one, &options).expect("a stream, byte by byte");
            assert_eq!(got.points, plain.points);
        }
    }

    #[test]
    fn a_character_may_end_behind_the_head() {
        let text = format!("a,label\n{}1,𝄞𝄞𝄞\n", "1,𝄞\n".repeat(40_000));
        let bytes = utf16(&format!("\u{feff}{text}"), false);
        let data = read(&bytes, None).expect("UTF-16");
        assert_eq!((data.len(), data.targets.classes().expect("classes").names.len()), (40_001, 2));
    }

    #[test]
    fn latin_1_is_read_where_asked_for_or_likely_and_refused_elsewhere() {
        let bytes = b"stra\xdfe,\x80,label\n1,2,k\xf6nig\n3,4,m\xfcller\n";
        let note = |data: &Dataset| data.notes.iter().any(|n| n.text.contains("Windows-1252"));
        for encoding in [Some(Encoding::Latin1), None] {
            let data = read(bytes, encoding).expect("Latin-1");
            assert_eq!(data.column_names, Some(vec!["straße".to_owned(), "€".to_owned()]));
            assert_eq!(data.targets.classes().expect("classes").names, ["könig", "müller"]);
            assert_eq!(note(&data), encoding.is_none());
        }
        let refused = read(bytes, Some(Encoding::Utf8)).expect_err("not UTF-8").to_string();
        assert!(refused.starts_with("t.csv, line 1: got bytes that are not UTF-8 in `stra"), "{refused}");
        assert!(refused.contains("--encoding latin-1"), "{refused}");
        let others: [&[u8]; 4] = [
            // Russian in Windows-1251, Chinese in GBK, UTF-8 with a damaged letter, a control character.
            b"\xc3\xee\xf0\xee\xe4,label\n1,a\n2,b\n",
            b"\xb3\xc7\xca\xd0,label\n1,a\n2,b\n",
            b"gr\xc3\xb6\xc3\x9fe,label\n1,k\xf6nig\n2,b\n",
            b"\x01gr\xf6sse,label\n1,a\n2,b\n",
        ];
        for bytes in others {
            let refused = read(bytes, None).expect_err("not Western European text").to_string();
            assert!(refused.contains("bytes that are not UTF-8"), "{refused}");
        }
    }

    #[test]
    fn broken_utf_16_is_refused_with_its_place() {
        let odd = [&[0xff, 0xfe][..], &utf16("1,2\n3,4\n", false), b"5"].concat();
        let lone = [&[0xff, 0xfe][..], &utf16("a,b\n", false), &[0x00, 0xdc], &utf16("\n", false)].concat();
        let cut = [&[0xff, 0xfe][..], &utf16("a,b\n", false), &[0x00, 0xd8]].concat();
        for (bytes, place) in [(odd, "byte 19"), (lone, "byte 10"), (cut, "byte 12")] {
            let refused = read(&bytes, None).expect_err("broken").to_string();
            assert!(refused.contains("bytes that are not UTF-16") && refused.contains(place), "{refused}");
        }
    }
}
