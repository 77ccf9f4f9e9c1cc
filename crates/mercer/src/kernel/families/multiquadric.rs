//! Powers of a shifted squared distance, `(|x - y|^2 + a)^e`: inverse multiquadric (`a = c^2, e = -1/2`),
//! multiquadric (`a = c^2, e = 1/2`) and the family with `a = 1`.
//!
//! For `e < 0` the kernel is a mixture of Gaussians and so positive definite. For `0 < e <= 1` the negative is
//! conditionally positive definite (Micchelli 1986): `sum_ij a_i a_j k(x_i, x_j) <= 0` where `sum_i a_i = 0`.

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::definite::Definiteness;
use crate::kernel::dot::Profile;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const INVERSE: KernelEntry = KernelEntry {
    name: "inverse_multiquadric",
    aliases: &["imq"],
    formula: "(|x - y|^2 + c^2)^(-1/2)",
    doc: "Like the Gaussian with a heavy tail.",
    params: &[Param::new("c", Allowed::Above(0.0), Some("1"), "width")],
    definiteness: "positive",
    known: Definiteness::Positive,
    translation_invariant: true,
    examples: &["inverse_multiquadric(c=1.5)"],
    build: |v| Kernel::InverseMultiquadric { c: v[0].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const MULTIQUADRIC: KernelEntry = KernelEntry {
    name: "multiquadric",
    aliases: &["mq"],
    formula: "(|x - y|^2 + c^2)^(1/2)",
    doc: "Grows with the distance; its negative, -1*multiquadric, is conditionally positive definite.",
    params: &[Param::new("c", Allowed::Above(0.0), Some("1"), "width")],
    definiteness: "conditional, as its negative",
    translation_invariant: true,
    examples: &["multiquadric(c=0.7)"],
    build: |v| Kernel::Multiquadric { c: v[0].real() },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const FAMILY: KernelEntry = KernelEntry {
    name: "radial_power",
    formula: "(|x - y|^2 + 1)^power",
    doc: "The family of both multiquadrics of width 1.",
    params: &[Param::new("power", Allowed::Finite, None, "exponent, of either sign")],
    definiteness: "positive for power <= 0; conditional, as its negative, up to 1; else unknown",
    translation_invariant: true,
    examples: &[
        "radial_power(power=-0.7)",
        "radial_power(power=-2)",
        "radial_power(power=0.3)",
        "radial_power(power=1)",
    ],
    build: |v| Kernel::RadialPower { power: v[0].real() },
    ..KernelEntry::EMPTY
};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct PowerLaw {
    pub(in crate::kernel) add: f64,
    pub(in crate::kernel) power: f64,
}

impl Profile for PowerLaw {
    const RADIAL: bool = true;

    fn derivatives(&self, s: f64) -> [f64; 4] {
        let (base, e) = (s + self.add, self.power);
        let value = base.powf(e);
        let first = e * value / base;
        let second = (e - 1.0) * first / base;
        [value, first, second, (e - 2.0) * second / base]
    }

    fn map<T: Real>(&self, s: &mut [T]) {
        T::affine_all(s, T::ONE, T::of(self.add));
        T::powf_all(s, T::of(self.power));
    }

    fn slope<T: Real>(&self, s: &mut [T]) {
        T::affine_all(s, T::ONE, T::of(self.add));
        T::powf_all(s, T::of(self.power - 1.0));
        T::affine_all(s, T::of(self.power), T::ZERO);
    }
}
