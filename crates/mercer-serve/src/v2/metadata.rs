//! Inputs and outputs of a model, as the protocol describes it.

use mercer::data::table::Kind;
use mercer::model::Task;
use serde_json::{Value, json};

use crate::models::Served;
use crate::outputs::Output;

/// The metadata of a model.
pub(super) fn of(served: &Served, versions: &[String]) -> Value {
    let outputs: Vec<Value> = served.outputs.iter().map(|output| described(served, *output)).collect();
    json!({
        "name": served.name,
        "versions": versions,
        "platform": "mercer",
        "inputs": inputs(served),
        "outputs": outputs,
        "parameters": {
            "task": served.model.task(),
            "learner": served.model.kind(),
            "kernel": served.model.entry().kernel().to_string(),
            "centres": served.model.entry().len(),
            "classes": served.classes,
            "columns": served.model.names.columns,
            "target": served.model.names.target,
            "sha256": served.digest,
        },
    })
}

/// The inputs: a tensor per column for tables, else one matrix.
pub(crate) fn inputs(served: &Served) -> Vec<Value> {
    if served.alphabet.is_some() {
        return vec![json!({ "name": "rows", "datatype": "BYTES", "shape": [-1] })];
    }
    if served.table {
        let one = |(name, kind): &(String, Option<Kind>)| {
            let datatype = if *kind == Some(Kind::Number) { "FP64" } else { "BYTES" };
            json!({ "name": name, "datatype": datatype, "shape": [-1, 1] })
        };
        return served.model.column_kinds().iter().map(one).collect();
    }
    let columns = served.columns.map_or(-1, |d| d as i64);
    vec![json!({ "name": "rows", "datatype": "FP64", "shape": [-1, columns] })]
}

fn described(served: &Served, output: Output) -> Value {
    let width = output.width(&served.model) as i64;
    let (datatype, shape) = match output {
        Output::Rejected => ("BOOL", json!([-1])),
        Output::Label if served.model.task() == Task::Regression => ("FP64", json!([-1])),
        Output::Label => ("BYTES", json!([-1])),
        _ => ("FP64", json!([-1, if width == 0 { -1 } else { width }])),
    };
    json!({ "name": output.name(), "datatype": datatype, "shape": shape })
}
