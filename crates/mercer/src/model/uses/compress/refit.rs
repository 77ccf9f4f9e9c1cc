//! Refits everything that depends on a model's outputs: thresholds, coefficients if requested, probabilities, reject
//! rules.

use super::Rows;
use crate::data::{Labels, Targets, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::model::machine::Ready;
use crate::model::svc::SvcParams;
use crate::model::{
    Ball, Calibration, Learner, Machine, Model, Readout, Reject, Role, Sides, Sigmoid, Wanted,
};
use crate::num::Buffer;
use crate::reduce::reduced_set::{Fit, fit_rows};
use crate::solve::{BasisLoss, BasisProblem, fit_basis, hinge_shift};
use crate::watch::silent;

/// Decision values at rows to which the stages have been applied.
pub(super) fn values(model: &Model, view: View<'_>, exec: Exec) -> Result<Vec<f64>> {
    model.machine.decision(model.layered(Ready::As(view), exec)?.view(), exec)
}

/// The classes of decision values, for classifiers.
pub(super) fn answers(model: &Model, values: &[f64]) -> Result<Option<Labels>> {
    match model.machine.role {
        Role::Numbers | Role::Features(_) => Ok(None),
        _ => Ok(model.machine.predicted(values, Exec::one())?.classes().ok().cloned()),
    }
}

/// A model on the new expansion: offsets that correct the mean shift, then what the kind of machine requires.
pub(super) fn refit(
    old: &Model,
    small: Expansion,
    rows: &Rows<'_>,
    retrain: Option<usize>,
    exec: Exec,
) -> Result<(Model, Vec<String>)> {
    let mut notes = Vec::new();
    if let [_, rest @ ..] = old.layers.as_slice() {
        if retrain.is_some() {
            return Err(Error::Unsupported("machines behind kernel features are not retrained".into()));
        }
        let layers = std::iter::once(small).chain(rest.iter().cloned()).collect();
        return Ok((Model { layers, ..old.clone() }, notes));
    }
    let m = &old.machine;
    let machine = match (&m.role, &m.readout, &m.learner) {
        (Role::Classes(_), _, Learner::Svc(params)) => {
            classifier(m, params, &small, rows, retrain, &mut notes, exec)?
        }
        (Role::Numbers, _, Learner::Svr(params)) if retrain.is_some() => {
            let target = rows.targets.map_or(Ok(&[][..]), Targets::reals)?;
            let tube = BasisLoss::Tube(m.fact("epsilon").unwrap_or(params.epsilon));
            let per_output = |_: usize| (target.to_vec(), vec![1.0; target.len()]);
            notes.push(anew(retrain, params.c));
            let rounds = retrain.unwrap_or(0);
            m.on(retrained(&small, rows.view, params.c, tube, per_output, rounds, exec)?)
        }
        _ if retrain.is_some() => {
            return Err(Error::Unsupported("only classifiers and regression can be retrained".into()));
        }
        (_, Readout::Nearest(_), _) => {
            return Err(Error::Unsupported(
                "neighbours are the data itself: there is nothing to compress".into(),
            ));
        }
        (_, Readout::Ball(ball), _) => {
            let norm2 = small.norm2(exec)?[0];
            let mut sphere = m.on(small);
            sphere.readout = Readout::Ball(Ball { norm2, ..*ball });
            let level = Rows::level(&rows.outputs, &sphere.decision(rows.view, exec)?);
            let radius2 = ball.radius2 - level;
            if !(norm2.is_finite() && radius2.is_finite()) {
                return Err(Error::Unsupported(
                    "the sphere's radius is not a 64-bit number: the model's coefficients are too large"
                        .into(),
                ));
            }
            sphere.readout = Readout::Ball(Ball { radius2, norm2 });
            sphere
        }
        (_, _, Learner::OneClass(_)) => {
            let now = small.evaluate(rows.view, exec)?;
            let offset = small.offset()[0] - Rows::level(&rows.outputs, &now);
            m.on(small.with_offset(vec![offset])?)
        }
        (Role::Features(_), _, _) => {
            // Outputs may be whitened; those of the expansion itself are not.
            let before = m.expansion.evaluate(rows.view, exec)?;
            let (shift, _) = shifts(&small, &before, rows, exec)?;
            notes.push("the axes are approximate: their lengths and angles are no longer exact".into());
            m.on(small.with_offset(sum(small.offset(), &shift))?)
        }
        (_, Readout::Votes(_), _) => {
            let before = m.expansion.evaluate(rows.view, exec)?;
            let (shift, _) = shifts(&small, &before, rows, exec)?;
            m.on(small.with_offset(sum(small.offset(), &shift))?)
        }
        _ => m.on(shifted(&small, rows, exec)?),
    };
    Ok((Model { machine, ..old.clone() }, notes))
}

/// The mean decrease of each output.
fn shifts(small: &Expansion, before: &[f64], rows: &Rows<'_>, exec: Exec) -> Result<(Vec<f64>, Vec<f64>)> {
    let (k, n) = (small.outputs(), rows.view.n as f64);
    let now = small.evaluate(rows.view, exec)?;
    let mut shift = vec![0.0; k];
    for (before, now) in before.chunks(k).zip(now.chunks(k)) {
        shift.iter_mut().zip(before.iter().zip(now)).for_each(|(s, (b, f))| *s += (b - f) / n);
    }
    Ok((shift, now))
}

fn shifted(small: &Expansion, rows: &Rows<'_>, exec: Exec) -> Result<Expansion> {
    let (shift, _) = shifts(small, &rows.outputs, rows, exec)?;
    small.with_offset(sum(small.offset(), &shift))
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// The side of a machine to which a class belongs, if any.
fn side(sides: Sides, class: u32) -> Option<bool> {
    match (sides.positive, sides.negative) {
        (positive, _) if positive == class => Some(true),
        (_, None) => Some(false),
        (_, Some(negative)) => (negative == class).then_some(false),
    }
}

/// A classifier's thresholds, which minimise each machine's sum of hinge losses, or its coefficients as well; then
/// its probabilities and its reject rule.
fn classifier(
    old: &Machine,
    params: &SvcParams,
    small: &Expansion,
    rows: &Rows<'_>,
    retrain: Option<usize>,
    notes: &mut Vec<String>,
    exec: Exec,
) -> Result<Machine> {
    let (k, sides) = (small.outputs(), old.sides());
    let (mean, mut now) = shifts(small, &rows.outputs, rows, exec)?;
    let labels = rows.labels().map(|labels| classes(old, labels)).transpose()?;
    // Without labels the original predictions are the reference.
    let wanted = match (&labels, &rows.answers) {
        (Some(labels), _) => labels.clone(),
        (None, answers) => answers.as_ref().map(|a| a.of_row.clone()).unwrap_or_default(),
    };
    let weight = match rows.labels() {
        Some(labels) => {
            let of_class = params.weights_of(labels)?;
            labels.of_row.iter().map(|&c| of_class[c as usize]).collect()
        }
        None => vec![1.0; wanted.len()],
    };
    let sides = &sides;
    let judged = |o: usize| wanted.iter().map(move |&class| side(sides[o], class));
    let mut small = small.clone();
    if let Some(rounds) = retrain {
        let per_output = |o: usize| {
            let target = judged(o).map(|s| if s == Some(true) { 1.0 } else { -1.0 }).collect();
            let weight = judged(o).zip(&weight).map(|(s, v)| if s.is_some() { *v } else { 0.0 }).collect();
            (target, weight)
        };
        small = retrained(&small, rows.view, params.c, BasisLoss::Hinge, per_output, rounds, exec)?;
        now = small.evaluate(rows.view, exec)?;
        notes.push(anew(retrain, params.c));
    }
    let shift: Vec<f64> = (0..k)
        .map(|o| {
            let rows = judged(o).zip(now.chunks(k)).zip(&weight);
            let rows: Vec<(f64, bool, f64)> =
                rows.filter_map(|((s, line), v)| s.map(|s| (line[o], s, *v))).collect();
            if retrain.is_some() { 0.0 } else { hinge_shift(&rows).unwrap_or(mean[o]) }
        })
        .collect();
    let offset = sum(small.offset(), &shift);
    let moved: Vec<f64> = now.iter().zip(shift.iter().cycle()).map(|(f, s)| f + s).collect();
    let mut new = old.on(small.with_offset(offset)?);
    let calibrated = old.has_probabilities();
    new.calibration = match (&old.calibration, &labels) {
        (Calibration::Sigmoids(_), Some(labels)) => {
            let fitted = |(o, sides): (usize, &Sides)| {
                let judged = moved.chunks(k).zip(labels).filter(|(_, class)| side(*sides, **class).is_some());
                let (f, positive): (Vec<f64>, Vec<bool>) =
                    judged.map(|(line, class)| (line[o], *class == sides.positive)).unzip();
                Sigmoid::fit(&f, &positive)
            };
            Calibration::Sigmoids(sides.iter().enumerate().map(fitted).collect())
        }
        // Softmax has no fitted parameters.
        (Calibration::Softmax, _) => Calibration::Softmax,
        _ => Calibration::None,
    };
    if calibrated && new.calibration != Calibration::Softmax {
        notes.push(match labels {
            Some(_) => "probabilities were refitted on the data".into(),
            None => "probabilities were dropped: refitting them requires labelled data".into(),
        });
    }
    new.reject = match (old.reject, &labels) {
        (Some(rule), Some(labels)) => {
            let told = new.classes_of(&moved);
            let right: Vec<bool> = told.iter().zip(labels).map(|(a, b)| a == b).collect();
            notes.push("the reject rule was refitted on the data, for the same rejection rate".into());
            let gaps = new.gaps_of(&moved)?;
            Some(Reject::fit(&gaps, &right, Wanted::Rejected(rule.rejected))?)
        }
        (Some(_), None) => {
            notes.push("the reject rule was dropped: refitting it requires labelled data".into());
            None
        }
        (None, _) => None,
    };
    Ok(new)
}

/// A note on retraining.
fn anew(retrain: Option<usize>, c: f64) -> String {
    match retrain {
        Some(rounds) if rounds > 0 => {
            format!("centres and coefficients were retrained in {rounds} rounds, with C = {c}")
        }
        _ => format!("coefficients were retrained on the new centres, with C = {c}"),
    }
}

/// Number of steps of the centres per round of retraining.
const STEPS: usize = 12;

/// The retrained machines: coefficients first, then centres and coefficients in each round.
fn retrained(
    small: &Expansion,
    view: View<'_>,
    c: f64,
    loss: BasisLoss,
    per_output: impl Fn(usize) -> (Vec<f64>, Vec<f64>),
    rounds: usize,
    exec: Exec,
) -> Result<Expansion> {
    let mut now = on_centres(small, view, c, loss, &per_output, exec)?;
    if rounds == 0 {
        return Ok(now);
    }
    let (n, k) = (view.n, small.outputs());
    let (mut target, mut weight) = (vec![0.0; n * k], vec![0.0; n * k]);
    for o in 0..k {
        let (t, w) = per_output(o);
        target.iter_mut().skip(o).step_by(k).zip(t).for_each(|(to, t)| *to = t);
        weight.iter_mut().skip(o).step_by(k).zip(w).for_each(|(to, w)| *to = w);
    }
    let fit = Fit { view, target: &target, weight: &weight, c, loss };
    for _ in 0..rounds {
        let moved = fit_rows(&now, &fit, STEPS, exec, &mut silent())?;
        now = on_centres(&moved, view, c, loss, &per_output, exec)?;
    }
    Ok(now)
}

/// Retrained coefficients, each machine's on the centres for which it has coefficients.
fn on_centres(
    small: &Expansion,
    view: View<'_>,
    c: f64,
    loss: BasisLoss,
    per_output: &impl Fn(usize) -> (Vec<f64>, Vec<f64>),
    exec: Exec,
) -> Result<Expansion> {
    let (m, k) = (small.len(), small.outputs());
    let (mut coef, mut offset) = (vec![0.0; m * k], vec![0.0; k]);
    let mut last: Option<(Vec<usize>, Buffer<f64>, Buffer<f64>)> = None;
    for o in 0..k {
        let own: Vec<usize> = (0..m).filter(|&j| small.coef()[j * k + o] != 0.0).collect();
        // Outputs with the same centres share kernel values.
        let (own, values, gram) = match last.take() {
            Some(known) if known.0 == own => known,
            _ => {
                let centres = small.centres().gather(&own);
                let values = gram::cross::<f64>(small.kernel(), view, centres.view(), exec)?;
                let gram = gram::square::<f64>(small.kernel(), centres.view(), exec)?;
                (own, values, gram)
            }
        };
        let (target, weight) = per_output(o);
        let start: Vec<f64> =
            own.iter().map(|&j| small.coef()[j * k + o]).chain([small.offset()[o]]).collect();
        let problem = BasisProblem {
            values: &values,
            gram: &gram,
            target: &target,
            weight: &weight,
            c,
            loss,
            offset_cost: 0.0,
        };
        let found = fit_basis(&problem, &start, exec)?;
        own.iter().zip(&found).for_each(|(&j, b)| coef[j * k + o] = *b);
        offset[o] = found[own.len()];
        last = Some((own, values, gram));
    }
    Expansion::new(small.kernel().clone(), small.centres().clone(), coef, offset)
}

/// Labels as indices of the model's classes; a class unknown to the model is an error.
fn classes(model: &Machine, labels: &Labels) -> Result<Vec<u32>> {
    let names = model.classes();
    let of = |name: &str| names.iter().position(|c| c == name).map(|c| c as u32);
    (0..labels.len())
        .map(|i| {
            of(labels.name_of(i)).ok_or_else(|| {
                Error::param("class", labels.name_of(i), format!("one of {}", names.join(", ")))
            })
        })
        .collect()
}
