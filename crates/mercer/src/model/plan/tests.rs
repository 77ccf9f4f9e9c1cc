//! What is settled where nobody says, and what is refused.

use super::*;
use crate::data::Labels;

fn data(values: Vec<f64>, d: usize, targets: Targets) -> Dataset {
    Dataset::new(Points::dense(values, d).expect("whole rows"), targets).expect("as many targets")
}

fn find<'a>(plan: &'a Plan<'_>, what: &str) -> &'a Choice {
    plan.choices.iter().find(|c| c.what == what).expect("settled")
}

#[test]
fn the_task_follows_from_the_targets_and_scaling_from_the_ranges() {
    let x = vec![0.0, 0.0, 1.0, 1000.0, 0.5, 300.0, 0.2, 900.0];
    let classes = Targets::Classes(Labels::new(["a", "b", "a", "b"]));
    let set = data(x.clone(), 2, classes);
    let plan = Plan::new(&set, &Wishes::default(), Exec::one()).expect("a plan");
    assert_eq!(plan.task, Task::Classification);
    assert_eq!(plan.stages.len(), 1);
    assert_eq!(
        find(&plan, "scaling").why.as_deref(),
        Some("ranges differ: column 2 spans 1000, column 1 only 1")
    );
    // The width is that of the points after scaling.
    let Some(Kernel::Rbf { gamma }) = plan.learner.kernel() else { panic!("a Gaussian") };
    assert!((gamma - 0.5).abs() < 1e-12, "{gamma}");

    let set = data(x.clone(), 2, Targets::Reals(vec![0.0, 100.0, 0.0, 100.0]));
    let plan = Plan::new(&set, &Wishes::default(), Exec::one()).expect("a plan");
    assert_eq!((plan.task, plan.learner.get("c")), (Task::Regression, Some(json!(50.0))));
    assert_eq!(plan.learner.get("epsilon"), Some(json!(5.0)));

    let set = data(x, 1, Targets::None);
    let plan = Plan::new(&set, &Wishes::default(), Exec::one()).expect("a plan");
    assert_eq!((plan.task, plan.stages.len()), (Task::Novelty, 0));
    assert_eq!(plan.learner.get("nu"), Some(json!(0.05)));
}

#[test]
fn wishes_that_contradict_are_refused() {
    let set = data(vec![0.0, 1.0], 1, Targets::Classes(Labels::new(["a", "b"])));
    let refused =
        |wishes: Wishes| Plan::new(&set, &wishes, Exec::one()).expect_err("a contradiction").to_string();
    let learner = |name: &str| Wishes { learner: Some(name.into()), ..Wishes::default() };
    let novelty = Wishes { task: Some(Task::Novelty), ..learner("svc") };
    assert_eq!(refused(novelty), "learner = svc: must be one of one-class, sphere, parzen to find novelties");
    assert_eq!(refused(learner("svr")), "targets: got class labels, expected real numbers");
    let both = Wishes { kernel: Some("linear".into()), gamma: Some(1.0), ..Wishes::default() };
    assert!(refused(both).starts_with("gamma = 1: not used with a whole kernel"));
    let one = data(vec![0.0, 1.0], 1, Targets::Classes(Labels::new(["a", "a"])));
    let e = Plan::new(&one, &Wishes::default(), Exec::one()).expect_err("one class").to_string();
    assert!(e.starts_with("classes: got 1, `a`, expected at least 2; --label COLUMN"), "{e}");
}

#[test]
fn rounding_that_spoils_a_kernel_is_told_and_a_common_offset_is_none() {
    let classes = || Targets::Classes(Labels::new((0..8).map(|i| if i % 2 == 0 { "a" } else { "b" })));
    let near: Vec<f64> = (0..8).map(|i| f64::from(i) * 0.3).collect();
    let moved = |by: &dyn Fn(usize) -> f64| {
        data(near.iter().enumerate().map(|(i, v)| v + by(i)).collect(), 1, classes())
    };
    let notes = |set: &Dataset, kernel: &str| {
        let scaling = Scaling::Given(Vec::new());
        let wishes = Wishes { kernel: Some(kernel.into()), scaling, ..Wishes::default() };
        let plan = Plan::new(set, &wishes, Exec::one()).expect("a plan");
        if let Some(Kernel::Rbf { .. }) = plan.learner.kernel() {
            let model = plan.fit(Exec::one(), &mut crate::watch::silent()).expect("a fit");
            assert!(plan.notes.iter().all(|note| model.info().notes.contains(note)));
        }
        plan.notes.join("; ")
    };
    let (apart, offset) = (moved(&|i| if i < 4 { 1e8 } else { -1e8 }), moved(&|_| 1e8));
    for kernel in ["rbf(gamma=1)", "2*rbf(gamma=1) + linear", "inverse_multiquadric", "-1*multiquadric"] {
        assert!(notes(&apart, kernel).contains("the kernel may be inexact"), "{kernel}");
        assert!(!notes(&moved(&|_| 0.0), kernel).contains("inexact"), "{kernel}");
        assert!(!notes(&offset, kernel).contains("inexact"), "{kernel}");
    }
    assert!(!notes(&apart, "rbf(gamma=1e-16)").contains("inexact"));
}

