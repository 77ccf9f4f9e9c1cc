//! Kernels on sequences of symbols: DNA, RNA, proteins, any letters.
//!
//! Those of `windows` and `degree` compare sequences position by position, as around a signal; those of `kmers`
//! compare word counts, independent of position. Symbols are compared for equality: an uncertain letter such as `N`
//! is a letter of its own. Sequences may be of different lengths.

mod degree;
mod kmers;
mod lanes;
mod windows;

use mercer_num::Real;

use crate::data::{Data, Row, View};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::rows::Span;

pub(in crate::kernel) use degree::ENTRY as WEIGHTED_DEGREE;
pub(in crate::kernel) use kmers::{MISMATCH, SPECTRUM};
pub(in crate::kernel) use windows::{CODON, LOCALITY};

/// The methods of a sequence kernel.
trait Compare {
    /// The value by the definition.
    fn value(&self, x: &[u8], y: &[u8]) -> f64;

    /// `out[i * m + j] = k(a_i, b_j)`.
    fn block<T: Real>(&self, a: &[&[u8]], b: &[&[u8]], out: &mut [T]);
}

/// Runs `$body` with `$c` bound to a kernel of this kind, or `$other`.
macro_rules! with_compare {
    ($kernel:expr, $c:ident => $body:expr, else $other:expr) => {
        match *$kernel {
            Kernel::LocalityImproved { diameter, inner, outer } => {
                let $c = windows::Windows { diameter, inner, outer, shift: 0, weight: 0.0 };
                $body
            }
            Kernel::CodonImproved { diameter, inner, outer, shift, weight } => {
                let $c = windows::Windows { diameter, inner, outer, shift, weight };
                $body
            }
            Kernel::KmerSpectrum { k } => {
                let $c = kmers::Kmers { k, m: 0, letters: 256 };
                $body
            }
            Kernel::Mismatch { k, m, letters } => {
                let $c = kmers::Kmers { k, m, letters };
                $body
            }
            Kernel::WeightedDegree { degree, shift } => {
                let $c = degree::Degree { degree, shift };
                $body
            }
            _ => $other,
        }
    };
}

/// Whether a kernel is made for sequences.
pub(in crate::kernel) fn is(kernel: &Kernel) -> bool {
    with_compare!(kernel, _c => true, else false)
}

/// The value by the definition; `None` for other kernels, NaN where the rows are not sequences.
pub(in crate::kernel) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    with_compare!(kernel, c => match (x, y) {
        (Span::Other(Row::Sequence(x)), Span::Other(Row::Sequence(y))) => Some(c.value(x, y)),
        _ => Some(f64::NAN),
    }, else None)
}

/// A block; `false` for other kernels and other points.
pub(in crate::kernel) fn block<T: Real>(kernel: &Kernel, a: View<'_>, b: View<'_>, out: &mut [T]) -> bool {
    let (Some(a), Some(b)) = (rows(a), rows(b)) else { return false };
    with_compare!(kernel, c => {
        c.block(&a, &b, out);
        true
    }, else false)
}

fn rows(view: View<'_>) -> Option<Vec<&[u8]>> {
    match view.data {
        Data::Sequences { start, symbol, .. } => {
            Some(start.windows(2).map(|row| &symbol[row[0]..row[1]]).collect())
        }
        _ => None,
    }
}

/// Checks that parameters are consistent.
pub(in crate::kernel) fn check(kernel: &Kernel) -> Result<()> {
    match *kernel {
        Kernel::LocalityImproved { diameter, .. } | Kernel::CodonImproved { diameter, .. }
            if diameter % 2 == 0 =>
        {
            let allowed = "an odd number: a window has a position at its centre";
            Err(Error::param("p", diameter, allowed))
        }
        Kernel::Mismatch { k, m, letters } => kmers::check(k, m, letters),
        _ => Ok(()),
    }
}

/// Checks that the kernel supports the points' alphabet.
pub(in crate::kernel) fn check_points(kernel: &Kernel, points: View<'_>, memory: u64) -> Result<()> {
    let Data::Sequences { alphabet, .. } = points.data else {
        return Err(Error::shape(format!("points for the kernel `{kernel}`"), points.kind(), "sequences"));
    };
    match *kernel {
        Kernel::Mismatch { letters, .. } if alphabet.len() > letters as usize => {
            let allowed = format!("at least {}, the letters of the alphabet", alphabet.len());
            Err(Error::param("mismatch letters", letters, allowed))
        }
        Kernel::Mismatch { k, m, letters } => kmers::check_room(k, m, letters, points, memory),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
