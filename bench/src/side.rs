//! One side of a comparison: a process that answers a line of JSON with a line of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::python::Python;
use crate::sets;

/// What Mercer at another commit is called in reports.
pub(crate) const BEFORE: &str = "mercer before";

/// A running side.
#[derive(Debug)]
pub(crate) struct Side {
    name: String,
    child: Child,
    // An option, so that dropping can close it and the process sees its end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Side {
    /// Mercer: this same program.
    pub(crate) fn mercer(threads: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("this program has no path")?);
        command.arg("--serve");
        Self::start("mercer", command, threads)
    }

    /// Mercer as it was at another commit: that commit's build of this program.
    pub(crate) fn before(program: &Path, threads: usize) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg("--serve");
        Self::start(BEFORE, command, threads)
    }

    /// A script under `bench/peers`.
    pub(crate) fn peer(
        name: &str,
        python: &Python,
        script: &str,
        args: &[&str],
        threads: usize,
    ) -> Result<Self> {
        let mut command = python.command();
        command.arg(sets::home().join("peers").join(script)).args(args);
        Self::start(name, command, threads)
    }

    /// The package as it was at another commit, from the folder its wheel was unpacked in.
    pub(crate) fn before_package(
        python: &Python,
        folder: &Path,
        script: &str,
        args: &[&str],
        threads: usize,
    ) -> Result<Self> {
        let mut command = python.command();
        command.arg(sets::home().join("peers").join(script)).args(args);
        command.env("PYTHONPATH", folder);
        Self::start(BEFORE, command, threads)
    }

    fn start(name: &str, mut command: Command, threads: usize) -> Result<Self> {
        for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"] {
            command.env(variable, threads.to_string());
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("a pipe was asked for")?);
        Ok(Side { name: name.to_owned(), child, requests, answers })
    }

    /// One request, one answer. An answer with `error` is an error.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value> {
        let requests = self.requests.as_mut().context("the side was closed")?;
        writeln!(requests, "{request}").with_context(|| format!("{} takes no request", self.name))?;
        requests.flush()?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("{} ended without an answer to {request}", self.name);
        }
        let answer: Value = serde_json::from_str(&line)
            .with_context(|| format!("{} answered `{}`", self.name, line.trim()))?;
        if let Some(error) = answer["error"].as_str() {
            bail!("{}: {error}", self.name);
        }
        Ok(answer)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.requests.take();
        let _ = self.child.wait();
    }
}
