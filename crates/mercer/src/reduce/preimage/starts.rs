//! Starting points of iterations: given ones, and some derived from the expansion.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::target::Target;
use super::{PreimageParams, Start};
use crate::error::Result;
use crate::exec::Exec;

/// Number of centres from which the best is selected.
const LOOKED_AT: usize = 256;

/// Several starts for each vector: `points[(s * p + o) * d..]` is start s of vector o.
pub(super) struct Starts {
    pub kinds: Vec<Start>,
    pub points: Vec<f64>,
}

/// The starts for each vector: given ones first, then the best of a sample of centres, the weighted mean, random
/// centres.
pub(super) fn make(target: &Target<'_>, params: &PreimageParams, exec: Exec) -> Result<Starts> {
    let (p, m, d) = (target.len(), target.centres(), target.d);
    let mut all = Starts { kinds: Vec::new(), points: Vec::new() };
    if let Some(given) = target.starts {
        all.kinds.push(Start::Given);
        all.points.extend(given.to_f64_within(exec.memory())?);
    }
    let more = params.starts.unwrap_or(if target.starts.is_some() { 0 } else { 3 });
    let more = if target.starts.is_none() { more.max(1) } else { more };
    let coef = target.psi.coef();
    let mut rng = ChaCha8Rng::seed_from_u64(params.seed);
    for s in 0..more {
        match s {
            0 => {
                all.kinds.push(Start::Best);
                let step = m.div_ceil(LOOKED_AT);
                let some: Vec<usize> = (0..m).step_by(step).collect();
                let values = target.values(target.psi.centres().gather(&some).view(), exec)?;
                for o in 0..p {
                    let best =
                        (0..some.len()).max_by(|&a, &b| values[a * p + o].total_cmp(&values[b * p + o]));
                    let row = some[best.unwrap_or(0)];
                    all.points.extend_from_slice(&target.x[row * d..(row + 1) * d]);
                }
            }
            1 => {
                all.kinds.push(Start::Mean);
                let at = all.points.len();
                all.points.resize(at + p * d, 0.0);
                for o in 0..p {
                    let to = &mut all.points[at + o * d..at + (o + 1) * d];
                    let size: f64 = (0..m).map(|j| coef[j * p + o].abs()).sum();
                    for j in 0..m {
                        let c = if size > 0.0 { coef[j * p + o].abs() / size } else { 1.0 / m as f64 };
                        to.iter_mut().zip(&target.x[j * d..(j + 1) * d]).for_each(|(t, x)| *t += c * x);
                    }
                }
            }
            _ => {
                all.kinds.push(Start::Drawn);
                for _ in 0..p {
                    let row = rng.random_range(0..m);
                    all.points.extend_from_slice(&target.x[row * d..(row + 1) * d]);
                }
            }
        }
    }
    Ok(all)
}

/// For each vector, the index of the start with the largest merit; NaN never wins.
pub(super) fn winners(merit: &[f64], p: usize) -> Vec<usize> {
    let at =
        |s: usize, o: usize| if merit[s * p + o].is_nan() { f64::NEG_INFINITY } else { merit[s * p + o] };
    let count = merit.len() / p;
    (0..p).map(|o| (1..count).fold(0, |best, s| if at(s, o) > at(best, o) { s } else { best })).collect()
}
