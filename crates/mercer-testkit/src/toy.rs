//! Seeded toy data.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A seeded generator.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A standard normal number (Box and Muller).
pub fn normal(rng: &mut impl Rng) -> f64 {
    let u: f64 = 1.0 - rng.random::<f64>();
    let v: f64 = rng.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// n*d standard normal numbers.
pub fn normals(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n * d).map(|_| normal(&mut rng)).collect()
}

/// n*d numbers uniform on [lo, hi).
pub fn uniforms(n: usize, d: usize, lo: f64, hi: f64, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n * d).map(|_| lo + (hi - lo) * rng.random::<f64>()).collect()
}

/// A noisy disc in the plane: n points and labels +1 inside, -1 outside, one in ten flipped.
pub fn noisy_disc(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng(seed);
    let mut points = Vec::with_capacity(2 * n);
    let mut labels = Vec::with_capacity(n);
    for _ in 0..n {
        let (x, y) = (normal(&mut rng), normal(&mut rng));
        let inside = x * x + y * y < 1.2;
        let flip = rng.random::<f64>() < 0.1;
        points.extend([x, y]);
        labels.push(if inside == flip { -1.0 } else { 1.0 });
    }
    (points, labels)
}
