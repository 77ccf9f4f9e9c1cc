//! Kernel PCA in model files. The mean shares its points with the axes where it can.

use serde_json::{Value, json};

use super::{KpcaModel, KpcaParams};
use crate::data::Bundle;
use crate::error::Result;
use crate::expansion::Expansion;
use crate::model::persist::{Persist, Read, finite, params, restored_info, saved_info, saved_params};

impl Persist for KpcaModel {
    const TAG: &'static str = "kpca";

    fn store(&self, bundle: &mut Bundle) -> Result<Value> {
        let expansion = self.expansion.store("f", bundle)?;
        let shared = self.mean.as_ref().is_some_and(|mean| mean.centres() == self.expansion.centres());
        let mean = match &self.mean {
            Some(mean) if shared => {
                bundle.put_f64("mean.coef", &[mean.len()], mean.coef().to_vec());
                Value::Bool(true)
            }
            Some(mean) => mean.store("mean", bundle)?,
            None => Value::Null,
        };
        bundle.put_f64("values", &[self.values.len()], self.values.clone());
        Ok(json!({
            "expansion": expansion,
            "mean": mean,
            "mean2": self.mean2,
            "total": self.total,
            "rows": self.rows,
            "params": saved_params(&self.params)?,
            "info": saved_info(&self.info),
        }))
    }

    fn restore(meta: &Value, bundle: &Bundle) -> Read<Self> {
        let expansion = Expansion::restore("f", &meta["expansion"], bundle)?;
        let mean = match &meta["mean"] {
            Value::Null => None,
            Value::Bool(_) => {
                let coef = bundle.f64("mean.coef", &[expansion.len()])?.to_vec();
                let (kernel, centres) = (expansion.kernel().clone(), expansion.centres().clone());
                Some(Expansion::new(kernel, centres, coef, vec![0.0]).map_err(|e| e.to_string())?)
            }
            other => Some(Expansion::restore("mean", other, bundle)?),
        };
        if let Some(mean) = &mean
            && (mean.outputs() != 1
                || mean.kernel() != expansion.kernel()
                || mean.centres().dim() != expansion.centres().dim())
        {
            return Err("the mean does not fit the axes".into());
        }
        let values = bundle.f64("values", &[expansion.outputs()])?.to_vec();
        if values.contains(&0.0) {
            return Err("an eigenvalue is 0".into());
        }
        let params: KpcaParams = params(meta)?;
        params.check().map_err(|e| e.to_string())?;
        let number = |key: &str| finite(meta, key)?.ok_or(format!("`{key}` is missing"));
        let (mean2, total) = (number("mean2")?, number("total")?);
        let rows = meta["rows"].as_u64().filter(|&r| r > 0).ok_or("`rows` is missing")? as usize;
        Ok(KpcaModel { expansion, mean, mean2, values, total, rows, params, info: restored_info(meta)? })
    }
}
