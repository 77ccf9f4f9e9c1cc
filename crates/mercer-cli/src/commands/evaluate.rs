//! `mercer evaluate`: errors of a model on labelled rows.

use std::path::PathBuf;

use clap::Args;
use mercer::assess::Evaluation;
use mercer_report::{Evaluated, evaluated_page};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::source::{self, Reading};

/// Evaluate a model on labelled rows
///
/// Classes: the error with its confidence interval, the error of the trivial baseline, the confusion matrix, precision,
/// recall and F1 per class, areas under the ROC and precision-recall curves (the curves themselves with --format json).
/// Numbers: RMSE, MAE, R^2. Use held-out rows: `mercer data split` makes them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer evaluate test.csv iris.mercer --report iris.html
  mercer evaluate houses.csv houses.mercer --label price --format json")]
pub(crate) struct Evaluate {
    /// Labelled rows; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Also write an HTML page with pictures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Evaluate {
    const PATH: &'static [&'static str] = &["evaluate"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.file, &self.model]).reads(self.reading.files());
        Ok(files.writes(&self.report))
    }

    fn run(self, context: &Context) -> Done {
        let model = model::read(&self.model, context.exec)?;
        let data = self.reading.read_by(&self.file, &model, context.exec)?;
        context.warn(&data.notes);
        let evaluation = Evaluation::new(&model, &data, context.exec)?;
        let names = (source::name(&self.file), self.model.display().to_string());
        let report = Evaluated { source: names.0, model: names.1, evaluation };
        context.show(&report)?;
        match &self.report {
            Some(file) => {
                let page = evaluated_page(&report, &model, &data, context.exec)?;
                context.write_page(file, page, &[(&report.source, &data)])
            }
            None => Ok(()),
        }
    }
}
