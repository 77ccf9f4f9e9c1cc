//! The solver's interface to the rows: one pass over all of them at a time, which returns sums. Rows may be in this
//! process or elsewhere: sums over parts of the rows are added.

use std::sync::{Mutex, PoisonError};

use super::pass::{Call, Outputs, pass};
use super::{Design, Loss};
use crate::error::Result;
use crate::exec::Exec;

/// A function of the rows: their kernel values against the centres times coefficients, plus offsets.
#[derive(Debug, Clone, Copy)]
pub struct LargeFunction<'a> {
    /// Identifies the function, so that its outputs may be kept. Numbers increase.
    pub number: u64,
    /// m x k, centre by centre.
    pub coef: &'a [f64],
    /// k.
    pub offset: &'a [f64],
}

/// The request of a pass.
#[derive(Debug, Clone, Copy)]
pub enum LargeAsk<'a> {
    /// The loss and its slope at a function.
    Slope {
        /// The function.
        at: LargeFunction<'a>,
    },
    /// The loss's curvature at a function, along another.
    Bend {
        /// The function; none: the curvature is 1, as that of squared errors.
        at: Option<LargeFunction<'a>>,
        /// The direction. It may have any number of outputs if the curvature is 1.
        along: LargeFunction<'a>,
    },
}

impl LargeAsk<'_> {
    /// k.
    pub fn outputs(&self) -> usize {
        match self {
            LargeAsk::Slope { at } => at.offset.len(),
            LargeAsk::Bend { along, .. } => along.offset.len(),
        }
    }
}

/// The sums of a pass over rows, with N their values against the centres.
#[derive(Debug, Clone, PartialEq)]
pub struct LargeSums {
    /// `N' R`, m x k; a row of R is its weight times the slopes, or times the curvature along the direction.
    pub against: Vec<f64>,
    /// The sum of R over rows, k.
    pub ones: Vec<f64>,
    /// The sums of weighted losses and of curvatures; 0 where the pass is along a direction.
    pub values: [f64; 2],
}

impl LargeSums {
    /// Of no rows.
    pub fn zero(centres: usize, outputs: usize) -> Self {
        LargeSums { against: vec![0.0; centres * outputs], ones: vec![0.0; outputs], values: [0.0; 2] }
    }

    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &LargeSums) {
        self.against.iter_mut().zip(&other.against).for_each(|(a, p)| *a += p);
        self.ones.iter_mut().zip(&other.ones).for_each(|(a, p)| *a += p);
        self.values.iter_mut().zip(&other.values).for_each(|(a, p)| *a += p);
    }
}

/// All rows, wherever they are.
///
/// Distributed rows are one implementation that forwards requests and adds the results, always in the same order for
/// reproducible results. Requests carry all state, so a lost process can be replaced by another that has the same
/// rows.
pub trait LargeRows: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// The sum of their weights.
    fn weight(&self) -> f64;

    /// One pass over all of them.
    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums>;
}

/// Whether to stop.
pub(crate) type Poll<'a> = dyn Fn() -> bool + Sync + 'a;

/// Rows of this process.
pub(crate) struct Local<'a> {
    design: &'a dyn Design,
    loss: &'a dyn Loss,
    weight: f64,
    exec: Exec,
    /// Who is asked within long passes whether to go on.
    poll: Option<&'a Poll<'a>>,
    /// The number of a function and its n x k outputs, where these may be kept.
    kept: Option<Mutex<(u64, Vec<f32>)>>,
}

impl<'a> Local<'a> {
    /// Rows whose weights sum up to `weight`; `keep`: whether n k outputs may be kept, else they are computed again in every
    /// pass of a loss that needs them.
    pub(crate) fn new(
        design: &'a dyn Design,
        loss: &'a dyn Loss,
        weight: f64,
        keep: bool,
        exec: Exec,
    ) -> Self {
        let kept = (keep && !loss.is_quadratic()).then(|| Mutex::new((0, Vec::new())));
        Local { design, loss, weight, exec, poll: None, kept }
    }

    /// The same with outputs that were kept of a function of this number.
    pub(crate) fn holding(
        design: &'a dyn Design,
        loss: &'a dyn Loss,
        weight: f64,
        held: (u64, Vec<f32>),
        exec: Exec,
    ) -> Self {
        let kept = (!loss.is_quadratic()).then(|| Mutex::new(held));
        Local { design, loss, weight, exec, poll: None, kept }
    }

    /// The same, asking within long passes whether to stop, on the thread of the call.
    pub(crate) fn polled(self, poll: &'a Poll<'a>) -> Self {
        Local { poll: Some(poll), ..self }
    }

    /// The outputs that are kept.
    pub(crate) fn held(self) -> (u64, Vec<f32>) {
        self.kept.map(|kept| kept.into_inner().unwrap_or_else(PoisonError::into_inner)).unwrap_or_default()
    }
}

impl LargeRows for Local<'_> {
    fn rows(&self) -> usize {
        self.design.rows()
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn pass(&self, ask: &LargeAsk<'_>) -> Result<LargeSums> {
        let (loss, n, run) = (self.loss, self.design.rows(), (self.poll, self.exec));
        let mut kept = self.kept.as_ref().map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner));
        match *ask {
            LargeAsk::Slope { at } => {
                let quadratic = loss.is_quadratic();
                let row = |target: &[f64], weight: f64, _: &[f32], f: &mut [f64]| {
                    let bent = if quadratic { 0.0 } else { loss.curvature(target, f) };
                    let value = weight * loss.slope(target, f);
                    f.iter_mut().for_each(|f| *f *= weight);
                    [value, bent]
                };
                let outputs = match &mut kept {
                    Some(kept) => {
                        kept.0 = at.number;
                        kept.1.resize(n * at.offset.len(), 0.0);
                        Outputs::Write(&mut kept.1)
                    }
                    None => Outputs::None,
                };
                pass(self.design, (at.coef, at.offset), outputs, Call { row: &row, flat: None }, run)
            }
            LargeAsk::Bend { at: None, along } => {
                let row = |_: &[f64], weight: f64, _: &[f32], v: &mut [f64]| {
                    v.iter_mut().for_each(|v| *v *= weight);
                    [0.0; 2]
                };
                let call = Call { row: &row, flat: None };
                pass(self.design, (along.coef, along.offset), Outputs::None, call, run)
            }
            LargeAsk::Bend { at: Some(at), along } => {
                let row = |target: &[f64], weight: f64, at: &[f32], v: &mut [f64]| {
                    loss.bend(target, at, v);
                    v.iter_mut().for_each(|v| *v *= weight);
                    [0.0; 2]
                };
                let outputs = match &kept {
                    Some(kept) if kept.0 == at.number && kept.1.len() == n * at.offset.len() => {
                        Outputs::Read(&kept.1)
                    }
                    _ => Outputs::Again(at.coef, at.offset),
                };
                let flat = |target: &[f64], at: &[f32]| loss.is_flat(target, at);
                let call = Call { row: &row, flat: Some(&flat) };
                pass(self.design, (along.coef, along.offset), outputs, call, run)
            }
        }
    }
}
