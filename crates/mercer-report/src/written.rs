//! What is said after data went to a file.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Page, Report, Tone, bytes, count};
use mercer::data::Dataset;

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The file.
    pub file: PathBuf,
    /// Rows in it.
    pub rows: usize,
    /// Columns in it.
    pub columns: usize,
    /// Bytes it takes on disk.
    pub bytes: u64,
}

impl Written {
    /// A file that now holds some data.
    pub fn new(file: PathBuf, data: &Dataset) -> Self {
        let bytes = on_disk(&file);
        Written { file, rows: data.len(), columns: data.dim(), bytes }
    }
}

/// Bytes of a file, or of all files of a folder.
fn on_disk(path: &Path) -> u64 {
    if path.is_dir() {
        let files = std::fs::read_dir(path).into_iter().flatten().flatten();
        return files.map(|file| file.metadata().map_or(0, |about| about.len())).sum();
    }
    std::fs::metadata(path).map_or(0, |about| about.len())
}

impl Report for Written {
    fn write(&self, page: &mut Page) {
        let size = format!("{} x {}, {}", count(self.rows), count(self.columns), bytes(self.bytes as usize));
        page.remark(Tone::Good, '✓', &format!("{}: {size}", self.file.display()));
    }
}
