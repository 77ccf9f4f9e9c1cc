//! Fits: a learner by name, its parameters as JSON, arrays.

use mercer::Error;
use mercer::data::Points;
use mercer::data::{LabelType, Targets};
use mercer::expansion::Expansion;
use mercer::gram::{self, Matrix, is_precomputed};
use mercer::kernel::Kernel;
use mercer::model::{DenoiseParams, KpcaParams, Learner, Machine, Names, Sample, spectral};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::arrays::{Answers, Rows, Shape, flat};
use crate::model::Model;
use crate::run::{brief, exec, watched};
use crate::words::{json, raise};

/// Rows for a kernel: under a precomputed one they are its matrix, and the points are numbers of rows.
pub(crate) fn rows_for(kernel: Option<&Kernel>, points: Points) -> mercer::Result<(Points, Option<Matrix>)> {
    if !kernel.is_some_and(is_precomputed) {
        return Ok((points, None));
    }
    let n = points.len();
    let matrix = Matrix::new(points.view().to_f64()?, n)?;
    Ok((Points::row_numbers((0..n as u32).collect()), Some(matrix)))
}

fn named(machine: Machine, columns: Option<Vec<String>>) -> mercer::model::Model {
    let names = Names { columns: columns.unwrap_or_default(), ..Names::default() };
    mercer::model::Model { names, ..machine.into() }
}

/// The type of class labels by its name in numpy. Refuses names that are no labels of it: the model's file could not be
/// read back.
pub(crate) fn label_type(name: Option<&str>, classes: &[String]) -> PyResult<Option<LabelType>> {
    let Some(kind) = name.map(LabelType::find).transpose().map_err(raise)? else { return Ok(None) };
    if kind.holds(classes) {
        return Ok(Some(kind));
    }
    let words = format!("class labels {}: must be labels of type {}", classes.join(", "), kind.name());
    Err(PyValueError::new_err(words))
}

/// A learner of the library's table with parameters from JSON.
pub(crate) fn with_params(learner: &str, kernel: Option<Kernel>, params: &str) -> PyResult<Learner> {
    let mut learner = Learner::find(learner).map_err(raise)?.learner();
    if let Some(kernel) = kernel {
        learner.set_kernel(kernel);
    }
    let Value::Object(params) = json(params)? else {
        return Err(PyValueError::new_err("parameters: expected an object"));
    };
    for (name, value) in params {
        learner.set(&name, value).map_err(raise)?;
    }
    Ok(learner)
}

/// Every learner with its parameters as the library declares them, as JSON: `{learner: {name: {allowed, default, doc}}}`, the
/// parameters that it takes.
#[pyfunction]
pub(crate) fn learner_table() -> String {
    let rows = Learner::ALL.iter().map(|entry| {
        let params = entry.learner().table().iter().filter(|param| entry.takes(param.name)).map(|param| {
            let about = serde_json::json!({
                "allowed": param.allowed.to_string(),
                "default": param.default,
                "doc": param.doc,
            });
            (param.name.to_owned(), about)
        });
        (entry.name.to_owned(), Value::Object(params.collect()))
    });
    Value::Object(rows.collect()).to_string()
}

/// Fits a learner of the library's table. `params` is a JSON object with names of the learner's table; `labels` is the
/// type of the class labels; `memory` is the budget in bytes, half of the machine's memory where it is not given. On at most
/// `exact` rows the kernel matrix is computed first, in f64: then rows by any storage, and matrices of the same values, are
/// the same problem to the solver. Support vector machines start at the solution of `near`, a model that was fitted on the
/// same rows.
#[pyfunction]
#[pyo3(signature = (learner, params, kernel, rows, answers=None, weights=None, *, near=None, threads=0, memory=None, exact=0, columns=None, labels=None, image=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit(
    py: Python<'_>,
    learner: &str,
    params: &str,
    kernel: Option<&str>,
    rows: Rows<'_>,
    answers: Option<Answers<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    near: Option<PyRef<'_, Model>>,
    threads: usize,
    memory: Option<u64>,
    exact: usize,
    columns: Option<Vec<String>>,
    labels: Option<&str>,
    image: Shape,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let learner = with_params(learner, kernel.map(str::parse).transpose().map_err(raise)?, params)?;
    let targets = Answers::targets(answers.as_ref())?;
    let labels = match &targets {
        Targets::Classes(classes) => label_type(labels, &classes.names)?,
        _ => None,
    };
    let weights = weights.map(|w| flat(w.as_slice()).map(<[f64]>::to_vec)).transpose()?;
    let near = near.map(|model| model.shared());
    let is_brief = rows.size().is_some_and(is_small) && tells_steps(&learner);
    let lends = is_brief || stops_soon(&learner);
    let fitted = |points: Points| {
        brief(py, is_brief, lends, callback.as_ref(), move |watch| {
            let (points, mut gram) = rows_for(learner.kernel(), points)?;
            let exec = exec(threads);
            let exec = memory.map_or(exec, |bytes| exec.with_memory(bytes));
            if let (None, Some(kernel)) = (&gram, learner.kernel())
                && points.len() <= exact
                && (points.len() as u64).pow(2) * 16 <= exec.memory()
            {
                gram = Some(Matrix::new(
                    gram::square::<f64>(kernel, points.view(), exec.with_threads(1))?.to_vec(),
                    points.len(),
                )?);
            }
            let sample = Sample {
                points: &points,
                targets: &targets,
                weights: weights.as_deref(),
                gram: gram.as_ref().map(|m| m as _),
                keeper: None,
            };
            let machine = match &near {
                Some(near) => learner.fit_near(sample, &near.machine, exec, watch)?,
                None => learner.fit(sample, exec, watch)?,
            };
            let mut model = named(machine, columns);
            model.names.labels = labels;
            Ok(model)
        })
    };
    let model = if lends { rows.lend(image, fitted) } else { fitted(rows.points(image)?) };
    Ok(Model::from(model?))
}

