//! The stops at kernel principal components of the digits: what they look like, and digits without their noise.

use mercer::Result;
use mercer::data::{Dataset, Points, Targets, noise};
use mercer::kernel::Kernel;
use mercer::model::{DenoiseParams, KpcaParams, Machine, Sample, SvcParams};
use mercer::reduce::preimage::PreimageParams;
use mercer_report::html::{Figure, Section, Tile};
use mercer_report::svg::{Axis, Chart, Series, spectrum};
use mercer_report::{Stop, Trial, count, drives, number, percent};

use super::guide::Guide;
use crate::progress::Progress;

/// Components found and drawn.
const FOUND: usize = 128;
const DRAWN: usize = 14;
/// Digits in a strip.
const SHOWN: usize = 14;
/// Deviation of the noise, on pixels from 0 to 16.
const NOISE: f64 = 4.0;

fn kpca(guide: &Guide<'_>, kernel: Option<Kernel>, count: u64) -> Result<Machine> {
    let params = KpcaParams { kernel, components: Some(count), seed: guide.seed, ..KpcaParams::default() };
    let sample = Sample::new(&guide.train.points, &Targets::None);
    params.fit(sample, guide.exec, &mut Progress::new(guide.context).watch())
}

/// What components are, and what a linear machine makes of them.
pub(super) fn components(guide: &Guide<'_>) -> Result<Stop> {
    let model = kpca(guide, None, FOUND as u64)?;
    let seen = |data: &Dataset| model.decision(data.points.view(), guide.exec);
    let (train, test) = (seen(&guide.train)?, seen(&guide.test)?);
    let mut errors = Vec::new();
    for used in [2, 4, 8, 16, 32, 64, FOUND] {
        let part = |features: &[f64], of: &Dataset| -> Result<Dataset> {
            let first = features.chunks(FOUND).flat_map(|line| line[..used].iter().copied()).collect();
            Dataset::new(Points::dense(first, used)?, of.targets.clone())
        };
        let params = SvcParams { kernel: Some(Kernel::Linear), c: 100.0, ..SvcParams::default() };
        let machine = guide.svc(&params, &part(&train, &guide.train)?)?;
        let trial = Trial::new(&machine, guide.train.len(), &part(&test, &guide.test)?, guide.exec)?;
        errors.push((used as f64, 100.0 * trial.error));
    }
    let found = model.components()?;
    let mut tiles = Vec::new();
    let mut watch = Progress::new(guide.context).watch();
    for axis in 0..DRAWN {
        let point = found.show_axis(axis, &PreimageParams::default(), guide.exec, &mut watch)?;
        tiles.push(Tile::new(point.view().to_f64()?, (axis + 1).to_string()));
    }
    drop(watch);
    let mut section = Section::new(
        "Kernel principal components",
        "The directions of largest variance in the feature space of a Gaussian kernel. The projections onto them are features \
         for simpler machines.",
    );
    let carried: f64 = found.shares().iter().sum();
    section.facts = vec![
        ("components".into(), count(FOUND)),
        ("explained variance".into(), percent(carried)),
        ("kernel".into(), model.expansion.kernel().to_string()),
    ];
    let line = vec![Series::line("", errors.clone()).colour(0), Series::dots("", errors.clone()).colour(0)];
    let (x, y) = (Axis::new("components").log(), Axis::new("test error, per cent").log());
    section.figures = vec![
        Figure::svg(
            spectrum("Explained variance", "share", &found.shares()[..40], false),
            "The first components explain most of the variance.",
        ),
        Figure::svg(
            Chart::new("Test error over the number of components", x, y, line).draw(),
            "A linear machine on the first components: with enough of them it is as good as a nonlinear one.",
        ),
        Figure::tiles(Guide::tiles(tiles), "Pre-images of the first components, by a fixed-point iteration."),
    ];
    let alone = drives(found, &(0..DRAWN).collect::<Vec<_>>(), guide.exec)?;
    let caption = "Effect of single pixels on each component: increase in blue, decrease in orange.";
    section.figures.extend(alone.map(|tiles| Figure::tiles(tiles, caption)));
    section.commands = vec![
        ("mercer pca fit DATA --components 64 -o MODEL --report FILE".into(), "computes components".into()),
        ("mercer pca transform DATA MODEL -o OUT".into(), "projects rows onto them".into()),
        ("mercer pca show MODEL -o FILE".into(), "draws them".into()),
        (
            "mercer train DATA --features MODEL -o MODEL".into(),
            "a machine on these features, in one file".into(),
        ),
    ];
    let last = errors.last().map_or(f64::NAN, |e| e.1 / 100.0);
    let seen = format!("linear machine on {} components: test error {}", FOUND, percent(last));
    Ok(Stop::new("Components", seen, "mercer pca fit DATA -o MODEL", section)
        .fact("variance_carried", carried)
        .fact("error_linear_on_components", last))
}

