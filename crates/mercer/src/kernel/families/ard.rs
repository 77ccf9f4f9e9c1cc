//! The Gaussian with one width per coordinate, `exp(-sum_i gamma_i (x_i - y_i)^2)` (automatic relevance
//! determination).

use mercer_num::Real;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::block::{Dense, panels};
use crate::kernel::coordinates::{Coordinates, Term};
use crate::kernel::definite::Definiteness;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "ard",
    formula: "exp(-sum_i gamma_i (x_i - y_i)^2)",
    doc: "The Gaussian with one width per coordinate.",
    params: &[Param::new(
        "gammas",
        Allowed::Weights,
        None,
        "one inverse width per column; 0 ignores the column",
    )],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["ard(gammas=[0.5, 0.1, 1, 0.3, 0])"],
    build: |v| Kernel::Ard { gammas: v[0].list() },
    ..KernelEntry::EMPTY
};

/// Checks that there are as many widths as columns.
pub(in crate::kernel) fn check(kernel: &Kernel, d: Option<usize>) -> Result<()> {
    match (kernel, d) {
        (Kernel::Ard { gammas }, Some(d)) if gammas.len() != d => {
            Err(Error::shape("gammas of the kernel ard", gammas.len(), format!("one per column, {d}")))
        }
        _ => Ok(()),
    }
}

pub(in crate::kernel) struct Ard<'a> {
    pub(in crate::kernel) gammas: &'a [f64],
}

impl Coordinates for Ard<'_> {
    const PRODUCT: bool = false;

    fn term(&self, i: usize, x: f64, y: f64) -> Term {
        let gamma = self.gammas.get(i).copied().unwrap_or(0.0);
        let d = x - y;
        Term::of_difference([gamma * d * d, 2.0 * gamma * d, 2.0 * gamma])
    }

    fn outer(&self, s: f64) -> [f64; 3] {
        let value = (-s).exp();
        [value, -value, value]
    }

    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        let roots: Vec<T> =
            (0..a.d).map(|i| T::of(self.gammas.get(i).copied().unwrap_or(0.0).sqrt())).collect();
        let (a, b) = (a.scaled(&roots), b.scaled(&roots));
        panels(&a, &b, out, |x, y, out| {
            T::squares(x, y, out);
            T::affine_all(out, -T::ONE, T::ZERO);
            T::exp_all(out);
        });
    }
}
