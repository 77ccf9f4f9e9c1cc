//! Jobs on data sets: training, tuning, explaining, compressing. What the command does, in the same order.

use std::sync::Arc;

use mercer::assess::{Evaluation, Splits, Tuning, quick, thorough, tune as tuned};
use mercer::data::split::{Fold, holdout_of};
use mercer::data::{Dataset, Stages, Targets};
use mercer::kernel::Kernel;
use mercer::model::{CompressParams, Goal, Learner, Model, Plan, Query, Scaling, Task, Wishes};
use mercer::param::{self, Param};
use mercer::reduce::reduced_set::Size;
use mercer::watch::{Step, Stop, Watch};
use mercer::{Error, Result};
use mercer_report::{
    Explained, Trained, Tuned, explained_page, json as report_json, trained_page, tuned_page,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::jobs::Job;
use crate::reply::{Asked, parse};
use crate::rooms::data::{images, label};
use crate::rooms::written::{Written, compressed, stem, written};
use crate::state::{Kept, Lab, Set};

/// Seconds that a thorough search may take.
const SEARCH: f64 = 60.0;
/// Rows that are listed.
const LISTED: usize = 12;
/// Shares of the centres that a compressed model keeps.
const SIZES: [f64; 7] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75];

/// What a page asks of a training; all but the data may be left out.
#[derive(Deserialize)]
struct Training {
    set: usize,
    #[serde(default)]
    learner: Option<String>,
    #[serde(default)]
    kernel: Option<String>,
    #[serde(default)]
    params: Map<String, Value>,
    #[serde(default)]
    scale: Option<String>,
    /// `quick`, `good` or `off`.
    #[serde(default)]
    auto: String,
    /// Share of rows held out.
    #[serde(default)]
    held: f64,
    /// Folds of a search.
    #[serde(default)]
    folds: Option<usize>,
}

