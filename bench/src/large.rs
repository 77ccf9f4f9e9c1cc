//! Machines for many rows beside what a user of scikit-learn would take: Nystroem or random Fourier features with a linear
//! machine, and boosted trees. All sides see the same rows, the same number of centres, the same width and lambda; errors on the
//! same test rows stand beside the seconds. Cases that take minutes run with `--full`, or if `--only` names them (with a blank
//! at the end of a whole number: `--only 'mnist60k M=1000 '`). Without `--full` peers are stopped after two minutes.
//!
//! Settings of a loss were chosen on 10,000 of the training rows that were left out of its fit, never on the test rows.
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
    /// What a case is called beside its set, where a set has several.
    form: &'static str,
    /// Numbers of centres.
    centres: &'static [u64],
    /// More numbers of centres, with `--full`.
    full: &'static [u64],
    learner: &'static str,
    gamma: f64,
    lambda: f64,
    /// Mercer's tolerance.
    tol: f64,
    /// How Mercer places its centres; the peers draw theirs.
    place: &'static str,
}

const CASES: &[Case] = &[
    Case {
        set: "mnist60k",
        form: "",
        centres: &[1000, 3000],
        full: &[10_000],
        learner: "large",
        gamma: 0.02,
        lambda: 0.1,
        tol: 1e-3,
        place: "uniform",
    },
    Case {
        set: "mnist60k",
        form: " hinge",
        centres: &[3000, 6000],
        full: &[1000, 10_000],
        learner: "large-hinge",
        gamma: 0.02,
        lambda: 0.03,
        tol: 0.02,
        place: "kmeans",
    },
    Case {
        set: "digits540k",
        form: "",
        centres: &[],
        full: &[1000, 3000],
        learner: "large",
        gamma: 0.02,
        lambda: 0.1,
        tol: 1e-3,
        place: "uniform",
    },
    Case {
        set: "flights",
        form: "",
        centres: &[1000],
        full: &[3000],
        learner: "large",
        gamma: 0.01,
        lambda: 1.0,
        tol: 1e-3,
        place: "uniform",
    },
    Case {
        set: "kdd",
        form: "",
        centres: &[1000],
        full: &[3000],
        learner: "large",
        gamma: 0.02,
        lambda: 0.01,
        tol: 1e-3,
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

/// Seconds after which a peer is stopped without `--full`.
const PATIENCE: f64 = 120.0;
/// Bytes of rows from which sides run one after another: together their copies would not fit into memory.
const HEAVY: usize = 1 << 30;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("large");
    let python = Python::ready()?;
    for case in CASES {
        let name = |m: u64| format!("{}{} M={m}", case.set, case.form);
        let named = |m: &u64| args.wants(&format!("{} ", name(*m)));
        let more = args.full || !args.set.is_empty();
        let all = case.centres.iter().chain(case.full.iter().filter(|_| more));
        let wanted: Vec<u64> = all.copied().filter(named).collect();
        if wanted.is_empty() {
            continue;
        }
        match sets::load(case.set) {
            Ok(set) => {
                let files = Files::of(case.set, &set)?;
                for (i, m) in wanted.into_iter().enumerate() {
                    // Trees know no centres: once for each set.
                    let trees = i == 0 && case.form.is_empty();
                    one(case, &name(m), m, (&set, &files, trees), &python, args, &mut report)?;
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

/// A side's label and what it is asked to fit.
struct Ask {
    label: String,
    request: Value,
}

/// Everything that is fitted in a case, Mercer first.
fn asks(case: &Case, m: u64, numbers: bool, trees: bool, args: &Args) -> Vec<Ask> {
    let request = json!({
        "do": "learn", "learner": case.learner, "kernel": format!("rbf(gamma={})", case.gamma),
        "set": {"centres": m, "lambda": case.lambda, "tol": case.tol, "place": case.place},
    });
    let mut all = vec![Ask { label: "mercer".to_owned(), request }];
    for (features, machine) in PIPELINES {
        let label = if features.is_empty() { machine.to_owned() } else { format!("{features} + {machine}") };
        // Numbers have no logistic loss.
        let open = (!features.is_empty() || trees) && !(numbers && machine == "LogisticRegression");
        if open && args.wants_peer(&label) {
            let settings = json!({"m": m, "gamma": case.gamma, "lambda": case.lambda});
            let request =
                json!({"do": "learn", "features": features, "machine": machine, "args": settings, "seed": 0});
            all.push(Ask { label, request });
        }
    }
    all
}

fn one(
    case: &Case,
    name: &str,
    m: u64,
    (set, files, trees): (&Many, &Files, bool),
    python: &Python,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    eprintln!("bench: {name}");
    let numbers = set.train.targets.reals().is_ok();
    let limit = if args.full { args.limit } else { args.limit.min(PATIENCE) };
    let mut asks = asks(case, m, numbers, trees, args);
    if asks.len() > 1
        && let Err(error) = python.need(&["numpy", "scipy", "scikit-learn"])
    {
        eprintln!("bench: without peers: {error:#}");
        asks.truncate(1);
    }
    let at_once = if set.train.len() * set.train.dim() * 4 > HEAVY { 1 } else { asks.len() };
    let (mut fitted, mut told): (Vec<Outcome>, Vec<Outcome>) = (Vec::new(), Vec::new());
    for asks in asks.chunks(at_once) {
        let (mut sides, mut tasks) = (Vec::new(), Vec::new());
        for Ask { label, request } in asks {
            let mut side = if label == "mercer" {
                Side::mercer(args.threads())?
            } else {
                Side::peer(label, python, "large.py", &[], args.threads())?.limited(limit)
            };
            side.ask(&files.load(numbers))?;
            tasks.push(Task { label: label.clone(), side: sides.len(), request: request.clone() });
            sides.push(side);
        }
        fitted.extend(rounds::run(&mut sides, &tasks, args)?);
        // A side that failed has no fit to be asked about.
        let answers: Vec<Task> = tasks
            .iter()
            .filter(|task| !sides[task.side].is_lost())
            .map(|task| Task { label: task.label.clone(), side: task.side, request: json!({"do": "answer"}) })
            .collect();
        told.extend(rounds::run(&mut sides, &answers, args)?);
        for task in tasks.iter().filter(|task| sides[task.side].is_lost()) {
            if sides[task.side].is_stopped() {
                report.note(name, format!("{}, stopped after", task.label), limit, "s");
            } else {
                report.note(name, format!("{}, failed (memory?)", task.label), 1.0, "");
            }
        }
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
        report.note(name, format!("{}, fit", fit.label), fit.seconds, "s");
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

/// Multiply-adds and bytes of a fit, and the seconds that they take at the rates of a product and of reading memory.
fn floor(name: &str, m: u64, set: &Many, fit: &Outcome, report: &mut Report) -> Result<()> {
    let (d, m) = (set.train.dim() as f64, m as f64);
    let k = set.train.targets.classes().map_or(1.0, |labels| match labels.names.len() {
        2 => 1.0,
        k => k as f64,
    });
    let passes = fit.answer["iterations"].as_f64().context("a fit without passes")?;
    let notes = || fit.answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // The number before or after some words of a note.
    let before = |words: &str| notes().find_map(|note| last_number(note.split_once(words)?.0));
    let after = |words: &str| notes().find_map(|note| first_number(note.split_once(words)?.1));
    let n = after("rows, of which ").unwrap_or(set.train.len() as f64);
    let sketch = after("the preconditioner is computed from ");
    let steps = before(" Newton steps").unwrap_or(1.0);
    // A factor, n^3 / 6, for the centres; for every Newton step but the first, what lies between them and a second factor.
    let between = sketch.map_or(m.powi(3) / 6.0, |s| s * m * m / 2.0);
    let solved = sketch.map_or(0.0, |s| s * m * m / 2.0);
    let seconds = if sketch.is_some() { steps.max(1.0) } else { steps - 1.0 };
    let factors = m.powi(3) / 6.0 + solved + seconds * (between + m.powi(3) / 6.0);
    let products = passes * (2.0 * n * m * k + 2.0 * m * m * k);
    let values = n * m * d;
    let bytes = passes * n * m * 4.0;
    let (rate, reading) = (rate(), reading());
    // Products of bytes are up to four times as fast as those of floats.
    let least = (values / 4.0 + factors + products) / rate;
    for (what, count) in [("kernel values", values), ("factors", factors), ("passes", products)] {
        report.note(name, format!("multiply-adds of {what}"), count / 1e9, "10^9");
    }
    report.note(name, "passes over all rows", passes, "");
    report.note(name, "bytes of kernel values read in passes", bytes / 1e9, "10^9");
    report.note(name, "rate of a product in f32", rate / 1e9, "10^9 multiply-adds/s");
    report.note(name, "rate of reading memory", reading / 1e9, "10^9 bytes/s");
    report.note(name, "all multiply-adds at that rate, bytes four times as fast", least, "s");
    report.note(name, "all bytes at that rate", bytes / reading, "s");
    report.note(name, "mercer, times the larger of both", fit.seconds / least.max(bytes / reading), "");
    Ok(())
}

/// The number that a text begins with.
fn first_number(text: &str) -> Option<f64> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The number that a text ends with.
fn last_number(text: &str) -> Option<f64> {
    text.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Bytes per second that all threads together read from memory: the best of three.
fn reading() -> f64 {
    let values = vec![1_u64; 1 << 26];
    let threads = mercer::Exec::default().threads();
    let mut best = 0.0_f64;
    for _ in 0..3 {
        let clock = Instant::now();
        std::thread::scope(|scope| {
            for part in values.chunks(values.len().div_ceil(threads)) {
                scope.spawn(|| {
                    let sum = |part: &[u64]| part.iter().fold(0_u64, |s, v| s.wrapping_add(*v));
                    std::hint::black_box(sum(std::hint::black_box(part)))
                });
            }
        });
        best = best.max((8 * values.len()) as f64 / clock.elapsed().as_secs_f64());
    }
    best
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_notes_are_read() {
        assert_eq!(last_number("12 Newton steps, 34"), Some(34.0));
        assert_eq!(first_number("5000 rows"), Some(5000.0));
        assert_eq!((first_number("rows"), last_number("rows ")), (None, None));
    }
}
