//! Readers and writers for the files people have.
//!
//! [`read`] tells format and compression by content, streams the file, and gives a [`Dataset`] or a message that names
//! the file, the line or row, the value and what was expected. [`FORMATS`] is the one table of formats: help texts and
//! the writers read it. [`write()`] goes by the file's extension and never leaves half a file behind.
//!
//! No file gets more memory than its bytes justify: sizes that a header declares are checked against the bytes that are
//! there, unpacked data are counted against [`ReadOptions::max_bytes`], and wide sparse rows stay sparse.
//!
//! ```
//! use mercer::data::io::{ReadOptions, read_bytes};
//! let data = read_bytes("two.svm", b"+1 1:0.5 3:2\n-1 2:1\n", &ReadOptions::default())?;
//! assert_eq!((data.len(), data.dim()), (2, 3));
//! assert_eq!(data.targets.classes()?.names, ["-1", "1"]);
//!
//! let wrong = read_bytes("two.svm", b"+1 0:0.5\n", &ReadOptions::default()).unwrap_err();
//! assert_eq!(
//!     wrong.to_string(),
//!     "two.svm, line 1: got index 0 in `0:0.5`, expected an index from 1 to 2147483647 \
//!      (scikit-learn's dump_svmlight_file counts from 1 with zero_based=False)"
//! );
//! # Ok::<(), mercer::Error>(())
//! ```

mod amount;
mod array;
#[cfg(feature = "parquet")]
mod arrow;
mod atomic;
#[cfg(feature = "parquet")]
mod claims;
#[cfg(test)]
mod contract;
mod dialect;
mod encoding;
mod foreign;
mod formats;
mod formula;
mod header;
mod held;
mod idx;
mod images;
mod json_document;
mod json_lines;
mod label_column;
mod labels;
mod libsvm;
mod limits;
mod npy;
mod npz;
mod options;
mod outside;
#[cfg(feature = "pictures")]
mod photo;
mod picture;
mod place;
mod records;
mod sequences;
mod sniff;
mod source;
mod splits;
mod strays;
mod table;
mod table_rows;
mod table_write;
mod text;
mod together;
#[cfg(feature = "xlsx")]
mod xlsx;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub use atomic::write_atomic;
pub use encoding::Encoding;
pub use foreign::in_decoder;
pub use formats::{FORMATS, Format, FormatInfo};
pub use formula::spreadsheet_safe;
pub use images::write_images;
pub use labels::TargetKind;
pub use options::{LabelColumn, Missing, ReadOptions, Storage, WriteOptions};
pub use outside::{Outside, Source};
pub(crate) use outside::{beginning, drawn, each_block, gathered, is_beyond};
pub use picture::is_picture;
pub use place::{check_writable, check_writable_folder, lies_in, same_place};
pub(crate) use source::read_whole;
pub use source::{Compression, read_stream};
pub use splits::{read_splits, read_splits_bytes};

use self::labels::Collector;
use self::limits::Budget;
use self::source::Input;
use self::text::Lines;
use self::together::{Part, torn, write_together};
use super::{Csr, Data, Dataset, Points, Targets, View};
use crate::error::{Error, Fault, Result};
use crate::exec::half_of_ram;
use crate::watch::{Note, NoteKind};

/// Reads a data file, or a folder of pictures.
///
/// Labels in a file of their own are found next to it: see [`ReadOptions::labels`].
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset> {
    let path = path.as_ref();
    if path.is_dir() {
        let mut data = picture::read_folder(path, options)?;
        if let Some(labels) = &options.labels {
            attach_labels(&mut data, &path.display().to_string(), labels, options)?;
        }
        return Ok(data);
    }
    let mut input = Input::open(path, Budget::of(options))?;
    let mut data = read_input(&mut input, options)?;
    let torn = torn(path);
    let is_array = idx::begins(&input.head) || npy::begins(&input.head);
    if options.labels.is_none()
        && is_array
        && data.targets == Targets::None
        && let Some(labels) = own_labels(path, options)?
    {
        attach_labels(&mut data, &input.name, &labels, options)?;
        data.note(format!("labels from {}", labels.display()));
    }
    // Labels that were asked for and do not belong were an error above. Where nothing is read of them, whoever wrote the
    // two still learns of it, for these rows may be the half that is old. Labels given by name are taken as they are.
    let labels = labels_beside(path).filter(|_| options.labels.is_some());
    for other in torn.iter().map(|t| &t.other).filter(|other| !labels.iter().any(|l| same_place(l, other))) {
        let text = format!(
            "not from the same run as {}, with which it was written: one of the two has been replaced, and rows may be \
             in both",
            other.display()
        );
        data.note(Note { kind: NoteKind::OtherRun, text });
    }
    Ok(data)
}

