//! One vector by descent, for every kernel with a gradient (Burges 1996).
//!
//! The best single `beta Phi(z)` maximises `sum_o (Psi^o . Phi(z))^2 / k(z, z)` (Schoelkopf et al. 1998, eq. 8).
//! Given earlier vectors whose coefficients are recomputed, only the part of `Phi(z)` orthogonal to theirs is new, so
//! the gain of a vector is
//!
//! ```text
//! sum_o (Psi^o . Phi(z))^2 / q(z),     q(z) = k(z, z) - k_z' K_z^-1 k_z
//! ```
//!
//! with Psi the residual. Maximised by L-BFGS, all starts in lock step.

use super::sheet::Sheet;
use crate::data::Row;
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::num::{Mat, factor, product};
use crate::solve::lbfgs::{self, LbfgsParams};
use crate::watch::silent;

const STEPS: usize = 60;
const TOL: f64 = 1e-4;
/// Minimum fraction of a vector's squared norm that must be new; with less, coefficients would become huge.
const NEW: f64 = 1e-2;

/// The vectors found so far: those at the end of a sheet.
#[derive(Debug)]
pub(super) struct Known {
    inverse: Vec<f64>,
    pub m: usize,
}

impl Known {
    /// From their kernel matrix.
    pub(super) fn new(gram: &[f64], m: usize) -> Result<Self> {
        let unit: Vec<f64> = (0..m * m).map(|p| f64::from(u8::from(p / m == p % m))).collect();
        Ok(Known { inverse: factor::solve_spd(gram, m, &unit, m)?.0, m })
    }

    /// The gain of each of some vectors.
    pub(super) fn gains(
        &self,
        kernel: &Kernel,
        sheet: &Sheet,
        coef: &[f64],
        z: &[f64],
        exec: Exec,
    ) -> Result<Vec<f64>> {
        let values = sheet.look(z, exec)?.values;
        Ok(self.fate(kernel, sheet, coef, z, &values, exec).gain)
    }

    fn fate(
        &self,
        kernel: &Kernel,
        sheet: &Sheet,
        coef: &[f64],
        z: &[f64],
        values: &[f64],
        exec: Exec,
    ) -> Fate {
        let (d, all, m) = (sheet.d, sheet.len(), self.m);
        let (s, k) = (z.len() / d, coef.len() / all);
        let mut inner = vec![0.0; s * k];
        product::nn(&mut inner, Mat::new(values, s, all), Mat::new(coef, all, k), exec.threads());
        let own: Vec<f64> = z.chunks(d).map(|z| kernel.value(Row::F64(z), Row::F64(z))).collect();
        let mut on = vec![0.0; s * m];
        if m > 0 {
            let near: Vec<f64> = values.chunks(all).flat_map(|line| &line[all - m..]).copied().collect();
            product::nn(&mut on, Mat::new(&near, s, m), Mat::new(&self.inverse, m, m), exec.threads());
        }
        let mut fate = Fate { inner, own, on, new: Vec::with_capacity(s), gain: Vec::with_capacity(s) };
        for i in 0..s {
            let near = &values[(i + 1) * all - m..(i + 1) * all];
            let inside: f64 = near.iter().zip(&fate.on[i * m..(i + 1) * m]).map(|(v, u)| v * u).sum();
            let new = fate.own[i] - inside;
            fate.new.push(new);
            let merit: f64 = fate.inner[i * k..(i + 1) * k].iter().map(|p| p * p).sum();
            let gain = merit / new.max(NEW * fate.own[i]);
            fate.gain.push(if gain.is_finite() { gain } else { f64::NEG_INFINITY });
        }
        fate
    }
}

/// Points with the terms of their gains: `Psi . Phi(z)`, `k(z, z)`, `K_z^-1 k_z`, `q(z)`.
struct Fate {
    inner: Vec<f64>,
    own: Vec<f64>,
    on: Vec<f64>,
    new: Vec<f64>,
    gain: Vec<f64>,
}

