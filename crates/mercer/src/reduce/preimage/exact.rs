//! The pre-image where one exists (Schoelkopf et al. 1999, proposition 6; Schoelkopf 1997, appendix D.1.2).
//!
//! If `Psi = Phi(z)` then `Psi . Phi(e) = k(z, e)` for every e, so if k can be inverted, its values at a basis
//! determine z:
//!
//! ```text
//! k = f(x.y):       z = 1/a sum_j f^-1(Psi . Phi(a e_j)) e_j
//! k = f(|x-y|^2):   z = o + 1/(4a) sum_j (f^-1(Psi . Phi(o - a e_j)) - f^-1(Psi . Phi(o + a e_j))) e_j
//! ```
//!
//! with any orthonormal basis, any length a and, where only distances count, any origin o (here the centres' mean).
//! Where no exact pre-image exists the result depends on all three; the remaining distance shows this. Near 0 the
//! inverse of kernels such as `(x.y)^3` is steep: expect errors of the cube root of rounding there. Cost: 2 d
//! evaluations of the expansion.

use super::invert::Inverse;
use super::target::{Candidates, Target};
use super::{PreimageParams, Start};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::exec::Exec;

pub(super) fn run(target: &Target<'_>, params: &PreimageParams, exec: Exec) -> Result<Candidates> {
    let (p, d) = (target.len(), target.d);
    let unit = || (0..d * d).map(|p| f64::from(u8::from(p / d == p % d))).collect::<Vec<_>>();
    let basis = match &params.basis {
        None => unit(),
        Some(basis) => {
            orthonormal(basis, d)?;
            basis.clone()
        }
    };
    let inverse = inverse(target).ok_or_else(|| {
        Error::Unsupported(format!(
            "kernel `{}` is not an invertible function of the dot product or of the distance, so there is no closed form",
            target.psi.kernel()
        ))
    })?;
    let radial = inverse.radial;
    let rms = target.x.iter().map(|v| v * v).sum::<f64>() / target.x.len() as f64;
    let usual = if radial { target.spread } else { rms.sqrt() };
    let a = params.scale.unwrap_or(if usual > 0.0 { usual } else { 1.0 });
    let origin = if radial { target.mean.clone() } else { vec![0.0; d] };
    let shifted = |sign: f64| -> Result<Points> {
        let rows = basis.iter().enumerate().map(|(q, b)| origin[q % d] + sign * a * b).collect();
        Points::dense(rows, d)
    };
    let ahead = target.values(shifted(1.0)?.view(), exec)?;
    let behind = if radial { target.values(shifted(-1.0)?.view(), exec)? } else { Vec::new() };
    let mut points = Vec::with_capacity(p * d);
    for o in 0..p {
        let at = points.len();
        points.extend_from_slice(&origin);
        for (j, b) in basis.chunks(d).enumerate() {
            let ahead = inverse.argument(ahead[j * p + o]);
            let along =
                if radial { (inverse.argument(behind[j * p + o]) - ahead) / (4.0 * a) } else { ahead / a };
            points[at..].iter_mut().zip(b).for_each(|(z, b)| *z += along * b);
        }
    }
    Ok(Candidates { points, steps: vec![0; p], start: vec![Start::None; p] })
}

/// The inverse of the target's kernel, if it has one.
pub(super) fn inverse<'a>(target: &Target<'a>) -> Option<Inverse<'a>> {
    let size = |shift: &[f64]| {
        let far =
            target.x.chunks(target.d).map(|r| r.iter().zip(shift).map(|(v, s)| (v - s).powi(2)).sum::<f64>());
        far.fold(0.0, f64::max)
    };
    let radial = super::radial(target.psi.kernel());
    let size2 = if radial { 4.0 * size(&target.mean) } else { size(&vec![0.0; target.d]) };
    Inverse::new(target.psi.kernel(), size2.max(target.spread.powi(2)))
}

fn orthonormal(basis: &[f64], d: usize) -> Result<()> {
    if basis.len() != d * d {
        return Err(Error::shape("values of the basis", basis.len(), format!("{d} x {d}")));
    }
    for (i, a) in basis.chunks(d).enumerate() {
        for (j, b) in basis.chunks(d).enumerate() {
            let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            if (dot - f64::from(u8::from(i == j))).abs() > 1e-8 || dot.is_nan() {
                return Err(Error::param(
                    "basis",
                    format!("rows {} and {}", i + 1, j + 1),
                    "orthonormal rows",
                ));
            }
        }
    }
    Ok(())
}
