//! Learners that have a textbook form for a linear kernel, beside scikit-learn's: the same answers, no times.
//!
//! Kernel k-means from the same start ends with the same clusters and the same inertia as `KMeans`; Fisher's discriminant
//! scores classes as `LinearDiscriminantAnalysis` does, up to the one factor by which their covariances differ.

use anyhow::{Context, Result};
use mercer::data::{Dataset, Points, Targets};
use mercer::gram;
use mercer::kernel::Kernel;
use mercer::model::{KfdParams, Sample};
use mercer::solve::kmeans::{kernel_kmeans, seeded};
use mercer::{Exec, watch};
use serde_json::{Value, json};

use crate::python::Python;
use crate::report::Report;
use crate::side::Side;
use crate::{Args, sets};

/// Rows of a set that take part.
const ROWS: usize = 2000;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-learn"])?;
    let mut peer = Side::peer("scikit-learn", &python, "learners.py", &[], args.threads())?;
    let mut report = Report::new("learners");
    let exec = Exec::new(args.threads);
    for (name, clusters) in [("usps", 10), ("letter", 26)] {
        let case = format!("k-means, {ROWS} rows of {name}");
        if args.wants(&case) {
            let data = plain(name)?;
            peer.ask(&json!({"do": "load", "x": sets::hand_out(&data, &format!("learners-{name}"))?}))?;
            kmeans(&case, &data.points, clusters, &mut peer, &mut report, exec)?;
        }
    }
    let case = format!("discriminant, {ROWS} rows of letter");
    if args.wants(&case) {
        let data = plain("letter")?;
        peer.ask(&json!({"do": "load", "x": sets::hand_out(&data, "learners-letter")?}))?;
        discriminant(&case, &data, &mut peer, &mut report, exec)?;
    }
    Ok(report)
}

/// Rows in f64 without what else is known of them, with their classes.
fn plain(name: &str) -> Result<Dataset> {
    let data = sets::first_rows(name, ROWS)?;
    Ok(Dataset::new(Points::dense(data.points.view().to_f64()?, data.dim())?, data.targets)?)
}

fn kmeans(
    case: &str,
    points: &Points,
    clusters: usize,
    peer: &mut Side,
    report: &mut Report,
    exec: Exec,
) -> Result<()> {
    let weight = vec![1.0; points.len()];
    let k = gram::square::<f64>(&Kernel::Linear, points.view(), exec)?.to_vec();
    let start = seeded(&k, &weight, clusters, 1);
    let found = kernel_kmeans(&k, &weight, &start, clusters, 1000, exec, &mut watch::silent())?;
    let theirs = peer.ask(&json!({"do": "clusters", "start": start}))?;
    let inertia = theirs["inertia"].as_f64().context("an answer without an inertia")?;
    let labels = theirs["labels"].as_array().context("an answer without labels")?;
    let apart =
        found.of_row.iter().zip(labels).filter(|(ours, theirs)| Some(u64::from(**ours)) != theirs.as_u64());
    report.note(case, "mercer's inertia", found.inertia, "squared");
    report.note(case, "scikit-learn's", inertia, "squared");
    report.note(case, "difference, relative", (found.inertia - inertia).abs() / inertia, "");
    report.note(case, "rows in other clusters", apart.count() as f64, "rows");
    Ok(())
}

fn discriminant(case: &str, data: &Dataset, peer: &mut Side, report: &mut Report, exec: Exec) -> Result<()> {
    let Targets::Classes(labels) = &data.targets else { anyhow::bail!("a set without classes") };
    // Nearly no penalty: it only picks among coefficients of one direction.
    let params = KfdParams { kernel: Some(Kernel::Linear), lambda: 1e-6, ..KfdParams::default() };
    let model = params.fit(Sample::new(&data.points, &data.targets), exec, &mut watch::silent())?;
    let ours = model.decision(data.points.view(), exec)?;
    let names: Vec<&str> = (0..data.len()).map(|i| labels.name_of(i)).collect();
    let answer = peer.ask(&json!({"do": "discriminant", "labels": names}))?;
    let theirs: Vec<f64> = answer["scores"]
        .as_array()
        .context("an answer without scores")?
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    // scikit-learn orders classes by name.
    let k = labels.names.len();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| labels.names[a].cmp(&labels.names[b]));
    // Only differences of scores say anything, and pooled covariances are divided by n here and by n - k there.
    let factor = data.len() as f64 / (data.len() - k) as f64;
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for (ours, theirs) in ours.chunks(k).zip(theirs.chunks(k)) {
        for c in 1..k {
            let want = theirs[c] - theirs[0];
            worst = worst.max((factor * (ours[order[c]] - ours[order[0]]) - want).abs());
            largest = largest.max(want.abs());
        }
    }
    report.note(case, "largest difference of scores, relative", worst / largest, "");
    Ok(())
}
