//! Strings of a stranger's file, class names, column names, file names, never drive the terminal, and no command loses a
//! line over them; files that are written keep them as they are.

use mercer::data::io::{FORMATS, Format};

use crate::run::{Folder, Run};

const CLASS: &str = "\u{1b}[2Jmad\u{9b}31m\u{202e}\u{7f}";
const OPEN: &str = "\u{1b}[";
const COLUMN: &str = "\u{1b}]0;title\u{7}width";

/// Thirty rows of two columns, with names that would clear the screen, retitle it and turn its text around.
fn evil() -> String {
    let row = |i: usize| {
        let (class, at) = if i.is_multiple_of(2) { (CLASS, 0.0) } else { (OPEN, 5.0) };
        format!("{},{},{class}\n", at + (i as f64 * 0.37).sin(), at + (i as f64 * 0.61).cos())
    };
    std::iter::once(format!("a,{COLUMN},kind\n")).chain((0..30).map(row)).collect()
}

fn folder() -> Folder {
    let folder = Folder::new().with("e.csv", evil()).with("e\u{1b}[31m.csv", evil());
    folder.mercer("train e.csv --probability -o m.mercer -q").fine();
    folder.mercer("pca fit e.csv -o q.pca --components 2 -q").fine();
    // One more column, which the model does not know.
    let wider: String = evil().lines().enumerate().fold(String::new(), |all, (i, line)| {
        let (rest, class) = line.rsplit_once(',').expect("a class");
        all + rest + if i == 0 { ",z\u{1b}[31mq," } else { ",1," } + class + "\n"
    });
    folder.with("x.csv", wider)
}

#[track_caller]
fn clean(run: &Run) {
    let wild = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!run.out.chars().any(wild) && !run.err.chars().any(wild), "{run:#?}");
}

/// Every command that prints something of a file.
const LINES: &[&str] = &[
    "data info e.csv",
    "data info e.csv --each",
    "data split e.csv a.csv b.csv",
    "data convert e.csv o.tsv",
    "data convert e.csv o.jsonl",
    "train e.csv -o n.mercer",
    "train e.csv -o n.mercer --class-weight balanced",
    "train e.csv -o n.mercer --learner large",
    "train e.csv -o n.mercer --report r.html",
    "train e.csv -v 3",
    "tune e.csv -c 1,10 --gamma 0.1,1 --folds 2",
    "novelty e.csv -o n.mercer",
    "cluster e.csv -o n.mercer",
    "predict e.csv m.mercer",
    "predict e.csv m.mercer --proba",
    "predict e.csv m.mercer --decision",
    "predict e.csv m.mercer -o p.csv",
    "predict e.csv m.mercer --with a",
    "predict x.csv m.mercer",
    "evaluate e.csv m.mercer",
    "evaluate x.csv m.mercer",
    "explain m.mercer e.csv",
    "explain m.mercer --importance e.csv --repeats 1",
    "bounds m.mercer e.csv",
    "compare m.mercer m.mercer e.csv",
    "compress m.mercer -o c.mercer --vectors 4",
    "compress m.mercer e.csv -o c.mercer --vectors 4",
    "convert m.mercer --to json -o o.json",
    "denoise e.csv -o d.csv -n 1 --kernel linear",
    "pca fit e.csv -o p.pca --components 2",
    "pca transform e.csv q.pca -o f.csv",
    "pca inverse f.csv q.pca -o i.csv",
    "pca show q.pca e.csv -o s.html",
    "kernel gram e.csv --kernel linear",
    "kernel check linear e.csv",
    "devices",
];

/// Commands that print nothing of a file, or do not end; what they say of names that they are given is below.
const OTHERS: &[&str] = &[
    "tour",
    "lab",
    "serve",
    "reproduce",
    "completions",
    "man",
    "data toy",
    "kernel list",
    "kernel geometry",
];

#[test]
fn every_command_is_in_a_list() {
    let first = Folder::new().mercer("").fine().out;
    let commands = first.lines().filter_map(|line| line.strip_prefix("  mercer "));
    for command in commands.map(|line| line.split("  ").next().unwrap_or_default().trim()) {
        let listed = LINES.iter().any(|line| *line == command || line.starts_with(&format!("{command} ")));
        assert!(listed != OTHERS.contains(&command), "{command} is in no list, or in both");
    }
}

