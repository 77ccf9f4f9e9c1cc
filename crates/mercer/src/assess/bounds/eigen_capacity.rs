//! Capacity from the decay of the kernel matrix's eigenvalues (Schoelkopf et al. 1999, section II-D; Williamson,
//! Smola and Schoelkopf 1998).
//!
//! On the sample, the functions `w . Phi(x)` with `|w| <= L` take values in an ellipsoid whose half axes, in root
//! mean square over the n rows, are `a_j = L sqrt(lambda_j / n)`. Axes shorter than the scale at which functions are
//! distinguished (1, the margin, for a machine) do not count: the class behaves as if its dimension were the number
//! of longer axes, and
//!
//! ```text
//! log2 of the number of distinguishable functions  >=  sum over a_j > scale of log2(a_j / scale),
//! ```
//!
//! by volumes; Gordon, Koenig and Schuett (1987) give an upper bound of the same form at a sixth of the scale. A ball
//! of the same radius, which is all that `R^2 |w|^2` sees, would have all axes as long as the first. Cost: all
//! eigenvalues.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::{self, Rows};
use crate::solve::eigen::{Which, complete};

/// For more rows the decomposition takes too long.
pub(super) const MOST: usize = 3000;
/// Eigenvalues below this fraction of the first are rounding errors.
const ROUNDING: f64 = 1e-12;

/// Capacity from eigenvalues.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EigenCapacity {
    /// Number of axes longer than the scale: the effective dimension.
    pub dimensions: usize,
    /// Lower bound of log2 of the number of distinguishable functions.
    pub bits: f64,
    /// Upper bound of the same, at a sixth of the scale.
    pub bits_above: f64,
    /// `(sum lambda)^2 / sum lambda^2`: the effective number of axes of the data.
    pub spread: f64,
    /// p of `log(lambda_1 / lambda_j) ~ j^p`; a Gaussian kernel has 2 on a line, less in more dimensions.
    pub decay: Option<f64>,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// Eigenvalues of a kernel matrix in descending order.
pub fn gram_eigenvalues(rows: &dyn Rows, exec: Exec) -> Result<Vec<f64>> {
    let n = rows.len();
    if n > MOST {
        let why = format!("eigenvalues of a matrix of {n} rows: at most {MOST}");
        return Err(Error::Unsupported(why));
    }
    Ok(complete(gram::exact(rows, exec), n, Which::Largest, exec)?.values)
}

/// The capacity of functions with `|w| <= norm` on n rows whose Gram matrix has these eigenvalues, at a scale.
pub fn eigen_capacity(eigenvalues: &[f64], rows: usize, norm: f64, scale: f64) -> Result<EigenCapacity> {
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::param("scale", scale, "a number above 0"));
    }
    let axis = |lambda: f64| norm * (lambda.max(0.0) / rows.max(1) as f64).sqrt();
    let bits = |scale: f64| {
        eigenvalues.iter().map(|&l| axis(l) / scale).filter(|a| *a > 1.0).map(f64::log2).sum::<f64>()
    };
    let (sum, squares) = eigenvalues.iter().fold((0.0, 0.0), |(s, q), l| (s + l, q + l * l));
    Ok(EigenCapacity {
        dimensions: eigenvalues.iter().filter(|l| axis(**l) > scale).count(),
        bits: bits(scale),
        bits_above: bits(scale / 6.0),
        spread: if squares > 0.0 { sum * sum / squares } else { 0.0 },
        decay: decay(eigenvalues),
        assumes: "functions are compared on these rows alone, in root mean square",
    })
}

/// The slope of log log(lambda_1 / lambda_j) over log j, by least squares.
fn decay(eigenvalues: &[f64]) -> Option<f64> {
    let first = *eigenvalues.first()?;
    let points: Vec<(f64, f64)> = eigenvalues
        .iter()
        .enumerate()
        .skip(1)
        .map(|(j, l)| (((j + 1) as f64).ln(), first / l))
        .filter(|(_, ratio)| *ratio > 1.0 + 1e-9 && *ratio < 1.0 / ROUNDING)
        .map(|(x, ratio)| (x, ratio.ln().ln()))
        .collect();
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (up, down) =
        points.iter().fold((0.0, 0.0), |(u, d), (px, py)| (u + (px - x) * (py - y), d + (px - x) * (px - x)));
    (points.len() > 2 && down > 0.0).then(|| up / down)
}
