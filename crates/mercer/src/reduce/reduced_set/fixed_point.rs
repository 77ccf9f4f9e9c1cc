//! One vector by fixed-point iteration, for radial kernels.
//!
//! The best single `beta Phi(z)` for residuals `Psi^o = sum_i g_io Phi(y_i)` maximises `sum_o (Psi^o . Phi(z))^2`
//! where `k(z, z)` is constant (Schoelkopf et al. 1998, eq. 9 and 18). Its gradient vanishes where
//!
//! ```text
//! z = sum_i w_i y_i / sum_i w_i,     w_i = k'(|z - y_i|^2) sum_o g_io (Psi^o . Phi(z))
//! ```
//!
//! which for one output is their eq. 12 and for several eq. 19 with the factor `g_jo` that is missing in print. All
//! starts run in lock step: a round is two products of starts x points x columns. A step that would lower the
//! objective is halved, so the objective never decreases.

use super::sheet::Sheet;
use crate::error::Result;
use crate::exec::Exec;
use crate::num::{Mat, product};

/// Step length, in units of the points' spread, at which a start has converged.
const TOL: f64 = 1e-3;
/// Number of halvings of a step after which a start counts as converged.
const CUTS: u32 = 6;

struct Walker {
    /// The point of the largest objective, and that objective.
    best: Vec<f64>,
    merit: f64,
    cuts: u32,
    done: bool,
}

/// Runs all starts for `rounds` rounds.
pub(super) fn run(
    sheet: &Sheet,
    coef: &[f64],
    starts: &mut [f64],
    rounds: usize,
    spread: f64,
    exec: Exec,
) -> Result<()> {
    let (d, n) = (sheet.d, sheet.len());
    let k = coef.len() / n;
    let mut walkers: Vec<Walker> = starts
        .chunks(d)
        .map(|z| Walker { best: z.to_vec(), merit: f64::NEG_INFINITY, cuts: 0, done: false })
        .collect();
    let mut trial = starts.to_vec();
    for _ in 0..rounds {
        let active: Vec<usize> = (0..walkers.len()).filter(|&w| !walkers[w].done).collect();
        if active.is_empty() {
            break;
        }
        let s = active.len();
        let z: Vec<f64> = active.iter().flat_map(|&w| &trial[w * d..(w + 1) * d]).copied().collect();
        let look = sheet.look(&z, exec)?;
        let mut inner = vec![0.0; s * k];
        product::nn(&mut inner, Mat::new(&look.values, s, n), Mat::new(coef, n, k), exec.threads());
        let mut weights = vec![0.0; s * n];
        product::nt(&mut weights, Mat::new(&inner, s, k), Mat::new(coef, n, k), exec.threads());
        let (along, _) = sheet.slopes(&look, &weights);
        let mut next = vec![0.0; s * d];
        product::nn(&mut next, Mat::new(&along, s, n), Mat::new(&sheet.y, n, d), exec.threads());
        for (r, &w) in active.iter().enumerate() {
            let merit: f64 = inner[r * k..(r + 1) * k].iter().map(|p| p * p).sum();
            let total: f64 = along[r * n..(r + 1) * n].iter().sum();
            let at = &mut trial[w * d..(w + 1) * d];
            walkers[w].judge(merit, total, at, &next[r * d..(r + 1) * d], TOL * spread);
        }
    }
    starts.chunks_mut(d).zip(&walkers).for_each(|(z, w)| z.copy_from_slice(&w.best));
    Ok(())
}

impl Walker {
    /// `at` is where `merit` was measured; it is replaced by the next point.
    fn judge(&mut self, merit: f64, total: f64, at: &mut [f64], sum: &[f64], tol: f64) {
        if merit < self.merit || !merit.is_finite() {
            self.cuts += 1;
            self.done = self.cuts > CUTS;
            at.iter_mut().zip(&self.best).for_each(|(z, b)| *z = f64::midpoint(*z, *b));
            return;
        }
        (self.merit, self.cuts) = (merit, 0);
        self.best.copy_from_slice(at);
        at.iter_mut().zip(sum).for_each(|(z, s)| *z = s / total);
        let step: f64 = at.iter().zip(&self.best).map(|(a, b)| (a - b).powi(2)).sum();
        // A vanishing sum of weights moves the point to infinity: this start has converged.
        self.done = !step.is_finite() || step.sqrt() <= tol;
    }
}
