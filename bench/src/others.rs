//! The other machines beside peers that have them: regression, nu machines, one-class, linear machines, kernel ridge,
//! probabilities, given matrices, cross-validation. Part of `bench svm`; cases are called `SET LEARNER`.
//!
//! Settings are the peers' own (scikit-learn's C, epsilon, nu; ridge's `alpha` is our lambda times the rows), all sides read
//! the same f32 numbers, and what each answer is worth (error, mean squared error, share of rows outside) is context: a
//! faster answer that is worse would show there.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use crate::Args;
use crate::python::Python;
use crate::report::Report;
use crate::rounds::{self, Task};
use crate::sets::{self, Set};
use crate::side::Side;

/// What a case learns from: classes or numbers.
type Files = [PathBuf; 4];

struct Case {
    set: &'static str,
    /// What it is called, and how Mercer's learner is asked for: name, kernel, parameters.
    name: &'static str,
    learner: &'static str,
    kernel: &'static str,
    set_to: fn() -> Value,
    /// The class in scikit-learn, as `peers/others.py` builds it, and its arguments.
    peer: &'static str,
    peer_args: fn() -> Value,
    /// Whether oneDAL has it too.
    onedal: bool,
}

const CASES: &[Case] = &[
    Case {
        set: "abalone",
        name: "svr",
        learner: "svr",
        kernel: "rbf(gamma=0.125)",
        set_to: || json!({"c": 10.0, "epsilon": 0.1, "tol": 1e-3}),
        peer: "SVR",
        peer_args: || json!({"C": 10.0, "epsilon": 0.1, "gamma": 0.125, "tol": 1e-3}),
        onedal: true,
    },
    Case {
        set: "surface",
        name: "svr",
        learner: "svr",
        kernel: "rbf(gamma=0.1)",
        set_to: || json!({"c": 10.0, "epsilon": 0.1, "tol": 1e-3}),
        peer: "SVR",
        peer_args: || json!({"C": 10.0, "epsilon": 0.1, "gamma": 0.1, "tol": 1e-3}),
        onedal: true,
    },
    Case {
        set: "abalone",
        name: "nu-svr",
        learner: "nu-svr",
        kernel: "rbf(gamma=0.125)",
        set_to: || json!({"c": 10.0, "nu": 0.5, "tol": 1e-3}),
        peer: "NuSVR",
        peer_args: || json!({"C": 10.0, "nu": 0.5, "gamma": 0.125, "tol": 1e-3}),
        onedal: true,
    },
    Case {
        set: "usps",
        name: "nu-svc",
        learner: "nu-svc",
        kernel: "rbf(gamma=0.0078125)",
        set_to: || json!({"nu": 0.02, "tol": 1e-3}),
        peer: "NuSVC",
        peer_args: || json!({"nu": 0.02, "gamma": 0.007_812_5, "tol": 1e-3}),
        onedal: true,
    },
    Case {
        set: "usps",
        name: "one-class",
        learner: "one-class",
        kernel: "rbf(gamma=0.0078125)",
        set_to: || json!({"nu": 0.2, "tol": 1e-3}),
        peer: "OneClassSVM",
        peer_args: || json!({"nu": 0.2, "gamma": 0.007_812_5, "tol": 1e-3}),
        onedal: false,
    },
    Case {
        set: "ijcnn1",
        name: "one-class",
        learner: "one-class",
        kernel: "rbf(gamma=2)",
        set_to: || json!({"nu": 0.1, "tol": 1e-3}),
        peer: "OneClassSVM",
        peer_args: || json!({"nu": 0.1, "gamma": 2.0, "tol": 1e-3}),
        onedal: false,
    },
    linear("a9a", "linear", || json!({"c": 1.0, "tol": 1e-3, "multi": "one_vs_rest"}), || linear_args(1.0)),
    linear(
        "a9a",
        "linear C=100",
        || json!({"c": 100.0, "tol": 1e-3, "multi": "one_vs_rest"}),
        || linear_args(100.0),
    ),
    linear(
        "ijcnn1",
        "linear",
        || json!({"c": 1.0, "tol": 1e-3, "multi": "one_vs_rest"}),
        || linear_args(1.0),
    ),
    linear("usps", "linear", || json!({"c": 1.0, "tol": 1e-3, "multi": "one_vs_rest"}), || linear_args(1.0)),
    linear("texts", "linear", || json!({"c": 1.0, "tol": 1e-3, "multi": "one_vs_rest"}), || linear_args(1.0)),
    Case {
        set: "abalone",
        name: "ridge",
        learner: "ridge",
        kernel: "rbf(gamma=0.125)",
        set_to: || json!({"lambda": 0.01, "offset": false}),
        peer: "KernelRidge",
        peer_args: || json!({"alpha": 0.01, "gamma": 0.125, "kernel": "rbf"}),
        onedal: false,
    },
    Case {
        set: "surface",
        name: "ridge",
        learner: "ridge",
        kernel: "rbf(gamma=0.1)",
        set_to: || json!({"lambda": 0.01, "offset": false}),
        peer: "KernelRidge",
        peer_args: || json!({"alpha": 0.01, "gamma": 0.1, "kernel": "rbf"}),
        onedal: false,
    },
    Case {
        set: "usps",
        name: "probabilities",
        learner: "svc",
        kernel: "rbf(gamma=0.0078125)",
        set_to: || json!({"c": 10.0, "tol": 1e-3, "probability": true}),
        peer: "Calibrated",
        peer_args: || json!({"C": 10.0, "gamma": 0.007_812_5, "tol": 1e-3}),
        onedal: false,
    },
    Case {
        set: "usps",
        name: "given matrix",
        learner: "svc",
        kernel: "precomputed",
        set_to: || json!({"c": 10.0, "tol": 1e-3, "gamma": 0.007_812_5}),
        peer: "Precomputed",
        peer_args: || json!({"C": 10.0, "gamma": 0.007_812_5, "tol": 1e-3}),
        onedal: false,
    },
    Case {
        set: "letter",
        name: "five folds",
        learner: "svc",
        kernel: "rbf(gamma=0.1)",
        set_to: || json!({"c": 10.0, "tol": 1e-3, "folds": 5}),
        peer: "Folds",
        peer_args: || json!({"C": 10.0, "gamma": 0.1, "tol": 1e-3, "folds": 5}),
        onedal: true,
    },
];

