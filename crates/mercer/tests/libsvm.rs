//! Models in LIBSVM's format: against its own `svm-train` and `svm-predict` where they are installed, and against its
//! documented layout, written down here a second time, everywhere.

#![expect(clippy::print_stderr, reason = "a test that finds no LIBSVM says so")]

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use mercer::Par;
use mercer::data::stage::Recipe;
use mercer::data::{Csr, Labels, Points, Row, Stages, Targets};
use mercer::gram::Matrix;
use mercer::kernel::Kernel;
use mercer::model::svc::{Kind, Multi};
use mercer::model::{
    Body, Loss, Model, OneClassParams, RidgeParams, Sample, SphereParams, SvcParams, SvrParams,
};
use mercer::watch::silent;
use mercer_testkit::{assert, toy};
use proptest::prelude::*;

/// LIBSVM's command, or a note that there is none.
fn installed() -> bool {
    let there = ["svm-train", "svm-predict"].iter().all(|c| Command::new(c).output().is_ok());
    if !there {
        eprintln!(
            "LIBSVM's svm-train and svm-predict are not here (Debian: libsvm-tools); ./test installs them"
        );
    }
    there
}

fn run(folder: &Path, command: &str, args: &[&str]) -> String {
    let out = Command::new(command).args(args).current_dir(folder).output().expect("installed");
    assert!(out.status.success(), "{command} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// Writes rows as LIBSVM's data, one target each.
fn write_data(path: &Path, targets: &[f64], x: &[f64], d: usize) {
    let mut text = String::new();
    for (y, row) in targets.iter().zip(x.chunks(d)) {
        write!(text, "{y}").expect("room");
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            write!(text, " {}:{v}", j + 1).expect("room");
        }
        text.push('\n');
    }
    std::fs::write(path, text).expect("written");
}

/// Rows of kernel values as LIBSVM's data for its precomputed kernel.
fn write_values(path: &Path, targets: &[f64], k: &[f64], n: usize) {
    let mut text = String::new();
    for (i, (y, row)) in targets.iter().zip(k.chunks(n)).enumerate() {
        write!(text, "{y} 0:{}", i + 1).expect("room");
        row.iter().enumerate().for_each(|(j, v)| write!(text, " {}:{v}", j + 1).expect("room"));
        text.push('\n');
    }
    std::fs::write(path, text).expect("written");
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|w| w.parse().expect("a number")).collect()
}

/// What `svm-predict` makes of `test` with a model's text.
fn predicted(folder: &Path, text: &str) -> Vec<f64> {
    std::fs::write(folder.join("model"), text).expect("written");
    run(folder, "svm-predict", &["test", "model", "out"]);
    numbers(&std::fs::read_to_string(folder.join("out")).expect("there"))
}

/// A model of LIBSVM's as a list of regressions, one for each of its decision values: this is how its layout is read
/// here, and `svm-predict` prints decision values of nothing else.
fn as_regressions(text: &str) -> Vec<String> {
    let (head, body) = text.split_once("SV\n").expect("support vectors");
    let header: HashMap<&str, &str> = head.lines().filter_map(|l| l.split_once(' ')).collect();
    let rho: Vec<&str> = header["rho"].split_whitespace().collect();
    let kernel: String = head
        .lines()
        .filter(|l| ["kernel_type", "degree", "gamma", "coef0"].iter().any(|k| l.starts_with(k)))
        .fold(String::new(), |all, line| all + line + "\n");
    let k: usize = header["nr_class"].parse().expect("a number");
    let counts: Vec<usize> = match header.get("nr_sv") {
        Some(counts) => counts.split_whitespace().map(|c| c.parse().expect("a number")).collect(),
        None => vec![body.lines().count(), 0],
    };
    let class_of: Vec<usize> = counts.iter().enumerate().flat_map(|(c, &n)| vec![c; n]).collect();
    let mut out = Vec::new();
    for i in 0..k {
        for j in i + 1..k {
            let mut lines = String::new();
            let mut total = 0;
            for (line, &class) in body.lines().zip(&class_of) {
                let words: Vec<&str> = line.split_whitespace().collect();
                let coef = match class {
                    c if c == i => words[j - 1],
                    c if c == j => words[i],
                    _ => continue,
                };
                total += 1;
                writeln!(lines, "{coef} {} ", words[k - 1..].join(" ")).expect("room");
            }
            let p = out.len();
            out.push(format!(
                "svm_type epsilon_svr\n{kernel}nr_class 2\ntotal_sv {total}\nrho {}\nSV\n{lines}",
                rho[p]
            ));
        }
    }
    out
}

