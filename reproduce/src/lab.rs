//! What an experiment is run with: settings, a watcher, and the machines that several experiments train.

use std::ops::ControlFlow;
use std::path::PathBuf;

use mercer::data::Dataset;
use mercer::gram::Rows;
use mercer::kernel::Kernel;
use mercer::model::{Machine, OneClassParams, Sample, svc};
use mercer::watch::{Step, Stop, Watch};
use mercer::{Error, Exec, Result};
use mercer_report::html::Figure;

use crate::data;

/// How an experiment is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether the long version is wanted, on all the data the paper used.
    pub full: bool,
    /// Threads, memory, device.
    pub exec: Exec,
    /// The folder that has the data.
    pub folder: PathBuf,
    /// Only so many training rows, for tests of the experiments themselves; the papers' numbers are then left out.
    pub rows: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { full: false, exec: Exec::default(), folder: data::folder(), rows: None }
    }
}

/// Settings and a watcher.
pub struct Lab<'a> {
    /// How it is run.
    pub settings: Settings,
    watch: &'a mut Watch<'a>,
    step: Step,
    figures: Vec<Figure>,
}

impl std::fmt::Debug for Lab<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lab").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl<'a> Lab<'a> {
    /// A place to run experiments in.
    pub fn new(settings: Settings, watch: &'a mut Watch<'a>) -> Self {
        Lab { settings, watch, step: Step::default(), figures: Vec::new() }
    }

    /// Threads.
    pub(crate) fn exec(&self) -> Exec {
        self.settings.exec
    }

    /// Says what comes next; fails if the watcher wants no more.
    pub(crate) fn step(&mut self, phase: impl Into<String>, done: usize, total: usize) -> Result<()> {
        self.step = Step::new(phase, done as u64, Some(total as u64));
        match (self.watch)(&self.step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Cancelled),
        }
    }

    /// Keeps a picture for the page of the experiment.
    pub(crate) fn draw(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// The pictures drawn so far.
    pub(crate) fn figures(&mut self) -> Vec<Figure> {
        std::mem::take(&mut self.figures)
    }

    /// The paper's number, unless the run is on a part of the data.
    pub(crate) fn paper(&self, number: f64) -> Option<f64> {
        self.settings.rows.is_none().then_some(number)
    }

    /// One machine a class against the rest, or one machine for two classes.
    pub(crate) fn classifier(&mut self, kernel: Kernel, c: f64, data: &Dataset) -> Result<Machine> {
        self.machines(&svc::SvcParams { kernel: Some(kernel), c, ..svc::SvcParams::default() }, data)
    }

    /// The same, with more to say.
    pub(crate) fn machines(&mut self, params: &svc::SvcParams, data: &Dataset) -> Result<Machine> {
        self.fitted(params, Sample::new(&data.points, &data.targets))
    }

    /// One machine a class on kernel values that are at hand.
    pub(crate) fn on_gram(
        &mut self,
        kernel: Kernel,
        c: f64,
        data: &Dataset,
        gram: &dyn Rows,
    ) -> Result<Machine> {
        let params = svc::SvcParams { kernel: Some(kernel), c, ..svc::SvcParams::default() };
        self.fitted(&params, Sample::new(&data.points, &data.targets).with_gram(gram))
    }

    fn fitted(&mut self, params: &svc::SvcParams, sample: Sample<'_>) -> Result<Machine> {
        let params = svc::SvcParams { multi: svc::Multi::OneVsRest, ..params.clone() };
        let (exec, step) = (self.settings.exec, self.step.clone());
        let watch = &mut *self.watch;
        let model = params.fit(sample, exec, &mut |_| watch(&step))?;
        if model.info.stop == Stop::Cancelled { Err(Error::Cancelled) } else { Ok(model) }
    }

    /// Work that is watched; it says what the last step said, and can be broken off.
    pub(crate) fn watched<T>(&mut self, work: impl FnOnce(&mut Watch<'_>) -> Result<T>) -> Result<T> {
        let step = self.step.clone();
        let watch = &mut *self.watch;
        let mut broken = false;
        let done = work(&mut |_| {
            let flow = watch(&step);
            broken |= flow.is_break();
            flow
        });
        if broken { Err(Error::Cancelled) } else { done }
    }

    /// A one-class machine.
    pub(crate) fn novelty(&mut self, kernel: Kernel, nu: f64, data: &Dataset) -> Result<Machine> {
        let params =
            OneClassParams { kernel: Some(kernel), nu, tol: NOVELTY_TOL, ..OneClassParams::default() };
        let (exec, step) = (self.settings.exec, self.step.clone());
        let watch = &mut *self.watch;
        let model = params.fit(Sample::new(&data.points, &data.targets), exec, &mut |_| watch(&step))?;
        if model.info.stop == Stop::Cancelled { Err(Error::Cancelled) } else { Ok(model) }
    }
}

/// How exactly one-class machines are solved: a row is an outlier only if its output is below zero by more than this.
pub(crate) const NOVELTY_TOL: f64 = 1e-4;
