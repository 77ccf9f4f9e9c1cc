//! Training and predicting with Gaussian support vector classifiers, one against one, on real sets.
//!
//! Peers are at their best: cache 4000 MB, probabilities off, in each type they have. A row is a fit or a prediction
//! against one peer; support vectors, errors, peak memory, and how far labels and dual objectives are from LIBSVM's are
//! context.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Outcome, Task};
use crate::sets::{self, Set, Split};
use crate::side::{BEFORE, Side};
use crate::{Args, machine, others, rounds::of};

const TOL: f64 = 1e-3;
const MERCER: &str = "mercer";
/// The peer whose optimum is the measure: LIBSVM's solver, in f64.
const LIBSVM: &str = "scikit-learn";

/// A peer in one of its types.
struct Peer {
    label: &'static str,
    package: &'static str,
    /// What `peers/svm.py` calls it.
    arg: &'static str,
    dtype: &'static str,
    /// Whether it gains from sparse rows where most values are 0.
    sparse: bool,
    /// Sets with more rows are not for it.
    most: usize,
}

const PEERS: [Peer; 4] = [
    Peer {
        label: "scikit-learn",
        package: "scikit-learn",
        arg: "sklearn",
        dtype: "float64",
        sparse: true,
        most: usize::MAX,
    },
    Peer {
        label: "oneDAL f32",
        package: "scikit-learn-intelex",
        arg: "onedal",
        dtype: "float32",
        sparse: true,
        most: usize::MAX,
    },
    Peer {
        label: "oneDAL f64",
        package: "scikit-learn-intelex",
        arg: "onedal",
        dtype: "float64",
        sparse: false,
        most: usize::MAX,
    },
    // The same algorithm as scikit-learn's on lists of index and value: an hour where that takes minutes.
    Peer {
        label: "LIBSVM",
        package: "libsvm-official",
        arg: "libsvm",
        dtype: "float64",
        sparse: true,
        most: 20_000,
    },
];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let mut report = Report::new("svm");
    for set in sets::ALL.iter().filter(|s| args.wants(s.name)) {
        match set.load() {
            Ok(split) => one(set, &split, &python, args, &mut report)?,
            Err(error) => eprintln!("bench: left out {error:#}"),
        }
    }
    others::run(&python, args, &mut report)?;
    Ok(report)
}

