//! Pre-images from distances to the nearest centres (Kwok and Tsang 2004): multi-dimensional scaling in a
//! neighbourhood.
//!
//! Inverting the kernel turns `Psi . Phi(x_i)` into the distance `|z - x_i|^2` that would hold for `Psi = Phi(z)`.
//! With the centred neighbours `X = U S V'`, the least-squares fit to those distances within the neighbours' span is
//!
//! ```text
//! z = mean + 1/2 V S^-1 U' (|x_i - mean|^2 - |z - x_i|^2)
//! ```
//!
//! A closed form without iteration, always near the data. Cost: m^2 d + m^2 p, and q^2 d per vector for q neighbours.

use rayon::prelude::*;

use super::target::{Candidates, Target};
use super::{PreimageParams, Start, exact};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::factor;

pub(super) fn run(target: &Target<'_>, params: &PreimageParams, exec: Exec) -> Result<Candidates> {
    let (p, m, d) = (target.len(), target.centres(), target.d);
    let inverse = exact::inverse(target).ok_or_else(|| {
        Error::Unsupported(format!(
            "kernel `{}` is not an invertible function of the dot product or of the distance, so distances cannot be recovered",
            target.psi.kernel()
        ))
    })?;
    let centres = target.psi.centres().view();
    let values = target.values(centres, exec)?;
    let mut own = vec![0.0; m];
    target.psi.kernel().diag(centres, &mut own);
    let norm2 = target.norm2(exec)?;
    let q = params.neighbours.min(m);
    let one = |o: usize| -> Result<Vec<f64>> {
        let mut near: Vec<usize> = (0..m).collect();
        let feature = |i: usize| own[i] - 2.0 * values[i * p + o];
        near.sort_by(|&a, &b| feature(a).total_cmp(&feature(b)));
        near.truncate(q);
        let row = |i: usize| &target.x[i * d..(i + 1) * d];
        let input2 = |i: usize| -> f64 {
            let v = inverse.argument(values[i * p + o]);
            if inverse.radial {
                return v;
            }
            // |z|^2 from k(z, z) = |Psi|^2.
            let z2 = inverse.argument(norm2[o]).max(0.0);
            (z2 - 2.0 * v + row(i).iter().map(|x| x * x).sum::<f64>()).max(0.0)
        };
        let mean: Vec<f64> =
            (0..d).map(|c| near.iter().map(|&i| row(i)[c]).sum::<f64>() / q as f64).collect();
        let x: Vec<f64> = near.iter().flat_map(|&i| row(i).iter().zip(&mean).map(|(x, m)| x - m)).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let gram: Vec<f64> = x.chunks(d).flat_map(|a| x.chunks(d).map(move |b| dot(a, b))).collect();
        let (s, u) = factor::eigen(&gram, q)?;
        let right: Vec<f64> = (0..q).map(|r| gram[r * q + r] - input2(near[r])).collect();
        // V S^-1 U' = X' U S^-2 U'.
        let mut w = vec![0.0; q];
        for j in (0..q).take_while(|&j| s[j] > 1e-10 * s[0]) {
            let along = (0..q).map(|r| u[r * q + j] * right[r]).sum::<f64>() / s[j];
            (0..q).for_each(|r| w[r] += along * u[r * q + j]);
        }
        let mut z = mean;
        x.chunks(d).zip(&w).for_each(|(x, w)| z.iter_mut().zip(x).for_each(|(z, x)| *z += 0.5 * w * x));
        Ok(z)
    };
    let points: Vec<Vec<f64>> = if exec.threads() == 1 {
        (0..p).map(one).collect::<Result<_>>()?
    } else {
        (0..p).into_par_iter().map(one).collect::<Result<_>>()?
    };
    Ok(Candidates { points: points.concat(), steps: vec![0; p], start: vec![Start::None; p] })
}
