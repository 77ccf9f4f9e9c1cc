//! Who ends a search early: the clock, or whoever watches it.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::watch::{Step, Watch};

/// The time of a search, and whether somebody asked it to stop.
pub(super) struct Clock {
    since: Instant,
    /// Seconds after which it ends.
    limit: f64,
    /// Whether the watcher broke off.
    pub(super) stopped: bool,
    /// Whether time ran out.
    pub(super) late: bool,
}

impl Clock {
    pub(super) fn new(seconds: Option<f64>) -> Result<Self> {
        let limit = seconds.unwrap_or(f64::INFINITY);
        if limit.is_nan() || limit <= 0.0 {
            return Err(Error::param("seconds", limit, "a number above 0"));
        }
        Ok(Clock { since: Instant::now(), limit, stopped: false, late: false })
    }

    pub(super) fn now(&self) -> f64 {
        self.since.elapsed().as_secs_f64()
    }

    pub(super) fn left(&self) -> f64 {
        self.limit - self.now()
    }

    /// The moment at which this share of the time left has gone.
    pub(super) fn after(&self, share: f64) -> f64 {
        self.now() + share * self.left().max(0.0)
    }

    /// The end of all.
    pub(super) fn end(&self) -> f64 {
        self.limit
    }

    /// Works until a moment, with the phase's words in front of each step's. Notes who broke off.
    pub(super) fn watched(
        &mut self,
        watch: &mut Watch<'_>,
        until: f64,
        words: &str,
        work: impl FnOnce(&mut Watch<'_>) -> Result<()>,
    ) -> Result<()> {
        let (mut stopped, since) = (false, self.since);
        let mut inside = |step: &Step| {
            let phase = format!("{words}{}", step.phase);
            stopped |= watch(&Step { phase, ..step.clone() }).is_break();
            let late = since.elapsed().as_secs_f64() >= until;
            if stopped || late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let done = work(&mut inside);
        self.stopped |= stopped;
        if matches!(done, Err(Error::Cancelled)) && !stopped {
            self.late |= until >= self.limit;
        }
        done
    }
}
