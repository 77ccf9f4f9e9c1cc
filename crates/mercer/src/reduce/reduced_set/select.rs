//! Selection of centres: removal of the least important one by one, or greedy addition.
//!
//! All functions return candidates in order of importance: the first n are the set of size n. Candidates are the
//! centres and any other points that may replace them (Schoelkopf et al. 1999, section V-C). With `K` the matrix of
//! the centres and B optimal coefficients on those remaining:
//!
//! - [`independent`]: pivots of K; the others are linear combinations of them and can be removed without error.
//! - [`greedy`]: the optimal next removal (Schoelkopf et al. 1999, eq. 63 by proposition 8). Removing centre i and
//!   readjusting the others increases the error by `sum_o b_io^2 / (K^-1)_ii`; K^-1 and B follow by a rank-one
//!   downdate, n^2 each.
//! - [`components`]: their kernel PCA criterion (eq. 64): the smallest `|b_i / v_i|^2 lambda` over eigenvectors v of
//!   K. The paper decomposed K after each removal (9 n^4 in all); here eigenvectors follow by updates, and
//!   coefficients stay optimal.

use super::spectrum::Spectrum;
use crate::data::{Points, View};
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::num::{Mat, factor, product};

/// Fraction of the trace below which a centre counts as a linear combination of others.
const RANK: f64 = 1e-13;
/// Minimum fraction of a candidate's squared norm that must be new for it to be selected.
const SPAN: f64 = 1e-10;
/// Number of removals after which accumulated rounding requires a new decomposition.
const UPDATES: usize = 24;

/// Centres whose images span those of all.
pub(super) fn independent(kernel: &Kernel, centres: View<'_>, exec: Exec) -> Result<Vec<usize>> {
    Ok(gram::pivoted_cholesky(kernel, centres, centres.n, RANK, exec)?.pivots)
}

/// The optimal coefficients on some of the candidates, their kernel matrix, and `Psi . Phi` there.
struct On {
    gram: Vec<f64>,
    coef: Vec<f64>,
}

fn on(psi: &Expansion, pool: &Points, keep: &[usize], exec: Exec) -> Result<On> {
    let (m, k, n) = (keep.len(), psi.outputs(), psi.len());
    let centres = pool.gather(keep);
    let across = gram::cross::<f64>(psi.kernel(), centres.view(), psi.centres().view(), exec)?;
    let mut right = vec![0.0; m * k];
    product::nn(&mut right, Mat::new(&across, m, n), Mat::new(psi.coef(), n, k), exec.threads());
    let gram = gram::square::<f64>(psi.kernel(), centres.view(), exec)?.to_vec();
    let (coef, _) = factor::solve_spd(&gram, m, &right, k)?;
    Ok(On { gram, coef })
}

