//! Hyperparameter search: a grid of kernels and parameters, evaluated by cross-validation.
//!
//! One stage evaluates every setting of a [`Space`]; a second stage adds a finer grid around the best setting of the
//! first. With repeated folds, the selection may be the median of each repetition's own (Mueller, Mika, Raetsch,
//! Tsuda and Schoelkopf 2001, section VI). Racing drops settings that would have to gain more on the remaining folds
//! than folds have been seen to differ. Cost: see `trials.rs`. A journal stores scores, so that a killed search can
//! be resumed.
//!
//! A search around a setting ([`SearchParams::start`]) evaluates it first, then its neighbours, and never returns a
//! worse one. With a time limit, settings are first evaluated on parts of the rows (`sample.rs`), then on all rows in
//! order of promise. Settings that fail or are not reached are ignored.

mod choose;
mod clock;
mod journal;
mod race;
mod sample;
mod space;
mod table;

use std::path::PathBuf;

use crate::assess::metric::{Better, Metric};
use crate::assess::trials::Trials;
use crate::assess::units::{Hands, UnitFrame};
use crate::assess::validate::{Score, Splits, usual_metric};
use crate::data::stage::Recipe;
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::Learner;
use crate::watch::Watch;
use choose::{better, choose, flat};
use clock::Clock;
use journal::{Fingerprint, Journal};
use sample::{Sampled, Sampling};
pub(super) use space::nearest;
pub use space::{KernelFamily, SearchAxis, Setting, Space, by_factors};
use table::{Grid, Table};

/// Refinement factor of the second stage.
const FINER: usize = 3;

/// Parameters of a search.
#[derive(Debug, Clone)]
pub struct SearchParams {
    /// The settings.
    pub space: Space,
    /// The setting that would be used without a search: evaluated first, and kept unless a better one is found. With
    /// it a cancelled search has a result.
    pub start: Option<Learner>,
    /// 1: the space alone. 2: also a finer grid around its best setting.
    pub stages: u32,
    /// Cross-validation splits.
    pub splits: Splits,
    /// Metric; `None`: error rate or root mean squared error.
    pub metric: Option<&'static Metric>,
    /// Whether each repetition of the folds selects its own setting and their medians are used; otherwise the best
    /// mean is.
    pub median: bool,
    /// Whether settings that cannot win are dropped before they have been evaluated on all folds.
    pub race: bool,
    /// Seed of the folds.
    pub seed: u64,
    /// Time limit in seconds.
    pub seconds: Option<f64>,
    /// Journal file.
    pub checkpoint: Option<PathBuf>,
}

impl SearchParams {
    /// One stage of five folds over a space.
    pub fn new(space: Space) -> Self {
        SearchParams {
            space,
            start: None,
            stages: 1,
            splits: Splits::usual(),
            metric: None,
            median: false,
            race: false,
            seed: 0,
            seconds: None,
            checkpoint: None,
        }
    }
}

/// A setting and its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The setting.
    pub setting: Setting,
    /// Its scores.
    pub score: Score,
    /// Whether it was dropped, failed or not reached before all folds were evaluated.
    pub open: bool,
    /// The error of a fold on which it could not be fitted.
    pub failed: Option<String>,
}

/// One stage of a search: a space and all its cells, in the space's order.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchStage {
    /// The settings.
    pub space: Space,
    /// Their scores.
    pub cells: Vec<Cell>,
}