#[test]
fn no_command_prints_control_characters() {
    let folder = folder();
    for line in LINES {
        for format in ["text", "json"] {
            let run = folder.mercer(&format!("{line} --format {format}"));
            clean(&run);
            // A page is all that `pca show` writes.
            assert!(!run.out.is_empty() || run.code != 0 || line.starts_with("pca show"), "{run:#?}");
        }
    }
    for args in [
        &["data", "info", "e\u{1b}[31m.csv"][..],
        &["train", "e\u{1b}[31m.csv", "-o", "x\u{1b}[2J.mercer", "--report", "x\u{1b}[2J.html"],
        &["predict", "e.csv", "x\u{1b}[2J.mercer", "-o", "x\u{1b}[2J.csv"],
        &["data", "info", "no\u{1b}[31mwhere.csv"],
        &["predict", "e.csv", "e\u{1b}[31m.csv"],
        &["train", "e.csv", "--label", "\u{1b}[31mx"],
        &["train", "e.csv", "--learner", "\u{1b}[31mx"],
        &["train", "e.csv", "--kernel", "\u{1b}[31mx"],
        &["train", "e.csv", "--scale", "\u{1b}[31mx"],
        &["\u{1b}[31mx"],
        &["train", "--\u{1b}[31mx"],
        &["data", "convert", "e.csv", "x.\u{1b}[31mx"],
        &["denoise", "e.csv", "-o", "x.\u{1b}[31mx"],
        &["serve", "no\u{1b}[31mwhere.mercer"],
        &["serve", "e\u{1b}[31m.csv"],
        &["lab", "no\u{1b}[31mwhere.csv", "--no-open"],
        &["predict", "e.csv", "m.mercer", "--with", "\u{1b}[31mx"],
        &["train", "e.csv", "--ignore", "\u{1b}[31mx"],
        &["train", "e.csv", "--columns", "\u{1b}[31mx=number"],
        &["train", "e.csv", "--learner", "ridge", "--set", "\u{1b}[31mx=1"],
        &["train", "e.csv", "--device", "\u{1b}[31mx"],
        &["train", "e.csv", "--resume", "e\u{1b}[31m.csv"],
        &["train", "e.csv", "--features", "e\u{1b}[31m.csv"],
        &["tune", "e.csv", "--metric", "\u{1b}[31mx"],
        &["tune", "e.csv", "--checkpoint", "e\u{1b}[31m.csv"],
        &["reproduce", "\u{1b}[31mx"],
        &["data", "toy", "\u{1b}[31mx", "x.csv"],
        &["kernel", "check", "\u{1b}[31mx"],
        &["kernel", "list", "\u{1b}[31mx"],
        &["kernel", "geometry", "\u{1b}[31mx"],
        &["completions", "\u{1b}[31mx"],
        &["tour", "-o", "no/\u{1b}[31mx"],
        &["man", "-o", "e.csv/\u{1b}[31mx"],
    ] {
        clean(&folder.mercer_args(args));
    }
}

#[test]
fn no_format_brings_control_characters_to_the_terminal() {
    let folder = folder();
    let line = |i: usize| format!("{}\tACGT{}\n", [CLASS, OPEN][i % 2], ["AC", "GT"][i % 2]);
    let sequences: String = (0..12).map(line).collect();
    let folder = folder.with("e.seq", sequences);
    folder.mercer("convert m.mercer --to json -o m.json -q").fine();
    for line in
        ["explain m.json", "predict e.csv m.json", "evaluate e.csv m.json", "compare m.json m.mercer e.csv"]
    {
        clean(&folder.mercer(line).fine());
    }
    for row in FORMATS.iter().filter(|row| row.writable()) {
        let data = match row.format {
            Format::Sequences | Format::Fasta => "e.seq",
            Format::Png | Format::Pnm => continue,
            _ => "e.csv",
        };
        let name = format!("f.{}", row.extensions[0]);
        let written = folder.mercer(&format!("data convert {data} {name}"));
        clean(&written);
        // Classes that are no numbers have no place in LIBSVM's text.
        assert!(written.code == 0 || row.format == Format::Libsvm, "{written:#?}");
        if written.code != 0 {
            continue;
        }
        for line in [
            "data info @",
            "data info @ --each",
            "train @ -o f.mercer",
            "train @ -v 2",
            "data convert @ g.csv",
        ] {
            for format in ["text", "json"] {
                let run = folder.mercer(&format!("{} --format {format}", line.replace('@', &name)));
                clean(&run);
                assert!(run.code == 0 || !run.err.is_empty(), "{run:#?}");
            }
        }
        clean(&folder.mercer(&format!("evaluate {name} f.mercer")));
        clean(&folder.mercer(&format!("predict {name} f.mercer -o p.{}", row.extensions[0])));
    }
}

