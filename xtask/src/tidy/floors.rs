//! Who may name whom inside the library: a file names only floors below its own.
//!
//! Read are paths from `crate::` in code and in documentation, also grouped (`use crate::{data::Points, kernel}`), and
//! what `lib.rs` re-exports at the root counts as the floor it comes from. `super` must not lead out of a floor: it
//! would hide what is named.

use std::collections::BTreeMap;

use super::Finding;
use super::files::File;
use super::lexer::{self, Token};

pub(super) const LIBRARY: &str = "crates/mercer/src/";
/// Stands above all floors: it sees what everybody sees.
pub(super) const REPORT: &str = "crates/mercer-report/src/";

/// Every module of the library's root, with its floor.
const FLOORS: [(&str, u8); 14] = [
    ("num", 0),
    ("error", 0),
    ("exec", 0),
    ("param", 0),
    ("line", 0),
    ("watch", 0),
    ("data", 1),
    ("kernel", 2),
    ("gram", 3),
    ("solve", 4),
    ("expansion", 5),
    ("reduce", 6),
    ("model", 7),
    ("assess", 8),
];

/// All that a solver may know of kernels and points: rows of numbers, and the cache that keeps some of them.
const SEEN_BY_SOLVE: [&str; 3] = ["Rows", "Cache", "RowCache"];

fn floor_of(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

/// Why `from` must not name `to`, or nothing.
fn refusal(from: &str, to: &[&str]) -> Option<String> {
    let named = *to.first()?;
    let (mine, theirs) = (floor_of(from)?, floor_of(named)?);
    if named == from || theirs == 0 {
        return None;
    }
    if from == "solve" {
        let item = to.get(1).copied().unwrap_or("");
        let seen = named == "gram" && SEEN_BY_SOLVE.contains(&item);
        let rule = "solve names only floor 0 and, of gram, the trait Rows and the row cache";
        return (!seen).then(|| format!("`crate::{}`: {rule}", to.join("::")));
    }
    if theirs >= mine {
        return Some(format!(
            "`crate::{}`: floor {mine} ({from}) must not name floor {theirs} ({named}); a file names only floors \
             below its own",
            to.join("::")
        ));
    }
    if from == "expansion" && named == "solve" {
        return Some(format!("`crate::{}`: an expansion does not know which solver made it", to.join("::")));
    }
    None
}

/// Checks every file of the library.
pub(crate) fn check(files: &[File]) -> Vec<Finding> {
    let library: Vec<(&str, &File)> = files
        .iter()
        .filter(|f| f.is_rust())
        .filter_map(|f| Some((f.path.strip_prefix(LIBRARY)?, f)))
        .collect();
    let root = library.iter().find(|(inside, _)| *inside == "lib.rs").map_or("", |(_, f)| f.text.as_str());
    let exports = re_exports(root);
    let test_files = test_files(&library);
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| [LIBRARY, REPORT].iter().any(|c| f.path == format!("{c}lib.rs"))) {
        if !file.text.contains("#![forbid(unsafe_code)]") {
            findings.push(Finding::new(&file.path, 1, "the crate's root says #![forbid(unsafe_code)]"));
        }
    }
    for (inside, file) in library {
        if inside == "lib.rs" || test_files.iter().any(|t| t == inside) {
            continue;
        }
        findings.extend(
            check_file(inside, &file.text, &exports)
                .into_iter()
                .map(|(line, rule)| Finding::new(&file.path, line, rule)),
        );
    }
    findings
}

/// Checks one file, given by its path below the library's `src`.
fn check_file(inside: &str, text: &str, exports: &BTreeMap<String, String>) -> Vec<(usize, String)> {
    let modules = module_path(inside);
    let Some(from) = modules.first().copied().filter(|m| floor_of(m).is_some()) else {
        return vec![(
            1,
            format!("`{inside}` stands on no floor: give its module a row in xtask/src/tidy/floors.rs"),
        )];
    };
    let source = lexer::read(text);
    let test = lexer::test_code(&source.tokens);
    let mut found = Vec::new();
    let mut judge = |line: usize, path: &[&str]| {
        let Some(&first) = path.first() else { return };
        let mut path = path.to_vec();
        if let Some(floor) = exports.get(first).filter(|_| floor_of(first).is_none()) {
            path.insert(0, floor);
        } else if first == "*" || first == "self" {
            found.push((line, "a glob or an alias of the crate hides which floor is named".to_owned()));
        }
        found.extend(refusal(from, &path).map(|why| (line, why)));
    };
    for (i, token) in source.tokens.iter().enumerate() {
        if test[i] {
            continue;
        }
        if token.text == "crate" && is(&source.tokens, i + 1, "::") {
            for path in paths(&source.tokens, i + 2) {
                judge(path.line, &path.segments);
            }
        } else if token.text == "crate" && is(&source.tokens, i + 1, "as") {
            judge(token.line, &["self"]);
        }
    }
    for comment in source.comments.iter().filter(|c| c.doc) {
        for (at, mark) in comment.text.match_indices("crate::") {
            let path =
                comment.text[at + mark.len()..].split(|c: char| c != '_' && c != ':' && !c.is_alphanumeric());
            let segments: Vec<&str> =
                path.take(1).flat_map(|p| p.split("::")).filter(|s| !s.is_empty()).collect();
            judge(comment.line, &segments);
        }
    }
    found.extend(escapes(&source.tokens, &test, modules.len()));
    found
}

