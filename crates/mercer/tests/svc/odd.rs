//! Odd inputs: a right answer or a clear error, and always an end.

use mercer::Exec;
use mercer::data::{Labels, Points, Row, Sequences, Targets};
use mercer::kernel::{Kernel, KernelFn};
use mercer::model::Sample;
use mercer::model::svc::{Kind, Multi, SvcParams};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::close;
use mercer_testkit::toy;

use super::help::{disc, error, fit, outputs, rbf, violation};

fn refused(params: &SvcParams, points: &Points, targets: &Targets) -> String {
    params.fit(Sample::new(points, targets), Exec::one(), &mut silent()).expect_err("not sound").to_string()
}

fn named(names: &[&str]) -> Targets {
    Targets::Classes(Labels::new(names))
}

#[test]
fn one_class_and_one_row_are_refused_by_name() {
    let points = Points::dense(vec![1.0, 2.0], 1).expect("whole rows");
    let e = refused(&SvcParams::default(), &points, &named(&["a", "a"]));
    assert_eq!(e, "classes among the training rows: got one (a), expected at least 2");
    let one = Points::dense(vec![1.0], 1).expect("whole rows");
    assert!(refused(&SvcParams::default(), &one, &named(&["a"])).contains("at least 2"));
    let none = Points::dense(vec![], 1).expect("whole rows");
    assert!(refused(&SvcParams::default(), &none, &named(&[])).contains("at least 1"));
    let e = refused(&SvcParams::default(), &points, &Targets::Reals(vec![1.0, 2.0]));
    assert_eq!(e, "targets: got real numbers, expected class labels");
}

#[test]
fn numbers_that_are_none_are_found_by_place() {
    let points = Points::dense(vec![1.0, 2.0, f64::NAN, 4.0], 2).expect("whole rows");
    let e = refused(&SvcParams::default(), &points, &named(&["a", "b"]));
    assert_eq!(e, "row 2, column 1: got a value that is not finite, expected finite numbers");
}

#[test]
fn a_class_without_weight_is_refused() {
    let (points, targets) = disc(20, 1);
    let labels = targets.classes().expect("classes");
    let weights: Vec<f64> = labels.of_row.iter().map(|&c| f64::from(c)).collect();
    let sample = Sample::new(&points, &targets).weighted(&weights);
    let e = SvcParams::default().fit(sample, Exec::one(), &mut silent()).expect_err("no weight").to_string();
    assert_eq!(e, "weight of class in = 0: must be above 0 for a row");
}

#[test]
fn equal_rows_with_opposite_labels_end_on_their_bound() {
    let (points, targets) = disc(60, 2);
    let labels = targets.classes().expect("classes");
    let twice = points.concat(&points).expect("one kind");
    let flipped =
        Labels { names: labels.names.clone(), of_row: labels.of_row.iter().map(|c| 1 - c).collect() };
    let of_row = [labels.of_row.clone(), flipped.of_row].concat();
    let targets = Targets::Classes(Labels { names: labels.names.clone(), of_row });
    for c in [0.01, 1.0, 1000.0] {
        let model = fit(&SvcParams { kernel: Some(rbf(1.0)), c, ..SvcParams::default() }, &twice, &targets);
        // Nothing can be learned: every pair cancels, f is constant, all rows cost 2 C a pair.
        let f = outputs(&model, &twice);
        let spread = f.iter().fold(0.0_f64, |m, v| m.max((v - f[0]).abs()));
        assert!(spread < 2e-3, "C {c}: {spread}");
        close(model.info.objective.expect("one"), -120.0 * c, 1e-3);
    }
}

#[test]
fn constant_columns_and_constant_rows_have_an_answer() {
    let mut x = toy::normals(40, 3, 3);
    x.chunks_mut(3).for_each(|row| row[1] = 7.0);
    let names: Vec<&str> = x.chunks(3).map(|r| if r[0] > 0.0 { "p" } else { "n" }).collect();
    let (points, targets) = (Points::dense(x, 3).expect("whole rows"), named(&names));
    for kernel in [None, Some(Kernel::Linear), Some(rbf(0.5))] {
        let model = fit(&SvcParams { kernel, c: 100.0, ..SvcParams::default() }, &points, &targets);
        assert!(error(&model, &points, &targets) <= 0.05);
    }
    let same = Points::dense(vec![2.0; 8], 2).expect("whole rows");
    let model = fit(&SvcParams::default(), &same, &named(&["a", "a", "a", "b"]));
    assert_eq!(model.labels(same.view(), Exec::one()).expect("columns agree").of_row, [0; 4]);
}

