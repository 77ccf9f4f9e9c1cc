//! Compressing a model: its expansion with fewer centres, and everything that hung on the old outputs made to fit the new.
//!
//! The reduced set (`reduce::reduced_set`) leaves an error `Psi - Psi'`; part of it is a shift, which a new threshold takes
//! out (Schoelkopf et al. 1998, section 6). Thresholds, probabilities and reject rules are made again on data; without
//! data thresholds are made on the model's own centres, and what needs labels is dropped with a note.

use serde::Serialize;

use crate::data::{Dataset, Labels, Targets, View};
use crate::error::{Error, Result};
use crate::expansion::Expansion;
use crate::model::svc::{Reject, Sigmoid, SvcModel, Wanted};
use crate::model::{Body, Model};
use crate::par::Par;
use crate::reduce::reduced_set::{self, Reduced, ReducedSetParams, reduce_path, reduce_until};
use crate::watch::Watch;

/// How small a model is to become.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// As the reduced set's size says.
    Size(reduced_set::Size),
    /// As small as possible with at least this share of answers unchanged; for numbers, this share of their variance.
    Agreement(f64),
}

/// What compressing obeys.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressParams {
    /// How small.
    pub goal: Goal,
    /// How the vectors are found. Its size is not looked at.
    pub set: ReducedSetParams,
}

impl Default for CompressParams {
    fn default() -> Self {
        let set = ReducedSetParams::default();
        CompressParams { goal: Goal::Size(set.size), set }
    }
}

/// A smaller model and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed {
    /// The model.
    pub model: Model,
    /// How it came about.
    pub about: Compression,
}

/// How compressing went.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compression {
    /// The reduced set.
    #[serde(flatten)]
    pub set: reduced_set::Report,
    /// Rows that thresholds and agreement were taken from.
    pub rows: usize,
    /// Whether those were given; else they are the model's own centres.
    pub given: bool,
    /// The share of answers that stayed; for numbers, of their variance.
    pub agreement: f64,
    /// What was made again or dropped, in words.
    pub notes: Vec<String>,
}

