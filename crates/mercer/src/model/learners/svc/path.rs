//! The regularisation path of a two-class classifier: all C between two values at the cost of a few fits.
//!
//! The problem and its papers are documented in `solve/path`. The model at a C is that of a fit with that C.

use std::time::Instant;

use super::checkpoint::Fitted;
use super::finished;
use super::fit::Plan;
use super::params::{Kind, Slack, SvcParams};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::{KernelRows, Rows};
use crate::model::Sample;
use crate::model::{Learner, Machine};
use crate::solve::{Path, PathParams, PathPoint, PathProblem, path};
use crate::watch::{Info, Stop, Watch};

/// A classifier for every C between two values.
pub struct SvcPath<'a> {
    plan: Plan<'a>,
    /// The sample's rows with a weight.
    index: Vec<u32>,
    path: Path,
    clock: Instant,
}

impl std::fmt::Debug for SvcPath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SvcPath").field("breakpoints", &self.path.breakpoints().len()).finish_non_exhaustive()
    }
}

impl SvcParams {
    /// Fits two classes for all C from `c_min` to `c_max` at once; `c` is ignored.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{Sample, svc::SvcParams};
    /// use mercer::{Exec, kernel::Kernel, watch};
    ///
    /// let (points, targets) = toy::banana(80, 1);
    /// let params = SvcParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), ..SvcParams::default() };
    /// let path = params.path(Sample::new(&points, &targets), [0.1, 10.0], Exec::one(), &mut watch::silent())?;
    /// assert!(path.breakpoints().len() > 10);
    /// let model = path.at(2.5, Exec::one())?;
    /// assert_eq!(model.svc().map(|p| p.c), Some(2.5));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn path<'a>(
        &'a self,
        sample: Sample<'a>,
        [c_min, c_max]: [f64; 2],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<SvcPath<'a>> {
        let clock = Instant::now();
        if self.kind != Kind::C
            || self.slack != Slack::Linear
            || !self.virtual_vectors.is_empty()
            || self.probability
        {
            let why =
                "a path over C is for kind c with linear slack, without probabilities and virtual vectors";
            return Err(Error::Unsupported(why.into()));
        }
        let plan = Plan::new(self, sample, None, exec)?;
        if plan.machines.len() != 1 {
            return Err(Error::shape("classes", plan.labels.names.len(), "2 for a path over C"));
        }
        let index: Vec<u32> = (0u32..).zip(&plan.weight).filter(|(_, w)| **w > 0.0).map(|(i, _)| i).collect();
        let positive = plan.machines[0].positive;
        let sign = |&i: &u32| if plan.labels.of_row[i as usize] == positive { 1.0 } else { -1.0 };
        let labels: Vec<f64> = index.iter().map(sign).collect();
        let weights: Vec<f64> = index.iter().map(|&i| plan.weight[i as usize]).collect();
        let rule = PathParams { c_min, c_max, exec, ..PathParams::default() };
        let mut walk = |rows: &dyn Rows| {
            let problem = PathProblem { rows, labels: &labels, weights: &weights, shift: self.shift };
            path(&problem, &rule, watch)
        };
        let all = index.len() == sample.points.len();
        let path = match sample.gram {
            Some(rows) if all => walk(rows)?,
            Some(rows) => walk(rows.subset(&index).as_ref())?,
            None => {
                let rows: Vec<usize> = index.iter().map(|&i| i as usize).collect();
                walk(&KernelRows::new(&plan.kernel, &sample.points.gather(&rows), exec)?)?
            }
        };
        if path.stop == Stop::Cancelled {
            return Err(Error::Cancelled);
        }
        Ok(SvcPath { plan, index, path, clock })
    }
}

