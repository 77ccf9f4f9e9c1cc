//! NPY and IDX files read in blocks, where they are.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::array::{Layout, block};
use super::super::labels::Collector;
use super::super::limits::Budget;
use super::super::source::{Input, fault};
use super::super::{
    Format, LabelColumn, ReadOptions, Storage, TargetKind, column_number, idx, labels_of, npy,
};
use super::{Source, drawn, gathered, kind_of, numbered, sample};
use crate::data::{Dataset, ImageShape, Labels, Points, Targets};
use crate::error::{Error, Fault, Result};
use crate::exec::{Exec, room};
use crate::watch::Note;

/// Classes whose first row is surely in a sample.
const CLASSES: usize = 1000;
/// Number of values scanned at a time for a label column.
const PIECE: usize = 1 << 20;

/// An array in a file, rows first.
pub(super) struct ArrayFile {
    path: PathBuf,
    name: String,
    file: Mutex<File>,
    layout: Layout,
    /// Bytes before the values.
    header: u64,
    rows: usize,
    /// Values of a row, the label included.
    wide: usize,
    /// The column that is the label.
    label: Option<usize>,
    image: Option<ImageShape>,
    /// A number for each row, or none at all.
    targets: Arc<(Vec<f64>, Vec<String>)>,
    kind: TargetKind,
    notes: Vec<Note>,
    format: Format,
}

impl ArrayFile {
    /// The file and the bytes its rows would take in memory, where these are more than so many; nothing for files that are
    /// packed, not rows first, or to be stored in another way than they are.
    pub(super) fn open(
        path: &Path,
        format: Format,
        options: &ReadOptions,
        most: u64,
    ) -> Result<Option<(Self, u64)>> {
        let mut input = Input::open(path, Budget::of(options))?;
        if input.compression.is_some() || options.storage != Storage::Auto {
            return Ok(None);
        }
        let (layout, header) =
            if format == Format::Npy { npy::read_header(&mut input)? } else { idx::read_header(&mut input)? };
        let name = input.name.clone();
        drop(input);
        let (rows, wide, image) = match layout.shape[..] {
            [n, d] => (n, d, None),
            [n, height, width] => (n, height.saturating_mul(width), Some(ImageShape::grey(height, width))),
            [n, height, width, channels] => {
                let shape = ImageShape { height, width, channels };
                (n, shape.len(), Some(shape))
            }
            // Other arrays are handled by the reader of whole files.
            _ => return Ok(None),
        };
        let bytes = rows as u128 * wide as u128 * if layout.element.fits_f32() { 4 } else { 8 };
        if layout.fortran || layout.element.is_text() || rows == 0 || wide == 0 || bytes <= u128::from(most) {
            return Ok(None);
        }
        let label = match options.label {
            LabelColumn::Number(number) if layout.shape.len() == 2 && wide > 1 => {
                Some(column_number(&name, number, wide)?)
            }
            LabelColumn::Auto | LabelColumn::None => None,
            _ => return Ok(None),
        };
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let there = file.metadata().map_err(|e| Error::io(path, e))?.len();
        let needed = rows as u128 * wide as u128 * layout.element.size() as u128 + u128::from(header);
        if u128::from(there) != needed {
            let expected = format!("{needed} bytes for {rows} rows of {wide} values");
            return Err(fault(&name, Some(&format!("{there} bytes")), expected));
        }
        let mut found = ArrayFile {
            path: path.to_owned(),
            name,
            file: Mutex::new(file),
            layout,
            header,
            rows,
            wide,
            label,
            image,
            targets: Arc::default(),
            kind: TargetKind::None,
            notes: vec![format!("read as {format}, in blocks").into()],
            format,
        };
        found.find_targets(path, options)?;
        Ok(Some((found, u64::try_from(bytes).unwrap_or(u64::MAX))))
    }

    /// The same file, opened again.
    pub(super) fn again(&self) -> Result<Self> {
        let file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
        Ok(ArrayFile {
            path: self.path.clone(),
            name: self.name.clone(),
            file: Mutex::new(file),
            layout: self.layout.clone(),
            targets: Arc::clone(&self.targets),
            notes: self.notes.clone(),
            ..*self
        })
    }

