//! Bearer tokens from a file, one per line. The file is read again when it changes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest as _, Sha256};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// The tokens that are let in.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    digests: Vec<[u8; 32]>,
    stamp: Option<SystemTime>,
    looked: Instant,
}

impl Tokens {
    /// Reads a file: a token per line, at least one; lines that begin with `#` are comments.
    pub fn read(path: &Path) -> Result<Self, String> {
        let digests = digests(path)?;
        let state = State { digests, stamp: stamp(path), looked: Instant::now() };
        Ok(Tokens { path: path.to_owned(), state: Mutex::new(state) })
    }

    /// Whether a token is let in. Compares digests of equal length, all of them and to their ends, so that the time
    /// taken tells nothing of how much was right.
    pub fn allow(&self, token: &str) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() >= EVERY {
            state.looked = Instant::now();
            let now = stamp(&self.path);
            if now != state.stamp {
                match digests(&self.path) {
                    Ok(digests) => {
                        state.digests = digests;
                        state.stamp = now;
                        tracing::info!(file = %self.path.display(), "tokens reloaded");
                    }
                    Err(why) => tracing::warn!("{why}; the previous tokens stay valid"),
                }
            }
        }
        let given: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        state.digests.iter().fold(false, |found, digest| found | same(digest, &given))
    }
}

fn same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let difference = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(difference) == 0
}

fn stamp(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|about| about.modified()).ok()
}

fn digests(path: &Path) -> Result<Vec<[u8; 32]>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let digests: Vec<[u8; 32]> = lines.map(|line| Sha256::digest(line.as_bytes()).into()).collect();
    if digests.is_empty() {
        return Err(format!("{}: no token, expected one per line", path.display()));
    }
    Ok(digests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_tokens_are_let_in_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tokens");
        assert!(Tokens::read(&file).is_err());
        std::fs::write(&file, "# people\n\n").expect("written");
        assert!(Tokens::read(&file).expect_err("no token").contains("one per line"));
        std::fs::write(&file, "# people\n  first \nsecond\n").expect("written");
        let tokens = Tokens::read(&file).expect("two tokens");
        assert!(tokens.allow("first") && tokens.allow("second"));
        for wrong in ["", "firs", "first ", "# people", "third", "first\nsecond"] {
            assert!(!tokens.allow(wrong), "{wrong:?}");
        }
        // Changed: the old ones go. An empty file changes nothing.
        let later = |seconds| SystemTime::now() + Duration::from_secs(seconds);
        let set = |text: &str, seconds| {
            std::fs::write(&file, text).expect("written");
            let file = std::fs::File::options().write(true).open(&file).expect("opened");
            file.set_modified(later(seconds)).expect("a time");
            tokens.state.lock().expect("not poisoned").looked -= EVERY;
        };
        set("third\n", 10);
        assert!(tokens.allow("third") && !tokens.allow("first"));
        set("\n", 20);
        assert!(tokens.allow("third"));
    }
}
