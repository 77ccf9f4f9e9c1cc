//! Functions shared by several learners: kernel rows, solver parameters, and outputs at new points.

use crate::data::{Csr, Data, Points, View};
use crate::error::{Error, Fault, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{KernelRows, Rows, is_precomputed};
use crate::kernel::{Kernel, default_gamma, default_sequence_kernel};
use crate::model::Sample;
use crate::solve::{Groups, Problem};

/// Calls with the rows of the kernel matrix: the sample's own, or computed from its points.
pub(in crate::model) fn on_rows<T>(
    kernel: &Kernel,
    sample: &Sample<'_>,
    exec: Exec,
    call: impl FnOnce(&dyn Rows) -> Result<T>,
) -> Result<T> {
    match sample.gram {
        Some(rows) => call(rows),
        None if is_precomputed(kernel) => Err(Error::Unsupported(
            "a precomputed kernel requires its matrix: pass it with the sample".into(),
        )),
        None => call(&KernelRows::new(kernel, sample.points, exec)?),
    }
}

/// Sets the start of a problem to the variables of an interrupted fit.
///
/// Fails unless their number and the sum on each side agree with the problem. The solver checks that they lie in the
/// box.
pub(in crate::model) fn go_on_from(problem: &mut Problem<'_>, checkpoint: Option<&[f64]>) -> Result<()> {
    let Some(from) = checkpoint else { return Ok(()) };
    let n = problem.rows.len();
    if from.len() != problem.linear.len() {
        return Err(Error::shape("variables of the checkpoint", from.len(), problem.linear.len()));
    }
    let start = problem.start.clone().unwrap_or_else(|| vec![0.0; from.len()]);
    let sums = |v: &[f64]| -> Vec<f64> {
        match problem.groups {
            Groups::One => vec![v.iter().sum()],
            _ => v.chunks(n).map(|side| side.iter().sum()).collect(),
        }
    };
    let size: f64 = 1.0 + from.iter().map(|v| v.abs()).sum::<f64>();
    for (got, want) in sums(from).into_iter().zip(sums(&start)) {
        if (got - want).abs() > 1e-9 * size {
            return Err(Error::shape("sum of the checkpoint's variables", got, want));
        }
    }
    problem.start = Some(from.to_vec());
    Ok(())
}

/// All outputs at new points, n x k row by row.
///
/// Under a precomputed kernel a point is the row of its kernel values against *all* training points, as in LIBSVM;
/// the columns of the centres are selected here.
pub(in crate::model) fn outputs(expansion: &Expansion, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
    let k = expansion.outputs();
    let Data::RowNumbers(centres) = expansion.centres().view().data else {
        return finite_rows(expansion.evaluate(points, exec)?, k);
    };
    let values = picked(points, centres)?;
    if centres.is_empty() {
        return Ok(expansion.offset().iter().copied().cycle().take(points.n * k).collect());
    }
    finite_rows(expansion.evaluate_values(&values, exec)?, k)
}

/// The outputs of rows, k each; fails if one of them is not finite, since a class or number derived from it would be
/// wrong without notice.
pub(in crate::model) fn finite_rows(values: Vec<f64>, k: usize) -> Result<Vec<f64>> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(values),
        Some(at) => Err(not_finite(values[at], at / k.max(1))),
    }
}

/// The error for row `i`, from 0, whose output is not finite.
pub(in crate::model) fn not_finite(value: f64, i: usize) -> Error {
    Fault {
        row: Some(i as u64 + 1),
        got: Some(format!("{value} as the model's output")),
        expected: "a finite number; the row's values are too large for this kernel".into(),
        ..Fault::default()
    }
    .into()
}

/// The values in some columns, n x m row by row.
pub(in crate::model) fn picked(points: View<'_>, columns: &[u32]) -> Result<Vec<f64>> {
    if let Some(&last) = columns.iter().max()
        && last as usize >= points.d
    {
        let expected =
            format!("at least {}: a kernel value against every training point", u64::from(last) + 1);
        return Err(Error::shape("columns under a precomputed kernel", points.d, expected));
    }
    let dense = |at: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..points.n).flat_map(|i| columns.iter().map(move |&c| at(i, c as usize))).collect()
    };
    match points.data {
        Data::F32(x) => Ok(dense(&|i, c| f64::from(x[i * points.d + c]))),
        Data::F64(x) => Ok(dense(&|i, c| x[i * points.d + c])),
        Data::Csr { start, column, value } => Ok(dense(&|i, c| {
            let row = start[i]..start[i + 1];
            column[row.clone()].binary_search(&(c as u32)).map_or(0.0, |p| value[row.start + p])
        })),
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
            Err(Error::shape("points under a precomputed kernel", points.kind(), "rows of kernel values"))
        }
    }
}

/// The same rows with more columns, which hold zeros. Sparse, because the number of columns comes from a file and may
/// be huge.
pub(in crate::model) fn widened(points: View<'_>, d: usize) -> Result<Points> {
    if let Data::Csr { start, column, value } = points.data {
        let run = start[0]..start[points.n];
        let start = start.iter().map(|s| s - run.start).collect();
        let csr = Csr { start, column: column[run.clone()].to_vec(), value: value[run].to_vec() };
        return Points::sparse(csr, d);
    }
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in points.to_f64()?.chunks(points.d) {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    Points::sparse(csr, d)
}

/// The rows whose coefficient is not zero.
pub(in crate::model) fn support(coef: &[f64]) -> Vec<u32> {
    (0u32..).zip(coef).filter(|(_, c)| **c != 0.0).map(|(i, _)| i).collect()
}

/// The kernel of a machine that requires a conditionally positive definite one: see [`basis_or_default`]. Kernels
/// known to have the wrong sign are refused; indefinite ones are accepted.
pub(in crate::model) fn kernel_or_default(kernel: Option<&Kernel>, sample: &Sample<'_>) -> Result<Kernel> {
    kernel.map_or(Ok(()), Kernel::check_sign)?;
    basis_or_default(kernel, sample)
}

/// The given kernel, or by default a Gaussian ([`default_gamma`]), or the default kernel of sequences
/// ([`default_sequence_kernel`]). For machines that accept any kernel functions.
pub(in crate::model) fn basis_or_default(kernel: Option<&Kernel>, sample: &Sample<'_>) -> Result<Kernel> {
    if let Some(kernel) = kernel {
        return Ok(kernel.clone());
    }
    let view = sample.points.view();
    if let Some(kernel) = default_sequence_kernel(view) {
        return Ok(kernel);
    }
    match view.data {
        Data::RowNumbers(_) => Ok(Kernel::Precomputed),
        Data::Table { .. } => {
            Err(Error::shape("points", view.kind(), "rows of numbers: apply stage `table` first"))
        }
        // Constant data: the width has no effect.
        _ => Ok(Kernel::Rbf { gamma: default_gamma(view).unwrap_or(1.0 / view.d.max(1) as f64) }),
    }
}
