//! The book under `docs/`: every block of shell commands runs, and generated pages are up to date.
//!
//! The blocks of a page run one after the other in a folder of their own, after the commands of its comment `setup`. A block
//! that cannot run carries a comment `not run: reason` before it. Blocks of Python are run by the Python package's tests,
//! blocks of Rust by doctests.

mod reference;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages that others test, or that start servers, with the reason why they are not run here.
const ELSEWHERE: [(&str, &str); 3] = [
    ("serve.md", "every request of the page is sent by crates/mercer-serve/tests/clients"),
    ("lab.md", "opens a browser; the rooms are tested by crates/mercer-lab/tests/browser"),
    ("python.md", "installs the package; its Python is run by crates/mercer-py/tests/test_docs.py"),
];
/// Lines that build or install programs, which other steps of `./test` do.
const BUILDS: [&str; 4] = ["cargo ", "pip ", "./test", "cd crates/"];
/// Data for pages that have no comment `setup` of their own.
const SETUPS: [(&str, &str); 3] = [
    (
        "selection.md",
        "mercer data toy banana mine.csv --rows 80 -q\nmercer data convert mine.csv big.svm -q\n\
         i=0; while [ $i -lt 80 ]; do echo patient$((i / 4)); i=$((i + 1)); done > patients.txt",
    ),
    (
        "tables.md",
        "i=0; echo 'customer,age,zip,size,remark,outcome' > t.csv\n\
         while [ $i -lt 60 ]; do echo \"c$i,$((20 + i % 37)),$((1000 + i % 5)),$(echo small medium large | cut -d' ' -f$((i % 3 + 1))),note $i,$(echo yes no | cut -d' ' -f$((i % 2 + 1)))\" >> t.csv; i=$((i + 1)); done\n\
         cp t.csv customers.csv; cp t.csv test.csv; cp t.csv new.csv",
    ),
    (
        "formats.md",
        "mercer data toy clusters survey.csv --rows 60 -q\nmercer data convert survey.csv survey.jsonl -q\ncp survey.csv new.csv",
    ),
];
/// Lines that are not run, by a part of them, each with its reason.
const SKIPPED: [(&str, &str); 5] = [
    ("--kernel auto -c auto", "searches for a minute"),
    ("survey.xlsx", "a workbook cannot be made by a shell; crates/mercer/tests/readers has some"),
    (".parquet", "requires the feature parquet"),
    ("photos/ --image", "photographs are not made by a shell; docs/guide/images.md has a folder of pictures"),
    ("--label outcome -o survey", "the made-up survey has another target column"),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// All pages below `docs`, by their path in it, but for the decisions and what is generated.
fn pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    let mut folders = vec![docs()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("decisions") && !path.ends_with("reference") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let name = path.strip_prefix(docs()).expect("below docs").display().to_string();
                pages.push((name, std::fs::read_to_string(path).expect("a page")));
            }
        }
    }
    pages.sort();
    pages
}

/// What a page runs: its setup and its blocks, without what is marked.
fn blocks(name: &str, text: &str) -> Vec<String> {
    let mut found: Vec<String> =
        SETUPS.iter().filter(|(page, _)| *page == name).map(|(_, setup)| (*setup).to_owned()).collect();
    for comment in text.split("<!-- setup\n").skip(1) {
        found.push(comment.split("-->").next().unwrap_or_default().to_owned());
    }
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("```sh\n") {
        let (block, after) = after.split_once("```").expect("a block that ends");
        rest = after;
        let last = before.trim_end().lines().next_back().unwrap_or_default();
        if let Some(reason) = last.strip_prefix("<!-- not run:") {
            assert!(reason.trim_end_matches("-->").trim().len() > 10, "{name}: a block without a reason");
            continue;
        }
        let skipped = |line: &str| {
            BUILDS.iter().any(|b| line.starts_with(b)) || SKIPPED.iter().any(|(part, _)| line.contains(part))
        };
        let kept: Vec<&str> = block.lines().filter(|line| !skipped(line)).collect();
        // All rows take a while where the library is not optimised.
        found.push(
            kept.join("\n").replace("--rows 1797", "--rows 200").replace("--rows 20000", "--rows 1500"),
        );
    }
    found
}

/// Runs a page and says what went wrong.
fn run(name: &str, text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mercer = Path::new(env!("CARGO_BIN_EXE_mercer")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    for block in blocks(name, text) {
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", &block]).current_dir(folder.path()).stdin(std::process::Stdio::null());
        shell.env("PATH", format!("{}:{path}", mercer.display())).env("HOME", folder.path());
        let out = shell.output().expect("a shell");
        if !out.status.success() {
            let (said, wrong) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            return Err(format!("docs/{name}:\n{block}\n--- printed\n{said}--- standard error\n{wrong}"));
        }
    }
    Ok(())
}

#[test]
fn every_command_of_the_book_runs() {
    let pages: Vec<_> = pages().into_iter().filter(|(n, _)| !ELSEWHERE.iter().any(|(e, _)| e == n)).collect();
    let runs: usize = pages.iter().map(|(name, text)| blocks(name, text).len()).sum();
    assert!(pages.len() > 25 && runs > 40, "{} pages, {runs} blocks", pages.len());
    // Two pages at a time: most commands are too short for more threads.
    let (even, odd): (Vec<_>, Vec<_>) = pages.iter().enumerate().partition(|(i, _)| i % 2 == 0);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let work = [even, odd].map(|half| {
            scope.spawn(move || {
                let mut failures = Vec::new();
                for (_, (name, text)) in half {
                    failures.extend(run(name, text).err());
                }
                failures
            })
        });
        work.into_iter().flat_map(|half| half.join().expect("no panic")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn no_command_is_hidden_in_a_block_of_text() {
    for (name, text) in pages() {
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once("```text\n") {
            let (block, after) = after.split_once("```").expect("a block that ends");
            assert!(
                !block.lines().any(|line| line.starts_with("mercer ")),
                "docs/{name}: a command as text:\n{block}"
            );
            rest = after;
        }
    }
}

#[test]
fn a_block_that_is_marked_is_not_run_and_one_that_fails_is_told() {
    let page = "# A\n\n<!-- setup\necho 1 > a\n-->\n\n```sh\ncat a\ncargo x\n```\n\n<!-- not run: needs a device -->\n```sh\nfalse\n```\n";
    assert_eq!(blocks("a.md", page), ["echo 1 > a\n", "cat a"]);
    assert_eq!(run("a.md", page), Ok(()));
    let failure = run("b.md", "```sh\nmercer train nowhere.csv\n```\n").expect_err("no such file");
    assert!(failure.contains("docs/b.md") && failure.contains("nowhere.csv"), "{failure}");
}
