//! The budget of ARCHITECTURE.md, measured: time of a cold release build, size of the stripped command.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::{cargo_in, spawn};

/// Builds the command in an empty target folder, which is removed again, and prints time and size.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = std::env::temp_dir().join(format!("mercer-budget-{}", std::process::id()));
    fs::create_dir(&target).with_context(|| target.display().to_string())?;
    let measured = measure(root, &target);
    fs::remove_dir_all(&target).with_context(|| target.display().to_string())?;
    let (seconds, bytes) = measured?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("cold release build   {}  on {cores} cores", minutes(seconds));
    println!("stripped command     {:.1} MB", bytes as f64 / 1e6);
    Ok(())
}

fn measure(root: &Path, target: &Path) -> Result<(f64, u64)> {
    // Sources are downloaded before the clock starts.
    spawn(cargo_in(root).args(["fetch", "--locked"]))?;
    let start = Instant::now();
    let build = ["build", "--locked", "--release", "--package", "mercer-cli", "--target-dir"];
    spawn(cargo_in(root).args(build).arg(target))?;
    let seconds = start.elapsed().as_secs_f64();
    let (built, small) = (target.join("release/mercer"), target.join("stripped"));
    spawn(Command::new("strip").arg("-o").arg(&small).arg(&built))?;
    let bytes = fs::metadata(&small).with_context(|| small.display().to_string())?.len();
    Ok((seconds, bytes))
}

fn minutes(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    format!("{} min {:02} s", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    #[test]
    fn seconds_are_told_in_minutes() {
        assert_eq!(super::minutes(229.6), "3 min 50 s");
        assert_eq!(super::minutes(59.4), "0 min 59 s");
    }
}
