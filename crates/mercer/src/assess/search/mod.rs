//! Searching for a setting: a grid of kernels and parameters, each judged by cross-validation.
//!
//! One stage tries every setting of a [`Space`]; two stages go on with a finer grid around the best of a coarse one. With
//! folds drawn several times over, the choice may be the median of each draw's own (Mueller, Mika, Raetsch, Tsuda and
//! Schoelkopf 2001, section VI). Racing drops settings that would have to make up more on the folds to come than folds have
//! been seen to differ. Cost: see `trials.rs`; a journal keeps what is known, so that a killed search goes on.
//!
//! A search around a setting ([`SearchParams::start`]) judges it before all others, then its neighbours, and never ends
//! with a worse one. With a limit of time it first tries settings on parts of the rows (`sample.rs`), the rest of the time
//! on all rows, the most promising first. What is not fitted or not come to is left out.

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
use crate::assess::validate::{Score, Splits, usual_metric};
use crate::data::stage::Recipe;
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::model::Learner;
use crate::par::Par;
use crate::watch::Watch;
use choose::{better, choose, flat};
use clock::Clock;
use journal::{Fingerprint, Journal};
use sample::{Sampled, Sampling};
pub(super) use space::nearest;
pub use space::{Axis, Family, Setting, Space, by_factors};
use table::{Grid, Table};

/// How much finer the second stage is.
const FINER: usize = 3;

/// What a search obeys.
#[derive(Debug, Clone)]
pub struct SearchParams {
    /// The settings.
    pub space: Space,
    /// What would be used without a search, kernel and all: judged first, and taken unless something better is found. With it
    /// a search that is broken off has an answer.
    pub start: Option<Learner>,
    /// 1: the space alone. 2: then a finer one around its best.
    pub stages: u32,
    /// How settings are judged.
    pub splits: Splits,
    /// By what; none: error or root mean squared error.
    pub metric: Option<&'static Metric>,
    /// Whether each drawing of the folds chooses for itself, and the medians win. Else the best mean does.
    pub median: bool,
    /// Whether hopeless settings are dropped before they have seen all folds.
    pub race: bool,
    /// Seed of the folds.
    pub seed: u64,
    /// Seconds after which the best so far is taken.
    pub seconds: Option<f64>,
    /// A file that keeps what is known.
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

/// A setting and what it reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The setting.
    pub setting: Setting,
    /// Its scores.
    pub score: Score,
    /// Whether it was dropped, failed, or never come to, before it had seen all folds.
    pub open: bool,
    /// Why it could not be fitted on some fold.
    pub failed: Option<String>,
}

/// One stage of a search: a space and all its cells, in the space's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The settings tried.
    pub space: Space,
    /// What they reached.
    pub cells: Vec<Cell>,
}

