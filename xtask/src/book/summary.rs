//! The table of contents: headings and links of `docs/SUMMARY.md`, in mdBook's form.

/// A heading, or a chapter with its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) title: String,
    /// The page's path in `docs`; a heading has none.
    pub(crate) path: Option<String>,
}

/// Reads it: lines `# Heading` and `- [Title](path.md)`.
pub(crate) fn read(text: &str) -> Vec<Entry> {
    text.lines().skip(1).filter_map(entry).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let line = line.trim();
    if let Some(title) = line.strip_prefix("# ") {
        return Some(Entry { title: title.to_owned(), path: None });
    }
    let (title, rest) = line.trim_start_matches("- ").strip_prefix('[')?.split_once("](")?;
    Some(Entry { title: title.to_owned(), path: Some(rest.strip_suffix(')')?.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_chapters_are_read_in_order() {
        let got =
            read("# Summary\n\n[Introduction](README.md)\n\n# Guides\n\n- [A](a.md)\n  - [B](x/b.md)\n");
        let paths: Vec<_> = got.iter().map(|e| e.path.as_deref()).collect();
        assert_eq!(paths, [Some("README.md"), None, Some("a.md"), Some("x/b.md")]);
        assert_eq!(got[1].title, "Guides");
    }
}
