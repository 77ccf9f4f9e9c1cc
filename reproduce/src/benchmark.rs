//! The two-class benchmark sets with splits that everybody uses, and how settings are chosen on them (Mueller et al. 2001,
//! Sec. VI): five-fold validation in two stages on the training rows of each of the first five splits, then the median of
//! the five, number by number. Test rows take no part in any choice.

use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::assess::{SearchParams, Setting, Space, search};
use mercer::data::io::{ReadOptions, TargetKind, read, read_splits};
use mercer::data::split::{Fold, stratified_kfold};
use mercer::data::{Dataset, Targets};
use mercer::kernel::Kernel;
use mercer::model::{Learner, Model, Sample};
use mercer::{Error, Exec, Result, watch};

use crate::data::Set;
use crate::lab::Lab;

/// The benchmark's files.
pub(crate) const IDA: Set = Set {
    name: "IDA",
    of: "benchmark sets",
    files: &[
        "ida/banana.svm.xz",
        "ida/banana.splits.txt.xz",
        "ida/breast-cancer.svm.xz",
        "ida/breast-cancer.splits.txt.xz",
        "ida/heart.svm.xz",
        "ida/heart.splits.txt.xz",
        "ida/titanic.svm.xz",
        "ida/titanic.splits.txt.xz",
        "ida/german.svm.xz",
        "ida/german.splits.txt.xz",
        "ida/image.svm.xz",
        "ida/image.splits.txt.xz",
        "ida/diabetis.svm.xz",
        "ida/diabetis.generated_splits.txt.xz",
        "ida/flare-solar.svm.xz",
        "ida/flare-solar.generated_splits.txt.xz",
    ],
    origin: crate::data::IDA_ORIGIN,
};

/// Splits on whose training rows settings are chosen.
pub(crate) const CHOOSING: usize = 5;

/// A set and its splits: the benchmark's own, or others of the same sizes where those are not available.
pub(crate) fn read_set(lab: &Lab<'_>, name: &str, generated: bool) -> Result<(Dataset, Vec<Fold>)> {
    let folder = &lab.settings.folder;
    let options = ReadOptions { targets: TargetKind::Classes, ..ReadOptions::default() };
    let mut data = read(folder.join(format!("ida/{name}.svm.xz")), &options)?;
    data.points = data.points.to_dense()?;
    let kind = if generated { "generated_splits" } else { "splits" };
    let folds = read_splits(folder.join(format!("ida/{name}.{kind}.txt.xz")), data.len())?;
    Ok((data, folds))
}

/// A learner and the settings it is tried with.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) base: Learner,
    pub(crate) space: Space,
    /// 2: a finer grid around the best of the coarse one. Numbers of things have one stage.
    pub(crate) stages: u32,
}

impl Method {
    /// The median of what validation on each split's training rows picks.
    pub(crate) fn chosen(&self, lab: &mut Lab<'_>, data: &Dataset, folds: &[Fold]) -> Result<Learner> {
        let exec = lab.exec();
        let mut picked: Vec<Setting> = Vec::new();
        for (s, fold) in folds.iter().take(CHOOSING).enumerate() {
            let train = data.gather(&fold.train);
            let space = self.space.clone();
            let params = SearchParams { stages: self.stages, seed: s as u64, ..SearchParams::new(space) };
            let found = lab.watched(|watch| search(&train, &[], &self.base, &params, exec, watch))?;
            picked.push(found.best.setting);
        }
        let median = |of: &dyn Fn(&Setting) -> f64| {
            let mut all: Vec<f64> = picked.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let width = |s: &Setting| if let Kernel::Rbf { gamma } = s.kernel { gamma } else { f64::NAN };
        let kernel = Kernel::Rbf { gamma: median(&width) };
        let values = (0..self.space.axes.len()).map(|a| median(&|s| s.values[a])).collect();
        self.space.learner(&self.base, &Setting { family: 0, at: 0, kernel, values })
    }
}

/// The share of wrong answers on test rows, and the number of centres.
pub(crate) fn error_and_centres(learner: &Learner, train: &Dataset, test: &Dataset) -> Result<(f64, usize)> {
    let sample = Sample::new(&train.points, &train.targets);
    let model = Model::from(learner.fit(sample, Exec::one(), &mut watch::silent())?);
    let Targets::Classes(got) = model.predict(test.points.view(), Exec::one())? else {
        return Err(Error::shape("answers", "numbers", "classes"));
    };
    let want = test.targets.classes()?;
    let wrong = (0..want.len()).filter(|&i| got.name_of(i) != want.name_of(i)).count();
    Ok((wrong as f64 / want.len() as f64, model.machine.expansion.len()))
}

/// Test errors in percent, and centres in percent of the training rows, split by split.
pub(crate) fn measured(
    learner: &Learner,
    data: &Dataset,
    folds: &[Fold],
    exec: Exec,
) -> Result<Vec<(f64, f64)>> {
    spread(folds.len(), exec, |f| {
        let (train, test) = (data.gather(&folds[f].train), data.gather(&folds[f].test));
        let (error, centres) = error_and_centres(learner, &train, &test)?;
        Ok((100.0 * error, 100.0 * centres as f64 / train.len() as f64))
    })
}

/// The setting with the least validation error among those with at most `share` of the rows as centres; where none has as few,
/// the one with the fewest.
pub(crate) fn best_of_few(
    settings: &[Learner],
    share: f64,
    data: &Dataset,
    folds: &[Fold],
    exec: Exec,
) -> Result<Learner> {
    let folds = &folds[..folds.len().min(CHOOSING)];
    let per = folds.len() * 5;
    let trains: Vec<Dataset> = folds.iter().map(|f| data.gather(&f.train)).collect();
    let found = spread(settings.len() * per, exec, |job| {
        let (at, split, part) = (job / per, job % per / 5, job % 5);
        let train = &trains[split];
        let inner = &stratified_kfold(train.targets.classes()?, 5, split as u64)?[part];
        let (error, centres) =
            error_and_centres(&settings[at], &train.gather(&inner.train), &train.gather(&inner.test))?;
        Ok((error, centres as f64 / inner.train.len() as f64))
    })?;
    let mean = |line: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| line.iter().map(of).sum::<f64>();
    let means: Vec<(f64, f64)> = found
        .chunks(per)
        .map(|line| (mean(line, |m| m.0) / per as f64, mean(line, |m| m.1) / per as f64))
        .collect();
    let few = (0..means.len()).filter(|&s| means[s].1 <= share);
    let best = few.min_by(|&a, &b| means[a].0.total_cmp(&means[b].0));
    let fewest = || (0..means.len()).min_by(|&a, &b| means[a].1.total_cmp(&means[b].1));
    Ok(settings[best.or_else(fewest).expect("a setting")].clone())
}

/// Independent jobs of two numbers on as many threads as there may be, results in order.
fn spread(
    jobs: usize,
    exec: Exec,
    work: impl Fn(usize) -> Result<(f64, f64)> + Sync,
) -> Result<Vec<(f64, f64)>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return done;
            }
            done.push((job, work(job)));
        }
    };
    let all: Vec<(usize, Result<(f64, f64)>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..exec.threads()).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("a worker does not panic on good data")).collect()
    });
    let mut out = vec![(0.0, 0.0); jobs];
    for (job, result) in all {
        out[job] = result?;
    }
    Ok(out)
}
