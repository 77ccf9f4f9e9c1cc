//! Kernels by their lines, kernel matrices, and stages by themselves.

use std::sync::Arc;

use mercer::data::{Stage, Stages as Fitted, Transformations};
use mercer::expansion::Expansion;
use mercer::gram;
use mercer::kernel::Kernel;
use mercer::model::{empirical_map, whitening_map};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::arrays::{Answers, Rows, Shape, flat, given, table};
use crate::run::{exec, free, watched};
use crate::words::raise;

/// A kernel's line as the library writes it: checked, with defaults left out.
#[pyfunction]
pub(crate) fn kernel_line(line: &str) -> PyResult<String> {
    Ok(line.parse::<Kernel>().map_err(raise)?.to_string())
}

/// Name, formula and parameters of every kernel: `(name, formula, doc, [(parameter, default, doc)])`.
#[pyfunction]
pub(crate) fn kernel_names() -> Vec<(&'static str, &'static str, &'static str, Vec<Parameter>)> {
    let kernels = Kernel::ALL.iter().filter(|entry| !entry.algebra);
    let row = |e: &mercer::kernel::KernelEntry| {
        let params = e.params.iter().map(|p| (p.name, p.default, p.doc)).collect();
        (e.name, e.formula, e.doc, params)
    };
    kernels.map(row).collect()
}

/// Name, default and meaning.
type Parameter = (&'static str, Option<&'static str>, &'static str);

/// The kernel's values, one row a row of x and one column a row of y; without y, those of x with itself.
#[pyfunction]
#[pyo3(signature = (kernel, x, y=None, *, threads=0))]
pub(crate) fn kernel_matrix<'py>(
    py: Python<'py>,
    kernel: &str,
    x: Rows<'py>,
    y: Option<Rows<'py>>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel: Kernel = kernel.parse().map_err(raise)?;
    let (x, exec) = (x.seen(None)?, exec(threads));
    let y = y.as_ref().map(|y| y.seen(None)).transpose()?;
    let (values, columns) = free(py, || match &y {
        Some(y) => gram::cross::<f64>(&kernel, x.view(), y.view(), exec).map(|v| (v.to_vec(), y.view().n)),
        None => gram::square::<f64>(&kernel, x.view(), exec).map(|v| (v.to_vec(), x.view().n)),
    })?
    .map_err(raise)?;
    table(py, values, columns)
}

/// A map into the span of some points: functions that are sums of kernels.
#[pyclass(frozen, module = "mercer._mercer")]
#[derive(Debug, Clone)]
pub(crate) struct Map(Arc<Expansion>);

impl From<Expansion> for Map {
    fn from(functions: Expansion) -> Self {
        Map(Arc::new(functions))
    }
}

#[pymethods]
impl Map {
    /// The empirical kernel map on these rows, or with `whiten` the one whose dot products are the kernel's values.
    #[classmethod]
    #[pyo3(signature = (kernel, rows, whiten, *, threads=0, callback=None))]
    fn empirical(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        kernel: &str,
        rows: Rows<'_>,
        whiten: bool,
        threads: usize,
        callback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let kernel: Kernel = kernel.parse().map_err(raise)?;
        let points = rows.points(None)?;
        let map = watched(py, callback.as_ref(), move |_| {
            if whiten { whitening_map(kernel, points, exec(threads)) } else { empirical_map(kernel, points) }
        })?;
        Ok(Map(Arc::new(map)))
    }

    #[classmethod]
    fn from_parts(
        _class: &Bound<'_, PyType>,
        kernel: &str,
        centres: Rows<'_>,
        coef: PyReadonlyArray2<'_, f64>,
        offset: Vec<f64>,
    ) -> PyResult<Self> {
        let kernel: Kernel = kernel.parse().map_err(raise)?;
        let coef = flat(coef.as_slice())?.to_vec();
        let map = Expansion::new(kernel, centres.points(None)?, coef, offset).map_err(raise)?;
        Ok(Map(Arc::new(map)))
    }

