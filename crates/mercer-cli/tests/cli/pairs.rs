//! Files that belong together, and files that a killed command leaves behind.

use std::process::Stdio;
use std::time::Duration;

use crate::run::Folder;

/// Two data sets of the same size that differ in every row, and in the order of their labels.
fn two() -> Folder {
    let folder = Folder::new();
    folder.mercer("data toy banana old.csv --rows 300 --seed 1 -q").fine();
    folder.mercer("data toy banana new.csv --rows 300 --seed 2 -q").fine();
    let text = folder.read("new.csv");
    let (head, rows) = text.split_once('\n').expect("a header");
    let turned: String = rows.lines().rev().fold(format!("{head}\n"), |all, row| all + row + "\n");
    folder.with("new.csv", turned)
}

fn copy(folder: &Folder, from: &str, to: &str) {
    std::fs::copy(folder.path(from), folder.path(to)).expect("copied");
}

#[test]
fn points_beside_the_labels_of_others_are_refused() {
    let folder = two();
    folder.mercer("train old.csv -g 1 -c 1 -o m.mercer -q").fine();
    for end in ["npy", "npy.gz"] {
        let (points, labels) = (format!("x.{end}"), format!("x.labels.{end}"));
        folder.mercer(&format!("data convert old.csv {points} -q")).fine();
        copy(&folder, &labels, "old-labels");
        copy(&folder, &points, "old-points");
        folder.mercer(&format!("data convert new.csv {points} -q")).fine();
        folder.mercer(&format!("data info {points} -q")).fine();
        folder.mercer(&format!("predict {points} m.mercer")).fine();
        for (from, to) in [("old-labels", &labels), ("old-points", &points)] {
            copy(&folder, to, "kept");
            copy(&folder, from, to);
            for line in [format!("data info {points}"), format!("train {points} -o m.mercer")] {
                let run = folder.mercer(&line);
                let told =
                    format!("error: {labels}: got labels that were not written with {points}, expected both");
                assert!(run.code == 1 && run.err.starts_with(&told), "{run:#?}");
            }
            // Rows alone are of one file; that it may be the old one is said.
            for line in [
                format!("predict {points} m.mercer"),
                format!("compress m.mercer {points} --vectors 5 -o c.mercer"),
            ] {
                let run = folder.mercer(&line);
                assert!(run.code == 0 && run.err.contains("not from the same run as"), "{run:#?}");
            }
            // Whoever knows better says so.
            folder.mercer(&format!("data info {points} --labels {labels} -q")).fine();
            folder.mercer(&format!("data info {points} --label none -q")).fine();
            copy(&folder, "kept", to);
        }
        folder.mercer(&format!("data info {points} -q")).fine();
        // Files of other programs have no record.
        std::fs::remove_file(folder.path(&format!(".{points}.pair"))).expect("there");
        copy(&folder, "old-labels", &labels);
        folder.mercer(&format!("data info {points} -q")).fine();
    }
}

#[test]
fn a_test_part_that_is_of_another_split_is_told() {
    let folder = two();
    folder.mercer("data split old.csv train.csv test.csv -q").fine();
    copy(&folder, "test.csv", "old-test");
    folder.mercer("data split new.csv train.csv test.csv -q").fine();
    let told = |name: &str| folder.mercer(&format!("data info {name}")).fine().out;
    assert!(!told("train.csv").contains("same run") && !told("test.csv").contains("same run"));
    assert!(told("train.csv").contains("Nothing suspicious"));
    copy(&folder, "old-test", "test.csv");
    assert!(told("train.csv").contains("not from the same run as test.csv"), "{}", told("train.csv"));
    assert!(told("test.csv").contains("not from the same run as train.csv"), "{}", told("test.csv"));
    assert!(!told("train.csv").contains("Nothing suspicious"));
}

