//! What comes out when nobody sets anything: Mercer's quick estimate beside scikit-learn's defaults with standardised columns,
//! and beside boosted trees; with `--full` also both sides' searches of 60 seconds.
//!
//! Every numeric set at hand, cut to 5000 rows by a seed; five splits, two thirds to learn from, the same for all sides. What
//! counts is the paired difference of test errors over the splits with its standard error. Each outcome is kept in a
//! file, so that a run that was broken off goes on: the searches take hours.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use mercer::Exec;
use mercer::assess::{Evaluation, quick, thorough};
use mercer::data::io::{self, ReadOptions, TargetKind};
use mercer::data::split::{self, Fold};
use mercer::data::{Dataset, Points};
use mercer::model::{Plan, Wishes};
use mercer::watch::silent;
use serde_json::{Value, json};

use crate::Args;
use crate::python::Python;
use crate::report::Report;
use crate::sets;
use crate::side::Side;

const ROWS: usize = 5000;
const SPLITS: u64 = 5;
/// Seconds that a search may take.
const SEARCH: f64 = 60.0;
/// Mercer's ways and the peers', in the order of the table; those that search last.
const OURS: [&str; 2] = ["mercer untuned", "mercer tuned"];
const PEERS: [(&str, &str); 3] =
    [("scikit-learn default", "default"), ("boosted trees", "trees"), ("scikit-learn grid", "grid")];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("defaults");
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let kept = sets::scratch()?.join("defaults.jsonl");
    let mut known = Known::open(kept);
    for (name, path) in files(&sets::folder()) {
        if args.wants(&name) {
            case(&name, &path, &python, args, &mut known, &mut report).with_context(|| name.clone())?;
        }
    }
    Ok(report)
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
    found.sort();
    found
}

fn case(
    name: &str,
    path: &Path,
    python: &Python,
    args: &Args,
    known: &mut Known,
    report: &mut Report,
) -> Result<()> {
    let numbers = name.starts_with("regression/");
    let targets = if numbers { TargetKind::Reals } else { TargetKind::Classes };
    let data = io::read(path, &ReadOptions { targets, ..ReadOptions::default() })?;
    let rows: Vec<usize> = split::shuffle(data.len(), 0).into_iter().take(ROWS).collect();
    let mut data = data.gather(&rows);
    data.points = Points::dense(data.points.view().to_f64()?, data.dim())?;
    eprintln!("bench: {name}, {} rows", data.len());
    let exec = Exec::new(args.threads);
    let folds: Vec<Fold> = (0..SPLITS)
        .map(|seed| split::holdout_of(data.len(), &data.targets, 1.0 / 3.0, seed))
        .collect::<mercer::Result<_>>()?;
    let mut side: Option<Side> = None;
    let mut outcomes: Vec<(&str, Vec<Outcome>)> = Vec::new();
    for method in OURS.iter().take(if args.full { 2 } else { 1 }) {
        let fitted = folds
            .iter()
            .enumerate()
            .map(|(s, fold)| known.or(name, s, method, || ours(&data, fold, *method == OURS[1], exec)));
        outcomes.push((method, fitted.collect::<Result<_>>()?));
    }
    let asked = PEERS.iter().take(if args.full { 3 } else { 2 }).filter(|(label, _)| args.wants_peer(label));
    for (label, method) in asked {
        let fitted = folds.iter().enumerate().map(|(s, fold)| {
            known.or(name, s, label, || {
                let side = match &mut side {
                    Some(side) => side,
                    none => none.insert(begun(&data, name, numbers, python, exec)?),
                };
                let asked = json!({"do": "run", "method": method, "seconds": SEARCH, "train": fold.train, "test": fold.test});
                Outcome::of(&side.ask(&asked)?)
            })
        });
        outcomes.push((label, fitted.collect::<Result<_>>()?));
    }
    told(name, numbers, &outcomes, report);
    Ok(())
}