/// Moves every start to a local maximum of the gain.
pub(super) fn run(
    kernel: &Kernel,
    sheet: &Sheet,
    coef: &[f64],
    known: &Known,
    starts: &mut [f64],
    spread: f64,
    exec: Exec,
) -> Result<()> {
    // One evaluation first: it shows whether the kernel can be computed at all, and the scale of the gains.
    let gains = known.gains(kernel, sheet, coef, starts, exec)?;
    let scale = gains.iter().copied().fold(0.0, f64::max);
    if scale.is_nan() || scale <= 0.0 {
        return Ok(());
    }
    let params = LbfgsParams { tol: TOL * spread, max_iter: STEPS, ..LbfgsParams::default() };
    let mut at = |_: &[usize], z: &[f64], f: &mut [f64], g: &mut [f64]| {
        if evaluate(kernel, sheet, coef, known, z, f, g, exec).is_err() {
            f.fill(f64::NAN);
        }
        f.iter_mut().chain(g).for_each(|v| *v /= scale);
    };
    lbfgs::minimise(starts, sheet.d, &params, &mut at, &mut silent());
    Ok(())
}

/// Minus the gain, and its gradient.
#[expect(clippy::too_many_arguments, reason = "values and slopes are written in place, a call a step")]
pub(super) fn evaluate(
    kernel: &Kernel,
    sheet: &Sheet,
    coef: &[f64],
    known: &Known,
    z: &[f64],
    f: &mut [f64],
    g: &mut [f64],
    exec: Exec,
) -> Result<()> {
    let (d, n, s, m) = (sheet.d, sheet.len(), f.len(), known.m);
    let k = coef.len() / n;
    let look = sheet.look(z, exec)?;
    let fate = known.fate(kernel, sheet, coef, z, &look.values, exec);
    let mut weights = vec![0.0; s * n];
    product::nt(&mut weights, Mat::new(&fate.inner, s, k), Mat::new(coef, n, k), exec.threads());
    // Minus the gain is -P / q, with derivative -P' / q + P q' / q^2; below its floor q is a multiple of k(z, z).
    let mut of_own = vec![0.0; s];
    for (i, line) in weights.chunks_mut(n).enumerate() {
        let floor = NEW * fate.own[i];
        let q = fate.new[i].max(floor);
        line.iter_mut().for_each(|w| *w *= -2.0 / q);
        let by_q = fate.gain[i] / q;
        if fate.new[i] > floor {
            let on = &fate.on[i * m..(i + 1) * m];
            line[n - m..].iter_mut().zip(on).for_each(|(w, u)| *w -= 2.0 * by_q * u);
            of_own[i] = by_q;
        } else {
            of_own[i] = by_q * NEW;
        }
        f[i] = if fate.own[i] > 0.0 { -fate.gain[i] } else { f64::NAN };
    }
    g.copy_from_slice(&sheet.pull(z, &look, &weights, exec));
    for ((z, g), by) in z.chunks(d).zip(g.chunks_mut(d)).zip(of_own) {
        // k(z, z) has the slope 2 dk(z, y)/dz at y = z.
        kernel.add_gradient(2.0 * by, Row::F64(z), Row::F64(z), g);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::gram;
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn the_slope_is_that_of_the_gain_and_the_gain_that_of_the_error() {
        for line in ["rbf(gamma=0.3)", "poly(degree=3, scale=0.3, coef0=1)"] {
            let kernel: Kernel = line.parse().expect("a kernel");
            let found = toy::normals(3, 4, 7);
            let mut sheet = Sheet::new(&kernel, toy::normals(9, 4, 1), 4);
            sheet.push(&found);
            let coef = toy::normals(12, 2, 2);
            let points = Points::dense(found, 4).expect("rows");
            let gram = gram::square::<f64>(&kernel, points.view(), Exec::one()).expect("numbers");
            let known = Known::new(&gram, 3).expect("definite");
            let z = toy::normals(2, 4, 3);
            let (mut f, mut g) = (vec![0.0; 2], vec![0.0; 8]);
            evaluate(&kernel, &sheet, &coef, &known, &z, &mut f, &mut g, Exec::one()).expect("numbers");
            for i in 0..z.len() {
                let moved = |h: f64| {
                    let mut z = z.clone();
                    z[i] += h;
                    -known.gains(&kernel, &sheet, &coef, &z, Exec::one()).expect("numbers")[i / 4]
                };
                close(g[i] / f[i / 4], (moved(1e-5) - moved(-1e-5)) / 2e-5 / f[i / 4], 1e-5);
            }
        }
    }
}
