//! Machines for many rows beside what a user of scikit-learn would take: Nystroem or random Fourier features with a linear
//! machine, and boosted trees. All sides see the same rows, the same number of centres, the same width and lambda; errors on the
//! same test rows stand beside the seconds. Cases take minutes at 10,000 centres: `--only` names some of them.
//!
//! The row that counts is the fastest pipeline whose error is no higher than Mercer's. Multiply-adds are counted and divided by
//! the rate of a plain product: what no way of computing the same numbers could fall below.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use mercer::num::product::{self, Mat};
use serde_json::{Value, json};

use crate::large_sets::{self as sets, Many};
use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Outcome, Task};
use crate::side::Side;
use crate::{Args, growth_of_large};

/// One comparison.
struct Case {
    set: &'static str,
    /// Numbers of centres.
    centres: &'static [u64],
    learner: &'static str,
    gamma: f64,
    lambda: f64,
    /// How Mercer places its centres; the peers draw theirs.
    place: &'static str,
}

const CASES: &[Case] = &[
    Case {
        set: "mnist60k",
        centres: &[1000, 3000, 10_000],
        learner: "large",
        gamma: 0.02,
        lambda: 0.1,
        place: "uniform",
    },
    Case {
        set: "digits540k",
        centres: &[1000, 3000],
        learner: "large",
        gamma: 0.02,
        lambda: 0.1,
        place: "uniform",
    },
    Case {
        set: "flights",
        centres: &[1000, 3000],
        learner: "large",
        gamma: 0.01,
        lambda: 1.0,
        place: "uniform",
    },
    Case {
        set: "kdd",
        centres: &[1000, 3000],
        learner: "large",
        gamma: 0.02,
        lambda: 0.01,
        place: "uniform",
    },
];

/// Features and machine of a pipeline; no features: the rows themselves.
const PIPELINES: [(&str, &str); 5] = [
    ("Nystroem", "Ridge"),
    ("Nystroem", "SGD"),
    ("Nystroem", "LogisticRegression"),
    ("RBFSampler", "SGD"),
    ("", "HistGradientBoosting"),
];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("large");
    let python = Python::ready()?;
    for case in CASES {
        let name = |m: u64| format!("{} M={m}", case.set);
        let wanted: Vec<u64> = case.centres.iter().copied().filter(|m| args.wants(&name(*m))).collect();
        if wanted.is_empty() {
            continue;
        }
        match sets::load(case.set) {
            Ok(set) => {
                let files = Files::of(case.set, &set)?;
                for (i, m) in wanted.into_iter().enumerate() {
                    one(case, &name(m), m, (&set, &files, i == 0), &python, args, &mut report)?;
                }
            }
            Err(error) => eprintln!("bench: left out {error:#}"),
        }
    }
    growth_of_large::run(args, &mut report)?;
    Ok(report)
}

/// What all sides read.
struct Files {
    x: PathBuf,
    test: PathBuf,
}

impl Files {
    fn of(name: &str, set: &Many) -> Result<Self> {
        let x = crate::sets::hand_out(&set.train, &format!("large-{name}-train"))?;
        let test = crate::sets::hand_out(&set.test, &format!("large-{name}-test"))?;
        Ok(Files { x, test })
    }

    fn load(&self, numbers: bool) -> Value {
        let labels = |path: &Path| path.with_extension("labels.npy");
        json!({
            "do": "load", "x": self.x, "y": labels(&self.x), "test_x": self.test, "test_y": labels(&self.test),
            "numbers": numbers, "dtype": "float32", "sparse": false,
        })
    }
}

