//! The block Krylov method with thick restarts (Golub and Underwood 1977; Wu and Simon 2000).
//!
//! A block is multiplied by A, made orthogonal to all that came before, and added to the basis V:
//!
//! ```text
//! A V' = V' T + Q' B' E',      T y = theta y      =>      |A (V' y) - theta V' y| = |B' y_last|
//! ```
//!
//! so residuals follow from the small problem, without another product. A full basis is restarted from its best Ritz
//! vectors. Directions that a block loses (rank deficiency, an invariant subspace, an eigenvalue with higher
//! multiplicity than a block has rows) are replaced by random ones, so the basis grows until the requested pairs are
//! found or it spans the whole space.
//!
//! Cost: `n^2 m` for a basis of m vectors, `2 n m^2` to keep it orthonormal, `9 m^3` per decomposition of the small
//! problem.

use super::basis::Basis;
use super::{Eigen, EigenParams, Operator, order};
use crate::error::{Error, Result};
use crate::num::{Fault, Mat, factor, product};
use crate::watch::{Step, Stop, Watch};

/// Cost of a complete decomposition of the small matrix, in units of m^3 multiply-adds of a matrix product: its
/// operations are few but slow.
const LOOK: f64 = 40.0;

/// The requested eigenpairs of A, by products alone.
pub(super) fn run(a: &dyn Operator, params: &EigenParams, watch: &mut Watch<'_>) -> Result<Eigen> {
    let (n, count) = (a.len(), params.count);
    let width = block_width(a, params);
    let most = (count + count.max(256) + 4 * width).min(n);
    let mut basis = Basis::new(n, params.seed, params.exec);
    basis.rows.reserve_exact(n * (count + 4 * width).min(most));
    let mut next = basis.random(width, &[])?;
    let rounding = a.rounding();
    // T is allocated for a whole basis at once: its row stride is `most`.
    let mut t = vec![0.0_f64; most * most];
    let (mut products, mut multiplied, mut looked) = (0_u64, 0.0_f64, 0.0_f64);
    loop {
        let old = basis.len();
        let fresh = (next.len() / n).min(most - old);
        basis.rows.extend_from_slice(&next[..fresh * n]);
        let m = old + fresh;
        let mut w = vec![0.0; fresh * n];
        a.apply(&basis.rows[old * n..], &mut w, params.exec);
        products += 1;
        multiplied += n as f64 * n as f64 * fresh as f64 + a.overhead();
        if w.iter().any(|v| !v.is_finite()) {
            return Err(Fault::NotFinite { what: "product with the matrix" }.into());
        }
        let scale = longest(&w, n).max((0..old).map(|i| t[i * most + i].abs()).fold(0.0, f64::max));
        let split = basis.split(w, rounding * scale)?;
        for j in 0..fresh {
            for i in 0..m {
                let h = split.along[j * m + i];
                (t[i * most + old + j], t[(old + j) * most + i]) = (h, h);
            }
        }
        // Inside the new block both triangles were written and differ by rounding.
        for i in old..m {
            for j in old..i {
                let mean = 0.5 * (split.along[(i - old) * m + j] + split.along[(j - old) * m + i]);
                (t[i * most + j], t[j * most + i]) = (mean, mean);
            }
        }
        next = split.q;
        let missing = width.min(n - m).saturating_sub(split.rank);
        if missing > 0 {
            let more = basis.random(missing, &next)?;
            next.extend(more);
        }
        let full = m + (next.len() / n).max(1) > most;
        let whole = m == n;
        let out = products >= params.max_products;
        let cost = LOOK * (m as f64).powi(3);
        // Decompositions of the small problem cost at most a third of the products, unless one is due.
        if !(whole || out || full || m >= count && looked + cost <= 0.33 * multiplied) {
            continue;
        }
        looked += cost;
        let small: Vec<f64> = (0..m).flat_map(|i| t[i * most..i * most + m].iter().copied()).collect();
        let (theta, y) = factor::eigen(&small, m)?;
        let chosen = order(&theta, params.which);
        let last = |j: usize| (0..fresh).map(move |r| (old + r) * m + j);
        let residual = |j: usize| -> f64 {
            let sum = |c: usize| {
                last(j).zip(0..fresh).map(|(p, r)| y[p] * split.beyond[r * split.rank + c]).sum::<f64>()
            };
            (0..split.rank).map(|c| sum(c).powi(2)).sum::<f64>().sqrt()
        };
        let top = theta.iter().fold(0.0_f64, |m, t| m.max(t.abs()));
        let noise = rounding * top;
        let open = chosen
            .iter()
            .take(count)
            .filter(|&&j| residual(j) > (params.tol * theta[j].abs()).max(noise))
            .count();
        let enough = m >= count && open == 0;
        let worst = chosen.iter().take(count).map(|&j| residual(j)).fold(0.0, f64::max);
        let step = Step::new("eigenvectors", (count - open.min(count)) as u64, Some(count as u64));
        let cancelled = watch(&step.gap(worst / top.max(f64::MIN_POSITIVE))).is_break();
        if enough || whole || out || cancelled {
            if m < count && cancelled {
                return Err(Error::Cancelled);
            }
            let stop = match (enough || whole, cancelled) {
                (true, _) => Stop::Converged,
                (false, true) => Stop::Cancelled,
                (false, false) => Stop::Limit,
            };
            let chosen = &chosen[..count.min(m)];
            return Ok(Eigen {
                values: chosen.iter().map(|&j| theta[j]).collect(),
                vectors: combined(&basis, &y, m, chosen),
                residuals: chosen.iter().map(|&j| residual(j)).collect(),
                products,
                stop,
            });
        }
        if full {
            // Keep the requested pairs and half of the remaining room, so that the next ones converge as well.
            let keep = (count + (most - count) / 2)
                .min(most.saturating_sub(2 * width))
                .max(count.min(most - 1))
                .min(m);
            let chosen = &chosen[..keep];
            basis.rows = combined(&basis, &y, m, chosen);
            t.fill(0.0);
            chosen.iter().enumerate().for_each(|(i, &j)| t[i * most + i] = theta[j]);
        }
    }
}

