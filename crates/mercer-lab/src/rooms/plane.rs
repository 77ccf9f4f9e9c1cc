//! The playground: points of the plane, a learner, and what it makes of every cell of the plane.
//!
//! One request is one fit and one evaluation on a grid, with nothing kept between requests: a page sends the newest state and
//! gets numbers to draw. Fits that take longer than two seconds are broken off, and the page is told.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mercer::assess::Evaluation;
use mercer::assess::bounds::{TrainedMachine, span};
use mercer::data::{Dataset, Labels, Points, Targets, toy};
use mercer::expansion::Precision;
use mercer::model::{CompressParams, Goal, Learner, Machine, Model, Sample, Task};
use mercer::reduce::reduced_set::Size;
use mercer::watch::{Step, Stop};
use mercer::{Error, Exec, Result};
use mercer_serve::error::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::reply::{Reply, json, parse, planes};
use crate::rooms::{kernel, learner};
use crate::state::Lab;

/// How long a fit may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// Points and cells a page may send.
const MOST_POINTS: usize = 5000;
const MOST_CELLS: usize = 1 << 20;
/// Rows up to which the span estimate is made.
const SPAN_ROWS: usize = 1500;

#[derive(Deserialize)]
struct Shape {
    name: String,
    n: usize,
    seed: u64,
    /// How many classes, where the set makes as many as are asked for.
    #[serde(default)]
    classes: Option<usize>,
}

/// `POST api/shape`: a toy set in two halves, one to train on and one held out.
pub(crate) fn shape(body: &[u8]) -> Reply {
    let ask: Shape = parse(body)?;
    let n = ask.n.clamp(2, MOST_POINTS);
    let (points, targets) = match ask.classes {
        Some(k) => toy::of_classes(&ask.name, 2 * n, k, ask.seed)?,
        None => toy::by_name(&ask.name, 2 * n, ask.seed)?,
    };
    let values = points.view().to_f64()?;
    let (x, held_x) = values.split_at(n * points.dim());
    let half = |rows: std::ops::Range<usize>| match &targets {
        Targets::Classes(labels) => json!(labels.of_row[rows]),
        Targets::Reals(y) => json!(y[rows]),
        Targets::None => json!(vec![0; rows.len()]),
    };
    json(&json!({
        "x": x, "y": half(0..n), "held_x": held_x, "held_y": half(n..2 * n), "columns": points.dim(),
        "curve": matches!(targets, Targets::Reals(_)),
    }))
}

/// What a page asks for.
#[derive(Deserialize)]
struct Ask {
    /// Coordinates: two per point, or one where a curve is regressed.
    x: Vec<f64>,
    /// Classes by number, or numbers; empty for novelty.
    y: Vec<f64>,
    #[serde(default)]
    held_x: Vec<f64>,
    #[serde(default)]
    held_y: Vec<f64>,
    learner: String,
    /// What the page shows: classes, a curve or novelty; by itself what the points are for.
    #[serde(default)]
    task: Option<String>,
    kernel: String,
    #[serde(default)]
    params: Map<String, Value>,
    /// Least and largest x, least and largest y of the picture.
    window: [f64; 4],
    /// Cells across and down.
    cells: [usize; 2],
    /// Vectors that the machine is compressed to.
    #[serde(default)]
    vectors: Option<usize>,
    /// Whether to estimate the error by the span.
    #[serde(default)]
    span: bool,
}

#[derive(Serialize, Default)]
struct Facts {
    task: Option<Task>,
    classes: Vec<String>,
    outputs: usize,
    kernel: String,
    centres: usize,
    support: Vec<u32>,
    bounded: Vec<u32>,
    vectors: Vec<f64>,
    weights: Vec<f64>,
    agreement: Option<f64>,
    training: Option<f64>,
    held_out: Option<f64>,
    span: Vec<Value>,
    span_note: Option<String>,
    epsilon: Option<f64>,
    stopped: bool,
    notes: Vec<String>,
    fit_ms: f64,
    draw_ms: f64,
    cells: [usize; 2],
    /// Whether cells have a class beside their value.
    with_class: bool,
}

