//! Evaluation of many settings on many folds, sharing as much work as possible.
//!
//! Settings that differ only in C are trained with warm starts (`model/svc/folds.rs`). Settings with the same kernel
//! share its matrix over all folds, if no stage is fitted on the rows. Jobs of one kernel and one fold run in
//! parallel, each on one thread. A matrix is kept from the first job that needs it to the last. The result of a job
//! does not depend on the jobs before it, so a resumed search ends like an uninterrupted one; this is why a fold is
//! warm-started from its own solution at the previous C and not from another fold's. Cost: for each kernel n^2 / 2
//! values, for each setting and fold a solve from a good start.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::assess::metric::{Measure, Metric};
use crate::assess::units::{Hands, Unit, UnitFrame};
use crate::data::split::Fold;
use crate::data::stage::Recipe;
use crate::data::{Dataset, Labels, Points, Stages, Targets};
use crate::error::{Error, Mismatch, Result};
use crate::exec::{Exec, side_by_side};
use crate::gram::{Layout, Matrix, is_precomputed};
use crate::model::svc::Kind;
use crate::model::{Learner, Model, Query, Sample, SvcParams};
use crate::watch::{Step, Watch};

/// Called with a setting's score on a fold: setting, fold, score.
pub(crate) type Told<'a> = dyn FnMut(usize, usize, f64) -> Result<()> + Send + 'a;

/// Data, folds and a metric, on which settings are evaluated.
pub(crate) struct Trials<'a> {
    data: &'a Dataset,
    /// The points after all stages that are not fitted on rows and precede those that are.
    points: std::borrow::Cow<'a, Points>,
    /// Stages that are fitted inside folds.
    recipes: &'a [Recipe],
    folds: &'a [Fold],
    metric: &'static Metric,
    exec: Exec,
    /// Does the jobs instead of this process.
    hands: Option<(&'a dyn Hands, UnitFrame)>,
}

/// Called with a setting's score on a fold, or its error.
pub(super) type ToldAll<'a> = dyn FnMut(usize, usize, Result<f64>) -> Result<()> + Send + 'a;

/// Settings to evaluate.
pub(super) struct Batch<'a> {
    /// All settings, numbered by their index.
    pub settings: &'a [Learner],
    /// The numbers of those to evaluate, in order.
    pub order: &'a [usize],
    /// The folds on which to evaluate them.
    pub wanted: &'a (dyn Fn(usize, usize) -> bool + Sync),
    /// Scores that are known already.
    pub known: &'a (dyn Fn(usize, usize) -> bool + Sync),
}

/// Settings that differ only in C.
struct Group {
    learner: Learner,
    /// Their numbers and values of C.
    cells: Vec<(usize, f64)>,
}

/// A matrix shared by jobs.
#[derive(Debug, Default)]
pub(super) struct Shared {
    matrix: Mutex<Option<Arc<Matrix>>>,
    /// Number of jobs that have yet to use it.
    left: AtomicUsize,
}

impl<'a> Trials<'a> {
    /// Checks that the metric fits the targets, and applies stages that need no fitting.
    pub(crate) fn new(
        data: &'a Dataset,
        recipes: &'a [Recipe],
        folds: &'a [Fold],
        metric: &'static Metric,
        exec: Exec,
    ) -> Result<Self> {
        match (&metric.measure, &data.targets) {
            (Measure::Reals(_), Targets::Classes(_) | Targets::None)
            | (Measure::Classes(_) | Measure::Ranking(_) | Measure::Probabilities(_), Targets::Reals(_))
            | (_, Targets::None) => {
                if matches!(data.targets, Targets::None) {
                    let expected = "class labels or numbers to score predictions by";
                    return Err(Error::mismatch(Mismatch::NoTargets, "targets", "none", expected));
                }
                let targets = match data.targets {
                    Targets::Reals(_) => "numbers",
                    _ => "classes",
                };
                return Err(Error::param("metric", metric.name, format!("one for data with {targets}")));
            }
            _ => {}
        }
        let fixed = recipes.iter().take_while(|r| !r.learns()).count();
        let points = match fixed {
            0 => std::borrow::Cow::Borrowed(&data.points),
            _ => std::borrow::Cow::Owned(Stages::fit(&recipes[..fixed], data.points.view(), exec)?.1),
        };
        Ok(Trials { data, points, recipes: &recipes[fixed..], folds, metric, exec, hands: None })
    }

