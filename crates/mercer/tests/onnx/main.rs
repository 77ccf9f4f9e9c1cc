//! Models as ONNX files, run by onnxruntime: labels, decisions and probabilities as here, over kernels and learners.
//!
//! `./test` makes the Python environment; where there is none, the tests that need it say so.

#![expect(clippy::print_stderr, reason = "a test that finds no onnxruntime says so")]

use std::path::{Path, PathBuf};
use std::process::Command;

use mercer::Exec;
use mercer::data::{Labels, Points, Recipe, Stages, Targets};
use mercer::kernel::Kernel;
use mercer::model::svc::{Multi, Ties};
use mercer::model::{
    CompressParams, Model, OneClassParams, RidgeParams, Sample, SphereParams, SvcParams, SvrParams, onnx,
};
use mercer::watch::silent;
use mercer_testkit::toy;
use serde_json::Value;

/// Kernels that ONNX's own operators know, and others. All are fine on points without negative values.
const KERNELS: [&str; 18] = [
    "linear",
    "poly(degree=3, scale=0.3, coef0=1)",
    "rbf(gamma=0.7)",
    "sigmoid(scale=0.05, shift=-0.5)",
    "2*rbf(gamma=0.3)",
    "laplacian(gamma=0.4)",
    "inverse_multiquadric(c=1.5)",
    "radial_power(power=-0.7)",
    "ard(gammas=[0.5, 0.1, 1, 0])",
    "chi2(gamma=0.6)",
    "additive_chi2",
    "0.5*rbf(gamma=1) + linear",
    "rbf(gamma=0.2) * poly(degree=2, scale=0.3, coef0=1)",
    "linear^2",
    "normalised(poly(degree=2, scale=1, coef0=0.5))",
    "normalised(linear) + laplacian(gamma=0.1)",
    "columns(from=1, to=3, rbf(gamma=1))",
    "-1*multiquadric(c=0.7)",
];

fn python() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/.venv/bin/python");
    if !here.exists() {
        eprintln!("there is no {}; ./test makes it, with onnxruntime", here.display());
        return None;
    }
    Some(here)
}

/// Rows that f32 holds exactly, none negative: what goes in is the same on both sides.
fn points(n: usize, seed: u64) -> Points {
    let values =
        toy::uniforms(n, 4, 0.0, 2.0, seed).into_iter().map(|v| f64::from((v * 64.0).round() as f32 / 64.0));
    Points::dense(values.collect(), 4).expect("whole rows")
}

fn reals(points: &Points) -> Targets {
    let values = points.view().to_f64().expect("numbers");
    Targets::Reals(values.chunks(4).map(|r| r[0] - r[1] * r[2] + (3.0 * r[3]).sin()).collect())
}

/// So many classes, named in this way.
fn classes(points: &Points, k: usize, name: impl Fn(usize) -> String) -> Targets {
    let values = points.view().to_f64().expect("numbers");
    let class = |r: &[f64]| ((r[0] + r[1] * r[1] + 0.3 * (5.0 * r[2]).sin()) * 0.4 * k as f64) as usize % k;
    Targets::Classes(Labels::new(values.chunks(4).map(|r| name(class(r)))))
}

/// Models to be asked, by name.
struct Cases {
    folder: tempfile::TempDir,
    list: Vec<(String, Model, Points)>,
    /// How many of them are written with ONNX's own support vector operators.
    standard: usize,
}

impl Cases {
    fn new() -> Self {
        Cases { folder: tempfile::tempdir().expect("a temporary folder"), list: Vec::new(), standard: 0 }
    }

    fn add(&mut self, name: &str, model: Model, test: &Points) {
        let bytes = onnx::write(&model).unwrap_or_else(|e| panic!("{name}: {e}"));
        self.standard += usize::from(bytes.windows(4).any(|w| w == b"SVMC" || w == b"SVMR"));
        let stem = format!("{:03} {}", self.list.len(), name.replace(['/', '*'], "."));
        let rows: Vec<Vec<f64>> =
            test.view().to_f64().expect("numbers").chunks(4).map(<[f64]>::to_vec).collect();
        std::fs::write(self.folder.path().join(format!("{stem}.onnx")), bytes).expect("a file");
        std::fs::write(self.folder.path().join(format!("{stem}.json")), serde_json::json!(rows).to_string())
            .expect("a file");
        self.list.push((stem, model, test.clone()));
    }

    /// Runs all of them and compares.
    fn check(&self) {
        let Some(python) = python() else { return };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/run.py");
        let output =
            Command::new(python).arg(script).arg(self.folder.path()).output().expect("python starts");
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{log}");
        let answers: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for (stem, model, test) in &self.list {
            compare(stem, model, test, &answers[stem.as_str()]);
        }
    }
}

