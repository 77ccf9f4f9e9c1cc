//! Model files: a fitted model as a [`Bundle`], and back.
//!
//! The metadata hold a tag for the learner, the stages' headers and the learner's own small parts; arrays are tensors.
//! Everything needed to predict is inside, and what is read back predicts bit for bit the same. A file is read as if a
//! stranger had written it: any bytes give a model that can predict, or words about what is wrong.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::data::stage::{Parts, Tensor as StageTensor};
use crate::data::{Bundle, Stages, Values};
use crate::error::{Error, Result};
use crate::model::{
    Body, FunctionModel, KpcaModel, Layered, Model, Names, OneClassModel, RidgeModel, SphereModel, SvcModel,
    SvrModel,
};
use crate::watch::Info;

/// A value, or what is wrong with the file.
pub(super) type Read<T> = std::result::Result<T, String>;

/// A learner's fitted part that can be kept in a file.
pub(super) trait Persist: Sized {
    /// What tells its files from other learners'.
    const TAG: &'static str;

    /// Adds the arrays to a bundle; what it returns belongs into the metadata.
    fn store(&self, bundle: &mut Bundle) -> Result<Value>;

    /// The model from what [`Persist::store`] has written.
    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self>;
}

impl Model {
    /// Writes a file, so that a reader sees the old one or the new one, never half of one.
    ///
    /// Fails for custom kernels, which are code.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.bundle()?.save(path.as_ref())
    }

    /// Reads a file that [`Model::save`] has written.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bundle = Bundle::load(path)?;
        Self::restored(&bundle).map_err(|why| Error::ModelFile { path: path.to_path_buf(), why })
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.bundle()?.to_bytes()
    }

    /// A model from a file's bytes; `name` stands for the file in messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        Bundle::from_bytes(bytes)
            .and_then(|bundle| Self::restored(&bundle))
            .map_err(|why| Error::ModelFile { path: name.into(), why })
    }

    pub(super) fn bundle(&self) -> Result<Bundle> {
        let mut bundle = Bundle::default();
        let (tag, body) = store_body(&self.body, &mut bundle)?;
        let stages = self.stages.to_parts();
        for tensor in stages.tensors {
            bundle.put_f64(format!("{STAGE}{}", tensor.name), &tensor.shape, tensor.values);
        }
        bundle.meta = json!({
            "learner": tag,
            "stages": stages.header,
            "any_columns": self.any_columns,
            "names": self.names,
            "body": body,
        });
        Ok(bundle)
    }

    pub(super) fn restored(bundle: &Bundle) -> Read<Self> {
        let meta = &bundle.meta;
        let body = restored_body(meta, bundle)?;
        let model = Model {
            stages: stages(bundle)?,
            body,
            any_columns: meta["any_columns"].as_bool().unwrap_or(false),
            // Files of before there were names have none.
            names: match &meta["names"] {
                Value::Null => Names::default(),
                names => {
                    serde_json::from_value(names.clone()).map_err(|e| format!("the columns' names: {e}"))?
                }
            },
        };
        let (classes, labels) = (model.classes(), model.names.labels);
        if let Some(kind) = labels.filter(|kind| !kind.holds(&classes)) {
            return Err(format!("class names {} are no labels of type {}", classes.join(", "), kind.name()));
        }
        let (last, centres) = (model.stages.list.last(), model.body.entry().centres());
        match last {
            Some(stage) if !centres.is_empty() && stage.output_dim() != centres.dim() => Err(format!(
                "the last stage gives {} columns, the centres have {}",
                stage.output_dim(),
                centres.dim()
            )),
            _ => Ok(model),
        }
    }
}

/// A machine's arrays in a bundle, its tag and its metadata.
pub(super) fn store_body(body: &Body, bundle: &mut Bundle) -> Result<(&'static str, Value)> {
    Ok(match body {
        Body::Svc(m) => (SvcModel::TAG, m.store(bundle)?),
        Body::Svr(m) => (SvrModel::TAG, m.store(bundle)?),
        Body::Ridge(m) => (RidgeModel::TAG, m.store(bundle)?),
        Body::OneClass(m) => (OneClassModel::TAG, m.store(bundle)?),
        Body::Sphere(m) => (SphereModel::TAG, m.store(bundle)?),
        Body::Function(m) => (FunctionModel::TAG, m.store(bundle)?),
        Body::Kpca(m) => (KpcaModel::TAG, m.store(bundle)?),
        Body::Layered(m) => (Layered::TAG, m.store(bundle)?),
    })
}

