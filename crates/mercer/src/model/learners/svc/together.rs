//! All machines of a fit as one batch, on a device that keeps their rows.
//!
//! A device is fast only if it runs the whole loop, for many machines at once. So C-machines are posed together: one
//! set of rows on the device, parts of it for machines on two classes, one call of `solve`'s device interface.
//! Machines that a device declines are trained one by one on the CPU. Code shared by both cases is here too.

use super::calibrate;
use super::checkpoint::Fitted;
use super::crowd::Crowd;
use super::fit::Plan;
use super::machine::{self, Solved, Task};
use super::params::Kind;
use crate::error::Result;
use crate::gram::{KernelRows, Rows};
use crate::model::Sides;
use crate::solve::{self, Problem, solve_on_device};
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
        let indices = self.indices();
        let parts: Vec<Option<Box<dyn Rows + '_>>> = indices
            .iter()
            .map(|index| {
                let keep: Vec<u32> = index.iter().map(|&i| i as u32).collect();
                (keep.len() < rows.len()).then(|| rows.subset(&keep))
            })
            .collect();
        let sides: Vec<(Vec<bool>, Vec<f64>)> =
            self.machines.iter().zip(&indices).map(|(sides, index)| self.labelled(*sides, index)).collect();
        let tasks: Vec<Task<'_>> = (0..self.machines.len())
            .map(|m| Task {
                rows: parts[m].as_deref().unwrap_or(rows),
                vectors: None,
                positive: &sides[m].0,
                weight: &sides[m].1,
                names: self.names_of(self.machines[m]),
            })
            .collect();
        let mut problems: Vec<Problem<'_>> = Vec::with_capacity(tasks.len());
        for task in &tasks {
            task.class_weight()?;
            problems.push(task.problem(self.params));
        }
        let solver = self.params.solver(self.exec);
        let Some(found) = solve_on_device(&problems, &solver, &mut crowd.whole())? else {
            return Ok(None);
        };
        let fitted = found.into_iter().enumerate().map(|(m, solution)| {
            let solved = machine::soft(solution);
            self.finish(m, &tasks[m], &indices[m], &solved, &solver, &mut crowd.watcher(m), crowd)
        });
        fitted.collect::<Result<_>>().map(Some)
    }

    /// The rows of each machine, as indices of the sample.
    fn indices(&self) -> Vec<Vec<usize>> {
        if let Some(only) = &self.only {
            return only.clone();
        }
        let members = self.members();
        let of = |sides: &Sides| match sides.negative.filter(|_| self.machines.len() > 1) {
            Some(negative) => {
                [members[negative as usize].as_slice(), &members[sides.positive as usize]].concat()
            }
            None => (0..self.labels.len()).collect(),
        };
        self.machines.iter().map(of).collect()
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
