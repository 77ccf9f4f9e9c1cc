//! Model files: a fitted model as a [`Bundle`]. The format is documented in `docs/model-file.md`.
//!
//! The metadata hold the learner's name and parameters, the headers of stages and expansions, readout and role;
//! arrays are tensors. Everything needed to predict is inside, and predictions after reading are bit-identical. Files
//! are not trusted: any bytes give a valid model or an error message.

mod json;
mod libsvm;
pub mod onnx;
mod version1;

pub(super) use libsvm::by_class;

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::data::stage::{Parts, StageTensor};
use crate::data::{Bundle, Stages, Values};
use crate::error::{Error, Result};
use crate::expansion::Expansion;
use crate::model::machine::{MAX_LAYERS, multiclass};
use crate::model::svc::{Margin, Multi};
use crate::model::{
    Ball, Calibration, Checkpoint, Dual, Features, Learner, Machine, Model, Names, Nearest, Normals, Part,
    Readout, Role, Votes,
};

/// A value, or an error message about the file.
type Read<T> = std::result::Result<T, String>;

impl Model {
    /// Writes a file atomically: a reader sees the old file or the new one.
    ///
    /// Fails for custom kernels, which cannot be saved.
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

    fn bundle(&self) -> Result<Bundle> {
        let mut bundle = Bundle::default();
        let layers = self
            .layers
            .iter()
            .enumerate()
            .map(|(i, layer)| layer.store(&format!("layer{i}"), &mut bundle))
            .collect::<Result<Vec<Value>>>()?;
        let machine = store_machine(&self.machine, &mut bundle)?;
        let stages = self.stages.to_parts();
        for tensor in stages.tensors {
            bundle.put_f64(format!("{STAGE}{}", tensor.name), &tensor.shape, tensor.values);
        }
        bundle.meta = json!({
            "learner": self.machine.learner.entry().name,
            "params": self.machine.learner.params()?,
            "names": self.names,
            "stages": stages.header,
            "layers": layers,
            "machine": machine,
            "any_columns": self.any_columns,
        });
        Ok(bundle)
    }

    fn restored(bundle: &Bundle) -> Read<Self> {
        let meta = &bundle.meta;
        let (layers, machine) = match bundle.version {
            1 => version1::body(meta, bundle)?,
            _ => (restored_layers(meta, bundle)?, restored_machine(meta, bundle)?),
        };
        let model = Model {
            stages: stages(bundle)?,
            layers,
            machine,
            any_columns: meta["any_columns"].as_bool().unwrap_or(false),
            // Files written before names were stored have none.
            names: match &meta["names"] {
                Value::Null => Names::default(),
                names => from_json(names, "the columns' names")?,
            },
        };
        let (classes, labels) = (model.classes(), model.names.labels);
        if let Some(kind) = labels.filter(|kind| !kind.holds(&classes)) {
            return Err(format!("class names {} are not labels of type {}", classes.join(", "), kind.name()));
        }
        let first = model.stages.list.last().map(crate::data::Stage::output_dim);
        let mut columns = first.map(|d| (d, "the last stage gives"));
        for f in model.layers.iter().chain([&model.machine.expansion]) {
            match columns {
                Some((d, who)) if !f.is_empty() && d != f.centres().dim() => {
                    return Err(format!("{who} {d} columns, the centres have {}", f.centres().dim()));
                }
                _ => columns = Some((f.outputs(), "a layer gives")),
            }
        }
        Ok(model)
    }
}

/// Prefix of the names of the stages' tensors.
const STAGE: &str = "stage.";

fn stages(bundle: &Bundle) -> Read<Stages> {
    let mut tensors = Vec::new();
    for (name, tensor) in &bundle.tensors {
        if let Some(name) = name.strip_prefix(STAGE) {
            let Values::F64(values) = &tensor.values else {
                return Err(format!("tensor `{STAGE}{name}` is not of f64"));
            };
            let (name, shape) = (name.into(), tensor.shape.clone());
            tensors.push(StageTensor { name, shape, values: values.clone() });
        }
    }
    Stages::from_parts(Parts { header: bundle.meta["stages"].clone(), tensors }).map_err(|e| e.to_string())
}

