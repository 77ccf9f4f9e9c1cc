//! Optimality conditions, recomputed in f64 from the fitted expansion.

use mercer::Exec;
use mercer::kernel::Kernel;
use mercer::model::Sample;
use mercer::model::svc::{ClassWeights, Kind, Multi, Slack, SvcParams};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::close;

use super::help::{clouds, coef, disc, fit, rbf, violation};

#[test]
fn optimal_at_small_and_large_cost() {
    let (points, targets) = disc(300, 1);
    for c in [1e-3, 0.1, 1.0, 100.0, 1e4, 1e6] {
        for slack in [Slack::Linear, Slack::Squared] {
            let params = SvcParams { kernel: Some(rbf(0.7)), c, slack, ..SvcParams::default() };
            let model = fit(&params, &points, &targets);
            let [gap, sum, out] = violation(&model, 0, &points, &targets, &[1.0; 300]);
            assert!(gap <= 1.01e-3, "C {c} {slack:?}: violation {gap}, {:?}", model.info);
            assert!(sum.abs() <= 1e-9 * c.max(1.0) * 300.0, "C {c}: sum {sum}");
            assert!(out <= 0.0, "C {c}: outside the box by {out}");
            assert_eq!(model.info.stop, Stop::Converged);
        }
    }
}

#[test]
fn optimal_for_all_machines_of_many_classes() {
    let (points, targets) = clouds(5, 40, 2);
    let ones = vec![1.0; points.len()];
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let params = SvcParams { kernel: Some(rbf(0.5)), c: 5.0, multi, tol: 1e-4, ..SvcParams::default() };
        let model = fit(&params, &points, &targets);
        assert_eq!(model.parts.len(), if multi == Multi::OneVsOne { 10 } else { 5 });
        for m in 0..model.parts.len() {
            let [gap, sum, out] = violation(&model, m, &points, &targets, &ones);
            assert!(
                gap <= 1.01e-4 && sum.abs() < 1e-9 && out <= 0.0,
                "{multi:?} machine {m}: {gap} {sum} {out}"
            );
            let f = &model.parts[m];
            let beta = coef(&model, m, points.len());
            let all: usize = beta.iter().filter(|b| **b != 0.0).count();
            assert_eq!(f.free.len() + f.bounded.len(), all);
            assert!(f.bounded.iter().all(|&r| beta[r as usize].abs() == 5.0));
            assert!(f.free.iter().all(|&r| beta[r as usize].abs() < 5.0));
        }
    }
}

#[test]
fn weights_scale_each_rows_cost() {
    let (points, targets) = disc(200, 3);
    let labels = targets.classes().expect("classes");
    let rows: Vec<f64> = (0..200).map(|i| [0.5, 1.0, 0.0, 3.0][i % 4]).collect();
    let given = ClassWeights::Given([("out".to_owned(), 4.0)].into());
    let params = SvcParams { kernel: Some(rbf(0.7)), c: 2.0, class_weights: given, ..SvcParams::default() };
    let sample = Sample::new(&points, &targets).weighted(&rows);
    let model = params.fit(sample, Exec::one(), &mut silent()).expect("a sound problem");
    let both: Vec<f64> = rows
        .iter()
        .zip(&labels.of_row)
        .map(|(w, &c)| if labels.names[c as usize] == "out" { 4.0 * w } else { *w })
        .collect();
    let [gap, sum, out] = violation(&model, 0, &points, &targets, &both);
    assert!(gap <= 1.01e-3 && sum.abs() < 1e-9 && out <= 0.0, "{gap} {sum} {out}");
    // A row of weight 2 is a row that is there twice.
    let twice: Vec<usize> = (0..200).flat_map(|i| std::iter::repeat_n(i, 1 + i % 2)).collect();
    let weights: Vec<f64> = (0..200).map(|i| 1.0 + (i % 2) as f64).collect();
    let params = SvcParams { kernel: Some(rbf(0.7)), tol: 1e-7, ..SvcParams::default() };
    let weighted = Sample::new(&points, &targets).weighted(&weights);
    let a = params.fit(weighted, Exec::one(), &mut silent()).expect("a sound problem");
    let b = fit(&params, &points.gather(&twice), &targets.gather(&twice));
    close(a.info.objective.expect("one"), b.info.objective.expect("one"), 1e-6);
}