#[test]
fn sparse_counts_keep_their_columns() {
    // 40 rows of 3 words each, out of 200; some words come often, some once.
    let csr = |counts: bool| crate::data::Csr {
        start: (0..=40).map(|i| 3 * i).collect(),
        column: (0..40u32).flat_map(|i| [i % 5, 10 + i % 7, 100 + i]).collect(),
        value: (0..40u32)
            .flat_map(|i| if counts { [f64::from(1 + i % 9), 2.0, 1.0] } else { [2.0, 1.0, 0.1] })
            .collect(),
    };
    let classes = || Targets::Classes(Labels::new((0..40).map(|i| if i % 2 == 0 { "a" } else { "b" })));
    let scaling = |points: Points| {
        let set = Dataset::new(points, classes()).expect("whole");
        let plan = Plan::new(&set, &Wishes::default(), Exec::one()).expect("a plan");
        find(&plan, "scaling").value.clone()
    };
    assert_eq!(scaling(Points::sparse(csr(true), 200).expect("rows")), "rows of length 1");
    assert_eq!(scaling(Points::sparse(csr(false), 200).expect("rows")), "none");
    // Measurements of either sign, and dense ones, are brought to one scale as before.
    let mut signed = csr(true);
    signed.value[0] = -90.0;
    assert_eq!(scaling(Points::sparse(signed, 200).expect("rows")), "mean 0, deviation 1");
}

#[test]
fn many_numbers_are_amounts_unless_somebody_insists() {
    let x: Vec<f64> = (0..300).map(f64::from).collect();
    let labels = |prefix: &str| Targets::Classes(Labels::new((0..300).map(|i| format!("{prefix}{i}"))));
    let svc = |classes: bool| Wishes { learner: Some("svc".into()), classes, ..Wishes::default() };
    let set = data(x.clone(), 1, labels(""));
    let refused = Plan::new(&set, &svc(false), Exec::one()).expect_err("amounts").to_string();
    let told = "classes: got 300 different numbers in 300 rows, expected at most 20; are these quantities?";
    assert_eq!(refused, told);
    assert!(Plan::new(&set, &svc(true), Exec::one()).is_ok());
    // Whether numbers look measured: (different ones, their distance, rows) -> what is refused.
    for (count, step, rows, told) in [
        (150, 0.25, 300, Some("150 different numbers, some of them fractions, expected at most 20;")),
        (150, 1.0, 299, Some("150 different numbers in 299 rows, expected at most 20;")),
        (150, 1.0, 300, None),
        (20, 0.5, 300, None),
        (20, 1.0, 20, None),
        (201, 1.0, 402, Some("201 different numbers, expected at most 200;")),
    ] {
        let names = (0..rows).map(|i| (f64::from(i % count) * step).to_string());
        let x = (0..rows).map(f64::from).collect();
        let set = data(x, 1, Targets::Classes(Labels::new(names)));
        let refused = Plan::new(&set, &svc(false), Exec::one()).map(drop).map_err(|e| e.to_string());
        match told {
            Some(told) => assert!(refused.expect_err("amounts").contains(told), "{count} {step} {rows}"),
            None => assert_eq!(refused, Ok(())),
        }
    }
    assert!(Plan::new(&data(x, 1, labels("writer ")), &svc(false), Exec::one()).is_ok());
}

#[test]
fn what_is_asked_for_is_taken() {
    let (points, targets) = crate::data::toy::banana(40, 1);
    let set = Dataset::new(points, targets).expect("a toy");
    let wishes = Wishes {
        kernel: Some("poly(degree=2, coef0=1)".into()),
        params: vec![("c", json!(7.0)), ("multi", json!("one_vs_rest"))],
        scaling: Scaling::Given(Stages::parse("minmax(0, 1)").expect("a line")),
        ..Wishes::default()
    };
    let plan = Plan::new(&set, &wishes, Exec::one()).expect("a plan");
    assert_eq!(find(&plan, "kernel").value, "poly(degree=2, coef0=1)");
    assert_eq!(find(&plan, "c").value, "7");
    let model = plan.fit(Exec::one(), &mut crate::watch::silent()).expect("a fit");
    assert_eq!(model.stages.len(), 1);
    let Learner::Svc(params) = &plan.learner else { panic!("a classifier") };
    assert_eq!(params.c, 7.0);
}
