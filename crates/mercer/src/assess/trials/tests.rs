//! Trials beside whole fits, and what must not leak from test rows.

use super::*;
use crate::assess::metric;
use crate::assess::{Splits, cross_validate};
use crate::data::toy;
use crate::kernel::Kernel;
use crate::watch::silent;

fn banana(n: usize) -> Dataset {
    let (points, targets) = toy::banana(n, 4);
    Dataset::new(points, targets).expect("whole")
}

fn svc(gamma: f64, c: f64) -> Learner {
    Learner::Svc(SvcParams { kernel: Some(Kernel::Rbf { gamma }), c, tol: 1e-5, ..SvcParams::default() })
}

/// The obvious way: for each setting and fold a fit of its own.
fn slowly(
    data: &Dataset,
    recipes: &[Recipe],
    learner: &Learner,
    folds: &[Fold],
    metric: &Metric,
) -> Vec<f64> {
    let one = |fold: &Fold| {
        let (train, test) = (data.gather(&fold.train), data.gather(&fold.test));
        let (stages, points) = Stages::fit(recipes, train.points.view(), Exec::one()).expect("fits");
        let body =
            learner.fit(Sample::new(&points, &train.targets), Exec::one(), &mut silent()).expect("fits");
        let model = Model { stages, ..Model::from(body) };
        let told = model.predict(test.points.view(), Exec::one()).expect("answers");
        let want = test.targets.classes().expect("classes");
        let Measure::Classes(measure) = metric.measure else { panic!("a metric of classes") };
        measure(&told.classes().expect("classes").of_row, &want.of_row)
    };
    folds.iter().map(one).collect()
}

#[test]
fn shared_work_changes_no_score() {
    let data = banana(150);
    let folds = Splits::usual().folds(&data, 3).expect("enough rows");
    let metric = metric::find("error").expect("known");
    let standard = [Recipe::parse("standard").expect("a stage")];
    let settings: Vec<Learner> = [0.2, 2.0].iter().flat_map(|&g| [5.0, 0.5].map(|c| svc(g, c))).collect();
    for recipes in [&[][..], &[Recipe::parse("scale(2, 1)").expect("a stage")], &standard] {
        let mut table = vec![vec![f64::NAN; folds.len()]; settings.len()];
        let trials = Trials::new(&data, recipes, &folds, metric, Exec::new(2)).expect("fits");
        let mut told = |cell: usize, fold: usize, score: f64| {
            table[cell][fold] = score;
            Ok(())
        };
        trials.run(&settings, &|_, _| true, &mut told, &mut silent()).expect("trained");
        for (learner, got) in settings.iter().zip(&table) {
            let want = slowly(&data, recipes, learner, &folds, metric);
            got.iter().zip(&want).for_each(|(g, w)| assert!((g - w).abs() < 1e-12, "{got:?} {want:?}"));
        }
    }
}

#[test]
fn scaling_is_fitted_inside_the_folds() {
    // The last row is far out: scaled with it, all others collapse to one point.
    let mut x: Vec<f64> = (0..40).map(|i| f64::from(i % 2) + 0.01 * f64::from(i)).collect();
    x[39] = 1e9;
    let labels = Targets::Classes(Labels::new((0..40).map(|i| if i % 2 == 0 { "a" } else { "b" })));
    let data = Dataset::new(Points::dense(x, 1).expect("rows"), labels).expect("whole");
    let fold = Fold { train: (0..30).collect(), test: (30..39).chain([39]).collect() };
    let recipes = [Recipe::parse("minmax").expect("a stage")];
    let metric = metric::find("error").expect("known");
    let score =
        cross_validate(&data, &recipes, &svc(50.0, 100.0), &[fold], metric, Exec::one(), &mut silent());
    let score = score.expect("trained");
    assert!(score.mean <= 0.1 + 1e-12, "{}", score.mean);
    // All rows in the fold: what a leak would look like.
    let leak = Fold { train: (0..30).chain([39]).collect(), test: (30..39).collect() };
    let leaked =
        cross_validate(&data, &recipes, &svc(50.0, 100.0), &[leak], metric, Exec::one(), &mut silent());
    assert!(leaked.expect("trained").mean > 0.3);
}

