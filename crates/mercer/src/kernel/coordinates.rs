//! Kernels that are built coordinate by coordinate: `f(sum_i u(x_i, y_i))` or `prod_i u(x_i, y_i)`.

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::block::Dense;
use crate::kernel::families::with_coordinates;
use crate::kernel::rows::{self, Span};

/// The contribution of one coordinate, with its derivatives with respect to x and y.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Term {
    pub(super) value: f64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) xx: f64,
    pub(super) xy: f64,
}

impl Term {
    /// The contribution in a translation-invariant kernel: value, slope and curvature of a function of `x - y`.
    pub(super) fn of_difference([value, slope, curve]: [f64; 3]) -> Self {
        Term { value, x: slope, y: -slope, xx: curve, xy: -curve }
    }
}

/// A kernel of this kind. Two zeros must give the neutral element, so that sparse rows may skip them.
pub(super) trait Coordinates {
    /// Whether contributions are multiplied rather than added.
    const PRODUCT: bool;

    /// The contribution of coordinate i.
    fn part(&self, i: usize, x: f64, y: f64) -> f64 {
        self.term(i, x, y).value
    }

    /// The contribution of coordinate i, with its derivatives.
    fn term(&self, i: usize, x: f64, y: f64) -> Term;

    /// The outer function of the sum: f, f', f''.
    fn outer(&self, s: f64) -> [f64; 3] {
        [s, 1.0, 0.0]
    }

    /// Number of derivatives: 2, or 1 (almost everywhere).
    fn smooth(&self) -> u8 {
        2
    }

    /// `out[i * m + j] = k(a_i, b_j)`.
    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]);
}

fn value_of<C: Coordinates>(c: &C, x: Span<'_>, y: Span<'_>) -> f64 {
    let mut all = if C::PRODUCT { 1.0 } else { 0.0 };
    rows::pairs(x, y, |i, x, y| {
        let part = c.part(i, x, y);
        if C::PRODUCT {
            all *= part;
        } else {
            all += part;
        }
    });
    c.outer(all)[0]
}

/// The value of a leaf by its definition; `None` for other kernels.
pub(super) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    with_coordinates!(kernel, c => Some(value_of(&c, x, y)), else None)
}

/// A leaf's block; `false` for other kernels.
pub(super) fn block<T: Real>(kernel: &Kernel, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) -> bool {
    with_coordinates!(kernel, c => {
        c.block(a, b, out);
        true
    }, else false)
}
