//! Models of a stranger: whole files whose numbers no training gives. Whatever is asked of them, the outcome is finite or an
//! error in words, and what is made of them can be written and read again. And files of which nobody says what they are.

use mercer::assess::bounds::Bounds;
use mercer::data::io::{self, Format, ReadOptions};
use mercer::data::{Csr, Dataset, ImageShape, Labels, Points, Targets, toy};
use mercer::kernel::Kernel;
use mercer::model::{CompressParams, Goal, Learner, Model, Sample, Task};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Size};
use mercer::watch::silent;
use mercer::{Error, Exec};
use serde_json::Value;

const ROWS: usize = 14;
const KERNELS: [&str; 3] = ["rbf(gamma=0.5)", "poly(degree=3)", "sigmoid(scale=0.1, shift=-2)"];
/// What the numbers of an array are multiplied by.
const FACTORS: [f64; 5] = [1e-310, 1e60, 1e155, 1e300, -1.0];

fn targets(task: Task) -> Targets {
    match task {
        Task::Classification => Targets::Classes(Labels::new((0..ROWS).map(|i| ["a", "b"][i % 2]))),
        Task::Regression => Targets::Reals((0..ROWS).map(|i| (i % 3) as f64).collect()),
        _ => Targets::None,
    }
}

/// A small model of every learner with every task it is for, and with calibrated probabilities where it has them.
fn models() -> Vec<(String, Task, Model)> {
    let (points, _) = toy::banana(ROWS, 3);
    let mut all = Vec::new();
    for entry in Learner::ALL {
        for (&task, line) in entry.tasks.iter().flat_map(|task| KERNELS.map(|line| (task, line))) {
            for calibrated in [false, true] {
                let mut learner = entry.learner();
                for (name, value) in [("rounds", 5), ("bounces", 50), ("clusters", 2)] {
                    if entry.takes(name) {
                        learner.set(name, value.into()).expect("a number");
                    }
                }
                if calibrated && !entry.takes("probability") {
                    continue;
                }
                if calibrated {
                    learner.set("probability", true.into()).expect("a flag");
                }
                learner.set_kernel(line.parse::<Kernel>().expect(line));
                let (data, name) = (targets(task), format!("{} to {}, {line}", entry.name, task.verb()));
                if let Ok(machine) = learner.fit(Sample::new(&points, &data), Exec::one(), &mut silent()) {
                    all.push((name, task, Model::from(machine)));
                }
            }
        }
    }
    let calibrated = all.iter().filter(|(_, _, model)| model.machine.has_probabilities()).count();
    assert!(all.len() > 60 && calibrated > 3, "{} models, {calibrated} of them calibrated", all.len());
    all
}

/// The rows of the training in every storage.
fn storages() -> [Points; 3] {
    let (points, _) = toy::banana(ROWS, 3);
    let values = points.view().to_f64().expect("numbers");
    let csr = Csr {
        start: (0..=ROWS).map(|i| 2 * i).collect(),
        column: [0, 1].repeat(ROWS),
        value: values.clone(),
    };
    let narrow = values.iter().map(|&v| v as f32).collect();
    [points, Points::dense_f32(narrow, 2).expect("rows"), Points::sparse(csr, 2).expect("rows")]
}

/// The model with one of its arrays multiplied, where a file may hold that.
fn changed(whole: &Value, tensor: &str, factor: f64) -> Option<Model> {
    let mut whole = whole.clone();
    for value in whole["tensors"][tensor]["values"].as_array_mut()? {
        let product = value.as_f64()? * factor;
        *value = serde_json::json!(product.clamp(f64::MIN, f64::MAX));
    }
    Model::from_json("changed", whole.to_string().as_bytes()).ok()
}

#[track_caller]
fn in_words(error: &Error, name: &str) {
    let said = error.to_string();
    assert!(!matches!(error, Error::Cancelled) && said.len() > 15, "{name}: {said}");
}

/// All outputs are finite, or there is an error in words.
#[track_caller]
fn finite(model: &Model, points: &Points, name: &str) -> bool {
    match model.decision(points.view(), Exec::one()) {
        Ok(f) => assert!(f.iter().all(|v| v.is_finite()), "{name}: {f:?}"),
        Err(e) => {
            in_words(&e, name);
            return false;
        }
    }
    match model.predict(points.view(), Exec::one()) {
        Ok(told) => assert_eq!(told.len(), Some(points.len()), "{name}"),
        Err(e) => in_words(&e, name),
    }
    if let Ok(p) = model.probabilities(points.view(), Exec::one()) {
        assert!(p.values.iter().all(|v| (0.0..=1.0).contains(v)), "{name}: {:?}", p.values);
    }
    true
}

