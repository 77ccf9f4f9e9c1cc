//! Kernels for histograms, from the chi-squared distance `sum_i (x_i - y_i)^2 / (x_i + y_i)`.
//!
//! Positive definite on points without negative values: the additive one is `sum_i 2 x_i y_i / (x_i + y_i)` (Vedaldi
//! and Zisserman 2012), and the distance, `sum_i (x_i + y_i)` minus twice that, is conditionally negative definite,
//! so its exponential is a Mercer kernel, as for the Gaussian. Terms with a non-positive divisor are 0.

use mercer_num::Real;

use crate::data::{Data, View};
use crate::error::{Error, Fault, Result};
use crate::kernel::Kernel;
use crate::kernel::block::{Dense, panels};
use crate::kernel::coordinates::{Coordinates, Term};
use crate::kernel::definite::Definiteness;
use crate::kernel::table::{KernelEntry, Takes};
use crate::param::{Allowed, Param};

pub(in crate::kernel) const EXPONENTIAL: KernelEntry = KernelEntry {
    name: "chi2",
    aliases: &["chi_squared"],
    formula: "exp(-gamma sum_i (x_i - y_i)^2 / (x_i + y_i))",
    doc: "For histograms: the Gaussian of the chi-squared distance.",
    params: &[Param::new("gamma", Allowed::Above(0.0), Some("1"), "inverse width")],
    definiteness: "positive on histograms",
    known: Definiteness::Positive,
    takes: Takes::Histograms,
    examples: &["chi2(gamma=0.6)"],
    build: |v| Kernel::ChiSquared { gamma: v[0].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const ADDITIVE: KernelEntry = KernelEntry {
    name: "additive_chi2",
    formula: "sum_i 2 x_i y_i / (x_i + y_i)",
    doc: "For histograms: a dot product that damps large bins.",
    definiteness: "positive on histograms",
    known: Definiteness::Positive,
    takes: Takes::Histograms,
    examples: &["additive_chi2"],
    build: |_| Kernel::AdditiveChiSquared,
    ..KernelEntry::EMPTY
};

/// Refuses points with a negative value, and says where it is.
pub(in crate::kernel) fn check_points(points: View<'_>) -> Result<()> {
    let d = points.d.max(1);
    let fault = |row: usize, column: usize, got: String| {
        let expected = "no negative value: this kernel is for histograms".into();
        let (row, column) = (Some(row as u64 + 1), Some((column + 1).to_string()));
        Error::from(Fault { row, column, got: Some(got), expected, ..Fault::default() })
    };
    match points.data {
        Data::F32(x) => x.iter().position(|v| *v < 0.0).map(|at| fault(at / d, at % d, x[at].to_string())),
        Data::F64(x) => x.iter().position(|v| *v < 0.0).map(|at| fault(at / d, at % d, x[at].to_string())),
        Data::Csr { start, column, value } => (0..points.n).find_map(|row| {
            let at = (start[row]..start[row + 1]).find(|&at| value[at] < 0.0)?;
            Some(fault(row, column[at] as usize, value[at].to_string()))
        }),
        _ => None,
    }
    .map_or(Ok(()), Err)
}

/// The contribution of a coordinate as a function of both bins' shares of their sum, and the sum; 0 where both are
/// empty.
#[inline]
fn by_shares(x: f64, y: f64, part: impl FnOnce(f64, f64, f64) -> Term) -> Term {
    let sum = x + y;
    if sum <= 0.0 { Term::default() } else { part(x / sum, y / sum, sum) }
}

pub(in crate::kernel) struct Exponential {
    pub(in crate::kernel) gamma: f64,
}

impl Coordinates for Exponential {
    const PRODUCT: bool = false;

    fn term(&self, _: usize, x: f64, y: f64) -> Term {
        by_shares(x, y, |p, q, sum| Term {
            value: (x - y) * (p - q),
            x: 1.0 - 4.0 * q * q,
            y: 1.0 - 4.0 * p * p,
            xx: 8.0 * q * q / sum,
            xy: -8.0 * p * q / sum,
        })
    }

    fn outer(&self, s: f64) -> [f64; 3] {
        let value = (-self.gamma * s).exp();
        [value, -self.gamma * value, self.gamma * self.gamma * value]
    }

    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        panels(a, b, out, |x, y, out| {
            T::chi_squares(x, y, out);
            T::affine_all(out, T::of(-self.gamma), T::ZERO);
            T::exp_all(out);
        });
    }
}

pub(in crate::kernel) struct Additive;

impl Coordinates for Additive {
    const PRODUCT: bool = false;

    fn term(&self, _: usize, x: f64, y: f64) -> Term {
        by_shares(x, y, |p, q, sum| Term {
            value: 2.0 * x * q,
            x: 2.0 * q * q,
            y: 2.0 * p * p,
            xx: -4.0 * q * q / sum,
            xy: 4.0 * p * q / sum,
        })
    }

    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        panels(a, b, out, |x, y, out| T::harmonic_means(x, y, out));
    }
}