    /// Targets: the label column, or a file of their own.
    fn find_targets(&mut self, path: &Path, options: &ReadOptions) -> Result<()> {
        let targets = if let Some(at) = self.label {
            let memory = options.memory.unwrap_or_else(|| crate::exec::half_of_ram() as u64);
            room(&format!("the labels of {} rows", self.rows), self.rows as u128 * 12, 0, memory)?;
            let mut collector = Collector::new(options.targets);
            let high = (PIECE / self.wide).max(1);
            for first in (0..self.rows).step_by(high) {
                let some = self.values(first..self.rows.min(first + high))?;
                for i in 0..some.len() {
                    let value = some.row(i).to_f64()[at];
                    collector.push_number(value).map_err(|(got, expected)| {
                        let (row, source) = (Some((first + i) as u64 + 1), Some(self.name.clone()));
                        Error::from(Fault { source, row, got: Some(got), expected, ..Fault::default() })
                    })?;
                }
            }
            collector.finish()
        } else {
            match labels_of(path, options)? {
                Some((labels, targets)) => {
                    if let Some(n) = targets.len().filter(|&n| n != self.rows) {
                        let expected = format!("{} labels, one for each row of {}", self.rows, self.name);
                        return Err(fault(
                            &labels.display().to_string(),
                            Some(&format!("{n} labels")),
                            expected,
                        ));
                    }
                    self.notes.push(format!("labels from {}", labels.display()).into());
                    targets
                }
                None => Targets::None,
            }
        };
        self.kind = kind_of(&targets);
        self.targets = Arc::new(numbered(&targets));
        Ok(())
    }

    /// Rows with their label column.
    fn values(&self, rows: Range<usize>) -> Result<Points> {
        let each = self.wide as u64 * self.layout.element.size() as u64;
        let mut bytes = vec![0; usize::try_from(rows.len() as u64 * each).unwrap_or(usize::MAX)];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(self.header + rows.start as u64 * each))
                .and_then(|_| file.read_exact(&mut bytes))
                .map_err(|e| {
                    if e.kind() == std::io::ErrorKind::UnexpectedEof {
                        let got = format!("the end of the file before row {}", rows.end);
                        return fault(&self.name, Some(&got), format!("{} rows", self.rows));
                    }
                    Error::io(&self.path, e)
                })?;
        }
        let points = block(&bytes, &self.layout, self.wide)?;
        if let Some((row, column)) = points.first_not_finite() {
            return Err(Fault {
                source: Some(self.name.clone()),
                row: Some((rows.start + row) as u64 + 1),
                column: Some((column + 1).to_string()),
                got: Some("NaN or infinity".into()),
                expected: "a finite number".into(),
                ..Fault::default()
            }
            .into());
        }
        Ok(points)
    }

    /// Rows drawn from all, in their order, with the first row of every class.
    pub(super) fn sample(&self, exec: Exec, seed: u64) -> Result<Dataset> {
        let many = sample::size(self.wide * 8, exec.budget());
        let mut rows = drawn(self.rows, many, seed);
        let (y, names) = &*self.targets;
        let mut there = vec![false; names.len().min(CLASSES)];
        if !there.is_empty() {
            for (i, class) in y.iter().enumerate() {
                if there.get(*class as usize) == Some(&false) {
                    there[*class as usize] = true;
                    rows.push(i);
                }
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let (points, y) = gathered(self, &rows)?;
        self.dataset(points, y)
    }

    /// Calls with all rows, block by block.
    pub(super) fn each_block(&self, exec: Exec, call: &mut dyn FnMut(Dataset) -> Result<()>) -> Result<()> {
        let high = (exec.budget() / 16 / (self.wide * 16)).clamp(1, 1 << 16);
        for first in (0..self.rows).step_by(high) {
            let (points, y) = self.read(first..self.rows.min(first + high))?;
            call(self.dataset(points, y)?)?;
        }
        Ok(())
    }

    fn dataset(&self, points: Points, y: Vec<f64>) -> Result<Dataset> {
        let names = &self.targets.1;
        let targets = match self.kind {
            TargetKind::Classes => Targets::Classes(Labels {
                names: names.clone(),
                of_row: y.iter().map(|c| *c as u32).collect(),
            }),
            TargetKind::Reals => Targets::Reals(y),
            TargetKind::Auto | TargetKind::None => Targets::None,
        };
        let mut data = Dataset::new(points, targets)?;
        data.notes.clone_from(&self.notes);
        data.format = Some(self.format);
        Ok(data)
    }
}

impl Source for ArrayFile {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.wide - usize::from(self.label.is_some())
    }

    fn classes(&self) -> &[String] {
        &self.targets.1
    }

    fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
        let points = self.values(rows.clone())?;
        let targets = self.targets.0.get(rows).map(<[f64]>::to_vec).unwrap_or_default();
        let points = match (self.label, self.image) {
            (Some(at), _) => {
                let mut values = points.view().to_f64()?;
                let mut column = 0;
                values.retain(|_| {
                    column = if column == self.wide { 1 } else { column + 1 };
                    column - 1 != at
                });
                Points::dense(values, self.wide - 1)?
            }
            (None, Some(image)) => points.with_image(image)?,
            (None, None) => points,
        };
        Ok((points, targets))
    }
}