fn restored_layers(meta: &Value, bundle: &Bundle) -> Read<Vec<Expansion>> {
    let list = meta["layers"].as_array().ok_or("the layers are missing")?;
    if list.len() > MAX_LAYERS {
        return Err(format!("more than {MAX_LAYERS} layers"));
    }
    (0..)
        .zip(list)
        .map(|(i, meta): (usize, _)| Expansion::restore(&format!("layer{i}"), meta, bundle))
        .collect()
}

/// Adds a machine's arrays to a bundle; the returned value belongs in the metadata.
fn store_machine(m: &Machine, bundle: &mut Bundle) -> Result<Value> {
    let expansion = m.expansion.store("f", bundle)?;
    store_rows("support", &m.support, bundle);
    let readout = match &m.readout {
        Readout::Plain => json!("plain"),
        Readout::Pairs(ties) => json!({ "pairs": ties }),
        Readout::Ball(ball) => json!({ "ball": ball }),
        Readout::Votes(votes) => {
            bundle.put_f64("votes", &[votes.weight.len()], votes.weight.clone());
            json!({ "votes": votes.values })
        }
        Readout::Nearest(nearest) => {
            bundle.put_f64("says", &[nearest.says.len()], nearest.says.clone());
            bundle.put_f64("own", &[nearest.own.len()], nearest.own.clone());
            json!({ "nearest": nearest.values, "neighbours": nearest.neighbours })
        }
    };
    let role = match &m.role {
        Role::Classes(names) => json!({ "classes": names }),
        Role::Numbers => json!("numbers"),
        Role::Novelty => json!("novelty"),
        Role::Clusters(k) => json!({ "clusters": k }),
        Role::Features(features) => {
            json!({ "features": store_features(features, &m.expansion, bundle)? })
        }
    };
    let calibration = match &m.calibration {
        Calibration::None => Value::Null,
        Calibration::Sigmoids(sigmoids) => json!({ "sigmoids": sigmoids }),
        Calibration::Normals(normals) => json!({ "normals": normals }),
        Calibration::Softmax => json!("softmax"),
    };
    let facts: Map<String, Value> = m.facts.iter().map(|(name, v)| ((*name).to_owned(), json!(v))).collect();
    let checkpoint = match &m.checkpoint {
        None => Value::Null,
        Some(Checkpoint::Variables(beta)) => {
            bundle.put_f64("checkpoint", &[beta.len()], beta.clone());
            json!("variables")
        }
        Some(Checkpoint::Machines(machines)) => json!({ "machines": machines }),
    };
    Ok(json!({
        "expansion": expansion,
        "readout": readout,
        "role": role,
        "calibration": calibration,
        "reject": m.reject,
        "parts": store_parts(&m.parts, bundle),
        "facts": facts,
        "origin": m.origin,
        "checkpoint": checkpoint,
        "info": m.info,
    }))
}

fn restored_machine(meta: &Value, bundle: &Bundle) -> Read<Machine> {
    let learner = restored_learner(meta)?;
    let meta = &meta["machine"];
    let expansion = Expansion::restore("f", &meta["expansion"], bundle)?;
    let role = restored_role(&meta["role"], &expansion, bundle)?;
    let calibration = match &meta["calibration"] {
        Value::Null => Calibration::None,
        Value::String(word) if word == "softmax" => Calibration::Softmax,
        some if some["sigmoids"].is_array() => {
            Calibration::Sigmoids(from_json(&some["sigmoids"], "the sigmoids")?)
        }
        some => Calibration::Normals(from_json(&some["normals"], "the normal distributions")?),
    };
    let checkpoint = match &meta["checkpoint"] {
        Value::Null => None,
        Value::String(_) => Some(Checkpoint::Variables(numbers("checkpoint", None, bundle)?)),
        some => Some(Checkpoint::Machines(from_json(&some["machines"], "the checkpoint")?)),
    };
    checked(Machine {
        readout: restored_readout(&meta["readout"], &expansion, bundle)?,
        expansion,
        role,
        calibration,
        reject: from_json(&meta["reject"], "the reject rule")?,
        learner,
        support: restored_rows("support", bundle)?,
        dual: Dual::default(),
        parts: restored_parts(&meta["parts"], bundle)?,
        facts: restored_facts(&meta["facts"]),
        origin: from_json(&meta["origin"], "the origin")?,
        checkpoint,
        info: from_json(&meta["info"], "how the fit went")?,
    })
}

