//! The input of a fit: points, targets, weights and, optionally, their kernel matrix.

use crate::data::{Points, Targets};
use crate::error::{Error, Fault, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::model::Keeper;

/// The rows a learner is fitted on. Cheap to copy.
///
/// ```
/// use mercer::prelude::*;
/// let points = Points::dense(vec![0.0, 1.0, 2.0, 3.0], 1)?;
/// let targets = Targets::Classes(Labels::new(["a", "a", "b", "b"]));
/// let weights = [1.0, 1.0, 2.0, 2.0];
/// let sample = Sample::new(&points, &targets).weighted(&weights);
/// let machine = SvcParams::default().fit(sample, Exec::one(), &mut watch::silent())?;
/// assert_eq!(machine.classes(), ["a", "b"]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// The points, after all stages.
    pub points: &'a Points,
    /// The targets.
    pub targets: &'a Targets,
    /// A factor of each row's loss; `None`: 1. Rows of weight 0 are ignored.
    pub weights: Option<&'a [f64]>,
    /// The points' kernel matrix if available: shared by folds, grids and machines, or precomputed (then the points
    /// are row numbers). Its rows are the points' rows, and its values must be those of the learner's kernel.
    pub gram: Option<&'a dyn Rows>,
    /// Receives checkpoints during the fit: see [`Plan::fit_kept`](crate::model::Plan::fit_kept).
    pub keeper: Option<&'a dyn Keeper>,
}

impl std::fmt::Debug for Sample<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sample")
            .field("n", &self.points.len())
            .field("kind", &self.points.kind())
            .field("weights", &self.weights.is_some())
            .field("gram", &self.gram.is_some())
            .finish_non_exhaustive()
    }
}

impl<'a> Sample<'a> {
    /// Points and targets only.
    pub fn new(points: &'a Points, targets: &'a Targets) -> Self {
        Sample { points, targets, weights: None, gram: None, keeper: None }
    }

    /// The same with a factor of each row's loss.
    #[must_use]
    pub fn weighted(self, weights: &'a [f64]) -> Self {
        Sample { weights: Some(weights), ..self }
    }

    /// The same with the points' kernel matrix.
    #[must_use]
    pub fn with_gram(self, gram: &'a dyn Rows) -> Self {
        Sample { gram: Some(gram), ..self }
    }

    /// The same with a keeper of checkpoints.
    #[must_use]
    pub fn kept_by(self, keeper: &'a dyn Keeper) -> Self {
        Sample { keeper: Some(keeper), ..self }
    }

    /// Fails unless there are rows, all values are finite, and all numbers of rows agree.
    pub fn check(&self) -> Result<()> {
        self.check_on(Exec::one())
    }

    /// The same on several threads.
    pub(in crate::model) fn check_on(&self, exec: Exec) -> Result<()> {
        let n = self.points.len();
        if n == 0 {
            return Err(Error::shape("training rows", 0, "at least 1"));
        }
        if let Some((i, j)) = self.points.first_not_finite_on(exec) {
            let fault = Fault {
                row: Some(i as u64 + 1),
                column: Some((j + 1).to_string()),
                got: Some("a value that is not finite".into()),
                expected: "finite numbers".into(),
                ..Fault::default()
            };
            return Err(fault.into());
        }
        let rows = |what: &str, got: usize| {
            if got == n { Ok(()) } else { Err(Error::shape(what, got, format!("{n}, one per training row"))) }
        };
        if let Some(got) = self.targets.len() {
            rows("targets", got)?;
        }
        if let Some(gram) = self.gram {
            rows("rows of the kernel matrix", gram.len())?;
        }
        if let Some(weights) = self.weights {
            rows("row weights", weights.len())?;
            if let Some(i) = weights.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
                let name = format!("weight of row {}", i + 1);
                return Err(Error::param(name, weights[i], "finite and not negative"));
            }
        }
        Ok(())
    }

    /// The weight of a row.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;

    #[test]
    fn what_does_not_fit_is_refused() {
        let points = Points::dense(vec![1.0, 2.0, 3.0], 1).expect("whole rows");
        let targets = Targets::Classes(Labels::new(["a", "b", "a"]));
        let sample = Sample::new(&points, &targets);
        assert!(sample.check().is_ok());
        assert!(sample.weighted(&[1.0, 0.0, 2.0]).check().is_ok());
        assert!(sample.weighted(&[1.0, 0.0]).check().is_err());
        let e = sample.weighted(&[1.0, -1.0, 1.0]).check().expect_err("negative");
        assert_eq!(e.to_string(), "weight of row 2 = -1: must be finite and not negative");
        let short = Targets::Reals(vec![0.0; 2]);
        assert!(Sample::new(&points, &short).check().is_err());
        let bad = Points::dense(vec![1.0, f64::NAN, 3.0], 1).expect("whole rows");
        assert!(Sample::new(&bad, &targets).check().is_err());
    }
}
