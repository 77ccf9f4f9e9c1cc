//! `mercer denoise`: rows without their noise.

use std::path::PathBuf;

use clap::Args;
use mercer::data::Dataset;
use mercer::model::{DenoiseParams, Denoiser};
use mercer::reduce::preimage::PreimageParams;
use mercer::report::{Denoised, denoised_page};

use super::pca::{components, with_labels, write_rows};
use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::progress::Progress;
use crate::source::{self, Reading};
use crate::{interrupt, model};

/// Take the noise out of rows: project them onto kernel principal components and come back
///
/// Without --model, components are found in the data itself, or in clean rows given with --train. Their number is the one
/// that leaves the least error on rows set aside; the level of the noise is estimated unless --noise gives it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer denoise noisy.csv -o clean.csv --report before-after.html
  mercer denoise noisy.npy --train digits.npy --image 16x16 -o clean.png
  mercer denoise noisy.csv --model digits.pca --components 64 -o clean.csv")]
pub(crate) struct Denoise {
    /// The rows; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The file to write; one that ends in .png gets images
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    /// Components from `mercer pca fit`
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["train", "kernel", "noise"])]
    model: Option<PathBuf>,

    /// Find components in these clean rows instead of the noisy ones
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,

    /// The kernel's line [default: a Gaussian, width by the data]
    #[arg(long, short, value_name = "LINE")]
    kernel: Option<String>,

    /// Number of components [default: by rows set aside]
    #[arg(long, short = 'n', value_name = "N")]
    components: Option<usize>,

    /// Standard deviation of the noise, or `auto`
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = level)]
    noise: Level,

    /// Also write an HTML page with rows before and after
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

/// A level of noise; none: to be estimated.
type Level = Option<f64>;

// Clap gives `Option` a meaning of its own, so the type goes by another name.
fn level(text: &str) -> Result<Level, String> {
    match text {
        "auto" => Ok(None),
        number => number.parse().map(Some).map_err(|_| "expected a number above 0, or auto".into()),
    }
}

impl Command for Denoise {
    const PATH: &'static [&'static str] = &["denoise"];

    fn run(self, context: &Context) -> Done {
        interrupt::listen();
        model::can_write(&self.out)?;
        self.report.as_deref().map_or(Ok(()), model::can_write)?;
        let back = PreimageParams { seed: context.seed, ..PreimageParams::default() };
        let (denoiser, data) = self.denoiser(&back, context)?;
        let mut watch = Progress::new(context).watch();
        let clean = denoiser.denoise(data.points.view(), &back, context.par, &mut watch)?;
        drop(watch);
        let clean = match data.points.image() {
            Some(shape) if clean.image().is_none() => clean.with_image(shape)?,
            _ => clean,
        };
        let out = with_labels(&data, clean)?;
        write_rows(&self.out, &out)?;
        let chosen = self.model.is_none();
        let report = Denoised {
            source: source::name(&self.file),
            rows: data.len(),
            kernel: denoiser.model.expansion.kernel().to_string(),
            components: denoiser.components,
            noise: chosen.then_some(denoiser.noise),
            before: Some(denoiser.before).filter(|b| b.is_finite()),
            tried: denoiser.tried,
            bytes: std::fs::metadata(&self.out).map_or(0, |about| about.len()),
            file: self.out,
        };
        context.tell(&report)?;
        match &self.report {
            Some(file) => {
                context.write_page(file, &denoised_page(&report, &data.points, &out.points)?.html())
            }
            None => Ok(()),
        }
    }
}

impl Denoise {
    fn denoiser(&self, back: &PreimageParams, context: &Context) -> Result<(Denoiser, Dataset), Failure> {
        if let Some(file) = &self.model {
            let fitted = model::read(file)?;
            let kpca = components(&fitted, file)?.clone();
            if !fitted.stages.is_empty() {
                return Err(Failure::usage(
                    format!("{} changes columns first, and there is no way back from that", file.display()),
                    "find components without --scale",
                ));
            }
            let data = self.reading.read_by(&self.file, &fitted)?;
            let components = self.components.unwrap_or_else(|| kpca.components());
            let denoiser =
                Denoiser { model: kpca, components, noise: 0.0, tried: Vec::new(), before: f64::NAN };
            return Ok((denoiser, data));
        }
        let data = self.reading.read(&self.file)?;
        let train = self.train.as_deref().map(|file| self.reading.read(file)).transpose()?;
        let params = DenoiseParams {
            kernel: self.kernel.as_deref().map(str::parse).transpose()?,
            components: self.components,
            noise: self.noise,
            back: back.clone(),
            seed: context.seed,
        };
        let mut watch = Progress::new(context).watch();
        let fitted = match &train {
            Some(train) => params.fit(&train.points, Some(&data.points), context.par, &mut watch),
            None => params.fit(&data.points, None, context.par, &mut watch),
        };
        drop(watch);
        Ok((fitted?, data))
    }
}