/// How flat the optimum is: the settings that one standard error cannot tell from the best.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Flat {
    /// How many, the best among them.
    pub settings: usize,
    /// Of how many.
    pub of: usize,
    /// The range of each of their numbers: the kernel's, then the axes'.
    pub ranges: Vec<(String, f64, f64)>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Found {
    /// By what settings were judged.
    pub metric: &'static Metric,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The learner with the setting chosen.
    pub learner: Learner,
    /// That setting, with what it reached: nothing where the search ended before it was judged.
    pub best: Cell,
    /// The stage that it is of.
    pub home: usize,
    /// Where it was judged on so many rows only: how many.
    pub rows: Option<usize>,
    /// The setting that would have been used without a search.
    pub default: Option<Cell>,
    /// How flat the last stage is around it.
    pub flat: Flat,
    /// Folds each setting was judged on.
    pub folds: usize,
    /// Scores that a journal knew already.
    pub known: usize,
    /// Whether time ran out first.
    pub late: bool,
    /// Whether the watcher broke off first.
    pub stopped: bool,
    /// What somebody should know about the scores, in words.
    pub notes: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// Searches for a learner's best setting, its columns scaled inside the folds as the recipes say.
///
/// ```
/// use mercer::assess::{Axis, Family, SearchParams, Space, by_factors, search};
/// use mercer::data::{Dataset, toy};
/// use mercer::model::Learner;
/// use mercer::{Par, watch};
///
/// let (points, targets) = toy::banana(120, 2);
/// let data = Dataset::new(points, targets)?;
/// let space = Space {
///     families: vec![Family::rbf(&by_factors(0.01, 100.0, 5))],
///     axes: vec![Axis { name: "c".into(), values: by_factors(0.1, 100.0, 4) }],
/// };
/// let base = Learner::find("svc")?.learner();
/// let found = search(&data, &[], &base, &SearchParams::new(space), Par::one(), &mut watch::silent())?;
/// assert!(found.best.score.mean < 0.15);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn search(
    data: &Dataset,
    recipes: &[Recipe],
    base: &Learner,
    params: &SearchParams,
    par: Par,
    watch: &mut Watch<'_>,
) -> Result<Found> {
    let mut clock = Clock::new(params.seconds)?;
    if !(1..=2).contains(&params.stages) {
        return Err(Error::param("stages", params.stages, "1 or 2"));
    }
    let metric = params.metric.unwrap_or_else(|| usual_metric(&data.targets));
    let folds = params.splits.folds(data, params.seed)?;
    let trials = Trials::new(data, recipes, &folds, metric, par)?;
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
        sampling: Sampling { data, recipes, splits: &params.splits, metric, seed: params.seed, par, lower },
        lower,
        first: 0,
    };
    let mut stages: Vec<Stage> = Vec::new();
    let mut space = params.space.clone();
    let mut start = params.start.clone();
    let mut judged: Option<Taken> = None;
    let mut error = None;
    for number in 0..params.stages {
        let grid = Grid::new(&space, base, start.as_ref())?;
        let mut table = Table::new(grid.learners.len(), folds.len());
        table.fill(run.first, journal.iter().flat_map(|j| &j.known));
        // What the first stage judged is not judged again.
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
        let stage = grid.stage(table);
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
    // With a setting to start from there is always an answer, be it that one.
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

/// Why there is no setting to take, where none failed.
fn nothing(clock: &Clock) -> Error {
    let why = if clock.late {
        "time ran out before a single setting was judged on all folds"
    } else {
        "no setting could be judged: the metric has no value on these folds"
    };
    Error::Unsupported(why.into())
}

/// A setting that is taken.
struct Taken {
    cell: Cell,
    /// Its stage.
    home: usize,
    /// Where it was judged on so many rows only: how many.
    rows: Option<usize>,
}

/// What all stages of a search have in common.
struct Run<'a> {
    params: &'a SearchParams,
    trials: &'a Trials<'a>,
    sampling: Sampling<'a>,
    lower: bool,
    /// The number of a stage's first setting in the journal.
    first: usize,
}

impl Run<'_> {
    /// Fills a stage's table as far as there is time.
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
            // What cannot be done is not begun.
            clock.late = true;
            return Ok(Some(sampled));
        }
        let start: Vec<usize> = grid.start.into_iter().collect();
        if !on(&start, clock, watch)? {
            return Ok(Some(sampled));
        }
        let order: Vec<usize> = sampled.order.iter().copied().filter(|&c| Some(c) != grid.start).collect();
        // The most promising ones by themselves, so that they are done when time runs out; then more and more together, which
        // share their matrices. Where there was no part to try them on, nothing is known and all run together.
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

/// The setting taken after a stage. Where time ran out, one that is clearly ahead on a part of the rows, else the start.
fn take(
    stage: &Stage,
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
        // Of a start that was not judged nobody knows whether it is worse, unless it cannot be fitted.
        if !first.open || first.failed.is_some() {
            return Some(whole(if worse { start } else { best }));
        }
    }
    let lower = metric.better == Better::Lower;
    if let Some((rows, cell, scores)) = sampled.and_then(|s| s.ahead(start, lower))
        && stage.cells[cell].failed.is_none()
        // What all rows have begun to judge, and perhaps dropped, is not taken by a part of them.
        && stage.cells[cell].score.folds.iter().all(|score| score.is_nan())
    {
        let mut taken = whole(cell);
        taken.cell.score = Score::new(scores);
        return Some(Taken { rows: Some(rows), ..taken });
    }
    first.failed.is_none().then(|| whole(start))
}

