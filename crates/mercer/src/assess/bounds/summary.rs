//! All bounds and estimates of a fitted model that need no retraining.

use serde::Serialize;

use super::alignment::{Alignment, alignment};
use super::eigen_capacity::{self, EigenCapacity, eigen_capacity, gram_eigenvalues};
use super::least_squares::{LeaveOneOut, ridge_leave_one_out};
use super::radius_margin::{RadiusMargin, radius_margin};
use super::span::{Span, span};
use super::support::{SupportCount, support_count};
use super::trained::TrainedMachine;
use super::vc::{VcBound, vc_bound};
use crate::data::{Dataset, Labels, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::KernelRows;
use crate::model::{Learner, Model, RidgeParams, Role, Sample};
use crate::watch::Watch;

/// Bounds and estimates of a model on its training data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bounds {
    /// Number of rows.
    pub rows: usize,
    /// Each machine of a classifier.
    pub machines: Vec<MachineBounds>,
    /// For ridge regression and least-squares machines: leave-one-out predictions.
    pub leave_one_out: Option<LeaveOneOut>,
    /// Alignment of the kernel with the targets.
    pub alignment: Alignment,
}

/// Bounds of one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineBounds {
    /// The classes it separates.
    pub name: String,
    /// Number of rows it was trained on.
    pub rows: usize,
    /// Number of misclassified training rows.
    pub training_errors: usize,
    /// The span estimate.
    pub span: Span,
    /// The number of support vectors.
    pub support: SupportCount,
    /// Radius and margin.
    pub radius_margin: RadiusMargin,
    /// The risk bound for that capacity.
    pub vc: VcBound,
    /// Capacity from the eigenvalues, unless there are too many rows.
    pub eigen: Option<EigenCapacity>,
}

impl Bounds {
    /// Computes all bounds of a classifier, ridge regression or least-squares machine on its training data. The risk
    /// bound holds with a probability of at least 1 - `eta`.
    ///
    /// ```
    /// use mercer::assess::bounds::Bounds;
    /// use mercer::data::{Dataset, toy};
    /// use mercer::model::{Plan, Wishes};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(100, 1);
    /// let data = Dataset::new(points, targets)?;
    /// let model = Plan::new(&data, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
    /// let bounds = Bounds::of(&model, &data, 0.05, Exec::one(), &mut watch::silent())?;
    /// let machine = &bounds.machines[0];
    /// assert!(machine.span.rate <= machine.support.rate);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn of(model: &Model, data: &Dataset, eta: f64, exec: Exec, watch: &mut Watch<'_>) -> Result<Self> {
        let points = model.stages.apply(data.points.view(), exec)?;
        let kernel = model.machine.expansion.kernel();
        let sample = Sample::new(&points, &data.targets);
        let m = &model.machine;
        let (machines, leave_one_out) = match &m.learner {
            Learner::Svc(_) if model.layers.is_empty() => {
                let trained = TrainedMachine::all(m, sample, exec, watch)?;
                let one = |(o, machine): (usize, &TrainedMachine<'_>)| {
                    MachineBounds::of(m.output_name(o), machine, eta, exec, watch)
                };
                (trained.iter().enumerate().map(one).collect::<Result<_>>()?, None)
            }
            Learner::Ridge(params) if model.layers.is_empty() => {
                let targets = match (&data.targets, &m.role) {
                    (Targets::Classes(labels), Role::Classes(names)) => {
                        Targets::Classes(in_order(labels, names)?)
                    }
                    (other, _) => other.clone(),
                };
                let sample = Sample { targets: &targets, ..sample };
                let params = RidgeParams { kernel: Some(kernel.clone()), ..params.clone() };
                (Vec::new(), Some(ridge_leave_one_out(&params, sample, exec)?))
            }
            _ => {
                let why = "bounds are known for support vector classifiers, ridge regression and least-squares machines";
                return Err(Error::Unsupported(why.into()));
            }
        };
        let rows = KernelRows::new(kernel, &points, exec)?;
        Ok(Bounds {
            rows: data.len(),
            machines,
            leave_one_out,
            alignment: alignment(&rows, &data.targets, exec)?,
        })
    }
}

impl MachineBounds {
    /// All bounds of one machine.
    pub fn of(
        name: String,
        machine: &TrainedMachine<'_>,
        eta: f64,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        let radius_margin = radius_margin(machine, exec, watch)?;
        let eigen = if machine.len() <= eigen_capacity::MOST {
            let values = machine.on_rows(exec, |rows| gram_eigenvalues(rows, exec))?;
            Some(eigen_capacity(&values, machine.len(), radius_margin.norm2.sqrt(), 1.0)?)
        } else {
            None
        };
        Ok(MachineBounds {
            name,
            rows: machine.len(),
            training_errors: machine.training_errors(),
            span: span(machine, exec)?,
            support: support_count(machine),
            vc: vc_bound(radius_margin.capacity, machine.len(), machine.training_error(), eta)?,
            radius_margin,
            eigen,
        })
    }
}

/// The same labels, with classes in the order of a list of names.
fn in_order(labels: &Labels, names: &[String]) -> Result<Labels> {
    let place = |class: u32| {
        let name = &labels.names[class as usize];
        let known = names.iter().position(|n| n == name);
        known
            .map(|p| p as u32)
            .ok_or_else(|| Error::param("class", name, format!("one of the model's, {}", names.join(", "))))
    };
    let of_row = labels.of_row.iter().map(|&c| place(c)).collect::<Result<_>>()?;
    Ok(Labels { names: names.to_vec(), of_row })
}
