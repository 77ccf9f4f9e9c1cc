//! The Python package: `mercer.SVC` beside scikit-learn and oneDAL, all in Python, and beside the library itself.
//!
//! The sets and settings are those of `bench svm`. Rows are f32 for every side that works on them as they are. The
//! context has what Python costs: the time of a fit or a prediction in Python over the same in Rust, in one run. The cases
//! `call ..` are single calls on 200 rows of 10 columns, where what surrounds the work is most of the time.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::Args;
use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Task, of};
use crate::sets::{self, Set, Split};
use crate::side::{BEFORE, Side};

const PACKAGE: &str = "mercer in Python";
const LIBRARY: &str = "mercer in Rust";
/// What is compared where nobody asks for more.
const USUAL: [&str; 5] = ["usps", "letter", "mnist10k", "a9a", "ijcnn1"];
/// Label, package, the name it has in `peers/svm.py`, and the type it works in.
const PEERS: [(&str, &str, &str, &str); 3] = [
    ("scikit-learn", "scikit-learn", "sklearn", "float64"),
    ("oneDAL f32", "scikit-learn-intelex", "onedal", "float32"),
    ("oneDAL f64", "scikit-learn-intelex", "onedal", "float64"),
];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn", "maturin"])?;
    python.install_mercer()?;
    let before = args.before.as_deref().map(|wheel| python.unpack(wheel)).transpose()?;
    let mut report = Report::new("python");
    for set in sets::ALL.iter().filter(|s| USUAL.contains(&s.name) && args.wants(s.name)) {
        match set.load() {
            Ok(split) => one(set, &split, &python, before.as_deref(), args, &mut report)?,
            Err(error) => eprintln!("bench: left out {error:#}"),
        }
    }
    if args.wants("call") {
        calls(&python, before.as_deref(), args, &mut report)?;
    }
    Ok(report)
}

/// Estimators that are called on a small problem.
const CALLED: [&str; 17] = [
    "SVC",
    "SVC linear",
    "NuSVC",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "KernelRidge",
    "KernelRidge columns",
    "KernelPCA",
    "KernelPCA all",
    "KernelPCA cosine",
    "KernelPCA inverse",
    "LinearSVC",
    "LinearSVR",
    "Nystroem",
    "RBFSampler",
    "RBFSampler 1000",
];
/// Calls of which one answer is the fastest.
const CALLS: usize = 40;

/// Single calls on a small problem.
fn calls(python: &Python, before: Option<&Path>, args: &Args, report: &mut Report) -> Result<()> {
    eprintln!("bench: single calls on 200 rows of 10 columns");
    let threads = args.threads();
    let side = |label: &str, arg: &str| Side::peer(label, python, "calls.py", &[arg], threads);
    let mut sides = vec![side(PACKAGE, "mercer")?, side("scikit-learn", "sklearn")?];
    let mut names = vec![PACKAGE, "scikit-learn"];
    if let Some(folder) = before {
        sides.push(Side::before_package(python, folder, "calls.py", &["mercer"], threads)?);
        names.push(BEFORE);
    }
    for name in CALLED {
        let mut there = Vec::new();
        for (side, label) in names.iter().enumerate() {
            let answer = sides[side].ask(&json!({"do": "has", "name": name}))?;
            if answer["has"] == true {
                there.push((side, *label));
            }
        }
        for phase in ["fit", "predict"] {
            let request = json!({"do": "call", "name": name, "phase": phase, "calls": CALLS});
            let task = |&(side, label): &(usize, &str)| Task {
                label: label.to_owned(),
                side,
                request: request.clone(),
            };
            let tasks: Vec<Task> = there.iter().map(task).collect();
            let outcomes = rounds::run(&mut sides, &tasks, args)?;
            for peer in &outcomes[1..] {
                report.row(&format!("call {name} {phase}"), &peer.label, peer.seconds, outcomes[0].seconds);
            }
        }
    }
    Ok(())
}

fn one(
    set: &Set,
    split: &Split,
    python: &Python,
    before: Option<&Path>,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    eprintln!("bench: {}, {} rows to learn from", set.name, split.train.len());
    let x = sets::hand_out(&split.train, &format!("{}-train", set.name))?;
    let test_x = sets::hand_out(&split.test, &format!("{}-test", set.name))?;
    let labels = |path: &Path| path.with_extension("labels.npy");
    let load = |dtype: &str, sparse: bool| {
        json!({
            "do": "load", "x": x, "y": labels(&x), "test_x": test_x, "test_y": labels(&test_x),
            "dtype": dtype, "sparse": sparse,
        })
    };
    let threads = args.threads();
    let mut sides =
        vec![Side::peer(PACKAGE, python, "svm.py", &["mercer"], threads)?, Side::mercer(threads)?];
    let mut names = vec![PACKAGE, LIBRARY];
    if let Some(folder) = before {
        sides.push(Side::before_package(python, folder, "svm.py", &["mercer"], threads)?);
        names.push(BEFORE);
    }
    for side in &mut sides {
        side.ask(&load("float32", false))?;
    }
    for (label, package, arg, dtype) in PEERS.iter().filter(|(label, ..)| args.wants_peer(label)) {
        if let Err(error) = python.need(&[package]) {
            eprintln!("bench: without {label}: {error:#}");
            continue;
        }
        let mut side = Side::peer(label, python, "svm.py", &[arg], threads)?;
        side.ask(&load(dtype, set.sparse && *arg == "sklearn"))?;
        sides.push(side);
        names.push(label);
    }
    let tasks = |request: &dyn Fn(&str) -> Result<Value>| -> Result<Vec<Task>> {
        let one = |(side, label): (usize, &&str)| {
            Ok(Task { label: (*label).to_owned(), side, request: request(label)? })
        };
        names.iter().enumerate().map(one).collect()
    };
    let fit = json!({"do": "fit", "c": set.c, "gamma": set.gamma, "tol": 1e-3});
    let out = |label: &str| -> Result<Value> {
        let file = sets::scratch()?.join(format!("{}-{}.npy", set.name, label.replace(' ', "-")));
        Ok(json!({"do": "predict", "out": file}))
    };
    let fitted = rounds::run(&mut sides, &tasks(&|_| Ok(fit.clone()))?, args)?;
    let predicted = rounds::run(&mut sides, &tasks(&out)?, args)?;
    for (phase, outcomes) in [("fit", &fitted), ("predict", &predicted)] {
        let case = format!("{} {phase}", set.name);
        let ours = outcomes[0].seconds;
        for peer in &outcomes[2..] {
            report.row(&case, &peer.label, peer.seconds, ours);
        }
        let library = of(outcomes, LIBRARY)?.seconds;
        report.note(&case, "Python over Rust", ours / library, "");
        report.note(&case, LIBRARY, library, "s");
    }
    for outcome in &predicted {
        if let Some(error) = outcome.answer["error_percent"].as_f64() {
            report.note(set.name, format!("{}, test error", outcome.label), error, "%");
        }
    }
    Ok(())
}
