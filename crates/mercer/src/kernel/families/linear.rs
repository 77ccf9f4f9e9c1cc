//! The linear kernel `x.y`: feature space is input space.

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::definite::Definiteness;
use crate::kernel::dot::Profile;
use crate::kernel::table::KernelEntry;

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "linear",
    formula: "x.y",
    doc: "Feature space is input space.",
    definiteness: "positive",
    known: Definiteness::Positive,
    examples: &["linear"],
    build: |_| Kernel::Linear,
    ..KernelEntry::EMPTY
};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct Linear;

impl Profile for Linear {
    const RADIAL: bool = false;

    fn derivatives(&self, s: f64) -> [f64; 4] {
        [s, 1.0, 0.0, 0.0]
    }

    fn map<T: Real>(&self, _: &mut [T]) {}

    fn slope<T: Real>(&self, s: &mut [T]) {
        s.fill(T::ONE);
    }
}
