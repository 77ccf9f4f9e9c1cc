//! Sparse axes: the p-th axis lies in the span of p points.
//!
//! Ordinary axes maximise the variance of `V . Phi(x)` over `|V| = 1` and need every point. Over `sum_i |a_i| <= 1`,
//! `V = sum_i a_i Phi(x_i)`, a convex function is maximised over a polytope, so the maximum is at a vertex, a single
//! point x_i (Smola, Mangasarian and Schoelkopf 1999; Mueller et al. 2001, section V-A). The next axis is found in
//! the same way in the orthogonal complement of the previous ones,
//!
//! ```text
//! i = argmax Var_j K_ij,      K <- K - K_i K_i' / K_ii
//! ```
//!
//! so p axes cost n^2 p, and features are written with p points. Variances are those of the unit axes.

use super::{Found, KpcaParams, whole};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::watch::{Info, Step, Stop, Watch};

pub(super) fn fit(
    params: &KpcaParams,
    kernel: &Kernel,
    sample: &Sample<'_>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    let n = sample.points.len();
    if sample.gram.is_some() || gram::is_precomputed(kernel) {
        return Err(Error::Unsupported(
            "sparse axes require points and a kernel, not a precomputed kernel matrix".into(),
        ));
    }
    if params.indefinite(kernel) {
        return Err(Error::Unsupported(format!(
            "sparse axes require a positive definite kernel: `{kernel}` is not known to be"
        )));
    }
    if n.saturating_mul(8 * n) > exec.budget() {
        let allowed = format!("at least {}: the matrix of {n} rows", 8 * n * n);
        return Err(Error::param("memory", exec.budget(), allowed));
    }
    let mut k = gram::square::<f64>(kernel, sample.points.view(), exec)?.to_vec();
    let trace: f64 = (0..n).map(|i| k[i * n + i]).sum();
    let means = gram::Means::of(&k, n);
    let total = if params.centred { trace - n as f64 * means.grand } else { trace };
    let asked = params.components.map_or(n, |c| c as usize).min(n);
    let (mut points, mut variances, mut carried) = (Vec::new(), Vec::new(), 0.0);
    // Row p: the p-th unit axis on the points selected so far.
    let mut axes: Vec<Vec<f64>> = Vec::new();
    let mut stop = Stop::Converged;
    // K with the axes found so far projected out requires k(x_i, axis) for all axes: one row each.
    let mut along: Vec<Vec<f64>> = Vec::new();
    while points.len() < asked && (params.share >= 1.0 || carried < params.share * total) {
        let spread = |i: usize| {
            let row = &k[i * n..(i + 1) * n];
            let mean = if params.centred { row.iter().sum::<f64>() / n as f64 } else { 0.0 };
            row.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
        };
        let best = (0..n).filter(|&i| k[i * n + i] > 1e-12 * trace / n as f64).map(|i| (spread(i), i));
        let best = best.fold((0.0, None), |b, (s, i)| if s > b.0 { (s, Some(i)) } else { b });
        let Some(i) = best.1 else { break };
        let own = k[i * n + i];
        let row: Vec<f64> = k[i * n..(i + 1) * n].iter().map(|v| v / own.sqrt()).collect();
        // The axis: the part of Phi(x_i) orthogonal to the others, scaled to norm 1.
        let mut axis = vec![0.0; points.len() + 1];
        axis[points.len()] = 1.0 / own.sqrt();
        for (other, inner) in axes.iter().zip(&along) {
            other.iter().zip(&mut axis).for_each(|(o, a)| *a -= inner[i] / own.sqrt() * o);
        }
        variances.push(best.0 / own);
        carried += best.0 / own;
        for r in 0..n {
            let c = row[r];
            if c != 0.0 {
                k[r * n..(r + 1) * n].iter_mut().zip(&row).for_each(|(v, o)| *v -= c * o);
            }
        }
        points.push(i);
        axes.push(axis);
        along.push(row);
        if watch(&Step::new("axes", points.len() as u64, Some(asked as u64))).is_break() {
            stop = Stop::Cancelled;
            break;
        }
    }
    if let Some(asked) = params.components.filter(|&c| stop == Stop::Converged && c as usize > points.len()) {
        let allowed = format!("at most {}: the points span no more", points.len());
        return Err(Error::param("components", asked, allowed));
    }
    if points.is_empty() {
        return Err(Error::Unsupported(
            "there are no components: all points have the same image in feature space".into(),
        ));
    }
    let count = points.len();
    let coef = (0..count).flat_map(|p| axes.iter().map(move |a| a.get(p).copied().unwrap_or(0.0))).collect();
    let offset = along
        .iter()
        .map(|row| if params.centred { -row.iter().sum::<f64>() / n as f64 } else { 0.0 })
        .collect();
    let expansion = Expansion::new(kernel.clone(), sample.points.gather(&points), coef, offset)?;
    let mean = params.centred.then(|| whole::mean(kernel, sample.points)).transpose()?;
    let notes = vec![format!("sparse axes on {count} points").into()];
    let info = Info {
        stop,
        iterations: count as u64,
        kernel_values: (n as u64).pow(2) / 2,
        notes,
        ..Info::default()
    };
    Ok(Found { expansion, mean, mean2: means.grand, values: variances, total, info })
}
