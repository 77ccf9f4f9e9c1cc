//! A learner for large data over rows that workers hold: a shard on each worker, the solver on the client.

use std::sync::Arc;

use mercer::data::LabelType;
use mercer::model::{
    KpcaParams, LargeAsk, LargeCentres, LargeFunction, LargeParams, LargeRows, LargeShard, LargeSums,
    Learner, Machine, Names, Sample,
};
use mercer::{Error, Exec};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{Caller, asking};
use crate::arrays::{Answers, Rows, flat, given};
use crate::fit::{label_type, with_params};
use crate::model::Model;
use crate::run::free;
use crate::words::raise;

/// The learner for large data of a name, with its parameters.
fn large(learner: &str, kernel: Option<&str>, params: &str) -> PyResult<LargeParams> {
    let kernel = kernel.map(str::parse).transpose().map_err(raise)?;
    match with_params(learner, kernel, params)? {
        Learner::Large(params) => Ok(params),
        other => {
            let words = format!("{}: is not a learner for large data", other.entry().name);
            Err(PyValueError::new_err(words))
        }
    }
}

/// Kernel, centres, and what else all who take part in a fit share.
#[pyclass(frozen, module = "mercer._mercer")]
pub(crate) struct Centres(Arc<LargeCentres>);

#[pymethods]
impl Centres {
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        Ok(Centres(Arc::new(LargeCentres::from_bytes(bytes).map_err(raise)?)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(raise)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// Number of centres.
    #[getter]
    fn count(&self) -> usize {
        self.0.points.len()
    }
}

/// Kernel and centres from rows drawn from all; `count` is how many rows there are in all places.
#[pyfunction]
#[pyo3(signature = (learner, params, kernel, rows, answers, count, *, threads=0))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn large_centres(
    py: Python<'_>,
    learner: &str,
    params: &str,
    kernel: &str,
    rows: Rows<'_>,
    answers: Option<Answers<'_>>,
    count: usize,
    threads: usize,
) -> PyResult<Centres> {
    let params = large(learner, Some(kernel), params)?;
    let points = rows.points(None)?;
    let targets = Answers::targets(answers.as_ref())?;
    let found = free(py, move || {
        let sample = Sample::new(&points, &targets);
        params.centres(sample, count, Exec::new(threads))
    })?;
    Ok(Centres(Arc::new(found.map_err(raise)?)))
}

/// A function as Python passes it: `(number, coefficients, offsets)`.
type Function<'py> = (u64, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);
/// The sums of a pass: against centres, over rows, values.
type Sums<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Rows on a worker, and their kernel values against the centres.
#[pyclass(frozen, module = "mercer._mercer")]
pub(crate) struct Shard(LargeShard);

#[pymethods]
impl Shard {
    #[new]
    #[pyo3(signature = (learner, params, centres, rows, targets, weights=None, *, threads=1, memory=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn new(
        py: Python<'_>,
        learner: &str,
        params: &str,
        centres: PyRef<'_, Centres>,
        rows: Rows<'_>,
        targets: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        threads: usize,
        memory: Option<u64>,
    ) -> PyResult<Self> {
        let params = large(learner, None, params)?;
        let points = rows.points(None)?;
        let targets = flat(targets.as_slice())?.to_vec();
        let weights = weights.map_or(Ok(Vec::new()), |w| flat(w.as_slice()).map(<[f64]>::to_vec))?;
        let centres = Arc::clone(&centres.0);
        let exec = Exec::new(threads);
        let exec = memory.map_or(exec, |bytes| exec.with_memory(bytes));
        let made = free(py, move || params.shard(&centres, points, targets, weights, exec))?;
        Ok(Shard(made.map_err(raise)?))
    }

    /// Its part of a pass: the loss and its slope at a function, or the curvature there along another one. Without `at` the
    /// curvature is 1.
    #[pyo3(signature = (at=None, along=None))]
    fn sums<'py>(
        &self,
        py: Python<'py>,
        at: Option<Function<'py>>,
        along: Option<Function<'py>>,
    ) -> PyResult<Sums<'py>> {
        let at = at.as_ref().map(function).transpose()?;
        let along = along.as_ref().map(function).transpose()?;
        let ask = match (at, along) {
            (at, Some(along)) => LargeAsk::Bend { at, along },
            (Some(at), None) => LargeAsk::Slope { at },
            (None, None) => return Err(PyValueError::new_err("a pass needs a function")),
        };
        let sums = free(py, || self.0.pass(&ask))?.map_err(raise)?;
        Ok((sums.against.into_pyarray(py), sums.ones.into_pyarray(py), sums.values.to_vec().into_pyarray(py)))
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Bytes that it holds.
    #[getter]
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The sum of the kernel's values of its rows with themselves.
    #[getter]
    fn trace(&self) -> f64 {
        self.0.trace()
    }

    /// `(rows, targets, weights)`, to make it again elsewhere.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = given(py, self.0.points().view())?;
        let weights = self.0.weights();
        let weights = (!weights.is_empty()).then(|| weights.to_vec().into_pyarray(py));
        Ok((rows, self.0.targets().to_vec().into_pyarray(py), weights).into_pyobject(py)?.into_any())
    }
}

