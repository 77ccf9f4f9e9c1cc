//! `mercer data convert`: the same data in another format.

use std::path::PathBuf;

use clap::Args;
use mercer::data::io::{Format, WriteOptions, write_with};
use mercer_report::Written;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::rows;
use crate::safe_csv::SafeCsv;
use crate::source::Reading;

/// Write data in another format
///
/// The extension of OUT gives the format: .svm, .csv, .tsv, .jsonl, .npy, .seq, .fasta, .parquet, .arrow, each also with .gz, .bz2,
/// .xz or .zst; images may become a .png or, where OUT ends in /, a folder of them. A file is written completely or not at all, and numbers are read back bit for bit.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer data convert train.csv train.svm.xz --label species
  mercer data convert train-images-idx3-ubyte.gz train.npy")]
pub(crate) struct Convert {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// The file to write
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Format of OUT, overriding its extension: libsvm, csv, tsv, jsonl, sequences, fasta, npy,
    /// parquet, arrow
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,

    #[command(flatten)]
    safe: SafeCsv,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Convert {
    const PATH: &'static [&'static str] = &["data", "convert"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.input]).reads(self.reading.files());
        Ok(if self.to.is_some() {
            files.writes_data([&self.output])
        } else {
            files.writes_rows(&self.output)
        })
    }

    fn run(self, context: &Context) -> Done {
        let data = self.safe.apply(self.reading.read(&self.input, context.exec)?, &self.output);
        match self.to {
            Some(format) => {
                let memory = Some(context.exec.memory());
                write_with(&self.output, &data, &WriteOptions { format: Some(format), memory })?;
            }
            None => rows::write(&self.output, &data, rows::levels(&self.input), context.exec)?,
        }
        context.tell(&Written::new(self.output, &data))
    }
}
