//! Maps into the span of some points (Schoelkopf et al. 1999, section II-C): features for algorithms without kernels.

use crate::data::Points;
use crate::error::Result;
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::num::{Mat, factor, product};

/// The empirical kernel map `x -> (k(x, z_1), ..., k(x, z_m))` on any points z (eq. 13).
///
/// The kernel need be neither symmetric nor definite: a linear method on these features uses the matrix `K K'`, which
/// is positive semidefinite for any K.
///
/// ```
/// use mercer::{data::Points, kernel::Kernel, model::empirical_map, Exec};
/// let z = Points::dense(vec![1.0, 3.0], 1)?;
/// let map = empirical_map(Kernel::Linear, z)?;
/// let x = Points::dense(vec![2.0], 1)?;
/// assert_eq!(map.evaluate(x.view(), Exec::one())?, [2.0, 6.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn empirical_map(kernel: Kernel, points: Points) -> Result<Expansion> {
    let m = points.len();
    let unit = (0..m * m).map(|p| f64::from(u8::from(p / m == p % m))).collect();
    Expansion::new(kernel, points, unit, vec![0.0; m])
}

/// The whitened map `x -> K^-1/2 (k(z_1, x), ..., k(z_m, x))` (eq. 17): in it the canonical dot product of two z is
/// their kernel value. K^-1/2 is the pseudo-inverse; eigenvalues below 1e-12 of the largest count as zero, and
/// negative ones are replaced by their absolute values.
pub fn whitening_map(kernel: Kernel, points: Points, exec: Exec) -> Result<Expansion> {
    let m = points.len();
    let k = gram::square::<f64>(&kernel, points.view(), exec)?;
    let (values, vectors) = factor::eigen(&k, m)?;
    let top = values.iter().fold(0.0_f64, |t, v| t.max(v.abs()));
    let scaled: Vec<f64> = (0..m * m)
        .map(|p| {
            let value = values[p % m].abs();
            if value > 1e-12 * top { vectors[p] / value.sqrt() } else { 0.0 }
        })
        .collect();
    let mut half = vec![0.0; m * m];
    product::nt(&mut half, Mat::new(&scaled, m, m), Mat::new(&vectors, m, m), exec.threads());
    Expansion::new(kernel, points, half, vec![0.0; m])
}
