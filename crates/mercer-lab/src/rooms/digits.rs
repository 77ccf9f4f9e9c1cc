//! The digits: a drawn one is classified, with the support vectors that decided and the option to reject.
//!
//! Two machines are trained once, as a job: on the digits that come with the library, without and with virtual support vectors.
//! Both are one-vs-rest, so that what every support vector adds to the winning output can be shown as it is.

use std::sync::Arc;

use mercer::assess::Evaluation;
use mercer::data::split::holdout_of;
use mercer::data::{Dataset, ImageShape, Points, Stages, Targets, Transformations, digits, median_distance2};
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{KpcaParams, Machine, Model, Sample, SvcParams, Wanted};
use mercer::watch::Stop;
use mercer::{Error, Exec, Result};
use mercer_serve::error::Refusal;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::jobs::Job;
use crate::reply::{Asked, Reply, json, parse};
use crate::state::Lab;

/// The side of what a page draws, and of the digits.
const DRAWN: usize = 32;
const SIDE: usize = 8;
/// Support vectors shown for and against.
const FOR: usize = 8;
const AGAINST: usize = 4;
/// What does not change a digit.
const VIRTUAL: &str = "shift=1";
/// Kernel components for the way back.
const COMPONENTS: u64 = 256;

/// The digits and what was learned from them.
#[derive(Debug)]
pub(crate) struct Digits {
    pub(crate) train: Dataset,
    pub(crate) test: Dataset,
    machines: [Trained; 2],
    /// Components, linear and of a Gaussian.
    pub(crate) linear: Machine,
    pub(crate) kernel: Machine,
}

#[derive(Debug)]
struct Trained {
    model: Model,
    error: f64,
    /// Decision values of the test digits, for reject rules.
    values: Vec<f64>,
}

/// Starts training, or gives the job that has been started before: a second page waits for the same one.
pub(crate) fn train(lab: &Arc<Lab>) -> Arc<Job> {
    let known = lab.jobs.find(|job| job.kind == "digits" && !job.stopped_early());
    if let Some(job) = known {
        return job;
    }
    let own = Arc::clone(lab);
    lab.jobs.start("digits", "Train on the digits".into(), move |job| {
        let made = made(own.exec, own.seed, job)?;
        // Another job may have been first; both learned the same.
        let _ = own.digits.set(made);
        Ok(json!({}))
    })
}

fn made(exec: Exec, seed: u64, job: &Job) -> Result<Digits> {
    let all = digits();
    let fold = holdout_of(all.len(), &all.targets, 1.0 / 3.0, seed)?;
    let (train, test) = (all.gather(&fold.train), all.gather(&fold.test));
    let mut watch = job.watch();
    let sample = Sample::new(&train.points, &train.targets);
    let plain = SvcParams { c: 10.0, multi: Multi::OneVsRest, probability: true, ..SvcParams::default() };
    // Calibration by cross-validation would retrain every fold on virtual vectors: this one has scores only.
    let virtual_vectors = Transformations::parse(VIRTUAL)?;
    let with = SvcParams { virtual_vectors, probability: false, ..plain.clone() };
    let mut fitted = |params: SvcParams, words: &str| -> Result<Trained> {
        job.tell(json!({ "event": "phase", "words": words }));
        let model = Model::from(params.fit(sample, exec, &mut watch)?);
        if model.info().stop == Stop::Cancelled {
            return Err(Error::Cancelled);
        }
        let Evaluation::Classification(found) = Evaluation::new(&model, &test, exec)? else {
            return Err(Error::Unsupported("the digits are classes".into()));
        };
        Ok(Trained { error: found.error, values: model.decision(test.points.view(), exec)?, model })
    };
    let machines = [
        fitted(plain, "machines on the original digits")?,
        fitted(with, "machines on virtual support vectors")?,
    ];
    job.tell(json!({ "event": "phase", "words": "components" }));
    let width = median_distance2(&train.points, seed).unwrap_or(1.0);
    let kernel = KpcaParams {
        kernel: Some(Kernel::Rbf { gamma: 2.0 / width }),
        components: Some(COMPONENTS),
        ..KpcaParams::default()
    };
    let linear = KpcaParams { kernel: Some(Kernel::Linear), ..KpcaParams::default() };
    let kernel = kernel.fit(sample, exec, &mut watch)?;
    let linear = linear.fit(sample, exec, &mut watch)?;
    if job.cancelled() {
        return Err(Error::Cancelled);
    }
    Ok(Digits { train, test, machines, linear, kernel })
}

/// The digits once they are trained.
pub(crate) fn ready(lab: &Lab) -> Asked<&Digits> {
    lab.digits.get().ok_or_else(|| {
        Refusal::later(axum::http::StatusCode::SERVICE_UNAVAILABLE, "training on the digits has not finished")
    })
}

/// A row's pixels.
pub(crate) fn pixels(points: &Points, row: usize) -> Vec<f64> {
    points.row(row).to_f64()
}