const fn linear(
    set: &'static str,
    name: &'static str,
    set_to: fn() -> Value,
    peer_args: fn() -> Value,
) -> Case {
    Case { set, name, learner: "svc", kernel: "linear", set_to, peer: "LinearSVC", peer_args, onedal: false }
}

/// LIBLINEAR on the same loss; it penalises its offset, which is given room by a large intercept.
fn linear_args(c: f64) -> Value {
    json!({"C": c, "loss": "hinge", "tol": 1e-3, "max_iter": 100_000})
}

/// Runs those that are wanted.
pub(crate) fn run(python: &Python, args: &Args, report: &mut Report) -> Result<()> {
    for case in CASES {
        let name = format!("{} {}", case.set, case.name);
        if !args.wants(&name) {
            continue;
        }
        match files(case.set) {
            Ok((files, numbers, sparse)) => {
                one(case, &name, (&files, numbers, sparse), python, args, report)?;
            }
            Err(error) => eprintln!("bench: left out {error:#}"),
        }
    }
    Ok(())
}

/// The files all sides read, whether the targets are numbers, and whether most values are 0.
fn files(set: &str) -> Result<(Files, bool, bool)> {
    let (split, numbers, sparse) = match set {
        "abalone" | "surface" => (sets::numbers(set)?, true, false),
        other => {
            let set = Set::named(other);
            (set.load()?, false, set.sparse)
        }
    };
    let x = sets::hand_out(&split.train, &format!("{set}-train"))?;
    let test = sets::hand_out(&split.test, &format!("{set}-test"))?;
    let labels = |path: &Path| path.with_extension("labels.npy");
    let (y, test_y) = (labels(&x), labels(&test));
    Ok(([x, y, test, test_y], numbers, sparse))
}

fn one(
    case: &Case,
    name: &str,
    ([x, y, test_x, test_y], numbers, sparse): (&Files, bool, bool),
    python: &Python,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    eprintln!("bench: {name}");
    let load = |dtype: &str, sparse: bool| {
        json!({
            "do": "load", "x": x, "y": y, "test_x": test_x, "test_y": test_y, "numbers": numbers,
            "dtype": dtype, "sparse": sparse,
        })
    };
    let mut sides = vec![Side::mercer(args.threads())?];
    sides[0].ask(&load("float32", sparse))?;
    let mut names = vec!["mercer".to_owned()];
    let mut peers = vec![("scikit-learn", "scikit-learn", "sklearn", "float64")];
    if case.onedal {
        peers.push(("oneDAL f32", "scikit-learn-intelex", "onedal", "float32"));
    }
    for (label, package, arg, dtype) in peers.into_iter().filter(|p| args.wants_peer(p.0)) {
        if let Err(error) = python.need(&[package]) {
            eprintln!("bench: without {label}: {error:#}");
            continue;
        }
        let mut side = Side::peer(label, python, "others.py", &[arg], args.threads())?;
        side.ask(&load(dtype, sparse))?;
        sides.push(side);
        names.push(label.to_owned());
    }
    let ours = json!({"do": "learn", "learner": case.learner, "kernel": case.kernel, "set": (case.set_to)()});
    let theirs = json!({"do": "learn", "class": case.peer, "args": (case.peer_args)()});
    let tasks = |own: &Value, other: &Value| -> Vec<Task> {
        let one = |(side, label): (usize, &String)| Task {
            label: label.clone(),
            side,
            request: if side == 0 { own.clone() } else { other.clone() },
        };
        names.iter().enumerate().map(one).collect()
    };
    let fitted = rounds::run(&mut sides, &tasks(&ours, &theirs), args)?;
    let mut phases = vec![("fit", fitted)];
    if case.peer != "Folds" {
        let answer = json!({"do": "answer"});
        phases.push(("predict", rounds::run(&mut sides, &tasks(&answer, &answer), args)?));
    }
    for (phase, outcomes) in &phases {
        for peer in &outcomes[1..] {
            report.row(&format!("{name} {phase}"), &peer.label, peer.seconds, outcomes[0].seconds);
        }
        for side in outcomes {
            for (key, unit) in [("error_percent", "%"), ("mse", ""), ("outside_percent", "%"), ("sv", "")] {
                if let Some(value) = side.answer[key].as_f64() {
                    report.note(name, format!("{}, {phase}, {key}", side.label), value, unit);
                }
            }
            report.note(name, format!("{}, {phase}, first call", side.label), side.first, "s");
            if let Some(peak) = side.peak_mb {
                report.note(name, format!("{}, {phase}, peak memory", side.label), peak, "MB");
            }
        }
    }
    Ok(())
}
