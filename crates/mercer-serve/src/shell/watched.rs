//! A value made of files, made again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Files, what was made of them, and how.
pub(super) struct Watched<T> {
    files: Vec<PathBuf>,
    make: fn(&[PathBuf]) -> Result<T, String>,
    state: Mutex<State<T>>,
}

struct State<T> {
    value: T,
    stamps: Vec<Option<Stamp>>,
    looked: Instant,
}

/// What tells that a file has changed: when, how long it is, and which file it is, where the system numbers them.
type Stamp = (Option<SystemTime>, u64, u64);

impl<T: Clone> Watched<T> {
    /// Makes the value for the first time.
    pub(super) fn new(
        files: Vec<PathBuf>,
        make: fn(&[PathBuf]) -> Result<T, String>,
    ) -> Result<Self, String> {
        // Before they are read: a change in between is seen by the next look.
        let stamps = stamps(&files);
        let value = make(&files)?;
        Ok(Watched { files, make, state: Mutex::new(State { value, stamps, looked: Instant::now() }) })
    }

    /// The value; of the files as they are now, if they were not looked at for a second. Files that cannot be used leave
    /// the value of before, and the log says why.
    pub(super) fn get(&self) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() >= EVERY {
            state.looked = Instant::now();
            let now = stamps(&self.files);
            if now != state.stamps {
                // Said once for each change. Two files that belong together may be replaced one after the other.
                state.stamps = now;
                match (self.make)(&self.files) {
                    Ok(value) => {
                        state.value = value;
                        tracing::info!(file = %self.files[0].display(), "read again");
                    }
                    Err(why) => tracing::warn!("{why}; what was read before stays valid"),
                }
            }
        }
        state.value.clone()
    }

    /// As if a second had passed.
    #[cfg(test)]
    pub(super) fn wait(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).looked -= EVERY;
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Option<Stamp>> {
    files.iter().map(|file| stamp(file)).collect()
}

fn stamp(file: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(file).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let number = 0;
    Some((about.modified().ok(), about.len(), number))
}
