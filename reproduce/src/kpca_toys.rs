//! Components of toys in the plane (Schoelkopf, Smola and Mueller 1996, Fig. 2; Schoelkopf et al. 1999, Figs. 4 to 6).
//!
//! A noisy parabola under polynomial kernels of degree 1 to 4: with degree 1 there are two components, with degree 2 the
//! third picks up the noise across the parabola. Three clusters under a Gaussian and under a sigmoid kernel: the first two
//! components tell the clusters apart, the next three split each of them; rebuilt from few components, points move
//! towards their sources. The pictures' statements are put into numbers here.

use mercer::Result;
use mercer::data::{Dataset, Points, Targets};
use mercer::kernel::Kernel;
use mercer::model::{Machine, Model};
use mercer_report::contour_maps;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Experiment;
use crate::components::{mean_squared, normal, plain};
use crate::lab::Lab;
use crate::outcome::{Better, Row, Unit};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "kpca-toys",
    shows: "First kernel components of toy data in the plane: along a parabola, across its noise, between clusters",
    paper: "Schoelkopf, Smola and Mueller 1996, Fig. 2; Schoelkopf et al. 1999, Figs. 4 to 6",
    notes: &[
        "The papers show figures without numbers; these numbers quantify the figures.",
        "between clusters: fraction of a feature's variance that is between the three sources; across: correlation of a \
         feature with the noise of the parabola; squared distance: from the source, the noise is 1.",
    ],
    needs: &[],
    needs_full: &[],
    seconds: 2,
    full: None,
    run,
};

/// The three sources and their noise.
const SOURCES: [[f64; 2]; 3] = [[-0.5, -0.1], [0.0, 0.7], [0.5, 0.1]];
const NOISE: f64 = 0.1;

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let (x, noise) = parabola(200)?;
    for degree in 1..=4 {
        lab.step(format!("parabola, degree {degree}"), degree as usize, 7)?;
        let kernel = Kernel::Poly { degree, scale: 1.0, coef0: 0.0 };
        let model = lab.components(kernel, &x, 200, true)?;
        draw(lab, &model, &x, 3, &format!("parabola, degree {degree}"))?;
        let group = "parabola";
        let setting = format!("degree {degree}");
        // The paper tells it of the linear kernel; a degree of d has d + 1 monomials.
        let all = (degree == 1).then_some(2.0);
        let found = model.outputs() as f64;
        rows.push(Row {
            unit: Unit::Count,
            ..plain(group, &setting, "components", all, found, Better::Near)
        });
        let features = model.decision(x.view(), lab.exec())?;
        let across = |k: usize| correlation(&column(&features, model.outputs(), k), &noise).abs();
        let most = (0..model.outputs().min(3)).map(across).fold(0.0, f64::max);
        rows.push(plain(group, &setting, "across, most of three", None, most, Better::Higher));
    }
    let x = clusters(100, 3)?;
    let kernels = [
        ("Gaussian", Kernel::Rbf { gamma: 10.0 }),
        ("sigmoid", Kernel::Sigmoid { amplitude: 1.0, scale: 2.0, shift: 1.0 }),
    ];
    for (p, (name, kernel)) in kernels.into_iter().enumerate() {
        lab.step(format!("clusters, {name}"), 5 + p, 7)?;
        let model = lab.components(kernel, &x, 8, true)?;
        draw(lab, &model, &x, 8, &format!("clusters, {name}"))?;
        let features = model.decision(x.view(), lab.exec())?;
        for k in 0..8 {
            let between = between(&column(&features, 8, k), 100);
            rows.push(plain(
                format!("clusters, {name}"),
                format!("component {}", k + 1),
                "between clusters",
                None,
                between,
                Better::Near,
            ));
        }
    }
    rows.extend(moved(lab, &x)?);
    Ok(rows)
}

/// Contours of the first components over the plane.
fn draw(lab: &mut Lab<'_>, model: &Machine, x: &Points, most: usize, title: &str) -> Result<()> {
    let data = Dataset::new(x.clone(), Targets::None)?;
    let model = Model::from(model.clone());
    for figure in contour_maps(&model, &data, most, title, lab.exec())? {
        lab.draw(figure);
    }
    Ok(())
}

/// Points rebuilt from their first components: how far they are from their sources then.
fn moved(lab: &mut Lab<'_>, x: &Points) -> Result<Vec<Row>> {
    lab.step("rebuilding", 7, 7)?;
    let test = clusters(20, 4)?;
    let sources: Vec<f64> = (0..60).flat_map(|i| SOURCES[i / 20]).collect();
    let noise = 2.0 * NOISE * NOISE;
    let before = mean_squared(&test.view().to_f64()?, &sources, 2) / noise;
    let model = lab.components(Kernel::Rbf { gamma: 10.0 }, x, 8, true)?;
    let linear: Machine = lab.components(Kernel::Linear, x, 1, true)?;
    let group = "rebuilt";
    let mut rows = vec![plain(group, "as they are", "squared distance", None, before, Better::Lower)];
    for used in 1..=8 {
        let after = mean_squared(&lab.restored(&model, &test, used)?, &sources, 2) / noise;
        rows.push(plain(
            group,
            format!("{used} of the Gaussian's"),
            "squared distance",
            None,
            after,
            Better::Lower,
        ));
    }
    let after = mean_squared(&lab.restored(&linear, &test, 1)?, &sources, 2) / noise;
    rows.push(plain(group, "1 linear", "squared distance", None, after, Better::Lower));
    Ok(rows)
}

/// `y = x^2` with noise, and the noise.
fn parabola(n: usize) -> Result<(Points, Vec<f64>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut values, mut noise) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let (x, e) = (2.0 * rng.random::<f64>() - 1.0, 0.2 * normal(&mut rng));
        values.extend([x, x * x + e]);
        noise.push(e);
    }
    Ok((Points::dense(values, 2)?, noise))
}

/// So many points about each source, one source after the other.
fn clusters(each: usize, seed: u64) -> Result<Points> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut values = Vec::new();
    for [x, y] in SOURCES {
        for _ in 0..each {
            values.extend([x + NOISE * normal(&mut rng), y + NOISE * normal(&mut rng)]);
        }
    }
    Points::dense(values, 2)
}

fn column(features: &[f64], k: usize, of: usize) -> Vec<f64> {
    features.iter().skip(of).step_by(k).copied().collect()
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(a - ma, b - mb)).sum::<f64>();
    sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt()
}

/// The share of the variance that lies between groups of so many rows.
fn between(feature: &[f64], each: usize) -> f64 {
    let all = feature.iter().sum::<f64>() / feature.len() as f64;
    let total: f64 = feature.iter().map(|f| (f - all).powi(2)).sum();
    let means = feature.chunks(each).map(|c| c.iter().sum::<f64>() / each as f64);
    means.map(|m| each as f64 * (m - all).powi(2)).sum::<f64>() / total
}
