//! A training: the search for C, checkpoints on the way, and the model that is saved.

use std::path::{Path, PathBuf};

use mercer::assess::{Splits, Tuning, choose_large, cross_validate, quick, thorough, tune, usual_metric};
use mercer::data::Dataset;
use mercer::data::io::same_place;
use mercer::model::{Learner, Model, Plan, Task, Wishes};
use mercer::watch::{Step, Stop, Watch};
use mercer_report::{CrossValidated, Trained, trained_page};

use super::args::{Auto, OrAuto, Training};
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::progress::Progress;
use crate::saver::Saver;
use crate::{interrupt, model, source};

/// Default time limit of a search for C, in seconds.
const SEARCH: f64 = 60.0;

impl Training {
    pub(super) fn run(self, task: Option<Task>, context: &Context) -> Done {
        let out = self.place()?;
        if let Some(from) = &self.resume {
            return self.go_on(from, &out, task, context);
        }
        if let Some(partial) = model::partial(&out).filter(|partial| partial.exists() && !self.force) {
            let resumes = model::read(&partial, context.exec).is_ok_and(|model| model.machine.can_resume());
            let force = "--force starts over and replaces it";
            return Err(Failure::usage(
                format!("{} holds an unfinished training", partial.display()),
                if resumes {
                    format!("--resume {} continues it; {force}", partial.display())
                } else {
                    force.to_owned()
                },
            ));
        }
        let wishes = self.wishes(task, context)?;
        let implied = wishes.learner.as_deref().map(Learner::find).transpose()?.map(|entry| entry.tasks);
        let task = task.or(match implied {
            Some([only]) => Some(*only),
            _ => None,
        });
        if self.in_blocks(&out, task, &wishes, context)? {
            return Ok(());
        }
        let data = match &wishes.features {
            Some(model) => model.arrange(self.reading.read_for(&self.file, task, context.exec)?)?,
            None => self.reading.read_for(&self.file, task, context.exec)?,
        };
        let mut plan = Plan::new(&data, &wishes, context.exec)?;
        let stopped = self.choose(&mut plan, &wishes, context)?;
        // A search for C or kernels requires a machine that has them.
        if !self.exact && self.c.is_none() && self.auto != Auto::Good {
            plan.enlarge(&wishes)?;
        }
        self.choose_large(&mut plan, &wishes, context)?;
        if let Some(folds) = self.cross_validate {
            return self.validated(&plan, folds, context);
        }
        let saver = self.saver(&out, None);
        let (model, gaps) = watched(&plan, context, |watch| saver.fit(&plan, context, watch))?;
        self.finish((&data, None), &plan, &model, &gaps, &saver, context)?;
        if stopped { Err(Failure::search_interrupted()) } else { Ok(()) }
    }

    /// Where the model goes.
    fn place(&self) -> Result<PathBuf, Failure> {
        match (&self.out, &self.resume) {
            (Some(out), _) => Ok(out.clone()),
            (None, Some(from)) => Ok(model::whole(from)),
            (None, None) => model::file_for(&self.file),
        }
    }

    pub(super) fn files(&self) -> Result<Files, Failure> {
        let out = self.place()?;
        let files = Files::none().reads([&self.file]).reads(&self.features).reads(self.reading.files());
        let partial = model::partial(&out);
        // A resumed fit may be saved to the file it came from.
        let own = |from: &&PathBuf| {
            [Some(&out), partial.as_ref()].into_iter().flatten().any(|p| same_place(p, from))
        };
        let files = files.reads(self.resume.as_ref().filter(|from| !own(from)));
        Ok(files.writes([&out]).writes(&partial).writes(&self.report))
    }

