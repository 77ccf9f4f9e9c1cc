//! Model files: what is read back predicts bit for bit the same, and no bytes make reading or predicting panic.

use mercer::Exec;
use mercer::data::{Bundle, Csr, ImageShape, LabelType, Labels, Points, Stages, Targets, Values};
use mercer::gram::Matrix;
use mercer::kernel::Kernel;
use mercer::model::svc::Multi;
use mercer::model::{
    Learner, Loss, Machine, Model, Names, OneClassParams, RidgeParams, Sample, SphereParams, SvcParams,
    SvrParams, Task, Wanted,
};
use mercer::watch::silent;
use mercer_testkit::{assert, toy};
use proptest::prelude::*;
use serde_json::Value;

const N: usize = 30;

fn values() -> Vec<f64> {
    toy::normals(N, 4, 3).iter().map(|v| if v.abs() < 0.3 { 0.0 } else { *v }).collect()
}

fn dense() -> Points {
    Points::dense(values(), 4).expect("whole rows")
}

fn sparse() -> Points {
    let (mut start, mut column, mut value) = (vec![0], Vec::new(), Vec::new());
    for row in values().chunks(4) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            column.push(j as u32 * 30);
            value.push(*v);
        }
        start.push(column.len());
    }
    Points::sparse(Csr { start, column, value }, 200).expect("rising columns")
}

fn single() -> Points {
    let values = values().iter().map(|&v| v as f32).collect();
    Points::dense_f32(values, 4).expect("whole rows").with_image(ImageShape::grey(2, 2)).expect("four values")
}

fn labels(k: usize) -> Targets {
    let x = values();
    Targets::Classes(Labels::new((0..N).map(|i| ["a", "b b", "ç"][(x[4 * i].abs() * 2.0) as usize % k])))
}

fn reals() -> Targets {
    Targets::Reals(values().chunks(4).map(|x| x[0] - 2.0 * x[1] * x[2]).collect())
}

fn names() -> Names {
    Names {
        columns: ["w", "x", "y", "z z"].map(String::from).to_vec(),
        target: Some("ç".into()),
        labels: Some(LabelType::Str),
    }
}