#[test]
fn more_columns_than_rows_and_many_rows() {
    let x = toy::normals(12, 400, 4);
    let names: Vec<&str> = (0..12).map(|i| if i % 3 == 0 { "x" } else { "y" }).collect();
    let (points, targets) = (Points::dense(x, 400).expect("whole rows"), named(&names));
    let model =
        fit(&SvcParams { kernel: Some(Kernel::Linear), c: 10.0, ..SvcParams::default() }, &points, &targets);
    assert_eq!(error(&model, &points, &targets), 0.0);
    let (points, targets) = disc(3000, 5);
    let model = fit(&SvcParams { kernel: Some(rbf(1.0)), ..SvcParams::default() }, &points, &targets);
    assert!(error(&model, &points, &targets) < 0.14);
    let [gap, ..] = violation(&model, 0, &points, &targets, &vec![1.0; 3000]);
    assert!(gap < 1.01e-3, "{gap}");
}

#[test]
fn kernels_that_are_not_positive_end_with_a_note() {
    let (points, targets) = disc(150, 6);
    for (scale, shift) in [(1.0, -1.0), (2.0, 0.5)] {
        let kernel = Kernel::Sigmoid { amplitude: 1.0, scale, shift };
        for c in [0.1, 10.0, 1000.0] {
            let params = SvcParams {
                kernel: Some(kernel.clone()),
                c,
                max_iter: Some(200_000),
                ..SvcParams::default()
            };
            let model = fit(&params, &points, &targets);
            assert!(model.info.notes.iter().any(|n| n.contains("not be positive definite")));
            let [gap, sum, out] = violation(&model, 0, &points, &targets, &[1.0; 150]);
            assert!(sum.abs() < 1e-6 * c && out <= 0.0);
            assert!(gap < 1.01e-3 || model.info.stop == Stop::Limit, "{kernel} C {c}: {gap}");
        }
    }
    // Enough on the diagonal makes it positive definite, and the note goes.
    let kernel = Kernel::Sigmoid { amplitude: 1.0, scale: 1.0, shift: -1.0 };
    let params = SvcParams { kernel: Some(kernel), c: 10.0, shift: 160.0, ..SvcParams::default() };
    let model = fit(&params, &points, &targets);
    assert!(!model.info.notes.iter().any(|n| n.contains("not be positive definite")));
    assert_eq!(model.info.stop, Stop::Converged);
}

#[test]
fn a_limit_is_told() {
    let (points, targets) = disc(200, 7);
    let params = SvcParams { kernel: Some(rbf(1.0)), c: 100.0, max_iter: Some(5), ..SvcParams::default() };
    let model = fit(&params, &points, &targets);
    assert_eq!(model.info.stop, Stop::Limit);
    assert!(model.info.gap > 1e-3 && model.checkpoint.is_some());
}

#[test]
fn tiny_sets_work_in_every_kind() {
    let points = Points::dense(vec![0.0, 1.0, 3.0], 1).expect("whole rows");
    let targets = named(&["a", "b", "c"]);
    for kind in [Kind::C, Kind::Nu, Kind::Hard] {
        for multi in [Multi::OneVsOne, Multi::OneVsRest] {
            let params = SvcParams { kernel: Some(rbf(1.0)), kind, nu: 0.5, multi, ..SvcParams::default() };
            let model = fit(&params, &points, &targets);
            assert_eq!(error(&model, &points, &targets), 0.0, "{kind:?} {multi:?}");
        }
    }
}

/// Places at which two sequences agree.
struct Agree;

impl KernelFn for Agree {
    fn name(&self) -> &'static str {
        "agree"
    }

    fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        let (Row::Sequence(x), Row::Sequence(y)) = (x, y) else { return f64::NAN };
        x.iter().zip(y).filter(|(a, b)| a == b).count() as f64
    }
}

#[test]
fn sequences_are_classified_under_a_kernel_for_them() {
    // Class by the letter in the middle, everything else at random.
    let letters = toy::uniforms(90, 7, 0.0, 3.0, 8);
    let symbol: Vec<u8> = letters.iter().map(|&v| v as u8).collect();
    let names: Vec<&str> = symbol.chunks(7).map(|s| ["A", "C", "G"][s[3] as usize]).collect();
    let start = (0..=90).map(|i| 7 * i).collect();
    let points =
        Points::sequences(Sequences { alphabet: b"ACG".to_vec(), start, symbol }).expect("whole rows");
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let params =
            SvcParams { kernel: Some(Kernel::custom(Agree)), c: 10.0, multi, ..SvcParams::default() };
        let model = fit(&params, &points, &named(&names));
        assert_eq!(error(&model, &points, &named(&names)), 0.0, "{multi:?}");
    }
    // Without a kernel the usual one for sequences is taken. It weighs all places alike, so it is not perfect here.
    let usual = fit(&SvcParams::default(), &points, &named(&names));
    assert!(error(&usual, &points, &named(&names)) < 0.1);
}
