//! Arrays of numbers in binary files: shared by IDX and NPY after reading their headers.
//!
//! The header's size is not trusted: values are read in pieces, and memory beyond the first megabytes is allocated
//! only for bytes that exist.

use std::io::{self, Read};

use super::labels::{Collector, TargetKind};
use super::limits::Budget;
use super::source::{Input, fault, read_failed};
use super::{Format, LabelColumn, ReadOptions};
use crate::data::{Dataset, ImageShape, Points, Targets};
use crate::error::{Error, Fault, Result};

/// What one value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    /// Text of this many bytes, filled up with zeros.
    Bytes(usize),
    /// Text of this many UTF-32 letters, filled up with zeros.
    Utf32(usize),
}

impl Element {
    /// Bytes of a value.
    pub(super) fn size(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
            Element::U64 | Element::I64 | Element::F64 => 8,
            Element::Bytes(width) => width,
            Element::Utf32(width) => width.saturating_mul(4),
        }
    }

    /// Whether values are text.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Element::Bytes(_) | Element::Utf32(_))
    }

    /// Whether every value is exact in f32.
    pub(super) fn fits_f32(self) -> bool {
        matches!(self, Element::U8 | Element::I8 | Element::U16 | Element::I16 | Element::F32)
    }
}

/// What a header declares.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) element: Element,
    pub(super) big_endian: bool,
    /// Columns one after the other instead of rows.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

impl Layout {
    fn describe(&self) -> String {
        format!("an array of shape {:?} and {} bytes per value", self.shape, self.element.size())
    }
}

#[derive(Debug)]
enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Text(Vec<String>),
}

/// An array in memory, last index fastest.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    values: Values,
}

/// Bytes of an array still to be read.
pub(super) struct Stream<'s> {
    pub(super) reader: &'s mut dyn Read,
    /// The file's name, and the array's in an archive.
    pub(super) name: &'s str,
    /// How many bytes there are, where that is known.
    pub(super) available: Option<u64>,
    pub(super) budget: Budget,
    pub(super) failed: &'s dyn Fn(io::Error) -> Error,
}

/// The array after a header of `header` bytes.
pub(super) fn read(input: &mut Input<'_>, layout: Layout, header: u64) -> Result<Array> {
    let (name, compression) = (&input.name, input.compression);
    Stream {
        reader: &mut input.reader,
        name,
        available: input.len.map(|len| len.saturating_sub(header)),
        budget: input.budget,
        failed: &|e| read_failed(name, compression, e),
    }
    .read(layout)
}

impl Stream<'_> {
    /// Fills the buffer; false where the source ends before.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<bool> {
        let got = fill(self.reader, buffer).map_err(self.failed)?;
        Ok(got == buffer.len())
    }

    /// The array that follows its header.
    pub(super) fn read(mut self, layout: Layout) -> Result<Array> {
        let count = layout.shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        let bytes = count.and_then(|n| n.checked_mul(layout.element.size()));
        let (Some(count), Some(bytes)) = (count, bytes) else {
            return Err(fault(self.name, Some(&layout.describe()), "an array that fits in memory"));
        };
        if let Some(available) = self.available.filter(|&a| a < bytes as u64) {
            let expected = format!("{bytes} bytes of values for {}", layout.describe());
            return Err(fault(self.name, Some(&format!("{available} bytes")), expected));
        }
        let values = match layout.element {
            Element::Bytes(_) | Element::Utf32(_) => Values::Text(self.read_text(&layout, count, bytes)?),
            e if e.fits_f32() => Values::F32(self.read_numbers(&layout, count, decode_f32)?),
            _ => Values::F64(self.read_numbers(&layout, count, decode_f64)?),
        };
        let values = match values {
            Values::F32(v) if layout.fortran => Values::F32(rows_first(&v, &layout.shape)),
            Values::F64(v) if layout.fortran => Values::F64(rows_first(&v, &layout.shape)),
            other => other,
        };
        Ok(Array { shape: layout.shape, values })
    }

    fn read_numbers<T: Copy>(
        &mut self,
        layout: &Layout,
        count: usize,
        decode: fn(&[u8], Element, bool, &mut Vec<T>),
    ) -> Result<Vec<T>> {
        let each = size_of::<T>() as u64;
        // Columns first are turned into rows in a second array.
        self.budget.check(self.name, None, count, if layout.fortran { 2 * each } else { each })?;
        let mut values = Vec::with_capacity(self.trusted(count));
        self.pieces(layout, count * layout.element.size(), |piece| {
            decode(piece, layout.element, layout.big_endian, &mut values);
            Ok(())
        })?;
        values.shrink_to_fit();
        Ok(values)
    }

    fn read_text(&mut self, layout: &Layout, count: usize, bytes: usize) -> Result<Vec<String>> {
        let size = layout.element.size();
        if size == 0 {
            return Err(fault(self.name, Some("text of no letters"), "labels"));
        }
        self.budget.check(self.name, None, count, 24 + size as u64)?;
        let mut texts = Vec::with_capacity(self.trusted(count));
        let mut rest = Vec::new();
        let (name, element, big_endian) = (self.name, layout.element, layout.big_endian);
        self.pieces(layout, bytes, |piece| {
            // Pieces need not end where a value ends.
            rest.extend_from_slice(piece);
            let whole = rest.len() / size * size;
            for text in rest[..whole].chunks_exact(size) {
                let text = decode_text(text, element, big_endian);
                texts.push(text.ok_or_else(|| fault(name, Some("text that is not Unicode"), "labels"))?);
            }
            rest.drain(..whole);
            Ok(())
        })?;
        Ok(texts)
    }

    /// Room to ask for at once: all where the bytes are there, else a beginning.
    fn trusted(&self, count: usize) -> usize {
        if self.available.is_some() { count } else { count.min(1 << 18) }
    }

    /// Hands on the bytes in pieces that end between values wherever a value is at most 8 bytes.
    fn pieces(
        &mut self,
        layout: &Layout,
        total: usize,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        const PIECE: usize = 64 * 1024;
        let mut buffer = vec![0; PIECE];
        let mut done = 0;
        while done < total {
            let piece = &mut buffer[..PIECE.min(total - done)];
            let got = fill(self.reader, piece).map_err(self.failed)?;
            if got < piece.len() {
                let expected = format!("{total} bytes of values for {}", layout.describe());
                return Err(fault(self.name, Some(&format!("the end after {} bytes", done + got)), expected));
            }
            take(piece)?;
            done += got;
        }
        Ok(())
    }
}

