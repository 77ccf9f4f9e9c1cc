//! Placement of the centres: random rows, means of clusters, or pivots of the kernel matrix; and the rows of the
//! preconditioner's sketch.

use serde_json::{Value, json};

use super::solved::PROGRAM;
use super::{Landmarks, LargeParams};

use crate::data::io::{Source, drawn, gathered};
use crate::data::{Bundle, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::store::{restore_points, store_points};
use crate::gram::{Grid, random_pivots};
use crate::kernel::Kernel;
use crate::solve::large::{means, means_of_bytes};
use crate::watch::Watch;

/// Maximum number of rows per centre used by k-means and pivoting: all rows would cost more than the fit.
const LOOKED_AT: usize = 10;
/// Rounds of k-means.
const ROUNDS: usize = 5;
/// Maximum cost of a sketch, in passes over all rows.
const PASSES: usize = 10;
/// Maximum number of rows of a sketch per centre.
const SKETCH: usize = 30;
/// The part that its values may take of the memory beside the program and the factors.
const SHARE: usize = 6;
/// The part of all memory that they may take in any case.
const FEW: usize = 16;
/// Outputs that a pass computes in the time in which it reads a value from memory.
const READ: usize = 7;
/// Maximum mean square of rounding means to a grid, relative to the variance of the rows.
const ROUNDING: f64 = 1e-3;
/// Makes the sketch's rows independent of the centres.
const SEED: u64 = 0x51e7_c4ed;

/// Kernel, centres and further data shared by all processes of a fit.
///
/// [`LargeParams::centres`] makes one. It is small, and is serialised as bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct LargeCentres {
    /// The kernel, with its width.
    pub kernel: Kernel,
    /// The centres.
    pub points: Points,
    /// Their row indices; `None` for means.
    pub rows: Option<Vec<usize>>,
    /// The rows of the preconditioner's sketch; `None`: the centres.
    pub stand: Option<Points>,
    /// Targets of the sketch's rows, several numbers for each; empty if there are none.
    pub targets: Vec<f64>,
    /// Their weights, of mean 1 over all rows; empty: 1.
    pub weight: Vec<f64>,
    /// Names of the classes; empty: targets are numbers.
    pub classes: Vec<String>,
    /// Number of all rows.
    pub all: usize,
    /// A note on how the centres were placed.
    pub note: String,
}

impl LargeCentres {
    /// Number of rows of the sketch.
    pub(super) fn standing(&self) -> usize {
        self.stand.as_ref().unwrap_or(&self.points).len()
    }

    /// As bytes. Fails for custom kernels, which cannot be serialised.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bundle = Bundle::default();
        let kernel = serde_json::to_value(&self.kernel).map_err(|e| Error::Unsupported(e.to_string()))?;
        let points = store_points(&self.points, "centres", &mut bundle);
        let stand = self.stand.as_ref().map(|points| store_points(points, "stand", &mut bundle));
        bundle.put_f64("targets", &[self.targets.len()], self.targets.clone());
        bundle.put_f64("weight", &[self.weight.len()], self.weight.clone());
        bundle.meta = json!({
            "kernel": kernel, "centres": points, "stand": stand, "rows": self.rows, "classes": self.classes,
            "all": self.all, "note": self.note, "targets": self.targets.len(), "weight": self.weight.len(),
        });
        bundle.to_bytes()
    }

    /// From the bytes of [`LargeCentres::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = || -> std::result::Result<Self, String> {
            let bundle = Bundle::from_bytes(bytes)?;
            let meta = &bundle.meta;
            let line = meta["kernel"].as_str().ok_or("the kernel is missing")?;
            let numbers = |name: &str| {
                let n = meta[name].as_u64().ok_or_else(|| format!("`{name}` is missing"))? as usize;
                Ok::<_, String>(bundle.f64(name, &[n])?.to_vec())
            };
            let from = |name: &str| meta[name].clone();
            let wrong = |e: serde_json::Error| e.to_string();
            Ok(LargeCentres {
                kernel: line.parse().map_err(|e: Error| e.to_string())?,
                points: restore_points(&meta["centres"], "centres", &bundle)?,
                rows: serde_json::from_value(from("rows")).map_err(wrong)?,
                stand: match &meta["stand"] {
                    Value::Null => None,
                    stand => Some(restore_points(stand, "stand", &bundle)?),
                },
                targets: numbers("targets")?,
                weight: numbers("weight")?,
                classes: serde_json::from_value(from("classes")).map_err(wrong)?,
                all: serde_json::from_value(from("all")).map_err(wrong)?,
                note: serde_json::from_value(from("note")).map_err(wrong)?,
            })
        };
        read().map_err(|why| Error::ModelFile { path: "centres".into(), why })
    }
}