/// Our outputs in LIBSVM's order of pairs and with its signs.
fn in_their_order(model: &Model, text: &str, f: &[f64]) -> Vec<Vec<f64>> {
    let Some(line) = text.lines().find_map(|l| l.strip_prefix("label ")) else { return vec![f.to_vec()] };
    let classes = model.classes();
    let place: Vec<usize> = line
        .split_whitespace()
        .map(|l| classes.iter().position(|c| c == l).expect("a class of ours"))
        .collect();
    let k = place.len();
    let machines = k * (k - 1) / 2;
    let ours: Vec<(usize, usize)> = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).collect();
    let mut out = Vec::new();
    for i in 0..k {
        for j in i + 1..k {
            let pair = (place[i].min(place[j]), place[i].max(place[j]));
            let q = ours.iter().position(|p| *p == pair).expect("a pair");
            let sign = if place[i] > place[j] { 1.0 } else { -1.0 };
            out.push(f.iter().skip(q).step_by(machines).map(|v| sign * v).collect());
        }
    }
    out
}

struct Data {
    x: Vec<f64>,
    d: usize,
    reals: Vec<f64>,
    classes: Vec<f64>,
}

/// Rows with some zeros, a number and one of four classes each; class numbers in no order.
fn data(n: usize, seed: u64) -> Data {
    let d = 5;
    let x: Vec<f64> = toy::normals(n, d, seed)
        .iter()
        .map(|v| if v.abs() < 0.4 { 0.0 } else { (v * 1e4).round() / 1e4 })
        .collect();
    let reals = x.chunks(d).map(|r| r[0] + (2.0 * r[1]).sin() - r[2] * r[3]).collect();
    let classes =
        x.chunks(d).map(|r| [3.0, -1.0, 10.0, 2.0][usize::from(r[0] > 0.0) + 2 * usize::from(r[1] > 0.3)]);
    Data { classes: classes.collect(), x, d, reals }
}

fn dense(x: &[f64], d: usize) -> Points {
    Points::dense(x.to_vec(), d).expect("whole rows")
}

fn sparse(points: &Points) -> Points {
    let (mut csr, view) = (Csr { start: vec![0], ..Csr::default() }, points.view());
    for i in 0..view.n {
        let row = view.row(i).to_f64();
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(*v);
        }
        csr.start.push(csr.column.len());
    }
    Points::sparse(csr, view.d).expect("rising columns")
}

fn labels(classes: &[f64]) -> Targets {
    Targets::Classes(Labels::new(classes.iter().map(|c| format!("{c}"))))
}

const KERNELS: [(&str, Kernel); 4] = [
    ("-t 0", Kernel::Linear),
    ("-t 1 -d 3 -g 0.5 -r 1", Kernel::Poly { degree: 3, scale: 0.5, coef0: 1.0 }),
    ("-t 2 -g 0.3", Kernel::Rbf { gamma: 0.3 }),
    ("-t 3 -g 0.05 -r -0.5", Kernel::Sigmoid { amplitude: 1.0, scale: 0.05, shift: -0.5 }),
];

