//! `cargo xtask book`: the pages of `docs/` as a book of HTML pages in `target/book`, with its links checked.
//!
//! `docs/SUMMARY.md` is the table of contents, in the form mdBook reads. Pages stay plain Markdown that reads well
//! without this program; equations between dollar signs become MathML, so pages need no script and no network.

mod links;
mod maths;
mod page;
mod summary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{cargo_in, spawn, steps};
use summary::Entry;

const STYLE: &str = include_str!("style.css");
/// Folders of `docs` whose pages need no line in the summary.
const APART: [&str; 1] = ["decisions/"];

/// Writes the generated pages of the reference, then builds the book.
pub(crate) fn run(root: &Path) -> Result<()> {
    // Built as for all tests, so usually nothing is left to do.
    let test = ["test", "--locked", "--quiet", "--workspace", "--test", "cli", "book::reference"];
    spawn(cargo_in(root).args(test).args(steps::FEATURES).env("MERCER_BLESS", "1"))?;
    build(root)
}

/// Builds the book from the pages as they are, after checking links and summary.
pub(crate) fn build(root: &Path) -> Result<()> {
    let docs = root.join("docs");
    let texts = texts(&docs)?;
    let summary = texts.get("SUMMARY.md").context("docs/SUMMARY.md is missing")?;
    let entries = summary::read(summary);
    let mut findings = links::check(root)?;
    for name in texts.keys().filter(|n| *n != "SUMMARY.md" && !APART.iter().any(|a| n.starts_with(a))) {
        if !entries.iter().any(|e| e.path.as_deref() == Some(name)) {
            findings.push(format!("docs/{name}: not in docs/SUMMARY.md"));
        }
    }
    let out = crate::python::target(root).join("book");
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    }
    fs::create_dir_all(&out)?;
    fs::write(out.join("style.css"), STYLE)?;
    for (name, text) in texts.iter().filter(|(n, _)| *n != "SUMMARY.md") {
        let html = match page::html(name, text, &entries) {
            Ok(html) => html,
            Err(error) => {
                findings.push(format!("docs/{name}: {error:#}"));
                continue;
            }
        };
        let file = out.join(name.replace(".md", ".html"));
        fs::create_dir_all(file.parent().context("a folder")?)?;
        fs::write(&file, html).with_context(|| file.display().to_string())?;
    }
    if !findings.is_empty() {
        bail!("{} findings in the book:\n{}", findings.len(), findings.join("\n"));
    }
    copy_pictures(&docs, &docs, &out)?;
    fs::copy(out.join("README.html"), out.join("index.html"))?;
    println!("book: {} pages, {}", texts.len() - 1, out.join("index.html").display());
    Ok(())
}

/// All pages below a folder, by their path in it.
fn texts(docs: &Path) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for file in files(docs)? {
        if file.extension().is_some_and(|e| e == "md") {
            let name = file.strip_prefix(docs)?.to_string_lossy().replace('\\', "/");
            texts.insert(name, fs::read_to_string(&file).with_context(|| file.display().to_string())?);
        }
    }
    Ok(texts)
}

/// All files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

fn copy_pictures(folder: &Path, docs: &Path, out: &Path) -> Result<()> {
    for file in files(folder)? {
        if file.extension().is_none_or(|e| e != "md") {
            let to = out.join(file.strip_prefix(docs)?);
            fs::create_dir_all(to.parent().context("a folder")?)?;
            fs::copy(&file, &to).with_context(|| file.display().to_string())?;
        }
    }
    Ok(())
}

/// The list of chapters for one page, with links relative to it.
fn chapters(entries: &[Entry], here: &str) -> String {
    use std::fmt::Write as _;
    let up = "../".repeat(here.matches('/').count());
    let mut html = String::new();
    for entry in entries {
        let title = page::escape(&entry.title);
        // Writing to a string cannot fail.
        let _ = match &entry.path {
            None => write!(html, "<h2>{title}</h2>"),
            Some(path) => {
                let mark = if path == here { " aria-current=\"page\"" } else { "" };
                write!(html, "<a href=\"{up}{}\"{mark}>{title}</a>", path.replace(".md", ".html"))
            }
        };
    }
    html
}
