//! `mercer data split`: one file into a part to learn from and a part to test on.

use std::path::PathBuf;

use clap::Args;
use mercer::data::io::{WriteOptions, write_set};
use mercer::data::split::holdout_of;
use mercer_report::Written;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::safe_csv::SafeCsv;
use crate::source::Reading;

/// Split data into a training set and a test set
///
/// Rows are drawn at random, stratified by class; the same --seed draws the same rows.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  mercer data split iris.csv train.csv test.csv --test 0.3")]
pub(crate) struct Split {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// File for the training set
    #[arg(value_name = "TRAIN")]
    train: PathBuf,

    /// File for the test set
    #[arg(value_name = "TEST")]
    test: PathBuf,

    /// Fraction of the rows in the test set
    #[arg(long = "test", id = "share", value_name = "SHARE", default_value_t = 0.25)]
    share: f64,

    #[command(flatten)]
    safe: SafeCsv,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Split {
    const PATH: &'static [&'static str] = &["data", "split"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.input]).reads(self.reading.files());
        Ok(files.writes_data([&self.train, &self.test]))
    }

    fn run(self, context: &Context) -> Done {
        let data = self.safe.apply(self.reading.read(&self.input, context.exec)?, &self.train);
        let fold = holdout_of(data.len(), &data.targets, self.share, context.seed)?;
        let (train, test) = (data.gather(&fold.train), data.gather(&fold.test));
        let options = WriteOptions { memory: Some(context.exec.memory()), ..WriteOptions::default() };
        write_set(&[(&self.train, &train), (&self.test, &test)], &options)?;
        context.tell(&vec![Written::new(self.train, &train), Written::new(self.test, &test)])
    }
}
