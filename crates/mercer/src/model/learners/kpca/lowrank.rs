//! Components restricted to the span of landmarks: PCA of the images' projections onto it.
//!
//! With landmarks z and `K_zz = U S U'`, the rows `F = K_xz U S^-1/2` are the projections in an orthonormal basis of
//! the span, so that `K ~ F F'` (Nystroem), and PCA of F (r x r) gives axes `z`-expansions with coefficients `U
//! S^-1/2 w`. Landmarks are drawn at random, or selected by incomplete Cholesky factorisation with pivoting. The
//! share of the trace outside the span, `1 - |F|^2 / trace K`, is reported. Cost: `n m d + n m^2`. Memory: some m x m
//! matrices and blocks of values, independent of the number of rows: `F' F` comes from passes over all rows, which
//! may be read from a source.

use super::{Found, KpcaMethod, KpcaParams, drawn};
use crate::data::Points;
use crate::data::io::{Source, drawn as drawn_of, gathered};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::model::learners::large::{Blocks, Digits, From, LargeAsk, LargeFunction, LargeRows};
use crate::num::{Mat, factor, product};
use crate::solve::eigen::{self, Which};
use crate::solve::large::{Design, Local, Squared};
use crate::watch::{Info, Step, Watch};

/// Rows whose diagonal is computed at a time.
const BATCH: usize = 8192;
/// Default number of landmarks.
const LANDMARKS: usize = 1000;
/// Number of rows per landmark that incomplete Cholesky examines of a source.
const LOOKED_AT: usize = 10;
/// Bytes of the sums of a pass; there are 32 of them.
const SUMS: usize = 128 << 20;

pub(super) fn fit(
    params: &KpcaParams,
    kernel: &Kernel,
    sample: &Sample<'_>,
    landmarks: Option<&[usize]>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    if sample.gram.is_some() || gram::is_precomputed(kernel) {
        return Err(Error::Unsupported(
            "landmarks require points and a kernel, not a precomputed kernel matrix".into(),
        ));
    }
    check(params, kernel)?;
    let points = sample.points.view();
    let n = points.n;
    let most = landmarks.map_or(LANDMARKS.min(n), <[usize]>::len);
    let chosen = match (params.method, landmarks) {
        (KpcaMethod::Cholesky, _) => gram::pivoted_cholesky(kernel, points, most, params.tol, exec)?.pivots,
        (_, Some(rows)) => rows.to_vec(),
        (_, None) => drawn(n, most, params.seed)?,
    };
    let z = sample.points.gather(&chosen);
    let mut diag = vec![0.0; n];
    kernel.diag(points, &mut diag);
    let trace = diag.iter().sum();
    let room = exec.budget() / 2;
    let centres = z.clone();
    let from = From::Points { kernel, points, centres: centres.view() };
    let design = Blocks::new(from, (&[], &[]), Digits::Double, room, exec, watch)?;
    axes(params, kernel, z, &local(&design, exec), trace, exec, watch)
}

pub(super) fn check(params: &KpcaParams, kernel: &Kernel) -> Result<()> {
    if params.indefinite(kernel) {
        return Err(Error::Unsupported(format!(
            "landmarks require a positive definite kernel: `{kernel}` is not known to be"
        )));
    }
    Ok(())
}

