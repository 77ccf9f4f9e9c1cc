//! Centres that stay ready between calls change no output, and a point among few has the outputs it has alone.

use mercer::Exec;
use mercer::data::{Csr, ImageShape, Labels, Points, Stages, Targets, toy};
use mercer::exec::FEW;
use mercer::expansion::{Expansion, Precision};
use mercer::kernel::{Form, Kernel, Takes};
use mercer::model::{KpcaParams, Learner, Model, Query, Sample, SvcParams, Task};
use mercer::watch::silent;

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// The same rows as f64, as f32 and sparse.
fn kinds(points: &Points) -> [Points; 3] {
    let (x, d) = (points.view().to_f64().expect("numbers"), points.dim());
    let single = Points::dense_f32(x.iter().map(|v| *v as f32).collect(), d).expect("whole rows");
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    for row in x.chunks(d) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(*v);
        }
        csr.start.push(csr.column.len());
    }
    [points.clone(), single, Points::sparse(csr, d).expect("rows")]
}

/// Few rows and many, by `evaluate`, of which one is prepared: all the same, and few rows as each alone.
fn compare(
    name: &str,
    points: &Points,
    plain: impl Fn(&Points) -> Vec<f64>,
    ready: impl Fn(&Points) -> Vec<f64>,
) {
    assert!(points.len() > FEW);
    let some = points.gather(&(0..FEW).collect::<Vec<_>>());
    // Twice: what is kept is made by the first call.
    for _ in 0..2 {
        assert_eq!(bits(&ready(points)), bits(&plain(points)), "{name}: many rows");
        assert_eq!(bits(&ready(&some)), bits(&plain(&some)), "{name}: few rows");
    }
    let alone: Vec<f64> = (0..some.len()).flat_map(|i| ready(&some.gather(&[i]))).collect();
    assert_eq!(bits(&alone), bits(&ready(&some)), "{name}: each row alone");
}

#[test]
fn every_learner_predicts_the_same_prepared_and_row_by_row() {
    for entry in Learner::ALL.iter().filter(|entry| entry.name != "hard-margin") {
        for &task in entry.tasks {
            let (points, targets) = match task {
                Task::Regression => toy::sinc(60, 3),
                Task::Classification => toy::three_clusters(60, 3),
                _ => (toy::three_clusters(60, 3).0, Targets::None),
            };
            let mut learner = entry.learner();
            learner.set_kernel(Kernel::Rbf { gamma: 0.8 });
            if learner.entry().takes("rounds") {
                learner.set("rounds", 15.into()).expect("a number");
            }
            let name = format!("{} to {}", entry.name, task.verb());
            let fitted = learner.fit(Sample::new(&points, &targets), Exec::one(), &mut silent());
            let model = Model::from(fitted.unwrap_or_else(|e| panic!("{name}: {e}")));
            let ready = model.clone().prepared();
            assert_eq!(ready, model, "{name}");
            for rows in kinds(&points) {
                let decision =
                    |model: &Model, rows: &Points| model.decision(rows.view(), Exec::one()).expect(&name);
                compare(&name, &rows, |rows| decision(&model, rows), |rows| decision(&ready, rows));
                let query = Query { decision: true, ..Query::default() };
                let query =
                    if task == Task::Features { Query { predictions: false, ..query } } else { query };
                let all = |model: &Model| model.predict_rows(rows.view(), &query, Exec::one()).expect(&name);
                assert_eq!(all(&ready), all(&model), "{name}");
            }
        }
    }
}

