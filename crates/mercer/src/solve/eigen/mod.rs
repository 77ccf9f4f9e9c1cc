//! Eigenvalues and eigenvectors of symmetric matrices: all of them, or the leading ones by products alone.
//!
//! ```text
//! A v_j = lambda_j v_j,      lambda_1 >= lambda_2 >= ...  or  |lambda_1| >= |lambda_2| >= ...
//! ```
//!
//! A complete decomposition costs about 10 n^3 ([`complete`]). The first k pairs of a matrix in memory cost 4/3 n^3 and
//! n^2 per vector ([`leading`]). By a block Krylov method they cost n^2 per vector of a basis of a few k vectors, and A
//! need not be in memory ([`partial`]); [`cheaper`] tells whether that costs less.

mod basis;
mod krylov;
mod operator;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::{self, Buffer};
use crate::watch::{Stop, Watch};

pub use operator::{Centred, Dense, Operator, ROUNDING_F32, RowsOperator};

/// Which eigenvalues come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// The largest.
    #[default]
    Largest,
    /// Those of the largest magnitude.
    Magnitude,
}

/// Parameters of a partial decomposition.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenParams {
    /// Number of eigenpairs.
    pub count: usize,
    /// Which of them.
    pub which: Which,
    /// Tolerance on the residual `|A v - lambda v|`, relative to the eigenvalue. Limited by rounding.
    pub tol: f64,
    /// Maximum number of products of a block with A.
    pub max_products: u64,
    /// Vectors per block; `None` chooses by cost.
    pub block: Option<usize>,
    /// Seed of the first block.
    pub seed: u64,
    /// Threads.
    pub exec: Exec,
}

impl Default for EigenParams {
    fn default() -> Self {
        EigenParams {
            count: 1,
            which: Which::Largest,
            tol: 1e-8,
            max_products: 1000,
            block: None,
            seed: 1,
            exec: Exec::one(),
        }
    }
}

/// Eigenpairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// The eigenvalues in the requested order.
    pub values: Vec<f64>,
    /// The eigenvectors, row by row: n numbers each, of norm 1, with a positive largest entry.
    pub vectors: Vec<f64>,
    /// `|A v - lambda v|` of each, as estimated by the iteration; 0 for a complete decomposition.
    pub residuals: Vec<f64>,
    /// Number of block products.
    pub products: u64,
    /// Why it stopped.
    pub stop: Stop,
}

/// The leading eigenpairs, by products with A. Fails if more are requested than A has rows.
///
/// ```
/// use mercer::solve::eigen::{Dense, EigenParams, partial};
/// let a = [2.0, 1.0, 1.0, 2.0];
/// let found = partial(&Dense { values: &a, n: 2 }, &EigenParams::default(), &mut mercer::watch::silent())?;
/// assert!((found.values[0] - 3.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn partial(a: &dyn Operator, params: &EigenParams, watch: &mut Watch<'_>) -> Result<Eigen> {
    let n = a.len();
    if params.count == 0 || params.count > n {
        return Err(Error::param(
            "eigenpairs",
            params.count,
            format!("from 1 to {n}, the order of the matrix"),
        ));
    }
    if params.tol.is_nan() || params.tol < 0.0 {
        return Err(Error::param("tol", params.tol, "at least 0"));
    }
    let mut found = krylov::run(a, params, watch)?;
    found.vectors.chunks_mut(n).for_each(fix_sign);
    Ok(found)
}

/// All eigenpairs of an n x n matrix in memory, row by row. Its buffer is reused.
pub fn complete(a: impl Into<Buffer<f64>>, n: usize, which: Which, exec: Exec) -> Result<Eigen> {
    let (values, mut vectors) = num::eigen::all(a.into(), n, exec.threads())?;
    let chosen = order(&values, which);
    if chosen.iter().enumerate().any(|(i, &j)| i != j) {
        vectors = chosen.iter().flat_map(|&j| vectors[j * n..(j + 1) * n].iter().copied()).collect();
    }
    let values: Vec<f64> = chosen.iter().map(|&j| values[j]).collect();
    vectors.chunks_mut(n.max(1)).for_each(fix_sign);
    Ok(Eigen { residuals: vec![0.0; values.len()], values, vectors, products: 0, stop: Stop::Converged })
}