fn one(set: &Set, split: &Split, python: &Python, args: &Args, report: &mut Report) -> Result<()> {
    eprintln!(
        "bench: {}, {} rows to learn from, {} to predict",
        set.name,
        split.train.len(),
        split.test.len()
    );
    let x = sets::hand_out(&split.train, &format!("{}-train", set.name))?;
    let test_x = sets::hand_out(&split.test, &format!("{}-test", set.name))?;
    let labels = |path: &std::path::Path| path.with_extension("labels.npy");

    let load = |dtype: &str, sparse: bool| {
        json!({
            "do": "load", "x": x, "y": labels(&x), "test_x": test_x, "test_y": labels(&test_x),
            "dtype": dtype, "sparse": sparse,
        })
    };
    let out = |label: &str| -> Result<std::path::PathBuf> {
        Ok(sets::scratch()?.join(format!("{}-{}.npy", set.name, label.replace(' ', "-"))))
    };
    let mut sides = vec![Side::mercer(args.threads())?];
    sides[0].ask(&load("float32", set.sparse))?;
    let mut names = vec![MERCER];
    if let Some(program) = &args.before {
        let mut side = Side::before(program, args.threads())?;
        side.ask(&load("float32", set.sparse))?;
        sides.push(side);
        names.push(BEFORE);
    }
    for peer in PEERS.iter().filter(|p| split.train.len() <= p.most && args.wants_peer(p.label)) {
        if let Err(error) = python.need(&[peer.package]) {
            eprintln!("bench: without {}: {error:#}", peer.label);
            continue;
        }
        let mut side = Side::peer(peer.label, python, "svm.py", &[peer.arg], args.threads())?;
        side.ask(&load(peer.dtype, set.sparse && peer.sparse))?;
        sides.push(side);
        names.push(peer.label);
    }
    let tasks = |request: &dyn Fn(&str) -> Result<Value>| -> Result<Vec<Task>> {
        let one = |(side, label): (usize, &&str)| {
            Ok(Task { label: (*label).to_owned(), side, request: request(label)? })
        };
        names.iter().enumerate().map(one).collect()
    };
    let fit = |tol: f64| json!({"do": "fit", "c": set.c, "gamma": set.gamma, "tol": tol});
    let fitted = rounds::run(&mut sides, &tasks(&|_| Ok(fit(TOL)))?, args)?;
    let predicted =
        rounds::run(&mut sides, &tasks(&|label| Ok(json!({"do": "predict", "out": out(label)?})))?, args)?;
    for (phase, outcomes) in [("fit", &fitted), ("predict", &predicted)] {
        for peer in &outcomes[1..] {
            report.row(&format!("{} {phase}", set.name), &peer.label, peer.seconds, outcomes[0].seconds);
        }
    }
    let double = json!({"do": "predict", "out": out(MERCER)?, "dtype": "float64"});
    let double = Task { label: "mercer f64".to_owned(), side: 0, request: double };
    for outcome in rounds::run(&mut sides, &[double], args)? {
        report.note(set.name, "mercer, predict in f64", outcome.seconds, "s");
    }
    for fit in &fitted {
        tell(report, set.name, fit, of(&predicted, &fit.label)?);
    }
    if let Some(libsvm) = names.iter().position(|name| *name == LIBSVM) {
        let (ours, theirs) = (machine::labels(&out(MERCER)?)?, machine::labels(&out(LIBSVM)?)?);
        let same = ours.iter().zip(&theirs).filter(|(a, b)| a == b).count();
        report.note(set.name, "labels as LIBSVM's", 100.0 * same as f64 / ours.len() as f64, "%");
        for tol in [TOL, TOL / 100.0].into_iter().take(if args.exact { 2 } else { 1 }) {
            let mut objective = |side: usize| -> Result<Value> {
                if tol < TOL {
                    sides[side].ask(&fit(tol))?;
                }
                Ok(sides[side].ask(&json!({"do": "objective", "gamma": set.gamma}))?["objective"].take())
            };
            let off = above(&objective(0)?, &objective(libsvm)?)?;
            let what = format!("dual objective above LIBSVM's at tol {tol:e}, the machine that differs most");
            report.note(set.name, what, off, "of it");
        }
    }
    Ok(())
}

/// How far a machine's objective is above the other side's, relative: the machine that differs most.
fn above(ours: &Value, theirs: &Value) -> Result<f64> {
    let table = |v: &Value| v.as_object().cloned().context("an answer without objectives");
    let (ours, theirs) = (table(ours)?, table(theirs)?);
    let mut most = 0.0_f64;
    for (pair, value) in &theirs {
        let theirs = value.as_f64().context("an objective that is no number")?;
        let ours =
            ours.get(pair).and_then(Value::as_f64).with_context(|| format!("no machine for {pair}"))?;
        let off = (ours - theirs) / theirs.abs();
        if off.abs() > most.abs() {
            most = off;
        }
    }
    Ok(most)
}

/// What is known of one side on one set.
fn tell(report: &mut Report, case: &str, fit: &Outcome, predict: &Outcome) {
    let label = &fit.label;
    report.note(case, format!("{label}, fit"), fit.seconds, "s");
    report.note(case, format!("{label}, predict"), predict.seconds, "s");
    report.note(case, format!("{label}, fit, first call"), fit.first, "s");
    report.note(case, format!("{label}, predict, first call"), predict.first, "s");
    let told = [("sv", "support vectors", ""), ("peak_mb", "peak memory of fit", "MB")];
    for (key, what, unit) in told {
        if let Some(value) = fit.answer[key].as_f64() {
            report.note(case, format!("{label}, {what}"), value, unit);
        }
    }
    if let Some(value) = predict.answer["error_percent"].as_f64() {
        report.note(case, format!("{label}, test error"), value, "%");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_that_differs_most_is_told_with_its_sign() {
        let theirs = json!({"0,1": -2.0, "0,2": -4.0});
        let off = |a: f64, b: f64| above(&json!({"0,1": a, "0,2": b}), &theirs).expect("same machines");
        assert_eq!(off(-2.0, -4.0), 0.0);
        assert_eq!(off(-2.0, -3.0), 0.25);
        assert_eq!(off(-1.9, -5.0), -0.25);
        assert!(above(&json!({"0,1": -2.0}), &theirs).is_err());
    }
}