/// All centres, in the reverse order of optimal greedy removal.
pub(super) fn greedy(psi: &Expansion, pool: &Points, exec: Exec) -> Result<Vec<usize>> {
    let keep = independent(psi.kernel(), pool.view(), exec)?;
    let (m, k) = (keep.len(), psi.outputs());
    let On { gram, mut coef } = on(psi, pool, &keep, exec)?;
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

/// Greedy forward selection: each candidate reduces the error most, given those before it and with all coefficients
/// readjusted. For pools with candidates other than the centres, which removal would drop first because they have no
/// coefficient yet, and for selecting few of many. The candidates' images are orthogonalised against the selected
/// ones (a pivoted Cholesky factor whose pivots follow the residual). Cost: pool times chosen squared, and a kernel
/// value for each pair of both.
///
/// Under a kernel that is not positive definite the images are the outputs at the centres: all the same under `sum_i
/// k(z, x_i) k(x_i, z')`, see `expansion/project.rs`.
#[derive(Debug)]
pub(super) struct Forward {
    kernel: Kernel,
    pool: Points,
    /// Kernel values of the pool against the centres, where outputs are matched: pool x n.
    across: Option<Vec<f64>>,
    k: usize,
    /// `Phi(x_i)` against the residual of Psi, n x k.
    rest: Vec<f64>,
    diagonal: Vec<f64>,
    /// The squared norm of each candidate's part orthogonal to the selected ones.
    new: Vec<f64>,
    factor: Vec<Vec<f64>>,
    pub order: Vec<usize>,
}

impl Forward {
    pub(super) fn new(psi: &Expansion, pool: &Points, exec: Exec) -> Result<Self> {
        let (k, kernel, n, p) = (psi.outputs(), psi.kernel().clone(), psi.len(), pool.len());
        let (across, rest, diagonal) = if psi.definite() {
            let diagonal = (0..p).map(|i| kernel.value(pool.row(i), pool.row(i))).collect();
            (None, psi.inner_at(pool.view(), exec)?, diagonal)
        } else {
            let across = gram::cross::<f64>(&kernel, pool.view(), psi.centres().view(), exec)?.to_vec();
            let outputs = psi.inner_at(psi.centres().view(), exec)?;
            let mut rest = vec![0.0; p * k];
            product::nn(&mut rest, Mat::new(&across, p, n), Mat::new(&outputs, n, k), exec.threads());
            let diagonal = across.chunks(n).map(|line| line.iter().map(|v| v * v).sum()).collect();
            (Some(across), rest, diagonal)
        };
        let new: Vec<f64> = Vec::clone(&diagonal);
        let (factor, order) = (Vec::new(), Vec::new());
        Ok(Forward { kernel, pool: pool.clone(), across, k, rest, diagonal, new, factor, order })
    }

    /// The products of all candidates with one of them.
    fn column(&self, next: usize, exec: Exec) -> Result<Vec<f64>> {
        let p = self.pool.len();
        let Some(across) = &self.across else {
            let chosen = self.pool.gather(&[next]);
            return Ok(gram::cross::<f64>(&self.kernel, self.pool.view(), chosen.view(), exec)?.to_vec());
        };
        let n = across.len() / p;
        let mut out = vec![0.0; p];
        let one = Mat::new(&across[next * n..(next + 1) * n], n, 1);
        product::nn(&mut out, Mat::new(across, p, n), one, exec.threads());
        Ok(out)
    }

    /// Selects up to `most` candidates, or until none reduces the error.
    pub(super) fn grow(&mut self, most: usize, exec: Exec) -> Result<()> {
        let (n, k) = (self.pool.len(), self.k);
        while self.order.len() < most.min(n) {
            let (rest, new) = (&self.rest, &self.new);
            let gain = |i: usize| rest[i * k..(i + 1) * k].iter().map(|r| r * r).sum::<f64>() / new[i];
            // The orthogonal part of a candidate must exceed rounding.
            let able = (0..n).filter(|&i| new[i] > SPAN * self.diagonal[i]);
            let Some(next) = able.max_by(|&a, &b| gain(a).total_cmp(&gain(b))) else {
                break;
            };
            let root = self.new[next].sqrt();
            let mut column = self.column(next, exec)?;
            for known in &self.factor {
                let share = known[next];
                column.iter_mut().zip(known).for_each(|(c, l)| *c -= share * l);
            }
            column.iter_mut().for_each(|c| *c /= root);
            let taken: Vec<f64> = self.rest[next * k..(next + 1) * k].iter().map(|r| r / root).collect();
            for ((line, new), l) in self.rest.chunks_mut(k).zip(&mut self.new).zip(&column) {
                line.iter_mut().zip(&taken).for_each(|(r, t)| *r -= l * t);
                *new -= l * l;
            }
            self.new[next] = 0.0;
            self.factor.push(column);
            self.order.push(next);
        }
        Ok(())
    }
}

/// All centres, in the reverse order of removal by the kernel PCA criterion.
pub(super) fn components(psi: &Expansion, pool: &Points, exec: Exec) -> Result<Vec<usize>> {
    let mut keep = independent(psi.kernel(), pool.view(), exec)?;
    let k = psi.outputs();
    let mut gone = Vec::with_capacity(keep.len());
    let On { gram, mut coef } = on(psi, pool, &keep, exec)?;
    let mut spectrum = Spectrum::new(&gram, keep.len())?;
    let mut updates = 0;
    while keep.len() > 1 {
        let m = keep.len();
        let size: Vec<f64> = coef.chunks(k).map(|line| line.iter().map(|b| b * b).sum()).collect();
        let cost = |i: usize| {
            let line = spectrum.vectors[i * m..(i + 1) * m].iter().zip(&spectrum.values);
            size[i] * line.map(|(v, l)| l.max(0.0) / (v * v)).fold(f64::INFINITY, f64::min)
        };
        let costs: Vec<f64> = (0..m).map(cost).collect();
        let out = (0..m).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        gone.push(keep.remove(out));
        let next = if updates < UPDATES { spectrum.without(out) } else { None };
        if let Some(next) = next {
            let column = spectrum.inverse_column(out);
            let line: Vec<f64> = coef[out * k..(out + 1) * k].iter().map(|b| b / column[out]).collect();
            for (coef, c) in coef.chunks_mut(k).zip(&column) {
                coef.iter_mut().zip(&line).for_each(|(b, l)| *b -= c * l);
            }
            coef.drain(out * k..(out + 1) * k);
            (spectrum, updates) = (next, updates + 1);
        } else {
            let fresh = on(psi, pool, &keep, exec)?;
            (spectrum, updates) = (Spectrum::new(&fresh.gram, keep.len())?, 0);
            coef = fresh.coef;
        }
    }
    gone.extend(keep);
    gone.reverse();
    Ok(gone)
}
