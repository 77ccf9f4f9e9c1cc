//! `mercer pca inverse`: features back to rows.

use std::path::PathBuf;

use clap::Args;
use mercer::reduce::preimage::PreimageParams;
use mercer::report::Written;

use super::{components, with_labels, write_rows};
use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::progress::Progress;
use crate::source::Reading;
use crate::{interrupt, model};

/// Features back to rows: the points whose images in feature space are nearest
///
/// The file may hold fewer features than there are components: the first ones then decide. Rows come out as the kernel
/// saw them, after the model's stages.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  mercer pca inverse features.csv digits.pca -o restored.csv")]
pub(crate) struct Inverse {
    /// The features, as `mercer pca transform` writes them
    #[arg(value_name = "FEATURES")]
    file: PathBuf,

    /// The components
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The file to write; one that ends in .png gets images
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Inverse {
    const PATH: &'static [&'static str] = &["pca", "inverse"];

    fn run(self, context: &Context) -> Done {
        interrupt::listen();
        model::can_write(&self.out)?;
        let fitted = model::read(&self.model)?;
        let kpca = components(&fitted, &self.model)?;
        let data = self.reading.read(&self.file)?;
        if data.dim() > kpca.components() {
            return Err(Failure::usage(
                format!(
                    "{} has {} columns, but there are {} components",
                    self.file.display(),
                    data.dim(),
                    kpca.components()
                ),
                "`--label COLUMN` says which column is a label",
            ));
        }
        let back = PreimageParams { seed: context.seed, ..PreimageParams::default() };
        let mut watch = Progress::new(context).watch();
        let features = data.points.view().to_f64()?;
        let found = kpca.decode(&features, data.dim(), &back, context.par, &mut watch)?;
        drop(watch);
        let out = with_labels(&data, found.points)?;
        write_rows(&self.out, &out)?;
        context.tell(&Written::new(self.out, &out))
    }
}
