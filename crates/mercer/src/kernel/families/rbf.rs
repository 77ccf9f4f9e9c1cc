//! The Gaussian kernel `exp(-gamma |x - y|^2)`.
//!
//! Published widths convert as `gamma = 1 / (2 sigma^2)`, or `1 / c` where the exponent is `|x - y|^2 / c`.

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::definite::Definiteness;
use crate::kernel::dot::Profile;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "rbf",
    aliases: &["gaussian", "gauss"],
    formula: "exp(-gamma |x - y|^2)",
    doc: "Similarity falls with the distance; the usual first choice.",
    params: &[Param::new("gamma", Allowed::Above(0.0), None, "inverse width, 1 / (2 sigma^2)")],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["rbf(gamma=0.3)"],
    build: |v| Kernel::Rbf { gamma: v[0].real() },
    ..KernelEntry::EMPTY
};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct Rbf {
    pub(in crate::kernel) gamma: f64,
}

impl Profile for Rbf {
    const RADIAL: bool = true;

    fn derivatives(&self, s: f64) -> [f64; 4] {
        let g = self.gamma;
        let value = (-g * s).exp();
        [value, -g * value, g * g * value, -g * g * g * value]
    }

    fn map<T: Real>(&self, s: &mut [T]) {
        T::affine_all(s, T::of(-self.gamma), T::ZERO);
        T::exp_all(s);
    }

    fn slope<T: Real>(&self, s: &mut [T]) {
        self.map(s);
        T::affine_all(s, T::of(-self.gamma), T::ZERO);
    }

    /// Distance, clamp and exponential in one pass.
    fn map_dots<T: Real>(&self, t: &mut [T], p: T, q: &[T]) {
        T::gauss_all(t, p, q, T::of(self.gamma));
    }
}
