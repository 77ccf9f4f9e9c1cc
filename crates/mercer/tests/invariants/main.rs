//! What must hold of every solution, whatever the method, the memory, the threads and the order of the rows.
//!
//! Everything is recomputed from scratch in f64 from the problem itself: nothing the solver says is believed.

mod common;
mod edges;
mod linear;
mod oracle;

use std::ops::ControlFlow;

use common::{every_way, holds, on_demand, one, plain, rbf, run, sums};
use mercer::Exec;
use mercer::solve::{Groups, Method, Params, Problem, Shift, solve};
use mercer::watch::{Step, Stop};
use mercer_testkit::assert::{all_close, close};
use mercer_testkit::toy::{noisy_disc, normals, uniforms};

#[test]
fn every_way_at_every_c() {
    let n = 240;
    let (x, y) = noisy_disc(n, 7);
    let k = rbf(&x, 2, 0.7);
    let rows = on_demand(k.clone(), n);
    for c in [1e-3, 1.0, 1e3, 1e6] {
        let problem = Problem::classify(&rows, &y, &vec![c; n]);
        let found = every_way(&problem, &k, 1e-3);
        let qp = plain(&problem, &k);
        // Weak duality: no feasible point lies below the bound, and the gap closes with the tolerance.
        let bound = qp.lower_bound(&found.beta);
        assert!(bound <= found.objective, "gap {:e}", found.objective - bound);
        if c <= 1e3 {
            let minimum = oracle::minimum(&qp, &[0.0]);
            assert!(bound <= minimum + 1e-6 * minimum.abs());
            close(found.objective / minimum, 1.0, 1e-4);
        }
    }
}

#[test]
fn tight_tolerances_are_reached() {
    let n = 150;
    let (x, y) = noisy_disc(n, 11);
    let k = rbf(&x, 2, 1.0);
    let rows = on_demand(k.clone(), n);
    for (c, tol) in [(1.0, 1e-9), (100.0, 1e-8), (1e4, 1e-6)] {
        for method in [Method::Smo, Method::WorkingSet, Method::Chunking] {
            let problem = Problem::classify(&rows, &y, &vec![c; n]);
            let found = run(&problem, &Params { method, ..one(tol) });
            holds(&problem, &k, &found, tol);
            if c == 1.0 {
                let qp = plain(&problem, &k);
                close(found.objective, oracle::minimum(&qp, &[0.0]), 1e-7);
                let slow = qp.objective(&qp.solve(&vec![0.0; n], 3000));
                close(found.objective, slow, 1e-7);
            }
        }
    }
}

#[test]
fn regression_has_two_sides_on_one_row() {
    let n = 120;
    let x = normals(n, 1, 5);
    let noise = normals(n, 1, 6);
    let y: Vec<f64> = x.iter().zip(&noise).map(|(v, e)| v.sin() + 0.1 * e).collect();
    let k = rbf(&x, 1, 1.0);
    let rows = on_demand(k.clone(), n);
    for c in [0.01, 1.0, 100.0] {
        let mut problem = Problem::regress(&rows, &y, 0.05, &vec![c; n]);
        let found = every_way(&problem, &k, 1e-3);
        close(found.objective / oracle::minimum(&plain(&problem, &k), &[0.0]), 1.0, 1e-3);
        for r in 0..n {
            assert_eq!(found.beta[r] * found.beta[n + r], 0.0, "both sides of row {r} at work");
        }
        // Rows outside the tube are at the bound.
        let offset = -found.thresholds[0].value();
        let out = (0..n).filter(|&r| (found.output[r] + offset - y[r]).abs() > 0.052).count();
        let full = (0..n).filter(|&r| (found.beta[r] + found.beta[n + r]).abs() == c).count();
        assert!(out <= full, "{out} rows outside the tube, {full} at the bound");

        // Huber's loss: the same with a ridge on the diagonal.
        problem.shift = Shift::Same(0.3);
        let found = every_way(&problem, &k, 1e-3);
        close(found.objective / oracle::minimum(&plain(&problem, &k), &[0.0]), 1.0, 1e-3);
    }
}

