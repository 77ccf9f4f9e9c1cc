//! The report of a conversion.

use std::path::PathBuf;

use serde::Serialize;

use crate::{Page, Report, Tone, bytes};

/// A model in another format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// The file written.
    pub file: PathBuf,
    /// Its format.
    pub format: &'static str,
    /// Bytes it takes.
    pub bytes: u64,
    /// What can be done with it.
    pub remark: String,
}

impl Converted {
    /// A file that was just written.
    pub fn new(file: PathBuf, format: &'static str, remark: impl Into<String>) -> Self {
        let bytes = std::fs::metadata(&file).map_or(0, |about| about.len());
        Converted { file, format, bytes, remark: remark.into() }
    }
}

impl Report for Converted {
    fn write(&self, page: &mut Page) {
        let size = bytes(self.bytes as usize);
        page.remark(Tone::Good, '✓', &format!("{}: {}, {size}", self.file.display(), self.format));
        page.paragraph(&self.remark);
    }
}