#[test]
fn their_models_decide_here_as_there() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (train, test) = (data(90, 1), data(40, 2));
    write_data(&folder.join("reals"), &train.reals, &train.x, train.d);
    write_data(&folder.join("classes"), &train.classes, &train.x, train.d);
    write_data(&folder.join("test"), &test.classes, &test.x, test.d);
    let points = dense(&test.x, test.d);
    for (machine, file) in [
        ("-s 0", "classes"),
        ("-s 1 -n 0.1", "classes"),
        ("-s 2", "reals"),
        ("-s 3", "reals"),
        ("-s 4", "reals"),
    ] {
        for (kernel, _) in KERNELS {
            let args: Vec<&str> =
                machine.split(' ').chain(kernel.split(' ')).chain(["-q", file, "theirs"]).collect();
            run(folder, "svm-train", &args);
            let text = std::fs::read_to_string(folder.join("theirs")).expect("there");
            let model = Model::load_libsvm(folder.join("theirs")).expect("their own file");
            for points in [&points, &sparse(&points)] {
                let f = model.decision(points.view(), Par::one()).expect("any width");
                let ours = in_their_order(&model, &text, &f);
                let theirs = as_regressions(&text);
                assert_eq!(ours.len(), theirs.len());
                for (ours, text) in ours.iter().zip(&theirs) {
                    assert::all_close(ours, &predicted(folder, text), 1e-6);
                }
                // The answers, not only the outputs. Regression's answer is its output.
                if let Ok(Targets::Classes(ours)) = model.predict(points.view(), Par::one()) {
                    let theirs = predicted(folder, &text);
                    let ours: Vec<f64> =
                        (0..ours.len()).map(|i| ours.name_of(i).parse().expect("a number")).collect();
                    assert_eq!(ours, theirs, "{machine} {kernel}");
                }
            }
            // And written again, there too.
            let again = model.to_libsvm().expect("it came from there");
            assert_eq!(predicted(folder, &again).len(), 40);
            for (p, text) in as_regressions(&again).iter().enumerate() {
                let f = model.decision(points.view(), Par::one()).expect("any width");
                assert::all_close(&predicted(folder, text), &in_their_order(&model, &again, &f)[p], 1e-6);
            }
        }
    }
}

#[test]
fn their_probabilities_are_kept() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (train, test) = (data(150, 5), data(40, 6));
    write_data(&folder.join("classes"), &train.classes, &train.x, train.d);
    write_data(&folder.join("reals"), &train.reals, &train.x, train.d);
    write_data(&folder.join("test"), &test.classes, &test.x, test.d);
    run(folder, "svm-train", &["-b", "1", "-q", "classes", "theirs"]);
    let model = Model::load_libsvm(folder.join("theirs")).expect("their own file");
    std::fs::write(folder.join("ours"), model.to_libsvm().expect("it came from there")).expect("written");
    let got = model.probabilities(dense(&test.x, test.d).view(), Par::one()).expect("kept").values;
    for file in ["theirs", "ours"] {
        run(folder, "svm-predict", &["-b", "1", "test", file, "out"]);
        let out = std::fs::read_to_string(folder.join("out")).expect("there");
        let mut lines = out.lines();
        let order: Vec<&str> = lines.next().expect("labels").split_whitespace().skip(1).collect();
        let classes = model.classes();
        for (line, got) in lines.zip(got.chunks(4)) {
            let values = &numbers(line)[1..];
            for (name, want) in order.iter().zip(values) {
                let place = classes.iter().position(|c| c == name).expect("a class of ours");
                // Theirs come from an iteration that ends when it is off by some thousandths.
                assert::close(got[place], *want, 5e-3);
            }
        }
    }
    run(folder, "svm-train", &["-s", "3", "-b", "1", "-q", "reals", "theirs"]);
    let model = Model::load_libsvm(folder.join("theirs")).expect("their own file");
    let Body::Svr(svr) = &model.body else { panic!("a regression") };
    let noise = svr.noise.expect("kept");
    assert!(
        noise > 0.0 && model.to_libsvm().expect("it came from there").contains(&format!("probA {noise}"))
    );
}

