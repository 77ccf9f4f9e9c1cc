//! Collects the state of machines trained in parallel, for checkpoints.

use std::sync::Mutex;
use std::time::Instant;

use super::checkpoint::Fitted;
use super::finished;
use super::fit::Plan;
use super::machine::{Solved, Task};
use crate::model::keep::Keeper;
use crate::solve::Solution;
use crate::watch::Stop;

/// The machines of a fit in their last known state.
pub(super) struct Desk<'a> {
    keeper: &'a dyn Keeper,
    clock: Instant,
    machines: Mutex<Vec<Fitted>>,
}

impl<'a> Desk<'a> {
    /// A collection with all machines in their initial state.
    pub(super) fn new(keeper: &'a dyn Keeper, start: Vec<Fitted>) -> Self {
        Desk { keeper, clock: Instant::now(), machines: Mutex::new(start) }
    }

    /// Stores a completed machine.
    pub(super) fn put(&self, m: usize, fitted: Fitted) {
        if let Ok(mut machines) = self.machines.lock() {
            machines[m] = fitted;
        }
    }

    /// The `keep` function of machine m during training.
    pub(super) fn keep<'k>(
        &'k self,
        plan: &'k Plan<'_>,
        task: &'k Task<'_>,
        index: &'k [usize],
        m: usize,
    ) -> impl FnMut(&dyn Fn() -> Solution) + Send + 'k {
        let mut last = Instant::now();
        move |now| {
            if last.elapsed() < self.keeper.every() {
                return;
            }
            last = Instant::now();
            let solved = Solved::underway(plan.params, now());
            self.put(m, Fitted::new(plan.params, task, index, &solved));
            if !self.keeper.is_due() {
                return;
            }
            let Ok(machines) = self.machines.lock().map(|machines| machines.clone()) else { return };
            // A checkpoint is an ordinary model of a cancelled fit.
            if let Ok(model) = finished(plan, &machines, Vec::new(), self.clock, plan.exec)
                && model.info.stop == Stop::Cancelled
            {
                self.keeper.take(model);
            }
        }
    }
}