fn function<'a>(given: &'a Function<'_>) -> PyResult<LargeFunction<'a>> {
    let (number, coef, offset) = given;
    Ok(LargeFunction { number: *number, coef: flat(coef.as_slice())?, offset: flat(offset.as_slice())? })
}

/// All rows, as Python answers for them: `passes(at, along)`.
struct Everywhere<'a> {
    caller: &'a Caller,
    passes: Arc<Py<PyAny>>,
    rows: usize,
    weight: f64,
}

/// A function on its way to Python.
type Sent = Option<(u64, Vec<f64>, Vec<f64>)>;

impl LargeRows for Everywhere<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn pass(&self, ask: &LargeAsk<'_>) -> mercer::Result<LargeSums> {
        let sent = |f: &LargeFunction<'_>| (f.number, f.coef.to_vec(), f.offset.to_vec());
        let (at, along): (Sent, Sent) = match ask {
            LargeAsk::Slope { at } => (Some(sent(at)), None),
            LargeAsk::Bend { at, along } => (at.as_ref().map(sent), Some(sent(along))),
        };
        let (k, size) = (ask.outputs(), at.iter().chain(&along).map(|f| f.1.len()).next().unwrap_or(0));
        let passes = Arc::clone(&self.passes);
        let sums = self.caller.ask(move |py| {
            let array =
                |f: Sent| f.map(|(n, coef, offset)| (n, coef.into_pyarray(py), offset.into_pyarray(py)));
            let given = passes.bind(py).call1((array(at), array(along)))?;
            let (against, ones, values): Sums<'_> = given.extract()?;
            Ok((against.to_vec()?, ones.to_vec()?, values.to_vec()?))
        })?;
        let (against, ones, values) = sums;
        let values = <[f64; 2]>::try_from(values).unwrap_or([f64::NAN; 2]);
        if against.len() != size || ones.len() != k {
            let got = format!("{} x {}", against.len(), ones.len());
            return Err(Error::shape("sums of a pass", got, format!("{size} x {k}")));
        }
        Ok(LargeSums { against, ones, values })
    }
}

/// Fits on rows that are elsewhere: `count` of them, whose weights sum up to `weight`. `passes(at, along)` answers for all.
#[pyfunction]
#[pyo3(signature = (learner, params, centres, count, weight, passes, *, threads=0, columns=None, labels=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit_large(
    py: Python<'_>,
    learner: &str,
    params: &str,
    centres: PyRef<'_, Centres>,
    count: usize,
    weight: f64,
    passes: Py<PyAny>,
    threads: usize,
    columns: Option<Vec<String>>,
    labels: Option<&str>,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let line = centres.0.kernel.to_string();
    let params = large(learner, Some(&line), params)?;
    let labels = label_type(labels, &centres.0.classes)?;
    let centres = Arc::clone(&centres.0);
    let machine = asking(py, callback.as_ref(), move |caller, watch| {
        let rows = Everywhere { caller, passes: Arc::new(passes), rows: count, weight };
        params.fit_rows(&centres, &rows, Exec::new(threads), watch)
    })?;
    Ok(named(machine, columns, labels))
}

fn named(machine: Machine, columns: Option<Vec<String>>, labels: Option<LabelType>) -> Model {
    let names = Names { columns: columns.unwrap_or_default(), labels, ..Names::default() };
    Model::from(mercer::model::Model { names, ..machine.into() })
}

/// Kernel principal components on centres, of rows that are elsewhere; `trace` is the sum of the shards' own.
#[pyfunction]
#[pyo3(signature = (params, centres, count, trace, passes, *, threads=0, columns=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit_large_components(
    py: Python<'_>,
    params: &str,
    centres: PyRef<'_, Centres>,
    count: usize,
    trace: f64,
    passes: Py<PyAny>,
    threads: usize,
    columns: Option<Vec<String>>,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let params: KpcaParams =
        serde_json::from_str(params).map_err(|e| PyValueError::new_err(format!("parameters: {e}")))?;
    let centres = Arc::clone(&centres.0);
    let machine = asking(py, callback.as_ref(), move |caller, watch| {
        let rows = Everywhere { caller, passes: Arc::new(passes), rows: count, weight: count as f64 };
        params.fit_rows(&centres, &rows, trace, Exec::new(threads), watch)
    })?;
    Ok(named(machine, columns, None))
}
