//! NPZ: a zip archive of NPY arrays; a zip archive of one data file in any other format is that file.
//!
//! Points and labels are recognised by their names, in this order: `X` and `y`, `data` and `target`, `x_train` and
//! `y_train`, `images` and `labels`, and the like; else the points are the first array of two or more dimensions and
//! the labels the first of one dimension and as many rows. [`ReadOptions::array`] and [`ReadOptions::label`] name
//! others; with `array = "x_test"` the labels are `y_test`.

use std::fs::File;
use std::io::{Cursor, Read, Seek};

use super::array::{Array, Stream};
use super::npy;
use super::source::{Input, Origin, fault};
use super::{Format, LabelColumn, ReadOptions, TargetKind};
use crate::data::Dataset;
use crate::error::{Error, Result};

/// Names of arrays that hold points, and of those that hold their labels, best first; case does not count.
const PAIRS: [(&str, &str); 12] = [
    ("x", "y"),
    ("x", "label"),
    ("x", "labels"),
    ("data", "target"),
    ("data", "label"),
    ("data", "labels"),
    ("x_train", "y_train"),
    ("train_x", "train_y"),
    ("train_images", "train_labels"),
    ("images", "labels"),
    ("features", "labels"),
    ("features", "target"),
];

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    // An archive's table of contents is at its end. Packed once more, it must be unpacked to memory first.
    let mut held = Vec::new();
    let file: Box<dyn ReadSeek + '_> = match (&input.origin, input.compression) {
        (Origin::File(path), None) => Box::new(File::open(path).map_err(|e| Error::io(path, e))?),
        (Origin::Bytes(bytes), None) => Box::new(Cursor::new(*bytes)),
        _ => {
            let most = input.budget.bytes();
            let mut limited = (&mut input.reader).take(most.saturating_add(1));
            if let Err(e) = limited.read_to_end(&mut held) {
                return Err(input.failed(e));
            }
            input.budget.check(&input.name, None, held.len(), 1)?;
            Box::new(Cursor::new(held.as_slice()))
        }
    };
    let archive = zip::ZipArchive::new(file).map_err(|e| damaged(&input.name, &e))?;
    Archive { archive, input }.read(options)
}

fn damaged(name: &str, error: &zip::result::ZipError) -> Error {
    fault(name, Some(&format!("a damaged archive ({error})")), "a zip archive of NPY arrays")
}

struct Archive<'f, 'i, 'a> {
    archive: zip::ZipArchive<Box<dyn ReadSeek + 'f>>,
    input: &'i Input<'a>,
}

