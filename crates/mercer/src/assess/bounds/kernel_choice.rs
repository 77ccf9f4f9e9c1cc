//! Selection of a kernel by the estimated VC dimension, without a held-out set (Schoelkopf 1997, section 2.6.1).
//!
//! For each kernel (in the paper, polynomials by degree) every machine has `h = R^2 |w|^2` and a training error; for
//! each machine the kernel with the smallest risk bound is selected. Where all kernels have almost no training errors
//! that is the one with the smallest h, the paper's criterion. Cost per kernel: one kernel matrix, one enclosing
//! sphere and one fit.

use serde::Serialize;

use super::trained::TrainedMachine;
use super::vc::vc_bound;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::KernelRows;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::svc::SvcParams;
use crate::model::{Sample, enclosing_radius2};
use crate::watch::Watch;

/// One kernel for one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelTried {
    /// Its index among the given kernels.
    pub kernel: usize,
    /// R^2 of all rows.
    pub radius2: f64,
    /// |w|^2.
    pub norm2: f64,
    /// h = R^2 |w|^2.
    pub capacity: f64,
    /// Errors on the training rows.
    pub training_errors: usize,
    /// The risk bound.
    pub risk: f64,
}

/// The selection for one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelChoice {
    /// Index of the kernel with the smallest risk bound.
    pub by_risk: usize,
    /// Index of the kernel with the smallest h.
    pub by_capacity: usize,
    /// All kernels, in order.
    pub tried: Vec<KernelTried>,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// Selects a kernel for every machine of a classifier; `each` is called with every fit.
pub fn choose_kernel(
    kernels: &[Kernel],
    params: &SvcParams,
    sample: Sample<'_>,
    eta: f64,
    exec: Exec,
    watch: &mut Watch<'_>,
    each: &mut dyn FnMut(usize, &Machine) -> Result<()>,
) -> Result<Vec<KernelChoice>> {
    if kernels.is_empty() {
        return Err(Error::shape("kernels to choose from", 0, "at least 1"));
    }
    let mut machines: Vec<Vec<KernelTried>> = Vec::new();
    for (place, kernel) in kernels.iter().enumerate() {
        // A linear machine reduced to one weight vector would have to be fitted twice.
        let kernel = match kernel {
            Kernel::Linear => Kernel::Poly { degree: 1, scale: 1.0, coef0: 0.0 },
            other => other.clone(),
        };
        let rows = KernelRows::new(&kernel, sample.points, exec)?;
        let matrix = rows.whole_matrix(exec);
        let (radius2, _) = enclosing_radius2(&matrix, exec, watch)?;
        let sample = sample.with_gram(&matrix);
        let model = SvcParams { kernel: Some(kernel.clone()), ..params.clone() }.fit(sample, exec, watch)?;
        each(place, &model)?;
        let all = TrainedMachine::all(&model, sample, exec, watch)?;
        machines.resize_with(all.len(), Vec::new);
        for (tried, machine) in machines.iter_mut().zip(&all) {
            let norm2 = machine.norm2();
            let capacity = radius2 * norm2;
            tried.push(KernelTried {
                kernel: place,
                radius2,
                norm2,
                capacity,
                training_errors: machine.training_errors(),
                risk: vc_bound(capacity, machine.len(), machine.training_error(), eta)?.risk,
            });
        }
    }
    let least = |tried: &[KernelTried], of: fn(&KernelTried) -> f64| {
        tried.iter().min_by(|a, b| of(a).total_cmp(&of(b))).map_or(0, |t| t.kernel)
    };
    let choice = |tried: Vec<KernelTried>| KernelChoice {
        by_risk: least(&tried, |t| t.risk),
        by_capacity: least(&tried, |t| t.capacity),
        tried,
        assumes: "R^2|w|^2 is about the same multiple of the VC dimension for all kernels",
    };
    Ok(machines.into_iter().map(choice).collect())
}
