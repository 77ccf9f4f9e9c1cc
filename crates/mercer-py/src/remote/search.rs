//! A search for settings whose units may be done on other machines.

use std::sync::Arc;

use mercer::assess::{self, Found, Hands, Splits, Tuning, Unit, UnitFrame, UnitTold, quick, tune_by};
use mercer::data::stage::Recipe;
use mercer::data::{Dataset, Targets};
use mercer::kernel::Kernel;
use mercer::model::{Learner, Plan, Scaling, Task, Wishes};
use mercer::watch::{Step, Watch};
use mercer::{Error, Exec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Caller, asking};
use crate::arrays::{Answers, Rows};
use crate::fit::label_type;
use crate::model::Model;
use crate::run::watched;
use crate::words::raise;

/// What Python asks of a search.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    learner: Option<String>,
    /// Parameters of the learner that are not searched.
    params: serde_json::Map<String, Value>,
    kernels: Vec<String>,
    axes: Vec<(String, Vec<f64>)>,
    /// Lines of stages; none: as the plan decides.
    scale: Option<Vec<String>>,
    folds: Option<usize>,
    repeats: Option<usize>,
    leave_one_out: bool,
    groups: Option<Vec<u32>>,
    metric: Option<String>,
    two_stage: bool,
    median: bool,
    race: bool,
    seed: u64,
    checkpoint: Option<std::path::PathBuf>,
}

impl Options {
    fn tuning(&self) -> Tuning {
        let folds = self.folds.unwrap_or(5);
        let splits = match &self.groups {
            _ if self.leave_one_out => Splits::LeaveOneOut,
            Some(groups) => Splits::Grouped { folds, groups: groups.clone() },
            None => Splits::Folds { folds, times: self.repeats.unwrap_or(1) },
        };
        Tuning {
            kernels: self.kernels.clone(),
            axes: self.axes.clone(),
            splits: Some(splits),
            metric: self.metric.clone(),
            two_stage: self.two_stage,
            median: self.median,
            race: self.race,
            seed: self.seed,
            seconds: None,
            checkpoint: self.checkpoint.clone(),
        }
    }

    fn wishes(&self, task: Task) -> mercer::Result<Wishes> {
        let scaling = match &self.scale {
            None => Scaling::Auto,
            Some(lines) => {
                Scaling::Given(lines.iter().map(|line| Recipe::parse(line)).collect::<mercer::Result<_>>()?)
            }
        };
        // The first kernel asked for is what the search starts from, as for `mercer tune`.
        let whole = |line: &&String| {
            Kernel::parse(line).is_ok() || ["rbf", "gaussian", "auto"].contains(&line.trim())
        };
        let table = Learner::ALL.iter().flat_map(|entry| entry.learner().table());
        let names: Vec<&'static str> = table.map(|param| param.name).collect();
        let given = |(name, value): (&String, &Value)| {
            let known = names.iter().find(|own| *own == name);
            let name = known.ok_or_else(|| Error::param("params", name, "parameters of the learner"))?;
            Ok((*name, value.clone()))
        };
        Ok(Wishes {
            task: Some(task),
            learner: self.learner.clone(),
            kernel: self.kernels.first().filter(whole).cloned(),
            scaling,
            params: self.params.iter().map(given).collect::<mercer::Result<_>>()?,
            classes: true,
            seed: self.seed,
            ..Wishes::default()
        })
    }
}

/// Python's `hands(frame, units)`: an iterator of `(unit, scores)`, or None where it has only waited.
struct Callers<'a> {
    caller: &'a Caller,
    hands: Arc<Py<PyAny>>,
}

/// A score, or what went wrong.
type Score = (f64, Option<String>);

impl Hands for Callers<'_> {
    fn run(
        &self,
        frame: &UnitFrame,
        units: &[Unit],
        told: &mut UnitTold<'_>,
        watch: &mut Watch<'_>,
    ) -> mercer::Result<()> {
        let plain = |e: serde_json::Error| Error::Unsupported(format!("a unit of the search: {e}"));
        let frame = serde_json::to_string(frame).map_err(plain)?;
        let texts = units.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>().map_err(plain)?;
        let hands = Arc::clone(&self.hands);
        let all = self.caller.ask(move |py| {
            let given = hands.bind(py).call1((frame, texts))?;
            Ok(given.try_iter()?.unbind())
        })?;
        let all = Arc::new(all);
        let (mut done, total) = (0, Some(units.len() as u64));
        while done < units.len() {
            let from: Arc<Py<PyIterator>> = Arc::clone(&all);
            let next = self.caller.ask(move |py| {
                let mut from = from.bind(py).clone();
                let Some(next) = from.next() else {
                    return Err(PyValueError::new_err("hands ended before all units were done"));
                };
                next?.extract::<Option<(usize, Vec<Score>)>>()
            })?;
            if let Some((unit, scores)) = next {
                let score = |(score, why): Score| why.map_or(Ok(score), |why| Err(Error::Unsupported(why)));
                told(unit, scores.into_iter().map(score).collect())?;
                done += 1;
            }
            if watch(&Step::new("settings and folds", done as u64, total)).is_break() {
                let from = Arc::clone(&all);
                self.caller.ask(move |py| from.bind(py).call_method0("close").map(drop))?;
                return Err(Error::Cancelled);
            }
        }
        Ok(())
    }
}

