//! Pipes and standard input: every command that reads data reads it once, whatever it then makes of it, and a person who
//! gives up waiting for it is not made to wait.

#![cfg(unix)]

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mercer::data::io::{FORMATS, Format};

use crate::run::Folder;

/// A table, the same as NPY in both precisions, and models of them.
fn folder() -> Folder {
    let row = |i: usize| {
        let at = (i % 2 * 5) as f64;
        format!("{},{},{}\n", at + (i as f64 * 0.37).sin(), at + (i as f64 * 0.61).cos(), ["u", "v"][i % 2])
    };
    let table: String = (0..40).map(row).collect();
    let points = |line: &str| format!("{}\n", line.rsplit_once(',').expect("a label").0);
    let bare: String = table.lines().map(points).collect();
    let folder = Folder::new().with("z_t.csv", format!("a,b,kind\n{table}")).with("z_n.csv", bare);
    folder.mercer("data convert z_n.csv z_d.npy --label none -q").fine();
    let double = std::fs::read(folder.path("z_d.npy")).expect("written");
    let folder = folder.with("z_s.npy", single(&double));
    for (model, data) in
        [("t.mercer", "z_t.csv"), ("n.mercer", "z_n.csv --label none"), ("d.mercer", "z_d.npy")]
    {
        folder.mercer(&format!("train {data} -o {model} -q")).fine();
    }
    folder.mercer("pca fit z_n.csv --label none --components 2 -o n.pca -q").fine();
    folder.mercer("pca transform z_n.csv n.pca -o z_f.csv --label none -q").fine();
    folder.mercer("data convert z_f.csv z_g.npy --label none -q").fine();
    folder.mercer("data convert z_t.csv l.npy -q").fine();
    let features = single(&std::fs::read(folder.path("z_g.npy")).expect("written"));
    folder.with("z_h.npy", features)
}

/// An NPY file of f64 as one of f32.
fn single(double: &[u8]) -> Vec<u8> {
    let start = 10 + usize::from(u16::from_le_bytes([double[8], double[9]]));
    let mut out = double[..start].to_vec();
    let at = out.windows(3).position(|w| w == b"<f8").expect("its type");
    out[at + 2] = b'4';
    for value in double[start..].as_chunks::<8>().0 {
        out.extend((f64::from_le_bytes(*value) as f32).to_le_bytes());
    }
    out
}

/// Command lines with `@` for the data, and the files that can stand there.
const LINES: &[(&str, &[&str])] = &[
    ("data info @", &["z_t.csv", "z_n.csv", "z_d.npy", "z_s.npy"]),
    ("data convert @ out.csv", &["z_t.csv", "z_d.npy", "z_s.npy"]),
    ("data split @ a.csv b.csv", &["z_t.csv"]),
    ("train @ -o o.mercer", &["z_t.csv", "z_n.csv", "z_d.npy", "z_s.npy"]),
    ("novelty @ -o o.mercer", &["z_t.csv", "z_n.csv", "z_d.npy", "z_s.npy"]),
    ("cluster @ -o o.mercer", &["z_t.csv", "z_n.csv", "z_d.npy", "z_s.npy"]),
    ("tune @ -c 1 --gamma 1 --folds 2", &["z_t.csv"]),
    ("predict @ t.mercer", &["z_t.csv", "z_n.csv", "z_d.npy", "z_s.npy"]),
    ("predict @ n.mercer", &["z_n.csv", "z_d.npy", "z_s.npy"]),
    ("evaluate @ t.mercer", &["z_t.csv"]),
    ("explain t.mercer @", &["z_t.csv"]),
    ("explain n.mercer @", &["z_n.csv", "z_d.npy", "z_s.npy"]),
    ("bounds t.mercer @", &["z_t.csv"]),
    ("compare t.mercer t.mercer @", &["z_t.csv"]),
    ("pca fit @ -o o.pca --components 2 --label none", &["z_n.csv", "z_d.npy", "z_s.npy"]),
    ("pca transform @ n.pca -o f.csv", &["z_n.csv", "z_d.npy", "z_s.npy"]),
    ("denoise @ -o clean.csv --noise 0.5 --components 1 --kernel linear", &["z_d.npy", "z_s.npy"]),
    ("denoise @ -o plain.csv --noise 0.5", &["z_d.npy", "z_s.npy"]),
    ("denoise z_g.npy --train @ -o plain.csv --components 1 --kernel linear", &["z_d.npy", "z_s.npy"]),
    ("train @ -o o.mercer --labels l.labels.npy", NPY),
    ("train @ -o o.mercer --labels l.labels.npy --learner large --set centres=5", NPY),
    ("tune @ -c 1 --gamma 1 --folds 2 --labels l.labels.npy", NPY),
    ("evaluate @ t.mercer --labels l.labels.npy", NPY),
    ("explain t.mercer @ --labels l.labels.npy", NPY),
    ("explain t.mercer --importance @", &["z_t.csv"]),
    ("bounds t.mercer @ --labels l.labels.npy", NPY),
    ("compare t.mercer t.mercer @ --labels l.labels.npy", NPY),
    ("compress t.mercer @ --vectors 2 -o o.mercer", &["z_t.csv", "z_d.npy", "z_s.npy"]),
    ("predict z_t.csv t.mercer --reject-rate 0.1 --reject-on @", &["z_t.csv"]),
    ("pca inverse @ n.pca -o i.csv", &["z_f.csv", "z_g.npy", "z_h.npy"]),
    ("pca show n.pca @ -o s.html", &["z_n.csv", "z_d.npy", "z_s.npy"]),
    ("kernel check rbf(gamma=1) @", &["z_n.csv", "z_d.npy", "z_s.npy"]),
    ("kernel gram @ --kernel linear", &["z_n.csv", "z_d.npy", "z_s.npy"]),
];

