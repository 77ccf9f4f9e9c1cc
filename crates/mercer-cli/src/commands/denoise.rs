//! `mercer denoise`: rows without their noise.

use std::path::{Path, PathBuf};

use clap::Args;
use mercer::data::{Dataset, ImageShape, Patches, Points};
use mercer::model::{DenoiseParams, Denoiser, noise_level};
use mercer::reduce::preimage::PreimageParams;
use mercer::reduce::similar::{self, SimilarParams};
use mercer_report::{Denoised, Written, denoised_page};

use super::pca::components;
use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::progress::Progress;
use crate::safe_csv::SafeCsv;
use crate::source::{self, Reading};
use crate::{model, rows};

/// Remove noise from rows or pictures
///
/// Photographs (a single picture, or pictures of at least 64 x 64 pixels) are denoised one by one: each square is projected
/// onto the principal components of the squares around it that are most similar.
///
/// Other rows are projected onto kernel principal components and mapped back to input space. Without --model, components
/// are found in the data itself, or in clean rows given with --train. Kernel and number are those with the smallest error
/// on a held-out set. The noise level is estimated unless --noise gives it. --kernel, --components, --train and --model
/// also apply this to photographs, cut into overlapping squares (--patch).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer denoise noisy.csv -o clean.csv --report before-after.html
  mercer denoise photo.png -o clean.png
  mercer denoise scans/ --train clean-scans/ -o restored/        (folders of pictures of one size)
  mercer denoise noisy.npy --train digits.npy --image 16x16 -o clean.png
  mercer denoise noisy.csv --model digits.pca --components 64 -o clean.csv")]
pub(crate) struct Denoise {
    /// The rows: numbers, a picture, or a folder of pictures; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// What to write: numbers, a .png, or a folder of them if it ends in /
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    /// Components from `mercer pca fit`
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["train", "kernel", "noise"])]
    model: Option<PathBuf>,

    /// Find components in these clean rows instead of the noisy ones
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,

    /// The kernel's line [default: linear or a Gaussian, chosen on held-out rows]
    #[arg(long, short, value_name = "LINE", allow_hyphen_values = true)]
    kernel: Option<String>,

    /// Number of components [default: chosen on held-out rows]
    #[arg(long, short = 'n', value_name = "N")]
    components: Option<usize>,

    /// Standard deviation of the noise, or `auto`
    #[arg(long, value_name = "LEVEL", default_value = "auto", value_parser = level)]
    noise: Level,

    /// Cut images into overlapping squares of this many pixels [default: 8 for a single image]
    #[arg(long, value_name = "PIXELS", conflicts_with = "model")]
    patch: Option<usize>,

    /// Also write an HTML page with rows before and after
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    safe: SafeCsv,

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

/// Default side of a patch in pixels.
const PATCH: usize = 8;
/// Number of patches from which the noise level is estimated.
const LEVEL_SQUARES: usize = 3000;
/// Squares, at most about: beyond, they overlap less.
const SQUARES: usize = 40_000;

/// What is denoised: the rows themselves, or squares of them; one channel where all are equal.
struct Job {
    data: Dataset,
    grey: Option<Points>,
    squares: Option<(Patches, Points)>,
}

impl Job {
    fn images(&self) -> &Points {
        self.grey.as_ref().unwrap_or(&self.data.points)
    }

    fn rows(&self) -> &Points {
        self.squares.as_ref().map_or(self.images(), |(_, squares)| squares)
    }
}

impl Command for Denoise {
    const PATH: &'static [&'static str] = &["denoise"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.file]).reads(&self.model).reads(&self.train);
        Ok(files.reads(self.reading.files()).writes_rows(&self.out).writes(&self.report))
    }

    fn run(self, context: &Context) -> Done {
        let back = PreimageParams { seed: context.seed, ..PreimageParams::default() };
        let (denoiser, job) = if let Some(file) = &self.model {
            self.with_model(file, context)?
        } else {
            let data = self.reading.read(&self.file, context.exec)?;
            let given = self.train.is_some() || self.kernel.is_some() || self.components.is_some();
            let image = data.points.image().filter(|shape| !given && is_photograph(*shape, data.len()));
            if let Some(shape) = image {
                return self.photographs(&data, shape, context);
            }
            self.denoiser(data, &back, context)?
        };
        let mut watch = Progress::new(context).watch();
        let found = denoiser.denoise(job.rows().view(), &back, context.exec, &mut watch)?;
        drop(watch);
        let clean = match &job.squares {
            Some((patches, _)) => patches.join(found.view())?,
            None => match job.images().image() {
                Some(shape) if found.image().is_none() => found.with_image(shape)?,
                _ => found,
            },
        };
        let data = job.data;
        let clean = match (&job.grey, data.points.image()) {
            (Some(_), Some(shape)) => clean.with_channels(shape.channels)?,
            _ => clean,
        };
        let report = Denoised {
            source: source::name(&self.file),
            rows: data.len(),
            patches: job.squares.map(|(patches, _)| (patches.len(), patches.shape().height)),
            kernel: denoiser.model.expansion.kernel().to_string(),
            components: Some(denoiser.components),
            noise: denoiser.noise,
            before: denoiser.before,
            tried: denoiser.tried,
            bytes: 0,
            file: self.out.clone(),
        };
        self.write(&data, clean, report, context)
    }
}

/// Whether rows are pictures in which squares can be compared with their neighbours: not digits or thumbnails, of which there
/// are many and which are compared with each other.
fn is_photograph(shape: ImageShape, rows: usize) -> bool {
    let side = shape.height.min(shape.width);
    side >= 64 || rows == 1 && side >= 2 * PATCH
}

