//! The crates as they are uploaded: packaged, looked into, and the command installed from nothing but them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Release, ensure, fresh_cargo};
use crate::{cargo_in, spawn};

/// The published crates, each after those it depends on.
pub(super) const PUBLISHED: [&str; 8] = [
    "mercer-num",
    "mercer",
    "mercer-report",
    "mercer-reproduce",
    "mercer-serve",
    "mercer-lab",
    "mercer-cuda",
    "mercer-cli",
];
/// What a crate must hold besides `src`.
const NEEDED: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// Files that programs include: without them the crate builds only inside the checkout.
const INCLUDED: [(&str, &str); 4] = [
    ("mercer", "data/digits.csv.gz"),
    ("mercer-cuda", "kernels/mercer.ptx"),
    ("mercer-lab", "assets/index.html"),
    ("mercer-report", "src/html/page.css"),
];
/// crates.io refuses packages above this size, in bytes.
const LARGEST: u64 = 10 << 20;

/// Packages all crates and returns the folders they were unpacked to, in the order of [`PUBLISHED`].
pub(super) fn package(release: &Release) -> Result<Vec<PathBuf>> {
    let target = crate::python::target(&release.root);
    let names = PUBLISHED.iter().flat_map(|name| ["--package", name]);
    // What they build is checked below, all at once, by installing the command from them.
    spawn(cargo_in(&release.root).args(["package", "--quiet", "--no-verify", "--allow-dirty"]).args(names))?;
    // Inside the checkout, cargo would take them for members of its workspace.
    let unpacked = release.away.join("crates");
    fs::create_dir_all(&unpacked)?;
    let mut folders = Vec::new();
    for name in PUBLISHED {
        let stem = format!("{name}-{}", release.version);
        let file = target.join("package").join(format!("{stem}.crate"));
        let bytes = fs::metadata(&file).with_context(|| file.display().to_string())?.len();
        ensure(bytes < LARGEST, || format!("{stem} has {bytes} bytes, crates.io takes {LARGEST}"))?;
        spawn(Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(&unpacked))?;
        let folder = unpacked.join(&stem);
        look_into(&folder, name)?;
        fs::copy(&file, release.dist.join(format!("{stem}.crate")))?;
        folders.push(folder);
    }
    println!("crates: {} packaged", folders.len());
    Ok(folders)
}

/// Licences, readme and included files are there, and no dependency is a path.
fn look_into(folder: &Path, name: &str) -> Result<()> {
    let included = INCLUDED.iter().filter(|(of, _)| *of == name).map(|(_, file)| *file);
    for file in NEEDED.into_iter().chain(included) {
        let there = fs::metadata(folder.join(file)).is_ok_and(|m| m.len() > 0);
        ensure(there, || format!("{name}: the package has no {file}"))?;
    }
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    let paths = paths_of_dependencies(&manifest);
    ensure(paths.is_empty(), || format!("{name}: dependencies by path: {}", paths.join(", ")))?;
    ensure(!manifest.contains("mercer-testkit"), || {
        format!("{name}: depends on the testkit, which is not published")
    })
}

/// Dependencies of a normalised manifest that name a folder.
fn paths_of_dependencies(manifest: &str) -> Vec<&str> {
    let (mut found, mut table) = (Vec::new(), "");
    for line in manifest.lines() {
        if line.starts_with('[') {
            table = line;
        } else if table.contains("dependencies") && line.starts_with("path =") {
            found.push(table);
        }
    }
    found
}

/// Installs the command from the unpacked crates into an empty root, with an empty home folder, and runs it there.
pub(super) fn install(release: &Release, folders: &[PathBuf]) -> Result<PathBuf> {
    let target = crate::python::target(&release.root);
    let root = release.away.join("root");
    let home = root.join("home");
    fs::create_dir_all(&home)?;
    // Not on crates.io yet: the other crates are taken from their folders.
    let (cli, others) = folders.split_last().context("no crates")?;
    let patches: Vec<String> = PUBLISHED
        .iter()
        .zip(others)
        .map(|(name, folder)| format!("patch.crates-io.{name}.path={:?}", folder.display().to_string()))
        .collect();
    let with_patches = |cargo: &mut Command| {
        for patch in &patches {
            cargo.arg("--config").arg(patch);
        }
    };
    // Turns the packaged lock file into one for the patched crates; all other versions stay.
    let mut lock = fresh_cargo(cli);
    lock.args(["metadata", "--quiet", "--format-version=1"]).stdout(std::process::Stdio::null());
    with_patches(&mut lock);
    spawn(&mut lock)?;
    let mut install = fresh_cargo(&home);
    install.args(["install", "--locked", "--path"]).arg(cli).arg("--root").arg(&root);
    install.arg("--target-dir").arg(target.join("dist-build"));
    // Built as the workspace builds it: profiles are not part of a package.
    install.args(["--config", "profile.release.strip=true"]);
    with_patches(&mut install);
    spawn(&mut install)?;

    let command = root.join("bin/mercer");
    let run = |args: &[&str]| {
        let mut mercer = Command::new(&command);
        spawn(
            mercer
                .args(args)
                .current_dir(&home)
                .env_clear()
                .env("HOME", &home)
                .stdout(std::process::Stdio::null()),
        )
    };
    run(&["--version"])?;
    run(&["tour", "--out", "tour.html", "--quiet"])?;
    let page = fs::metadata(home.join("tour.html")).context("`mercer tour` left no page")?.len();
    let bytes = fs::metadata(&command)?.len();
    println!(
        "install: mercer of {:.1} MB; the tour left a page of {:.1} MB",
        bytes as f64 / 1e6,
        page as f64 / 1e6
    );
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_by_path_is_found() {
        let bad = "[package]\nname = \"a\"\n\n[[bin]]\npath = \"src/main.rs\"\n\n[dependencies.b]\nversion = \"1\"\npath = \"../b\"\n";
        assert_eq!(paths_of_dependencies(bad), ["[dependencies.b]"]);
        assert!(paths_of_dependencies(&bad.replace("path = \"../b\"\n", "")).is_empty());
    }

    #[test]
    fn all_crates_that_may_be_published_are_packaged_after_what_they_need() {
        let root = crate::root();
        let mut seen = Vec::new();
        for name in PUBLISHED {
            let folder =
                if name == "mercer-reproduce" { "reproduce".into() } else { format!("crates/{name}") };
            let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml")).expect("a manifest");
            assert!(!manifest.contains("publish = false"), "{name}");
            let dependencies = manifest.split("[dependencies]").nth(1).expect("a table");
            let dependencies = dependencies.split("\n[").next().unwrap_or_default();
            for line in dependencies.lines().filter(|l| l.starts_with("mercer")) {
                let end = line.find(['.', ' ', '=']).unwrap_or(line.len());
                assert!(seen.contains(&&line[..end]), "{name} before {line}");
            }
            seen.push(name);
        }
    }
}