    /// The coefficients, a row a centre and a column a function.
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        table(py, self.0.coef().to_vec(), self.0.outputs())
    }

    /// The offset of each function.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.offset().to_vec().into_pyarray(py)
    }

    /// The functions' values at rows.
    #[pyo3(signature = (rows, *, threads=0))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let seen = rows.seen(None)?;
        let values = free(py, || self.0.evaluate(seen.view(), exec(threads)))?.map_err(raise)?;
        table(py, values, self.0.outputs())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, map) = (slf.py(), &slf.get().0);
        let centres = given(py, map.centres().view())?;
        let coef = table(py, map.coef().to_vec(), map.outputs())?;
        let parts = (map.kernel().to_string(), centres, coef, map.offset().to_vec());
        Ok((slf.get_type().getattr("from_parts")?, parts.into_pyobject(py)?))
    }
}

/// A column of a table: its name, kind and coding, and the names of the columns it becomes.
type Coded = (String, &'static str, String, Vec<String>);

/// Stages fitted on rows: scalings, filters, maps that make a metric invariant.
#[pyclass(frozen, module = "mercer._mercer")]
#[derive(Debug)]
pub(crate) struct Stages(pub(crate) Fitted);

#[pymethods]
impl Stages {
    /// Fits a line of stages such as `standard` or `invariant(tangents="shift=1", lambda=0.4)`.
    #[new]
    #[pyo3(signature = (line, rows, answers=None, *, threads=0, image=None))]
    fn new(
        py: Python<'_>,
        line: &str,
        rows: Rows<'_>,
        answers: Option<Answers<'_>>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Self> {
        let recipes = Fitted::parse(line).map_err(raise)?;
        let targets = Answers::targets(answers.as_ref())?;
        let seen = rows.seen(image)?;
        let exec = exec(threads);
        let found = free(py, || Fitted::fit_with(&recipes, seen.view(), targets.classes().ok(), exec))?;
        Ok(Stages(found.map_err(raise)?.0))
    }

    /// The map under which transformations of images, such as `shift=1, rotate=5`, count less.
    #[classmethod]
    #[pyo3(signature = (transformations, rows, factor, drop, *, threads=0, image=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn invariant(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        transformations: &str,
        rows: Rows<'_>,
        factor: f64,
        drop: usize,
        threads: usize,
        image: Shape,
    ) -> PyResult<Self> {
        let set = Transformations::parse(transformations).map_err(raise)?;
        let seen = rows.seen(image)?;
        let stage = free(py, || Stage::invariant(seen.view(), &set, factor, drop, exec(threads)))?;
        Ok(Stages(Fitted { list: vec![stage.map_err(raise)?] }))
    }

    /// Random Fourier features from frequencies, a row a feature, and phases that were drawn.
    #[classmethod]
    fn fourier(
        _class: &Bound<'_, PyType>,
        frequencies: PyReadonlyArray2<'_, f64>,
        phases: Vec<f64>,
        gamma: f64,
    ) -> PyResult<Self> {
        let columns = frequencies.shape()[1];
        let stage = Stage::fourier(flat(frequencies.as_slice())?.to_vec(), columns, phases, gamma);
        Ok(Stages(Fitted { list: vec![stage.map_err(raise)?] }))
    }

    /// What the stages make of rows.
    #[pyo3(signature = (rows, *, threads=0, image=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let seen = rows.seen(image)?;
        let made = free(py, || self.0.apply(seen.view(), exec(threads)))?.map_err(raise)?;
        given(py, made.view())
    }

    /// The way back, where there is one.
    #[pyo3(signature = (rows, *, threads=0, image=None))]
    fn undo<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let seen = rows.seen(image)?;
        let made = free(py, || self.0.undo(seen.view(), exec(threads)))?.map_err(raise)?;
        given(py, made.view())
    }

    /// Each stage in a line.
    fn describe(&self) -> Vec<String> {
        self.0.list.iter().map(Stage::describe).collect()
    }

    /// Columns that rows have after the last stage.
    #[getter]
    fn columns(&self) -> Option<usize> {
        self.0.list.last().map(Stage::output_dim)
    }

    /// For stages that begin with a table: its columns as `(name, kind, coding, names of the columns it becomes)`.
    fn table_columns(&self) -> Option<Vec<Coded>> {
        let columns = self.0.list.first()?.coded_columns()?;
        Some(columns.into_iter().map(|c| (c.name, c.kind, c.coding, c.outputs)).collect())
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    #[classmethod]
    fn from_json(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map(Stages).map_err(|e| PyValueError::new_err(format!("stages: {e}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json()?,)))
    }
}