/// Every learner on every kind of points, with stages before some of them.
fn all() -> Vec<(String, Model, Points)> {
    let kernel = Some(Kernel::Rbf { gamma: 0.3 });
    let mut out = Vec::new();
    let kinds = [
        ("f64", dense(), "minmax(-1, 1) | standard"),
        ("sparse", sparse(), ""),
        ("f32", single(), "smooth(0.5)"),
    ];
    for (kind, raw, line) in kinds {
        let recipes = Stages::parse(line).expect("a line of stages");
        let (stages, points) = Stages::fit(&recipes, raw.view(), Exec::one()).expect("points");
        let mut add = |name: &str, machine: Machine| {
            out.push((
                format!("{name} on {kind}"),
                Model { stages: stages.clone(), names: names(), ..Model::from(machine) },
                raw.clone(),
            ));
        };
        for loss in [Loss::Epsilon, Loss::Nu, Loss::Huber, Loss::Squared] {
            let params = SvrParams { kernel: kernel.clone(), loss, ..SvrParams::default() };
            let model =
                params.fit(Sample::new(&points, &reals()), Exec::one(), &mut silent()).expect("numbers");
            add(loss.name(), model);
        }
        let limited = SvrParams { kernel: kernel.clone(), max_iter: Some(2), ..SvrParams::default() };
        let model = limited.fit(Sample::new(&points, &reals()), Exec::one(), &mut silent()).expect("numbers");
        assert!(model.checkpoint.is_some());
        add("broken off", model);
        for (name, targets) in [("ridge", reals()), ("ridge 2", labels(2)), ("ridge 3", labels(3))] {
            let params = RidgeParams { kernel: kernel.clone(), lambda: 0.1, ..RidgeParams::default() };
            let model =
                params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("targets");
            add(name, model);
        }
        let params = OneClassParams { kernel: kernel.clone(), nu: 0.3, ..OneClassParams::default() };
        let model =
            params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points");
        add("one-class", model);
        for nu in [0.0, 0.3] {
            let params = SphereParams { kernel: kernel.clone(), nu, ..SphereParams::default() };
            let model =
                params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut silent()).expect("points");
            add("sphere", model);
        }
        for (multi, k) in [(Multi::OneVsOne, 2), (Multi::OneVsOne, 3), (Multi::OneVsRest, 3)] {
            let params = SvcParams {
                kernel: kernel.clone(),
                multi,
                probability: true,
                folds: 2,
                ..SvcParams::default()
            };
            let targets = labels(k);
            let mut model =
                params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("classes");
            let known = targets.classes().expect("classes");
            let f = model.decision(points.view(), Exec::one()).expect("points");
            let rule = model.reject_rule(&f, Some(known), Wanted::Rejected(0.2));
            model.reject = Some(rule.expect("labels"));
            add("svc", model);
        }
    }
    let k: Vec<f64> =
        mercer::gram::square::<f64>(&Kernel::Linear, dense().view(), Exec::one()).expect("numbers").to_vec();
    let (gram, numbers) =
        (Matrix::new(k.clone(), N).expect("symmetric"), Points::row_numbers((0..N as u32).collect()));
    let params = SvrParams { kernel: Some(Kernel::Precomputed), ..SvrParams::default() };
    let targets = reals();
    let sample = Sample::new(&numbers, &targets).with_gram(&gram);
    let model = params.fit(sample, Exec::one(), &mut silent()).expect("a matrix");
    out.push(("svr on a matrix".into(), model.into(), Points::dense(k, N).expect("whole rows")));
    out
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn what_is_read_back_is_what_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, model, points) in all() {
        let path = folder.path().join("model");
        model.save(&path).expect(&name);
        let back = Model::load(&path).expect(&name);
        assert_eq!(back, model, "{name}");
        let decide =
            |m: &Model| m.decision(points.view(), Exec::one()).expect("points like the training ones");
        assert_eq!(bits(&decide(&back)), bits(&decide(&model)), "{name}");
        assert_eq!(
            back.predict(points.view(), Exec::one()).ok(),
            model.predict(points.view(), Exec::one()).ok()
        );
        assert_eq!(back.describe(), model.describe());
        if let Ok(p) = model.probabilities(points.view(), Exec::one()) {
            assert_eq!(back.probabilities(points.view(), Exec::one()).expect("kept"), p);
        }
        // Writing again gives the same bytes.
        assert_eq!(back.to_bytes().expect(&name), std::fs::read(&path).expect("there"), "{name}");
    }
}

#[test]
fn the_type_of_class_labels_is_kept_and_must_fit_their_names() {
    let named = |names: [&str; 2], labels: Option<LabelType>| {
        let targets = Targets::Classes(Labels {
            names: names.map(String::from).to_vec(),
            of_row: (0..N as u32).map(|i| i % 2).collect(),
        });
        let params = SvcParams { kernel: Some(Kernel::Linear), ..SvcParams::default() };
        let body = params.fit(Sample::new(&dense(), &targets), Exec::one(), &mut silent()).expect("classes");
        Model { names: Names { labels, ..Names::default() }, ..body.into() }
    };
    for (name, kind) in LabelType::ALL {
        let names = match kind {
            LabelType::Str | LabelType::Object => ["01", "1"],
            LabelType::Bool => ["False", "True"],
            _ => ["0", "1"],
        };
        let model = named(names, Some(kind));
        let bytes = model.to_bytes().expect(name);
        let back = Model::from_bytes("m", &bytes).expect(name);
        assert_eq!((back.names.labels, back.classes()), (Some(kind), names.map(String::from).to_vec()));
        assert_eq!(Model::from_json("m", model.to_json().expect(name).as_bytes()).expect(name), model);
    }
    let wrong = named(["01", "1"], Some(LabelType::Int8)).to_bytes().expect("a file");
    let message = Model::from_bytes("m", &wrong).expect_err("two names of one number").to_string();
    assert!(message.contains("class names 01, 1 are not labels of type int8"), "{message}");
    // Where no type is known the file says nothing of one, as all files did before.
    let plain = named(["01", "1"], None).to_json().expect("a file");
    assert!(!plain.contains("labels"), "{plain}");
}