/// Checks that a machine's parts are consistent.
fn checked(m: Machine) -> Read<Machine> {
    let want = match &m.role {
        // Checked before pairs are enumerated: a file with a hundred thousand names would imply five billion pairs.
        Role::Classes(names) => match m.readout {
            Readout::Pairs(_) if names.len() < 3 => return Err("pairs of fewer than 3 classes".into()),
            Readout::Pairs(_) => multiclass::count(names.len(), Multi::OneVsOne),
            _ => multiclass::count(names.len(), Multi::OneVsRest),
        },
        Role::Clusters(k) => *k,
        Role::Features(features) => features.values.len(),
        Role::Numbers | Role::Novelty => 1,
    };
    if m.outputs() != want {
        return Err(format!("{} outputs, expected {want}", m.outputs()));
    }
    if let Readout::Pairs(_) = m.readout
        && !matches!(m.role, Role::Classes(_))
    {
        return Err("pairs without classes".into());
    }
    if matches!(m.readout, Readout::Ball(_)) && !matches!(m.role, Role::Novelty) {
        return Err("a sphere whose role is not novelty".into());
    }
    if matches!(m.role, Role::Features(_)) && m.readout != Readout::Plain {
        return Err("features are outputs as they are, and the readout is not plain".into());
    }
    let fits = match &m.calibration {
        Calibration::None => true,
        Calibration::Softmax => want > 1 && m.readout == Readout::Plain && matches!(m.role, Role::Classes(_)),
        Calibration::Sigmoids(all) => all.len() == want,
        Calibration::Normals(all) => all.len() == want && all.iter().all(Normals::usable),
    };
    if !fits {
        return Err("the calibration does not fit the outputs".into());
    }
    if !m.parts.is_empty() && m.parts.len() != want {
        return Err(format!("{} parts, expected {want}", m.parts.len()));
    }
    Ok(m)
}

/// The learner of a name and parameters.
fn restored_learner(meta: &Value) -> Read<Learner> {
    let name = meta["learner"].as_str().ok_or("the learner's name is missing")?;
    let learner = Learner::any(name).map_err(|_| format!("learner `{name}` is unknown"))?;
    let learner = learner.with_params(&meta["params"]).map_err(|e| e.to_string())?;
    learner.check().map_err(|e| e.to_string())?;
    if learner.entry().name != name {
        return Err(format!("the parameters are those of {}, not of {name}", learner.entry().name));
    }
    Ok(learner)
}

fn restored_role(meta: &Value, expansion: &Expansion, bundle: &Bundle) -> Read<Role> {
    if let Some(names) = meta.get("classes") {
        return Ok(Role::Classes(class_names(names)?));
    }
    if let Some(k) = meta["clusters"].as_u64().filter(|&k| k > 0) {
        return Ok(Role::Clusters(k as usize));
    }
    if let Some(features) = meta.get("features") {
        return restored_features(features, expansion, bundle).map(Role::Features);
    }
    match meta.as_str() {
        Some("numbers") => Ok(Role::Numbers),
        Some("novelty") => Ok(Role::Novelty),
        _ => Err(format!("`role` is {meta}, expected classes, numbers, novelty, clusters or features")),
    }
}

