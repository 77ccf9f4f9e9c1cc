//! Descriptions of models for reports.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Model, Part, Role, Task};
use crate::model::Learner;
use crate::watch::Info;

/// The parameters stored in files of other libraries.
pub(in crate::model) const IN_FILES: [&str; 4] = ["kernel", "kind", "loss", "probability"];

/// A description of a model, for reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// The learner: see [`Model::kind`].
    pub kind: &'static str,
    /// Its task.
    pub task: Task,
    /// The kernel's line.
    pub kernel: String,
    /// Number of centres.
    pub centres: usize,
    /// Columns of the centres.
    pub columns: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// The classes' names, where there are classes.
    pub classes: Vec<String>,
    /// The stages, one line each.
    pub stages: Vec<String>,
    /// Facts specific to the learner, by name.
    pub facts: Vec<(&'static str, Value)>,
    /// The parameters of the fit; null where a custom kernel cannot be serialised.
    pub params: Value,
    /// Statistics of the fit.
    pub info: Info,
}

impl Model {
    /// The description of the model.
    pub fn describe(&self) -> Description {
        let f = &self.machine.expansion;
        Description {
            kind: self.kind(),
            task: self.task(),
            kernel: f.kernel().to_string(),
            centres: f.len(),
            columns: f.centres().dim(),
            outputs: self.outputs(),
            classes: self.classes(),
            stages: self.stages.list.iter().map(crate::data::Stage::describe).collect(),
            facts: self.facts(),
            params: self.known(self.machine.learner.params().unwrap_or(Value::Null)),
            info: self.info().clone(),
        }
    }

    /// Whether the parameters of the fit are known. For a model fitted by another library only those in its file are;
    /// the others are this library's defaults.
    pub fn params_known(&self) -> bool {
        !self.machine.origin.foreign
    }

    /// Parameters without unknown ones.
    fn known(&self, params: Value) -> Value {
        match params {
            Value::Object(all) if !self.params_known() => {
                Value::Object(all.into_iter().filter(|(name, _)| IN_FILES.contains(&name.as_str())).collect())
            }
            params => params,
        }
    }

    /// Facts specific to the learner.
    fn facts(&self) -> Vec<(&'static str, Value)> {
        let m = &self.machine;
        let mut facts = Vec::new();
        if !m.parts.is_empty() {
            let each = |rows: fn(&Part) -> usize| m.parts.iter().map(rows).collect::<Vec<_>>();
            facts.push(("machines", json!(m.parts.len())));
            if !m.support.is_empty() {
                facts.push(("support_vectors", json!(m.support.len())));
            }
            // Models from other libraries and compressed ones do not know their training rows.
            if m.parts.iter().any(|p| p.free.len() + p.bounded.len() > 0) {
                facts.push(("free_per_machine", json!(each(|p| p.free.len()))));
                facts.push(("bounded_per_machine", json!(each(|p| p.bounded.len()))));
            }
            facts.push(("probabilities", json!(m.has_probabilities())));
        }
        facts.extend(m.reject.map(|r| ("reject", json!(r))));
        match &m.learner {
            Learner::Svr(p) => facts.push(("loss", json!(p.loss.name()))),
            Learner::OneClass(_) => facts.push(("rho", json!(-m.expansion.offset()[0]))),
            _ => {}
        }
        if let Some(ball) = m.ball() {
            facts.push(("radius2", json!(ball.radius2)));
        }
        let told = |&(name, v): &(&'static str, f64)| match name {
            "bounded" => (name, json!(v as u64)),
            _ => (name, json!(v)),
        };
        facts.extend(m.facts.iter().map(told));
        if let (Role::Features(features), Ok(components)) = (&m.role, m.components()) {
            facts.push(("components", json!(components.count())));
            facts.push(("values", json!(features.values)));
            facts.push(("share", json!(components.shares().iter().sum::<f64>())));
            facts.push(("rows", json!(features.rows)));
        }
        if let [.., last] = self.layers.as_slice() {
            facts.push(("features", json!(last.outputs())));
            facts.push(("features_kernel", json!(last.kernel().to_string())));
            facts.push(("features_centres", json!(last.len())));
        }
        facts
    }
}
