//! Photographs with noise of a tenth of their range, restored: Mercer's components of similar squares beside scikit-image's
//! total variation, wavelets and non-local means, on the pictures that come inside its wheel.
//!
//! All sides are told the level of the noise; Mercer also runs with the level it estimates. PSNR in dB, the more the better.

use std::time::Instant;

use anyhow::{Context, Result};
use mercer::Exec;
use mercer::data::io::{LabelColumn, ReadOptions, read};
use mercer::data::{ImageShape, Patches, Points};
use mercer::model::noise_level;
use mercer::reduce::similar::{SimilarParams, denoise};
use mercer::watch::silent;
use serde_json::{Value, json};

use crate::python::Python;
use crate::report::Report;
use crate::side::Side;
use crate::{Args, sets};

const PICTURES: [&str; 5] = ["camera", "moon", "brick", "grass", "gravel"];
const PEERS: [&str; 3] = ["total variation", "wavelets", "non-local means"];
const LEVEL: f64 = 0.1;

pub(crate) fn run(args: &Args) -> Result<Report> {
    let mut report = Report::new("photographs");
    let python = Python::ready()?;
    python.need(&["numpy", "scipy", "scikit-image", "PyWavelets"])?;
    let exec = Exec::new(args.threads);
    let mut peer = Side::peer("scikit-image", &python, "photographs.py", &[], exec.threads())?;
    for name in PICTURES.into_iter().filter(|name| args.wants(name)) {
        eprintln!("bench: {name}");
        let file =
            |kind: &str| Ok::<_, anyhow::Error>(sets::scratch()?.join(format!("photo-{name}.{kind}.npy")));
        let (noisy_file, clean_file) = (file("noisy")?, file("clean")?);
        let about =
            peer.ask(&json!({"do": "load", "picture": name, "noisy": noisy_file, "clean": clean_file}))?;
        let side = |key: &str| about[key].as_u64().map(|v| v as usize).context("a picture without a size");
        let shape = ImageShape::grey(side("height")?, side("width")?);
        let options = ReadOptions { label: LabelColumn::None, ..ReadOptions::default() };
        let noisy = read(&noisy_file, &options)?.points.with_image(shape)?;
        let clean = read(&clean_file, &options)?.points.view().to_f64()?;
        let psnr = |points: &Points| -> Result<f64> {
            let off =
                points.view().to_f64()?.into_iter().zip(&clean).map(|(v, c)| (v.clamp(0.0, 1.0) - c).powi(2));
            Ok(-10.0 * (off.sum::<f64>() / clean.len() as f64).log10())
        };
        report.note(name, "noisy", psnr(&noisy)?, "dB");
        let (_, squares) = Patches::cut(noisy.view(), shape, 8, 4)?;
        let found = noise_level(
            &squares.gather(&(0..squares.len()).step_by(5).collect::<Vec<_>>()),
            exec,
            &mut silent(),
        )?;
        let mut best = f64::INFINITY;
        for (what, noise) in [("mercer", LEVEL), ("mercer, noise estimated", found)] {
            let clock = Instant::now();
            let params = SimilarParams { noise, patch: None };
            let out = denoise(noisy.view(), shape, &params, exec, &mut silent())?;
            best = best.min(clock.elapsed().as_secs_f64());
            report.note(name, what, psnr(&out)?, "dB");
        }
        report.note(name, "noise estimated", found, "");
        for method in PEERS {
            let ask = |best: bool| json!({"do": "run", "method": method, "best": best});
            let number =
                |answer: &Value, key: &str| answer[key].as_f64().context("an answer without figures");
            let timed = peer.ask(&ask(false))?;
            let quality = peer.ask(&ask(true))?;
            report.note(name, method, number(&quality, "psnr")?, "dB");
            report.row(name, method, number(&timed, "seconds")?, best);
        }
    }
    Ok(report)
}
