//! Outputs for rows a machine was not trained on, by cross-validation inside the fit, and the sigmoid through them.
//!
//! Each fold's machine is the same problem with the held-out rows fixed at 0: no second matrix is needed, and the solver
//! hands out f for the held-out rows along with the rest. Cost: about `folds` times the machine's own training.

use super::machine::{self, Task};
use super::params::SvcParams;
use crate::data::{Labels, split};
use crate::error::{Error, Result};
use crate::model::Sigmoid;
use crate::solve;
use crate::watch::{Stop, Watch};

/// The sigmoid of machine m; none if the watcher broke off.
pub(super) fn sigmoid(
    params: &SvcParams,
    task: &Task<'_>,
    solver: &solve::Params,
    m: usize,
    watch: &mut Watch<'_>,
) -> Result<Option<Sigmoid>> {
    // Rows without weight are nobody's evidence.
    let rows: Vec<usize> = (0..task.positive.len()).filter(|&i| task.weight[i] > 0.0).collect();
    let labels = Labels {
        names: task.names.map(String::from).to_vec(),
        of_row: rows.iter().map(|&i| u32::from(task.positive[i])).collect(),
    };
    let fewest = labels.counts().into_iter().min().unwrap_or(0);
    if fewest < 2 {
        let what = format!("rows to calibrate {} against {}", task.names[0], task.names[1]);
        return Err(Error::shape(what, fewest, "at least 2 of each class"));
    }
    let folds = (params.folds as usize).min(fewest);
    let mut outputs = vec![0.0; rows.len()];
    for fold in split::stratified_kfold(&labels, folds, params.seed.wrapping_add(m as u64))? {
        let mut weight = task.weight.to_vec();
        fold.test.iter().for_each(|&p| weight[rows[p]] = 0.0);
        let solved = machine::train(params, &Task { weight: &weight, ..*task }, None, solver, watch, None)?;
        if solved.info.stop == Stop::Cancelled {
            return Ok(None);
        }
        fold.test.iter().for_each(|&p| outputs[p] = solved.output[rows[p]]);
    }
    let positive: Vec<bool> = rows.iter().map(|&i| task.positive[i]).collect();
    Ok(Some(Sigmoid::fit(&outputs, &positive)))
}
