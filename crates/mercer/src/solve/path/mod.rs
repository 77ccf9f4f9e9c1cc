//! All solutions of a two-class machine between two values of C (Hastie, Rosset, Tibshirani and Zhu 2004).
//!
//! ```text
//! minimise over beta   1/2 beta' K beta - y' beta,   0 <= y_i beta_i <= C v_i,   sum beta = 0,    for every C
//! ```
//!
//! Rows are on the margin (E: `f(x_i) = y_i`, beta inside its box), at their bound (L: `beta_i = C v_i y_i`), or no
//! support vectors (R: beta = 0). While no row changes between these sets, beta and the offset b are linear in C:
//!
//! ```text
//! K_EE q + b' 1 = -K_EL (v y)_L,    1' q = -(v y)_L' 1        q = d beta_E / dC,   b' = db / dC
//! ```
//!
//! so the path is determined by the values of C where a row changes its set, the breakpoints. It starts with an
//! ordinary solve at the smallest C, which also handles classes of unequal size, and follows increasing C. The
//! bordered system is reduced to `A = K_EE + s 1 1'`, which is positive definite whenever the system has a unique
//! solution. With no row on the margin, b may lie anywhere in an interval, and the path jumps to the C where that
//! interval closes. Where rounding or ties violate the optimality conditions by more than the tolerance, the problem
//! is solved again at a slightly larger C, and this is reported.
//!
//! Cost: for n rows and e on the margin, `n e + e^3 / 3` per breakpoint, of which there are some multiples of n; rows
//! of K in f64 for all rows that ever leave R.

mod point;
mod stand;
mod walk;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::watch::Watch;

pub use point::{Path, PathPoint};
use walk::Walk;

/// A two-class machine for all C.
#[derive(Debug, Clone, Copy)]
pub struct PathProblem<'a> {
    /// K, positive semidefinite.
    pub rows: &'a dyn Rows,
    /// y: +1 or -1 for each row.
    pub labels: &'a [f64],
    /// v: a factor of C for each row, above 0.
    pub weights: &'a [f64],
    /// Added to the diagonal of K.
    pub shift: f64,
}

/// Parameters of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathParams {
    /// The smallest C.
    pub c_min: f64,
    /// The largest C.
    pub c_max: f64,
    /// Tolerance on the KKT violation.
    pub tol: f64,
    /// Maximum number of breakpoints; `None`: 50 per row, at least 10000.
    pub max_breakpoints: Option<usize>,
    /// Threads, memory for kernel values, device.
    pub exec: Exec,
}

impl Default for PathParams {
    fn default() -> Self {
        PathParams { c_min: 1e-3, c_max: 1e3, tol: 1e-7, max_breakpoints: None, exec: Exec::one() }
    }
}

impl PathProblem<'_> {
    fn check(&self, params: &PathParams) -> Result<()> {
        let n = self.rows.len();
        for (what, got) in [("labels", self.labels.len()), ("weights", self.weights.len())] {
            if got != n {
                return Err(Error::shape(what, got, format!("{n}, one per row")));
            }
        }
        if let Some(w) = self.weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            return Err(Error::param("weight of a row", w, "a number above 0"));
        }
        let positive = self.labels.iter().filter(|y| **y > 0.0).count();
        if positive == 0 || positive == n {
            return Err(Error::shape("classes", 1, 2));
        }
        for (name, value) in [("c_min", params.c_min), ("c_max", params.c_max), ("tol", params.tol)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::param(name, value, "a number above 0"));
            }
        }
        if params.c_max < params.c_min {
            return Err(Error::param("c_max", params.c_max, format!("at least c_min, {}", params.c_min)));
        }
        if n.saturating_mul(n).saturating_mul(size_of::<f64>()) > params.exec.budget() {
            let why = format!(
                "a path over {n} rows needs {} MiB for kernel values, more than is allowed",
                (n * n) >> 17
            );
            return Err(Error::Unsupported(why));
        }
        Ok(())
    }
}

/// Computes the path from the smallest C to the largest.
///
/// ```
/// use mercer::gram::Matrix;
/// use mercer::solve::{PathParams, PathProblem, path};
///
/// // Four points on a line.
/// let x = [-2.0_f64, -1.0, 1.0, 2.0];
/// let k: Vec<f64> = x.iter().flat_map(|a| x.map(|b| a * b)).collect();
/// let rows = Matrix::new(k, 4)?;
/// let labels = [-1.0, -1.0, 1.0, 1.0];
/// let problem = PathProblem { rows: &rows, labels: &labels, weights: &[1.0; 4], shift: 0.0 };
/// let path = path(&problem, &PathParams::default(), &mut mercer::watch::silent())?;
/// // From some C on no row is wrong and nothing changes any more: w = 1, both inner points on the margin.
/// assert!((path.at(100.0)?.beta[2] - 0.5).abs() < 1e-9);
/// // With a small C every coefficient is on its bound.
/// assert!((path.at(0.01)?.beta[3] - 0.01).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn path(problem: &PathProblem<'_>, params: &PathParams, watch: &mut Watch<'_>) -> Result<Path> {
    problem.check(params)?;
    Walk::new(problem, params, watch)?.run(watch)
}

#[cfg(test)]
mod tests;
