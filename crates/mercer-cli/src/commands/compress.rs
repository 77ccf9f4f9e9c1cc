//! `mercer compress`: a model with fewer centres.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use mercer::data::{Dataset, Points, Targets};
use mercer::model::{CompressParams, CompressionFacts, Goal, Model};
use mercer::reduce::reduced_set::{ReducedSetMethod, ReducedSetParams, Share, Size};
use mercer::watch::Watch;
use mercer::{Error, Exec, Result};
use mercer_report::{CompressReport, TradeOff, Weight, compressed_page};

use crate::commands::Command;
use crate::commands::convert::To;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::progress::Progress;
use crate::source::{self, Reading};

/// Make a model smaller and faster
///
/// Prediction costs one kernel value per centre. A reduced set approximates the same outputs with fewer centres, constructed or
/// selected among the old ones. Give the size (--vectors, --ratio) or the accuracy (--agreement, --error-budget). With
/// the training data, thresholds, probabilities and reject rules are refitted on it; without, thresholds are fitted on the
/// model's own centres and what needs labels is dropped. A LIBSVM model stays one: svm-predict reads the smaller file.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("goal").multiple(false),
    after_help = "Examples:
  mercer compress digits.mercer digits.csv --ratio 10 -o small.mercer
  mercer compress digits.mercer digits.csv --agreement 0.99 -o small.mercer
  mercer compress digits.mercer digits.csv --vectors 200 --report sizes.html -o small.mercer
  mercer compress libsvm.model train.svm --ratio 10 -o small.model"
)]
pub(crate) struct Compress {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Its training data; `-` is standard input
    #[arg(value_name = "DATA")]
    file: Option<PathBuf>,

    /// Number of centres
    #[arg(long, value_name = "N", group = "goal")]
    vectors: Option<usize>,

    /// Factor by which the number of centres shrinks; prediction becomes faster by about the same factor [default: 10]
    #[arg(long, value_name = "R", group = "goal")]
    ratio: Option<f64>,

    /// As few centres as leave this fraction of predictions unchanged
    #[arg(long, value_name = "SHARE", group = "goal")]
    agreement: Option<f64>,

    /// As few centres as keep the relative distance in feature space below this
    #[arg(long, value_name = "SHARE", group = "goal")]
    error_budget: Option<f64>,

    /// auto, fixed-point, gradient, moved, square, exact, greedy, kpca or l1
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = method)]
    method: ReducedSetMethod,

    /// Use separate centres for each output instead of shared ones; --vectors is then per output
    #[arg(long)]
    each: bool,

    /// Retrain the coefficients on DATA instead of approximating the old model
    #[arg(long, requires = "file")]
    retrain: bool,

    /// With --retrain: cost of errors [default: the model's C; required for LIBSVM models, which do not hold it]
    #[arg(long, short, value_name = "C", requires = "retrain")]
    c: Option<f64>,

    /// With --retrain: number of rounds in which the centres are optimised too
    #[arg(long, value_name = "N", default_value_t = 0, requires = "retrain")]
    rounds: usize,

    /// Optimise one width per centre (Gaussian kernel)
    #[arg(long)]
    widths: bool,

    /// Iterations of the joint descent over all new centres [default: 200; none for selection methods]
    #[arg(long, value_name = "N")]
    descent: Option<usize>,

    /// File for the compressed model
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// The format of that file [default: libsvm for LIBSVM's models, else safetensors]
    #[arg(long, value_name = "FORMAT")]
    to: Option<To>,

    /// Also write an HTML report: errors at other sizes, and centres as images
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

fn method(name: &str) -> std::result::Result<ReducedSetMethod, String> {
    let names: Vec<&str> = ReducedSetMethod::ALL.iter().map(|(name, _)| *name).collect();
    let found = ReducedSetMethod::ALL.iter().find(|(known, _)| *known == name).map(|(_, method)| *method);
    found.ok_or_else(|| format!("must be one of {}", names.join(", ")))
}

