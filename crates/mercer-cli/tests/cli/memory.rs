//! Small files that claim much: memory is bounded by a multiple of the bytes read plus `--memory`, and running out of it
//! is a message. Measured from outside, by a limit on the address space.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use crate::run::Folder;

/// KiB of address space: the program, its threads and their arenas, and a little.
const SPACE: u32 = 1_500_000;

/// A sparse row whose last column is LIBSVM's largest.
const WIDE: &str = "1 1:1 5:2\n-1 2:1 2147483647:1\n1 1:2 3:1\n-1 2:2 2147483647:2\n1 1:1 4:1\n-1 2:1 4:2\n";

const MODEL: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 4\nrho 0\nlabel 1 -1\nnr_sv 2 2\n\
                     SV\n1 1:1\n0.5 2147483647:1\n-1 2:1\n-0.5 3:1 2147483646:2\n";

/// Runs under the limit; every line must end by itself, with a result or with a message.
#[track_caller]
fn bounded(folder: &Folder, line: &str) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_mercer");
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {SPACE}; exec '{program}' {line} --threads 2")])
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("sh is there");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    let code = output.status.code().unwrap_or_else(|| panic!("{line}: {:?}\n{err}", output.status));
    assert!(code <= 2 && !err.contains("panicked"), "{line}: code {code}\n{err}");
    assert!(code == 0 || err.starts_with("error: "), "{line}: {err}");
    (code, out, err)
}

#[test]
fn columns_that_are_only_claimed_cost_nothing() {
    let folder = Folder::new().with("w.svm", WIDE).with("w.model", MODEL);
    for line in [
        "data info w.svm",
        "data convert w.svm o.svm",
        "data convert w.svm o.csv",
        "data convert w.svm o.npy",
        "data info w.svm --storage f32",
        "data info w.svm --storage f64",
        "data split w.svm a.svm b.svm",
        "train w.svm -o a.mercer",
        "train w.svm -o a.mercer --kernel linear",
        "train w.svm -o a.mercer --scale standard",
        "train w.svm -o a.mercer --scale minmax",
        "train w.svm -o a.mercer --scale unit",
        "train w.svm -o a.mercer --learner adaboost",
        "train w.svm -o a.mercer --learner adaboost --set base=stump",
        "train w.svm -o a.mercer --learner rbf-network --set centres=2",
        "train w.svm -o a.mercer --learner ridge --kernel linear",
        "train w.svm -o a.mercer --learner kfd",
        "train w.svm -o a.mercer --learner knn",
        "novelty w.svm -o n.mercer",
        "cluster w.svm -o n.mercer",
        "tune w.svm -c 1,10 --gamma 1 --folds 2",
        "pca fit w.svm -o p.pca",
        "denoise w.svm -o d.svm",
        "predict w.svm w.model",
        "evaluate w.svm w.model",
        "explain w.model",
        "explain w.model w.svm",
        "explain w.model --report w.html",
        "compress w.model -o c.model --vectors 2",
        "compress w.model w.svm -o c.model --vectors 2",
        "compress w.model -o c.model --vectors 2 --method fixed-point",
        "compress w.model -o c.model --vectors 2 --method greedy",
        "compress w.model -o c.model --vectors 2 --method kpca",
        "compress w.model -o c.model --vectors 2 --method l1",
        "compress w.model -o c.model --vectors 2 --method exact",
        "train w.svm -o a.mercer --report a.html",
        "evaluate w.svm w.model --report e.html",
        "convert w.model --to safetensors -o s.mercer",
        "convert w.model --to json -o s.json",
        "convert w.model --to onnx -o s.onnx",
        "convert w.model --to libsvm -o s.model",
    ] {
        bounded(&folder, line);
    }
    // What needs no dense row works as ever.
    let (code, out, err) = bounded(&folder, "predict w.svm w.model");
    assert!(code == 0 && out.lines().count() == 6, "{err}");
    let (code, _, err) = bounded(&folder, "data convert w.svm o.csv");
    assert!(
        code == 1 && err.contains("needs") && err.contains("allowed") && err.contains("--memory"),
        "{err}"
    );
}

#[test]
fn a_model_cannot_claim_pairs_columns_or_centres() {
    let folder = Folder::new();
    folder.mercer("data toy banana b.svm --rows 30 -q").fine();
    folder.mercer("train b.svm -o m.mercer -q").fine();
    folder.mercer("convert m.mercer --to json -o m.json -q").fine();
    let whole: serde_json::Value = serde_json::from_str(&folder.read("m.json")).expect("JSON");
    let mut names = whole.clone();
    names["model"]["machine"]["role"]["classes"] = (0..100_000).map(|i| format!("c{i}")).collect();
    let mut columns = whole.clone();
    columns["model"]["machine"]["expansion"]["centres"]["kind"] = "sparse".into();
    columns["model"]["machine"]["expansion"]["centres"]["columns"] = (1u64 << 62).into();
    let mut rows = whole;
    rows["model"]["machine"]["expansion"]["centres"]["rows"] = (1u64 << 62).into();
    let folder = folder
        .with("names.json", names.to_string())
        .with("columns.json", columns.to_string())
        .with("rows.json", rows.to_string());
    for model in ["names.json", "columns.json", "rows.json"] {
        for line in ["predict b.svm M", "explain M", "compress M -o c.mercer --vectors 2"] {
            let (code, _, err) = bounded(&folder, &line.replace('M', model));
            assert!(code == 1 && err.contains(model), "{line} {model}: {err}");
        }
    }
    // Sparse centres of a model, with as many columns as fit a file and not a computer.
    let wide = Folder::new().with("w.svm", WIDE);
    let (code, _, err) = bounded(&wide, "train w.svm -o w.mercer --scale none");
    assert_eq!(code, 0, "{err}");
    for line in ["predict w.svm w.mercer", "explain w.mercer", "compress w.mercer -o c.mercer --vectors 2"] {
        bounded(&wide, line);
    }
}