#[test]
fn our_models_decide_there_as_here() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (train, test) = (data(80, 11), data(40, 12));
    write_data(&folder.join("test"), &test.classes, &test.x, test.d);
    let (points, at) = (dense(&train.x, train.d), dense(&test.x, test.d));
    let (reals, four) = (Targets::Reals(train.reals.clone()), labels(&train.classes));
    let two = labels(&train.classes.iter().map(|c| if *c > 2.5 { 7.0 } else { -7.0 }).collect::<Vec<_>>());
    let twice = Kernel::Scaled {
        factor: 2.0,
        of: Box::new(Kernel::Sigmoid { amplitude: 0.5, scale: 0.1, shift: 0.0 }),
    };
    for kernel in KERNELS.iter().map(|(_, k)| k.clone()).chain([twice]) {
        let some = Some(kernel.clone());
        let mut bodies = Vec::new();
        for points in [&points, &sparse(&points)] {
            for loss in [Loss::Epsilon, Loss::Nu, Loss::Huber] {
                let params = SvrParams { kernel: some.clone(), loss, ..SvrParams::default() };
                bodies.push(Body::Svr(
                    params.fit(Sample::new(points, &reals), Par::one(), &mut silent()).expect("numbers"),
                ));
            }
            for (targets, kind) in [(&two, Kind::C), (&two, Kind::Nu), (&four, Kind::C), (&four, Kind::Nu)] {
                let params = SvcParams { kernel: some.clone(), kind, nu: 0.1, ..SvcParams::default() };
                bodies.push(Body::Svc(
                    params.fit(Sample::new(points, targets), Par::one(), &mut silent()).expect("classes"),
                ));
            }
            let params = OneClassParams { kernel: some.clone(), nu: 0.2, ..OneClassParams::default() };
            bodies.push(Body::OneClass(
                params.fit(Sample::new(points, &Targets::None), Par::one(), &mut silent()).expect("points"),
            ));
        }
        if !matches!(kernel, Kernel::Sigmoid { .. } | Kernel::Scaled { .. }) {
            for targets in [&reals, &two] {
                let params = RidgeParams { kernel: some.clone(), ..RidgeParams::default() };
                bodies.push(Body::Ridge(
                    params.fit(Sample::new(&points, targets), Par::one(), &mut silent()).expect("definite"),
                ));
            }
        }
        if matches!(kernel, Kernel::Rbf { .. }) {
            let params = SphereParams { kernel: some, nu: 0.2, ..SphereParams::default() };
            bodies.push(Body::Sphere(
                params.fit(Sample::new(&points, &Targets::None), Par::one(), &mut silent()).expect("points"),
            ));
        }
        for body in bodies {
            let model = Model::from(body);
            let text = model.to_libsvm().expect("LIBSVM has this");
            let f = model.decision(at.view(), Par::one()).expect("points");
            for (text, ours) in as_regressions(&text).iter().zip(in_their_order(&model, &text, &f)) {
                assert::all_close(&predicted(folder, text), &ours, 1e-6);
            }
            if let Ok(Targets::Classes(ours)) = model.predict(at.view(), Par::one()) {
                let ours: Vec<f64> =
                    (0..ours.len()).map(|i| ours.name_of(i).parse().expect("a number")).collect();
                assert_eq!(predicted(folder, &text), ours, "{} {kernel}", model.kind());
            }
            // Our own reader agrees with theirs.
            let back = Model::from_libsvm("text", text.as_bytes()).expect("just written");
            assert::all_close(&back.decision(at.view(), Par::one()).expect("points"), &f, 1e-12);
        }
    }
}

