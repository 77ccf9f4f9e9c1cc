//! `mercer data info`: a summary of a data file with possible problems.

use std::path::PathBuf;

use clap::Args;
use mercer_report::DataInfo;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::source::{self, Reading};

/// Describe a data file and list what looks wrong
///
/// Rows, columns, classes, ranges, a plot of the data where possible, and warnings: constant columns, duplicated rows, equal
/// rows with different labels, columns on very different scales, unbalanced classes, row numbers among the columns, a
/// column that determines the target.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer data info iris.csv
  mercer data info train.csv --label species
  mercer data info train-images-idx3-ubyte.gz
  mercer data info usps.svm.xz --image 16x16
  cat train.svm | mercer data info - --format json    (JSON counts rows and columns from 0)")]
pub(crate) struct Info {
    /// The file: LIBSVM, CSV, JSON lines, XLSX, Parquet, NPY, NPZ, IDX, pictures, sequences, FASTA; plain, gz, bz2, xz or zst; `-` is standard input
    file: PathBuf,

    /// Show every column, however many there are
    #[arg(long)]
    each: bool,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Info {
    const PATH: &'static [&'static str] = &["data", "info"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().reads([&self.file]).reads(self.reading.files()))
    }

    fn run(self, context: &Context) -> Done {
        let data = self.reading.read(&self.file, context.exec)?;
        context.show(&DataInfo::new(source::name(&self.file), &data, self.each))
    }
}
