//! Machines trained in parallel: their common watcher and combined statistics.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::checkpoint::Fitted;
use super::desk::Desk;
use crate::watch::{Info, Note, Step, Stop, Watch};

/// One watcher for machines that are trained in parallel.
pub(super) struct Crowd<'a, 'w> {
    watch: Mutex<&'a mut Watch<'w>>,
    stop: AtomicBool,
    done: AtomicUsize,
    total: usize,
    /// Where machines store their state, if checkpoints are kept.
    pub(super) desk: Option<Desk<'a>>,
}

impl<'a, 'w> Crowd<'a, 'w> {
    pub(super) fn new(watch: &'a mut Watch<'w>, total: usize, desk: Option<Desk<'a>>) -> Self {
        Crowd {
            watch: Mutex::new(watch),
            stop: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            total,
            desk,
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn finished(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The watcher of machines that are solved together.
    pub(super) fn whole(&self) -> impl FnMut(&Step) -> ControlFlow<()> + Send {
        move |step| {
            let Ok(mut watch) = self.watch.lock() else { return ControlFlow::Break(()) };
            let flow = watch(step);
            if flow.is_break() {
                self.stop.store(true, Ordering::Relaxed);
            }
            flow
        }
    }

    /// The watcher of machine m. A cancellation cancels all machines.
    pub(super) fn watcher(&self, m: usize) -> impl FnMut(&Step) -> ControlFlow<()> + Send {
        move |step| {
            if self.stopped() {
                return ControlFlow::Break(());
            }
            let mut step = step.clone();
            if self.total > 1 {
                step.phase = format!("machine {} of {}", m + 1, self.total);
                (step.done, step.total) = (self.done.load(Ordering::Relaxed) as u64, Some(self.total as u64));
            }
            let Ok(mut watch) = self.watch.lock() else { return ControlFlow::Break(()) };
            let flow = watch(&step);
            if flow.is_break() {
                self.stop.store(true, Ordering::Relaxed);
            }
            flow
        }
    }
}

/// The combined statistics of a fit's machines.
pub(super) fn total(fitted: &[Fitted], notes: Vec<Note>, clock: Instant) -> Info {
    let mut info = Info { notes, ..Info::default() };
    let (mut objective, mut of_machines) = (0.0, Vec::new());
    for f in fitted {
        info.iterations += f.info.iterations;
        info.kernel_values += f.info.kernel_values;
        info.gap = info.gap.max(f.info.gap);
        objective += f.info.objective.unwrap_or(0.0);
        info.stop = match (info.stop, f.info.stop) {
            (Stop::Cancelled, _) | (_, Stop::Cancelled) => Stop::Cancelled,
            (Stop::Limit, _) | (_, Stop::Limit) => Stop::Limit,
            _ => Stop::Converged,
        };
        info.device = info.device.or_else(|| f.info.device.clone());
        of_machines.extend(f.info.notes.iter().cloned());
    }
    info.notes.extend(alike(of_machines));
    info.objective = Some(objective);
    info.seconds = clock.elapsed().as_secs_f64();
    info
}

/// Merges notes that differ only in numbers into the first one, with their count.
fn alike(notes: Vec<Note>) -> Vec<Note> {
    let shape = |note: &str| note.split(|c: char| c.is_ascii_digit()).collect::<String>();
    let mut kept: Vec<(String, Note, usize)> = Vec::new();
    for note in notes {
        let shape = shape(&note);
        match kept.iter_mut().find(|(other, ..)| *other == shape) {
            Some((.., count)) => *count += 1,
            None => kept.push((shape, note, 1)),
        }
    }
    let line = |(_, note, count): (String, Note, usize)| match count {
        1 => note,
        _ => Note { text: format!("{note} ({count} machines alike)"), ..note },
    };
    kept.into_iter().map(line).collect()
}
