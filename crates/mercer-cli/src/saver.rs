//! A training that writes checkpoints while it runs, so that a killed one can be resumed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mercer::model::{Model, Plan};
use mercer::watch::Watch;

use crate::context::Context;
use crate::failure::warn;
use crate::model;

/// Saves a training while it runs.
pub(crate) struct Saver<'a> {
    /// Where the model goes in the end.
    pub(crate) out: PathBuf,
    /// Where it is saved to.
    pub(crate) partial: Option<PathBuf>,
    /// What is gone on with.
    from: Option<&'a Model>,
    /// Seconds between two saves.
    every: f64,
    saved: AtomicBool,
    warned: AtomicBool,
}

impl<'a> Saver<'a> {
    /// A training that is to end in `out`, saved every so many seconds, from nothing or from a model.
    pub(crate) fn new(out: &Path, from: Option<&'a Model>, every: f64) -> Self {
        let partial = model::partial(out);
        Saver {
            out: out.to_owned(),
            partial,
            from,
            every,
            saved: AtomicBool::new(false),
            warned: AtomicBool::new(false),
        }
    }

    /// Trains, and saves on the way.
    pub(crate) fn fit(
        &self,
        plan: &Plan<'_>,
        context: &Context,
        watch: &mut Watch<'_>,
    ) -> mercer::Result<Model> {
        let every = Duration::try_from_secs_f64(self.every).unwrap_or(Duration::MAX);
        match (&self.partial, self.from) {
            (Some(partial), from) if !every.is_zero() => {
                // A save that fails costs no more than the safety it would have given: the training is worth more. But who
                // counts on checkpoints must hear that there are none, once.
                let keep = |model: &Model| match model.save(partial) {
                    Ok(()) => self.saved.store(true, Ordering::Relaxed),
                    Err(error) => {
                        if !self.warned.swap(true, Ordering::Relaxed) {
                            warn(&format!(
                                "cannot write a checkpoint: {error}; training continues without checkpoints"
                            ));
                        }
                    }
                };
                plan.fit_kept(from, every, &keep, context.exec, watch)
            }
            (_, Some(from)) => plan.resume(from, context.exec, watch),
            (_, None) => plan.fit(context.exec, watch),
        }
    }

    /// Whether there has been a save.
    pub(crate) fn saved(&self) -> bool {
        self.saved.load(Ordering::Relaxed)
    }
}