#[test]
fn a_shift_is_on_the_diagonal_while_training() {
    let (points, targets) = disc(150, 4);
    let params = SvcParams { kernel: Some(rbf(0.7)), c: 10.0, shift: 0.3, ..SvcParams::default() };
    let model = fit(&params, &points, &targets);
    let [gap, sum, out] = violation(&model, 0, &points, &targets, &[1.0; 150]);
    assert!(gap <= 1.01e-3 && sum.abs() < 1e-9 && out <= 0.0, "{gap} {sum} {out}");
    // A shift of 1/C without a box is squared slack.
    let squared = SvcParams { shift: 0.0, slack: Slack::Squared, c: 1.0 / 0.3, ..params.clone() };
    let boxless = SvcParams { c: 1e9, ..params };
    let (a, b) = (fit(&squared, &points, &targets), fit(&boxless, &points, &targets));
    close(a.info.objective.expect("one"), b.info.objective.expect("one"), 1e-3);
}

#[test]
fn nu_bounds_margin_errors_and_support_vectors() {
    let (points, targets) = disc(400, 5);
    let labels = targets.classes().expect("classes");
    for nu in [0.25, 0.4, 0.6] {
        let params =
            SvcParams { kernel: Some(rbf(0.7)), kind: Kind::Nu, nu, tol: 1e-5, ..SvcParams::default() };
        let model = fit(&params, &points, &targets);
        let f = model.decision(points.view(), Exec::one()).expect("columns agree");
        let y = |i: usize| if labels.of_row[i] == 1 { 1.0 } else { -1.0 };
        let slack = 2.0 * params.tol;
        let inside = (0..400).filter(|&i| y(i) * f[i] < 1.0 - slack).count() as f64 / 400.0;
        let support = model.support.len() as f64 / 400.0;
        assert!(
            inside <= nu + 1e-9 && nu <= support + 1e-9,
            "nu {nu}: {inside} inside, {support} support vectors"
        );
        // Free rows lie on the margin.
        for &r in &model.parts[0].free {
            close(y(r as usize) * f[r as usize], 1.0, slack);
        }
    }
    // A share that the smaller class cannot give is refused, and the message says what it can.
    let params = SvcParams { kernel: Some(rbf(0.7)), kind: Kind::Nu, nu: 1.0, ..SvcParams::default() };
    let e = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect_err("too much");
    assert!(e.to_string().starts_with("nu = 1: must be at most 0."), "{e}");
}

#[test]
fn nu_and_c_machines_that_correspond_agree() {
    let (points, targets) = disc(200, 6);
    let nu = SvcParams { kernel: Some(rbf(0.7)), kind: Kind::Nu, nu: 0.5, tol: 1e-7, ..SvcParams::default() };
    let a = fit(&nu, &points, &targets);
    // The nu-machine, scaled to its margin, is the C-machine with C = 1 / rho: the largest coefficient.
    let c = a.expansion.coef().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let b =
        fit(&SvcParams { kernel: Some(rbf(0.7)), c, tol: 1e-6, ..SvcParams::default() }, &points, &targets);
    let at = |m: &mercer::model::Machine| m.decision(points.view(), Exec::one()).expect("columns agree");
    mercer_testkit::assert::all_close(&at(&a), &at(&b), 1e-3);
}

#[test]
fn linear_machines_collapse_and_stay_optimal() {
    let (points, targets) = clouds(3, 60, 7);
    let params = SvcParams { kernel: Some(Kernel::Linear), c: 0.5, ..SvcParams::default() };
    let model = fit(&params, &points, &targets);
    assert_eq!(model.expansion.len(), 3);
    assert!(model.support.len() > 3);
    let degree = Kernel::Poly { degree: 1, scale: 1.0, coef0: 0.0 };
    let plain = fit(&SvcParams { kernel: Some(degree), ..params }, &points, &targets);
    assert_eq!(plain.expansion.len(), plain.support.len());
    let at = |m: &mercer::model::Machine| m.decision(points.view(), Exec::one()).expect("columns agree");
    mercer_testkit::assert::all_close(&at(&model), &at(&plain), 5e-3);
}
