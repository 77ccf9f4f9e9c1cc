//! Golden model files: every kind of model, as each version of the format wrote it, is read and predicts the same.
//!
//! `tests/golden/make` wrote them. Values are compared to nine digits, because sums of kernel values round differently
//! on processors with other vector instructions; predicted labels are compared exactly.

use std::path::{Path, PathBuf};

use mercer::Exec;
use mercer::data::Points;
use mercer::model::{Learner, Model};

use crate::run::Folder;

/// Every model of every folder with the data it was asked about and the expected output.
fn models() -> Vec<(PathBuf, PathBuf, PathBuf)> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).expect("a folder of golden files");
        let mut list: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        list.sort();
        list
    };
    let mut out = Vec::new();
    for folder in folders(&golden).into_iter().filter(|path| path.is_dir()) {
        let files = folders(&folder);
        for model in files.iter().filter(|path| path.extension().is_some_and(|e| e == "mercer")) {
            let stem = model.file_stem().expect("a name").to_string_lossy().into_owned();
            // NAME.mercer was asked about DATA and gave NAME.DATA.csv.
            let (data, expected) = files
                .iter()
                .find_map(|data| {
                    let expected = folder.join(format!("{stem}.{}.csv", data.file_name()?.to_str()?));
                    expected.is_file().then(|| (data.clone(), expected))
                })
                .unwrap_or_else(|| panic!("{} has no expected output", model.display()));
            out.push((model.clone(), data, expected));
        }
    }
    out
}

#[test]
fn models_of_every_version_predict_as_they_did() {
    let models = models();
    assert!(models.len() >= 58, "only {} golden models", models.len());
    let folder = Folder::new();
    for (model, data, expected) in models {
        let (model, data) = (model.to_str().expect("text"), data.to_str().expect("text"));
        let wanted = std::fs::read_to_string(&expected).expect("a golden file");
        let mut args = vec!["--quiet", "--threads", "1"];
        if wanted.starts_with("prediction") {
            args.extend(["predict", data, model]);
            args.push(if model.contains("probability") { "--proba" } else { "--decision" });
            if data.contains("images") {
                args.extend(["--image", "4x4", "--label", "1"]);
            }
        } else {
            args.extend(["pca", "transform", data, model]);
        }
        args.extend(["-o", "out.csv"]);
        folder.mercer_args(&args).fine();
        same(model, &wanted, &folder.read("out.csv"));
    }
}

/// Every model a single bit away from a golden file: files with a checksum are refused or read as what was written, those of
/// the first version, which has none, give a model that predicts or refuses, or an error.
#[test]
fn no_single_bit_of_a_golden_file_goes_unnoticed() {
    let (mut refused, mut tried) = (0, 0);
    for (path, _, _) in models() {
        let name = path.display().to_string();
        let whole = std::fs::read(&path).expect("a golden file");
        let summed = whole.windows(5).any(|w| w == b"crc32");
        let wanted = Model::from_bytes("file", &whole).unwrap_or_else(|e| panic!("{name}: {e}"));
        let wanted = wanted.to_bytes().expect("it was read from bytes");
        // Places that do not repeat: each byte of the length, then steps of a prime.
        for at in (0..8).chain((8..whole.len()).step_by(if summed { 53 } else { 211 })) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            tried += 1;
            match Model::from_bytes("file", &bytes) {
                Err(_) => refused += 1,
                Ok(read) if summed => {
                    assert_eq!(read.to_bytes().expect("read"), wanted, "{name}: a bit of byte {at}");
                }
                Ok(read) => {
                    let _ = read.describe();
                    for columns in [2, 3, 16, 90] {
                        let rows = Points::dense(vec![0.5; 2 * columns], columns).expect("two rows");
                        let _ = read.predict(rows.view(), Exec::one());
                    }
                }
            }
        }
    }
    assert!(tried > 10_000 && refused > tried / 2, "{refused} of {tried} refused");
}

/// A new learner is not done before a file of it is kept.
#[test]
fn every_learner_has_a_golden_file() {
    let kept: Vec<String> = models()
        .iter()
        .map(|(path, _, _)| {
            let bytes = std::fs::read(path).expect("a golden file");
            Model::from_bytes("file", &bytes).expect("a golden file").machine.learner.entry().name.to_owned()
        })
        .collect();
    let missing: Vec<&str> =
        Learner::ALL.iter().map(|entry| entry.name).filter(|name| !kept.iter().any(|k| k == name)).collect();
    assert!(missing.is_empty(), "no golden file of {missing:?}: add a folder by tests/golden/make");
}

/// Fails unless both tables have the same header and labels, and numbers that agree to nine digits.
fn same(model: &str, wanted: &str, got: &str) {
    // A column that had no name of its own may have one now.
    let heads =
        |text: &str| text.lines().next().unwrap_or("").split(',').map(String::from).collect::<Vec<_>>();
    let same = |(w, g): (&String, &String)| w == g || w == "decision";
    assert!(heads(wanted).iter().zip(&heads(got)).all(same), "header of {model}: {:?}", heads(got));
    assert_eq!(wanted.lines().count(), got.lines().count(), "rows of {model}");
    let cells = |text: &str| -> Vec<String> {
        text.lines().skip(1).flat_map(|line| line.split(',').map(String::from).collect::<Vec<_>>()).collect()
    };
    let (wanted, got) = (cells(wanted), cells(got));
    assert_eq!(wanted.len(), got.len(), "cells of {model}");
    for (w, g) in wanted.iter().zip(&got) {
        match (w.parse::<f64>(), g.parse::<f64>()) {
            (Ok(a), Ok(b)) => {
                assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{model}: {w} became {g}");
            }
            _ => assert_eq!(w, g, "{model}"),
        }
    }
}
