//! Cholesky factors and symmetric eigen-decompositions, by faer, with the guards its callers need.

use faer::linalg::solvers::{Llt, Solve};
use faer::{MatMut, MatRef, Side};

use crate::Fault;

/// `(A + ridge I)^-1 B` for a symmetric positive semidefinite n x n matrix A and an n x k matrix B, with the ridge
/// that was needed.
///
/// A nearly singular A (duplicated centres, a flat kernel) gets the smallest ridge from 1e-14 trace/n upwards,
/// tenfold each time, with which the factorisation goes through; one step of refinement against A then removes the
/// effect of the ridge where A determines the solution.
pub fn solve_spd(a: &[f64], n: usize, b: &[f64], k: usize) -> Result<(Vec<f64>, f64), Fault> {
    if a.iter().chain(b).any(|v| !v.is_finite()) {
        return Err(Fault::NotFinite { what: "linear system" });
    }
    if n == 0 || k == 0 {
        return Ok((vec![0.0; n * k], 0.0));
    }
    let scale = (0..n).map(|i| a[i * n + i].abs()).sum::<f64>() / n as f64;
    let matrix = MatRef::from_row_major_slice(a, n, n);
    let right = MatRef::from_row_major_slice(b, n, k);
    let mut ridge = 0.0;
    for step in 0..12 {
        let mut shifted = matrix.to_owned();
        (0..n).for_each(|i| shifted[(i, i)] += ridge);
        if let Ok(factor) = Llt::new(shifted.as_ref(), Side::Lower) {
            let mut x = factor.solve(right);
            if x.is_all_finite() {
                let rest = right - matrix * &x;
                let better = &x + factor.solve(&rest);
                if better.is_all_finite() && (right - matrix * &better).norm_l2() < rest.norm_l2() {
                    x = better;
                }
                let mut out = vec![0.0; n * k];
                MatMut::from_row_major_slice_mut(&mut out, n, k).copy_from(&x);
                return Ok((out, ridge));
            }
        }
        ridge = scale.max(f64::MIN_POSITIVE) * 10f64.powi(step - 14);
    }
    Err(Fault::NotPositiveDefinite { n })
}

/// The Cholesky factor of a symmetric positive definite matrix, for solving several systems.
#[derive(Debug)]
pub struct Spd {
    factor: Llt<f64>,
    n: usize,
}

impl Spd {
    /// Factors an n x n matrix; fails where it is not positive definite to rounding, or not finite.
    pub fn new(a: &[f64], n: usize) -> Result<Self, Fault> {
        if n == 0 || a.iter().any(|v| !v.is_finite()) {
            return Err(Fault::NotFinite { what: "linear system" });
        }
        let factor = Llt::new(MatRef::from_row_major_slice(a, n, n), Side::Lower);
        factor.map(|factor| Spd { factor, n }).map_err(|_| Fault::NotPositiveDefinite { n })
    }

    /// The solutions of k systems whose right sides lie one after the other, in their place.
    pub fn solve(&self, right: &mut [f64], k: usize) {
        let columns = MatMut::from_column_major_slice_mut(right, self.n, k);
        self.factor.solve_in_place(columns);
    }
}

/// Eigenvalues, falling, and eigenvectors of a symmetric n x n matrix: `vectors[i * n + j]` is entry i of vector j.
///
/// The sign of each vector is fixed (its largest entry is positive), so that results repeat. Cost: about 9 n^3.
pub fn eigen(a: &[f64], n: usize) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    if a.iter().any(|v| !v.is_finite()) {
        return Err(Fault::NotFinite { what: "symmetric matrix" });
    }
    if n == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let matrix = MatRef::from_row_major_slice(a, n, n);
    let e = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| Fault::NoConvergence {
        what: "eigen-decomposition",
        steps: 0,
        residual: f64::NAN,
    })?;
    let (values, vectors) = (e.S().column_vector(), e.U());
    let mut out = vec![0.0; n * n];
    for j in 0..n {
        let column = vectors.col(n - 1 - j);
        let largest = column.iter().fold(0.0f64, |m, &v| if v.abs() > m.abs() { v } else { m });
        let sign = if largest < 0.0 { -1.0 } else { 1.0 };
        column.iter().enumerate().for_each(|(i, &v)| out[i * n + j] = sign * v);
    }
    Ok(((0..n).map(|j| values[n - 1 - j]).collect(), out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    fn gram(n: usize, d: usize) -> Vec<f64> {
        let x = toy::normals(n, d, 7);
        reference::gram(&x, &x, d, |a, b| a.iter().zip(b).map(|(p, q)| p * q).sum())
    }

    #[test]
    fn eigen_is_jacobi() {
        let a = gram(20, 30);
        let (values, vectors) = eigen(&a, 20).expect("finite");
        let (want, _) = reference::eigen(&a, 20);
        assert::close_to_scale(&values, &want, 1e-12);
        let av = reference::product(&a, &vectors, 20, 20, 20);
        for (p, &v) in av.iter().enumerate() {
            assert::close(v, values[p % 20] * vectors[p], 1e-11);
        }
    }

    #[test]
    fn a_singular_system_is_solved_where_it_can_be() {
        // Rank 5 of 12: B in the range of A has a solution, and A x must give B back.
        let a = gram(12, 5);
        let c = toy::normals(12, 2, 3);
        let b = reference::product(&a, &c, 12, 12, 2);
        let (x, ridge) = solve_spd(&a, 12, &b, 2).expect("semidefinite");
        assert!((0.0..1e-6).contains(&ridge));
        assert::close_to_scale(&reference::product(&a, &x, 12, 12, 2), &b, 1e-8);
    }

    #[test]
    fn zero_nan_and_empty_input_return() {
        assert_eq!(eigen(&[0.0; 9], 3).expect("zero").0, [0.0; 3]);
        assert!(eigen(&[f64::NAN], 1).is_err());
        assert!(solve_spd(&[f64::NAN], 1, &[1.0], 1).is_err());
        assert!(solve_spd(&[], 0, &[], 1).is_ok());
        assert!(solve_spd(&[-1.0, 0.0, 0.0, -1.0], 2, &[1.0, 1.0], 1).is_err());
    }
}
