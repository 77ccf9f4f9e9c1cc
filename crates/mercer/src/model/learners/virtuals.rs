//! Virtual support vectors: prior knowledge by retraining on transformed support vectors (Schoelkopf 1997, section
//! 4.2.1).
//!
//! A machine's solution depends on its support vectors alone, so it suffices to transform those:
//!
//! ```text
//! train;   S = support vectors;   retrain on  S + { L x : x in S, L in the set };   repeat if requested
//! ```
//!
//! This module makes the rows of each run; the learner trains on them.

use std::collections::HashSet;

use super::Declared;
use super::given::Given;
use crate::data::{Data, Points, Targets, Transformations};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::is_precomputed;
use crate::model::Sample;
use crate::watch::{Info, Step, Watch};

/// The rows of a run, and their origin.
pub(super) struct Run {
    pub(super) points: Points,
    pub(super) targets: Targets,
    weights: Option<Vec<f64>>,
    /// The training row from which each is derived.
    origin: Vec<u32>,
}

/// The start of a fit with virtual vectors. The default kernel width is that of the original data.
pub(super) fn begun<'a>(
    params: &dyn Declared,
    set: &Transformations,
    sample: Sample<'a>,
    exec: Exec,
) -> Result<Given<'a>> {
    let given = Given::new(params, sample, exec)?;
    if is_precomputed(&given.kernel) {
        let why = "virtual vectors need points: there is nothing to transform under a precomputed kernel";
        return Err(Error::Unsupported(why.into()));
    }
    set.check_points(sample.points.view())?;
    Ok(given)
}

/// A note if the fit stops before a round: it was cancelled already, or the watcher cancels here.
pub(super) fn stopped(cancelled: bool, round: u32, rounds: u32, watch: &mut Watch<'_>) -> Option<String> {
    let step = Step::new("virtual support vectors", u64::from(round), Some(u64::from(rounds)));
    let stops = cancelled || watch(&step).is_break();
    stops.then(|| format!("stopped before run {} on virtual vectors", round + 1))
}

/// The transformations stored in a model. Custom ones are not stored; the model does not need them.
pub(super) fn kept(set: &Transformations, info: &mut Info) -> Transformations {
    if set.all_of_images() {
        return set.clone();
    }
    info.note(format!("trained with `{set}`, which the model does not keep"));
    Transformations::default()
}

impl Run {
    /// The first run: on the sample's rows.
    pub(super) fn first(sample: &Sample<'_>, targets: Targets) -> Self {
        Run {
            points: sample.points.clone(),
            targets,
            weights: sample.weights.map(<[f64]>::to_vec),
            origin: (0..sample.points.len() as u32).collect(),
        }
    }

    /// Its rows to train on.
    pub(super) fn sample(&self) -> Sample<'_> {
        Sample { weights: self.weights.as_deref(), ..Sample::new(&self.points, &self.targets) }
    }

    /// The run on some of its rows and their transformations, with the row that each is derived from.
    pub(super) fn next(
        &self,
        held: &[usize],
        set: &Transformations,
        exec: Exec,
    ) -> Result<(Self, Vec<usize>)> {
        let (points, source) = unlike(&self.points.gather(held), set, exec)?;
        let from: Vec<usize> = source.iter().map(|&p| held[p]).collect();
        let next = Run {
            points,
            targets: self.targets.gather(&from),
            weights: self.weights.as_ref().map(|w| from.iter().map(|&r| w[r]).collect()),
            origin: from.iter().map(|&r| self.origin[r]).collect(),
        };
        Ok((next, source))
    }

    /// A note on a run.
    pub(super) fn told(&self, held: usize, round: u32) -> String {
        let (n, run) = (self.points.len(), round + 1);
        format!("{held} support vectors and {} virtual examples: {n} rows in run {run}", n - held)
    }

    /// Translates its row numbers to those of the training rows.
    pub(super) fn named(&self, rows: &mut [u32]) {
        rows.iter_mut().for_each(|r| *r = self.origin[*r as usize]);
    }
}

/// Points and their transformations without duplicates, with the point that each is derived from.
fn unlike(points: &Points, set: &Transformations, exec: Exec) -> Result<(Points, Vec<usize>)> {
    let n = points.len();
    let all = points.concat(&set.apply(points.view(), exec)?)?;
    let mut seen = HashSet::with_capacity(all.len());
    // The vectors themselves are kept, even if two are equal.
    let mut new = |i: usize| bytes(&all, i).is_none_or(|key| seen.insert(key)) || i < n;
    let keep: Vec<usize> = (0..all.len()).filter(|&i| new(i)).collect();
    let source = keep.iter().map(|&i| i % n).collect();
    Ok((if keep.len() == all.len() { all } else { all.gather(&keep) }, source))
}

/// A row as its bits; `None` if it has no numbers.
fn bytes(points: &Points, i: usize) -> Option<Vec<u64>> {
    let view = points.view();
    let row = i * view.d..(i + 1) * view.d;
    match view.data {
        Data::F32(x) => Some(x[row].iter().map(|v| u64::from(v.to_bits())).collect()),
        Data::F64(x) => Some(x[row].iter().map(|v| v.to_bits()).collect()),
        _ => None,
    }
}