/// The cell of a learner in a stage.
fn found_again(stage: &Stage, base: &Learner, learner: &Learner) -> Option<Cell> {
    let same = |c: &&Cell| stage.space.learner(base, &c.setting).is_ok_and(|l| l == *learner);
    stage.cells.iter().find(same).cloned()
}

/// What somebody should know about the table.
fn notes(params: &SearchParams, data: &Dataset, stages: &[Stage]) -> Vec<String> {
    let mut notes = params.splits.notes(data);
    let failed: Vec<&String> =
        stages.iter().flat_map(|s| &s.cells).filter_map(|c| c.failed.as_ref()).collect();
    if let Some(first) = failed.first() {
        notes.push(format!("{} settings could not be fitted: {first}", failed.len()));
    }
    notes
}

/// What makes a search this one: data, stages, learner, settings, folds.
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
mod tests {
    use std::ops::ControlFlow;

    use super::choose::best_by;
    use super::*;
    use crate::data::toy;
    use crate::kernel::Kernel;
    use crate::watch::{Step, silent};

    fn banana(n: usize, seed: u64) -> Dataset {
        let (points, targets) = toy::banana(n, seed);
        Dataset::new(points, targets).expect("whole")
    }

    fn space() -> Space {
        Space {
            families: vec![Family::rbf(&by_factors(0.001, 1000.0, 7)), Family::poly(1..=3, 0.5)],
            axes: vec![Axis { name: "c".into(), values: by_factors(0.01, 1000.0, 6) }],
        }
    }

    fn run(data: &Dataset, params: &SearchParams) -> Found {
        let base = Learner::find("svc").expect("known").learner();
        search(data, &[], &base, params, Par::new(2), &mut silent()).expect("found")
    }

    #[test]
    fn racing_never_drops_the_winner_of_the_whole_grid() {
        let mut dropped = 0;
        for seed in 0..12 {
            let data = banana(200, seed);
            let whole = SearchParams { seed, ..SearchParams::new(space()) };
            let raced = SearchParams { race: true, ..whole.clone() };
            let (all, raced) = (run(&data, &whole), run(&data, &raced));
            assert_eq!(all.best.setting, raced.best.setting, "seed {seed}");
            assert_eq!(all.best.score, raced.best.score);
            let gone = raced.stages[0].cells.iter().filter(|c| c.open).count();
            assert!(gone < all.stages[0].cells.len(), "seed {seed}");
            dropped += gone;
        }
        // Of 12 x 60 settings.
        assert!(dropped > 200, "{dropped}");
    }

    #[test]
    fn the_second_stage_is_finer_and_no_worse() {
        let data = banana(120, 3);
        let found = run(&data, &SearchParams { stages: 2, ..SearchParams::new(space()) });
        assert_eq!(found.stages.len(), 2);
        let coarse = best_by(&found.stages[0], found.metric, |c| c.score.mean).expect("some");
        let coarse = &found.stages[0].cells[coarse];
        assert!(found.best.score.mean <= coarse.score.mean);
        assert!(found.stages[1].cells.iter().any(|c| c.setting.kernel == coarse.setting.kernel));
        assert!(found.flat.settings >= 1 && found.flat.ranges[0].1 <= found.flat.ranges[0].2);
    }

    #[test]
    fn medians_of_several_drawings_are_a_setting_of_the_grid() {
        let data = banana(100, 5);
        let splits = Splits::Folds { folds: 4, times: 5 };
        let found = run(&data, &SearchParams { splits, median: true, ..SearchParams::new(space()) });
        assert_eq!(found.folds, 20);
        let by_mean = best_by(&found.stages[0], found.metric, |c| c.score.mean).expect("some");
        let by_mean = found.stages[0].cells[by_mean].score.mean;
        assert!(found.best.score.mean < by_mean + 0.05, "{} {by_mean}", found.best.score.mean);
    }

