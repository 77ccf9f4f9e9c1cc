//! The container of all model files: named tensors and JSON metadata in one safetensors file.
//!
//! Written as all files are ([`crate::data::io::write_atomic`]). Files are not trusted: the checksum, the magic, the
//! version, the shapes, the sizes and every float are checked first, and no allocation exceeds the size of the file.
//!
//! The checksum is the CRC-32 of the whole file, header and tensors, with zeros in its own place; it is stored in the
//! metadata as `crc32`. A changed bit anywhere is therefore an error, or it is in the word `crc32` itself and changes
//! nothing else. Files without one, of before there was one, are read.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value;

use super::io::write_atomic;
use crate::error::{Error, Result};

/// The value of the metadata's `format`.
const MAGIC: &str = "mercer";
/// The metadata entry that holds everything that is not a tensor.
const META: &str = "mercer";
/// The place of the checksum before it is known.
const UNKNOWN: &str = "00000000";

/// A tensor: its shape and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Lengths along each axis.
    pub shape: Vec<usize>,
    /// The values, last axis fastest.
    pub values: Values,
}

/// A tensor's values.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Whole numbers: columns, row numbers.
    U32(Vec<u32>),
    /// Whole numbers: row starts.
    U64(Vec<u64>),
    /// Bytes: symbols, letters.
    U8(Vec<u8>),
}

/// Named tensors and metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// The version of the file it was read from; [`Bundle::VERSION`] where it was made.
    pub version: u64,
    /// What kind of thing this is, and everything about it that is not a tensor.
    pub meta: Value,
    /// The tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
}

impl Default for Bundle {
    fn default() -> Self {
        Bundle { version: Self::VERSION, meta: Value::Null, tensors: BTreeMap::new() }
    }
}

impl Bundle {
    /// The version that is written, and the newest that is read.
    pub const VERSION: u64 = 2;

    /// Adds a tensor of doubles.
    pub fn put_f64(&mut self, name: impl Into<String>, shape: &[usize], values: Vec<f64>) {
        self.put(name, shape, Values::F64(values));
    }

    /// Adds a tensor.
    pub fn put(&mut self, name: impl Into<String>, shape: &[usize], values: Values) {
        self.tensors.insert(name.into(), Tensor { shape: shape.to_vec(), values });
    }

    /// A tensor by name, or an error message.
    pub fn get(&self, name: &str) -> std::result::Result<&Tensor, String> {
        self.tensors.get(name).ok_or_else(|| format!("tensor `{name}` is missing"))
    }

    /// A tensor of doubles with a given shape, or an error message.
    pub fn f64(&self, name: &str, shape: &[usize]) -> std::result::Result<&[f64], String> {
        let tensor = self.get(name)?;
        if tensor.shape != shape {
            return Err(format!("tensor `{name}` has shape {:?}, expected {shape:?}", tensor.shape));
        }
        match &tensor.values {
            Values::F64(values) => Ok(values),
            other => Err(format!("tensor `{name}` holds {}, expected f64", other.kind())),
        }
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes: Vec<(&String, Dtype, &Vec<usize>, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, t)| (name, t.values.dtype(), &t.shape, t.values.bytes()))
            .collect();
        let views = bytes
            .iter()
            .map(|(name, dtype, shape, bytes)| {
                TensorView::new(*dtype, (*shape).clone(), bytes).map(|view| ((*name).clone(), view))
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|e| Error::shape("tensor", e, "a shape that fits its values"))?;
        // In this order: nothing that a model's own metadata hold stands behind the checksum.
        let head = format!(
            r#"{{"body":{},"crc32":"{UNKNOWN}","format":"{MAGIC}","version":{}}}"#,
            self.meta,
            Self::VERSION
        );
        let meta = HashMap::from([(META.to_owned(), head)]);
        let mut bytes = safetensors::serialize(views, Some(meta))
            .map_err(|e| Error::shape("model", e, "tensors that can be written"))?;
        let sum = crc32(&[&bytes]);
        let at = place_of_sum(&bytes, UNKNOWN).ok_or_else(|| {
            Error::shape("model", "metadata without a place for the checksum", "tensors that can be written")
        })?;
        bytes[at..at + UNKNOWN.len()].copy_from_slice(sum.as_bytes());
        Ok(bytes)
    }

