//! The prelude is what newcomers meet first: each of its items has an example that runs.

use super::Finding;
use super::files::File;

const LIBRARY: &str = "crates/mercer/src/";
const DEFINERS: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Checks that the documentation of every item named in `prelude` holds a block of code.
pub(crate) fn check(files: &[File]) -> Vec<Finding> {
    let path = format!("{LIBRARY}lib.rs");
    let Some(lib) = files.iter().find(|f| f.path == path) else { return Vec::new() };
    let Some((before, inside)) = lib.text.split_once("pub mod prelude {") else { return Vec::new() };
    let inside = inside.split("\n}").next().unwrap_or_default();
    let line = before.lines().count();
    let library: Vec<&File> = files.iter().filter(|f| f.path.starts_with(LIBRARY) && f.is_rust()).collect();
    let names = inside.split(|c: char| c != '_' && !c.is_alphanumeric());
    let types = names.clone().filter(|n| n.starts_with(char::is_uppercase));
    let mut findings = Vec::new();
    for name in types {
        if !library.iter().any(|file| shows(&file.text, name)) {
            findings.push(Finding::new(&path, line, format!("`{name}` of the prelude has no example")));
        }
    }
    // Modules that are exported as such: their pages teach.
    for module in names.filter(|n| *n == "watch") {
        let page = library.iter().find(|f| f.path == format!("{LIBRARY}{module}.rs"));
        let example = |f: &&File| f.text.lines().take_while(|l| l.starts_with("//!")).any(|l| l == "//! ```");
        if !page.is_some_and(example) {
            let rule = format!("module `{module}` of the prelude has no example");
            findings.push(Finding::new(&path, line, rule));
        }
    }
    findings
}

/// Whether a file defines an item of this name with an example in its documentation.
fn shows(text: &str, name: &str) -> bool {
    let mut example = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("///") {
            example |= line.starts_with("/// ```");
        } else if !line.starts_with("#[") {
            let defined = line.strip_prefix("pub ").and_then(|rest| {
                let (kind, rest) = rest.split_once(' ')?;
                let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
                DEFINERS.contains(&kind).then_some(&rest[..end])
            });
            if example && defined == Some(name) {
                return true;
            }
            // Attributes may have several lines; anything that ends a statement ends the documentation.
            if line.is_empty() || line.ends_with(['{', '}', ';']) {
                example = false;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_without_an_example_is_found() {
        let file = |path: &str, text: &str| File { path: format!("{LIBRARY}{path}"), text: text.into() };
        let lib = "//! A.\n\npub mod prelude {\n    pub use crate::a::{Good, Plain};\n    pub use crate::watch;\n}\n";
        let watch = "//! A.\n//!\n//! ```\n//! let x = 1;\n//! ```\n";
        let good = "/// A.\n///\n/// ```\n/// let x = 1;\n/// ```\n#[derive(Debug)]\npub struct Good;\n";
        let plain = "/// A.\n/// ```\n/// ```\npub fn f() {}\n\n/// B.\npub struct Plain<T>(T);\n";
        let files = [file("lib.rs", lib), file("watch.rs", watch), file("a.rs", &format!("{good}{plain}"))];
        let found: Vec<String> = check(&files).into_iter().map(|f| f.rule).collect();
        assert_eq!(found, ["`Plain` of the prelude has no example"]);
        let files = [file("lib.rs", lib), file("watch.rs", "//! A.\n"), file("a.rs", good)];
        assert_eq!(check(&files).len(), 2);
    }
}
