//! The maps are true: a path or a name of the code in ARCHITECTURE.md or CONTRIBUTING.md exists.
//!
//! Text in backticks is a path where it holds a slash or ends as a file does, a name where it is one of Rust: `Type`,
//! `Type::item`, `module::item`, `function()`, `macro!`. Paths start at the root or at the library's `src`; `<name>`
//! stands for any file of a folder. Bare words in lower case may mean anything and are not looked at.

use std::collections::{HashMap, HashSet};

use super::Finding;
use super::files::File;
use super::floors::LIBRARY;
use super::lexer;

const MAPS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];
const KEYWORDS: [&str; 8] = ["struct", "enum", "trait", "fn", "const", "static", "type", "mod"];
/// Folders of one checkout, which no file list shows.
const ELSEWHERE: [&str; 1] = ["data/local"];

/// Checks both maps against all files.
pub(crate) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let maps: Vec<&File> = files.iter().filter(|f| MAPS.contains(&f.path.as_str())).collect();
    if maps.is_empty() {
        return findings;
    }
    let names = Names::of(files);
    for file in maps {
        for (line, text) in quoted(&file.text) {
            let wrong = match kind(text) {
                Some(Kind::Path) => (!path_exists(files, text)).then_some("no such path"),
                Some(Kind::Name(name)) => (!names.has(name)).then_some("no such name in the code"),
                None => None,
            };
            findings.extend(wrong.map(|what| Finding::new(&file.path, line, format!("`{text}`: {what}"))));
        }
    }
    findings
}

/// Text in backticks with its line; blocks of code are left out.
fn quoted(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut block) = (Vec::new(), false);
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            block = !block;
        } else if !block {
            found.extend(line.split('`').skip(1).step_by(2).map(|quote| (i + 1, quote)));
        }
    }
    found
}

enum Kind<'a> {
    Path,
    Name(&'a str),
}

fn kind(text: &str) -> Option<Kind<'_>> {
    let in_path = |c: char| c.is_alphanumeric() || "/._-<>{},".contains(c);
    let ends = [".rs", ".md", ".toml", ".py"].iter().any(|end| text.ends_with(end));
    if (text.contains('/') || ends) && text.chars().all(in_path) && !text.starts_with(['.', '-', '/']) {
        return Some(Kind::Path);
    }
    // `&dyn gram::Rows`, `Exec { threads }`, `exec.with_threads(1)`, `check()`, `params!`.
    let text = text.trim_start_matches('&').trim_start_matches("dyn ");
    let text = text.rsplit_once('.').map_or(text, |(_, method)| method);
    let end = text.find(|c: char| c != '_' && c != ':' && !c.is_alphanumeric()).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let called = (rest.starts_with('(') && rest.ends_with(')')) || rest == "!";
    if name.is_empty() || !(rest.is_empty() || called || rest.starts_with(" {")) {
        return None;
    }
    let camel =
        name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_ascii_lowercase());
    let path = name.contains("::") && !name.starts_with("crate::");
    (camel || path || called).then_some(Kind::Name(name))
}

fn path_exists(files: &[File], text: &str) -> bool {
    if ELSEWHERE.contains(&text) {
        return true;
    }
    if let (Some(open), Some(close)) = (text.find('{'), text.find('}')) {
        let one = |part: &str| format!("{}{part}{}", &text[..open], &text[close + 1..]);
        return text[open + 1..close].split(',').all(|part| path_exists(files, &one(part)));
    }
    // Up to the part that stands for any name.
    let known =
        text.find('<').map_or(text, |at| text[..at].rsplit_once('/').map_or("", |(folder, _)| folder));
    let known = known.trim_end_matches('/');
    [String::new(), LIBRARY.to_owned()].iter().any(|root| {
        let whole = format!("{root}{known}");
        let folder = format!("{whole}/");
        files.iter().any(|f| f.path == whole || f.path.starts_with(&folder))
    })
}

