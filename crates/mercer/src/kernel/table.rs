//! The table of all kernels: parameters, their ranges, and the check.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernel::families::{ALL, ard, columns, describe, local, sequence, widths};
use crate::kernel::{Definiteness, Kernel, MAX_DEPTH};
use crate::param::{Allowed, Param};

/// One row of [`Kernel::ALL`]: a kernel, or an operation on kernels.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelEntry {
    /// The kernel's name at the start of a line.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// The formula, in plain text.
    pub formula: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Parameters, in the order they are printed.
    pub params: &'static [Param],
    /// Definiteness in words; [`Kernel::definiteness`] gives it for a kernel with its parameters.
    pub definiteness: &'static str,
    /// Definiteness of every kernel of this row, whatever its parameters.
    pub known: Definiteness,
    /// Whether `k(x + z, y + z) = k(x, y)`; for operations, whether it holds if it holds for all inner kernels.
    pub translation_invariant: bool,
    /// Whether this is an operation on kernels.
    pub algebra: bool,
    /// The points it supports.
    pub takes: Takes,
    /// Example lines; the contract tests run over the kernels they name.
    pub examples: &'static [&'static str],
    pub(super) build: fn(&[Value]) -> Kernel,
}

impl KernelEntry {
    pub(super) const EMPTY: KernelEntry = KernelEntry {
        name: "",
        aliases: &[],
        formula: "",
        doc: "",
        params: &[],
        definiteness: "",
        known: Definiteness::Unknown,
        translation_invariant: false,
        algebra: false,
        takes: Takes::Numbers,
        examples: &[],
        build: |_| Kernel::Linear,
    };

    /// The row of this name or alias.
    pub fn find(name: &str) -> Option<&'static KernelEntry> {
        ALL.iter().find(|e| e.name == name || e.aliases.contains(&name))
    }
}

/// The points that a kernel supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Takes {
    /// Rows of numbers; for operations, whatever the inner kernels support.
    Numbers,
    /// Rows of non-negative numbers.
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

// `build` is called only with values checked by [`admits`], so each is of the expected kind.
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
