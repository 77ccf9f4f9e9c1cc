//! docs/libsvm.md: each row of its tables is run, ours beside LIBSVM's.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::run::Folder;

/// Whether LIBSVM's commands are here (Debian: libsvm-tools); ./test installs them.
fn installed() -> bool {
    ["svm-train", "svm-predict", "svm-scale"].iter().all(|c| Command::new(c).output().is_ok())
}

fn libsvm(folder: &Folder, command: &str, args: &str) -> String {
    let place = folder.path("x");
    let mut run = Command::new(command);
    run.args(args.split_whitespace()).current_dir(place.parent().expect("a folder"));
    let out = run.output().expect("installed");
    assert!(out.status.success(), "{command} {args}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// The cells of the tables' rows in backticks: LIBSVM's side and ours.
fn rows() -> Vec<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/libsvm.md");
    let text = std::fs::read_to_string(file).expect("the page is there");
    let table = text.lines().filter(|line| line.starts_with('|') && line.contains('`'));
    let cell = |text: &str| text.trim().trim_matches('`').to_owned();
    table
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            (cell(cells[0]), cell(cells[1]))
        })
        .collect()
}

/// Words of a line, with 'quoted ones' in one piece.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

fn ours(folder: &Folder, line: &str) -> crate::run::Run {
    let words = words(line);
    folder.mercer_args(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Two classes `-1` and `1`, or numbers, in two columns.
fn data(rows: usize, seed: usize, reals: bool) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let wave = |k: f64| ((i + 31 * seed) as f64 * k).sin();
        let (x, y) = (2.0 * wave(1.37), 2.0 * wave(2.91));
        let f = x * y + 0.3 * wave(5.3);
        let label = if reals { format!("{f}") } else { if f > 0.0 { "1" } else { "-1" }.to_owned() };
        writeln!(text, "{label} 1:{x} 2:{y}").expect("room");
    }
    text
}

fn folder() -> Folder {
    Folder::new()
        .with("data", data(80, 0, false))
        .with("test", data(40, 1, false))
        .with("reals", data(80, 0, true))
        .with("realtest", data(40, 1, true))
}

/// The outputs of a model on new rows.
fn outputs(folder: &Folder, test: &str, model: &str) -> Vec<f64> {
    let run = folder.mercer(&format!("predict {test} {model} --decision --format json")).fine();
    let rows = run.json()["values"].as_array().expect("rows").clone();
    rows.iter().map(|row| row[0].as_f64().expect("a number")).collect()
}

fn close(a: &[f64], b: &[f64], row: &str) {
    assert_eq!(a.len(), b.len());
    let size = a.iter().fold(1.0, |s: f64, v| s.max(v.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 2e-3 * size, "{row}: LIBSVM {a}, Mercer {b}");
    }
}

/// A row of options: both train on the same data with everything else the same.
fn options(folder: &Folder, theirs: &str, mine: &str) {
    let reals = theirs.starts_with("-s 3") || theirs.starts_with("-s 4");
    let (data, test) = if reals { ("reals", "realtest") } else { ("data", "test") };
    let kernel = theirs.contains("-t ");
    let tol = theirs.contains("-e ");
    let their_base = format!(
        "{}{}{}",
        if kernel { "" } else { " -g 0.5" },
        if tol { "" } else { " -e 0.00001" },
        if theirs.contains("-c ") { "" } else { " -c 1" }
    );
    let takes_c = !["nu-svc", "one-class"].iter().any(|l| mine.contains(l)) && !mine.contains("-c ");
    let my_base = format!(
        "--scale none{}{}{}",
        if kernel { "" } else { " --gamma 0.5" },
        if tol { "" } else { " --tol 0.00001" },
        if takes_c { " -c 1" } else { "" }
    );
    libsvm(folder, "svm-train", &format!("-q {theirs}{their_base} {data} theirs"));
    let run = ours(folder, &format!("train {data} {mine} {my_base} -o mine"));
    run.fine();
    close(&outputs(folder, test, "theirs"), &outputs(folder, test, "mine"), theirs);
}