/// `GET api/digits`: errors of the machines, and some digits to begin with.
pub(crate) fn about(lab: &Lab) -> Reply {
    let digits = ready(lab)?;
    let labels = digits.test.targets.classes()?;
    let some: Vec<Value> = (0..digits.test.len())
        .take(60)
        .map(|row| json!({ "row": row, "label": labels.name_of(row), "pixels": pixels(&digits.test.points, row) }))
        .collect();
    let machines: Vec<Value> = digits
        .machines
        .iter()
        .map(|m| json!({ "error": m.error, "centres": m.model.machine.expansion.len(), "kernel": m.model.machine.expansion.kernel().to_string() }))
        .collect();
    json(&json!({
        "train": digits.train.len(), "test": digits.test.len(), "machines": machines, "some": some, "virtual": VIRTUAL,
        "components": [digits.linear.components()?.count(), digits.kernel.components()?.count()],
        "kernel": digits.kernel.expansion.kernel().to_string(),
    }))
}

#[derive(Deserialize)]
struct Vote {
    /// 32 x 32 pixels from 0 to 16, or the 64 of a digit.
    pixels: Vec<f64>,
    /// Whether the machine with virtual support vectors decides.
    #[serde(default)]
    virtual_vectors: bool,
    /// Error rate wanted among the digits that are not rejected.
    wanted: f64,
}

/// `POST api/digits/vote`: what both machines say of a drawn digit, and why the chosen one does.
pub(crate) fn vote(lab: &Lab, body: &[u8]) -> Reply {
    let ask: Vote = parse(body)?;
    let digits = ready(lab)?;
    let image = as_digit(&ask.pixels, lab.exec)?;
    let labels = digits.test.targets.classes()?;
    let mut machines = Vec::new();
    for trained in &digits.machines {
        let machine = &trained.model.machine;
        let values = machine.decision(image.view(), lab.exec)?;
        let rule = machine.reject_rule(&trained.values, Some(labels), Wanted::Error(ask.wanted))?;
        let gap = machine.gaps_of(&values)?[0];
        let class = machine.classes_of(&values)[0];
        machines.push(json!({
            "class": machine.classes()[class as usize], "probabilities": machine.has_probabilities().then(|| machine.probabilities_of(&values)).transpose()?.map(|p| p.values),
            "values": values, "gap": gap, "rule": rule, "rejected": rule.rejects(gap),
        }));
    }
    let chosen = &digits.machines[usize::from(ask.virtual_vectors)].model.machine;
    let (supporters, opponents) = decided(chosen, &image, &digits.train, lab.exec)?;
    json(&json!({
        "pixels": pixels(&image, 0), "machines": machines, "classes": chosen.classes(), "for": supporters,
        "against": opponents,
    }))
}

/// A drawing as a digit of the set: counts of ink in 4 x 4 squares.
fn as_digit(drawn: &[f64], exec: Exec) -> Result<Points> {
    let side = if drawn.len() == SIDE * SIDE { SIDE } else { DRAWN };
    let points = Points::dense(drawn.to_vec(), side * side)?.with_image(ImageShape::grey(side, side))?;
    if points.len() != 1 {
        return Err(Error::shape("drawn digits", points.len(), 1));
    }
    if side == SIDE {
        return Ok(points);
    }
    let recipes = Stages::parse(&format!("downsample({SIDE}, {SIDE})"))?;
    Ok(Stages::fit(&recipes, points.view(), exec)?.1)
}

/// The support vectors that add most to the winning output, and those that take most from it.
fn decided(
    machine: &Machine,
    image: &Points,
    train: &Dataset,
    exec: Exec,
) -> Result<(Vec<Value>, Vec<Value>)> {
    let expansion = &machine.expansion;
    let class = machine.labels(image.view(), exec)?.name_of(0).to_owned();
    let output = machine.classes().iter().position(|name| *name == class).unwrap_or(0);
    let terms = expansion.terms(image.view(), exec)?;
    let of = |centre: usize| terms[centre * expansion.outputs() + output];
    let mut order: Vec<usize> = (0..expansion.len()).collect();
    order.sort_by(|&a, &b| of(b).total_cmp(&of(a)));
    let labels = match &train.targets {
        Targets::Classes(labels) => Some(labels),
        _ => None,
    };
    let shown = |&centre: &usize| {
        let row = machine.support.get(centre).filter(|_| machine.support.len() == expansion.len());
        let label = row.and_then(|row| labels.map(|l| l.name_of(*row as usize)));
        json!({ "pixels": pixels(expansion.centres(), centre), "adds": of(centre), "label": label })
    };
    let best = order.iter().take(FOR).filter(|&&c| of(c) > 0.0).map(shown).collect();
    let worst = order.iter().rev().take(AGAINST).filter(|&&c| of(c) < 0.0).map(shown).collect();
    Ok((best, worst))
}
