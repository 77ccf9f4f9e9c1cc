//! Places that files are written to: where a path leads, whether it can be written, whether two paths are one file.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};

/// Prefix of the names of temporary files.
pub(super) const TEMPORARY: &str = ".mercer-";

/// Symbolic links followed, at most: as many as Linux follows.
const LINKS: usize = 40;

/// Age at which a temporary file is abandoned, where the file system has no locks to tell.
const ABANDONED: Duration = Duration::from_hours(24);

/// What exists at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum There {
    /// Nothing, or a link to nothing.
    Nothing,
    /// A regular file.
    File,
    /// A device, a pipe: it takes bytes and cannot be replaced.
    Stream,
}

/// What exists at an output path; refuses folders.
pub(super) fn there(path: &Path) -> Result<There> {
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(is_folder(path)),
        Ok(about) if about.is_file() => Ok(There::File),
        Ok(_) => Ok(There::Stream),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if names_folder(path) {
                Err(is_folder(path))
            } else {
                Ok(There::Nothing)
            }
        }
        Err(e) => Err(Error::io(path, e)),
    }
}

/// Whether a path ends like one of a folder.
fn names_folder(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.to_string_lossy().ends_with(std::path::is_separator)
}

fn is_folder(path: &Path) -> Error {
    Error::io(path, io::Error::new(io::ErrorKind::IsADirectory, "is a folder, expected the name of a file"))
}

/// The path behind all symbolic links, whether there is a file or not.
pub(super) fn resolved(path: &Path) -> Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&at) {
            Ok(to) => at = folder_of(&at).join(to),
            Err(_) => return Ok(at),
        }
    }
    Err(Error::io(path, io::Error::other("too many symbolic links")))
}

/// The folder a file is in.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Fails where a file could not be written, and changes nothing: for a look before long work.
///
/// The folder must be there and take files, the place must not be a folder, and a file that is there must be writable.
/// Devices and pipes are not opened, because that alone has effects.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// assert!(mercer::data::io::check_writable(folder.path().join("a.csv")).is_ok());
/// assert!(mercer::data::io::check_writable(folder.path().join("nowhere/a.csv")).is_err());
/// assert!(mercer::data::io::check_writable(folder.path()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    match there(path)? {
        There::Stream => return Ok(()),
        There::File => drop(File::options().append(true).open(path).map_err(|e| Error::io(path, e))?),
        There::Nothing => {}
    }
    takes_files(folder_of(&resolved(path)?))
}

/// The same for a folder that files are to be written into, which is made where it is not there.
pub fn check_writable_folder(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let mut at = path;
    while let Err(e) = std::fs::metadata(at) {
        if e.kind() != io::ErrorKind::NotFound {
            return Err(Error::io(at, e));
        }
        at = folder_of(at);
    }
    takes_files(at)
}

/// Fails unless a folder is there and files can be made in it.
fn takes_files(folder: &Path) -> Result<()> {
    let about = std::fs::metadata(folder).map_err(|e| Error::io(folder, e))?;
    if !about.is_dir() {
        return Err(Error::io(folder, io::ErrorKind::NotADirectory.into()));
    }
    // Rights, quotas and read-only systems: trying is the only way to know.
    tempfile::tempfile_in(folder).map(drop).map_err(|e| Error::io(folder, e))
}

/// Whether two paths lead to the same file or folder, through links, hard links or different spellings. Places where there
/// is no file yet are compared too; devices and pipes are never the same, as both ends may use them.
pub fn same_place(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let (a, b) = (a.as_ref(), b.as_ref());
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(of_a), Ok(of_b)) => {
            let keeps = |about: &std::fs::Metadata| about.is_file() || about.is_dir();
            keeps(&of_a) && keeps(&of_b) && (same_node(&of_a, &of_b) || spelled_out(a) == spelled_out(b))
        }
        (Err(_), Err(_)) => spelled_out(a).is_some_and(|a| spelled_out(b) == Some(a)),
        _ => false,
    }
}

