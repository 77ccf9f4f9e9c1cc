//! Reader of version 1 of the model file, in which each family of learners had its own layout. It is never written.

use serde_json::{Value, json};

use super::{
    Read, checked, class_names, finite, from_json, numbers, restored_facts, restored_features,
    restored_learner, restored_parts, restored_readout, restored_rows,
};
use crate::data::Bundle;
use crate::expansion::Expansion;
use crate::model::machine::{MAX_LAYERS, multiclass};
use crate::model::svc::Multi;
use crate::model::{
    Ball, Calibration, Checkpoint, Learner, Machine, Normals, Origin, Readout, Role, Sides, Sigmoid,
};

/// Prefix of the note of a model that another library had fitted.
const READ_FROM: &str = "read from a ";
/// Prefix of the note of a compressed model.
const COMPRESSED: &str = "compressed from";

/// The layers and the machine that metadata with `learner` and `body` describe.
pub(super) fn body(meta: &Value, bundle: &Bundle) -> Read<(Vec<Expansion>, Machine)> {
    let (mut layers, mut now, mut own) = (Vec::new(), meta, bundle.clone());
    while now["learner"] == "layered" {
        if layers.len() == MAX_LAYERS {
            return Err(format!("more than {MAX_LAYERS} layers"));
        }
        layers.push(Expansion::restore("features", &now["body"]["features"], &own)?);
        // Prefix of the tensors of the machine behind features.
        let inner =
            own.tensors.iter().filter_map(|(name, t)| Some((name.strip_prefix("then.")?.to_owned(), t)));
        own = Bundle { tensors: inner.map(|(name, t)| (name, t.clone())).collect(), ..Bundle::default() };
        now = &now["body"];
    }
    let machine = match now["learner"].as_str() {
        Some(tag) => machine(tag, &now["body"], &own)?,
        None => return Err("the learner's tag is missing".into()),
    };
    Ok((layers, machine))
}

fn machine(tag: &str, meta: &Value, bundle: &Bundle) -> Read<Machine> {
    let name = if tag == "function" { meta["learner"].as_str().unwrap_or(tag) } else { tag };
    let learner = family(name, &meta["params"])?;
    let sphere = tag == "sphere";
    let (key, place) = if sphere { ("centre", "centre") } else { ("expansion", "f") };
    let expansion = Expansion::restore(place, &meta[key], bundle)?;
    let mut m =
        Machine::new(expansion, Role::Numbers, learner, from_json(&meta["info"], "how the fit went")?);
    let noted = |start: &str| m.info.notes.iter().any(|note| note.starts_with(start));
    m.origin = Origin { foreign: noted(READ_FROM), compressed: noted(COMPRESSED) };
    if tag != "kpca" {
        m.support = restored_rows("support", bundle)?;
    }
    if bundle.tensors.contains_key("checkpoint") {
        m.checkpoint = Some(Checkpoint::Variables(numbers("checkpoint", None, bundle)?));
    }
    if let Some(bounded) = meta["bounded"].as_u64().filter(|_| !m.support.is_empty()) {
        m.tell("bounded", bounded as f64);
    }
    match tag {
        "svc" => return svc(m, meta, bundle),
        "svr" => {
            finite(meta, "epsilon")?.into_iter().for_each(|e| m.tell("epsilon", e));
            finite(meta, "noise")?.into_iter().for_each(|e| m.tell("noise", e));
        }
        "ridge" if !meta["names"].is_null() => m.role = Role::Classes(class_names(&meta["names"])?),
        "ridge" => {}
        "one-class" => m.role = Role::Novelty,
        "sphere" => {
            let number = |key: &str| finite(meta, key)?.ok_or(format!("`{key}` is missing"));
            m.readout = Readout::Ball(Ball { radius2: number("radius2")?, norm2: number("norm2")? });
            m.role = Role::Novelty;
        }
        "kpca" => {
            let mut features = meta.clone();
            features["whiten"] = json!(meta["params"]["whiten"].as_bool().unwrap_or(false));
            m.role = Role::Features(restored_features(&features, &m.expansion, bundle)?);
        }
        "function" => {
            m.readout = restored_readout(&meta["readout"], &m.expansion, bundle)?;
            m.role = match &meta["role"] {
                Value::String(word) if word == "classes" => Role::Classes(class_names(&meta["names"])?),
                Value::String(word) if word == "numbers" => Role::Numbers,
                Value::String(word) if word == "novelty" => Role::Novelty,
                Value::Number(k) => {
                    Role::Clusters(k.as_u64().filter(|&k| k > 0).ok_or("no clusters")? as usize)
                }
                other => {
                    return Err(format!("`role` is {other}, expected classes, numbers, novelty or a number"));
                }
            };
            let normals: Vec<Normals> = from_json(&meta["normals"], "`normals`")?;
            if !normals.is_empty() {
                m.calibration = Calibration::Normals(normals);
            }
            m.facts = restored_facts(&meta["facts"]);
        }
        other => return Err(format!("learner `{other}` is unknown")),
    }
    checked(m)
}

/// The learner of a family; its parameters determine the member.
fn family(name: &str, params: &Value) -> Read<Learner> {
    let learner = Learner::any(name).map_err(|_| format!("learner `{name}` is unknown"))?;
    // Files of that version contain a memory budget, which is now an argument of the call.
    let mut params = params.clone();
    params.as_object_mut().and_then(|params| params.remove("memory"));
    let learner = learner.with_params(&params).map_err(|e| e.to_string())?;
    restored_learner(&json!({ "learner": learner.entry().name, "params": params }))
}

fn svc(mut m: Machine, meta: &Value, bundle: &Bundle) -> Read<Machine> {
    let names = class_names(&meta["names"])?;
    m.parts = restored_parts(&meta["machines"], bundle)?;
    let list = meta["machines"].as_array().ok_or("the machines are missing")?;
    let sides =
        list.iter().map(|m| from_json(&m["sides"], "a machine's sides")).collect::<Read<Vec<Sides>>>()?;
    let sigmoids = list.iter().map(|m| from_json(&m["sigmoid"], "a machine's sigmoid"));
    let sigmoids = sigmoids.collect::<Read<Vec<Option<Sigmoid>>>>()?;
    // Checked before pairs are enumerated: a file with a hundred thousand names would imply five billion pairs.
    let fits = |multi: Multi| {
        multiclass::count(names.len(), multi) == sides.len()
            && multiclass::machines(names.len(), multi) == sides
    };
    let multi = [Multi::OneVsOne, Multi::OneVsRest].into_iter().find(|&multi| fits(multi));
    let multi =
        multi.ok_or(format!("{} machines, which do not separate {} classes", sides.len(), names.len()))?;
    if multi == Multi::OneVsOne && names.len() > 2 {
        m.readout = Readout::Pairs(m.svc().map(|p| p.ties).unwrap_or_default());
    }
    m.role = Role::Classes(names);
    if let Some(all) = sigmoids.into_iter().collect::<Option<Vec<Sigmoid>>>() {
        m.calibration = Calibration::Sigmoids(all);
    }
    m.reject = from_json(&meta["reject"], "`reject`")?;
    let machines: Option<crate::model::svc::SvcCheckpoint> = from_json(&meta["checkpoint"], "`checkpoint`")?;
    m.checkpoint = machines.map(Checkpoint::Machines);
    checked(m)
}