#[test]
fn precomputed_kernels_go_both_ways() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (train, test) = (data(50, 21), data(20, 22));
    let (points, at) = (dense(&train.x, train.d), dense(&test.x, test.d));
    let rbf = Kernel::Rbf { gamma: 0.2 };
    let k = mercer::gram::square::<f64>(&rbf, points.view(), Par::one()).expect("numbers").to_vec();
    let across =
        mercer::gram::cross::<f64>(&rbf, at.view(), points.view(), Par::one()).expect("numbers").to_vec();
    write_values(&folder.join("train"), &train.reals, &k, 50);
    write_values(&folder.join("test"), &test.reals, &across, 50);
    let rows = dense(&across, 50);

    run(folder, "svm-train", &["-s", "3", "-t", "4", "-e", "1e-6", "-q", "train", "theirs"]);
    let theirs = std::fs::read_to_string(folder.join("theirs")).expect("there");
    let model = Model::from_libsvm("theirs", theirs.as_bytes()).expect("their own file");
    let want = predicted(folder, &theirs);
    assert::all_close(&model.decision(rows.view(), Par::one()).expect("all columns"), &want, 1e-6);

    let gram = Matrix::new(k, 50).expect("symmetric");
    let numbers = Points::row_numbers((0..50).collect());
    let targets = Targets::Reals(train.reals);
    let params = SvrParams { kernel: Some(Kernel::Precomputed), tol: 1e-6, ..SvrParams::default() };
    let sample = Sample::new(&numbers, &targets).with_gram(&gram);
    let ours = Model::from(Body::Svr(params.fit(sample, Par::one(), &mut silent()).expect("a matrix")));
    let f = ours.decision(rows.view(), Par::one()).expect("all columns");
    assert::all_close(&f, &want, 1e-4);
    assert::all_close(&predicted(folder, &ours.to_libsvm().expect("LIBSVM has this")), &f, 1e-6);
}

#[test]
fn training_ends_where_theirs_does() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (train, test) = (data(120, 31), data(40, 32));
    write_data(&folder.join("reals"), &train.reals, &train.x, train.d);
    write_data(&folder.join("test"), &test.reals, &test.x, test.d);
    let (points, at) = (dense(&train.x, train.d), dense(&test.x, test.d));
    let targets = Targets::Reals(train.reals.clone());
    let rbf = Some(Kernel::Rbf { gamma: 0.3 });
    for c in [0.1, 1.0, 50.0] {
        let common =
            SvrParams { kernel: rbf.clone(), c, tol: 1e-6, epsilon: 0.15, nu: 0.35, ..SvrParams::default() };
        let tube = common.fit(Sample::new(&points, &targets), Par::one(), &mut silent()).expect("numbers");
        let nu = SvrParams { loss: Loss::Nu, ..common };
        let nu = nu.fit(Sample::new(&points, &targets), Par::one(), &mut silent()).expect("numbers");
        let share = (c / 60.0).min(0.9);
        let plane = OneClassParams { kernel: rbf.clone(), nu: share, tol: 1e-6, ..OneClassParams::default() };
        let plane =
            plane.fit(Sample::new(&points, &Targets::None), Par::one(), &mut silent()).expect("points");
        let (c, share) = (format!("{c}"), format!("{share}"));
        for (args, body) in [
            (["-s", "3", "-c", &c, "-p", "0.15"], Body::Svr(tube)),
            (["-s", "4", "-c", &c, "-n", "0.35"], Body::Svr(nu)),
            (["-s", "2", "-c", "1", "-n", &share], Body::OneClass(plane)),
        ] {
            let all: Vec<&str> =
                args.into_iter().chain(["-g", "0.3", "-e", "1e-6", "reals", "theirs"]).collect();
            let out = run(folder, "svm-train", &all);
            let word = |key: &str| {
                let at = out.find(key).map(|p| &out[p + key.len()..]).expect("printed");
                numbers(at.split([',', '\n']).next().expect("a word"))[0]
            };
            let model = Model::from(body);
            let objective = model.info().objective.expect("solved");
            assert!(
                (objective - word("obj = ")).abs() <= 1e-6 * objective.abs().max(1.0),
                "{args:?}: {objective}"
            );
            assert::close(-model.body.expansion().offset()[0], word("rho = "), 1e-4);
            if let Body::Svr(svr) = &model.body
                && svr.params.loss == Loss::Nu
            {
                assert::close(svr.epsilon.expect("found"), word("epsilon = "), 1e-4);
            }
            let theirs = std::fs::read_to_string(folder.join("theirs")).expect("there");
            let want = predicted(folder, &as_regressions(&theirs)[0]);
            assert::all_close(&model.decision(at.view(), Par::one()).expect("points"), &want, 1e-4);
        }
    }
}

