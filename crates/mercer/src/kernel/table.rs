//! The table of all kernels, and what is read from it: parameters, their ranges, and the check.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernel::{
    Kernel, MAX_DEPTH, algebra, ard, bspline, chi_squared, columns, laplacian, linear, local, multiquadric,
    periodic, poly, precomputed, rbf, sequence, sigmoid, widths,
};
use crate::param::{Allowed, Param};

/// One row of [`Kernel::ALL`]: a kernel, or an operation on kernels.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The name a line starts with.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// The formula, in plain text.
    pub formula: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Parameters, in the order they are printed.
    pub params: &'static [Param],
    /// What is known about definiteness, in words; [`Kernel::definiteness`] knows it for one kernel.
    pub definiteness: &'static str,
    /// Whether `k(x + z, y + z) = k(x, y)`; for operations on kernels, whether it is so if it is so for all of them.
    pub translation_invariant: bool,
    /// Whether this is an operation on kernels.
    pub algebra: bool,
    /// What points it is for.
    pub takes: Takes,
    /// Lines that show it; the contract tests run over the kernels they name.
    pub examples: &'static [&'static str],
    pub(super) build: fn(&[Value]) -> Kernel,
}

impl Entry {
    pub(super) const EMPTY: Entry = Entry {
        name: "",
        aliases: &[],
        formula: "",
        doc: "",
        params: &[],
        definiteness: "",
        translation_invariant: false,
        algebra: false,
        takes: Takes::Numbers,
        examples: &[],
        build: |_| Kernel::Linear,
    };

    /// The row of this name or alias.
    pub fn find(name: &str) -> Option<&'static Entry> {
        ALL.iter().find(|e| e.name == name || e.aliases.contains(&name))
    }
}

/// What points a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Takes {
    /// Rows of numbers; for operations, what the kernels inside take.
    Numbers,
    /// Rows of numbers, none of them negative.
    Histograms,
    /// Sequences of symbols.
    Sequences,
    /// Row numbers of a given matrix.
    RowNumbers,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Real(f64),
    Whole(u32),
    List(Arc<[f64]>),
    Kernel(Box<Kernel>),
    Kernels(Vec<Kernel>),
}

// `build` is called only with values that [`admits`] has seen, so each is of the kind that is asked for.
impl Value {
    pub(super) fn real(&self) -> f64 {
        if let Value::Real(v) = self { *v } else { f64::NAN }
    }

    pub(super) fn whole(&self) -> u32 {
        if let Value::Whole(v) = self { *v } else { 0 }
    }

    pub(super) fn list(&self) -> Arc<[f64]> {
        if let Value::List(v) = self { Arc::clone(v) } else { Arc::default() }
    }

    pub(super) fn kernel(&self) -> Kernel {
        if let Value::Kernel(k) = self { (**k).clone() } else { Kernel::Linear }
    }

    pub(super) fn kernels(&self) -> Vec<Kernel> {
        if let Value::Kernels(k) = self { k.clone() } else { Vec::new() }
    }
}

/// Whether the value is of the kind that is allowed, and in its range.
pub(super) fn admits(allowed: Allowed, value: &Value) -> bool {
    match (allowed, value) {
        (Allowed::Count(..), Value::Whole(v)) => allowed.holds(f64::from(*v)),
        (Allowed::Weights, Value::List(v)) => {
            v.iter().all(|w| w.is_finite() && *w >= 0.0) && v.iter().any(|w| *w > 0.0)
        }
        (Allowed::Kernel, Value::Kernel(_)) => true,
        (Allowed::Kernels, Value::Kernels(k)) => !k.is_empty(),
        (Allowed::Finite | Allowed::NotZero | Allowed::Above(_) | Allowed::Between(..), Value::Real(v)) => {
            allowed.holds(*v)
        }
        _ => false,
    }
}

/// The table. A new kernel is a file, a variant, and a row here and in [`describe`].
pub(super) const ALL: &[Entry] = &[
    linear::ENTRY,
    poly::ENTRY,
    rbf::ENTRY,
    widths::ENTRY,
    laplacian::ENTRY,
    sigmoid::ENTRY,
    multiquadric::INVERSE,
    multiquadric::MULTIQUADRIC,
    multiquadric::FAMILY,
    ard::ENTRY,
    bspline::ENTRY,
    periodic::FOURIER,
    periodic::DIRICHLET,
    periodic::SPECTRUM,
    chi_squared::EXPONENTIAL,
    chi_squared::ADDITIVE,
    local::ENTRY,
    sequence::LOCALITY,
    sequence::CODON,
    sequence::SPECTRUM,
    sequence::MISMATCH,
    sequence::WEIGHTED_DEGREE,
    columns::COLUMNS,
    columns::SUBVECTOR,
    precomputed::ENTRY,
    algebra::SUM,
    algebra::PRODUCT,
    algebra::SCALED,
    algebra::POWER,
    algebra::NORMALISED,
];

