//! `mercer pca transform`: rows as features.

use std::path::PathBuf;

use clap::Args;
use mercer::data::Points;
use mercer::report::Written;

use super::{components, with_labels, write_rows};
use crate::commands::Command;
use crate::context::Context;
use crate::failure::Done;
use crate::model;
use crate::source::Reading;

/// Rows as features: how far each goes along each component
#[derive(Debug, Args)]
#[command(after_help = "Example:
  mercer pca transform test.csv digits.pca -o features.csv")]
pub(crate) struct Transform {
    /// The rows; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The components
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The file to write, labels with it where there are some
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Transform {
    const PATH: &'static [&'static str] = &["pca", "transform"];

    fn run(self, context: &Context) -> Done {
        model::can_write(&self.out)?;
        let fitted = model::read(&self.model)?;
        let k = components(&fitted, &self.model)?.components();
        let data = self.reading.read_by(&self.file, &fitted)?;
        let features = fitted.decision(data.points.view(), context.par)?;
        let out = with_labels(&data, Points::dense(features, k)?)?;
        write_rows(&self.out, &out)?;
        context.tell(&Written::new(self.out, &out))
    }
}
