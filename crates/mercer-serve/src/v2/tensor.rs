//! Tensors of requests: datatypes, values as JSON (flat or nested) and as bytes, and shapes that are believed only if they fit.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::half;
use super::numbers::{MOST_DIMENSIONS, Numbers};
use crate::error::Refusal;

/// The type of a tensor's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub enum Datatype {
    Bool,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Int8,
    Int16,
    Int32,
    Int64,
    Fp16,
    Bf16,
    Fp32,
    Fp64,
    Bytes,
}

impl<'de> Deserialize<'de> for Datatype {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(from)?;
        let found = Datatype::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, datatype)| *datatype).ok_or_else(|| {
            let names: Vec<&str> = Datatype::ALL.iter().map(|(name, _)| *name).collect();
            D::Error::custom(format!("unknown datatype `{text}`, expected {}", names.join(", ")))
        })
    }
}

impl Datatype {
    /// All of them, by the protocol's names.
    pub const ALL: [(&'static str, Datatype); 14] = [
        ("BOOL", Datatype::Bool),
        ("UINT8", Datatype::Uint8),
        ("UINT16", Datatype::Uint16),
        ("UINT32", Datatype::Uint32),
        ("UINT64", Datatype::Uint64),
        ("INT8", Datatype::Int8),
        ("INT16", Datatype::Int16),
        ("INT32", Datatype::Int32),
        ("INT64", Datatype::Int64),
        ("FP16", Datatype::Fp16),
        ("BF16", Datatype::Bf16),
        ("FP32", Datatype::Fp32),
        ("FP64", Datatype::Fp64),
        ("BYTES", Datatype::Bytes),
    ];

    /// Bytes per value; none for texts.
    pub fn size(self) -> Option<usize> {
        Some(match self {
            Datatype::Bool | Datatype::Uint8 | Datatype::Int8 => 1,
            Datatype::Uint16 | Datatype::Int16 | Datatype::Fp16 | Datatype::Bf16 => 2,
            Datatype::Uint32 | Datatype::Int32 | Datatype::Fp32 => 4,
            Datatype::Uint64 | Datatype::Int64 | Datatype::Fp64 => 8,
            Datatype::Bytes => return None,
        })
    }

    /// The least and the largest whole number of the type; none for types of other values.
    fn whole(self) -> Option<(f64, f64)> {
        let unsigned = |bits: i32| (0.0, 2f64.powi(bits) - 1.0);
        let signed = |bits: i32| (-2f64.powi(bits - 1), 2f64.powi(bits - 1) - 1.0);
        Some(match self {
            Datatype::Bool => (0.0, 1.0),
            Datatype::Uint8 => unsigned(8),
            Datatype::Uint16 => unsigned(16),
            Datatype::Uint32 => unsigned(32),
            Datatype::Uint64 => unsigned(64),
            Datatype::Int8 => signed(8),
            Datatype::Int16 => signed(16),
            Datatype::Int32 => signed(32),
            Datatype::Int64 => signed(64),
            Datatype::Fp16 | Datatype::Bf16 | Datatype::Fp32 | Datatype::Fp64 | Datatype::Bytes => {
                return None;
            }
        })
    }

    /// The largest number of a type of few bits, and half the distance to the next one: what is nearer is rounded to it.
    fn largest(self) -> Option<(f64, f64)> {
        match self {
            Datatype::Fp16 => Some((65504.0, 16.0)),
            Datatype::Bf16 => Some((255.0 * 2f64.powi(120), 2f64.powi(119))),
            Datatype::Fp32 => Some((f64::from(f32::MAX), 2f64.powi(103))),
            _ => None,
        }
    }

    /// Fails for numbers in JSON that the type does not have. Missing values are no numbers.
    pub(super) fn check(self, name: &str, values: &Flat) -> Result<(), Refusal> {
        let Flat::F64(values) = values else { return Ok(()) };
        if let Some((largest, half)) = self.largest()
            && let Some(value) = values.iter().find(|v| v.abs() >= largest + half)
        {
            return Err(Refusal::bad(format!(
                "input `{name}`: {value}, but its datatype says numbers from -{largest:e} to {largest:e}"
            )));
        }
        let Some((low, high)) = self.whole() else { return Ok(()) };
        let fine = |v: &f64| v.is_nan() || (low..=high).contains(v) && v.fract() == 0.0;
        let Some(value) = values.iter().find(|v| !fine(v)) else { return Ok(()) };
        Err(Refusal::bad(format!(
            "input `{name}`: {value}, but its datatype says whole numbers from {low} to {high}"
        )))
    }
}

/// Values in the order of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Flat {
    /// Numbers; NaN where JSON says null.
    F64(Vec<f64>),
    /// Numbers that came as f32.
    F32(Vec<f32>),
    /// Texts; none where JSON says null.
    Texts(Vec<Option<String>>),
}

