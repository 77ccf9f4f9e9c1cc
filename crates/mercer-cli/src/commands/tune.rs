//! `mercer tune`: the best setting of a learner by cross-validation.

use std::path::PathBuf;

use clap::Args;
use mercer::assess::{Splits, Tuning, by_factors, quick, tune};
use mercer::data::Labels;
use mercer::kernel::Kernel;
use mercer::model::{Learner, Plan, Task};
use mercer::watch::Stop;
use mercer_report::{Tuned, tuned_page};

use crate::commands::Command;
use crate::commands::train::{given_once, scaling, wishes_for};
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use crate::progress::Progress;
use crate::source::{self, Reading};
use crate::{interrupt, model};

/// Values of a range, where only its ends are said.
const VALUES: usize = 10;

/// Search for the best kernel and hyperparameters by cross-validation
///
/// Every setting of a grid is trained and scored on the same folds. Kernel matrices are shared by all folds and machines
/// start from their neighbours' solutions, so a grid takes seconds where separate fits take minutes. Columns are scaled
/// inside the folds. Without options: gamma and the learner's main parameter, nine values each, five folds. The settings
/// of `mercer train` are scored first and kept unless a better one is found; Ctrl-C and --seconds end the search with the
/// best so far. With -o the best setting is trained on all rows.
#[derive(Debug, Args)]
#[command(
    after_help = "Ranges: 0.1..1000 is ten values in geometric progression, 0.1..1000:5 is five; 1,10,100 is a list of values.

Examples:
  mercer tune iris.csv
  mercer tune train.svm -c 0.1..1000 --gamma 1e-4..1:7 -o best.mercer
  mercer tune digits.csv --kernel auto --two-stage --report settings.html
  mercer tune houses.csv --label price --learner ridge --lambda 1e-6..1
  mercer tune big.svm --race --checkpoint big.search --seconds 600"
)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(crate) struct Tune {
    /// The data; `-` is standard input
    #[arg(value_name = "DATA")]
    file: PathBuf,

    /// Train the best setting on all rows and save it here
    #[arg(long, short, value_name = "MODEL")]
    out: Option<PathBuf>,

    /// Also write an HTML page with heat maps
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Which learner: see `mercer train --help`
    #[arg(long, value_name = "NAME")]
    learner: Option<String>,

    /// Kernel: rbf, poly, linear, sigmoid, auto (the first three), or a kernel's full line; repeatable [default: rbf; of sequences, auto: words of several lengths]
    #[arg(long, short, value_name = "LINE", allow_hyphen_values = true, help_heading = "Settings to try")]
    kernel: Vec<String>,

    /// Values of C
    #[arg(long, short, value_name = "RANGE", value_parser = range, help_heading = "Settings to try")]
    c: Option<Range>,

    /// Values of the Gaussian's gamma
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = "Settings to try")]
    gamma: Option<Range>,

    /// Values of nu
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = "Settings to try")]
    nu: Option<Range>,

    /// Values of epsilon
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = "Settings to try")]
    epsilon: Option<Range>,

    /// Values of lambda
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = "Settings to try")]
    lambda: Option<Range>,

    /// Values of any other parameter of the learner; repeatable
    #[arg(long, value_name = "NAME=RANGE", value_parser = named_range, help_heading = "Settings to try")]
    grid: Vec<(String, Range)>,

    /// Preprocessing of columns: auto, none, minmax, standard, unit, or a line of stages
    #[arg(long, value_name = "HOW")]
    scale: Option<String>,

    /// Number of folds
    #[arg(long, value_name = "K", default_value_t = 5, help_heading = "Judging")]
    folds: usize,

    /// Number of repetitions with different folds
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Judging")]
    repeats: usize,

    /// Leave-one-out cross-validation: one fold per row
    #[arg(long, conflicts_with_all = ["folds", "repeats", "groups"], help_heading = "Judging")]
    leave_one_out: bool,

    /// File with the group (writer, patient) of each row, one per line; a group is never split between folds
    #[arg(long, value_name = "FILE", conflicts_with = "repeats", help_heading = "Judging")]
    groups: Option<PathBuf>,

    /// Metric by which settings are compared: error, accuracy, balanced-error, roc-area, pr-area, log-loss, rmse, mae or r2
    #[arg(long, value_name = "NAME", help_heading = "Judging")]
    metric: Option<String>,

    /// A coarse grid first, then a finer one around its best
    #[arg(long, help_heading = "Searching")]
    two_stage: bool,

    /// Choose on each repetition and take the median of the choices (with --repeats)
    #[arg(long, requires = "repeats", help_heading = "Searching")]
    median: bool,

    /// Drop settings that cannot win before all folds are trained
    #[arg(long, help_heading = "Searching")]
    race: bool,

    /// Time limit in seconds; settings are then first scored on subsets of the rows
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = "Searching")]
    seconds: Option<f64>,

    /// Save scores to this file; an interrupted search continues from it
    #[arg(long, value_name = "FILE", help_heading = "Searching")]
    checkpoint: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,
}

/// Values as a command line writes them.
#[derive(Debug, Clone, PartialEq)]
struct Range(Vec<f64>);