#[test]
fn every_row_of_the_table_is_so() {
    if !installed() {
        return;
    }
    let folder = folder();
    let rows = rows();
    assert!(rows.len() >= 23, "{}", rows.len());
    let mut run = 0;
    for (theirs, mine) in &rows {
        run += 1;
        match theirs.as_str() {
            "svm-train data model" => {
                libsvm(&folder, "svm-train", "-q data model");
                ours(&folder, mine.strip_prefix("mercer ").expect("a command")).fine();
            }
            "-t 4" => precomputed(&folder, mine),
            "-b 1" => probabilities(&folder, mine),
            "-q" => {
                assert_eq!(libsvm(&folder, "svm-train", "-q data model"), "");
                assert_eq!(ours(&folder, &format!("train data {mine} -o model")).fine().out, "");
            }
            "-v 5" => {
                assert!(libsvm(&folder, "svm-train", "-q -v 5 data").contains("Cross Validation Accuracy"));
                let out = ours(&folder, &format!("train data {mine}")).fine().out;
                assert!(out.contains("5 folds"), "{out}");
            }
            "svm-predict test model out" | "svm-predict -q test model out" => {
                predicted(&folder, theirs, mine);
            }
            "svm-predict -b 1 test model out" => {
                ours(&folder, "train data --probability -o model -q").fine();
                ours(&folder, mine.strip_prefix("mercer ").expect("a command")).fine();
                assert!(folder.read("out").starts_with("prediction,-1,1\n"), "{}", folder.read("out"));
            }
            "the accuracy it prints" => {
                libsvm(&folder, "svm-train", "-q -g 0.5 data model");
                let said = libsvm(&folder, "svm-predict", "test model out");
                let run = ours(
                    &folder,
                    &format!("{} --format json", mine.strip_prefix("mercer ").expect("a command")),
                );
                let error = run.fine().json()["error"].as_f64().expect("a number");
                let accuracy = format!("Accuracy = {}%", (1000.0 * (100.0 * (1.0 - error))).round() / 1000.0);
                assert!(said.starts_with(&accuracy), "{said} {accuracy}");
            }
            "svm-scale -l -1 -u 1" => scaled(&folder, theirs, mine),
            _ if theirs.starts_with('-') => options(&folder, theirs, mine),
            _ => panic!("nobody tests the row `{theirs}`"),
        }
    }
    assert_eq!(run, rows.len());
}

/// The matrix as LIBSVM wants it, with serial numbers, and as a plain table.
fn precomputed(folder: &Folder, mine: &str) {
    let text = folder.read("data");
    let points: Vec<(String, f64, f64)> = text
        .lines()
        .map(|line| {
            let w: Vec<&str> = line.split([' ', ':']).collect();
            (w[0].to_owned(), w[2].parse().expect("a number"), w[4].parse().expect("a number"))
        })
        .collect();
    let (mut theirs, mut table) = (String::new(), String::new());
    for (i, a) in points.iter().enumerate() {
        let values: Vec<f64> =
            points.iter().map(|b| (-0.5 * ((a.1 - b.1).powi(2) + (a.2 - b.2).powi(2))).exp()).collect();
        write!(theirs, "{} 0:{}", a.0, i + 1).expect("room");
        values.iter().enumerate().for_each(|(j, v)| write!(theirs, " {}:{v}", j + 1).expect("room"));
        theirs.push('\n');
        values.iter().for_each(|v| write!(table, "{v},").expect("room"));
        writeln!(table, "{}", a.0).expect("room");
    }
    std::fs::write(folder.path("matrix"), theirs).expect("written");
    std::fs::write(folder.path("matrix.csv"), table).expect("written");
    libsvm(folder, "svm-train", "-q -t 4 -c 1 -e 0.00001 matrix theirs");
    libsvm(folder, "svm-predict", "matrix theirs out");
    ours(folder, &format!("train matrix.csv {mine} -c 1 --tol 0.00001 --targets classes -o mine")).fine();
    let run = ours(folder, "predict matrix.csv mine").fine();
    assert_eq!(run.out, folder.read("out"), "-t 4");
}

