//! A fitted model of any kind: what files hold, what predicts.

use std::path::PathBuf;
use std::sync::Arc;

use mercer::Error;
use mercer::data::{Data, Dataset, Points};
use mercer::model::{
    Calibration, Components, CompressParams, Denoiser, Goal, Model as Fitted, Prediction, Query, Sigmoid,
    onnx,
};
use mercer::reduce::preimage::{PreimageParams, Preimages, preimages};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share, Size};
use mercer::watch::Stop;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::arrays::{Answers, Rows, Shape, flat, given, table};
use crate::fit::{label_type, read, with_params};
use crate::maps::Stages;
use crate::parts;
use crate::run::{exec, free, watched};
use crate::words::raise;

/// A fitted model. Cheap to copy; never changes.
#[pyclass(frozen, module = "mercer._mercer")]
#[derive(Debug, Clone)]
pub(crate) struct Model(Arc<Fitted>);

impl From<Fitted> for Model {
    fn from(model: Fitted) -> Self {
        Model(Arc::new(model))
    }
}

/// Points found in input space, and how far their images are from what was looked for.
type Found<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

impl Model {
    /// The model of the library.
    pub(crate) fn shared(&self) -> Arc<Fitted> {
        Arc::clone(&self.0)
    }

    fn kpca(&self) -> PyResult<Components<'_>> {
        self.0.machine.components().map_err(raise)
    }

    /// What is asked for about rows, while other threads of Python go on.
    fn queried(
        &self,
        py: Python<'_>,
        rows: &Rows<'_>,
        query: &Query,
        threads: usize,
        image: Shape,
    ) -> PyResult<Prediction> {
        let seen = rows.seen(image)?;
        free(py, || self.0.predict_rows(seen.view(), query, exec(threads)))?.map_err(raise)
    }
}

