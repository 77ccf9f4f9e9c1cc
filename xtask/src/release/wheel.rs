//! The Python packages: an sdist, a wheel that is built from it, and what both must hold.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Release, ensure};
use crate::{python, spawn};

/// What a stranger does first.
const TRY: &str = "
import mercer
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
X, y = load_iris(return_X_y=True)
score = cross_val_score(mercer.SVC(), X, y).mean()
assert score > 0.9, score
print('wheel:', mercer.__version__, 'cross-validated accuracy on iris', round(score, 3))
";

/// Builds the sdist and, from what it holds, the wheel; checks names and contents, and runs the installed package. Returns
/// the interpreter that has it.
pub(super) fn make(release: &Release) -> Result<PathBuf> {
    let target = python::target(&release.root);
    let venv = target.join("dist-python");
    spawn(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    let interpreter = venv.join("bin/python");
    let pins = fs::read_to_string(release.root.join(python::PINS))?;
    let maturin =
        pins.lines().find(|l| l.starts_with("maturin==")).context("maturin has no pinned version")?;
    python::pip(&interpreter, &[Path::new(maturin)])?;
    let mut build = Command::new(venv.join("bin/maturin"));
    // The lock file of an sdist names crates that are not in it, so `--locked` would refuse it; versions are kept all the same.
    // `--sdist` builds the wheel from the unpacked source distribution, so one build checks both. Without
    // `--compatibility`, maturin looks at the symbols and claims the oldest manylinux that they allow.
    build.current_dir(release.root.join("crates/mercer-py")).args(["build", "--quiet", "--sdist"]);
    build.arg("--interpreter").arg(&interpreter).arg("--out").arg(&release.dist);
    build.env("CARGO_TARGET_DIR", target.join("dist-build"));
    spawn(&mut build)?;
    let (wheel, sdist) = (made(release, ".whl")?, made(release, ".tar.gz")?);
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for part in ["-cp311-abi3-", "manylinux", &format!("mercer-{}", release.version)] {
        ensure(name.contains(part), || format!("the wheel's name {name} has no `{part}`"))?;
    }
    let holds = |line: &mut Command, wanted: &[&str]| -> Result<()> {
        let list = String::from_utf8(line.output()?.stdout)?;
        for file in wanted {
            ensure(list.contains(file), || format!("{line:?}: no {file}"))?;
        }
        Ok(())
    };
    let files = ["LICENSE-MIT", "LICENSE-APACHE", "py.typed", "plot.py"];
    holds(Command::new(&interpreter).args(["-m", "zipfile", "-l"]).arg(&wheel), &files)?;
    holds(Command::new("tar").arg("-tzf").arg(&sdist), &["LICENSE-MIT", "pyproject.toml", "digits.csv.gz"])?;

    let home = venv.join("home");
    fs::create_dir_all(&home)?;
    python::pip(&interpreter, &[&wheel])?;
    let mut stranger = Command::new(&interpreter);
    spawn(stranger.args(["-c", TRY]).current_dir(&home).env("HOME", &home).env_remove("PYTHONPATH"))?;
    Ok(interpreter)
}

fn made(release: &Release, end: &str) -> Result<PathBuf> {
    let names = fs::read_dir(&release.dist)?.filter_map(|entry| entry.ok().map(|e| e.path()));
    // The tarball of the command ends like an sdist, and names the system.
    let own = format!("mercer-{}{end}", release.version);
    let mut found = names.filter(|p| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        if end == ".whl" { name.ends_with(end) } else { name == own }
    });
    found.next().with_context(|| format!("maturin left no {end} in {}", release.dist.display()))
}