impl Archive<'_, '_, '_> {
    fn read(mut self, options: &ReadOptions) -> Result<Dataset> {
        let names: Vec<String> = self
            .archive
            .file_names()
            .filter_map(|n| n.ok()?.strip_suffix(".npy").map(str::to_owned))
            .collect();
        if names.is_empty() {
            return self.only_file(options);
        }
        let (x, array) = self.points(&names, options)?;
        let source = format!("{}, array {x}", self.input.name);
        let rows = array.shape.first().copied().unwrap_or(0);
        let mut data = array.into_dataset(&source, Format::Npz, options)?;
        data.note(format!("points from the array {x}"));
        let wanted = options.targets != TargetKind::None && options.labels.is_none();
        if data.targets.is_empty()
            && wanted
            && let Some((y, array)) = self.labels(&names, &x, rows, options)?
        {
            let source = format!("{}, array {y}", self.input.name);
            let n = array.shape.first().copied().unwrap_or(0);
            if n != rows {
                let expected = format!("{rows}, one for each row of {x}");
                return Err(fault(&source, Some(&format!("{n} labels")), expected));
            }
            data.targets = array.into_targets(&source, options.targets)?;
            data.note(format!("labels from the array {y}"));
        }
        Ok(data)
    }

    /// The data in the one file of an archive that holds no arrays, as downloads often are.
    fn only_file(&mut self, options: &ReadOptions) -> Result<Dataset> {
        let made_by_systems = |name: &str| name.starts_with("__MACOSX/") || name.ends_with(".DS_Store");
        let files: Vec<String> =
            self.archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
        let files: Vec<&String> =
            files.iter().filter(|name| !name.ends_with('/') && !made_by_systems(name)).collect();
        let expected = "NPY arrays, such as X and y, or one data file";
        let &[file] = files.as_slice() else {
            let list: Vec<&str> = files.iter().take(5).map(|name| name.as_str()).collect();
            let got = match files.len() {
                0 => "an empty archive".to_owned(),
                count => format!("an archive of {count} files ({}): unpack it and name one", list.join(", ")),
            };
            return Err(self.input.fault(Some(&got), expected));
        };
        let source = format!("{}, file {file}", self.input.name);
        let mut bytes = Vec::new();
        let budget = self.input.budget;
        let entry = self.archive.by_name(file).map_err(|e| damaged(&source, &e))?;
        let read = entry.take(budget.bytes().saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|e| fault(&source, Some(&format!("a damaged archive ({e})")), "a whole archive"))?;
        budget.check(&source, None, bytes.len(), 1)?;
        let mut inside = Input::bytes(&source, &bytes, budget)?;
        if super::sniff::bytes_format(&inside.head) == Some(Format::Npz) {
            return Err(fault(&source, Some("an archive inside an archive"), expected));
        }
        super::read_input(&mut inside, &ReadOptions { format: None, ..options.clone() })
    }

    /// The array that holds the points.
    fn points(&mut self, names: &[String], options: &ReadOptions) -> Result<(String, Array)> {
        if let Some(wish) = &options.array {
            let name = self.named(names, wish, "array")?;
            let array = self.array(&name)?;
            return Ok((name, array));
        }
        for (x, _) in PAIRS {
            if let Some(name) = names.iter().find(|n| n.eq_ignore_ascii_case(x)) {
                return Ok((name.clone(), self.array(name)?));
            }
        }
        for name in names {
            // Arrays that cannot be read are not points; if none can, the last word stands.
            match self.array(name) {
                Ok(array) if array.shape.len() >= 2 && array.is_numbers() => {
                    return Ok((name.clone(), array));
                }
                Err(e) if names.len() == 1 => return Err(e),
                _ => {}
            }
        }
        let name = names[0].clone();
        let array = self.array(&name)?;
        Ok((name, array))
    }

    /// The array that holds the labels, if there is one.
    fn labels(
        &mut self,
        names: &[String],
        x: &str,
        rows: usize,
        options: &ReadOptions,
    ) -> Result<Option<(String, Array)>> {
        let found = match &options.label {
            LabelColumn::None | LabelColumn::Number(_) => return Ok(None),
            LabelColumn::Name(wish) => Some(self.named(names, wish, "label")?),
            LabelColumn::Auto => {
                let same = |name: &str, wish: &str| name.eq_ignore_ascii_case(wish);
                let by_pair = PAIRS
                    .iter()
                    .filter(|(points, _)| same(x, points))
                    .find_map(|(_, y)| names.iter().find(|n| same(n, y)));
                by_pair.or_else(|| names.iter().find(|n| partner(x).is_some_and(|y| same(n, &y)))).cloned()
            }
        };
        if let Some(name) = found {
            let array = self.array(&name)?;
            return Ok(Some((name, array)));
        }
        for name in names.iter().filter(|n| *n != x) {
            if let Ok(array) = self.array(name)
                && array.shape == [rows]
            {
                return Ok(Some((name.clone(), array)));
            }
        }
        Ok(None)
    }

    fn named(&self, names: &[String], wish: &str, what: &str) -> Result<String> {
        let exact = names.iter().find(|n| *n == wish);
        exact.or_else(|| names.iter().find(|n| n.eq_ignore_ascii_case(wish))).cloned().ok_or_else(|| {
            let allowed = format!("one of the arrays of {}: {}", self.input.name, names.join(", "));
            Error::param(what, wish, allowed)
        })
    }

    fn array(&mut self, name: &str) -> Result<Array> {
        let source = format!("{}, array {name}", self.input.name);
        let mut entry =
            self.archive.by_name(&format!("{name}.npy")).map_err(|e| damaged(&self.input.name, &e))?;
        let failed =
            |e: std::io::Error| fault(&source, Some(&format!("damaged data ({e})")), "a whole array");
        let stream = Stream {
            reader: &mut entry,
            name: &source,
            // The archive's size of an array is not trusted.
            available: None,
            budget: self.input.budget,
            failed: &failed,
        };
        npy::read_stream(stream)
    }
}

/// `y_test` for `x_test`, `test_labels` for `test_images`.
fn partner(x: &str) -> Option<String> {
    let x = x.to_ascii_lowercase();
    let swaps =
        [("x_", "y_"), ("_x", "_y"), ("images", "labels"), ("data", "target"), ("features", "labels")];
    swaps.iter().find(|(from, _)| x.contains(from)).map(|(from, to)| x.replace(from, to))
}
