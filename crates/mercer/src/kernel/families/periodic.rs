//! Periodic translation-invariant kernels, products over the coordinates of a series of cosines: `prod_i sum_j w_j
//! cos(j freq (x_i - y_i)) / sum_j w_j` with non-negative weights.
//!
//! By Bochner's theorem every such series is positive definite, and the weights determine how strongly each frequency
//! is regularised: this constructs a kernel from a given spectrum (Mueller et al. 2001, section III). `spectrum`
//! takes the weights themselves, `dirichlet` sets them equal up to an order, `fourier` lets them decay as `q^j`,
//! which sums in closed form (Vapnik 1998). All are divided by their value at 0, so that `k(x, x) = 1` in any
//! dimension.

use mercer_num::Real;
use mercer_num::vector::{LANES, Parts};

use crate::kernel::block::Dense;
use crate::kernel::coordinates::{Coordinates, Term};
use crate::kernel::definite::Definiteness;
use crate::kernel::table::KernelEntry;
use crate::kernel::{Kernel, lanes};
use crate::param::{Allowed, Param};

const FREQ: Param =
    Param::new("freq", Allowed::Above(0.0), Some("1"), "lowest frequency: the period is 2 pi / freq");

pub(in crate::kernel) const FOURIER: KernelEntry = KernelEntry {
    name: "fourier",
    formula: "prod_i (1 - q)^2 / (1 - 2 q cos(freq (x_i - y_i)) + q^2)",
    doc: "Fourier expansion with coefficients that decay as q^j.",
    params: &[
        Param::new("q", Allowed::Between(0.0, 1.0), Some("0.5"), "ratio of successive coefficients"),
        FREQ,
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["fourier(q=0.4)", "fourier(q=0.8, freq=0.5)"],
    build: |v| Kernel::Fourier { q: v[0].real(), freq: v[1].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const DIRICHLET: KernelEntry = KernelEntry {
    name: "dirichlet",
    formula: "prod_i sum_{j=-order}^{order} cos(j freq (x_i - y_i)) / (2 order + 1)",
    doc: "Fourier expansion truncated at an order.",
    params: &[Param::new("order", Allowed::Count(1, 1000), None, "highest harmonic"), FREQ],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["dirichlet(order=2)", "dirichlet(order=5, freq=0.5)"],
    build: |v| Kernel::Dirichlet { order: v[0].whole(), freq: v[1].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const SPECTRUM: KernelEntry = KernelEntry {
    name: "spectrum",
    formula: "prod_i sum_j w_j cos(j freq (x_i - y_i)) / sum_j w_j",
    doc: "The translation-invariant kernel of a given spectrum: one weight per harmonic, starting with the constant.",
    params: &[
        Param::new("weights", Allowed::Weights, None, "weight of each harmonic, j = 0, 1, 2, ..."),
        FREQ,
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["spectrum(weights=[1, 0.5, 0, 0.25], freq=0.7)"],
    build: |v| Kernel::Spectrum { weights: v[0].list(), freq: v[1].real() },
    ..KernelEntry::EMPTY
};

/// A function of an angle, given the angle's cosine and sine.
pub(in crate::kernel) trait Shape {
    /// The value, for several angles at once.
    fn at<const L: usize>(&self, cos: [f64; L]) -> [f64; L];
    /// The value and its derivatives by the angle.
    fn derivatives(&self, cos: f64, sin: f64) -> [f64; 3];
}

pub(in crate::kernel) struct Fourier {
    pub(in crate::kernel) q: f64,
}

impl Shape for Fourier {
    #[inline(always)]
    fn at<const L: usize>(&self, cos: [f64; L]) -> [f64; L] {
        let (q, top) = (self.q, (1.0 - self.q) * (1.0 - self.q));
        // 1 - 2 q cos + q^2, written so that digits do not cancel for q near 1 and small angles.
        cos.map(|cos| top / (top + 2.0 * q * (1.0 - cos)))
    }

    fn derivatives(&self, cos: f64, sin: f64) -> [f64; 3] {
        let q = self.q;
        let top = (1.0 - q) * (1.0 - q);
        let d = top + 2.0 * q * (1.0 - cos);
        [
            top / d,
            -2.0 * q * top * sin / (d * d),
            -2.0 * q * top * (cos / (d * d) - 4.0 * q * sin * sin / (d * d * d)),
        ]
    }
}

pub(in crate::kernel) struct Dirichlet {
    pub(in crate::kernel) order: u32,
}

impl Shape for Dirichlet {
    #[inline(always)]
    fn at<const L: usize>(&self, cos: [f64; L]) -> [f64; L] {
        let n = self.order as usize;
        let total = (2 * n + 1) as f64;
        series(cos, n + 1, |j| if j == 0 { 1.0 } else { 2.0 }).map(|v| v / total)
    }

    fn derivatives(&self, cos: f64, sin: f64) -> [f64; 3] {
        let n = self.order as usize;
        harmonics(cos, sin, n + 1, |j| if j == 0 { 1.0 } else { 2.0 }).map(|v| v / (2 * n + 1) as f64)
    }
}

pub(in crate::kernel) struct Given<'a> {
    weights: &'a [f64],
    total: f64,
}

impl<'a> Given<'a> {
    pub(in crate::kernel) fn new(weights: &'a [f64]) -> Self {
        // By the recurrence itself, so that the value at 0 is exactly 1.
        Given { weights, total: series([1.0], weights.len(), |j| weights[j])[0] }
    }
}

impl Shape for Given<'_> {
    #[inline(always)]
    fn at<const L: usize>(&self, cos: [f64; L]) -> [f64; L] {
        series(cos, self.weights.len(), |j| self.weights[j]).map(|v| v / self.total)
    }

    fn derivatives(&self, cos: f64, sin: f64) -> [f64; 3] {
        harmonics(cos, sin, self.weights.len(), |j| self.weights[j]).map(|v| v / self.total)
    }
}

/// `sum_{j < n} w_j cos(j angle)` by Clenshaw's recurrence, for several angles at once.
#[inline(always)]
fn series<const L: usize>(cos: [f64; L], n: usize, weight: impl Fn(usize) -> f64) -> [f64; L] {
    let (mut b1, mut b2) = ([0.0; L], [0.0; L]);
    for j in (1..n).rev() {
        let w = weight(j);
        for l in 0..L {
            (b1[l], b2[l]) = (w + 2.0 * cos[l] * b1[l] - b2[l], b1[l]);
        }
    }
    let w = weight(0);
    std::array::from_fn(|l| w + cos[l] * b1[l] - b2[l])
}

/// The series and its first two derivatives by the angle.
fn harmonics(cos: f64, sin: f64, n: usize, weight: impl Fn(usize) -> f64) -> [f64; 3] {
    let [value] = series([cos], n, &weight);
    let mut all = [value, 0.0, 0.0];
    // cos and sin of j times the angle, by repeated rotation.
    let (mut c, mut s) = (1.0, 0.0);
    for j in 1..n {
        (c, s) = (c * cos - s * sin, s * cos + c * sin);
        let (w, j) = (weight(j), j as f64);
        all[1] -= w * j * s;
        all[2] -= w * j * j * c;
    }
    all
}

pub(in crate::kernel) struct Periodic<S> {
    pub(in crate::kernel) shape: S,
    pub(in crate::kernel) freq: f64,
}

impl<S: Shape> Coordinates for Periodic<S> {
    const PRODUCT: bool = true;

    fn part(&self, _: usize, x: f64, y: f64) -> f64 {
        self.shape.at([(self.freq * (x - y)).cos()])[0]
    }

    fn term(&self, _: usize, x: f64, y: f64) -> Term {
        let (sin, cos) = (self.freq * (x - y)).sin_cos();
        let [value, slope, curve] = self.shape.derivatives(cos, sin);
        Term::of_difference([value, slope * self.freq, curve * self.freq * self.freq])
    }

    /// Cosines and sines are computed per coordinate of a point, not per pair: `cos(a - b) = cos a cos b + sin a sin
    /// b`.
    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        let turned = |v: f64| {
            let (sin, cos) = (self.freq * v).sin_cos();
            [cos, sin]
        };
        lanes::block(self, a, b, turned, out);
    }
}

impl<S: Shape> Parts for Periodic<S> {
    const PLANES: usize = 2;

    #[inline(always)]
    fn parts(&self, x: &[[f64; LANES]], y: &[[f64; LANES]]) -> [f64; LANES] {
        self.shape.at(std::array::from_fn(|l| x[0][l] * y[0][l] + x[1][l] * y[1][l]))
    }
}