/// `gram/matrix.rs` is the module `gram::matrix`, `gram/mod.rs` and `gram.rs` are `gram`.
fn module_path(inside: &str) -> Vec<&str> {
    let stem = inside.strip_suffix(".rs").unwrap_or(inside);
    stem.split('/').filter(|part| *part != "mod").collect()
}

/// Chains of `super` that lead to the crate's root, from where any floor could be named unseen.
fn escapes(tokens: &[Token<'_>], test: &[bool], depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inline = inline_depth(tokens);
    inline.push(0);
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].text != "super" || test[at] {
            at += 1;
            continue;
        }
        let start = at;
        let mut supers = 1;
        while is(tokens, at + 1, "::") && is(tokens, at + 2, "super") {
            supers += 1;
            at += 2;
        }
        if supers >= depth + inline[start] && is(tokens, at + 1, "::") {
            let rule = "`super` leaves the floor: name floors as crate::<floor>, so that it shows";
            found.push((tokens[start].line, rule.to_owned()));
        }
        at += 1;
    }
    found
}

/// For each token, the number of modules opened in this file around it.
fn inline_depth(tokens: &[Token<'_>]) -> Vec<usize> {
    let (mut braces, mut open) = (0_usize, Vec::new());
    let mut depth = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        match token.text {
            "{" => {
                if i >= 2 && tokens[i - 2].text == "mod" {
                    open.push(braces);
                }
                braces += 1;
            }
            "}" => {
                braces = braces.saturating_sub(1);
                if open.last() == Some(&braces) {
                    open.pop();
                }
            }
            _ => {}
        }
        depth.push(open.len());
    }
    depth
}

/// One path of a (grouped) use or of an expression.
struct Path<'a> {
    line: usize,
    segments: Vec<&'a str>,
    alias: Option<&'a str>,
}

fn is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|t| t.text == text)
}

/// All paths of the tree that starts at this token.
fn paths<'a>(tokens: &[Token<'a>], start: usize) -> Vec<Path<'a>> {
    let mut out = Vec::new();
    tree(tokens, start, &[], &mut out);
    out
}

fn tree<'a>(tokens: &[Token<'a>], mut at: usize, prefix: &[&'a str], out: &mut Vec<Path<'a>>) -> usize {
    let mut segments = prefix.to_vec();
    let Some(&Token { line, .. }) = tokens.get(at) else { return at };
    loop {
        match tokens.get(at).map(|t| t.text) {
            Some("{") => {
                at += 1;
                while at < tokens.len() && !is(tokens, at, "}") {
                    at = if is(tokens, at, ",") {
                        at + 1
                    } else {
                        tree(tokens, at, &segments, out).max(at + 1)
                    };
                }
                return at + 1;
            }
            Some(word) if word == "*" || word.starts_with(|c: char| c == '_' || c.is_alphabetic()) => {
                segments.push(word);
                at += 1;
            }
            _ => break,
        }
        if !is(tokens, at, "::") {
            break;
        }
        at += 1;
    }
    let mut alias = None;
    if is(tokens, at, "as") {
        alias = tokens.get(at + 1).map(|t| t.text);
        at += 2;
    }
    out.push(Path { line, segments, alias });
    at
}

/// What the root gives out under its own name: `pub use kernel::Kernel` makes `crate::Kernel` floor 2.
fn re_exports(root: &str) -> BTreeMap<String, String> {
    let source = lexer::read(root);
    let mut exports = BTreeMap::new();
    for (i, _) in source.tokens.iter().enumerate().filter(|(_, t)| t.text == "use") {
        let start = if is(&source.tokens, i + 1, "crate") { i + 3 } else { i + 1 };
        for path in paths(&source.tokens, start) {
            let (Some(first), Some(last)) = (path.segments.first(), path.segments.last()) else { continue };
            if floor_of(first).is_some() {
                exports.insert(path.alias.unwrap_or(last).to_owned(), (*first).to_owned());
            }
        }
    }
    exports
}

