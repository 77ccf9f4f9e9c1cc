//! Linear machines on so many rows that they are trained on the rows themselves.

use mercer::Exec;
use mercer::data::{Labels, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::{Machine, Sample, SvcParams};
use mercer::watch::{Stop, silent};
use mercer_testkit::toy;

/// Three overlapping clouds, 8400 rows each.
fn clouds() -> (Points, Targets) {
    let (n, d) = (3 * 8400, 3);
    let mut x = toy::normals(n, d, 11);
    for (i, row) in x.chunks_mut(d).enumerate() {
        row[i % 3] += 1.5;
    }
    let names = (0..n).map(|i| ["a", "b", "c"][i % 3]);
    (Points::dense(x, d).expect("whole rows"), Targets::Classes(Labels::new(names)))
}

#[test]
fn descent_closes_the_gap_between_primal_and_dual() {
    let (points, targets) = clouds();
    let c = 0.1;
    let params = SvcParams { kernel: Some(Kernel::Linear), c, tol: 1e-4, ..SvcParams::default() };
    let model = params.fit(Sample::new(&points, &targets), Exec::new(2), &mut silent()).expect("a fit");
    assert_eq!(model.info.stop, Stop::Converged);
    assert!(model.info.notes.iter().any(|n| n.contains("coordinate descent")), "{:?}", model.info.notes);
    assert_eq!(model.expansion.len(), 3, "one weight vector per machine");
    let weights = model.expansion.centres().view().to_f64().expect("numbers");
    let outputs = model.decision(points.view(), Exec::new(2)).expect("the same columns");
    let classes = targets.classes().expect("classes");
    for (m, (sides, machine)) in model.sides().iter().zip(&model.parts).enumerate() {
        let w2: f64 = weights[3 * m..3 * m + 3].iter().map(|w| w * w).sum();
        let slack: f64 = (0..classes.len())
            .filter_map(|i| {
                let sign = if classes.of_row[i] == sides.positive {
                    1.0
                } else if Some(classes.of_row[i]) == sides.negative {
                    -1.0
                } else {
                    return None;
                };
                Some((1.0 - sign * outputs[i * 3 + m]).max(0.0))
            })
            .sum();
        let (primal, dual) = (w2 / 2.0 + c * slack, -machine.objective);
        // The primal is never below the dual; at the optimum they meet.
        let gap = (primal - dual) / primal;
        assert!((-1e-9..1e-4).contains(&gap), "machine {m}: primal {primal}, dual {dual}");
        assert_eq!(machine.rows, 2 * 8400);
    }
}

/// Labels at the usual tolerance that are not those of the exact solution.
fn labels_off(points: &Points, targets: &Targets, c: f64) -> usize {
    let labels = |tol: f64| {
        let params = SvcParams { kernel: Some(Kernel::Linear), c, tol, ..SvcParams::default() };
        let model = params.fit(Sample::new(points, targets), Exec::one(), &mut silent()).expect("a fit");
        assert_eq!(model.info.stop, Stop::Converged, "C = {c}, tol = {tol}");
        model.labels(points.view(), Exec::one()).expect("the same columns").of_row
    };
    labels(1e-3).iter().zip(labels(1e-8)).filter(|(a, b)| **a != *b).count()
}

#[test]
fn labels_at_the_usual_tolerance_are_those_of_the_exact_machine() {
    let (n, d) = (600, 10);
    let mut off = 0;
    for seed in 0..4 {
        let x = toy::normals(n, d, seed);
        let noise = toy::normals(n, 1, 100 + seed);
        let names = x.chunks(d).zip(&noise).map(|(row, e)| if row[0] + row[1] + e > 0.4 { "a" } else { "b" });
        let targets = Targets::Classes(Labels::new(names));
        // Short rows and a small C make outputs far smaller than 1; long rows far from the origin, kernel values far larger.
        for (scale, shift) in [(1.0, 0.0), (0.01, 0.0), (1.0, 10.0)] {
            let rows = x.iter().map(|v| scale * v + shift).collect();
            let points = Points::dense(rows, d).expect("whole rows");
            for c in [1e-3, 1.0, 30.0] {
                off += labels_off(&points, &targets, c);
            }
        }
    }
    // A row may lie on the plane itself, to the last digit of the tolerance.
    assert!(off <= 1, "{off} labels of 36 machines differ from the exact ones");
}

/// Labels of training and fresh rows that are not those of the exact machine, over a seeded grid of made-up problems.
#[test]
fn labels_of_machines_of_many_kinds_are_those_of_the_exact_one() {
    let (mut off, mut machines) = (0, 0);
    for seed in 0..28_u64 {
        let kind = seed % 7;
        let (n, d) = ([120, 250, 400][seed as usize % 3], [2, 3, 5, 10, 20][seed as usize % 5]);
        let classes = if seed % 4 == 3 { 3 } else { 2 };
        let c = [0.01, 0.1, 1.0, 10.0, 100.0][(seed / 2) as usize % 5];
        let all = 2 * n;
        let mut x = toy::normals(all, d, seed);
        let noise = toy::normals(all, 1, 500 + seed);
        let of_row: Vec<usize> = noise
            .iter()
            .enumerate()
            .map(|(i, e)| if kind == 3 && *e > -1.4 { 0 } else { i * 7 % classes })
            .collect();
        for (row, &class) in x.chunks_mut(d).zip(&of_row) {
            // Overlapping, separable, unbalanced, correlated, badly scaled, rounded and doubled rows.
            row[class % d] += if kind == 1 { 9.0 } else { 1.2 };
            let first = row[0];
            for (j, v) in row.iter_mut().enumerate() {
                match kind {
                    2 => *v = 0.1 * *v + 0.9 * first,
                    4 => *v *= 10_f64.powi(j as i32 % 5 - 2),
                    5 => *v = v.round(),
                    _ => {}
                }
            }
        }
        if kind == 6 {
            x.copy_within(..d * (n / 2), d * (n / 2));
        }
        let names = |part: &[usize]| Targets::Classes(Labels::new(part.iter().map(|c| ["a", "b", "c"][*c])));
        let (points, targets) = (Points::dense(x[..n * d].to_vec(), d).expect("rows"), names(&of_row[..n]));
        let everything = Points::dense(x, d).expect("rows");
        let fitted = |tol: f64| {
            let params = SvcParams { kernel: Some(Kernel::Linear), c, tol, ..SvcParams::default() };
            let model =
                params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
            assert_eq!(model.info.stop, Stop::Converged, "seed {seed}, tol {tol}");
            model
        };
        let exact = fitted(1e-9);
        let labels = |model: &Machine| model.labels(everything.view(), Exec::one()).expect("columns").of_row;
        let (usual, want) = (labels(&fitted(1e-3)), labels(&exact));
        // Rounded and doubled rows with clashing labels can lie on the plane itself, where either label is right.
        let values = exact.decision(everything.view(), Exec::one()).expect("columns");
        let pairs = values.len() / all;
        let clear = |i: usize| values[i * pairs..(i + 1) * pairs].iter().all(|v| v.abs() > 2e-3);
        off += (0..all).filter(|&i| usual[i] != want[i] && clear(i)).count();
        machines += 1;
    }
    assert!(off == 0, "{off} labels of {machines} machines differ from the exact ones");
}