/// Rows and values up to which a fit stays on the calling thread.
const SMALL: (usize, usize) = (512, 65_536);

/// Whether a learner tells its steps often.
fn tells_steps(learner: &Learner) -> bool {
    matches!(learner, Learner::Ridge(_) | Learner::Kpca(_)) || stops_soon(learner)
}

/// Whether a learner's fit ends within a moment of being told to, on any number of rows: a factorisation that has begun does
/// not.
fn stops_soon(learner: &Learner) -> bool {
    match learner {
        Learner::Svc(params) => params.virtual_vectors.is_empty(),
        Learner::Svr(params) => params.virtual_vectors.is_empty(),
        Learner::OneClass(_) | Learner::Sphere(_) => true,
        _ => false,
    }
}

/// Whether anything that takes the cube of so many rows, of so many columns, is over soon.
pub(crate) fn is_small((rows, columns): (usize, usize)) -> bool {
    rows <= SMALL.0 && rows.saturating_mul(columns) <= SMALL.1
}

/// Spectral clustering by a kernel's values between rows: each row's cluster.
#[pyfunction]
#[pyo3(signature = (kernel, rows, clusters, *, starts=10, seed=0, threads=0, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn spectral_clusters<'py>(
    py: Python<'py>,
    kernel: &str,
    rows: Rows<'py>,
    clusters: usize,
    starts: u64,
    seed: u64,
    threads: usize,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let kernel: Kernel = kernel.parse().map_err(raise)?;
    let points = rows.points(None)?;
    let found = watched(py, callback.as_ref(), move |watch| {
        let exec = exec(threads);
        let values = if is_precomputed(&kernel) {
            points.view().to_f64()?
        } else {
            gram::square::<f64>(&kernel, points.view(), exec)?.to_vec()
        };
        spectral(&values, clusters, starts, seed, exec, watch)
    })?;
    Ok(found.into_pyarray(py))
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
    let is_brief = is_small((points.len(), points.dim()));
    let model = brief(py, is_brief, false, callback.as_ref(), move |watch| {
        let (points, gram) = rows_for(params.kernel.as_ref(), points)?;
        let sample = Sample { gram: gram.as_ref().map(|m| m as _), ..Sample::new(&points, &Targets::None) };
        let exec = exec(threads);
        let found = match params.fit(sample, exec, watch) {
            Err(Error::Param { name, .. }) if name == "components" && params.components > Some(0) => {
                KpcaParams { components: None, ..params }.fit(sample, exec, watch)?
            }
            other => other?,
        };
        Ok(named(oriented(found, &points, exec)?, columns))
    })?;
    Ok(Model::from(model))
}

/// The same components, each in the direction in which the training row that lies farthest along it is positive: the sign
/// that scikit-learn gives them.
fn oriented(machine: Machine, points: &Points, exec: mercer::Exec) -> mercer::Result<Machine> {
    let f = &machine.expansion;
    let k = f.outputs();
    let computed;
    let along = if f.len() == points.len() {
        f.coef()
    } else {
        computed = f.evaluate(points.view(), exec)?;
        &computed
    };
    let mut far = vec![0.0_f64; k];
    for row in along.chunks(k) {
        far.iter_mut().zip(row).filter(|(far, v)| v.abs() > far.abs()).for_each(|(far, v)| *far = *v);
    }
    if far.iter().all(|v| *v >= 0.0) {
        return Ok(machine);
    }
    let turned = |values: &[f64]| -> Vec<f64> {
        values.iter().zip(far.iter().cycle()).map(|(v, far)| if *far < 0.0 { -v } else { *v }).collect()
    };
    let (coef, offset) = (turned(f.coef()), turned(f.offset()));
    let expansion = Expansion::new(f.kernel().clone(), f.centres().clone(), coef, offset)?;
    Ok(Machine { expansion, ..machine })
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
        params.fit(&points, noisy.as_ref(), exec(threads), watch)
    })?;
    Ok((Model::from(named(found.model, None)), found.components, found.noise))
}

/// A parameter struct from JSON.
pub(crate) fn read<P: serde::de::DeserializeOwned>(params: &str) -> PyResult<P> {
    serde_json::from_str(params).map_err(|e| PyValueError::new_err(format!("parameters: {e}")))
}
