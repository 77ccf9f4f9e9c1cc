//! Exact leave-one-out predictions of ridge regression and least-squares machines, without retraining.
//!
//! With `A = K + lambda W^-1` and, where there is an offset, the bordered `G = [A 1; 1' 0]`,
//!
//! ```text
//! y_i - f^i(x_i) = c_i / (A^-1)_ii,   with an offset  c_i / (G^-1)_ii        (Allen 1974; Cawley and Talbot 2003)
//! ```
//!
//! Classes are codes of +1 and -1, so this is also the leave-one-out error of Fisher's discriminant in feature space
//! with
//! |w|^2 as its regulariser, whose direction the least-squares machine has. Cost: n^3 for the inverse.

use serde::Serialize;

use crate::data::Targets;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram;
use crate::model::{RidgeParams, Sample, largest, right_sides};
use crate::num::factor;

/// For more rows the inverse needs too much memory.
const MOST: usize = 10_000;

/// Leave-one-out predictions of all rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeaveOneOut {
    /// Outputs, rows x outputs, row by row.
    pub outputs: Vec<f64>,
    /// The rows, without those of weight 0.
    pub rows: Vec<u32>,
    /// For classes, the number of wrong predictions.
    pub errors: Option<usize>,
    /// The error rate; for numbers the root mean squared error.
    pub error: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// Leaves out each row of the sample in turn.
pub fn ridge_leave_one_out(params: &RidgeParams, sample: Sample<'_>, exec: Exec) -> Result<LeaveOneOut> {
    params.check()?;
    sample.check()?;
    let keep: Vec<usize> = (0..sample.points.len()).filter(|&i| sample.weight(i) > 0.0).collect();
    let n = keep.len();
    if !(2..=MOST).contains(&n) {
        return Err(Error::shape("rows for leave-one-out estimates", n, format!("from 2 to {MOST}")));
    }
    let (right, _) = right_sides(sample.targets)?;
    let right: Vec<Vec<f64>> = right.iter().map(|y| keep.iter().map(|&i| y[i]).collect()).collect();
    let k = right.len();
    let mut a = if let Some(rows) = sample.gram {
        gram::exact(rows.subset(&keep.iter().map(|&i| i as u32).collect::<Vec<_>>()).as_ref(), exec)
    } else {
        let kernel = params.kernel_for(&sample)?;
        gram::square::<f64>(&kernel, sample.points.gather(&keep).view(), exec)?.to_vec()
    };
    for (i, &row) in keep.iter().enumerate() {
        a[i * n + i] += params.lambda / sample.weight(row);
    }
    let mut identity = vec![0.0; n * n];
    (0..n).for_each(|i| identity[i * n + i] = 1.0);
    let (inverse, _) = factor::solve_spd(&a, n, &identity, n)?;
    let row_sum: Vec<f64> = inverse.chunks(n).map(|line| line.iter().sum()).collect();
    let all: f64 = row_sum.iter().sum();
    let border = |i: usize| if params.offset { row_sum[i] * row_sum[i] / all } else { 0.0 };
    let mut outputs = vec![0.0; n * k];
    for (o, y) in right.iter().enumerate() {
        let solved: Vec<f64> =
            inverse.chunks(n).map(|line| line.iter().zip(y).map(|(a, y)| a * y).sum()).collect();
        let offset = if params.offset { solved.iter().sum::<f64>() / all } else { 0.0 };
        for i in 0..n {
            let coef = solved[i] - offset * row_sum[i];
            outputs[i * k + o] = y[i] - coef / (inverse[i * n + i] - border(i));
        }
    }
    let (errors, error) = if let Targets::Classes(labels) = sample.targets {
        let told = largest(&outputs, k);
        let errors = told.iter().zip(&keep).filter(|(c, i)| **c != labels.of_row[**i]).count();
        (Some(errors), errors as f64 / n as f64)
    } else {
        let squares: f64 = outputs.iter().zip(&right[0]).map(|(f, y)| (f - y).powi(2)).sum();
        (None, (squares / n as f64).sqrt())
    };
    Ok(LeaveOneOut {
        outputs,
        rows: keep.iter().map(|&i| i as u32).collect(),
        errors,
        error,
        assumes: "nothing: these are the predictions that training without each row gives",
    })
}
