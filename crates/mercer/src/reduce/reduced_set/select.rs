//! Centres taken away one by one: which can go at least cost.
//!
//! All three ways return the centres in the order of how long they stay: the first n are the set of size n.
//! With `K` the matrix of the centres and B coefficients that are optimal on those that are left:
//!
//! - [`independent`]: pivots of K; the rest are linear combinations of them and go for nothing.
//! - [`greedy`]: the optimal next removal (Schoelkopf et al. 1999, eq. 63 by proposition 8). Without centre i, and with the
//!   others readjusted, the error grows by `sum_o b_io^2 / (K^-1)_ii`; K^-1 and B follow by a rank-one downdate, n^2 each.
//! - [`components`]: their kernel PCA criterion (eq. 64): the smallest `|b_i / v_i|^2 lambda` over eigenvectors v of K. The
//!   paper decomposed K after each removal (9 n^4 in all); here one decomposition serves a run of removals, each by another
//!   eigenvector and with exact coefficients, which makes it 9 n^3 times the number of runs.

use crate::data::View;
use crate::error::Result;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::num::{Mat, factor, product};
use crate::par::Par;

/// What a rest may keep of the trace before a centre counts as a combination of others.
const RANK: f64 = 1e-13;
/// One decomposition serves the removal of this share of the centres.
const RUN: usize = 32;

/// Centres whose images span those of all.
pub(super) fn independent(kernel: &Kernel, centres: View<'_>, par: Par) -> Result<Vec<usize>> {
    Ok(gram::pivoted_cholesky(kernel, centres, centres.n, RANK, par)?.pivots)
}

/// The optimal coefficients on some of the candidates, their kernel matrix, and `Psi . Phi` there.
struct On {
    gram: Vec<f64>,
    coef: Vec<f64>,
}

fn on(psi: &Expansion, keep: &[usize], par: Par) -> Result<On> {
    let (m, k, n) = (keep.len(), psi.outputs(), psi.len());
    let centres = psi.centres().gather(keep);
    let across = gram::cross::<f64>(psi.kernel(), centres.view(), psi.centres().view(), par)?;
    let mut right = vec![0.0; m * k];
    product::nn(&mut right, Mat::new(&across, m, n), Mat::new(psi.coef(), n, k), par.threads());
    let gram: Vec<f64> = keep
        .iter()
        .enumerate()
        .flat_map(|(i, _)| keep.iter().map(move |&j| (i, j)))
        .map(|(i, j)| across[i * n + j])
        .collect();
    let (coef, _) = factor::solve_spd(&gram, m, &right, k)?;
    Ok(On { gram, coef })
}

/// Every centre, in the order of how long the optimal greedy removal keeps it.
pub(super) fn greedy(psi: &Expansion, par: Par) -> Result<Vec<usize>> {
    let keep = independent(psi.kernel(), psi.centres().view(), par)?;
    let (m, k) = (keep.len(), psi.outputs());
    let On { gram, mut coef } = on(psi, &keep, par)?;
    let unit: Vec<f64> = (0..m * m).map(|p| f64::from(u8::from(p / m == p % m))).collect();
    let (mut inverse, _) = factor::solve_spd(&gram, m, &unit, m)?;
    let mut alive = vec![true; m];
    let mut gone = Vec::with_capacity(psi.len());
    for _ in 0..m {
        let cost = |i: usize| {
            let line = &coef[i * k..(i + 1) * k];
            line.iter().map(|b| b * b).sum::<f64>() / inverse[i * m + i].max(f64::MIN_POSITIVE)
        };
        let Some(out) = (0..m).filter(|&i| alive[i]).min_by(|&a, &b| cost(a).total_cmp(&cost(b))) else {
            break;
        };
        alive[out] = false;
        gone.push(keep[out]);
        let pivot = inverse[out * m + out].max(f64::MIN_POSITIVE);
        let column: Vec<f64> = inverse[out * m..(out + 1) * m].iter().map(|v| v / pivot).collect();
        let (row, line) = (inverse[out * m..(out + 1) * m].to_vec(), coef[out * k..(out + 1) * k].to_vec());
        for i in (0..m).filter(|&i| alive[i]) {
            let share = column[i];
            inverse[i * m..(i + 1) * m].iter_mut().zip(&row).for_each(|(v, r)| *v -= share * r);
            coef[i * k..(i + 1) * k].iter_mut().zip(&line).for_each(|(v, b)| *v -= share * b);
        }
    }
    gone.reverse();
    Ok(gone)
}

/// Every centre, in the order of how long the kernel PCA criterion keeps it.
pub(super) fn components(psi: &Expansion, par: Par) -> Result<Vec<usize>> {
    let mut keep = independent(psi.kernel(), psi.centres().view(), par)?;
    let k = psi.outputs();
    let mut gone = Vec::with_capacity(keep.len());
    while keep.len() > 1 {
        let m = keep.len();
        let On { gram, coef } = on(psi, &keep, par)?;
        let (values, vectors) = factor::eigen(&gram, m)?;
        let size: Vec<f64> = coef.chunks(k).map(|line| line.iter().map(|b| b * b).sum()).collect();
        // For each centre its best eigenvector, cheapest centres first; an eigenvector serves once.
        let mut pairs: Vec<(f64, usize, usize)> = (0..m)
            .flat_map(|i| (0..m).map(move |v| (i, v)))
            .filter(|&(i, v)| vectors[i * m + v] != 0.0)
            .map(|(i, v)| (size[i] / vectors[i * m + v].powi(2) * values[v].max(0.0), i, v))
            .collect();
        let run = (m / RUN).max(1);
        let cheap = (run * run * 4).min(pairs.len());
        if cheap < pairs.len() {
            pairs.select_nth_unstable_by(cheap, |a, b| a.0.total_cmp(&b.0));
            pairs.truncate(cheap);
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut out, mut used) = (vec![false; m], vec![false; m]);
        let mut count = 0;
        for (_, i, v) in pairs {
            if count < run && !out[i] && !used[v] {
                (out[i], used[v]) = (true, true);
                gone.push(keep[i]);
                count += 1;
            }
        }
        if count == 0 {
            break;
        }
        keep = keep.iter().zip(&out).filter(|(_, out)| !**out).map(|(&i, _)| i).collect();
    }
    gone.extend(keep);
    gone.reverse();
    Ok(gone)
}
