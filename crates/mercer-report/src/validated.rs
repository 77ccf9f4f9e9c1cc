//! The score of settings on cross-validation folds.

use mercer::assess::Score;
use mercer::model::{Choice, Plan};
use serde::Serialize;

use crate::{Page, Report, count, number, percent};

/// What cross-validation of one setting found.
#[derive(Debug, Clone, Serialize)]
pub struct CrossValidated {
    /// The data.
    pub source: String,
    /// Rows.
    pub rows: usize,
    /// What was settled, in the order in which it was.
    pub choices: Vec<Choice>,
    /// What scores are: `error` or `rmse`.
    pub metric: &'static str,
    /// On each fold.
    pub folds: Vec<f64>,
    /// The mean over folds.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl CrossValidated {
    /// The scores of a plan.
    pub fn new(source: impl Into<String>, plan: &Plan<'_>, metric: &'static str, score: Score) -> Self {
        CrossValidated {
            source: source.into(),
            rows: plan.data().len(),
            choices: plan.choices.clone(),
            metric,
            mean: score.mean,
            standard_error: score.error,
            folds: score.folds,
        }
    }
}

impl Report for CrossValidated {
    fn write(&self, page: &mut Page) {
        page.title(&self.source, &format!("{} rows, {} folds", count(self.rows), self.folds.len()));
        page.blank();
        let mut facts: Vec<(&str, String)> =
            self.choices.iter().map(|choice| (choice.what.as_str(), choice.value.clone())).collect();
        let written = |value: f64| if self.metric == "error" { percent(value) } else { number(value) };
        let line = format!("{}, standard error {}", written(self.mean), written(self.standard_error));
        let name = if self.metric == "error" { "error" } else { "RMSE" };
        facts.push((name, line));
        if self.metric == "error" {
            facts.push(("accuracy", percent(1.0 - self.mean)));
        }
        page.facts(facts);
    }
}