/// A peer that has the data.
fn begun(data: &Dataset, name: &str, numbers: bool, python: &Python, exec: Exec) -> Result<Side> {
    let path = sets::hand_out(data, &format!("defaults-{}", name.replace('/', "-")))?;
    let mut side = Side::peer("scikit-learn", python, "defaults.py", &[], exec.threads())?;
    side.ask(&json!({"do": "load", "x": path, "y": path.with_extension("labels.npy"), "numbers": numbers}))?;
    Ok(side)
}

fn ours(data: &Dataset, fold: &Fold, tuned: bool, exec: Exec) -> Result<Outcome> {
    let (train, test) = (data.gather(&fold.train), data.gather(&fold.test));
    let clock = Instant::now();
    let wishes = Wishes::default();
    let mut plan = Plan::new(&train, &wishes, exec)?;
    if tuned {
        thorough(&mut plan, &wishes, SEARCH, exec, &mut silent())?;
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

/// Errors of all sides, and the differences to Mercer's with their standard errors.
fn told(name: &str, numbers: bool, outcomes: &[(&str, Vec<Outcome>)], report: &mut Report) {
    let (factor, unit) = if numbers { (1.0, "RMSE") } else { (100.0, "% errors") };
    let mean =
        |of: &dyn Fn(&Outcome) -> f64, list: &[Outcome]| list.iter().map(of).sum::<f64>() / list.len() as f64;
    let ours = &outcomes[0].1;
    for (label, list) in outcomes {
        report.note(name, *label, factor * mean(&|o| o.error, list), unit);
    }
    for (label, list) in &outcomes[1..] {
        let against = if *label == PEERS[2].0 && outcomes.len() > 2 { &outcomes[1].1 } else { ours };
        let gains: Vec<f64> =
            list.iter().zip(against).map(|(peer, own)| factor * (peer.error - own.error)).collect();
        let m = gains.len() as f64;
        let gain = gains.iter().sum::<f64>() / m;
        let off: f64 = gains.iter().map(|g| (g - gain).powi(2)).sum();
        let who = if *label == PEERS[2].0 { OURS[1] } else { OURS[0] };
        report.note(name, format!("{label} less {who}"), gain, unit);
        report.note(name, "  its standard error", (off / (m - 1.0) / m).sqrt(), unit);
    }
    for (label, list) in outcomes.iter().filter(|(label, _)| PEERS.iter().any(|(peer, _)| peer == label)) {
        let own = if *label == PEERS[2].0 && outcomes[1].0 == OURS[1] { &outcomes[1].1 } else { ours };
        report.row(name, label, mean(&|o| o.seconds, list), mean(&|o| o.seconds, own));
    }
}

/// What a side reached on a split.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    error: f64,
    seconds: f64,
}

impl Outcome {
    fn of(answer: &Value) -> Result<Self> {
        let number = |name: &str| answer[name].as_f64().with_context(|| format!("an answer without {name}"));
        Ok(Outcome { error: number("error")?, seconds: number("seconds")? })
    }
}

/// The outcomes so far, in a file with a line each.
struct Known {
    path: PathBuf,
    outcomes: HashMap<String, Outcome>,
}

impl Known {
    fn open(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut outcomes = HashMap::new();
        // A line that a kill cut short is run again.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if let (Some(key), Ok(outcome)) = (line["key"].as_str(), Outcome::of(&line)) {
                outcomes.insert(key.to_owned(), outcome);
            }
        }
        if !outcomes.is_empty() {
            eprintln!(
                "bench: {} outcomes are known from {}; delete it to begin again",
                outcomes.len(),
                path.display()
            );
        }
        Known { path, outcomes }
    }

    fn or(
        &mut self,
        set: &str,
        split: usize,
        method: &str,
        run: impl FnOnce() -> Result<Outcome>,
    ) -> Result<Outcome> {
        let key = format!("{set} {split} {method}");
        if let Some(outcome) = self.outcomes.get(&key) {
            return Ok(*outcome);
        }
        let outcome = run()?;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
        writeln!(file, "{}", json!({"key": key, "error": outcome.error, "seconds": outcome.seconds}))?;
        self.outcomes.insert(key, outcome);
        Ok(outcome)
    }
}
