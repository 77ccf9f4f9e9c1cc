//! A watcher that is asked between the passes of a fit by the solver, and within long passes by the rows.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::watch::{Step, Watch};

/// Multiply-adds of a pass after which the watcher is asked again: a fraction of a second.
pub(super) const WORK: usize = 1 << 33;

/// A watcher with the step that it was told last.
pub(crate) struct Polled<'w, 'a> {
    inner: Mutex<(&'w mut Watch<'a>, Step)>,
    closed: AtomicBool,
}

impl<'w, 'a> Polled<'w, 'a> {
    pub(crate) fn new(watch: &'w mut Watch<'a>) -> Self {
        Polled { inner: Mutex::new((watch, Step::new("solve", 0, None))), closed: AtomicBool::new(false) }
    }

    /// Tells the watcher about a step. Once it has cancelled, it is not asked again within passes: what the solver still computes
    /// then is the model so far.
    pub(crate) fn tell(&self, step: &Step) -> ControlFlow<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.1 = step.clone();
        let told = (inner.0)(step);
        self.closed.fetch_or(told.is_break(), Ordering::Relaxed);
        told
    }

    /// Whether the watcher cancels within a pass.
    pub(crate) fn cancels(&self) -> bool {
        if self.closed.load(Ordering::Relaxed) {
            return false;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (watch, step) = &mut *inner;
        let cancels = watch(step).is_break();
        self.closed.fetch_or(cancels, Ordering::Relaxed);
        cancels
    }
}
