//! Stages by plain operators: scaling, unit rows, powers and linear maps.

use super::graph::{Graph, Name};
use crate::data::Stage;
use crate::error::{Error, Result};

/// Points after a stage.
pub(super) fn apply(g: &mut Graph, stage: &Stage, x: &str) -> Result<Name> {
    let parts = stage.to_parts();
    let about = &parts.header["stage"];
    let number = |name: &str| about[name].as_f64().unwrap_or(f64::NAN);
    let array = |name: &str| {
        let found = parts.tensors.iter().find(|t| t.name == name);
        found.map(|t| t.values.as_slice()).unwrap_or_default()
    };
    let d = stage.input_dim();
    Ok(match stage.name() {
        "scale" => g.affine(x, number("by"), number("add")),
        "minmax" => {
            // A column constant in training is the value of [lo, hi] nearest 0 from then on.
            let (lo, hi) = (number("lo"), number("hi"));
            let of = |(min, max): (&f64, &f64)| {
                if min == max {
                    [0.0, 1.0, 0.0, 0.0f64.clamp(lo, hi)]
                } else {
                    [*min, max - min, hi - lo, lo]
                }
            };
            let each: Vec<[f64; 4]> = array("min").iter().zip(array("max")).map(of).collect();
            let mut row = |part: usize| {
                let values: Vec<f64> = (0..d).map(|j| each[j % each.len()][part]).collect();
                g.doubles(&[1, d], &values)
            };
            let [shift, width, gain, base] = [0, 1, 2, 3].map(&mut row);
            let x = g.op("Sub", &[x, &shift]);
            let x = g.op("Div", &[&x, &width]);
            let x = g.op("Mul", &[&x, &gain]);
            g.op("Add", &[&x, &base])
        }
        "standard" => {
            let mut row = |values: &[f64]| {
                let values: Vec<f64> = (0..d).map(|j| values[j % values.len()]).collect();
                g.doubles(&[1, d], &values)
            };
            let (mean, std) = (row(array("mean")), row(array("std")));
            let x = g.op("Sub", &[x, &mean]);
            g.op("Div", &[&x, &std])
        }
        "unit" => {
            let square = g.op("Mul", &[x, x]);
            let sum = g.sum(&square, 1);
            let norm = g.op("Sqrt", &[&sum]);
            let (zero, one) = (g.number(0.0), g.number(1.0));
            let some = g.op("Greater", &[&norm, &zero]);
            let norm = g.op("Where", &[&some, &norm, &one]);
            g.op("Div", &[x, &norm])
        }
        "power" => {
            let sign = g.op("Sign", &[x]);
            let size = g.op("Abs", &[x]);
            let size = g.power(&size, number("p"));
            g.op("Mul", &[&sign, &size])
        }
        "linear" => {
            let (matrix, offset) = (array("matrix"), array("offset"));
            let k = offset.len();
            let turned: Vec<f64> = (0..d * k).map(|at| matrix[at % k * d + at / k]).collect();
            let (turned, offset) = (g.doubles(&[d, k], &turned), g.doubles(&[1, k], offset));
            let x = g.op("MatMul", &[x, &turned]);
            g.op("Add", &[&x, &offset])
        }
        name => {
            return Err(Error::Unsupported(format!(
                "the stage {name} cannot be exported to ONNX; supported are scale, minmax, standard, unit, power and linear"
            )));
        }
    })
}
