//! Axes in the span of some rows: PCA of the images' projections onto it.
//!
//! With landmarks z and `K_zz = U S U'`, the rows `F = K_xz U S^-1/2` are the projections in an orthonormal basis of the
//! span, so that `K ~ F F'` (Nystroem), and PCA of F (r x r) gives axes `z`-expansions with coefficients `U S^-1/2 w`.
//! Landmarks are drawn at random, or picked by an incomplete Cholesky factor: then the largest rest decides. What the
//! span leaves of the trace, `1 - |F|^2 / trace K`, is told. Cost: `n m d + n m^2`.

use super::{Found, KpcaMethod, KpcaParams, drawn};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::num::{Mat, factor, product};
use crate::solve::eigen::{self, Which};
use crate::watch::Info;

/// Rows of F computed at a time.
const BATCH: usize = 2048;
/// Landmarks, where nobody says how many.
const LANDMARKS: usize = 1000;

pub(super) fn fit(
    params: &KpcaParams,
    kernel: &Kernel,
    sample: &Sample<'_>,
    landmarks: Option<&[usize]>,
    exec: Exec,
) -> Result<Found> {
    if sample.gram.is_some() || gram::is_precomputed(kernel) {
        return Err(Error::Unsupported(
            "landmarks need points and a kernel, not a matrix of its values".into(),
        ));
    }
    if params.indefinite(kernel) {
        return Err(Error::Unsupported(format!(
            "landmarks need a positive definite kernel: `{kernel}` is not known to be"
        )));
    }
    let points = sample.points.view();
    let n = points.n;
    let most = landmarks.map_or(LANDMARKS.min(n), <[usize]>::len);
    let chosen = match (params.method, landmarks) {
        (KpcaMethod::Cholesky, _) => gram::pivoted_cholesky(kernel, points, most, params.tol, exec)?.pivots,
        (_, Some(rows)) => rows.to_vec(),
        (_, None) => drawn(n, most, params.seed)?,
    };
    let z = sample.points.gather(&chosen);
    let m = z.len();
    let own = gram::square::<f64>(kernel, z.view(), exec)?;
    let (s, u) = factor::eigen(&own, m)?;
    let rank = s.iter().take_while(|&&v| v > 1e-12 * s[0].max(0.0)).count();
    let half: Vec<f64> = (0..m * rank).map(|p| u[p / rank * m + p % rank] / s[p % rank].sqrt()).collect();
    let mut f = vec![0.0; n * rank];
    for (at, out) in (0..n).step_by(BATCH).zip(f.chunks_mut((BATCH * rank).max(1))) {
        let rows = out.len() / rank;
        let values = gram::cross::<f64>(kernel, points.slice(at..at + rows), z.view(), exec)?;
        product::nn(out, Mat::new(&values, rows, m), Mat::new(&half, m, rank), exec.threads());
    }
    let mut diag = vec![0.0; n];
    kernel.diag(points, &mut diag);
    let trace: f64 = diag.iter().sum();
    let kept: f64 = f.iter().map(|v| v * v).sum();
    let mut mean = vec![0.0; rank];
    if params.centred {
        f.chunks(rank.max(1)).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64));
        f.chunks_mut(rank.max(1)).for_each(|row| row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m));
    }
    let mut scatter = vec![0.0; rank * rank];
    product::tn(&mut scatter, Mat::new(&f, n, rank), Mat::new(&f, n, rank), exec.threads());
    let total = (0..rank).map(|i| scatter[i * rank + i]).sum::<f64>() + (trace - kept).max(0.0);
    let found = eigen::complete(scatter, rank, Which::Largest, exec)?;
    let count = params.chosen(&found.values, total, 1e-12_f64.max(rank as f64 * f64::EPSILON))?;
    let axes = &found.vectors[..count * rank];
    let mut coef = vec![0.0; m * count];
    product::nt(&mut coef, Mat::new(&half, m, rank), Mat::new(axes, count, rank), exec.threads());
    let offset = axes.chunks(rank).map(|w| -w.iter().zip(&mean).map(|(w, m)| w * m).sum::<f64>()).collect();
    let mean2 = mean.iter().map(|m| m * m).sum();
    let mean = params
        .centred
        .then(|| {
            let mut coef = vec![0.0; m];
            product::nn(&mut coef, Mat::new(&half, m, rank), Mat::new(&mean, rank, 1), 1);
            Expansion::new(kernel.clone(), z.clone(), coef, vec![0.0])
        })
        .transpose()?;
    let left = ((trace - kept) / trace.max(f64::MIN_POSITIVE)).max(0.0);
    let how = if params.method == KpcaMethod::Cholesky {
        "picked by an incomplete Cholesky factor"
    } else {
        "drawn at random"
    };
    let mut info = Info { kernel_values: (n * m) as u64, ..Info::default() };
    info.note(format!("{m} landmarks {how}, rank {rank}: {left:.3e} of the trace lies beyond their span"));
    Ok(Found {
        expansion: Expansion::new(kernel.clone(), z, coef, offset)?,
        mean,
        mean2,
        values: found.values[..count].to_vec(),
        total,
        info,
    })
}
