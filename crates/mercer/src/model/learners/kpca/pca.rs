//! Principal component analysis in input space: kernel PCA under the linear kernel, on the d x d matrix.
//!
//! `X'X` and `XX'` have the same non-zero eigenvalues, so n rows of d < n columns cost `n d^2 + 9 d^3` instead of
//! `n^2 d + 9 n^3`; axes are points, one centre each.

use super::{Found, KpcaParams};
use crate::data::{Data, Points};
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::num::{Mat, product};
use crate::solve::eigen::{self, Which};
use crate::watch::Info;

/// Whether the d x d matrix is the smaller one.
pub(super) fn cheap(kernel: &Kernel, sample: &Sample<'_>) -> bool {
    let numbers = matches!(sample.points.view().data, Data::F32(_) | Data::F64(_) | Data::Csr { .. });
    *kernel == Kernel::Linear && sample.gram.is_none() && numbers && sample.points.dim() < sample.points.len()
}

pub(super) fn fit(params: &KpcaParams, sample: &Sample<'_>, exec: Exec) -> Result<Found> {
    let view = sample.points.view();
    let (n, d) = (view.n, view.d);
    let mut x = view.to_f64_within(exec.memory())?;
    let mut mean = vec![0.0; d];
    if params.centred {
        x.chunks(d).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64));
        x.chunks_mut(d).for_each(|row| row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m));
    }
    let total: f64 = x.iter().map(|v| v * v).sum();
    let mut scatter = vec![0.0; d * d];
    product::tn(&mut scatter, Mat::new(&x, n, d), Mat::new(&x, n, d), exec.threads());
    let found = eigen::complete(scatter, d, Which::Largest, exec)?;
    let count = params.chosen(&found.values, total, 1e-12_f64.max(d as f64 * f64::EPSILON))?;
    let axes = &found.vectors[..count * d];
    let offset = axes.chunks(d).map(|a| -a.iter().zip(&mean).map(|(a, m)| a * m).sum::<f64>()).collect();
    let unit = (0..count * count).map(|p| f64::from(u8::from(p / count == p % count))).collect();
    let shaped = |points: Points| match sample.points.image() {
        Some(shape) => points.with_image(shape),
        None => Ok(points),
    };
    let mean2 = mean.iter().map(|m| m * m).sum();
    let expansion = Expansion::new(Kernel::Linear, shaped(Points::dense(axes.to_vec(), d)?)?, unit, offset)?;
    let mean = params
        .centred
        .then(|| Expansion::new(Kernel::Linear, shaped(Points::dense(mean, d)?)?, vec![1.0], vec![0.0]))
        .transpose()?;
    let note = format!("linear kernel: eigen-decomposition of the {d} x {d} matrix");
    Ok(Found {
        expansion,
        mean,
        mean2,
        values: found.values[..count].to_vec(),
        total,
        info: Info { notes: vec![note.into()], ..Info::default() },
    })
}
