//! Searching for a setting: a grid of kernels and parameters, each judged by cross-validation.
//!
//! One stage tries every setting of a [`Space`]; two stages go on with a finer grid around the best of a coarse one. With
//! folds drawn several times over, the choice may be the median of each draw's own (Mueller, Mika, Raetsch, Tsuda and
//! Schoelkopf 2001, section VI). Racing drops settings that would have to make up more on the folds to come than folds have
//! been seen to differ. Cost: see `trials.rs`; a journal keeps what is known, so that a killed search goes on.

mod journal;
mod race;
mod space;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use crate::assess::metric::{Better, Metric};
use crate::assess::trials::Trials;
use crate::assess::validate::{Score, Splits, usual_metric};
use crate::data::stage::Recipe;
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::model::Learner;
use crate::par::Par;
use crate::watch::{Step, Watch};
use journal::Fingerprint;
use journal::Journal;
pub use space::{Axis, Family, Setting, Space, by_factors};

/// How much finer the second stage is.
const FINER: usize = 3;

/// What a search obeys.
#[derive(Debug, Clone)]
pub struct SearchParams {
    /// The settings.
    pub space: Space,
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
    /// Whether it was dropped, or never come to, before it had seen all folds.
    pub open: bool,
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
    /// That setting, with what it reached.
    pub best: Cell,
    /// How flat the last stage is around it.
    pub flat: Flat,
    /// Folds each setting was judged on.
    pub folds: usize,
    /// Scores that a journal knew already.
    pub known: usize,
    /// Whether time ran out first.
    pub late: bool,
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
    let clock = Instant::now();
    if !(1..=2).contains(&params.stages) {
        return Err(Error::param("stages", params.stages, "1 or 2"));
    }
    let metric = params.metric.unwrap_or_else(|| usual_metric(&data.targets));
    let folds = params.splits.folds(data, params.seed)?;
    let trials = Trials::new(data, recipes, &folds, metric, par)?;
    let mut journal = match &params.checkpoint {
        Some(path) => Some(Journal::open(path, fingerprint(data, recipes, base, params, metric))?),
        None => None,
    };
    let times = match params.splits {
        Splits::Folds { times, .. } if params.median => times,
        _ => 1,
    };
    let known = journal.as_ref().map_or(0, |j| j.known.len());
    let late = |since: &Instant| params.seconds.is_some_and(|most| since.elapsed().as_secs_f64() >= most);
    let mut stages: Vec<Stage> = Vec::new();
    let mut space = params.space.clone();
    let mut first = 0;
    let mut in_time = true;
    for stage in 0..params.stages {
        let settings = space.settings()?;
        let learners: Vec<Learner> =
            settings.iter().map(|s| space.learner(base, s)).collect::<Result<_>>()?;
        let mut table = vec![vec![f64::NAN; folds.len()]; settings.len()];
        for &(cell, fold, score) in journal.iter().flat_map(|j| &j.known) {
            if let Some(line) = cell.checked_sub(first).and_then(|c| table.get_mut(c)) {
                line[fold] = score;
            }
        }
        let mut inside = |step: &Step| {
            let phase = match params.stages {
                1 => step.phase.clone(),
                _ => format!("stage {} of {}, {}", stage + 1, params.stages, step.phase),
            };
            let flow = watch(&Step { phase, ..step.clone() });
            if late(&clock) { ControlFlow::Break(()) } else { flow }
        };
        let dropped = race::run(
            &race::Heat {
                trials: &trials,
                learners: &learners,
                first,
                lower: metric.better == Better::Lower,
            },
            params.race,
            &mut table,
            &mut journal,
            &mut inside,
        );
        let dropped = match dropped {
            Ok(dropped) => dropped,
            Err(Error::Cancelled) if late(&clock) => {
                in_time = false;
                vec![false; settings.len()]
            }
            Err(other) => return Err(other),
        };
        first += settings.len();
        let cells = settings.into_iter().zip(table).zip(dropped).map(|((setting, line), dropped)| {
            let open = dropped || line.iter().any(|s| s.is_nan());
            Cell { setting, score: Score::new(line), open }
        });
        let done = Stage { space: space.clone(), cells: cells.collect() };
        let best = choose(&done, metric, times, folds.len());
        stages.push(done);
        let Some(best) = best else {
            // Out of time before a single setting was judged: what an earlier stage found stands.
            break;
        };
        if !in_time {
            break;
        }
        space = space.finer(&stages[stages.len() - 1].cells[best].setting, FINER);
    }
    let judged = stages.iter().rev().find_map(|s| choose(s, metric, times, folds.len()).map(|b| (s, b)));
    let Some((stage, best)) = judged else {
        return Err(Error::Unsupported(
            "time ran out before a single setting was judged on all folds".into(),
        ));
    };
    let best = stage.cells[best].clone();
    Ok(Found {
        metric,
        learner: stage.space.learner(base, &best.setting)?,
        flat: flat(stage, &best, metric),
        best,
        folds: folds.len(),
        known,
        late: !in_time,
        seconds: clock.elapsed().as_secs_f64(),
        stages,
    })
}

