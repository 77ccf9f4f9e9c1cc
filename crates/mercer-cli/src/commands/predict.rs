//! `mercer predict`: predictions of a model for rows.

use std::path::{Path, PathBuf};

use clap::Args;
use mercer::Error;
use mercer::data::io::{self, write_atomic};
use mercer::data::{Dataset, Targets};
use mercer::model::{Model, Query, Rejection, Task, Wanted};
use mercer_report::{Copied, Predicted, Predictions};

use crate::args::Format;
use crate::commands::Command;
use crate::commands::train::SHARE;
use crate::context::{self, Context};
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::model;
use crate::safe_csv::{self, SafeCsv};
use crate::source::{self, Reading};

/// Predict new rows
///
/// One prediction per line: the class, the number, or for novelty 1 (inlier) and -1 (outlier). Labels in the data are
/// ignored; columns are matched by name where they have names. The model may be Mercer's or LIBSVM's.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mercer predict new.csv iris.mercer
  mercer predict new.csv iris.mercer --proba -o predictions.csv
  mercer predict new.csv iris.mercer --reject-rate 0.1     (rejected rows get ?)
  mercer predict new.csv iris.mercer --with id -o predictions.csv
  cat new.svm | mercer predict - libsvm.model --decision")]
pub(crate) struct Predict {
    /// The rows; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// File for the predictions:  .csv, .tsv, .json, .jsonl, .parquet, .arrow or plain lines [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Also print the decision values
    #[arg(long, conflicts_with = "proba")]
    decision: bool,

    /// Also print the probability of each class
    #[arg(long)]
    proba: bool,

    /// Copy these columns of DATA before the predictions, and the true value after them where it is known; `name`: the
    /// names of pictures and of FASTA entries
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    with: Vec<String>,

    /// Reject this fraction of the rows: those whose two best classes are closest
    #[arg(long, value_name = "SHARE", conflicts_with = "reject_error")]
    reject_rate: Option<f64>,

    /// Reject as many rows as needed for at most this error on the rest; requires labels
    #[arg(long, value_name = "RATE")]
    reject_error: Option<f64>,

    /// Labelled data on which the rejection threshold is chosen [default: DATA]
    #[arg(long, value_name = "FILE")]
    reject_on: Option<PathBuf>,

    #[command(flatten)]
    safe: SafeCsv,

    #[command(flatten)]
    reading: Reading,
}

impl Command for Predict {
    const PATH: &'static [&'static str] = &["predict"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.file, &self.model]).reads(&self.reject_on);
        Ok(files.reads(self.reading.files()).writes(&self.out))
    }

    fn run(self, context: &Context) -> Done {
        let mut model = model::read(&self.model, context.exec)?;
        if self.in_blocks(&mut model, context)? {
            return Ok(());
        }
        let data = self.reading.read_to_predict(&self.file, &model, &self.with, context.exec)?;
        context.warn(&data.notes);
        let reject = self.reject(&mut model, context)?;
        let query = Query { decision: self.decision, probabilities: self.proba, reject, ..Query::default() };
        let answers = Predictions::new(&model, &model.predict_data(&data, &query, context.exec)?);
        let answers = self.copied(answers, &model, &data)?;
        let table = self.out.as_deref().is_some_and(safe_csv::is_table);
        let answers = if self.safe.safe_csv && table { answers.spreadsheet_safe() } else { answers };
        let Some(out) = self.out else {
            return match context.format {
                Format::Json => context.show(&answers),
                Format::Text => context::print(&answers.text(), false),
            };
        };
        if let Some(format) = io::Format::of_path(&out).filter(|f| is_table_of_columns(*f)) {
            let options = io::WriteOptions { format: Some(format), memory: Some(context.exec.memory()) };
            io::write_with(&out, &answers.dataset()?, &options)?;
            return context.tell(&answers.summary(out, &data.targets));
        }
        let text = match extension(&out).as_str() {
            "json" => mercer_report::json(&answers),
            "csv" => answers.lines(',', true),
            "tsv" => answers.lines('\t', true),
            _ => answers.lines(',', false),
        };
        write_atomic(&out, |file| file.write_all(text.as_bytes()).map_err(|e| Error::io(&out, e)))?;
        context.tell(&answers.summary(out, &data.targets))
    }
}

