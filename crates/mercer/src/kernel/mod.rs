//! Kernels: formulas, algebra, derivatives, and their text form. Floor 2.
//!
//! A kernel `k(x, y) = Phi(x) . Phi(y)` is a dot product in a feature space. It is a value of [`Kernel`]: an enum
//! with named fields that is cheap to clone and prints as one line that parses back to the same kernel. Kernels hold
//! no data. Computing a value neither allocates nor fails: ranges are checked once, by [`Kernel::check`].
//!
//! Which one to use: [`Kernel::Rbf`] for numbers, [`Kernel::Linear`] for many columns or as a baseline, `poly` for
//! products of columns, sequence and image kernels for structured rows. A value costs O(d) for d columns; blocks of
//! values are computed by matrix products (module `gram`).
//!
//! One file of `families` holds one family, and `families/mod.rs` registers them: a variant, a row. [`Kernel::ALL`]
//! is the table of all of them; help texts, bindings and the contract tests read it. A block of values is computed in
//! one of three ways, by [`Kernel::form`]: a function of `(x.y, |x|^2, |y|^2)` is one elementwise [`Kernel::map`]
//! over a tile of dot products; other kernels implement [`Kernel::own_block`]; composites of those are evaluated part
//! by part ([`Kernel::parts`]).
//!
//! ```
//! use mercer::data::Row;
//! use mercer::kernel::Kernel;
//!
//! let kernel: Kernel = "0.5*rbf(gamma=1/2) + linear".parse()?;
//! assert_eq!(kernel.to_string(), "0.5*rbf(gamma=0.5) + linear");
//! let (x, y) = ([1.0, 2.0], [1.0, 0.0]);
//! let value = kernel.value(Row::F64(&x), Row::F64(&y));
//! assert!((value - (0.5 * (-2.0_f64).exp() + 1.0)).abs() < 1e-15);
//! # Ok::<(), mercer::Error>(())
//! ```

mod block;
mod coordinates;
mod custom;
mod definite;
mod derivative;
mod dot;
mod families;
mod geometry;
mod lanes;
mod letters;
mod line;
mod rows;
mod table;
mod width;

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::data::{Data, Row, View};
use crate::error::{Error, Result};
use crate::exec::half_of_ram;
use crate::kernel::rows::Span;

pub use custom::{Custom, KernelFn};
pub use definite::Definiteness;
pub use derivative::Second;
pub use families::{Combine, Kernel};
use families::{algebra, chi_squared, columns, local, sequence, widths, with_profile};
pub use letters::{default_sequence_kernel, sequence_kernels};
pub use table::{KernelEntry, Takes};
pub use width::default_gamma;

/// Maximum nesting depth; it bounds every recursion over kernels.
pub const MAX_DEPTH: usize = 24;

/// How a block of values is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A function of `(x.y, |x|^2, |y|^2)`: [`Kernel::map`] over a tile of dot products.
    Dot,
    /// By its own routine: [`Kernel::own_block`].
    Own,
    /// A composite with a part that is not [`Form::Dot`]: [`Kernel::parts`].
    Parts,
    /// Values are looked up by row number in a given matrix.
    Precomputed,
}

impl Kernel {
    /// Every kernel and every operation on kernels, with names, formulas, parameters and examples.
    pub const ALL: &'static [KernelEntry] = families::ALL;

    /// Parses a kernel. Error messages say what would be valid.
    pub fn parse(line: &str) -> Result<Self> {
        line::parse(line)
    }

