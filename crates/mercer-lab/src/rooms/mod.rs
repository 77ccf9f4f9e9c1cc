//! What each room asks of the library.

pub(crate) mod back;
pub(crate) mod components;
pub(crate) mod data;
pub(crate) mod digits;
pub(crate) mod plane;
mod work;
mod written;

use std::sync::Arc;

use mercer::data::toy;
use mercer::kernel::{Definiteness, Kernel, KernelEntry, Takes};
use mercer::model::Learner;
use mercer::param::{Allowed, Param};
use mercer_serve::error::Refusal;
use serde_json::{Map, Value, json};

use crate::reply::{Reply, json};
use crate::state::Lab;

/// `GET api/about`: every learner, kernel and toy set with its parameters, from their declarations: what sliders and help are
/// made of.
pub(crate) fn about(lab: &Lab) -> Reply {
    let learners: Vec<Value> = Learner::ALL
        .iter()
        .map(|entry| {
            let own = |param: &&Param| entry.takes(param.name);
            let learner = entry.learner();
            let params: Vec<Value> =
                learner.table().iter().filter(own).map(|p| param(p, learner.get(p.name).as_ref())).collect();
            json!({
                "name": entry.name, "doc": entry.doc, "tasks": entry.tasks, "known": entry.params, "params": params,
            })
        })
        .collect();
    let plane = |entry: &&KernelEntry| {
        let listed = |p: &Param| p.allowed == Allowed::Weights;
        entry.takes == Takes::Numbers && !entry.algebra && !entry.params.iter().any(listed) && takes(entry, 2)
    };
    let kernels: Vec<Value> = Kernel::ALL
        .iter()
        .filter(plane)
        .map(|entry| {
            let params: Vec<Value> = entry.params.iter().map(|p| param(p, None)).collect();
            json!({
                "name": entry.name, "doc": entry.doc, "formula": entry.formula, "params": params,
                "definiteness": entry.definiteness, "example": entry.examples.first(),
                "columns": if takes(entry, 1) { 1 } else { 2 },
            })
        })
        .collect();
    let fixed = toy::ALL.iter().map(|toy| json!({ "name": toy.name, "doc": toy.doc, "classes": false }));
    let free = toy::OF_CLASSES.iter().map(|toy| json!({ "name": toy.name, "doc": toy.doc, "classes": true }));
    let shapes: Vec<Value> = fixed.chain(free).collect();
    json(&json!({
        "version": env!("CARGO_PKG_VERSION"), "learners": learners, "kernels": kernels, "shapes": shapes,
        "threads": lab.exec.threads(), "largest": lab.limits.body,
    }))
}

/// Whether a kernel takes points of so many columns, of a line or of the plane: its first example does.
fn takes(entry: &KernelEntry, columns: usize) -> bool {
    let kernel = entry.examples.first().and_then(|line| Kernel::parse(line).ok());
    kernel.is_some_and(|kernel| kernel.check(Some(columns)).is_ok())
}

/// A parameter as a page needs it for a slider, a list or a switch.
fn param(param: &Param, value: Option<&Value>) -> Value {
    let number = |low: Option<f64>, high: Option<f64>, open: bool, whole: bool| json!({ "kind": "number", "low": low, "high": high, "open": open, "whole": whole });
    let allowed = match param.allowed {
        Allowed::Finite | Allowed::NotZero => number(None, None, false, false),
        Allowed::Above(low) | Allowed::AboveOrInf(low) => number(Some(low), None, true, false),
        Allowed::AtLeast(low) => number(Some(low), None, false, false),
        Allowed::UpTo(low, high) | Allowed::Between(low, high) => number(Some(low), Some(high), true, false),
        Allowed::Within(low, high) => number(Some(low), Some(high), false, false),
        Allowed::Whole(low) | Allowed::WholeOrNone(low) => number(Some(low as f64), None, false, true),
        Allowed::Count(low, high) => number(Some(low as f64), Some(high as f64), false, true),
        Allowed::OneOf(words) => json!({ "kind": "words", "words": words }),
        Allowed::Flag => json!({ "kind": "flag" }),
        _ => json!({ "kind": "text" }),
    };
    json!({
        "name": param.name, "doc": param.doc, "default": param.default, "allowed": allowed,
        "range": param.allowed.to_string(), "value": value,
    })
}

/// `POST api/jobs/KIND`: starts long work and returns the job.
pub(crate) fn start(lab: &Arc<Lab>, kind: &str, body: &[u8]) -> Reply {
    let job = match kind {
        "train" => work::train(lab, body)?,
        "tune" => work::tune(lab, body)?,
        "explain" => work::explain(lab, body)?,
        "compress" => work::compress(lab, body)?,
        "digits" => digits::train(lab),
        _ => return Err(Refusal::missing(format!("no job of kind `{kind}`"))),
    };
    json(&job.facts())
}

/// A kernel's line. A conditionally negative kernel stands for its negative, which is the one that learners take.
pub(crate) fn kernel(line: &str) -> mercer::Result<Kernel> {
    let kernel = Kernel::parse(line)?;
    if kernel.definiteness() == Definiteness::ConditionalNegative {
        return Ok(Kernel::Scaled { factor: -1.0, of: Box::new(kernel) });
    }
    Ok(kernel)
}

/// A learner by name with parameters as a page sends them: numbers, words, flags.
pub(crate) fn learner(
    name: &str,
    kernel: Option<Kernel>,
    params: &Map<String, Value>,
) -> mercer::Result<Learner> {
    let mut learner = Learner::find(name)?.learner();
    if let Some(kernel) = kernel {
        learner.set_kernel(kernel);
    }
    for (name, value) in params {
        learner.set(name, value.clone())?;
    }
    learner.check()?;
    Ok(learner)
}