fn one(
    case: &Case,
    name: &str,
    m: u64,
    (set, files, first): (&Many, &Files, bool),
    python: &Python,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    eprintln!("bench: {name}");
    let numbers = set.train.targets.reals().is_ok();
    let mut sides = vec![Side::mercer(args.threads())?];
    sides[0].ask(&files.load(numbers))?;
    let request = json!({
        "do": "learn", "learner": case.learner, "kernel": format!("rbf(gamma={})", case.gamma),
        "set": {"centres": m, "lambda": case.lambda, "place": case.place},
    });
    let mut tasks = vec![Task { label: "mercer".to_owned(), side: 0, request }];
    for (features, machine) in PIPELINES {
        let label = if features.is_empty() { machine.to_owned() } else { format!("{features} + {machine}") };
        // Trees know no centres: once for each set. Numbers have no logistic loss.
        let open = (!features.is_empty() || first) && !(numbers && machine == "LogisticRegression");
        if !open || !args.wants_peer(&label) {
            continue;
        }
        if let Err(error) = python.need(&["numpy", "scipy", "scikit-learn"]) {
            eprintln!("bench: without {label}: {error:#}");
            continue;
        }
        let mut side = Side::peer(&label, python, "large.py", &[], args.threads())?.limited(args.limit);
        side.ask(&files.load(numbers))?;
        let settings = json!({"m": m, "gamma": case.gamma, "lambda": case.lambda});
        let request =
            json!({"do": "learn", "features": features, "machine": machine, "args": settings, "seed": 0});
        tasks.push(Task { label, side: sides.len(), request });
        sides.push(side);
    }
    let fitted = rounds::run(&mut sides, &tasks, args)?;
    // A side that was stopped has no fit to be asked about.
    let told: Vec<Task> = tasks
        .iter()
        .filter(|task| !sides[task.side].is_stopped())
        .map(|task| Task { label: task.label.clone(), side: task.side, request: json!({"do": "answer"}) })
        .collect();
    let told = rounds::run(&mut sides, &told, args)?;
    for task in tasks.iter().filter(|task| sides[task.side].is_stopped()) {
        report.note(name, format!("{}, stopped after", task.label), args.limit, "s");
    }
    let fitted: Vec<Outcome> =
        fitted.into_iter().filter(|fit| told.iter().any(|t| t.label == fit.label)).collect();
    for (fit, answer) in fitted.iter().zip(&told) {
        if fit.label != "mercer" {
            report.row(&format!("{name} fit"), &fit.label, fit.seconds, fitted[0].seconds);
            report.row(&format!("{name} predict"), &fit.label, answer.seconds, told[0].seconds);
        }
        let (error, unit) = error_of(answer)?;
        let what = if unit.is_empty() { "root mean square error" } else { "test error" };
        report.note(name, format!("{}, {what}", fit.label), error, unit);
        report.note(name, format!("{}, peak memory", fit.label), fit.peak_mb.unwrap_or(f64::NAN), "MB");
    }
    if numbers {
        report.note(name, "mean of the training rows, root mean square error", sets::error_of_mean(set)?, "");
    }
    as_good(name, &fitted, &told, report)?;
    floor(name, m, set, &fitted[0], report)
}

/// A share of wrong classes in percent, or the root of a mean square.
fn error_of(answer: &Outcome) -> Result<(f64, &'static str)> {
    if let Some(mse) = answer.answer["mse"].as_f64() {
        return Ok((mse.sqrt(), ""));
    }
    Ok((answer.answer["error_percent"].as_f64().context("an answer without an error")?, "%"))
}

/// The fastest pipeline of kernel features whose error is no higher than Mercer's.
fn as_good(name: &str, fitted: &[Outcome], told: &[Outcome], report: &mut Report) -> Result<()> {
    let own = error_of(&told[0])?.0;
    let mut best: Option<&Outcome> = None;
    for (fit, answer) in fitted.iter().zip(told).skip(1) {
        let good = fit.label.contains('+') && error_of(answer)?.0 <= own;
        if good && best.is_none_or(|best| fit.seconds < best.seconds) {
            best = Some(fit);
        }
    }
    match best {
        Some(peer) => {
            let what = format!("times faster than {}, the fastest with no higher error", peer.label);
            report.note(name, what, peer.seconds / fitted[0].seconds, "goal 5");
        }
        None => report.note(name, "pipelines that finished with no higher error", 0.0, ""),
    }
    Ok(())
}

/// Multiply-adds of a fit, and the seconds that they take at the rate of a product.
fn floor(name: &str, m: u64, set: &Many, fit: &Outcome, report: &mut Report) -> Result<()> {
    let (n, d, m) = (set.train.len() as f64, set.train.dim() as f64, m as f64);
    let k = set.train.targets.classes().map_or(1.0, |labels| match labels.names.len() {
        2 => 1.0,
        k => k as f64,
    });
    let passes = fit.answer["iterations"].as_f64().context("a fit without passes")?;
    let standing = fit.answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let sketch = standing
        .filter(|note| note.ends_with("rows shape the preconditioner"))
        .find_map(|note| note.split(' ').next()?.parse::<f64>().ok());
    // Both factors and what lies between them.
    let factors = 2.0 * m.powi(3) / 3.0 + sketch.map_or(m.powi(3) / 3.0, |s| s * m * m);
    let products = passes * (2.0 * n * m * k + 2.0 * m * m * k);
    let values = n * m * d;
    let rate = rate();
    let least = (values + factors + products) / rate;
    for (what, count) in [("kernel values", values), ("factors", factors), ("passes", products)] {
        report.note(name, format!("multiply-adds of {what}"), count / 1e9, "10^9");
    }
    report.note(name, "passes over all rows", passes, "");
    report.note(name, "rate of a product in f32", rate / 1e9, "10^9 multiply-adds/s");
    report.note(name, "the floor: all multiply-adds at that rate", least, "s");
    report.note(name, "mercer, times the floor", fit.seconds / least, "");
    Ok(())
}

/// Multiply-adds per second of a matrix product in f32: the best of three.
fn rate() -> f64 {
    let n = 2048;
    let a = vec![0.5_f32; n * n];
    let mut out = vec![0.0_f32; n * n];
    let mut best = 0.0_f64;
    for _ in 0..3 {
        let clock = Instant::now();
        product::nt(&mut out, Mat::new(&a, n, n), Mat::new(&a, n, n), mercer::Exec::default().threads());
        std::hint::black_box(&out);
        best = best.max((n as f64).powi(3) / clock.elapsed().as_secs_f64());
    }
    best
}
