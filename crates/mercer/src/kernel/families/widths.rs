//! Gaussians with individual widths: the last column of a row encodes its width.
//!
//! `k((x, t), (y, s)) = p^(d/2) exp(-2 gamma |x - y|^2 / (u + v))` with `u = e^-t`, `v = e^-s` and `p = (1 + u)(1 +
//! v) / (2 (u + v))`. It is the dot product, in the feature space of the Gaussian kernel `exp(-gamma |x - y|^2)`, of
//! the functions `exp(-a |x - .|^2)` and `exp(-b |y - .|^2)`, where `a = 2 gamma / (1 + u)` and `b = 2 gamma / (1 +
//! v)`. Every inverse width between 0 and `2 gamma` corresponds to a t; for larger ones the function has infinite
//! norm in that space.
//!
//! A row with 0 in the last column is an ordinary point, `a = gamma`. Against it p is 1 and the value is `exp(-a |x -
//! y|^2)`. An expansion whose centres have widths is therefore a sum of Gaussians of different widths, and everything
//! that holds for expansions applies to it.

use mercer_num::Real;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::block::{Dense, panels};
use crate::kernel::definite::Definiteness;
use crate::kernel::derivative::Second;
use crate::kernel::rows::{self, Span};
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "rbf_widths",
    formula: "p^(d/2) exp(-2 gamma |x - y|^2 / (u + v)), u and v by the last column",
    doc: "Gaussians whose width is given in the last column; 0 there means gamma.",
    params: &[Param::new("gamma", Allowed::Above(0.0), None, "inverse width where the last column is 0")],
    definiteness: "positive",
    known: Definiteness::Positive,
    examples: &["rbf_widths(gamma=0.3)"],
    build: |v| Kernel::RbfWidths { gamma: v[0].real() },
    ..KernelEntry::EMPTY
};

/// Checks that there is a column besides the width.
pub(in crate::kernel) fn check(kernel: &Kernel, d: Option<usize>) -> Result<()> {
    match (kernel, d) {
        (Kernel::RbfWidths { .. }, Some(d @ 0..2)) => {
            Err(Error::shape("columns for the kernel rbf_widths", d, "at least 2, the last for widths"))
        }
        _ => Ok(()),
    }
}

/// A pair of rows: what the kernel needs besides their distance.
#[derive(Clone, Copy)]
struct Pair {
    gamma: f64,
    half: f64,
    u: f64,
    v: f64,
}

impl Pair {
    /// `ln k = level + rate |x - y|^2`.
    fn line(self) -> (f64, f64) {
        let Pair { gamma, half, u, v } = self;
        // Exactly 1 against an ordinary point.
        let p = if u == 1.0 || v == 1.0 { 1.0 } else { (1.0 + u) * (1.0 + v) / (2.0 * (u + v)) };
        (half * p.ln(), -2.0 * gamma / (u + v))
    }

    /// The derivative of `ln k` with respect to the first row's last column.
    fn slope(self, distance2: f64) -> f64 {
        let Pair { gamma, half, u, v } = self;
        let sum = u + v;
        -u * (half * (1.0 / (1.0 + u) - 1.0 / sum) + 2.0 * gamma * distance2 / (sum * sum))
    }
}

/// A row's point, and `e^-t`.
fn split(x: Span<'_>, d: usize) -> (Span<'_>, f64) {
    let mut t = 0.0;
    rows::each(x.columns(d, d + 1), |_, v| t = v);
    (x.columns(0, d), (-t).exp())
}

fn pair<'a>(gamma: f64, x: Span<'a>, y: Span<'a>) -> (Pair, Span<'a>, Span<'a>) {
    let d = x.len().max(y.len()).saturating_sub(1);
    let ((x, u), (y, v)) = (split(x, d), split(y, d));
    (Pair { gamma, half: d as f64 / 2.0, u, v }, x, y)
}