/// The same numbers in both precisions.
const NPY: &[&str] = &["z_d.npy", "z_s.npy"];

/// Commands that read models, pages or nothing but their arguments; the lab and the service are tested in crates of their own.
const OTHERS: &[&str] = &[
    "tour",
    "lab",
    "convert",
    "serve",
    "reproduce",
    "devices",
    "completions",
    "man",
    "data toy",
    "kernel list",
    "kernel geometry",
];

/// The commands of the first screen.
fn commands() -> Vec<String> {
    let first = Folder::new().mercer("").fine().out;
    let commands = first.lines().filter_map(|line| line.strip_prefix("  mercer "));
    let commands: Vec<String> =
        commands.map(|line| line.split("  ").next().unwrap_or_default().trim().to_owned()).collect();
    assert!(commands.len() > 20, "{commands:?}");
    commands
}

#[test]
fn every_command_that_reads_data_is_in_the_list() {
    for command in commands() {
        let listed = LINES.iter().any(|(line, _)| line.starts_with(&format!("{command} ")));
        assert!(listed != OTHERS.contains(&command.as_str()), "{command} is in no list, or in both");
    }
}

/// What was printed, with the data under one name and without times.
fn told(text: &str, name: &str) -> String {
    let times = ["trained", "settings of", "a row takes", "took", "time per row"];
    let lines = text.lines().filter(|line| !times.iter().any(|word| line.contains(word)));
    // A pipe has no size.
    let lines = lines.filter(|line| !line.trim_start().starts_with("file "));
    let one = |line: &str| format!("{}\n", line.replace(name, "DATA").trim_end());
    lines.map(one).collect()
}

#[test]
fn every_command_reads_pipes_and_standard_input_as_it_reads_files() {
    let folder = folder();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo is there");
    assert!(made.success());
    for (line, files) in LINES {
        for file in *files {
            same_through_pipes(&folder, line, file, &STREAMS);
        }
    }
}

/// Names of what is read in place of a file, and what messages call it.
const STREAMS: [(&str, &str); 3] = [("pipe", "pipe"), ("/dev/stdin", "/dev/stdin"), ("-", "standard input")];

