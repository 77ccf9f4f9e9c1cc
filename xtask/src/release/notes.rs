//! The texts of a release: one version everywhere, the changelog's newest part as notes, licences and citation.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{Release, ensure};

/// The version of the workspace, which all packages inherit.
pub(super) fn version(root: &Path) -> Result<String> {
    let manifest = read(root, "Cargo.toml")?;
    in_table(&manifest, "[workspace.package]", "version").context("Cargo.toml has no workspace version")
}

/// Checks all texts and writes `notes.md`.
pub(super) fn check(release: &Release) -> Result<()> {
    let (root, version) = (&release.root, &release.version);
    let manifest = read(root, "Cargo.toml")?;
    for line in manifest.lines().filter(|l| l.starts_with("mercer") && l.contains("version =")) {
        let asked = value_of(line.split("version =").nth(1).unwrap_or_default());
        ensure(asked.as_deref() == Some(version), || format!("Cargo.toml asks for another version: {line}"))?;
    }
    let cited = read(root, "CITATION.cff")?;
    let line = cited.lines().find_map(|l| l.strip_prefix("version: "));
    ensure(line == Some(version), || format!("CITATION.cff has version {line:?}, the workspace {version}"))?;
    let python = read(root, "crates/mercer-py/pyproject.toml")?;
    ensure(python.contains("dynamic = [\"version\"]"), || {
        "pyproject.toml must take its version from Cargo".into()
    })?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "SECURITY.md", "README.md"] {
        ensure(!read(root, file)?.trim().is_empty(), || format!("{file} is empty"))?;
    }
    if manifest.contains("example.invalid") {
        println!("note: `repository` in Cargo.toml is a placeholder; set it before publishing");
    }
    let notes = notes(&read(root, "CHANGELOG.md")?, version)?;
    fs::write(release.dist.join("notes.md"), &notes)?;
    println!("texts: version {version} everywhere, {} lines of notes", notes.lines().count());
    Ok(())
}

/// The part of the changelog about a version; before it is tagged, the part about what is unreleased.
fn notes(changelog: &str, version: &str) -> Result<String> {
    let own = format!("## [{version}]");
    for heading in [own.as_str(), "## [Unreleased]"] {
        let mut lines = changelog.lines().skip_while(|l| !l.starts_with(heading));
        if lines.next().is_none() {
            continue;
        }
        let part: Vec<&str> =
            lines.take_while(|l| !l.starts_with("## [") && !l.starts_with("[Unreleased]:")).collect();
        let part = part.join("\n");
        if part.lines().any(|l| l.starts_with("- ")) {
            return Ok(format!("# Mercer {version}\n\n{}\n", part.trim()));
        }
    }
    bail!("CHANGELOG.md says nothing about {version}, nor about what is unreleased")
}

fn read(root: &Path, name: &str) -> Result<String> {
    fs::read_to_string(root.join(name)).with_context(|| name.to_owned())
}

/// The value of a key in a table of a manifest.
fn in_table(manifest: &str, table: &str, key: &str) -> Option<String> {
    let mut lines =
        manifest.lines().skip_while(|l| l.trim() != table).skip(1).take_while(|l| !l.starts_with('['));
    lines.find_map(|l| l.strip_prefix(key)?.trim_start().strip_prefix('=').and_then(value_of))
}

/// The text between the first two quotes.
fn value_of(text: &str) -> Option<String> {
    text.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_the_part_of_the_version_or_what_is_unreleased() {
        let log =
            "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- New.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n";
        assert_eq!(notes(log, "0.1.0").expect("there"), "# Mercer 0.1.0\n\n- Old.\n");
        assert_eq!(notes(log, "0.2.0").expect("unreleased"), "# Mercer 0.2.0\n\n### Added\n\n- New.\n");
        assert!(notes("# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- Old.\n", "0.2.0").is_err());
    }

    #[test]
    fn values_are_found_in_their_table() {
        let text =
            "[package]\nversion = \"9\"\n\n[workspace.package]\nedition = \"2024\"\nversion = \"0.1.0\"\n";
        assert_eq!(in_table(text, "[workspace.package]", "version").as_deref(), Some("0.1.0"));
        assert_eq!(in_table(text, "[other]", "version"), None);
    }
}