/// Rows of an array of numbers from their bytes.
pub(super) fn block(bytes: &[u8], layout: &Layout, d: usize) -> Result<Points> {
    if layout.element.fits_f32() {
        let mut values = Vec::with_capacity(bytes.len() / layout.element.size());
        decode_f32(bytes, layout.element, layout.big_endian, &mut values);
        return Points::dense_f32(values, d);
    }
    let mut values = Vec::with_capacity(bytes.len() / layout.element.size());
    decode_f64(bytes, layout.element, layout.big_endian, &mut values);
    Points::dense(values, d)
}

/// Reads until the buffer is full or the source ends.
fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < buffer.len() {
        match reader.read(&mut buffer[at..]) {
            Ok(0) => break,
            Ok(got) => at += got,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(at)
}

/// Values of `N` bytes in either byte order.
fn each<const N: usize>(bytes: &[u8], big_endian: bool, mut f: impl FnMut([u8; N])) {
    for chunk in bytes.as_chunks::<N>().0 {
        let mut value = *chunk;
        if big_endian {
            value.reverse();
        }
        f(value);
    }
}

fn decode_f32(bytes: &[u8], element: Element, big: bool, out: &mut Vec<f32>) {
    match element {
        Element::U8 => out.extend(bytes.iter().map(|&b| f32::from(b))),
        Element::I8 => out.extend(bytes.iter().map(|&b| f32::from(b as i8))),
        Element::U16 => each(bytes, big, |b| out.push(f32::from(u16::from_le_bytes(b)))),
        Element::I16 => each(bytes, big, |b| out.push(f32::from(i16::from_le_bytes(b)))),
        _ => each(bytes, big, |b| out.push(f32::from_le_bytes(b))),
    }
}

fn decode_f64(bytes: &[u8], element: Element, big: bool, out: &mut Vec<f64>) {
    match element {
        Element::U32 => each(bytes, big, |b| out.push(f64::from(u32::from_le_bytes(b)))),
        Element::I32 => each(bytes, big, |b| out.push(f64::from(i32::from_le_bytes(b)))),
        Element::U64 => each(bytes, big, |b| out.push(u64::from_le_bytes(b) as f64)),
        Element::I64 => each(bytes, big, |b| out.push(i64::from_le_bytes(b) as f64)),
        _ => each(bytes, big, |b| out.push(f64::from_le_bytes(b))),
    }
}

fn decode_text(bytes: &[u8], element: Element, big: bool) -> Option<String> {
    if let Element::Bytes(_) = element {
        let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |p| p + 1);
        return String::from_utf8(bytes[..end].to_vec()).ok();
    }
    let mut letters = Vec::new();
    each(bytes, big, |b| letters.push(u32::from_le_bytes(b)));
    let end = letters.iter().rposition(|&c| c != 0).map_or(0, |p| p + 1);
    letters[..end].iter().map(|&c| char::from_u32(c)).collect()
}

