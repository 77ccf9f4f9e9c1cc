//! Models as JSON, for programs in other languages and for text editors; and reading a model of any format.
//!
//! The file has the model file's content as JSON: `{"format": "mercer-json", "version": Bundle::VERSION, "model":
//! {...}, "tensors": {"name": {"type": "f64", "shape": [m, d], "values": [...]}}}`. Numbers are written so that they
//! read back bit for bit.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::data::io::{read_whole, write_atomic};
use crate::data::{Bundle, Tensor, Values};
use crate::error::{Error, Result};
use crate::exec::half_of_ram;
use crate::model::Model;

const FORMAT: &str = "mercer-json";

/// The format of a model's file, by its first bytes.
enum Form {
    Own,
    Json,
    Libsvm,
}

impl Form {
    fn of(bytes: &[u8]) -> Option<Self> {
        let text = bytes.trim_ascii_start();
        // The length of a header and the header, which is JSON. This comes first: a length may look like a blank and `{`.
        if bytes.len() > 8 && bytes[4..8] == [0; 4] && bytes[8] == b'{' {
            Some(Form::Own)
        } else if text.starts_with(b"{") {
            Some(Form::Json)
        } else {
            // Not the first name of a table's columns.
            let rest = text.strip_prefix(b"svm_type")?;
            rest.first().is_none_or(u8::is_ascii_whitespace).then_some(Form::Libsvm)
        }
    }
}

impl Model {
    /// Reads a model file, whatever its format: this library's own, its JSON form, or LIBSVM's text.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, half_of_ram() as u64)
    }

    /// The same for a file of at most `memory` bytes.
    pub fn read_within(path: impl AsRef<Path>, memory: u64) -> Result<Self> {
        let path = path.as_ref();
        Self::from_any(&path.display().to_string(), &read_whole(path, memory)?)
    }

    /// A model from the bytes of a file of any of these formats; `name` stands for the file in messages.
    pub fn from_any(name: &str, bytes: &[u8]) -> Result<Self> {
        match Form::of(bytes) {
            Some(Form::Json) => Self::from_json(name, bytes),
            Some(Form::Libsvm) => Self::from_libsvm(name, bytes),
            Some(Form::Own) | None => Self::from_bytes(name, bytes),
        }
    }

    /// Whether a file that begins with these bytes is a model, whole or broken, and not data; [`Model::HEAD`] bytes are
    /// enough.
    ///
    /// ```
    /// use mercer::model::Model;
    /// assert!(Model::is_beginning(b"svm_type c_svc\nkernel_type rbf"));
    /// assert!(!Model::is_beginning(b"svm_type,class\n1,2\n"));
    /// ```
    pub fn is_beginning(bytes: &[u8]) -> bool {
        let head = &bytes[..bytes.len().min(Self::HEAD)];
        let own_json = || head.windows(FORMAT.len()).any(|part| part == FORMAT.as_bytes());
        Form::of(head).is_some_and(|form| !matches!(form, Form::Json) || own_json())
    }

    /// Number of bytes by which a model is told from data.
    pub const HEAD: usize = 4096;

    /// The model as JSON. Fails for custom kernels, which are code.
    ///
    /// ```
    /// use mercer::data::{Dataset, toy};
    /// use mercer::model::{Model, Plan, Wishes};
    /// use mercer::{Exec, watch};
    ///
    /// let (x, y) = toy::banana(30, 0);
    /// let data = Dataset::new(x, y)?;
    /// let model = Plan::new(&data, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
    /// assert_eq!(Model::from_json("m", model.to_json()?.as_bytes())?, model);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn to_json(&self) -> Result<String> {
        let bundle = self.bundle()?;
        let tensors: Map<String, Value> =
            bundle.tensors.iter().map(|(name, tensor)| (name.clone(), written(tensor))).collect();
        let all =
            json!({ "format": FORMAT, "version": Bundle::VERSION, "model": bundle.meta, "tensors": tensors });
        Ok(format!("{all}\n"))
    }

    /// A model from its JSON; `name` stands for the file in messages.
    pub fn from_json(name: &str, bytes: &[u8]) -> Result<Self> {
        let wrong = |why: String| Error::ModelFile { path: name.into(), why };
        let all: Value =
            serde_json::from_slice(bytes).map_err(|e| wrong(format!("not a model as JSON: {e}")))?;
        if all["format"] != FORMAT {
            let why = format!("JSON, but not a model: `format` is {}, expected \"{FORMAT}\"", all["format"]);
            return Err(wrong(why));
        }
        let newest = Bundle::VERSION;
        let version = all["version"].as_u64().filter(|v| (1..=newest).contains(v)).ok_or_else(|| {
            wrong(format!("version is {}, expected a whole number from 1 to {newest}", all["version"]))
        })?;
        let mut bundle = Bundle { version, meta: all["model"].clone(), ..Bundle::default() };
        for (tensor, value) in all["tensors"].as_object().into_iter().flatten() {
            let read = read(value).map_err(|why| wrong(format!("tensor `{tensor}` {why}")))?;
            bundle.tensors.insert(tensor.clone(), read);
        }
        Self::restored(&bundle).map_err(wrong)
    }

    /// Writes the JSON to a file.
    pub fn save_json(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, text) = (path.as_ref(), self.to_json()?);
        write_atomic(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))
    }
}

fn written(tensor: &Tensor) -> Value {
    let (kind, values) = match &tensor.values {
        Values::F32(v) => ("f32", json!(v)),
        Values::F64(v) => ("f64", json!(v)),
        Values::U32(v) => ("u32", json!(v)),
        Values::U64(v) => ("u64", json!(v)),
        Values::U8(v) => ("u8", json!(v)),
    };
    json!({ "type": kind, "shape": tensor.shape, "values": values })
}

fn read(value: &Value) -> std::result::Result<Tensor, String> {
    let shape: Vec<usize> =
        serde_json::from_value(value["shape"].clone()).map_err(|e| format!("has no shape: {e}"))?;
    let list = value["values"].as_array().ok_or("has no values")?;
    let size = shape.iter().try_fold(1usize, |a, &b| a.checked_mul(b));
    if size != Some(list.len()) {
        return Err(format!("has {} values, expected shape {shape:?}", list.len()));
    }
    let reals = || -> std::result::Result<Vec<f64>, String> {
        list.iter().map(|v| v.as_f64().ok_or_else(|| format!("holds {v}, expected a number"))).collect()
    };
    let wholes = |most: u64| -> std::result::Result<Vec<u64>, String> {
        let whole = |v: &Value| v.as_u64().filter(|&v| v <= most);
        list.iter().map(|v| whole(v).ok_or_else(|| format!("holds {v}, expected a whole number"))).collect()
    };
    let values = match value["type"].as_str() {
        Some("f32") => {
            let values: Vec<f32> = reals()?.into_iter().map(|v| v as f32).collect();
            if values.iter().any(|v| !v.is_finite()) {
                return Err("holds a number too large for f32".into());
            }
            Values::F32(values)
        }
        Some("f64") => Values::F64(reals()?),
        Some("u32") => Values::U32(wholes(u64::from(u32::MAX))?.into_iter().map(|v| v as u32).collect()),
        Some("u64") => Values::U64(wholes(u64::MAX)?),
        Some("u8") => Values::U8(wholes(255)?.into_iter().map(|v| v as u8).collect()),
        _ => return Err(format!("is of type {}, expected f32, f64, u32, u64 or u8", value["type"])),
    };
    Ok(Tensor { shape, values })
}