#[test]
fn every_kernel_on_numbers_does_too() {
    let normals = Points::dense(mercer_testkit::toy::normals(70, 5, 5).iter().map(|v| v.abs()).collect(), 5);
    let normals = normals.expect("whole rows");
    // Pixels, but for one row that is not on their grid.
    let mut pixels: Vec<f64> = (0..70 * 5).map(|i| f64::from(i * i % 251)).collect();
    let on_grid = Points::dense(pixels.clone(), 5).expect("whole rows");
    pixels[8] = 0.37;
    let off_grid = Points::dense(pixels, 5).expect("whole rows");
    let mut seen = 0;
    let numbers = Kernel::ALL.iter().filter(|entry| entry.takes != Takes::Sequences);
    for kernel in numbers.flat_map(|entry| entry.examples) {
        let kernel = Kernel::parse(kernel).expect("an example");
        if kernel.form() == Form::Precomputed {
            continue;
        }
        for (set, points) in [("normal", &normals), ("pixels", &on_grid), ("off grid", &off_grid)] {
            let coef: Vec<f64> = (0..2 * points.len()).map(|i| f64::from(i as u32 % 7) - 3.1).collect();
            let centres = if set == "off grid" { &on_grid } else { points };
            let Ok(f) = Expansion::new(kernel.clone(), centres.clone(), coef, vec![0.5, 0.0]) else {
                continue;
            };
            let ready = f.clone().prepared();
            for precision in [Precision::F32, Precision::F64] {
                for rows in kinds(points) {
                    let name = format!("{kernel}, {set}, {precision:?}");
                    let value =
                        |f: &Expansion, rows: &Points| f.evaluate_in(rows.view(), precision, Exec::one());
                    if value(&f, &rows).is_err() {
                        assert!(value(&ready, &rows).is_err(), "{name}");
                        continue;
                    }
                    let value = |f: &Expansion, rows: &Points| value(f, rows).expect("as before");
                    compare(&name, &rows, |rows| value(&f, rows), |rows| value(&ready, rows));
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 150, "{seen} combinations");
}

#[test]
fn stages_do_too() {
    let shape = ImageShape::grey(4, 4);
    let x: Vec<f64> = mercer_testkit::toy::normals(60, 16, 2);
    let points = Points::dense(x, 16).expect("rows").with_image(shape).expect("images");
    let labels = Targets::Classes(Labels::new((0..60).map(|i| if i % 3 == 0 { "a" } else { "b" })));
    for line in
        ["standard", "unit | minmax(-1, 1)", "smooth(0.75) | power(2)", "invariant", "invariant(drop=3)"]
    {
        let recipes = Stages::parse(line).expect(line);
        let (stages, fitted) = Stages::fit(&recipes, points.view(), Exec::one()).expect(line);
        let svc = SvcParams { kernel: Some(Kernel::Rbf { gamma: 0.1 }), ..SvcParams::default() };
        let svc = svc.fit(Sample::new(&fitted, &labels), Exec::one(), &mut silent()).expect(line);
        let model = Model { stages, ..Model::from(svc) };
        let ready = model.clone().prepared();
        let decision = |model: &Model, rows: &Points| model.decision(rows.view(), Exec::one()).expect(line);
        compare(line, &points, |rows| decision(&model, rows), |rows| decision(&ready, rows));
    }
}

#[test]
fn layers_and_threads_do_too_and_other_columns_are_refused() {
    let (points, targets) = toy::three_clusters(60, 3);
    let kpca = KpcaParams { components: Some(2), ..KpcaParams::default() };
    let kpca = kpca.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("components");
    let seen = Points::dense(kpca.decision(points.view(), Exec::one()).expect("features"), 2).expect("rows");
    let labels = Targets::Classes(Labels::new((0..60).map(|i| if i % 3 == 0 { "a" } else { "b" })));
    let svc = SvcParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), ..SvcParams::default() };
    let svc = svc.fit(Sample::new(&seen, &labels), Exec::one(), &mut silent()).expect("a fit");
    let layer = kpca.components().expect("features").layer().expect("an expansion");
    let model = Model::from(svc).behind(layer).expect("as many columns");
    let ready = model.clone().prepared();
    for threads in [1, 2] {
        let decision =
            |model: &Model, rows: &Points| model.decision(rows.view(), Exec::new(threads)).expect("rows");
        compare("layers", &points, |rows| decision(&model, rows), |rows| decision(&ready, rows));
    }
    let wide = Points::dense(vec![0.0; 9], 3).expect("rows");
    let (a, b) = (model.decision(wide.view(), Exec::one()), ready.decision(wide.view(), Exec::one()));
    assert_eq!(a.expect_err("three columns").to_string(), b.expect_err("three columns").to_string());
}
