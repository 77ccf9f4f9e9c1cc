//! Support vector classification.
//!
//! A machine for two classes is `f(x) = sum_i c_i k(x_i, x) + b`, the hyperplane in feature space that trades a large
//! margin against training errors; [`Kind`] says how errors are penalised, or that none are allowed. For several
//! classes there are several machines ([`Multi`]), all in one expansion with shared centres. f > 0 means the class
//! whose name comes second, or, one-vs-rest, the class itself.
//!
//! Cost of a machine on n rows with s support vectors: at least n s kernel values, at most n^2 / 2. The quadratic
//! problems and their papers are documented where they are posed (`machine.rs`, `hard_margin.rs`).
//!
//! ```
//! use mercer::data::{Labels, Points, Targets};
//! use mercer::model::{Sample, svc::SvcParams};
//! use mercer::{Exec, kernel::Kernel};
//!
//! let points = Points::dense(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1], 1)?;
//! let targets = Targets::Classes(Labels::new(["low", "low", "mid", "mid", "top", "top"]));
//! let params = SvcParams { kernel: Some(Kernel::Rbf { gamma: 2.0 }), c: 10.0, ..SvcParams::default() };
//! let model = params.fit(Sample::new(&points, &targets), Exec::one(), &mut mercer::watch::silent())?;
//! let probe = Points::dense(vec![-0.2, 1.05, 2.4], 1)?;
//! let labels = model.labels(probe.view(), Exec::one())?;
//! assert_eq!(labels.name_of(1), "mid");
//! # Ok::<(), mercer::Error>(())
//! ```

mod calibrate;
mod checkpoint;
mod crowd;
mod desk;

mod fit;
mod folds;
mod hard_margin;
mod linear;
mod machine;
mod params;
mod path;
mod probe;
mod share;
mod together;
mod vectors;
mod virtuals;

use std::time::Instant;

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Definiteness;
use crate::model::{self, Calibration, Learner, Machine, Part, Role, Sample, Sides, Sigmoid};
use crate::watch::{Note, Stop, Watch};

use checkpoint::Fitted;
pub use checkpoint::SvcCheckpoint;
use fit::Plan;
pub use folds::LeftOut;
pub use hard_margin::{Overlap, Separation};
pub(in crate::model) use linear::{collapsed, collapsed_with_dual};
pub use machine::Margin;
pub use params::{ClassWeights, Kind, Multi, Slack, SvcParams, Ties};
pub use path::SvcPath;
pub use vectors::PointRows;

impl SvcParams {
    /// Fits on the sample's points, class labels and weights.
    ///
    /// If the watcher cancels, the model is the current state of the fit, and [`Machine::checkpoint`] allows it to be
    /// resumed (except with virtual vectors).
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        self.fit_from(sample, None, exec, watch)
    }

    /// Resumes an interrupted fit of the same parameters on the same sample.
    pub fn resume(
        &self,
        sample: Sample<'_>,
        from: &SvcCheckpoint,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        self.fit_from(sample, Some(from), exec, watch)
    }

    /// Fits from the solution of another fit on the same rows; for another C its coefficients are scaled. The hard
    /// margin, and fits with virtual vectors, start from scratch.
    pub(in crate::model) fn fit_near(
        &self,
        sample: Sample<'_>,
        near: &Machine,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let params = self.hardened();
        let Learner::Svc(before) = &near.learner else { return self.fit(sample, exec, watch) };
        let alike =
            params.kind == before.kind && params.multi == before.multi && params.slack == before.slack;
        if !alike || params.kind == Kind::Hard || !self.virtual_vectors.is_empty() {
            return self.fit(sample, exec, watch);
        }
        let labels = fit::occurring(sample.targets.classes()?);
        let sides = model::machine::multiclass::machines(labels.names.len(), params.multi);
        let times = if params.kind == Kind::C { params.c / before.c } else { 1.0 };
        let start = SvcCheckpoint::near(near, &labels, &sides, times);
        self.fit_from(sample, start.as_ref(), exec, watch)
    }

    /// Whether the classes of each machine are separable without error under the kernel, with a certificate: the
    /// margin, or convex weights of a point common to the classes' hulls.
    pub fn separation(
        &self,
        sample: Sample<'_>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<(Sides, Separation)>> {
        let hard = SvcParams { kind: Kind::Hard, probability: false, ..self.clone() };
        let plan = Plan::new(&hard, sample, None, exec)?;
        let (fitted, _) = plan.train(watch)?;
        let certificate = |f: Fitted| match (f.margin, f.overlap) {
            (Some(margin), _) => Separation::Separable(margin),
            (None, Some(overlap)) => Separation::Overlap(overlap),
            (None, None) => Separation::Unknown,
        };
        Ok(plan.machines.iter().copied().zip(fitted.into_iter().map(certificate)).collect())
    }

    fn fit_from(
        &self,
        sample: Sample<'_>,
        from: Option<&SvcCheckpoint>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let params = self.hardened();
        if !self.virtual_vectors.is_empty() {
            // Such fits cannot be resumed, so no checkpoints are kept.
            return virtuals::fit(&params, Sample { keeper: None, ..sample }, exec, watch);
        }
        let clock = Instant::now();
        let plan = Plan::new(&params, sample, from, exec)?;
        let (fitted, notes) = plan.train(watch)?;
        finished(&plan, &fitted, notes, clock, exec)
    }
}