/// The same on rows that are read in blocks.
pub(super) fn fit_source(
    params: &KpcaParams,
    kernel: &Kernel,
    source: &dyn Source,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    check(params, kernel)?;
    let n = source.rows();
    let most = params.rows.map_or(LANDMARKS, |rows| rows as usize).min(n);
    let z = if params.method == KpcaMethod::Cholesky {
        let some = gathered(source, &drawn_of(n, n.min(most.saturating_mul(LOOKED_AT)), params.seed))?.0;
        let found = gram::pivoted_cholesky(kernel, some.view(), most, params.tol, exec)?;
        some.gather(&found.pivots)
    } else {
        let mut rows = drawn_of(n, most, params.seed);
        rows.sort_unstable();
        gathered(source, &rows)?.0
    };
    let mut trace = 0.0;
    for first in (0..n).step_by(BATCH) {
        if watch(&Step::new("rows", first as u64, Some(n as u64))).is_break() {
            return Err(Error::Cancelled);
        }
        let (points, _) = source.read(first..n.min(first + BATCH))?;
        let mut diag = vec![0.0; points.len()];
        kernel.diag(points.view(), &mut diag);
        trace += diag.iter().sum::<f64>();
    }
    let centres = z.clone();
    let from = From::Source { kernel, source, centres: centres.view(), labelled: false };
    let design = Blocks::new(from, (&[], &[]), Digits::Double, exec.budget() / 4, exec, watch)?;
    axes(params, kernel, z, &local(&design, exec), trace, exec, watch)
}

/// A curvature of 1 everywhere: targets are ignored.
const LOSS: Squared = Squared { outputs: 1, classes: false };

fn local<'a>(design: &'a Blocks<'_>, exec: Exec) -> Local<'a> {
    Local::new(design, &LOSS, design.rows() as f64, false, exec)
}

/// The axes in the span of landmarks, by passes over all rows.
pub(super) fn axes(
    params: &KpcaParams,
    kernel: &Kernel,
    z: Points,
    rows: &dyn LargeRows,
    trace: f64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    let m = z.len();
    let own = gram::square::<f64>(kernel, z.view(), exec)?;
    let (s, u) = factor::eigen(&own, m)?;
    let rank = s.iter().take_while(|&&v| v > 1e-12 * s[0].max(0.0)).count();
    let half: Vec<f64> = (0..m * rank).map(|p| u[p / rank * m + p % rank] / s[p % rank].sqrt()).collect();
    let n = rows.rows();
    // F' F and the sum of F's rows, in groups of columns.
    let (mut scatter, mut mean) = (vec![0.0; rank * rank], vec![0.0; rank]);
    let wide = (SUMS / (32 * 8 * m.max(1))).clamp(1, rank.max(1));
    for first in (0..rank).step_by(wide) {
        if watch(&Step::new("components", first as u64, Some(rank as u64))).is_break() {
            return Err(Error::Cancelled);
        }
        let k = wide.min(rank - first);
        let coef: Vec<f64> = (0..m * k).map(|p| half[p / k * rank + first + p % k]).collect();
        let along = LargeFunction { number: 0, coef: &coef, offset: &vec![0.0; k] };
        let sums = rows.pass(&LargeAsk::Bend { at: None, along })?;
        let mut part = vec![0.0; rank * k];
        product::tn(&mut part, Mat::new(&half, m, rank), Mat::new(&sums.against, m, k), exec.threads());
        for (line, from) in scatter.chunks_mut(rank).zip(part.chunks(k)) {
            line[first..first + k].copy_from_slice(from);
        }
        mean[first..first + k].copy_from_slice(&sums.ones);
    }
    let kept: f64 = (0..rank).map(|i| scatter[i * rank + i]).sum();
    if params.centred {
        mean.iter_mut().for_each(|v| *v /= n as f64);
        for (i, line) in scatter.chunks_mut(rank.max(1)).enumerate() {
            line.iter_mut().zip(&mean).for_each(|(v, b)| *v -= n as f64 * mean[i] * b);
        }
    } else {
        mean.fill(0.0);
    }
    // Copy one half, so that rounding does not make the matrix asymmetric.
    for i in 0..rank {
        for j in 0..i {
            let v = scatter[i * rank + j].midpoint(scatter[j * rank + i]);
            (scatter[i * rank + j], scatter[j * rank + i]) = (v, v);
        }
    }
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
    let mut info = Info { kernel_values: n as u64 * m as u64, ..Info::default() };
    info.note(format!("{m} landmarks {how}, rank {rank}: {left:.3e} of the trace is outside their span"));
    Ok(Found {
        expansion: Expansion::new(kernel.clone(), z, coef, offset)?,
        mean,
        mean2,
        values: found.values[..count].to_vec(),
        total,
        info,
    })
}
