//! What must not change the answer: storage, order of rows, threads, memory, and breaks in between.

use std::ops::ControlFlow;

use mercer::Exec;
use mercer::data::{Csr, Points, Targets, split};
use mercer::gram::{Matrix, square};
use mercer::kernel::Kernel;
use mercer::model::Sample;
use mercer::model::svc::{Kind, Multi, SvcParams};
use mercer::model::{Checkpoint, Machine};
use mercer::watch::{Stop, silent};
use mercer_testkit::assert::{all_close, close};

use super::help::{clouds, disc, fit, outputs, rbf};

fn sparse(points: &Points) -> Points {
    let (mut start, mut column, mut value) = (vec![0], Vec::new(), Vec::new());
    for row in points.view().to_f64().expect("numbers").chunks(points.dim()) {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            column.push(c as u32);
            value.push(v);
        }
        start.push(column.len());
    }
    Points::sparse(Csr { start, column, value }, points.dim()).expect("whole rows")
}

fn objective(model: &Machine) -> f64 {
    model.info.objective.expect("every fit has one")
}

#[test]
fn sparse_rows_are_dense_rows() {
    let (points, targets) = clouds(3, 40, 1);
    let cut: Vec<f64> = points
        .view()
        .to_f64()
        .expect("numbers")
        .iter()
        .map(|v| if v.abs() < 1.0 { 0.0 } else { *v })
        .collect();
    let dense = Points::dense(cut, 2).expect("whole rows");
    for kernel in [rbf(0.4), Kernel::Linear] {
        let params = SvcParams { kernel: Some(kernel), tol: 1e-6, ..SvcParams::default() };
        let (a, b) = (fit(&params, &dense, &targets), fit(&params, &sparse(&dense), &targets));
        close(objective(&a), objective(&b), 1e-6);
        all_close(&outputs(&a, &dense), &outputs(&b, &sparse(&dense)), 1e-4);
        all_close(&outputs(&a, &sparse(&dense)), &outputs(&b, &dense), 1e-4);
    }
}

#[test]
fn a_precomputed_matrix_is_its_points() {
    let (points, targets) = clouds(3, 40, 2);
    let n = points.len();
    let values = square::<f64>(&rbf(0.4), points.view(), Exec::one()).expect("a kernel on numbers");
    let matrix = Matrix::new(values.to_vec(), n).expect("symmetric");
    let numbers = Points::row_numbers((0..n as u32).collect());
    let kernel_rows = Points::dense(values.to_vec(), n).expect("whole rows");
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        for kind in [Kind::C, Kind::Nu] {
            let params =
                SvcParams { kernel: Some(rbf(0.4)), multi, kind, nu: 0.2, tol: 1e-6, ..SvcParams::default() };
            let given = SvcParams { kernel: Some(Kernel::Precomputed), ..params.clone() };
            let sample = Sample::new(&numbers, &targets).with_gram(&matrix);
            let a = given.fit(sample, Exec::one(), &mut silent()).expect("a sound problem");
            let b = fit(&params, &points, &targets);
            // A point under a precomputed kernel is its row of values against all training rows.
            all_close(&outputs(&a, &kernel_rows), &outputs(&b, &points), 1e-3);
            // The same matrix as a shortcut for points keeps the points.
            let sample = Sample::new(&points, &targets).with_gram(&matrix);
            let c = params.fit(sample, Exec::one(), &mut silent()).expect("a sound problem");
            all_close(&outputs(&c, &points), &outputs(&b, &points), 1e-3);
        }
    }
    let without = SvcParams { kernel: Some(Kernel::Precomputed), ..SvcParams::default() };
    assert!(without.fit(Sample::new(&numbers, &targets), Exec::one(), &mut silent()).is_err());
}

