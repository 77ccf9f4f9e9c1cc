//! `mercer pca fit`: finds components.

use std::path::PathBuf;

use clap::Args;
use mercer::data::io::Outside;
use mercer::data::{Dataset, Recipe, Stages, Targets};
use mercer::model::{KpcaMethod, KpcaParams, Model, Names, Sample, inexact};
use mercer::watch::Note;
use mercer_report::{FittedComponents, components_page};
use serde_json::json;

use crate::commands::Command;
use crate::commands::train::SHARE;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::{Files, folder_of};
use crate::progress::Progress;
use crate::source::{self, Reading};

/// Compute kernel principal components
///
/// The directions of largest variance in feature space. Labels are ignored. Without --components or --share all
/// components with non-zero eigenvalues are kept.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer pca fit digits.csv --components 64 -o digits.pca
  mercer pca fit scans/ --components 64 -o scans.pca               (a folder of pictures of one size)
  mercer pca fit digits.csv --kernel 'poly(degree=3, scale=1/64)' --share 0.95 -o digits.pca --report digits.html")]
pub(crate) struct Fit {
    /// The rows; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The file to write
    #[arg(long, short, value_name = "MODEL")]
    out: PathBuf,

    /// Kernel [default: Gaussian with gamma = 1 / (columns x variance); of sequences, by their lengths and letters]
    #[arg(long, short, value_name = "LINE", allow_hyphen_values = true)]
    kernel: Option<String>,

    /// Number of components
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "share")]
    components: Option<u64>,

    /// As many components as explain this fraction of the variance
    #[arg(long, value_name = "SHARE")]
    share: Option<f64>,

    /// Method: auto, complete, krylov, nystroem, cholesky or sparse
    #[arg(long, value_name = "METHOD", default_value = "auto")]
    method: String,

    /// Fit on this many rows drawn at random
    #[arg(long, value_name = "N")]
    rows: Option<u64>,

    /// Scale features to unit variance
    #[arg(long)]
    whiten: bool,

    /// Do not centre in feature space
    #[arg(long)]
    uncentred: bool,

    /// Preprocessing of columns: a line of stages such as `standard`
    #[arg(long, value_name = "STAGES")]
    scale: Option<String>,

    /// Also write an HTML page with pictures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Fit {
    const PATH: &'static [&'static str] = &["pca", "fit"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.file]).reads(self.reading.files());
        Ok(files.writes([&self.out]).writes(&self.report))
    }

    fn run(self, context: &Context) -> Done {
        let params = KpcaParams {
            kernel: self.kernel.as_deref().map(str::parse).transpose()?,
            components: self.components,
            share: self.share.unwrap_or(1.0),
            centred: !self.uncentred,
            whiten: self.whiten,
            method: serde_json::from_value(json!(self.method)).map_err(|_| {
                mercer::Error::param(
                    "method",
                    &self.method,
                    "one of auto, complete, krylov, nystroem, cholesky, sparse",
                )
            })?,
            rows: self.rows,
            seed: context.seed,
            ..KpcaParams::default()
        };
        let (data, rows, fitted) = match self.in_blocks(&params, context)? {
            Some(found) => found,
            None => self.in_memory(&params, context)?,
        };
        fitted.save(&self.out)?;
        let name = source::name(&self.file);
        let report = FittedComponents::new(name.clone(), rows, &fitted, self.out)?;
        let mut watch = Progress::new(context).watch();
        let page = match &self.report {
            Some(_) => Some(components_page(&name, &fitted, Some(&data), context.exec, &mut watch)?),
            None => None,
        };
        drop(watch);
        context.tell(&report)?;
        match (&self.report, page) {
            (Some(file), Some(page)) => context.write_page(file, page, &[(&name, &data)]),
            _ => Ok(()),
        }
    }
}

impl Fit {
    fn recipes(&self, data: &Dataset) -> Result<Vec<Recipe>, Failure> {
        let recipes = self.scale.as_deref().map_or(Ok(Vec::new()), Stages::parse)?;
        Ok(Stages::recipes_for(data.points.view(), recipes)?)
    }

    fn in_memory(&self, params: &KpcaParams, context: &Context) -> Result<(Dataset, usize, Model), Failure> {
        let data = self.reading.read(&self.file, context.exec)?;
        let recipes = self.recipes(&data)?;
        let (stages, points) = Stages::fit(&recipes, data.points.view(), context.exec)?;
        context.warn(params.kernel.as_ref().and_then(|kernel| inexact(kernel, &points)).as_slice());
        let mut watch = Progress::new(context).watch();
        let kpca = params.fit(Sample::new(&points, &Targets::None), context.exec, &mut watch)?;
        drop(watch);
        let fitted = Model { stages, names: names(&data), ..Model::from(kpca) };
        let rows = data.len();
        Ok((data, rows, fitted))
    }

    /// On landmarks, rows that take more than their share of the memory are read in blocks; the data are a sample of them.
    fn in_blocks(
        &self,
        params: &KpcaParams,
        context: &Context,
    ) -> Result<Option<(Dataset, usize, Model)>, Failure> {
        let landmarks = matches!(params.method, KpcaMethod::Nystroem | KpcaMethod::Cholesky);
        let Some(options) = self.reading.options_for_blocks(None, context.exec) else { return Ok(None) };
        // A pipe can be read only once.
        if !landmarks || !self.file.is_file() {
            return Ok(None);
        }
        let (exec, most) = (context.exec, context.exec.memory() / SHARE);
        let mut watch = Progress::new(context).watch();
        let Some(outside) = Outside::open(&self.file, &options, most, exec, context.seed, &mut watch)? else {
            return Ok(None);
        };
        let data = outside.sample().clone();
        let (stages, _) = Stages::fit(&self.recipes(&data)?, data.points.view(), exec)?;
        let rows = outside.source(&stages, &folder_of(&self.out), exec, &mut watch)?;
        let kpca = params.fit_source(rows.as_ref(), exec, &mut watch)?;
        drop(watch);
        context.warn(&[Note::warning(format!(
            "{}: {} rows were read in blocks",
            source::name(&self.file),
            outside.rows()
        ))]);
        let fitted = Model { stages, names: names(&data), ..Model::from(kpca) };
        Ok(Some((data, outside.rows(), fitted)))
    }
}

fn names(data: &Dataset) -> Names {
    Names {
        columns: data.column_names.clone().unwrap_or_default(),
        target: data.target_name.clone(),
        ..Names::default()
    }
}
