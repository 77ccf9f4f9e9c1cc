//! `mercer train`, `mercer novelty` and `mercer cluster`: trains a model; settings not given are chosen from the
//! data.
//!
//! `args.rs` holds the flags, `wishes.rs` what they ask of the library, `run.rs` the training: search, checkpoints,
//! the model that is saved; `blocks.rs` the training on files that are larger than memory.

mod args;
mod blocks;
mod run;
mod wishes;

use clap::{Args, ValueEnum};
use mercer::model::{Learner, LearnerEntry, Task};

use crate::commands::Command;
use crate::context::Context;
use crate::failure::{Done, Failure};
use crate::files::Files;
use args::Training;

pub(super) use blocks::SHARE;
pub(super) use wishes::{given_once, scaling, wishes_for};

/// Train a model
///
/// Only the data is required. The task follows from the labels; scaling, the width of the Gaussian kernel and C are chosen by
/// a quick cross-validation; every choice is printed with its reason. Ctrl-C stops the training and saves the partial
/// model in MODEL or, if that exists, in MODEL.partial. Long trainings also write checkpoints to MODEL.partial. --resume
/// continues from either.
#[derive(Debug, Args)]
#[command(after_help = after_help(None))]
pub(crate) struct Train {
    /// Task
    #[arg(long, value_name = "classify|regress|novelty", hide_possible_values = true)]
    task: Option<TaskName>,

    #[command(flatten)]
    training: Training,
}

impl Command for Train {
    const PATH: &'static [&'static str] = &["train"];

    fn files(&self) -> Result<Files, Failure> {
        self.training.files()
    }

    fn run(self, context: &Context) -> Done {
        self.training.run(self.task.map(Task::from), context)
    }
}

/// Train a novelty detector
///
/// The same as `mercer train --task novelty`: labels are ignored. `mercer predict` then returns 1 for inliers and -1 for
/// outliers, and `mercer explain MODEL DATA` lists the most unusual rows.
#[derive(Debug, Args)]
#[command(after_help = after_help(Some(Task::Novelty)))]
pub(crate) struct Novelty {
    #[command(flatten)]
    training: Training,
}

impl Command for Novelty {
    const PATH: &'static [&'static str] = &["novelty"];

    fn files(&self) -> Result<Files, Failure> {
        self.training.files()
    }

    fn run(self, context: &Context) -> Done {
        self.training.run(Some(Task::Novelty), context)
    }
}

/// Cluster rows by kernel k-means
///
/// Each cluster is the mean of its rows in feature space; the best of several starts is kept. Labels are ignored. `mercer
/// predict` then returns the number of the nearest cluster.
#[derive(Debug, Args)]
#[command(after_help = after_help(Some(Task::Clustering)))]
pub(crate) struct Cluster {
    /// Number of clusters
    #[arg(long, short = 'n', value_name = "N", default_value_t = 2)]
    clusters: u64,

    #[command(flatten)]
    training: Training,
}

impl Command for Cluster {
    const PATH: &'static [&'static str] = &["cluster"];

    fn files(&self) -> Result<Files, Failure> {
        self.training.files()
    }

    fn run(mut self, context: &Context) -> Done {
        self.training.learner.get_or_insert_with(|| "kmeans".into());
        self.training.set.push(("clusters".into(), self.clusters.to_string()));
        self.training.run(Some(Task::Clustering), context)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TaskName {
    Classify,
    Regress,
    Novelty,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::Classify => Task::Classification,
            TaskName::Regress => Task::Regression,
            TaskName::Novelty => Task::Novelty,
        }
    }
}

fn after_help(task: Option<Task>) -> String {
    let rows = Learner::ALL.iter().filter(|entry| task.is_none_or(|task| entry.tasks.contains(&task)));
    let line = |entry: &LearnerEntry| format!("  {:14} {}\n", entry.name, entry.doc);
    let list: String = rows.map(line).collect();
    let examples = match task {
        Some(Task::Clustering) => {
            "  mercer cluster flowers.csv -n 3 -o groups.mercer
  mercer cluster rings.csv -n 2 --gamma 8 --set start=spectral
  mercer predict new.csv groups.mercer"
        }
        Some(_) => {
            "  mercer novelty sensors.csv -o usual.mercer --nu 0.01
  mercer predict today.csv usual.mercer | grep -n -- -1"
        }
        None => {
            "  mercer train iris.csv
  mercer train train.svm -c 10 --gamma 0.5 --proba -o digits.mercer
  mercer train houses.csv --label price --learner huber
  mercer train iris.csv --learner kfd-greedy --set centres=20
  mercer train digits.csv --features digits.pca        (a machine on kernel PCA features)
  mercer train digits.svm --image 16x16 --virtual shift=1,rotate=10
  mercer train big.svm --resume big.mercer            (after Ctrl-C)"
        }
    };
    format!("Learners:\n{list}\nExamples:\n{examples}")
}