impl Model {
    /// The same model with fewer centres. Data, if given, is best what the model was trained on.
    pub fn compress(
        &self,
        params: &CompressParams,
        data: Option<&Dataset>,
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Compressed> {
        let least = match params.goal {
            Goal::Size(size) => {
                let mut all =
                    self.compress_path(&params.set, &[(size, params.set.descent)], data, par, watch)?;
                return all.pop().ok_or(Error::Cancelled);
            }
            Goal::Agreement(least) if (0.0..=1.0).contains(&least) => least,
            Goal::Agreement(least) => return Err(Error::param("agreement", least, "from 0 to 1")),
        };
        self.on_rows(data, par, |old, rows| {
            let mut enough = |small: &Expansion| {
                let (body, _) = refit(old, small.clone(), rows, par)?;
                Ok(rows.agreement(&body, par)? >= least)
            };
            let reduced = reduce_until(old.entry(), &params.set, &mut enough, par, watch)?;
            self.finished(old, reduced, rows, par)
        })
    }

    /// Models of several sizes, each with its own number of steps of phase two; what they have in common is done once.
    pub fn compress_path(
        &self,
        set: &ReducedSetParams,
        wanted: &[(reduced_set::Size, Option<usize>)],
        data: Option<&Dataset>,
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Compressed>> {
        self.on_rows(data, par, |old, rows| {
            let all = reduce_path(old.entry(), set, wanted, par, watch)?;
            all.into_iter().map(|reduced| self.finished(old, reduced, rows, par)).collect()
        })
    }

    /// Calls with the machine and the rows that thresholds are made on, both of one number of columns.
    fn on_rows<T>(
        &self,
        data: Option<&Dataset>,
        par: Par,
        call: impl FnOnce(&Body, &Rows<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.body.entry().is_empty() {
            return Err(Error::shape("centres of the model to compress", 0, "at least 1"));
        }
        let Some(data) = data else {
            let view = self.body.entry().centres().view();
            return call(&self.body, &Rows::new(&self.body, view, None, par)?);
        };
        let (old, ready) = self.fitting(data.points.view(), par)?;
        let rows = Rows::new(&old, ready.view(), Some(&data.targets), par)?;
        call(&old, &rows)
    }

    fn finished(&self, old: &Body, reduced: Reduced, rows: &Rows<'_>, par: Par) -> Result<Compressed> {
        let (mut body, mut notes) = refit(old, reduced.expansion, rows, par)?;
        let agreement = rows.agreement(&body, par)?;
        let set = reduced.report;
        let line = format!(
            "compressed from {} to {} centres ({}): relative error {:.3}",
            set.before,
            set.after,
            set.method.name(),
            set.error
        );
        body.info_mut().notes.push(line);
        let given = rows.targets.is_some();
        if !given {
            notes.insert(0, "no data given: thresholds were made on the model's own centres".into());
        }
        let about = Compression { set, rows: rows.view.n, given, agreement, notes };
        Ok(Compressed { model: Model { body, ..self.clone() }, about })
    }
}

/// Rows that thresholds are made on, with what the model said there before.
struct Rows<'a> {
    view: View<'a>,
    targets: Option<&'a Targets>,
    outputs: Vec<f64>,
    /// Its classes, where it has some.
    answers: Option<Labels>,
}

impl<'a> Rows<'a> {
    fn new(old: &Body, view: View<'a>, targets: Option<&'a Targets>, par: Par) -> Result<Self> {
        if view.n == 0 {
            return Err(Error::shape("rows to make thresholds on", 0, "at least 1"));
        }
        Ok(Rows { outputs: old.decision(view, par)?, answers: answers(old, view, par)?, view, targets })
    }

    fn labels(&self) -> Option<&Labels> {
        self.targets.and_then(|t| t.classes().ok())
    }

    /// The share of answers that are as before.
    fn agreement(&self, new: &Body, par: Par) -> Result<f64> {
        let n = self.view.n as f64;
        if let (Some(old), Some(new)) = (&self.answers, answers(new, self.view, par)?) {
            return Ok(old.of_row.iter().zip(&new.of_row).filter(|(a, b)| a == b).count() as f64 / n);
        }
        let now = new.decision(self.view, par)?;
        let k = self.outputs.len() / self.view.n;
        let mut mean = vec![0.0; k];
        self.outputs.chunks(k).for_each(|l| mean.iter_mut().zip(l).for_each(|(m, v)| *m += v / n));
        let spread: f64 = self.outputs.iter().zip(mean.iter().cycle()).map(|(v, m)| (v - m).powi(2)).sum();
        let off: f64 = self.outputs.iter().zip(&now).map(|(a, b)| (a - b).powi(2)).sum();
        Ok(if spread > 0.0 { (1.0 - off / spread).max(0.0) } else { 1.0 })
    }

    /// The value that as many of `now` lie below as of `before` lie below zero.
    fn level(before: &[f64], now: &[f64]) -> f64 {
        let outside = before.iter().filter(|v| **v <= 0.0).count();
        let mut sorted = now.to_vec();
        sorted.sort_by(f64::total_cmp);
        match (outside.checked_sub(1).map(|i| sorted[i]), sorted.get(outside)) {
            (Some(low), Some(high)) => f64::midpoint(low, *high),
            // All inside: keep as much room below the lowest as there was.
            (None, Some(low)) => low - before.iter().copied().fold(f64::INFINITY, f64::min),
            (Some(high), None) => high,
            (None, None) => 0.0,
        }
    }
}

/// The classes a machine gives, if it gives classes.
fn answers(body: &Body, view: View<'_>, par: Par) -> Result<Option<Labels>> {
    match body.machine() {
        Body::Svr(_) | Body::Kpca(_) => Ok(None),
        _ => Ok(body.predict(view, par)?.classes().ok().cloned()),
    }
}

/// A machine on the new expansion: offsets that take out the mean shift, then what the learner needs.
fn refit(old: &Body, small: Expansion, rows: &Rows<'_>, par: Par) -> Result<(Body, Vec<String>)> {
    let mut notes = Vec::new();
    let body = match old {
        Body::Svc(m) => Body::Svc(classifier(m, &small, rows, &mut notes, par)?),
        Body::Svr(m) => Body::Svr(crate::model::SvrModel {
            expansion: shifted(&small, rows, par)?,
            support: Vec::new(),
            checkpoint: None,
            ..m.clone()
        }),
        Body::Ridge(m) => Body::Ridge(crate::model::RidgeModel {
            expansion: shifted(&small, rows, par)?,
            support: Vec::new(),
            ..m.clone()
        }),
        Body::OneClass(m) => {
            let now = small.evaluate(rows.view, par)?;
            let offset = small.offset()[0] - Rows::level(&rows.outputs, &now);
            Body::OneClass(crate::model::OneClassModel {
                expansion: small.with_offset(vec![offset])?,
                support: Vec::new(),
                checkpoint: None,
                ..m.clone()
            })
        }
        Body::Sphere(m) => {
            let norm2 = small.norm2(par)?[0];
            let mut sphere = crate::model::SphereModel {
                centre: small,
                norm2,
                support: Vec::new(),
                checkpoint: None,
                ..m.clone()
            };
            sphere.radius2 -= Rows::level(&rows.outputs, &sphere.decision(rows.view, par)?);
            Body::Sphere(sphere)
        }
        Body::Kpca(m) => {
            let mut m = m.clone();
            // Outputs may be whitened; the expansion's own are not.
            let before = m.expansion.evaluate(rows.view, par)?;
            let (shift, _) = shifts(&small, &before, rows, par)?;
            m.expansion = small.with_offset(sum(small.offset(), &shift))?;
            notes.push("the axes are approximate: their lengths and angles are no longer exact".into());
            Body::Kpca(m)
        }
        Body::Layered(m) => {
            let mut m = m.clone();
            m.features = small;
            Body::Layered(m)
        }
    };
    Ok((body, notes))
}

/// How much larger each output was before, on average.
fn shifts(small: &Expansion, before: &[f64], rows: &Rows<'_>, par: Par) -> Result<(Vec<f64>, Vec<f64>)> {
    let (k, n) = (small.outputs(), rows.view.n as f64);
    let now = small.evaluate(rows.view, par)?;
    let mut shift = vec![0.0; k];
    for (before, now) in before.chunks(k).zip(now.chunks(k)) {
        shift.iter_mut().zip(before.iter().zip(now)).for_each(|(s, (b, f))| *s += (b - f) / n);
    }
    Ok((shift, now))
}

fn shifted(small: &Expansion, rows: &Rows<'_>, par: Par) -> Result<Expansion> {
    let (shift, _) = shifts(small, &rows.outputs, rows, par)?;
    small.with_offset(sum(small.offset(), &shift))
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// A classifier's thresholds: those with the fewest errors of the whole machine among the mean shift, the best threshold of
/// each machine alone, and, against the rest, the best of all together. Then its probabilities and its reject rule.
fn classifier(
    old: &SvcModel,
    small: &Expansion,
    rows: &Rows<'_>,
    notes: &mut Vec<String>,
    par: Par,
) -> Result<SvcModel> {
    let k = small.outputs();
    let (shift, now) = shifts(small, &rows.outputs, rows, par)?;
    let labels = rows.labels().map(|labels| classes(old, labels)).transpose()?;
    // Without labels the old answers are what is to be kept.
    let wanted = match (&labels, &rows.answers) {
        (Some(labels), _) => labels.clone(),
        (None, answers) => answers.as_ref().map(|a| a.of_row.clone()).unwrap_or_default(),
    };
    let alone: Vec<f64> = (0..k)
        .map(|o| {
            let side = |class: u32| match (old.machines[o].sides.positive, old.machines[o].sides.negative) {
                (p, _) if p == class => Some(true),
                (_, None) => Some(false),
                (_, Some(n)) => (n == class).then_some(false),
            };
            let judged: Vec<(f64, bool)> = now
                .chunks(k)
                .zip(&wanted)
                .filter_map(|(line, &class)| side(class).map(|s| (line[o], s)))
                .collect();
            best_shift(judged, shift[o])
        })
        .collect();
    let wrong = |shift: &[f64]| {
        let moved: Vec<f64> = now.iter().zip(shift.iter().cycle()).map(|(f, s)| f + s).collect();
        old.classes_of(&moved).iter().zip(&wanted).filter(|(a, b)| a != b).count()
    };
    // The rows are those the machine was trained on: thresholds that only a few of them ask for would be noise.
    let better = |new: &[f64], old: &[f64]| {
        let before = wrong(old) as f64;
        (wrong(new) as f64) < before - 2.0 * before.sqrt()
    };
    let together = jointly(old, &now, &wanted, shift.clone());
    let shift = [alone, together]
        .into_iter()
        .fold(shift, |best, next| if better(&next, &best) { next } else { best });
    let offset = sum(small.offset(), &shift);
    let moved: Vec<f64> = now.iter().zip(shift.iter().cycle()).map(|(f, s)| f + s).collect();
    let mut new = SvcModel {
        expansion: small.with_offset(offset)?,
        support: Vec::new(),
        checkpoint: None,
        ..old.clone()
    };
    for (o, machine) in new.machines.iter_mut().enumerate() {
        machine.sigmoid = match (machine.sigmoid, &labels) {
            (Some(_), Some(labels)) => {
                let judged = moved.chunks(k).zip(labels).filter(|(_, class)| {
                    machine.sides.negative.is_none_or(|n| **class == n || **class == machine.sides.positive)
                });
                let (f, positive): (Vec<f64>, Vec<bool>) =
                    judged.map(|(line, class)| (line[o], *class == machine.sides.positive)).unzip();
                Some(Sigmoid::fit(&f, &positive))
            }
            _ => None,
        };
    }
    if old.machines.iter().all(|m| m.sigmoid.is_some()) {
        notes.push(match labels {
            Some(_) => "probabilities were fitted anew on the data".into(),
            None => "probabilities were dropped: they need labelled data to be fitted anew".into(),
        });
    }
    new.reject = match (old.reject, &labels) {
        (Some(rule), Some(labels)) => {
            let told = new.classes_of(&moved);
            let right: Vec<bool> = told.iter().zip(labels).map(|(a, b)| a == b).collect();
            notes.push("the reject rule was made anew on the data, for the same share of rows".into());
            let gaps = new.gaps(rows.view, par)?;
            Some(Reject::fit(&gaps, &right, Wanted::Rejected(rule.rejected))?)
        }
        (Some(_), None) => {
            notes.push("the reject rule was dropped: it needs labelled data to be made anew".into());
            None
        }
        (None, _) => None,
    };
    Ok(new)
}

/// Thresholds moved one after the other to where the whole machine has the fewest errors, given the others: for machines
/// against the rest, of which the largest output wins.
fn jointly(old: &SvcModel, now: &[f64], wanted: &[u32], mut shift: Vec<f64>) -> Vec<f64> {
    let k = shift.len();
    if k < 2 || old.machines.iter().any(|m| m.sides.negative.is_some()) {
        return shift;
    }
    for _ in 0..PASSES {
        for o in 0..k {
            let judged = now.chunks(k).zip(wanted).filter_map(|(line, &class)| {
                // Machine o answers where it is above the best of the others.
                let (rival, top) = (0..k)
                    .filter(|&j| j != o)
                    .map(|j| (old.machines[j].sides.positive, line[j] + shift[j]))
                    .fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
                let own = old.machines[o].sides.positive == class;
                (own || rival == class).then_some((line[o] - top, own))
            });
            shift[o] = best_shift(judged.collect(), shift[o]);
        }
    }
    shift
}

/// Rounds over all machines when their thresholds are moved together.
const PASSES: usize = 3;

/// Labels as numbers of the model's classes; a class the model does not know is an error.
fn classes(model: &SvcModel, labels: &Labels) -> Result<Vec<u32>> {
    let of = |name: &str| model.classes.iter().position(|c| c == name).map(|c| c as u32);
    (0..labels.len())
        .map(|i| {
            of(labels.name_of(i)).ok_or_else(|| {
                Error::param("class", labels.name_of(i), format!("one of {}", model.classes.join(", ")))
            })
        })
        .collect()
}

/// The shift of outputs with the fewest rows on the wrong side of zero; of equals the nearest to `near`.
fn best_shift(mut rows: Vec<(f64, bool)>, near: f64) -> f64 {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    // With a threshold below all rows, the negative ones are wrong.
    let mut wrong = rows.iter().filter(|(_, positive)| !positive).count();
    let mut best = (usize::MAX, f64::INFINITY, near);
    for cut in 0..=rows.len() {
        if cut > 0 {
            if rows[cut - 1].1 { wrong += 1 } else { wrong -= 1 }
        }
        let low = if cut > 0 { rows[cut - 1].0 } else { f64::NEG_INFINITY };
        let high = rows.get(cut).map_or(f64::INFINITY, |r| r.0);
        // Anywhere strictly between the two rows: the old place if it is there, else the middle or the near end.
        let inside = -near > low && -near < high;
        let at = match (inside, low.is_finite(), high.is_finite()) {
            (true, ..) => -near,
            (_, true, true) => f64::midpoint(low, high),
            (_, true, false) => low + 1e-9 * low.abs().max(1.0),
            (_, false, true) => high - 1e-9 * high.abs().max(1.0),
            _ => -near,
        };
        let off = (at + near).abs();
        if (wrong, off) < (best.0, best.1) {
            best = (wrong, off, -at);
        }
    }
    best.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_shift_is_the_nearest_of_those_with_fewest_errors() {
        let rows = |f: &[f64]| f.iter().map(|f| (*f, *f > 2.0)).collect::<Vec<_>>();
        // Positive above 2: any threshold between 1 and 3 has no error; -near is where it was.
        assert_eq!(best_shift(rows(&[0.0, 1.0, 3.0, 4.0]), -1.5), -1.5);
        assert_eq!(best_shift(rows(&[0.0, 1.0, 3.0, 4.0]), 7.0), -2.0);
        assert_eq!(best_shift(Vec::new(), 0.25), 0.25);
    }

    #[test]
    fn a_level_leaves_as_many_outside() {
        assert_eq!(Rows::level(&[-1.0, 1.0, 2.0, 3.0], &[0.5, 4.0, 6.0, 2.5]), 1.5);
        assert_eq!(Rows::level(&[0.5, 1.0], &[3.0, 2.0]), 1.5);
    }
}
