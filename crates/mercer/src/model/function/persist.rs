//! Functions in model files.

use serde_json::{Map, Value, json};

use super::{FunctionModel, Nearest, Normals, Readout, Role, Votes};
use crate::data::{Bundle, Values};
use crate::error::Result;
use crate::expansion::Expansion;
use crate::model::Learner;
use crate::model::persist::{
    Persist, Read, restored_info, restored_names, restored_rows, saved_info, store_rows,
};

impl Persist for FunctionModel {
    const TAG: &'static str = "function";

    fn store(&self, bundle: &mut Bundle) -> Result<Value> {
        let expansion = self.expansion.store("f", bundle)?;
        store_rows("support", &self.support, bundle);
        let readout = match &self.readout {
            Readout::Plain => json!("plain"),
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
        let (role, names) = match &self.role {
            Role::Classes(names) => (json!("classes"), Some(names)),
            Role::Numbers => (json!("numbers"), None),
            Role::Novelty => (json!("novelty"), None),
            Role::Clusters(k) => (json!(k), None),
        };
        let facts: Map<String, Value> =
            self.facts.iter().map(|(name, v)| ((*name).to_owned(), json!(v))).collect();
        Ok(json!({
            "expansion": expansion,
            "readout": readout,
            "role": role,
            "names": names,
            "learner": self.learner.entry().name,
            "params": self.learner.params()?,
            "normals": self.normals,
            "facts": facts,
            "info": saved_info(&self.info),
        }))
    }

    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self> {
        let expansion = Expansion::restore("f", &meta["expansion"], bundle)?;
        let role = match &meta["role"] {
            Value::String(word) if word == "classes" => Role::Classes(restored_names(meta)?),
            Value::String(word) if word == "numbers" => Role::Numbers,
            Value::String(word) if word == "novelty" => Role::Novelty,
            Value::Number(k) => Role::Clusters(k.as_u64().filter(|&k| k > 0).ok_or("no clusters")? as usize),
            other => {
                return Err(format!("`role` is {other}, expected classes, numbers, novelty or a number"));
            }
        };
        let learner = restored_learner(meta)?;
        let normals: Vec<Normals> =
            serde_json::from_value(meta["normals"].clone()).map_err(|e| format!("`normals`: {e}"))?;
        let model = FunctionModel {
            readout: restored_readout(&meta["readout"], &expansion, bundle)?,
            expansion,
            role,
            learner,
            normals,
            support: restored_rows("support", bundle)?,
            facts: restored_facts(&meta["facts"]),
            info: restored_info(meta)?,
        };
        let want = match &model.role {
            Role::Classes(names) if names.len() > 2 => names.len(),
            Role::Clusters(k) => *k,
            _ => 1,
        };
        if model.outputs() != want {
            return Err(format!("{} outputs, expected {want}", model.outputs()));
        }
        let fits = model.normals.is_empty() || model.normals.len() == want;
        if !fits || !model.normals.iter().all(Normals::usable) {
            return Err("`normals` do not fit the outputs".into());
        }
        Ok(model)
    }
}

fn restored_learner(meta: &Value) -> Read<Learner> {
    let name = meta["learner"].as_str().ok_or("the learner's name is missing")?;
    let entry = Learner::find(name).map_err(|e| e.to_string())?;
    let learner = entry.learner().with_params(&meta["params"]).map_err(|e| e.to_string())?;
    learner.check().map_err(|e| e.to_string())?;
    if learner.entry().name != name {
        return Err(format!("the parameters are those of {}, not of {name}", learner.entry().name));
    }
    Ok(learner)
}

fn restored_readout(meta: &Value, expansion: &Expansion, bundle: &Bundle) -> Read<Readout> {
    if meta == "plain" {
        return Ok(Readout::Plain);
    }
    let numbers = |name: &str, want: usize| match &bundle.get(name)?.values {
        Values::F64(v) if v.len() == want && v.iter().all(|v| v.is_finite()) => Ok(v.clone()),
        _ => Err(format!("tensor `{name}` is not of {want} finite f64")),
    };
    let size = |v: &Value| v.as_u64().filter(|v| (1..1 << 32).contains(v)).map(|v| v as usize);
    if let Some(values) = size(&meta["votes"]) {
        let weight = numbers("votes", expansion.outputs().saturating_mul(values))?;
        return Ok(Readout::Votes(Votes { weight, values }));
    }
    let (Some(values), Some(neighbours)) = (size(&meta["nearest"]), size(&meta["neighbours"])) else {
        return Err(format!("`readout` is {meta}, expected plain, votes or nearest"));
    };
    let m = expansion.len();
    let (says, own) = (numbers("says", m.saturating_mul(values))?, numbers("own", m)?);
    Ok(Readout::Nearest(Nearest { neighbours, says, values, own }))
}

fn restored_facts(meta: &Value) -> Vec<(&'static str, f64)> {
    let known = FunctionModel::FACTS.iter();
    known.filter_map(|name| meta[*name].as_f64().map(|v| (*name, v))).collect()
}