/// The machine that metadata with `learner` and `body` describe.
pub(super) fn restored_body(meta: &Value, bundle: &Bundle) -> Read<Body> {
    let body = &meta["body"];
    Ok(match meta["learner"].as_str() {
        Some(SvcModel::TAG) => Body::Svc(SvcModel::restore(body, bundle)?),
        Some(SvrModel::TAG) => Body::Svr(SvrModel::restore(body, bundle)?),
        Some(RidgeModel::TAG) => Body::Ridge(RidgeModel::restore(body, bundle)?),
        Some(OneClassModel::TAG) => Body::OneClass(OneClassModel::restore(body, bundle)?),
        Some(SphereModel::TAG) => Body::Sphere(SphereModel::restore(body, bundle)?),
        Some(FunctionModel::TAG) => Body::Function(FunctionModel::restore(body, bundle)?),
        Some(KpcaModel::TAG) => Body::Kpca(KpcaModel::restore(body, bundle)?),
        Some(Layered::TAG) => Body::Layered(Layered::restore(body, bundle)?),
        Some(other) => return Err(format!("learner `{other}` is not one this program knows")),
        None => return Err("the learner's tag is missing".into()),
    })
}

/// What the names of the stages' tensors begin with.
const STAGE: &str = "stage.";

fn stages(bundle: &Bundle) -> Read<Stages> {
    let mut tensors = Vec::new();
    for (name, tensor) in &bundle.tensors {
        if let Some(name) = name.strip_prefix(STAGE) {
            let Values::F64(values) = &tensor.values else {
                return Err(format!("tensor `{STAGE}{name}` is not of f64"));
            };
            tensors.push(StageTensor {
                name: name.into(),
                shape: tensor.shape.clone(),
                values: values.clone(),
            });
        }
    }
    Stages::from_parts(Parts { header: bundle.meta["stages"].clone(), tensors }).map_err(|e| e.to_string())
}

/// A finite number of the metadata, or nothing.
pub(super) fn finite(meta: &Value, key: &str) -> Read<Option<f64>> {
    match &meta[key] {
        Value::Null => Ok(None),
        value => value
            .as_f64()
            .filter(|v| v.is_finite())
            .map(Some)
            .ok_or(format!("`{key}` is {value}, expected a number")),
    }
}

/// Parameters as metadata. Fails for custom kernels, which are code.
pub(super) fn saved_params(params: &impl Serialize) -> Result<Value> {
    serde_json::to_value(params).map_err(|e| Error::Unsupported(e.to_string()))
}

/// The parameters a model was fitted with.
pub(super) fn params<T: DeserializeOwned>(meta: &Value) -> Read<T> {
    serde_json::from_value(without_memory(meta["params"].clone()))
        .map_err(|e| format!("the learner's parameters: {e}"))
}

/// Written parameters without a memory budget, which files of before hold: it belongs to a call, not to a learner.
pub(super) fn without_memory(mut written: Value) -> Value {
    if let Some(params) = written.as_object_mut() {
        params.remove("memory");
    }
    written
}

/// At least two class names, all different.
pub(super) fn restored_names(meta: &Value) -> Read<Vec<String>> {
    let names: Vec<String> =
        serde_json::from_value(meta["names"].clone()).map_err(|e| format!("the classes' names: {e}"))?;
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    sorted.dedup();
    if names.len() < 2 || sorted.len() != names.len() {
        return Err(format!("{} class names, {} of them different", names.len(), sorted.len()));
    }
    Ok(names)
}

/// How the fit went.
pub(super) fn saved_info(info: &Info) -> Value {
    json!(info)
}

pub(super) fn restored_info(meta: &Value) -> Read<Info> {
    serde_json::from_value(meta["info"].clone()).map_err(|e| format!("how the fit went: {e}"))
}

/// Adds row numbers.
pub(super) fn store_rows(name: &str, rows: &[u32], bundle: &mut Bundle) {
    bundle.put(name, &[rows.len()], Values::U32(rows.to_vec()));
}

pub(super) fn restored_rows(name: &str, bundle: &Bundle) -> Read<Vec<u32>> {
    match &bundle.get(name)?.values {
        Values::U32(rows) => Ok(rows.clone()),
        _ => Err(format!("tensor `{name}` is not of u32")),
    }
}

/// Adds the variables of a fit that was broken off.
pub(super) fn store_checkpoint(checkpoint: Option<&[f64]>, bundle: &mut Bundle) {
    if let Some(beta) = checkpoint {
        bundle.put_f64("checkpoint", &[beta.len()], beta.to_vec());
    }
}

pub(super) fn restored_checkpoint(bundle: &Bundle) -> Read<Option<Vec<f64>>> {
    match bundle.tensors.get("checkpoint").map(|t| &t.values) {
        None => Ok(None),
        Some(Values::F64(beta)) => Ok(Some(beta.clone())),
        Some(_) => Err("tensor `checkpoint` is not of f64".into()),
    }
}