    /// Writes the file so that a reader sees the old one or the new one, never half of one.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes()?;
        write_atomic(path, |out| out.write_all(&bytes).map_err(|e| Error::io(path, e)))
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = crate::data::io::read_whole(path, crate::exec::half_of_ram() as u64)?;
        Self::from_bytes(&bytes).map_err(|why| Error::ModelFile { path: path.to_path_buf(), why })
    }

    /// Reads a file's bytes; errors say what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, String> {
        if bytes.len() < 8 {
            return Err(format!("{} bytes: too short to be a model", bytes.len()));
        }
        let (_, head) =
            SafeTensors::read_metadata(bytes).map_err(|e| format!("not a model file, or cut short: {e}"))?;
        let text = head
            .metadata()
            .as_ref()
            .and_then(|m| m.get(META))
            .ok_or("a safetensors file, but not one of Mercer's")?;
        let head: Value = serde_json::from_str(text).map_err(|e| format!("metadata is not JSON: {e}"))?;
        if head["format"] != MAGIC {
            return Err(format!("format is {}, expected \"{MAGIC}\"", head["format"]));
        }
        let newest = Self::VERSION;
        let version = match head["version"].as_u64() {
            Some(version) if (1..=newest).contains(&version) => version,
            Some(newer) => {
                return Err(format!("version {newer} is newer than this program reads ({newest})"));
            }
            None => return Err(format!("version is {}, expected a whole number", head["version"])),
        };
        // After the version: a newer one may have another checksum.
        check_sum(bytes, &head)?;
        let file =
            SafeTensors::deserialize(bytes).map_err(|e| format!("not a model file, or cut short: {e}"))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in file.tensors() {
            let values = Values::read(&view).map_err(|why| format!("tensor `{name}` {why}"))?;
            tensors.insert(name, Tensor { shape: view.shape().to_vec(), values });
        }
        Ok(Bundle { version, meta: head["body"].clone(), tensors })
    }
}

/// The CRC-32 of bytes in pieces, as it is written.
fn crc32(pieces: &[&[u8]]) -> String {
    let mut crc = flate2::Crc::new();
    pieces.iter().for_each(|piece| crc.update(piece));
    format!("{:08x}", crc.sum())
}

/// Position of the checksum in a file: in JSON inside a JSON string, after the model's own metadata.
fn place_of_sum(bytes: &[u8], sum: &str) -> Option<usize> {
    let before = br#"\"crc32\":\""#;
    let needle = [&before[..], sum.as_bytes()].concat();
    let header = 8 + usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let at = bytes.get(..header)?.windows(needle.len()).rposition(|w| w == needle)?;
    Some(at + before.len())
}

/// Compares a file with the checksum inside it, where there is one.
fn check_sum(bytes: &[u8], head: &Value) -> std::result::Result<(), String> {
    let Some(told) = head.get("crc32") else { return Ok(()) };
    let sum = told.as_str().filter(|sum| sum.len() == UNKNOWN.len()).unwrap_or_default();
    let found = place_of_sum(bytes, sum).filter(|_| !sum.is_empty()).map(|at| {
        let (before, after) = (&bytes[..at], &bytes[at + UNKNOWN.len()..]);
        crc32(&[before, UNKNOWN.as_bytes(), after])
    });
    match found {
        Some(found) if found == sum => Ok(()),
        _ => Err("damaged: the file is not as it was written (its checksum does not match); \
                  copy it again from its source, or retrain the model"
            .into()),
    }
}

impl Values {
    fn dtype(&self) -> Dtype {
        match self {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
            Values::U32(_) => Dtype::U32,
            Values::U64(_) => Dtype::U64,
            Values::U8(_) => Dtype::U8,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
            Values::U32(_) => "u32",
            Values::U64(_) => "u64",
            Values::U8(_) => "u8",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Values::F32(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::F64(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::U32(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::U64(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::U8(v) => v.clone(),
        }
    }

    fn read(view: &TensorView<'_>) -> std::result::Result<Self, String> {
        let bytes = view.data();
        let values = match view.dtype() {
            Dtype::F32 => Values::F32(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()),
            Dtype::F64 => Values::F64(bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect()),
            Dtype::U32 => Values::U32(bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()),
            Dtype::U64 => Values::U64(bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()),
            Dtype::U8 => Values::U8(bytes.to_vec()),
            other => return Err(format!("is of type {other:?}, expected f32, f64, u32, u64 or u8")),
        };
        let finite = match &values {
            Values::F32(v) => v.iter().all(|v| v.is_finite()),
            Values::F64(v) => v.iter().all(|v| v.is_finite()),
            _ => true,
        };
        if finite { Ok(values) } else { Err("holds a NaN or an infinity".into()) }
    }
}
