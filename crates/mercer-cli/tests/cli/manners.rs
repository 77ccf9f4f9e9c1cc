//! Broken pipes, colours, quiet, threads: what a command owes its shell.

use std::process::Stdio;

use crate::run::Folder;

fn wide() -> Folder {
    let row: Vec<String> = (1..=5000).map(|j| format!("{j}:{j}")).collect();
    Folder::new().with("wide.svm", format!("1 {0}\n-1 {0}\n", row.join(" ")))
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = wide();
    for format in ["text", "json"] {
        let mut command = folder.command(&["data", "info", "wide.svm", "--each", "--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        // Far more than a pipe holds is on its way.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}

#[test]
fn no_colours_in_pipes() {
    let folder = Folder::new();
    for line in [
        "",
        "--help",
        "data info --help",
        "train --help",
        "train --c x",
        "predict a b",
        "tour",
        "data info nowhere.csv",
        "data info --nonsense",
    ] {
        let run = folder.mercer(line);
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{run:?}");
    }
}

#[test]
fn a_file_cannot_send_escape_sequences_to_the_terminal() {
    let folder = Folder::new().with("evil.csv", "x,class\n1,\u{1b}[2Ja\n2,b\n3,\u{1b}[2Ja\n");
    let run = folder.mercer("data info evil.csv").fine();
    assert!(!run.out.contains('\u{1b}'), "{:?}", run.out);
}

#[test]
fn options_of_every_command_stand_before_or_after_it() {
    let folder = Folder::new().with("a.csv", "x,class\n1,a\n2,b\n");
    let before = folder.mercer("--format json --threads 1 --memory 64M --seed 3 data info a.csv").fine();
    let after = folder.mercer("data info a.csv --format json").fine();
    assert_eq!(before.out, after.out);
}

#[test]
fn answers_nobody_reads_any_more_are_no_error() {
    let folder = Folder::new();
    folder.mercer("data toy banana a.csv --rows 60 -q").fine();
    folder.mercer("train a.csv -q").fine();
    let rows: String =
        folder.read("a.csv").lines().skip(1).cycle().take(30_000).fold(String::new(), |mut all, row| {
            all.push_str(row);
            all.push('\n');
            all
        });
    let folder = folder.with("many.csv", rows);
    let mut command = folder.command(&["predict", "many.csv", "a.mercer", "--decision"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
