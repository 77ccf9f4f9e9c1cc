//! Reports for programs.

use std::fmt::Write as _;

use serde::Serialize;

use super::text::is_hidden;

/// Any report as indented JSON with a line end. Values that are not finite become `null`: JSON has no word for them.
///
/// Control characters are escaped beyond what JSON demands, so that no string of a file controls a terminal; parsing
/// the text gives the original string.
pub fn json(report: &impl Serialize) -> String {
    let mut out = serde_json::to_string_pretty(report)
        .expect("a report is made of structs with text keys, which serde_json always writes");
    out.push('\n');
    if !out.chars().any(|c| c != '\n' && is_hidden(c)) {
        return out;
    }
    // The layout's own line ends are the only controls outside strings.
    let mut safe = String::with_capacity(out.len() + 64);
    for c in out.chars() {
        if c != '\n' && is_hidden(c) {
            // All of them lie in the first plane: one code unit.
            let _ = write!(safe, "\\u{:04x}", c as u32);
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_as_they_were_and_no_control_is_raw() {
        let text = "a\u{1b}[2J\u{9b}\u{7f}\u{202e}\n中";
        let out = json(&serde_json::json!({ "name": text }));
        assert!(!out.chars().any(|c| c != '\n' && is_hidden(c)), "{out:?}");
        assert_eq!(out.matches('\n').count(), 3, "{out:?}");
        let back: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(back["name"], text);
    }
}
