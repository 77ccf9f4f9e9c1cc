//! Calibration: outputs on held-out rows by cross-validation inside the fit, and a sigmoid fitted to them.
//!
//! Each fold's machine is the same problem with the held-out rows fixed at 0, so no second matrix is needed, and the
//! solver also returns f for the held-out rows. A class with a single row is calibrated too, with a note that its
//! probabilities are unreliable. Cost: about `folds` times the machine's own training.

use super::machine::{self, Task};
use super::params::SvcParams;
use crate::data::{Labels, split};
use crate::error::Result;
use crate::model::Sigmoid;
use crate::solve;
use crate::watch::{Stop, Watch};

/// The sigmoid of machine m; `None` if the watcher cancelled.
pub(super) fn sigmoid(
    params: &SvcParams,
    task: &Task<'_>,
    solver: &solve::Params,
    m: usize,
    watch: &mut Watch<'_>,
) -> Result<Option<Sigmoid>> {
    // Rows of weight 0 are not used for calibration.
    let rows: Vec<usize> = (0..task.positive.len()).filter(|&i| task.weight[i] > 0.0).collect();
    let labels = Labels {
        names: task.names.map(String::from).to_vec(),
        of_row: rows.iter().map(|&i| u32::from(task.positive[i])).collect(),
    };
    let fewest = labels.counts().into_iter().min().unwrap_or(0);
    let seed = params.seed.wrapping_add(m as u64);
    let splits = match fewest {
        0 | 1 => split::kfold(rows.len(), (params.folds as usize).min(rows.len()), seed)?,
        more => split::stratified_kfold(&labels, (params.folds as usize).min(more), seed)?,
    };
    let mut outputs = vec![0.0; rows.len()];
    for fold in splits {
        // The only row of a class is held out: the remaining rows have one class, which is the output, as in LIBSVM.
        let mut left = fold.train.iter().map(|&p| task.positive[rows[p]]);
        let first = left.next();
        if left.all(|side| Some(side) == first) {
            let output = first.map_or(0.0, |side| if side { 1.0 } else { -1.0 });
            fold.test.iter().for_each(|&p| outputs[p] = output);
            continue;
        }
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
