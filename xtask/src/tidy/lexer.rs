//! As much of Rust's grammar as the rules need: tokens with their lines, comments apart, text inside literals gone.

/// A word or a mark. Literals of any kind are the token `""`, lifetimes the token `'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

/// One line of a comment, with its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comment<'a> {
    pub(crate) line: usize,
    pub(crate) text: &'a str,
    /// Whether it is documentation: `///`, `//!`, `/**`, `/*!`.
    pub(crate) doc: bool,
}

/// A file taken apart.
#[derive(Debug, Default)]
pub(crate) struct Source<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) comments: Vec<Comment<'a>>,
    /// The text of each token `""`, in order.
    pub(crate) literals: Vec<&'a str>,
}

/// Takes a file apart. Text that is not Rust gives some tokens, never a panic.
pub(crate) fn read(text: &str) -> Source<'_> {
    let bytes = text.as_bytes();
    let mut source = Source::default();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let rest = &text[at..];
        let len = if rest.starts_with("//") {
            let len = rest.find('\n').unwrap_or(rest.len());
            let doc = rest.starts_with("//!") || (rest.starts_with("///") && !rest.starts_with("////"));
            source.comments.push(Comment { line, text: &rest[..len], doc });
            len
        } else if rest.starts_with("/*") {
            let len = block_comment(rest);
            let doc = rest.starts_with("/**") || rest.starts_with("/*!");
            let lines = rest[..len].lines().enumerate();
            source.comments.extend(lines.map(|(i, text)| Comment { line: line + i, text, doc }));
            len
        } else if let Some(len) = literal(rest) {
            source.tokens.push(Token { line, text: "\"\"" });
            source.literals.push(&rest[..len]);
            len
        } else {
            let first = rest.chars().next().expect("not at the end");
            let len = if first == '_' || first.is_alphanumeric() {
                rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            if !first.is_whitespace() {
                source.tokens.push(Token { line, text: &rest[..len] });
            }
            len
        };
        line += rest[..len].matches('\n').count();
        at += len;
    }
    source
}

/// The length of the (nested) block comment that the text starts with.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        if text.as_bytes()[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if text.as_bytes()[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of the string or character that the text starts with, if it does.
fn literal(text: &str) -> Option<usize> {
    let raw = ["r", "br", "cr"].iter().find_map(|p| text.strip_prefix(p));
    if let Some(after) = raw {
        let hashes = after.len() - after.trim_start_matches('#').len();
        if let Some(body) = after[hashes..].strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let close = body.find(&end).map_or(body.len(), |i| i + end.len());
            return Some(text.len() - body.len() + close);
        }
    }
    let quoted = ["\"", "b\"", "c\""].iter().find_map(|p| text.strip_prefix(p));
    if let Some(body) = quoted {
        return Some(text.len() - body.len() + closing(body, b'"'));
    }
    let body = text.strip_prefix("b'").or_else(|| text.strip_prefix('\''))?;
    // 'x' and '\n' are characters; 'x followed by anything else is a lifetime.
    let second = body.chars().next()?;
    if second == '\\' || body[second.len_utf8()..].starts_with('\'') {
        return Some(text.len() - body.len() + closing(body, b'\''));
    }
    None
}

/// The position after the closing mark, escapes skipped.
fn closing(body: &str, mark: u8) -> usize {
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b if b == mark => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Marks the tokens that belong to an item under `#[cfg(test)]`: which may name any floor.
pub(crate) fn test_code(tokens: &[Token<'_>]) -> Vec<bool> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut marked = vec![false; tokens.len()];
    let mut at = 0;
    while at + MARK.len() <= tokens.len() {
        if !tokens[at..].iter().map(|t| t.text).take(MARK.len()).eq(MARK) {
            at += 1;
            continue;
        }
        let end = item_end(tokens, at + MARK.len());
        marked[at..end].fill(true);
        at = end;
    }
    marked
}

/// The position after the item that starts here: its `;` or its closing brace.
fn item_end(tokens: &[Token<'_>], start: usize) -> usize {
    let (mut braces, mut others) = (0_i32, 0_i32);
    for (i, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                // A brace that closes a group of a `use` is not the end of the item; its `;` is.
                let semicolon_follows = tokens.get(i + 1).is_some_and(|t| t.text == ";");
                if braces <= 0 && others <= 0 && !semicolon_follows {
                    return i + 1;
                }
            }
            "(" | "[" => others += 1,
            ")" | "]" => others -= 1,
            ";" if braces == 0 && others == 0 => return i + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        read(text).tokens.into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn strings_comments_and_characters_are_not_code() {
        assert_eq!(words("a \"b \\\" c\" d"), ["a", "\"\"", "d"]);
        assert_eq!(words("a r#\"b \" c\"# d"), ["a", "\"\"", "d"]);
        assert_eq!(words("a /* b /* c */ d */ e // f"), ["a", "e"]);
        assert_eq!(
            words("'\"' 'x' '\\'' b'\\'' &'a str"),
            ["\"\"", "\"\"", "\"\"", "\"\"", "&", "'", "a", "str"]
        );
        assert_eq!(words("for r in rows"), ["for", "r", "in", "rows"]);
        assert_eq!(words("é::ü 1.5e3"), ["é", "::", "ü", "1", ".", "5e3"]);
    }

    #[test]
    fn broken_text_ends() {
        for bad in ["\"open", "r#\"open", "/* open", "'", "'\\", "b'", "\"\\"] {
            read(bad);
        }
    }

    #[test]
    fn lines_are_counted_through_literals_and_comments() {
        let source = read("\"a\nb\"\n/* c\n d */ e\n/// doc\n//// not doc");
        assert_eq!(source.tokens.last(), Some(&Token { line: 4, text: "e" }));
        let lines: Vec<(usize, bool)> = source.comments.iter().map(|c| (c.line, c.doc)).collect();
        assert_eq!(lines, [(3, false), (4, false), (5, true), (6, false)]);
    }

    #[test]
    fn only_the_item_under_cfg_test_is_test_code() {
        let text = "a #[cfg(test)] mod tests { b { c } } d #[cfg(test)] use e::{f, g}; h";
        let source = read(text);
        let marked = test_code(&source.tokens);
        let open: Vec<&str> =
            source.tokens.iter().zip(&marked).filter(|(_, m)| !**m).map(|(t, _)| t.text).collect();
        assert_eq!(open, ["a", "d", "h"]);
    }
}
