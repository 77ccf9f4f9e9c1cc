//! Where work runs is decided at the edge: no code of the library makes an execution context of its own.
//!
//! `Exec::default()` asks the machine for all its threads and half of its memory. A program does that once and passes
//! what it got; below, it would run with more than the caller allowed.

use super::Finding;
use super::files::File;
use super::floors::{LIBRARY, REPORT, test_files};
use super::lexer;

/// Checks every file of the library but its tests.
pub(crate) fn check(files: &[File]) -> Vec<Finding> {
    let library: Vec<(&str, &File)> = files
        .iter()
        .filter(|f| f.is_rust())
        .filter_map(|f| Some((f.path.strip_prefix(LIBRARY).or_else(|| f.path.strip_prefix(REPORT))?, f)))
        .collect();
    let tests = test_files(&library);
    library
        .iter()
        .filter(|(inside, _)| !tests.iter().any(|test| test == inside))
        .flat_map(|(_, file)| made(&file.text).into_iter().map(move |line| (*file, line)))
        .map(|(file, line)| {
            let rule = "`Exec::default()`: the edge makes the execution context, the library passes it on";
            Finding::new(&file.path, line, rule)
        })
        .collect()
}

/// Lines outside tests that make an execution context of the whole machine.
fn made(text: &str) -> Vec<usize> {
    let source = lexer::read(text);
    let test = lexer::test_code(&source.tokens);
    let is = |at: usize, text: &str| source.tokens.get(at).is_some_and(|t| t.text == text);
    (0..source.tokens.len())
        .filter(|&i| !test[i] && is(i, "Exec") && is(i + 1, "::") && is(i + 2, "default"))
        .map(|i| source.tokens[i].line)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let files = [File { path: path.to_owned(), text: text.to_owned() }];
        check(&files).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_context_made_in_the_library_is_found() {
        let planted = "//! A file.\nfn f() {\n    g(Exec::default());\n}\n";
        assert_eq!(found("crates/mercer/src/solve/x.rs", planted), [3]);
        assert_eq!(found("crates/mercer-report/src/x.rs", planted), [3]);
        assert_eq!(found("crates/mercer/src/solve/x.rs", "fn f() { g(crate::exec::Exec::default) }"), [1]);
    }

    #[test]
    fn tests_examples_and_programs_may_make_one() {
        let test = "//! A file.\n#[cfg(test)]\nmod tests {\n    fn f() { g(Exec::default()) }\n}\n";
        assert!(found("crates/mercer/src/solve/x.rs", test).is_empty());
        assert!(
            found("crates/mercer/src/solve/x.rs", "/// let exec = Exec::default();\nfn f() {}\n").is_empty()
        );
        assert!(found("crates/mercer-cli/src/main.rs", "fn f() { g(Exec::default()) }").is_empty());
        assert!(found("crates/mercer/src/solve/x.rs", "fn f() { g(Exec::one()) }").is_empty());
    }
}