/// Rows per block: few where the matrix is in memory and a product streams it anyway, many where every product
/// recomputes the kernel values.
fn block_width(a: &dyn Operator, params: &EigenParams) -> usize {
    let n = a.len();
    let wide =
        if a.overhead() > 0.0 { (params.count + 8).clamp(16, 256) } else { (params.count / 4).clamp(8, 64) };
    params.block.unwrap_or(wide).clamp(1, n)
}

fn longest(w: &[f64], n: usize) -> f64 {
    w.chunks(n).map(|r| r.iter().map(|v| v * v).sum::<f64>().sqrt()).fold(0.0, f64::max)
}

/// Ritz vectors `y_j' V` for the j chosen, row by row.
fn combined(basis: &Basis, y: &[f64], m: usize, chosen: &[usize]) -> Vec<f64> {
    let turned: Vec<f64> = chosen.iter().flat_map(|&j| (0..m).map(move |i| y[i * m + j])).collect();
    let mut out = vec![0.0; chosen.len() * basis.n];
    product::nn(
        &mut out,
        Mat::new(&turned, chosen.len(), m),
        Mat::new(&basis.rows, m, basis.n),
        basis.exec.threads(),
    );
    out
}

/// Whether the space is exhausted or the pairs asked for are found is told apart by these tests' counts.
#[cfg(test)]
mod tests {
    use super::super::{Dense, EigenParams, Which};
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::{assert, reference, toy};

    fn of(values: &[f64], n: usize, count: usize, which: Which) -> Result<Eigen> {
        let params = EigenParams { count, which, tol: 1e-9, block: Some(4), ..EigenParams::default() };
        run(&Dense { values, n }, &params, &mut silent())
    }

