//! Rules that hold for each Rust file alone: how it opens, where unsafe may be, what must not be left behind.

use super::Finding;
use super::lexer::{self, Source};

/// The only folders that may hold unsafe code.
const UNSAFE: [&str; 2] = ["crates/mercer-num/", "crates/mercer-cuda/"];
/// Code here prints nothing, not even in its own unit tests.
const SILENT: [&str; 3] = ["crates/mercer/src/", "crates/mercer-num/src/", "crates/mercer-report/src/"];

/// Checks one file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let source = lexer::read(text);
    let mut findings = Vec::new();
    let mut found = |line: usize, rule: String| findings.push(Finding::new(path, line, rule));

    if !text.starts_with("//!") {
        found(1, "the first line says what the file is for (`//! ...`)".into());
    }
    for (i, token) in source.tokens.iter().enumerate() {
        let next = |k: usize| source.tokens.get(i + k).map_or("", |t| t.text);
        match token.text {
            "unsafe" if !UNSAFE.iter().any(|folder| path.starts_with(folder)) => {
                found(token.line, format!("unsafe code stands only under {}", UNSAFE.join(" and ")));
            }
            "unsafe" if next(1) != "fn" && !explained(text, &source, token.line) => {
                found(
                    token.line,
                    "unsafe code has a line `// SAFETY: why it is sound` right before it".into(),
                );
            }
            "println" | "eprintln" | "print" | "eprint" | "dbg"
                if next(1) == "!" && SILENT.iter().any(|s| path.starts_with(s)) =>
            {
                found(token.line, format!("`{}!`: the library prints nothing", token.text));
            }
            "todo" | "unimplemented" if next(1) == "!" => {
                found(token.line, format!("`{}!`: unfinished code is not committed", token.text));
            }
            "ignore" if i > 0 && source.tokens[i - 1].text == "[" && next(1) == "]" => {
                found(token.line, "an ignored test says why: #[ignore = \"reason\"]".into());
            }
            "allow"
                if next(1) == "(" && i > 0 && source.tokens[i - 1].text == "[" && !has_reason(&source, i) =>
            {
                found(token.line, "a lint is lifted by #[expect(lint, reason = \"...\")]".into());
            }
            _ => {}
        }
    }
    for comment in &source.comments {
        let words = comment.text.split(|c: char| !c.is_alphanumeric());
        if let Some(word) = words.into_iter().find(|w| ["TODO", "FIXME", "XXX"].contains(w)) {
            found(comment.line, format!("`{word}`: unfinished code is not committed"));
        }
        let fence = comment.text.trim_start_matches(['/', '!', '*', ' ']).strip_prefix("```");
        if fence.is_some_and(|info| info.contains("ignore") && !info.contains('(')) {
            found(comment.line, "an example that does not run says why: ```ignore (reason)".into());
        }
    }
    findings
}

/// Whether the attribute that holds this token gives a reason.
fn has_reason(source: &Source<'_>, at: usize) -> bool {
    source.tokens[at..].iter().take_while(|t| t.text != "]").any(|t| t.text == "reason")
}

/// Whether the statement on this line has a `SAFETY:` comment on it or right before it.
fn explained(text: &str, source: &Source<'_>, line: usize) -> bool {
    let says = |l: usize| source.comments.iter().any(|c| c.line == l && c.text.contains("SAFETY:"));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut at = line;
    // Up to where the statement begins, then through the comment and the attributes above it.
    while at > 1 && !says(at) {
        let above = lines[at - 2];
        let comment = above.starts_with("//") || above.starts_with("#[");
        let begins = above.is_empty() || above.ends_with([';', '{', '}', ',']);
        if !comment && begins {
            return false;
        }
        at -= 1;
    }
    says(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, body: &str) -> Vec<String> {
        check(path, &format!("//! Planted.\n{body}")).into_iter().map(|f| f.rule).collect()
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert_eq!(check("xtask/src/main.rs", "// no\n").len(), 1);
        assert_eq!(check("xtask/src/main.rs", "").len(), 1);
        assert!(check("xtask/src/main.rs", "//! yes\n").is_empty());
    }

    #[test]
    fn unsafe_is_kept_in_one_crate_and_explained() {
        let bare = "fn f() {\n    let a = unsafe { g() };\n}";
        let told = "fn f() {\n    // SAFETY: g asks nothing.\n    let a = unsafe { g() };\n}";
        let split =
            "fn f() {\n    // SAFETY: g asks\n    // nothing.\n    let a =\n        unsafe { g() };\n}";
        let earlier = "// SAFETY: of another block.\nlet b = 1;\nlet a = unsafe { g() };";
        let num = "crates/mercer-num/src/simd.rs";
        assert_eq!(rules("crates/mercer/src/exec.rs", told).len(), 1);
        assert_eq!(rules(num, bare).len(), 1);
        assert_eq!(rules(num, earlier).len(), 1);
        assert!(rules(num, told).is_empty());
        assert!(rules(num, split).is_empty());
        assert!(rules(num, "/// # Safety\n/// x\nunsafe fn f() {}").is_empty());
        assert_eq!(rules(num, "unsafe impl Send for A {}").len(), 1);
        assert!(rules("crates/mercer/src/lib.rs", "#![forbid(unsafe_code)]\n// unsafe\n").is_empty());
    }

    #[test]
    fn the_library_is_silent_and_the_command_is_not() {
        for bad in ["println!(\"a\")", "dbg!(x)", "eprint ! (\"b\")", "print!(\"c\")"] {
            assert_eq!(rules("crates/mercer/src/exec.rs", bad).len(), 1, "{bad}");
            assert!(rules("crates/mercer-cli/src/main.rs", bad).is_empty(), "{bad}");
        }
        assert!(
            rules("crates/mercer/src/exec.rs", "/// println!(\"in an example\")\nfn print() {}").is_empty()
        );
    }

    #[test]
    fn nothing_unfinished_or_silenced_stays() {
        for bad in [
            "fn f() { todo!() }",
            "fn f() { unimplemented!(\"later\") }",
            "// TODO tomorrow",
            "/* FIXME: wrong */",
            "#[ignore]",
            "#[allow(dead_code)]",
            "#![allow(dead_code)]",
            "/// ```ignore\n/// x\n/// ```",
            "//! ```rust,ignore",
        ] {
            assert_eq!(rules("crates/mercer/src/exec.rs", bad).len(), 1, "not found: {bad}");
        }
        for good in [
            "#[ignore = \"takes an hour\"]",
            "#[expect(dead_code, reason = \"read by the debugger\")]",
            "#[allow(dead_code, reason = \"only on other platforms\")]",
            "/// ```ignore (needs a device)",
            "/// ```\n/// x\n/// ```",
            "const S: &str = \"TODO\";",
            "// a todo list is a kernel of truth",
        ] {
            assert!(rules("crates/mercer/src/exec.rs", good).is_empty(), "wrongly found: {good}");
        }
    }
}
