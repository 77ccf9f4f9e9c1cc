//! Whole files or none: written beside their place, synced to disk, then renamed into it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::source::Compression;
use crate::error::{Error, Result};

/// Writes a file so that a reader sees the old one or the new one, never a part.
///
/// The bytes go to a temporary file in the same folder, which is synced and renamed. Devices and pipes, which cannot be
/// replaced, are written to directly.
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
    let refused = |e: std::io::Error| Error::io(path, e);
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path).map_err(refused)?);
        write(&mut out)?;
        return out.flush().map_err(refused);
    }
    // A link is followed, so that the file it names is replaced and not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mercer-");
    #[cfg(unix)]
    {
        // The usual rights of a new file, instead of the private ones of a temporary file.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder).map_err(refused)?;
    let mut out = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
    write(&mut out)?;
    out.flush().map_err(refused)?;
    drop(out);
    if let Some(existing) = existing {
        temporary.as_file().set_permissions(existing.permissions()).map_err(refused)?;
    }
    temporary.as_file().sync_all().map_err(refused)?;
    temporary.persist(&target).map_err(|e| refused(e.error))?;
    // The rename itself must reach the disk too; not every system lets a folder be opened.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

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