/// What the code defines.
struct Names<'a> {
    /// Each name, and the files that define it.
    defined: HashMap<&'a str, Vec<&'a str>>,
    /// Types with their variants, fields, and the names of files that have code of theirs.
    members: HashSet<(&'a str, &'a str)>,
    homes: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Names<'a> {
    fn of(files: &'a [File]) -> Self {
        let mut names = Names { defined: HashMap::new(), members: HashSet::new(), homes: HashMap::new() };
        for file in files.iter().filter(|f| f.is_rust()) {
            let tokens = lexer::read(&file.text).tokens;
            let at = |i: usize| tokens.get(i).map_or("", |t| t.text);
            for i in 0..tokens.len() {
                let name = if at(i) == "macro_rules" { at(i + 2) } else { at(i + 1) };
                match at(i) {
                    word if word == "macro_rules" || KEYWORDS.contains(&word) => {
                        names.defined.entry(name).or_default().push(&file.path);
                        names.homes.entry(name).or_default().push(&file.path);
                        if word == "struct" || word == "enum" {
                            let texts: Vec<&str> = tokens[i + 2..].iter().map(|t| t.text).collect();
                            names.members.extend(members(&texts).into_iter().map(|m| (name, m)));
                        }
                    }
                    // `use .. as name`
                    "as" if at(i + 2) == ";" => {
                        names.defined.entry(name).or_default().push(&file.path);
                    }
                    "impl" => {
                        let head = tokens[i + 1..].iter().map(|t| t.text).take_while(|t| *t != "{");
                        for name in head.take(40) {
                            names.homes.entry(name).or_default().push(&file.path);
                        }
                    }
                    _ => {}
                }
            }
        }
        names
    }

    /// Whether a name such as `Type::item` is defined: the item in a file of the type's or of the module's.
    fn has(&self, name: &str) -> bool {
        let parts: Vec<&str> = name.split("::").collect();
        let [.., before, last] = parts.as_slice() else {
            return self.defined.contains_key(name) || self.members.iter().any(|(_, m)| *m == name);
        };
        let homes = self.homes.get(before).map(Vec::as_slice).unwrap_or_default();
        let in_module = |path: &str| {
            path.split('/').any(|part| {
                let part = part.strip_suffix(".rs").unwrap_or(part);
                // A crate is written with an underscore in code.
                part.replace('-', "_") == *before || part.strip_prefix("mercer-") == Some(before)
            })
        };
        self.members.contains(&(*before, *last))
            || self
                .defined
                .get(last)
                .is_some_and(|files| files.iter().any(|f| homes.contains(f) || in_module(f)))
    }
}

/// Variants or fields in the braces that follow.
fn members<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        match *token {
            ";" if depth == 0 => break,
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth <= 0 && *token == "}" {
                    break;
                }
            }
            word if depth == 1 => {
                let next = tokens.get(i + 1).copied().unwrap_or_default();
                if word.starts_with(char::is_alphabetic) && [",", "{", "(", ":", "=", "}"].contains(&next) {
                    found.push(word);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(map: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let code = "pub struct Machine { pub role: Role }\nimpl Machine { pub fn fit(&self) {} }\n\
                    enum Role { Classes(Vec<String>), Numbers }\nmacro_rules! params { () => {} }\n";
        let files = [
            file("ARCHITECTURE.md", map),
            file("crates/mercer/src/model/machine.rs", code),
            file("crates/mercer/src/gram/block.rs", "pub fn square() {}"),
            file("docs/learners.md", ""),
        ];
        check(&files).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn planted_paths_and_names_are_found() {
        for bad in [
            "model/gone.rs",
            "model/{machine,gone}.rs",
            "docs/gone.md",
            "gone/<name>.rs",
            "Body",
            "Body::Layered",
            "Machine::gone",
            "Role::Gone",
            "gram::gone",
            "gone()",
            "gone!",
            "machine.gone(1)",
            "Gone { role }",
        ] {
            assert_eq!(found(&format!("fine\nsee `{bad}` there")).len(), 1, "not found: {bad}");
        }
    }

    #[test]
    fn what_is_there_and_what_is_no_name_are_not() {
        let good = "`model/machine.rs` `crates/mercer/src/model/<name>.rs` `docs/` `docs/learners.md` `Machine` \
                    `Machine::fit` `Machine::role` `Role::Classes` `gram::square` `&dyn Machine` `fit()` `params!` \
                    `Machine { role }` `machine.fit(1)` `model` `--kernel` `./test` `a - b < tol` `crate::...` \
                    `MERCER_DATA` `data/local`\n```sh\nsee `gone/gone.rs`\n```\n";
        assert_eq!(found(good), Vec::<String>::new());
    }
}
