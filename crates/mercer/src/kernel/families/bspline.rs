//! The B-spline kernel `prod_i B((x_i - y_i) / width) / B(0)`, B the centred spline of odd degree `2 order + 1`
//! (Vapnik, Golowich and Smola 1997).
//!
//! B is the box of width 1 convolved with itself `2 order + 1` times, so its Fourier transform is an even power of sin(w)/w
//! and never negative: the kernel is positive definite. With `n = 2 order + 1` and `v = order + 1 - |u|`,
//! `B(u) = sum_{r < v} (-1)^r C(n + 1, r) (v - r)^n / n!`. Dividing by `B(0)` makes `k(x, x) = 1` in any dimension.

use mercer_num::Real;
use mercer_num::vector::{LANES, Parts};

use crate::kernel::block::Dense;
use crate::kernel::coordinates::{Coordinates, Term};
use crate::kernel::definite::Definiteness;
use crate::kernel::table::KernelEntry;
use crate::kernel::{Kernel, lanes};
use crate::param::{Allowed, Param};

/// For higher orders the truncated powers cancel numerically, and the spline is nearly a Gaussian anyway.
const MAX_ORDER: usize = 5;

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "bspline",
    aliases: &["spline"],
    formula: "prod_i B((x_i - y_i) / width) / B(0), B the spline of degree 2 order + 1",
    doc: "Smooth bumps of bounded support: the value is 0 for points further apart than (order + 1) width in any column.",
    params: &[
        Param::new(
            "order",
            Allowed::Count(0, MAX_ORDER as u64),
            Some("1"),
            "the splines are of degree 2 order + 1",
        ),
        Param::new("width", Allowed::Above(0.0), Some("1"), "distance of the knots"),
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["bspline(order=0, width=3)", "bspline(width=2)", "bspline(order=3, width=1.5)"],
    build: |v| Kernel::BSpline { order: v[0].whole(), width: v[1].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) struct Spline {
    degree: i32,
    terms: usize,
    reach: f64,
    per_width: f64,
    coef: [f64; MAX_ORDER + 1],
    /// The sum at 0. The sum is divided by it, not the coefficients, so that the value at 0 is exactly 1.
    peak: f64,
}

impl Spline {
    pub(in crate::kernel) fn new(order: u32, width: f64) -> Self {
        let order = (order as usize).min(MAX_ORDER);
        let degree = 2 * order as i32 + 1;
        let mut coef = [0.0; MAX_ORDER + 1];
        let mut binomial = 1.0;
        for r in 0..=order {
            coef[r] = binomial;
            binomial *= -(f64::from(degree) + 1.0 - r as f64) / (r as f64 + 1.0);
        }
        let (terms, reach) = (order + 1, order as f64 + 1.0);
        let mut spline = Spline { degree, terms, reach, per_width: 1.0 / width, coef, peak: 1.0 };
        // 1 / n! cancels in the division by B(0).
        [spline.peak] = spline.at([0.0]);
        spline
    }

    /// `B(u) / B(0)`, for several u at once.
    #[inline(always)]
    fn at<const L: usize>(&self, u: [f64; L]) -> [f64; L] {
        let mut sum = [0.0; L];
        for r in 0..self.terms {
            let base = u.map(|u| positive(self.reach - u.abs() - r as f64));
            // base^(2 order + 1) by repeated multiplication, which vectorises; `powi` is a call.
            let mut power = base;
            for _ in 1..self.terms {
                for l in 0..L {
                    power[l] *= base[l] * base[l];
                }
            }
            for l in 0..L {
                sum[l] += self.coef[r] * power[l];
            }
        }
        sum.map(|v| v / self.peak)
    }

    /// `sum_r coef_r max(0, reach - |u| - r)^n / peak`
    fn powers(&self, u: f64, n: i32) -> f64 {
        let v = self.reach - u.abs();
        (0..self.reach as usize)
            .map(|r| self.coef[r] * if n == 0 { step(v - r as f64) } else { positive(v - r as f64).powi(n) })
            .sum::<f64>()
            / self.peak
    }
}

/// max(v, 0); the comparison is false for NaN and so keeps it.
#[inline(always)]
fn positive(v: f64) -> f64 {
    if v < 0.0 { 0.0 } else { v }
}

/// 1 where v is positive, else 0.
fn step(v: f64) -> f64 {
    if v > 0.0 { 1.0 } else { 0.0 }
}

impl Coordinates for Spline {
    const PRODUCT: bool = true;

    fn part(&self, _: usize, x: f64, y: f64) -> f64 {
        self.at([(x - y) * self.per_width])[0]
    }

    fn term(&self, _: usize, x: f64, y: f64) -> Term {
        let u = (x - y) * self.per_width;
        let n = f64::from(self.degree);
        let side = if u == 0.0 { 0.0 } else { -u.signum() };
        let slope = side * n * self.powers(u, self.degree - 1);
        let curve = if self.degree > 1 { n * (n - 1.0) * self.powers(u, self.degree - 2) } else { 0.0 };
        let w = self.per_width;
        Term::of_difference([self.at([u])[0], slope * w, curve * w * w])
    }

    fn smooth(&self) -> u8 {
        if self.degree > 1 { 2 } else { 1 }
    }

    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        lanes::block(self, a, b, |v| [v], out);
    }
}

impl Parts for Spline {
    const PLANES: usize = 1;

    #[inline(always)]
    fn parts(&self, x: &[[f64; LANES]], y: &[[f64; LANES]]) -> [f64; LANES] {
        self.at(std::array::from_fn(|l| (x[0][l] - y[0][l]) * self.per_width))
    }
}
