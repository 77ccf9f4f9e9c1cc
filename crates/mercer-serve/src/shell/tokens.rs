//! Bearer tokens from a file, one per line. The file is read again when it changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::watched::Watched;

/// The tokens that are let in.
pub struct Tokens(Watched<Arc<[Digest]>>);

type Digest = [u8; 32];

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl Tokens {
    /// Reads a file: a token per line, at least one; lines that begin with `#` are comments.
    pub fn read(path: &Path) -> Result<Self, String> {
        Watched::new(vec![path.to_owned()], digests).map(Tokens)
    }

    /// Whether a token is let in. Compares digests of equal length, all of them and to their ends, so that the time
    /// taken tells nothing of how much was right.
    pub fn allow(&self, token: &str) -> bool {
        let given: Digest = Sha256::digest(token.as_bytes()).into();
        self.0.get().iter().fold(false, |found, digest| found | same(digest, &given))
    }
}

fn same(a: &Digest, b: &Digest) -> bool {
    let difference = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(difference) == 0
}

fn digests(files: &[PathBuf]) -> Result<Arc<[Digest]>, String> {
    let path = files[0].display();
    let text = std::fs::read_to_string(&files[0]).map_err(|e| format!("{path}: {e}"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let digests: Vec<Digest> = lines.map(|line| Sha256::digest(line.as_bytes()).into()).collect();
    if digests.is_empty() {
        return Err(format!("{path}: no token, expected one per line"));
    }
    Ok(digests.into())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

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
        // Changed: the old ones go. An empty file, or none, changes nothing.
        let later = |seconds| SystemTime::now() + Duration::from_secs(seconds);
        let set = |text: &str, seconds| {
            std::fs::write(&file, text).expect("written");
            let file = std::fs::File::options().write(true).open(&file).expect("opened");
            file.set_modified(later(seconds)).expect("a time");
            tokens.0.wait();
        };
        set("third\n", 10);
        assert!(tokens.allow("third") && !tokens.allow("first"));
        set("\n", 20);
        assert!(tokens.allow("third"));
        std::fs::remove_file(&file).expect("removed");
        tokens.0.wait();
        assert!(tokens.allow("third"));
        set("fourth\n", 30);
        assert!(tokens.allow("fourth") && !tokens.allow("third"));
    }
}
