//! One side of a comparison: a process that answers a line of JSON with a line of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
    child: Arc<Mutex<Child>>,
    /// The longest that an answer may take.
    limit: Option<Duration>,
    /// Whether it took longer and was ended.
    stopped: bool,
    /// Whether it has a limit and failed: it took longer, ended by itself (out of memory, say) or answered with an error.
    lost: bool,
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
        let child = Arc::new(Mutex::new(child));
        Ok(Side { name: name.to_owned(), child, limit: None, stopped: false, lost: false, requests, answers })
    }

    /// The same, ended where an answer takes longer.
    pub(crate) fn limited(mut self, seconds: f64) -> Self {
        self.limit = Duration::try_from_secs_f64(seconds).ok();
        self
    }

    /// Whether it was ended because an answer took too long.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether it has a limit and failed: a comparison goes on without it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// A line of the answer, or nothing at the end of the process.
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        let Some(limit) = self.limit else {
            self.answers.read_line(&mut line)?;
            return Ok(line);
        };
        let (done, wait) = mpsc::channel::<()>();
        let child = Arc::clone(&self.child);
        let timer = std::thread::spawn(move || {
            let late = wait.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if late {
                // It may have ended by itself.
                let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
            }
            late
        });
        let read = self.answers.read_line(&mut line);
        drop(done);
        self.stopped = timer.join().unwrap_or(false);
        if self.stopped {
            bail!("{} took more than {} s and was stopped", self.name, limit.as_secs());
        }
        read?;
        Ok(line)
    }

    /// One request, one answer. An answer with `error` is an error.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value> {
        let answer = self.answer(request);
        self.lost |= answer.is_err() && self.limit.is_some();
        answer
    }

    fn answer(&mut self, request: &Value) -> Result<Value> {
        let requests = self.requests.as_mut().context("the side was closed")?;
        writeln!(requests, "{request}").with_context(|| format!("{} takes no request", self.name))?;
        requests.flush()?;
        let line = self.line()?;
        if line.is_empty() {
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
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shell(script: &str) -> Side {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Side::start("shell", command, 1).expect("sh is there")
    }

    #[test]
    fn an_answer_that_takes_too_long_ends_the_side() {
        let mut side = shell("read line; echo '{\"a\": 1}'; read line; exec sleep 60").limited(2.0);
        assert_eq!(side.ask(&json!({})).expect("an answer in time")["a"], 1);
        assert!(!side.is_stopped() && !side.is_lost());
        let e = side.ask(&json!({})).expect_err("no answer").to_string();
        assert!(side.is_stopped() && side.is_lost() && e.contains("shell took more than 2 s"), "{e}");
        // One that ends by itself was not stopped, and without a limit its end is an error of the comparison.
        let mut side = shell("read line");
        assert!(side.ask(&json!({})).is_err() && !side.is_lost());
        let mut side = shell("read line").limited(60.0);
        let e = side.ask(&json!({})).expect_err("no answer").to_string();
        assert!(!side.is_stopped() && side.is_lost() && e.contains("ended without an answer"), "{e}");
    }
}
