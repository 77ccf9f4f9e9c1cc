//! Kernel components over the plane: values of each component on a grid, shares of the variance, and clusters.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mercer::data::{Points, Targets};
use mercer::expansion::Precision;
use mercer::model::{ClusterParams, Components, Features, KpcaParams, Sample};
use mercer::watch::Step;
use mercer_serve::error::Refusal;
use serde::Deserialize;
use serde_json::json;

use crate::reply::{Reply, parse, planes};
use crate::rooms::kernel;
use crate::state::Lab;

const PATIENCE: Duration = Duration::from_secs(3);
const MOST: u64 = 16;

#[derive(Deserialize)]
struct Ask {
    x: Vec<f64>,
    kernel: String,
    components: u64,
    #[serde(default)]
    whiten: bool,
    #[serde(default = "yes")]
    centred: bool,
    /// Clusters of the images; none: no clusters.
    #[serde(default)]
    clusters: Option<u64>,
    window: [f64; 4],
    cells: [usize; 2],
}

fn yes() -> bool {
    true
}

/// `POST api/components`: the first components on the cells of the plane, then the cluster of each cell.
pub(crate) fn maps(lab: &Lab, body: &[u8]) -> Reply {
    let ask: Ask = parse(body)?;
    let [nx, ny] = ask.cells;
    if ask.x.len() > 10_000 || nx.saturating_mul(ny) > 1 << 18 || nx == 0 || ny == 0 {
        return Err(Refusal::too_large("at most 5000 points and 262144 cells"));
    }
    let begun = Instant::now();
    let mut watch = |_: &Step| {
        if begun.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let kernel = kernel(&ask.kernel)?;
    let points = Points::dense(ask.x, 2)?;
    let sample = Sample::new(&points, &Targets::None);
    let params = KpcaParams {
        kernel: Some(kernel.clone()),
        whiten: ask.whiten,
        centred: ask.centred,
        ..KpcaParams::default()
    };
    // There may be fewer components than are asked for: all are found, and the first ones shown.
    let machine = params.fit(sample, lab.exec, &mut watch)?;
    let found = machine.components()?;
    let (all, shown) = (found.count(), found.count().min(ask.components.clamp(1, MOST) as usize));
    let [x0, x1, y0, y1] = ask.window;
    let middle = |k: usize, n: usize, low: f64, high: f64| low + (high - low) * (k as f64 + 0.5) / n as f64;
    let cells = (0..ny).flat_map(|j| {
        (0..nx).flat_map(move |i| [middle(i, nx, x0, x1) as f32, middle(j, ny, y1, y0) as f32])
    });
    let cells = Points::dense_f32(cells.collect(), 2)?;
    let expansion = found.expansion.select(&(0..shown).collect::<Vec<_>>())?;
    let features = Features { values: found.features.values[..shown].to_vec(), ..found.features.clone() };
    let first = Components { expansion: &expansion, features: &features };
    let first = first.transform_in(cells.view(), Precision::F32, lab.exec)?;
    let n = nx * ny;
    let mut numbers = vec![0.0_f32; n * shown];
    for (cell, line) in first.chunks(shown).enumerate() {
        line.iter().enumerate().for_each(|(k, v)| numbers[k * n + cell] = *v as f32);
    }
    let mut of_point = Vec::new();
    if let Some(clusters) = ask.clusters.filter(|k| *k > 0) {
        let params = ClusterParams { kernel: Some(kernel), clusters, ..ClusterParams::default() };
        let machine = params.fit(sample, lab.exec, &mut watch)?;
        let values = machine.decision_in(cells.view(), Precision::F32, lab.exec)?;
        numbers.extend(machine.classes_of(&values).into_iter().map(|cluster| cluster as f32));
        of_point = machine.classes_of(&machine.decision(points.view(), lab.exec)?);
    }
    let shares: Vec<f64> = found.shares().into_iter().take(shown).collect();
    let facts = json!({
        "components": shown, "all": all, "shares": shares, "values": found.features.values[..shown],
        "clusters": of_point, "cells": ask.cells, "kernel": found.expansion.kernel().to_string(),
        "ms": begun.elapsed().as_secs_f64() * 1e3,
    });
    planes(&facts, &numbers)
}
