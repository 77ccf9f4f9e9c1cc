//! Where models lie: single files, and folders of `NAME.mercer`, `NAME/3.mercer` or `NAME/3/anything.mercer`.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mercer::{Error, Result};

/// Endings of model files in folders; a file that is named itself may have any.
const ENDINGS: &[&str] = &["mercer", "model", "pca", "json"];

/// A file or a folder that is served.
#[derive(Debug, Clone)]
pub struct Place {
    path: PathBuf,
    name: Option<String>,
    /// Whether it was a folder when it was named: one that is gone is not a file of models that are gone.
    folder: bool,
}

impl Stamp {
    /// Whether the file was written so shortly before a moment that it can have changed since and still look the same: file
    /// systems count time in steps of milliseconds to seconds.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        let Some(modified) = self.modified else { return false };
        let apart = now.duration_since(modified).unwrap_or_else(|ahead| ahead.duration());
        apart < SETTLED
    }
}

impl Place {
    /// A place as the command line names it: a file, a folder, or `NAME=FILE`.
    pub fn new(text: &Path) -> Self {
        let whole = text.to_string_lossy();
        match whole.split_once('=') {
            Some((name, path)) if !text.exists() && !name.is_empty() && !name.contains('/') => {
                let path = PathBuf::from(path);
                Place { folder: path.is_dir(), path, name: Some(name.to_owned()) }
            }
            _ => Place { path: text.to_owned(), name: None, folder: text.is_dir() },
        }
    }

    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn own_name(&self) -> Option<String> {
        self.name.clone().or_else(|| stem(&self.path))
    }

    /// Whether it is a file whose model has this name.
    pub(super) fn is_named(&self, name: &str) -> bool {
        !self.folder && self.own_name().as_deref() == Some(name)
    }

    /// Whether it is a folder that is not there at the moment, as while it is replaced or mounted, and held this file.
    pub(super) fn has_lost(&self, file: &Path) -> bool {
        self.folder && !self.path.is_dir() && file.starts_with(&self.path)
    }
}

/// What tells that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    #[cfg(unix)]
    inode: u64,
}

/// How long after a change a file can change again unseen.
const SETTLED: Duration = Duration::from_secs(2);

/// A file that may hold a model.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) name: String,
    /// The version that its name says.
    pub(super) number: Option<u64>,
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
    /// Whether it was named itself.
    pub(super) asked: bool,
}

/// All files in all places, in order.
pub(super) fn find(places: &[Place]) -> Result<Vec<Found>> {
    let mut all = Vec::new();
    for place in places {
        let path = &place.path;
        if place.folder && !path.is_dir() {
            continue;
        }
        if !path.is_dir() {
            match (stamp(path), place.own_name()) {
                (Ok(stamp), Some(name)) => {
                    all.push(Found { name, number: None, path: path.clone(), stamp, asked: true });
                }
                // A file that is replaced may be away for a moment.
                (Err(error), Some(_)) if error.kind() == std::io::ErrorKind::NotFound => {}
                (Err(error), _) => return Err(Error::io(path, error)),
                (Ok(_), None) => return Err(Error::param("model", path.display(), "a file with a name")),
            }
            continue;
        }
        for one in listed(path)? {
            if !one.is_dir() {
                all.extend(candidate(&one, None, None));
                continue;
            }
            let Some(name) = one.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            for version in listed(&one)? {
                let number = stem(&version).and_then(|stem| stem.parse::<u64>().ok());
                if !version.is_dir() {
                    all.extend(candidate(&version, Some(&name), number).filter(|_| number.is_some()));
                    continue;
                }
                let number = version.file_name().and_then(|name| name.to_string_lossy().parse::<u64>().ok());
                if number.is_some() {
                    let mut files = listed(&version)?.into_iter();
                    all.extend(files.find_map(|file| candidate(&file, Some(&name), number)));
                }
            }
        }
    }
    all.sort_by(|a, b| (&a.name, a.number).cmp(&(&b.name, b.number)));
    Ok(all)
}

fn candidate(path: &Path, name: Option<&str>, number: Option<u64>) -> Option<Found> {
    let ending = path.extension()?.to_string_lossy().to_lowercase();
    let name = name.map(str::to_owned).or_else(|| stem(path))?;
    let stamp = stamp(path).ok()?;
    ENDINGS.contains(&ending.as_str()).then(|| Found {
        name,
        number,
        path: path.to_owned(),
        stamp,
        asked: false,
    })
}

/// A file's name without its ending; none for hidden files.
fn stem(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    (!stem.is_empty() && !stem.starts_with('.')).then_some(stem)
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))?;
    let mut all: Vec<PathBuf> = read.filter_map(std::result::Result::ok).map(|entry| entry.path()).collect();
    all.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    all.sort();
    Ok(all)
}

/// What tells of a change of a file. Fails for what is none, such as a pipe.
pub(super) fn stamp(path: &Path) -> std::io::Result<Stamp> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(Stamp {
        modified: about.modified().ok(),
        bytes: about.len(),
        #[cfg(unix)]
        inode: std::os::unix::fs::MetadataExt::ino(&about),
    })
}