/// `POST api/plane`: a fit, and its values on the cells of the plane.
pub(crate) fn fit(lab: &Lab, body: &[u8]) -> Reply {
    let ask: Ask = parse(body)?;
    let [nx, ny] = ask.cells;
    if ask.x.len() > 2 * MOST_POINTS || nx.saturating_mul(ny) > MOST_CELLS || nx == 0 || ny == 0 {
        return Err(Refusal::too_large(format!("at most {MOST_POINTS} points and {MOST_CELLS} cells")));
    }
    let learner = learner(&ask.learner, Some(kernel(&ask.kernel)?), &ask.params)?;
    let task = task(&learner, &ask);
    let (facts, numbers) = fitted(&ask, &learner, task, lab.exec)?;
    planes(&facts, &numbers)
}

/// What the points are for: classes in the plane, a curve over a line, or novelty.
fn task(learner: &Learner, ask: &Ask) -> Task {
    let tasks = learner.entry().tasks;
    let named = |task: &&Task| json!(task).as_str() == ask.task.as_deref();
    if let Some(task) = tasks.iter().find(named) {
        return *task;
    }
    let curve = ask.x.len() == ask.y.len();
    let natural = if curve { Task::Regression } else { Task::Classification };
    if tasks.contains(&natural) { natural } else { tasks[0] }
}

fn dataset(task: Task, x: &[f64], y: &[f64]) -> Result<Dataset> {
    let targets = match task {
        Task::Regression => Targets::Reals(y.to_vec()),
        Task::Classification => Targets::Classes(Labels::new(y.iter().map(|class| format!("{class}")))),
        _ => Targets::None,
    };
    let d = if task == Task::Regression { 1 } else { 2 };
    Dataset::new(Points::dense(x.to_vec(), d)?, targets)
}

