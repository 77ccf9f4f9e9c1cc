//! The report of a training.

use std::path::PathBuf;

use serde::Serialize;

use crate::data_info::{Names, message};
use crate::{Align, Page, Report, Table, Tone, bytes, count, number, percent, seconds};
use mercer::assess::Evaluation;
use mercer::data::{Dataset, Finding};
use mercer::error::Result;
use mercer::exec::Exec;
use mercer::model::{Choice, Description, Model, Plan, Task};
use mercer::watch::{Info, Note, NoteKind, Stop};

/// Beyond this many training rows the model is not tried on all of them: it would take as long as the training. Pages
/// try it on this many.
pub(crate) const TRIED: usize = 5000;

/// So many classes with numbers for names look like amounts.
const MANY: usize = 12;

/// A model that was trained and written.
#[derive(Debug, Clone, Serialize)]
pub struct Trained {
    /// The data it learned from.
    pub source: String,
    /// Rows it learned from.
    pub rows: usize,
    /// Columns of the data.
    pub columns: usize,
    /// What the reader decided.
    pub notes: Vec<Note>,
    /// What was settled, and why.
    pub choices: Vec<Choice>,
    /// What looks wrong about the data and weighs on the result, in words.
    pub warnings: Vec<String>,
    /// The model in plain words.
    pub model: Description,
    /// Support vectors.
    pub support: usize,
    /// Those on their bound, over all machines.
    pub bounded: Option<usize>,
    /// The training error, if it was cheap to compute.
    pub training: Option<Evaluation>,
    /// The file.
    pub file: PathBuf,
    /// Bytes it takes.
    pub bytes: u64,
    /// Whether a training that stopped early can be resumed.
    #[serde(skip)]
    pub resumable: bool,
}

/// One line of held-out errors.
pub(crate) struct HeldOutRow {
    pub(crate) centres: usize,
    pub(crate) rows: usize,
    pub(crate) passes: usize,
    pub(crate) seconds: f64,
    /// In percent of rows, or the root of the mean square.
    pub(crate) error: f64,
    pub(crate) shown: String,
    pub(crate) axis: &'static str,
}

impl Trained {
    /// Errors on held-out rows by the number of centres.
    pub(crate) fn held_out_rows(&self) -> Vec<HeldOutRow> {
        let numbers = self.model.task == Task::Regression;
        let row = |p: &mercer::watch::HeldOut| HeldOutRow {
            centres: p.centres,
            rows: p.rows,
            passes: p.passes as usize,
            seconds: p.seconds,
            error: if numbers { p.error.sqrt() } else { 100.0 * p.error },
            shown: if numbers { format!("RMSE {}", number(p.error.sqrt())) } else { percent(p.error) },
            axis: if numbers { "RMSE" } else { "error, %" },
        };
        self.info().held_out.iter().map(row).collect()
    }

    /// A model that a plan made from data and that is now in a file.
    pub fn new(
        source: impl Into<String>,
        data: &Dataset,
        plan: &Plan<'_>,
        model: &Model,
        file: PathBuf,
        exec: Exec,
    ) -> Result<Self> {
        let bytes = std::fs::metadata(&file).map_or(0, |about| about.len());
        let whole = model.info().stop != Stop::Cancelled;
        let training =
            if whole && data.len() <= TRIED { Some(Evaluation::new(model, data, exec)?) } else { None };
        let m = &model.machine;
        let bounded = match m.parts.as_slice() {
            [] => m.fact("bounded").map(|b| b as usize),
            parts => Some(parts.iter().map(|p| p.bounded.len()).sum()),
        };
        Ok(Trained {
            source: source.into(),
            rows: data.len(),
            columns: data.dim(),
            notes: data.notes.clone(),
            choices: plan.choices.clone(),
            warnings: warnings(plan, data, model),
            support: model.support().map_or(0, <[u32]>::len),
            bounded,
            model: model.describe(),
            training,
            file,
            bytes,
            resumable: model.machine.can_resume(),
        })
    }

    fn info(&self) -> &Info {
        &self.model.info
    }

    fn learned(&self) -> String {
        let machines = match self.model.outputs {
            1 => String::new(),
            k => format!("{} machines, ", count(k)),
        };
        let bounded = match self.bounded {
            Some(b) if self.model.outputs == 1 => format!(", {} of them on their bound", count(b)),
            _ => String::new(),
        };
        let time = seconds(self.info().seconds);
        if self.model.kind.starts_with("large") {
            return format!("in {time}: {machines}{} centres", count(self.model.centres));
        }
        format!("in {time}: {machines}{} support vectors{bounded}", count(self.support))
    }

