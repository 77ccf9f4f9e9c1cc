//! Vectors optimised on labelled rows: the objective is the training loss, not the distance to the original machine.
//!
//! ```text
//! minimise over Z   sum_o [ 1/2 beta_o' K_z beta_o + C sum_i v_io l(f_o(x_i))^2 ],     f_o(x) = sum_j beta_jo k(x, z_j) + b_o
//! ```
//!
//! with fixed coefficients: the problem of `solve/basis.rs`, which finds the coefficients, as a function of the
//! vectors. The two alternate. Minimised by L-BFGS; with `g_io` the derivative of the loss at `f_o(x_i)`, the
//! gradient with respect to z_j is `sum_i (sum_o beta_jo g_io) dk(x_i, z_j) + sum_l (sum_o beta_jo beta_lo) dk(z_l,
//! z_j)`. Cost per step: 2 n m d multiply-adds in products, on the rows with a loss or close to one.

use super::construct::spread;
use super::join::shaped;
use super::sheet::Sheet;
use crate::data::View;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::num::{Mat, product};
use crate::solve::BasisLoss;
use crate::solve::lbfgs::{self, LbfgsParams};
use crate::watch::Watch;

/// Rows on the correct side by more than this are left out of a descent: its vectors do not move that far.
const NEAR: f64 = 1.0;
const TOL: f64 = 1e-5;

/// Labelled rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit<'a> {
    /// The rows.
    pub view: View<'a>,
    /// One target per row and output, n x k.
    pub target: &'a [f64],
    /// One weight per row and output, n x k; 0 ignores the output there.
    pub weight: &'a [f64],
    /// C.
    pub c: f64,
    /// The loss.
    pub loss: BasisLoss,
}

/// The same coefficients on vectors that fit the rows better, after at most `steps` steps. For kernels with a
/// derivative.
pub(crate) fn fit_rows(
    f: &Expansion,
    fit: &Fit<'_>,
    steps: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Expansion> {
    let (n, k, d) = (fit.view.n, f.outputs(), f.centres().dim());
    if !f.kernel().has_gradient() {
        return Err(Error::Unsupported(format!(
            "kernel `{}` has no derivative: vectors cannot move",
            f.kernel()
        )));
    }
    if fit.target.len() != n * k || fit.weight.len() != n * k {
        return Err(Error::shape("targets", fit.target.len(), format!("{n} rows x {k} outputs")));
    }
    let now = f.evaluate(fit.view, exec)?;
    let near = |i: usize| {
        (i * k..(i + 1) * k).any(|p| {
            let closer = now[p] - NEAR * (now[p] - fit.target[p]).signum();
            fit.weight[p] > 0.0 && (fit.pull(p, now[p]).is_some() || fit.pull(p, closer).is_some())
        })
    };
    let keep: Vec<usize> = (0..n).filter(|&i| near(i)).collect();
    if keep.is_empty() || f.is_empty() {
        return Ok(f.clone());
    }
    let rows = fit.view.gather(&keep).view().to_f64_within(exec.memory())?;
    let pick = |of: &[f64]| keep.iter().flat_map(|&i| &of[i * k..(i + 1) * k]).copied().collect::<Vec<f64>>();
    let (target, weight) = (pick(fit.target), pick(fit.weight));
    let look = Look {
        f,
        fit: Fit { target: &target, weight: &weight, ..*fit },
        sheet: Sheet::new(f.kernel(), rows, d),
    };
    let mut z = f.centres().view().to_f64_within(exec.memory())?;
    let scale = look.at(&z, exec)?.0.max(f64::MIN_POSITIVE);
    let params = LbfgsParams { tol: TOL * spread(&z, d), max_iter: steps, ..LbfgsParams::default() };
    let mut at = |_: &[usize], z: &[f64], value: &mut [f64], slope: &mut [f64]| match look.at(z, exec) {
        Ok((v, s)) => {
            value[0] = v / scale;
            slope.iter_mut().zip(&s).for_each(|(slope, s)| *slope = s / scale);
        }
        Err(_) => value[0] = f64::NAN,
    };
    let unknowns = z.len();
    lbfgs::minimise(&mut z, unknowns, &params, &mut at, watch);
    Expansion::new(f.kernel().clone(), shaped(z, d, f)?, f.coef().to_vec(), f.offset().to_vec())
}

impl Fit<'_> {
    /// The value that an output is pulled to, or `None` where the loss is zero.
    fn pull(&self, p: usize, f: f64) -> Option<f64> {
        self.loss.pull(f, self.target[p])
    }
}

