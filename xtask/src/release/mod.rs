//! `cargo xtask release --dry-run`: everything a release consists of, built and checked in `target/dist`.
//!
//! The order is that of cost: texts, crates, the command installed from its packaged crate, the tarball, the Python
//! packages; at the end the book's five-minute start with what was installed. Nothing is uploaded; what is left to do by hand is printed at the end.

mod crates;
mod notes;
mod start;
mod tarball;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo_in;

/// What a release has to hold, found once.
pub(crate) struct Release {
    pub(crate) root: PathBuf,
    /// Where the results go.
    pub(crate) dist: PathBuf,
    /// A folder outside the checkout, as a stranger has one: removed at the end.
    pub(crate) away: PathBuf,
    /// The version of all packages.
    pub(crate) version: String,
}

const USAGE: &str = "cargo xtask release --dry-run [--texts | --crates] [--allow-dirty]";

/// Does and checks all of a release, or the cheap parts of it.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<()> {
    let known = ["--dry-run", "--texts", "--crates", "--allow-dirty"];
    if let Some(other) = args.iter().find(|a| !known.contains(&a.as_str())) {
        bail!("unknown argument `{other}`; usage: {USAGE}");
    }
    let has = |flag: &str| args.iter().any(|a| a == flag);
    if !has("--dry-run") {
        bail!("uploading is done by hand, from what a dry run leaves in target/dist; usage: {USAGE}");
    }
    if !has("--allow-dirty") && !clean(root)? {
        bail!("the tree has changes that are not committed: commit them, or pass --allow-dirty");
    }
    let release = Release {
        root: root.to_path_buf(),
        dist: crate::python::target(root).join("dist"),
        away: std::env::temp_dir().join(format!("mercer-release-{}", std::process::id())),
        version: notes::version(root)?,
    };
    if release.dist.exists() {
        fs::remove_dir_all(&release.dist).with_context(|| release.dist.display().to_string())?;
    }
    fs::create_dir_all(&release.dist).with_context(|| release.dist.display().to_string())?;

    notes::check(&release)?;
    if has("--texts") {
        return Ok(());
    }
    fs::create_dir_all(&release.away).with_context(|| release.away.display().to_string())?;
    let made = packages(&release, has("--crates"));
    fs::remove_dir_all(&release.away).with_context(|| release.away.display().to_string())?;
    made?;
    if has("--crates") {
        return Ok(());
    }
    println!("\nmercer {} is ready in {}:", release.version, release.dist.display());
    let mut names: Vec<_> = fs::read_dir(&release.dist)?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    names.sort();
    for path in names.iter().filter(|p| p.is_file()) {
        let bytes = fs::metadata(path)?.len();
        println!("  {:>10.2} MB  {}", bytes as f64 / 1e6, path.file_name().unwrap_or_default().display());
    }
    println!("\nTo publish: tag v{0}, then `cargo publish` with the crates in this order:", release.version);
    println!("  {}", crates::PUBLISHED.join(" "));
    println!("and `twine upload` with the wheel and the sdist; notes.md is the text of the release.");
    Ok(())
}

/// Crates and, unless these are all that is asked for, everything that is made of them.
fn packages(release: &Release, crates_only: bool) -> Result<()> {
    let folders = crates::package(release)?;
    if crates_only {
        return Ok(());
    }
    let installed = crates::install(release, &folders)?;
    tarball::make(release, &installed)?;
    let python = wheel::make(release)?;
    start::run(release, &installed, &python)
}

fn clean(root: &Path) -> Result<bool> {
    let mut git = std::process::Command::new("git");
    let out =
        git.current_dir(root).args(["status", "--porcelain"]).output().context("git cannot be started")?;
    Ok(out.status.success() && out.stdout.is_empty())
}

/// Fails with a sentence unless something holds.
fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { bail!(what()) }
}

/// Cargo in a folder, without the variables that cargo sets for the programs it runs.
fn fresh_cargo(folder: &Path) -> std::process::Command {
    let mut cargo = cargo_in(folder);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|n| n.starts_with("CARGO_PKG_") || n.starts_with("CARGO_MANIFEST")) {
            cargo.env_remove(name);
        }
    }
    cargo
}
