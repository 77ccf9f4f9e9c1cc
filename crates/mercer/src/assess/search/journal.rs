//! The journal of a search: a file with one line per score, written as soon as it is known.
//!
//! A search that was killed reads it and continues. The first line identifies the search. A file of another search,
//! or one that is not a journal, is refused and not changed. A truncated last line is ignored; any other invalid line
//! is an error. Numbers are written so that they read back bit for bit.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use crate::error::{Error, Fault, Result};

/// The beginning of the first line.
const HEAD: &str = "mercer search 2";

/// A file of scores.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    /// Setting, fold, score.
    pub(super) known: Vec<(usize, usize, f64)>,
}

impl Journal {
    /// Opens or creates the journal of a search with this fingerprint and number of folds.
    pub(super) fn open(path: &Path, fingerprint: u64, folds: usize) -> Result<Self> {
        let wrong = |e: std::io::Error| Error::io(path, e);
        let head = format!("{HEAD} {fingerprint:016x}");
        let mut bytes = Vec::new();
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(wrong)?;
        file.read_to_end(&mut bytes).map_err(wrong)?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(&bytes[..whole]);
        let mut lines = text.split_terminator('\n');
        match lines.next() {
            // A file without a complete line is overwritten only if it can be the beginning of a journal.
            None if !head.as_bytes().starts_with(&bytes) => return Err(foreign(path, "something else")),
            None => {
                // Empty, or a truncated first line.
                file.set_len(0).map_err(wrong)?;
                file.write_all(format!("{head}\n").as_bytes()).map_err(wrong)?;
            }
            Some(first) if first == head => file.set_len(whole as u64).map_err(wrong)?,
            Some(first) => {
                let ours = first.starts_with(HEAD);
                return Err(foreign(path, if ours { "another search" } else { "something else" }));
            }
        }
        let mut known = Vec::new();
        for (at, line) in (2u64..).zip(lines) {
            known.push(read(line).filter(|&(_, fold, _)| fold < folds).ok_or_else(|| Fault {
                source: Some(path.display().to_string()),
                line: Some(at),
                got: Some(format!("`{}`", line.chars().take(40).collect::<String>().escape_debug())),
                expected: format!(
                    "a setting's number, a fold below {folds} and a score; delete the line, or the file to start over"
                ),
                ..Fault::default()
            })?);
        }
        Ok(Journal { file, known })
    }

    /// Adds a score.
    pub(super) fn add(&mut self, setting: usize, fold: usize, score: f64) -> Result<()> {
        let line = format!("{setting} {fold} {score:?}\n");
        // One write per line, so that only the end of a line can be missing.
        self.file.write_all(line.as_bytes()).map_err(|e| Error::io("checkpoint", e))
    }
}

fn foreign(path: &Path, what: &str) -> Error {
    let allowed = "a file of this search (same data, settings and folds), or a new one";
    Error::param("checkpoint", format!("{} of {what}", path.display()), allowed)
}

fn read(line: &str) -> Option<(usize, usize, f64)> {
    let mut words = line.split(' ');
    let mut next = || words.next();
    let read = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    next().is_none().then_some(read)
}

/// A hash of the inputs (FNV-1a) that identifies a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) fn new() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_back_bit_for_bit_and_a_cut_line_is_dropped() {
        let path = std::env::temp_dir().join(format!("mercer-journal-{}", std::process::id()));
        let third = 1.0 / 3.0;
        let mut journal = Journal::open(&path, 7, 5).expect("a new file");
        journal.add(4, 0, third).expect("written");
        journal.add(5, 1, f64::NAN).expect("written");
        drop(journal);
        OpenOptions::new().append(true).open(&path).expect("there").write_all(b"6 2 0.12").expect("written");
        let mut again = Journal::open(&path, 7, 5).expect("the same");
        assert_eq!(again.known.len(), 2);
        assert_eq!((again.known[0].0, again.known[0].2.to_bits()), (4, third.to_bits()));
        assert!(again.known[1].2.is_nan());
        again.add(6, 2, 0.125).expect("written");
        drop(again);
        assert_eq!(Journal::open(&path, 7, 5).expect("the same").known[2], (6, 2, 0.125));
        assert!(Journal::open(&path, 8, 5).expect_err("another").to_string().contains("another search"));
        std::fs::write(&path, "hello\n").expect("written");
        assert!(Journal::open(&path, 7, 5).expect_err("no journal").to_string().contains("something else"));
        std::fs::remove_file(&path).expect("there");
    }

    #[test]
    fn a_file_that_is_no_journal_is_refused_and_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes");
        let others: [&[u8]; 5] = [b"hello\n", b"hello", b"\xff\xfe", b"\n", b"mercer search 1 zz"];
        for other in others {
            std::fs::write(&path, other).expect("written");
            let refused = Journal::open(&path, 7, 5).expect_err("no journal").to_string();
            assert!(refused.contains("something else"), "{refused}");
            assert_eq!(std::fs::read(&path).expect("there"), other);
        }
        // The beginning of our own first line, as a kill may leave it.
        std::fs::write(&path, "mercer search").expect("written");
        assert!(Journal::open(&path, 7, 5).expect("begun anew").known.is_empty());
    }
}
