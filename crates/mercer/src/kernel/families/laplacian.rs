//! The Laplacian kernel `exp(-gamma sum_i |x_i - y_i|)`.

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::block::{Dense, panels};
use crate::kernel::coordinates::{Coordinates, Term};
use crate::kernel::definite::Definiteness;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "laplacian",
    aliases: &["laplace"],
    formula: "exp(-gamma sum_i |x_i - y_i|)",
    doc: "Like the Gaussian, with a peak and heavier tails: for rough functions and outliers.",
    params: &[Param::new("gamma", Allowed::Above(0.0), None, "inverse width")],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["laplacian(gamma=0.4)"],
    build: |v| Kernel::Laplacian { gamma: v[0].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) struct Laplacian {
    pub(in crate::kernel) gamma: f64,
}

impl Coordinates for Laplacian {
    const PRODUCT: bool = false;

    fn term(&self, _: usize, x: f64, y: f64) -> Term {
        let slope = if x == y { 0.0 } else { (x - y).signum() };
        Term::of_difference([(x - y).abs(), slope, 0.0])
    }

    fn outer(&self, s: f64) -> [f64; 3] {
        let value = (-self.gamma * s).exp();
        [value, -self.gamma * value, self.gamma * self.gamma * value]
    }

    /// Differentiable once, almost everywhere; where coordinates are equal (a kink), the derivative is defined as 0.
    fn smooth(&self) -> u8 {
        1
    }

    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        panels(a, b, out, |x, y, out| {
            T::manhattan(x, y, out);
            T::affine_all(out, T::of(-self.gamma), T::ZERO);
            T::exp_all(out);
        });
    }
}
