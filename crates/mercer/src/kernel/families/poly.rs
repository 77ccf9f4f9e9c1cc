//! The polynomial kernel `(scale x.y + coef0)^degree`.
//!
//! The feature space is spanned by the monomials of exactly (`coef0 = 0`) or at most (`coef0 > 0`) this degree
//! (Schoelkopf 1997).

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::dot::Profile;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "poly",
    aliases: &["polynomial"],
    formula: "(scale x.y + coef0)^degree",
    doc: "All products of `degree` coordinates; with coef0 > 0 also of lower degrees.",
    params: &[
        Param::new("degree", Allowed::Count(1, 1000), None, "number of coordinates multiplied"),
        Param::new(
            "scale",
            Allowed::Above(0.0),
            Some("1"),
            "factor of the dot product, 1 / columns for pixels",
        ),
        Param::new("coef0", Allowed::Finite, Some("0"), "constant added before the power"),
    ],
    definiteness: "positive for coef0 >= 0; conditional for degree 1; else unknown",
    examples: &[
        "poly(degree=3, scale=1/4)",
        "poly(degree=2, scale=0.5, coef0=1)",
        "poly(degree=1, coef0=-1)",
    ],
    build: |v| Kernel::Poly { degree: v[0].whole(), scale: v[1].real(), coef0: v[2].real() },
    ..KernelEntry::EMPTY
};

#[derive(Clone, Copy)]
pub(in crate::kernel) struct Poly {
    pub(in crate::kernel) degree: u32,
    pub(in crate::kernel) scale: f64,
    pub(in crate::kernel) coef0: f64,
}

impl Profile for Poly {
    const RADIAL: bool = false;

    fn derivatives(&self, t: f64) -> [f64; 4] {
        let base = self.scale * t + self.coef0;
        let mut factor = 1.0;
        std::array::from_fn(|order| {
            let order = order as u32;
            if order > self.degree {
                return 0.0;
            }
            let value = factor * base.powi((self.degree - order) as i32);
            factor *= self.scale * f64::from(self.degree - order);
            value
        })
    }

    fn map<T: Real>(&self, t: &mut [T]) {
        if self.scale != 1.0 || self.coef0 != 0.0 {
            T::affine_all(t, T::of(self.scale), T::of(self.coef0));
        }
        T::powi_all(t, self.degree);
    }

    fn slope<T: Real>(&self, t: &mut [T]) {
        T::affine_all(t, T::of(self.scale), T::of(self.coef0));
        T::powi_all(t, self.degree - 1);
        T::affine_all(t, T::of(self.scale * f64::from(self.degree)), T::ZERO);
    }
}