/// The settings within one standard error of the best.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Flat {
    /// Their number, including the best.
    pub settings: usize,
    /// Number of all settings.
    pub of: usize,
    /// The range of each of their parameters: the kernel's, then the axes'.
    pub ranges: Vec<(String, f64, f64)>,
}

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Found {
    /// The metric.
    pub metric: &'static Metric,
    /// The stages.
    pub stages: Vec<SearchStage>,
    /// The learner with the selected setting.
    pub learner: Learner,
    /// The selected setting with its scores; without scores if the search ended before it was evaluated.
    pub best: Cell,
    /// The stage it belongs to.
    pub home: usize,
    /// The number of rows on which it was evaluated, if not all.
    pub rows: Option<usize>,
    /// The setting that would have been used without a search.
    pub default: Option<Cell>,
    /// The settings of the last stage that are as good.
    pub flat: Flat,
    /// Number of folds per setting.
    pub folds: usize,
    /// Number of scores read from the journal.
    pub known: usize,
    /// Whether the time limit was reached.
    pub late: bool,
    /// Whether the watcher cancelled.
    pub stopped: bool,
    /// Warnings about the scores.
    pub notes: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Searches for a learner's best setting. Columns are scaled inside the folds as the recipes say.
///
/// ```
/// use mercer::assess::{SearchAxis, KernelFamily, SearchParams, Space, by_factors, search};
/// use mercer::data::{Dataset, toy};
/// use mercer::model::Learner;
/// use mercer::{Exec, watch};
///
/// let (points, targets) = toy::banana(120, 2);
/// let data = Dataset::new(points, targets)?;
/// let space = Space {
///     families: vec![KernelFamily::rbf(&by_factors(0.01, 100.0, 5))],
///     axes: vec![SearchAxis { name: "c".into(), values: by_factors(0.1, 100.0, 4) }],
/// };
/// let base = Learner::find("svc")?.learner();
/// let found = search(&data, &[], &base, &SearchParams::new(space), Exec::one(), &mut watch::silent())?;
/// assert!(found.best.score.mean < 0.15);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn search(
    data: &Dataset,
    recipes: &[Recipe],
    base: &Learner,
    params: &SearchParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    search_by(None, data, recipes, base, params, exec, watch)
}

/// The same search with fits done elsewhere if there are [`Hands`]. The result is that of a single machine. Time
/// limits are not supported with hands, because the order in which settings finish depends on the workers' speed.
pub fn search_by(
    hands: Option<&dyn Hands>,
    data: &Dataset,
    recipes: &[Recipe],
    base: &Learner,
    params: &SearchParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    let mut clock = Clock::new(params.seconds)?;
    if !(1..=2).contains(&params.stages) {
        return Err(Error::param("stages", params.stages, "1 or 2"));
    }
    let metric = params.metric.unwrap_or_else(|| usual_metric(&data.targets));
    let folds = params.splits.folds(data, params.seed)?;
    if let (Some(_), Some(seconds)) = (hands, params.seconds) {
        return Err(Error::unused("seconds", seconds, "not supported in a search on several machines"));
    }
    let frame = UnitFrame {
        recipes: recipes.to_vec(),
        splits: params.splits.clone(),
        seed: params.seed,
        metric: metric.name.to_owned(),
    };
    let trials = Trials::new(data, recipes, &folds, metric, exec)?.by(hands, frame);
    let mut journal = match &params.checkpoint {
        Some(path) => {
            let print = fingerprint(data, recipes, base, params, metric);
            Some(Journal::open(path, print, folds.len())?)
        }
        None => None,
    };
    let times = match params.splits {
        Splits::Folds { times, .. } if params.median => times,
        _ => 1,
    };
    let known = journal.as_ref().map_or(0, |j| j.known.len());
    let lower = metric.better == Better::Lower;
    let mut run = Run {
        params,
        trials: &trials,
        sampling: Sampling { data, recipes, splits: &params.splits, metric, seed: params.seed, exec, lower },
        lower,
        first: 0,
    };
    let mut stages: Vec<SearchStage> = Vec::new();
    let mut space = params.space.clone();
    let mut start = params.start.clone();
    let mut judged: Option<Taken> = None;
    let mut error = None;
    for number in 0..params.stages {
        let grid = Grid::new(&space, base, start.as_ref())?;
        let mut table = Table::new(grid.learners.len(), folds.len());
        table.fill(run.first, journal.iter().flat_map(|j| &j.known));
        // Settings evaluated in the first stage are not evaluated again.
        if let (Some(at), Some(taken)) = (grid.start, &judged) {
            table.lines[at].clone_from(&taken.cell.score.folds);
        }
        let words = match params.stages {
            1 => String::new(),
            _ => format!("stage {} of {}, ", number + 1, params.stages),
        };
        let sampled = run.stage(&grid, &mut table, &mut journal, &mut clock, &words, watch)?;
        run.first += grid.learners.len();
        error = error.or(table.error.take());
        let first = grid.start;
        let stage = grid.stage(&table);
        let taken = take(&stage, first, sampled.as_ref(), metric, times, folds.len());
        stages.push(stage);
        let on_all_rows = taken.as_ref().is_some_and(|t| t.rows.is_none() && !t.cell.open);
        if let Some(taken) = taken
            && (on_all_rows || judged.is_none())
        {
            judged = Some(Taken { home: stages.len() - 1, ..taken });
        }
        let Some(taken) = judged.as_ref().filter(|_| on_all_rows && !clock.late && !clock.stopped) else {
            break;
        };
        let stage = &stages[taken.home];
        start = Some(stage.space.learner(base, &taken.cell.setting)?);
        space = stage.space.finer(&taken.cell.setting, FINER);
    }
    // With a setting to start from there is always a result.
    if clock.stopped && params.start.is_none() {
        return Err(Error::Cancelled);
    }
    let taken = judged.ok_or_else(|| error.unwrap_or_else(|| nothing(&clock)))?;
    let stage = &stages[taken.home];
    Ok(Found {
        metric,
        learner: stage.space.learner(base, &taken.cell.setting)?,
        flat: flat(stage, &taken.cell, metric),
        default: params.start.as_ref().and_then(|start| found_again(&stages[0], base, start)),
        notes: notes(params, data, &stages),
        rows: taken.rows,
        home: taken.home,
        best: taken.cell,
        folds: folds.len(),
        known,
        late: clock.late,
        stopped: clock.stopped,
        seconds: clock.now(),
        stages,
    })
}

