//! How fits gain from threads: seconds at 1, 2, 4, .. threads and the speed-up, beside what a matrix product gains there.
//!
//! Each number of threads is a process of its own, and they take turns. The cores of a machine may be halves of cores
//! (hyper-threads), so the last case is a product of matrices, which nothing hinders: no fit can gain more. The peer of a row
//! is the fit on one thread; the ratio is the speed-up. The picture is written beside.

use anyhow::{Context, Result};
use mercer_report::svg::{Axis, Chart, Series};
use serde_json::{Value, json};

use crate::report::Report;
use crate::rounds::{self, Task};
use crate::side::Side;
use crate::{Args, sets};

const SETS: [&str; 5] = ["usps", "mnist60k", "a9a", "ijcnn1", "separated"];
const REGRESSION: &str = "abalone regression";
const PRODUCT: &str = "matrix product";

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("scaling");
    let most = args.threads();
    let counts: Vec<usize> =
        std::iter::successors(Some(1), |t| Some(2 * t)).take_while(|t| *t < most).chain([most]).collect();
    let mut lines = Vec::new();
    for name in SETS.into_iter().filter(|name| args.wants(name)) {
        let set = sets::Set::named(name);
        let split = match set.load() {
            Ok(split) => split,
            Err(error) => {
                eprintln!("bench: left out {error:#}");
                continue;
            }
        };
        let x = sets::hand_out(&split.train, &format!("{name}-train"))?;
        let test = sets::hand_out(&split.test, &format!("{name}-test"))?;
        let labels = |path: &std::path::Path| path.with_extension("labels.npy");
        let load = json!({
            "do": "load", "x": x, "y": labels(&x), "test_x": test, "test_y": labels(&test), "sparse": set.sparse,
        });
        let fit = json!({"do": "fit", "c": set.c, "gamma": set.gamma, "tol": 1e-3});
        lines.push((name, case(&mut report, name, &load, &fit, &counts, args)?));
    }
    if args.wants(REGRESSION) {
        let data = sets::abalone()?;
        let x = sets::hand_out(&data, "abalone")?;
        let load = json!({"do": "svr_load", "x": x, "y": x.with_extension("labels.npy")});
        let fit = json!({"do": "svr_fit", "c": 10.0, "gamma": 0.5, "epsilon": 0.1, "tol": 1e-3});
        lines.push((REGRESSION, case(&mut report, REGRESSION, &load, &fit, &counts, args)?));
    }
    let (rows, _) = sets::rows_like("mnist60k", 8_000, 784)?;
    let load = json!({"do": "load", "x": sets::hand_out(&rows, "scaling-product")?});
    let product = json!({"do": "product", "dtype": "float32"});
    lines.push((PRODUCT, case(&mut report, PRODUCT, &load, &product, &counts, args)?));
    let path = sets::scratch()?.join("scaling.svg");
    std::fs::write(&path, picture(&counts, &lines)).with_context(|| path.display().to_string())?;
    eprintln!("bench: picture in {}", path.display());
    Ok(report)
}

/// Seconds at each number of threads.
fn case(
    report: &mut Report,
    name: &str,
    load: &Value,
    request: &Value,
    counts: &[usize],
    args: &Args,
) -> Result<Vec<f64>> {
    eprintln!("bench: {name}");
    let mut sides = counts.iter().map(|&t| Side::mercer(t)).collect::<Result<Vec<_>>>()?;
    for side in &mut sides {
        side.ask(load)?;
    }
    let task =
        |(side, count): (usize, &usize)| Task { label: count.to_string(), side, request: request.clone() };
    let tasks: Vec<Task> = counts.iter().enumerate().map(task).collect();
    let done = rounds::run(&mut sides, &tasks, args)?;
    for outcome in &done {
        let threads = format!("{name}, {} threads", outcome.label);
        report.row(&threads, "one thread", done[0].seconds, outcome.seconds);
        if let Some(peak) = outcome.peak_mb {
            report.note(&threads, "peak memory", peak, "MB");
        }
    }
    Ok(done.iter().map(|o| o.seconds).collect())
}

/// Speed-up over threads, both axes logarithmic, with the line of perfect gain.
fn picture(counts: &[usize], lines: &[(&str, Vec<f64>)]) -> String {
    let at = |seconds: &[f64]| -> Vec<(f64, f64)> {
        counts.iter().zip(seconds).map(|(&t, s)| (t as f64, seconds[0] / s)).collect()
    };
    let series = lines.iter().map(|(name, seconds)| Series::line(name, at(seconds)));
    let perfect = Series::line("perfect", counts.iter().map(|&t| (t as f64, t as f64)).collect());
    let series = series.chain([perfect]).collect::<Vec<_>>();
    Chart::new("What fits gain from threads", Axis::new("threads").log(), Axis::new("speed-up").log(), series)
        .draw()
        .standalone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_every_set_and_the_perfect_line() {
        let drawn = picture(&[1, 2, 4], &[("digits", vec![8.0, 4.0, 2.5]), (PRODUCT, vec![4.0, 2.0, 1.0])]);
        assert!(drawn.contains("digits") && drawn.contains(PRODUCT) && drawn.contains("perfect"), "{drawn}");
    }
}
