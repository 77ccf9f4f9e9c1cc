//! Where centres are: drawn rows, means of clusters, or pivots of the kernel matrix.

use super::{Landmarks, LargeParams};
use crate::data::split::shuffle;
use crate::data::{Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::random_pivots;
use crate::kernel::Kernel;
use crate::solve::large::means;

/// Rows per centre that k-means and pivots look at, at most: all of them would cost more than the fit.
const LOOKED_AT: usize = 10;
/// Rounds of k-means.
const ROUNDS: usize = 5;

/// Centres, and the rows they were.
pub(super) struct Centres {
    pub(super) points: Points,
    /// None where they are means.
    pub(super) rows: Option<Vec<usize>>,
    pub(super) note: String,
}

impl LargeParams {
    /// Centres among points, as many as asked for or as there are.
    pub(super) fn placed(&self, kernel: &Kernel, points: &Points, exec: Exec) -> Result<Centres> {
        let n = points.len();
        let m = usize::try_from(self.centres).unwrap_or(usize::MAX).min(n);
        let order = shuffle(n, self.seed);
        let looked = &order[..n.min(m.saturating_mul(LOOKED_AT))];
        match self.place {
            Landmarks::Uniform => {
                let rows = order[..m].to_vec();
                Ok(chosen(points, rows, format!("{m} centres drawn uniformly from {n} rows")))
            }
            Landmarks::Cholesky => {
                let some = points.gather(looked);
                let found = random_pivots(kernel, some.view(), m, self.seed, exec)?;
                let share = 100.0 * found.error / found.trace.max(f64::MIN_POSITIVE);
                let note = format!(
                    "{} centres by randomly pivoted Cholesky on {} of {n} rows: they leave {share:.2} % of the trace of \
                     their kernel matrix",
                    found.rows.len(),
                    looked.len()
                );
                Ok(chosen(points, found.rows.iter().map(|&i| looked[i]).collect(), note))
            }
            Landmarks::Kmeans => {
                let some = points.gather(looked);
                let x = single(some.view(), exec)?;
                let d = points.dim();
                let found = means(&x, d, x[..m * d].to_vec(), ROUNDS, exec);
                let points = Points::dense(found.into_iter().map(f64::from).collect(), d)?;
                let note = format!("{m} centres by k-means on {} of {n} rows", looked.len());
                Ok(Centres { points, rows: None, note })
            }
        }
    }
}

fn chosen(points: &Points, mut rows: Vec<usize>, note: String) -> Centres {
    rows.sort_unstable();
    Centres { points: points.gather(&rows), rows: Some(rows), note }
}

/// Rows of numbers in f32.
fn single(points: View<'_>, exec: Exec) -> Result<Vec<f32>> {
    if !points.is_numbers() {
        return Err(Error::param("place", "kmeans", format!("uniform or cholesky for {}", points.kind())));
    }
    Ok(points.to_f64_within(exec.memory())?.into_iter().map(|v| v as f32).collect())
}
