//! The five-minute start of the book, word for word, with what was installed: no checkout, an empty home folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use super::{Release, ensure};
use crate::spawn;

const PAGE: &str = "docs/start.md";

/// Runs all blocks of the page, one after the other, and prints how long they took.
pub(super) fn run(release: &Release, command: &Path, python: &Path) -> Result<()> {
    let text = fs::read_to_string(release.root.join(PAGE)).context(PAGE)?;
    let blocks = blocks(&text);
    let of = |kind: &str| blocks.iter().filter(|block| block.kind == kind).count();
    ensure(of("sh") >= 4 && of("python") >= 1, || format!("{PAGE} has lost its blocks"))?;
    let folder = release.away.join("start");
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    let bin = command.parent().context("the command lies in no folder")?;
    let start = Instant::now();
    for block in &blocks {
        let mut program = if block.kind == "sh" { Command::new("sh") } else { Command::new(python) };
        program.args(if block.kind == "sh" { &["-eu", "-c"][..] } else { &["-c"] }).arg(&block.text);
        program.env_clear().env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("HOME", &home);
        program.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null());
        let begin = Instant::now();
        spawn(&mut program)
            .with_context(|| format!("{PAGE}, the block that begins `{}`", block.first_line()))?;
        println!("start: {:>6.1} s  {}", begin.elapsed().as_secs_f64(), block.first_line());
    }
    println!("start: {:>6.1} s  all {} blocks of {PAGE}", start.elapsed().as_secs_f64(), blocks.len());
    Ok(())
}

/// A block of code of a page.
struct Block {
    kind: &'static str,
    text: String,
}

impl Block {
    fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// The blocks of shell and Python in their order, without those that are marked as not run.
fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut lines, mut before) = (Vec::new(), text.lines(), "");
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let kind = ["sh", "python"].into_iter().find(|kind| *kind == language);
            if let Some(kind) = kind.filter(|_| !before.starts_with("<!-- not run:")) {
                found.push(Block { kind, text: code.join("\n") });
            }
        } else if !line.trim().is_empty() {
            before = line;
            continue;
        }
        // A mark stands directly before its block.
        if !line.trim().is_empty() {
            before = "";
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_blocks_and_other_languages_are_not_run() {
        let page = "# A\n\n```sh\none\ntwo\n```\n\n<!-- not run: a reason -->\n```sh\nthree\n```\n\n```text\nfour\n```\n\n```python\nfive\n```\n";
        let found: Vec<(&str, String)> = blocks(page).into_iter().map(|b| (b.kind, b.text)).collect();
        assert_eq!(found, [("sh", "one\ntwo".to_owned()), ("python", "five".to_owned())]);
    }
}