fn numbers(answers: &Value, name: &str) -> Vec<f64> {
    let list = answers[name].as_array().unwrap_or_else(|| panic!("no output {name}"));
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// Within 1e-5 of the larger of 1 and the value: what is printed is f32.
fn near(what: &str, got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= 1e-5 * w.abs().max(1.0), "{what}, value {i}: got {g}, wanted {w}");
    }
}

fn compare(stem: &str, model: &Model, test: &Points, answers: &Value) {
    let exec = Exec::one();
    let decision = model.decision(test.view(), exec).expect("points fit");
    let Targets::Classes(labels) = model.predict(test.view(), exec).expect("points fit") else {
        near(stem, &numbers(answers, "prediction"), &decision);
        return;
    };
    near(stem, &numbers(answers, "decision"), &decision);
    assert_eq!(answers["shapes"]["decision"], serde_json::json!([test.len(), model.outputs()]), "{stem}");
    let told: Vec<String> = answers["label"]
        .as_array()
        .expect("labels")
        .iter()
        .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
        .collect();
    // A point that lies on a border as far as f32 can tell may fall to either side.
    let close: Vec<bool> =
        decision.chunks(model.outputs()).map(|f| f.iter().any(|v| v.abs() < 1e-5)).collect();
    assert!(close.iter().filter(|c| **c).count() * 50 <= test.len(), "{stem}: nearly all on the border");
    for (i, got) in told.iter().enumerate().filter(|(i, _)| !close[*i]) {
        assert_eq!(
            got,
            labels.name_of(i),
            "{stem}, row {i}, outputs {:?}",
            &decision[i * model.outputs()..][..model.outputs()]
        );
    }
    if let Ok(p) = model.probabilities(test.view(), exec) {
        near(&format!("{stem}, probabilities"), &numbers(answers, "probability"), &p.values);
    } else {
        assert!(answers["probability"].is_null(), "{stem}");
    }
}

fn svc(points: &Points, targets: &Targets, params: &SvcParams) -> Model {
    let sample = Sample::new(points, targets);
    Model::from(params.fit(sample, Exec::one(), &mut silent()).expect("a fit"))
}

#[test]
fn every_kernel_under_every_learner() {
    let (train, test) = (points(60, 1), points(40, 2));
    let (two, three) = (classes(&train, 2, |c| format!("c{c}")), classes(&train, 3, |c| (c + 7).to_string()));
    let targets = reals(&train);
    let sample = Sample::new(&train, &targets);
    let exec = Exec::one();
    let mut cases = Cases::new();
    for line in KERNELS {
        let kernel = Some(Kernel::parse(line).expect(line));
        let params = SvcParams { kernel: kernel.clone(), ..SvcParams::default() };
        cases.add(&format!("svc 2 {line}"), svc(&train, &two, &params), &test);
        cases.add(&format!("svc 3 {line}"), svc(&train, &three, &params), &test);
        let rest = SvcParams { multi: Multi::OneVsRest, ..params };
        cases.add(&format!("svc rest {line}"), svc(&train, &three, &rest), &test);
        let svr =
            SvrParams { kernel: kernel.clone(), ..SvrParams::default() }.fit(sample, exec, &mut silent());
        cases.add(&format!("svr {line}"), Model::from(svr.expect("a fit")), &test);
        let ridge = RidgeParams { kernel: kernel.clone(), ..RidgeParams::default() };
        if let Ok(ridge) = ridge.fit(sample, exec, &mut silent()) {
            cases.add(&format!("ridge {line}"), Model::from(ridge), &test);
        }
        let one = OneClassParams { kernel: kernel.clone(), nu: 0.3, ..OneClassParams::default() };
        let one = one.fit(sample, exec, &mut silent()).expect("a fit");
        cases.add(&format!("one {line}"), Model::from(one), &test);
        let sphere = SphereParams { kernel, nu: 0.3, ..SphereParams::default() };
        let sphere = sphere.fit(sample, exec, &mut silent()).expect("a fit");
        cases.add(&format!("sphere {line}"), Model::from(sphere), &test);
    }
    assert!(cases.standard >= 12, "{} of {} by standard operators", cases.standard, cases.list.len());
    cases.check();
}

#[test]
fn compressed_models_are_models_like_any_other() {
    let (train, test) = (points(150, 5), points(40, 6));
    let targets = classes(&train, 3, |c| c.to_string());
    let data = mercer::data::Dataset::new(train, targets).expect("fits");
    let mut cases = Cases::new();
    for (multi, by_class, line) in [
        (Multi::OneVsRest, false, "rbf(gamma=0.5)"),
        (Multi::OneVsOne, false, "rbf(gamma=0.5)"),
        (Multi::OneVsOne, true, "rbf(gamma=0.5)"),
        (Multi::OneVsRest, false, "poly(degree=3, coef0=1)"),
    ] {
        let params =
            SvcParams { kernel: Some(Kernel::parse(line).expect(line)), multi, ..SvcParams::default() };
        let whole = svc(&data.points, &data.targets, &params);
        let params = CompressParams { by_class, ..CompressParams::default() };
        let small = whole.compress(&params, Some(&data), Exec::one(), &mut silent()).expect("smaller").model;
        cases.add(&format!("{multi:?} {by_class} {line}"), small, &test);
    }
    cases.check();
}