/// The labels file next to a file of points, if targets are requested.
fn own_labels(path: &Path, options: &ReadOptions) -> Result<Option<PathBuf>> {
    let wanted = options.targets != TargetKind::None && options.label != LabelColumn::None;
    let Some(labels) = labels_beside(path).filter(|_| wanted) else { return Ok(None) };
    if torn(path).iter().any(|t| same_place(&t.other, &labels)) {
        return Err(source::fault(
            &labels.display().to_string(),
            Some(&format!("labels that were not written with {}", path.display())),
            "both from the same run: one of them has been replaced since (a write that was killed, or another \
             program); write both again, or name the labels (`--labels`) to use them as they are",
        ));
    }
    Ok(Some(labels))
}

/// The labels of a file of points from another file: the given one, or the one next to it.
fn labels_of(path: &Path, options: &ReadOptions) -> Result<Option<(PathBuf, Targets)>> {
    let labels = match &options.labels {
        Some(labels) => Some(labels.clone()),
        None => own_labels(path, options)?,
    };
    let read = |labels: PathBuf| {
        let targets = labels_within(&labels, options.targets, options.memory)?;
        Ok((labels, targets))
    };
    labels.map(read).transpose()
}

/// Reads data from memory; `name` is used for the file in messages.
pub fn read_bytes(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    read_input(&mut Input::bytes(name, bytes, Budget::of(options))?, options)
}

/// Reads sequences that are texts already; `name` is used for the file in messages.
///
/// ```
/// use mercer::data::io::{ReadOptions, read_sequences};
/// let data = read_sequences("texts", &["ACGT", "acca"], &ReadOptions::default())?;
/// assert_eq!(data.len(), 2);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn read_sequences(name: &str, texts: &[&str], options: &ReadOptions) -> Result<Dataset> {
    sequences::of_texts(name, texts, options)
}

/// Reads data from a stream; `name` is used for the file in messages.
pub fn read_from(name: &str, stream: impl Read, options: &ReadOptions) -> Result<Dataset> {
    read_input(&mut Input::stream(name, stream, Budget::of(options))?, options)
}

fn read_input(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    if sniff::bytes_format(&input.head).is_none() {
        input.in_encoding(options.encoding)?;
    }
    let format = match options.format {
        Some(format) => format,
        None => sniff::format_of(input)?,
    };
    let mut data = (format.info().reader)(input, options)?;
    if let Some(d) = options.columns.filter(|&d| d != data.dim()) {
        return Err(input.fault(Some(&format!("{} columns", data.dim())), format!("{d} columns")));
    }
    data.points = stored(data.points, options.storage, input)?;
    if let Data::F32(_) | Data::F64(_) = data.points.view().data {
        // A compressed file of a few bytes may hold a row of a thousand million zeros.
        let bytes_each = if data.points.kind() == "dense f32" { 4 } else { 8 };
        input.budget.check_table(&input.name, data.len(), data.dim(), bytes_each)?;
    }
    let packed = input.compression.map(|c| format!(", {}", c.extension())).unwrap_or_default();
    // A file inside an archive says for itself what it is.
    if data.format.is_none() {
        data.notes.insert(0, format!("read as {format}{packed}").into());
        data.format = Some(format);
    }
    if input.guessed_encoding {
        let text =
            "the text is not UTF-8 and is read as Latin-1 (Windows-1252); --encoding names another encoding";
        data.note(Note::warning(text));
    }
    if let Some(labels) = &options.labels {
        attach_labels(&mut data, &input.name, labels, options)?;
    }
    Ok(data)
}

/// Reads a file with one label per row: lines of text, or a 1-dimensional NPY or IDX array.
pub fn read_labels(path: impl AsRef<Path>, kind: TargetKind) -> Result<Targets> {
    labels_within(path.as_ref(), kind, None)
}

/// The same with the memory that may be used.
fn labels_within(path: &Path, kind: TargetKind, memory: Option<u64>) -> Result<Targets> {
    let mut input = Input::open(path, Budget::new(None, memory))?;
    if idx::begins(&input.head) {
        return idx::read_array(&mut input)?.into_targets(&input.name, kind);
    }
    if npy::begins(&input.head) {
        return npy::read_array(&mut input)?.into_targets(&input.name, kind);
    }
    let mut collector = Collector::new(kind);
    let mut lines = Lines::new(&mut input);
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if !line.is_empty() {
            collector.push(line).map_err(|(got, expected)| lines.fault(Some(got), expected))?;
            lines.input.budget.check(&lines.input.name, Some(lines.number), collector.bytes(), 1)?;
        }
    }
    Ok(collector.finish())
}

