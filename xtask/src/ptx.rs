//! The device code: CUDA C++ to PTX, by NVRTC from a Python package, on machines without a device or a toolkit.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::spawn;

/// The compiler: drivers from 535 on load what it writes.
const NVRTC: &str = "nvidia-cuda-nvrtc-cu12==12.2.140";

/// Writes `kernels/mercer.ptx` from the sources beside it.
pub(crate) fn run(root: &Path) -> Result<()> {
    let venv = root.join("target/ptx");
    let make = Command::new("python3").args(["-m", "venv"]).arg(&venv).status();
    if !make.context("python3 cannot be started")?.success() {
        bail!("python3 -m venv failed; on Debian: apt-get install python3-venv");
    }
    let python = venv.join("bin/python");
    spawn(Command::new(&python).args(["-m", "pip", "install", "--quiet", NVRTC]))?;
    spawn(Command::new(&python).arg(root.join("crates/mercer-cuda/kernels/compile.py")))
}