#[test]
fn probabilities_ties_and_large_coefficients() {
    let (train, test) = (points(150, 3), points(60, 4));
    let mut cases = Cases::new();
    for k in [2, 3, 5] {
        for (multi, ties) in
            [(Multi::OneVsOne, Ties::First), (Multi::OneVsOne, Ties::Sum), (Multi::OneVsRest, Ties::First)]
        {
            for (c, line) in [
                (1.0, "rbf(gamma=0.5)"),
                (1e4, "rbf(gamma=0.5)"),
                (1.0, "linear"),
                (1.0, "laplacian(gamma=1)"),
            ] {
                let kernel = Some(Kernel::parse(line).expect(line));
                let params = SvcParams { kernel, c, multi, ties, probability: true, ..SvcParams::default() };
                let names = |c: usize| if k == 5 { format!("class {c}") } else { (c as i64 - 1).to_string() };
                let model = svc(&train, &classes(&train, k, names), &params);
                cases.add(&format!("{k} {multi:?} {ties:?} {c} {line}"), model, &test);
            }
        }
    }
    // A least-squares machine for several classes has an output a class.
    let (targets, sample_points) = (classes(&train, 4, |c| c.to_string()), &train);
    let ridge = RidgeParams::default().fit(Sample::new(sample_points, &targets), Exec::one(), &mut silent());
    cases.add("ridge 4", Model::from(ridge.expect("a fit")), &test);
    cases.check();
}

#[test]
fn stages_are_part_of_the_file() {
    let (train, test) = (points(60, 5), points(40, 6));
    let targets = classes(&train, 3, |c| c.to_string());
    let mut cases = Cases::new();
    for line in [
        "scale(0.5, -1)",
        "minmax(-1, 1)",
        "standard",
        "unit",
        "power(0.5)",
        "minmax(0, 1) | power(2) | unit",
    ] {
        let recipes = Stages::parse(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let (stages, seen) = Stages::fit(&recipes, train.view(), Exec::one()).expect("fits");
        let model = svc(&seen, &targets, &SvcParams { probability: true, ..SvcParams::default() });
        cases.add(line, Model { stages, ..model }, &test);
    }
    let matrix: Vec<f64> = toy::normals(3, 4, 7);
    let linear = mercer::data::Stage::linear(matrix, 4, Some(vec![0.5, 0.0, -1.0])).expect("three rows");
    let seen = linear.apply(train.view(), Exec::one()).expect("fits");
    let model = svc(&seen, &targets, &SvcParams::default());
    cases.add("linear", Model { stages: Stages { list: vec![linear] }, ..model }, &test);
    cases.check();
}

#[test]
fn standard_operators_are_used_where_they_are_fine() {
    let train = points(60, 8);
    let targets = classes(&train, 3, |c| c.to_string());
    let has = |model: &Model, what: &str| {
        let bytes = onnx::write(model).expect("a file");
        bytes.windows(what.len()).any(|w| w == what.as_bytes())
    };
    let fit = |params: SvcParams| svc(&train, &targets, &params);
    assert!(has(&fit(SvcParams::default()), "SVMClassifier"));
    // Against the rest there is no such operator; with coefficients of thousands f32 would not do.
    assert!(!has(&fit(SvcParams { multi: Multi::OneVsRest, ..SvcParams::default() }), "SVMClassifier"));
    assert!(!has(&fit(SvcParams { c: 1e6, ..SvcParams::default() }), "SVMClassifier"));
    let real = reals(&train);
    let svr =
        SvrParams::default().fit(Sample::new(&train, &real), Exec::one(), &mut silent()).expect("a fit");
    assert!(has(&Model::from(svr), "SVMRegressor"));
}

#[test]
fn what_cannot_be_written_is_refused_with_words() {
    let train = points(40, 9);
    let targets = classes(&train, 2, |c| c.to_string());
    let refused = |model: &Model| onnx::write(model).expect_err("not expressible").to_string();
    let kernel = Kernel::parse("bspline(order=1, width=1)").expect("a kernel");
    let model = svc(&train, &targets, &SvcParams { kernel: Some(kernel), ..SvcParams::default() });
    let message = refused(&model);
    assert!(message.contains("bspline") && message.contains("laplacian"), "{message}");
    let images = train.clone().with_image(mercer::data::ImageShape::grey(2, 2)).expect("four pixels");
    let smooth =
        Recipe::parse("smooth(0.8)").expect("a stage").fit(images.view(), mercer::Exec::one()).expect("fits");
    let model = svc(&train, &targets, &SvcParams::default());
    let message = refused(&Model { stages: Stages { list: vec![smooth] }, ..model });
    assert!(message.contains("smooth") && message.contains("minmax"), "{message}");
}
