//! Kernels on some of the columns: `columns` on one run of them, `subvector` the sum `sum_r k(x_r, y_r)^degree` over
//! neighbouring subvectors (Schoelkopf, Smola and Mueller 1996, eq. 72), which takes products of coordinates only within
//! a neighbourhood. Different kernels on different parts are sums: `columns(from=0, to=8, linear) + columns(...)`.

use mercer_num::Real;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::block::{self, Dense};
use crate::kernel::rows::Span;
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

pub(in crate::kernel) const COLUMNS: KernelEntry = KernelEntry {
    name: "columns",
    formula: "k(x[from..to], y[from..to])",
    doc: "A kernel restricted to a range of columns.",
    params: &[
        Param::new("from", Allowed::Count(0, u32::MAX as u64), None, "first column, from 0"),
        Param::new("to", Allowed::Count(1, u32::MAX as u64), None, "one past the last column"),
        Param::new("of", Allowed::Kernel, None, "the kernel on them"),
    ],
    definiteness: "that of the kernel",
    translation_invariant: true,
    algebra: true,
    examples: &["columns(from=1, to=4, rbf(gamma=0.5))", "columns(from=0, to=2, laplacian(gamma=1))"],
    build: |v| Kernel::Columns { from: v[0].whole(), to: v[1].whole(), of: Box::new(v[2].kernel()) },
    ..KernelEntry::EMPTY
};

pub(in crate::kernel) const SUBVECTOR: KernelEntry = KernelEntry {
    name: "subvector",
    formula: "sum_r k(x_r, y_r)^degree, x_r = x[r step .. r step + size]",
    doc: "Sum of products of coordinates within neighbourhoods.",
    params: &[
        Param::new(
            "size",
            Allowed::Count(1, u32::MAX as u64),
            None,
            "columns per subvector; the last may be shorter",
        ),
        Param::new(
            "step",
            Allowed::Count(1, u32::MAX as u64),
            None,
            "stride between subvectors, in columns; equal to size for no overlap",
        ),
        Param::new("degree", Allowed::Count(1, 1000), Some("1"), "power of each term"),
        Param::new("of", Allowed::Kernel, None, "the kernel on a subvector"),
    ],
    definiteness: "positive if the kernel is; of degree 1, that of the kernel",
    translation_invariant: true,
    algebra: true,
    examples: &[
        "subvector(size=2, step=2, degree=3, linear)",
        "subvector(size=3, step=1, poly(degree=2, coef0=1))",
        "subvector(size=2, step=2, degree=2, laplacian(gamma=0.5))",
    ],
    build: |v| Kernel::Subvector {
        size: v[0].whole(),
        step: v[1].whole(),
        degree: v[2].whole(),
        of: Box::new(v[3].kernel()),
    },
    ..KernelEntry::EMPTY
};

/// Checks that the columns exist; returns the number of columns that the inner kernel sees, where it is known.
pub(in crate::kernel) fn check(kernel: &Kernel, d: Option<usize>) -> Result<Option<usize>> {
    match *kernel {
        Kernel::Columns { from, to, .. } => {
            if from >= to {
                return Err(Error::param("columns to", to, format!("above from = {from}")));
            }
            if let Some(d) = d.filter(|&d| to as usize > d) {
                return Err(Error::param("columns to", to, format!("at most {d}, the number of columns")));
            }
            Ok(Some((to - from) as usize))
        }
        Kernel::Subvector { size, step, .. } => match d {
            Some(d) if size as usize > d => {
                Err(Error::param("subvector size", size, format!("at most {d}, the number of columns")))
            }
            // The inner width is known only if all subvectors have the same length.
            Some(d) if step == size && d % size as usize != 0 => Ok(None),
            _ => Ok(Some(size as usize)),
        },
        _ => Ok(d),
    }
}

/// The starts and ends of the subvectors of d columns. Overlapping subvectors are all complete; without overlap the
/// last may be shorter.
pub(in crate::kernel) fn runs(d: usize, size: u32, step: u32) -> impl Iterator<Item = (usize, usize)> {
    let (size, step) = (size as usize, (step as usize).max(1));
    (0..d).step_by(step).map(move |from| (from, (from + size).min(d))).take_while(
        // Skip a start whose subvector is only the end of the one before it.
        move |&(from, _)| from == 0 || from + size <= d || step >= size,
    )
}

pub(in crate::kernel) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    match kernel {
        Kernel::Columns { from, to, of } => {
            let (from, to) = (*from as usize, *to as usize);
            Some(of.value_of(x.columns(from, to), y.columns(from, to)))
        }
        Kernel::Subvector { size, step, degree, of } => {
            let part =
                |(from, to)| of.value_of(x.columns(from, to), y.columns(from, to)).powi(*degree as i32);
            Some(runs(x.len().max(y.len()), *size, *step).map(part).sum())
        }
        _ => None,
    }
}

/// A block; `false` for other kernels.
pub(in crate::kernel) fn block<T: Real>(
    kernel: &Kernel,
    a: &Dense<'_, T>,
    b: &Dense<'_, T>,
    out: &mut [T],
) -> bool {
    match kernel {
        Kernel::Columns { from, to, of } => {
            let (from, to) = (*from as usize, *to as usize);
            block::dense(of, &a.columns(from, to), &b.columns(from, to), out);
            true
        }
        Kernel::Subvector { size, step, degree, of } => {
            let mut part = vec![T::ZERO; out.len()];
            out.fill(T::ZERO);
            for (from, to) in runs(a.d, *size, *step) {
                block::dense(of, &a.columns(from, to), &b.columns(from, to), &mut part);
                T::powi_all(&mut part, *degree);
                T::add_all(out, &part);
            }
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_the_columns() {
        let all = |d, size, step| runs(d, size, step).collect::<Vec<_>>();
        assert_eq!(all(5, 2, 2), [(0, 2), (2, 4), (4, 5)]);
        assert_eq!(all(4, 2, 2), [(0, 2), (2, 4)]);
        assert_eq!(all(5, 3, 1), [(0, 3), (1, 4), (2, 5)]);
        assert_eq!(all(7, 2, 3), [(0, 2), (3, 5), (6, 7)]);
        assert_eq!(all(2, 5, 1), [(0, 2)]);
    }

    #[test]
    fn columns_that_do_not_exist_are_refused() {
        let kernel: Kernel = "columns(from=2, to=6, linear)".parse().expect("a kernel");
        assert!(kernel.check(Some(6)).is_ok());
        let e = kernel.check(Some(5)).expect_err("too few columns");
        assert_eq!(e.to_string(), "columns to = 6: must be at most 5, the number of columns");
        assert!("columns(from=2, to=2, linear)".parse::<Kernel>().is_err());
        let inner: Kernel = "columns(from=0, to=2, ard(gammas=[1, 2, 3]))".parse().unwrap_or(Kernel::Linear);
        assert_eq!(inner, Kernel::Linear, "three widths for two columns");
    }
}