/// The error if there is no result and no setting failed.
fn nothing(clock: &Clock) -> Error {
    let why = if clock.late {
        "the time limit was reached before any setting was scored on all folds"
    } else {
        "no setting could be scored: the metric is undefined on these folds"
    };
    Error::Unsupported(why.into())
}

/// The selected setting.
struct Taken {
    cell: Cell,
    /// Its stage.
    home: usize,
    /// The number of rows on which it was evaluated, if not all.
    rows: Option<usize>,
}

/// State shared by all stages of a search.
struct Run<'a> {
    params: &'a SearchParams,
    trials: &'a Trials<'a>,
    sampling: Sampling<'a>,
    lower: bool,
    /// The number of a stage's first setting in the journal.
    first: usize,
}

impl Run<'_> {
    /// Fills a stage's table as far as time permits.
    fn stage(
        &self,
        grid: &Grid,
        table: &mut Table,
        journal: &mut Option<Journal>,
        clock: &mut Clock,
        words: &str,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Sampled>> {
        let end = clock.end();
        let mut on = |order: &[usize], clock: &mut Clock, watch: &mut Watch<'_>| -> Result<bool> {
            let heat = race::Heat {
                trials: self.trials,
                learners: &grid.learners,
                order,
                first: self.first,
                lower: self.lower,
                race: self.params.race,
                keep: grid.start,
            };
            let done =
                clock.watched(watch, end, words, |watch| race::run(&heat, table, journal.as_mut(), watch));
            match done {
                Err(Error::Cancelled) => Ok(false),
                other => other.map(|()| true),
            }
        };
        if self.params.seconds.is_none() {
            on(&grid.outward(), clock, watch)?;
            return Ok(None);
        }
        let sampled = self.sampling.run(grid, clock, watch)?;
        if clock.stopped {
            return Ok(Some(sampled));
        }
        if sampled.expected(self.sampling.data.len()) > clock.left() {
            // Do not start what cannot finish.
            clock.late = true;
            return Ok(Some(sampled));
        }
        let start: Vec<usize> = grid.start.into_iter().collect();
        if !on(&start, clock, watch)? {
            return Ok(Some(sampled));
        }
        let order: Vec<usize> = sampled.order.iter().copied().filter(|&c| Some(c) != grid.start).collect();
        // The most promising settings are evaluated one by one, so that they are complete when time runs out; then
        // more and more together, sharing kernel matrices. Without a sampled part there is no order, and all are
        // evaluated together.
        let (mut from, mut many) = (0, if sampled.last.is_some() { 1 } else { order.len() });
        while from < order.len() {
            let to = (from + many).min(order.len());
            if !on(&order[from..to], clock, watch)? {
                break;
            }
            (from, many) = (to, 2 * many);
        }
        Ok(Some(sampled))
    }
}

