//! Back from feature space: noise on a digit or on a picture, projected onto components and brought back as pre-images.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use mercer::data::io::{ReadOptions, read_bytes};
use mercer::data::{ImageShape, Patches, Points, Targets, median_distance2, noise};
use mercer::kernel::Kernel;
use mercer::model::{KpcaParams, Machine, Sample};
use mercer::reduce::preimage::PreimageParams;
use mercer::watch::{self, Step};
use mercer::{Error, Exec, Result};
use mercer_serve::error::Refusal;
use serde::Deserialize;
use serde_json::json;

use crate::reply::{Reply, json, parse, planes};
use crate::rooms::digits::{pixels, ready};
use crate::state::Lab;

/// The values of a digit's pixels.
const INK: f64 = 16.0;
/// Iterations at which a pre-image is shown.
const STEPS: [usize; 8] = [1, 2, 3, 5, 8, 13, 30, 100];
/// The longer side of a picture, and squares of it.
const PICTURE: usize = 96;
const PATCH: usize = 8;

#[derive(Deserialize)]
struct Ask {
    /// A test digit.
    row: usize,
    /// `gaussian` or `speckle`.
    noise: String,
    /// Standard deviation as a share of full ink, or the share of pixels.
    level: f64,
    seed: u64,
    components: usize,
    /// Whether to show iterations of the kernel's pre-image.
    #[serde(default)]
    steps: bool,
}

/// `POST api/back`: a digit, noise on it, and what linear and kernel components make of it.
pub(crate) fn denoise(lab: &Lab, body: &[u8]) -> Reply {
    let ask: Ask = parse(body)?;
    let digits = ready(lab)?;
    if ask.row >= digits.test.len() {
        return Err(Refusal::bad(format!("digit {}: there are {}", ask.row, digits.test.len())));
    }
    let clean = digits.test.points.gather(&[ask.row]);
    let noisy = match ask.noise.as_str() {
        "speckle" => noise::speckle(&clean, ask.level, (0.0, INK), ask.seed)?,
        _ => noise::gaussian(&clean, ask.level * INK, ask.seed)?,
    };
    let back = |machine: &Machine, max_iter: usize| {
        brought_back(machine, &noisy, ask.components, max_iter, lab.exec)
    };
    let begun = Instant::now();
    let kernel = back(&digits.kernel, PreimageParams::default().max_iter)?;
    let kernel_ms = begun.elapsed().as_secs_f64() * 1e3;
    let linear = back(&digits.linear, 1)?;
    let mut steps = Vec::new();
    for &most in STEPS.iter().filter(|_| ask.steps) {
        let at = back(&digits.kernel, most)?;
        steps.push(json!({ "iterations": at.1, "pixels": pixels(&at.0, 0), "distance2": at.2 }));
        if at.1 < most {
            break;
        }
    }
    json(&json!({
        "clean": pixels(&clean, 0), "noisy": pixels(&noisy, 0), "linear": pixels(&linear.0, 0),
        "kernel": pixels(&kernel.0, 0), "iterations": kernel.1, "distance2": kernel.2, "linear_distance2": linear.2,
        "label": digits.test.targets.classes()?.name_of(ask.row), "steps": steps, "ms": kernel_ms,
    }))
}

/// The pre-image of the projection, its iterations and its squared distance from the projection in feature space.
fn brought_back(
    machine: &Machine,
    noisy: &Points,
    wanted: usize,
    max_iter: usize,
    exec: Exec,
) -> Result<(Points, usize, f64)> {
    let found = machine.components()?;
    let used = wanted.clamp(1, found.count());
    let params = PreimageParams { max_iter, ..PreimageParams::default() };
    let back = found.denoise(noisy.view(), used, &params, exec, &mut watch::silent())?;
    Ok((back.points, back.steps[0] as usize, back.distance2[0]))
}

/// `POST api/picture/NOISE-COMPONENTS`: a picture of one's own: resized, with noise, and denoised by components of its squares,
/// linear and Gaussian.
pub(crate) fn picture(lab: &Lab, levels: &str, body: &[u8]) -> Reply {
    let (level, components) = levels
        .split_once('-')
        .and_then(|(a, b)| Some((a.parse::<f64>().ok()?, b.parse::<usize>().ok()?)))
        .ok_or_else(|| Refusal::bad("expected the level of the noise and the number of components"))?;
    let (clean, shape) = small(body, lab.exec)?;
    let noisy = noise::gaussian(&clean, level, lab.seed)?;
    let (patches, squares) = Patches::cut(noisy.view(), shape, PATCH, PATCH / 2)?;
    let width = median_distance2(&squares, lab.seed).unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let begun = Instant::now();
    let joined = |kernel: Kernel| -> Result<Points> {
        let params = KpcaParams { kernel: Some(kernel), ..KpcaParams::default() };
        let mut watch = |_: &Step| {
            if begun.elapsed() > Duration::from_secs(10) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let machine = params.fit(Sample::new(&squares, &Targets::None), lab.exec, &mut watch)?;
        let found = machine.components()?;
        let used = components.clamp(1, found.count());
        let back = PreimageParams { max_iter: 30, ..PreimageParams::default() };
        patches.join(found.denoise(squares.view(), used, &back, lab.exec, &mut watch)?.points.view())
    };
    let linear = joined(Kernel::Linear)?;
    let kernel = joined(Kernel::Rbf { gamma: 1.0 / width })?;
    let mut numbers = Vec::new();
    for image in [&clean, &noisy, &linear, &kernel] {
        numbers.extend(image.view().to_f64()?.into_iter().map(|v| v as f32));
    }
    let facts = json!({ "height": shape.height, "width": shape.width, "squares": squares.len(), "ms": begun.elapsed().as_secs_f64() * 1e3 });
    planes(&facts, &numbers)
}

/// A picture in grey, no larger than is quick.
fn small(bytes: &[u8], exec: Exec) -> Result<(Points, ImageShape)> {
    let options = ReadOptions { grey: true, memory: Some(exec.memory()), ..ReadOptions::default() };
    let no_picture = || Error::Unsupported("the file is not a picture that can be read".into());
    let whole = read_bytes("picture", bytes, &options)?;
    let shape = whole.points.image().filter(|_| whole.len() == 1).ok_or_else(no_picture)?;
    let longer = shape.height.max(shape.width);
    let smaller = |side: usize| (side * PICTURE / longer).max(PATCH).min(side.max(PATCH));
    let size = if longer > PICTURE || shape.height.min(shape.width) < PATCH {
        (smaller(shape.height), smaller(shape.width))
    } else {
        (shape.height, shape.width)
    };
    let read = read_bytes("picture", bytes, &ReadOptions { resize: Some(size), ..options })?;
    let points = read.points.grey().unwrap_or(read.points);
    let shape = points.image().ok_or_else(no_picture)?;
    Ok((points, shape))
}
