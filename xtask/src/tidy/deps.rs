//! Dependencies: all in one table, each with a written reason, and the algebra ones in one crate only.

use super::Finding;
use super::files::File;

const DECISIONS: &str = "docs/decisions/";
/// Crates that do linear algebra or optimisation, and the only manifest that may name them.
const ALGEBRA: [&str; 7] = ["faer", "ndarray", "nalgebra", "clarabel", "microlp", "highs", "argmin"];
const NUM: &str = "crates/mercer-num/Cargo.toml";

/// Checks all manifests against each other and against the written decisions.
pub(crate) fn check(files: &[File]) -> Vec<Finding> {
    let decisions: Vec<&File> = files.iter().filter(|f| f.path.starts_with(DECISIONS)).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|f| f.path.ends_with("Cargo.toml")) {
        for (line, name, entry) in dependencies(&file.text) {
            let own = entry.contains("path =");
            let shared = entry.contains("workspace");
            if file.path == "Cargo.toml" && !own && !decisions.iter().any(|d| explains(d, name)) {
                let rule = format!(
                    "`{name}` has no reason under {DECISIONS}: what it is for, what else was looked at"
                );
                findings.push(Finding::new(&file.path, line, rule));
            }
            // The fuzz crate stands outside the workspace: it needs another compiler.
            if file.path != "Cargo.toml" && !file.path.starts_with("fuzz/") && !own && !shared {
                let rule = format!(
                    "`{name}` belongs in [workspace.dependencies], and here `{name}.workspace = true`"
                );
                findings.push(Finding::new(&file.path, line, rule));
            }
            // A test may ask another solver for its answer.
            let table = file.text.lines().take(line).filter(|l| l.starts_with('[')).last();
            let tests = table == Some("[dev-dependencies]");
            if file.path != "Cargo.toml" && file.path != NUM && !tests && ALGEBRA.contains(&name) {
                let rule = format!("`{name}`: only {NUM} names a linear-algebra or optimisation crate");
                findings.push(Finding::new(&file.path, line, rule));
            }
        }
    }
    findings
}

/// Each entry of each dependency table: line, name, the rest.
fn dependencies(manifest: &str) -> Vec<(usize, &str, &str)> {
    let (mut out, mut inside) = (Vec::new(), false);
    for (i, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            inside = table.ends_with("dependencies");
            // `[dependencies.name]` is an entry by itself; what stands below it are its settings.
            if let Some((_, name)) = table.split_once("dependencies.") {
                out.push((i + 1, name, ""));
            }
        } else if inside && !line.starts_with('#') {
            let end = line.find(['.', '=', ' ']).unwrap_or(0);
            if end > 0 {
                out.push((i + 1, &line[..end], &line[end..]));
            }
        }
    }
    out
}

/// Whether the file is about the crate: by its own name, in a heading, or in code marks.
fn explains(file: &File, name: &str) -> bool {
    file.path == format!("{DECISIONS}{name}.md")
        || file.text.contains(&format!("`{name}`"))
        || file.text.lines().any(|l| l.starts_with('#') && l.split([' ', ',', ':']).any(|w| w == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn lines(files: &[File]) -> Vec<(String, usize)> {
        check(files).into_iter().map(|f| (f.path, f.line)).collect()
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let root = "[workspace.dependencies]\nown = { path = \"x\" }\n# csv\ncsv = \"1\"\nrand = \"1\"\n[profile.dev]\na = 1";
        let found = |text: &str| lines(&[file("Cargo.toml", root), file("docs/decisions/a.md", text)]);
        assert_eq!(found("Reads csv."), [("Cargo.toml".to_owned(), 4), ("Cargo.toml".to_owned(), 5)]);
        assert_eq!(found("`csv` reads."), [("Cargo.toml".to_owned(), 5)]);
        assert_eq!(found("# csv and rand"), []);
    }

    #[test]
    fn members_take_from_the_table_and_leave_algebra_alone() {
        let manifest = "[dependencies]\nfaer.workspace = true\nlog = \"0.4\"\nrayon = { workspace = true }\n[dependencies.csv]\nversion = \"1\"";
        let member = "crates/mercer/Cargo.toml".to_owned();
        assert_eq!(
            lines(&[file(&member, manifest)]),
            [(member.clone(), 2), (member.clone(), 3), (member.clone(), 5)]
        );
        assert_eq!(lines(&[file(NUM, "[dependencies]\nfaer.workspace = true")]), []);
        let oracle = "[dependencies]\n[dev-dependencies]\nclarabel.workspace = true\n";
        assert_eq!(lines(&[file(&member, oracle)]), []);
    }
}
