//! Sequences without a kernel, by every command that learns: the kernel is chosen and named.

use std::fmt::Write as _;

use crate::run::Folder;

/// So many sequences of two classes: the second has a word planted in it. Equal lengths, or from `length` to half as much more.
fn rows(alphabet: &str, word: &str, n: usize, length: usize, aligned: bool, mut state: u64) -> Vec<String> {
    let letters = alphabet.as_bytes();
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let row = |i: usize| {
        let long = if aligned { length } else { length + draw(length / 2) };
        let mut s: Vec<u8> = (0..long).map(|_| letters[draw(letters.len())]).collect();
        if i % 2 == 1 {
            let copies = if aligned { 1 } else { 3 };
            for copy in 0..copies {
                let at = if aligned { length / 2 } else { copy * 10 + draw(6) };
                s[at..at + word.len()].copy_from_slice(word.as_bytes());
            }
        }
        String::from_utf8(s).expect("letters")
    };
    (0..n).map(row).collect()
}

fn fasta(rows: &[String]) -> String {
    rows.iter().enumerate().fold(String::new(), |mut text, (i, s)| {
        writeln!(text, ">s{i} {}\n{s}", ["plain", "signal"][i % 2]).expect("a string");
        text
    })
}

fn lines(rows: &[String], label: impl Fn(usize) -> String) -> String {
    rows.iter().enumerate().fold(String::new(), |mut text, (i, s)| {
        writeln!(text, "{}\t{s}", label(i)).expect("a string");
        text
    })
}

/// A folder with both kinds in both formats, rows to test on, and amounts to predict.
fn folder() -> Folder {
    let class = |i: usize| ["plain", "signal"][i % 2].to_owned();
    let protein = |n, seed| rows("ACDEFGHIKLMNPQRSTVWY", "WCHWC", n, 40, false, seed);
    let dna = |n, seed| rows("ACGT", "TATAAT", n, 40, true, seed);
    let amount = |i: usize| format!("{}.5", i % 2);
    Folder::new()
        .with("protein.fasta", fasta(&protein(120, 1)))
        .with("protein-test.fasta", fasta(&protein(80, 2)))
        .with("dna.seq", lines(&dna(120, 3), class))
        .with("dna-test.seq", lines(&dna(80, 4), class))
        .with("amounts.seq", lines(&protein(120, 5), amount))
        .with("amounts-test.seq", lines(&protein(80, 6), amount))
}

const SETS: [(&str, &str, &str); 2] =
    [("protein.fasta", "protein-test.fasta", "kmer_spectrum"), ("dna.seq", "dna-test.seq", "normalised(")];

#[test]
fn training_and_tuning_choose_a_kernel_and_learn() {
    let folder = folder();
    for (train, test, kernel) in SETS {
        let commands = [
            "train IN -o m.mercer",
            "train IN -o m.mercer --auto off",
            "train IN -o m.mercer --auto good --search-seconds 3",
            "train IN -o m.mercer -c auto --search-seconds 3",
            "train IN -o m.mercer -k auto",
            "train IN -o m.mercer --learner kfd",
            "train IN -o m.mercer --learner ridge --targets classes",
            "tune IN -o m.mercer --folds 3 --seconds 5",
            "tune IN -o m.mercer --folds 3 --kernel auto --race",
        ];
        for command in commands {
            let line = command.replace("IN", train);
            let said = folder.mercer(&line).fine();
            assert!((said.out + &said.err).contains(kernel), "{line} does not name its kernel");
            let json = folder.mercer(&format!("evaluate {test} m.mercer --format json")).fine().json();
            assert!(json["error"].as_f64().expect("an error") < 0.2, "{line}: {json}");
        }
        folder.mercer(&format!("explain m.mercer {train} --report e.html -q")).fine();
        folder.mercer("compress m.mercer --vectors 10 -o s.mercer -q").fine();
        assert_eq!(folder.mercer(&format!("predict {test} s.mercer")).fine().out.lines().count(), 80);
        folder.mercer(&format!("bounds m.mercer {train} -q")).fine();
    }
    let piped = std::fs::File::open(folder.path("protein.fasta")).expect("the file");
    let status = folder.command(&["train", "-", "-o", "m.mercer", "-q"]).stdin(piped).status();
    assert!(status.expect("the built command starts").success());
    folder.mercer("train amounts.seq -o m.mercer -q").fine();
    let json = folder.mercer("evaluate amounts-test.seq m.mercer --format json").fine().json();
    assert!(json["r2"].as_f64().expect("R2") > 0.4, "{json}");
}

#[test]
fn novelty_clusters_and_components_choose_a_kernel_too() {
    let folder = folder();
    for (train, test, kernel) in SETS {
        folder.mercer(&format!("novelty {train} -o n.mercer --nu 0.1 -q")).fine();
        let shown = folder.mercer("explain n.mercer").fine().out;
        assert!(shown.contains(kernel), "{shown}");
        assert_eq!(folder.mercer(&format!("predict {test} n.mercer")).fine().out.lines().count(), 80);
        folder.mercer(&format!("cluster {train} -n 2 -o c.mercer -q")).fine();
        assert_eq!(folder.mercer(&format!("predict {test} c.mercer")).fine().out.lines().count(), 80);
        folder.mercer(&format!("pca fit {train} -n 3 -o p.mercer -q")).fine();
        folder.mercer(&format!("pca transform {test} p.mercer -o f.csv -q")).fine();
        assert!(folder.read("f.csv").lines().count() >= 80);
    }
}

#[test]
fn kernels_for_numbers_are_refused_with_one_for_sequences() {
    let folder = folder();
    for (train, _, _) in SETS {
        for kernel in ["rbf", "linear", "poly(degree=2)"] {
            let said = folder.mercer_args(&["train", train, "-k", kernel, "-o", "m.mercer"]);
            assert!(said.code == 1 || said.code == 2, "{said:?}");
            assert!(said.err.contains("sequences"), "{kernel}: {}", said.err);
            assert!(!folder.path("m.mercer").exists(), "{kernel}");
        }
    }
}