fn restored_readout(meta: &Value, expansion: &Expansion, bundle: &Bundle) -> Read<Readout> {
    if meta == "plain" {
        return Ok(Readout::Plain);
    }
    if let Some(ties) = meta.get("pairs") {
        return from_json(ties, "`pairs`").map(Readout::Pairs);
    }
    if let Some(ball) = meta.get("ball") {
        let ball: Ball = from_json(ball, "`ball`")?;
        return match expansion.outputs() {
            1 => Ok(Readout::Ball(ball)),
            k => Err(format!("a sphere with {k} centres, expected 1")),
        };
    }
    let size = |v: &Value| v.as_u64().filter(|v| (1..1 << 32).contains(v)).map(|v| v as usize);
    if let Some(values) = size(&meta["votes"]) {
        let weight = numbers("votes", Some(expansion.outputs().saturating_mul(values)), bundle)?;
        return Ok(Readout::Votes(Votes { weight, values }));
    }
    let (Some(values), Some(neighbours)) = (size(&meta["nearest"]), size(&meta["neighbours"])) else {
        return Err(format!("`readout` is {meta}, expected plain, pairs, ball, votes or nearest"));
    };
    let m = expansion.len();
    let (says, own) =
        (numbers("says", Some(m.saturating_mul(values)), bundle)?, numbers("own", Some(m), bundle)?);
    Ok(Readout::Nearest(Nearest { neighbours, says, values, own }))
}

/// Adds what features need. The mean shares its points with the axes if possible.
fn store_features(features: &Features, axes: &Expansion, bundle: &mut Bundle) -> Result<Value> {
    let mean = match &features.mean {
        Some(mean) if mean.centres() == axes.centres() => {
            bundle.put_f64("mean.coef", &[mean.len()], mean.coef().to_vec());
            Value::Bool(true)
        }
        Some(mean) => mean.store("mean", bundle)?,
        None => Value::Null,
    };
    bundle.put_f64("values", &[features.values.len()], features.values.clone());
    Ok(json!({
        "mean": mean,
        "mean2": features.mean2,
        "total": features.total,
        "rows": features.rows,
        "whiten": features.whiten,
    }))
}

fn restored_features(meta: &Value, axes: &Expansion, bundle: &Bundle) -> Read<Features> {
    let mean = match &meta["mean"] {
        Value::Null => None,
        Value::Bool(_) => {
            let coef = bundle.f64("mean.coef", &[axes.len()])?.to_vec();
            let (kernel, centres) = (axes.kernel().clone(), axes.centres().clone());
            Some(Expansion::new(kernel, centres, coef, vec![0.0]).map_err(|e| e.to_string())?)
        }
        other => Some(Expansion::restore("mean", other, bundle)?),
    };
    if let Some(mean) = &mean {
        let fits = mean.kernel() == axes.kernel() && mean.centres().dim() == axes.centres().dim();
        if mean.outputs() != 1 || !fits {
            return Err("the mean does not fit the axes".into());
        }
    }
    let values = bundle.f64("values", &[axes.outputs()])?.to_vec();
    if values.contains(&0.0) {
        return Err("an eigenvalue is 0".into());
    }
    let number = |key: &str| finite(meta, key)?.ok_or(format!("`{key}` is missing"));
    let (mean2, total) = (number("mean2")?, number("total")?);
    let rows = meta["rows"].as_u64().filter(|&r| r > 0).ok_or("`rows` is missing")? as usize;
    let whiten = meta["whiten"].as_bool().ok_or("`whiten` is missing")?;
    Ok(Features { mean, mean2, values, total, rows, whiten })
}

/// Adds the rows of all parts, concatenated; their numbers go into the metadata.
fn store_parts(parts: &[Part], bundle: &mut Bundle) -> Value {
    if parts.is_empty() {
        return json!([]);
    }
    let all = |rows: fn(&Part) -> &Vec<u32>| parts.iter().flat_map(rows).copied().collect::<Vec<_>>();
    store_rows("free", &all(|p| &p.free), bundle);
    store_rows("bounded", &all(|p| &p.bounded), bundle);
    let part = |p: &Part| {
        json!({
            "rows": p.rows,
            "free": p.free.len(),
            "bounded": p.bounded.len(),
            "objective": p.objective,
            "iterations": p.iterations,
            "margin": p.margin,
        })
    };
    parts.iter().map(part).collect()
}

