//! What a search must keep for every learner and every kernel: it comes to an end with a setting that can be trained and is
//! no worse than what would have been used without it, whenever and however it is ended.

use std::ops::ControlFlow;

use mercer::assess::{Found, Splits, Tuning, tune};
use mercer::data::{Csr, Dataset, Labels, Points, Sequences, Targets};
use mercer::kernel::{Definiteness, Form, Kernel, Takes};
use mercer::model::{Learner, LearnerEntry, Plan, Task, Wishes};
use mercer::watch::{Step, silent};
use mercer::{Exec, Result};
use mercer_testkit::toy;

/// Columns of the points; the kernels' examples are made for them.
const D: usize = 5;

fn values(n: usize) -> Vec<f64> {
    // Two clouds that overlap.
    let shift = |i: usize| if (i / D).is_multiple_of(2) { 0.8 } else { -0.8 };
    toy::normals(n, D, 3).iter().enumerate().map(|(i, v)| v + shift(i)).collect()
}

fn classes(n: usize) -> Targets {
    Targets::Classes(Labels::new((0..n).map(|i| if i % 2 == 0 { "yes" } else { "no" })))
}

fn numbers(x: &[f64]) -> Targets {
    Targets::Reals(x.chunks(D).map(|row| row[0] - row[1] * row[2]).collect())
}

fn dataset(n: usize, task: Task) -> Dataset {
    let x = values(n);
    let targets = if task == Task::Regression { numbers(&x) } else { classes(n) };
    Dataset::new(Points::dense(x, D).expect("rows"), targets).expect("whole")
}

/// The learners a search can judge, each with a task.
fn tunable() -> impl Iterator<Item = (&'static LearnerEntry, Task)> {
    let judged = |t: &&Task| matches!(t, Task::Classification | Task::Regression);
    Learner::ALL
        .iter()
        .flat_map(move |entry| entry.tasks.iter().filter(judged).map(move |&task| (entry, task)))
}

fn plan<'a>(data: &'a Dataset, learner: &str, task: Task, kernel: Option<&str>) -> Result<Plan<'a>> {
    let wishes = Wishes {
        learner: Some(learner.into()),
        task: Some(task),
        kernel: kernel.map(Into::into),
        ..Wishes::default()
    };
    Plan::new(data, &wishes, Exec::one())
}

/// A grid of four settings around what the learner usually has.
fn small(entry: &LearnerEntry, kernel: Option<&str>) -> Tuning {
    let axis = ["c", "lambda", "nu"].into_iter().find(|n| entry.params.contains(n));
    let mut axes: Vec<(String, Vec<f64>)> = axis
        .map(|name| (name.to_owned(), if name == "nu" { vec![0.1, 0.3] } else { vec![0.1, 1.0] }))
        .into_iter()
        .collect();
    if kernel.is_none() {
        axes.push(("gamma".into(), vec![0.05, 0.2]));
    }
    Tuning {
        kernels: kernel.map(String::from).into_iter().collect(),
        axes,
        splits: Some(Splits::Folds { folds: 2, times: 1 }),
        ..Tuning::default()
    }
}

/// The setting found is judged no worse than the start by the same measure, and can be trained.
fn holds(found: &Found, plan: &Plan<'_>, about: &str) {
    let start = found.default.as_ref().unwrap_or_else(|| panic!("{about}: no start"));
    if !found.best.open && !start.open {
        let lower = found.best.score.mean <= start.score.mean;
        assert!(lower || found.metric.name == "accuracy", "{about}: {found:?}");
    }
    assert_eq!(plan.learner, found.learner, "{about}");
    let model = plan.fit(Exec::one(), &mut silent()).unwrap_or_else(|e| panic!("{about}: {e}"));
    let told = model.predict(plan.data().points.view(), Exec::one());
    assert!(told.is_ok(), "{about}: {told:?}");
}