/// The objective as a function of the vectors.
struct Look<'a> {
    f: &'a Expansion,
    fit: Fit<'a>,
    sheet: Sheet,
}

impl Look<'_> {
    fn at(&self, z: &[f64], exec: Exec) -> Result<(f64, Vec<f64>)> {
        let (d, k, n) = (self.sheet.d, self.f.outputs(), self.sheet.len());
        let (m, coef, threads) = (z.len() / d, self.f.coef(), exec.threads());
        let own = Sheet::new(self.f.kernel(), z.to_vec(), d);
        let (across, within) = (self.sheet.look(z, exec)?, own.look(z, exec)?);
        let mut out = vec![0.0; n * k];
        product::tn(&mut out, Mat::new(&across.values, m, n), Mat::new(coef, m, k), threads);
        let mut value = 0.0;
        for (p, out) in out.iter_mut().enumerate() {
            let f = *out + self.f.offset()[p % k];
            let pulled = self.fit.pull(p, f).filter(|_| self.fit.weight[p] > 0.0);
            let v = self.fit.c * self.fit.weight[p];
            *out = pulled.map_or(0.0, |t| 2.0 * v * (f - t));
            value += pulled.map_or(0.0, |t| v * (f - t).powi(2));
        }
        let mut weights = vec![0.0; m * n];
        product::nt(&mut weights, Mat::new(coef, m, k), Mat::new(&out, n, k), threads);
        let mut slope = self.sheet.pull(z, &across, &weights, exec);
        let mut inner = vec![0.0; m * m];
        product::nt(&mut inner, Mat::new(coef, m, k), Mat::new(coef, m, k), threads);
        value += 0.5 * inner.iter().zip(&within.values).map(|(w, v)| w * v).sum::<f64>();
        let back = own.pull(z, &within, &inner, exec);
        slope.iter_mut().zip(&back).for_each(|(s, b)| *s += b);
        Ok((value, slope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::watch::silent;
    use mercer_testkit::{assert::close, toy};

    fn machine(k: usize) -> Expansion {
        let centres = Points::dense(toy::normals(5, 2, 1), 2).expect("rows");
        let kernel = "rbf(gamma=0.4)".parse().expect("a kernel");
        Expansion::new(kernel, centres, toy::normals(5, k, 2), vec![0.1; k]).expect("fits")
    }

    #[test]
    fn the_slope_is_that_of_the_objective_and_steps_lower_it() {
        let f = machine(2);
        let x = Points::dense(toy::normals(30, 2, 4), 2).expect("rows");
        let target: Vec<f64> = toy::normals(30, 2, 5).iter().map(|v| v.signum()).collect();
        let weight: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        for loss in [BasisLoss::Hinge, BasisLoss::Tube(0.2)] {
            let fit = Fit { view: x.view(), target: &target, weight: &weight, c: 2.0, loss };
            let sheet = Sheet::new(f.kernel(), x.view().to_f64().expect("dense"), 2);
            let look = Look { f: &f, fit, sheet };
            let z = f.centres().view().to_f64().expect("dense");
            let (value, slope) = look.at(&z, Exec::one()).expect("numbers");
            for i in 0..z.len() {
                let moved = |h: f64| {
                    let mut z = z.clone();
                    z[i] += h;
                    look.at(&z, Exec::one()).expect("numbers").0
                };
                close(slope[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-4);
            }
            let better = fit_rows(&f, &fit, 50, Exec::new(2), &mut silent()).expect("moved");
            let z = better.centres().view().to_f64().expect("dense");
            let after = look.at(&z, Exec::one()).expect("numbers").0;
            assert!(after < 0.9 * value, "{after} {value}");
            assert_eq!(better.coef(), f.coef());
        }
        let short =
            Fit { view: x.view(), target: &target[1..], weight: &weight, c: 1.0, loss: BasisLoss::Hinge };
        assert!(fit_rows(&f, &short, 5, Exec::one(), &mut silent()).is_err());
    }
}
