//! `mercer pca transform`: rows as features.

use clap::Args;
use mercer::data::Points;

use super::{Through, components};
use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;

/// Project rows onto the components
#[derive(Debug, Args)]
#[command(after_help = "Example:
  mercer pca transform test.csv digits.pca -o features.csv")]
pub(crate) struct Transform {
    #[command(flatten)]
    through: Through,
}

impl Command for Transform {
    const PATH: &'static [&'static str] = &["pca", "transform"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(self.through.files())
    }

    fn run(self, context: &Context) -> Done {
        let through = self.through;
        let fitted = through.open(context)?;
        let k = components(&fitted, &through.model)?.count();
        let data = through.reading.read_by(&through.file, &fitted, context.exec)?;
        let features = fitted.decision(data.points.view(), context.exec)?;
        through.close(&data, Points::dense(features, k)?, context)
    }
}