impl Command for Compress {
    const PATH: &'static [&'static str] = &["compress"];

    fn files(&self) -> std::result::Result<Files, Failure> {
        let files = Files::none().reads([&self.model]).reads(&self.file).reads(self.reading.files());
        Ok(files.writes([&self.out]).writes(&self.report))
    }

    fn run(self, context: &Context) -> Done {
        let whole = model::read(&self.model, context.exec)?;
        // Only LIBSVM's files leave the number of columns open.
        let to = self.to.unwrap_or(if whole.any_columns { To::Libsvm } else { To::Safetensors });
        if to == To::Libsvm {
            // Check before the work whether the result can be written.
            if self.widths {
                whole.with_widths()?.to_libsvm()?
            } else {
                whole.to_libsvm()?
            };
        }
        let data =
            self.file.as_ref().map(|file| self.reading.read_by(file, &whole, context.exec)).transpose()?;
        context.warn(data.as_ref().map_or(&[][..], |data| data.notes.as_slice()));
        let goal = match (self.vectors, self.agreement, self.error_budget) {
            (Some(n), ..) => Goal::Size(Size::Vectors(n)),
            (_, Some(share), _) => Goal::Agreement(share),
            (.., Some(share)) => Goal::Size(Size::Error(share)),
            _ => Goal::Size(Size::Ratio(self.ratio.unwrap_or(10.0))),
        };
        let set = ReducedSetParams {
            method: self.method,
            share: if self.each { Share::Each } else { Share::All },
            descent: self.descent,
            seed: context.seed,
            ..ReducedSetParams::default()
        };
        let mut watch = Progress::new(context).watch();
        let params = CompressParams {
            goal,
            set,
            retrain: self.retrain,
            c: self.c,
            rounds: self.rounds,
            widths: self.widths,
            by_class: to == To::Libsvm,
        };
        let small = whole.compress(&params, data.as_ref(), context.exec, &mut watch)?;
        let curve = match &self.report {
            Some(_) => curve(&whole, &params, &small.about, data.as_ref(), context.exec, &mut watch)?,
            None => Vec::new(),
        };
        drop(watch);
        to.write(&small.model, &self.out)?;
        let centres = timed(&whole, self.widths)?;
        let rows = data.as_ref().map_or(Rows::Ready(&centres), Rows::Data);
        let weigh = |model: &Model, file: &Path| weight(model, file, rows, context.exec);
        let report = CompressReport {
            model: self.model.display().to_string(),
            whole: weigh(&whole, &self.model)?,
            small: weigh(&small.model, &self.out)?,
            file: self.out,
            classes: !whole.classes().is_empty(),
            about: small.about,
            curve,
        };
        context.show(&report)?;
        match &self.report {
            Some(file) => {
                let name = self.file.as_deref().map(source::name).unwrap_or_default();
                let read: Vec<_> = data.iter().map(|data| (name.as_str(), data)).collect();
                context.write_page(file, compressed_page(&report, &small.model), &read)
            }
            None => Ok(()),
        }
    }
}

/// Further sizes for comparison: a quarter to four times as many centres.
fn curve(
    whole: &Model,
    params: &CompressParams,
    about: &CompressionFacts,
    data: Option<&Dataset>,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Vec<TradeOff>> {
    let made = about.set.before as f64 / about.set.after.max(1) as f64;
    let ratios = [4.0, 2.0, 1.0, 0.5, 0.25].map(|part| made * part).into_iter().filter(|r| *r > 1.0);
    let wanted: Vec<_> = ratios.map(|r| (Size::Ratio(r), params.set.descent)).collect();
    let mut curve = Vec::new();
    for small in whole.compress_path(params, &wanted, data, exec, watch)? {
        curve.push(TradeOff {
            centres: small.about.set.after,
            distance: small.about.set.error,
            agreement: small.about.agreement,
            error: match data {
                Some(data) => error(&small.model, data, exec)?,
                None => None,
            },
        });
    }
    curve.dedup_by_key(|t| t.centres);
    Ok(curve)
}

/// Runs that a time is the best of, at least, and the seconds that they take together, at least.
const RUNS: usize = 3;
const SECONDS: f64 = 0.02;

/// Rows for timing without data; with fewer the overhead of a call would dominate.
const TIMED: usize = 512;

/// What models are timed on.
#[derive(Clone, Copy)]
enum Rows<'a> {
    Data(&'a Dataset),
    /// Points behind the stages.
    Ready(&'a Points),
}

/// The whole model's centres, again and again until there are enough rows: both models are timed on the same rows.
fn timed(whole: &Model, widths: bool) -> Result<Points> {
    let wide = if widths { Some(whole.with_widths()?) } else { None };
    let centres = wide.as_ref().unwrap_or(whole).entry().centres();
    let rows: Vec<usize> = (0..centres.len().max(TIMED)).map(|i| i % centres.len().max(1)).collect();
    Ok(if centres.is_empty() { centres.clone() } else { centres.gather(&rows) })
}

/// Size, speed and error of a model.
fn weight(model: &Model, file: &Path, rows: Rows<'_>, exec: Exec) -> Result<Weight> {
    let (mut best, mut runs) = (f64::INFINITY, 0);
    let begun = Instant::now();
    while runs < RUNS || begun.elapsed().as_secs_f64() < SECONDS {
        let clock = Instant::now();
        let n = match rows {
            Rows::Data(data) => model.decision(data.points.view(), exec).map(|_| data.len())?,
            Rows::Ready(points) => model.entry().evaluate(points.view(), exec).map(|_| points.len())?,
        };
        best = best.min(clock.elapsed().as_secs_f64() / n.max(1) as f64);
        runs += 1;
    }
    let error = match rows {
        Rows::Data(data) => error(model, data, exec)?,
        Rows::Ready(_) => None,
    };
    let bytes = std::fs::metadata(file).map_err(|e| Error::io(file, e))?.len();
    let centres = model.describe().centres;
    Ok(Weight { centres, bytes, micros_per_row: 1e6 * best, error })
}

/// The share of wrong classes, or the root mean square error, where the data has targets of the model's type.
fn error(model: &Model, data: &Dataset, exec: Exec) -> Result<Option<f64>> {
    use mercer::model::Task;
    if !matches!(model.task(), Task::Classification | Task::Regression) {
        return Ok(None);
    }
    let n = data.len().max(1) as f64;
    Ok(match (model.predict(data.points.view(), exec)?, &data.targets) {
        (Targets::Classes(told), Targets::Classes(true_)) => {
            let wrong = (0..data.len()).filter(|&i| told.name_of(i) != true_.name_of(i)).count();
            Some(wrong as f64 / n)
        }
        (Targets::Reals(told), Targets::Reals(true_)) => {
            Some((told.iter().zip(true_).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / n).sqrt())
        }
        _ => None,
    })
}
