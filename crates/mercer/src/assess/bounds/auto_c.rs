//! Selection of C by iterating on the risk bound (Schoelkopf 1997, section 2.6.2).
//!
//! A machine minimises `|w|^2 / (2 C) + sum xi`; the risk bound suggests minimising an error rate plus a term in `h =
//! c1 R^2 |w|^2`. With `sum xi = c2 errors`, both have the same gradient in w if
//!
//! ```text
//! C = sqrt( l (h (log(2 l / h) + 1) - log(eta / 4)) ) / (c1 c2 l R^2 log(2 l / h))
//! ```
//!
//! h and c2 are measured after training with some C, which gives the next C. Equation 2.52 as printed,
//!
//! ```text
//! C = sqrt( l (h log(2 l / h) - log(eta / 4)) ) / (c1 c2 l R^2 (log(2 l / h) - 1)),
//! ```
//!
//! omits the + 1 of the bound it is derived from and becomes negative for h > 2 l / e; it is kept for comparison with
//! the paper.

use serde::Serialize;

use super::trained::TrainedMachine;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::Rows;
use crate::model::Machine;
use crate::model::Sample;
use crate::model::svc::{Kind, Slack, SvcParams};
use crate::watch::Watch;

/// The equation for the next C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CRule {
    /// The equation that follows from the bound.
    #[default]
    Corrected,
    /// Equation 2.52 as printed in the paper.
    Printed,
}

/// Parameters of the iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoC {
    /// The factor c1 in `h <= c1 R^2 |w|^2`.
    pub c1: f64,
    /// The bound holds with a probability of at least 1 - eta.
    pub eta: f64,
    /// The first C: large enough that no training error is allowed.
    pub start: f64,
    /// Number of fits after the first.
    pub steps: usize,
    /// Relative change of C at which the iteration stops.
    pub tol: f64,
    /// The equation.
    pub rule: CRule,
    /// The ratio of `sum xi` to the number of errors; `None`: measured on each machine.
    pub c2: Option<f64>,
    /// Machines are trained with this multiple of the equation's C. 1 unless a published table is reproduced whose
    /// machines were trained in different units than its equation.
    pub unit: f64,
}

impl Default for AutoC {
    fn default() -> Self {
        AutoC {
            c1: 1.0,
            eta: 0.2,
            start: 1e10,
            steps: 5,
            tol: 0.0,
            rule: CRule::Corrected,
            c2: None,
            unit: 1.0,
        }
    }
}

/// One fit of the iteration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CStep {
    /// C.
    pub c: f64,
    /// `sum xi` per error, 1 where there are none; or the given value.
    pub c2: f64,
    /// Errors on the training rows.
    pub training_errors: usize,
    /// Support vectors.
    pub support: usize,
    /// |w|.
    pub norm: f64,
    /// c1 R^2 |w|^2.
    pub dimension: f64,
    /// C of the next fit; `None` where h is too large for the equation.
    pub next: Option<f64>,
}

/// The selected C with its iterations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenC {
    /// C of the last fit.
    pub c: f64,
    /// All fits.
    pub steps: Vec<CStep>,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

impl AutoC {
    /// The next C from a machine's statistics; `None` where the equation has no solution.
    ///
    /// ```
    /// use mercer::assess::bounds::{AutoC, CRule};
    /// let corrected = AutoC::default();
    /// let printed = AutoC { rule: CRule::Printed, ..AutoC::default() };
    /// // l = 1000, R^2 = 1, |w|^2 = 100, c2 = 1.
    /// assert!((corrected.next_c(1.0, 100.0, 1000, 1.0).unwrap() - 0.2118).abs() < 1e-4);
    /// assert!((printed.next_c(1.0, 100.0, 1000, 1.0).unwrap() - 0.2756).abs() < 1e-4);
    /// assert_eq!(printed.next_c(1.0, 800.0, 1000, 1.0), None);
    /// ```
    pub fn next_c(&self, radius2: f64, norm2: f64, rows: usize, c2: f64) -> Option<f64> {
        let l = rows as f64;
        let h = self.c1 * radius2 * norm2;
        let log = (2.0 * l / h).ln();
        let (above, below) = match self.rule {
            CRule::Corrected => (h * (log + 1.0), log),
            CRule::Printed => (h * log, log - 1.0),
        };
        let c = (l * (above - (self.eta / 4.0).ln())).sqrt() / (self.c1 * c2 * l * radius2 * below);
        (h > 0.0 && below > 0.0 && c.is_finite()).then_some(c)
    }

    /// Selects C for two classes: trains, computes the next C, and repeats. `gram` is the sample's kernel matrix and
    /// `radius2` R^2 of its rows ([`crate::model::enclosing_radius2`]), which all fits share. `each` is called with
    /// every machine.
    pub fn run(
        &self,
        params: &SvcParams,
        sample: Sample<'_>,
        (gram, radius2): (&dyn Rows, f64),
        exec: Exec,
        watch: &mut Watch<'_>,
        each: &mut dyn FnMut(&CStep, &Machine) -> Result<()>,
    ) -> Result<ChosenC> {
        self.check(params)?;
        let sample = sample.with_gram(gram);
        let mut steps: Vec<CStep> = Vec::new();
        let mut c = self.start;
        for _ in 0..=self.steps {
            let model = SvcParams { c, ..params.clone() }.fit(sample, exec, watch)?;
            let machines = TrainedMachine::all(&model, sample, exec, watch)?;
            let [machine] = machines.as_slice() else {
                return Err(Error::shape("machines", machines.len(), "1: two classes"));
            };
            let step = self.step(machine, radius2, c);
            each(&step, &model)?;
            let next = step.next;
            steps.push(step);
            match next {
                Some(next) if (next - c).abs() > self.tol * c => c = next,
                _ => break,
            }
        }
        Ok(ChosenC {
            c: steps.last().map_or(self.start, |s| s.c),
            steps,
            assumes: "c1 is the same for all machines, and errors are proportional to the sum of the slacks",
        })
    }

    fn check(&self, params: &SvcParams) -> Result<()> {
        if params.kind != Kind::C || params.slack != Slack::Linear {
            return Err(Error::Unsupported("C is chosen for kind c with linear slack".into()));
        }
        let c2 = self.c2.unwrap_or(1.0);
        for (name, value) in [("c1", self.c1), ("c2", c2), ("start", self.start), ("unit", self.unit)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::param(name, value, "a number above 0"));
            }
        }
        if !(self.eta > 0.0 && self.eta <= 1.0) {
            return Err(Error::param("eta", self.eta, "a number above 0 and at most 1"));
        }
        Ok(())
    }

    fn step(&self, machine: &TrainedMachine<'_>, radius2: f64, c: f64) -> CStep {
        let errors = machine.training_errors();
        let slack: f64 = machine.label.iter().zip(&machine.output).map(|(y, f)| (1.0 - y * f).max(0.0)).sum();
        let measured = if errors == 0 { 1.0 } else { slack / errors as f64 };
        let c2 = self.c2.unwrap_or(measured);
        let norm2 = machine.norm2();
        CStep {
            c,
            c2,
            training_errors: errors,
            support: machine.support().len(),
            norm: norm2.sqrt(),
            dimension: self.c1 * radius2 * norm2,
            next: self.next_c(radius2, norm2, machine.len(), c2).map(|c| self.unit * c),
        }
    }
}
