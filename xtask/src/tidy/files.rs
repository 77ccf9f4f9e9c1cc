//! The text files of the checkout that rules apply to.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A file's path from the root, with forward slashes, and its text.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == "rs")
    }
}

/// Folders that hold what is built, downloaded or found, not what is written.
const SKIP: [&str; 8] =
    [".git", ".venv", "target", "local", "corpus", "artifacts", "__pycache__", "node_modules"];
const EXTENSIONS: [&str; 12] =
    ["rs", "md", "toml", "py", "sh", "html", "js", "css", "txt", "yml", "json", "svg"];

/// Reads them all, in order of their paths.
pub(crate) fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && !SKIP.contains(&name.as_str()) {
            walk(&entry.path(), &path, files)?;
        } else if kind.is_file() && is_text(&name) {
            let bytes = fs::read(entry.path()).with_context(|| path.clone())?;
            // Data that ships may be called .txt and be anything; rules are about text.
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File { path, text });
            }
        }
    }
    Ok(())
}

fn is_text(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, extension)) => EXTENSIONS.contains(&extension),
        None => ["test", "run"].contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_workspace_is_read_without_what_it_builds() {
        let files = read(&crate::root()).expect("readable");
        assert!(files.iter().any(|f| f.path == "crates/mercer/src/lib.rs"));
        assert!(files.iter().all(|f| !f.path.starts_with("target/") && !f.path.contains("/.git/")));
    }
}
