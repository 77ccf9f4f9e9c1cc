//! Errors when nobody sets anything: Mercer's quick estimate beside scikit-learn's defaults with standardised columns,
//! and beside boosted trees; with `--full` also both sides' searches of 60 seconds.
//!
//! Every numeric set at hand, cut to 5000 rows by a seed; five splits, two thirds to train on, the same for all methods. What
//! counts is the paired difference of test errors over the splits with its standard error. Each outcome is kept in a
//! journal, so that a run that was interrupted continues: the searches take hours. `--jobs` runs so many methods side by
//! side, each with its own `--threads`.

mod journal;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use mercer::Exec;
use mercer::assess::{Evaluation, quick, thorough};
use mercer::data::io::{self, ReadOptions, TargetKind};
use mercer::data::split::{self, Fold};
use mercer::data::{Dataset, Points};
use mercer::model::{Plan, Wishes};
use mercer::watch::silent;
use serde_json::json;

use crate::Args;
use crate::python::Python;
use crate::report::Report;
use crate::sets;
use crate::side::Side;
use journal::{Journal, Outcome};

const ROWS: usize = 5000;
const SPLITS: u64 = 5;
/// What a search may overrun its seconds by: a setting that has begun is finished.
const OVERRUN: f64 = 2.0;

/// A way to a model. Those that search come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Untuned,
    Default,
    Trees,
    Tuned,
    Grid,
}

impl Method {
    const ALL: [Method; 5] = [Method::Untuned, Method::Default, Method::Trees, Method::Tuned, Method::Grid];

    fn label(self) -> &'static str {
        match self {
            Method::Untuned => "mercer untuned",
            Method::Default => "scikit-learn default",
            Method::Trees => "boosted trees",
            Method::Tuned => "mercer tuned",
            Method::Grid => "scikit-learn grid",
        }
    }

    fn searches(self) -> bool {
        matches!(self, Method::Tuned | Method::Grid)
    }

    /// The word that the peer's script knows it by; none: it is ours.
    fn peer(self) -> Option<&'static str> {
        match self {
            Method::Untuned | Method::Tuned => None,
            Method::Default => Some("default"),
            Method::Trees => Some("trees"),
            Method::Grid => Some("grid"),
        }
    }
}

/// A set with its splits, in memory and as a file for the peers.
struct Case {
    name: String,
    data: Dataset,
    /// Whether targets are numbers.
    numbers: bool,
    folds: Vec<Fold>,
    file: PathBuf,
}

/// A method on a split of a set.
type Job<'a> = (&'a Case, usize, Method);

pub(crate) fn run(args: &Args) -> Result<Report> {
    let begun = Instant::now();
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let methods: Vec<Method> = Method::ALL
        .into_iter()
        .filter(|m| args.full || !m.searches())
        .filter(|m| m.peer().is_none() || args.wants_peer(m.label()))
        .collect();
    let found = files(&sets::folder()).into_iter().filter(|(name, _)| args.wants(name));
    let cases = found
        .map(|(name, path)| Case::read(&name, &path).with_context(|| name.clone()))
        .collect::<Result<Vec<_>>>()?;
    let journal = Journal::open(
        args.journal.clone().map_or_else(|| Ok(sets::scratch()?.join("defaults.jsonl")), anyhow::Ok)?,
    );
    // What takes seconds first, then the searches, those on many values first: a long one at the end would run alone.
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for &method in &methods {
        let splits =
            cases.iter().flat_map(|case| (0..case.folds.len()).map(move |split| (case, split, method)));
        jobs.extend(
            splits.filter(|(case, split, method)| journal.get(&case.name, *split, method.label()).is_none()),
        );
    }
    jobs.sort_by_key(|(case, _, method)| {
        (method.searches(), std::cmp::Reverse(case.data.len() * case.data.dim()))
    });
    eprintln!("bench: {} sets, {} outcomes to come", cases.len(), jobs.len());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let worker = || work(&jobs, &next, args, &python, &journal, begun);
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|w| w.join().expect("a worker does not panic"))
    })?;
    let mut report = Report::new("defaults");
    for case in &cases {
        case.told(&methods, &journal, &mut report);
    }
    Ok(report)
}