/// Whatever the moment of a kill, the pair is old, new, or known to be neither; and the next command sweeps up.
#[cfg(unix)]
#[test]
fn a_kill_at_any_time_leaves_no_pair_that_is_taken_for_one() {
    let folder = two();
    let read = |line: &str| folder.mercer(line).out;
    folder.mercer("data convert new.csv n.npy -q").fine();
    let new = read("data info n.npy").replace("n.npy", "x.npy").replace("n.labels", "x.labels");
    folder.mercer("data convert old.csv x.npy -q").fine();
    let old = read("data info x.npy");
    assert_ne!(old, new);
    for round in 0..20 {
        let mut child = folder
            .command(&["data", "convert", "new.csv", "x.npy", "-q"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().expect("its own child");
        child.wait().expect("ends");
        let run = folder.mercer("data info x.npy");
        let known = run.code == 1 && run.err.contains("were not written with x.npy");
        assert!(known || run.out == old || run.out == new, "{run:#?}");
        folder.mercer("data convert old.csv x.npy -q").fine();
        assert_eq!(read("data info x.npy"), old);
        let left = std::fs::read_dir(folder.path(".")).expect("a folder").filter(|entry| {
            entry.as_ref().expect("an entry").file_name().to_string_lossy().starts_with(".mercer-")
        });
        assert_eq!(left.count(), 0, "round {round}");
    }
}

/// Commands that write files which belong together, what reads them again, and all their files.
const TOGETHER: &[(&str, &[&str], &[&str])] = &[
    ("data convert @ x.npy", &["data info x.npy"], &["x.npy", "x.labels.npy"]),
    ("data convert @ x.npy.gz", &["data info x.npy.gz"], &["x.npy.gz", "x.labels.npy.gz"]),
    ("data split @ x.csv y.csv", &["data info x.csv", "data info y.csv"], &["x.csv", "y.csv"]),
    ("data split @ x.jsonl y.svm", &["data info x.jsonl", "data info y.svm"], &["x.jsonl", "y.svm"]),
    (
        "data split @ x.npy y.npy",
        &["data info x.npy", "data info y.npy"],
        &["x.npy", "x.labels.npy", "y.npy", "y.labels.npy"],
    ),
    ("pca transform @ p.pca -o x.npy", &["data info x.npy"], &["x.npy", "x.labels.npy"]),
    ("denoise @ --model p.pca -o x.npy", &["data info x.npy"], &["x.npy", "x.labels.npy"]),
    ("kernel gram @ --kernel linear -o x.npy", &["data info x.npy"], &["x.npy", "x.labels.npy"]),
];

/// Whatever files of two runs are mixed, whoever reads one of them learns of it.
#[test]
fn every_mixture_of_two_runs_is_told_for_every_command_that_writes_together() {
    for (line, readers, files) in TOGETHER {
        let folder = two();
        folder.mercer("pca fit old.csv -n 2 -o p.pca -q").fine();
        let write = |from: &str| folder.mercer(&format!("{} -q", line.replace('@', from))).fine();
        let there = |name: &&&str| folder.path(name).exists();
        write("old.csv");
        let files: Vec<&&str> = files.iter().filter(there).collect();
        assert!(!files.is_empty(), "{line}");
        for file in &files {
            copy(&folder, file, &format!("old-{file}"));
        }
        write("new.csv");
        for file in &files {
            copy(&folder, file, &format!("new-{file}"));
        }
        let warned = || {
            readers.iter().any(|reader| {
                let run = folder.mercer(reader);
                let torn = run.code == 1 && run.err.contains("were not written with");
                torn || run.out.contains("not from the same run")
            })
        };
        assert!(!warned(), "{line}: whole");
        // Every choice of old files, none and all aside: the record beside them is that of the new ones.
        for old in 1..(1u32 << files.len()) - 1 {
            for (at, file) in files.iter().enumerate() {
                let from = if old >> at & 1 == 1 { "old" } else { "new" };
                copy(&folder, &format!("{from}-{file}"), file);
            }
            assert!(warned(), "{line}: mixture {old:b} of {files:?}");
        }
    }
}

/// A model, a page or a table that is written when the process is killed is the old one or the new one.
#[cfg(unix)]
#[test]
fn a_kill_at_any_time_leaves_single_files_whole() {
    let folder = two();
    folder.mercer("train old.csv -o m.mercer -q").fine();
    for (line, file, reader) in [
        ("train new.csv --auto off -o x.mercer", "x.mercer", "explain x.mercer"),
        ("convert m.mercer --to json -o x.json", "x.json", "explain x.json"),
        ("compress m.mercer --vectors 9 -o x.mercer", "x.mercer", "explain x.mercer"),
        ("predict new.csv m.mercer -o x.csv", "x.csv", "data info x.csv"),
        ("pca fit new.csv -n 2 -o x.pca", "x.pca", "pca transform new.csv x.pca -o f.csv -q"),
        ("data convert new.csv x.jsonl.gz", "x.jsonl.gz", "data info x.jsonl.gz"),
    ] {
        let args: Vec<&str> = line.split_whitespace().chain(["-q", "--threads", "1"]).collect();
        let begun = std::time::Instant::now();
        folder.mercer_args(&args).fine();
        let whole = begun.elapsed();
        let size = std::fs::metadata(folder.path(file)).expect("written").len();
        for round in 1..=8u32 {
            std::fs::write(folder.path(file), "old").expect("written");
            let mut child =
                folder.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
            // The write is at the end of the run.
            std::thread::sleep(whole * (6 + round) / 12);
            child.kill().expect("its own child");
            child.wait().expect("ends");
            let found = std::fs::read(folder.path(file)).expect("always there");
            if found != b"old" {
                assert!(found.len() as u64 + 64 > size, "{line}: {} of {size} bytes", found.len());
                folder.mercer(reader).fine();
            }
        }
    }
}

#[test]
fn a_folder_of_classes_stays_one() {
    let folder = Folder::new();
    for (class, base) in [("a", 0), ("b", 90)] {
        std::fs::create_dir_all(folder.path(&format!("in/{class}"))).expect("made");
        for k in 0..6 {
            let pixels: Vec<String> =
                (0..16).map(|p| (base + 9 * k + p * (3 + k) % 40).to_string()).collect();
            let text = format!("P2\n4 4\n255\n{}\n", pixels.join(" "));
            std::fs::write(folder.path(&format!("in/{class}/{k}.pgm")), text).expect("written");
        }
    }
    folder.mercer("pca fit in/ -n 3 -o p.pca -q").fine();
    folder.mercer("pca transform in/ p.pca -o f.csv -q").fine();
    for (line, tree) in [
        ("denoise in/ --kernel rbf(gamma=0.0001) -n 2 --noise 5 -o out/ -q", true),
        ("denoise in/ --model p.pca -o out/ -q", true),
        ("data convert in/ out/ -q", true),
        ("pca inverse f.csv p.pca -o out/ -q", false),
    ] {
        let _ = std::fs::remove_dir_all(folder.path("out"));
        folder.mercer(line).fine();
        let files = |name: &str| {
            let entries = std::fs::read_dir(folder.path(name)).expect(name);
            entries.filter(|e| e.as_ref().expect("an entry").path().is_file()).count()
        };
        let got = if tree { (files("out/a"), files("out/b")) } else { (files("out"), 12) };
        assert_eq!(got, if tree { (6, 6) } else { (12, 12) }, "{line}");
    }
    // Nothing is written into what is read.
    for line in [
        "denoise in/ -o in/",
        "denoise in/ -o in/a",
        "denoise in/a/ -o in/a/0.png",
        "denoise in/a/1.pgm -o in/a/",
    ] {
        std::fs::write(folder.path("in/a/0.png"), "").expect("written");
        let run = folder.mercer(line);
        std::fs::remove_file(folder.path("in/a/0.png")).expect("as it was");
        assert!(run.code == 2 && run.err.contains("which this command reads"), "{run:#?}");
    }
}
