//! Where machines that run side by side leave their state for a checkpoint.

use std::sync::Mutex;
use std::time::Instant;

use super::checkpoint::Fitted;
use super::finished;
use super::fit::Plan;
use super::machine::{Solved, Task};
use crate::model::keep::Keeper;
use crate::solve::Solution;
use crate::watch::Stop;

/// The machines of a fit as they were last seen.
pub(super) struct Desk<'a> {
    keeper: &'a dyn Keeper,
    clock: Instant,
    machines: Mutex<Vec<Fitted>>,
}

impl<'a> Desk<'a> {
    /// A desk where all machines are as they were at the start.
    pub(super) fn new(keeper: &'a dyn Keeper, start: Vec<Fitted>) -> Self {
        Desk { keeper, clock: Instant::now(), machines: Mutex::new(start) }
    }

    /// Leaves a machine that is done.
    pub(super) fn put(&self, m: usize, fitted: Fitted) {
        if let Ok(mut machines) = self.machines.lock() {
            machines[m] = fitted;
        }
    }

    /// What machine m offers its state to while it is trained.
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
            // A checkpoint is a model like any other whose fit was broken off.
            if let Ok(model) = finished(plan, &machines, Vec::new(), self.clock, plan.exec)
                && model.info.stop == Stop::Cancelled
            {
                self.keeper.take(model);
            }
        }
    }
}
