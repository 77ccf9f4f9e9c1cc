//! A kernel chosen by the estimate of the VC dimension, without rows set aside (Schoelkopf 1997, section 2.6.1).
//!
//! Each kernel (there, polynomials by degree) gives each machine an `h = R^2 |w|^2` and an error on the training rows;
//! the kernel with the smallest risk bound is taken, machine by machine. Where all kernels have nearly no training
//! errors that is the one with the smallest h, which is all the paper looks at. Cost: one Gram matrix, one sphere and
//! one fit a kernel.

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
    /// Its place among the kernels given.
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

/// What was chosen for one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelChoice {
    /// The kernel with the smallest risk bound, by its place.
    pub by_risk: usize,
    /// The kernel with the smallest h.
    pub by_capacity: usize,
    /// All of them, in order.
    pub tried: Vec<KernelTried>,
    /// What it rests on.
    pub assumes: &'static str,
}

/// Chooses among kernels for every machine of a classifier; `each` sees the fit with each kernel.
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
        // Collapsed, a linear machine would have to be fitted twice.
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