#[test]
fn squared_slack_is_a_shift() {
    let n = 150;
    let (x, y) = noisy_disc(n, 21);
    let k = rbf(&x, 2, 0.5);
    let rows = on_demand(k.clone(), n);
    let weights = uniforms(n, 1, 0.1, 2.0, 3);
    for c in [1e-2, 1.0, 1e3] {
        let mut problem = Problem::classify(&rows, &y, &vec![f64::INFINITY; n]);
        problem.shift = Shift::Each(weights.iter().map(|w| 1.0 / (c * w)).collect());
        let found = every_way(&problem, &k, 1e-3);
        assert!(found.unbounded.is_none());
        close(found.objective / oracle::minimum(&plain(&problem, &k), &[0.0]), 1.0, 1e-3);
    }
}

#[test]
fn two_groups_keep_their_sums() {
    let n = 160;
    let (x, y) = noisy_disc(n, 3);
    let k = rbf(&x, 2, 0.5);
    let rows = on_demand(k.clone(), n);
    // nu-classification: each class's weights have their own sum, and no linear term.
    let mut problem = Problem::classify(&rows, &y, &vec![1.0; n]);
    problem.linear = vec![0.0; n];
    problem.groups = Groups::ByRow(y.iter().map(|&y| u8::from(y > 0.0)).collect());
    problem.start_at_sums(&[-30.0, 30.0]).expect("feasible");
    let found = every_way(&problem, &k, 1e-5);
    assert_eq!(found.thresholds.len(), 2);
    let qp = plain(&problem, &k);
    close(found.objective / oracle::minimum(&qp, &sums(&problem, &qp)), 1.0, 1e-3);

    // nu-regression: one for each side.
    let mut problem = Problem::regress(&rows, &x[..n], 0.0, &vec![1.0; n]);
    problem.groups = Groups::BySide;
    problem.start_at_sums(&[25.0, -25.0]).expect("feasible");
    let found = every_way(&problem, &k, 1e-5);
    let qp = plain(&problem, &k);
    close(found.objective / oracle::minimum(&qp, &sums(&problem, &qp)), 1.0, 1e-3);
}

#[test]
fn one_class_and_the_smallest_sphere() {
    let n = 200;
    let x = normals(n, 2, 9);
    let k: Vec<f64> =
        mercer_testkit::reference::gram(&x, &x, 2, |a, b| (a[0] * b[0] + a[1] * b[1] + 1.0).powi(2));
    let rows = on_demand(k.clone(), n);
    let diag: Vec<f64> = (0..n).map(|i| k[i * n + i]).collect();
    for (nu, sphere) in [(0.05, false), (0.5, false), (0.1, true), (1.0 / n as f64, true)] {
        let mut problem = Problem {
            rows: &rows,
            linear: if sphere { diag.iter().map(|d| -d / 2.0).collect() } else { vec![0.0; n] },
            lower: vec![0.0; n],
            upper: vec![1.0 / (nu * n as f64); n],
            groups: Groups::One,
            shift: Shift::None,
            start: None,
        };
        problem.start_at_sums(&[1.0]).expect("feasible");
        let found = every_way(&problem, &k, 1e-3);
        let qp = plain(&problem, &k);
        close(found.objective, oracle::minimum(&qp, &[1.0]), 2e-3);
        let full = found.beta.iter().filter(|&&b| b == problem.upper[0]).count();
        let some = found.beta.iter().filter(|&&b| b > 0.0).count();
        assert!(full as f64 <= nu * n as f64 + 1e-9 && some as f64 >= nu * n as f64 - 1e-9);
    }
}

#[test]
fn the_order_of_rows_changes_nothing() {
    let n = 200;
    let (x, y) = noisy_disc(n, 31);
    let k = rbf(&x, 2, 0.7);
    // Sorted by class is the worst order there is.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| y[a].total_cmp(&y[b]).then(x[2 * a].total_cmp(&x[2 * b])));
    let sorted: Vec<f64> =
        order.iter().flat_map(|&i| order.iter().map(move |&j| (i, j))).map(|(i, j)| k[i * n + j]).collect();
    let labels: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    let (one_way, other) = (on_demand(k, n), on_demand(sorted.clone(), n));
    for c in [1e-3, 1.0, 1e6] {
        for method in [Method::Smo, Method::WorkingSet] {
            let params = Params { method, ..one(1e-3) };
            let a = run(&Problem::classify(&one_way, &y, &vec![c; n]), &params);
            let problem = Problem::classify(&other, &labels, &vec![c; n]);
            let b = run(&problem, &params);
            holds(&problem, &sorted, &b, 1e-3);
            close(a.objective / b.objective, 1.0, 1e-4);
            let output: Vec<f64> = order.iter().map(|&i| a.output[i]).collect();
            if c < 1e3 {
                all_close(&b.output, &output, 1e-2);
            }
        }
    }
}

