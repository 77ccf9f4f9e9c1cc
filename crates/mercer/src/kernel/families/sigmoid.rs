//! The sigmoid kernel `amplitude tanh(scale x.y + shift)`.
//!
//! Expansions have the form of a network with one hidden layer. Not positive definite in general; works in practice
//! where kernel matrices are nearly so (Schoelkopf 1997).

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::dot::Profile;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "sigmoid",
    aliases: &["tanh"],
    formula: "amplitude tanh(scale x.y + shift)",
    doc: "Expansions become two-layer networks. Not positive definite in general.",
    params: &[
        Param::new("amplitude", Allowed::Above(0.0), Some("1"), "height"),
        Param::new("scale", Allowed::Above(0.0), Some("1"), "factor of the dot product"),
        Param::new("shift", Allowed::Finite, Some("0"), "constant added to it, usually negative"),
    ],
    definiteness: "unknown",
    examples: &["sigmoid(amplitude=1.04, scale=0.5, shift=-0.8)"],
    build: |v| Kernel::Sigmoid { amplitude: v[0].real(), scale: v[1].real(), shift: v[2].real() },
    ..KernelEntry::EMPTY
};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct Sigmoid {
    pub(in crate::kernel) amplitude: f64,
    pub(in crate::kernel) scale: f64,
    pub(in crate::kernel) shift: f64,
}

impl Profile for Sigmoid {
    const RADIAL: bool = false;

    fn derivatives(&self, t: f64) -> [f64; 4] {
        let (a, s) = (self.amplitude, self.scale);
        let h = (s * t + self.shift).tanh();
        // The derivative of tanh is 1 - tanh^2; higher ones follow by the chain rule.
        let slope = 1.0 - h * h;
        [a * h, a * s * slope, -2.0 * a * s * s * h * slope, a * s * s * s * slope * (6.0 * h * h - 2.0)]
    }

    fn map<T: Real>(&self, t: &mut [T]) {
        T::affine_all(t, T::of(self.scale), T::of(self.shift));
        T::tanh_all(t);
        T::affine_all(t, T::of(self.amplitude), T::ZERO);
    }

    fn slope<T: Real>(&self, t: &mut [T]) {
        T::affine_all(t, T::of(self.scale), T::of(self.shift));
        T::tanh_all(t);
        T::powi_all(t, 2);
        let height = self.amplitude * self.scale;
        T::affine_all(t, T::of(-height), T::of(height));
    }
}