/// Three classes in an order that is not ours, written by hand.
const THREE: &str = "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 4\nrho 0.5 -1 2\nlabel 7 -2 3\n\
                     probA -1 -2 -3\nprobB 0.1 0.2 0.3\nnr_sv 1 2 1\nSV\n\
                     1 0.5 1:1 2:2 \n-0.25 2 1:-1 \n-0.75 1 2:3 \n-0.5 -3 1:4 2:-1 \n";

#[test]
fn coefficients_are_laid_out_by_class() {
    let model = Model::from_libsvm("text", THREE.as_bytes()).expect("well formed");
    assert_eq!(model.classes(), ["7", "-2", "3"]);
    let x = [2.0, -1.0];
    let k = [0.0, -2.0, -3.0, 9.0];
    // LIBSVM's pairs: (7, -2), (7, 3), (-2, 3), positive for the first. Ours are positive for the second.
    let theirs = [
        1.0 * k[0] - 0.25 * k[1] - 0.75 * k[2] - 0.5,
        0.5 * k[0] - 0.5 * k[3] + 1.0,
        2.0 * k[1] + 1.0 * k[2] - 3.0 * k[3] - 2.0,
    ];
    let ours = model.decision(dense(&x, 2).view(), Par::one()).expect("two columns");
    assert::all_close(&ours, &theirs.map(|v| -v), 1e-14);
    // Probabilities belong to classes, not to signs.
    let Body::Svc(svc) = &model.body else { panic!("a classifier") };
    for p in 0..3 {
        let there = 1.0 / (1.0 + ([-1.0, -2.0, -3.0][p] * theirs[p] + [0.1, 0.2, 0.3][p]).exp());
        assert::close(svc.machines[p].sigmoid.expect("kept").at(ours[p]), 1.0 - there, 1e-14);
    }
    // There and back.
    let text = model.to_libsvm().expect("pairs");
    assert!(text.contains("\nlabel 7 -2 3\n") && text.contains("\nnr_sv 1 2 1\n"), "{text}");
    let back = Model::from_libsvm("text", text.as_bytes()).expect("just written");
    assert_eq!(back.decision(dense(&x, 2).view(), Par::one()).expect("two columns"), ours);
    let Body::Svc(again) = &back.body else { panic!("a classifier") };
    assert_eq!(again.machines, svc.machines);
    assert_eq!(again.classes, svc.classes);
}

#[test]
fn two_classes_come_in_order() {
    let text = |labels: &str| {
        format!(
            "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel {labels}\nprobA -2\nprobB 0.25\nnr_sv 1 1\nSV\n1 1:3 \n-1 1:1 \n"
        )
    };
    for (labels, sign) in [("1 -1", 1.0), ("-1 1", -1.0), ("9 10", -1.0)] {
        let model = Model::from_libsvm("text", text(labels).as_bytes()).expect("well formed");
        assert_eq!(model.classes(), if sign > 0.0 || labels == "-1 1" { ["-1", "1"] } else { ["9", "10"] });
        let at = dense(&[2.0, -2.0], 1);
        let (theirs, ours) = ([3.5, -4.5], model.decision(at.view(), Par::one()).expect("one column"));
        assert::all_close(&ours, &theirs.map(|v| sign * v), 1e-15);
        let got = model.predict(at.view(), Par::one()).expect("one column");
        let first = labels.split(' ').next().expect("two labels");
        assert_eq!(got.classes().expect("classes").name_of(0), first);
        let p = model.probabilities(at.view(), Par::one()).expect("kept").values;
        let there = 1.0 / (1.0 + (-2.0_f64 * 3.5 + 0.25).exp());
        let place = model.classes().iter().position(|c| c == first).expect("a class");
        assert::close(p[place], there, 1e-14);
    }
}

