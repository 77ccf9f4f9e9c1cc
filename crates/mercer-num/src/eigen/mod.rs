//! All eigenvalues and eigenvectors of a symmetric matrix, with vectors as rows.
//!
//! Three steps: to tridiagonal form by our own reflections (see `tridiagonal`), the tridiagonal problem by faer's divide
//! and conquer, and the vectors carried back by matrix products. If only a few pairs at either end are
//! requested, their values are counted (see `sturm`) and their vectors found by inverse iteration (see `inverse`).

mod inverse;
mod sturm;
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

/// Some eigenpairs: `chosen` gets the `top` largest eigenvalues and the `bottom` smallest, falling, and returns the indices of
/// those that are requested, in any order.
///
/// The matrix is overwritten. Cost: about 4/3 n^3, and n^2 per vector.
///
/// ```
/// let (values, vectors) = mercer_num::eigen::some(vec![2.0, 1.0, 1.0, 2.0].into(), 2, 1, (0, 1), |_| vec![0])?;
/// assert!((values[0] - 1.0).abs() < 1e-14 && (vectors[0] + vectors[1]).abs() < 1e-14);
/// # Ok::<(), mercer_num::Fault>(())
/// ```
pub fn some(
    a: Buffer<f64>,
    n: usize,
    threads: usize,
    (top, bottom): (usize, usize),
    chosen: impl FnOnce(&[f64]) -> Vec<usize>,
) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    let Some(made) = reduced(a, n, threads)? else { return Ok((Vec::new(), Vec::new())) };
    let ends = sturm::extremes(&made.diag, &made.below, top, bottom)
        .ok_or(Fault::NotFinite { what: "tridiagonal form" })?;
    let chosen = chosen(&ends);
    let mut values: Vec<f64> = chosen.iter().map(|&j| ends[j]).collect();
    let mut vectors = if let Some(found) = inverse::vectors(&made.diag, &made.below, &values) {
        found
    } else {
        // Inverse iteration did not converge: divide and conquer finds all vectors of the tridiagonal matrix.
        let (again, all) = decomposed(&made, n, threads)?;
        let place = |j: usize| if j < top { j } else { n - ends.len() + j };
        values = chosen.iter().map(|&j| again[place(j)]).collect();
        chosen.iter().flat_map(|&j| all[place(j) * n..(place(j) + 1) * n].iter().copied()).collect()
    };
    made.carry_back(&mut vectors, threads);
    Ok((values, vectors))
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
    let values = tridiagonal(made, n, threads, &mut u)?;
    // Columns of faer's matrix are padded apart, and rise.
    let mut vectors = Vec::with_capacity(n * n);
    for j in (0..n).rev() {
        vectors.extend_from_slice(u.col_as_slice(j));
    }
    Ok((values, vectors))
}

/// The eigenvalues of the tridiagonal matrix, falling; its eigenvectors, by rising eigenvalue, go to `u`.
fn tridiagonal(made: &Tridiagonal, n: usize, threads: usize, u: &mut Mat<f64>) -> Result<Vec<f64>, Fault> {
    let par = par(threads);
    let (mut diag, mut below, mut s) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
    // Divide and conquer works with squares, which lose digits near the ends of f64's range.
    let scale = Scale::of(&made.diag, &made.below);
    (0..n).for_each(|i| diag[i] = scale.down(made.diag[i]));
    (0..n - 1).for_each(|i| below[i] = scale.down(made.below[i]));
    let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Spec::default());
    let mut memory = MemBuffer::new(need);
    let stack = MemStack::new(&mut memory);
    let (d, e, u) = (diag.as_ref(), below.as_ref(), Some(u.as_mut()));
    tridiagonal_self_adjoint_evd(d, e, s.as_mut(), u, par, stack, Spec::default())
        .map_err(|_| Fault::NoConvergence { what: "eigen-decomposition", steps: 0, residual: f64::NAN })?;
    Ok((0..n).rev().map(|j| scale.up(s[j])).collect())
}

/// A power of two that brings the largest entry of a matrix near 1, so that scaling does not round; as two factors, because
/// one may overflow.
#[derive(Debug, Clone, Copy)]
struct Scale(f64, f64);

impl Scale {
    fn of(diag: &[f64], below: &[f64]) -> Self {
        let size = diag.iter().chain(below).fold(0.0_f64, |m, v| m.max(v.abs()));
        if size == 0.0 || !size.is_finite() {
            return Scale(1.0, 1.0);
        }
        let whole = -(size.log2().round() as i32);
        Scale(2.0_f64.powi(whole / 2), 2.0_f64.powi(whole - whole / 2))
    }

    fn down(self, value: f64) -> f64 {
        value * self.0 * self.1
    }