impl Training {
    fn wishes(&self, seed: u64) -> Result<Wishes> {
        let mut params: Vec<(&'static str, Value)> = vec![("seed", json!(seed))];
        for (name, value) in &self.params {
            let entries =
                Learner::ALL.iter().filter(|e| self.learner.as_deref().is_none_or(|own| own == e.name));
            let found = entries
                .into_iter()
                .find_map(|e| Param::find(e.learner().table(), name).filter(|_| e.takes(name)));
            let param = found.ok_or_else(|| Error::param(name, "given", "a parameter of the learner"))?;
            params.push((
                param.name,
                value.as_f64().map_or_else(
                    || value.clone(),
                    |v| if param.allowed.is_whole() { json!(v as i64) } else { param::written(v) },
                ),
            ));
        }
        let scaling = match self.scale.as_deref() {
            None | Some("" | "auto") => Scaling::Auto,
            Some("none") => Scaling::Given(Vec::new()),
            Some(line) => Scaling::Given(Stages::parse(line)?),
        };
        Ok(Wishes {
            learner: self.learner.clone(),
            kernel: self.kernel.clone().filter(|line| !line.is_empty()),
            scaling,
            params,
            seed,
            ..Wishes::default()
        })
    }

    /// The rows to train on and those held out.
    fn fold(&self, data: &Dataset, seed: u64) -> Result<Fold> {
        if self.held <= 0.0 {
            return Ok(Fold { train: (0..data.len()).collect(), test: Vec::new() });
        }
        holdout_of(data.len(), &data.targets, self.held, seed)
    }
}

/// What a trained model is shown by.
#[derive(Serialize)]
struct Shown {
    model: usize,
    trained: Value,
    evaluation: Option<Evaluation>,
    unsure: Option<Value>,
    command: String,
    python: String,
}

/// Starts a training.
pub(super) fn train(lab: &Arc<Lab>, body: &[u8]) -> Asked<Arc<Job>> {
    let ask: Training = parse(body)?;
    let set = lab.set(ask.set)?;
    let own = Arc::clone(lab);
    Ok(lab.jobs.start("train", format!("Train on {}", set.file.name), move |job| {
        let fold = ask.fold(&set.data, own.seed)?;
        let data = set.data.gather(&fold.train);
        let wishes = ask.wishes(own.seed)?;
        let mut plan = Plan::new(&data, &wishes, own.exec)?;
        let mut watch = job.watch();
        let chosen = wishes.kernel.is_none() && !ask.params.contains_key("c");
        match ask.auto.as_str() {
            "good" if chosen => {
                thorough(&mut plan, &wishes, SEARCH, own.exec, &mut watch)?;
            }
            "off" => {}
            _ if chosen => {
                quick(&mut plan, own.seed, own.exec, &mut watch)?;
            }
            _ => {}
        }
        job.tell(json!({ "event": "choices", "choices": plan.choices }));
        finished(&own, job, &set, &plan, (&fold, ask.held), None, &mut watch)
    }))
}

/// Starts a search with its heat map.
pub(super) fn tune(lab: &Arc<Lab>, body: &[u8]) -> Asked<Arc<Job>> {
    let ask: Training = parse(body)?;
    let set = lab.set(ask.set)?;
    let own = Arc::clone(lab);
    Ok(lab.jobs.start("tune", format!("Tune on {}", set.file.name), move |job| {
        let fold = ask.fold(&set.data, own.seed)?;
        let data = set.data.gather(&fold.train);
        let mut wishes = ask.wishes(own.seed)?;
        wishes.params.retain(|(name, _)| *name == "seed");
        let family = wishes.kernel.take();
        wishes.kernel = family.clone().filter(|line| Kernel::parse(line).is_ok() || line == "rbf");
        let mut plan = Plan::new(&data, &wishes, own.exec)?;
        if plan.task == Task::Novelty || plan.task == Task::Clustering {
            return Err(Error::Unsupported("novelty and clusters have no labels to score by: train instead".into()));
        }
        let mut watch = job.watch();
        // A search begins where a training without one would be.
        quick(&mut plan, own.seed, own.exec, &mut watch)?;
        let tuning = Tuning {
            kernels: family.into_iter().collect(),
            splits: Some(Splits::Folds { folds: ask.folds.unwrap_or(5), times: 1 }),
            seed: own.seed,
            ..Tuning::default()
        };
        let params = tuning.params(&plan)?;
        let settings = params.space.settings()?;
        let axes: Vec<Value> = params.space.axes.iter().map(|a| json!({ "name": a.name, "values": a.values })).collect();
        let families: Vec<Value> = params.space.families.iter().map(|f| json!({ "name": f.name, "parameter": f.parameter, "values": f.kernels.iter().map(|k| k.0).collect::<Vec<_>>() })).collect();
        let cells: Vec<Value> = settings.iter().map(|s| json!({ "family": s.family, "at": s.at, "values": s.values })).collect();
        let folds = params.splits.folds(&data, own.seed)?.len();
        job.tell(json!({ "event": "grid", "axes": axes, "families": families, "cells": cells, "folds": folds }));
        let found = tuned(&mut plan, &tuning, own.exec, &mut watch)?;
        if found.stopped {
            return Err(Error::Cancelled);
        }
        let report = Tuned::new(set.file.name.clone(), data.len(), &found, None).on(&plan);
        job.tell(json!({ "event": "choices", "choices": plan.choices }));
        let page = tuned_page(&report).html();
        let mut result = finished(&own, job, &set, &plan, (&fold, ask.held), Some(page), &mut watch)?;
        result["best"] = json!({ "score": found.best.score.mean, "metric": found.metric.name, "kernel": found.best.setting.kernel.to_string(), "values": found.best.setting.values });
        Ok(result)
    }))
}

/// Fits a plan, judges it on the held-out rows and keeps the model.
fn finished(
    lab: &Arc<Lab>,
    job: &Job,
    set: &Arc<Set>,
    plan: &Plan<'_>,
    (fold, share): (&Fold, f64),
    page: Option<String>,
    watch: &mut Watch<'_>,
) -> Result<Value> {
    let mut gaps: Vec<(f64, f64)> = Vec::new();
    let model = plan.fit(lab.exec, &mut |step: &Step| {
        if let Some(gap) = step.gap.filter(|gap| gap.is_finite() && *gap > 0.0) {
            gaps.push((step.done as f64, gap));
        }
        watch(step)
    })?;
    if model.info().stop == Stop::Cancelled || job.cancelled() {
        return Err(Error::Cancelled);
    }
    let every = gaps.len() / 1000 + 1;
    let gaps: Vec<(f64, f64)> = gaps.into_iter().step_by(every).collect();
    let stem = stem(&set.file.name);
    let place = lab.folder.path().join(format!("{}.mercer", job.id));
    model.save(&place)?;
    let trained = Trained::new(&set.file.name, plan.data(), plan, &model, place, lab.exec)?;
    let page = match page {
        Some(page) => page,
        None => trained_page(&trained, &model, plan.data(), &gaps, lab.exec)?.html(),
    };
    let held = set.data.gather(&fold.test);
    let judged = !held.is_empty()
        && !matches!((&held.targets, model.task()), (Targets::None, Task::Classification | Task::Regression));
    let evaluation = if judged { Some(Evaluation::new(&model, &held, lab.exec)?) } else { None };
    let unsure = if held.is_empty() { None } else { unsure(&model, set, &fold.test, lab)? };
    let Written { command, python } = written(&model, set, plan, fold, share, lab.seed);
    let kept = lab.keep(|id| Kept {
        id,
        name: format!("{stem}.mercer"),
        set: Some(Arc::clone(set)),
        train: fold.train.clone(),
        held: fold.test.clone(),
        report: Some(page),
        command: command.clone(),
        python: python.clone(),
        model,
    });
    let trained = serde_json::from_str(&report_json(&trained)).unwrap_or(Value::Null);
    let shown = Shown { model: kept.id, trained, evaluation, unsure, command, python };
    serde_json::to_value(shown).map_err(|e| Error::Unsupported(e.to_string()))
}

/// The held-out rows that a classifier is least certain of.
fn unsure(model: &Model, set: &Set, rows: &[usize], lab: &Lab) -> Result<Option<Value>> {
    if model.task() != Task::Classification {
        return Ok(None);
    }
    let data = set.data.gather(rows);
    let found = model.predict_data(&data, &Query { decision: true, ..Query::default() }, lab.exec)?;
    let gaps = model.machine.gaps_of(&found.decision.unwrap_or_default())?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| gaps[a].total_cmp(&gaps[b]));
    order.truncate(LISTED);
    let listed: Vec<Value> = order.iter().map(|&at| json!({ "row": rows[at], "given": label(&data.targets, at), "predicted": label(&found.targets, at), "gap": gaps[at] })).collect();
    let shown: Vec<usize> = order.iter().map(|&at| rows[at]).collect();
    Ok(Some(json!({ "rows": listed, "images": images(&set.data, &shown) })))
}

