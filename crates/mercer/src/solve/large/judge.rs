//! Held-out rows, which measure the error during training.

use super::{Loss, Own};
use crate::exec::Exec;
use crate::num::{Buffer, Mat, Real, product};

/// Held-out rows with their targets.
pub(crate) struct Judge<'a> {
    /// Their values against all centres, row by row.
    pub(crate) values: Own,
    /// A few numbers for each.
    pub(crate) targets: &'a [f64],
}

impl Judge<'_> {
    /// The mean error of a function: the share of wrong classes, or the mean square.
    pub(super) fn error(&self, loss: &dyn Loss, coef: &[f64], offset: &[f64], exec: Exec) -> f64 {
        let out = match &self.values {
            Own::Single(values) => outputs(values, coef, offset, exec),
            Own::Double(values) => outputs(values, coef, offset, exec),
        };
        let k = offset.len();
        let n = out.len() / k;
        let wide = self.targets.len() / n.max(1);
        let errors = out.chunks(k).zip(self.targets.chunks(wide.max(1))).map(|(f, t)| loss.error(t, f));
        errors.sum::<f64>() / n.max(1) as f64
    }
}

fn outputs<T: Real>(values: &Buffer<T>, coef: &[f64], offset: &[f64], exec: Exec) -> Vec<f64> {
    let k = offset.len();
    let m = coef.len() / k;
    let n = values.len() / m.max(1);
    let short: Vec<T> = coef.iter().map(|c| T::of(*c)).collect();
    let mut out = vec![T::ZERO; n * k];
    product::nn(&mut out, Mat::new(values, n, m), Mat::new(&short, m, k), exec.threads());
    out.chunks(k).flat_map(|line| line.iter().zip(offset).map(|(f, b)| f.f64() + b)).collect()
}
