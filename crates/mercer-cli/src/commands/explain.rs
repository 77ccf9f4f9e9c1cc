//! `mercer explain`: describes a model.

use std::path::PathBuf;

use clap::Args;
use mercer::assess::{dependence, importance, mistakes};
use mercer::data::Targets;
use mercer::model::Task;
use mercer_report::{Explained, explained_page};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::progress::Progress;
use crate::source::{self, Reading};

/// Mistakes that are listed.
const WORST: usize = 20;

/// Describe a model and list training rows it disagrees with
///
/// Kernel, parameters, support vectors per class, free and bounded; margin, |w|^2 and the capacity bound R^2|w|^2 of each
/// machine; the rows with the largest coefficients and, for linear kernels, the weights of the columns. With the data it was trained on:
/// labels that the model contradicts, worst first. With held-out rows (--importance): which columns matter, how
/// predictions depend on them, and where the model is confident and wrong.
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

    /// Measure on these rows, which the model was not trained on: permutation importance of each column, how predictions
    /// depend on the most important ones (partial dependence), and the most confident mistakes. Novelty and clusters need no
    /// labels
    #[arg(long, value_name = "FILE")]
    importance: Option<PathBuf>,

    /// Number of times each column is shuffled for --importance
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeats: usize,

    /// Number of columns, the most important ones of --importance, for which partial dependence is computed
    #[arg(long, value_name = "N", default_value_t = 6)]
    curves: usize,

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
        let held_out = self.importance.as_ref();
        let held_out = held_out.map(|file| self.reading.read_by(file, &model, context.exec)).transpose()?;
        let mut report = Explained {
            file: self.model.display().to_string(),
            source: self.file.as_deref().map(source::name),
            explanation,
            importances: None,
            dependences: None,
            mistakes: None,
        };
        if let Some(rows) = &held_out {
            let (seed, exec) = (context.seed, context.exec);
            let found = importance(&model, rows, self.repeats, seed, exec, &mut watch)?;
            if found.image.is_none() {
                let most = found.columns.iter().take(self.curves);
                let columns: Vec<usize> = most.flat_map(|column| column.members.clone()).collect();
                report.dependences = Some(dependence(&model, rows, &columns, seed, exec, &mut watch)?);
            }
            report.importances = Some(found);
            let judged = matches!(model.task(), Task::Classification | Task::Regression);
            if judged && !matches!(rows.targets, Targets::None) {
                report.mistakes = Some(mistakes(&model, rows, WORST, exec)?);
            }
        }
        drop(watch);
        context.show(&report)?;
        match &self.report {
            Some(file) => {
                let (data, held_out) = (data.as_ref(), held_out.as_ref());
                let page = explained_page(&report, &model, data, held_out, context.exec)?;
                let names = [&self.file, &self.importance].map(|f| f.as_deref().map(source::name));
                let read: Vec<_> = names
                    .iter()
                    .flatten()
                    .map(String::as_str)
                    .zip([data, held_out].into_iter().flatten())
                    .collect();
                context.write_page(file, page, &read)
            }
            None => Ok(()),
        }
    }
}