/// The model of trained machines.
fn finished(
    plan: &Plan<'_>,
    fitted: &[Fitted],
    mut notes: Vec<Note>,
    clock: Instant,
    exec: Exec,
) -> Result<Machine> {
    if let Some(overlap) = fitted.iter().find_map(|f| f.overlap.as_ref()) {
        return Err(Error::NotSeparable(overlap.to_string()));
    }
    if plan.kernel.definiteness() == Definiteness::Unknown && plan.params.shift == 0.0 {
        let text = "the kernel may not be positive definite, and no shift is set: the solution may be a local optimum";
        notes.push(Note::warning(text));
    }
    let (expansion, support) = assembled(plan, fitted)?;
    let full = expansion.len();
    let (expansion, dual) = collapsed_with_dual(expansion, exec)?;
    if expansion.len() < full {
        notes.push(
            format!("linear kernel: {full} support vectors collapsed to one weight vector per machine")
                .into(),
        );
    }
    notes.extend(calibration(plan, fitted).into_iter().map(Note::warning));
    let info = crowd::total(fitted, notes, clock);
    let parts = fitted.iter().map(|f| {
        let pick = |bounded: bool| {
            f.support.iter().zip(&f.bounded).filter(|(_, b)| **b == bounded).map(|(&r, _)| r).collect()
        };
        Part {
            rows: f.rows,
            free: pick(false),
            bounded: pick(true),
            objective: f.info.objective.unwrap_or(0.0),
            iterations: f.info.iterations,
            margin: f.margin,
        }
    });
    let checkpoint = (info.stop != Stop::Converged).then(|| {
        let (rows, sides) = (plan.labels.len(), plan.machines.clone());
        model::Checkpoint::Machines(SvcCheckpoint { rows, sides, machines: fitted.to_vec() })
    });
    let sigmoids: Option<Vec<Sigmoid>> = fitted.iter().map(|f| f.sigmoid).collect();
    let (role, learner) = (Role::Classes(plan.labels.names.clone()), Learner::Svc(plan.params.clone()));
    Ok(Machine {
        readout: plan.params.readout(plan.labels.names.len()),
        calibration: sigmoids.map_or(Calibration::None, Calibration::Sigmoids),
        parts: parts.collect(),
        support,
        dual,
        checkpoint,
        ..Machine::new(expansion, role, learner, info)
    })
}

/// Up to this number of machines, each has a note of its own.
const NAMED: usize = 10;

/// Notes on machines whose decision changes by calibration.
fn calibration(plan: &Plan<'_>, fitted: &[Fitted]) -> Vec<String> {
    let moved = fitted.iter().zip(&plan.machines).filter_map(|(f, s)| {
        let middle = f.sigmoid.and_then(|s| s.middle().filter(|_| s.a >= 0.0 || s.b != 0.0))?;
        Some((&plan.labels.names[s.positive as usize], middle))
    });
    let moved: Vec<(&String, f64)> = moved.collect();
    if moved.len() <= NAMED {
        let line = |(name, m): &(&String, f64)| {
            format!("calibration: {name} has probability 1/2 at output {m:.3}, not at 0")
        };
        return moved.iter().map(line).collect();
    }
    let low = moved.iter().map(|m| m.1).fold(f64::INFINITY, f64::min);
    let high = moved.iter().map(|m| m.1).fold(f64::NEG_INFINITY, f64::max);
    let (all, many) = (fitted.len(), moved.len());
    vec![format!(
        "calibration: {many} of {all} machines have probability 1/2 at outputs from {low:.3} to {high:.3}, not at 0"
    )]
}

/// All machines in one expansion, and the sample's rows that are its centres.
fn assembled(plan: &Plan<'_>, fitted: &[Fitted]) -> Result<(Expansion, Vec<u32>)> {
    let k = fitted.len();
    let mut place = vec![u32::MAX; plan.labels.len()];
    fitted.iter().flat_map(|f| &f.support).for_each(|&r| place[r as usize] = 0);
    let support: Vec<u32> = (0..place.len() as u32).filter(|&r| place[r as usize] == 0).collect();
    (0u32..).zip(&support).for_each(|(j, &r)| place[r as usize] = j);
    let mut coef = vec![0.0; support.len() * k];
    for (o, f) in fitted.iter().enumerate() {
        for (&r, &b) in f.support.iter().zip(&f.beta) {
            coef[place[r as usize] as usize * k + o] = b * f.scale;
        }
    }
    let chosen: Vec<usize> = support.iter().map(|&r| r as usize).collect();
    let centres = plan.sample.points.view().gather_on(&chosen, plan.exec);
    let offset = fitted.iter().map(|f| f.offset).collect();
    Ok((Expansion::new(plan.kernel.clone(), centres, coef, offset)?, support))
}
