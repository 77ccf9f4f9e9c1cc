//! Atomic writes: files are written to a temporary file in the same folder, synced to disk, then renamed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::place::{TEMPORARY, There, folder_of, resolved, sweep, there};
use super::source::Compression;
use crate::error::{Error, Result};

/// Writes a file so that a reader sees the old one or the new one, never a part.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed. Links are followed, a file that is
/// there keeps its rights and its owner, a new one gets the usual rights. Devices and pipes, which cannot be replaced, are
/// written to directly; folders are refused. Temporary files that killed programs left in the folder are removed.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.txt");
/// mercer::data::io::write_atomic(&path, |out| out.write_all(b"whole").map_err(|e| mercer::Error::io(&path, e)))?;
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomic(path: impl AsRef<Path>, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let path = path.as_ref();
    let Some(ready) = Ready::new(path, write)? else { return Ok(()) };
    sweep(ready.folder());
    ready.commit()
}

/// A complete temporary file on disk, ready to be renamed.
pub(super) struct Ready {
    /// As the caller calls it.
    shown: PathBuf,
    /// Behind all links.
    target: PathBuf,
    temporary: NamedTempFile,
}

impl Ready {
    /// Writes the bytes; nothing to commit where the place is a device or a pipe.
    pub(super) fn new(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Option<Self>> {
        let refused = |e: std::io::Error| Error::io(path, e);
        let there = there(path)?;
        if there == There::Stream {
            let mut out = BufWriter::new(File::options().write(true).open(path).map_err(refused)?);
            write(&mut out)?;
            out.flush().map_err(refused)?;
            return Ok(None);
        }
        let target = resolved(path)?;
        let mut temporary = locked(folder_of(&target)).map_err(refused)?;
        let mut out = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
        write(&mut out)?;
        out.flush().map_err(refused)?;
        drop(out);
        if there == There::File {
            let existing = std::fs::metadata(path).map_err(refused)?;
            keep_owner(&temporary, &existing);
            temporary.as_file().set_permissions(existing.permissions()).map_err(refused)?;
        }
        temporary.as_file().sync_all().map_err(refused)?;
        Ok(Some(Ready { shown: path.to_owned(), target, temporary }))
    }

    /// Puts the file in its place.
    pub(super) fn commit(self) -> Result<()> {
        let Ready { shown, target, temporary } = self;
        temporary.persist(&target).map_err(|e| Error::io(shown, e.error))?;
        // The rename itself must reach the disk too; not every system lets a folder be opened.
        if let Ok(folder) = File::open(folder_of(&target)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// The folder it is in.
    pub(super) fn folder(&self) -> &Path {
        folder_of(&self.target)
    }
}

/// A new temporary file with the usual rights of a new file, locked as long as this process lives: see [`sweep`].
fn locked(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    #[cfg(unix)]
    {
        // The umask still takes its part of this.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    loop {
        let file = builder.tempfile_in(folder)?;
        // Without locks on this file system, age has to tell.
        let _ = file.as_file().lock();
        // A sweep may have come between the two and taken it for an abandoned one.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Gives the file to the owner of the one it replaces, where we may: a program run by root must not take files away.
#[cfg(unix)]
fn keep_owner(temporary: &NamedTempFile, existing: &std::fs::Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let own = temporary.as_file().metadata();
    if own.is_ok_and(|own| (own.uid(), own.gid()) != (existing.uid(), existing.gid())) {
        let _ = fchown(temporary.as_file(), Some(existing.uid()), Some(existing.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &NamedTempFile, _: &std::fs::Metadata) {}

/// Passes what `write` writes through a compressor.
pub(super) fn compressed(
    out: &mut dyn Write,
    compression: Option<Compression>,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let refused = |e: std::io::Error| Error::io(path, e);
    match compression {
        None => write(out),
        Some(Compression::Gz) => {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut packed)?;
            packed.finish().map(|_| ()).map_err(refused)
        }
        Some(Compression::Bz2) => {
            let mut packed = bzip2::write::BzEncoder::new(out, bzip2::Compression::best());
            write(&mut packed)?;
            packed.finish().map(|_| ()).map_err(refused)
        }
        Some(Compression::Xz) => {
            let mut packed = liblzma::write::XzEncoder::new(out, 6);
            write(&mut packed)?;
            packed.finish().map(|_| ()).map_err(refused)
        }
        Some(Compression::Zst) => {
            let mut packed = zstd::stream::write::Encoder::new(out, 3).map_err(refused)?;
            write(&mut packed)?;
            packed.finish().map(|_| ()).map_err(refused)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "old").expect("written");
        let failed: Result<()> = write_atomic(&path, |out| {
            out.write_all(b"new").expect("room");
            Err(Error::Cancelled)
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).expect("still there"), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    fn put(path: &Path, text: &str) -> Result<()> {
        write_atomic(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_makes_the_file_it_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        std::os::unix::fs::symlink("sub/file", &link).expect("linked");
        put(&link, "new").expect("written");
        assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(std::fs::read(folder.path().join("sub/file")).expect("there"), b"new");
        assert!(put(&folder.path().join("sub"), "new").is_err(), "a folder");
        assert!(put(&folder.path().join("none/"), "new").is_err(), "the name of a folder");
    }

    #[test]
    fn what_a_killed_writer_left_goes_with_the_next_write() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(".mercer-AbCdEf"), "half").expect("written");
        put(&folder.path().join("a"), "new").expect("written");
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_rights_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("own file");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write_atomic(&link, |out| {
            out.write_all(b"new").expect("room");
            Ok(())
        })
        .expect("written");
        assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(std::fs::read(&file).expect("there"), b"new");
        assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    }
}
