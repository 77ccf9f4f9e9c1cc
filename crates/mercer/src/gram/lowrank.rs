//! Low-rank approximations of kernel matrices, `K ~ F F'` with F n x r, and their error.
//!
//! Nystroem's method from given landmarks (n m d + n m^2), and pivoted incomplete Cholesky, which selects its pivots
//! by the largest residual diagonal entry and stops at a given error (n r d + n r^2). For a positive semidefinite K
//! the residual `K - F F'` is positive semidefinite, so its trace, which both return, bounds its spectral and
//! Frobenius norms.

use crate::data::View;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::block::{block, check, cross};
use crate::gram::door;
use crate::gram::side::{Layout, Side};
use crate::kernel::Kernel;
use crate::num::{Mat, factor, product};

/// A factor F of a kernel matrix, `K ~ F F'`.
#[derive(Debug, Clone, PartialEq)]
pub struct LowRank {
    /// F, n x rank, row by row.
    pub factor: Vec<f64>,
    /// Number of columns of F.
    pub rank: usize,
    /// The rows of K from which the factor is made.
    pub pivots: Vec<usize>,
    /// trace(K - F F'), which bounds every entry, the spectral and the Frobenius norm of the residual if K is
    /// positive semidefinite.
    pub error: f64,
    /// trace(K), for comparison with the error.
    pub trace: f64,
}

/// Nystroem's approximation from the columns of K at `landmarks`. Directions of the landmarks' own matrix below
/// 1e-12 of its largest eigenvalue are dropped.
pub fn nystroem(kernel: &Kernel, points: View<'_>, landmarks: &[usize], exec: Exec) -> Result<LowRank> {
    check(kernel, points, points, exec.memory())?;
    let (n, m) = (points.n, landmarks.len());
    if m == 0 || landmarks.iter().any(|&i| i >= n) {
        let allowed = format!("at least one, each a row below {n}");
        return Err(Error::param("landmarks", format!("{landmarks:?}"), allowed));
    }
    let chosen = points.gather(landmarks);
    let columns = cross::<f64>(kernel, points, chosen.view(), exec)?;
    let own = cross::<f64>(kernel, chosen.view(), chosen.view(), exec)?;
    let (values, vectors) = factor::eigen(&own, m)?;
    let rank = values.iter().take_while(|&&v| v > 1e-12 * values[0].max(0.0)).count();
    // W^(-1/2) on the retained eigenvectors: U_r S_r^(-1/2).
    let half: Vec<f64> =
        (0..m * rank).map(|p| vectors[p / rank * m + p % rank] / values[p % rank].sqrt()).collect();
    let mut f = vec![0.0; n * rank];
    product::nn(&mut f, Mat::new(&columns, n, m), Mat::new(&half, m, rank), exec.threads());
    let mut diag = vec![0.0; n];
    kernel.diag(points, &mut diag);
    let trace: f64 = diag.iter().sum();
    let error = (trace - f.iter().map(|v| v * v).sum::<f64>()).max(0.0);
    Ok(LowRank { factor: f, rank, pivots: landmarks.to_vec(), error, trace })
}

/// Incomplete Cholesky factorisation with pivoting, until the trace of the residual is at most `tol` times K's or
/// `max_rank` is reached.
pub fn pivoted_cholesky(
    kernel: &Kernel,
    points: View<'_>,
    max_rank: usize,
    tol: f64,
    exec: Exec,
) -> Result<LowRank> {
    check(kernel, points, points, exec.memory())?;
    if !(0.0..1.0).contains(&tol) {
        return Err(Error::param("tol", tol, "at least 0 and below 1"));
    }
    let n = points.n;
    let max_rank = max_rank.min(n);
    let device = door::rows(kernel, points, exec)?;
    let side = match device {
        Some(_) => None,
        None => Some(Side::<f64>::new(kernel, points, &Layout::of(kernel, points, exec), exec)?),
    };
    let mut rest = vec![0.0; n];
    kernel.diag(points, &mut rest);
    let trace: f64 = rest.iter().sum();
    // Stored by column while it grows, transposed at the end.
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut pivots = Vec::new();
    let mut error = trace;
    while columns.len() < max_rank && error > tol * trace {
        let best = (0..n).max_by(|&i, &j| rest[i].total_cmp(&rest[j]));
        let Some(p) = best.filter(|&p| rest[p] > 1e-14 * trace.abs() / n as f64) else { break };
        let mut column = vec![0.0; n];
        match (&side, &device) {
            (Some(side), _) => block(kernel, &side.gather(&[p as u32]), side, &mut column, exec),
            (None, device) => {
                device.iter().for_each(|rows| rows.apply(&[p as u32], &[1.0], &mut column, exec));
            }
        }
        for other in &columns {
            let c = other[p];
            column.iter_mut().zip(other).for_each(|(v, o)| *v -= c * o);
        }
        let root = rest[p].sqrt();
        column.iter_mut().for_each(|v| *v /= root);
        rest.iter_mut().zip(&column).for_each(|(r, v)| *r -= v * v);
        rest[p] = 0.0;
        error = rest.iter().map(|r| r.max(0.0)).sum();
        pivots.push(p);
        columns.push(column);
    }
    let rank = columns.len();
    let factor = (0..n).flat_map(|i| columns.iter().map(move |c| c[i])).collect();
    Ok(LowRank { factor, rank, pivots, error, trace })
}
