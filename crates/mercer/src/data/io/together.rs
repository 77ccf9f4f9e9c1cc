//! Files that belong together: points and their labels, the two parts of a split.
//!
//! A file system renames one file at a time, so a program killed between two renames leaves a new file next to an old
//! one. All files are therefore written whole before the first is renamed, which leaves a gap of microseconds, and a
//! record of the set (`.NAME.pair`, a line of JSON with the CRC-32 of each file) is put next to each of them first,
//! which makes such a pair known: files of one set are all as the record says, or none is. Files without a record,
//! from other programs or copied elsewhere, are read as they are.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::atomic::Ready;
use super::place::{folder_of, sweep};
use super::write_atomic;
use crate::error::{Error, Result};

/// Writes one file's bytes.
pub(super) type Writing<'a> = Box<dyn FnOnce(&mut dyn Write) -> Result<()> + 'a>;

/// One of several files to write.
pub(super) struct Part<'a> {
    pub(super) path: PathBuf,
    /// Whether readers are given this path: labels are found by the path of their points.
    pub(super) main: bool,
    pub(super) write: Writing<'a>,
}

/// The record stored with a file: all files that were written together with it, including itself.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    mercer: String,
    files: Vec<Sum>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Sum {
    /// A name in the record's folder, or a whole path.
    file: PathBuf,
    crc32: String,
}

const KIND: &str = "files written together";

/// The relation of a file to one that was written with it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Torn {
    /// The other file.
    pub(super) other: PathBuf,
}

/// Writes files so that all are new or, short of a kill between two renames, all are old; in the order given.
pub(super) fn write_together(parts: Vec<Part<'_>>) -> Result<()> {
    let mut ready = Vec::new();
    for part in parts {
        let mut crc = flate2::Crc::new();
        let written = Ready::new(&part.path, |out| {
            let mut out = Summed { out, crc: &mut crc };
            (part.write)(&mut out)
        })?;
        if let Some(written) = written {
            ready.push((part.path, part.main, crc.sum(), written));
        }
    }
    if ready.len() > 1 {
        for (path, ..) in ready.iter().filter(|(_, main, ..)| *main) {
            let record = record_of(path);
            let files = ready.iter().map(|(file, _, crc, _)| {
                let beside = folder_of(file) == folder_of(path);
                let name = file.file_name().filter(|_| beside).map(PathBuf::from);
                let file = name.or_else(|| std::path::absolute(file).ok()).unwrap_or_else(|| file.clone());
                Sum { file, crc32: format!("{crc:08x}") }
            });
            let text = serde_json::to_string(&Record { mercer: KIND.into(), files: files.collect() })
                .map_err(|e| Error::Unsupported(format!("{}: {e}", record.display())))?;
            write_atomic(&record, |out| writeln!(out, "{text}").map_err(|e| Error::io(&record, e)))?;
        }
    }
    for (path, main, _, written) in &ready {
        if ready.len() == 1 && *main {
            // What was written with the file that is about to go no longer belongs to it.
            let _ = std::fs::remove_file(record_of(path));
        }
        sweep(written.folder());
    }
    ready.into_iter().try_for_each(|(.., written)| written.commit())
}

/// The files written with this one that no longer go with it: one of the two has been replaced, the other has not.
///
/// Costs a pass over the bytes of all files of the record; nothing where there is none.
pub(super) fn torn(path: &Path) -> Vec<Torn> {
    let record = record_of(path);
    // A record that cannot be read says nothing.
    let Ok(text) = std::fs::read(&record) else { return Vec::new() };
    let Ok(record) = serde_json::from_slice::<Record>(&text) else { return Vec::new() };
    if record.mercer != KIND {
        return Vec::new();
    }
    let as_written = |sum: &Sum| {
        let file = path.with_file_name(&sum.file);
        crc_of(&file).ok().map(|crc| (file, format!("{crc:08x}") == sum.crc32))
    };
    let name = path.file_name().map(Path::new);
    let own =
        |sum: &&Sum| sum.file.file_name().map(Path::new) == name && folder_of(&sum.file) == Path::new(".");
    let Some((_, this)) = record.files.iter().find(own).and_then(as_written) else { return Vec::new() };
    let others = record.files.iter().filter(|sum| !own(sum)).filter_map(as_written);
    others.filter(|(_, same)| *same != this).map(|(other, _)| Torn { other }).collect()
}

