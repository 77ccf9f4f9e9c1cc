//! Points and expansions as named tensors, and back.

use serde_json::json;

use super::Expansion;
use crate::data::{Bundle, Csr, Data, ImageShape, Points, Sequences, Values};
use crate::exec::half_of_ram;
use crate::kernel::Kernel;

type Read<T> = std::result::Result<T, String>;

impl Expansion {
    /// Adds this expansion to a bundle under a name; the returned value belongs in the metadata.
    pub fn store(&self, name: &str, bundle: &mut Bundle) -> crate::Result<serde_json::Value> {
        let kernel =
            serde_json::to_value(&self.kernel).map_err(|e| crate::Error::Unsupported(e.to_string()))?;
        let points = store_points(&self.centres, &format!("{name}.centres"), bundle);
        store_coef(&self.coef, self.outputs(), name, bundle);
        bundle.put_f64(format!("{name}.offset"), &[self.outputs()], self.offset.clone());
        Ok(json!({ "kernel": kernel, "centres": points, "outputs": self.outputs() }))
    }

    /// Reads an expansion from a bundle; errors say what is wrong with it.
    pub fn restore(name: &str, meta: &serde_json::Value, bundle: &Bundle) -> Read<Expansion> {
        let line = meta["kernel"].as_str().ok_or("the kernel is missing")?;
        let kernel: Kernel = line.parse().map_err(|e: crate::Error| e.to_string())?;
        let centres = restore_points(&meta["centres"], &format!("{name}.centres"), bundle)?;
        let k = meta["outputs"].as_u64().ok_or("the number of outputs is missing")? as usize;
        let coef = restore_coef(centres.len(), k, name, bundle)?;
        let offset = bundle.f64(&format!("{name}.offset"), &[k])?.to_vec();
        Expansion::new(kernel, centres, coef, offset).map_err(|e| e.to_string())
    }
}

/// Fewer coefficients than this are stored densely.
const FEW: usize = 1 << 16;

/// Adds coefficients to a bundle. One-vs-one machines of many classes share their centres, and most coefficients are
/// 0: where it saves space, the outputs and values of each centre are stored instead.
fn store_coef(coef: &[f64], k: usize, name: &str, bundle: &mut Bundle) {
    let (m, there) = (coef.len() / k.max(1), coef.iter().filter(|c| **c != 0.0).count());
    if coef.len() < FEW || 2 * there > coef.len() {
        bundle.put_f64(format!("{name}.coef"), &[m, k], coef.to_vec());
        return;
    }
    let mut csr = (vec![0u64], Vec::with_capacity(there), Vec::with_capacity(there));
    for line in coef.chunks(k) {
        for (o, &c) in (0u32..).zip(line).filter(|(_, c)| **c != 0.0) {
            csr.1.push(o);
            csr.2.push(c);
        }
        csr.0.push(csr.1.len() as u64);
    }
    bundle.put(format!("{name}.coef.start"), &[m + 1], Values::U64(csr.0));
    bundle.put(format!("{name}.coef.output"), &[there], Values::U32(csr.1));
    bundle.put_f64(format!("{name}.coef.value"), &[there], csr.2);
}

fn restore_coef(m: usize, k: usize, name: &str, bundle: &Bundle) -> Read<Vec<f64>> {
    let part = |p: &str| format!("{name}.coef.{p}");
    if !bundle.tensors.contains_key(&part("start")) {
        return Ok(bundle.f64(&format!("{name}.coef"), &[m, k])?.to_vec());
    }
    let (start, output) = (bundle.get(&part("start"))?, bundle.get(&part("output"))?);
    let value = bundle.f64(&part("value"), &output.shape)?;
    let (Values::U64(start), Values::U32(output)) = (&start.values, &output.values) else {
        return Err(format!("`{name}.coef` holds the wrong data types"));
    };
    // Offsets into the values: non-decreasing from 0 to the end, one per centre and one more.
    let rises = start.first() == Some(&0) && start.windows(2).all(|w| w[0] <= w[1]);
    if start.len() != m.saturating_add(1) || !rises || start.last() != Some(&(output.len() as u64)) {
        return Err(format!(
            "`{name}.coef.start` does not divide {} coefficients into {m} centres",
            output.len()
        ));
    }
    // A small file must not cause an allocation larger than the machine's memory.
    let bytes = m.checked_mul(k).and_then(|all| all.checked_mul(size_of::<f64>()));
    if bytes.is_none_or(|bytes| bytes > half_of_ram()) {
        return Err(format!("`{name}.coef` of {m} centres and {k} outputs does not fit into memory"));
    }
    let mut coef = vec![0.0; m * k];
    for (line, w) in coef.chunks_mut(k.max(1)).zip(start.windows(2)) {
        for at in w[0] as usize..w[1] as usize {
            let place = line.get_mut(output[at] as usize);
            *place.ok_or(format!("`{name}.coef.output` names output {}, of {k}", output[at]))? = value[at];
        }
    }
    Ok(coef)
}

/// Adds points to a bundle under a name; the returned value belongs in the metadata.
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
        // No kernel accepts a table, so no expansion contains one.
        Data::Table { .. } => "table",
    };
    json!({ "kind": kind, "rows": n, "columns": d, "image": points.image() })
}

/// Reads points from a bundle; errors say what is wrong with them.
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
        _ => return Err(format!("`{name}` is of the unknown kind {}", meta["kind"])),
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
        _ => Err(format!("`{name}` has an invalid image shape")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_that_are_mostly_0_take_little_room_and_come_back() {
        let (m, k) = (400, 300);
        let centres = Points::dense((0..m).map(|i| i as f64).collect(), 1).expect("rows");
        let coef: Vec<f64> = (0..m * k).map(|i| if i % 97 == 0 { i as f64 + 0.1 } else { 0.0 }).collect();
        let sparse = Expansion::new(Kernel::Linear, centres.clone(), coef, vec![0.5; k]).expect("fits");
        let full = Expansion::new(Kernel::Linear, centres, vec![1.5; m * k], vec![0.0; k]).expect("fits");
        for expansion in [&sparse, &full] {
            let mut bundle = Bundle::default();
            let meta = expansion.store("f", &mut bundle).expect("stored");
            assert_eq!(&Expansion::restore("f", &meta, &bundle).expect("restored"), expansion);
            let values: usize = bundle.tensors.values().map(|t| t.shape.iter().product::<usize>()).sum();
            assert_eq!(values < m * k / 10, expansion == &sparse, "{values}");
        }
        let mut bundle = Bundle::default();
        let meta = sparse.store("f", &mut bundle).expect("stored");
        let with = |name: &str, values: Values| {
            let mut bundle = bundle.clone();
            let shape = bundle.tensors[name].shape.clone();
            bundle.put(name, &shape, values);
            Expansion::restore("f", &meta, &bundle)
        };
        let there = bundle.tensors["f.coef.output"].shape[0];
        assert!(with("f.coef.output", Values::U32(vec![k as u32; there])).is_err());
        assert!(with("f.coef.start", Values::U64(vec![0; m + 1])).is_err());
        assert!(with("f.coef.start", Values::U64(vec![u64::MAX; m + 1])).is_err());
        assert!(with("f.coef.value", Values::F32(vec![0.0; there])).is_err());
    }
}