/// Writes a data file in the format of its extension, compressed where that is `.gz`, `.bz2`, `.xz` or `.zst`.
///
/// The file is written whole or not at all. Numbers are written with the fewest digits that read back unchanged. An
/// NPY file contains points only: targets go to `x.labels.npy` next to `x.npy`.
pub fn write(path: impl AsRef<Path>, data: &Dataset) -> Result<()> {
    write_with(path, data, &WriteOptions::default())
}

/// Writes a data file as [`write()`] does, with a format or a memory budget of choice.
pub fn write_with(path: impl AsRef<Path>, data: &Dataset, options: &WriteOptions) -> Result<()> {
    write_together(parts(path.as_ref(), data, options)?)
}

/// The format that a file's name asks for.
fn format_for(path: &Path) -> Result<Format> {
    Format::of_path(path).ok_or_else(|| {
        let known: Vec<&str> =
            FORMATS.iter().filter(|row| row.writable()).map(|row| row.extensions[0]).collect();
        let allowed = format!("a name that ends in .{}", known.join(", ."));
        Error::param("file to write", path.display(), allowed)
    })
}

/// Writes a data file in a given format, compressed where the extension is `.gz`, `.bz2`, `.xz` or `.zst`.
pub fn write_as(path: impl AsRef<Path>, data: &Dataset, format: Format) -> Result<()> {
    write_with(path, data, &WriteOptions { format: Some(format), ..WriteOptions::default() })
}

/// Writes several data files that belong together, each as [`write()`] does: all are written whole before the first takes
/// its place, and [`read`] tells when a file is no longer the one that was written with another.
pub fn write_set(files: &[(&Path, &Dataset)], options: &WriteOptions) -> Result<()> {
    let mut all = Vec::new();
    for (path, data) in files {
        all.extend(parts(path, data, options)?);
    }
    write_together(all)
}

/// The files that a data set becomes: labels first, so that points without labels never stand alone.
fn parts<'a>(path: &'a Path, data: &'a Dataset, options: &WriteOptions) -> Result<Vec<Part<'a>>> {
    let (format, memory) = (options.format.map_or_else(|| format_for(path), Ok)?, options.memory);
    let name = path.display().to_string();
    let packing = Compression::of_path(path);
    let mut parts = Vec::new();
    if format == Format::Npy {
        let labels = npy_labels(path);
        if data.targets != Targets::None {
            let shown = labels.clone();
            parts.push(Part {
                path: labels,
                main: false,
                write: Box::new(move |out| {
                    let name = shown.display().to_string();
                    atomic::compressed(out, packing, &shown, |out| {
                        npy::write_targets(out, &data.targets, &name)
                    })
                }),
            });
        } else if labels.exists() {
            // It would be mistaken for the labels of the file about to be written.
            let allowed = format!("another name: {} holds other points' labels", labels.display());
            return Err(Error::param("file to write", name, allowed));
        }
    }
    parts.push(Part {
        path: path.to_owned(),
        main: true,
        write: Box::new(move |out| {
            atomic::compressed(out, packing, path, |out| write_within(out, &name, data, format, memory))
        }),
    });
    Ok(parts)
}

/// The files besides itself that reading or writing a data file touches: labels in a file of their own.
pub fn companions(path: impl AsRef<Path>) -> Vec<PathBuf> {
    let path = path.as_ref();
    if Format::of_path(path) == Some(Format::Npy) {
        vec![npy_labels(path)]
    } else {
        labels_beside(path).into_iter().collect()
    }
}

/// Where the labels of an NPY file are: `x.labels.npy` for `x.npy`, `x.labels.npy.gz` for `x.npy.gz`.
fn npy_labels(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let packing = Compression::of_path(path).map(|c| format!(".{}", c.extension())).unwrap_or_default();
    let bare = name.strip_suffix(&packing).unwrap_or(&name);
    let bare = bare.strip_suffix(".npy").unwrap_or(bare);
    path.with_file_name(format!("{bare}.labels.npy{packing}"))
}

/// Writes data to a stream; `name` is used for the file in messages. As NPY, the points only.
pub fn write_to(out: &mut dyn Write, name: &str, data: &Dataset, format: Format) -> Result<()> {
    write_within(out, name, data, format, None)
}

fn write_within(
    out: &mut dyn Write,
    name: &str,
    data: &Dataset,
    format: Format,
    memory: Option<u64>,
) -> Result<()> {
    #[cfg(not(feature = "parquet"))]
    if matches!(format, Format::Parquet | Format::Arrow) {
        return Err(source::absent(name, "Parquet and Arrow files", "parquet"));
    }
    let Some(writer) = format.info().writer else {
        let known: Vec<&str> = FORMATS.iter().filter(|row| row.writable()).map(|row| row.name).collect();
        return Err(Error::param("format to write", format, format!("one of {}", known.join(", "))));
    };
    check_finite(data, name)?;
    writer(out, data, name, memory.unwrap_or_else(|| half_of_ram() as u64))
}

