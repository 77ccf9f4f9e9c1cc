//! Compressing a model: an expansion with fewer centres, and refitted thresholds, probabilities and reject rules.
//!
//! The reduced set (`reduce::reduced_set`) leaves an error `Psi - Psi'`; part of it is a shift, which a new threshold
//! corrects (Schoelkopf et al. 1998, section 6). Thresholds, probabilities and reject rules are refitted on data.
//! Without data, thresholds are refitted on the model's own centres, and whatever requires labels is dropped with a
//! note. A classifier's threshold minimises the sum of hinge losses, as training would.

mod refit;

use std::borrow::Cow;

use serde::Serialize;

use crate::data::{Dataset, Labels, Stage, Targets, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::model::svc::Kind;
use crate::model::{Learner, Model};
use crate::reduce::reduced_set::{self, Reduced, ReducedSetParams, reduce_path, reduce_until};
use crate::watch::{Note, Watch};
use refit::{answers, refit, values};

/// The target size of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// As given by the reduced set's size.
    Size(reduced_set::Size),
    /// As small as possible with at least this share of unchanged predictions; for numbers, this share of their
    /// variance.
    Agreement(f64),
}

/// Parameters of compression.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressParams {
    /// The target size.
    pub goal: Goal,
    /// Parameters of the reduced set; its size is ignored.
    pub set: ReducedSetParams,
    /// Whether coefficients are retrained on labelled data with the machine's own losses, instead of approximating
    /// the old machine (Keerthi, Chapelle and DeCoste 2006). For classifiers and regression.
    pub retrain: bool,
    /// With `retrain`: C; `None`: the model's own. Required for models without a known finite C: those from LIBSVM's
    /// files, which do not contain it, nu machines and hard margins.
    pub c: Option<f64>,
    /// With `retrain`: number of rounds in which the centres are trained as well, followed by the coefficients. The
    /// result is a new machine, no longer an approximation of the old one.
    pub rounds: usize,
    /// Whether each Gaussian gets its own width, see [`Model::with_widths`].
    pub widths: bool,
    /// Whether the centres of each class are replaced by centres of that class, for one-vs-one machines, as LIBSVM's
    /// files require. No effect on machines with one output.
    pub by_class: bool,
}

impl Default for CompressParams {
    fn default() -> Self {
        let set = ReducedSetParams::default();
        CompressParams {
            goal: Goal::Size(set.size),
            set,
            retrain: false,
            c: None,
            rounds: 0,
            widths: false,
            by_class: false,
        }
    }
}

impl CompressParams {
    /// Rounds of retraining, the first for the coefficients alone; `None`: no retraining.
    fn anew(&self) -> Option<usize> {
        self.retrain.then_some(self.rounds)
    }

    /// The same for a model with a width column.
    fn with_widths(&self, exec: Exec) -> Result<Self> {
        let mut set = self.set.clone();
        if let Some(points) = &set.candidates {
            set.candidates = Some(Stage::pad(points.dim(), 1)?.apply(points.view(), exec)?);
        }
        Ok(CompressParams { widths: false, set, ..self.clone() })
    }

    /// The expansion to reduce, and the parameters.
    fn on<'b>(&self, old: &'b Model) -> Result<(Cow<'b, Expansion>, ReducedSetParams)> {
        let machine = &old.machine;
        if self.by_class && old.layers.is_empty() && machine.svc().is_some() && machine.outputs() > 1 {
            let (whole, blocks) = machine.by_class()?;
            return Ok((Cow::Owned(whole), ReducedSetParams { blocks, ..self.set.clone() }));
        }
        Ok((Cow::Borrowed(old.entry()), self.set.clone()))
    }
}

/// A compressed model with a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed {
    /// The model.
    pub model: Model,
    /// The report.
    pub about: CompressionFacts,
}

/// Report of a compression.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CompressionFacts {
    /// The reduced set.
    #[serde(flatten)]
    pub set: reduced_set::Report,
    /// Number of rows on which thresholds and agreement were determined.
    pub rows: usize,
    /// Whether these rows were given; otherwise they are the model's own centres.
    pub given: bool,
    /// The share of unchanged predictions; for numbers, of their variance.
    pub agreement: f64,
    /// Notes on what was refitted or dropped.
    pub notes: Vec<String>,
}

