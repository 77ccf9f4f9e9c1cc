//! Rows as a command writes them: numbers, one picture, a sheet of pictures, or a folder of them.

use std::path::Path;

use mercer::data::io::{self, Format, WriteOptions, is_picture, write_atomic};
use mercer::data::{Dataset, Points};
use mercer::{Error, Exec, Result};
use mercer_report::html::{Ink, sheet};

/// Images in a line of a sheet.
const ACROSS: usize = 20;

/// Values that become black and white.
pub(crate) type Levels = (f64, f64);

/// The levels of rows that come from a file: pictures have their own, for others the values decide.
pub(crate) fn levels(source: &Path) -> Option<Levels> {
    is_picture(source).then_some((0.0, 255.0))
}

/// Other rows with the labels and names of these.
pub(crate) fn like(data: &Dataset, points: Points) -> Result<Dataset> {
    let mut out = Dataset::new(points, data.targets.clone())?;
    out.row_names.clone_from(&data.row_names);
    Ok(out)
}

/// Whether a path is one of a folder of pictures.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

/// Writes rows as the file's name asks: numbers; a picture, or a sheet of them, where it ends in `.png` or `.pgm`; a
/// folder of pictures where it ends in `/` or is one.
pub(crate) fn write(file: &Path, data: &Dataset, levels: Option<Levels>, exec: Exec) -> Result<()> {
    let options = WriteOptions { memory: Some(exec.memory()), ..WriteOptions::default() };
    let folder = is_folder(file);
    let format = Format::of_path(file).filter(|format| matches!(format, Format::Png | Format::Pnm));
    if !folder && format.is_none() {
        return io::write_with(file, data, &options);
    }
    let Some(shape) = data.points.image() else {
        return Err(Error::Unsupported(format!(
            "{}: rows have no image shape; pass `--image HxW`",
            file.display()
        )));
    };
    let pixels = data.points.view().to_f64_within(exec.memory())?;
    let ends = |(low, high): Levels, v: &f64| (v.min(low), v.max(high));
    let (low, high) = levels.unwrap_or_else(|| pixels.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends));
    if !folder && data.len() > 1 && format == Some(Format::Png) {
        let images: Vec<Vec<f64>> = pixels.chunks(shape.len()).map(<[f64]>::to_vec).collect();
        let bytes = sheet(&images, shape, ACROSS, Ink::Levels(low, high));
        return write_atomic(file, |out| out.write_all(&bytes).map_err(|e| Error::io(file, e)));
    }
    let scale = if high > low { 255.0 / (high - low) } else { 1.0 };
    let pixels = pixels.iter().map(|v| scale * (v - low)).collect();
    let out = like(data, Points::dense(pixels, shape.len())?.with_image(shape)?)?;
    if folder { io::write_images(file, &out) } else { io::write_with(file, &out, &options) }
}
