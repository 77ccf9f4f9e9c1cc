//! Clusters of Dask: what 1, 2, 4, .. workers of two threads gain on a learner for large data and on a search.
//!
//! `peers/dask_cluster.py` does the work; here its lines become a report. Efficiency is the time of one worker over the time of
//! n, divided by n. Beside it stands the efficiency of n independent processes that multiply matrices: no cluster has more.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::Args;
use crate::python::Python;
use crate::report::Report;

/// Threads of a worker.
const THREADS: usize = 2;
/// Rows, without `--full` and with it: the digits, and those with their eight neighbours.
const ROWS: [usize; 2] = [60_000, 540_000];
/// Bytes that a row and its values against the centres take, about.
const LINE: u64 = 784 * 4 + 2000 * 4;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn", "maturin", "dask", "distributed"])?;
    python.install_mercer()?;
    let data = digits()?;
    let rows = ROWS[usize::from(args.full)];
    eprintln!("bench: {rows} rows, about {} GB in all workers", rows as u64 * LINE / 1_000_000_000);
    let most = args.threads().div_ceil(THREADS);
    let workers: Vec<String> =
        (0..).map(|p| 1usize << p).take_while(|&w| w <= most.max(2)).map(|w| w.to_string()).collect();
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    let mut command = python.command();
    command.arg(peers.join("dask_cluster.py")).arg("--data").arg(&data).arg("--workers").args(&workers);
    command.args(["--threads", &THREADS.to_string(), "--rows", &rows.to_string(), "--memory", "0"]);
    command.args(["--repeats", &args.repeats.min(3).to_string()]);
    if args.wants_peer("scikit-learn") {
        command.args(["--peer", "--peer-points", if args.full { "100" } else { "25" }]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("Python cannot be started")?;
    let lines = BufReader::new(child.stdout.take().context("an output")?);
    let mut told: BTreeMap<(String, u64), Value> = BTreeMap::new();
    for line in lines.lines() {
        let line = line?;
        eprintln!("bench: {line}");
        let value: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        let workers = value["workers"].as_u64().unwrap_or(0);
        told.insert((value["case"].as_str().unwrap_or_default().to_owned(), workers), value);
    }
    if !child.wait()?.success() {
        bail!("dask_cluster.py failed: see above");
    }
    Ok(report(&told))
}

/// The folder of the digits.
fn digits() -> Result<PathBuf> {
    let local = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/local");
    let folder = std::env::var_os("MERCER_DATA").map_or_else(local, PathBuf::from).join("mnist");
    if !folder.join("train-images-idx3-ubyte.gz").exists() {
        bail!("{}: train-images-idx3-ubyte.gz is missing", folder.display());
    }
    Ok(folder)
}

fn report(told: &BTreeMap<(String, u64), Value>) -> Report {
    let mut report = Report::new("dask");
    let number = |case: &str, workers: u64, what: &str| {
        told.get(&(case.to_owned(), workers)).and_then(|value| value[what].as_f64())
    };
    let first = |case: &str, what: &str| number(case, 1, what);
    for (case, workers) in told.keys() {
        let (name, share) = (format!("{case}, {workers} workers"), *workers as f64);
        if let Some(rate) = number(case, *workers, "gflops") {
            report.note(&name, "independent products", rate, "GFLOP/s");
            if let Some(one) = first(case, "gflops") {
                report.note(&name, "efficiency", 100.0 * rate / one / share, "%");
            }
        }
        let Some(seconds) = number(case, *workers, "seconds") else { continue };
        report.note(&name, "seconds", seconds, "s");
        if let Some(one) = first(case, "seconds").filter(|_| case != "search by scikit-learn") {
            report.note(&name, "efficiency", 100.0 * one / seconds / share, "%");
        }
        for (what, unit) in [("worker_bytes", "bytes"), ("model_bytes", "bytes"), ("passes", "")] {
            if let Some(value) = number(case, *workers, what) {
                report.note(&name, what.replace('_', " "), value, unit);
            }
        }
        if case == "search by scikit-learn"
            && let Some(ours) = number("search", *workers, "seconds")
        {
            report.row(
                &format!("search of 100 points, {workers} workers"),
                "joblib + scikit-learn",
                seconds,
                ours,
            );
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn efficiency_is_the_time_of_one_worker_over_that_of_all() {
        let line = |case: &str, workers: u64, seconds: f64| {
            ((case.to_owned(), workers), json!({"workers": workers, "seconds": seconds}))
        };
        let told = BTreeMap::from([
            line("search", 1, 8.0),
            line("search", 4, 2.5),
            line("search by scikit-learn", 4, 50.0),
        ]);
        let report = report(&told);
        let found = report.context.iter().find(|c| c.case == "search, 4 workers" && c.what == "efficiency");
        assert!(found.is_some_and(|c| (c.value - 80.0).abs() < 1e-9));
        assert_eq!(report.rows.len(), 1);
        assert!((report.rows[0].ratio - 20.0).abs() < 1e-9);
    }
}
