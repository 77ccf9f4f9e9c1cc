//! Blocks of values for kernels that are not functions of dot products. Single-threaded: `gram` divides the work.

use std::borrow::Cow;

use mercer_num::Real;

use crate::data::{Data, Row, View};
use crate::kernel::{Form, Kernel, columns, coordinates, local, sequence, widths};

/// Dense rows in the floating-point type of the computation.
pub(super) struct Dense<'a, T: Real> {
    pub(super) n: usize,
    pub(super) d: usize,
    pub(super) values: Cow<'a, [T]>,
}

impl<'a, T: Real> Dense<'a, T> {
    /// The rows of a view; borrowed if they are dense and of this type already.
    fn of(view: View<'a>) -> Option<Self> {
        let values = match view.data {
            Data::F32(x) => match T::same_f32(x) {
                Some(same) => Cow::Borrowed(same),
                None => x.iter().map(|&v| T::of(f64::from(v))).collect(),
            },
            Data::F64(x) => match T::same_f64(x) {
                Some(same) => Cow::Borrowed(same),
                None => x.iter().map(|&v| T::of(v)).collect(),
            },
            Data::Csr { start, column, value } => {
                let mut out = vec![T::ZERO; view.n * view.d];
                for i in 0..view.n {
                    for p in start[i]..start[i + 1] {
                        out[i * view.d + column[p] as usize] = T::of(value[p]);
                    }
                }
                Cow::Owned(out)
            }
            _ => return None,
        };
        Some(Dense { n: view.n, d: view.d, values })
    }

    /// Each column times its factor.
    pub(super) fn scaled(&self, factors: &[T]) -> Dense<'static, T> {
        let mut values = self.values.to_vec();
        if self.d > 0 {
            values.chunks_mut(self.d).for_each(|row| T::mul_all(row, factors));
        }
        Dense { n: self.n, d: self.d, values: Cow::Owned(values) }
    }

    /// The columns `from .. to`, clipped to those present.
    pub(super) fn columns(&self, from: usize, to: usize) -> Dense<'static, T> {
        let (from, to) = (from.min(self.d), to.min(self.d));
        let values = (0..self.n).flat_map(|i| &self.values[i * self.d + from..i * self.d + to.max(from)]);
        Dense { n: self.n, d: to.max(from) - from, values: values.copied().collect() }
    }

    fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.d..(i + 1) * self.d]
    }
}

/// Bytes of right-hand rows that are processed together, so that they stay in the second-level cache for all
/// left-hand rows.
pub(super) const PANEL: usize = 1 << 17;

/// Calls `f(a_i, panel of b, its part of row i of out)` for all rows and panels.
pub(super) fn panels<T: Real>(
    a: &Dense<'_, T>,
    b: &Dense<'_, T>,
    out: &mut [T],
    f: impl Fn(&[T], &[T], &mut [T]),
) {
    let rows = (PANEL / (a.d * size_of::<T>()).max(1)).max(1);
    for from in (0..b.n).step_by(rows) {
        let to = (from + rows).min(b.n);
        for i in 0..a.n {
            f(a.row(i), &b.values[from * b.d..to * b.d], &mut out[i * b.n + from..i * b.n + to]);
        }
    }
}

/// Any kernel except precomputed and custom ones, on dense rows.
pub(super) fn dense<T: Real>(kernel: &Kernel, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
    if out.is_empty() {
        return;
    }
    if a.d == 0 {
        out.fill(T::of(kernel.value(Row::F64(&[]), Row::F64(&[]))));
        return;
    }
    if kernel.form() == Form::Dot {
        panels(a, b, out, T::dots);
        kernel.map(out, &squares(a), &squares(b));
        return;
    }
    let Some((combine, parts)) = kernel.parts() else {
        let done = coordinates::block(kernel, a, b, out)
            || columns::block(kernel, a, b, out)
            || local::block(kernel, a, b, out)
            || widths::block(kernel, a, b, out);
        debug_assert!(done, "kernel `{kernel}` has no block on dense rows");
        return;
    };
    let mut next = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if i == 0 {
            dense(part, a, b, out);
        } else {
            next.resize(out.len(), T::ZERO);
            dense(part, a, b, &mut next);
            combine.join(out, &next);
        }
    }
    let own = |x: &Dense<'_, T>| -> Vec<f64> {
        let mut value = [T::ZERO];
        let row = |i| Dense { n: 1, d: x.d, values: Cow::Borrowed(x.row(i)) };
        (0..x.n)
            .map(|i| {
                dense(&parts[0], &row(i), &row(i), &mut value);
                value[0].f64()
            })
            .collect()
    };
    match combine {
        super::Combine::Normalise => combine.finish(out, &own(a), &own(b)),
        _ => combine.finish(out, &[], &[]),
    }
}

/// Squared norms.
fn squares<T: Real>(x: &Dense<'_, T>) -> Vec<T> {
    let mut out = vec![T::ZERO; x.n];
    for (i, out) in out.iter_mut().enumerate() {
        T::dots(x.row(i), x.row(i), std::slice::from_mut(out));
    }
    out
}

/// Whether sparse rows are so dense, or so short, that dense loops are faster than merging them.
fn worth_dense(view: View<'_>) -> bool {
    match view.data {
        Data::Csr { start, .. } => {
            let stored = start[view.n] - start[0];
            // A merged entry costs about as much as 16 dense ones.
            view.n * view.d <= 16 * stored.max(view.n * 4)
        }
        _ => true,
    }
}

impl Kernel {
    /// `out[i * b.n + j] = k(a_i, b_j)` on one thread: the method for kernels of [`Form::Own`], valid for every
    /// kernel but a precomputed one. Dense rows are computed in `T`; so are sparse ones that are short or nearly
    /// dense; other sparse rows are computed in f64 by the definition.
    ///
    /// # Panics
    /// If `out` does not hold one value per pair of rows.
    pub fn own_block<T: Real>(&self, a: View<'_>, b: View<'_>, out: &mut [T]) {
        assert_eq!(out.len(), a.n * b.n, "one value per pair of rows");
        if let Kernel::Custom(custom) = self {
            let mut values = vec![0.0; out.len()];
            custom.0.block(a, b, &mut values);
            out.iter_mut().zip(values).for_each(|(out, v)| *out = T::of(v));
            return;
        }
        if sequence::block(self, a, b, out) {
            return;
        }
        let merge = a.d != b.d || self.holds_custom() || !worth_dense(a) || !worth_dense(b);
        if !merge && let (Some(a), Some(b)) = (Dense::of(a), Dense::of(b)) {
            dense(self, &a, &b, out);
            return;
        }
        for i in 0..a.n {
            for j in 0..b.n {
                out[i * b.n + j] = T::of(self.value(a.row(i), b.row(j)));
            }
        }
    }
}
