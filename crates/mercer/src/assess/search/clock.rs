//! Ends a search early: by its time limit, or by the watcher.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::watch::{Step, Watch};

/// The clock of a search, and whether it was cancelled.
pub(super) struct Clock {
    since: Instant,
    /// Time limit in seconds.
    limit: f64,
    /// Whether the watcher cancelled.
    pub(super) stopped: bool,
    /// Whether the time limit was reached.
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

    /// The time at which this fraction of the remaining time has passed.
    pub(super) fn after(&self, share: f64) -> f64 {
        self.now() + share * self.left().max(0.0)
    }

    /// The end of the time limit.
    pub(super) fn end(&self) -> f64 {
        self.limit
    }

    /// Works until a given time, with the phase's name before that of each step. Records why it ended.
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