    pub(super) fn saver<'a>(&self, out: &Path, from: Option<&'a Model>) -> Saver<'a> {
        Saver::new(out, from, self.save_every)
    }

    /// The score on folds, as LIBSVM's `-v` prints it.
    fn validated(&self, plan: &Plan<'_>, folds: usize, context: &Context) -> Done {
        let data = plan.data();
        let metric = usual_metric(&data.targets);
        let folds = Splits::Folds { folds, times: 1 }.folds(data, context.seed)?;
        let mut watch = Progress::new(context).watch();
        let score =
            cross_validate(data, &plan.recipes, &plan.learner, &folds, metric, context.exec, &mut watch)?;
        drop(watch);
        context.show(&CrossValidated::new(source::name(&self.file), plan, metric.name, score))
    }

    /// Chooses settings that are not given. Returns whether Ctrl-C ended it; the best found so far is trained then.
    pub(super) fn choose(
        &self,
        plan: &mut Plan<'_>,
        wishes: &Wishes,
        context: &Context,
    ) -> Result<bool, Failure> {
        if self.c == Some(OrAuto::Auto) {
            return self.search(plan, context);
        }
        let mut watch = Progress::new(context).keeping(self.auto == Auto::Good).watch();
        match self.auto {
            Auto::Off => Ok(false),
            Auto::Quick => {
                quick(plan, context.seed, context.exec, &mut watch)?;
                Ok(false)
            }
            Auto::Good => {
                let seconds = self.search_seconds.unwrap_or(SEARCH);
                let found = thorough(plan, wishes, seconds, context.exec, &mut watch)?;
                interrupt::again();
                Ok(found.stopped)
            }
        }
    }

    /// Chooses the width and lambda of a machine for large data that are not given.
    pub(super) fn choose_large(
        &self,
        plan: &mut Plan<'_>,
        wishes: &Wishes,
        context: &Context,
    ) -> Result<(), Failure> {
        if self.auto != Auto::Off {
            let mut watch = Progress::new(context).watch();
            choose_large(plan, wishes, context.seed, context.exec, &mut watch)?;
        }
        Ok(())
    }

    /// Lets cross-validation choose C and, unless it was given, the kernel. Whether Ctrl-C ended it: what was found so far
    /// is trained then.
    fn search(&self, plan: &mut Plan<'_>, context: &Context) -> Result<bool, Failure> {
        let kernels = match (self.kernel.as_deref(), self.gamma.and_then(OrAuto::value)) {
            (None | Some("auto"), None) => vec!["auto".to_owned()],
            (Some("rbf"), None) => vec!["rbf".to_owned()],
            // A whole kernel, or a width: only C is open.
            _ => plan.learner.kernel().map(ToString::to_string).into_iter().collect(),
        };
        let tuning = Tuning {
            kernels,
            two_stage: true,
            race: true,
            seed: context.seed,
            seconds: Some(self.search_seconds.unwrap_or(SEARCH)),
            ..Tuning::default()
        };
        let mut watch = Progress::new(context).keeping(true).watch();
        // A search begins where a training without one would be.
        if self.auto != Auto::Off {
            quick(plan, context.seed, context.exec, &mut watch)?;
        }
        let found = tune(plan, &tuning, context.exec, &mut watch)?;
        interrupt::again();
        Ok(found.stopped)
    }

    fn go_on(&self, from: &Path, out: &Path, task: Option<Task>, context: &Context) -> Done {
        let before = model::read(from, context.exec)?;
        if let Some(task) = task.filter(|&task| task != before.task()) {
            return Err(Failure::usage(
                format!("{} was trained to {}, not to {}", from.display(), before.task().verb(), task.verb()),
                "remove --task: the model defines it",
            ));
        }
        let data = self.reading.read_by(&self.file, &before, context.exec)?;
        let plan = Plan::resuming(&before, &data, context.exec)?;
        let saver = self.saver(out, Some(&before));
        let (model, gaps) = watched(&plan, context, |watch| saver.fit(&plan, context, watch))?;
        self.finish((&data, None), &plan, &model, &gaps, &saver, context)
    }

    /// Saves the model and reports it. Data that are a sample come with the number of rows they were drawn from.
    pub(super) fn finish(
        &self,
        (data, rows): (&Dataset, Option<usize>),
        plan: &Plan<'_>,
        model: &Model,
        gaps: &[(f64, f64)],
        saver: &Saver<'_>,
        context: &Context,
    ) -> Done {
        let stopped = model.info().stop == Stop::Cancelled;
        let resumed = |file: &Path| self.resume.as_ref().is_some_and(|from| same_place(from, file));
        let out = if stopped {
            model::place_of_interrupted(&saver.out, self.force || resumed(&saver.out))
        } else {
            saver.out.clone()
        };
        model.save(&out)?;
        // Checkpoints, and the model that was resumed, are superseded by the model.
        let over = |partial: &&PathBuf| **partial != out && (saver.saved() || resumed(partial));
        if let Some(partial) = saver.partial.as_ref().filter(over) {
            let _ = std::fs::remove_file(partial);
        }
        let mut trained =
            Trained::new(source::name(&self.file), data, plan, model, out.clone(), context.exec)?;
        trained.rows = rows.unwrap_or(trained.rows);
        context.tell(&trained)?;
        if let Some(file) = &self.report {
            let page = trained_page(&trained, model, data, gaps, context.exec)?;
            context.write_page(file, page, &[(&trained.source, data)])?;
        }
        if !stopped {
            return Ok(());
        }
        let kept =
            if out == saver.out { String::new() } else { format!("; {} is as it was", saver.out.display()) };
        Err(Failure::Interrupted {
            message: format!("interrupted: the partial model is in {}{kept}", out.display()),
            hint: model::after_interruption(model, &self.file, &out),
        })
    }
}

/// Runs a training under a bar that is gone afterwards; returns also the gap by the solver's steps, unless several machines
/// take turns or run side by side: their gaps are not one curve.
pub(super) fn watched(
    plan: &Plan<'_>,
    context: &Context,
    train: impl FnOnce(&mut Watch<'_>) -> mercer::Result<Model>,
) -> Result<(Model, Vec<(f64, f64)>), Failure> {
    let keeps = plan.learner.keeps_partial();
    let mut bar = Progress::new(context).until(tol_of(&plan.learner)).keeping(keeps).watch();
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    // Each machine counts its steps from 0.
    let (mut before, mut last) = (0, 0);
    let mut phase: Option<String> = None;
    let mut several = false;
    let model = train(&mut |step: &Step| {
        if let Some(gap) = step.gap.filter(|gap| gap.is_finite() && *gap > 0.0) {
            if step.done < last {
                before += last;
            }
            last = step.done;
            several |= phase.get_or_insert_with(|| step.phase.clone()) != &step.phase;
            gaps.push(((before + step.done) as f64, gap));
        }
        bar(step)
    })?;
    drop(bar);
    Ok((model, if several { Vec::new() } else { thinned(gaps) }))
}

/// Thins out the points to about a thousand, which look the same.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len() / 1000 + 1;
    points.into_iter().step_by(every).collect()
}

fn tol_of(learner: &Learner) -> f64 {
    learner.get("tol").and_then(|tol| tol.as_f64()).unwrap_or(1e-3)
}