    fn up(self, value: f64) -> f64 {
        value / self.0 / self.1
    }
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
                for threads in [1, 2] {
                    agree(a, n, threads, (n.div_ceil(4), 2));
                }
            }
        }
        assert!(some(Vec::new().into(), 0, 1, (3, 3), |_| Vec::new()).expect("empty").0.is_empty());
        assert!(some(vec![f64::NAN].into(), 1, 1, (1, 0), |_| vec![0]).is_err());
        // Finite, but reflections overflow: an error or the pairs, never NaN.
        if let Ok((values, vectors)) = some(vec![1e308; 9].into(), 3, 1, (1, 1), |_| vec![0, 1]) {
            assert!(values.iter().chain(&vectors).all(|v| v.is_finite()));
        }
    }

    /// Spectra as they are chosen: clusters closer than rounding and wider, repeated values, zeros, both signs, graded.
    #[test]
    fn some_pairs_of_planned_spectra_are_those_of_all() {
        let spectra: [fn(usize, usize) -> f64; 9] = [
            |i, n| (n - i) as f64,
            |i, _| if i < 10 { 5.0 + 1e-15 * i as f64 } else { 1.0 },
            |i, _| if i < 6 { 5.0 + 1e-9 * i as f64 } else { 1e-3 / i as f64 },
            |i, _| (i % 3) as f64 - 1.0,
            |i, _| if i < 2 { 1.0 } else { 0.0 },
            |i, _| -1.0 - (i / 4) as f64,
            |i, n| 0.5 * n as f64 - i as f64,
            |i, _| 0.5_f64.powi(i as i32),
            |i, _| if i == 0 { 1e8 } else { 1e-8 * (i % 2) as f64 },
        ];
        for n in [1, 2, 3, 4, 5, 8, 17, 49, 50, 51, 97, 120, 200, 300] {
            for (kind, spectrum) in spectra.iter().enumerate() {
                let a = planned(&(0..n).map(|i| spectrum(i, n)).collect::<Vec<f64>>(), kind as u64);
                for size in [1.0, 1e-150, 1e100] {
                    let a: Vec<f64> = a.iter().map(|v| v * size).collect();
                    agree(&a, n, 1, (5.min(n), 0));
                    agree(&a, n, 2, (1, n.min(6) - 1));
                }
                agree(&a, n, 1, (n.div_ceil(4), n / 4));
            }
        }
    }

    /// A symmetric matrix of this spectrum: a diagonal turned by three reflections.
    fn planned(values: &[f64], seed: u64) -> Vec<f64> {
        let n = values.len();
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|i| a[i * n + i] = values[i]);
        for turn in 0..3 {
            let v = toy::normals(n, 1, 1 + seed + 100 * turn);
            let norm: f64 = v.iter().map(|v| v * v).sum();
            let at: Vec<f64> = a
                .chunks(n)
                .map(|row| row.iter().zip(&v).map(|(a, v)| a * v).sum::<f64>() * 2.0 / norm)
                .collect();
            let along = v.iter().zip(&at).map(|(v, w)| v * w).sum::<f64>() * 2.0 / norm;
            for (p, a) in a.iter_mut().enumerate() {
                let (i, j) = (p / n, p % n);
                *a -= v[i] * at[j] + at[i] * v[j] - along * v[i] * v[j];
            }
        }
        (0..n * n).for_each(|p| {
            if p / n > p % n {
                a[p] = a[p % n * n + p / n];
            }
        });
        a
    }

    /// The ends of the spectrum are those of the complete decomposition, with unit vectors orthogonal to one another.
    fn agree(a: &[f64], n: usize, threads: usize, (top, bottom): (usize, usize)) {
        let (want, _) = all(a.to_vec().into(), n, 1).expect("finite");
        let bottom = bottom.min(n - top);
        let (values, vectors) = some(a.to_vec().into(), n, threads, (top, bottom), |ends| {
            assert!(ends.len() == top + bottom && ends.is_sorted_by(|p, q| p >= q));
            // In another order than they have.
            (0..ends.len()).rev().collect()
        })
        .expect("finite");
        let at: Vec<f64> = want[n - bottom..].iter().rev().chain(want[..top].iter().rev()).copied().collect();
        let size = want[0].abs().max(want[n - 1].abs());
        let tol = 1e-14 * size * n as f64;
        assert::all_close(&values, &at, tol);
        let k = values.len();
        let product = reference::product(&vectors, a, k, n, n);
        let scaled: Vec<f64> = vectors.iter().enumerate().map(|(p, v)| values[p / n] * v).collect();
        assert::all_close(&product, &scaled, tol);
        let mut turned = vec![0.0; n * k];
        (0..n * k).for_each(|p| turned[p % n * k + p / n] = vectors[p]);
        let inner = reference::product(&vectors, &turned, k, n, k);
        let unit: Vec<f64> = (0..k * k).map(|p| f64::from(u8::from(p / k == p % k))).collect();
        assert::all_close(&inner, &unit, 1e-14 * n as f64);
    }

    #[test]
    fn zero_nan_and_empty_input_return() {
        assert_eq!(all(vec![0.0; 9].into(), 3, 1).expect("zero").0, [0.0; 3]);
        assert!(all(vec![f64::NAN].into(), 1, 1).is_err());
        assert!(all(Vec::new().into(), 0, 1).expect("empty").0.is_empty());
    }
}