impl SvcPath<'_> {
    /// The values of C where a row becomes or ceases to be a support vector, or reaches or leaves its bound, with
    /// both ends.
    pub fn breakpoints(&self) -> Vec<f64> {
        self.path.breakpoints()
    }

    /// The path as numbers: coefficients by index among the rows with a weight.
    pub fn numbers(&self) -> &Path {
        &self.path
    }

    /// The classifier at a C.
    pub fn at(&self, c: f64, exec: Exec) -> Result<Machine> {
        let PathPoint { beta, offset, bounded, .. } = self.path.at(c)?;
        let support: Vec<usize> = (0..beta.len()).filter(|&i| beta[i] != 0.0).collect();
        let fitted = Fitted {
            support: support.iter().map(|&i| self.index[i]).collect(),
            beta: support.iter().map(|&i| beta[i]).collect(),
            bounded: support.iter().map(|&i| bounded[i]).collect(),
            scale: 1.0,
            offset,
            margin: None,
            overlap: None,
            sigmoid: None,
            rows: self.index.len(),
            info: Info {
                gap: self.path.violation,
                iterations: self.breakpoints().len() as u64,
                ..Info::default()
            },
        };
        let note = format!("taken from a path over C with {} breakpoints", self.breakpoints().len());
        let mut model = finished(&self.plan, &[fitted], vec![note.into()], self.clock, exec)?;
        let params = SvcParams { c, ..self.plan.params.clone() };
        model.learner = Learner::Svc(params);
        Ok(model)
    }

    /// The C-classifier equivalent to the nu-machine with this nu.
    pub fn at_nu(&self, nu: f64, exec: Exec) -> Result<Machine> {
        self.at(self.path.c_of_nu(nu)?, exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::io::{ReadOptions, TargetKind, read};
    use crate::data::{Points, Targets, toy};
    use crate::kernel::Kernel;
    use crate::watch::silent;
    use mercer_testkit::assert;

    fn params(gamma: f64) -> SvcParams {
        SvcParams { kernel: Some(Kernel::Rbf { gamma }), tol: 1e-8, ..SvcParams::default() }
    }

    /// `|w|^2 / 2 - sum |beta|`, the quadratic form a fit minimises.
    fn objective(model: &Machine) -> f64 {
        let mass: f64 = model.expansion.coef().iter().map(|b| b.abs()).sum();
        model.expansion.norm2(Exec::one()).expect("points")[0] / 2.0 - mass
    }

    fn compared(points: &Points, targets: &Targets, params: &SvcParams, ends: [f64; 2]) {
        let sample = Sample::new(points, targets);
        let path = params.path(sample, ends, Exec::one(), &mut silent()).expect("a path");
        let breakpoints = path.breakpoints();
        let every = breakpoints.len() / 12;
        let some = breakpoints.windows(2).step_by(every).flat_map(|w| [w[0], f64::midpoint(w[0], w[1])]);
        for c in some {
            let (got, fit) = (path.at(c, Exec::one()).expect("on it"), SvcParams { c, ..params.clone() });
            let want = fit.fit(sample, Exec::one(), &mut silent()).expect("a fit");
            let (a, b) = (objective(&got), objective(&want));
            assert::close(a, b, 1e-6 * b.abs());
            // With no row on the margin the offset is free to some extent.
            let f = |m: &Machine| {
                let f = m.decision(points.view(), Exec::one()).expect("points");
                f.iter().map(|f| f - m.expansion.offset()[0]).collect::<Vec<f64>>()
            };
            assert::close_to_scale(&f(&got), &f(&want), 1e-4);
        }
    }

    #[test]
    fn models_on_the_path_are_those_of_a_fit() {
        let (points, targets) = toy::banana(150, 2);
        compared(&points, &targets, &params(1.0), [0.01, 100.0]);
        let balanced = SvcParams {
            class_weights: crate::model::svc::ClassWeights::Balanced,
            shift: 0.05,
            ..params(2.0)
        };
        let sample = Sample::new(&points, &targets);
        let path = balanced.path(sample, [0.1, 10.0], Exec::one(), &mut silent()).expect("a path");
        let want =
            SvcParams { c: 3.0, ..balanced.clone() }.fit(sample, Exec::one(), &mut silent()).expect("a fit");
        let got = path.at(3.0, Exec::one()).expect("on it");
        let f = |m: &Machine| m.decision(points.view(), Exec::one()).expect("points");
        assert::close_to_scale(&f(&got), &f(&want), 1e-4);
    }

    #[test]
    fn a_nu_machine_is_on_the_path() {
        let (points, targets) = toy::banana(100, 3);
        let sample = Sample::new(&points, &targets);
        let params = params(1.0);
        let path = params.path(sample, [0.01, 1000.0], Exec::one(), &mut silent()).expect("a path");
        let nu = SvcParams { kind: Kind::Nu, nu: 0.4, ..params.clone() };
        let want = nu.fit(sample, Exec::one(), &mut silent()).expect("a fit");
        let got = path.at_nu(0.4, Exec::one()).expect("on it");
        let f = |m: &Machine| m.decision(points.view(), Exec::one()).expect("points");
        assert::close_to_scale(&f(&got), &f(&want), 1e-4);
        assert!(nu.path(sample, [0.1, 1.0], Exec::one(), &mut silent()).is_err());
    }

    #[test]
    fn the_path_of_real_data() {
        let Some(folder) = std::env::var_os("MERCER_DATA") else { return };
        let file = std::path::Path::new(&folder).join("ida/heart.svm.xz");
        let options = ReadOptions { targets: TargetKind::Classes, ..ReadOptions::default() };
        let data = read(file, &options).expect("the heart data");
        let points = data.points.to_dense().expect("numbers");
        compared(&points, &data.targets, &params(0.05), [0.01, 100.0]);
        let linear =
            SvcParams { kernel: Some(Kernel::Poly { degree: 1, scale: 1.0, coef0: 0.0 }), ..params(1.0) };
        compared(&points, &data.targets, &linear, [0.001, 1.0]);
    }
}
