//! The settings of a stage with their scores, one row per setting and one column per fold.

use super::space::{KernelFamily, Setting, Space};
use super::{Cell, SearchStage};
use crate::assess::validate::Score;
use crate::error::{Error, Result};
use crate::model::Learner;

/// The settings of a stage in the space's order; the start comes last if the space does not contain it.
pub(super) struct Grid {
    pub(super) space: Space,
    pub(super) settings: Vec<Setting>,
    pub(super) learners: Vec<Learner>,
    /// The setting that is evaluated first.
    pub(super) start: Option<usize>,
}

impl Grid {
    pub(super) fn new(space: &Space, base: &Learner, start: Option<&Learner>) -> Result<Self> {
        let mut space = space.clone();
        let mut settings = space.settings()?;
        let mut learners: Vec<Learner> =
            settings.iter().map(|s| space.learner(base, s)).collect::<Result<_>>()?;
        let mut at = None;
        if let Some(start) = start {
            at = learners.iter().position(|l| l == start);
            if let (None, Some(kernel)) = (at, start.kernel()) {
                let values = space.axes.iter();
                let values = values.map(|a| start.get(&a.name).and_then(|v| v.as_f64()).unwrap_or(f64::NAN));
                settings.push(Setting {
                    family: space.families.len(),
                    at: 0,
                    kernel: kernel.clone(),
                    values: values.collect(),
                });
                space.families.push(KernelFamily::one(kernel.clone()));
                learners.push(start.clone());
                at = Some(learners.len() - 1);
            }
        }
        Ok(Grid { space, settings, learners, start: at })
    }

    /// All settings ordered by distance from the start, or from the middle of the space.
    pub(super) fn outward(&self) -> Vec<usize> {
        let middle = &self.settings[self.start.unwrap_or(self.settings.len() / 2)];
        let mut order: Vec<usize> = (0..self.settings.len()).collect();
        order.sort_by_key(|&cell| (Some(cell) != self.start, self.space.steps(middle, &self.settings[cell])));
        order
    }

    /// The stage with its scores.
    pub(super) fn stage(self, table: &Table) -> SearchStage {
        let cells = self.settings.into_iter().enumerate().map(|(cell, setting)| Cell {
            setting,
            open: !table.whole(cell),
            failed: table.failed[cell].clone(),
            score: Score::new(table.lines[cell].clone()),
        });
        SearchStage { cells: cells.collect(), space: self.space }
    }
}

/// Scores by setting and fold; NaN if not known.
pub(super) struct Table {
    pub(super) folds: usize,
    pub(super) lines: Vec<Vec<f64>>,
    /// Settings that a race dropped.
    pub(super) dropped: Vec<bool>,
    /// Settings that cannot be fitted, and why.
    pub(super) failed: Vec<Option<String>>,
    /// The first error.
    pub(super) error: Option<Error>,
}

impl Table {
    pub(super) fn new(settings: usize, folds: usize) -> Self {
        Table {
            folds,
            lines: vec![vec![f64::NAN; folds]; settings],
            dropped: vec![false; settings],
            failed: vec![None; settings],
            error: None,
        }
    }

    /// Copies scores from a journal, in which this stage's settings start at `first`.
    pub(super) fn fill<'a>(&mut self, first: usize, known: impl Iterator<Item = &'a (usize, usize, f64)>) {
        for &(cell, fold, score) in known {
            if let Some(line) = cell.checked_sub(first).and_then(|c| self.lines.get_mut(c)) {
                line[fold] = score;
            }
        }
    }

    /// Whether a setting has been evaluated on all folds.
    pub(super) fn whole(&self, cell: usize) -> bool {
        self.failed[cell].is_none() && self.lines[cell].iter().all(|s| !s.is_nan())
    }

    pub(super) fn fail(&mut self, cell: usize, why: Error) {
        self.failed[cell].get_or_insert_with(|| why.to_string());
        self.error.get_or_insert(why);
    }

    /// The mean of a complete row; lower is better.
    pub(super) fn loss(&self, cell: usize, lower: bool) -> Option<f64> {
        let mean = self.lines[cell].iter().sum::<f64>() / self.folds as f64;
        self.whole(cell).then_some(if lower { mean } else { -mean })
    }
}
