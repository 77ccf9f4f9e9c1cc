//! Which settings are worth all rows, found out on a part of them, where time is limited.
//!
//! Successive halving (Jamieson and Talwalkar 2016): all settings on a small part of the rows, the better third of them on one
//! four times as large, and so on. What comes out is an order in which settings are tried on all rows, so that a search
//! that is not out of time ends in the same table; where it is out of time, the largest part has the word. Cost: parts
//! grow by four and settings shrink by three, so with fits of quadratic cost the last part costs most.

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

/// Rows of the first part, or so many of each class; parts grow by a factor, and the largest is at most half of all rows.
const FIRST: usize = 500;
const EACH_CLASS: usize = 20;
const GROWTH: usize = 4;
/// Of the settings, one in so many goes on; never fewer than these.
const KEEP: usize = 3;
const FEWEST: usize = 4;
/// Standard errors by which a setting must be ahead of the start on a part, to be taken without all rows.
const AHEAD: f64 = 2.0;

/// What a part of the rows is tried with.
pub(super) struct Sampling<'a> {
    pub(super) data: &'a Dataset,
    pub(super) recipes: &'a [Recipe],
    pub(super) splits: &'a Splits,
    pub(super) metric: &'static Metric,
    pub(super) seed: u64,
    pub(super) exec: Exec,
    pub(super) lower: bool,
}

/// What parts of the rows say.
pub(super) struct Sampled {
    /// All settings, the most promising first.
    pub(super) order: Vec<usize>,
    /// The largest part that the start was judged on: its rows and scores.
    pub(super) last: Option<(usize, Table)>,
    /// Seconds that the start took there.
    pub(super) seconds: f64,
}

impl Sampled {
    /// Seconds that the start takes on so many rows, by those on the largest part: a fit looks at pairs of rows. Nothing is
    /// known without a part.
    pub(super) fn expected(&self, rows: usize) -> f64 {
        self.last.as_ref().map_or(0.0, |(from, _)| self.expected_from(*from, rows))
    }

    fn expected_from(&self, from: usize, rows: usize) -> f64 {
        self.seconds * (rows as f64 / from as f64).powi(2)
    }

    /// The setting that is clearly ahead of the start on the largest part, with its scores there.
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
    /// The sizes of the parts; none where all rows are few.
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

    /// Tries the settings on parts of the rows. An error of a setting is its last place there and nothing else.
    pub(super) fn run(&self, grid: &Grid, clock: &mut Clock, watch: &mut Watch<'_>) -> Result<Sampled> {
        let mut order = grid.outward();
        let mut sampled = Sampled { order: Vec::new(), last: None, seconds: 0.0 };
        let mut alive = order.len();
        let sizes = self.sizes();
        let start: Vec<usize> = grid.start.into_iter().collect();
        for (at, &rows) in sizes.iter().enumerate() {
            // A part that the start alone has no time for is not begun.
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
                // The time left is divided among this part and those to come, all rows too, as far as there is time for them.
                let in_time = |&to: &usize| sampled.expected_from(rows, to) <= clock.left();
                let later = sizes[at + 1..].iter().copied().chain([self.data.len()]).filter(in_time).count();
                let until = clock.after(1.0 / (1 + later) as f64);
                ended = on(&order[..alive], &mut table, until, clock);
            }
            match ended {
                Err(Error::Cancelled) | Ok(()) => {}
                Err(other) => return Err(other),
            }
            // The outward order is kept among settings that were not come to.
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

    /// So many rows, classes in their proportions, and how they are divided.
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
