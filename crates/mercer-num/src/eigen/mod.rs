//! All eigenvalues and eigenvectors of a symmetric matrix, with vectors as rows.
//!
//! Three steps: to tridiagonal form by our own reflections (see `tridiagonal`), the tridiagonal problem by faer's divide
//! and conquer, and the vectors carried back by matrix products. If only a few vectors are
//! requested, the tridiagonal problem is solved for its values alone and for these vectors by inverse iteration (see `inverse`).

mod inverse;
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
    let Some(made) = reduced(a, n, threads)? else { return Ok((Vec::new(), Vec::new())) };
    let (values, mut vectors) = decomposed(&made, n, threads)?;
    made.carry_back(&mut vectors, threads);
    Ok((values, vectors))
}

/// Some eigenpairs: `chosen` gets all eigenvalues, falling, and returns the indices of those that are requested, in any order.
///
/// The matrix is overwritten. Cost: about 4/3 n^3, and n^2 per vector.
///
/// ```
/// let (values, vectors) = mercer_num::eigen::some(vec![2.0, 1.0, 1.0, 2.0].into(), 2, 1, |_| vec![1])?;
/// assert!((values[0] - 1.0).abs() < 1e-14 && (vectors[0] + vectors[1]).abs() < 1e-14);
/// # Ok::<(), mercer_num::Fault>(())
/// ```
pub fn some(
    a: Buffer<f64>,
    n: usize,
    threads: usize,
    chosen: impl FnOnce(&[f64]) -> Vec<usize>,
) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    let Some(made) = reduced(a, n, threads)? else { return Ok((Vec::new(), Vec::new())) };
    let mut values = tridiagonal(&made, n, 1, None)?;
    let chosen = chosen(&values);
    let of = |values: &[f64]| chosen.iter().map(|&j| values[j]).collect::<Vec<f64>>();
    let mut vectors = if let Some(found) = inverse::vectors(&made.diag, &made.below, &of(&values)) {
        found
    } else {
        // Inverse iteration did not converge: divide and conquer finds all vectors of the tridiagonal matrix.
        let (again, all) = decomposed(&made, n, threads)?;
        values = again;
        chosen.iter().flat_map(|&j| all[j * n..(j + 1) * n].iter().copied()).collect()
    };
    made.carry_back(&mut vectors, threads);
    Ok((of(&values), vectors))
}

/// The matrix in tridiagonal form; None if it is empty.
fn reduced(a: Buffer<f64>, n: usize, threads: usize) -> Result<Option<Tridiagonal>, Fault> {
    if a.iter().any(|v| !v.is_finite()) {
        return Err(Fault::NotFinite { what: "symmetric matrix" });
    }
    Ok((n > 0).then(|| Tridiagonal::new(a, n, threads)))
}

/// All eigenpairs of the tridiagonal matrix, values falling.
fn decomposed(made: &Tridiagonal, n: usize, threads: usize) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    let mut u = Mat::<f64>::zeros(n, n);
    let values = tridiagonal(made, n, threads, Some(&mut u))?;
    // Columns of faer's matrix are padded apart, and rise.
    let mut vectors = Vec::with_capacity(n * n);
    for j in (0..n).rev() {
        vectors.extend_from_slice(u.col_as_slice(j));
    }
    Ok((values, vectors))
}

/// The eigenvalues of the tridiagonal matrix, falling; its eigenvectors, by rising eigenvalue, go to `u`.
fn tridiagonal(
    made: &Tridiagonal,
    n: usize,
    threads: usize,
    u: Option<&mut Mat<f64>>,
) -> Result<Vec<f64>, Fault> {
    let par = par(threads);
    let (mut diag, mut below, mut s) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
    (0..n).for_each(|i| diag[i] = made.diag[i]);
    (0..n - 1).for_each(|i| below[i] = made.below[i]);
    let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Spec::default());
    let mut memory = MemBuffer::new(need);
    let stack = MemStack::new(&mut memory);
    tridiagonal_self_adjoint_evd(
        diag.as_ref(),
        below.as_ref(),
        s.as_mut(),
        u.map(Mat::as_mut),
        par,
        stack,
        Spec::default(),
    )
    .map_err(|_| Fault::NoConvergence { what: "eigen-decomposition", steps: 0, residual: f64::NAN })?;
    Ok((0..n).rev().map(|j| s[j]).collect())
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
    fn some_pairs_are_those_of_all() {
        let unit = |n: usize| (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect::<Vec<f64>>();
        for n in [1, 2, 3, 40, 150] {
            let x = toy::normals(n, 40, 7);
            let smooth = |p: &[f64], q: &[f64]| {
                (-0.02 * p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
            };
            // Full rank; rank 3; every row there twice; the same value everywhere; many equal values; two blocks.
            let twice: Vec<f64> = x.chunks(40).flat_map(|row| [row, row].concat()).take(n * 40).collect();
            let blocks: Vec<f64> = (0..n * n)
                .map(|p| {
                    if (p / n < n / 2) == (p % n < n / 2) {
                        1.0 + f64::from(u8::from(p / n == p % n))
                    } else {
                        0.0
                    }
                })
                .collect();
            let kinds = [
                reference::gram(&x, &x, 40, smooth),
                reference::gram(&x, &x, 40, |p, q| (0..3).map(|c| p[c] * q[c]).sum()),
                reference::gram(&twice, &twice, 40, smooth),
                vec![1.0; n * n],
                unit(n),
                blocks,
                vec![0.0; n * n],
            ];
            for a in &kinds {
                let (want, _) = all(a.clone().into(), n, 1).expect("finite");
                let mut places: Vec<usize> = [0, 1, 2, 5, 7, n - 1].into_iter().filter(|&j| j < n).collect();
                places.dedup();
                for threads in [1, 2] {
                    let (values, vectors) = some(a.clone().into(), n, threads, |all| {
                        assert!(all.is_sorted_by(|p, q| p >= q));
                        places.clone()
                    })
                    .expect("finite");
                    let at: Vec<f64> = places.iter().map(|&j| want[j]).collect();
                    let size = want[0].abs().max(1.0);
                    assert::all_close(&values, &at, 1e-13 * size * n as f64);
                    let k = places.len();
                    let product = reference::product(&vectors, a, k, n, n);
                    let scaled: Vec<f64> =
                        vectors.iter().enumerate().map(|(p, v)| values[p / n] * v).collect();
                    assert::all_close(&product, &scaled, 1e-13 * size * n as f64);
                    let mut turned = vec![0.0; n * k];
                    (0..n * k).for_each(|p| turned[p % n * k + p / n] = vectors[p]);
                    let inner = reference::product(&vectors, &turned, k, n, k);
                    assert::all_close(&inner, &unit(k), 1e-13 * n as f64);
                }
            }
        }
        assert!(some(Vec::new().into(), 0, 1, |_| Vec::new()).expect("empty").0.is_empty());
        assert!(some(vec![f64::NAN].into(), 1, 1, |_| vec![0]).is_err());
    }

    #[test]
    fn zero_nan_and_empty_input_return() {
        assert_eq!(all(vec![0.0; 9].into(), 3, 1).expect("zero").0, [0.0; 3]);
        assert!(all(vec![f64::NAN].into(), 1, 1).is_err());
        assert!(all(Vec::new().into(), 0, 1).expect("empty").0.is_empty());
    }
}
