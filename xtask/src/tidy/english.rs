//! Plain English: texts that users read use the terms of the field, always the same ones.
//!
//! Checked are the pages for users, string literals of the library, the reports, the command, the service, the lab and the Python extension, the
//! command's doc comments, which clap shows as help, and strings of the Python package with its docstrings. Tests are not checked. The list
//! contains what can be found without false alarms.

use std::path::Path;

use super::Finding;
use super::files::File;
use super::lexer;

/// What not to write, and what to write instead.
const WORDS: &[(&str, &str)] = &[
    ("anew", "again, or retrain, recompute"),
    ("wishes", "settings or hyperparameters"),
    ("how sure", "probability estimates"),
    ("the way back", "pre-image or inverse"),
    ("no way back", "no inverse"),
    ("on their fingers", "Coming from ..?"),
    ("solver steps", "iterations"),
    ("steps a machine", "iterations per machine"),
    ("violation left", "tolerance (KKT violation)"),
    ("has no meaning", "is not supported"),
    ("told apart", "separated, distinguished"),
    ("by pairs", "one-vs-one"),
    ("each from the rest", "one-vs-rest"),
    ("against one another", "one-vs-one"),
    ("that change nothing", "label-preserving"),
    ("does not believe", "disagrees with"),
    ("rows in play", "active rows; shrinking"),
    ("found their place", "shrinking"),
    ("stand for others", "landmarks, low-rank approximation"),
    ("withheld", "rejected"),
    ("doubt", "reject option, rejection"),
    ("surer", "more certain; probability above .."),
    ("surest", "largest decision value"),
    ("oddest", "most unusual"),
    ("odd ones", "outliers"),
    ("what is usual", "inliers, novelty detection"),
    ("answer new rows", "predict new rows"),
    ("answers for", "predictions for"),
    ("answered by", "predicted by"),
    ("answers.csv", "predictions.csv"),
    ("answers that", "predictions that"),
    ("always answering", "always predicting"),
    ("told to be", "predicted to be, are"),
    ("one against one", "one-vs-one"),
    ("one against the rest", "one-vs-rest"),
    ("border", "decision boundary, margin, or edge"),
    ("may be given again", "repeatable"),
    ("rows to learn from", "training set"),
    ("rows to test on", "test set"),
    ("train again", "retrain"),
    ("trained again", "retrained"),
    ("leaving one out", "leave-one-out"),
    ("errors cost", "cost of errors, loss"),
    ("a matrix of all values", "kernel matrix"),
    ("rows set aside", "held-out rows"),
    ("what there was", "partial model, state reached"),
    ("so many", "the number of .., at most n"),
    ("nobody", "not given, by default"),
    ("whoever", "the caller, the user"),
    ("obeys", "parameters, is limited by"),
    ("wants", "requires"),
    ("is left out", "is ignored, is skipped"),
    ("are left out", "are ignored, are skipped"),
    ("must be left out", "is not used"),
    ("may be left out", "is optional, may be omitted"),
    ("by heart", "overfitting"),
    ("has the last word", "decides"),
    ("share of answers", "share of predictions"),
    ("points the machine is written with", "support vectors, centres"),
    ("is no number", "is not a number"),
    ("are no numbers", "are not numbers"),
    ("are no images", "are not images"),
    ("is no function", "is not a function"),
    ("how it went", "statistics of the run"),
    ("gone on from", "resumed"),
    ("names and manners", "interface"),
    ("has no form", "cannot be exported to, is not supported by"),
    ("have no form", "cannot be exported to, are not supported by"),
    ("tell apart", "distinguish, separate"),
    ("nothing to tell", "only one class"),
    ("read over", "ignored, skipped"),
    ("to be had", "available"),
    ("costs nothing", "unpenalised"),
    ("one a row", "one per row"),
    ("one a column", "one per column"),
    ("one a point", "one per point"),
    ("one a machine", "one per machine"),
    ("a channel a", "one channel per"),
    ("the usual start", "the usual starting value, the default"),
    ("speak for", "support"),
    ("speaks for", "supports"),
    ("speak of", "significant"),
    ("hopeless", "that cannot win"),
    ("insists", "enforces, requires"),
    ("mean little", "are unreliable"),
    ("see only themselves", "are similar only to themselves"),
    ("on which side", "decision function"),
    ("is not told", "is not stated"),
    ("of before", "previous"),
    ("in each other", "nested"),
    ("parted by", "separated by"),
    ("broke down", "internal error"),
    ("will do", "has no effect, suffices"),
    ("gone through", "iterated over, processed"),
    ("for ever", "without limit, indefinitely"),
    ("what is learned", "the model"),
    ("brought back", "restored, mapped back"),
    ("bring back", "restore, map back"),
    ("the strangest", "the most unusual"),
    ("knows nothing", "has no information"),
    ("is asked for", "is requested"),
    ("was asked for", "was requested"),
    ("were asked for", "were requested"),
    ("are asked for", "are requested"),
    ("asked otherwise", "specified otherwise"),
    ("by the data", "from the data, on the data"),
    ("beside", "next to, alongside"),
    ("blanks", "spaces"),
    ("show a bar", "whether to show a progress bar"),
    ("how many clusters", "number of clusters"),
    ("most passes", "maximum number of passes"),
    ("most hypotheses", "maximum number of hypotheses"),
    ("most centres", "maximum number of centres"),
    ("given up", "ignored"),
    ("taken out", "removed"),
    ("dashes alone", "only dashes"),
    ("reach into each other", "interleaving"),
    ("wound into each other", "interleaved"),
    ("time ran out", "time limit reached"),
    ("as good as its word", "perfect calibration"),
    ("ends it", "stops it"),
    ("held out of every choice", "that took no part in any choice"),
    ("go on", "continue, resume"),
    ("kept small", "penalty on"),
    ("weight of smoothness", "regularisation strength"),
    ("set free", "optimised"),
    ("distance left", "remaining distance"),
    ("that are left", "remaining"),
    ("that is left", "remaining"),
    ("moved rows", "virtual examples"),
    ("to be judged", "to be scored"),
    ("are judged", "are scored"),
    ("were judged", "were scored"),
    ("was judged", "was scored"),
    ("does not know", "does not use, unknown"),
    ("no longer knows", "no longer has"),
    ("still being learned", "training has not finished"),
    ("were not learned", "training failed"),
    ("by itself:", "automatic:"),
    ("take it with you", "export"),
    ("what weighs most", "largest weights"),
    ("the same for numbers", "the same for regression"),
    ("the same for classes", "the same for classification"),
    ("do alike", "have in common"),
    ("taken for", "treated as"),
    ("truth value", "boolean"),
    ("told by", "detected from"),
    ("says nothing about", "does not record"),
    ("at their places", "at their positions"),
    ("equal factors", "geometric progression"),
    ("a width of its own", "a separate width"),
    ("of one's own", "your own, a separate"),
    ("what somebody", "notes"),
    ("before somebody", "before it is requested"),
    ("some fifty", "about fifty"),
    ("the plain door", "plain HTTP"),
    ("looked at every", "checked every"),
    ("in several places", "distributed"),
];
/// Where users read.
const CODE: [&str; 6] = [
    "crates/mercer/src/",
    "crates/mercer-report/src/",
    "crates/mercer-cli/src/",
    "crates/mercer-serve/src/",
    "crates/mercer-lab/src/",
    "crates/mercer-py/src/",
];
/// Where docstrings and messages are.
const PYTHON: &str = "crates/mercer-py/python/";
/// Where doc comments are help.
const HELP: &str = "crates/mercer-cli/src/commands/";
/// Pages that are not for users: reasons for dependencies, written for developers.
const APART: &str = "docs/decisions/";

