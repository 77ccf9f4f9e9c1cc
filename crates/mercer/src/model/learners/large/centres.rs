//! Where centres are: drawn rows, means of clusters, or pivots of the kernel matrix.

use super::{Landmarks, LargeParams};
use crate::data::io::{Source, drawn, gathered};
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

/// Where rows are.
pub(super) enum Rows<'a> {
    Points(&'a Points),
    Source(&'a dyn Source),
}

impl Rows<'_> {
    fn len(&self) -> usize {
        match self {
            Rows::Points(points) => points.len(),
            Rows::Source(source) => source.rows(),
        }
    }

    fn gather(&self, rows: &[usize]) -> Result<Points> {
        match self {
            Rows::Points(points) => Ok(points.gather(rows)),
            Rows::Source(source) => Ok(gathered(*source, rows)?.0),
        }
    }

    /// How many rows may be in memory besides the centres.
    fn room(&self, exec: Exec) -> usize {
        match self {
            Rows::Points(_) => usize::MAX,
            // In both precisions, and once more for what is made of them.
            Rows::Source(source) => exec.budget() / 4 / (source.columns() * 24).max(1),
        }
    }
}

impl LargeParams {
    /// Centres among rows, as many as asked for or as there are.
    pub(super) fn placed(&self, kernel: &Kernel, from: &Rows<'_>, exec: Exec) -> Result<Centres> {
        let n = from.len();
        let m = usize::try_from(self.centres).unwrap_or(usize::MAX).min(n);
        if self.place == Landmarks::Uniform {
            let rows = drawn(n, m, self.seed);
            return chosen(from, rows, format!("{m} centres drawn uniformly from {n} rows"));
        }
        let looked = drawn(n, n.min(m.saturating_mul(LOOKED_AT)).min(from.room(exec).max(m)), self.seed);
        let some = from.gather(&looked)?;
        if self.place == Landmarks::Cholesky {
            let found = random_pivots(kernel, some.view(), m, self.seed, exec)?;
            let share = 100.0 * found.error / found.trace.max(f64::MIN_POSITIVE);
            let note = format!(
                "{} centres by randomly pivoted Cholesky on {} of {n} rows: they leave {share:.2} % of the trace of \
                 their kernel matrix",
                found.rows.len(),
                looked.len()
            );
            return chosen(from, found.rows.iter().map(|&i| looked[i]).collect(), note);
        }
        let x = single(some.view(), exec)?;
        let d = some.dim();
        let found = means(&x, d, x[..m * d].to_vec(), ROUNDS, exec);
        let points = Points::dense(found.into_iter().map(f64::from).collect(), d)?;
        let note = format!("{m} centres by k-means on {} of {n} rows", looked.len());
        Ok(Centres { points, rows: None, note })
    }
}

fn chosen(from: &Rows<'_>, mut rows: Vec<usize>, note: String) -> Result<Centres> {
    rows.sort_unstable();
    Ok(Centres { points: from.gather(&rows)?, rows: Some(rows), note })
}

/// Rows of numbers in f32.
fn single(points: View<'_>, exec: Exec) -> Result<Vec<f32>> {
    if !points.is_numbers() {
        return Err(Error::param("place", "kmeans", format!("uniform or cholesky for {}", points.kind())));
    }
    Ok(points.to_f64_within(exec.memory())?.into_iter().map(|v| v as f32).collect())
}