/// Location of the rows.
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

    pub(super) fn gather(&self, rows: &[usize]) -> Result<Points> {
        match self {
            Rows::Points(points) => Ok(points.gather(rows)),
            Rows::Source(source) => Ok(gathered(*source, rows)?.0),
        }
    }

    /// Number of rows that fit in memory besides the centres.
    fn room(&self, exec: Exec) -> usize {
        match self {
            Rows::Points(_) => usize::MAX,
            // In both precisions, and once more for derived data.
            Rows::Source(source) => exec.budget() / 4 / (source.columns() * 24).max(1),
        }
    }
}

impl LargeParams {
    /// The sketch's rows among n, for m centres and k outputs; `None`: the centres. More rows mean fewer passes, so the sketch
    /// costs as much as a few passes, and its values must fit into a part of the memory.
    pub(super) fn standing(
        &self,
        (n, m): (usize, usize),
        k: usize,
        bytes: usize,
        exec: Exec,
    ) -> Option<Vec<usize>> {
        let cheap = PASSES.saturating_mul(n).saturating_mul(k.max(READ)) / m.max(1);
        let left = exec.budget().saturating_sub(PROGRAM as usize + 3 * m * m * bytes);
        // With little memory the same rows as with much, as long as they are few.
        let room = (left / SHARE).max(exec.budget() / FEW) / (m * bytes).max(1);
        let many = cheap.min(SKETCH * m).min(room).min(n);
        let drawn_uniformly = self.place == Landmarks::Uniform;
        if many < 2 * m && drawn_uniformly || many == 0 {
            return None;
        }
        let mut rows = drawn(n, if drawn_uniformly { many } else { many.max(m.min(room)) }, self.seed ^ SEED);
        rows.sort_unstable();
        Some(rows)
    }

    /// Centres among rows, as many as requested or available, without a sketch.
    pub(super) fn placed(
        &self,
        kernel: &Kernel,
        from: &Rows<'_>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<LargeCentres> {
        let n = from.len();
        let m = usize::try_from(self.centres).unwrap_or(usize::MAX).min(n);
        if self.place == Landmarks::Uniform {
            let rows = drawn(n, m, self.seed);
            return chosen(kernel, from, rows, format!("{m} centres drawn uniformly from {n} rows"));
        }
        let looked = drawn(n, n.min(m.saturating_mul(LOOKED_AT)).min(from.room(exec).max(m)), self.seed);
        let some = from.gather(&looked)?;
        if self.place == Landmarks::Cholesky {
            let found = random_pivots(kernel, some.view(), m, self.seed, exec)?;
            let share = 100.0 * found.error / found.trace.max(f64::MIN_POSITIVE);
            let note = format!(
                "{} centres by randomly pivoted Cholesky on {} of {n} rows: {share:.2} % of the trace of the kernel \
                 matrix is outside their span",
                found.rows.len(),
                looked.len()
            );
            return chosen(kernel, from, found.rows.iter().map(|&i| looked[i]).collect(), note);
        }
        let d = some.dim();
        let points = if let Some(found) = rounded(some.view(), m, exec, watch) {
            found?
        } else {
            let x = single(some.view(), exec)?;
            let found = means(&x, d, x[..m * d].to_vec(), ROUNDS, exec, watch)?;
            Points::dense(found.into_iter().map(f64::from).collect(), d)?
        };
        let note = format!("{m} centres by k-means on {} of {n} rows", looked.len());
        Ok(made(kernel, points, None, n, note))
    }
}

