//! `mercer pca ...`: kernel principal components, to them and back.

pub(crate) mod fit;
pub(crate) mod inverse;
pub(crate) mod show;
pub(crate) mod transform;

use std::path::Path;

use mercer::data::io::{self, write_atomic};
use mercer::data::{Dataset, Points};
use mercer::model::{Body, KpcaModel, Model};
use mercer::report::html::{Ink, sheet};
use mercer::{Error, Result};

use crate::failure::Failure;

/// Images in a line of a PNG file.
const ACROSS: usize = 20;

/// The components inside a model.
pub(crate) fn components<'a>(model: &'a Model, file: &Path) -> std::result::Result<&'a KpcaModel, Failure> {
    match &model.body {
        Body::Kpca(kpca) => Ok(kpca),
        _ => Err(Failure::usage(
            format!("{} holds a model of kind {}, which has no components", file.display(), model.kind()),
            "`mercer pca fit DATA -o MODEL` finds components",
        )),
    }
}

/// Writes rows as the file's name asks: numbers, or images where it ends in `.png`.
pub(crate) fn write_rows(file: &Path, data: &Dataset) -> Result<()> {
    if file.extension().is_none_or(|end| !end.eq_ignore_ascii_case("png")) {
        return io::write(file, data);
    }
    let Some(shape) = data.points.image() else {
        return Err(Error::Unsupported(format!(
            "{}: rows that are no images cannot be written as one; `--image HxW` says that they are",
            file.display()
        )));
    };
    let pixels = data.points.view().to_f64()?;
    let images: Vec<Vec<f64>> = pixels.chunks(shape.len()).map(<[f64]>::to_vec).collect();
    let low = pixels.iter().copied().fold(f64::INFINITY, f64::min);
    let high = pixels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bytes = sheet(&images, shape, ACROSS, Ink::Grey(low, high));
    write_atomic(file, |out| out.write_all(&bytes).map_err(|e| Error::io(file, e)))
}

/// The same labels on other rows.
pub(crate) fn with_labels(data: &Dataset, points: Points) -> Result<Dataset> {
    Dataset::new(points, data.targets.clone())
}
