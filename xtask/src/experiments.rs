//! Records the numbers of the papers' experiments: `reproduce/runs/NAME.json`, from which the book's page is generated.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::cargo_in;

/// Runs the experiments that are named, or all of them, in the release profile.
///
/// The data are found as the command finds them: in the folder named by `MERCER_DATA`, or in `data/local`.
pub(crate) fn run(root: &Path, wanted: &[String]) -> Result<()> {
    let runs = root.join("reproduce/runs");
    fs::create_dir_all(&runs).with_context(|| runs.display().to_string())?;
    let names = if wanted.is_empty() { all(root)? } else { wanted.to_vec() };
    let mut failed = Vec::new();
    for name in &names {
        match record(root, &runs, name) {
            Ok(numbers) => println!("{name:<24} {numbers} numbers"),
            // The others are still worth recording.
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    if !failed.is_empty() {
        bail!("{} of {} experiments failed:\n{}", failed.len(), names.len(), failed.join("\n"));
    }
    println!("`cargo xtask book` writes them into docs/reference/experiments.md");
    Ok(())
}

/// The names of all experiments, from the command's own list.
fn all(root: &Path) -> Result<Vec<String>> {
    let list: serde_json::Value = serde_json::from_str(&mercer(root, &["reproduce", "--list"])?)?;
    let experiments = list.as_array().context("the list is not an array")?;
    Ok(experiments.iter().filter_map(|e| e["name"].as_str().map(str::to_owned)).collect())
}

/// Runs one experiment and writes its rows; returns how many there are.
fn record(root: &Path, runs: &Path, name: &str) -> Result<usize> {
    let outcome: serde_json::Value = serde_json::from_str(&mercer(root, &["reproduce", name])?)?;
    let rows = outcome["rows"].as_array().context("the run has no rows")?;
    ensure!(outcome["name"] == name && !rows.is_empty(), "the run has no numbers");
    let file = runs.join(format!("{name}.json"));
    let lines: Vec<String> = rows.iter().map(|row| format!("  {row}")).collect();
    // One row per line, so that a change of one number is a change of one line.
    let text = format!(
        "{{\"name\": {}, \"seconds\": {}, \"rows\": [\n{}\n]}}\n",
        outcome["name"],
        outcome["seconds"],
        lines.join(",\n")
    );
    fs::write(&file, text).with_context(|| file.display().to_string())?;
    Ok(rows.len())
}

/// What the command prints as JSON.
fn mercer(root: &Path, args: &[&str]) -> Result<String> {
    let mut cargo = cargo_in(root);
    cargo.args(["run", "--locked", "--release", "--quiet", "--package", "mercer-cli", "--"]);
    cargo.args(args).args(["--format", "json", "--quiet"]).stderr(std::process::Stdio::inherit());
    let out = cargo.output().context("cargo cannot be started")?;
    ensure!(out.status.success(), "mercer {} ended with {}", args.join(" "), out.status);
    Ok(String::from_utf8(out.stdout)?)
}
