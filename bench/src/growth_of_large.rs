//! How machines for large data grow: 10^5 to 10^7 rows of 20 columns (Friedman's first function, seeded), read from a file in
//! blocks within 2 GB of memory. Seconds and peak memory are drawn. Part of `bench large`; cases are called `growth ROWS`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use mercer_report::svg::{Axis, Chart, Series};
use mercer_testkit::toy;
use rand::RngExt;
use serde_json::json;

use crate::report::Report;
use crate::side::Side;
use crate::{Args, sets};

/// Numbers of rows, and whether they take minutes: those run with `--full`, or if `--only` names them.
const ROWS: [(usize, bool); 5] =
    [(100_000, false), (300_000, false), (1_000_000, false), (3_000_000, true), (10_000_000, true)];
const COLUMNS: usize = 20;
const CENTRES: u64 = 2000;
const MEMORY: u64 = 2_000_000_000;
/// Rows to judge by.
const TEST: usize = 10_000;

pub(crate) fn run(args: &Args, report: &mut Report) -> Result<()> {
    let mut line = Vec::new();
    for (n, long) in ROWS {
        let case = format!("growth {n}");
        let open = !long || args.full || !args.set.is_empty();
        // A blank at the end, as for the other cases: 100000 is a part of 1000000.
        if !open || !args.wants(&format!("{case} ")) {
            continue;
        }
        eprintln!("bench: {case}");
        let folder = sets::scratch()?;
        let train = written(&folder.join("growth-of-large"), n, 1)?;
        let test = written(&folder.join("growth-of-large-test"), TEST, 2)?;
        let mut side = Side::mercer(args.threads())?;
        let answer = side.ask(&json!({
            "do": "learn_file", "x": train.0, "y": train.1, "test_x": test.0, "test_y": test.1,
            "kernel": "rbf(gamma=0.1)", "set": {"centres": CENTRES, "lambda": 0.1}, "memory": MEMORY,
        }))?;
        drop(side);
        std::fs::remove_file(&train.0).with_context(|| train.0.display().to_string())?;
        let number = |name: &str| answer[name].as_f64().with_context(|| format!("an answer without {name}"));
        let (seconds, peak) = (number("seconds")?, number("peak_mb")?);
        report.note(&case, "fit from a file, M = 2000", seconds, "s");
        report.note(&case, "peak memory (2000 MB allowed)", peak, "MB");
        report.note(&case, "passes over all rows", number("iterations")?, "");
        report.note(&case, "root mean square error (noise: 1)", number("mse")?.sqrt(), "");
        line.push((n as f64, seconds, peak));
    }
    if line.len() > 1 {
        let path = sets::scratch()?.join("growth-of-large.svg");
        std::fs::write(&path, picture(&line)).with_context(|| path.display().to_string())?;
        eprintln!("bench: picture in {}", path.display());
    }
    Ok(())
}

/// Rows uniform in [0, 1] and `10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5` with normal noise: NPY files of f64, written
/// row by row.
fn written(stem: &Path, n: usize, seed: u64) -> Result<(PathBuf, PathBuf)> {
    let (x, y) = (stem.with_extension("npy"), stem.with_extension("labels.npy"));
    let open = |path: &Path, shape: String| -> Result<BufWriter<File>> {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
        while !(10 + head.len() + 1).is_multiple_of(64) {
            head.push(' ');
        }
        head.push('\n');
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(head.len() as u16).to_le_bytes())?;
        out.write_all(head.as_bytes())?;
        Ok(out)
    };
    let mut rows = open(&x, format!("{n}, {COLUMNS}"))?;
    let mut targets = open(&y, format!("{n},"))?;
    let mut rng = toy::rng(seed);
    let mut row = [0.0_f64; COLUMNS];
    for _ in 0..n {
        for v in &mut row {
            *v = rng.random();
            rows.write_all(&v.to_le_bytes())?;
        }
        let noise = toy::normal(&mut rng);
        let f = 10.0 * (std::f64::consts::PI * row[0] * row[1]).sin() + 20.0 * (row[2] - 0.5).powi(2);
        targets.write_all(&(f + 10.0 * row[3] + 5.0 * row[4] + noise).to_le_bytes())?;
    }
    rows.flush()?;
    targets.flush()?;
    Ok((x, y))
}

/// Seconds and peak memory over rows, both axes logarithmic.
fn picture(line: &[(f64, f64, f64)]) -> String {
    let seconds: Vec<(f64, f64)> = line.iter().map(|p| (p.0, p.1)).collect();
    let peak: Vec<(f64, f64)> = line.iter().map(|p| (p.0, p.2)).collect();
    let series = vec![
        Series::line("seconds", seconds.clone()).colour(0),
        Series::dots("", seconds).colour(0),
        Series::line("peak memory, MB", peak.clone()).colour(1),
        Series::dots("", peak).colour(1),
    ];
    let title = "2000 centres on 10^5 to 10^7 rows in 2 GB";
    Chart::new(title, Axis::new("rows").log(), Axis::new("seconds, MB").log(), series).draw().standalone()
}