#[test]
fn parameters_that_a_file_does_not_hold_are_not_told() {
    let head = "kernel_type rbf\ngamma 0.5\n";
    let rows = "SV\n1 1:1 2:0.5\n-1 1:0.2 2:2\n";
    for (kind, own) in [
        ("c_svc", "nr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\n"),
        ("nu_svc", "nr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\n"),
        ("epsilon_svr", "nr_class 2\ntotal_sv 2\nrho 0.1\n"),
        ("nu_svr", "nr_class 2\ntotal_sv 2\nrho 0.1\n"),
        ("one_class", "nr_class 2\ntotal_sv 2\nrho 0.1\n"),
    ] {
        let text = format!("svm_type {kind}\n{head}{own}{rows}");
        let read = Model::from_libsvm("m", text.as_bytes()).expect(kind);
        // Also after it has become a file of ours.
        let kept = Model::from_bytes("m", &read.to_bytes().expect(kind)).expect(kind);
        for model in [read, kept] {
            assert!(!model.params_known());
            let seen = model.explain(None, Exec::one(), &mut silent()).expect(kind);
            assert!(!seen.settings_known && seen.settings.is_empty(), "{kind}: {:?}", seen.settings);
            let params = model.describe().params;
            for name in ["c", "nu", "epsilon", "tol"] {
                assert!(params.get(name).is_none(), "{kind}: {params}");
            }
            assert_eq!(params["kernel"], "rbf(gamma=0.5)");
        }
    }
    // A model of our own knows them.
    for (name, model, _) in all() {
        assert!(model.params_known(), "{name}");
        assert!(model.describe().params.get("tol").is_some() || name.contains("ridge"), "{name}");
    }
}

#[test]
fn a_model_predicts_what_its_machine_does_behind_its_stages() {
    for (name, model, points) in all() {
        let ready = model.stages.apply(points.view(), Exec::one()).expect("stages");
        let f = model.decision(points.view(), Exec::one()).expect("points");
        assert_eq!(f.len(), N * model.outputs(), "{name}");
        let direct = model.machine.decision(ready.view(), Exec::one());
        assert_eq!(bits(&f), bits(&direct.expect("points")), "{name}");
        match (model.task(), model.predict(points.view(), Exec::one()).expect("points")) {
            (Task::Regression, Targets::Reals(y)) => assert_eq!(bits(&y), bits(&f)),
            (_, Targets::Classes(labels)) => {
                assert_eq!(labels.names, model.classes());
                assert_eq!(labels.len(), N);
                if model.outputs() == 1 {
                    assert!(labels.of_row.iter().zip(&f).all(|(k, f)| (*k == 1) == (*f > 0.0)), "{name}");
                }
            }
            (task, other) => panic!("{name}: {task:?} predicts {other:?}"),
        }
    }
}

#[test]
fn columns_that_do_not_fit_are_refused_unless_they_are_zeros() {
    let fitted = all();
    let (_, model, points) = fitted.iter().find(|(name, ..)| name == "epsilon on sparse").expect("named so");
    // Sparse rows may be narrower: what is missing is zeros.
    let view = points.view();
    let mercer::data::Data::Csr { start, column, value } = view.data else { panic!("sparse") };
    let csr = Csr { start: start.to_vec(), column: column.to_vec(), value: value.to_vec() };
    let narrow = Points::sparse(csr.clone(), 91).expect("columns below 91");
    let want = model.decision(view, Exec::one()).expect("points");
    assert_eq!(model.decision(narrow.view(), Exec::one()).expect("narrow points"), want);
    let wide = Points::sparse(csr, 201).expect("columns below 201");
    let message = model.decision(wide.view(), Exec::one()).expect_err("too wide").to_string();
    assert_eq!(message, "columns of the points: got 201, expected 200");
    let any = Model { any_columns: true, ..model.clone() };
    assert::all_close(&any.decision(wide.view(), Exec::one()).expect("any width"), &want, 1e-14);
    let few = Points::dense(vec![1.0; 3], 3).expect("one row");
    assert!(model.decision(few.view(), Exec::one()).is_err());
    assert!(any.decision(few.view(), Exec::one()).is_ok());
}