    /// This kernel's row of [`Kernel::ALL`]; a custom kernel has none.
    pub fn entry(&self) -> Option<&'static KernelEntry> {
        families::describe(self).map(|(entry, _)| entry)
    }

    /// Fails if a parameter is out of range or does not match d, the number of columns where known.
    pub fn check(&self, d: Option<usize>) -> Result<()> {
        table::check(self, d, 0)
    }

    /// [`Kernel::check`] against the points themselves: their kind, their width and, for histogram kernels, their
    /// sign. Memory that the kernel needs for the points is limited to half of the machine's.
    pub fn check_points(&self, points: View<'_>) -> Result<()> {
        self.check_points_within(points, half_of_ram() as u64)
    }

    /// The same within a memory budget in bytes.
    pub fn check_points_within(&self, points: View<'_>, memory: u64) -> Result<()> {
        let numbers = matches!(points.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. });
        self.check(numbers.then_some(points.d))?;
        self.check_kind(points, numbers, memory)?;
        if self.histograms() { chi_squared::check_points(points) } else { Ok(()) }
    }

    /// Checks that every inner kernel supports points of this kind.
    fn check_kind(&self, points: View<'_>, numbers: bool, memory: u64) -> Result<()> {
        let wanted = match self {
            Kernel::Custom(custom) => return custom.0.accepts(points),
            Kernel::Precomputed if matches!(points.data, Data::RowNumbers(_)) => return Ok(()),
            Kernel::Precomputed => "row numbers of a precomputed matrix",
            _ if sequence::is(self) => return sequence::check_points(self, points, memory),
            _ if !self.children().is_empty() => {
                return self
                    .children()
                    .iter()
                    .try_for_each(|child| child.check_kind(points, numbers, memory));
            }
            _ if numbers => return Ok(()),
            _ => "rows of numbers",
        };
        Err(Error::shape(format!("points for the kernel `{self}`"), points.kind(), wanted))
    }

    /// Whether the points must be histograms: no negative values.
    fn histograms(&self) -> bool {
        self.entry().is_some_and(|entry| entry.takes == Takes::Histograms)
            || self.children().iter().any(Kernel::histograms)
    }

    /// Whether this is or holds a custom kernel, which cannot be saved.
    pub fn holds_custom(&self) -> bool {
        matches!(self, Kernel::Custom(_)) || self.children().iter().any(Kernel::holds_custom)
    }

    /// The inner kernels of composites and of kernels on columns.
    pub fn children(&self) -> &[Kernel] {
        match self {
            Kernel::Sum(kernels) | Kernel::Product(kernels) => kernels,
            Kernel::Scaled { of, .. }
            | Kernel::Power { of, .. }
            | Kernel::Normalised(of)
            | Kernel::Columns { of, .. }
            | Kernel::Subvector { of, .. } => std::slice::from_ref(of),
            _ => &[],
        }
    }

    /// `k(x, y)` by the definition: the reference for all faster methods. Rows may be dense or sparse, f32 or f64,
    /// and mixed. NaN for unsupported rows (see [`Kernel::check_points`]).
    pub fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        self.value_of(Span::of(x), Span::of(y))
    }

    fn value_of(&self, x: Span<'_>, y: Span<'_>) -> f64 {
        if let Kernel::Custom(custom) = self {
            return x.as_row(|x| y.as_row(|y| custom.0.value(x, y)));
        }
        dot::value(self, x, y)
            .or_else(|| algebra::value(self, x, y))
            .or_else(|| columns::value(self, x, y))
            .or_else(|| local::value(self, x, y))
            .or_else(|| widths::value(self, x, y))
            .or_else(|| sequence::value(self, x, y))
            .or_else(|| coordinates::value(self, x, y).filter(|_| rows::numbers(x, y)))
            .unwrap_or(f64::NAN)
    }

    /// A user-defined kernel.
    pub fn custom(kernel: impl KernelFn + 'static) -> Self {
        Kernel::Custom(Custom(Arc::new(kernel)))
    }

    /// `out[i] = k(x_i, x_i)`.
    ///
    /// # Panics
    /// If `out` does not hold one value per row.
    pub fn diag(&self, x: View<'_>, out: &mut [f64]) {
        assert_eq!(out.len(), x.n, "one value per row");
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.value(x.row(i), x.row(i));
        }
    }

    /// How a block of values is computed.
    pub fn form(&self) -> Form {
        match self.parts() {
            Some((_, parts)) if parts.iter().all(|part| part.form() == Form::Dot) => Form::Dot,
            Some(_) => Form::Parts,
            None if *self == Kernel::Precomputed => Form::Precomputed,
            None => with_profile!(self, _p => Form::Dot, else Form::Own),
        }
    }
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if self.holds_custom() {
            return Err(serde::ser::Error::custom(format!(
                "kernel `{self}`: a custom kernel is code and cannot be saved"
            )));
        }
        serializer.collect_str(self)
    }
}

impl TryFrom<String> for Kernel {
    type Error = Error;

    fn try_from(line: String) -> Result<Self> {
        Kernel::parse(&line)
    }
}

#[cfg(test)]
mod tests;
