//! Training and predicting with Gaussian support vector classifiers, one against one, on real sets.
//!
//! Peers are at their best: cache 4000 MB, probabilities off, in each type they have. Figures of peers are context;
//! rows come with the learners that Mercer has.

use anyhow::Result;
use serde_json::{Value, json};

use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Outcome, Task};
use crate::sets::{self, Set, Split};
use crate::side::Side;
use crate::{Args, rounds::of};

const TOL: f64 = 1e-3;

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

    let mut sides = Vec::new();
    let mut fits = Vec::new();
    let mut predictions = Vec::new();
    for peer in PEERS.iter().filter(|p| split.train.len() <= p.most && args.wants_peer(p.label)) {
        if let Err(error) = python.need(&[peer.package]) {
            eprintln!("bench: without {}: {error:#}", peer.label);
            continue;
        }
        let mut side = Side::peer(peer.label, python, "svm.py", &[peer.arg], args.threads())?;
        side.ask(&json!({
            "do": "load", "x": x, "y": labels(&x), "test_x": test_x, "test_y": labels(&test_x),
            "dtype": peer.dtype, "sparse": set.sparse && peer.sparse,
        }))?;
        let task = |request: Value| Task { label: peer.label.to_owned(), side: sides.len(), request };
        fits.push(task(json!({"do": "fit", "c": set.c, "gamma": set.gamma, "tol": TOL})));
        let out = sets::scratch()?.join(format!("{}-{}.npy", set.name, peer.label.replace(' ', "-")));
        predictions.push(task(json!({"do": "predict", "out": out})));
        sides.push(side);
    }
    let fitted = rounds::run(&mut sides, &fits, args)?;
    let predicted = rounds::run(&mut sides, &predictions, args)?;
    for fit in &fitted {
        tell(report, set.name, fit, of(&predicted, &fit.label)?);
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
