//! Generated sets for first steps, pictures and the tour: small, seeded, with known structure.
//!
//! Two-dimensional but for [`sinc`] and the digits, so that what a machine learns can be drawn.

use std::f64::consts::{PI, TAU};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::noise::normal;
use super::points::Points;
use super::targets::{Labels, Targets};
use crate::error::{Error, Result};

/// A row of the table of toy sets.
#[derive(Debug, Clone, Copy)]
pub struct Toy {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub doc: &'static str,
    /// Makes n points from a seed.
    pub make: fn(usize, u64) -> (Points, Targets),
}

/// All toy sets.
pub const ALL: &[Toy] = &[
    Toy { name: "banana", doc: "two interleaving crescents", make: banana },
    Toy { name: "disc", doc: "inside and outside of a disc, one label in ten wrong", make: noisy_disc },
    Toy { name: "ring", doc: "a ring around a cloud", make: ring },
    Toy { name: "spirals", doc: "two interleaved spirals", make: spirals },
    Toy { name: "clusters", doc: "three Gaussian clusters", make: three_clusters },
    Toy { name: "parabola", doc: "y = x^2 with noise, no targets", make: parabola },
    Toy { name: "half-circle", doc: "half a circle with noise, no targets", make: half_circle },
    Toy { name: "square", doc: "the edges of a square with noise, no targets", make: square },
    Toy { name: "sinc", doc: "sin(x)/x with noise, for regression", make: sinc },
    Toy { name: "digits", doc: "handwritten digits, 8 x 8 pixels, 1797 of them at most", make: some_digits },
];

/// A toy set by its name.
///
/// ```
/// let (points, targets) = mercer::data::toy::by_name("banana", 200, 1)?;
/// assert_eq!((points.len(), points.dim()), (200, 2));
/// assert_eq!(targets.classes()?.counts(), [100, 100]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn by_name(name: &str, n: usize, seed: u64) -> Result<(Points, Targets)> {
    let toy = ALL.iter().find(|toy| toy.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|toy| toy.name).collect();
        Error::param("toy set", format!("`{name}`"), format!("one of {}", names.join(", ")))
    })?;
    Ok((toy.make)(n, seed))
}

/// A row of the table of toy sets with as many classes as are asked for.
#[derive(Debug, Clone, Copy)]
pub struct ClassesToy {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in a line.
    pub doc: &'static str,
    /// Makes n points of k classes from a seed.
    pub make: fn(usize, usize, u64) -> (Points, Targets),
}

/// All toy sets with as many classes as are asked for.
pub const OF_CLASSES: &[ClassesToy] = &[
    ClassesToy { name: "clouds", doc: "a Gaussian cloud per class, around a circle", make: clouds },
    ClassesToy { name: "rings", doc: "a ring per class, one inside the other", make: rings },
    ClassesToy { name: "arms", doc: "a spiral arm per class, around one centre", make: arms },
    ClassesToy { name: "checks", doc: "a checkerboard of alternating classes", make: checks },
];

/// Classes that [`of_classes`] makes, at least and at most.
pub const CLASSES: std::ops::RangeInclusive<usize> = 2..=26;

/// A toy set of k classes by its name: `0`, `1`, ..., in turn.
///
/// ```
/// let (points, targets) = mercer::data::toy::of_classes("rings", 200, 4, 1)?;
/// assert_eq!(points.dim(), 2);
/// assert_eq!(targets.classes()?.counts(), [50, 50, 50, 50]);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn of_classes(name: &str, n: usize, k: usize, seed: u64) -> Result<(Points, Targets)> {
    let toy = OF_CLASSES.iter().find(|toy| toy.name == name).ok_or_else(|| {
        let names: Vec<&str> = OF_CLASSES.iter().map(|toy| toy.name).collect();
        Error::param("toy set", format!("`{name}`"), format!("one of {}", names.join(", ")))
    })?;
    if !CLASSES.contains(&k) {
        return Err(Error::param("classes", k, format!("from {} to {}", CLASSES.start(), CLASSES.end())));
    }
    Ok((toy.make)(n, k, seed))
}