impl Default for Flat {
    fn default() -> Self {
        Flat::F64(Vec::new())
    }
}

impl Flat {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Flat::F64(x) => x.len(),
            Flat::F32(x) => x.len(),
            Flat::Texts(x) => x.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn number(&mut self, value: f64) -> Result<(), &'static str> {
        match self {
            Flat::F64(x) => x.push(value),
            Flat::F32(x) => x.push(value as f32),
            Flat::Texts(_) => return Err("a number among strings"),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), &'static str> {
        match self {
            Flat::Texts(x) => x.push(Some(text.to_owned())),
            // Only nulls so far: those of texts.
            Flat::F64(x) if x.iter().all(|v| v.is_nan()) => {
                let mut texts = vec![None; x.len()];
                texts.push(Some(text.to_owned()));
                *self = Flat::Texts(texts);
            }
            _ => return Err("a string among numbers"),
        }
        Ok(())
    }

    fn null(&mut self) {
        match self {
            Flat::F64(x) => x.push(f64::NAN),
            Flat::F32(x) => x.push(f32::NAN),
            Flat::Texts(x) => x.push(None),
        }
    }
}

impl<'de> Deserialize<'de> for Flat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Given::deserialize(from).map(|given| given.flat)
    }
}

/// Values of JSON, flat or in arrays of arrays, which must be those of the shape: three rows of two values are no two rows
/// of three.
#[derive(Debug, Default)]
pub(super) struct Given {
    flat: Flat,
    /// The length of the arrays at each depth; `None` where no array has ended yet.
    sides: [Option<usize>; MOST_DIMENSIONS],
    /// The depth of the values, by the first of them.
    depth: Option<usize>,
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut given = Given::default();
        Nested { given: &mut given, depth: 0 }.deserialize(from)?;
        Ok(given)
    }
}

impl Given {
    /// The values of a text.
    pub(super) fn read(text: &str) -> serde_json::Result<Self> {
        match Numbers::read(text.as_bytes()) {
            Some(Numbers { values, sides, depth }) => {
                Ok(Given { flat: Flat::F64(values), sides, depth: Some(depth) })
            }
            None => serde_json::from_str(text),
        }
    }

    /// The values, if arrays in arrays have the lengths of the shape.
    pub(super) fn of_shape(self, name: &str, shape: &[i64]) -> Result<Flat, Refusal> {
        let sides: Vec<usize> = self.sides.iter().map_while(|side| *side).collect();
        let same =
            || sides.iter().map(|side| i64::try_from(*side).ok()).eq(shape.iter().map(|side| Some(*side)));
        if sides.len() > 1 && !same() {
            return Err(Refusal::bad(format!(
                "input `{name}`: arrays of lengths {sides:?}, but its shape is {shape:?}"
            )));
        }
        Ok(self.flat)
    }

    /// A value at a depth: all are equally deep.
    fn at(&mut self, depth: usize) -> Result<&mut Flat, &'static str> {
        if *self.depth.get_or_insert(depth) != depth {
            return Err("values mixed with arrays");
        }
        Ok(&mut self.flat)
    }
}

/// Arrays in arrays; values are kept in their order.
struct Nested<'a> {
    given: &'a mut Given,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Nested<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers or strings, in arrays")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.given.at(self.depth).and_then(|flat| flat.number(value)).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.visit_f64(f64::from(u8::from(value)))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.given.at(self.depth).and_then(|flat| flat.text(value)).map_err(E::custom)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.given.at(self.depth).map(Flat::null).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.depth == MOST_DIMENSIONS {
            return Err(A::Error::custom(format!("more than {MOST_DIMENSIONS} nested arrays")));
        }
        let Nested { given, depth } = self;
        let mut length = 0;
        while seq.next_element_seed(Nested { given: &mut *given, depth: depth + 1 })?.is_some() {
            length += 1;
        }
        let side = *given.sides[depth].get_or_insert(length);
        if side != length {
            return Err(A::Error::custom(format!(
                "nested arrays of unequal lengths, {side} and {length} values"
            )));
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom("an object among the data, expected numbers or strings"))
    }
}