impl Denoise {
    /// Pictures one by one, by components of similar squares.
    fn photographs(&self, data: &Dataset, shape: ImageShape, context: &Context) -> Done {
        let grey = (shape.channels > 1).then(|| data.points.grey()).flatten();
        let images = grey.as_ref().unwrap_or(&data.points);
        let own = images.image().unwrap_or(shape);
        let noise = match self.noise {
            Some(noise) => noise,
            None => self.noise_of(images, context)?,
        };
        let params = SimilarParams { noise, patch: self.patch };
        let mut watch = Progress::new(context).watch();
        let clean = similar::denoise(images.view(), own, &params, context.exec, &mut watch)?;
        drop(watch);
        let clean = if grey.is_some() { clean.with_channels(shape.channels)? } else { clean };
        let report = Denoised {
            source: source::name(&self.file),
            rows: data.len(),
            patches: None,
            kernel: "linear, on each square and its most similar neighbours".into(),
            components: None,
            noise: Some(noise),
            before: None,
            tried: Vec::new(),
            bytes: 0,
            file: self.out.clone(),
        };
        self.write(data, clean, report, context)
    }

    /// The level of the noise, from some of the squares of pictures.
    fn noise_of(&self, images: &Points, context: &Context) -> Result<f64, Failure> {
        let (_, squares) = cut(images, self.patch.unwrap_or(PATCH).max(4))?;
        let every = squares.len().div_ceil(LEVEL_SQUARES).max(1);
        let some = squares.gather(&(0..squares.len()).step_by(every).collect::<Vec<_>>());
        let mut watch = Progress::new(context).watch();
        let level = noise_level(&some, context.exec, &mut watch)?;
        if level > 0.0 {
            return Ok(level);
        }
        Err(Failure::usage("no noise was found in the picture", "--noise LEVEL gives its standard deviation"))
    }

    fn write(&self, data: &Dataset, clean: Points, report: Denoised, context: &Context) -> Done {
        let out = self.safe.apply(rows::like(data, clean)?, &self.out);
        rows::write(&self.out, &out, rows::levels(&self.file), context.exec)?;
        let report = Denoised { bytes: Written::new(self.out.clone(), &out).bytes, ..report };
        context.tell(&report)?;
        match &self.report {
            Some(file) => {
                let page = denoised_page(&report, &data.points, &out.points)?;
                context.write_page(file, page, &[(&report.source, data)])
            }
            None => Ok(()),
        }
    }

    /// Components that were found before.
    fn with_model(&self, file: &Path, context: &Context) -> Result<(Denoiser, Job), Failure> {
        let fitted = model::read(file, context.exec)?;
        let most = components(&fitted, file)?.count();
        if !fitted.stages.is_empty() {
            return Err(Failure::usage(
                format!("{} has stages that change columns and have no inverse", file.display()),
                "find components without --scale",
            ));
        }
        let data = self.reading.read_by(&self.file, &fitted, context.exec)?;
        let components = self.components.unwrap_or(most);
        Ok((Denoiser::new(fitted.machine, components)?, Job { data, grey: None, squares: None }))
    }

    fn denoiser(
        &self,
        data: Dataset,
        back: &PreimageParams,
        context: &Context,
    ) -> Result<(Denoiser, Job), Failure> {
        let train = self.train.as_deref().map(|file| self.reading.read(file, context.exec)).transpose()?;
        let alone = data.len() == 1 && train.is_none() && data.points.image().is_some();
        let patch = self.patch.or(alone.then_some(PATCH));
        let mut train = train.map(|train| train.points);
        // Grey pictures saved in colour: copies of a channel would hide the noise and cost three times the work.
        let grey = data.points.image().filter(|shape| shape.channels > 1).and_then(|_| data.points.grey());
        let grey = match (grey, &train) {
            (Some(grey), Some(clean)) => clean.grey().map(|clean| {
                train = Some(clean);
                grey
            }),
            (grey, _) => grey,
        };
        let images = grey.as_ref().unwrap_or(&data.points);
        let squares = patch.map(|size| cut(images, size)).transpose()?;
        let train = match (train, patch) {
            (Some(train), Some(size)) => Some(cut(&train, size)?.1),
            (train, _) => train,
        };
        let job = Job { data, grey, squares };
        let params = DenoiseParams {
            kernel: self.kernel.as_deref().map(str::parse).transpose()?,
            components: self.components,
            noise: self.noise,
            back: back.clone(),
            seed: context.seed,
        };
        let mut watch = Progress::new(context).watch();
        let fitted = match &train {
            Some(train) => params.fit(train, Some(job.rows()), context.exec, &mut watch),
            None => params.fit(job.rows(), None, context.exec, &mut watch),
        };
        drop(watch);
        Ok((fitted?, job))
    }
}

/// Squares of rows that are images, each overlapping the next by three quarters, or by half where they are many.
fn cut(images: &Points, size: usize) -> Result<(Patches, Points), Failure> {
    let Some(shape) = images.image() else {
        return Err(Failure::usage(
            "only images can be cut into squares",
            "`--image HxW` says that rows are images",
        ));
    };
    let step = (size / 4).max(1);
    let about = images.len() * (shape.height / step) * (shape.width / step);
    let step = if about > SQUARES { size.div_ceil(2) } else { step };
    Ok(Patches::cut(images.view(), shape, size, step)?)
}