#[test]
fn custom_kernels_are_refused_with_words() {
    struct Mine;
    impl mercer::kernel::KernelFn for Mine {
        fn name(&self) -> &'static str {
            "mine"
        }
        fn value(&self, _x: mercer::data::Row<'_>, _y: mercer::data::Row<'_>) -> f64 {
            1.0
        }
    }
    let kernel = Kernel::Custom(mercer::kernel::Custom(std::sync::Arc::new(Mine)));
    let params = SvrParams { kernel: Some(kernel), ..SvrParams::default() };
    let model = params.fit(Sample::new(&dense(), &reals()), Exec::one(), &mut silent()).expect("numbers");
    let model: Model = model.into();
    let message = model.to_bytes().expect_err("code").to_string();
    assert!(message.contains("custom kernel"), "{message}");
    assert!(model.describe().params.is_null());
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    type Change<'a> = &'a dyn Fn(&mut Bundle);
    let (_, model, _) = all().swap_remove(0);
    let good = Bundle::from_bytes(&model.to_bytes().expect("plain")).expect("just written");
    let message = |change: &dyn Fn(&mut Bundle)| {
        let mut bundle = good.clone();
        change(&mut bundle);
        let bytes = bundle.to_bytes().expect("tensors that fit");
        Model::from_bytes("file", &bytes).expect_err("broken").to_string()
    };
    let checks: [(Change<'_>, &str); 7] = [
        (&|b| b.meta["learner"] = "magic".into(), "learner `magic` is unknown"),
        (&|b| b.meta["learner"] = Value::Null, "the learner's name is missing"),
        (&|b| b.meta["params"]["c"] = (-1.0).into(), "c = -1: must be a number above 0"),
        (&|b| b.meta["params"]["d"] = 1.into(), "unknown field `d`"),
        (&|b| b.meta["stages"] = Value::Array(Vec::new()), "array of saved stages"),
        (&|b| drop(b.tensors.remove("f.coef")), "tensor `f.coef` is missing"),
        (&|b| b.put("support", &[1], Values::U8(vec![0])), "tensor `support` is not of u32"),
    ];
    for (change, want) in checks {
        let got = message(change);
        assert!(got.starts_with("model file file: ") && got.contains(want), "{got}");
    }
    assert!(Model::from_bytes("file", b"").is_err());
    assert!(Model::load("/nonexistent/model").is_err());
}

/// Files as the first version wrote them, with what they predicted then.
#[test]
fn files_of_the_first_version_are_read_for_ever() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/model");
    for (name, d, want) in [
        ("one_class", 2, vec![-0.087_122_507_678_304_87]),
        ("ridge", 2, vec![0.258_651_602_042_104_24, -0.465_620_383_393_596_85, -0.793_031_218_648_507_5]),
        ("sphere", 2, vec![-0.087_122_507_678_304_87]),
        ("svc", 2, vec![-0.683_733_455_777_803_3, -1.174_397_742_548_612_3, -0.127_740_792_154_155_68]),
        ("svr", 2, vec![1.271_309_192_022_662_5]),
        ("svr_sparse", 3, vec![0.684_971_870_494_448_7]),
    ] {
        let model = Model::load(folder.join(name)).expect(name);
        let at = Points::dense(vec![0.5; d], d).expect("one row");
        let got = model.decision(at.view(), Exec::one()).expect(name);
        assert::all_close(&got, &want, 1e-12);
    }
}