#[test]
fn packed_files_names_and_kernels_stay_within_the_limit() {
    let sequence = |i: usize| format!("{}\t{}\n", i % 2, "ACGTTGCA".repeat(3 + i % 3));
    let sequences: String = (0..20).map(sequence).collect();
    let names: Vec<String> = (0..60_000).map(|i| format!("c{i}")).collect();
    let zeros = vec!["0"; 60_000].join(",");
    let folder = Folder::new()
        .with("s.seq", sequences)
        .with("names.csv", format!("{}\n{zeros}\n{zeros}\n", names.join(",")));
    let packed = "(printf 'P5\\n60000 1000\\n255\\n'; head -c 60000000 /dev/zero) | gzip -9 > p.pgm.gz";
    let made = Command::new("sh").args(["-c", packed]).current_dir(folder.path("")).status().expect("sh");
    assert!(made.success());
    for line in ["data info p.pgm.gz", "data convert p.pgm.gz o.csv", "denoise p.pgm.gz -o o.png"] {
        let (code, _, err) = bounded(&folder, line);
        assert!(code == 1 && err.contains("needs"), "{line}: {err}");
    }
    // A word of 255 letters has 650,000 neighbours: they are counted, not listed.
    for kernel in ["mismatch(k=5, m=2, letters=255)", "mismatch(k=3, m=1)"] {
        let (code, _, err) = bounded(&folder, &format!("train s.seq -o o.mercer --kernel '{kernel}'"));
        assert_eq!(code, 0, "{kernel}: {err}");
    }
    let long = format!("0\t{}\n1\t{}\n", "ACGTTGCA".repeat(20_000), "TTGACCGA".repeat(20_000));
    let folder = folder.with("long.seq", long);
    let (code, _, err) =
        bounded(&folder, "train long.seq -o o.mercer --kernel 'mismatch(k=8, m=3, letters=20)'");
    assert!(code == 1 && err.contains("needs"), "{err}");
    let (code, _, err) = bounded(&folder, "data info names.csv --label none");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn sources_without_an_end_are_refused() {
    let folder = Folder::new().with("w.svm", WIDE).with("w.model", MODEL);
    for line in [
        "data info /dev/zero",
        "train /dev/zero -o o.mercer",
        "predict /dev/zero w.model",
        "predict w.svm /dev/zero",
        "explain /dev/zero",
        "data info w.svm --labels /dev/zero",
    ] {
        let (code, _, err) = bounded(&folder, &format!("{line} --memory 64M"));
        assert!(code == 1 && err.contains("error: "), "{line}: {err}");
    }
    let endless = format!("yes 1,2,3 | '{}' data info - --memory 16M", env!("CARGO_BIN_EXE_mercer"));
    let output = Command::new("sh").args(["-c", &endless]).output().expect("sh is there");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && err.contains("standard input"), "{err}");
}

#[test]
fn the_memory_of_a_run_holds_for_every_call() {
    let folder = Folder::new().with("large.mercer", vec![b'{'; 3 << 20]);
    folder.mercer("data toy banana b.csv --rows 600 -q").fine();
    folder.mercer("train b.csv -o m.mercer -q").fine();
    // What needs the whole kernel matrix in f64 is refused, in training and in cross-validation alike.
    for line in ["train b.csv -o k.mercer --learner kfd", "tune b.csv --learner kfd --gamma 1 --folds 2"] {
        let (code, _, err) = bounded(&folder, &format!("{line} --memory 1M"));
        assert!(code == 2 && err.contains("in this memory"), "{line}: {err}");
        let (code, _, err) = bounded(&folder, line);
        assert_eq!(code, 0, "{line}: {err}");
    }
    let complete = "pca fit b.csv -o q.mercer -k 'rbf(gamma=1)' --method complete --memory 1M";
    let (code, _, err) = bounded(&folder, complete);
    assert!(code == 2 && err.contains("memory = 1048576"), "{err}");
    // What needs no matrix goes on in little memory.
    for line in [
        "train b.csv -o n.mercer -q",
        "tune b.csv -c 1 --gamma 1 --folds 2 -q",
        "predict b.csv m.mercer",
        "compress m.mercer -o c.mercer --vectors 5 -q",
        "data convert b.csv o.npy -q",
    ] {
        let (code, _, err) = bounded(&folder, &format!("{line} --memory 1M"));
        assert_eq!(code, 0, "{line}: {err}");
    }
    for line in ["predict b.csv large.mercer", "explain large.mercer"] {
        let (code, _, err) = bounded(&folder, &format!("{line} --memory 1M"));
        assert!(code == 1 && err.contains("needs 3.0 MiB") && err.contains("--memory"), "{line}: {err}");
    }
}

#[test]
fn memory_is_no_parameter_of_a_learner() {
    let folder = Folder::new().with("a.csv", "x,y\n1,a\n2,b\n");
    folder
        .mercer("train a.csv -o m.mercer --learner ridge --set memory=1000000")
        .fails(2, "error: ridge has no parameter memory\nhint: --memory SIZE limits the whole run\n");
}
