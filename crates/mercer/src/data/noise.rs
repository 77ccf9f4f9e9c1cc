//! Noise added to points on purpose: to try denoising on rows that are known without it.

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::Points;
use crate::error::{Error, Result};

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// The points with Gaussian noise of this deviation on every value.
///
/// ```
/// use mercer::data::{Points, noise};
/// let points = Points::dense(vec![0.0; 1000], 10)?;
/// let noisy = noise::gaussian(&points, 2.0, 1)?.view().to_f64()?;
/// let variance = noisy.iter().map(|v| v * v).sum::<f64>() / 1000.0;
/// assert!((3.5..4.5).contains(&variance));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn gaussian(points: &Points, deviation: f64, seed: u64) -> Result<Points> {
    if !(deviation >= 0.0 && deviation.is_finite()) {
        return Err(Error::param("deviation", deviation, "a finite number of at least 0"));
    }
    changed(points, seed, |v, rng| v + deviation * normal(rng))
}

/// The points with this share of their values turned to one of two levels, each as often.
pub fn speckle(points: &Points, share: f64, levels: (f64, f64), seed: u64) -> Result<Points> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::param("share", share, "from 0 to 1"));
    }
    changed(points, seed, |v, rng| match rng.random::<f64>() < share {
        true if rng.random::<f64>() < 0.5 => levels.0,
        true => levels.1,
        false => v,
    })
}

fn changed(points: &Points, seed: u64, mut one: impl FnMut(f64, &mut ChaCha8Rng) -> f64) -> Result<Points> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let values = points.view().to_f64()?.into_iter().map(|v| one(v, &mut rng)).collect();
    let noisy = Points::dense(values, points.dim())?;
    match points.image() {
        Some(shape) => noisy.with_image(shape),
        None => Ok(noisy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speckle_turns_its_share_and_leaves_the_rest() {
        let points = Points::dense(vec![0.25; 10_000], 100).expect("whole rows");
        let values = speckle(&points, 0.2, (-1.0, 1.0), 3).and_then(|p| p.view().to_f64()).expect("numbers");
        let count = |level: f64| values.iter().filter(|v| **v == level).count();
        assert!((900..1100).contains(&count(-1.0)) && (900..1100).contains(&count(1.0)));
        assert_eq!(count(-1.0) + count(1.0) + count(0.25), 10_000);
        let again = speckle(&points, 0.2, (-1.0, 1.0), 3).and_then(|p| p.view().to_f64()).expect("numbers");
        assert_eq!(values, again);
        assert!(speckle(&points, 1.2, (0.0, 1.0), 3).is_err() && gaussian(&points, f64::NAN, 3).is_err());
    }
}
