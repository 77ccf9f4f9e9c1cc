//! Tables for spreadsheets: names that begin like a formula can be written as text.

use std::path::Path;

use clap::Args;
use mercer::data::Dataset;
use mercer::data::io::Format;

/// The option of every command that writes tables with names in them.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SafeCsv {
    /// In .csv and .tsv files, write ' before names that a spreadsheet would take for a formula (those that begin with
    /// =, +, -, @ or a tab and are not numbers); without it names are written as they are
    #[arg(long)]
    pub(crate) safe_csv: bool,
}

impl SafeCsv {
    /// The data as they go to this file.
    pub(crate) fn apply(&self, data: Dataset, file: &Path) -> Dataset {
        if self.safe_csv && is_table(file) { data.spreadsheet_safe() } else { data }
    }
}

/// Whether a file of this name is one that spreadsheets open.
pub(crate) fn is_table(file: &Path) -> bool {
    matches!(Format::of_path(file), Some(Format::Csv | Format::Tsv))
}