    #[test]
    fn a_search_that_was_broken_off_ends_in_the_same_table() {
        let data = banana(80, 2);
        let path = std::env::temp_dir().join(format!("mercer-search-{}", std::process::id()));
        let params = SearchParams { stages: 2, ..SearchParams::new(space()) };
        let whole = run(&data, &params);
        let kept = SearchParams { checkpoint: Some(path.clone()), ..params };
        let base = Learner::find("svc").expect("known").learner();
        let mut breaks = 0;
        let found = loop {
            let mut left = 7;
            let mut watch = |step: &Step| {
                left -= i32::from(step.done > 0);
                if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match search(&data, &[], &base, &kept, Par::one(), &mut watch) {
                Ok(found) => break found,
                Err(Error::Cancelled) => breaks += 1,
                Err(other) => panic!("{other}"),
            }
            assert!(breaks < 1000, "no end");
        };
        assert!(breaks > 3 && found.known > 0, "{breaks}");
        assert_eq!((found.best, found.stages), (whole.best, whole.stages));
        // Other data: another search.
        let refused = search(&banana(80, 3), &[], &base, &kept, Par::one(), &mut silent());
        assert!(refused.expect_err("another").to_string().contains("another search"));
        std::fs::remove_file(path).expect("there");
    }

    fn usual() -> Learner {
        let mut learner = Learner::find("svc").expect("known").learner();
        learner.set_kernel(Kernel::Rbf { gamma: 1.0 });
        learner
    }

    #[test]
    fn whenever_a_search_ends_it_has_a_setting_no_worse_than_the_start() {
        let splits = Splits::Folds { folds: 2, times: 1 };
        let mut judged = 0;
        for (rows, seconds) in [(1200, 1e-9), (1200, 0.02), (1200, 0.2), (100, 1e-9), (100, 1e3)] {
            let data = banana(rows, 2);
            for (stages, race) in [(1, false), (2, true)] {
                let params = SearchParams {
                    start: Some(usual()),
                    splits: splits.clone(),
                    seconds: Some(seconds),
                    stages,
                    race,
                    ..SearchParams::new(space())
                };
                let found = search(&data, &[], &usual(), &params, Par::one(), &mut silent()).expect("one");
                assert!(found.late == (seconds < 1.0) || seconds > 1e-3, "{seconds}");
                let start = found.default.expect("there is a start");
                if found.best.open && found.rows.is_none() {
                    assert_eq!(found.learner, usual());
                } else if found.rows.is_none() && !start.open {
                    judged += 1;
                    assert!(found.best.score.mean <= start.score.mean);
                }
                assert!(found.best.failed.is_none());
            }
        }
        assert!(judged >= 2, "{judged}");
        let data = banana(100, 2);
        let none = SearchParams { start: None, seconds: Some(1e-9), ..SearchParams::new(space()) };
        let refused = search(&data, &[], &usual(), &none, Par::one(), &mut silent()).expect_err("no answer");
        assert!(refused.to_string().contains("time ran out"), "{refused}");
        let wrong = SearchParams { seconds: Some(-1.0), ..none };
        assert!(search(&data, &[], &usual(), &wrong, Par::one(), &mut silent()).is_err());
    }

    #[test]
    fn with_time_enough_a_limit_changes_no_score() {
        let data = banana(1100, 4);
        let splits = Splits::Folds { folds: 2, times: 1 };
        let few = Space {
            families: vec![Family::rbf(&[0.1, 1.0, 10.0])],
            axes: vec![Axis { name: "c".into(), values: vec![0.1, 1.0] }],
        };
        let base = SearchParams { start: Some(usual()), splits, ..SearchParams::new(few) };
        let limited = SearchParams { seconds: Some(1e6), ..base.clone() };
        let (whole, limited, again) = (run(&data, &base), run(&data, &limited), run(&data, &limited));
        assert!(!limited.late && whole.stages[0].cells.len() == 6);
        assert_eq!((&limited.stages, &limited.best), (&again.stages, &again.best));
        for (a, b) in whole.stages[0].cells.iter().zip(&limited.stages[0].cells) {
            assert!((a.score.mean - b.score.mean).abs() < 2e-3, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_setting_that_cannot_be_fitted_is_left_out_and_told() {
        // Of 60 rows 12 are of one class: nu above 0.4 has no solution.
        let data = banana(60, 1);
        let labels = data.targets.classes().expect("classes");
        let mut rare = 0;
        let rows: Vec<usize> = (0..60)
            .filter(|&i| {
                rare += usize::from(labels.of_row[i] == 1);
                labels.of_row[i] == 0 || rare <= 6
            })
            .collect();
        let data = data.gather(&rows);
        let mut base = Learner::find("nu-svc").expect("known").learner();
        base.set_kernel(Kernel::Rbf { gamma: 1.0 });
        let space = Space {
            families: vec![Family::rbf(&[0.5, 1.0])],
            axes: vec![Axis { name: "nu".into(), values: vec![0.05, 0.1, 0.5, 0.9] }],
        };
        let params = SearchParams { start: Some(base.clone()), ..SearchParams::new(space.clone()) };
        let found = search(&data, &[], &base, &params, Par::new(2), &mut silent()).expect("some can be");
        let failed = found.stages[0].cells.iter().filter(|c| c.failed.is_some()).count();
        assert!(failed >= 4 && found.best.failed.is_none() && !found.best.open, "{failed}");
        assert!(found.notes.iter().any(|n| n.contains("could not be fitted")), "{:?}", found.notes);
        let hopeless = Space { axes: vec![Axis { name: "nu".into(), values: vec![0.9] }], ..space };
        let params = SearchParams { start: None, ..SearchParams::new(hopeless) };
        let refused = search(&data, &[], &base, &params, Par::one(), &mut silent()).expect_err("none can be");
        assert!(refused.to_string().contains("nu"), "{refused}");
    }

    #[test]
    fn a_journal_of_any_bytes_is_an_error_or_a_search() {
        use rand::{RngExt as _, SeedableRng as _};
        let data = banana(40, 2);
        let few = Space {
            families: vec![Family::rbf(&[0.5, 1.0])],
            axes: vec![Axis { name: "c".into(), values: vec![1.0, 10.0] }],
        };
        let path = std::env::temp_dir().join(format!("mercer-bytes-{}", std::process::id()));
        let params = SearchParams {
            start: Some(usual()),
            checkpoint: Some(path.clone()),
            splits: Splits::Folds { folds: 2, times: 1 },
            ..SearchParams::new(few)
        };
        let run = || search(&data, &[], &usual(), &params, Par::one(), &mut silent());
        let whole = run().expect("found");
        let written = std::fs::read(&path).expect("a journal");
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        let (mut fine, mut refused) = (0, 0);
        for round in 0..300 {
            let mut bytes = written.clone();
            for _ in 0..1 + round % 4 {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..4) {
                    0 => bytes[at] = random.random_range(0..=255),
                    1 => bytes.truncate(at),
                    2 => bytes.insert(at, b"0 9\n-x.\xff\0"[random.random_range(0..9)]),
                    _ => bytes.extend_from_slice(b"99999999999999999999 7 0.1\n0 3000 0.5\n"),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            std::fs::write(&path, &bytes).expect("written");
            match run() {
                Ok(found) => {
                    fine += 1;
                    assert_eq!(found.stages[0].cells.len(), whole.stages[0].cells.len());
                }
                Err(e) => {
                    refused += 1;
                    let text = e.to_string();
                    let clear =
                        text.contains("checkpoint") || text.contains("line ") && text.contains("expected");
                    assert!(clear, "{text}");
                }
            }
        }
        assert!(fine > 20 && refused > 20, "{fine} {refused}");
        std::fs::remove_file(&path).expect("there");
    }
}