#[pymethods]
impl Model {
    /// Reads a file of the command or of this package.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Fitted::load(path)).map(Model::from).map_err(raise)
    }

    /// Writes a file that the command reads too.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(raise)
    }

    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        Fitted::from_bytes("bytes", bytes).map(Model::from).map_err(raise)
    }

    /// A model from LIBSVM's text.
    #[classmethod]
    fn from_libsvm(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        Fitted::from_libsvm("LIBSVM's text", text.as_bytes()).map(Model::from).map_err(raise)
    }

    /// A machine from its parts: learner `svc` or `nu-svc` (machines of pairs, or against the rest), `svr`, `nu-svr`, `ridge`
    /// or `one-class`, with the parameters it was fitted with as JSON; coefficients a row a support vector, a column an output, positive for the
    /// second class of a pair. `sigmoids` calibrate the outputs; `stages` map rows first.
    #[classmethod]
    #[pyo3(signature = (learner, params, kernel, rows, coef, offset, classes, support, *, columns=None, labels=None, sigmoids=None, stages=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn from_machine(
        _class: &Bound<'_, PyType>,
        learner: &str,
        params: &str,
        kernel: &str,
        rows: Rows<'_>,
        coef: PyReadonlyArray2<'_, f64>,
        offset: Vec<f64>,
        classes: Vec<String>,
        support: Vec<u32>,
        columns: Option<Vec<String>>,
        labels: Option<&str>,
        sigmoids: Option<Vec<(f64, f64)>>,
        stages: Option<PyRef<'_, Stages>>,
    ) -> PyResult<Self> {
        let kernel: mercer::kernel::Kernel = kernel.parse().map_err(raise)?;
        let coef = flat(coef.as_slice())?.to_vec();
        let points = match (mercer::gram::is_precomputed(&kernel), rows) {
            (true, _) => Points::row_numbers(support.clone()),
            (false, rows) => rows.points(None)?,
        };
        let labels = label_type(labels, &classes)?;
        let learner = with_params(learner, Some(kernel.clone()), params)?;
        let mut model =
            parts::machine(learner, kernel, points, coef, offset, classes, support).map_err(raise)?;
        model.names.labels = labels;
        model.names.columns = columns.unwrap_or_default();
        if let Some(all) = sigmoids {
            if all.len() != model.machine.expansion.outputs() {
                let words = format!("sigmoids: got {}, expected one per output", all.len());
                return Err(PyValueError::new_err(words));
            }
            let all = all.into_iter().map(|(a, b)| Sigmoid { a, b }).collect();
            model.machine.calibration = Calibration::Sigmoids(all);
        }
        if let Some(stages) = stages {
            model.stages = stages.0.clone();
        }
        Ok(Model::from(model))
    }

    /// The same model behind stages that map rows first; `columns` are the names of the columns that they take.
    fn behind(&self, stages: PyRef<'_, Stages>, columns: Vec<String>) -> Self {
        let mut model = self.0.as_ref().clone();
        let mut list = stages.0.list.clone();
        list.append(&mut model.stages.list);
        model.stages.list = list;
        model.names.columns = columns;
        Model::from(model)
    }

    /// The stages that map rows first.
    fn stages(&self) -> Stages {
        Stages(self.0.stages.clone())
    }

    /// Components from their parts: unit axes in the span of rows, the eigenvalues of the centred kernel matrix.
    #[classmethod]
    #[pyo3(signature = (kernel, rows, axes, values, total))]
    fn from_components(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        kernel: &str,
        rows: Rows<'_>,
        axes: PyReadonlyArray2<'_, f64>,
        values: PyReadonlyArray1<'_, f64>,
        total: f64,
    ) -> PyResult<Self> {
        let kernel: mercer::kernel::Kernel = kernel.parse().map_err(raise)?;
        let points = rows.points(None)?;
        let (axes, values) = (flat(axes.as_slice())?.to_vec(), flat(values.as_slice())?.to_vec());
        free(py, || parts::components(kernel, points, axes, values, total))?.map(Model::from).map_err(raise)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.to_bytes()).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| onnx::write(&self.0)).map_err(raise)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_libsvm(&self) -> PyResult<String> {
        self.0.to_libsvm().map_err(raise)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// The model in plain words and numbers, as JSON.
    fn describe(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.describe()).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Ok(slf.py().import("mercer._html")?.call_method1("line", (slf,))?.unbind())
    }

    /// The model as a table, for the cell of a notebook.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Ok(slf.py().import("mercer._html")?.call_method1("of_model", (slf,))?.unbind())
    }

    /// How the fit ended: `converged`, `limit` or `cancelled`.
    #[getter]
    fn stop(&self) -> &'static str {
        match self.0.machine.info.stop {
            Stop::Converged => "converged",
            Stop::Limit => "limit",
            Stop::Cancelled => "cancelled",
        }
    }

    /// The gap to the optimum that the fit left.
    #[getter]
    fn gap(&self) -> f64 {
        self.0.machine.info.gap
    }

    /// The line of the machine's kernel.
    #[getter]
    fn kernel(&self) -> String {
        self.0.machine.expansion.kernel().to_string()
    }

    /// The learner's name.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Columns of the points it takes; none under a precomputed kernel.
    #[getter]
    fn columns(&self) -> Option<usize> {
        let first = self.0.stages.list.first().map(mercer::data::Stage::input_dim);
        let centres = self.0.entry().centres();
        let numbers = !matches!(centres.view().data, Data::RowNumbers(_));
        first.or_else(|| numbers.then(|| centres.dim()))
    }

    /// The columns' names, where there are some.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.names.columns.clone()
    }

    /// The type of the class labels by its name in numpy, where it is known.
    #[getter]
    fn label_type(&self) -> Option<&'static str> {
        self.0.names.labels.map(mercer::data::LabelType::name)
    }

    /// The centres: an array, or `(data, indices, indptr, columns)`; none under a precomputed kernel.
    #[getter]
    fn centres<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        given(py, self.0.machine.expansion.centres().view())
    }

    /// The coefficients, a row a centre and a column an output.
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let f = &self.0.machine.expansion;
        table(py, f.coef().to_vec(), f.outputs())
    }

    /// The offset of each output.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.machine.expansion.offset().to_vec().into_pyarray(py)
    }

    /// The training rows with a coefficient.
    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.0.machine.support.clone().into_pyarray(py)
    }

    /// The coefficients of the training rows behind a collapsed linear machine, a row a support vector; none for all others.
    #[getter]
    fn dual<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let m = &self.0.machine;
        let coef = &m.dual.0;
        (!coef.is_empty()).then(|| table(py, coef.clone(), m.expansion.outputs())).transpose()
    }

    /// Iterations of each machine of a classifier.
    #[getter]
    fn iterations(&self) -> Vec<u64> {
        self.0.machine.parts.iter().map(|part| part.iterations).collect()
    }

    /// `(a, b)` of the sigmoid of each machine of a classifier: the probability of its positive class is
    /// `1 / (1 + exp(a f + b))`. Empty without calibration.
    #[getter]
    fn sigmoids(&self) -> Vec<(f64, f64)> {
        match &self.0.machine.calibration {
            Calibration::Sigmoids(all) => all.iter().map(|s| (s.a, s.b)).collect(),
            _ => Vec::new(),
        }
    }

    /// For each machine of a classifier the classes it tells apart: `(positive, negative)`; -1 stands for all others.
    #[getter]
    fn sides(&self) -> Vec<(i64, i64)> {
        let side = |s: mercer::model::Sides| (i64::from(s.positive), s.negative.map_or(-1, i64::from));
        self.0.machine.sides().into_iter().map(side).collect()
    }

    /// Outputs at rows, n x k.
    #[pyo3(signature = (rows, *, threads=0, image=None))]
    fn decision<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let query = Query { decision: true, ..Query::NOTHING };
        let found = self.queried(py, &rows, &query, threads, image)?;
        table(py, found.decision.unwrap_or_default(), self.0.outputs())
    }

    /// Numbers of classes, or numbers.
    #[pyo3(signature = (rows, *, threads=0, image=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Bound<'py, PyAny>> {
        use mercer::data::Targets;
        Ok(match self.queried(py, &rows, &Query::default(), threads, image)?.targets {
            Targets::Classes(labels) => labels.of_row.into_pyarray(py).into_any(),
            Targets::Reals(values) => values.into_pyarray(py).into_any(),
            Targets::None => return Err(PyValueError::new_err("this model makes no predictions")),
        })
    }

    /// A score for each class, n x classes.
    #[pyo3(signature = (rows, *, threads=0, image=None))]
    fn class_scores<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let query = Query { scores: true, ..Query::NOTHING };
        let found = self.queried(py, &rows, &query, threads, image)?;
        table(py, found.scores.unwrap_or_default(), self.0.classes().len())
    }

    /// Probabilities of the classes, n x classes.
    #[pyo3(signature = (rows, *, threads=0, image=None))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
        image: Shape,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let query = Query { probabilities: true, ..Query::NOTHING };
        let found = self.queried(py, &rows, &query, threads, image)?.probabilities;
        table(py, found.map_or_else(Vec::new, |p| p.values), self.0.classes().len())
    }

    /// Squared distances to the clusters' means, n x clusters.
    #[pyo3(signature = (rows, *, threads=0))]
    fn cluster_distances<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let seen = rows.seen(None)?;
        let n = seen.view().n.max(1);
        let values = free(py, || self.0.cluster_distances(seen.view(), exec(threads)))?.map_err(raise)?;
        let columns = values.len() / n;
        table(py, values, columns)
    }

    /// The same model with fewer centres, and a report as JSON. Of `vectors`, `ratio`, `agreement` and `error` one is given.
    #[pyo3(signature = (rows=None, answers=None, *, vectors=None, ratio=None, agreement=None, error=None, method="auto", each=false, retrain=false, rounds=0, widths=false, descent=None, seed=1, threads=0, image=None, callback=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn compress(
        &self,
        py: Python<'_>,
        rows: Option<Rows<'_>>,
        answers: Option<Answers<'_>>,
        vectors: Option<usize>,
        ratio: Option<f64>,
        agreement: Option<f64>,
        error: Option<f64>,
        method: &str,
        each: bool,
        retrain: bool,
        rounds: usize,
        widths: bool,
        descent: Option<usize>,
        seed: u64,
        threads: usize,
        image: Shape,
        callback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<(Self, String)> {
        let goal = match (vectors, ratio, agreement, error) {
            (Some(n), None, None, None) => Goal::Size(Size::Vectors(n)),
            (None, ratio, None, None) => Goal::Size(Size::Ratio(ratio.unwrap_or(10.0))),
            (None, None, Some(share), None) => Goal::Agreement(share),
            (None, None, None, Some(share)) => Goal::Size(Size::Error(share)),
            _ => {
                let words = "vectors, ratio, agreement and error are mutually exclusive: pass one";
                return Err(PyValueError::new_err(words));
            }
        };
        let Some(&(_, method)) = ReducedSetMethod::ALL.iter().find(|(name, _)| *name == method) else {
            let names = ReducedSetMethod::ALL.map(|(name, _)| name).join(", ");
            return Err(raise(Error::param("method", method, format!("one of {names}"))));
        };
        let share = if each { Share::Each } else { Share::All };
        let set = ReducedSetParams { method, share, descent, seed, ..ReducedSetParams::default() };
        let params = CompressParams { goal, set, retrain, rounds, widths, ..CompressParams::default() };
        let targets = Answers::targets(answers.as_ref())?;
        let data = match rows {
            Some(rows) => Some(Dataset::new(rows.points(image)?, targets).map_err(raise)?),
            None => None,
        };
        let whole = Arc::clone(&self.0);
        let small = watched(py, callback.as_ref(), move |watch| {
            whole.compress(&params, data.as_ref(), exec(threads), watch)
        })?;
        let about = serde_json::to_string(&small.about).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok((Model::from(small.model), about))
    }

    /// Points whose images are nearest to the vectors of feature space behind the outputs, as the machine sees them.
    #[pyo3(signature = (params="{}", *, threads=0, callback=None))]
    fn preimages<'py>(
        &self,
        py: Python<'py>,
        params: &str,
        threads: usize,
        callback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Found<'py>> {
        let params: PreimageParams = read(params)?;
        let model = Arc::clone(&self.0);
        let found = watched(py, callback.as_ref(), move |watch| {
            preimages(&model.machine.expansion, None, &params, exec(threads), watch)
        })?;
        points_found(py, found)
    }

    /// Rows of features back to input space.
    #[pyo3(signature = (features, params="{}", *, threads=0, callback=None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        features: PyReadonlyArray2<'py, f64>,
        params: &str,
        threads: usize,
        callback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Found<'py>> {
        let params: PreimageParams = read(params)?;
        self.kpca()?;
        let (used, features) = (features.shape()[1], flat(features.as_slice())?.to_vec());
        let this = self.clone();
        let found = watched(py, callback.as_ref(), move |watch| {
            let Ok(kpca) = this.kpca() else { return Err(Error::Cancelled) };
            kpca.decode(&features, used, &params, exec(threads), watch)
        })?;
        points_found(py, found)
    }

    /// Rows projected onto the first components and brought back.
    #[pyo3(signature = (rows, components=None, params="{}", *, threads=0, image=None, callback=None))]
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn denoise<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        components: Option<usize>,
        params: &str,
        threads: usize,
        image: Shape,
        callback: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let back: PreimageParams = read(params)?;
        let kpca = self.kpca()?;
        let used = components.unwrap_or_else(|| kpca.count());
        let denoiser = Denoiser::new(self.0.machine.clone(), used).map_err(raise)?;
        let points = rows.points(image)?;
        let clean: Points = watched(py, callback.as_ref(), move |watch| {
            denoiser.denoise(points.view(), &back, exec(threads), watch)
        })?;
        given(py, clean.view())
    }
}

fn points_found(py: Python<'_>, found: Preimages) -> PyResult<Found<'_>> {
    let points = given(py, found.points.view())?;
    let points = points.ok_or_else(|| PyValueError::new_err("these points are not rows of numbers"))?;
    Ok((points, found.distance2.into_pyarray(py)))
}