#[test]
fn every_learner_is_tuned_with_and_without_time() {
    for (entry, task) in tunable() {
        let data = dataset(if entry.name == "hard-margin" { 12 } else { 24 }, task);
        // Without limits of its own the start is exactly what the plan had.
        let mut kept = plan(&data, entry.name, task, None).expect("a plan");
        let (before, free) = (kept.learner.clone(), Tuning { seconds: Some(1e-9), ..Tuning::default() });
        let found = tune(&mut kept, &free, Exec::one(), &mut silent()).expect("the start");
        assert_eq!((&found.learner, &kept.learner), (&before, &before), "{}", entry.name);
        for (two_stage, race, seconds) in
            [(false, false, None), (true, true, None), (false, false, Some(1e-9)), (true, true, Some(0.05))]
        {
            let about = format!("{} to {}, {seconds:?} {two_stage}", entry.name, task.verb());
            let mut plan = plan(&data, entry.name, task, None).unwrap_or_else(|e| panic!("{about}: {e}"));
            let tuning = Tuning { two_stage, race, seconds, ..small(entry, None) };
            let found = tune(&mut plan, &tuning, Exec::one(), &mut silent());
            let found = found.unwrap_or_else(|e| panic!("{about}: {e}"));
            if seconds.is_none() {
                assert!(!found.best.open && !found.late, "{about}");
            }
            holds(&found, &plan, &about);
        }
    }
}

#[test]
fn every_kernel_is_tuned_or_refused_by_its_sign() {
    let n = 24;
    let letters = |i: usize| (0..12).map(move |j| ((i * 7 + j * (1 + i % 2) * 3 + i * j) % 4) as u8);
    let sequences = Sequences {
        alphabet: b"ACGT".to_vec(),
        start: (0..=n).map(|i| 12 * i).collect(),
        symbol: (0..n).flat_map(letters).collect(),
    };
    for entry in Kernel::ALL {
        for line in entry.examples {
            let kernel = Kernel::parse(line).expect("an example");
            if kernel.form() == Form::Precomputed {
                continue;
            }
            let points = if kernel.check_points(Points::dense(values(4), D).expect("rows").view()).is_ok() {
                Points::dense(values(n), D)
            } else if entry.takes == Takes::Sequences || entry.algebra && line.contains("kmer") {
                Points::sequences(sequences.clone())
            } else {
                Points::dense(values(n).iter().map(|v| v.abs()).collect(), D)
            };
            let data = Dataset::new(points.expect("rows"), classes(n)).expect("whole");
            let svc = Learner::find("svc").expect("known");
            let mut plan = plan(&data, "svc", Task::Classification, Some(line))
                .unwrap_or_else(|e| panic!("{line}: {e}"));
            let found = tune(&mut plan, &small(svc, Some(line)), Exec::one(), &mut silent());
            if kernel.definiteness() == Definiteness::ConditionalNegative {
                let refused = found.expect_err(line).to_string();
                assert!(refused.contains("use its negative, `"), "{line}: {refused}");
                continue;
            }
            let found = found.unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(found.learner.kernel(), Some(&kernel), "{line}");
            holds(&found, &plan, line);
        }
    }
}

/// Kernels of the wrong sign are refused by every learner that needs a definite one, in all storages, and the line that is
/// meant instead is one that it takes.
#[test]
fn kernels_of_the_wrong_sign_are_refused_with_the_line_that_is_meant() {
    let n = 16;
    let x = values(n);
    let narrow = Points::dense_f32(x.iter().map(|&v| v as f32).collect(), D).expect("rows");
    let csr = Csr {
        start: (0..=n).map(|i| D * i).collect(),
        column: (0..n * D).map(|i| (i % D) as u32).collect(),
        value: x.clone(),
    };
    let storages =
        [Points::dense(x.clone(), D).expect("rows"), narrow, Points::sparse(csr, D).expect("rows")];
    let free = ["lp-machine", "rbf-network", "adaboost", "arc-gv", "adaboost-reg", "lpboost"];
    for line in
        ["multiquadric(c=2)", "radial_power(power=0.5)", "-2*rbf(gamma=0.1)", "multiquadric + 3*multiquadric"]
    {
        for entry in Learner::ALL {
            for points in &storages {
                let targets = if entry.tasks[0] == Task::Regression { numbers(&x) } else { classes(n) };
                let data = Dataset::new(points.clone(), targets).expect("whole");
                let plan = plan(&data, entry.name, entry.tasks[0], Some(line)).expect("a plan");
                let fitted = plan.fit(Exec::one(), &mut silent());
                if free.contains(&entry.name) {
                    continue;
                }
                let refused = fitted.expect_err(entry.name).to_string();
                let meant = refused.split('`').rev().nth(1).expect("a line").to_owned();
                assert!(Kernel::parse(&meant).expect("a kernel").check_sign().is_ok(), "{refused}");
                assert!(refused.contains("conditionally negative"), "{refused}");
            }
        }
    }
}

