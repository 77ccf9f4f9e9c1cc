//! Kernels made of kernels: sums, products, multiples, powers, and the kernel of unit vectors in feature space.
//!
//! Mercer kernels are closed under all of these with positive factors (Schoelkopf, Smola and Mueller 1996, appendix B);
//! products and powers by Schur's theorem.

use mercer_num::Real;

use crate::kernel::Kernel;
use crate::kernel::rows::Span;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

const OF: Param = Param::new("of", Allowed::Kernel, None, "the kernel");

pub(in crate::kernel) const SUM: KernelEntry = KernelEntry {
    name: "sum",
    formula: "k_1(x, y) + k_2(x, y) + ...",
    doc: "Direct sum of feature spaces; written with `+`.",
    params: &[Param::new("of", Allowed::Kernels, None, "the kernels")],
    definiteness: "positive or conditional if all parts are",
    translation_invariant: true,
    algebra: true,
    examples: &[
        "rbf(gamma=0.5) + linear",
        "0.5*rbf(gamma=1) + laplacian(gamma=0.3) + poly(degree=2)",
        "(linear + poly(degree=2)) + rbf(gamma=1)",
    ],
    build: |v| Kernel::Sum(v[0].kernels()),
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const PRODUCT: KernelEntry = KernelEntry {
    name: "product",
    formula: "k_1(x, y) k_2(x, y) ...",
    doc: "Tensor product of feature spaces; written with `*`.",
    params: &[Param::new("of", Allowed::Kernels, None, "the kernels")],
    definiteness: "positive if all parts are",
    translation_invariant: true,
    algebra: true,
    examples: &[
        "rbf(gamma=0.2) * poly(degree=2, coef0=1)",
        "laplacian(gamma=0.2) * (linear + rbf(gamma=0.5))",
        "rbf(gamma=0.2) * inverse_multiquadric * poly(degree=2)",
    ],
    build: |v| Kernel::Product(v[0].kernels()),
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const SCALED: KernelEntry = KernelEntry {
    name: "scaled",
    formula: "factor k(x, y)",
    doc: "A multiple; written `0.5*k`.",
    params: &[Param::new("factor", Allowed::NotZero, None, "the factor"), OF],
    definiteness: "that of the kernel; a negative factor swaps conditional and conditional-as-its-negative",
    translation_invariant: true,
    algebra: true,
    examples: &["0.5*rbf(gamma=1)", "-1*multiquadric", "2.5*laplacian(gamma=1)", "2*(rbf(gamma=1) + linear)"],
    build: |v| Kernel::Scaled { factor: v[0].real(), of: Box::new(v[1].kernel()) },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const POWER: KernelEntry = KernelEntry {
    name: "power",
    formula: "k(x, y)^degree",
    doc: "Products of this many features; written `k^2`.",
    params: &[Param::new("degree", Allowed::Count(1, 1000), None, "the power"), OF],
    definiteness: "positive if the kernel is",
    translation_invariant: true,
    algebra: true,
    examples: &["(linear + rbf(gamma=0.5))^3", "inverse_multiquadric^2", "laplacian(gamma=0.2)^2"],
    build: |v| Kernel::Power { degree: v[0].whole(), of: Box::new(v[1].kernel()) },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const NORMALISED: KernelEntry = KernelEntry {
    name: "normalised",
    aliases: &["normalized", "cosine"],
    formula: "k(x, y) / sqrt(k(x, x) k(y, y))",
    doc: "Points of feature space scaled to length 1; 0 where a self-value is not positive.",
    params: &[OF],
    definiteness: "positive if the kernel is",
    translation_invariant: true,
    algebra: true,
    examples: &[
        "normalised(poly(degree=2, coef0=1))",
        "normalised(additive_chi2 + linear)",
        "normalised(linear)",
    ],
    build: |v| Kernel::Normalised(Box::new(v[0].kernel())),
    ..KernelEntry::EMPTY
};

/// How the values of the parts are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Combine {
    /// The values are added.
    Sum,
    /// The values are multiplied.
    Product,
    /// The value is multiplied by a number.
    Scale(f64),
    /// The value is raised to a power.
    Power(u32),
    /// The value is divided by the roots of both self-values.
    Normalise,
}

impl Combine {
    /// Combines the values of the second, third, ... part with `out`. For [`Combine::Sum`] and [`Combine::Product`];
    /// the others have one part.
    pub fn join<T: Real>(self, out: &mut [T], next: &[T]) {
        match self {
            Combine::Sum => T::add_all(out, next),
            Combine::Product => T::mul_all(out, next),
            _ => {}
        }
    }

    /// The final step after all parts. `row_self` and `col_self` are the self-values of the *part*, used by
    /// [`Combine::Normalise`] only; `out` is rows x columns.
    pub fn finish<T: Real>(self, out: &mut [T], row_self: &[f64], col_self: &[f64]) {
        match self {
            Combine::Sum | Combine::Product => {}
            Combine::Scale(factor) => T::affine_all(out, T::of(factor), T::ZERO),
            Combine::Power(degree) => T::powi_all(out, degree),
            Combine::Normalise => {
                if col_self.is_empty() {
                    return;
                }
                let columns: Vec<T> = col_self.iter().map(|&k| T::of(unit(k))).collect();
                for (row, &own) in out.chunks_mut(col_self.len()).zip(row_self) {
                    T::mul_all(row, &columns);
                    T::affine_all(row, T::of(unit(own)), T::ZERO);
                }
            }
        }
    }
}

/// `1 / sqrt(k)`; 0 where k is not positive.
pub(in crate::kernel) fn unit(own: f64) -> f64 {
    if own > 0.0 { 1.0 / own.sqrt() } else { 0.0 }
}

impl Kernel {
    /// For composite kernels: the operation and its parts. `None` for all other kernels.
    pub fn parts(&self) -> Option<(Combine, &[Kernel])> {
        let combine = match self {
            Kernel::Sum(_) => Combine::Sum,
            Kernel::Product(_) => Combine::Product,
            Kernel::Scaled { factor, .. } => Combine::Scale(*factor),
            Kernel::Power { degree, .. } => Combine::Power(*degree),
            Kernel::Normalised(_) => Combine::Normalise,
            _ => return None,
        };
        Some((combine, self.children()))
    }
}

pub(in crate::kernel) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    Some(match kernel {
        Kernel::Sum(kernels) => kernels.iter().map(|k| k.value_of(x, y)).sum(),
        Kernel::Product(kernels) => kernels.iter().map(|k| k.value_of(x, y)).product(),
        Kernel::Scaled { factor, of } => factor * of.value_of(x, y),
        Kernel::Power { degree, of } => of.value_of(x, y).powi(*degree as i32),
        Kernel::Normalised(of) => of.value_of(x, y) * unit(of.value_of(x, x)) * unit(of.value_of(y, y)),
        _ => return None,
    })
}
