//! A fit with settings chosen from the data, as by `mercer train` without settings.

use mercer::Error;
use mercer::assess::{quick, thorough};
use mercer::data::{Dataset, Targets};
use mercer::model::{Plan, Task, Wishes};
use pyo3::prelude::*;

use crate::arrays::{Answers, Rows};
use crate::fit::label_type;
use crate::model::Model;
use crate::run::{exec, watched};

/// Chooses scaling, kernel and parameters by cross-validation and fits with them: in tenths of a second, or in about so many
/// `seconds` of search. Gives the model and what was chosen with the reasons, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, answers, *, seconds=None, probability=false, seed=0, threads=0, columns=None, labels=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn fit_auto(
    py: Python<'_>,
    rows: Rows<'_>,
    answers: Answers<'_>,
    seconds: Option<f64>,
    probability: bool,
    seed: u64,
    threads: usize,
    columns: Option<Vec<String>>,
    labels: Option<&str>,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<(Model, String)> {
    let points = rows.points(None)?;
    let targets = Answers::targets(Some(&answers))?;
    let labels = match &targets {
        Targets::Classes(classes) => label_type(labels, &classes.names)?,
        _ => None,
    };
    let task = match targets {
        Targets::Reals(_) => Task::Regression,
        _ => Task::Classification,
    };
    let params = if probability { vec![("probability", true.into())] } else { Vec::new() };
    let (model, choices) = watched(py, callback.as_ref(), move |watch| {
        let exec = exec(threads);
        let mut data = Dataset::new(points, targets)?;
        data.column_names = columns;
        let wishes = Wishes { task: Some(task), params, classes: true, seed, ..Wishes::default() };
        let mut plan = Plan::new(&data, &wishes, exec)?;
        match seconds {
            Some(seconds) => {
                thorough(&mut plan, &wishes, seconds, exec, watch)?;
            }
            None => {
                quick(&mut plan, seed, exec, watch)?;
            }
        }
        let mut model = plan.fit(exec, watch)?;
        model.names.labels = labels;
        let choices = serde_json::to_string(&plan.choices);
        Ok((model, choices.map_err(|e| Error::Unsupported(format!("what was chosen: {e}")))?))
    })?;
    Ok((Model::from(model), choices))
}