/// The first eigenpairs of an n x n matrix in memory, row by row, which is overwritten. Fails if `count` exceeds n.
///
/// Exact to rounding, as [`complete`], which it calls where most pairs are requested.
///
/// ```
/// use mercer::Exec;
/// use mercer::solve::eigen::{Which, leading};
/// let found = leading(vec![2.0, 1.0, 1.0, 2.0], 2, 1, Which::Largest, Exec::one())?;
/// assert!((found.values[0] - 3.0).abs() < 1e-12 && found.values.len() == 1);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn leading(a: impl Into<Buffer<f64>>, n: usize, count: usize, which: Which, exec: Exec) -> Result<Eigen> {
    if count > n {
        return Err(Error::param("eigenpairs", count, format!("at most {n}, the order of the matrix")));
    }
    if count.saturating_mul(FEW) > n {
        let mut found = complete(a, n, which, exec)?;
        found.values.truncate(count);
        found.residuals.truncate(count);
        found.vectors.truncate(count * n);
        return Ok(found);
    }
    let first = |values: &[f64]| order(values, which)[..count].to_vec();
    // The largest magnitudes may be at either end.
    let ends = (count, if which == Which::Magnitude { count } else { 0 });
    let (values, mut vectors) = num::eigen::some(a.into(), n, exec.threads(), ends, first)?;
    vectors.chunks_mut(n.max(1)).for_each(fix_sign);
    Ok(Eigen { residuals: vec![0.0; values.len()], values, vectors, products: 0, stop: Stop::Converged })
}

/// Up to n / 4 eigenvectors cost less by inverse iteration than all of them by divide and conquer.
const FEW: usize = 4;

/// Whether [`partial`] costs less than [`complete`] for `count` eigenpairs of an n x n matrix in memory.
pub fn cheaper(n: usize, count: usize) -> bool {
    let (n, k) = (n as f64, count as f64);
    // Basis size that a slowly decaying spectrum needs, as measured on Gaussian kernel matrices of digits.
    let m = 2.5 * k + 160.0;
    2.0 * n * n * m + 6.0 * n * m * m + 20.0 * m.powi(3) < 7.0 * n.powi(3)
}

/// Positions of the eigenvalues in the requested order; ties keep their order.
fn order(values: &[f64], which: Which) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    match which {
        Which::Largest => places.sort_by(|&i, &j| values[j].total_cmp(&values[i])),
        Which::Magnitude => places.sort_by(|&i, &j| values[j].abs().total_cmp(&values[i].abs())),
    }
    places
}

/// Makes the largest entry positive: eigenvectors are unique only up to sign, and results must be reproducible.
fn fix_sign(v: &mut [f64]) {
    let largest = v.iter().fold(0.0_f64, |m, &v| if v.abs() > m.abs() { v } else { m });
    if largest < 0.0 {
        v.iter_mut().for_each(|v| *v = -*v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn partial_is_the_beginning_of_complete() {
        let (n, d) = (200, 4);
        let x = toy::normals(n, d, 3);
        let a = reference::gram(&x, &x, d, |p, q| {
            (-0.2 * p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
        });
        let all = complete(a.clone(), n, Which::Largest, Exec::one()).expect("finite");
        let params = EigenParams { count: 10, tol: 1e-10, ..EigenParams::default() };
        let first = partial(&Dense { values: &a, n }, &params, &mut silent()).expect("finite");
        assert::close_to_scale(&first.values, &all.values[..10], 1e-12);
        assert::all_close(&first.vectors, &all.vectors[..10 * n], 1e-7);
        assert!(
            partial(&Dense { values: &a, n }, &EigenParams { count: 201, ..params }, &mut silent()).is_err()
        );
    }

    #[test]
    fn leading_pairs_are_the_beginning_of_complete() {
        let (n, d) = (90, 4);
        let x = toy::normals(n, d, 3);
        let mut a = reference::gram(&x, &x, d, |p, q| {
            (-0.2 * p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
        });
        (0..n).for_each(|i| a[i * n + i] -= 6.0);
        for which in [Which::Largest, Which::Magnitude] {
            let all = complete(a.clone(), n, which, Exec::one()).expect("finite");
            for count in [1, 7, 22, 23, n] {
                let found = leading(a.clone(), n, count, which, Exec::new(2)).expect("finite");
                assert_eq!((found.values.len(), found.vectors.len()), (count, count * n));
                assert::close_to_scale(&found.values, &all.values[..count], 1e-13);
                // Vectors of eigenvalues that lie together may be turned among themselves.
                let product = reference::product(&found.vectors, &a, count, n, n);
                let scaled: Vec<f64> =
                    found.vectors.iter().enumerate().map(|(p, v)| found.values[p / n] * v).collect();
                assert::close_to_scale(&product, &scaled, 1e-12);
            }
            assert!(leading(a.clone(), n, n + 1, which, Exec::one()).is_err());
        }
    }

    #[test]
    fn few_of_many_are_found_by_products_and_most_by_decomposition() {
        assert!(cheaper(3000, 64) && cheaper(3000, 256) && !cheaper(3000, 2900) && !cheaper(100, 20));
    }
}