#[test]
fn the_same_bits_again_and_on_any_number_of_threads() {
    let n = 700;
    let (x, y) = noisy_disc(n, 13);
    let rows = on_demand(rbf(&x, 2, 2.0), n);
    let problem = Problem::classify(&rows, &y, &vec![10.0; n]);
    for method in [Method::Smo, Method::WorkingSet] {
        let solved =
            |threads| run(&problem, &Params { method, exec: Exec::new(threads), ..Params::default() });
        let first = solved(2);
        assert_eq!(first.beta, solved(2).beta);
        // Sums are cut by columns, never by rows: threads change no bit here.
        assert_eq!(first.beta, solved(1).beta);
    }
}

#[test]
fn any_feasible_start_ends_at_the_same_place() {
    let n = 150;
    let (x, y) = noisy_disc(n, 17);
    let k = rbf(&x, 2, 0.7);
    let rows = on_demand(k.clone(), n);
    let mut problem = Problem::classify(&rows, &y, &vec![5.0; n]);
    let cold = run(&problem, &one(1e-4));
    // Random weights, the heavier class scaled down to balance.
    let weights = uniforms(n, 1, 0.0, 5.0, 1);
    let of = |sign: f64| y.iter().zip(&weights).filter(|(y, _)| **y == sign).map(|(_, w)| w).sum::<f64>();
    let (plus, minus) = (of(1.0), of(-1.0));
    let scale = |y: f64| if y > 0.0 { plus.min(minus) / plus } else { plus.min(minus) / minus };
    problem.start = Some(y.iter().zip(&weights).map(|(&y, w)| y * w * scale(y)).collect());
    for method in [Method::Smo, Method::WorkingSet, Method::Chunking] {
        let warm = run(&problem, &Params { method, ..one(1e-4) });
        holds(&problem, &k, &warm, 1e-4);
        close(warm.objective / cold.objective, 1.0, 1e-5);
    }
    // From the solution itself there is nothing to do.
    problem.start = Some(cold.beta.clone());
    let again = run(&problem, &one(1.01e-4));
    assert_eq!((again.info.iterations, again.beta), (0, cold.beta));
}

#[test]
fn what_was_cancelled_goes_on_to_the_same_solution() {
    let n = 600;
    let (x, y) = noisy_disc(n, 23);
    let k = rbf(&x, 2, 3.0);
    let rows = on_demand(k.clone(), n);
    for method in [Method::Smo, Method::WorkingSet, Method::Chunking] {
        let params = Params { method, ..one(1e-3) };
        let mut problem = Problem::classify(&rows, &y, &vec![100.0; n]);
        let whole = run(&problem, &params);
        let mut cancels = 0;
        let resumed = loop {
            let mut calls = 0;
            let mut watch = |step: &Step| {
                assert!(step.gap.is_some_and(|gap| gap >= 0.0));
                calls += 1;
                if calls > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let found = solve(&problem, &params, &mut watch).expect("a problem");
            if found.info.stop == Stop::Converged {
                break found;
            }
            assert_eq!(found.info.stop, Stop::Cancelled);
            cancels += 1;
            assert!(cancels < 1000, "no progress between cancels");
            problem.start = Some(found.beta);
        };
        assert!(cancels > 0);
        holds(&problem, &k, &resumed, 1e-3);
        close(resumed.objective / whole.objective, 1.0, 1e-4);
    }
}

#[test]
fn a_limit_is_told_and_what_there_was_is_feasible() {
    let n = 300;
    let (x, y) = noisy_disc(n, 29);
    let rows = on_demand(rbf(&x, 2, 1.0), n);
    let problem = Problem::classify(&rows, &y, &vec![10.0; n]);
    for method in [Method::Smo, Method::WorkingSet, Method::Chunking] {
        let found = run(&problem, &Params { method, max_iter: Some(50), ..Params::default() });
        assert_eq!((found.info.stop, found.info.iterations), (Stop::Limit, 50));
        assert!(found.objective < 0.0 && found.info.gap > 1e-3);
        close(found.beta.iter().sum(), 0.0, 1e-10);
    }
}