/// Checks all texts for users.
pub(crate) fn check(files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let page = file.path.starts_with("docs/") && !file.path.starts_with(APART);
        let page = page || file.path.ends_with("README.md");
        let texts = if page && Path::new(&file.path).extension().is_some_and(|e| e == "md") {
            file.text.lines().enumerate().map(|(i, line)| (i + 1, line.to_owned())).collect()
        } else if file.is_rust() && CODE.iter().any(|folder| file.path.starts_with(folder)) {
            of_code(&file.text, file.path.starts_with(HELP))
        } else if file.path.starts_with(PYTHON)
            && Path::new(&file.path).extension().is_some_and(|e| e == "py")
        {
            of_python(&file.text)
        } else {
            continue;
        };
        for (line, text) in texts {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            for (word, instead) in WORDS.iter().filter(|(word, _)| has(&text, word)) {
                let rule = format!("`{word}` in a text for users: write {instead}");
                findings.push(Finding::new(&file.path, line, rule));
            }
        }
    }
    findings
}

/// String literals outside tests and, where they are help, doc comments: each with its first line.
fn of_code(text: &str, help: bool) -> Vec<(usize, String)> {
    let source = lexer::read(text);
    let test = lexer::test_code(&source.tokens);
    let literal = source.tokens.iter().zip(&test).filter(|(token, _)| token.text == "\"\"");
    let mut texts: Vec<(usize, String)> = literal
        .zip(&source.literals)
        .filter(|((_, test), _)| !**test)
        .map(|((token, _), text)| (token.line, text.replace("\\\n", " ").replace("\\n", " ")))
        .collect();
    if help {
        let mut last = 0;
        for comment in source.comments.iter().filter(|c| c.doc && c.text.starts_with("///")) {
            let words = comment.text.trim_start_matches('/');
            match texts.last_mut() {
                Some((_, block)) if last + 1 == comment.line => block.push_str(words),
                _ => texts.push((comment.line, words.to_owned())),
            }
            last = comment.line;
        }
    }
    texts
}