    /// The same trials with their jobs done elsewhere.
    pub(super) fn by(self, hands: Option<&'a dyn Hands>, frame: UnitFrame) -> Self {
        Trials { hands: hands.map(|hands| (hands, frame)), ..self }
    }

    /// Evaluates settings, each with its kernel, on the requested folds, and reports each score immediately. Settings
    /// of one kernel that differ only in C are cheapest. The first setting that cannot be fitted is an error.
    pub(crate) fn run(
        &self,
        settings: &[Learner],
        wanted: &(dyn Fn(usize, usize) -> bool + Sync),
        told: &mut Told<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let order: Vec<usize> = (0..settings.len()).collect();
        let heat = Batch { settings, order: &order, wanted, known: &|_, _| false };
        self.run_batch(&heat, &mut |cell, fold, score| told(cell, fold, score?), watch)
    }

    /// Evaluates a batch of settings; a setting that cannot be fitted is reported with its error, and the others
    /// continue.
    pub(super) fn run_batch(
        &self,
        batch: &Batch<'_>,
        told: &mut ToldAll<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let (wanted, known) = (batch.wanted, batch.known);
        let groups = grouped(batch.settings, batch.order);
        // Kernels in order of first occurrence: groups with the same kernel share a matrix.
        let mut kernels: Vec<usize> = Vec::new();
        let kernel_of: Vec<usize> = groups
            .iter()
            .enumerate()
            .map(|(g, group)| {
                let same = |&&h: &&usize| groups[h].learner.kernel() == group.learner.kernel();
                let at = kernels.iter().position(|h| same(&h));
                at.unwrap_or_else(|| {
                    kernels.push(g);
                    kernels.len() - 1
                })
            })
            .collect();
        let jobs: Vec<(usize, usize)> = (0..kernels.len())
            .flat_map(|k| (0..groups.len()).map(move |g| (k, g)))
            .filter(|&(k, g)| kernel_of[g] == k)
            .flat_map(|(_, g)| (0..self.folds.len()).map(move |f| (g, f)))
            .filter(|&(g, f)| groups[g].cells.iter().any(|&(cell, _)| wanted(cell, f) && !known(cell, f)))
            .collect();
        if let Some((hands, frame)) = &self.hands {
            return posed(*hands, frame, &groups, &jobs, batch, told, watch);
        }
        let shared: Vec<Shared> = kernels.iter().map(|_| Shared::default()).collect();
        for &(g, _) in &jobs {
            shared[kernel_of[g]].left.fetch_add(1, Ordering::Relaxed);
        }
        let done = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let outward = Mutex::new((told, watch));
        let total = jobs.len() as u64;
        let order: Vec<usize> = (0..jobs.len()).collect();
        let workers = self.exec.threads().min(jobs.len()).max(1);
        let report = |done: u64| {
            let mut outward = outward.lock().unwrap_or_else(PoisonError::into_inner);
            if (outward.1)(&Step::new("settings and folds", done, Some(total))).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let job = |(): &mut (), j: usize| -> Result<()> {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let (g, f) = jobs[j];
            // Known settings are fitted again if others are warm-started from them: a resumed search must end in the
            // same table.
            let cells: Vec<(usize, f64)> =
                groups[g].cells.iter().copied().filter(|&(cell, _)| wanted(cell, f)).collect();
            let mut inside = |_: &Step| {
                report(done.load(Ordering::Relaxed) as u64);
                if stop.load(Ordering::Relaxed) {
                    std::ops::ControlFlow::Break(())
                } else {
                    std::ops::ControlFlow::Continue(())
                }
            };
            let memory = self.exec.memory() / workers as u64;
            let exec = self.exec.with_threads((self.exec.threads() / workers).max(1)).with_memory(memory);
            let shared = &shared[kernel_of[g]];
            let scores =
                self.job(&groups[g].learner, &cells, &self.folds[f], shared, workers, exec, &mut inside);
            if shared.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                *shared.matrix.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            let scores = scores?;
            {
                let mut outward = outward.lock().unwrap_or_else(PoisonError::into_inner);
                for ((cell, _), score) in cells.iter().zip(scores).filter(|((cell, _), _)| !known(*cell, f)) {
                    let value = score.as_ref().ok().copied();
                    (outward.0)(*cell, f, score)?;
                    let at = done.load(Ordering::Relaxed) as u64;
                    let step = Step::new("settings and folds", at, Some(total)).scored(*cell, f, value);
                    if (outward.1)(&step).is_break() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
            report(done.fetch_add(1, Ordering::Relaxed) as u64 + 1);
            Ok(())
        };
        side_by_side(workers, &order, || (), job).map(drop)
    }

    /// The scores of a group's settings on one fold.
    #[expect(clippy::too_many_arguments, reason = "all that a job may share with others")]
    pub(super) fn job(
        &self,
        learner: &Learner,
        cells: &[(usize, f64)],
        fold: &Fold,
        shared: &Shared,
        workers: usize,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Result<f64>>> {
        if let Some(params) = self.quick(learner, workers) {
            let labels = self.data.targets.classes()?;
            let matrix = match self.matrix(learner, fold, shared, exec) {
                Ok(matrix) => matrix,
                Err(why) => {
                    // Errors cannot be cloned: the first setting gets the error, the others its message.
                    let (words, mut why) = (why.to_string(), Some(why));
                    let mut own = || why.take().unwrap_or_else(|| Error::Unsupported(words.clone()));
                    return Ok(cells.iter().map(|_| Err(own())).collect());
                }
            };
            let costs: Vec<f64> = cells.iter().map(|&(_, c)| c).collect();
            let mut on_matrix = |costs: &[f64]| -> Result<Vec<f64>> {
                let told = params.left_out(&matrix, labels, None, fold, costs, exec, watch)?;
                told.iter().map(|t| self.judged(labels, fold, &t.answers, &t.scores)).collect()
            };
            return match on_matrix(&costs) {
                Ok(scores) => Ok(scores.into_iter().map(Ok).collect()),
                Err(Error::Cancelled) => Err(Error::Cancelled),
                Err(only) if costs.len() == 1 => Ok(vec![Err(only)]),
                // A failure at one C must not fail the other values.
                Err(_) => each_alone(costs.iter().map(|&c| on_matrix(&[c]).map(|scores| scores[0]))),
            };
        }
        each_alone(cells.iter().map(|&(_, cost)| self.whole_fit(&costing(learner, cost), fold, exec, watch)))
    }

    /// The kernel matrix of all rows, shared by all folds if no stage is fitted on the rows.
    fn matrix(&self, learner: &Learner, fold: &Fold, shared: &Shared, exec: Exec) -> Result<Arc<Matrix>> {
        let kernel = learner.kernel().ok_or_else(|| Error::param("kernel", "none", "given"))?;
        kernel.check_sign()?;
        if self.recipes.is_empty() {
            let mut held = shared.matrix.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(matrix) = &*held {
                return Ok(Arc::clone(matrix));
            }
            let matrix = Arc::new(Matrix::of(kernel, self.points.view(), exec)?);
            *held = Some(Arc::clone(&matrix));
            return Ok(matrix);
        }
        let (stages, train) = Stages::fit(self.recipes, self.points.gather(&fold.train).view(), exec)?;
        let points = stages.apply(self.points.view(), exec)?;
        // The layout is chosen by the training rows: test rows may be far away.
        let layout = Layout::of(kernel, train.view(), exec);
        Ok(Arc::new(Matrix::under(kernel, points.view(), &layout, exec)?))
    }

    /// The parameters of a learner whose folds can be trained on one matrix.
    fn quick<'l>(&self, learner: &'l Learner, workers: usize) -> Option<&'l SvcParams> {
        let Learner::Svc(params) = learner else { return None };
        let n = self.points.len();
        let room = n.saturating_mul(n).saturating_mul(size_of::<f32>()).saturating_mul(2 * workers + 1);
        let plain = params.virtual_vectors.is_empty() && !params.probability && params.kind != Kind::Hard;
        let plain = plain && params.c.is_finite();
        let kernel = learner.kernel().is_some_and(|k| !is_precomputed(k));
        let judged = !matches!(self.metric.measure, Measure::Probabilities(_));
        (plain && kernel && judged && room <= self.exec.budget()).then_some(params)
    }

    /// A fit on the training part, evaluated on the test part.
    fn whole_fit(&self, learner: &Learner, fold: &Fold, exec: Exec, watch: &mut Watch<'_>) -> Result<f64> {
        let train = self.points.gather(&fold.train);
        let targets = self.data.targets.gather(&fold.train);
        let (stages, points) = Stages::fit(self.recipes, train.view(), exec)?;
        let body = learner.fit(Sample::new(&points, &targets), exec, watch)?;
        // A cancelled fit has a model, but not the one of this setting.
        if (watch)(&Step::new("fold", 0, None)).is_break() {
            return Err(Error::Cancelled);
        }
        let model = Model { stages, ..Model::from(body) };
        let test = self.points.gather(&fold.test);
        let view = test.view();
        match (&self.metric.measure, &self.data.targets) {
            (Measure::Reals(measure), Targets::Reals(truth)) => {
                let want: Vec<f64> = fold.test.iter().map(|&i| truth[i]).collect();
                Ok(measure(model.predict(view, exec)?.reals()?, &want))
            }
            (Measure::Probabilities(measure), Targets::Classes(labels)) => {
                let want: Vec<u32> = fold.test.iter().map(|&i| labels.of_row[i]).collect();
                let given = model.probabilities(view, exec)?.values;
                let spread = spread(&model.classes(), labels, &given, 0.0);
                Ok(measure(&spread, labels.names.len(), &want))
            }
            (_, Targets::Classes(labels)) => {
                let ranked = matches!(self.metric.measure, Measure::Ranking(_));
                let query = Query { scores: ranked, ..Query::default() };
                let told = model.predict_rows(view, &query, exec)?;
                let own = model.classes();
                let place = |name: &str| labels.names.iter().position(|n| n == name);
                let answers: Vec<u32> = told
                    .targets
                    .classes()?
                    .of_row
                    .iter()
                    .map(|&c| own.get(c as usize).and_then(|name| place(name)).map_or(u32::MAX, |p| p as u32))
                    .collect();
                let spread = |given: Vec<f64>| spread(&own, labels, &given, f64::NEG_INFINITY);
                let scores = told.scores.map(spread).unwrap_or_default();
                self.judged(labels, fold, &answers, &scores)
            }
            _ => Err(Error::param("metric", self.metric.name, "one that fits the targets")),
        }
    }

    /// The metric of predictions (or scores, test rows x classes) on a fold's test part.
    fn judged(&self, labels: &Labels, fold: &Fold, answers: &[u32], scores: &[f64]) -> Result<f64> {
        let want: Vec<u32> = fold.test.iter().map(|&i| labels.of_row[i]).collect();
        match self.metric.measure {
            Measure::Classes(measure) => Ok(measure(answers, &want)),
            Measure::Ranking(measure) => {
                let k = labels.names.len();
                let one = |c: usize| {
                    let score: Vec<f64> = scores.chunks(k).map(|line| line[c]).collect();
                    let positive: Vec<bool> = want.iter().map(|&w| w as usize == c).collect();
                    measure(&score, &positive)
                };
                // Two classes have one ranking; with more, each class in the test part is ranked against the others.
                let there: Vec<f64> =
                    if k == 2 { vec![one(1)] } else { (0..k).map(one).filter(|v| !v.is_nan()).collect() };
                Ok(there.iter().sum::<f64>() / there.len() as f64)
            }
            _ => Err(Error::param("metric", self.metric.name, "one of answers or rankings here")),
        }
    }
}

/// Has jobs done elsewhere.
fn posed(
    hands: &dyn Hands,
    frame: &UnitFrame,
    groups: &[Group],
    jobs: &[(usize, usize)],
    batch: &Batch<'_>,
    told: &mut ToldAll<'_>,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let cells: Vec<Vec<(usize, f64)>> = jobs
        .iter()
        .map(|&(g, f)| groups[g].cells.iter().copied().filter(|&(cell, _)| (batch.wanted)(cell, f)).collect())
        .collect();
    let unit = |(&(g, fold), cells): (&(usize, usize), &Vec<(usize, f64)>)| {
        let learner = groups[g].learner.written()?;
        Ok(Unit { learner, costs: cells.iter().map(|&(_, cost)| cost).collect(), fold })
    };
    let units = jobs.iter().zip(&cells).map(unit).collect::<Result<Vec<Unit>>>()?;
    let mut tell = |u: usize, scores: Vec<Result<f64>>| {
        let Some(cells) = cells.get(u).filter(|cells| cells.len() == scores.len()) else {
            return Err(Error::shape("scores of a unit", scores.len(), "one per setting"));
        };
        let fold = jobs[u].1;
        for (&(cell, _), score) in
            cells.iter().zip(scores).filter(|((cell, _), _)| !(batch.known)(*cell, fold))
        {
            told(cell, fold, score)?;
        }
        Ok(())
    };
    hands.run(frame, &units, &mut tell, watch)
}

/// Maps values of a model's own classes, row by row, to all classes: a training part may lack some.
fn spread(own: &[String], labels: &Labels, given: &[f64], absent: f64) -> Vec<f64> {
    let place: Vec<Option<usize>> =
        own.iter().map(|name| labels.names.iter().position(|n| n == name)).collect();
    let mut all = Vec::with_capacity(given.len() / own.len().max(1) * labels.names.len());
    for line in given.chunks(own.len().max(1)) {
        let from = all.len();
        all.resize(from + labels.names.len(), absent);
        place.iter().zip(line).for_each(|(&p, &v)| {
            if let Some(p) = p {
                all[from + p] = v;
            }
        });
    }
    all
}

/// Settings one by one: an error concerns its setting only, unless it is a cancellation.
fn each_alone(scores: impl Iterator<Item = Result<f64>>) -> Result<Vec<Result<f64>>> {
    let passed = |score| match score {
        Err(Error::Cancelled) => Err(Error::Cancelled),
        other => Ok(other),
    };
    scores.map(passed).collect()
}

/// The learner with another C, or nu.
fn costing(learner: &Learner, cost: f64) -> Learner {
    let mut learner = learner.clone();
    if let Learner::Svc(p) = &mut learner {
        match p.kind {
            Kind::Nu => p.nu = cost,
            _ => p.c = cost,
        }
    }
    learner
}

/// Groups settings that differ only in C (or nu), in order of first occurrence.
fn grouped(settings: &[Learner], order: &[usize]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &cell in order {
        let learner = &settings[cell];
        let cost = match learner {
            Learner::Svc(p) if p.kind == Kind::Nu => p.nu,
            Learner::Svc(p) => p.c,
            _ => 0.0,
        };
        // An infinite C is a different problem, the hard margin.
        let shared = matches!(learner, Learner::Svc(p) if p.c.is_finite());
        let frame = costing(learner, 1.0);
        let same = |g: &&mut Group| shared && g.learner == frame;
        if let Some(group) = groups.iter_mut().find(same) {
            group.cells.push((cell, cost));
        } else {
            let learner = if shared { frame } else { learner.clone() };
            groups.push(Group { learner, cells: vec![(cell, cost)] });
        }
    }
    groups
}

#[cfg(test)]
mod tests;