#[test]
fn a_broken_line_is_shown_without_its_controls() {
    let folder = Folder::new()
        .with("a.csv", "a,b\n1,\u{1b}[2Jx\n2,3\n")
        .with("b.svm", "1 1:\u{1b}[2J\n")
        .with("c\u{1b}[2J.csv", "a,b\n1\n")
        .with("twins.csv", format!("{COLUMN},{COLUMN}\n1,2\n"));
    for kind in ["number", "category"] {
        let kind = format!("b={kind}");
        let run = folder.mercer_args(&["data", "info", "a.csv", "--label", "1", "--columns", &kind]);
        clean(&run);
        assert_eq!(run.code != 0, kind == "b=number", "{run:?}");
    }
    // Two columns of one name are renamed, which a note tells.
    let run = folder.mercer_args(&["data", "info", "twins.csv", "--label", "1"]);
    clean(&run);
    assert!(run.code == 0 && run.out.contains("renamed to `\\u{1b}]0;"), "{run:?}");
    for file in ["b.svm", "c\u{1b}[2J.csv"] {
        let run = folder.mercer_args(&["data", "info", file, "--label", "1"]);
        clean(&run);
        assert!(run.code != 0 && run.err.starts_with("error: ") && run.err.lines().count() <= 2, "{run:?}");
    }
}

#[test]
fn every_prediction_is_there_and_files_keep_names_as_they_are() {
    let folder = folder();
    let text = folder.mercer("predict e.csv m.mercer").fine().out;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 30, "{text}");
    assert_eq!((lines[0], lines[1]), ("\\u{1b}[2Jmad\\u{9b}31m\\u{202e}\\u{7f}", "\\u{1b}["));
    folder.mercer("predict e.csv m.mercer -o p.csv -q").fine();
    let file = folder.read("p.csv");
    assert_eq!(file.lines().nth(1), Some(CLASS));
    let json = folder.mercer("predict e.csv m.mercer --format json").fine();
    assert_eq!(json.json()["predictions"][0], CLASS);
    assert_eq!(json.json()["predictions"][1], OPEN);
}

#[test]
fn names_with_line_ends_and_quotes_stay_one_field() {
    let row = |i: usize| format!("{},\"{}\"\n", i % 2 * 9, ["x\ny", "q\"\"z"][i % 2]);
    let table: String = std::iter::once("a,kind\n".to_owned()).chain((0..20).map(row)).collect();
    let folder = Folder::new().with("t.csv", table);
    folder.mercer("train t.csv -o m.mercer -q").fine();
    assert_eq!(folder.mercer("predict t.csv m.mercer").fine().out.lines().count(), 20);
    for file in ["p.txt", "p.csv"] {
        folder.mercer(&format!("predict t.csv m.mercer -o {file} -q")).fine();
        let text = folder.read(file);
        assert_eq!(text.matches("\"x\ny\"").count(), 10, "{text:?}");
    }
}

#[test]
fn formulas_are_passed_on_unless_safe_csv_is_asked_for() {
    let row = |i: usize| format!("{},{},{}\n", i % 2 * 9, i % 2, ["=cmd|' /C calc'!A0", "-3"][i % 2]);
    let table: String = std::iter::once("=a,@b,kind\n".to_owned()).chain((0..20).map(row)).collect();
    let folder = Folder::new().with("t.csv", table);
    folder.mercer("train t.csv -o m.mercer -q").fine();
    let safe = |line: &str, file: &str, formulas: usize| {
        folder.mercer(&format!("{line} -q")).fine();
        let text = folder.read(file);
        assert!(text.contains("=cmd") && !text.contains("'=cmd"), "{line}: {text}");
        folder.mercer(&format!("{line} --safe-csv -q")).fine();
        let text = folder.read(file);
        assert_eq!(text.matches("'=").count() + text.matches("'@").count(), formulas, "{line}: {text}");
        assert!(!text.contains("'-3"), "{line}: numbers are no formulas");
    };
    safe("predict t.csv m.mercer -o p.csv", "p.csv", 10);
    safe("data convert t.csv c.csv --label kind", "c.csv", 12);
    safe("data convert t.csv c.tsv --label kind", "c.tsv", 12);
    safe("data split t.csv a.csv b.csv --label kind --test 0.5", "a.csv", 7);
    // Names in other formats are what the next program looks for.
    folder.mercer("data convert t.csv c.seq --safe-csv");
    let one = folder.mercer("predict t.csv m.mercer --safe-csv").fine().out;
    assert!(one.starts_with("=cmd"), "{one}");
}