#[derive(Deserialize)]
struct OnModel {
    model: usize,
}

/// Starts explaining a model on the rows it was trained on.
pub(super) fn explain(lab: &Arc<Lab>, body: &[u8]) -> Asked<Arc<Job>> {
    let kept = lab.model(parse::<OnModel>(body)?.model)?;
    let own = Arc::clone(lab);
    Ok(lab.jobs.start("explain", format!("Explain {}", kept.name), move |job| {
        let data = kept.set.as_ref().map(|set| set.data.gather(&kept.train));
        let mut watch = job.watch();
        let explanation = kept.model.explain(data.as_ref(), own.exec, &mut watch)?;
        let suspects: Vec<usize> =
            explanation.suspects.iter().filter_map(|s| kept.train.get(s.row).copied()).collect();
        let heavy: Vec<usize> =
            explanation.influential.iter().filter_map(|i| kept.train.get(i.row).copied()).collect();
        let picture = |rows: &[usize]| kept.set.as_ref().and_then(|set| images(&set.data, rows));
        let report = Explained {
            file: kept.name.clone(),
            source: kept.set.as_ref().map(|set| set.file.name.clone()),
            explanation,
            importances: None,
            dependences: None,
            mistakes: None,
        };
        let page = explained_page(&report, &kept.model, data.as_ref(), None, own.exec)?.html();
        let facts: Value = serde_json::from_str(&report_json(&report)).unwrap_or(Value::Null);
        Ok(json!({
            "explanation": facts, "suspect_rows": suspects, "suspect_images": picture(&suspects),
            "influential_rows": heavy, "influential_images": picture(&heavy), "page": page,
        }))
    }))
}

/// Starts compressing a model to several sizes.
pub(super) fn compress(lab: &Arc<Lab>, body: &[u8]) -> Asked<Arc<Job>> {
    let kept = lab.model(parse::<OnModel>(body)?.model)?;
    let own = Arc::clone(lab);
    Ok(lab.jobs.start("compress", format!("Compress {}", kept.name), move |job| {
        let set = kept.set.as_ref().ok_or_else(|| Error::Unsupported("compressing needs the data: train a model here first".into()))?;
        let (train, held) = (set.data.gather(&kept.train), set.data.gather(if kept.held.is_empty() { &kept.train } else { &kept.held }));
        let all = kept.model.entry().len();
        let score = |model: &Model| -> Result<f64> {
            Ok(match Evaluation::new(model, &held, own.exec)? {
                Evaluation::Classification(found) => found.error,
                Evaluation::Regression(found) => found.rmse,
                Evaluation::Novelty(found) => found.outside as f64 / found.rows.max(1) as f64,
                Evaluation::Clustering(found) => found.distance,
            })
        };
        // What the score is called, and whether it is a share.
        let (metric, share) = match kept.model.task() {
            Task::Classification => ("error", true),
            Task::Novelty => ("share outside", true),
            Task::Clustering => ("mean squared distance", false),
            Task::Regression | Task::Features => ("root mean squared error", false),
        };
        let tell = |centres: usize, score: f64, agreement: f64, model: usize| {
            job.tell(json!({
                "event": "size", "centres": centres, "score": score, "agreement": agreement, "model": model, "metric": metric,
                "share": share, "held": !kept.held.is_empty(),
            }));
        };
        tell(all, score(&kept.model)?, 1.0, kept.id);
        let mut watch = job.watch();
        let mut before = 0;
        for part in SIZES {
            let vectors = ((all as f64 * part).round() as usize).max(1);
            if vectors <= before || vectors >= all {
                continue;
            }
            before = vectors;
            let params = CompressParams { goal: Goal::Size(Size::Vectors(vectors)), ..CompressParams::default() };
            let small = kept.model.compress(&params, Some(&train), own.exec, &mut watch)?;
            if job.cancelled() {
                return Err(Error::Cancelled);
            }
            let (centres, error, agreement) = (small.model.entry().len(), score(&small.model)?, small.about.agreement);
            let stem = kept.name.trim_end_matches(".mercer");
            let command = compressed(&kept, vectors);
            let made = own.keep(|id| Kept {
                id,
                name: format!("{stem}-{vectors}.mercer"),
                model: small.model,
                set: kept.set.clone(),
                train: kept.train.clone(),
                held: kept.held.clone(),
                report: None,
                command,
                python: kept.python.clone(),
            });
            tell(centres, error, agreement, made.id);
        }
        Ok(json!({}))
    }))
}