/// Noisy digits, and what components leave of the noise.
pub(super) fn denoising(guide: &Guide<'_>) -> Result<Stop> {
    let clean = guide.test.points.view().to_f64()?;
    let noisy = noise::gaussian(&guide.test.points, NOISE, guide.seed)?;
    let params = DenoiseParams { seed: guide.seed, ..DenoiseParams::default() };
    let mut watch = Progress::new(guide.context).watch();
    let denoiser = params.fit(&guide.train.points, Some(&noisy), guide.exec, &mut watch)?;
    let restored = denoiser.denoise(noisy.view(), &params.back, guide.exec, &mut watch)?;
    drop(watch);
    let off = |points: &Points| -> Result<f64> {
        let found = points.view().to_f64()?;
        let sum: f64 = found.iter().zip(&clean).map(|(a, b)| (a - b).powi(2)).sum();
        Ok(sum / guide.test.len() as f64)
    };
    let (before, after) = (off(&noisy)?, off(&restored)?);
    let linear = kpca(guide, Some(Kernel::Linear), 40)?;
    let mut watch = Progress::new(guide.context).watch();
    let mut by_lines = f64::INFINITY;
    for used in [5, 10, 15, 20, 30, 40] {
        let found = linear.components()?.denoise(noisy.view(), used, &params.back, guide.exec, &mut watch)?;
        by_lines = by_lines.min(off(&found.points)?);
    }
    drop(watch);
    let strip = |points: &Points| -> Vec<Tile> {
        (0..SHOWN.min(points.len())).map(|row| Tile::new(points.row(row).to_f64(), "")).collect()
    };
    let mut section = Section::new(
        "Denoising",
        "A noisy digit is projected onto the components of clean digits and mapped back to an image. Noise that the \
         components do not carry is removed. The noise level is estimated from the data, and the number of components is \
         chosen on held-out digits.",
    );
    section.facts = vec![
        (
            "estimated noise".into(),
            format!(
                "{} per pixel; {NOISE} was added",
                number((100.0 * denoiser.noise.unwrap_or(0.0)).round() / 100.0)
            ),
        ),
        ("components chosen".into(), count(denoiser.components)),
        ("squared error before".into(), number(before.round())),
        ("after".into(), number(after.round())),
        ("by linear PCA, best of six numbers of components".into(), number(by_lines.round())),
    ];
    let tried: Vec<(f64, f64)> = denoiser.tried.iter().map(|t| (t.components as f64, t.error)).collect();
    let line = vec![Series::line("", tried.clone()).colour(0), Series::dots("", tried).colour(0)];
    let (x, y) = (Axis::new("components").log(), Axis::new("squared error"));
    section.figures = vec![
        Figure::tiles(Guide::tiles(strip(&noisy)), "Test digits with noise."),
        Figure::tiles(Guide::tiles(strip(&restored)), "Denoised."),
        Figure::tiles(Guide::tiles(strip(&guide.test.points)), "Original."),
        Figure::svg(
            Chart::new("Test error over the number of components", x, y, line).draw(),
            "On held-out digits with added noise: too few components lose the digit, too many keep the noise.",
        ),
    ];
    section.commands = vec![
        ("mercer denoise DATA -o OUT".into(), "estimates the noise level and chooses the components".into()),
        (
            "mercer denoise DATA --train DATA -o OUT --report FILE".into(),
            "fits the components on clean rows".into(),
        ),
    ];
    let seen = format!("squared error of noisy digits reduced by {}", percent(1.0 - after / before));
    Ok(Stop::new("Denoising", seen, "mercer denoise DATA -o OUT", section)
        .fact("squared_error_before", before)
        .fact("squared_error_after", after)
        .fact("squared_error_linear", by_lines))
}
