//! `mercer pca ...`: kernel principal components, to them and back.

pub(crate) mod fit;
pub(crate) mod inverse;
pub(crate) mod show;
pub(crate) mod transform;

use std::path::{Path, PathBuf};

use clap::Args;
use mercer::data::{Dataset, Points};
use mercer::model::{Components, Model};
use mercer_report::Written;

use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::safe_csv::SafeCsv;
use crate::source::Reading;
use crate::{model, rows};

/// Rows that go through components: from a file, by a model, to a file.
#[derive(Debug, Args)]
pub(crate) struct Through {
    /// Input: rows, or features for the inverse transform; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The components
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// File to write: numbers, a .png, or a folder of them if it ends in /; labels are copied
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    safe: SafeCsv,

    #[command(flatten)]
    reading: Reading,
}

impl Through {
    /// What is read and written.
    fn files(&self) -> Files {
        let files = Files::none().reads([&self.file, &self.model]).reads(self.reading.files());
        files.writes_rows(&self.out)
    }

    /// The model.
    fn open(&self, context: &Context) -> Result<Model, Failure> {
        let fitted = model::read(&self.model, context.exec)?;
        components(&fitted, &self.model)?;
        Ok(fitted)
    }

    /// Writes what came out.
    fn close(self, data: &Dataset, points: Points, context: &Context) -> Done {
        let out = self.safe.apply(rows::like(data, points)?, &self.out);
        rows::write(&self.out, &out, None, context.exec)?;
        context.tell(&Written::new(self.out, &out))
    }
}

/// The components inside a model.
pub(crate) fn components<'a>(model: &'a Model, file: &Path) -> Result<Components<'a>, Failure> {
    match model.machine.components() {
        Ok(kpca) => Ok(kpca),
        Err(_) => Err(Failure::usage(
            format!("{} holds a model of kind {}, which has no components", file.display(), model.kind()),
            "`mercer pca fit DATA -o MODEL` finds components",
        )),
    }
}
