//! Linear machines with a penalised offset, and ridge regression on several columns of targets.

use std::borrow::Cow;

use mercer::data::{Data, Points, Targets};
use mercer::model::svc::PointRows;
use mercer::model::{RidgeParams, Sample};
use mercer::solve::{
    BasisLoss, BasisProblem, DescentParams, LinearProblem, Shift, descend, fit_basis_within,
};
use mercer::watch::{Stop, Watch};
use mercer::{Error, Exec};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::{Rows, flat};
use crate::fit::{is_small, read, rows_for};
use crate::maps::Map;
use crate::run::{brief, exec};

/// Weights, epochs, whether the tolerance was reached.
type Weights<'py> = (Bound<'py, PyArray1<f64>>, u64, bool);

/// Functions, the rows behind their centres, the largest relative residual left.
type Columns<'py> = (Map, Bound<'py, PyArray1<u32>>, f64);

/// A linear machine: `minimise |w|^2 / 2 + sum_i cost_i loss(y_i, w . x_i)`. The loss is the hinge, or with `epsilon` absolute
/// errors beyond it; `squared` squares it. Rows of cost 0 are left out. With `constant`, rows have one more column of that value:
/// the last weight is its.
#[pyfunction]
#[pyo3(signature = (rows, targets, cost, *, squared, constant=None, epsilon=None, tol=1e-4, epochs=1000, seed=0, memory=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit_linear<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    targets: PyReadonlyArray1<'py, f64>,
    cost: PyReadonlyArray1<'py, f64>,
    squared: bool,
    constant: Option<f64>,
    epsilon: Option<f64>,
    tol: f64,
    epochs: u64,
    seed: u64,
    memory: Option<u64>,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Weights<'py>> {
    let (y, cost) = (flat(targets.as_slice())?.to_vec(), flat(cost.as_slice())?.to_vec());
    let is_brief = rows.size().is_some_and(is_small);
    let job = move |points: Points, watch: &mut Watch<'_>| {
        if y.len() != points.len() || cost.len() != points.len() {
            return Err(Error::shape("targets and costs", y.len().min(cost.len()), points.len()));
        }
        let exec = exec(1);
        let exec = memory.map_or(exec, |bytes| exec.with_memory(bytes));
        let x = PointRows::new(points.view(), exec).ok_or_else(|| {
            Error::Unsupported("rows of a linear machine must be numbers that fit in memory".into())
        })?;
        if squared && points.dim() <= NEWTON && points.dim() < points.len() {
            return newton(&points, &y, &cost, epsilon, constant, epochs, exec);
        }
        // Squared slack has no bound, and 1 / (2 C) on the diagonal of the dual problem.
        let bound = |c: f64| if squared && c > 0.0 { f64::INFINITY } else { c };
        let bounds: Vec<f64> = cost.iter().map(|&c| bound(c)).collect();
        let mut problem = match epsilon {
            Some(epsilon) => LinearProblem::regress(&y, epsilon, &bounds, false),
            None => LinearProblem::classify(&y, &bounds, false),
        };
        if squared {
            problem.shift = Shift::Each(cost.iter().map(|&c| if c > 0.0 { 0.5 / c } else { 0.0 }).collect());
        }
        let rule = DescentParams { tol, max_epochs: epochs, seed, ..DescentParams::default() };
        let found = descend(&constant.map_or(x, |v| x.with_constant(v)), &problem, &rule, watch)?;
        Ok((found.w, found.info.iterations, found.info.stop == Stop::Converged))
    };
    let found = rows
        .lend(None, |points| brief(py, is_brief, true, callback.as_ref(), move |watch| job(points, watch)))?;
    Ok((found.0.into_pyarray(py), found.1, found.2))
}

/// Columns up to which squared losses are minimised by Newton steps in the weights: a step costs their square for each row.
const NEWTON: usize = 1000;

/// The same problem with squared loss, in the weights themselves. A constant column is an offset whose square is penalised.
fn newton(
    points: &Points,
    y: &[f64],
    cost: &[f64],
    epsilon: Option<f64>,
    constant: Option<f64>,
    most: u64,
    exec: Exec,
) -> mercer::Result<(Vec<f64>, u64, bool)> {
    let d = points.dim();
    let values = match points.view().data {
        Data::F64(values) => Cow::Borrowed(values),
        _ => Cow::Owned(points.view().to_f64_within(exec.memory())?),
    };
    let unit: Vec<f64> = (0..d * d).map(|p| if p / d == p % d { 1.0 } else { 0.0 }).collect();
    let problem = BasisProblem {
        values: &values,
        gram: &unit,
        target: y,
        weight: cost,
        c: 1.0,
        loss: epsilon.map_or(BasisLoss::Hinge, BasisLoss::Tube),
        offset_cost: constant.map_or(f64::INFINITY, |v| v.powi(-2)),
    };
    let (mut found, steps, converged) = fit_basis_within(&problem, &vec![0.0; d + 1], most, exec)?;
    match constant {
        Some(v) => found[d] /= v,
        None => found.truncate(d),
    }
    Ok((found, steps, converged))
}

/// Kernel ridge regression on several columns of targets, with one factorisation for all of them.
#[pyfunction]
#[pyo3(signature = (params, rows, targets, weights=None, *, threads=0, memory=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit_ridge<'py>(
    py: Python<'py>,
    params: &str,
    rows: Rows<'py>,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    memory: Option<u64>,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Columns<'py>> {
    let params: RidgeParams = read(params)?;
    let points = rows.points(None)?;
    let is_brief = is_small((points.len(), points.dim()));
    let (y, k) = (flat(targets.as_slice())?, targets.shape()[1]);
    let right: Vec<Vec<f64>> = (0..k).map(|o| y.iter().skip(o).step_by(k).copied().collect()).collect();
    let weights = weights.map(|w| flat(w.as_slice()).map(<[f64]>::to_vec)).transpose()?;
    let (functions, support, info) = brief(py, is_brief, false, callback.as_ref(), move |watch| {
        let (points, gram) = rows_for(params.kernel.as_ref(), points)?;
        let sample = Sample {
            weights: weights.as_deref(),
            gram: gram.as_ref().map(|m| m as _),
            ..Sample::new(&points, &Targets::None)
        };
        let exec = exec(threads);
        let exec = memory.map_or(exec, |bytes| exec.with_memory(bytes));
        params.fit_columns(sample, &right, exec, watch)
    })?;
    Ok((Map::from(functions), support.into_pyarray(py), info.gap))
}
