//! The peers' home: a Python virtual environment of our own under `bench/.venv`, with pinned packages; or the interpreter
//! that `MERCER_BENCH_PYTHON` names, with whatever versions it has.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Packages that every comparison needs, and those only some peers are in.
const PINS: [(&str, &str); 10] = [
    ("numpy", "2.4.6"),
    ("scipy", "1.17.1"),
    ("scikit-learn", "1.9.1"),
    ("scikit-learn-intelex", "2026.2.0"),
    ("libsvm-official", "3.37.0"),
    ("dask", "2026.8.0"),
    ("distributed", "2026.8.0"),
    ("maturin", "1.16.0"),
    ("scikit-image", "0.25.2"),
    ("PyWavelets", "1.9.0"),
];

/// An environment that is there and has what was asked for.
#[derive(Debug)]
pub(crate) struct Python {
    folder: PathBuf,
    /// An interpreter that was given: nothing is installed into it.
    given: Option<PathBuf>,
}

impl Python {
    /// Makes the environment if it is not there.
    pub(crate) fn ready() -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv");
        let given = std::env::var_os("MERCER_BENCH_PYTHON").map(PathBuf::from);
        let python = Python { folder, given };
        if python.given.is_none() && !python.answers() {
            eprintln!("bench: making {}", python.folder.display());
            let venv = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&python.folder).status();
            let made = venv.context("python3 cannot be started: peers need Python 3.11 or newer")?;
            if !made.success() {
                bail!("python3 -m venv failed; on Debian: apt-get install python3-venv");
            }
        }
        Ok(python)
    }

    /// Installs those of the packages that are missing. The error says which could not be had.
    pub(crate) fn need(&self, packages: &[&str]) -> Result<()> {
        if let Some(given) = &self.given {
            for package in packages {
                let Some(version) = self.version(package) else {
                    bail!(
                        "{} has no {package}; unset MERCER_BENCH_PYTHON to use pinned packages",
                        given.display()
                    );
                };
                eprintln!("bench: {package} {version} of {}", given.display());
            }
            return Ok(());
        }
        let pins = PINS.iter().filter(|(name, _)| packages.contains(name));
        let missing: Vec<String> = pins
            .filter(|(name, version)| self.version(name).as_deref() != Some(version))
            .map(|(name, version)| format!("{name}=={version}"))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        eprintln!("bench: installing {}", missing.join(", "));
        let mut pip = self.command();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(&missing);
        // Answers go to standard output; what pip says must not.
        let status = pip.stdout(Stdio::null()).status().context("cannot start pip")?;
        if !status.success() {
            bail!("pip could not install {}", missing.join(", "));
        }
        Ok(())
    }

    /// Builds the package of this checkout with all optimisations and installs it.
    pub(crate) fn install_mercer(&self) -> Result<()> {
        eprintln!("bench: building the Python package");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("bench lies in the workspace")?;
        let wheels = root.join("target/python/bench");
        if wheels.exists() {
            std::fs::remove_dir_all(&wheels)?;
        }
        let mut maturin = Command::new(self.folder.join("bin/maturin"));
        maturin.current_dir(root.join("crates/mercer-py")).args([
            "build",
            "--quiet",
            "--locked",
            "--release",
        ]);
        maturin.args(["--compatibility", "linux", "--interpreter"]).arg(self.folder.join("bin/python"));
        maturin.arg("--out").arg(&wheels);
        if !maturin.stdout(Stdio::null()).status().context("cannot start maturin")?.success() {
            bail!("maturin could not build the package");
        }
        let wheel = std::fs::read_dir(&wheels)?.next().context("maturin left no wheel")??.path();
        let mut pip = self.command();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.args(["--force-reinstall", "--no-deps"]).arg(wheel);
        if !pip.stdout(Stdio::null()).status().context("cannot start pip")?.success() {
            bail!("pip could not install the package");
        }
        Ok(())
    }

    /// Unpacks another commit's wheel of the package; the answer is the folder to find it in.
    pub(crate) fn unpack(&self, wheel: &Path) -> Result<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("bench lies in the workspace")?;
        let folder = root.join("target/python/before");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let mut pip = self.command();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"]);
        pip.arg(&folder).arg(wheel);
        if !pip.stdout(Stdio::null()).status().context("cannot start pip")?.success() {
            bail!("pip could not unpack {}", wheel.display());
        }
        Ok(folder)
    }

    /// The interpreter, ready to be given a script.
    pub(crate) fn command(&self) -> Command {
        Command::new(self.program())
    }

    /// Where the interpreter is.
    pub(crate) fn program(&self) -> PathBuf {
        self.given.clone().unwrap_or_else(|| self.folder.join("bin/python"))
    }

    fn answers(&self) -> bool {
        let quiet = |c: &mut Command| c.stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet(self.command().args(["-m", "pip", "--version"])).is_ok_and(|s| s.success())
    }

    fn version(&self, package: &str) -> Option<String> {
        let ask = format!("from importlib.metadata import version; print(version('{package}'))");
        let output = self.command().args(["-c", &ask]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}
