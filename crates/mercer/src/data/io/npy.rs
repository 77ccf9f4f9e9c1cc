//! NPY: one NumPy array. A magic, a version, a header that is a Python dictionary, the values.
//!
//! Booleans, integers of 8 to 64 bits and floats of 32 and 64 bits, in either byte order, rows or columns first. Types
//! that are exact in f32 are kept in f32. Text arrays can be labels.

use std::io::Write;

use super::array::{self, Element, Layout, Stream};
use super::source::{Input, fault, read_failed};
use super::{Format, ReadOptions};
use crate::data::{Data, Dataset, Targets};
use crate::error::{Error, Result};
use crate::exec::room_for_table;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Headers of arrays take some hundred bytes; NumPy itself refuses more than 10 000 by default.
const LONGEST_HEADER: u32 = 64 * 1024;

/// Whether the bytes begin an NPY file.
pub(super) fn begins(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let array = read_array(input)?;
    array.into_dataset(&input.name, Format::Npy, options)
}

/// The array that the source holds.
pub(super) fn read_array(input: &mut Input<'_>) -> Result<array::Array> {
    let (name, compression) = (&input.name, input.compression);
    let stream = Stream {
        reader: &mut input.reader,
        name,
        available: input.len,
        budget: input.budget,
        failed: &|e| read_failed(name, compression, e),
    };
    let array = read_stream(stream)?;
    input.expect_end("the values its shape declares")?;
    Ok(array)
}

/// The source's header, and its size in bytes.
pub(super) fn read_header(input: &mut Input<'_>) -> Result<(Layout, u64)> {
    let (name, compression) = (&input.name, input.compression);
    header_of_stream(&mut Stream {
        reader: &mut input.reader,
        name,
        available: input.len,
        budget: input.budget,
        failed: &|e| read_failed(name, compression, e),
    })
}

/// The array that a stream holds, header and values.
pub(super) fn read_stream(mut stream: Stream<'_>) -> Result<array::Array> {
    let (layout, read) = header_of_stream(&mut stream)?;
    stream.available = stream.available.map(|all| all.saturating_sub(read));
    stream.read(layout)
}

fn header_of_stream(stream: &mut Stream<'_>) -> Result<(Layout, u64)> {
    let name = stream.name;
    let short = || fault(name, Some("the end of the file"), "the header of an NPY array");
    let mut begin = [0; 8];
    if !stream.fill(&mut begin)? {
        return Err(short());
    }
    if !begins(&begin) || !matches!(begin[6], 1..=3) {
        let got = format!("bytes {begin:02x?}");
        return Err(fault(name, Some(&got), "an NPY array of version 1, 2 or 3"));
    }
    // Version 1 counts the header in two bytes, later ones in four.
    let mut size = [0; 4];
    let size_bytes = if begin[6] == 1 { 2 } else { 4 };
    if !stream.fill(&mut size[..size_bytes])? {
        return Err(short());
    }
    let size = u32::from_le_bytes(size);
    if size > LONGEST_HEADER {
        let got = format!("a header of {size} bytes");
        return Err(fault(name, Some(&got), format!("at most {LONGEST_HEADER}")));
    }
    let mut header = vec![0; size as usize];
    if !stream.fill(&mut header)? {
        return Err(short());
    }
    let layout = layout_of(&header).map_err(|(got, expected)| fault(name, Some(&got), expected))?;
    Ok((layout, (begin.len() + size_bytes + header.len()) as u64))
}

/// An error in a header: what was received and what was expected.
type Wrong = (String, String);

/// Reads the dictionary `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn layout_of(header: &[u8]) -> std::result::Result<Layout, Wrong> {
    let text = String::from_utf8_lossy(header);
    let text = text.trim();
    let wrong = |expected: &str| (format!("the header {}", super::text::shown(header)), expected.to_owned());
    let inside = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    let mut rest = inside.ok_or_else(|| wrong("a Python dictionary"))?.trim_start();
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = quoted(rest).ok_or_else(|| wrong("a quoted key"))?;
        let value = after.trim_start().strip_prefix(':').ok_or_else(|| wrong("a colon after each key"))?;
        let value = value.trim_start();
        rest = match key {
            "descr" => {
                let (text, after) = quoted(value)
                    .ok_or_else(|| wrong("a plain type; arrays of records and objects are not read"))?;
                descr = Some(text);
                after
            }
            "fortran_order" => {
                let (word, after) = value.split_at(value.find([',', '}', ' ']).unwrap_or(value.len()));
                fortran = Some(match word {
                    "True" => true,
                    "False" => false,
                    _ => return Err(wrong("True or False as fortran_order")),
                });
                after
            }
            "shape" => {
                let sizes = value.strip_prefix('(').ok_or_else(|| wrong("a shape between parentheses"))?;
                let (sizes, after) =
                    sizes.split_once(')').ok_or_else(|| wrong("a shape between parentheses"))?;
                shape = Some(shape_of(sizes).ok_or_else(|| wrong("whole numbers as shape"))?);
                after
            }
            _ => return Err(wrong("the keys descr, fortran_order and shape")),
        };
        rest = rest.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if rest.is_empty() => rest,
            None => return Err(wrong("commas between entries")),
        };
    }
    let (Some(descr), Some(fortran), Some(shape)) = (descr, fortran, shape) else {
        return Err(wrong("the keys descr, fortran_order and shape"));
    };
    let (element, big_endian) = element_of(descr).ok_or_else(|| {
        let expected = "booleans, integers of 8 to 64 bits, floats of 32 or 64 bits, or text";
        (format!("values of type `{}`", descr.escape_debug()), expected.to_owned())
    })?;
    Ok(Layout { element, big_endian, fortran, shape })
}

