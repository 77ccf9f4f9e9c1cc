//! A pre-image map learned on the centres (Schoelkopf, Smola and Mueller 1996, section 4.6; Bakir et al. 2004).
//!
//! The centres are pairs (image, point). Kernel ridge regression from images to points, with a Gaussian of the
//! feature-space distance,
//!
//! ```text
//! z(Psi) = mean + sum_i A_i exp(-g |Psi - Phi(x_i)|^2),      (G + lambda 1) A = X - mean,      g = 1 / mean |Phi(x_i) - Phi(x_j)|^2
//! ```
//!
//! requires neither derivative nor inverse of the kernel. Cost: `m^3 / 3` once, `m^2 (d + p)`.

use super::target::{Candidates, Target};
use super::{PreimageParams, Start};
use crate::error::Result;
use crate::exec::Exec;
use crate::gram;
use crate::num::{Mat, factor, product};

pub(super) fn run(target: &Target<'_>, params: &PreimageParams, exec: Exec) -> Result<Candidates> {
    let (p, m, d) = (target.len(), target.centres(), target.d);
    let centres = target.psi.centres().view();
    let mut g = gram::square::<f64>(target.psi.kernel(), centres, exec)?.to_vec();
    let own: Vec<f64> = (0..m).map(|i| g[i * m + i]).collect();
    for i in 0..m {
        for j in 0..m {
            g[i * m + j] = (own[i] + own[j] - 2.0 * g[i * m + j]).max(0.0);
        }
    }
    let mean2 = g.iter().sum::<f64>() / (m * m) as f64;
    let rate = if mean2 > 0.0 { 1.0 / mean2 } else { 1.0 };
    let near = |distance2: f64| (-rate * distance2.max(0.0)).exp();
    g.iter_mut().for_each(|v| *v = near(*v));
    let x: Vec<f64> = target.x.iter().enumerate().map(|(q, v)| v - target.mean[q % d]).collect();
    // An indefinite kernel gives no true distances; a larger ridge is then needed.
    let mut ridge = params.lambda;
    let a = loop {
        (0..m).for_each(|i| g[i * m + i] = 1.0 + ridge);
        match factor::solve_spd(&g, m, &x, d) {
            Ok((a, _)) => break a,
            Err(_) if ridge < m as f64 => ridge *= 10.0,
            Err(fault) => return Err(fault.into()),
        }
    };
    let norm2 = target.norm2(exec)?;
    let mut values = target.values(centres, exec)?;
    for (i, line) in values.chunks_mut(p).enumerate() {
        line.iter_mut().zip(&norm2).for_each(|(v, n2)| *v = near(n2 - 2.0 * *v + own[i]));
    }
    let mut points: Vec<f64> = vec![0.0; p * d];
    product::tn(&mut points, Mat::new(&values, m, p), Mat::new(&a, m, d), exec.threads());
    points.chunks_mut(d).for_each(|z| z.iter_mut().zip(&target.mean).for_each(|(z, m)| *z += m));
    Ok(Candidates { points, steps: vec![0; p], start: vec![Start::None; p] })
}
