//! The best coefficients on given centres (Schoelkopf et al. 1999, proposition 8).
//!
//! For centres z_1 .. z_m the `Psi' = sum_j beta_j Phi(z_j)` nearest to `Psi = sum_i alpha_i Phi(x_i)` has
//!
//! ```text
//! beta = (K^z)^-1 K^zx alpha,     K^z_jl = k(z_j, z_l),   K^zx_ji = k(z_j, x_i)
//! ```
//!
//! Cost: m^2 d + m n d kernel values and m^3 / 3. Centres that (nearly) coincide make K^z singular: the solve then
//! takes the smallest ridge that works.

use super::Expansion;
use crate::data::Points;
use crate::error::Result;
use crate::gram;
use crate::num::{Mat, factor, product};
use crate::par::Par;

impl Expansion {
    /// The expansion on `centres` nearest to this one in feature space; offsets are kept as they are.
    pub fn on_centres(&self, centres: Points, par: Par) -> Result<Expansion> {
        let (m, n, k) = (centres.len(), self.len(), self.outputs());
        let own = gram::square::<f64>(&self.kernel, centres.view(), par)?;
        let mut right = vec![0.0; m * k];
        if n > 0 {
            let across = gram::cross::<f64>(&self.kernel, centres.view(), self.centres.view(), par)?;
            product::nn(&mut right, Mat::new(&across, m, n), Mat::new(&self.coef, n, k), par.threads());
        }
        let (coef, _) = factor::solve_spd(&own, m, &right, k)?;
        Expansion::new(self.kernel.clone(), centres, coef, self.offset.clone())
    }
}
