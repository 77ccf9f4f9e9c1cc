//! Axes from eigenvectors of the whole kernel matrix, by complete decomposition or the leading ones.

use super::{Found, KpcaMethod, KpcaParams};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{self, Means, Rows};
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::model::common::on_rows;
use crate::model::svc::collapsed;
use crate::num::{Buffer, Fault};
use crate::reduce::preimage::turned;
use crate::solve::eigen::{self, Centred, Dense, Eigen, EigenParams, Operator, RowsOperator, Which};
use crate::watch::{Info, Note, Step, Watch};

/// Eigenvalues below these fractions of the largest are rounding errors, in f64 and in f32.
const FLOOR: f64 = 1e-12;
const FLOOR_F32: f64 = 1e-6;
/// Residual that f32 can reach, and number of rows from which its speed matters.
const SINGLE: f64 = 1e-5;
const WORTH: usize = 2000;

pub(super) fn fit(
    params: &KpcaParams,
    kernel: &Kernel,
    sample: &Sample<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    if watch(&Step::new("kernel values", 0, None)).is_break() {
        return Err(Error::Cancelled);
    }
    let n = sample.points.len();
    let which = if params.indefinite(kernel) { Which::Magnitude } else { Which::Largest };
    // Memory for the matrix, the eigenvectors and the decomposition's workspace.
    let fits = n.saturating_mul(n).saturating_mul(3 * 8) <= exec.budget();
    let single = match in_single(params, kernel, sample, which, fits, exec, watch)? {
        None if !fits && params.method == KpcaMethod::Complete => {
            let allowed = format!("at least {} for a complete decomposition of {n} rows", 24 * n * n);
            return Err(Error::param("memory", exec.budget(), allowed));
        }
        None if !fits => {
            Some(on_rows(kernel, sample, exec, |rows| by_rows(params, rows, which, exec, watch))?)
        }
        found => found,
    };
    let (found, means, total, floor, note) = if let Some(found) = single {
        found
    } else {
        let k = match sample.gram {
            Some(rows) => gram::exact(rows, exec).into(),
            None if gram::is_precomputed(kernel) => on_rows(kernel, sample, exec, |_| Ok(Buffer::zeroed(0)))?,
            None => gram::square::<f64>(kernel, sample.points.view(), exec)?,
        };
        let means = Means::of(&k, n);
        let diag: f64 = (0..n).map(|i| k[i * n + i]).sum();
        let total = if params.centred { diag - n as f64 * means.grand } else { diag };
        let (found, note) = in_memory(params, k, &means, which, total, exec, watch)?;
        (found, means, total, FLOOR.max(n as f64 * f64::EPSILON), note)
    };
    let count = params.chosen(&found.values, total, floor)?;
    let signature = signature(&found.values[..count]);
    let gap =
        found.residuals.iter().zip(&found.values).take(count).map(|(r, v)| r / v.abs()).fold(0.0, f64::max);
    let values = found.values[..count].to_vec();
    let mut axes = found.vectors;
    axes.truncate(count * n);
    let (expansion, mean) = folded(params, kernel, sample.points, axes, &values, &means)?;
    let mut info = Info {
        stop: found.stop,
        iterations: found.products,
        gap,
        kernel_values: (n as u64).pow(2) / 2,
        notes: vec![note.into()],
        ..Info::default()
    };
    info.notes.extend(signature.map(Note::from));
    Ok(Found { expansion: collapsed(expansion, exec)?, mean, mean2: means.grand, values, total, info })
}

