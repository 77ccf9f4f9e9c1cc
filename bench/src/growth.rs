//! How the time of a fit grows: one machine's digits from 1000 rows to 60000, and the exponent of the growth.
//!
//! The exponent is the slope of the least-squares line through (log n, log seconds); the picture is written beside.

use anyhow::{Context, Result, bail};
use mercer_report::svg::{Axis, Chart, Series};
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

/// Seconds over rows and over support vectors, both axes logarithmic.
fn picture(line: &[Point]) -> String {
    let series = |name: &str, of: fn(&Point) -> f64| {
        let name = format!("{name}, power {:.2}", slope(line, of));
        let points: Vec<(f64, f64)> = line.iter().map(|p| (of(p), p.2)).collect();
        [Series::line(&name, points.clone()), Series::dots("", points)]
    };
    let [rows, support] = [series("rows", |p| p.0), series("support vectors", |p| p.1)];
    let series =
        [rows.map(|s| s.colour(0)), support.map(|s| s.colour(1))].into_iter().flatten().collect::<Vec<_>>();
    let title = "How a fit on handwritten digits grows";
    Chart::new(title, Axis::new("rows, support vectors").log(), Axis::new("seconds").log(), series)
        .draw()
        .standalone()
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
        let drawn = picture(&line);
        assert!(
            drawn.contains("rows, power 2.00") && drawn.contains("support vectors, power 4.00"),
            "{drawn}"
        );
    }
}