/// String literals of Python, docstrings among them: each with its first line.
fn of_python(text: &str) -> Vec<(usize, String)> {
    let (mut texts, mut line, mut rest) = (Vec::new(), 1, text);
    while let Some(at) = rest.find(['"', '\'', '#', '\n']) {
        let begin = &rest[at..];
        let mark = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|mark| begin.starts_with(mark));
        let Some(mark) = mark else {
            // A comment ends with its line.
            let comment = begin.starts_with('#');
            let end = if comment { begin.find('\n').unwrap_or(begin.len()) } else { 1 };
            line += usize::from(!comment);
            rest = &begin[end..];
            continue;
        };
        let inside = &begin[mark.len()..];
        let mut escaped = false;
        let end = inside.char_indices().find(|&(i, c)| {
            let ends = !escaped && inside[i..].starts_with(mark) || mark.len() == 1 && c == '\n';
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.map_or(inside.len(), |(i, _)| i);
        texts.push((line, inside[..end].to_owned()));
        line += inside[..end].matches('\n').count();
        let closed = inside[end..].starts_with(mark);
        rest = &inside[end + if closed { mark.len() } else { 0 }..];
    }
    texts
}

/// Whether the words stand in a text, not as parts of longer ones.
fn has(text: &str, words: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        !inside(text[..at].chars().next_back()) && !inside(text[at + words.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let files = [File { path: path.to_owned(), text: text.to_owned() }];
        check(&files).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn planted_words_are_found_where_users_read() {
        for &(word, _) in WORDS {
            assert_eq!(found("README.md", &format!("fine\nSee {word}.")), [2], "{word}");
            let code = format!("//! A file.\nfn f() {{\n    g(\"say {word} here\");\n}}\n");
            assert_eq!(found("crates/mercer/src/x.rs", &code), [3], "{word}");
        }
        let help =
            "//! A file.\nstruct Args {\n    /// Most solver\n    /// steps allowed\n    steps: u64,\n}\n";
        assert_eq!(found("crates/mercer-cli/src/commands/x.rs", help), [3]);
        assert_eq!(found("docs/x.md", "Trained Anew"), [1]);
    }

    #[test]
    fn planted_words_are_found_in_docstrings_and_messages_of_python() {
        let path = "crates/mercer-py/python/mercer/x.py";
        let code = r#"import y  # it's anew

def f(wishes):
    """Fits.

    Trained
    anew.
    """
    raise E('say \'anew\'')
"#;
        assert_eq!(found(path, code), [4, 9]);
        assert!(found("crates/mercer-py/tests/x.py", "f(\"anew\")").is_empty());
    }

    #[test]
    fn code_comments_and_tests_are_not_texts_for_users() {
        let code = "//! Fitted anew.\n// anew\nfn wishes(wishes: u8) {}\n#[cfg(test)]\nmod tests { fn f() { g(\"anew\") } }\n";
        assert!(found("crates/mercer/src/x.rs", code).is_empty());
        assert!(found("crates/mercer-testkit/src/x.rs", "fn f() { g(\"anew\") }").is_empty());
        assert!(found("README.md", "a Danewort").is_empty());
    }
}
