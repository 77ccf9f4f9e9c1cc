//! The device interface of kernel values.
//!
//! All blocks of kernel values are computed by four functions: [`square`](super::square), [`cross`](super::cross),
//! rows ([`KernelRows`](super::KernelRows), [`Classes`](super::Classes)) and [`apply`](super::apply). Each asks the
//! call's device first. A back end that does not support a kernel, a kind of points or a size returns None, and the
//! CPU computes the block. On the CPU this costs one comparison.

use std::fmt;

use crate::data::View;
use crate::error::Result;
use crate::exec::Exec;
use crate::gram::Rows;
use crate::kernel::Kernel;
use crate::num::{Floats, Real};

/// Kernel values on a device. Every method may return None: not supported, the CPU computes it.
///
/// Points and kernels have been checked against each other. Values must equal those of [`Kernel::value`] up to
/// rounding of their type.
pub trait GramBackend: Send + Sync {
    /// The symmetric matrix of `x` with itself, row by row.
    fn square(&self, kernel: &Kernel, x: View<'_>, out: Floats<'_>, exec: Exec) -> Option<Result<()>> {
        let _ = (kernel, x, out, exec);
        None
    }

    /// The matrix of `x` (rows) against `y` (columns), row by row.
    fn cross(
        &self,
        kernel: &Kernel,
        x: View<'_>,
        y: View<'_>,
        out: Floats<'_>,
        exec: Exec,
    ) -> Option<Result<()>> {
        let _ = (kernel, x, y, out, exec);
        None
    }

    /// `out[i * k + o] += sum_j k(x_i, c_j) coef[j * k + o]`, with values in f32 at least, in f64 if `exact`.
    fn apply(&self, sum: &Sum<'_>, points: View<'_>, out: &mut [f64], exec: Exec) -> Option<Result<()>> {
        let _ = (sum, points, out, exec);
        None
    }

    /// Rows of the matrix of these points with themselves, kept on the device. [`Rows::owner`] identifies them, so
    /// that a solver's back end can recognise them.
    fn rows(&self, kernel: &Kernel, points: View<'_>, exec: Exec) -> Option<Result<Box<dyn Rows>>> {
        let _ = (kernel, points, exec);
        None
    }
}

/// What is applied: centres with coefficients under a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Sum<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// m centres.
    pub centres: View<'a>,
    /// m x k coefficients, row by row.
    pub coef: &'a [f64],
    /// Whether values must be f64.
    pub exact: bool,
}

/// A back end as a device holds it: pass it, boxed, to [`Device::new`](crate::exec::Device::new).
pub struct GramDoor(pub Box<dyn GramBackend>);

impl fmt::Debug for GramDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("gram::GramDoor")
    }
}

/// Asks the call's device; `None` on the CPU or if the device declines.
pub(super) fn ask<T>(exec: Exec, call: impl FnOnce(&dyn GramBackend) -> Option<T>) -> Option<T> {
    let device = exec.device();
    if device.is_cpu() {
        return None;
    }
    let found = call(device.door::<GramDoor>()?.0.as_ref());
    if found.is_some() {
        device.note();
    }
    found
}

/// Asks for a square block; returns whether the device has written it.
pub(super) fn square<T: Real>(kernel: &Kernel, x: View<'_>, out: &mut [T], exec: Exec) -> Result<bool> {
    let done = ask(exec, |device| device.square(kernel, x, T::floats(out), exec));
    done.transpose().map(|done| done.is_some())
}

/// Asks for a block; returns whether the device has written it.
pub(super) fn cross<T: Real>(
    kernel: &Kernel,
    x: View<'_>,
    y: View<'_>,
    out: &mut [T],
    exec: Exec,
) -> Result<bool> {
    let done = ask(exec, |device| device.cross(kernel, x, y, T::floats(out), exec));
    done.transpose().map(|done| done.is_some())
}

/// Asks for rows.
pub(super) fn rows(kernel: &Kernel, points: View<'_>, exec: Exec) -> Result<Option<Box<dyn Rows>>> {
    ask(exec, |device| device.rows(kernel, points, exec)).transpose()
}