fn chosen(kernel: &Kernel, from: &Rows<'_>, mut rows: Vec<usize>, note: String) -> Result<LargeCentres> {
    rows.sort_unstable();
    Ok(made(kernel, from.gather(&rows)?, Some(rows), from.len(), note))
}

fn made(kernel: &Kernel, points: Points, rows: Option<Vec<usize>>, all: usize, note: String) -> LargeCentres {
    let kernel = kernel.clone();
    let (targets, weight, classes) = (Vec::new(), Vec::new(), Vec::new());
    LargeCentres { kernel, points, rows, stand: None, targets, weight, classes, all, note }
}

/// Means on the grid of rows that have one, if rounding to it moves means far less than rows lie apart: pixels, not 0/1
/// columns. Kernel values against them stay products of bytes.
fn rounded(points: View<'_>, m: usize, exec: Exec, watch: &mut Watch<'_>) -> Option<Result<Points>> {
    let grid = Grid::of(points, exec)?;
    let rows = grid.rows(points)?;
    let (n, d) = (rows.len(), rows.columns());
    let all: Vec<u32> = (0..n as u32).collect();
    let mut sums = vec![0.0; d];
    (0..n).for_each(|i| sums.iter_mut().zip(rows.row(i)).for_each(|(s, v)| *s += f64::from(*v)));
    let squares: f64 = (0..n).map(|i| f64::from(rows.square(i))).sum();
    let spread = squares / n as f64 - sums.iter().map(|s| (s / n as f64).powi(2)).sum::<f64>();
    // The mean square of rounding is 1/12 per column.
    if d as f64 / 12.0 > ROUNDING * spread {
        return None;
    }
    let found = match means_of_bytes(&rows, rows.gather(&all[..m]), ROUNDS, exec, watch) {
        Ok(found) => found,
        Err(e) => return Some(Err(e)),
    };
    let mut values = vec![0.0; m * d];
    values.chunks_mut(d).enumerate().for_each(|(i, to)| grid.values(found.row(i), 0.0, to));
    Some(Points::dense(values, d))
}

/// Rows of numbers in f32.
fn single(points: View<'_>, exec: Exec) -> Result<Vec<f32>> {
    if !points.is_numbers() {
        return Err(Error::param("place", "kmeans", format!("uniform or cholesky for {}", points.kind())));
    }
    Ok(points.to_f64_within(exec.memory())?.into_iter().map(|v| v as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sketch costs about as much as ten passes, is at least twice and at most thirty times the centres, and fits into memory.
    #[test]
    fn a_sketch_costs_as_much_as_some_passes() {
        let rows = |n: usize, m: usize, k: usize, memory: u64| {
            let exec = Exec::one().with_memory(memory);
            LargeParams::default().standing((n, m), k, 8, exec).map(|rows| rows.len())
        };
        let much = 1 << 40;
        assert_eq!(rows(100_000, 1000, 8, much), Some(8000));
        assert_eq!(rows(100_000, 1000, 80, much), Some(30_000));
        assert_eq!(rows(20_000, 1000, 80, much), Some(16_000));
        assert_eq!(rows(20_000, 1000, 8, much), None);
        let few = rows(100_000, 1000, 80, 1 << 29).expect("a sketch");
        assert!((2000..30_000).contains(&few), "{few}");
        assert_eq!(rows(100_000, 1000, 80, 1 << 20), None);
        assert_eq!(rows(100_000, 60, 1, 50 << 20), Some(1800));
        // Few outputs: reading values takes longer than multiplying them.
        assert_eq!(rows(100_000, 1000, 1, much), Some(7000));
    }
}
