//! Words that mean something only where the project was made, not to who reads it.

use super::Finding;

/// Private names of papers. Written in pieces, so that this file does not find itself.
const WORDS: [&str; 3] = [concat!("IS", "FS"), concat!("N", "CA"), concat!("THE", "SIS")];
/// Folders of one machine.
const FOLDERS: [&str; 3] = [concat!("/", "work"), concat!("/", "root"), concat!("/", "home")];

/// Checks one file of any kind.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut found = |rule: String| findings.push(Finding::new(path, i + 1, rule));
        for word in WORDS.iter().filter(|w| has_word(line, w)) {
            found(format!("`{word}`: papers are cited by authors and year"));
        }
        for folder in FOLDERS.iter().filter(|f| has_folder(line, f)) {
            found(format!("`{folder}/`: a path of one machine"));
        }
        if numbered_issue(line) {
            found(
                "a number of an issue says nothing to who has no list of them: say what it was about".into(),
            );
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| c != '_' && !c.is_alphanumeric()).any(|w| w == word)
}

/// The folder at the start of a path: `/x/a`, not `y/x/a` nor `/xy`.
fn has_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        let starts = before.is_none_or(|c| !c.is_alphanumeric() && !['.', '_', '-', '}', '/'].contains(&c));
        starts && after.is_none_or(|c| c == '/' || c == '"' || c == '`')
    })
}

fn numbered_issue(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower.match_indices("issue ").any(|(at, mark)| {
        let starts = !lower[..at].ends_with(|c: char| c.is_alphanumeric());
        let number = lower[at + mark.len()..].trim_start_matches('#');
        starts && number.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_words_are_found() {
        for bad in [
            format!("see {} eq. 29", WORDS[0]),
            format!("({})", WORDS[2]),
            format!("{}/main/a.rs", FOLDERS[0]),
            format!("\"{}/.cargo\"", FOLDERS[1]),
            format!("as asked in {} 7", concat!("is", "sue")),
            format!("as asked in {} #12", concat!("Is", "sue")),
        ] {
            assert_eq!(check("README.md", &format!("fine\n{bad}")).len(), 1, "not found: {bad}");
        }
    }

    #[test]
    fn ordinary_text_is_not() {
        let (folder, bare, word) = (FOLDERS[0], &FOLDERS[1][1..], concat!("is", "sue"));
        let good = format!(
            "an {word} of 3 points; t{word} 3; frame{folder}/a; {bare}/; https://x.org/a{folder}/b; CANCANCAN; \
             ${{BASE}}{folder}/a; {folder}shop; the {word}s 1"
        );
        assert_eq!(check("README.md", &good), []);
    }
}
