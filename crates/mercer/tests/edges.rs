//! Every learner at the edges: data that hardly is data, kernels that are not positive definite, coefficients that are all
//! zero, fits cancelled at once. The outcome is a model that can be used for everything, or an error in words; never a panic,
//! an endless loop or a value that is not a number.

use std::ops::ControlFlow;

use mercer::assess::bounds::Bounds;
use mercer::data::{Csr, Dataset, Labels, Points, Targets, toy};
use mercer::kernel::Kernel;
use mercer::model::{CompressParams, Goal, Learner, Machine, Model, Sample, Task};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Size};
use mercer::watch::{Step, Stop, silent};
use mercer::{Error, Exec};

const KERNELS: [&str; 7] = [
    "rbf(gamma=0.5)",
    "linear",
    "sigmoid(scale=0.1, shift=-2)",
    "sigmoid(scale=1, shift=1)",
    "-1*rbf(gamma=0.5)",
    "multiquadric(c=1)",
    "-1*multiquadric(c=1)",
];

fn kernel(line: &str) -> Kernel {
    line.parse().unwrap_or_else(|e| panic!("{line}: {e}"))
}

/// As many rows as there are targets, which alternate unless they are constant.
fn targets(task: Task, n: usize, constant: bool) -> Targets {
    let side = |i: usize| if constant { 0 } else { i % 2 };
    match task {
        Task::Classification => Targets::Classes(Labels::new((0..n).map(|i| ["a", "b"][side(i)]))),
        Task::Regression => Targets::Reals((0..n).map(|i| 5.0 + side(i) as f64).collect()),
        _ => Targets::None,
    }
}

fn dataset(points: Points, targets: Targets) -> Dataset {
    Dataset::new(points, targets).expect("a target a row")
}

/// Data at the edges, by name.
fn sets(task: Task) -> Vec<(&'static str, Dataset)> {
    let (spread, _) = toy::banana(14, 3);
    let rows =
        |n: usize| Points::dense((0..2 * n).map(|v| (v * v % 7) as f64 - 2.0).collect(), 2).expect("rows");
    let same = |n: usize| Points::dense([1.0, 2.0].repeat(n), 2).expect("rows");
    let zero = Points::dense(vec![0.0; 12], 2).expect("rows");
    let mut all = vec![
        ("plain", dataset(spread.clone(), targets(task, 14, false))),
        ("constant targets", dataset(spread, targets(task, 14, true))),
        ("equal rows", dataset(same(8), targets(task, 8, false))),
        ("rows of zeros", dataset(zero, targets(task, 6, false))),
        ("two rows", dataset(rows(2), targets(task, 2, false))),
        ("one row", dataset(rows(1), targets(task, 1, false))),
    ];
    if task == Task::Classification {
        all.push(("a row per class", dataset(rows(3), Targets::Classes(Labels::new(["a", "b", "c"])))));
    }
    all
}

/// The learners of the table with every task they are for.
fn learners() -> impl Iterator<Item = (Learner, Task)> {
    let short = |mut learner: Learner| {
        for (name, value) in [("rounds", 5), ("bounces", 50), ("passes", 20), ("steps", 5), ("clusters", 2)] {
            if learner.entry().takes(name) {
                learner.set(name, value.into()).expect("a number");
            }
        }
        learner
    };
    Learner::ALL
        .iter()
        .flat_map(move |entry| entry.tasks.iter().map(move |&task| (short(entry.learner()), task)))
}

/// A refusal must say something, and not that it was cancelled.
#[track_caller]
fn in_words(error: &Error, name: &str) {
    let said = error.to_string();
    assert!(!matches!(error, Error::Cancelled) && said.len() > 15 && !said.contains("NaN"), "{name}: {said}");
}

