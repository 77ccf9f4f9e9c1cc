//! Preselection of settings on parts of the rows, for searches with a time limit.
//!
//! Successive halving (Jamieson and Talwalkar 2016): all settings on a small part of the rows, the better third of
//! them on a part four times as large, and so on. The result is an order in which settings are evaluated on all rows,
//! so a search that finishes in time ends in the same table; otherwise the largest part decides. Cost: parts grow by
//! four and settings shrink by three, so with fits of quadratic cost the last part costs most.

use super::clock::Clock;
use super::race::{self, Heat};
use super::table::{Grid, Table};
use crate::assess::metric::Metric;
use crate::assess::trials::Trials;
use crate::assess::validate::Splits;
use crate::data::stage::Recipe;
use crate::data::{Dataset, Targets, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::watch::Watch;

/// Rows of the first part, or rows per class; parts grow by a factor, and the largest is at most half of all rows.
const FIRST: usize = 500;
const EACH_CLASS: usize = 20;
const GROWTH: usize = 4;
/// One setting in this many continues, but at least this number.
const KEEP: usize = 3;
const FEWEST: usize = 4;
/// Standard errors by which a setting must be ahead of the start on a part to be selected without an evaluation on
/// all rows.
const AHEAD: f64 = 2.0;

/// The inputs of the preselection.
pub(super) struct Sampling<'a> {
    pub(super) data: &'a Dataset,
    pub(super) recipes: &'a [Recipe],
    pub(super) splits: &'a Splits,
    pub(super) metric: &'static Metric,
    pub(super) seed: u64,
    pub(super) exec: Exec,
    pub(super) lower: bool,
}

/// The result of the preselection.
pub(super) struct Sampled {
    /// All settings, the most promising first.
    pub(super) order: Vec<usize>,
    /// The largest part on which the start was evaluated: its rows and scores.
    pub(super) last: Option<(usize, Table)>,
    /// Seconds that the start took there.
    pub(super) seconds: f64,
}

impl Sampled {
    /// Expected seconds of the start on this many rows, extrapolated quadratically from the largest part; 0 without a
    /// part.
    pub(super) fn expected(&self, rows: usize) -> f64 {
        self.last.as_ref().map_or(0.0, |(from, _)| self.expected_from(*from, rows))
    }

    fn expected_from(&self, from: usize, rows: usize) -> f64 {
        self.seconds * (rows as f64 / from as f64).powi(2)
    }

    /// The setting that is clearly ahead of the start on the largest part, with its scores.
    pub(super) fn ahead(&self, start: usize, lower: bool) -> Option<(usize, usize, Vec<f64>)> {
        let (rows, table) = self.last.as_ref()?;
        let best = (0..table.lines.len())
            .filter_map(|cell| table.loss(cell, lower).map(|loss| (cell, loss)))
            .min_by(|a, b| a.1.total_cmp(&b.1))?
            .0;
        let sign = if lower { 1.0 } else { -1.0 };
        let gains: Vec<f64> =
            table.lines[start].iter().zip(&table.lines[best]).map(|(s, b)| sign * (s - b)).collect();
        let m = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / m;
        let off: f64 = gains.iter().map(|g| (g - mean).powi(2)).sum();
        let error = (off / (m - 1.0) / m).sqrt();
        (mean > 0.0 && mean > AHEAD * error).then(|| (*rows, best, table.lines[best].clone()))
    }
}

impl Sampling<'_> {
    /// The sizes of the parts; empty if there are few rows.
    fn sizes(&self) -> Vec<usize> {
        let classes = match &self.data.targets {
            Targets::Classes(labels) => labels.names.len(),
            _ => 0,
        };
        let first = FIRST.max(EACH_CLASS * classes);
        std::iter::successors(Some(first), |m| m.checked_mul(GROWTH))
            .take_while(|m| 2 * m <= self.data.len())
            .collect()
    }

    /// Evaluates the settings on parts of the rows. A setting that fails is ranked last there, without further
    /// effect.
    pub(super) fn run(&self, grid: &Grid, clock: &mut Clock, watch: &mut Watch<'_>) -> Result<Sampled> {
        let mut order = grid.outward();
        let mut sampled = Sampled { order: Vec::new(), last: None, seconds: 0.0 };
        let mut alive = order.len();
        let sizes = self.sizes();
        let start: Vec<usize> = grid.start.into_iter().collect();
        for (at, &rows) in sizes.iter().enumerate() {
            // Do not start a part for which even the start has no time.
            if sampled.expected(rows) > clock.left() {
                break;
            }
            let Ok((part, splits)) = self.part(rows) else { break };
            let Ok(folds) = splits.folds(&part, self.seed) else { break };
            let trials = Trials::new(&part, self.recipes, &folds, self.metric, self.exec)?;
            let mut table = Table::new(order.len(), folds.len());
            let words = format!("{rows} rows, ");
            let mut on = |order: &[usize], table: &mut Table, until: f64, clock: &mut Clock| {
                let learners = &grid.learners;
                let heat = Heat {
                    trials: &trials,
                    learners,
                    order,
                    first: 0,
                    lower: self.lower,
                    race: false,
                    keep: None,
                };
                clock.watched(watch, until, &words, |watch| race::run(&heat, table, None, watch))
            };
            let begun = clock.now();
            let mut ended = on(&start, &mut table, clock.end(), clock);
            if ended.is_ok() {
                sampled.seconds = clock.now() - begun;
                // The remaining time is divided among this part and the following ones, including all rows, as far as
                // there is time for them.
                let in_time = |&to: &usize| sampled.expected_from(rows, to) <= clock.left();
                let later = sizes[at + 1..].iter().copied().chain([self.data.len()]).filter(in_time).count();
                let until = clock.after(1.0 / (1 + later) as f64);
                ended = on(&order[..alive], &mut table, until, clock);
            }
            match ended {
                Err(Error::Cancelled) | Ok(()) => {}
                Err(other) => return Err(other),
            }
            // Settings that were not evaluated keep their outward order.
            let loss = |cell: usize| table.loss(cell, self.lower).unwrap_or(f64::INFINITY);
            order[..alive].sort_by(|&a, &b| loss(a).total_cmp(&loss(b)));
            let judged = order[..alive].iter().filter(|&&cell| table.whole(cell)).count();
            if grid.start.is_none_or(|start| table.whole(start)) {
                sampled.last = Some((rows, table));
            }
            if clock.stopped || clock.left() <= 0.0 {
                break;
            }
            alive = (judged / KEEP).max(FEWEST).min(alive);
        }
        sampled.order = order;
        Ok(sampled)
    }

    /// A stratified sample of this many rows, and its splits.
    fn part(&self, rows: usize) -> Result<(Dataset, Splits)> {
        let share = rows as f64 / self.data.len() as f64;
        let drawn = split::holdout_of(self.data.len(), &self.data.targets, share, self.seed)?.test;
        let splits = match self.splits {
            Splits::Folds { folds, .. } => Splits::Folds { folds: *folds, times: 1 },
            Splits::Grouped { folds, groups } => {
                Splits::Grouped { folds: *folds, groups: drawn.iter().map(|&i| groups[i]).collect() }
            }
            Splits::LeaveOneOut | Splits::Given(_) => Splits::usual(),
        };
        Ok((self.data.gather(&drawn), splits))
    }
}