/// Does jobs until none is left, or none that would end in time.
fn work(
    jobs: &[Job<'_>],
    next: &AtomicUsize,
    args: &Args,
    python: &Python,
    journal: &Journal,
    begun: Instant,
) -> Result<()> {
    let exec = Exec::new(args.threads);
    // A peer, and the set that it has loaded.
    let mut side: Option<(Side, &str)> = None;
    while let Some(&(case, split, method)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        let takes = if method.searches() { OVERRUN * args.search_seconds } else { 0.0 };
        if args.stop_after.is_some_and(|limit| begun.elapsed().as_secs_f64() + takes > limit) {
            continue;
        }
        let fold = &case.folds[split];
        let what = || format!("{}, split {split}, {}", case.name, method.label());
        let outcome = match method.peer() {
            None => ours(&case.data, fold, method, args.search_seconds, exec),
            Some(word) => theirs(&mut side, case, fold, word, args.search_seconds, python, exec),
        };
        let outcome = outcome.with_context(what)?;
        eprintln!("bench: {}: {:.4} in {:.1} s", what(), outcome.error, outcome.seconds);
        journal.add(&case.name, split, method.label(), outcome)?;
    }
    Ok(())
}

fn ours(data: &Dataset, fold: &Fold, method: Method, search: f64, exec: Exec) -> Result<Outcome> {
    let (train, test) = (data.gather(&fold.train), data.gather(&fold.test));
    let clock = Instant::now();
    let wishes = Wishes::default();
    let mut plan = Plan::new(&train, &wishes, exec)?;
    if method == Method::Tuned {
        thorough(&mut plan, &wishes, search, exec, &mut silent())?;
    } else {
        quick(&mut plan, 0, exec, &mut silent())?;
    }
    let model = plan.fit(exec, &mut silent())?;
    let seconds = clock.elapsed().as_secs_f64();
    let error = match Evaluation::new(&model, &test, exec)? {
        Evaluation::Classification(e) => e.error,
        Evaluation::Regression(e) => e.rmse,
        other => anyhow::bail!("no error in {other:?}"),
    };
    Ok(Outcome { error, seconds })
}

fn theirs<'a>(
    side: &mut Option<(Side, &'a str)>,
    case: &'a Case,
    fold: &Fold,
    method: &str,
    search: f64,
    python: &Python,
    exec: Exec,
) -> Result<Outcome> {
    let (peer, loaded) = match side {
        Some(side) => side,
        none => none.insert((Side::peer("scikit-learn", python, "defaults.py", &[], exec.threads())?, "")),
    };
    if *loaded != case.name {
        let labels = case.file.with_extension("labels.npy");
        peer.ask(&json!({"do": "load", "x": case.file, "y": labels, "numbers": case.numbers}))?;
        *loaded = &case.name;
    }
    let asked =
        json!({"do": "run", "method": method, "seconds": search, "train": fold.train, "test": fold.test});
    Outcome::of(&peer.ask(&asked)?)
}

/// The numeric sets in a folder of data sets, by the names of their files.
fn files(root: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for folder in ["ida", "uci", "libsvm", "usps", "dna", "coil20", "regression"] {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(bare) = name.strip_suffix(".svm.xz") else { continue };
            // Test halves of sets that come in two files.
            if !matches!(bare.rsplit_once('.'), Some((_, "t" | "test"))) {
                found.push((format!("{folder}/{bare}"), path));
            }
        }
    }
    let digits = root.join("mnist/train-images-idx3-ubyte.gz");
    if digits.exists() {
        found.push(("mnist/mnist.train".to_owned(), digits));
    }
    found.sort();
    found
}

impl Case {
    fn read(name: &str, path: &Path) -> Result<Self> {
        let numbers = name.starts_with("regression/");
        let targets = if numbers { TargetKind::Reals } else { TargetKind::Classes };
        let data = io::read(path, &ReadOptions { targets, ..ReadOptions::default() })?;
        let rows: Vec<usize> = split::shuffle(data.len(), 0).into_iter().take(ROWS).collect();
        let mut data = data.gather(&rows);
        data.points = Points::dense(data.points.view().to_f64()?, data.dim())?;
        let folds = (0..SPLITS)
            .map(|seed| split::holdout_of(data.len(), &data.targets, 1.0 / 3.0, seed))
            .collect::<mercer::Result<_>>()?;
        let file = sets::hand_out(&data, &format!("defaults-{}", name.replace('/', "-")))?;
        Ok(Case { name: name.to_owned(), data, numbers, folds, file })
    }

    /// The outcomes of a method, if all splits are known.
    fn outcomes(&self, method: Method, journal: &Journal) -> Option<Vec<Outcome>> {
        (0..self.folds.len()).map(|split| journal.get(&self.name, split, method.label())).collect()
    }

    /// Errors of all methods, and paired differences to Mercer's with their standard errors.
    fn told(&self, methods: &[Method], journal: &Journal, report: &mut Report) {
        let (factor, unit) = if self.numbers { (1.0, "RMSE") } else { (100.0, "% errors") };
        let known: Vec<(Method, Vec<Outcome>)> =
            methods.iter().filter_map(|&m| Some((m, self.outcomes(m, journal)?))).collect();
        let of = |method: Method| known.iter().find(|(m, _)| *m == method).map(|(_, list)| list);
        for (method, list) in &known {
            report.note(&self.name, method.label(), factor * mean(list, |o| o.error), unit);
        }
        for own in [Method::Untuned, Method::Tuned] {
            let Some(ours) = of(own) else { continue };
            let others = known
                .iter()
                .filter(|(m, _)| m.peer().is_some() || (own == Method::Tuned && *m == Method::Untuned));
            for (method, list) in others {
                let gains: Vec<f64> =
                    list.iter().zip(ours).map(|(other, own)| factor * (other.error - own.error)).collect();
                let m = gains.len() as f64;
                let gain = gains.iter().sum::<f64>() / m;
                let off: f64 = gains.iter().map(|g| (g - gain).powi(2)).sum();
                report.note(&self.name, format!("{} less {}", method.label(), own.label()), gain, unit);
                report.note(&self.name, "  its standard error", (off / (m - 1.0) / m).sqrt(), unit);
            }
        }
        for (method, list) in known.iter().filter(|(m, _)| m.peer().is_some()) {
            let own = if method.searches() { Method::Tuned } else { Method::Untuned };
            if let Some(ours) = of(own) {
                report.row(&self.name, method.label(), mean(list, |o| o.seconds), mean(ours, |o| o.seconds));
            }
        }
    }
}

fn mean(list: &[Outcome], of: impl Fn(&Outcome) -> f64) -> f64 {
    list.iter().map(of).sum::<f64>() / list.len() as f64
}