/// A kernel's name and its values in the order of its row's parameters: the inverse of `build`.
pub(super) fn describe(kernel: &Kernel) -> Option<(&'static Entry, Vec<Value>)> {
    use Value::{Real, Whole};
    let (name, values) = match kernel {
        Kernel::Linear => ("linear", vec![]),
        Kernel::Poly { degree, scale, coef0 } => ("poly", vec![Whole(*degree), Real(*scale), Real(*coef0)]),
        Kernel::Rbf { gamma } => ("rbf", vec![Real(*gamma)]),
        Kernel::RbfWidths { gamma } => ("rbf_widths", vec![Real(*gamma)]),
        Kernel::Laplacian { gamma } => ("laplacian", vec![Real(*gamma)]),
        Kernel::Sigmoid { amplitude, scale, shift } => {
            ("sigmoid", vec![Real(*amplitude), Real(*scale), Real(*shift)])
        }
        Kernel::InverseMultiquadric { c } => ("inverse_multiquadric", vec![Real(*c)]),
        Kernel::Multiquadric { c } => ("multiquadric", vec![Real(*c)]),
        Kernel::RadialPower { power } => ("radial_power", vec![Real(*power)]),
        Kernel::Ard { gammas } => ("ard", vec![Value::List(Arc::clone(gammas))]),
        Kernel::BSpline { order, width } => ("bspline", vec![Whole(*order), Real(*width)]),
        Kernel::Fourier { q, freq } => ("fourier", vec![Real(*q), Real(*freq)]),
        Kernel::Dirichlet { order, freq } => ("dirichlet", vec![Whole(*order), Real(*freq)]),
        Kernel::Spectrum { weights, freq } => {
            ("spectrum", vec![Value::List(Arc::clone(weights)), Real(*freq)])
        }
        Kernel::ChiSquared { gamma } => ("chi2", vec![Real(*gamma)]),
        Kernel::AdditiveChiSquared => ("additive_chi2", vec![]),
        Kernel::Local { diameter, inner, outer, height, width } => {
            ("local", [diameter, inner, outer, height, width].map(|v| Whole(*v)).to_vec())
        }
        Kernel::LocalityImproved { diameter, inner, outer } => {
            ("locality_improved", [diameter, inner, outer].map(|v| Whole(*v)).to_vec())
        }
        Kernel::CodonImproved { diameter, inner, outer, shift, weight } => {
            let mut values = [diameter, inner, outer, shift].map(|v| Whole(*v)).to_vec();
            values.push(Real(*weight));
            ("codon_improved", values)
        }
        Kernel::KmerSpectrum { k } => ("kmer_spectrum", vec![Whole(*k)]),
        Kernel::Mismatch { k, m, letters } => ("mismatch", [k, m, letters].map(|v| Whole(*v)).to_vec()),
        Kernel::WeightedDegree { degree, shift } => ("weighted_degree", vec![Whole(*degree), Whole(*shift)]),
        Kernel::Columns { from, to, of } => {
            ("columns", vec![Whole(*from), Whole(*to), Value::Kernel(of.clone())])
        }
        Kernel::Subvector { size, step, degree, of } => {
            ("subvector", vec![Whole(*size), Whole(*step), Whole(*degree), Value::Kernel(of.clone())])
        }
        Kernel::Precomputed => ("precomputed", vec![]),
        Kernel::Sum(kernels) => ("sum", vec![Value::Kernels(kernels.clone())]),
        Kernel::Product(kernels) => ("product", vec![Value::Kernels(kernels.clone())]),
        Kernel::Scaled { factor, of } => ("scaled", vec![Real(*factor), Value::Kernel(of.clone())]),
        Kernel::Power { degree, of } => ("power", vec![Whole(*degree), Value::Kernel(of.clone())]),
        Kernel::Normalised(of) => ("normalised", vec![Value::Kernel(of.clone())]),
        Kernel::Custom(_) => return None,
    };
    Entry::find(name).map(|entry| (entry, values))
}

/// [`Kernel::check`], at a depth of nesting.
pub(super) fn check(kernel: &Kernel, d: Option<usize>, depth: usize) -> Result<()> {
    if depth >= MAX_DEPTH {
        return Err(Error::param("kernel", "deeper nesting", format!("nested at most {MAX_DEPTH} deep")));
    }
    if let Some((entry, values)) = describe(kernel) {
        for (param, value) in entry.params.iter().zip(&values) {
            if !admits(param.allowed, value) {
                let name = format!("{} {}", entry.name, param.name);
                return Err(Error::param(name, super::line::show(value), param.allowed.to_string()));
            }
        }
    }
    let inner = columns::check(kernel, d)?;
    ard::check(kernel, d)?;
    local::check(kernel, d)?;
    widths::check(kernel, d)?;
    sequence::check(kernel)?;
    kernel.children().iter().try_for_each(|child| check(child, inner, depth + 1))
}