fn restored_parts(meta: &Value, bundle: &Bundle) -> Read<Vec<Part>> {
    let list = meta.as_array().ok_or("the machines are missing")?;
    if list.is_empty() {
        return Ok(Vec::new());
    }
    let (free, bounded) = (restored_rows("free", bundle)?, restored_rows("bounded", bundle)?);
    let mut runs = [("free", free.as_slice()), ("bounded", bounded.as_slice())];
    let mut take = |meta: &Value, which: usize| -> Read<Vec<u32>> {
        let (name, left) = &mut runs[which];
        let count = meta[*name].as_u64().and_then(|c| usize::try_from(c).ok());
        let (now, rest) = count
            .and_then(|c| left.split_at_checked(c))
            .ok_or(format!("tensor `{name}` holds fewer rows than its machines have"))?;
        *left = rest;
        Ok(now.to_vec())
    };
    let part = |meta: &Value| {
        let margin = match &meta["margin"] {
            Value::Null => None,
            // A radius that was not measured is NaN, which JSON cannot represent.
            m => Some(Margin {
                width: finite(m, "width")?.ok_or("a margin without its width")?,
                at_most: finite(m, "at_most")?.ok_or("a margin without its bound")?,
                radius: finite(m, "radius")?.unwrap_or(f64::NAN),
            }),
        };
        Ok(Part {
            rows: meta["rows"].as_u64().ok_or("a machine without its number of rows")? as usize,
            free: take(meta, 0)?,
            bounded: take(meta, 1)?,
            objective: finite(meta, "objective")?.unwrap_or(f64::NAN),
            iterations: meta["iterations"].as_u64().unwrap_or(0),
            margin,
        })
    };
    list.iter().map(part).collect()
}

fn restored_facts(meta: &Value) -> Vec<(&'static str, f64)> {
    Machine::FACTS.iter().filter_map(|name| meta[*name].as_f64().map(|v| (*name, v))).collect()
}

/// A tensor of finite f64, of a given size if known.
fn numbers(name: &str, want: Option<usize>, bundle: &Bundle) -> Read<Vec<f64>> {
    let Values::F64(values) = &bundle.get(name)?.values else {
        return Err(format!("tensor `{name}` is not of f64"));
    };
    match want {
        Some(want) if values.len() != want => {
            Err(format!("tensor `{name}` has {} values, expected {want}", values.len()))
        }
        _ if values.iter().any(|v| !v.is_finite()) => Err(format!("tensor `{name}` is not finite")),
        _ => Ok(values.clone()),
    }
}

/// A finite number of the metadata, if present.
fn finite(meta: &Value, key: &str) -> Read<Option<f64>> {
    match &meta[key] {
        Value::Null => Ok(None),
        value => value
            .as_f64()
            .filter(|v| v.is_finite())
            .map(Some)
            .ok_or(format!("`{key}` is {value}, expected a number")),
    }
}

/// Deserialises a part of the metadata.
fn from_json<T: DeserializeOwned>(meta: &Value, what: &str) -> Read<T> {
    serde_json::from_value(meta.clone()).map_err(|e| format!("{what}: {e}"))
}

/// At least two class names, all different.
fn class_names(meta: &Value) -> Read<Vec<String>> {
    let names: Vec<String> = from_json(meta, "the classes' names")?;
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    sorted.dedup();
    if names.len() < 2 || sorted.len() != names.len() {
        return Err(format!("{} class names, {} of them different", names.len(), sorted.len()));
    }
    Ok(names)
}

/// Adds row numbers.
fn store_rows(name: &str, rows: &[u32], bundle: &mut Bundle) {
    bundle.put(name, &[rows.len()], Values::U32(rows.to_vec()));
}

fn restored_rows(name: &str, bundle: &Bundle) -> Read<Vec<u32>> {
    match &bundle.get(name)?.values {
        Values::U32(rows) => Ok(rows.clone()),
        _ => Err(format!("tensor `{name}` is not of u32")),
    }
}
