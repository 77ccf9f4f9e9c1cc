//! IDX: the big-endian arrays MNIST is published in. Two zero bytes, a type, the number of dimensions, the sizes, the
//! values.
//!
//! One dimension gives rows of one number, or labels; two a table; three images; four images with channels last.
//! Bytes and 16-bit numbers are kept in f32, where they are exact; so are 32-bit floats.

use super::array::{self, Element};
use super::source::Input;
use super::{Format, ReadOptions};
use crate::data::Dataset;
use crate::error::Result;

/// Whether the bytes begin an IDX file.
pub(super) fn begins(head: &[u8]) -> bool {
    matches!(head, [0, 0, kind, 1..=4, ..] if element(*kind).is_some())
}

fn element(kind: u8) -> Option<Element> {
    match kind {
        0x08 => Some(Element::U8),
        0x09 => Some(Element::I8),
        0x0b => Some(Element::I16),
        0x0c => Some(Element::I32),
        0x0d => Some(Element::F32),
        0x0e => Some(Element::F64),
        _ => None,
    }
}

/// The array that the source holds.
pub(super) fn read_array(input: &mut Input<'_>) -> Result<array::Array> {
    let (layout, header) = read_header(input)?;
    let array = array::read(input, layout, header)?;
    input.expect_end("the values its sizes declare")?;
    Ok(array)
}

/// What the source's header declares, and how many bytes that takes.
pub(super) fn read_header(input: &mut Input<'_>) -> Result<(array::Layout, u64)> {
    let mut begin = [0; 4];
    input.reader.read_exact(&mut begin).map_err(|e| ended(input, e))?;
    let [0, 0, kind, dims @ 1..=4] = begin else {
        let expected = "an IDX file of 1 to 4 dimensions (two zero bytes, a type, the number of dimensions)";
        return Err(input.fault(Some(&format!("bytes {begin:02x?}")), expected));
    };
    let Some(element) = element(kind) else {
        let expected = "an IDX type: 08 (u8), 09 (i8), 0b (i16), 0c (i32), 0d (f32) or 0e (f64)";
        return Err(input.fault(Some(&format!("type {kind:02x}")), expected));
    };
    let mut shape = Vec::new();
    for _ in 0..dims {
        let mut size = [0; 4];
        input.reader.read_exact(&mut size).map_err(|e| ended(input, e))?;
        shape.push(u32::from_be_bytes(size) as usize);
    }
    let header = 4 + 4 * u64::from(dims);
    Ok((array::Layout { element, big_endian: true, fortran: false, shape }, header))
}

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let array = read_array(input)?;
    array.into_dataset(&input.name, Format::Idx, options)
}

fn ended(input: &Input<'_>, error: std::io::Error) -> crate::error::Error {
    if error.kind() == std::io::ErrorKind::UnexpectedEof && input.compression.is_none() {
        return input.fault(Some("the end of the file"), "the header of an IDX file");
    }
    input.failed(error)
}