    /// |A v - lambda v| and |v| by the definition.
    fn check(a: &[f64], n: usize, found: &Eigen, tol: f64) {
        let k = found.values.len();
        let product = reference::product(&found.vectors, a, k, n, n);
        let scale = found.values.iter().fold(1e-300_f64, |m, v| m.max(v.abs()));
        for j in 0..k {
            let v = &found.vectors[j * n..(j + 1) * n];
            assert::close(v.iter().map(|v| v * v).sum::<f64>(), 1.0, 1e-12);
            for i in 0..n {
                assert!((product[j * n + i] - found.values[j] * v[i]).abs() <= tol * scale);
            }
        }
    }

    fn gram(n: usize, d: usize, gamma: f64) -> Vec<f64> {
        let x = toy::normals(n, d, 5);
        reference::gram(&x, &x, d, |a, b| {
            (-gamma * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
        })
    }

    #[test]
    fn restarts_find_what_jacobi_finds() {
        let n = 120;
        let a = gram(n, 3, 0.4);
        let (want, _) = reference::eigen(&a, n);
        let found = of(&a, n, 12, Which::Largest).expect("finite");
        assert_eq!(found.stop, Stop::Converged);
        assert::close_to_scale(&found.values, &want[..12], 1e-12);
        check(&a, n, &found, 1e-8);
        assert_eq!(found.vectors, of(&a, n, 12, Which::Largest).expect("finite").vectors);
    }

    #[test]
    fn both_ends_of_an_indefinite_matrix() {
        let n = 60;
        let mut a = gram(n, 2, 1.0);
        let (values, _) = reference::eigen(&a, n);
        (0..n).for_each(|i| a[i * n + i] -= 0.4 * values[0]);
        let found = of(&a, n, 6, Which::Magnitude).expect("finite");
        let mut want: Vec<f64> = values.iter().map(|v| v - 0.4 * values[0]).collect();
        want.sort_by(|p, q| q.abs().total_cmp(&p.abs()));
        assert::close_to_scale(&found.values, &want[..6], 1e-9);
        assert!(found.values.iter().any(|v| *v < 0.0) && found.values[0] > 0.0);
        check(&a, n, &found, 1e-8);
    }

    #[test]
    fn zero_one_repeated_and_rank_deficient_matrices_return() {
        let n = 30;
        let zero = of(&vec![0.0; n * n], n, 7, Which::Largest).expect("finite");
        assert_eq!((zero.values.len(), zero.stop), (7, Stop::Converged));
        check(&vec![0.0; n * n], n, &zero, 1e-12);
        let unit: Vec<f64> = (0..n * n).map(|p| f64::from(u8::from(p / n == p % n))).collect();
        let one = of(&unit, n, 9, Which::Largest).expect("finite");
        assert::all_close(&one.values, &[1.0; 9], 1e-12);
        // Rank 3, and one eigenvalue that is there more often than a block has rows.
        let x = toy::normals(n, 3, 6);
        let low = reference::gram(&x, &x, 3, |p, q| p.iter().zip(q).map(|(p, q)| p * q).sum());
        let found = of(&low, n, 8, Which::Largest).expect("finite");
        assert!(found.values[2] > 1.0 && found.values[3..].iter().all(|v| v.abs() < 1e-10));
        check(&low, n, &found, 1e-10);
        let many: Vec<f64> = (0..n * n)
            .map(|p| if p / n == p % n { if p / n < 10 { 5.0 } else { 1.0 } } else { 0.0 })
            .collect();
        assert::all_close(&of(&many, n, 10, Which::Largest).expect("finite").values, &[5.0; 10], 1e-12);
        assert::all_close(&of(&[3.0], 1, 1, Which::Largest).expect("finite").values, &[3.0], 1e-15);
    }

    #[test]
    fn nan_and_limits_are_told() {
        let n = 20;
        let mut a = gram(n, 2, 1.0);
        a[7] = f64::NAN;
        assert!(of(&a, n, 3, Which::Largest).is_err());
        let n = 400;
        let a = gram(n, 6, 0.5);
        let params = EigenParams { count: 5, max_products: 2, block: Some(8), ..EigenParams::default() };
        let found = run(&Dense { values: &a, n }, &params, &mut silent()).expect("finite");
        assert_eq!((found.stop, found.values.len()), (Stop::Limit, 5));
    }
}