/// Where the record of a file is.
fn record_of(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.pair", path.file_name().unwrap_or_default().to_string_lossy()))
}

fn crc_of(path: &Path) -> std::io::Result<u32> {
    // A pipe can be read once only, and not by us.
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    let mut file = std::fs::File::open(path)?;
    let (mut crc, mut buffer) = (flate2::Crc::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(crc.sum()),
            n => crc.update(&buffer[..n]),
        }
    }
}

/// A writer that sums what goes through it.
struct Summed<'a> {
    out: &'a mut dyn Write,
    crc: &'a mut flate2::Crc,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.crc.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, files: &[(&str, bool, &str)]) {
        let parts = files.iter().map(|&(name, main, text)| Part {
            path: folder.join(name),
            main,
            write: Box::new(move |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(name, e))),
        });
        write_together(parts.collect()).expect("written");
    }

    #[test]
    fn a_half_that_was_replaced_alone_is_told_from_both_sides() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let told = |name: &str| torn(&at(name)).into_iter().map(|t| t.other).collect::<Vec<_>>();
        put(folder.path(), &[("a", true, "1"), ("b", true, "2")]);
        assert!(told("a").is_empty() && told("b").is_empty());
        std::fs::write(at("b"), "other").expect("written");
        assert_eq!((told("a"), told("b")), (vec![at("b")], vec![at("a")]));
        std::fs::write(at("a"), "other").expect("written");
        assert!(told("a").is_empty(), "the record is of neither of them any more");
        put(folder.path(), &[("a", true, "3"), ("b", true, "4")]);
        assert!(told("a").is_empty() && told("b").is_empty());
        put(folder.path(), &[("a", true, "alone")]);
        assert!(told("a").is_empty(), "a file written alone belongs to no set");
        assert_eq!(told("b"), [at("a")]);
        std::fs::remove_file(at("a")).expect("there");
        assert!(told("b").is_empty(), "what is not there cannot be mistaken for anything");
    }

    #[test]
    fn every_state_a_kill_can_leave_is_old_new_or_told() {
        // Records first, then files in their order: all prefixes of that sequence.
        let states = ["", ".a.pair", ".a.pair .b.pair", ".a.pair .b.pair a", ".a.pair .b.pair a b"];
        for (kill, state) in states.iter().enumerate() {
            let (old, new) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
            put(old.path(), &[("a", true, "1"), ("b", true, "2")]);
            put(new.path(), &[("a", true, "3"), ("b", true, "4")]);
            for name in state.split_whitespace() {
                std::fs::copy(new.path().join(name), old.path().join(name)).expect("copied");
            }
            let mixed = kill == 3;
            for name in ["a", "b"] {
                assert_eq!(!torn(&old.path().join(name)).is_empty(), mixed, "{state}: {name}");
            }
        }
    }

    #[test]
    fn a_failure_in_the_second_file_leaves_the_first_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        put(folder.path(), &[("a", true, "1"), ("b", true, "2")]);
        let parts = vec![
            Part {
                path: at("a"),
                main: true,
                write: Box::new(|out| out.write_all(b"new").map_err(|e| Error::io("a", e))),
            },
            Part { path: at("b"), main: true, write: Box::new(|_| Err(Error::Cancelled)) },
        ];
        assert!(write_together(parts).is_err());
        assert_eq!(std::fs::read(at("a")).expect("there"), b"1");
        assert!(torn(&at("a")).is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 4);
    }
}