/// Both draw their own folds: labels agree nearly everywhere, probabilities roughly.
fn probabilities(folder: &Folder, mine: &str) {
    libsvm(folder, "svm-train", "-q -b 1 -g 0.5 data theirs");
    libsvm(folder, "svm-predict", "-b 1 test theirs out");
    ours(folder, &format!("train data {mine} --scale none --gamma 0.5 -o mine -q")).fine();
    let json = folder.mercer("predict test mine --proba --format json").fine().json();
    let text = folder.read("out");
    let mut lines = text.lines();
    let order: Vec<&str> = lines.next().expect("a head").split_whitespace().skip(1).collect();
    let positive = 1 + order.iter().position(|&name| name == "1").expect("the class 1");
    let mut apart = 0.0;
    for (i, line) in lines.enumerate() {
        let p: f64 = line.split_whitespace().nth(positive).expect("a value").parse().expect("a number");
        apart += (p - json["values"][i][1].as_f64().expect("a number")).abs() / 40.0;
    }
    assert!(apart < 0.1, "-b 1: {apart}");
}

fn predicted(folder: &Folder, theirs: &str, mine: &str) {
    libsvm(folder, "svm-train", "-q -g 0.5 data model");
    libsvm(folder, "svm-predict", theirs.strip_prefix("svm-predict ").expect("a command"));
    let wanted = folder.read("out");
    std::fs::remove_file(folder.path("out")).expect("just written");
    let run = ours(folder, mine.strip_prefix("mercer ").expect("a command")).fine();
    assert_eq!(run.out.is_empty(), mine.contains("--quiet"));
    assert_eq!(folder.read("out"), wanted, "{theirs}");
}

fn scaled(folder: &Folder, theirs: &str, mine: &str) {
    let options = theirs.strip_prefix("svm-scale ").expect("a command");
    let text = libsvm(folder, "svm-scale", &format!("{options} -s ranges data"));
    std::fs::write(folder.path("scaled"), text).expect("written");
    let text = libsvm(folder, "svm-scale", "-r ranges test");
    std::fs::write(folder.path("scaledtest"), text).expect("written");
    libsvm(folder, "svm-train", "-q -g 0.5 -e 0.00001 scaled theirs");
    let line = mine.strip_prefix("mercer ").expect("a command");
    ours(folder, &format!("{line} --gamma 0.5 --tol 0.00001 -o mine")).fine();
    close(&outputs(folder, "scaledtest", "theirs"), &outputs(folder, "test", "mine"), theirs);
}

#[test]
fn a_model_of_libsvm_is_not_explained_with_defaults() {
    let text = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\n\
                SV\n1 1:1 2:0.5\n-1 1:0.2 2:2\n";
    let folder = Folder::new().with("theirs.model", text);
    folder.mercer("convert theirs.model --to safetensors -o ours.mercer -q").fine();
    for model in ["theirs.model", "ours.mercer"] {
        let said = folder.mercer(&format!("explain {model}")).fine().out;
        assert!(!said.contains("c = 1"), "{said}");
        assert!(said.contains("fitted with") && said.contains("does not contain"), "{said}");
        let json = folder.mercer(&format!("explain {model} --format json")).fine().out;
        let seen: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(seen["settings"], serde_json::json!([]));
        assert!(seen["model"]["params"].get("c").is_none(), "{json}");
        folder.mercer(&format!("explain {model} --report r.html -q")).fine();
        assert!(!folder.read("r.html").contains(">R^2<"));
    }
}
