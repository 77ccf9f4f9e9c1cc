//! `mercer pca show`: components as a page of pictures.

use std::path::PathBuf;

use clap::Args;
use mercer_report::components_page;

use super::components;
use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::progress::Progress;
use crate::source::{self, Reading};

/// Draw components: explained variance, contour maps, images
///
/// Data of two columns get contour maps; images get the pre-images of the first components and the effect of each pixel.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  mercer pca show digits.pca -o digits.html")]
pub(crate) struct Show {
    /// The components
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Points to draw over maps of the plane
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,

    /// The page to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Show {
    const PATH: &'static [&'static str] = &["pca", "show"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.model]).reads(&self.data).reads(self.reading.files());
        Ok(files.writes([&self.out]))
    }

    fn run(self, context: &Context) -> Done {
        let fitted = model::read(&self.model, context.exec)?;
        components(&fitted, &self.model)?;
        let data =
            self.data.as_deref().map(|file| self.reading.read_by(file, &fitted, context.exec)).transpose()?;
        let title = self.model.display().to_string();
        let mut watch = Progress::new(context).watch();
        let page = components_page(&title, &fitted, data.as_ref(), context.exec, &mut watch)?;
        drop(watch);
        let name = self.data.as_deref().map(source::name).unwrap_or_default();
        let data: Vec<_> = data.iter().map(|data| (name.as_str(), data)).collect();
        context.write_page(&self.out, page, &data)
    }
}
