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
use crate::side::Side;
use crate::{Args, machine, rounds::of};

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
        sparse: false,
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
    sides[0].ask(&load("float32", false))?;
    let mut names = vec![MERCER];
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
    for fit in &fitted {
        tell(report, set.name, fit, of(&predicted, &fit.label)?);
    }
    if let Some(libsvm) = names.iter().position(|name| *name == LIBSVM) {
        let (ours, theirs) = (machine::labels(&out(MERCER)?)?, machine::labels(&out(LIBSVM)?)?);
        let same = ours.iter().zip(&theirs).filter(|(a, b)| a == b).count();
        report.note(set.name, "labels as LIBSVM's", 100.0 * same as f64 / ours.len() as f64, "%");
        for tol in [TOL, TOL / 100.0].into_iter().take(if args.exact { 2 } else { 1 }) {
            let mut objective = |side: usize| -> Result<f64> {
                if tol < TOL {
                    sides[side].ask(&fit(tol))?;
                }
                let answer = sides[side].ask(&json!({"do": "objective", "gamma": set.gamma}))?;
                let pairs = answer["objective"].as_object().context("an answer without objectives")?;
                Ok(pairs.values().filter_map(Value::as_f64).sum())
            };
            let (ours, theirs) = (objective(0)?, objective(libsvm)?);
            let off = (ours - theirs) / theirs.abs();
            report.note(set.name, format!("dual objective above LIBSVM's at tol {tol:e}"), off, "of it");
        }
    }
    Ok(())
}

/// What is known of one side on one set.
fn tell(report: &mut Report, case: &str, fit: &Outcome, predict: &Outcome) {
    let label = &fit.label;
    report.note(case, format!("{label}, fit"), fit.seconds, "s");
    report.note(case, format!("{label}, predict"), predict.seconds, "s");
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