#[test]
fn numbers_survive_to_the_last_bit() {
    let odd = [1.0 / 3.0, 1e-300, -2.5e17, 4.9e-324, 123_456.789];
    let points = dense(&odd, 1);
    let f = mercer::expansion::Expansion::new(
        Kernel::Rbf { gamma: 0.1 + 0.2 },
        points,
        odd.to_vec(),
        vec![1e-7 / 3.0],
    );
    let svr = SvrParams::default().fit(
        Sample::new(&dense(&[0.0, 1.0], 1), &Targets::Reals(vec![0.0, 1.0])),
        Par::one(),
        &mut silent(),
    );
    let mut svr = svr.expect("two rows");
    svr.expansion = f.expect("fits");
    let text = Model::from(Body::Svr(svr.clone())).to_libsvm().expect("LIBSVM has this");
    let Body::Svr(back) = Model::from_libsvm("text", text.as_bytes()).expect("just written").body else {
        panic!("svr")
    };
    assert_eq!(back.expansion.coef(), svr.expansion.coef());
    assert_eq!(back.expansion.offset(), svr.expansion.offset());
    assert_eq!(back.expansion.kernel(), svr.expansion.kernel());
    let row = |r: Row<'_>| r.to_f64();
    for j in 0..odd.len() {
        assert_eq!(row(back.expansion.centres().row(j)), row(svr.expansion.centres().row(j)));
    }
}

#[test]
fn what_libsvm_cannot_hold_is_refused_with_words() {
    let train = data(40, 41);
    let points = dense(&train.x, train.d);
    let classify = |multi: Multi, kernel: &str, targets: &Targets| {
        let kernel = Some(kernel.parse().expect("a kernel"));
        let params = SvcParams { kernel, multi, ..SvcParams::default() };
        Model::from(Body::Svc(
            params.fit(Sample::new(&points, targets), Par::one(), &mut silent()).expect("classes"),
        ))
    };
    let four = labels(&train.classes);
    let message = |model: Model| model.to_libsvm().expect_err("not LIBSVM's").to_string();
    assert!(message(classify(Multi::OneVsRest, "rbf(gamma=1)", &four)).contains("one_vs_one"));
    assert!(message(classify(Multi::OneVsOne, "laplacian(gamma=1)", &four)).contains("no kernel laplacian"));
    let named = Targets::Classes(Labels::new(train.classes.iter().map(|c| format!("class {c}"))));
    assert!(message(classify(Multi::OneVsOne, "rbf(gamma=1)", &named)).contains("a whole number"));
    let stage = Recipe::parse("standard").expect("a stage").fit(points.view()).expect("numbers");
    let model = classify(Multi::OneVsOne, "rbf(gamma=1)", &four);
    assert!(message(Model { stages: Stages { list: vec![stage] }, ..model }).contains("stages"));
    let sphere = SphereParams { kernel: Some(Kernel::Linear), ..SphereParams::default() };
    let sphere = sphere.fit(Sample::new(&points, &Targets::None), Par::one(), &mut silent()).expect("points");
    assert!(message(Model::from(Body::Sphere(sphere))).contains("no spheres"));
}