/// Files that are whole modules under `#[cfg(test)]`.
pub(super) fn test_files(library: &[(&str, &File)]) -> Vec<String> {
    let mut out = Vec::new();
    for (inside, file) in library {
        let source = lexer::read(&file.text);
        let test = lexer::test_code(&source.tokens);
        let folder = inside.strip_suffix("mod.rs").map_or_else(
            || {
                inside
                    .strip_suffix("lib.rs")
                    .map_or(format!("{}/", inside.trim_end_matches(".rs")), str::to_owned)
            },
            str::to_owned,
        );
        for (i, token) in source.tokens.iter().enumerate() {
            if test[i] && token.text == "mod" && is(&source.tokens, i + 2, ";") {
                let name = source.tokens[i + 1].text;
                out.extend([format!("{folder}{name}.rs"), format!("{folder}{name}/mod.rs")]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(inside: &str, text: &str) -> Vec<usize> {
        let exports = re_exports(
            "pub use error::{Error, Result}; pub use kernel::Kernel; pub use model::Svc as Machine;",
        );
        check_file(inside, text, &exports).into_iter().map(|(line, _)| line).collect()
    }

    fn breaks(inside: &str, text: &str) -> bool {
        !lines(inside, text).is_empty()
    }

    #[test]
    fn naming_a_floor_above_is_found_in_every_spelling() {
        for bad in [
            "use crate::kernel::Kernel;",
            "use crate::{error::Result, kernel};",
            "use crate::{\n    error::{Error, Result},\n    kernel::{rbf::Rbf, Kernel},\n};",
            "fn f() { crate::gram::fill(); }",
            "type K = Box<dyn crate::gram::Rows>;",
            "/// See [`crate::model::Svc`].",
            "use crate::Kernel;",
            "use crate::{Error, Machine};",
            "macro_rules! m { () => { $crate::kernel::f() } }",
            "use crate::*;",
            "use crate as root;",
            "use super::super::kernel::Kernel;",
            "use super::super::{kernel::Kernel};",
        ] {
            assert!(breaks("data/points.rs", bad), "not found: {bad}");
        }
        assert!(breaks("data/mod.rs", "use super::kernel::Kernel;"));
        assert!(breaks("data.rs", "pub(super) use super::kernel;"));
        assert_eq!(
            lines("data/points.rs", "//! a\nuse crate::{\n    error::Error,\n    kernel::Kernel,\n};"),
            [4]
        );
    }

    #[test]
    fn naming_downwards_or_oneself_is_fine() {
        for good in [
            "use crate::error::{Error, Result};",
            "use crate::{Error, exec::Exec, num::Real};",
            "use crate::data::View;",
            "use super::targets::Labels;",
            "use super::View;",
            "// crate::kernel is only spoken of here",
            "const S: &str = \"crate::kernel::Kernel\";",
            "pub(crate) fn f() {}",
            "pub(super) fn f() {}",
            "mod inner { use super::super::targets::Labels; }",
            "#[cfg(test)]\nmod tests { use crate::kernel::Kernel; use super::super::super::kernel; }",
        ] {
            assert!(!breaks("data/points.rs", good), "wrongly found: {good}");
        }
        assert!(!breaks(
            "model/svc.rs",
            "use crate::{solve::smo, gram::Rows, reduce, expansion::Expansion};"
        ));
    }

    #[test]
    fn code_after_a_test_module_is_still_judged() {
        assert!(breaks("data/points.rs", "#[cfg(test)]\nmod tests { }\nuse crate::kernel::Kernel;"));
    }

    #[test]
    fn a_solver_sees_rows_and_nothing_else() {
        assert!(!breaks("solve/smo.rs", "use crate::gram::{Cache, Rows}; use crate::error::Result;"));
        for bad in [
            "use crate::gram::Matrix;",
            "use crate::gram;",
            "use crate::gram::{Rows, Gram};",
            "use crate::data::Points;",
            "use crate::Kernel;",
            "use crate::expansion::Expansion;",
        ] {
            assert!(breaks("solve/smo.rs", bad), "not found: {bad}");
        }
        assert!(breaks("expansion/mod.rs", "use crate::solve::smo;"));
    }

    #[test]
    fn a_module_without_a_floor_is_found() {
        assert!(breaks("helpers.rs", "//! Odds and ends."));
        assert!(breaks("util/mod.rs", ""));
    }

    #[test]
    fn a_test_module_in_its_own_file_may_name_any_floor() {
        let file = |path: &str, text: &str| File { path: format!("{LIBRARY}{path}"), text: text.to_owned() };
        let files = [
            file("lib.rs", "#![forbid(unsafe_code)]\npub mod data;"),
            file("data/mod.rs", "#[cfg(test)]\nmod contract;\nmod plain;"),
            file("data/contract.rs", "use crate::kernel::Kernel;"),
            file("data/plain.rs", "use crate::kernel::Kernel;"),
        ];
        let found: Vec<String> = check(&files).into_iter().map(|f| f.path).collect();
        assert_eq!(found, [format!("{LIBRARY}data/plain.rs")]);
        let found = check(&[file("lib.rs", "pub mod data;")]);
        assert_eq!(found.len(), 1, "a root without forbid(unsafe_code) is found");
        let report = File { path: format!("{REPORT}lib.rs"), text: "//! Reports.".to_owned() };
        assert_eq!(check(&[report]).len(), 1, "so is that of the reports");
    }
}
