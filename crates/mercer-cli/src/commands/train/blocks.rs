//! Training on a file whose rows do not fit into memory: block by block, by the learner for large data.

use std::path::{Path, PathBuf};

use mercer::data::io::Outside;
use mercer::model::{Plan, Task, Wishes};
use mercer::watch::Note;
use mercer_report::bytes;

use super::args::{Auto, Training};
use super::run::watched;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::folder_of;
use crate::progress::Progress;
use crate::source;

/// Rows may take this part of the memory; the rest is for what is made of them.
pub(in crate::commands) const SHARE: u64 = 2;

impl Training {
    /// Whether rows may be read in blocks: the learner can, and nothing is requested that needs them all at once.
    fn takes_blocks(&self, wishes: &Wishes) -> bool {
        let large = if let Some(name) = &wishes.learner {
            name.starts_with("large")
        } else {
            let asked = wishes.params.iter().any(|(name, _)| *name != "seed");
            !self.exact && !asked && self.c.is_none() && self.auto != Auto::Good
        };
        // A pipe can be read only once.
        large && self.cross_validate.is_none() && wishes.features.is_none() && self.file.is_file()
    }

    /// Trains in blocks if the rows take more than their share of the memory; whether they do.
    pub(super) fn in_blocks(
        &self,
        out: &Path,
        task: Option<Task>,
        wishes: &Wishes,
        context: &Context,
    ) -> Result<bool, Failure> {
        let Some(options) = self.reading.options_for_blocks(task, context.exec) else { return Ok(false) };
        if !self.takes_blocks(wishes) {
            return Ok(false);
        }
        let most = context.exec.memory() / SHARE;
        let mut watch = Progress::new(context).watch();
        let found = Outside::open(&self.file, &options, most, context.exec, context.seed, &mut watch)?;
        drop(watch);
        let Some(outside) = found else { return Ok(false) };
        let mut plan = Plan::new(outside.sample(), wishes, context.exec)?;
        self.choose(&mut plan, wishes, context)?;
        // Few rows that are wide: an exact machine takes them, in memory.
        if wishes.learner.is_none() && !plan.enlarge_for(wishes, outside.rows())? {
            return Ok(false);
        }
        self.choose_large(&mut plan, wishes, context)?;
        self.train_in_blocks(out, &outside, &plan, context).map(|()| true)
    }

    fn train_in_blocks(&self, out: &Path, outside: &Outside, plan: &Plan<'_>, context: &Context) -> Done {
        let folder = self.scratch_for(out);
        let place = if outside.is_converted() {
            format!("; they are converted to a file without a name in {}", folder.display())
        } else {
            String::new()
        };
        context.warn(&[Note::warning(format!(
            "{}: {} rows would take {} of memory, more than half of --memory: they are read in blocks{place}",
            source::name(&self.file),
            outside.rows(),
            bytes(usize::try_from(outside.bytes()).unwrap_or(usize::MAX)),
        ))]);
        let mut watch = Progress::new(context).watch();
        let rows = outside.source(&plan.stages, &folder, context.exec, &mut watch)?;
        drop(watch);
        let saver = self.saver(out, None);
        let (model, gaps) =
            watched(plan, context, |watch| plan.fit_source(rows.as_ref(), context.exec, watch))?;
        self.finish((outside.sample(), Some(outside.rows())), plan, &model, &gaps, &saver, context)
    }

    /// Where rows are converted to: the folder asked for, or that of the model.
    fn scratch_for(&self, out: &Path) -> PathBuf {
        self.scratch.clone().unwrap_or_else(|| folder_of(out))
    }
}