/// Runs a line with a file, the same bytes through a pipe, and through standard input: the outcome is one.
#[track_caller]
fn same_through_pipes(folder: &Folder, line: &str, file: &str, streams: &[(&str, &str)]) {
    let plain = folder.mercer(&line.replace('@', file));
    let notes = plain.err.lines().all(|line| line.starts_with("note: "));
    assert!(plain.code == 0 && notes, "{plain:#?}");
    let bytes = std::fs::read(folder.path(file)).expect("it is there");
    for &(name, shown) in streams {
        let line = line.replace('@', name);
        let mut command = folder.command(&line.split_whitespace().collect::<Vec<_>>());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if name == "pipe" { Stdio::null() } else { Stdio::piped() });
        let mut child = command.spawn().expect("starts");
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&bytes).expect("somebody reads");
        } else {
            std::fs::write(folder.path("pipe"), &bytes).expect("somebody reads");
        }
        let output = child.wait_with_output().expect("ends");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line} with {file}: {err}");
        assert_eq!(told(&err, shown), told(&plain.err, file), "{line} with {file}");
        let same = told(&out, shown) == told(&plain.out, file);
        // A table's width goes with the name's length: only words are compared.
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(
            same || words(&told(&out, shown)) == words(&told(&plain.out, file)),
            "{line} with {file}\n{out}\n{}",
            plain.out
        );
    }
}

/// Command lines with `@` for a model.
const MODELS: &[&str] = &[
    "predict z_t.csv @",
    "evaluate z_t.csv @",
    "explain @",
    "explain @ z_t.csv",
    "explain @ --importance z_t.csv --repeats 1",
    "bounds @ z_t.csv",
    "compare @ u.model z_t.csv",
    "compare u.model @ z_t.csv",
    "compress @ --vectors 2 -o o.mercer",
    "compress @ z_t.csv --vectors 2 -o o.mercer",
    "convert @ --to json -o o.json",
    "pca transform z_n.csv @ -o f.csv",
    "pca inverse z_f.csv @ -o i.csv",
    "pca show @ -o s.html",
    "denoise z_d.npy --model @ -o clean.csv",
    "train z_t.csv --features @ -o o.mercer",
];

/// Commands without a model in their arguments, and the service, which is asked by tests of its own.
const WITHOUT: &[&str] = &[
    "tour",
    "lab",
    "tune",
    "novelty",
    "cluster",
    "serve",
    "reproduce",
    "devices",
    "completions",
    "man",
    "data info",
    "data convert",
    "data split",
    "data toy",
    "pca fit",
    "kernel list",
    "kernel check",
    "kernel gram",
    "kernel geometry",
];

#[test]
fn every_command_that_reads_models_is_in_the_list() {
    for command in commands() {
        let listed = MODELS.iter().any(|line| line.starts_with(&format!("{command} ")));
        assert!(listed != WITHOUT.contains(&command.as_str()), "{command} is in no list, or in both");
    }
}

#[test]
fn models_of_every_format_come_through_pipes_and_standard_input_too() {
    let folder = folder();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo is there");
    assert!(made.success());
    folder.mercer("convert t.mercer --to json -o t.json -q").fine();
    folder.mercer("train z_t.csv --gamma 0.1 -o u.model -q").fine();
    folder.mercer("convert n.pca --to json -o n.json -q").fine();
    folder.mercer("data toy banana z_b.svm --rows 40 -q").fine();
    folder.mercer("train z_b.svm --scale none -o b.mercer -q").fine();
    folder.mercer("convert b.mercer --to libsvm -o b.model -q").fine();
    for line in MODELS {
        let models: &[&str] = match line {
            line if line.contains("n.csv") || line.contains("--model") || line.contains("_f.csv") => {
                &["n.pca", "n.json"]
            }
            line if line.contains("pca") || line.contains("--features") => &["n.pca", "n.json"],
            _ => &["t.mercer", "t.json"],
        };
        for model in models {
            // A lone `-` is the data's.
            same_through_pipes(&folder, line, model, &STREAMS[..2]);
        }
    }
    for line in
        ["predict z_b.svm @", "evaluate z_b.svm @", "explain @ z_b.svm", "compress @ --vectors 2 -o o.model"]
    {
        same_through_pipes(&folder, line, "b.model", &STREAMS[..2]);
    }
}

