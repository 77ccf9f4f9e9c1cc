//! How a classifier is kept in a file.

use serde_json::{Value, json};

use super::{Checkpoint, Machine, Margin, Multi, Reject, Sides, SvcModel, SvcParams, multiclass};
use crate::data::{Bundle, Values};
use crate::error::Result;
use crate::expansion::Expansion;
use crate::model::persist::{
    Persist, Read, finite, params, restored_info, restored_names, restored_rows, saved_info, saved_params,
    store_rows,
};

impl Persist for SvcModel {
    const TAG: &'static str = "svc";

    fn store(&self, bundle: &mut Bundle) -> Result<Value> {
        let expansion = self.expansion.store("f", bundle)?;
        store_rows("support", &self.support, bundle);
        // The rows of all machines one after the other; their numbers are in the metadata.
        let all = |rows: fn(&Machine) -> &Vec<u32>| {
            self.machines.iter().flat_map(rows).copied().collect::<Vec<_>>()
        };
        store_rows("free", &all(|m| &m.free), bundle);
        store_rows("bounded", &all(|m| &m.bounded), bundle);
        let machines: Vec<Value> = self
            .machines
            .iter()
            .map(|m| {
                json!({
                    "sides": m.sides,
                    "rows": m.rows,
                    "free": m.free.len(),
                    "bounded": m.bounded.len(),
                    "objective": m.objective,
                    "margin": m.margin,
                    "sigmoid": m.sigmoid,
                })
            })
            .collect();
        Ok(json!({
            "expansion": expansion,
            "params": saved_params(&self.params)?,
            "names": self.classes,
            "machines": machines,
            "reject": self.reject,
            "checkpoint": self.checkpoint,
            "info": saved_info(&self.info),
        }))
    }

    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self> {
        let expansion = Expansion::restore("f", &meta["expansion"], bundle)?;
        let params: SvcParams = params(meta)?;
        params.check().map_err(|e| e.to_string())?;
        let classes = restored_names(meta)?;
        let mut rows = [Run::of("free", bundle)?, Run::of("bounded", bundle)?];
        let list = meta["machines"].as_array().ok_or("the machines are missing")?;
        let machines = list.iter().map(|m| machine(m, &mut rows)).collect::<Read<Vec<Machine>>>()?;
        let sides: Vec<Sides> = machines.iter().map(|m| m.sides).collect();
        let known = [Multi::OneVsOne, Multi::OneVsRest];
        // Counted before they are listed: a hundred thousand names claim five thousand million pairs.
        let fits = |&multi: &Multi| {
            multiclass::count(classes.len(), multi) == sides.len()
                && multiclass::machines(classes.len(), multi) == sides
        };
        if !known.iter().any(fits) {
            return Err(format!("{} machines that do not tell {} classes apart", sides.len(), classes.len()));
        }
        if expansion.outputs() != machines.len() {
            return Err(format!(
                "{} outputs, expected one for each of {} machines",
                expansion.outputs(),
                machines.len()
            ));
        }
        let part = |name: &str, e: serde_json::Error| format!("`{name}`: {e}");
        let reject: Option<Reject> =
            serde_json::from_value(meta["reject"].clone()).map_err(|e| part("reject", e))?;
        let checkpoint: Option<Checkpoint> =
            serde_json::from_value(meta["checkpoint"].clone()).map_err(|e| part("checkpoint", e))?;
        Ok(SvcModel {
            classes,
            expansion,
            machines,
            support: restored_rows("support", bundle)?,
            params,
            reject,
            checkpoint,
            info: restored_info(meta)?,
        })
    }
}

/// Row numbers of which each machine takes its share.
struct Run<'a> {
    name: &'static str,
    left: &'a [u32],
}

impl<'a> Run<'a> {
    fn of(name: &'static str, bundle: &'a Bundle) -> Read<Self> {
        match &bundle.get(name)?.values {
            Values::U32(left) => Ok(Run { name, left }),
            _ => Err(format!("tensor `{name}` is not of u32")),
        }
    }

    fn take(&mut self, machine: &Value) -> Read<Vec<u32>> {
        let count = machine[self.name].as_u64().and_then(|c| usize::try_from(c).ok());
        let (now, left) = count
            .and_then(|c| self.left.split_at_checked(c))
            .ok_or(format!("tensor `{}` holds fewer rows than its machines have", self.name))?;
        self.left = left;
        Ok(now.to_vec())
    }
}

fn machine(meta: &Value, rows: &mut [Run<'_>; 2]) -> Read<Machine> {
    let part = |name: &str, e: serde_json::Error| format!("a machine's {name}: {e}");
    let margin = match &meta["margin"] {
        Value::Null => None,
        // A radius that was never measured is not a number, which JSON cannot say.
        m => Some(Margin {
            width: finite(m, "width")?.ok_or("a margin without its width")?,
            at_most: finite(m, "at_most")?.ok_or("a margin without its bound")?,
            radius: finite(m, "radius")?.unwrap_or(f64::NAN),
        }),
    };
    Ok(Machine {
        sides: serde_json::from_value(meta["sides"].clone()).map_err(|e| part("sides", e))?,
        rows: meta["rows"].as_u64().ok_or("a machine without its number of rows")? as usize,
        free: rows[0].take(meta)?,
        bounded: rows[1].take(meta)?,
        objective: finite(meta, "objective")?.unwrap_or(f64::NAN),
        margin,
        sigmoid: serde_json::from_value(meta["sigmoid"].clone()).map_err(|e| part("sigmoid", e))?,
    })
}