/// Whether a file lies in a folder, at any depth.
pub fn lies_in(file: impl AsRef<Path>, folder: impl AsRef<Path>) -> bool {
    match (spelled_out(file.as_ref()), std::fs::canonicalize(folder)) {
        (Some(file), Ok(folder)) => file.starts_with(folder),
        _ => false,
    }
}

#[cfg(unix)]
fn same_node(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn same_node(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    false
}

/// The one spelling of a path whose file need not be there, nor the folders it is in.
fn spelled_out(path: &Path) -> Option<PathBuf> {
    let target = resolved(path).ok()?;
    if let Ok(whole) = std::fs::canonicalize(&target) {
        return Some(whole);
    }
    let name = target.file_name()?.to_owned();
    Some(spelled_out(folder_of(&target))?.join(name))
}

/// Removes temporary files whose writer was killed. A writer holds a lock on its file while it lives.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        if !entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            continue;
        }
        // Not through a link, and never a pipe, which would wait.
        let Some(about) = entry.metadata().ok().filter(std::fs::Metadata::is_file) else { continue };
        let Ok(file) = File::open(entry.path()) else { continue };
        let dead = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(_)) => {
                about.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED))
            }
        };
        if dead {
            // Another process may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn one_file_has_many_spellings() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "x").expect("written");
        std::fs::write(at("b"), "x").expect("written");
        std::fs::create_dir(at("f")).expect("made");
        std::fs::hard_link(at("a"), at("hard")).expect("linked");
        symlink("a", at("soft")).expect("linked");
        symlink("../new", at("f/dangling")).expect("linked");
        for (one, other, same) in [
            ("a", "a", true),
            ("a", "b", false),
            ("a", "hard", true),
            ("a", "soft", true),
            ("a", "f/../a", true),
            ("new", "f/dangling", true),
            ("new", "./new", true),
            ("new", "other", false),
            ("f", "f/", true),
            ("no/new", "no/./new", true),
            ("no/new", "new", false),
        ] {
            assert_eq!(same_place(at(one), at(other)), same, "{one} {other}");
        }
        assert!(!same_place("/dev/null", "/dev/null"), "a device is no file that could be lost");
        assert!(
            lies_in(at("f/new"), at("f")) && lies_in(at("f/x/new"), at("f")) && !lies_in(at("a"), at("f"))
        );
    }

    #[test]
    fn places_that_cannot_be_written_are_told_and_nothing_is_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "old").expect("written");
        symlink("a", at("soft")).expect("linked");
        symlink("new", at("dangling")).expect("linked");
        symlink("nowhere/new", at("lost")).expect("linked");
        symlink("loop", at("loop")).expect("linked");
        for fine in ["a", "soft", "dangling", "new"] {
            check_writable(at(fine)).expect(fine);
        }
        for bad in ["", "new/", "nowhere/new", "lost", "loop", "a/new"] {
            assert!(check_writable(at(bad)).is_err(), "{bad}");
        }
        // A folder where no user, not even root, can create a file.
        if Path::new("/proc/self").is_dir() {
            assert!(check_writable("/proc/self/new").is_err());
            assert!(check_writable_folder("/proc/self/new/").is_err());
        }
        for fine in ["", "new/", "new/newer"] {
            check_writable_folder(at(fine)).expect(fine);
        }
        assert!(check_writable_folder(at("a")).is_err() && check_writable_folder(at("a/new")).is_err());
        assert_eq!(std::fs::read(at("a")).expect("there"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 5);
    }

    #[test]
    fn only_files_of_dead_writers_are_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in [".mercer-dead", ".mercer-alive", "mercer-mine", ".tmpAbCdEf"] {
            std::fs::write(at(name), "x").expect("written");
        }
        let alive = File::open(at(".mercer-alive")).expect("there");
        alive.lock().expect("locked");
        sweep(folder.path());
        let mut left: Vec<String> = std::fs::read_dir(folder.path())
            .expect("there")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, [".mercer-alive", ".tmpAbCdEf", "mercer-mine"]);
    }
}
