//! `mercer explain`: what a model is made of.

use std::path::PathBuf;

use clap::Args;
use mercer::assess::importance;
use mercer_report::{Explained, explained_page};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::progress::Progress;
use crate::source::{self, Reading};

/// Describe a model and list training rows it disagrees with
///
/// Kernel, parameters, support vectors by class, free and bounded; the margin, |w|^2 and R^2|w|^2 of each machine, which
/// bounds its capacity; the rows that weigh most and, for linear kernels, the columns. With the data it was trained on:
/// labels that the model contradicts, worst first. With held-out rows (--importance): which columns matter.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer explain iris.mercer
  mercer explain iris.mercer iris.csv --report iris.html
  mercer explain iris.mercer --importance test.csv")]
pub(crate) struct Explain {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Its training data; `-` is standard input
    #[arg(value_name = "DATA")]
    file: Option<PathBuf>,

    /// Measure permutation importance of each column on these labelled rows, which the model was not trained on
    #[arg(long, value_name = "FILE")]
    importance: Option<PathBuf>,

    /// How often each column is shuffled for --importance
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: usize,

    /// Also write an HTML page with pictures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Explain {
    const PATH: &'static [&'static str] = &["explain"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.model]).reads(&self.file).reads(&self.importance);
        let files = files.reads(self.reading.files());
        Ok(files.writes(&self.report))
    }

    fn run(self, context: &Context) -> Done {
        let model = model::read(&self.model, context.exec)?;
        let data =
            self.file.as_ref().map(|file| self.reading.read_by(file, &model, context.exec)).transpose()?;
        let mut watch = Progress::new(context).watch();
        let explanation = model.explain(data.as_ref(), context.exec, &mut watch)?;
        let importances = match &self.importance {
            Some(file) => {
                let held_out = self.reading.read_by(file, &model, context.exec)?;
                Some(importance(&model, &held_out, self.repeats, context.seed, context.exec, &mut watch)?)
            }
            None => None,
        };
        drop(watch);
        let report = Explained {
            file: self.model.display().to_string(),
            source: self.file.as_deref().map(source::name),
            explanation,
            importances,
        };
        context.show(&report)?;
        match &self.report {
            Some(file) => {
                context.write_page(file, &explained_page(&report, &model, data.as_ref(), context.exec)?)
            }
            None => Ok(()),
        }
    }
}