impl Model {
    /// The same model with fewer centres. Data, if given, should be the training data.
    pub fn compress(
        &self,
        params: &CompressParams,
        data: Option<&Dataset>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Compressed> {
        if params.widths {
            return self.with_widths()?.compress(&params.with_widths(exec)?, data, exec, watch);
        }
        let least = match params.goal {
            Goal::Size(size) => {
                let mut all = self.compress_path(params, &[(size, params.set.descent)], data, exec, watch)?;
                return all.pop().ok_or(Error::Cancelled);
            }
            Goal::Agreement(least) if (0.0..=1.0).contains(&least) => least,
            Goal::Agreement(least) => return Err(Error::param("agreement", least, "from 0 to 1")),
        };
        self.on_rows(params, data, exec, |old, rows| {
            let mut enough = |small: &Expansion| {
                let (small, _) = refit(old, small.clone(), rows, params.anew(), exec)?;
                Ok(rows.agreement(&small, exec)? >= least)
            };
            let (whole, set) = params.on(old)?;
            let reduced = reduce_until(&whole, &set, &mut enough, exec, watch)?;
            Self::finished(old, reduced, rows, params.anew(), exec)
        })
    }

    /// Models of several sizes, each with its own number of steps of phase two; shared work is done once. The goal in
    /// `params` is ignored.
    pub fn compress_path(
        &self,
        params: &CompressParams,
        wanted: &[(reduced_set::Size, Option<usize>)],
        data: Option<&Dataset>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Compressed>> {
        if params.widths {
            return self.with_widths()?.compress_path(&params.with_widths(exec)?, wanted, data, exec, watch);
        }
        self.on_rows(params, data, exec, |old, rows| {
            let (whole, set) = params.on(old)?;
            let all = reduce_path(&whole, &set, wanted, exec, watch)?;
            all.into_iter().map(|reduced| Self::finished(old, reduced, rows, params.anew(), exec)).collect()
        })
    }

    /// The same model under `rbf_widths`, where every centre has its own width, which compression and retraining
    /// optimise too. A stage adds the width column. Only for the kernel `rbf`.
    pub fn with_widths(&self) -> Result<Model> {
        let mut model = self.clone();
        let f = model.entry();
        let (before, wide) = (f.centres().dim(), reduced_set::with_widths(f)?);
        if wide.centres().dim() > before {
            model.stages.list.push(Stage::pad(before, 1)?);
            // The width column comes after a number of columns that is fixed from here on.
            model.any_columns = false;
            *model.entry_mut() = wide;
        }
        Ok(model)
    }

    /// The same centres with coefficients and thresholds retrained on labelled data, by the squares of the machine's
    /// own losses (Keerthi, Chapelle and DeCoste 2006). For classifiers and regression.
    ///
    /// In each of `rounds` the centres are trained as well: see [`CompressParams::rounds`].
    pub fn retrained(&self, data: &Dataset, rounds: usize, exec: Exec) -> Result<Model> {
        let params = CompressParams { retrain: true, rounds, ..CompressParams::default() };
        self.on_rows(&params, Some(data), exec, |old, rows| {
            let (mut model, notes) = refit(old, old.entry().clone(), rows, params.anew(), exec)?;
            model.machine.info.notes.extend(notes.into_iter().map(Note::from));
            Ok(model)
        })
    }

    /// Calls a function with the machine and the rows for thresholds, with equal numbers of columns.
    fn on_rows<T>(
        &self,
        params: &CompressParams,
        data: Option<&Dataset>,
        exec: Exec,
        call: impl FnOnce(&Model, &Rows<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.entry().is_empty() {
            return Err(Error::Unsupported(
                "the model has no centres: its outputs are constants, and there is nothing to compress"
                    .into(),
            ));
        }
        if params.retrain && data.is_none_or(|d| matches!(d.targets, Targets::None)) {
            return Err(Error::Unsupported("retraining the coefficients requires data with targets".into()));
        }
        let costed;
        let this = if params.retrain {
            costed = self.costing(params.c)?;
            &costed
        } else {
            self
        };
        let Some(data) = data else {
            let view = self.entry().centres().view();
            return call(self, &Rows::new(self, view, None, exec)?);
        };
        let (old, ready) = this.fitting(data.points.view(), exec)?;
        let rows = Rows::new(&old, ready.view(), Some(&data.targets), exec)?;
        call(&old, &rows)
    }

    /// The same model with C for retraining. Fails if it is neither given nor known to the model, since a guess would
    /// give an arbitrary machine.
    fn costing(&self, c: Option<f64>) -> Result<Model> {
        let mut model = self.clone();
        let missing = |why: &str| Error::Missing {
            name: "c".into(),
            allowed: format!("given to retrain this model: {why}"),
        };
        let unknown = || missing("its file does not hold it");
        let known = self.params_known();
        if let Some(c) = c.filter(|c| !(*c > 0.0 && c.is_finite())) {
            return Err(Error::param("c", c, "a number above 0"));
        }
        match &mut model.machine.learner {
            Learner::Svc(p) => match (c, p.kind) {
                (Some(c), _) => (p.kind, p.c) = (Kind::C, c),
                _ if !known => return Err(unknown()),
                (None, Kind::C) => {}
                (None, Kind::Nu) => return Err(missing("a nu machine has none")),
                (None, Kind::Hard) => return Err(missing("a hard margin has none that is finite")),
            },
            Learner::Svr(p) => match c {
                Some(c) => p.c = c,
                None if !known => return Err(unknown()),
                None => {}
            },
            _ => {}
        }
        Ok(model)
    }

    fn finished(
        old: &Model,
        reduced: Reduced,
        rows: &Rows<'_>,
        retrain: Option<usize>,
        exec: Exec,
    ) -> Result<Compressed> {
        let set = reduced.report;
        if !set.error.is_finite() {
            return Err(Error::Unsupported(
                "compressing this model: its coefficients are so large that its length in feature space is not a \
                 64-bit number"
                    .into(),
            ));
        }
        let (mut model, mut notes) = refit(old, reduced.expansion, rows, retrain, exec)?;
        let agreement = rows.agreement(&model, exec)?;
        let line = format!(
            "compressed from {} to {} centres ({}): relative error {:.3}",
            set.before,
            set.after,
            set.method.name(),
            set.error
        );
        model.machine.info.note(line);
        model.machine.origin.compressed = true;
        let given = rows.targets.is_some();
        if !given {
            notes.insert(0, "no data given: thresholds were fitted on the model's own centres".into());
        }
        let about = CompressionFacts { set, rows: rows.view.n, given, agreement, notes };
        Ok(Compressed { model, about })
    }
}

/// Rows for thresholds, with the original model's predictions.
struct Rows<'a> {
    view: View<'a>,
    targets: Option<&'a Targets>,
    outputs: Vec<f64>,
    /// Its classes, for classifiers.
    answers: Option<Labels>,
}

impl<'a> Rows<'a> {
    fn new(old: &Model, view: View<'a>, targets: Option<&'a Targets>, exec: Exec) -> Result<Self> {
        if view.n == 0 {
            return Err(Error::shape("rows to fit thresholds on", 0, "at least 1"));
        }
        let outputs = values(old, view, exec)?;
        let answers = answers(old, &outputs)?;
        Ok(Rows { view, targets, outputs, answers })
    }

    fn labels(&self) -> Option<&Labels> {
        self.targets.and_then(|t| t.classes().ok())
    }

    /// The share of unchanged predictions.
    fn agreement(&self, new: &Model, exec: Exec) -> Result<f64> {
        let n = self.view.n as f64;
        let now = values(new, self.view, exec)?;
        if let (Some(old), Some(new)) = (&self.answers, answers(new, &now)?) {
            return Ok(old.of_row.iter().zip(&new.of_row).filter(|(a, b)| a == b).count() as f64 / n);
        }
        let k = self.outputs.len() / self.view.n;
        let mut mean = vec![0.0; k];
        self.outputs.chunks(k).for_each(|l| mean.iter_mut().zip(l).for_each(|(m, v)| *m += v / n));
        let spread: f64 = self.outputs.iter().zip(mean.iter().cycle()).map(|(v, m)| (v - m).powi(2)).sum();
        let off: f64 = self.outputs.iter().zip(&now).map(|(a, b)| (a - b).powi(2)).sum();
        Ok(if spread > 0.0 { (1.0 - off / spread).max(0.0) } else { 1.0 })
    }

    /// The value below which as many of `now` lie as of `before` lie below zero.
    fn level(before: &[f64], now: &[f64]) -> f64 {
        let outside = before.iter().filter(|v| **v <= 0.0).count();
        let mut sorted = now.to_vec();
        sorted.sort_by(f64::total_cmp);
        match (outside.checked_sub(1).map(|i| sorted[i]), sorted.get(outside)) {
            (Some(low), Some(high)) => f64::midpoint(low, *high),
            // All are inside: keep the distance of the lowest from the threshold.
            (None, Some(low)) => low - before.iter().copied().fold(f64::INFINITY, f64::min),
            (Some(high), None) => high,
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_leaves_as_many_outside() {
        assert_eq!(Rows::level(&[-1.0, 1.0, 2.0, 3.0], &[0.5, 4.0, 6.0, 2.5]), 1.5);
        assert_eq!(Rows::level(&[0.5, 1.0], &[3.0, 2.0]), 1.5);
    }
}
