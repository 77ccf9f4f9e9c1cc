//! Points and expansions as named tensors, and back.

use serde_json::json;

use super::Expansion;
use crate::data::{Bundle, Csr, Data, ImageShape, Points, Sequences, Values};
use crate::kernel::Kernel;

type Read<T> = std::result::Result<T, String>;

impl Expansion {
    /// Adds this expansion to a bundle under a name; what it returns belongs into the metadata.
    pub fn store(&self, name: &str, bundle: &mut Bundle) -> crate::Result<serde_json::Value> {
        let kernel =
            serde_json::to_value(&self.kernel).map_err(|e| crate::Error::Unsupported(e.to_string()))?;
        let points = store_points(&self.centres, &format!("{name}.centres"), bundle);
        bundle.put_f64(format!("{name}.coef"), &[self.len(), self.outputs()], self.coef.clone());
        bundle.put_f64(format!("{name}.offset"), &[self.outputs()], self.offset.clone());
        Ok(json!({ "kernel": kernel, "centres": points, "outputs": self.outputs() }))
    }

    /// An expansion from a bundle; says what is wrong with it.
    pub fn restore(name: &str, meta: &serde_json::Value, bundle: &Bundle) -> Read<Expansion> {
        let line = meta["kernel"].as_str().ok_or("the kernel is missing")?;
        let kernel: Kernel = line.parse().map_err(|e: crate::Error| e.to_string())?;
        let centres = restore_points(&meta["centres"], &format!("{name}.centres"), bundle)?;
        let k = meta["outputs"].as_u64().ok_or("the number of outputs is missing")? as usize;
        let coef = bundle.f64(&format!("{name}.coef"), &[centres.len(), k])?.to_vec();
        let offset = bundle.f64(&format!("{name}.offset"), &[k])?.to_vec();
        Expansion::new(kernel, centres, coef, offset).map_err(|e| e.to_string())
    }
}

/// Adds points to a bundle under a name; what it returns belongs into the metadata.
pub(crate) fn store_points(points: &Points, name: &str, bundle: &mut Bundle) -> serde_json::Value {
    let view = points.view();
    let (n, d) = (view.n, view.d);
    let part = |p: &str| format!("{name}.{p}");
    let wide = |s: &[usize]| Values::U64(s.iter().map(|&s| s as u64).collect());
    let kind = match view.data {
        Data::F32(x) => {
            bundle.put(name, &[n, d], Values::F32(x.to_vec()));
            "f32"
        }
        Data::F64(x) => {
            bundle.put_f64(name, &[n, d], x.to_vec());
            "f64"
        }
        Data::Csr { start, column, value } => {
            bundle.put(part("start"), &[n + 1], wide(start));
            bundle.put(part("column"), &[column.len()], Values::U32(column.to_vec()));
            bundle.put_f64(part("value"), &[value.len()], value.to_vec());
            "sparse"
        }
        Data::Sequences { alphabet, start, symbol } => {
            bundle.put(part("start"), &[n + 1], wide(start));
            bundle.put(part("alphabet"), &[alphabet.len()], Values::U8(alphabet.to_vec()));
            bundle.put(part("symbol"), &[symbol.len()], Values::U8(symbol.to_vec()));
            "sequences"
        }
        Data::RowNumbers(r) => {
            bundle.put(name, &[n], Values::U32(r.to_vec()));
            "rows"
        }
    };
    json!({ "kind": kind, "rows": n, "columns": d, "image": points.image() })
}

/// Points from a bundle; says what is wrong with them.
pub(crate) fn restore_points(meta: &serde_json::Value, name: &str, bundle: &Bundle) -> Read<Points> {
    let number =
        |key: &str| meta[key].as_u64().map(|v| v as usize).ok_or(format!("`{name}` lacks its {key}"));
    let (n, d) = (number("rows")?, number("columns")?);
    let part = |p: &str| format!("{name}.{p}");
    let tensor = |name: &str, shape: &[usize]| -> Read<Values> {
        let t = bundle.get(name)?;
        if t.shape != shape {
            return Err(format!("tensor `{name}` has shape {:?}, expected {shape:?}", t.shape));
        }
        Ok(t.values.clone())
    };
    let flat = |p: &str| -> Read<Values> {
        let t = bundle.get(&part(p))?;
        let [_] = t.shape[..] else {
            return Err(format!("tensor `{}` has {} axes, expected 1", part(p), t.shape.len()));
        };
        Ok(t.values.clone())
    };
    let wrong = || format!("`{name}` holds other types than its kind {} has", meta["kind"]);
    let starts = || -> Read<Vec<usize>> {
        match tensor(&part("start"), &[n.saturating_add(1)])? {
            Values::U64(s) => Ok(s.iter().map(|&s| s as usize).collect()),
            _ => Err(wrong()),
        }
    };
    let built = match meta["kind"].as_str() {
        Some("f32") => match tensor(name, &[n, d])? {
            Values::F32(x) => Points::dense_f32(x, d),
            _ => return Err(wrong()),
        },
        Some("f64") => Points::dense(bundle.f64(name, &[n, d])?.to_vec(), d),
        Some("sparse") => match (flat("column")?, flat("value")?) {
            (Values::U32(column), Values::F64(value)) => {
                Points::sparse(Csr { start: starts()?, column, value }, d)
            }
            _ => return Err(wrong()),
        },
        Some("sequences") => match (flat("alphabet")?, flat("symbol")?) {
            (Values::U8(alphabet), Values::U8(symbol)) => {
                Points::sequences(Sequences { alphabet, start: starts()?, symbol })
            }
            _ => return Err(wrong()),
        },
        Some("rows") => match tensor(name, &[n])? {
            Values::U32(r) => Ok(Points::row_numbers(r)),
            _ => return Err(wrong()),
        },
        _ => return Err(format!("`{name}` is of kind {}, which this program does not know", meta["kind"])),
    };
    let points = built.map_err(|e| e.to_string())?;
    match serde_json::from_value::<Option<ImageShape>>(meta["image"].clone()) {
        Ok(None) => Ok(points),
        Ok(Some(shape))
            if shape
                .height
                .checked_mul(shape.width)
                .and_then(|a| a.checked_mul(shape.channels))
                .is_some() =>
        {
            points.with_image(shape).map_err(|e| e.to_string())
        }
        _ => Err(format!("`{name}` has an image shape that is none")),
    }
}
