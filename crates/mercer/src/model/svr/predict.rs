//! What a fitted regression says about new points, and how it is kept in a file.

use serde_json::{Value, json};

use super::{SvrModel, SvrParams};
use crate::data::{Bundle, View};
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::model::common::outputs;
use crate::model::persist::{
    Persist, Read, finite, params, restored_checkpoint, restored_info, restored_rows, saved_info,
    saved_params, store_checkpoint, store_rows,
};

impl SvrModel {
    /// f at new points.
    pub fn predict(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        outputs(&self.expansion, points, exec)
    }
}

impl Persist for SvrModel {
    const TAG: &'static str = "svr";

    fn store(&self, bundle: &mut Bundle) -> Result<Value> {
        let expansion = self.expansion.store("f", bundle)?;
        store_rows("support", &self.support, bundle);
        store_checkpoint(self.checkpoint.as_deref(), bundle);
        Ok(json!({
            "expansion": expansion,
            "params": saved_params(&self.params)?,
            "epsilon": self.epsilon,
            "noise": self.noise,
            "bounded": self.bounded,
            "info": saved_info(&self.info),
        }))
    }

    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self> {
        let expansion = Expansion::restore("f", &meta["expansion"], bundle)?;
        if expansion.outputs() != 1 {
            return Err(format!("a regression with {} outputs, expected 1", expansion.outputs()));
        }
        let params: SvrParams = params(meta)?;
        params.check().map_err(|e| e.to_string())?;
        Ok(SvrModel {
            expansion,
            params,
            epsilon: finite(meta, "epsilon")?,
            noise: finite(meta, "noise")?,
            support: restored_rows("support", bundle)?,
            bounded: meta["bounded"].as_u64().ok_or("`bounded` is missing")? as usize,
            checkpoint: restored_checkpoint(bundle)?,
            info: restored_info(meta)?,
        })
    }
}
