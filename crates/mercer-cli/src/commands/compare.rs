//! `mercer compare`: which of two models is better on the same rows.

use std::path::PathBuf;

use clap::Args;
use mercer::assess::Comparison;
use mercer_report::Compared;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::source::{self, Reading};

/// Which of two models is better on the same rows
///
/// And whether that is more than chance: classifiers by McNemar's test on the rows that only one of them has wrong,
/// regressions by a paired t-test on their squared errors. Also how many support vectors they share. Use rows that
/// neither was trained or chosen on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer compare rbf.mercer linear.mercer test.csv
  mercer compare old.mercer new.mercer test.csv --format json")]
pub(crate) struct Compare {
    /// A model
    #[arg(value_name = "MODEL")]
    first: PathBuf,

    /// Another one for the same task
    #[arg(value_name = "MODEL")]
    second: PathBuf,

    /// Labelled rows; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Compare {
    const PATH: &'static [&'static str] = &["compare"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().reads([&self.first, &self.second, &self.file]).reads(self.reading.files()))
    }

    fn run(self, context: &Context) -> Done {
        let (first, second) =
            (model::read(&self.first, context.exec)?, model::read(&self.second, context.exec)?);
        let data = self.reading.read_by(&self.file, &first, context.exec)?;
        let comparison = Comparison::of(&first, &second, &data, context.exec)?;
        context.show(&Compared {
            models: [self.first.display().to_string(), self.second.display().to_string()],
            source: source::name(&self.file),
            comparison,
        })
    }
}
