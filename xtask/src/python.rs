//! The Python package as a stranger gets it: a wheel, a new environment, and its tests against what was installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{cargo_in, spawn, spawn_quietly, steps};

/// What the tests need, each with its version.
pub(crate) const PINS: &str = "crates/mercer-py/tests/requirements.txt";

/// Builds the wheel, installs it into a fresh virtual environment and runs pytest and the gallery there.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = target(root);
    let folder = target.join("python");
    let venv = folder.join("venv");
    let python = venv.join("bin/python");
    let make = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv).status();
    if !make.context("python3 cannot be started: 3.11 or newer is needed")?.success() {
        bail!("python3 -m venv failed; on Debian: apt-get install python3-venv");
    }
    pip(&python, &[Path::new("-r"), &root.join(PINS)])?;
    let wheel = wheel(root, &folder, &venv)?;
    pip(&python, &[Path::new("--no-deps"), &wheel])?;

    // The command that shares files with the package; built as for its own tests, so usually nothing is left to do.
    let command = ["test", "--locked", "--quiet", "--workspace", "--no-run", "--test", "cli"];
    spawn(cargo_in(root).args(command).args(steps::FEATURES))?;

    // From a folder where the package's source cannot be found.
    let run = folder.join("run");
    std::fs::create_dir_all(&run).with_context(|| run.display().to_string())?;
    let pytest = |args: &[&str]| {
        let mut tests = Command::new(&python);
        tests.current_dir(&run).args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(args);
        tests.env("MERCER_CLI", target.join("debug/mercer")).env_remove("PYTHONPATH");
        tests
    };
    let tests = root.join("crates/mercer-py/tests");
    // scikit-learn's own tests, with Mercer's estimators in place of its own.
    let mut dropin = Command::new(&python);
    dropin.current_dir(&run).arg(tests.join("dropin.py")).env_remove("PYTHONPATH");
    let doctests = pytest(&["--doctest-modules", "--pyargs", "mercer"]);
    let mut package = pytest(&["--import-mode=importlib", &tests.display().to_string()]);
    // Most tests use one processor: the package's own run beside these two, whose output is shown when they are done.
    std::thread::scope(|scope| {
        let others = scope.spawn(|| [dropin, doctests].iter_mut().try_for_each(spawn_quietly));
        let own = spawn(&mut package);
        let others = others.join().unwrap_or_else(|_| bail!("the thread of the other tests panicked"));
        own.and(others)
    })
}

/// The folder that cargo builds into.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |t| root.join(t))
}

pub(crate) fn pip(python: &Path, what: &[&Path]) -> Result<()> {
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    spawn(Command::new(python).args(quiet).args(what))
}

/// The wheel, in the profile of the tests: it shares what they have compiled.
fn wheel(root: &Path, folder: &Path, venv: &Path) -> Result<PathBuf> {
    let out = folder.join("wheel");
    if out.exists() {
        std::fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    }
    let mut maturin = Command::new(venv.join("bin/maturin"));
    maturin.current_dir(root.join("crates/mercer-py"));
    maturin.args(["build", "--quiet", "--locked", "--profile", "dev", "--compatibility", "linux"]);
    maturin.arg("--interpreter").arg(venv.join("bin/python")).arg("--out").arg(&out);
    spawn(&mut maturin)?;
    let made = std::fs::read_dir(&out).with_context(|| out.display().to_string())?;
    let mut wheels = made.filter_map(|entry| entry.ok().map(|e| e.path()));
    let wheel = wheels.find(|path| path.extension().is_some_and(|end| end == "whl"));
    wheel.with_context(|| format!("maturin left no wheel in {}", out.display()))
}
