//! Checkpoints during a fit, so that a killed program loses seconds and not hours.
//!
//! A solver offers its variables at each step; the learner makes a model of them when the [`Keeper`] says that one is
//! due. Without a keeper there is no overhead. A checkpoint is a model as if the fit were cancelled there, and
//! [`Plan::resume`] continues from it. Checkpoints do not affect the result of the fit.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::exec::Exec;
use crate::model::{Machine, Model, Plan};
use crate::watch::Watch;

/// Checkpoints may take one part in this many of the time.
const SHARE: u32 = 20;

/// Receives checkpoints of a fit.
pub trait Keeper: Sync {
    /// Minimum time between checkpoints.
    fn every(&self) -> Duration;

    /// Whether the next checkpoint is due.
    fn is_due(&self) -> bool;

    /// Receives a checkpoint.
    fn take(&self, machine: Machine);
}

/// The keeper of a plan's fit.
struct Kept<'a> {
    plan: &'a Plan<'a>,
    every: Duration,
    due: Mutex<Instant>,
    keep: &'a (dyn Fn(&Model) + Sync),
}

impl Keeper for Kept<'_> {
    fn every(&self) -> Duration {
        self.every
    }

    fn is_due(&self) -> bool {
        // If it is locked, another checkpoint is being written.
        self.due.try_lock().is_ok_and(|due| Instant::now() >= *due)
    }

    fn take(&self, machine: Machine) {
        let Ok(mut due) = self.due.lock() else { return };
        let start = Instant::now();
        if let Ok(model) = self.plan.model(machine) {
            (self.keep)(&model);
        }
        *due = Instant::now() + self.every.max(SHARE * start.elapsed());
    }
}

impl Plan<'_> {
    /// Fits as [`Plan::fit`] does, or goes on from a model as [`Plan::resume`] does, and passes checkpoints to the
    /// keeper. Learners whose fits cannot be resumed are fitted without checkpoints.
    pub fn fit_kept(
        &self,
        from: Option<&Model>,
        every: Duration,
        keep: &(dyn Fn(&Model) + Sync),
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Model> {
        let kept = Kept { plan: self, every, due: Mutex::new(Instant::now() + every), keep };
        let resumable = self.learner.resumes() && !self.is_layered();
        let sample = if resumable { self.sample().kept_by(&kept) } else { self.sample() };
        self.model(match from {
            Some(from) => self.learner.resume(sample, &from.machine, exec, watch)?,
            None => self.learner.fit(sample, exec, watch)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::{Data, Dataset, Points, Targets, toy};
    use crate::model::{Learner, Wishes};
    use crate::watch::{Stop, silent};

    /// Rows that take many iterations: clashing labels under a narrow kernel.
    fn data(kind: &str) -> Dataset {
        let (points, _) = toy::banana(240, 3);
        let Data::F64(x) = points.view().data else { panic!("toys are of f64") };
        let level = |i: usize| x[2 * i].sin() + f64::from(u8::from(i.is_multiple_of(3)));
        let targets = match kind {
            "two" => Targets::Classes(crate::data::Labels::new((0..240).map(|i| ["a", "b"][i * i % 7 % 2]))),
            "three" => {
                Targets::Classes(crate::data::Labels::new((0..240).map(|i| ["a", "b", "c"][i * i % 7 % 3])))
            }
            "reals" => Targets::Reals((0..240).map(level).collect()),
            _ => Targets::None,
        };
        let points = Points::dense(x.to_vec(), 2).expect("whole rows");
        Dataset::new(points, targets).expect("as many targets")
    }

    #[test]
    fn what_is_kept_goes_on_to_the_same_end_and_keeping_changes_nothing() {
        let cases = [
            ("svc", "two", json!({ "c": 1e4 })),
            ("svc", "three", json!({ "c": 1e3 })),
            ("svc", "three", json!({ "c": 1e3, "multi": "one_vs_rest" })),
            ("svc", "two", json!({ "c": 100.0, "probability": true })),
            ("svc", "two", json!({ "c": 100.0, "slack": "squared" })),
            ("nu-svc", "two", json!({ "nu": 0.3 })),
            ("hard-margin", "two", json!({})),
            ("svr", "reals", json!({ "c": 1e3, "epsilon": 0.01 })),
            ("nu-svr", "reals", json!({ "c": 1e3 })),
            ("huber", "reals", json!({ "c": 1e3 })),
            ("laplace", "reals", json!({ "c": 1e2 })),
            ("one-class", "none", json!({ "nu": 0.3 })),
            ("sphere", "none", json!({ "nu": 0.3 })),
        ];
        for (learner, kind, params) in cases {
            let name = format!("{learner} {kind} {params}");
            let data = data(kind);
            let entry = Learner::find(learner).expect(&name);
            let table = entry.learner();
            let known = |key: &str| table.table().iter().map(|spec| spec.name).find(|name| *name == key);
            let params = params.as_object().expect("a map").iter();
            let mut params: Vec<_> = params.map(|(k, v)| (known(k).expect(&name), v.clone())).collect();
            params.push(("tol", json!(1e-6)));
            let wishes =
                Wishes { learner: Some(learner.into()), gamma: Some(20.0), params, ..Wishes::default() };
            let plan = Plan::new(&data, &wishes, Exec::one()).expect(&name);
            let kept = Mutex::new(Vec::new());
            let keep =
                |model: &Model| kept.lock().expect("one thread").push(model.to_bytes().expect("plain"));
            let with = plan.fit_kept(None, Duration::ZERO, &keep, Exec::one(), &mut silent()).expect(&name);
            let without = plan.fit(Exec::one(), &mut silent()).expect(&name);
            let at = |model: &Model| model.decision(data.points.view(), Exec::one()).expect("its own rows");
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(at(&with)), bits(at(&without)), "{name}");
            let kept = kept.into_inner().expect("one thread");
            assert!(!kept.is_empty(), "{name}: nothing was kept");
            for bytes in [&kept[0], &kept[kept.len() / 2], &kept[kept.len() - 1]] {
                let partial = Model::from_bytes("kept", bytes).expect(&name);
                assert_eq!(partial.info().stop, Stop::Cancelled, "{name}");
                let again = Plan::resuming(&partial, &data, Exec::one()).expect(&name);
                let done = again.resume(&partial, Exec::one(), &mut silent()).expect(&name);
                assert_eq!(done.info().stop, Stop::Converged, "{name}");
                for (a, b) in at(&done).iter().zip(at(&without)) {
                    assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs()), "{name}: {a} became {b}");
                }
            }
        }
    }
}