/// Reads bytes; whatever they are, there is a model that predicts or refuses, or an error.
fn survive(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes("bytes", bytes) else { return };
    for points in [dense(), sparse(), single(), Points::dense(vec![0.5; N], N).expect("one row")] {
        if let Ok(f) = model.decision(points.view(), Exec::one()) {
            assert_eq!(f.len(), points.len() * model.outputs());
        }
        let _ = model.predict(points.view(), Exec::one());
        let _ = model.probabilities(points.view(), Exec::one());
    }
    let _ = model.describe();
    let _ = model.to_libsvm();
}

fn files() -> &'static [Vec<u8>] {
    static FILES: std::sync::OnceLock<Vec<Vec<u8>>> = std::sync::OnceLock::new();
    FILES.get_or_init(|| all().iter().map(|(_, model, _)| model.to_bytes().expect("plain")).collect())
}

/// The file as it was before files had a checksum, as far as reading goes.
fn unsummed(bytes: &[u8]) -> Vec<u8> {
    let at = bytes.windows(7).rposition(|w| w == br#""crc32\"#).expect("a checksum");
    let mut bytes = bytes.to_vec();
    bytes[at + 1] = b'k';
    assert!(Bundle::from_bytes(&bytes).is_ok());
    bytes
}

#[test]
fn no_single_bit_changes_what_a_file_predicts() {
    let mut refused = 0;
    for (name, model, points) in all() {
        let whole = model.to_bytes().expect("plain");
        let wanted = bits(&model.decision(points.view(), Exec::one()).expect(&name));
        // Every bit of the header, where one letter may mean another thing, and a sample of the arrays.
        let header = 8 + u64::from_le_bytes(*whole.first_chunk().expect("a length")) as usize;
        let places = (0..header.min(400)).chain((header.min(400)..whole.len()).step_by(97));
        for bit in places.flat_map(|at| (0..8).map(move |bit| 8 * at + bit)) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match Model::from_bytes("file", &bytes) {
                Err(e) => {
                    refused += 1;
                    // A header may no longer be one; arrays have nothing but the checksum.
                    let told = e.to_string().contains("checksum does not match");
                    assert!(told || bit / 8 < header, "{name}: bit {bit}: {e}");
                }
                Ok(read) => {
                    assert!(bit / 8 < header, "{name}: bit {bit} of an array changed unnoticed");
                    let got = bits(&read.decision(points.view(), Exec::one()).expect(&name));
                    assert_eq!(got, wanted, "{name}: bit {bit}");
                }
            }
        }
    }
    assert!(refused > 10_000, "{refused}");
}

#[test]
fn no_single_bit_changes_what_any_learner_predicts() {
    let (mut refused, mut models) = (0, 0);
    for entry in Learner::ALL {
        for &task in entry.tasks {
            let mut learner = entry.learner();
            for (name, value) in
                [("rounds", 3), ("bounces", 20), ("steps", 3), ("clusters", 2), ("centres", 5)]
            {
                if learner.entry().takes(name) {
                    learner.set(name, value.into()).expect("a number");
                }
            }
            learner.set_kernel(Kernel::Rbf { gamma: 0.3 });
            let points = dense();
            let targets = match task {
                Task::Classification => labels(2),
                Task::Regression => reals(),
                _ => Targets::None,
            };
            let fitted = learner.fit(Sample::new(&points, &targets), Exec::one(), &mut silent());
            // Classes that overlap have no hard margin.
            let Ok(machine) = fitted else { continue };
            models += 1;
            let model = Model::from(machine);
            let whole = model.to_bytes().expect("plain");
            let wanted = model.predict(points.view(), Exec::one()).expect("predictions");
            for bit in (0..8 * whole.len()).step_by(8 * whole.len() / 400 + 3) {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                match Model::from_bytes("file", &bytes) {
                    Err(_) => refused += 1,
                    Ok(read) => {
                        let got = read.predict(points.view(), Exec::one()).expect("predictions");
                        assert_eq!(got, wanted, "{}: bit {bit}", entry.name);
                    }
                }
            }
        }
    }
    assert!(models >= Learner::ALL.len() && refused > 5000, "{models} models, {refused} refused");
}