#[test]
fn what_is_wrong_with_a_text_is_said_with_its_line() {
    let good =
        "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:1 \n";
    assert!(Model::from_libsvm("m", good.as_bytes()).is_ok());
    let message = |from: &str, to: &str| {
        assert!(good.contains(from));
        Model::from_libsvm("m", good.replace(from, to).as_bytes()).expect_err("broken").to_string()
    };
    for (from, to, want) in [
        (
            "epsilon_svr",
            "svm",
            "m, line 1: got `svm`, expected one of c_svc, nu_svc, one_class, epsilon_svr, nu_svr",
        ),
        ("gamma 0.5", "gamma x", "m, line 3: got `x`, expected a number after `gamma`"),
        ("gamma 0.5\n", "", "m, line 6: got a header without it, expected `gamma`, which this kernel needs"),
        (
            "gamma 0.5",
            "gamma -1",
            "m, line 7: got a header without it, expected kernel parameters in their range",
        ),
        ("rho 0.5", "rho 0.5 1", "m, line 7: got 2 numbers after `rho`, expected 1"),
        ("rho 0.5", "rho nan", "m, line 6: got `nan`, expected finite numbers"),
        ("rbf", "wavelet", "expected `kernel_type` linear, polynomial, rbf, sigmoid or precomputed"),
        ("total_sv 1", "total_sv 2", "m, line 8: got 1 support vectors, expected 2, the `total_sv`"),
        ("1 1:1 ", "1 2:1 1:1 ", "m, line 8: got `1:1`, expected rising indices from 1 to 2147483647"),
        ("1 1:1 ", "1 0:1 ", "m, line 8: got `0:1`, expected rising indices from 1 to 2147483647"),
        ("1 1:1 ", "1 1:inf ", "m, line 8: got `1:inf`, expected `index:value`"),
        ("1 1:1 ", "inf 1:1 ", "m, line 8: got `inf`, expected a finite coefficient"),
        ("nr_class 2", "nr_class 3", "m, line 7: got 1 numbers after `rho`, expected 3"),
        ("nr_class 2", "colour 2", "m, line 4: got `colour`, expected a line of a LIBSVM model's header"),
        ("SV\n1 1:1 \n", "", "m, line 7: got the end of the file, expected `SV` and what follows it"),
    ] {
        let got = message(from, to);
        assert!(got.contains(want), "{got}\n  wanted {want}");
    }
    let twice = THREE.replace("label 7 -2 3", "label 7 7 3");
    let got = Model::from_libsvm("m", twice.as_bytes()).expect_err("broken").to_string();
    assert!(got.contains("got label 7 twice"), "{got}");
    assert!(Model::from_libsvm("m", b"svm_type \xff").is_err());
    assert!(Model::load_libsvm("/nonexistent/model").is_err());
    // An index as large as LIBSVM's costs no memory to speak of.
    let far = good.replace("1:1 ", "2147483647:1 ");
    let model = Model::from_libsvm("m", far.as_bytes()).expect("LIBSVM reads it, too");
    let f = model.decision(dense(&[1.0, 1.0], 1).view(), Par::one()).expect("any width");
    assert::all_close(&f, &[(-1.0f64).exp() - 0.5; 2], 1e-12);
}

/// Whatever a text is, there is a model that predicts and can be written, or an error.
fn survive(bytes: &[u8]) {
    let Ok(model) = Model::from_libsvm("bytes", bytes) else { return };
    for points in [dense(&[0.5, -1.0, 2.0], 3), sparse(&dense(&[0.0, 1.0], 2)), dense(&[1.0; 9], 9)] {
        if let Ok(f) = model.decision(points.view(), Par::one()) {
            assert_eq!(f.len(), model.outputs());
        }
        let _ = model.predict(points.view(), Par::one());
        let _ = model.probabilities(points.view(), Par::one());
    }
    let text = model.to_libsvm().expect("it came from there");
    let back = Model::from_libsvm("again", text.as_bytes()).expect("just written");
    assert_eq!(back.classes(), model.classes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn bytes_changed_anywhere(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6), cut in 0.0..2.0f64) {
        let mut bytes = THREE.as_bytes().to_vec();
        let len = bytes.len();
        changes.iter().for_each(|&(at, byte)| bytes[at as usize % len] = byte);
        if cut < 1.0 {
            bytes.truncate((len as f64 * cut) as usize);
        }
        survive(&bytes);
    }

    #[test]
    fn words_changed_anywhere(changes in prop::collection::vec((0usize..60, 0usize..16), 1..5), kernel in 0usize..5) {
        const WORDS: [&str; 16] = ["", "0", "1", "2", "3", "-1", "0.5", "1e308", "-1e308", "nan", "0:1", "1:1", "2:1e308",
            "2147483647:1", "99999999999", "rbf"];
        let kernels = ["linear", "rbf\ngamma 1", "polynomial\ndegree 3\ngamma 1\ncoef0 1", "sigmoid\ngamma 1\ncoef0 0", "precomputed"];
        let text = THREE.replace("kernel_type linear", &format!("kernel_type {}", kernels[kernel]));
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let count = words.len();
        for (at, word) in changes {
            // The line's end stays where it is.
            let old = words[at % count].clone();
            let end = old.split_once('\n').map(|(_, rest)| format!("\n{rest}")).unwrap_or_default();
            words[at % count] = format!("{}{end}", WORDS[word]);
        }
        survive(words.join(" ").as_bytes());
    }
}
