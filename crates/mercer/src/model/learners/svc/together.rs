//! All machines of a fit as one batch, on a device that keeps their rows.
//!
//! A device is fast only if it runs the whole loop, for many machines at once. So C-machines are posed together: one
//! set of rows on the device, parts of it for machines on two classes, one call of `solve`'s device interface.
//! Machines that a device declines are trained one by one on the CPU. Code shared by both cases is here too.

use std::sync::{Mutex, PoisonError};

use super::calibrate;
use super::checkpoint::Fitted;
use super::crowd::Crowd;
use super::fit::Plan;
use super::machine::{self, Solved, Task};
use super::params::Kind;
use crate::error::Result;
use crate::exec::side_by_side;
use crate::gram::{KernelRows, Rows};
use crate::model::Sides;
use crate::solve::{self, Solution, solve_on_device};
use crate::watch::{Info, Note, Stop, Watch};

impl Plan<'_> {
    /// The machines in order; `None` without a device, or if it keeps no rows or declines the batch.
    pub(super) fn together(&self, crowd: &Crowd<'_, '_>) -> Result<Option<Vec<Fitted>>> {
        let device = self.exec.device();
        // Resumed machines have different amounts of work left, so they are trained one by one.
        if device.is_cpu() || self.params.kind != Kind::C || self.start.is_some() {
            return Ok(None);
        }
        let own;
        let rows: &dyn Rows = if let Some(gram) = self.sample.gram {
            gram
        } else {
            own = KernelRows::new(&self.kernel, self.sample.points, self.exec)?;
            &own
        };
        if rows.owner().is_none_or(|owner| owner.device != device) {
            return Ok(None);
        }
        // Machines are posed and completed in parallel: on a device that is most of what is left to do here.
        let order: Vec<usize> = (0..self.machines.len()).collect();
        let workers = self.exec.threads().min(order.len());
        let members = self.members();
        let made = |(): &mut (), m: usize| {
            let index = self.index_of(m, &members);
            let keep: Vec<u32> = index.iter().map(|&i| i as u32).collect();
            let (positive, weight) = self.labelled(self.machines[m], &index);
            Ok((index, keep, positive, weight))
        };
        let made = side_by_side(workers, &order, || (), made)?;
        let parts: Vec<Option<Box<dyn Rows + '_>>> =
            made.iter().map(|(_, keep, ..)| (keep.len() < rows.len()).then(|| rows.subset(keep))).collect();
        let tasks: Vec<Task<'_>> = (0..made.len())
            .map(|m| Task {
                rows: parts[m].as_deref().unwrap_or(rows),
                vectors: None,
                positive: &made[m].2,
                weight: &made[m].3,
                names: self.names_of(self.machines[m]),
            })
            .collect();
        let posed = |(): &mut (), m: usize| {
            tasks[m].class_weight()?;
            Ok(tasks[m].problem(self.params))
        };
        let problems = side_by_side(workers, &order, || (), posed)?;
        let solver = self.params.solver(self.exec);
        let Some(found) = solve_on_device(&problems, &solver, &mut crowd.whole())? else {
            return Ok(None);
        };
        // Calibration trains more machines, which have the device one after another.
        let workers = if self.params.probability { 1 } else { workers };
        let found: Vec<Mutex<Option<Solution>>> = found.into_iter().map(|s| Mutex::new(Some(s))).collect();
        let done = |(): &mut (), m: usize| {
            let solution = found[m].lock().unwrap_or_else(PoisonError::into_inner).take();
            let solved = machine::soft(solution.expect("each is taken once"));
            self.finish(m, &tasks[m], &made[m].0, &solved, &solver, &mut crowd.watcher(m), crowd)
        };
        side_by_side(workers, &order, || (), done).map(Some)
    }

    /// The rows of a machine, as indices of the sample.
    fn index_of(&self, m: usize, members: &[Vec<usize>]) -> Vec<usize> {
        if let Some(only) = &self.only {
            return only[m].clone();
        }
        let sides = &self.machines[m];
        match sides.negative.filter(|_| self.machines.len() > 1) {
            Some(negative) => {
                [members[negative as usize].as_slice(), &members[sides.positive as usize]].concat()
            }
            None => (0..self.labels.len()).collect(),
        }
    }

    /// Which of a machine's rows belong to the positive class, and their weights.
    pub(super) fn labelled(&self, sides: Sides, index: &[usize]) -> (Vec<bool>, Vec<f64>) {
        let positive = index.iter().map(|&i| self.labels.of_row[i] == sides.positive).collect();
        (positive, index.iter().map(|&i| self.weight[i]).collect())
    }

    /// The names of a machine's classes: negative, positive.
    pub(super) fn names_of(&self, sides: Sides) -> [&str; 2] {
        let names = &self.labels.names;
        [sides.negative.map_or("the rest", |c| &names[c as usize]), &names[sides.positive as usize]]
    }

    /// Completes a solved machine: stores it for a checkpoint, calibrates it.
    #[expect(clippy::too_many_arguments, reason = "all that one machine of a crowd has")]
    pub(super) fn finish(
        &self,
        m: usize,
        task: &Task<'_>,
        index: &[usize],
        solved: &Solved,
        solver: &solve::Params,
        watch: &mut Watch<'_>,
        crowd: &Crowd<'_, '_>,
    ) -> Result<Fitted> {
        let mut fitted = Fitted::new(self.params, task, index, solved);
        if let Some(desk) = &crowd.desk {
            // A machine is not complete without its sigmoid.
            let stop = if self.params.probability { Stop::Cancelled } else { fitted.info.stop };
            desk.put(m, Fitted { info: Info { stop, ..fitted.info.clone() }, ..fitted.clone() });
        }
        if self.params.probability && fitted.info.stop != Stop::Cancelled {
            fitted.sigmoid = calibrate::sigmoid(self.params, task, solver, m, watch)?;
            if let Some(name) = task.lonely() {
                let text =
                    format!("calibration: class {name} has one row, so its probabilities are unreliable");
                fitted.info.note(Note::warning(text));
            }
            if fitted.sigmoid.is_none() {
                fitted.info.stop = Stop::Cancelled;
            }
            if let Some(desk) = &crowd.desk {
                desk.put(m, fitted.clone());
            }
        }
        crowd.finished();
        Ok(fitted)
    }
}
