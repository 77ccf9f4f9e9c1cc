//! User-defined kernels.

use std::fmt;
use std::sync::Arc;

use crate::data::{Row, View};
use crate::error::Result;
use crate::kernel::Definiteness;

/// A user-defined kernel. Only `name` and `value` are required; the kernel must be symmetric.
///
/// ```
/// use mercer::data::Row;
/// use mercer::kernel::{Kernel, KernelFn};
///
/// struct Min;
/// impl KernelFn for Min {
///     fn name(&self) -> &str {
///         "min"
///     }
///     fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
///         x.to_f64().iter().zip(y.to_f64()).map(|(x, y)| x.min(y)).sum()
///     }
/// }
///
/// let kernel = Kernel::custom(Min);
/// assert_eq!(kernel.value(Row::F64(&[1.0, 3.0]), Row::F64(&[2.0, 2.0])), 3.0);
/// assert_eq!(kernel.to_string(), "custom(min)");
/// ```
pub trait KernelFn: Send + Sync {
    /// A name for messages.
    fn name(&self) -> &str;

    /// `k(x, y)`.
    fn value(&self, x: Row<'_>, y: Row<'_>) -> f64;

    /// `out[i * b.n + j] = k(a_i, b_j)`. Implement it if many values at once are cheaper.
    fn block(&self, a: View<'_>, b: View<'_>, out: &mut [f64]) {
        for i in 0..a.n {
            for j in 0..b.n {
                out[i * b.n + j] = self.value(a.row(i), b.row(j));
            }
        }
    }

    /// Its definiteness.
    fn definiteness(&self) -> Definiteness {
        Definiteness::Unknown
    }

    /// Whether `k(x + z, y + z) = k(x, y)`.
    fn translation_invariant(&self) -> bool {
        false
    }

    /// Whether [`KernelFn::gradient`] is implemented.
    fn has_gradient(&self) -> bool {
        false
    }

    /// Writes `dk(x, y)/dx` to `out`, one value per column of x.
    fn gradient(&self, _x: Row<'_>, _y: Row<'_>, _out: &mut [f64]) {}

    /// Fails if the kernel does not support this kind of points.
    fn accepts(&self, _points: View<'_>) -> Result<()> {
        Ok(())
    }
}

/// A shared [`KernelFn`]. Two are equal if they are the same object.
#[derive(Clone)]
pub struct Custom(pub Arc<dyn KernelFn>);

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({})", self.0.name())
    }
}