/// A quoted word at the beginning, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn shape_of(sizes: &str) -> Option<Vec<usize>> {
    let sizes = sizes.trim();
    if sizes.is_empty() {
        return Some(Vec::new());
    }
    let sizes = sizes.strip_suffix(',').unwrap_or(sizes);
    sizes.split(',').map(|s| s.trim().trim_end_matches('L').parse().ok()).collect()
}

fn element_of(descr: &str) -> Option<(Element, bool)> {
    let (order, kind) = descr.split_at_checked(1)?;
    let big_endian = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return None,
    };
    let element = match kind {
        "b1" | "u1" => Element::U8,
        "i1" => Element::I8,
        "u2" => Element::U16,
        "i2" => Element::I16,
        "u4" => Element::U32,
        "i4" => Element::I32,
        "u8" => Element::U64,
        "i8" => Element::I64,
        "f4" => Element::F32,
        "f8" => Element::F64,
        _ => {
            let width = kind.get(1..)?.parse().ok()?;
            match kind.as_bytes()[0] {
                b'S' => Element::Bytes(width),
                b'U' => Element::Utf32(width),
                _ => return None,
            }
        }
    };
    Some((element, big_endian))
}

/// Writes the points: f32 or f64 as they are kept, images with their shape. Targets go to a file of their own.
pub(super) fn write(out: &mut dyn Write, data: &Dataset, source: &str, memory: u64) -> Result<()> {
    let view = data.points.view();
    // A sparse row becomes a dense one, and bytes.
    room_for_table("a dense copy of a sparse row", 2, view.d, view.bytes(), memory)?;
    let refused = |e| Error::io(source, e);
    let mut shape = vec![view.n, view.d];
    if let Some(image) = view.image {
        shape = vec![view.n, image.height, image.width];
        if image.channels != 1 {
            shape.push(image.channels);
        }
    }
    match view.data {
        Data::F32(values) => {
            out.write_all(&header_of("<f4", &shape)).map_err(refused)?;
            let mut bytes = Vec::new();
            for row in values.chunks(view.d.max(1)) {
                bytes.clear();
                bytes.extend(row.iter().flat_map(|v| v.to_le_bytes()));
                out.write_all(&bytes).map_err(refused)?;
            }
        }
        Data::F64(_) | Data::Csr { .. } => {
            out.write_all(&header_of("<f8", &shape)).map_err(refused)?;
            for i in 0..view.n {
                let bytes: Vec<u8> = view.row(i).to_f64().iter().flat_map(|v| v.to_le_bytes()).collect();
                out.write_all(&bytes).map_err(refused)?;
            }
        }
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
            return Err(Error::shape("points to write as NPY", view.kind(), "rows of numbers"));
        }
    }
    Ok(())
}

/// Writes targets as a 1-dimensional array: numbers as f64, whole-number classes as i64, others as text.
pub(super) fn write_targets(out: &mut dyn Write, targets: &Targets, source: &str) -> Result<()> {
    let refused = |e| Error::io(source, e);
    let (descr, bytes): (String, Vec<u8>) = match targets {
        Targets::None => return Ok(()),
        Targets::Reals(y) => ("<f8".into(), y.iter().flat_map(|v| v.to_le_bytes()).collect()),
        Targets::Classes(labels) => {
            // Only names that come back the same from a number may become one.
            let whole = |name: &String| name.parse::<i64>().ok().filter(|v| v.to_string() == *name);
            let numbers: Option<Vec<i64>> = labels.names.iter().map(whole).collect();
            if let Some(numbers) = numbers {
                let of_row = labels.of_row.iter().map(|&k| numbers[k as usize]);
                ("<i8".into(), of_row.flat_map(i64::to_le_bytes).collect())
            } else {
                let width = labels.names.iter().map(|n| n.chars().count()).max().unwrap_or(0).max(1);
                let mut bytes = Vec::with_capacity(4 * width * labels.len());
                for i in 0..labels.len() {
                    let letters = labels.name_of(i).chars().map(u32::from).chain(std::iter::repeat(0));
                    bytes.extend(letters.take(width).flat_map(u32::to_le_bytes));
                }
                (format!("<U{width}"), bytes)
            }
        }
    };
    let n = targets.len().unwrap_or(0);
    out.write_all(&header_of(&descr, &[n])).map_err(refused)?;
    out.write_all(&bytes).map_err(refused)
}

/// A version 1 header, filled up with blanks to a multiple of 64 bytes as NumPy does.
fn header_of(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}", sizes.join(", "));
    let whole = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64);
    let size = (whole - MAGIC.len() - 4) as u16;
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    header.extend(size.to_le_bytes());
    header.extend(text.bytes());
    header.resize(whole - 1, b' ');
    header.push(b'\n');
    header
}
