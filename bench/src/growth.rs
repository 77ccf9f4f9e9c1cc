//! How the time of a fit grows: one machine's digits from 1000 rows to 60000, and the exponent of the growth.
//!
//! The exponent is the slope of the least-squares line through (log n, log seconds); the picture is written beside.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::report::Report;
use crate::rounds::{self, Task, of};
use crate::side::Side;
use crate::{Args, sets};

const ROWS: [usize; 7] = [1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let set = sets::Set::named("mnist60k");
    let split = set.load()?;
    let x = sets::hand_out(&split.train, "growth-train")?;
    let test = sets::hand_out(&split.test, "growth-test")?;
    let labels = |path: &std::path::Path| path.with_extension("labels.npy");
    let mut sides = [Side::mercer(args.threads())?];
    sides[0].ask(&json!({"do": "load", "x": x, "y": labels(&x), "test_x": test, "test_y": labels(&test)}))?;
    let tasks: Vec<Task> = ROWS
        .iter()
        .filter(|n| **n <= split.train.len())
        .map(|n| Task {
            label: n.to_string(),
            side: 0,
            request: json!({"do": "fit", "c": set.c, "gamma": set.gamma, "tol": 1e-3, "rows": n}),
        })
        .collect();
    let outcomes = rounds::run(&mut sides, &tasks, args)?;
    let mut report = Report::new("growth");
    let mut line = Vec::new();
    for task in &tasks {
        let outcome = of(&outcomes, &task.label)?;
        let sv = outcome.answer["sv"].as_f64().context("an answer without support vectors")?;
        let case = format!("mnist, {} rows", task.label);
        report.note(&case, "fit", outcome.seconds, "s");
        report.note(&case, "support vectors", sv, "");
        report.note(&case, "peak memory", outcome.peak_mb.unwrap_or(f64::NAN), "MB");
        line.push((task.label.parse::<f64>()?, sv, outcome.seconds));
    }
    if line.len() < 2 {
        bail!("{} rows are too few to see growth", split.train.len());
    }
    report.note("mnist", "seconds grow as rows to the power", slope(&line, |p| p.0), "");
    report.note("mnist", "seconds grow as support vectors to the power", slope(&line, |p| p.1), "");
    let path = sets::scratch()?.join("growth.svg");
    std::fs::write(&path, picture(&line)).with_context(|| path.display().to_string())?;
    eprintln!("bench: picture in {}", path.display());
    Ok(report)
}

type Point = (f64, f64, f64);

/// The slope of log seconds over the log of something.
fn slope(line: &[Point], of: impl Fn(&Point) -> f64) -> f64 {
    let n = line.len() as f64;
    let (xs, ys): (Vec<f64>, Vec<f64>) = line.iter().map(|p| (of(p).ln(), p.2.ln())).unzip();
    let (mx, my) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let up: f64 = xs.iter().zip(&ys).map(|(x, y)| (x - mx) * (y - my)).sum();
    up / xs.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Seconds over rows (filled) and over support vectors (open), both axes logarithmic.
fn picture(line: &[Point]) -> String {
    let all = |of: fn(&Point) -> f64| line.iter().map(of).map(f64::log10);
    let xs: Vec<f64> = all(|p| p.0).chain(all(|p| p.1)).collect();
    let low = xs.iter().copied().fold(f64::INFINITY, f64::min).floor();
    let high = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil();
    let (bottom, top) =
        (all(|p| p.2).fold(f64::INFINITY, f64::min).floor(), all(|p| p.2).fold(0.0, f64::max).ceil());
    let x = |v: f64| 60.0 + 420.0 * (v - low) / (high - low);
    let y = |v: f64| 340.0 - 300.0 * (v - bottom) / (top - bottom);
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 520 390\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"520\" height=\"390\" fill=\"white\"/>\n",
    );
    let mut tick = |x1: f64, y1: f64, x2: f64, y2: f64, tx: f64, ty: f64, e: i32| {
        let _ = writeln!(
            out,
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#ddd\"/><text x=\"{tx:.1}\" y=\"{ty:.1}\">1e{e}</text>"
        );
    };
    (low as i32..=high as i32)
        .for_each(|e| tick(x(e.into()), 40.0, x(e.into()), 340.0, x(e.into()) - 10.0, 358.0, e));
    (bottom as i32..=top as i32)
        .for_each(|e| tick(60.0, y(e.into()), 480.0, y(e.into()), 22.0, y(e.into()) + 4.0, e));
    for p in line {
        let (rows, sv, s) = (x(p.0.log10()), x(p.1.log10()), y(p.2.log10()));
        let _ = writeln!(out, "<circle cx=\"{rows:.1}\" cy=\"{s:.1}\" r=\"4\" fill=\"#246\"/>");
        let _ =
            writeln!(out, "<circle cx=\"{sv:.1}\" cy=\"{s:.1}\" r=\"4\" fill=\"white\" stroke=\"#246\"/>");
    }
    let (rows, sv) = (slope(line, |p| p.0), slope(line, |p| p.1));
    let _ = writeln!(
        out,
        "<text x=\"60\" y=\"24\">seconds of a fit: rows^{rows:.2} (filled), support vectors^{sv:.2} (open)</text>\n</svg>"
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_law_has_slope_two() {
        let line: Vec<Point> =
            [1.0_f64, 3.0, 10.0, 50.0].iter().map(|&n| (n, n.sqrt(), 0.1 * n * n)).collect();
        assert!((slope(&line, |p| p.0) - 2.0).abs() < 1e-12);
        assert!((slope(&line, |p| p.1) - 4.0).abs() < 1e-12);
        assert_eq!(picture(&line).matches("<circle").count(), 8);
    }
}
