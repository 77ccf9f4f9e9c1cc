//! Phase two: all vectors are optimised together, with the coefficients eliminated.
//!
//! ```text
//! minimise over Z   E(Z) = min_B sum_o |Psi^o - sum_j b_jo Phi(z_j)|^2 / |Psi|^2
//! ```
//!
//! At the optimal coefficients `B = K_z^-1 K_zx A` (Schoelkopf et al. 1999, proposition 8) the derivative with
//! respect to B vanishes, so that with `G = [A; -B]` over the points `y = [x; z]`
//!
//! ```text
//! dE/dz_i = -2 sum_y (B G')_iy dk(z_i, y)/dz_i / |Psi|^2
//! ```
//!
//! (variable projection; Golub and Pereyra 1973). L-BFGS then has m d unknowns instead of m (d + k) of different
//! scales. Cost per step: 2 m (n + m) d multiply-adds in products and m^3 / 3.

use super::construct::spread;
use super::sheet::Sheet;
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::num::{Mat, factor, product};
use crate::solve::lbfgs::{self, LbfgsParams};
use crate::watch::Watch;

const TOL: f64 = 1e-5;
/// Number of stored pairs: the unknowns are many and strongly coupled.
const MEMORY: usize = 16;

/// Moves the vectors (m x d) to a minimum of the error; returns the remaining fraction of `|Psi|^2`. `norm2` is
/// `|Psi|^2`, summed over the outputs.
pub(super) fn run(
    psi: &Expansion,
    norm2: f64,
    z: &mut [f64],
    steps: usize,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<f64> {
    let look = Descent::new(psi, norm2, exec)?;
    let length = TOL * spread(&look.sheet.y, look.sheet.d);
    let params = LbfgsParams { tol: length, max_iter: steps, memory: MEMORY, ..LbfgsParams::default() };
    // The start must be valid; later trials that are not are rejected.
    look.at(z, exec)?;
    let mut at = |_: &[usize], z: &[f64], f: &mut [f64], g: &mut [f64]| match look.at(z, exec) {
        Ok((value, slope)) => {
            f[0] = value;
            g.copy_from_slice(&slope);
        }
        Err(_) => f[0] = f64::NAN,
    };
    let unknowns = z.len();
    let ends = lbfgs::minimise(z, unknowns, &params, &mut at, watch);
    Ok(ends.first().map_or(0.0, |e| e.value))
}

/// The error as a function of the vectors, with the coefficients eliminated.
pub(super) struct Descent<'a> {
    psi: &'a Expansion,
    sheet: Sheet,
    norm2: f64,
    k: usize,
}

impl<'a> Descent<'a> {
    pub(super) fn new(psi: &'a Expansion, norm2: f64, exec: Exec) -> Result<Self> {
        let sheet =
            Sheet::new(psi.kernel(), psi.centres().view().to_f64_within(exec.memory())?, psi.centres().dim());
        Ok(Descent { psi, sheet, norm2, k: psi.outputs() })
    }

    /// The remaining fraction of `|Psi|^2`, and its gradient.
    pub(super) fn at(&self, z: &[f64], exec: Exec) -> Result<(f64, Vec<f64>)> {
        let (d, k, n) = (self.sheet.d, self.k, self.sheet.len());
        let m = z.len() / d;
        let own = Sheet::new(self.psi.kernel(), z.to_vec(), d);
        let (across, within) = (self.sheet.look(z, exec)?, own.look(z, exec)?);
        let mut right = vec![0.0; m * k];
        product::nn(
            &mut right,
            Mat::new(&across.values, m, n),
            Mat::new(self.psi.coef(), n, k),
            exec.threads(),
        );
        let (beta, _) = factor::solve_spd(&within.values, m, &right, k)?;
        let gained: f64 = beta.iter().zip(&right).map(|(b, r)| b * r).sum();
        let scaled: Vec<f64> = beta.iter().map(|b| -2.0 * b / self.norm2).collect();
        let mut weights = vec![0.0; m * n];
        product::nt(&mut weights, Mat::new(&scaled, m, k), Mat::new(self.psi.coef(), n, k), exec.threads());
        let mut slope = self.sheet.pull(z, &across, &weights, exec);
        weights.truncate(m * m);
        weights.resize(m * m, 0.0);
        product::nt(&mut weights, Mat::new(&scaled, m, k), Mat::new(&beta, m, k), exec.threads());
        weights.iter_mut().for_each(|w| *w = -*w);
        let back = own.pull(z, &within, &weights, exec);
        slope.iter_mut().zip(&back).for_each(|(s, b)| *s += b);
        Ok(((1.0 - gained / self.norm2).max(0.0), slope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn the_slope_is_that_of_the_eliminated_error() {
        for line in ["rbf(gamma=0.3)", "poly(degree=3, scale=0.3, coef0=1)", "rbf_widths(gamma=0.3)"] {
            let centres = Points::dense(toy::normals(12, 3, 1), 3).expect("rows");
            let kernel = line.parse().expect("a kernel");
            let psi = Expansion::new(kernel, centres, toy::normals(12, 2, 2), vec![0.0; 2]).expect("fits");
            let norm2 = psi.norm2(Exec::one()).expect("numbers").iter().sum();
            let look = Descent::new(&psi, norm2, Exec::one()).expect("numbers");
            let z = toy::normals(4, 3, 3);
            let (value, slope) = look.at(&z, Exec::one()).expect("definite");
            assert!(value > 0.0 && value < 1.0, "{value}");
            for i in 0..z.len() {
                let moved = |h: f64| {
                    let mut z = z.clone();
                    z[i] += h;
                    look.at(&z, Exec::one()).expect("definite").0
                };
                close(slope[i], (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-6);
            }
        }
    }
}
