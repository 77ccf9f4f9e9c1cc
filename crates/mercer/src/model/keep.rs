//! Checkpoints of a fit that is still running, so that a program that is killed loses seconds and not hours.
//!
//! A solver offers its variables at each step; the learner makes a model of them when the [`Keeper`] finds it is time.
//! A fit without a keeper does none of this. What is handed out is a model whose fit was broken off there: its outputs are
//! close to those of the fit so far, and [`Plan::resume`] goes on from it. The fit itself is not changed by a single bit.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::model::{Body, Learner, Model, Plan};
use crate::par::Par;
use crate::watch::Watch;

/// Keeping may take this share of the time: one part in so many.
const SHARE: u32 = 20;

/// What takes models of a fit that is still running.
pub trait Keeper: Sync {
    /// How often, at most.
    fn every(&self) -> Duration;

    /// Whether it is time for the next one.
    fn is_due(&self) -> bool;

    /// Takes one.
    fn take(&self, body: Body);
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
        // Who finds it locked comes while another machine is being kept.
        self.due.try_lock().is_ok_and(|due| Instant::now() >= *due)
    }

    fn take(&self, body: Body) {
        let Ok(mut due) = self.due.lock() else { return };
        let start = Instant::now();
        if let Ok(model) = self.plan.model(body) {
            (self.keep)(&model);
        }
        *due = Instant::now() + self.every.max(SHARE * start.elapsed());
    }
}

impl Plan<'_> {
    /// Fits as [`Plan::fit`] does, or goes on from a model as [`Plan::resume`] does, and hands out the model as it stands
    /// every so often: for learners whose fits can be resumed. Others are fitted all the same.
    pub fn fit_kept(
        &self,
        from: Option<&Model>,
        every: Duration,
        keep: &(dyn Fn(&Model) + Sync),
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Model> {
        let resumable = matches!(
            self.learner,
            Learner::Svc(_) | Learner::Svr(_) | Learner::OneClass(_) | Learner::Sphere(_)
        );
        let kept = Kept { plan: self, every, due: Mutex::new(Instant::now() + every), keep };
        let sample =
            if resumable && !self.is_layered() { self.sample().kept_by(&kept) } else { self.sample() };
        self.model(match from {
            Some(from) => self.learner.resume(sample, &from.body, par, watch)?,
            None => self.learner.fit(sample, par, watch)?,
        })
    }
}
