//! Beside LIBSVM itself: its models here, ours there, and training to the same end.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use mercer::Exec;
use mercer::data::{Points, Targets};
use mercer::gram::Matrix;
use mercer::kernel::Kernel;
use mercer::model::svc::Kind;
use mercer::model::{
    Learner, Loss, Model, OneClassParams, RidgeParams, Sample, SphereParams, SvcParams, SvrParams,
};
use mercer::watch::silent;
use mercer_testkit::assert;

use crate::{data, dense, labels, sparse};

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
                let f = model.decision(points.view(), Exec::one()).expect("any width");
                let ours = in_their_order(&model, &text, &f);
                let theirs = as_regressions(&text);
                assert_eq!(ours.len(), theirs.len());
                for (ours, text) in ours.iter().zip(&theirs) {
                    assert::all_close(ours, &predicted(folder, text), 1e-6);
                }
                // The answers, not only the outputs. Regression's answer is its output.
                if let Ok(Targets::Classes(ours)) = model.predict(points.view(), Exec::one()) {
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
                let f = model.decision(points.view(), Exec::one()).expect("any width");
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
    let got = model.probabilities(dense(&test.x, test.d).view(), Exec::one()).expect("kept").values;
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
    let noise = model.machine.fact("noise").expect("kept");
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
                bodies.push(
                    params.fit(Sample::new(points, &reals), Exec::one(), &mut silent()).expect("numbers"),
                );
            }
            for (targets, kind) in [(&two, Kind::C), (&two, Kind::Nu), (&four, Kind::C), (&four, Kind::Nu)] {
                let params = SvcParams { kernel: some.clone(), kind, nu: 0.1, ..SvcParams::default() };
                bodies.push(
                    params.fit(Sample::new(points, targets), Exec::one(), &mut silent()).expect("classes"),
                );
            }
            let params = OneClassParams { kernel: some.clone(), nu: 0.2, ..OneClassParams::default() };
            bodies.push(
                params.fit(Sample::new(points, &Targets::None), Exec::one(), &mut silent()).expect("points"),
            );
        }
        if !matches!(kernel, Kernel::Sigmoid { .. } | Kernel::Scaled { .. }) {
            for targets in [&reals, &two] {
                let params = RidgeParams { kernel: some.clone(), ..RidgeParams::default() };
                bodies.push(
                    params.fit(Sample::new(&points, targets), Exec::one(), &mut silent()).expect("definite"),
                );
            }
        }
        if matches!(kernel, Kernel::Rbf { .. }) {
            let params = SphereParams { kernel: some, nu: 0.2, ..SphereParams::default() };
            bodies.push(
                params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points"),
            );
        }
        for body in bodies {
            let model = Model::from(body);
            let text = model.to_libsvm().expect("LIBSVM has this");
            let f = model.decision(at.view(), Exec::one()).expect("points");
            for (text, ours) in as_regressions(&text).iter().zip(in_their_order(&model, &text, &f)) {
                assert::all_close(&predicted(folder, text), &ours, 1e-6);
            }
            if let Ok(Targets::Classes(ours)) = model.predict(at.view(), Exec::one()) {
                let ours: Vec<f64> =
                    (0..ours.len()).map(|i| ours.name_of(i).parse().expect("a number")).collect();
                assert_eq!(predicted(folder, &text), ours, "{} {kernel}", model.kind());
            }
            // Our own reader agrees with theirs.
            let back = Model::from_libsvm("text", text.as_bytes()).expect("just written");
            assert::all_close(&back.decision(at.view(), Exec::one()).expect("points"), &f, 1e-12);
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
    let k = mercer::gram::square::<f64>(&rbf, points.view(), Exec::one()).expect("numbers").to_vec();
    let across =
        mercer::gram::cross::<f64>(&rbf, at.view(), points.view(), Exec::one()).expect("numbers").to_vec();
    write_values(&folder.join("train"), &train.reals, &k, 50);
    write_values(&folder.join("test"), &test.reals, &across, 50);
    let rows = dense(&across, 50);

    run(folder, "svm-train", &["-s", "3", "-t", "4", "-e", "1e-6", "-q", "train", "theirs"]);
    let theirs = std::fs::read_to_string(folder.join("theirs")).expect("there");
    let model = Model::from_libsvm("theirs", theirs.as_bytes()).expect("their own file");
    let want = predicted(folder, &theirs);
    assert::all_close(&model.decision(rows.view(), Exec::one()).expect("all columns"), &want, 1e-6);

    let gram = Matrix::new(k, 50).expect("symmetric");
    let numbers = Points::row_numbers((0..50).collect());
    let targets = Targets::Reals(train.reals);
    let params = SvrParams { kernel: Some(Kernel::Precomputed), tol: 1e-6, ..SvrParams::default() };
    let sample = Sample::new(&numbers, &targets).with_gram(&gram);
    let ours = Model::from(params.fit(sample, Exec::one(), &mut silent()).expect("a matrix"));
    let f = ours.decision(rows.view(), Exec::one()).expect("all columns");
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
        let tube = common.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("numbers");
        let nu = SvrParams { loss: Loss::Nu, ..common };
        let nu = nu.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("numbers");
        let share = (c / 60.0).min(0.9);
        let plane = OneClassParams { kernel: rbf.clone(), nu: share, tol: 1e-6, ..OneClassParams::default() };
        let plane =
            plane.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points");
        let (c, share) = (format!("{c}"), format!("{share}"));
        for (args, body) in [
            (["-s", "3", "-c", &c, "-p", "0.15"], tube),
            (["-s", "4", "-c", &c, "-n", "0.35"], nu),
            (["-s", "2", "-c", "1", "-n", &share], plane),
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
            assert::close(-model.machine.expansion.offset()[0], word("rho = "), 1e-4);
            if let Learner::Svr(params) = &model.machine.learner
                && params.loss == Loss::Nu
            {
                assert::close(model.machine.fact("epsilon").expect("found"), word("epsilon = "), 1e-4);
            }
            let theirs = std::fs::read_to_string(folder.join("theirs")).expect("there");
            let want = predicted(folder, &as_regressions(&theirs)[0]);
            assert::all_close(&model.decision(at.view(), Exec::one()).expect("points"), &want, 1e-4);
        }
    }
}
