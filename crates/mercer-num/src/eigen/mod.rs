//! All eigenvalues and eigenvectors of a symmetric matrix, with vectors as rows.
//!
//! Three steps: to tridiagonal form by our own reflections (see `tridiagonal`), the tridiagonal problem by faer's divide
//! and conquer, and the vectors carried back by matrix products.

mod tridiagonal;

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd_scratch, tridiagonal_self_adjoint_evd};
use faer::{Mat, Spec};
use tridiagonal::Tridiagonal;

use crate::product::par;
use crate::{Buffer, Fault};

/// Eigenvalues, falling, and eigenvectors of a symmetric n x n matrix: `vectors[j * n..(j + 1) * n]` is vector j.
///
/// The matrix is overwritten. Signs are arbitrary. Cost: about 9 n^3.
///
/// ```
/// let (values, vectors) = mercer_num::eigen::all(vec![2.0, 1.0, 1.0, 2.0].into(), 2, 1)?;
/// assert!((values[0] - 3.0).abs() < 1e-14 && (vectors[0] - vectors[1]).abs() < 1e-14);
/// # Ok::<(), mercer_num::Fault>(())
/// ```
pub fn all(a: Buffer<f64>, n: usize, threads: usize) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    if a.iter().any(|v| !v.is_finite()) {
        return Err(Fault::NotFinite { what: "symmetric matrix" });
    }
    if n == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let made = Tridiagonal::new(a, n, threads);
    let par = par(threads);
    let (mut diag, mut below, mut s) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
    (0..n).for_each(|i| diag[i] = made.diag[i]);
    (0..n - 1).for_each(|i| below[i] = made.below[i]);
    let mut u = Mat::<f64>::zeros(n, n);
    let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Spec::default());
    let mut memory = MemBuffer::new(need);
    let stack = MemStack::new(&mut memory);
    tridiagonal_self_adjoint_evd(
        diag.as_ref(),
        below.as_ref(),
        s.as_mut(),
        Some(u.as_mut()),
        par,
        stack,
        Spec::default(),
    )
    .map_err(|_| Fault::NoConvergence { what: "eigen-decomposition", steps: 0, residual: f64::NAN })?;
    drop(memory);
    // Columns of faer's matrix are padded apart, and rise.
    let mut vectors = Vec::with_capacity(n * n);
    for j in (0..n).rev() {
        vectors.extend_from_slice(u.col_as_slice(j));
    }
    drop(u);
    made.carry_back(&mut vectors, threads);
    Ok(((0..n).rev().map(|j| s[j]).collect(), vectors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn rows_are_the_eigenvectors() {
        for n in [1, 2, 33, 90] {
            let x = toy::normals(n, 40, 7);
            let a = reference::gram(&x, &x, 40, |p, q| p.iter().zip(q).map(|(p, q)| p * q).sum());
            for threads in [1, 2] {
                let (values, vectors) = all(a.clone().into(), n, threads).expect("finite");
                let (want, _) = reference::eigen(&a, n);
                assert::close_to_scale(&values, &want, 1e-12);
                let product = reference::product(&vectors, &a, n, n, n);
                let scaled: Vec<f64> = vectors.iter().enumerate().map(|(p, v)| values[p / n] * v).collect();
                assert::close_to_scale(&product, &scaled, 1e-12);
            }
        }
    }

    #[test]
    fn zero_nan_and_empty_input_return() {
        assert_eq!(all(vec![0.0; 9].into(), 3, 1).expect("zero").0, [0.0; 3]);
        assert!(all(vec![f64::NAN].into(), 1, 1).is_err());
        assert!(all(Vec::new().into(), 0, 1).expect("empty").0.is_empty());
    }
}