#[test]
fn indefinite_kernels_are_allowed_and_told() {
    for entry in
        Learner::ALL.iter().filter(|e| ["svc", "svr", "one-class", "knn", "perceptron"].contains(&e.name))
    {
        let data = dataset(20, entry.tasks[0]);
        let line = Some("sigmoid(scale=0.1, shift=-1)");
        let plan = plan(&data, entry.name, entry.tasks[0], line).expect("a plan");
        let model = plan.fit(Exec::one(), &mut silent()).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        let told = model.info().notes.iter().filter(|n| n.contains("may not be positive definite")).count();
        assert_eq!(told, 1, "{}: {:?}", entry.name, model.info().notes);
    }
}

#[test]
fn a_class_of_one_row_is_trained_on_and_never_tested() {
    let data = dataset(31, Task::Classification);
    let mut names: Vec<&str> = (0..31).map(|i| if i % 2 == 0 { "yes" } else { "no" }).collect();
    names[30] = "once";
    names[28] = "twice";
    names[29] = "twice";
    let data = Dataset::new(data.points, Targets::Classes(Labels::new(names))).expect("whole");
    for (entry, task) in tunable().filter(|(_, task)| *task == Task::Classification) {
        // Overlapping clouds have no hard margin; its search is tried elsewhere.
        if entry.name == "hard-margin" {
            continue;
        }
        let mut plan = plan(&data, entry.name, task, None).expect("a plan");
        let tuning = Tuning { splits: Some(Splits::usual()), ..small(entry, None) };
        let found = tune(&mut plan, &tuning, Exec::one(), &mut silent());
        let found = found.unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        assert!(found.notes.iter().any(|n| n.contains("class once has one row")), "{:?}", found.notes);
        assert!(found.best.score.mean.is_finite(), "{}", entry.name);
    }
    for metric in ["balanced-error", "roc-area", "pr-area"] {
        let mut plan = plan(&data, "svc", Task::Classification, None).expect("a plan");
        let svc = Learner::find("svc").expect("known");
        let tuning =
            Tuning { metric: Some(metric.into()), splits: Some(Splits::usual()), ..small(svc, None) };
        let found =
            tune(&mut plan, &tuning, Exec::one(), &mut silent()).unwrap_or_else(|e| panic!("{metric}: {e}"));
        assert!(found.best.score.mean.is_finite(), "{metric}");
    }
}

#[test]
fn a_watcher_that_breaks_off_gets_the_best_so_far() {
    for learner in ["svc", "svr", "ridge"] {
        let entry = Learner::find(learner).expect("known");
        let data = dataset(40, entry.tasks[0]);
        for steps in [0, 1, 7, 30, 100] {
            let mut left = steps;
            let mut watch = |_: &Step| {
                left -= 1;
                if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let mut plan = plan(&data, learner, entry.tasks[0], None).expect("a plan");
            let found = tune(&mut plan, &small(entry, None), Exec::one(), &mut watch).expect("an answer");
            let about = format!("{learner} after {steps}");
            assert!(found.stopped || left >= 0, "{about}");
            holds(&found, &plan, &about);
        }
    }
}

#[test]
fn whole_parameters_take_no_fractions_under_any_name() {
    use mercer::param::Allowed;
    for entry in Learner::ALL {
        let mut learner = entry.learner();
        for spec in learner.table().iter().filter(|spec| entry.takes(spec.name)) {
            if !matches!(spec.allowed, Allowed::Whole(_) | Allowed::WholeOrNone(_)) {
                continue;
            }
            let refused = learner.set(spec.name, 2.7.into()).expect_err(spec.name).to_string();
            assert!(refused.contains("a whole number of at least"), "{refused}");
            learner
                .set(spec.name, 3.0.into())
                .unwrap_or_else(|e| panic!("{} {}: {e}", entry.name, spec.name));
            assert_eq!(learner.get(spec.name), Some(3.into()), "{} {}", entry.name, spec.name);
        }
    }
    for entry in Kernel::ALL {
        for param in entry.params.iter().filter(|p| p.allowed.to_string().starts_with("a whole number")) {
            let of =
                if entry.algebra || entry.params.iter().any(|p| p.name == "of") { ", of=linear" } else { "" };
            let line = format!("{}({}=2.7{of})", entry.name, param.name);
            let refused = Kernel::parse(&line).expect_err(&line).to_string();
            assert!(refused.contains("a whole number") || refused.contains("lacks"), "{refused}");
        }
    }
}
