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

/// Compare two models on the same rows
///
/// Tests whether the difference is significant: classifiers by McNemar's test on the rows that exactly one of them
/// misclassifies, regressions by a paired t-test on squared errors. Also prints how many support vectors they share. Use
/// rows on which neither was trained or selected.
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