pub(in crate::kernel) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    let &Kernel::RbfWidths { gamma } = kernel else { return None };
    rows::numbers(x, y).then(|| {
        let (pair, x, y) = pair(gamma, x, y);
        let (level, rate) = pair.line();
        (level + rate * rows::distance2(x, y)).exp()
    })
}

/// `out += weight dk(x, y)/dx`.
pub(in crate::kernel) fn add_gradient(gamma: f64, weight: f64, x: Span<'_>, y: Span<'_>, out: &mut [f64]) {
    let (pair, x, y) = pair(gamma, x, y);
    let (level, rate) = pair.line();
    let distance2 = rows::distance2(x, y);
    let value = weight * (level + rate * distance2).exp();
    rows::pairs(x, y, |i, x, y| out[i] += 2.0 * value * rate * (x - y));
    if let Some(last) = out.last_mut() {
        *last += value * pair.slope(distance2);
    }
}

/// `ln k` with its derivatives, those by points as multiples of `x - y`.
pub(in crate::kernel) fn logarithm(gamma: f64, x: Span<'_>, y: Span<'_>) -> Second {
    let (pair, x, y) = pair(gamma, x, y);
    let (level, rate) = pair.line();
    let Pair { half, u, v, .. } = pair;
    let (sum, r2, d) = (u + v, rows::distance2(x, y), x.len());
    let n = d + 1;
    // The derivative with respect to t is -u times this, which has derivatives in u and v of its own.
    let inner = half * (1.0 / (1.0 + u) - 1.0 / sum) + 2.0 * gamma * r2 / (sum * sum);
    let by_v = half / (sum * sum) - 4.0 * gamma * r2 / sum.powi(3);
    let by_u = by_v - half / (1.0 + u).powi(2);
    let (rate_t, rate_s) = (-2.0 * gamma * u / (sum * sum), -2.0 * gamma * v / (sum * sum));
    let mut out = Second {
        value: level + rate * r2,
        x: vec![0.0; n],
        y: vec![0.0; n],
        xx: vec![0.0; n * n],
        xy: vec![0.0; n * n],
    };
    rows::pairs(x, y, |i, x, y| {
        let off = 2.0 * (x - y);
        (out.x[i], out.y[i]) = (rate * off, -rate * off);
        (out.xx[i * n + d], out.xx[d * n + i]) = (rate_t * off, rate_t * off);
        (out.xy[i * n + d], out.xy[d * n + i]) = (rate_s * off, -rate_t * off);
    });
    for i in 0..d {
        (out.xx[i * n + i], out.xy[i * n + i]) = (2.0 * rate, -2.0 * rate);
    }
    (out.x[d], out.y[d]) = (pair.slope(r2), Pair { u: v, v: u, ..pair }.slope(r2));
    (out.xx[n * n - 1], out.xy[n * n - 1]) = (u * (inner + u * by_u), u * v * by_v);
    out
}

/// Differences, then one exponential per pair.
pub(in crate::kernel) fn block<T: Real>(
    kernel: &Kernel,
    a: &Dense<'_, T>,
    b: &Dense<'_, T>,
    out: &mut [T],
) -> bool {
    let &Kernel::RbfWidths { gamma } = kernel else { return false };
    let d = a.d - 1;
    if d == 0 {
        out.fill(T::ZERO);
    } else {
        panels(&a.columns(0, d), &b.columns(0, d), out, T::squares);
    }
    let widths = |x: &Dense<'_, T>| -> Vec<f64> {
        x.columns(d, d + 1).values.iter().map(|t| (-t.f64()).exp()).collect()
    };
    let (left, right) = (widths(a), widths(b));
    for (out, u) in out.chunks_mut(b.n).zip(left) {
        for (out, &v) in out.iter_mut().zip(&right) {
            let (level, rate) = Pair { gamma, half: d as f64 / 2.0, u, v }.line();
            *out = *out * T::of(rate) + T::of(level);
        }
        T::exp_all(out);
    }
    true
}