fn range(text: &str) -> Result<Range, String> {
    let number = |t: &str| t.trim().parse::<f64>().map_err(|_| format!("`{t}` is not a number"));
    if let Some((from, rest)) = text.split_once("..") {
        let (to, many) = match rest.split_once(':') {
            Some((to, many)) => (to, many.parse().map_err(|_| format!("`{many}` is not a count"))?),
            None => (rest, VALUES),
        };
        let (from, to) = (number(from)?, number(to)?);
        if !(from > 0.0 && to > from && to.is_finite() && many >= 2) {
            return Err("a range is LOW..HIGH with 0 < LOW < HIGH and at least 2 values".into());
        }
        return Ok(Range(by_factors(from, to, many)));
    }
    Ok(Range(text.split(',').map(number).collect::<Result<_, _>>()?))
}

fn named_range(text: &str) -> Result<(String, Range), String> {
    let (name, values) = text.split_once('=').ok_or("expected NAME=RANGE")?;
    Ok((name.trim().replace('-', "_"), range(values)?))
}

impl Command for Tune {
    const PATH: &'static [&'static str] = &["tune"];

    fn files(&self) -> Result<Files, Failure> {
        let files = Files::none().reads([&self.file]).reads(&self.groups).reads(self.reading.files());
        Ok(files.writes(&self.out).writes(&self.report).goes_on_with(&self.checkpoint))
    }

    fn run(self, context: &Context) -> Done {
        let task = match self.learner.as_deref().map(Learner::find).transpose()?.map(|entry| entry.tasks) {
            Some([only]) => Some(*only),
            _ => None,
        };
        if task == Some(Task::Novelty) {
            return Err(Failure::usage(
                "novelty detectors cannot be tuned: there are no targets to score predictions by",
                "set --nu to the fraction of rows that may be outliers, and train",
            ));
        }
        let data = self.reading.read_for(&self.file, task, context.exec)?;
        let mut wishes = wishes_for(self.learner.clone(), scaling(self.scale.as_deref())?, context);
        // The first kernel asked for is what the search starts from; families without a member of that name are made by the
        // search itself.
        let whole = |line: &&String| {
            Kernel::parse(line).is_ok() || ["rbf", "gaussian", "auto"].contains(&line.trim())
        };
        wishes.kernel = self.kernel.first().filter(whole).cloned();
        wishes.classes = self.reading.insists_on_classes();
        let mut plan = Plan::new(&data, &wishes, context.exec)?;
        let tuning = self.tuning(context)?;
        let mut watch = Progress::new(context).keeping(true).watch();
        // A search begins where a training without one would be.
        if self.c.is_none() && self.gamma.is_none() {
            quick(&mut plan, context.seed, context.exec, &mut watch)?;
        }
        let found = tune(&mut plan, &tuning, context.exec, &mut watch)?;
        drop(watch);
        if let Some(out) = &self.out {
            // Ctrl-C ended the search; a second one ends the training of what it found.
            interrupt::again();
            let keeps = plan.learner.keeps_partial();
            let model = plan.fit(context.exec, &mut Progress::new(context).keeping(keeps).watch())?;
            if model.info().stop == Stop::Cancelled {
                let file = model::place_of_interrupted(out, false);
                model.save(&file)?;
                return Err(Failure::Interrupted {
                    message: format!("interrupted: the partial model is in {}", file.display()),
                    hint: model::after_interruption(&model, &self.file, &file),
                });
            }
            model.save(out)?;
        }
        let report = Tuned::new(source::name(&self.file), data.len(), &found, self.out.clone()).on(&plan);
        context.show(&report)?;
        if let Some(file) = &self.report {
            context.write_page(file, tuned_page(&report), &[(&report.source, &data)])?;
        }
        if found.stopped { Err(Failure::search_interrupted()) } else { Ok(()) }
    }
}

impl Tune {
    fn tuning(&self, context: &Context) -> Result<Tuning, Failure> {
        let named = [
            ("c", &self.c),
            ("gamma", &self.gamma),
            ("nu", &self.nu),
            ("epsilon", &self.epsilon),
            ("lambda", &self.lambda),
        ];
        let own =
            named.into_iter().filter_map(|(name, r)| r.as_ref().map(|r| (name.to_owned(), r.0.clone())));
        let axes: Vec<(String, Vec<f64>)> =
            own.chain(self.grid.iter().map(|(name, r)| (name.clone(), r.0.clone()))).collect();
        given_once(axes.iter().map(|(name, _)| name.as_str()))?;
        let splits = match &self.groups {
            _ if self.leave_one_out => Splits::LeaveOneOut,
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|e| mercer::Error::io(file, e))?;
                let groups = Labels::new(text.lines()).of_row;
                Splits::Grouped { folds: self.folds, groups }
            }
            None => Splits::Folds { folds: self.folds, times: self.repeats },
        };
        Ok(Tuning {
            kernels: self.kernel.clone(),
            axes,
            splits: Some(splits),
            metric: self.metric.clone(),
            two_stage: self.two_stage,
            median: self.median,
            race: self.race,
            seed: context.seed,
            seconds: self.seconds,
            checkpoint: self.checkpoint.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_they_are_written() {
        assert_eq!(range("1,10,100"), Ok(Range(vec![1.0, 10.0, 100.0])));
        assert_eq!(range("0.1..10:3"), Ok(Range(vec![0.1, 1.0, 10.0])));
        assert_eq!(range("0.1..1000").map(|r| r.0.len()), Ok(10));
        assert_eq!(named_range("virtual-rounds=1,2").map(|r| r.0), Ok("virtual_rounds".into()));
        for wrong in ["", "a", "1..", "0..1", "2..1", "1..2:1", "1..2:x"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