    fn tried(&self) -> Option<String> {
        Some(match self.training.as_ref()? {
            Evaluation::Classification(e) => {
                format!(
                    "{} of {} training rows wrong, {}",
                    count(e.wrong.len()),
                    count(e.rows),
                    percent(e.error)
                )
            }
            Evaluation::Regression(e) => {
                format!("RMSE {} on the training rows, R^2 {}", number(e.rmse), number(round(e.r2)))
            }
            Evaluation::Clustering(e) => {
                let sizes: Vec<String> = e.sizes.iter().map(|n| count(*n)).collect();
                format!(
                    "clusters of {} rows; mean squared distance {}",
                    sizes.join(", "),
                    number(round(e.distance))
                )
            }
            Evaluation::Novelty(e) => format!(
                "{} of {} training rows are outliers, {}",
                count(e.outside),
                count(e.rows),
                percent(e.outside as f64 / e.rows as f64)
            ),
        })
    }
}

impl Report for Trained {
    fn write(&self, page: &mut Page) {
        let end = if self.columns == 1 { "" } else { "s" };
        let size = format!("{} rows, {} feature{end}", count(self.rows), count(self.columns));
        let remarks: Vec<String> =
            std::iter::once(size).chain(self.notes.iter().map(|note| note.text.clone())).collect();
        page.title(&self.source, &remarks.join("; "));
        page.blank();
        if !self.choices.is_empty() {
            let mut table =
                Table::new().column("", Align::Left).column("", Align::Left).column("", Align::Left);
            for choice in &self.choices {
                let why = choice.why.clone().unwrap_or_else(|| "as given".into());
                table.toned_row([
                    (format!("{:10}", choice.what), Tone::Quiet),
                    (choice.value.clone(), Tone::Strong),
                    (why, Tone::Quiet),
                ]);
            }
            page.table(&table);
            page.blank();
        }
        let mut facts = vec![("trained", self.learned())];
        facts.extend(self.tried().map(|tried| ("tried", tried)));
        facts.push(("written", format!("{}, {}", self.file.display(), bytes(self.bytes as usize))));
        page.facts(facts);
        let held_out = self.held_out_rows();
        if let Some(first) = held_out.first() {
            page.blank();
            let head = format!("error on {} held-out rows", count(first.rows));
            let mut table = Table::new()
                .column("centres", Align::Right)
                .column(&head, Align::Right)
                .column("passes", Align::Right)
                .column("time", Align::Right);
            for p in &held_out {
                table.row([count(p.centres), p.shown.clone(), count(p.passes), seconds(p.seconds)]);
            }
            page.table(&table);
        }
        let file = self.file.display();
        match self.info().stop {
            Stop::Converged => {}
            Stop::Limit => page.remark(
                Tone::Warn,
                '!',
                &format!(
                    "Stopped at the iteration limit, gap {}: raise it{}.",
                    number(self.info().gap),
                    if self.resumable { ", or resume" } else { "" }
                ),
            ),
            Stop::Cancelled => page.remark(
                Tone::Warn,
                '!',
                if self.resumable {
                    "Stopped before the end. Partial model saved; continue with --resume."
                } else {
                    "Stopped before the end. Partial model saved; fits of this learner cannot be resumed."
                },
            ),
        }
        // Which path the solver took is told by `explain`; here only what changes what one may expect.
        for note in self.info().notes.iter().filter(|note| note.kind == NoteKind::Warning) {
            page.remark(Tone::Warn, '!', &note.text);
        }
        for warning in &self.warnings {
            page.remark(Tone::Warn, '!', warning);
        }
        page.blank();
        let next = if self.info().stop == Stop::Converged {
            vec![
                (format!("mercer predict NEW {file}"), "predict new rows"),
                (format!("mercer evaluate TEST {file}"), "evaluate on labelled rows"),
                (format!("mercer explain {file} {}", self.source), "describe the model"),
            ]
        } else if self.resumable {
            vec![(format!("mercer train {} --resume {file}", self.source), "continue")]
        } else {
            vec![(format!("mercer predict NEW {file}"), "predictions of the unfinished model")]
        };
        let mut table = Table::new().column("", Align::Left).column("", Align::Left);
        for (command, purpose) in next {
            table.toned_row([(command, Tone::Command), (purpose.to_owned(), Tone::Quiet)]);
        }
        page.table(&table);
    }
}

/// What about the data weighs on the result; `mercer data info` says the rest.
fn warnings(plan: &Plan<'_>, data: &Dataset, model: &Model) -> Vec<String> {
    let names = Names(data.column_names.as_deref());
    let grave = |finding: &&Finding| match finding {
        Finding::Leak { .. } | Finding::RowNumbers { .. } => true,
        Finding::ConflictingRows { .. } | Finding::Unbalanced { .. } => plan.task == Task::Classification,
        _ => false,
    };
    let mut out: Vec<String> = plan.findings.iter().filter(grave).map(|f| message(f, &names)).collect();
    let classes = model.classes();
    let guessed = plan.choices.iter().any(|c| c.what == "task" && c.why.is_some());
    let numbers = classes.iter().all(|name| name.trim().parse::<f64>().is_ok());
    if plan.task == Task::Classification && guessed && numbers && classes.len() > MANY {
        out.push(format!(
            "The {} classes are all numbers: if they are quantities, pass `--task regress`.",
            classes.len()
        ));
    }
    out
}

/// A share to four digits after the point: more would be noise.
fn round(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}