/// At the usual tolerance, where two ways to a solution may end a thousandth apart: both go on to the exact one.
#[test]
fn the_matrix_of_products_is_the_linear_kernel() {
    for seed in 0..8 {
        let (points, targets) = clouds(2 + seed as usize % 3, 50, 20 + seed);
        let n = points.len();
        let values = square::<f64>(&Kernel::Linear, points.view(), Exec::one()).expect("numbers");
        let matrix = Matrix::new(values.to_vec(), n).expect("symmetric");
        let numbers = Points::row_numbers((0..n as u32).collect());
        let kernel_rows = Points::dense(values.to_vec(), n).expect("whole rows");
        for (c, multi) in [(0.1, Multi::OneVsOne), (1.0, Multi::OneVsRest), (20.0, Multi::OneVsOne)] {
            let params = SvcParams { kernel: Some(Kernel::Linear), c, multi, ..SvcParams::default() };
            let given = SvcParams { kernel: Some(Kernel::Precomputed), ..params.clone() };
            let sample = Sample::new(&numbers, &targets).with_gram(&matrix);
            let a = given.fit(sample, Exec::one(), &mut silent()).expect("a sound problem");
            let b = fit(&params, &points, &targets);
            close(objective(&a), objective(&b), 1e-7);
            all_close(&outputs(&a, &kernel_rows), &outputs(&b, &points), 1e-6);
        }
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let (points, targets) = clouds(4, 40, 3);
    let order = split::shuffle(points.len(), 9);
    for c in [0.1, 1000.0] {
        let params = SvcParams { kernel: Some(rbf(0.5)), c, tol: 1e-5, ..SvcParams::default() };
        let a = fit(&params, &points, &targets);
        let b = fit(&params, &points.gather(&order), &targets.gather(&order));
        close(objective(&a), objective(&b), 1e-7);
        all_close(&outputs(&a, &points), &outputs(&b, &points), 1e-3);
    }
}

#[test]
fn threads_memory_and_shrinking_do_not_matter() {
    let (points, targets) = clouds(5, 60, 4);
    for multi in [Multi::OneVsOne, Multi::OneVsRest] {
        let params = SvcParams { kernel: Some(rbf(0.5)), c: 10.0, multi, tol: 1e-5, ..SvcParams::default() };
        let a = fit(&params, &points, &targets);
        let sample = Sample::new(&points, &targets);
        let two = params.fit(sample, Exec::new(2), &mut silent()).expect("a sound problem");
        let again = params.fit(sample, Exec::new(2), &mut silent()).expect("a sound problem");
        assert_eq!(two.expansion, again.expansion, "bit for bit with the same threads");
        let few = Exec::one().with_memory(1 << 16);
        let small = params.fit(sample, few, &mut silent()).expect("a sound problem");
        let plain = fit(&SvcParams { shrinking: false, ..params.clone() }, &points, &targets);
        for b in [&two, &small, &plain] {
            close(objective(&a), objective(b), 1e-7);
            let at = |m: &Machine| m.predict(points.view(), Exec::one()).expect("columns agree");
            assert_eq!(at(&a), at(b));
        }
    }
}

/// Fits, but breaks off at every `every`th report, and goes on from the checkpoint, as often as it takes.
fn in_pieces(params: &SvcParams, points: &Points, targets: &Targets, every: usize) -> (Machine, usize) {
    let sample = Sample::new(points, targets);
    let mut from = None;
    for pieces in 1..10_000 {
        let mut left = every;
        let mut watch = |_: &mercer::watch::Step| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let model = match &from {
            None => params.fit(sample, Exec::one(), &mut watch),
            Some(from) => params.resume(sample, from, Exec::one(), &mut watch),
        };
        let model = model.expect("a sound problem");
        match model.checkpoint.as_ref().and_then(Checkpoint::machines).cloned() {
            None => return (model, pieces),
            Some(next) => {
                assert_eq!(model.info.stop, Stop::Cancelled);
                // As if it had been to disk and back.
                let text = serde_json::to_string(&next).expect("plain data");
                let back = serde_json::from_str(&text).expect("as written");
                assert_eq!(next, back);
                from = Some(back);
            }
        }
    }
    panic!("never done");
}

#[test]
fn a_fit_in_pieces_ends_where_a_whole_one_does() {
    let (points, targets) = disc(500, 5);
    let (more, classes) = clouds(4, 80, 6);
    for (points, targets, c) in [(&points, &targets, 1000.0), (&more, &classes, 1e4)] {
        for kind in [Kind::C, Kind::Nu] {
            let params =
                SvcParams { kernel: Some(rbf(1.0)), kind, nu: 0.25, c, tol: 1e-6, ..SvcParams::default() };
            let whole = fit(&params, points, targets);
            let (model, pieces) = in_pieces(&params, points, targets, 25);
            assert!(pieces > 1, "{kind:?} C {c}: {pieces} pieces");
            close(objective(&model), objective(&whole), 1e-4);
            all_close(&outputs(&model, points), &outputs(&whole, points), 1e-3);
        }
    }
}

#[test]
fn a_checkpoint_of_another_fit_is_refused() {
    let (points, targets) = disc(200, 7);
    let params = SvcParams { kernel: Some(rbf(1.0)), c: 100.0, max_iter: Some(3), ..SvcParams::default() };
    let part = fit(&params, &points, &targets);
    let from = part.checkpoint.as_ref().and_then(Checkpoint::machines).expect("the limit was reached");
    let (other, classes) = clouds(3, 20, 8);
    let sample = Sample::new(&other, &classes);
    let e = params.resume(sample, from, Exec::one(), &mut silent()).expect_err("another problem");
    assert!(e.to_string().starts_with("checkpoint: got 1 machines on 200 rows"), "{e}");
    let unlimited = SvcParams { max_iter: None, ..params };
    let sample = Sample::new(&points, &targets);
    let on = unlimited.resume(sample, from, Exec::one(), &mut silent()).expect("the same problem");
    assert!(on.checkpoint.is_none() && on.info.stop == Stop::Converged);
}
