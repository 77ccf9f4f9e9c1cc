//! The house rules that the compiler does not check.
//!
//! Each rule takes a file's path and text and says what is wrong with it, so each is tested on planted violations: a
//! check that cannot fail is no check.

mod deps;
mod edge;
mod english;
mod files;
mod floors;
mod lexer;
mod maps;
mod prelude;
mod source;
mod words;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use files::File;

/// Files longer than this are pointed out, not refused: split by idea, not by number.
const LONG: usize = 600;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    rule: String,
}

impl Finding {
    fn new(path: &str, line: usize, rule: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line, rule: rule.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

/// Checks the whole workspace.
pub(crate) fn run(root: &Path) -> Result<()> {
    let files = files::read(root)?;
    for file in files.iter().filter(|f| f.is_rust() && f.text.lines().count() > LONG) {
        println!(
            "note: {} has {} lines; over {LONG} is hard to hold in mind",
            file.path,
            file.text.lines().count()
        );
    }
    let findings = check(&files);
    if !findings.is_empty() {
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        bail!("tidy found {}:\n{}", findings.len(), lines.join("\n"));
    }
    println!("tidy: {} files in order", files.len());
    Ok(())
}

/// All findings, by file and line.
fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = floors::check(files);
    for file in files {
        if file.is_rust() {
            findings.extend(source::check(&file.path, &file.text));
        }
        findings.extend(words::check(&file.path, &file.text));
    }
    findings.extend(deps::check(files));
    findings.extend(edge::check(files));
    findings.extend(maps::check(files));
    findings.extend(english::check(files));
    findings.extend(prelude::check(files));
    findings.sort();
    findings.dedup();
    findings
}