/// A tensor of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type of its values.
    pub datatype: Datatype,
    /// Rows, and columns where it has two dimensions.
    pub rows: usize,
    /// Values per row.
    pub columns: usize,
    /// The values, rows x columns.
    pub values: Flat,
}

/// Rows and columns of a shape, if it holds so many values. The first dimension are rows, all others together columns.
pub(super) fn shape(name: &str, shape: &[i64], values: usize) -> Result<(usize, usize), Refusal> {
    let wrong = |why: String| Refusal::bad(format!("input `{name}`: {why}"));
    if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
        return Err(wrong(format!(
            "a shape of {} dimensions, expected from 1 to {MOST_DIMENSIONS}",
            shape.len()
        )));
    }
    let sides: Option<Vec<usize>> = shape.iter().map(|side| usize::try_from(*side).ok()).collect();
    let sides = sides.ok_or_else(|| wrong(format!("shape {shape:?} has a negative side")))?;
    let columns = sides[1..].iter().try_fold(1usize, |all, side| all.checked_mul(*side));
    let product = columns.and_then(|columns| columns.checked_mul(sides[0]));
    match (columns, product) {
        (Some(columns), Some(product)) if product == values => Ok((sides[0], columns)),
        (_, Some(product)) => Err(wrong(format!("shape {shape:?} requires {product} values, got {values}"))),
        (_, None) => Err(wrong(format!("shape {shape:?} is too large: got {values} values"))),
    }
}

/// Values from bytes, little end first.
pub(super) fn from_bytes(name: &str, datatype: Datatype, bytes: &[u8]) -> Result<Flat, Refusal> {
    let wrong = |why: String| Refusal::bad(format!("input `{name}`: {why}"));
    let Some(size) = datatype.size() else { return texts(bytes).map_err(wrong) };
    if !bytes.len().is_multiple_of(size) {
        return Err(wrong(format!("{} bytes are not a whole number of values of {size} bytes", bytes.len())));
    }
    let f64s = |value: &dyn Fn(&[u8]) -> f64| Flat::F64(bytes.chunks_exact(size).map(value).collect());
    Ok(match datatype {
        Datatype::Bool => f64s(&|b| f64::from(u8::from(b[0] != 0))),
        Datatype::Uint8 => f64s(&|b| f64::from(b[0])),
        Datatype::Int8 => f64s(&|b| f64::from(b[0] as i8)),
        Datatype::Uint16 => f64s(&|b| f64::from(u16::from_le_bytes(fixed(b)))),
        Datatype::Int16 => f64s(&|b| f64::from(i16::from_le_bytes(fixed(b)))),
        Datatype::Uint32 => f64s(&|b| f64::from(u32::from_le_bytes(fixed(b)))),
        Datatype::Int32 => f64s(&|b| f64::from(i32::from_le_bytes(fixed(b)))),
        Datatype::Uint64 => f64s(&|b| u64::from_le_bytes(fixed(b)) as f64),
        Datatype::Int64 => f64s(&|b| i64::from_le_bytes(fixed(b)) as f64),
        Datatype::Fp64 => Flat::F64(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(fixed(b))).collect()),
        Datatype::Fp32 => Flat::F32(bytes.chunks_exact(4).map(|b| f32::from_le_bytes(fixed(b))).collect()),
        Datatype::Fp16 => {
            Flat::F32(bytes.chunks_exact(2).map(|b| half::f16(u16::from_le_bytes(fixed(b)))).collect())
        }
        Datatype::Bf16 => {
            Flat::F32(bytes.chunks_exact(2).map(|b| half::bf16(u16::from_le_bytes(fixed(b)))).collect())
        }
        Datatype::Bytes => Flat::default(),
    })
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

/// Texts, each behind its length in four bytes.
fn texts(mut bytes: &[u8]) -> Result<Flat, String> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_at_checked(4).ok_or("the length of a string is cut off")?;
        let length = u32::from_le_bytes(fixed(length)) as usize;
        let (text, rest) = rest
            .split_at_checked(length)
            .ok_or_else(|| format!("a string of {length} bytes, of which only {} are present", rest.len()))?;
        let text = std::str::from_utf8(text).map_err(|e| format!("a string that is not UTF-8: {e}"))?;
        all.push(Some(text.to_owned()));
        bytes = rest;
    }
    Ok(Flat::Texts(all))
}