/// A Gaussian cloud per class, around the unit circle, with a deviation of a quarter of the distance to the next one.
pub fn clouds(n: usize, k: usize, seed: u64) -> (Points, Targets) {
    let spread = 0.5 * (PI / k as f64).sin();
    numbered(n, k, seed, |rng, class| {
        let t = TAU * class as f64 / k as f64;
        [t.cos() + spread * normal(rng), t.sin() + spread * normal(rng)]
    })
}

/// A ring per class, of radius 1 / k, 2 / k, ..., 1, with a deviation of an eighth of the distance between them.
pub fn rings(n: usize, k: usize, seed: u64) -> (Points, Targets) {
    let step = 1.0 / k as f64;
    numbered(n, k, seed, |rng, class| {
        let (t, r) = (TAU * rng.random::<f64>(), step * (class as f64 + 1.0 + 0.125 * normal(rng)));
        [r * t.cos(), r * t.sin()]
    })
}

/// A spiral arm of two thirds of a turn per class, noise 0.03.
pub fn arms(n: usize, k: usize, seed: u64) -> (Points, Targets) {
    numbered(n, k, seed, |rng, class| {
        let s = 0.15 + 0.85 * rng.random::<f64>();
        let t = TAU * (class as f64 / k as f64 + s / 1.5);
        [s * t.cos() + 0.03 * normal(rng), s * t.sin() + 0.03 * normal(rng)]
    })
}

/// A board on `[-1, 1]^2` of 4 x 4 to 6 x 6 squares (more where the classes need them), each with a margin of a tenth; the
/// classes in turn along its rows and columns.
pub fn checks(n: usize, k: usize, seed: u64) -> (Points, Targets) {
    let side = (k + 2).min(6).max((k + 1).div_ceil(2));
    numbered(n, k, seed, |rng, class| {
        let squares: Vec<usize> =
            (0..side * side).filter(|at| (at / side + at % side) % k == class).collect();
        let at = squares[(rng.next_u64() % squares.len().max(1) as u64) as usize];
        let place = |at: usize, u: f64| 2.0 * (at as f64 + 0.1 + 0.8 * u) / side as f64 - 1.0;
        [place(at % side, rng.random::<f64>()), place(at / side, rng.random::<f64>())]
    })
}

/// Two crescents that reach into each other, noise 0.2; classes 1 and -1 in turn.
pub fn banana(n: usize, seed: u64) -> (Points, Targets) {
    classes(n, seed, |rng, i| {
        let t = PI * rng.random::<f64>();
        let (x, y) = if i % 2 == 0 { (t.cos(), t.sin()) } else { (1.0 - t.cos(), 0.5 - t.sin()) };
        ([x + 0.2 * normal(rng), y + 0.2 * normal(rng)], sign(i % 2 == 0))
    })
}

/// Standard normal points; class 1 where `x^2 + y^2 < 1.2`, else -1; one label in ten is wrong.
pub fn noisy_disc(n: usize, seed: u64) -> (Points, Targets) {
    classes(n, seed, |rng, _| {
        let (x, y) = (normal(rng), normal(rng));
        let flip = rng.random::<f64>() < 0.1;
        ([x, y], sign((x * x + y * y < 1.2) != flip))
    })
}

/// A cloud of deviation 0.3 (class 1) in a ring of radius 1 and deviation 0.1 (class -1), in turn.
pub fn ring(n: usize, seed: u64) -> (Points, Targets) {
    classes(n, seed, |rng, i| {
        if i % 2 == 0 {
            return ([0.3 * normal(rng), 0.3 * normal(rng)], sign(true));
        }
        let (t, r) = (TAU * rng.random::<f64>(), 1.0 + 0.1 * normal(rng));
        ([r * t.cos(), r * t.sin()], sign(false))
    })
}

/// Two spirals of one and a half turns, noise 0.02; classes 1 and -1 in turn.
pub fn spirals(n: usize, seed: u64) -> (Points, Targets) {
    classes(n, seed, |rng, i| {
        let s = rng.random::<f64>().sqrt();
        let (t, side) = (1.5 * TAU * s, if i % 2 == 0 { 1.0 } else { -1.0 });
        let (x, y) = (side * s * t.cos(), side * s * t.sin());
        ([x + 0.02 * normal(rng), y + 0.02 * normal(rng)], sign(i % 2 == 0))
    })
}