#[track_caller]
fn finite(model: &Model, data: &Dataset, name: &str) -> Vec<f64> {
    let f = model.decision(data.points.view(), Exec::one()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(f.iter().all(|v| v.is_finite()), "{name}: {f:?}");
    assert_eq!(f.len(), data.len() * model.outputs(), "{name}");
    f
}

/// Everything that is done with a fitted model.
#[track_caller]
fn is_sound(model: &Model, data: &Dataset, methods: &[ReducedSetMethod], name: &str) {
    let f = finite(model, data, name);
    let told = model.predict(data.points.view(), Exec::one()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(told.len(), Some(data.len()), "{name}");
    let bytes = model.to_bytes().unwrap_or_else(|e| panic!("{name}: {e}"));
    let back = Model::from_bytes("memory", &bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(finite(&back, data, name), f, "{name}: other outputs after loading");
    for given in [None, Some(data)] {
        if let Err(e) = model.explain(given, Exec::one(), &mut silent()) {
            in_words(&e, name);
        }
    }
    match Bounds::of(model, data, 0.05, Exec::one(), &mut silent()) {
        Ok(bounds) => assert!(!format!("{bounds:?}").contains("NaN"), "{name}: {bounds:?}"),
        Err(e) => in_words(&e, name),
    }
    for (&method, size) in methods.iter().flat_map(|m| [1, 3].map(|size| (m, size))) {
        for given in [None, Some(data)] {
            let name = format!("{name}, {} to {size}", method.name());
            let set = ReducedSetParams { method, starts: 8, ..ReducedSetParams::default() };
            let params =
                CompressParams { goal: Goal::Size(Size::Vectors(size)), set, ..CompressParams::default() };
            match model.compress(&params, given, Exec::one(), &mut silent()) {
                Ok(small) => {
                    finite(&small.model, data, &name);
                    let (before, after) = (model.entry().len(), small.model.entry().len());
                    // The exact method has a size of its own.
                    let wanted = if method == ReducedSetMethod::Exact { before } else { size };
                    assert!(after <= wanted || after == before, "{name}: {before} to {after}");
                    let (error, agreement) = (small.about.set.error, small.about.agreement);
                    assert!(error.is_finite() && error >= 0.0 && (0.0..=1.0).contains(&agreement), "{name}");
                    assert_eq!(small.about.set.by_outputs, !model.entry().definite(), "{name}");
                }
                Err(e) => in_words(&e, &name),
            }
        }
    }
}

fn fit(learner: &Learner, data: &Dataset) -> Result<Model, Error> {
    fit_within(learner, data, Exec::one())
}

fn fit_within(learner: &Learner, data: &Dataset, exec: Exec) -> Result<Model, Error> {
    learner.fit(Sample::new(&data.points, &data.targets), exec, &mut silent()).map(Model::from)
}

#[test]
fn every_learner_ends_on_every_edge_under_every_kind_of_kernel() {
    for (learner, task) in learners() {
        for (edge, data) in sets(task) {
            for line in KERNELS {
                let name = format!("{} to {}, {edge}, {line}", learner.entry().name, task.verb());
                let mut learner = learner.clone();
                learner.set_kernel(kernel(line));
                match fit(&learner, &data) {
                    Ok(model) => is_sound(&model, &data, &[ReducedSetMethod::Auto], &name),
                    Err(e) => in_words(&e, &name),
                }
            }
        }
    }
}

/// Rows so far away that kernel values overflow, in each storage.
fn far() -> Vec<Points> {
    let values = vec![0.5, 0.5, 1e200, -1e200, 1e160, 1e160];
    let csr = Csr { start: vec![0, 2, 4, 6], column: [0, 1].repeat(3), value: values.clone() };
    let narrow = vec![0.5, 0.5, 1e38, -1e38, 3e38, 3e38];
    vec![
        Points::dense(values, 2).expect("rows"),
        Points::dense_f32(narrow, 2).expect("rows"),
        Points::sparse(csr, 2).expect("rows"),
    ]
}

#[test]
fn every_learner_has_finite_outputs_for_rows_far_away_or_names_the_row() {
    let (mut refused, mut predicted) = (0, 0);
    for (learner, task) in learners() {
        for line in ["poly(degree=5)", "rbf(gamma=0.5)", "linear", "-1*multiquadric(c=1)"] {
            let (points, classes) = toy::banana(24, 3);
            let data = match task {
                Task::Classification => dataset(points, classes),
                _ => dataset(points, targets(task, 24, false)),
            };
            let mut learner = learner.clone();
            learner.set_kernel(kernel(line));
            let Ok(model) = fit(&learner, &data) else { continue };
            for rows in far() {
                let name =
                    format!("{} to {}, {line}, {}", learner.entry().name, task.verb(), rows.view().kind());
                match model.predict(rows.view(), Exec::one()) {
                    // The first row is like those of the training.
                    Err(e) => {
                        let said = e.to_string();
                        assert!(
                            said.starts_with("row 2: got ") || said.starts_with("row 3: got "),
                            "{name}: {said}"
                        );
                        assert!(said.contains("expected a finite number"), "{name}: {said}");
                        refused += 1;
                    }
                    Ok(told) => {
                        let finite = told.reals().ok().is_none_or(|all| all.iter().all(|v| v.is_finite()));
                        assert!(finite && told.len() == Some(3), "{name}: {told:?}");
                        predicted += 1;
                    }
                }
                if let Ok(f) = model.decision(rows.view(), Exec::one()) {
                    assert!(f.iter().all(|v| v.is_finite()), "{name}: {f:?}");
                }
                if let Ok(p) = model.probabilities(rows.view(), Exec::one()) {
                    assert!(p.values.iter().all(|v| (0.0..=1.0).contains(v)), "{name}: {:?}", p.values);
                }
            }
        }
    }
    assert!(
        refused > 100 && predicted > 50,
        "{refused} refused, {predicted} predicted: this test has lost its subject"
    );
}

#[test]
fn coefficients_that_are_all_zero_are_a_machine_like_any_other() {
    let mut empty = 0;
    for (learner, task) in learners() {
        for (parameter, value) in [("tol", 100.0), ("c", 1e-12), ("lambda", 1e12)] {
            if !learner.entry().takes(parameter) {
                continue;
            }
            for (edge, data) in sets(task) {
                let name = format!("{}, {parameter} = {value}, {edge}", learner.entry().name);
                let mut learner = learner.clone();
                learner.set_kernel(kernel(KERNELS[0]));
                learner.set(parameter, value.into()).expect("within its range");
                match fit(&learner, &data) {
                    Ok(model) => {
                        empty += usize::from(model.entry().is_empty());
                        is_sound(&model, &data, &[ReducedSetMethod::Auto], &name);
                    }
                    Err(e) => in_words(&e, &name),
                }
            }
        }
    }
    assert!(empty > 10, "only {empty} machines had no centres: this test has lost its subject");
}

#[test]
fn every_method_of_compression_ends_under_every_kind_of_kernel() {
    let methods: Vec<ReducedSetMethod> = ReducedSetMethod::ALL.iter().map(|m| m.1).collect();
    for (name, task) in [
        ("svc", Task::Classification),
        ("svr", Task::Regression),
        ("one-class", Task::Novelty),
        ("sphere", Task::Novelty),
        ("parzen", Task::Classification),
    ] {
        let mut learner = Learner::find(name).expect("in the table").learner();
        for line in
            KERNELS.iter().chain(&["additive_chi2", "poly(degree=2, coef0=0)", "poly(degree=3, coef0=-1)"])
        {
            let (points, _) = toy::banana(30, 5);
            let data = dataset(points, targets(task, 30, false));
            learner.set_kernel(kernel(line));
            match fit(&learner, &data) {
                Ok(model) => is_sound(&model, &data, &methods, &format!("{name}, {line}")),
                Err(e) => in_words(&e, line),
            }
        }
    }
}

#[test]
fn a_greedy_set_under_an_indefinite_kernel_keeps_the_outputs() {
    let (points, classes) = toy::banana(200, 1);
    let data = dataset(points, classes);
    for line in [
        "sigmoid(scale=0.1, shift=-2)",
        "sigmoid(scale=0.5, shift=-1)",
        "-1*multiquadric(c=1)",
        "poly(degree=3, scale=1, coef0=-1)",
    ] {
        let mut learner = Learner::find("svc").expect("in the table").learner();
        learner.set_kernel(kernel(line));
        let model = fit(&learner, &data).unwrap_or_else(|e| panic!("{line}: {e}"));
        let mut last = f64::INFINITY;
        for size in [1, 4, 12] {
            let params =
                CompressParams { goal: Goal::Size(Size::Vectors(size)), ..CompressParams::default() };
            let small = model.compress(&params, Some(&data), Exec::one(), &mut silent()).expect(line);
            assert!(small.about.set.error <= last + 1e-9, "{line}: {} after {last}", small.about.set.error);
            last = small.about.set.error;
            if size == 12 {
                let told = (small.about.set.error, small.about.agreement);
                assert!(told.0 < 0.05 && told.1 > 0.95, "{line}: {told:?}");
            }
        }
    }
}

#[test]
fn every_storage_of_rows_ends_alike() {
    let (dense, _) = toy::banana(14, 3);
    let values = dense.view().to_f64().expect("numbers");
    let csr =
        Csr { start: (0..=14).map(|i| 2 * i).collect(), column: [0, 1].repeat(14), value: values.clone() };
    let narrow = Points::dense_f32(values.iter().map(|&v| v as f32).collect(), 2).expect("rows");
    for (learner, task) in learners() {
        for constant in [false, true] {
            let outcomes: Vec<bool> =
                [dense.clone(), narrow.clone(), Points::sparse(csr.clone(), 2).expect("rows")]
                    .into_iter()
                    .map(|points| {
                        let name =
                            format!("{} to {}, {}", learner.entry().name, task.verb(), points.view().kind());
                        let data = dataset(points, targets(task, 14, constant));
                        let mut learner = learner.clone();
                        learner.set_kernel(kernel(KERNELS[0]));
                        match fit(&learner, &data) {
                            Ok(model) => is_sound(
                                &model,
                                &data,
                                &[ReducedSetMethod::Auto, ReducedSetMethod::Greedy],
                                &name,
                            ),
                            Err(e) => {
                                in_words(&e, &name);
                                return false;
                            }
                        }
                        true
                    })
                    .collect();
            assert!(outcomes.iter().all(|o| *o == outcomes[0]), "{}: {outcomes:?}", learner.entry().name);
        }
    }
}

#[test]
fn every_learner_fits_every_storage_on_any_number_of_threads() {
    let (dense, clusters) = toy::three_clusters(150, 2);
    let values = dense.view().to_f64().expect("numbers");
    let d = dense.dim();
    let csr = Csr {
        start: (0..=150).map(|i| d * i).collect(),
        column: (0..d as u32).map(|j| 500 * j).collect::<Vec<_>>().repeat(150),
        value: values.clone(),
    };
    let storages = [
        Points::dense_f32(values.iter().map(|&v| v as f32).collect(), d).expect("rows"),
        Points::dense(values.iter().map(|v| (v * 8.0).round()).collect(), d).expect("rows"),
        Points::sparse(csr, 500 * d).expect("rows"),
        dense,
    ];
    for (learner, task) in learners() {
        for points in &storages {
            let targets = match task {
                Task::Classification => clusters.clone(),
                _ => targets(task, 150, false),
            };
            let data = dataset(points.clone(), targets);
            for line in ["rbf(gamma=0.5)"] {
                let mut learner = learner.clone();
                learner.set_kernel(kernel(line));
                let name =
                    format!("{} to {}, {}, {line}", learner.entry().name, task.verb(), points.view().kind());
                let fitted: Vec<Result<Model, Error>> =
                    [1, 3].map(|threads| fit_within(&learner, &data, Exec::new(threads))).into();
                let Ok(one) = &fitted[0] else {
                    assert!(fitted.iter().all(Result::is_err), "{name}");
                    continue;
                };
                let wanted = one.predict(data.points.view(), Exec::one()).expect("predictions");
                for other in &fitted[1..] {
                    let other = other.as_ref().unwrap_or_else(|e| panic!("{name}: {e}"));
                    let got = other.predict(data.points.view(), Exec::new(3)).expect("predictions");
                    match (wanted.classes(), got.classes()) {
                        (Ok(wanted), Ok(got)) => {
                            let apart = (0..150).filter(|&i| wanted.name_of(i) != got.name_of(i)).count();
                            assert!(apart <= 3, "{name}: {apart} labels differ");
                        }
                        _ => assert_eq!(got.len(), wanted.len(), "{name}"),
                    }
                }
            }
        }
    }
}

/// A fit that is cancelled when it tells the watcher something for the `at`-th time, and whether it came to that.
fn cancelled(learner: &Learner, data: &Dataset, at: usize) -> (mercer::Result<Machine>, bool) {
    let mut calls = 0;
    let mut watch = |_: &Step| {
        calls += 1;
        if calls >= at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let fitted = learner.fit(Sample::new(&data.points, &data.targets), Exec::one(), &mut watch);
    (fitted, calls >= at)
}

#[test]
fn a_fit_cancelled_at_once_is_a_partial_model_or_the_cancelled_error() {
    for (learner, task) in learners() {
        let (points, classes) = toy::banana(40, 2);
        let data = match task {
            Task::Classification => dataset(points, classes),
            _ => dataset(points, targets(task, 40, false)),
        };
        for at in 1..=3 {
            let name = format!("{} to {}, cancelled at call {at}", learner.entry().name, task.verb());
            let mut learner = learner.clone();
            learner.set_kernel(kernel(KERNELS[0]));
            let (fitted, broken) = cancelled(&learner, &data, at);
            match fitted.map(Model::from) {
                Ok(model) => {
                    assert_eq!(model.info().stop == Stop::Cancelled, broken, "{name}: {:?}", model.info());
                    is_sound(&model, &data, &[ReducedSetMethod::Auto], &name);
                    if broken && model.machine.svc().is_some() {
                        let sample = Sample::new(&data.points, &data.targets);
                        let rest = learner.resume(sample, &model.machine, Exec::one(), &mut silent());
                        finite(&Model::from(rest.unwrap_or_else(|e| panic!("{name}: {e}"))), &data, &name);
                    }
                }
                Err(e) => assert!(matches!(e, Error::Cancelled), "{name}: {e}"),
            }
        }
    }
}

#[test]
fn learners_whose_cancelled_fits_leave_a_model_are_those_that_say_so() {
    for (mut learner, task) in learners() {
        learner.set_kernel(kernel(KERNELS[0]));
        let name = format!("{} to {}", learner.entry().name, task.verb());
        let (points, classes) = toy::banana(60, 2);
        let data = match task {
            Task::Classification => dataset(points, classes),
            _ => dataset(points, targets(task, 60, false)),
        };
        let (mut left, mut broken) = (0, 0);
        for at in 1..=12 {
            let (fitted, was) = cancelled(&learner, &data, at);
            if was {
                broken += 1;
                left += usize::from(fitted.is_ok_and(|machine| machine.info.stop == Stop::Cancelled));
            }
        }
        assert!(learner.keeps_partial() || left == 0, "{name}: {left} partial models");
        assert!(
            !learner.keeps_partial() || left > 0 || broken == 0,
            "{name}: none of {broken} fits left a model"
        );
    }
}

/// Budgets that hold the kernel matrix of these tests many times: 16 MiB, 1 GiB and half of the machine's memory.
const BUDGETS: [Option<u64>; 3] = [Some(16 << 20), Some(1 << 30), None];

#[test]
fn a_budget_that_holds_the_matrix_changes_no_bit() {
    let wide = Points::dense(mercer_testkit::toy::normals(600, 200, 7), 200).expect("rows");
    let mut compared = 0;
    for (learner, task) in learners() {
        let (points, classes) = toy::three_clusters(150, 2);
        let labelled = |points: Points, classes: Targets| match task {
            Task::Classification => dataset(points, classes),
            _ => dataset(points.clone(), targets(task, points.len(), false)),
        };
        let mut sets = vec![(labelled(points, classes), "rbf(gamma=0.5)")];
        // Many columns: kernel values are dear, and rows are computed as they are asked for.
        if ["svc", "svr", "one-class", "sphere"].contains(&learner.entry().name) {
            let classes = targets(Task::Classification, 600, false);
            sets.push((labelled(wide.clone(), classes), "rbf(gamma=0.002)"));
        }
        for (data, line) in sets {
            let fitted: Vec<Model> = BUDGETS
                .iter()
                .filter_map(|budget| {
                    let mut learner = learner.clone();
                    learner.set_kernel(kernel(line));
                    let exec = budget.map_or(Exec::one(), |bytes| Exec::one().with_memory(bytes));
                    fit_within(&learner, &data, exec).ok()
                })
                .collect();
            let name = format!("{} to {}, {} rows", learner.entry().name, task.verb(), data.len());
            assert!(fitted.len() == 3 || fitted.is_empty(), "{name}: fitted under some budgets only");
            for other in fitted.iter().skip(1) {
                assert_eq!(other.entry(), fitted[0].entry(), "{name}");
                assert_eq!(finite(other, &data, &name), finite(&fitted[0], &data, &name), "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "only {compared} pairs of models were compared");
}
