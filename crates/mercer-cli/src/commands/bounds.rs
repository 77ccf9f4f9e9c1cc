//! `mercer bounds`: estimates of the test error from the training data.

use std::path::PathBuf;

use clap::Args;
use mercer::assess::bounds::Bounds;
use mercer_report::Bounded;

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::progress::Progress;
use crate::source::{self, Reading};

/// Estimate the test error from the training data
///
/// Requires neither held-out rows nor retraining. For each machine of a support vector classifier: the span estimate of the
/// leave-one-out error (Vapnik and Chapelle 2000), the bound by the number of support vectors, R^2|w|^2 and its risk
/// bound, the effective dimension; for ridge regression and least-squares machines the exact leave-one-out error; for all
/// of them the kernel-target alignment. Each is printed with its assumptions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer bounds iris.mercer iris.csv
  mercer bounds iris.mercer iris.csv --eta 0.01 --format json")]
pub(crate) struct Bound {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The data it was trained on, the same rows in the same order; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// Confidence of the risk bound: it holds with probability at least 1 - ETA
    #[arg(long, value_name = "ETA", default_value_t = 0.05)]
    eta: f64,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Bound {
    const PATH: &'static [&'static str] = &["bounds"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(Files::none().reads([&self.model, &self.file]).reads(self.reading.files()))
    }

    fn run(self, context: &Context) -> Done {
        let model = model::read(&self.model, context.exec)?;
        let data = self.reading.read_by(&self.file, &model, context.exec)?;
        let mut watch = Progress::new(context).watch();
        let bounds = Bounds::of(&model, &data, self.eta, context.exec, &mut watch)?;
        drop(watch);
        context.show(&Bounded {
            model: self.model.display().to_string(),
            source: source::name(&self.file),
            bounds,
        })
    }
}