fn better(metric: &Metric, a: f64, b: f64) -> bool {
    match metric.better {
        Better::Lower => a < b,
        Better::Higher => a > b,
    }
}

/// The best of the cells that saw all folds; the first of several.
fn best_by(stage: &Stage, metric: &Metric, score: impl Fn(&Cell) -> f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (i, cell) in stage.cells.iter().enumerate().filter(|(_, c)| !c.open) {
        let here = score(cell);
        if !here.is_nan() && best.is_none_or(|(_, there)| better(metric, here, there)) {
            best = Some((i, here));
        }
    }
    best.map(|(i, _)| i)
}

/// The cell chosen: by the mean over all folds, or by the median of what each drawing of the folds chooses.
fn choose(stage: &Stage, metric: &Metric, times: usize, folds: usize) -> Option<usize> {
    let by_mean = best_by(stage, metric, |cell| cell.score.mean);
    if times < 2 {
        return by_mean;
    }
    let each = folds / times;
    let winners: Vec<&Setting> = (0..times)
        .filter_map(|t| {
            let part =
                |cell: &Cell| cell.score.folds[t * each..(t + 1) * each].iter().sum::<f64>() / each as f64;
            best_by(stage, metric, part).map(|i| &stage.cells[i].setting)
        })
        .collect();
    // The family most of them are of; of its members the medians.
    let family =
        winners.iter().map(|s| s.family).max_by_key(|f| winners.iter().filter(|s| s.family == *f).count())?;
    let own: Vec<&&Setting> = winners.iter().filter(|s| s.family == family).collect();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[(values.len() - 1) / 2]
    };
    let at = median(own.iter().map(|s| s.at as f64).collect()) as usize;
    let values: Vec<f64> =
        (0..own[0].values.len()).map(|a| median(own.iter().map(|s| s.values[a]).collect())).collect();
    let same = |c: &Cell| c.setting.family == family && c.setting.at == at && c.setting.values == values;
    stage.cells.iter().position(same).or(by_mean)
}

fn flat(stage: &Stage, best: &Cell, metric: &Metric) -> Flat {
    let reach = if best.score.error.is_nan() { 0.0 } else { best.score.error };
    let worst = match metric.better {
        Better::Lower => best.score.mean + reach,
        Better::Higher => best.score.mean - reach,
    };
    let near = |c: &&Cell| !c.open && !better(metric, worst, c.score.mean);
    let cells: Vec<&Cell> = stage.cells.iter().filter(near).collect();
    let range = |name: &str, of: &dyn Fn(&Cell) -> f64| {
        let of_family = cells.iter().filter(|c| c.setting.family == best.setting.family);
        let values: Vec<f64> = of_family.map(|c| of(c)).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (name.to_owned(), low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let family = &stage.space.families[best.setting.family];
    let mut ranges = Vec::new();
    if let Some(name) = family.parameter {
        ranges.push(range(name, &|c| family.kernels[c.setting.at].0));
    }
    for (a, axis) in stage.space.axes.iter().enumerate() {
        ranges.push(range(&axis.name, &|c| c.setting.values[a]));
    }
    Flat { settings: cells.len(), of: stage.cells.len(), ranges }
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
        "{recipes:?} {base:?} {:?} {} {:?} {} {} {} {}",
        params.space, params.stages, params.splits, metric.name, params.median, params.race, params.seed
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
    use super::*;
    use crate::data::toy;
    use crate::watch::silent;

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

    #[test]
    fn out_of_time_the_best_so_far_is_taken() {
        let data = banana(300, 2);
        let params = SearchParams { seconds: Some(0.05), ..SearchParams::new(space()) };
        let base = Learner::find("svc").expect("known").learner();
        match search(&data, &[], &base, &params, Par::one(), &mut silent()) {
            Ok(found) => assert!(found.late && found.stages[0].cells.iter().any(|c| c.open)),
            Err(e) => assert!(e.to_string().contains("time ran out"), "{e}"),
        }
    }
}