/// Searches for a learner's best settings as `mercer tune` does, and fits them on all rows. `options` is a JSON object;
/// `hands`, where given, do the units of the search. Gives the model and what was found, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, answers, options, *, hands=None, refit=true, threads=0, memory=None, columns=None, labels=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn search(
    py: Python<'_>,
    rows: Rows<'_>,
    answers: Answers<'_>,
    options: &str,
    hands: Option<Py<PyAny>>,
    refit: bool,
    threads: usize,
    memory: Option<u64>,
    columns: Option<Vec<String>>,
    labels: Option<&str>,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<(Option<Model>, String)> {
    let options: Options =
        serde_json::from_str(options).map_err(|e| PyValueError::new_err(format!("options: {e}")))?;
    let points = rows.points(None)?;
    let targets = Answers::targets(Some(&answers))?;
    let (task, labels) = match &targets {
        Targets::Classes(classes) => (Task::Classification, label_type(labels, &classes.names)?),
        _ => (Task::Regression, None),
    };
    let wishes = options.wishes(task).map_err(raise)?;
    let (model, found) = asking(py, callback.as_ref(), move |caller, watch| {
        let exec = Exec::new(threads);
        let exec = memory.map_or(exec, |bytes| exec.with_memory(bytes));
        let mut data = Dataset::new(points, targets)?;
        data.column_names = columns;
        let mut plan = Plan::new(&data, &wishes, exec)?;
        let tuning = options.tuning();
        // A search begins where a training without one would be.
        if !tuning.axes.iter().any(|(name, _)| name == "c" || name == "gamma") {
            quick(&mut plan, options.seed, exec, watch)?;
        }
        let hands = hands.map(|hands| Callers { caller, hands: Arc::new(hands) });
        let hands: Option<&dyn Hands> = hands.as_ref().map(|hands| hands as _);
        let found = tune_by(hands, &mut plan, &tuning, exec, watch)?;
        let mut model = if refit { Some(plan.fit(exec, watch)?) } else { None };
        if let Some(model) = &mut model {
            model.names.labels = labels;
        }
        Ok((model, facts(&found).to_string()))
    })?;
    Ok((model.map(Model::from), found))
}

fn facts(found: &Found) -> Value {
    // JSON has no NaN.
    let number = |v: f64| if v.is_finite() { Value::from(v) } else { Value::Null };
    let cell = |space: &assess::Space, cell: &assess::Cell| {
        let axes = space.axes.iter().zip(&cell.setting.values);
        let params: serde_json::Map<String, Value> =
            axes.map(|(axis, v)| (axis.name.clone(), number(*v))).collect();
        json!({
            "kernel": cell.setting.kernel.to_string(),
            "params": params,
            "mean": number(cell.score.mean),
            "error": number(cell.score.error),
            "folds": cell.score.folds.iter().map(|v| number(*v)).collect::<Vec<_>>(),
            "open": cell.open,
            "failed": cell.failed,
        })
    };
    let stages: Vec<Vec<Value>> =
        found.stages.iter().map(|s| s.cells.iter().map(|c| cell(&s.space, c)).collect()).collect();
    json!({
        "metric": found.metric.name,
        "higher_is_better": found.metric.better == assess::metric::Better::Higher,
        "learner": found.learner.entry().name,
        "best": cell(&found.stages[found.home].space, &found.best),
        "stages": stages,
        "known": found.known,
        "stopped": found.stopped,
        "notes": found.notes,
        "seconds": found.seconds,
    })
}

/// The data, the folds and the metric of a search, on a worker: judges units.
#[pyclass(frozen, module = "mercer._mercer")]
pub(crate) struct Judge(Arc<assess::Judge>);

#[pymethods]
impl Judge {
    #[new]
    fn new(rows: Rows<'_>, answers: Answers<'_>, frame: &str) -> PyResult<Self> {
        let frame: UnitFrame =
            serde_json::from_str(frame).map_err(|e| PyValueError::new_err(format!("frame: {e}")))?;
        let data = Dataset::new(rows.points(None)?, Answers::targets(Some(&answers))?).map_err(raise)?;
        Ok(Judge(Arc::new(assess::Judge::new(data, &frame).map_err(raise)?)))
    }

    /// `(score, error)` of each setting of a unit. So many `workers` of this process judge side by side and share `threads`
    /// and `memory`. If `callback` returns something true, the unit is given up.
    #[pyo3(signature = (unit, *, workers=1, threads=1, memory=None, callback=None))]
    fn scores(
        &self,
        py: Python<'_>,
        unit: &str,
        workers: usize,
        threads: usize,
        memory: Option<u64>,
        callback: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Score>> {
        let unit: Unit =
            serde_json::from_str(unit).map_err(|e| PyValueError::new_err(format!("unit: {e}")))?;
        let judge = Arc::clone(&self.0);
        let scores = watched(py, callback.as_ref(), move |watch| {
            let exec = Exec::new(threads);
            let exec = memory.map_or(exec, |bytes| exec.with_memory(bytes));
            judge.scores(&unit, workers, exec, watch)
        })?;
        let told = |score: mercer::Result<f64>| match score {
            Ok(score) => (score, None),
            Err(why) => (f64::NAN, Some(why.to_string())),
        };
        Ok(scores.into_iter().map(told).collect())
    }
}
