//! The best coefficients on given centres (Schoelkopf et al. 1999, proposition 8).
//!
//! For centres z_1 .. z_m the `Psi' = sum_j beta_j Phi(z_j)` nearest to `Psi = sum_i alpha_i Phi(x_i)` has
//!
//! ```text
//! beta = (K^z)^-1 K^zx alpha,     K^z_jl = k(z_j, z_l),   K^zx_ji = k(z_j, x_i)
//! ```
//!
//! This requires norms in feature space, and so a positive definite kernel. Under any other kernel (sigmoid,
//! multiquadric) the coefficients minimise the squared difference of the outputs at the old centres x, a
//! least-squares problem that always has a solution: `beta = (K^zx K^xz)^-1 K^zx f(x)`. It is the same problem under
//! the kernel `sum_i k(z, x_i) k(x_i, z')`, which is positive semidefinite whatever k is.
//!
//! Cost: m^2 d + m n d kernel values and m^3 / 3; m^2 n more where the kernel is not positive definite. (Nearly)
//! equal centres make the matrix singular; the solve then adds the smallest ridge that works.

use super::Expansion;
use crate::data::Points;
use crate::error::Result;
use crate::exec::Exec;
use crate::gram;
use crate::kernel::Definiteness;
use crate::num::{Mat, factor, product};

impl Expansion {
    /// Whether norms in feature space exist: whether the kernel is known to be positive definite.
    pub fn definite(&self) -> bool {
        self.kernel.definiteness() == Definiteness::Positive
    }

    /// The expansion on `centres` nearest to this one: in feature space, or, where the kernel is not known to be
    /// positive definite, in its outputs at the current centres. Offsets do not change.
    pub fn on_centres(&self, centres: Points, exec: Exec) -> Result<Expansion> {
        let (left, right) = self.normal_equations(&centres, exec)?;
        let (coef, _) = factor::solve_spd(&left, centres.len(), &right, self.outputs())?;
        Expansion::new(self.kernel.clone(), centres, coef, self.offset.clone())
    }

    /// The normal equations of the best coefficients on some centres: an m x m matrix and m x k right-hand sides.
    pub(crate) fn normal_equations(&self, centres: &Points, exec: Exec) -> Result<(Vec<f64>, Vec<f64>)> {
        let (m, n, k) = (centres.len(), self.len(), self.outputs());
        let (mut left, mut right) = (vec![0.0; m * m], vec![0.0; m * k]);
        let definite = self.definite();
        if definite {
            left = gram::square::<f64>(&self.kernel, centres.view(), exec)?.to_vec();
        }
        if n > 0 && m > 0 {
            let across = gram::cross::<f64>(&self.kernel, centres.view(), self.centres.view(), exec)?;
            let across = Mat::new(&across, m, n);
            if definite {
                product::nn(&mut right, across, Mat::new(&self.coef, n, k), exec.threads());
            } else {
                let outputs = self.inner_at(self.centres.view(), exec)?;
                product::nn(&mut right, across, Mat::new(&outputs, n, k), exec.threads());
                product::nt(&mut left, across, across, exec.threads());
            }
        }
        Ok((left, right))
    }

    /// Distance of another expansion from this one, relative to its norm, for all outputs together and for each: by
    /// norms in feature space (`own` is [`Expansion::norm2`]), or, where the kernel is not known to be positive
    /// definite, by the outputs at the centres, without offsets.
    pub(crate) fn relative_errors(
        &self,
        own: &[f64],
        other: &Expansion,
        exec: Exec,
    ) -> Result<(f64, Vec<f64>)> {
        let k = self.outputs();
        let (off, size) = if self.definite() {
            (self.distance2_by(own, other, exec)?, own.to_vec())
        } else {
            let at = self.centres.view();
            let (before, now) = (self.inner_at(at, exec)?, other.inner_at(at, exec)?);
            let (mut off, mut size) = (vec![0.0; k], vec![0.0; k]);
            for (p, (a, b)) in before.iter().zip(&now).enumerate() {
                off[p % k] += (a - b).powi(2);
                size[p % k] += a * a;
            }
            (off, size)
        };
        let ratio = |off: f64, size: f64| if size > 0.0 { (off / size).sqrt() } else { 0.0 };
        let all = ratio(off.iter().sum(), size.iter().sum());
        Ok((all, off.iter().zip(&size).map(|(o, s)| ratio(*o, *s)).collect()))
    }
}