#[test]
fn every_task_and_metric_has_its_folds() {
    let data = banana(100);
    let folds = Splits::Folds { folds: 3, times: 2 }.folds(&data, 1).expect("enough rows");
    assert_eq!(folds.len(), 6);
    let run = |learner: &Learner, name: &str| {
        let metric = metric::find(name).expect("known");
        cross_validate(&data, &[], learner, &folds, metric, Exec::new(2), &mut silent())
    };
    let area = run(&svc(1.0, 1.0), "roc-area").expect("trained").mean;
    assert!(area > 0.9 && area <= 1.0, "{area}");
    let mut sure = svc(1.0, 1.0);
    sure.set("probability", true.into()).expect("a parameter");
    let loss = run(&sure, "log-loss").expect("trained").mean;
    assert!(loss > 0.01 && loss < 0.6, "{loss}");
    let refused = run(&svc(1.0, 1.0), "rmse").expect_err("classes").to_string();
    assert!(refused.contains("one for data with classes"), "{refused}");
    let mut ridge = Learner::find("ridge").expect("known").learner();
    ridge.set_kernel(Kernel::Rbf { gamma: 1.0 });
    assert!(run(&ridge, "error").expect("trained").mean < 0.3);
    let y: Vec<f64> = (0..100).map(|i| (f64::from(i) / 10.0).sin()).collect();
    let x = Points::dense((0..100).map(|i| f64::from(i) / 10.0).collect(), 1).expect("rows");
    let wave = Dataset::new(x, Targets::Reals(y)).expect("whole");
    let folds = Splits::usual().folds(&wave, 0).expect("enough");
    let r2 = metric::find("r2").expect("known");
    let score = cross_validate(&wave, &[], &ridge, &folds, r2, Exec::one(), &mut silent()).expect("trained");
    assert!(score.mean > 0.5, "{}", score.mean);
}

#[test]
fn folds_repeat_with_their_seed_and_small_classes_are_trained_on() {
    let data = banana(60);
    let splits = Splits::usual();
    assert_eq!(splits.folds(&data, 7).expect("enough"), splits.folds(&data, 7).expect("enough"));
    assert_ne!(splits.folds(&data, 7).expect("enough"), splits.folds(&data, 8).expect("enough"));
    let labels = Labels::new((0..20).map(|i| if i < 3 { "rare" } else { "usual" }));
    let mut names: Vec<&str> = (0..20).map(|i| labels.name_of(i)).collect();
    names[19] = "once";
    let labels = Labels::new(names);
    let x = Points::dense((0..20).map(f64::from).collect(), 1).expect("rows");
    let data = Dataset::new(x, Targets::Classes(labels.clone())).expect("whole");
    let folds = splits.folds(&data, 0).expect("three rows, five folds");
    let tested: Vec<usize> = folds.iter().flat_map(|f| f.test.iter().copied()).collect();
    assert_eq!(tested.len(), 19);
    assert!(folds.iter().all(|f| labels.gather(&f.train).counts().iter().all(|&rows| rows > 0)));
    assert_eq!(
        splits.notes(&data),
        ["class once has one row: it is in the training part of every fold and never tested"]
    );
}

#[test]
fn a_search_can_be_broken_off() {
    let data = banana(80);
    let folds = Splits::usual().folds(&data, 0).expect("enough");
    let trials = Trials::new(&data, &[], &folds, metric::find("error").expect("known"), Exec::one());
    let settings = [svc(1.0, 1.0), svc(0.1, 1.0)];
    let mut seen = 0;
    let mut told = |_: usize, _: usize, _: f64| {
        seen += 1;
        Ok(())
    };
    let mut steps = 0;
    let mut watch = |step: &Step| {
        steps += usize::from(step.done >= 3);
        if steps > 0 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    };
    let end = trials.expect("fits").run(&settings, &|_, _| true, &mut told, &mut watch);
    assert!(matches!(end, Err(Error::Cancelled)));
    assert_eq!(seen, 3);
}
