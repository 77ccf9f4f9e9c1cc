//! The service as others use it: clients that nobody here wrote against the built command.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{cargo_in, spawn, steps};

/// The tests and what they need.
const TESTS: &str = "crates/mercer-serve/tests/clients";

/// Makes a virtual environment with the clients and runs their tests.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |t| root.join(t));
    let venv = target.join("serve/venv");
    let python = venv.join("bin/python");
    let make = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv).status();
    if !make.context("python3 cannot be started: 3.11 or newer is needed")?.success() {
        bail!("python3 -m venv failed; on Debian: apt-get install python3-venv");
    }
    let tests = root.join(TESTS);
    let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    spawn(Command::new(&python).args(quiet).arg(tests.join("requirements.txt")))?;
    // Built as for its own tests, so usually nothing is left to do.
    let command = ["test", "--locked", "--quiet", "--workspace", "--no-run", "--test", "cli"];
    spawn(cargo_in(root).args(command).args(steps::FEATURES))?;
    let mut pytest = Command::new(&python);
    pytest.current_dir(&tests).args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "."]);
    spawn(pytest.env("MERCER_CLI", target.join("debug/mercer")).env_remove("PYTHONPATH"))
}