/// No reader takes a file with numbers that are not finite, so none is written.
fn check_finite(data: &Dataset, name: &str) -> Result<()> {
    let fault = |row: usize, column: Option<usize>, got: f64, expected: &str| {
        let (source, row, column) =
            (Some(name.to_owned()), Some(row as u64 + 1), column.map(|at| (at + 1).to_string()));
        Fault {
            source,
            row,
            column,
            got: Some(got.to_string()),
            expected: expected.into(),
            ..Fault::default()
        }
    };
    if let Some((row, column)) = data.points.first_not_finite() {
        let got = data.points.row(row).to_f64()[column];
        return Err(fault(row, Some(column), got, "a finite number").into());
    }
    let reals = data.targets.reals().unwrap_or_default();
    match reals.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(fault(row, None, reals[row], "a finite number as target").into()),
        None => Ok(()),
    }
}

/// The place of a column given by number: from 1, or from -1 backwards.
fn column_number(source: &str, number: i64, d: usize) -> Result<usize> {
    let at = if number < 0 { number + d as i64 } else { number - 1 };
    usize::try_from(at).ok().filter(|&at| at < d && number != 0).ok_or_else(|| {
        let allowed = format!("1 to {d}, or -1 to -{d} from the end: {source} has {d} columns");
        Error::param("label column", number, allowed)
    })
}

/// The points in the storage asked for.
fn stored(points: Points, storage: Storage, input: &Input<'_>) -> Result<Points> {
    let view = points.view();
    let kept = match (storage, view.data) {
        (Storage::Auto, _)
        | (Storage::F32, Data::F32(_))
        | (Storage::F64, Data::F64(_))
        | (Storage::Sparse, Data::Csr { .. }) => return Ok(points),
        (_, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. }) => {
            return Err(Error::param("storage", format!("{storage:?}"), format!("auto for {}", view.kind())));
        }
        (Storage::Sparse, _) => Points::sparse(to_sparse(view), view.d)?,
        (Storage::F64, _) => {
            input.budget.check_table(&input.name, view.n, view.d, 8)?;
            Points::dense(view.to_f64_within(input.budget.bytes())?, view.d)?
        }
        (Storage::F32, _) => {
            input.budget.check_table(&input.name, view.n, view.d, 8)?;
            let values = match view.data {
                Data::F64(x) => x.iter().map(|&v| v as f32).collect(),
                _ => view.to_f64_within(input.budget.bytes())?.into_iter().map(|v| v as f32).collect(),
            };
            let narrowed = Points::dense_f32(values, view.d)?;
            if let Some((row, column)) = narrowed.first_not_finite() {
                return Err(Fault {
                    source: Some(input.name.clone()),
                    row: Some(row as u64 + 1),
                    column: Some((column + 1).to_string()),
                    got: Some(format!("{:e}", view.row(row).to_f64()[column])),
                    expected: "a number that f32 can hold (storage = f32)".into(),
                    ..Fault::default()
                }
                .into());
            }
            narrowed
        }
    };
    match points.image() {
        Some(image) => kept.with_image(image),
        None => Ok(kept),
    }
}

fn to_sparse(view: View<'_>) -> Csr {
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for i in 0..view.n {
        for (j, value) in view.row(i).to_f64().into_iter().enumerate().filter(|(_, v)| *v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(value);
        }
        csr.start.push(csr.column.len());
    }
    csr
}

fn attach_labels(data: &mut Dataset, source: &str, labels: &Path, options: &ReadOptions) -> Result<()> {
    let targets = labels_within(labels, options.targets, options.memory)?;
    if let Some(n) = targets.len().filter(|&n| n != data.len()) {
        return Err(source::fault(
            &labels.display().to_string(),
            Some(&format!("{n} labels")),
            format!("{}, one for each row of {source}", data.len()),
        ));
    }
    data.targets = targets;
    data.target_name = None;
    data.target_from = None;
    Ok(())
}

/// The labels file that belongs to a file by its name: `train-labels-idx1-ubyte` for `train-images-idx3-ubyte`,
/// `x.labels.npy` for `x.npy`.
fn labels_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    if Format::of_path(path) == Some(Format::Npy) {
        return Some(npy_labels(path)).filter(|p| p.is_file());
    }
    if !name.contains("images") {
        return None;
    }
    let name = name.replace("images", "labels").replace("idx3", "idx1");
    let bare = Compression::ALL.iter().find_map(|c| name.strip_suffix(&format!(".{}", c.extension())));
    let mut names = vec![name.clone(), bare.unwrap_or(&name).to_owned()];
    names.extend(Compression::ALL.map(|c| format!("{}.{}", bare.unwrap_or(&name), c.extension())));
    names.into_iter().map(|n| path.with_file_name(n)).find(|p| p.is_file())
}