fn fitted(ask: &Ask, learner: &Learner, task: Task, exec: Exec) -> Result<(Facts, Vec<f32>)> {
    let begun = Instant::now();
    let mut late = false;
    let mut watch = |_: &Step| {
        late |= begun.elapsed() > PATIENCE;
        if late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let data = dataset(task, &ask.x, &ask.y)?;
    if data.is_empty() {
        return Err(Error::shape("points", 0, "at least 1"));
    }
    let sample = Sample::new(&data.points, &data.targets);
    let machine = learner.fit(sample, exec, &mut watch)?;
    let mut facts = Facts {
        task: Some(task),
        classes: machine.classes(),
        kernel: machine.expansion.kernel().to_string(),
        epsilon: matches!(task, Task::Regression).then(|| learner.get("epsilon")?.as_f64()).flatten(),
        notes: machine.info.notes.iter().map(ToString::to_string).collect(),
        stopped: machine.info.stop == Stop::Cancelled,
        ..Facts::default()
    };
    if machine.has_support_vectors() {
        facts.support.clone_from(&machine.support);
        facts.bounded = bounded(&machine);
    }
    if ask.span {
        match spans(&machine, sample, exec, &mut watch) {
            Ok(found) => facts.span = found,
            Err(why) => facts.span_note = Some(why.to_string()),
        }
    }
    let mut model = Model::from(machine);
    facts.centres = model.machine.expansion.len();
    if let Some(vectors) = ask.vectors.filter(|v| *v > 0 && *v < facts.centres) {
        let params = CompressParams { goal: Goal::Size(Size::Vectors(vectors)), ..CompressParams::default() };
        let small = model.compress(&params, Some(&data), exec, &mut watch)?;
        facts.agreement = Some(small.about.agreement);
        model = small.model;
        let expansion = &model.machine.expansion;
        facts.vectors = expansion.centres().view().to_f64()?;
        facts.weights = expansion.coef().chunks(expansion.outputs()).map(|line| line[0]).collect();
    }
    facts.training = score(&model, &data, exec)?;
    if !ask.held_x.is_empty() {
        facts.held_out = score(&model, &dataset(task, &ask.held_x, &ask.held_y)?, exec)?;
    }
    facts.fit_ms = begun.elapsed().as_secs_f64() * 1e3;
    let drawn = Instant::now();
    let numbers = drawing(&model.machine, ask, &mut facts, exec)?;
    facts.draw_ms = drawn.elapsed().as_secs_f64() * 1e3;
    Ok((facts, numbers))
}

/// The error of a classifier, the root mean squared error of a regression, the share outside of novelty detection.
fn score(model: &Model, data: &Dataset, exec: Exec) -> Result<Option<f64>> {
    Ok(match Evaluation::new(model, data, exec) {
        Ok(Evaluation::Classification(found)) => Some(found.error),
        Ok(Evaluation::Regression(found)) => Some(found.rmse),
        Ok(Evaluation::Novelty(found)) => Some(found.outside as f64 / found.rows.max(1) as f64),
        Ok(Evaluation::Clustering(_)) | Err(Error::Unsupported(_)) => None,
        Err(other) => return Err(other),
    })
}

/// Training rows on their bound in some machine.
fn bounded(machine: &Machine) -> Vec<u32> {
    let mut rows: Vec<u32> = machine.parts.iter().flat_map(|part| part.bounded.iter().copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn spans(
    machine: &Machine,
    sample: Sample<'_>,
    exec: Exec,
    watch: &mut mercer::watch::Watch<'_>,
) -> Result<Vec<Value>> {
    if sample.points.len() > SPAN_ROWS {
        return Err(Error::Unsupported(format!("the span estimate is made for up to {SPAN_ROWS} points")));
    }
    let all = TrainedMachine::all(machine, sample, exec, watch)?;
    all.iter()
        .enumerate()
        .map(|(k, one)| {
            let found = span(one, exec)?;
            Ok(json!({ "name": machine.output_name(k), "errors": found.errors, "rows": found.rows, "rate": found.rate }))
        })
        .collect()
}

/// Values on the cells: decision values of one output, or the gap to the second best class and the class itself. For a
/// curve, its values over the line.
fn drawing(machine: &Machine, ask: &Ask, facts: &mut Facts, exec: Exec) -> Result<Vec<f32>> {
    let [x0, x1, y0, y1] = ask.window;
    let [nx, ny] = ask.cells;
    let middle = |k: usize, n: usize, low: f64, high: f64| low + (high - low) * (k as f64 + 0.5) / n as f64;
    facts.outputs = machine.outputs();
    let curve = facts.task == Some(Task::Regression);
    let (cells, d): (Vec<f32>, usize) = if curve {
        ((0..nx).map(|i| middle(i, nx, x0, x1) as f32).collect(), 1)
    } else {
        let xs: Vec<f32> = (0..nx).map(|i| middle(i, nx, x0, x1) as f32).collect();
        // The first line of a picture is its upper one.
        let line = |j: usize| middle(j, ny, y1, y0) as f32;
        ((0..ny).flat_map(|j| xs.iter().flat_map(move |&x| [x, line(j)])).collect(), 2)
    };
    facts.cells = if curve { [nx, 1] } else { [nx, ny] };
    let cells = Points::dense_f32(cells, d)?;
    let values = machine.decision_in(cells.view(), Precision::F32, exec)?;
    if machine.outputs() == 1 {
        return Ok(values.into_iter().map(|v| v as f32).collect());
    }
    facts.with_class = true;
    // Clusters have no scores: their cells are all alike.
    let gaps = machine.gaps_of(&values).unwrap_or_else(|_| vec![1.0; nx * ny]);
    let classes = machine.classes_of(&values);
    Ok(gaps.into_iter().map(|gap| gap as f32).chain(classes.into_iter().map(|class| class as f32)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(learner: &str, more: &Value) -> Ask {
        let (points, targets) = toy::banana(60, 1);
        let y: Vec<f64> = match targets {
            Targets::Classes(labels) => labels.of_row.iter().map(|&class| f64::from(class)).collect(),
            _ => unreachable!("two classes"),
        };
        let mut all = json!({
            "x": points.view().to_f64().expect("numbers"), "y": y, "learner": learner, "kernel": "rbf(gamma=2)",
            "window": [-2.0, 3.0, -1.5, 2.0], "cells": [20, 10],
        });
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        serde_json::from_value(all).expect("a request")
    }

    fn drawn(ask: &Ask) -> (Facts, Vec<f32>) {
        let kernel = kernel(&ask.kernel).expect("a kernel");
        let learner = learner(&ask.learner, Some(kernel), &ask.params).expect("a learner");
        let task = task(&learner, ask);
        fitted(ask, &learner, task, Exec::one()).expect("a fit")
    }

    /// Every learner draws the plane or a curve, with its default parameters and few rounds where it would be slow.
    #[test]
    fn every_learner_can_be_drawn() {
        for entry in Learner::ALL {
            let mut more = json!({ "params": {} });
            for (name, value) in [("rounds", 3), ("bounces", 50), ("starts", 1)] {
                if entry.takes(name) {
                    more["params"][name] = json!(value);
                }
            }
            if entry.tasks[0] == Task::Regression {
                more["x"] = json!((0..40).map(|i| f64::from(i) / 10.0 - 2.0).collect::<Vec<_>>());
                more["y"] = json!((0..40).map(|i| (f64::from(i) / 5.0).sin()).collect::<Vec<_>>());
            }
            if entry.name == "hard-margin" {
                more["kernel"] = json!("rbf(gamma=50)");
            }
            let (facts, numbers) = drawn(&ask(entry.name, &more));
            let cells = facts.cells[0] * facts.cells[1];
            let planes = if facts.with_class { 2 } else { 1 };
            assert_eq!(numbers.len(), cells * planes, "{}", entry.name);
            assert!(numbers.iter().all(|v| v.is_finite()), "{}", entry.name);
        }
    }

    #[test]
    fn facts_are_those_of_the_machine() {
        let (facts, _) = drawn(&ask("svc", &json!({ "span": true, "params": { "c": 10.0 } })));
        assert_eq!(facts.centres, facts.support.len());
        assert!(facts.bounded.len() < facts.support.len());
        assert!(facts.training.expect("an error") < 0.2);
        assert_eq!((facts.span.len(), facts.span_note), (1, None));
        let (small, _) = drawn(&ask("svc", &json!({ "vectors": 4, "params": { "c": 10.0 } })));
        assert_eq!((small.vectors.len(), small.weights.len(), small.centres), (8, 4, facts.centres));
        assert!(small.agreement.expect("a share") > 0.8);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let bad = |more: Value| -> Result<()> {
            let ask = ask("svc", &more);
            let kernel = kernel(&ask.kernel)?;
            let learner = learner(&ask.learner, Some(kernel), &ask.params)?;
            fitted(&ask, &learner, Task::Classification, Exec::one()).map(drop)
        };
        assert!(bad(json!({ "params": { "c": -1.0 } })).is_err());
        assert!(bad(json!({ "params": { "nu": 0.1 } })).is_err());
        assert!(bad(json!({ "kernel": "rbf(gamma=0)" })).is_err());
        assert!(bad(json!({ "x": [], "y": [] })).is_err());
        assert!(bad(json!({ "x": [1.0, 2.0, 3.0] })).is_err());
        assert!(bad(json!({ "x": [1.0, 2.0], "y": [0.0] })).is_err(), "one class only");
    }
}
