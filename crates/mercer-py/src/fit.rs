//! Fits: a learner by name, its parameters as JSON, arrays.

use mercer::data::Points;
use mercer::data::Targets;
use mercer::gram::{Matrix, is_precomputed};
use mercer::kernel::Kernel;
use mercer::model::{Body, DenoiseParams, KpcaParams, Learner, Names, Sample};
use mercer::{Error, Par};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::arrays::{Answers, Rows, Shape, flat};
use crate::model::Model;
use crate::run::watched;
use crate::words::{json, raise};

/// Rows for a kernel: under a precomputed one they are its matrix, and the points are numbers of rows.
fn rows_for(kernel: Option<&Kernel>, points: Points) -> mercer::Result<(Points, Option<Matrix>)> {
    if !kernel.is_some_and(is_precomputed) {
        return Ok((points, None));
    }
    let n = points.len();
    let matrix = Matrix::new(points.view().to_f64()?, n)?;
    Ok((Points::row_numbers((0..n as u32).collect()), Some(matrix)))
}

fn named(body: Body, columns: Option<Vec<String>>) -> mercer::model::Model {
    let names = Names { columns: columns.unwrap_or_default(), target: None };
    mercer::model::Model { names, ..body.into() }
}

/// Fits a learner of the library's table. `params` is a JSON object with names of the learner's table.
#[pyfunction]
#[pyo3(signature = (learner, params, kernel, rows, answers=None, weights=None, *, threads=0, columns=None, image=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit(
    py: Python<'_>,
    learner: &str,
    params: &str,
    kernel: Option<&str>,
    rows: Rows<'_>,
    answers: Option<Answers<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
    columns: Option<Vec<String>>,
    image: Shape,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let mut learner = Learner::find(learner).map_err(raise)?.learner();
    if let Some(line) = kernel {
        learner.set_kernel(line.parse().map_err(raise)?);
    }
    let Value::Object(params) = json(params)? else {
        return Err(PyValueError::new_err("parameters: expected an object"));
    };
    for (name, value) in params {
        learner.set(&name, value).map_err(raise)?;
    }
    let points = rows.points(image)?;
    let targets = Answers::targets(answers.as_ref())?;
    let weights = weights.map(|w| flat(w.as_slice()).map(<[f64]>::to_vec)).transpose()?;
    let model = watched(py, callback.as_ref(), move |watch| {
        let (points, gram) = rows_for(learner.kernel(), points)?;
        let sample = Sample {
            points: &points,
            targets: &targets,
            weights: weights.as_deref(),
            gram: gram.as_ref().map(|m| m as _),
            keeper: None,
        };
        Ok(named(learner.fit(sample, Par::new(threads), watch)?, columns))
    })?;
    Ok(Model::from(model))
}

/// Finds kernel principal components. Where the matrix has fewer components than asked for, all of them.
#[pyfunction]
#[pyo3(signature = (params, rows, *, threads=0, columns=None, image=None, callback=None))]
pub(crate) fn fit_components(
    py: Python<'_>,
    params: &str,
    rows: Rows<'_>,
    threads: usize,
    columns: Option<Vec<String>>,
    image: Shape,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let params: KpcaParams = read(params)?;
    let points = rows.points(image)?;
    let model = watched(py, callback.as_ref(), move |watch| {
        let (points, gram) = rows_for(params.kernel.as_ref(), points)?;
        let sample = Sample { gram: gram.as_ref().map(|m| m as _), ..Sample::new(&points, &Targets::None) };
        let par = Par::new(threads);
        let found = match params.fit(sample, par, watch) {
            Err(Error::Param { name, .. }) if name == "components" && params.components > Some(0) => {
                KpcaParams { components: None, ..params }.fit(sample, par, watch)?
            }
            other => other?,
        };
        Ok(named(Body::Kpca(found), columns))
    })?;
    Ok(Model::from(model))
}

/// Components to denoise with, found in `rows`: the model, the number of components to use, the noise taken to be there.
#[pyfunction]
#[pyo3(signature = (rows, noisy=None, *, kernel=None, components=None, noise=None, seed=0, threads=0, image=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit_denoiser(
    py: Python<'_>,
    rows: Rows<'_>,
    noisy: Option<Rows<'_>>,
    kernel: Option<&str>,
    components: Option<usize>,
    noise: Option<f64>,
    seed: u64,
    threads: usize,
    image: Shape,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, usize, Option<f64>)> {
    let kernel = kernel.map(str::parse).transpose().map_err(raise)?;
    let params = DenoiseParams { kernel, components, noise, seed, ..DenoiseParams::default() };
    let points = rows.points(image)?;
    let noisy = noisy.map(|rows| rows.points(image)).transpose()?;
    let found = watched(py, callback.as_ref(), move |watch| {
        params.fit(&points, noisy.as_ref(), Par::new(threads), watch)
    })?;
    Ok((Model::from(named(Body::Kpca(found.model), None)), found.components, found.noise))
}

/// A parameter struct from JSON.
pub(crate) fn read<P: serde::de::DeserializeOwned>(params: &str) -> PyResult<P> {
    serde_json::from_str(params).map_err(|e| PyValueError::new_err(format!("parameters: {e}")))
}