/// From first index fastest to last index fastest.
fn rows_first<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut out = Vec::with_capacity(values.len());
    let mut at = vec![0usize; shape.len()];
    for _ in 0..values.len() {
        let place = at.iter().zip(shape).rev().fold(0, |place, (&i, &size)| place * size + i);
        out.push(values[place]);
        for (i, &size) in at.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < size {
                break;
            }
            *i = 0;
        }
    }
    out
}

impl Array {
    /// Whether this can be a column of labels.
    pub(super) fn is_column(&self) -> bool {
        matches!(self.shape[..], [_] | [_, 1])
    }

    /// Whether this can be points.
    pub(super) fn is_numbers(&self) -> bool {
        !matches!(self.values, Values::Text(_))
    }

    /// The array as points, with the label column taken out where one is asked for.
    pub(super) fn into_dataset(self, name: &str, format: Format, options: &ReadOptions) -> Result<Dataset> {
        let Array { shape, values } = self;
        let (n, d) = match shape[..] {
            [n] => (n, 1),
            [n, ref rest @ ..] if rest.len() <= 3 => (n, rest.iter().product()),
            _ => {
                let got = format!("an array of {} dimensions", shape.len());
                return Err(fault(name, Some(&got), "1 to 4 dimensions: rows first"));
            }
        };
        if n == 0 || d == 0 {
            let got = format!("an array of shape {shape:?}");
            return Err(fault(name, Some(&got), "at least one row and one column"));
        }
        let points = match values {
            Values::F32(v) => Points::dense_f32(v, d)?,
            Values::F64(v) => Points::dense(v, d)?,
            Values::Text(_) => return Err(fault(name, Some("text"), "numbers")),
        };
        if let Some((row, column)) = points.first_not_finite() {
            return Err(Fault {
                source: Some(name.to_owned()),
                row: Some(row as u64 + 1),
                column: Some((column + 1).to_string()),
                got: Some("NaN or infinity".into()),
                expected: "a finite number".into(),
                ..Fault::default()
            }
            .into());
        }
        let points = match shape[..] {
            [_, height, width] => points.with_image(ImageShape::grey(height, width))?,
            [_, height, width, channels] => points.with_image(ImageShape { height, width, channels })?,
            _ => points,
        };
        match &options.label {
            LabelColumn::Number(number) if shape.len() == 2 => {
                let at = super::column_number(name, *number, d)?;
                take_column(&points, at, options.targets)
            }
            LabelColumn::Name(wish) if format != Format::Npz => {
                let allowed =
                    format!("a number from 1 to {d}, from -1 backwards, or none: columns have no names here");
                Err(Error::param("label column", wish, allowed))
            }
            _ => Dataset::new(points, Targets::None),
        }
    }

    /// The array as a column of targets.
    pub(super) fn into_targets(self, name: &str, kind: TargetKind) -> Result<Targets> {
        if !self.is_column() {
            let got = format!("labels of shape {:?}", self.shape);
            return Err(fault(name, Some(&got), "one label per row"));
        }
        let mut collector = Collector::new(kind);
        let mut push = |row: usize, label: Label<'_>| {
            let pushed = match label {
                Label::Number(v) => collector.push_number(v),
                Label::Text(t) => collector.push(t.as_bytes()),
            };
            pushed.map_err(|(got, expected)| {
                let (row, source) = (Some(row as u64 + 1), Some(name.to_owned()));
                Error::from(Fault { source, row, got: Some(got), expected, ..Fault::default() })
            })
        };
        match &self.values {
            Values::F32(v) => {
                v.iter().enumerate().try_for_each(|(i, &y)| push(i, Label::Number(y.into())))?;
            }
            Values::F64(v) => v.iter().enumerate().try_for_each(|(i, &y)| push(i, Label::Number(y)))?,
            Values::Text(v) => v.iter().enumerate().try_for_each(|(i, y)| push(i, Label::Text(y)))?,
        }
        Ok(collector.finish())
    }
}

enum Label<'a> {
    Number(f64),
    Text(&'a str),
}

/// Splits one column off as the target.
fn take_column(points: &Points, at: usize, kind: TargetKind) -> Result<Dataset> {
    let d = points.dim();
    if d == 1 {
        return Err(Error::shape("columns other than the label", 0, "at least 1"));
    }
    let mut collector = Collector::new(kind);
    let values = points.view().to_f64()?;
    for row in values.chunks_exact(d) {
        // The values were found finite before.
        collector.push_number(row[at]).map_err(|(got, expected)| Error::shape("label", got, expected))?;
    }
    let mut column = 0;
    let mut values = values;
    values.retain(|_| {
        column = if column == d { 1 } else { column + 1 };
        column - 1 != at
    });
    Dataset::new(Points::dense(values, d - 1)?, collector.finish())
}
