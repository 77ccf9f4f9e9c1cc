//! Threshold between two classes on a discriminant's direction.

use super::{KfdParams, KfdThreshold};
use crate::data::{Labels, Points, Targets};
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::classified::Classified;
use crate::model::learners::given::Given;
use crate::model::{Calibration, Machine, Normals};
use crate::model::{Sample, SvcParams};
use crate::watch::Watch;

impl KfdParams {
    /// Sets the offset as the parameters specify, and fits the distribution of each class.
    ///
    /// Uses leave-one-out values where known, since training values are too optimistic.
    pub(super) fn place(
        &self,
        model: &mut Machine,
        given: &Given<'_>,
        classes: &Classified,
        left_out: Option<&[f64]>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        if self.threshold == KfdThreshold::Means {
            return Ok(());
        }
        let k = model.outputs();
        let values = match left_out {
            Some(values) if k == 1 => values.to_vec(),
            _ => training_values(model, given, classes)?,
        };
        let mut offset = model.expansion.offset().to_vec();
        let mut kept = Vec::new();
        for (o, offset) in offset.iter_mut().enumerate() {
            let own: Vec<f64> = values.iter().skip(o).step_by(k).copied().collect();
            let side = if k == 1 { 1 } else { o as u32 };
            let positive: Vec<bool> = classes.class.iter().map(|&c| c == side).collect();
            match self.threshold {
                KfdThreshold::Svm if k == 1 => {
                    *offset -= middle(&own, &positive, &classes.weight, given.exec, watch)?;
                }
                KfdThreshold::Probability => {
                    let mut normals = Normals::fit(&own, &positive, &classes.weight);
                    // Scores of several classes are comparable already: only their distributions are needed.
                    if k == 1 {
                        let at = normals.threshold();
                        *offset -= at;
                        normals.mean.iter_mut().for_each(|m| *m -= at);
                    }
                    kept.push(normals);
                }
                _ => {}
            }
        }
        model.expansion = model.expansion.with_offset(offset)?;
        if !kept.is_empty() {
            model.calibration = Calibration::Normals(kept);
        }
        Ok(())
    }
}

/// Outputs on the training rows, from the points or from their matrix.
fn training_values(model: &Machine, given: &Given<'_>, classes: &Classified) -> Result<Vec<f64>> {
    let exec = given.exec;
    let Some(gram) = given.sample.gram else {
        return model.decision(given.points(&classes.rows).view(), exec);
    };
    let (n, k) = (gram.len(), model.outputs());
    let mut out = vec![0.0; classes.rows.len() * k];
    for o in 0..k {
        let coef: Vec<f64> = model.expansion.coef().iter().skip(o).step_by(k).copied().collect();
        let mut f = vec![model.expansion.offset()[o]; n];
        gram.apply(&model.support, &coef, &mut f, exec);
        classes.rows.iter().enumerate().for_each(|(p, &i)| out[p * k + o] = f[i as usize]);
    }
    Ok(out)
}

/// The threshold of a linear machine on single numbers; 0, the middle of the means, if it finds no slope.
fn middle(
    values: &[f64],
    positive: &[bool],
    weight: &[f64],
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<f64> {
    let known: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    let points = Points::dense(known.iter().map(|&i| values[i]).collect(), 1)?;
    let of_row: Vec<u32> = known.iter().map(|&i| u32::from(positive[i])).collect();
    let weight: Vec<f64> = known.iter().map(|&i| weight[i]).collect();
    if of_row.iter().all(|&c| c == of_row[0]) {
        return Ok(0.0);
    }
    let targets = Targets::Classes(Labels { names: vec!["-".into(), "+".into()], of_row });
    let params = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
    let machine = params.fit(Sample::new(&points, &targets).weighted(&weight), exec, watch)?;
    let at = Points::dense(vec![0.0, 1.0], 1)?;
    let f = machine.decision(at.view(), exec)?;
    let (slope, offset) = (f[1] - f[0], f[0]);
    Ok(if slope > 1e-9 { -offset / slope } else { 0.0 })
}