/// Both methods on a matrix in memory; the complete one centres it in place.
fn in_memory(
    params: &KpcaParams,
    mut k: Buffer<f64>,
    means: &Means,
    which: Which,
    total: f64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<(Eigen, String)> {
    let n = means.row.len();
    let wanted = params.components.map(|c| c as usize);
    // A share does not determine the number: guess, and continue if there were too few.
    let first = wanted.or((params.share < 1.0 && which == Which::Largest).then_some(64));
    let krylov = match params.method {
        KpcaMethod::Complete => None,
        KpcaMethod::Krylov => Some(first.unwrap_or(n).min(n)),
        _ => first.filter(|&count| count < n && eigen::cheaper(n, count)),
    };
    let Some(mut count) = krylov else {
        if params.centred {
            means.centre_square(&mut k);
        }
        return Ok((
            eigen::leading(k, n, wanted.unwrap_or(n).min(n), which, exec)?,
            "complete eigen-decomposition".into(),
        ));
    };
    let dense = Dense { values: &k, n };
    let centred = Centred(&dense);
    let matrix: &dyn Operator = if params.centred { &centred } else { &dense };
    loop {
        let found = first_pairs(params, matrix, count, which, exec, watch)?;
        let carried: f64 = found.values.iter().map(|v| v.abs()).sum();
        if wanted.is_some() || count == n || carried >= params.share * total {
            let note = format!("first eigenvectors by {} block products", found.products);
            return Ok((found, note));
        }
        count = (4 * count).min(n);
        if params.method == KpcaMethod::Auto && !eigen::cheaper(n, count) {
            let whole = KpcaParams { method: KpcaMethod::Complete, ..params.clone() };
            return in_memory(&whole, k, means, which, total, exec, watch);
        }
    }
}

type Pieces = (Eigen, Means, f64, f64, String);

/// With values and products in f32, where that is cheaper and accurate enough; `None` otherwise.
fn in_single(
    params: &KpcaParams,
    kernel: &Kernel,
    sample: &Sample<'_>,
    which: Which,
    fits: bool,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Option<Pieces>> {
    let n = sample.points.len();
    let count = params.components.map_or(n, |c| c as usize);
    let few = count < n && eigen::cheaper(n, count) && params.method != KpcaMethod::Complete;
    let wanted = fits && few && n >= WORTH && params.tol >= SINGLE;
    if !wanted || sample.gram.is_none() && gram::is_precomputed(kernel) {
        return Ok(None);
    }
    let found = on_rows(kernel, sample, exec, |rows| by_rows(params, rows, which, exec, watch));
    match found {
        Ok(found) => {
            let size = |v: Option<&f64>| v.map_or(0.0, |v| v.abs());
            let (top, last) = (size(found.0.values.first()), size(found.0.values.last()));
            Ok((eigen::ROUNDING_F32 * top <= params.tol * last).then_some(found))
        }
        // Values outside the range of f32.
        Err(Error::Numeric(Fault::NotFinite { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Products with f32 rows, kept while they fit into memory and recomputed otherwise.
fn by_rows(
    params: &KpcaParams,
    rows: &dyn Rows,
    which: Which,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Pieces> {
    let n = rows.len();
    let Some(count) = params.components.map(|c| c as usize) else {
        let allowed =
            format!("given: the matrix of {n} rows does not fit into memory, so not all can be found");
        return Err(Error::param("components", "none", allowed));
    };
    let matrix = RowsOperator::new(rows, exec);
    let mut row = vec![0.0; n];
    matrix.apply(&vec![1.0 / n as f64; n], &mut row, exec);
    let grand = row.iter().sum::<f64>() / n as f64;
    let diag: f64 = rows.diag().iter().sum();
    let total = if params.centred { diag - n as f64 * grand } else { diag };
    let centred = Centred(&matrix);
    let a: &dyn Operator = if params.centred { &centred } else { &matrix };
    let found = first_pairs(params, a, count, which, exec, watch)?;
    let how = if matrix.recomputes() { "rows computed in each" } else { "matrix of f32 in memory" };
    let note = format!("first eigenvectors by {} block products, {how}", found.products);
    Ok((found, Means { row, grand }, total, FLOOR_F32, note))
}

fn first_pairs(
    params: &KpcaParams,
    a: &dyn Operator,
    count: usize,
    which: Which,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Eigen> {
    let n = a.len();
    if count > n {
        return Err(Error::param("components", count, format!("at most {n}, the number of rows")));
    }
    let obey =
        EigenParams { count, which, tol: params.tol, seed: params.seed, exec, ..EigenParams::default() };
    eigen::partial(a, &obey, watch)
}

/// Unit axes with centring absorbed, and the mean.
fn folded(
    params: &KpcaParams,
    kernel: &Kernel,
    points: &Points,
    mut axes: Vec<f64>,
    values: &[f64],
    means: &Means,
) -> Result<(Expansion, Option<Expansion>)> {
    let (n, k) = (points.len(), values.len());
    let mut offset = vec![0.0; k];
    for ((axis, value), offset) in axes.chunks_mut(n).zip(values).zip(&mut offset) {
        let size = value.abs().sqrt();
        axis.iter_mut().for_each(|a| *a /= size);
        if params.centred {
            let s: f64 = axis.iter().sum();
            *offset = means.grand * s - axis.iter().zip(&means.row).map(|(a, r)| a * r).sum::<f64>();
            axis.iter_mut().for_each(|a| *a -= s / n as f64);
        }
    }
    let coef = turned(&axes, k, n);
    drop(axes);
    let expansion = Expansion::new(kernel.clone(), points.clone(), coef, offset)?;
    let mean = params.centred.then(|| mean(kernel, points)).transpose()?;
    Ok((expansion, mean))
}

/// The mean of the images.
pub(super) fn mean(kernel: &Kernel, points: &Points) -> Result<Expansion> {
    let n = points.len();
    Expansion::new(kernel.clone(), points.clone(), vec![1.0 / n as f64; n], vec![0.0])
}

/// A note if there are negative eigenvalues.
pub(super) fn signature(values: &[f64]) -> Option<String> {
    let negative = values.iter().filter(|v| **v < 0.0).count();
    (negative > 0).then(|| {
        format!(
            "indefinite: {} components with positive and {negative} with negative eigenvalues",
            values.len() - negative
        )
    })
}
