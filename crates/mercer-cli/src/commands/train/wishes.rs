//! What the flags of a training ask of the library.

use std::collections::{BTreeMap, HashSet};

use mercer::data::Stages;
use mercer::model::{Learner, Scaling, Task, Wishes};
use mercer::param::{Param, written};
use serde_json::{Value, json};

use super::args::{ClassWeight, Multiclass, OrAuto, Slack, Training};
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::model;

impl Training {
    pub(super) fn wishes(&self, task: Option<Task>, context: &Context) -> Result<Wishes, Failure> {
        let scaling = scaling(self.scale.as_deref())?;
        let mut params: Vec<(&'static str, Value)> = Vec::new();
        let numbers = [
            ("c", self.c.and_then(OrAuto::value)),
            ("nu", self.nu),
            ("epsilon", self.epsilon),
            ("delta", self.delta),
            ("lambda", self.lambda),
            ("shift", self.shift),
            ("tol", self.tol),
        ];
        params.extend(numbers.into_iter().filter_map(|(name, v)| v.map(|v| (name, written(v)))));
        params.extend(self.max_iter.map(|n| ("max_iter", json!(n))));
        params.extend(self.multiclass.map(|multi| {
            let word = if multi == Multiclass::Ovr { "one_vs_rest" } else { "one_vs_one" };
            ("multi", json!(word))
        }));
        params.extend(self.slack.map(|slack| {
            let word = if slack == Slack::Squared { "squared" } else { "linear" };
            ("slack", json!(word))
        }));
        params.extend(weights(&self.class_weight)?.map(|weights| ("class_weights", weights)));
        if self.probability {
            params.push(("probability", json!(true)));
        }
        params.extend(self.virtual_vectors.as_ref().map(|line| ("virtual_vectors", json!(line))));
        params.extend(self.virtual_kernel.as_ref().map(|line| ("virtual_kernel", json!(line))));
        params.extend(self.virtual_rounds.map(|n| ("virtual_rounds", json!(n))));
        if self.virtual_union {
            params.push(("virtual_union", json!(true)));
        }
        if self.no_shrinking {
            params.push(("shrinking", json!(false)));
        }
        params.extend(settings(self.learner.as_deref(), &self.set)?);
        given_once(params.iter().map(|(name, _)| *name))?;
        if params.iter().all(|(name, _)| *name != SEED) {
            params.extend(passed_along(context));
        }
        Ok(Wishes {
            task,
            learner: self.learner.clone(),
            kernel: self.kernel.clone(),
            gamma: self.gamma.and_then(OrAuto::value),
            scaling,
            features: self.features.as_deref().map(|file| model::read(file, context.exec)).transpose()?,
            params,
            classes: self.reading.insists_on_classes(),
            seed: context.seed,
        })
    }
}

/// What `--scale` asks for.
pub(in crate::commands) fn scaling(line: Option<&str>) -> Result<Scaling, Failure> {
    Ok(match line {
        None | Some("auto") => Scaling::Auto,
        Some("none") => Scaling::Given(Vec::new()),
        // LIBSVM's range, because most who ask for it come from there.
        Some("minmax") => Scaling::Given(Stages::parse("minmax(-1, 1)")?),
        Some(line) => Scaling::Given(Stages::parse(line)?),
    })
}

/// A learner and scaling, and what every surface passes along.
pub(in crate::commands) fn wishes_for(
    learner: Option<String>,
    scaling: Scaling,
    context: &Context,
) -> Wishes {
    Wishes { learner, scaling, params: passed_along(context), seed: context.seed, ..Wishes::default() }
}

const SEED: &str = "seed";

fn passed_along(context: &Context) -> Vec<(&'static str, Value)> {
    vec![(SEED, json!(context.seed))]
}

/// Fails where a parameter has two values: which of them is meant cannot be known.
pub(in crate::commands) fn given_once<'a>(names: impl Iterator<Item = &'a str>) -> Done {
    let mut known = HashSet::new();
    for name in names {
        if !known.insert(name) {
            return Err(Failure::usage(format!("{name} is given twice"), "give it one value"));
        }
    }
    Ok(())
}

fn weights(all: &[ClassWeight]) -> Result<Option<Value>, Failure> {
    let mut given = BTreeMap::new();
    for weight in all {
        match weight {
            ClassWeight::Of(name, w) => {
                if given.insert(name.clone(), *w).is_some() {
                    return Err(Failure::usage(
                        format!("the class {name} has two weights"),
                        "give it one weight",
                    ));
                }
            }
            ClassWeight::Balanced if all.len() > 1 => {
                return Err(Failure::usage(
                    "--class-weight balanced and a weight for a single class are mutually exclusive",
                    "pass one or the other",
                ));
            }
            ClassWeight::Balanced => return Ok(Some(json!("balanced"))),
        }
    }
    Ok((!given.is_empty()).then(|| json!({ "given": given })))
}

/// Parameters by name, as values of the types in the learner's table.
fn settings(
    learner: Option<&str>,
    given: &[(String, String)],
) -> Result<Vec<(&'static str, Value)>, Failure> {
    let Some(learner) = learner else {
        if let Some((name, _)) = given.first() {
            return Err(Failure::usage(
                format!("--set {name} needs --learner"),
                "name the learner that takes it",
            ));
        }
        return Ok(Vec::new());
    };
    let entry = Learner::find(learner)?;
    let table = entry.learner().table();
    let mut out = Vec::new();
    for (name, value) in given {
        if name == "memory" {
            return Err(Failure::usage(
                format!("{learner} has no parameter memory"),
                "--memory SIZE limits the whole run",
            ));
        }
        let names = || table.iter().map(|s| s.name).filter(|n| entry.takes(n)).collect::<Vec<_>>().join(", ");
        let spec = Param::find(table, name).filter(|_| entry.takes(name)).ok_or_else(|| {
            Failure::usage(
                format!("{learner} has no parameter {name}"),
                format!("its parameters are {}", names()),
            )
        })?;
        let value = match value.parse::<f64>() {
            _ if value == "true" || value == "false" => json!(value == "true"),
            Ok(number) if number.fract() == 0.0 && number.abs() < 1e15 => json!(number as i64),
            Ok(number) => written(number),
            Err(_) => json!(value.replace('-', "_")),
        };
        out.push((spec.name, value));
    }
    Ok(out)
}