/// Three clusters of deviation 0.1 within `[-1, 1] x [-0.5, 1]`, as in the pictures of kernel PCA with a Gaussian
/// (Schoelkopf, Smola and Mueller 1996); classes 0, 1 and 2 in turn.
pub fn three_clusters(n: usize, seed: u64) -> (Points, Targets) {
    const AT: [(f64, f64); 3] = [(-0.5, -0.2), (0.0, 0.6), (0.5, 0.0)];
    classes(n, seed, |rng, i| {
        let (x, y) = AT[i % 3];
        ([x + 0.1 * normal(rng), y + 0.1 * normal(rng)], ["0", "1", "2"][i % 3])
    })
}

/// `y = x^2` with x uniform on [-1, 1] and noise 0.2 in y (Schoelkopf, Smola and Mueller 1996). No targets.
pub fn parabola(n: usize, seed: u64) -> (Points, Targets) {
    plane(n, seed, |rng| {
        let x = 2.0 * rng.random::<f64>() - 1.0;
        [x, x * x + 0.2 * normal(rng)]
    })
}

/// The upper half of the unit circle, noise 0.1 along both axes. No targets.
pub fn half_circle(n: usize, seed: u64) -> (Points, Targets) {
    plane(n, seed, |rng| {
        let t = PI * rng.random::<f64>();
        [t.cos() + 0.1 * normal(rng), t.sin() + 0.1 * normal(rng)]
    })
}

/// The edges of `[-1, 1]^2`, noise 0.1 along both axes. No targets.
pub fn square(n: usize, seed: u64) -> (Points, Targets) {
    plane(n, seed, |rng| {
        let (side, s) = (rng.next_u64() % 4, 2.0 * rng.random::<f64>() - 1.0);
        let (x, y) = [(s, -1.0), (s, 1.0), (-1.0, s), (1.0, s)][side as usize];
        [x + 0.1 * normal(rng), y + 0.1 * normal(rng)]
    })
}

/// `sin(x)/x` with x uniform on [-10, 10] and noise 0.1.
pub fn sinc(n: usize, seed: u64) -> (Points, Targets) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..n).map(|_| 20.0 * rng.random::<f64>() - 10.0).collect();
    let clean = |x: f64| if x == 0.0 { 1.0 } else { x.sin() / x };
    let y = x.iter().map(|&x| clean(x) + 0.1 * normal(&mut rng)).collect();
    (Points::dense(x, 1).expect("one value a point"), Targets::Reals(y))
}

/// Random rows of the [digits](super::digits()), drawn without replacement; all of them if more are requested.
pub fn some_digits(n: usize, seed: u64) -> (Points, Targets) {
    let all = super::digits();
    let mut rows = super::split::shuffle(all.len(), seed);
    rows.truncate(n);
    let some = all.gather(&rows);
    (some.points, some.targets)
}

fn classes(
    n: usize,
    seed: u64,
    mut point: impl FnMut(&mut ChaCha8Rng, usize) -> ([f64; 2], &'static str),
) -> (Points, Targets) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (points, names): (Vec<[f64; 2]>, Vec<&str>) = (0..n).map(|i| point(&mut rng, i)).unzip();
    (two_columns(&points), Targets::Classes(Labels::new(names)))
}

/// Points of k classes in turn, whose names are their numbers.
fn numbered(
    n: usize,
    k: usize,
    seed: u64,
    mut point: impl FnMut(&mut ChaCha8Rng, usize) -> [f64; 2],
) -> (Points, Targets) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let points: Vec<[f64; 2]> = (0..n).map(|i| point(&mut rng, i % k)).collect();
    (two_columns(&points), Targets::Classes(Labels::new((0..n).map(|i| (i % k).to_string()))))
}

fn plane(n: usize, seed: u64, mut point: impl FnMut(&mut ChaCha8Rng) -> [f64; 2]) -> (Points, Targets) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let points: Vec<[f64; 2]> = (0..n).map(|_| point(&mut rng)).collect();
    (two_columns(&points), Targets::None)
}

fn two_columns(points: &[[f64; 2]]) -> Points {
    Points::dense(points.as_flattened().to_vec(), 2).expect("two values a point")
}

fn sign(positive: bool) -> &'static str {
    if positive { "1" } else { "-1" }
}