#[test]
fn every_bit_of_a_small_file_is_covered() {
    let meta = serde_json::json!({ "learner": "\\\"crc32\\\":\\\"00000000", "crc32": "00000000" });
    let mut bundle = Bundle { meta, ..Bundle::default() };
    bundle.put_f64("a", &[3], vec![1.0, -0.5, 0.25]);
    let whole = bundle.to_bytes().expect("a tensor");
    assert_eq!(Bundle::from_bytes(&whole).as_ref(), Ok(&bundle));
    assert_eq!(bundle.to_bytes().expect("the same"), whole);
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // What is read in spite of the change is what was written.
        if let Ok(read) = Bundle::from_bytes(&bytes) {
            assert_eq!(read, bundle, "bit {bit}");
        }
    }
    for keep in 0..whole.len() {
        assert!(Bundle::from_bytes(&whole[..keep]).is_err(), "{keep} bytes");
    }
}

/// A place in the metadata, counted over all values in it.
fn nth<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|v| nth(v, at)),
        Value::Object(map) => map.values_mut().find_map(|v| nth(v, at)),
        _ => None,
    }
}

fn strange() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(Value::Bool(true)),
        Just(Value::from("rbf(gamma=1)")),
        Just(Value::from("precomputed")),
        Just(Value::from("")),
        Just(Value::Array(Vec::new())),
        Just(Value::Object(serde_json::Map::new())),
        any::<i32>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0u64..8).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes_changed_anywhere(file in 0usize..1000, changes in prop::collection::vec((any::<u64>(), any::<u8>()), 1..6), keep in 0.0..2.0f64) {
        let files = files();
        // Without the checksum, which would refuse nearly all of them before anything else is looked at.
        let mut bytes = unsummed(&files[file % files.len()]);
        // Half of the changes go where the metadata are.
        for (at, byte) in changes {
            let len = if at % 2 == 0 { bytes.len() } else { bytes.len().min(2500) };
            bytes[at as usize / 2 % len] = byte;
        }
        if keep < 1.0 {
            bytes.truncate((bytes.len() as f64 * keep) as usize);
        }
        survive(&bytes);
    }

    #[test]
    fn metadata_changed_anywhere(file in 0usize..1000, changes in prop::collection::vec((0usize..120, strange()), 1..4)) {
        let files = files();
        let mut bundle = Bundle::from_bytes(&files[file % files.len()]).expect("as written");
        for (at, new) in changes {
            if let Some(value) = nth(&mut bundle.meta, &mut at.clone()) {
                *value = new;
            }
        }
        if let Ok(bytes) = bundle.to_bytes() {
            survive(&bytes);
        }
    }

    #[test]
    fn tensors_changed_anywhere(file in 0usize..1000, at in 0usize..100, change in 0usize..5, number in any::<u32>(), real in any::<f64>()) {
        let files = files();
        let mut bundle = Bundle::from_bytes(&files[file % files.len()]).expect("as written");
        let names: Vec<String> = bundle.tensors.keys().cloned().collect();
        let name = &names[at % names.len()];
        let tensor = bundle.tensors.get_mut(name).expect("named");
        match (change, &mut tensor.values) {
            (0, _) => drop(bundle.tensors.remove(name)),
            (1, Values::U32(v)) if !v.is_empty() => { let n = v.len(); v[number as usize % n] = number; }
            (1, Values::U64(v)) if !v.is_empty() => { let n = v.len(); v[number as usize % n] = u64::from(number); }
            (1, Values::F64(v)) if !v.is_empty() => { let n = v.len(); v[number as usize % n] = real; }
            (2, _) => { tensor.shape = vec![0]; tensor.values = Values::F64(Vec::new()); }
            (3, _) => { tensor.shape = vec![3]; tensor.values = Values::U32(vec![number; 3]); }
            (_, _) => tensor.shape.push(1),
        }
        if let Ok(bytes) = bundle.to_bytes() {
            survive(&bytes);
        }
    }
}