#[test]
fn data_of_every_format_come_through_pipes_and_standard_input_too() {
    let folder = folder();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo is there");
    assert!(made.success());
    let pixels: Vec<String> = (0..36).map(|i| (i * 37 % 256).to_string()).collect();
    let line = |i: usize| format!("{}\tACGT{}\n", i % 2, ["AC", "GT"][i % 2]);
    let sequences: String = (0..12).map(line).collect();
    let folder =
        folder.with("g.pgm", format!("P2\n6 6\n255\n{}\n", pixels.join(" "))).with("s.seq", sequences);
    let mut written = 0;
    for row in FORMATS.iter().filter(|row| row.writable()) {
        let source = match row.format {
            Format::Sequences | Format::Fasta => "s.seq",
            Format::Png | Format::Pnm => "g.pgm",
            _ => "z_t.csv",
        };
        for packed in ["", ".gz", ".bz2", ".xz", ".zst"] {
            let name = format!("w.{}{packed}", row.extensions[0]);
            folder.mercer(&format!("data convert {source} {name} -q")).fine();
            // Labels lie in a file of their own, which a pipe does not have beside it.
            let alone = if row.format == Format::Npy { " --label none" } else { "" };
            same_through_pipes(&folder, &format!("data info @{alone}"), &name, &STREAMS);
            written += 1;
        }
    }
    assert!(written >= 40, "{written}");
    let messy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy");
    for entry in std::fs::read_dir(&messy).expect("committed files") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let absent = !cfg!(feature = "parquet") && (name.ends_with("parquet") || name.ends_with("feather"));
        if name.starts_with("customers") && !absent {
            std::fs::copy(messy.join(&name), folder.path(&name)).expect("copied");
            same_through_pipes(&folder, "data info @ --label outcome", &name, &STREAMS);
        }
    }
}

/// Signals that this process does not ignore: whoever starts the tests in the background of a script has them ignore
/// Ctrl-C, and what they start ignores it too.
fn signals() -> Vec<(&'static str, i32)> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    let mask = u64::from_str_radix(mask, 16).expect("a mask");
    [("-INT", 2), ("-TERM", 15)].into_iter().filter(|s| mask >> (s.1 - 1) & 1 == 0).collect()
}

#[test]
fn a_signal_ends_every_run_that_waits_for_data() {
    let folder = folder();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo is there");
    assert!(made.success());
    folder.mercer("train z_t.csv --gamma 0.1 -o u.model -q").fine();
    let mut lines: Vec<String> = Vec::new();
    for name in ["-", "/dev/stdin", "pipe"] {
        lines.extend(LINES.iter().map(|(line, _)| line.replace('@', name)));
    }
    lines.extend(MODELS.iter().map(|line| line.replace('@', "pipe")));
    lines.extend(
        [
            "train z_t.csv --labels pipe -o o.mercer",
            "tune z_t.csv --labels pipe",
            "evaluate z_t.csv t.mercer --labels pipe",
        ]
        .map(str::to_owned),
    );
    for (signal, number) in signals() {
        for some in lines.chunks(16) {
            let started = some.iter().map(|line| {
                let mut command = folder.command(&line.split_whitespace().collect::<Vec<_>>());
                command
                    .stdin(Stdio::piped())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("starts")
            });
            let mut children: Vec<_> = started.collect();
            std::thread::sleep(Duration::from_secs(1));
            for (child, line) in children.iter_mut().zip(some) {
                assert!(child.try_wait().expect("a child").is_none(), "{line} did not wait");
                let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
                assert!(sent.expect("kill").success());
            }
            let asked = Instant::now();
            for (child, line) in children.iter_mut().zip(some) {
                let status = loop {
                    match child.try_wait().expect("a child") {
                        Some(status) => break status,
                        None if asked.elapsed() > Duration::from_secs(10) => {
                            child.kill().expect("a child");
                            panic!("{line} went on waiting after {signal}");
                        }
                        None => std::thread::sleep(Duration::from_millis(20)),
                    }
                };
                // A shell says 128 + the signal for both.
                assert!(
                    status.signal() == Some(number) || status.code() == Some(128 + number),
                    "{line} {signal}: {status:?}"
                );
            }
        }
    }
}
