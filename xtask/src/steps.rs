//! The driver behind `./test`: the checks in order of what they cost, each timed, stopping at the first that fails.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{book, cargo_in, lab, licences, python, release, serve, spawn, tidy};

/// Features that tests turn on: what they bring is tested, and nothing is built twice. One build for all steps.
pub(crate) const FEATURES: [&str; 2] = ["--features", "mercer-cli/parquet,mercer-cli/tls"];

type Step = (&'static str, &'static str, fn(&Path) -> Result<()>);

const STEPS: [Step; 12] = [
    ("fmt", "if this failed: cargo fmt --all", |root| {
        spawn(cargo_in(root).args(["fmt", "--all", "--check"]))
    }),
    ("tidy", "the rules are explained in ARCHITECTURE.md", tidy::run),
    ("licences", "the accepted licences are in xtask/src/licences.rs", licences::run),
    ("book", "pages are in docs/, equations and links are checked by xtask/src/book", book::build),
    ("packages", "what is published: xtask/src/release", |root| {
        release::run(root, &["--dry-run", "--crates", "--allow-dirty"].map(String::from))
    }),
    ("clippy", "every exception needs #[expect(lint, reason = \"...\")]", |root| {
        let lint = ["clippy", "--locked", "--workspace", "--all-targets"];
        spawn(cargo_in(root).args(lint).args(FEATURES).args(["--", "-D", "warnings"]))
    }),
    ("tests", "run one alone: cargo test -p mercer NAME", |root| {
        spawn(cargo_in(root).args(["test", "--locked", "--workspace"]).args(FEATURES))
    }),
    ("docs", "a broken link or an undocumented item", docs),
    ("python", "run one test alone: see docs/python.md", python::run),
    ("serve", "run one test alone: see crates/mercer-serve/tests/clients", serve::run),
    ("lab", "pictures of the rooms are in target/lab/screens; see crates/mercer-lab/tests/browser", lab::run),
    (DEVICE, "an NVIDIA device must give what the CPU gives", |root| {
        let test = ["test", "--locked", "--release", "--package", "mercer-cuda", "--features", "driver"];
        spawn(cargo_in(root).args(test).args(["--test", "device", "--", "--nocapture"]))
    }),
];

/// The step that is done only where it is named: few machines have a device, and the tests skip without one.
const DEVICE: &str = "device";

/// Runs all steps, or those named.
pub(crate) fn run(root: &Path, wanted: &[String]) -> Result<()> {
    if let Some(unknown) = wanted.iter().find(|w| !STEPS.iter().any(|(name, ..)| name == w)) {
        bail!("there is no step `{unknown}`; steps: {}", STEPS.map(|(name, ..)| name).join(", "));
    }
    let mut report = Vec::new();
    let all = Instant::now();
    for (name, hint, step) in STEPS {
        let named = wanted.iter().any(|w| w == name);
        if !named && (!wanted.is_empty() || name == DEVICE) {
            continue;
        }
        eprintln!("== {name}");
        let start = Instant::now();
        let outcome = step(root);
        let seconds = start.elapsed().as_secs_f64();
        if let Err(error) = outcome {
            print_summary(&report);
            println!("{name:<10} FAILED after {seconds:.1} s");
            return Err(error).with_context(|| format!("step `{name}` failed ({hint})"));
        }
        report.push((name, seconds));
    }
    print_summary(&report);
    println!("{:<10} all passed, {:.1} s", "", all.elapsed().as_secs_f64());
    Ok(())
}

/// The documentation of all our crates, warnings denied.
pub(crate) fn docs(root: &Path) -> Result<()> {
    let doc = ["doc", "--locked", "--no-deps", "--workspace"];
    spawn(cargo_in(root).args(doc).env("RUSTDOCFLAGS", "-D warnings"))
}

fn print_summary(report: &[(&str, f64)]) {
    println!();
    for (name, seconds) in report {
        println!("{name:<10} ok {seconds:>8.1} s");
    }
}