impl Predict {
    /// Predicts a file that is larger than memory block by block; whether it is one, and nothing is requested that needs all
    /// rows at once.
    fn in_blocks(&self, model: &mut Model, context: &Context) -> Result<bool, Failure> {
        let lines = self.out.as_deref().is_none_or(|out| {
            !io::Format::of_path(out).is_some_and(is_table_of_columns) && extension(out) != "json"
        });
        let made = (self.reject_rate.is_some() || self.reject_error.is_some()) && self.reject_on.is_none();
        let most = context.exec.memory() / SHARE;
        // The file's bytes are a lower bound for packed text and close to the truth for all else.
        let small = std::fs::metadata(&self.file).is_ok_and(|about| about.len() < most / SMALL);
        if !lines
            || made
            || !self.with.is_empty()
            || small
            || self.out.is_none() && context.format == Format::Json
        {
            return Ok(false);
        }
        let reject = self.reject(model, context)?;
        let query = Query { decision: self.decision, probabilities: self.proba, reject, ..Query::default() };
        let mut summary: Option<Predicted> = None;
        let mut each = |data: Dataset, write: &mut dyn FnMut(&str) -> mercer::Result<()>| {
            let answers = Predictions::new(model, &model.predict_data(&data, &query, context.exec)?);
            let answers = if summary.is_some() { answers.further() } else { answers };
            let table = self.out.as_deref().is_some_and(safe_csv::is_table);
            let answers = if self.safe.safe_csv && table { answers.spreadsheet_safe() } else { answers };
            let part = answers.summary(self.out.clone().unwrap_or_default(), &data.targets);
            if let Some(summary) = &mut summary {
                summary.add(&part);
            } else {
                context.warn(&data.notes);
                summary = Some(part);
            }
            write(&match self.out.as_deref().map(extension).as_deref() {
                None => answers.text(),
                Some("csv") => answers.lines(',', true),
                Some("tsv") => answers.lines('\t', true),
                Some(_) => answers.lines(',', false),
            })
        };
        let Some(out) = &self.out else {
            let mut broken = None;
            let read =
                self.reading.read_to_predict_in_blocks(&self.file, model, most, context.exec, &mut |data| {
                    each(data, &mut |text| {
                        context::print(text, false).map_err(|failure| {
                            broken = Some(failure);
                            Error::Cancelled
                        })
                    })
                });
            return match broken {
                Some(failure) => Err(failure),
                None => Ok(read?),
            };
        };
        // Looked at before anything is written: a file that is not for blocks must not be replaced by nothing.
        let mut read = false;
        let written = write_atomic(out, |file| {
            read = self.reading.read_to_predict_in_blocks(
                &self.file,
                model,
                most,
                context.exec,
                &mut |data| {
                    each(data, &mut |text| file.write_all(text.as_bytes()).map_err(|e| Error::io(out, e)))
                },
            )?;
            if read { Ok(()) } else { Err(Error::Cancelled) }
        });
        if !read && matches!(written, Err(Error::Cancelled)) {
            return Ok(false);
        }
        written?;
        if let Some(summary) = &summary {
            context.tell(summary)?;
        }
        Ok(true)
    }

    /// The predictions between copied columns and true values, where requested.
    fn copied(&self, answers: Predictions, model: &Model, data: &Dataset) -> Result<Predictions, Failure> {
        if self.with.is_empty() {
            return Ok(answers);
        }
        let mut front = Vec::new();
        let mut labels = None;
        if let Some(table) = &data.copied {
            for (name, column) in table.names().iter().zip(table.columns()) {
                let cells = (0..data.len()).map(|i| column.cell(i).unwrap_or_default().into_owned());
                front.push(Copied { name: name.clone(), values: cells.collect() });
            }
            // The reader puts the label column last, unless it was asked for.
            let mut asked = self.with.clone();
            asked.sort();
            asked.dedup();
            labels = if front.len() > asked.len() { front.pop() } else { None };
        } else {
            let Some(names) = data.row_names.as_ref().filter(|_| self.with == ["name"]) else {
                return Err(Failure::usage(
                    format!("{} has no columns {} to copy", source::name(&self.file), self.with.join(", ")),
                    "--with name copies the names of pictures and of FASTA entries; other columns come from tables",
                ));
            };
            front.push(Copied { name: "name".into(), values: names.clone() });
        }
        let truth: Vec<String> = match &data.targets {
            Targets::Classes(labels) => (0..labels.len()).map(|i| labels.name_of(i).to_owned()).collect(),
            Targets::Reals(y) => y.iter().map(ToString::to_string).collect(),
            Targets::None => Vec::new(),
        };
        let target = data.target_name.clone().or(model.names.target.clone());
        let name = target.unwrap_or_else(|| "label".into());
        let asked = front.iter().any(|c| c.name == name);
        let back = match (truth.is_empty(), labels) {
            _ if asked => None,
            (false, _) => Some(Copied { name, values: truth }),
            (true, labels) => labels.map(|column| Copied { name, ..column }),
        };
        Ok(answers.with(front, back))
    }

    fn reject(&self, model: &mut Model, context: &Context) -> Result<Rejection, Failure> {
        let wanted = match (self.reject_rate, self.reject_error) {
            (Some(rate), _) => Wanted::Rejected(rate),
            (None, Some(rate)) => Wanted::Error(rate),
            (None, None) if self.reject_on.is_some() => {
                return Err(Failure::usage(
                    "--reject-on needs --reject-rate or --reject-error",
                    "they define the reject rule",
                ));
            }
            (None, None) => return Ok(Rejection::Never),
        };
        if model.task() != Task::Classification {
            return Err(Failure::usage(
                format!("{} is not a classifier and has no reject option", self.model.display()),
                "remove --reject-rate and --reject-error",
            ));
        }
        let Some(file) = &self.reject_on else { return Ok(Rejection::Made(wanted)) };
        let other = self.reading.read_by(file, model, context.exec)?;
        model.set_reject(other.points.view(), Some(other.targets.classes()?), wanted, context.exec)?;
        Ok(Rejection::Own)
    }
}

/// Files smaller than this part of what rows may take are never larger than it in memory: packed text grows less.
const SMALL: u64 = 40;

/// Whether a format has typed columns; its writer then gets the predictions.
fn is_table_of_columns(format: io::Format) -> bool {
    matches!(format, io::Format::JsonLines | io::Format::Parquet | io::Format::Arrow)
}

fn extension(path: &Path) -> String {
    path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
}