/// What is written can be read.
#[track_caller]
fn is_written(model: &Model, name: &str) {
    let bytes = model.to_bytes().unwrap_or_else(|e| panic!("{name}: {e}"));
    Model::from_bytes("memory", &bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    let json = model.to_json().unwrap_or_else(|e| panic!("{name}: {e}"));
    Model::from_json("memory", json.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
    if let Ok(text) = model.to_libsvm() {
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}: {text}");
    }
}

#[test]
fn whatever_numbers_a_model_holds_it_is_used_or_refused_in_words() {
    let storages = storages();
    let (mut compressed, mut refused) = (0, 0);
    for (name, task, model) in models() {
        let whole: Value = serde_json::from_str(&model.to_json().expect("a plain kernel")).expect("JSON");
        let arrays: Vec<String> = whole["tensors"].as_object().expect("arrays").keys().cloned().collect();
        for (tensor, factor) in arrays.iter().flat_map(|tensor| FACTORS.map(|factor| (tensor, factor))) {
            let name = format!("{name}, {tensor} by {factor}");
            let Some(model) = changed(&whole, tensor, factor) else { continue };
            is_written(&model, &name);
            for (at, points) in storages.iter().enumerate() {
                finite(&model, points, &name);
                let data = Dataset::new(points.clone(), targets(task)).expect("a target a row");
                for given in [None, Some(&data)] {
                    if let Err(e) = model.explain(given, Exec::one(), &mut silent()) {
                        in_words(&e, &name);
                    }
                    let method = [ReducedSetMethod::Auto, ReducedSetMethod::Greedy][at % 2];
                    let set = ReducedSetParams { method, starts: 4, ..ReducedSetParams::default() };
                    let goal = Goal::Size(Size::Vectors(2));
                    let params = CompressParams { goal, set, ..CompressParams::default() };
                    match model.compress(&params, given, Exec::one(), &mut silent()) {
                        Ok(small) => {
                            let (error, agreement) = (small.about.set.error, small.about.agreement);
                            assert!(error.is_finite() && (0.0..=1.0).contains(&agreement), "{name}");
                            is_written(&small.model, &name);
                            finite(&small.model, points, &name);
                            compressed += 1;
                        }
                        Err(e) => {
                            in_words(&e, &name);
                            refused += 1;
                        }
                    }
                }
                if let Err(e) = Bounds::of(&model, &data, 0.05, Exec::one(), &mut silent()) {
                    in_words(&e, &name);
                }
            }
        }
    }
    assert!(
        compressed > 1000 && refused > 300,
        "{compressed} compressed, {refused} refused: no subject left"
    );
}

#[test]
fn models_of_every_format_are_told_from_data_of_every_format() {
    let head = |bytes: &[u8]| bytes[..bytes.len().min(Model::HEAD)].to_vec();
    let (mut own, mut libsvm) = (0, 0);
    for (name, _, model) in models() {
        let bytes = model.to_bytes().expect("plain");
        // A broken model is told as one too.
        assert!(Model::is_beginning(&head(&bytes)) && Model::is_beginning(&bytes[..100]), "{name}");
        let json = model.to_json().expect("plain");
        assert!(Model::is_beginning(&head(json.as_bytes())), "{name} as JSON");
        own += 1;
        if let Ok(text) = model.to_libsvm() {
            assert!(Model::is_beginning(&head(text.as_bytes())), "{name} as LIBSVM text");
            libsvm += 1;
        }
    }
    assert!(own > 10 && libsvm > 0, "{own} models, {libsvm} of them as LIBSVM text");
    let folder = tempfile::tempdir().expect("a folder");
    let plain = Dataset::new(storages()[0].clone(), targets(Task::Classification)).expect("a label per row");
    let pixels = Points::dense(vec![0.0, 80.0, 160.0, 255.0], 4)
        .and_then(|p| p.with_image(ImageShape::grey(2, 2)))
        .and_then(|p| Dataset::new(p, Targets::None))
        .expect("a picture");
    let words = io::read_bytes("s", b"x\tACGT\ny\tTTGA\n", &ReadOptions::default()).expect("sequences");
    for row in io::FORMATS.iter().filter(|row| row.writable()) {
        let data = match row.format {
            Format::Sequences | Format::Fasta => &words,
            Format::Png | Format::Pnm => &pixels,
            _ => &plain,
        };
        for packed in ["", ".gz", ".bz2", ".xz", ".zst"] {
            let path = folder.path().join(format!("w.{}{packed}", row.extensions[0]));
            io::write(&path, data).expect("written");
            let bytes = std::fs::read(&path).expect("written");
            assert!(!Model::is_beginning(&head(&bytes)), "{}", path.display());
        }
    }
    assert!(!Model::is_beginning(b"svm_type,b,class\n1,2,x\n") && !Model::is_beginning(b""));
}

#[test]
fn a_header_whose_length_looks_like_text_is_a_header() {
    let (_, _, mut model) = models().swap_remove(0);
    model.names.columns = vec!["a".into(), "b".into()];
    // A blank and an opening brace, which begin a JSON text too.
    let wanted = u64::from_le_bytes(*b" {\0\0\0\0\0\0");
    let length = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("a length"));
    let before = length(&model.to_bytes().expect("plain"));
    let mut name = "a".repeat((wanted - before) as usize);
    let bytes = loop {
        model.names.columns[0].clone_from(&name);
        let bytes = model.to_bytes().expect("plain");
        match length(&bytes) {
            found if found < wanted => name.push('a'),
            found if found > wanted => _ = name.pop(),
            _ => break bytes,
        }
    };
    assert!(bytes.starts_with(b" {") && Model::is_beginning(&bytes));
    assert_eq!(Model::from_any("memory", &bytes).expect("a model"), model);
}
