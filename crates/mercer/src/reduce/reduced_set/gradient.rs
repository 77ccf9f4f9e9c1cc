//! One vector by descent, for every kernel with a gradient (Burges 1996).
//!
//! ```text
//! maximise  sum_o (Psi^o . Phi(z))^2 / k(z, z)
//! ```
//!
//! (Schoelkopf et al. 1998, eq. 8) by L-BFGS, all starts in lock step.

use super::sheet::Sheet;
use crate::data::Row;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::num::{Mat, product};
use crate::par::Par;
use crate::solve::lbfgs::{self, LbfgsParams};
use crate::watch::silent;

const STEPS: usize = 60;
const TOL: f64 = 1e-4;

/// Moves every start uphill; returns the objective at each.
pub(super) fn run(
    kernel: &Kernel,
    sheet: &Sheet,
    coef: &[f64],
    starts: &mut [f64],
    spread: f64,
    par: Par,
) -> Result<Vec<f64>> {
    // One look without a descent tells whether the kernel can be computed at all.
    sheet.look(&starts[..sheet.d], par)?;
    let params = LbfgsParams { tol: TOL * spread, max_iter: STEPS, ..LbfgsParams::default() };
    let mut at = |_: &[usize], z: &[f64], f: &mut [f64], g: &mut [f64]| {
        if evaluate(kernel, sheet, coef, z, f, g, par).is_err() {
            f.fill(f64::NAN);
        }
    };
    let ends = lbfgs::minimise(starts, sheet.d, &params, &mut at, &mut silent());
    Ok(ends.iter().map(|e| if e.value.is_finite() { -e.value } else { f64::NEG_INFINITY }).collect())
}

fn evaluate(
    kernel: &Kernel,
    sheet: &Sheet,
    coef: &[f64],
    z: &[f64],
    f: &mut [f64],
    g: &mut [f64],
    par: Par,
) -> Result<()> {
    let (d, n, s) = (sheet.d, sheet.len(), f.len());
    let k = coef.len() / n;
    let look = sheet.look(z, par)?;
    let mut inner = vec![0.0; s * k];
    product::nn(&mut inner, Mat::new(&look.values, s, n), Mat::new(coef, n, k), par.threads());
    let mut weights = vec![0.0; s * n];
    product::nt(&mut weights, Mat::new(&inner, s, k), Mat::new(coef, n, k), par.threads());
    let own: Vec<f64> = z.chunks(d).map(|z| kernel.value(Row::F64(z), Row::F64(z))).collect();
    for (line, own) in weights.chunks_mut(n).zip(&own) {
        line.iter_mut().for_each(|w| *w *= -2.0 / own);
    }
    g.copy_from_slice(&sheet.pull(z, &look, &weights, par));
    for (i, (z, g)) in z.chunks(d).zip(g.chunks_mut(d)).enumerate() {
        let merit: f64 = inner[i * k..(i + 1) * k].iter().map(|p| p * p).sum();
        f[i] = if own[i] > 0.0 { -merit / own[i] } else { f64::NAN };
        // k(z, z) has the slope 2 dk(z, y)/dz at y = z.
        kernel.add_gradient(2.0 * merit / (own[i] * own[i]), Row::F64(z), Row::F64(z), g);
    }
    Ok(())
}
