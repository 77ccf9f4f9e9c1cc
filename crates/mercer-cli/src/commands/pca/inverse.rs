//! `mercer pca inverse`: features back to rows.

use clap::Args;
use mercer::reduce::preimage::PreimageParams;

use super::{Through, components};
use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::progress::Progress;

/// Map features back to rows: pre-images
///
/// The file may hold fewer features than there are components: the first ones are used. Rows are in the units after the
/// model's stages.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer pca inverse features.csv digits.pca -o restored.csv
  mercer pca inverse features.csv digits.pca -o restored/      (a folder of PNG files)")]
pub(crate) struct Inverse {
    #[command(flatten)]
    through: Through,
}

impl Command for Inverse {
    const PATH: &'static [&'static str] = &["pca", "inverse"];

    fn files(&self) -> Result<Files, Failure> {
        Ok(self.through.files())
    }

    fn run(self, context: &Context) -> Done {
        let through = self.through;
        let fitted = through.open(context)?;
        let kpca = components(&fitted, &through.model)?;
        let data = through.reading.read(&through.file, context.exec)?;
        if data.dim() > kpca.count() {
            return Err(Failure::usage(
                format!(
                    "{} has {} columns, but there are {} components",
                    through.file.display(),
                    data.dim(),
                    kpca.count()
                ),
                "`--label COLUMN` says which column is a label",
            ));
        }
        let back = PreimageParams { seed: context.seed, ..PreimageParams::default() };
        let mut watch = Progress::new(context).watch();
        let features = data.points.view().to_f64_within(context.exec.memory())?;
        let found = kpca.decode(&features, data.dim(), &back, context.exec, &mut watch)?;
        drop(watch);
        through.close(&data, found.points, context)
    }
}
