//! Links of all Markdown files: the file is there, and so is the heading.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::page::{OPTIONS, Slugs};

/// Files at the root whose links are checked, beside all of `docs`, the readmes of the crates and of the experiments.
const ROOT: [&str; 5] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

/// What is wrong with links, each with its file.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut files: Vec<PathBuf> = ROOT.iter().map(|name| root.join(name)).collect();
    files.extend(
        super::files(&root.join("docs"))?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "md")),
    );
    for entry in fs::read_dir(root.join("crates"))? {
        files.push(entry?.path().join("README.md"));
    }
    files.push(root.join("reproduce/README.md"));
    files.retain(|f| f.is_file());
    files.sort();
    let mut read = HashMap::new();
    let mut findings = Vec::new();
    for file in &files {
        let shown = file.strip_prefix(root)?.display().to_string();
        for link in of(file, &mut read)?.links.clone() {
            if let Some(wrong) = wrong(file, &link, &mut read)? {
                findings.push(format!("{shown}: link to `{link}`: {wrong}"));
            }
        }
    }
    Ok(findings)
}

#[derive(Debug, Default)]
struct Found {
    links: Vec<String>,
    anchors: Vec<String>,
}

fn of<'a>(file: &Path, read: &'a mut HashMap<PathBuf, Found>) -> Result<&'a Found> {
    if !read.contains_key(file) {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        read.insert(file.to_path_buf(), scan(&text));
    }
    Ok(&read[file])
}

fn scan(text: &str) -> Found {
    let mut found = Found::default();
    let (mut slugs, mut heading) = (Slugs::default(), None::<String>);
    for event in Parser::new_ext(text, OPTIONS) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                found.links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(t) | Event::Code(t) => {
                if let Some(words) = &mut heading {
                    words.push_str(&t);
                }
            }
            Event::End(TagEnd::Heading(_)) => found.anchors.extend(heading.take().map(|w| slugs.of(&w))),
            _ => {}
        }
    }
    found
}

fn wrong(from: &Path, link: &str, read: &mut HashMap<PathBuf, Found>) -> Result<Option<String>> {
    if link.starts_with("https://") || link.starts_with("http://127.0.0.1") || link.starts_with("mailto:") {
        return Ok(None); // Not asked: tests need no network.
    }
    if link.contains("://") {
        return Ok(Some("neither https nor a file".into()));
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(p, a)| (p, Some(a)));
    let to = if path.is_empty() { from.to_path_buf() } else { plain(&from.with_file_name(path)) };
    if !to.exists() {
        return Ok(Some("no such file".into()));
    }
    if let Some(anchor) = anchor
        && to.extension().is_some_and(|e| e == "md")
        && !of(&to, read)?.anchors.iter().any(|a| a == anchor)
    {
        return Ok(Some("no such heading".into()));
    }
    Ok(None)
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_are_found_and_good_ones_are_not() {
        let page = crate::root().join("docs/learners.md");
        let mut read = HashMap::new();
        let mut wrong = |link: &str| super::wrong(&page, link, &mut read).expect("readable");
        for good in ["../README.md", "stages.md", "#notes", "https://x.org", "libsvm.md#training"] {
            assert_eq!(wrong(good), None, "{good}");
        }
        for bad in ["nowhere.md", "stages.md#nowhere", "#nowhere", "http://x.org", "../../x.md"] {
            assert!(wrong(bad).is_some(), "{bad}");
        }
    }
}