/// The setting selected after a stage. If time ran out: one that is clearly ahead on a part of the rows, else the
/// start.
fn take(
    stage: &SearchStage,
    start: Option<usize>,
    sampled: Option<&Sampled>,
    metric: &Metric,
    times: usize,
    folds: usize,
) -> Option<Taken> {
    let whole = |cell: usize| Taken { cell: stage.cells[cell].clone(), home: 0, rows: None };
    let best = choose(stage, metric, times, folds);
    let Some(start) = start else { return best.map(whole) };
    let first = &stage.cells[start];
    if let Some(best) = best.filter(|&b| b != start) {
        let worse = !first.open && better(metric, first.score.mean, stage.cells[best].score.mean);
        // A start that was not evaluated cannot be judged as worse, unless it failed.
        if !first.open || first.failed.is_some() {
            return Some(whole(if worse { start } else { best }));
        }
    }
    let lower = metric.better == Better::Lower;
    if let Some((rows, cell, scores)) = sampled.and_then(|s| s.ahead(start, lower))
        && stage.cells[cell].failed.is_none()
        && not_behind(&stage.cells[cell], first, lower)
    {
        let mut taken = whole(cell);
        taken.cell.score = Score::new(scores);
        return Some(Taken { rows: Some(rows), ..taken });
    }
    first.failed.is_none().then(|| whole(start))
}

/// Whether a setting is not known to be worse than the start: on the folds of all rows that both were evaluated on,
/// it is ahead, or there are no such folds.
fn not_behind(cell: &Cell, start: &Cell, lower: bool) -> bool {
    let sign = if lower { 1.0 } else { -1.0 };
    let both = cell.score.folds.iter().zip(&start.score.folds);
    let gains: Vec<f64> = both.map(|(own, first)| sign * (first - own)).filter(|g| !g.is_nan()).collect();
    gains.is_empty() || gains.iter().sum::<f64>() > 0.0
}

/// The cell of a learner in a stage.
fn found_again(stage: &SearchStage, base: &Learner, learner: &Learner) -> Option<Cell> {
    let same = |c: &&Cell| stage.space.learner(base, &c.setting).is_ok_and(|l| l == *learner);
    stage.cells.iter().find(same).cloned()
}

/// Warnings about the table.
fn notes(params: &SearchParams, data: &Dataset, stages: &[SearchStage]) -> Vec<String> {
    let mut notes = params.splits.notes(data);
    let failed: Vec<&String> =
        stages.iter().flat_map(|s| &s.cells).filter_map(|c| c.failed.as_ref()).collect();
    if let Some(first) = failed.first() {
        notes.push(format!("{} settings could not be fitted: {first}", failed.len()));
    }
    notes
}

/// The identity of a search: data, stages, learner, settings, folds.
fn fingerprint(
    data: &Dataset,
    recipes: &[Recipe],
    base: &Learner,
    params: &SearchParams,
    metric: &Metric,
) -> u64 {
    let mut print = Fingerprint::new();
    let words = format!(
        "{recipes:?} {base:?} {:?} {:?} {} {:?} {} {} {} {}",
        params.space,
        params.start,
        params.stages,
        params.splits,
        metric.name,
        params.median,
        params.race,
        params.seed
    );
    print.add(words.as_bytes());
    match data.points.view().to_f64() {
        Ok(values) => values.iter().for_each(|v| print.add(&v.to_bits().to_le_bytes())),
        Err(_) => print.add(format!("{:?}", data.points).as_bytes()),
    }
    match &data.targets {
        Targets::Classes(labels) => {
            labels.names.iter().for_each(|name| print.add(name.as_bytes()));
            labels.of_row.iter().for_each(|c| print.add(&c.to_le_bytes()));
        }
        Targets::Reals(values) => values.iter().for_each(|v| print.add(&v.to_bits().to_le_bytes())),
        Targets::None => {}
    }
    print.value()
}

#[cfg(test)]
mod tests;
