//! A search over kernels and scalings within a time limit, with an honest estimate of the resulting error.
//!
//! A fifth of the rows is held out first. On the others every scaling of the columns gets its share of the time for a
//! search over kernels and parameters ([`tune`]), the one preferred by the quick estimate first. The cross-validation
//! score of the best of many settings is optimistic: it is partly chance. So where rows are few, the best of each search
//! meets the quick setting again, on new folds in repeated cross-validation, and replaces it only if it leads by more than
//! 1.5 standard errors. The winner is fitted on the same rows and evaluated on those held out. They took no part in any
//! decision, so their error is an unbiased estimate, slightly pessimistic because the final fit uses all rows.
//! If the quick setting is kept, it is chosen once more on all rows before the final fit, by the rule whose result was
//! evaluated; the estimate is that of the choice made without the held-out rows.

use std::time::{Duration, Instant};

use crate::assess::evaluation::Evaluation;
use crate::assess::metric::{Better, Metric};
use crate::assess::quick::{lead, quick, scalings};
use crate::assess::search::Found;
use crate::assess::tuning::{Tuning, tune};
use crate::assess::validate::{Splits, cross_validate};
use crate::data::{Dataset, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Choice, Plan, Scaling, Wishes};
use crate::watch::Watch;

/// Share of rows held out, and their maximum number, beyond which precision hardly improves.
const HELD_OUT: f64 = 0.2;
const MOST_HELD_OUT: usize = 5000;
/// With fewer rows to search on, none are held out, and no error is estimated.
const FEWEST: usize = 50;
/// Share of the time for searching if finalists are compared afterwards, and if not; share until whose end they are
/// compared. The rest is for the evaluated fit and the final one.
const SEARCHING: f64 = 0.6;
const SEARCHING_ALONE: f64 = 0.75;
const COMPARING: f64 = 0.8;
/// Maximum number of rows for which finalists are compared again: with more, the noise of one cross-validation is small.
const MOST_COMPARED: usize = 3000;
/// Repetitions of the cross-validation that compares finalists, and its folds.
const REPETITIONS: u64 = 6;
const FOLDS: usize = 5;
/// Standard errors by which a finalist must lead the quick setting: with one alone, the luckiest of several finalists
/// would often pass by chance.
const LEAD: f64 = 1.5;

/// The expected error of a model, measured on held-out rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// The error rate, with its 95 % confidence interval.
    Error {
        /// The error rate.
        rate: f64,
        /// The interval.
        between: [f64; 2],
        /// Rows held out.
        rows: usize,
    },
    /// The root mean squared error and R^2.
    Numbers {
        /// The root mean squared error.
        rmse: f64,
        /// R².
        r2: f64,
        /// Rows held out.
        rows: usize,
    },
}

impl Expected {
    fn of(evaluation: &Evaluation) -> Option<Self> {
        match evaluation {
            Evaluation::Classification(e) => {
                Some(Expected::Error { rate: e.error, between: e.interval, rows: e.rows })
            }
            Evaluation::Regression(e) => Some(Expected::Numbers { rmse: e.rmse, r2: e.r2, rows: e.rows }),
            _ => None,
        }
    }

    fn choice(&self) -> Choice {
        let (value, rows) = match self {
            Expected::Error { rate, between: [low, high], rows } => {
                let per_cent = |v: f64| format!("{:.1}", 100.0 * v);
                let (rate, low, high) = (per_cent(*rate), per_cent(*low), per_cent(*high));
                (format!("{rate} %, 95 % confidence interval {low} to {high} %"), rows)
            }
            Expected::Numbers { rmse, r2, rows } => {
                (format!("root mean squared error {rmse:.4}, R^2 {r2:.3}"), rows)
            }
        };
        Choice {
            what: "expected error".into(),
            value,
            why: Some(format!(
                "on {rows} rows that took no part in any choice; the model is then fitted on all rows"
            )),
        }
    }
}

/// The result of a thorough search.
#[derive(Debug, Clone)]
pub struct Thorough {
    /// The best search.
    pub found: Found,
    /// Whether the setting of the quick estimate was kept because no search leads it beyond noise.
    pub kept: bool,
    /// The expected error; `None` if there were too few rows to hold any out.
    pub expected: Option<Expected>,
    /// Whether the watcher cancelled.
    pub stopped: bool,
}

/// Sets scaling, kernel and parameters of a plan by a search that takes about `seconds` seconds.
///
/// ```
/// use mercer::assess::thorough;
/// use mercer::data::{Dataset, toy};
/// use mercer::model::{Plan, Wishes};
/// use mercer::{Exec, watch};
///
/// let (points, targets) = toy::banana(150, 1);
/// let data = Dataset::new(points, targets)?;
/// let mut plan = Plan::new(&data, &Wishes::default(), Exec::one())?;
/// let found = thorough(&mut plan, &Wishes::default(), 1.0, Exec::one(), &mut watch::silent())?;
/// assert!(found.expected.is_some());
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn thorough(
    plan: &mut Plan<'_>,
    wishes: &Wishes,
    seconds: f64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Thorough> {
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Err(Error::param("seconds", seconds, "a number above 0"));
    }
    let begun = Instant::now();
    let data = plan.data();
    let (inside, outside) = held_out(data, wishes.seed)?;
    let rows = inside.as_ref().unwrap_or(data);
    let mut start = Plan::new(rows, wishes, exec)?;
    quick(&mut start, wishes.seed, exec, watch)?;
    let mut ways = vec![start.recipes.clone()];
    ways.extend(scalings(&start)?.into_iter().filter(|way| *way != start.recipes));
    let given = plan.learner.kernel().filter(|_| !plan.open.kernel);
    let compare = rows.len() <= MOST_COMPARED && !start.is_layered();
    let searching = if compare { SEARCHING } else { SEARCHING_ALONE };
    let tuning = Tuning {
        kernels: given.map_or_else(|| vec!["auto".to_owned()], |kernel| vec![kernel.to_string()]),
        two_stage: true,
        race: true,
        seed: wishes.seed,
        seconds: Some(searching * seconds / ways.len() as f64),
        ..Tuning::default()
    };
    let mut tried_all: Vec<(Found, Plan<'_>)> = Vec::new();
    let mut stopped = false;
    for way in ways {
        let mut tried = if way == start.recipes {
            start.clone()
        } else {
            Plan::new(rows, &Wishes { scaling: Scaling::Given(way), ..wishes.clone() }, exec)?
        };
        let found = tune(&mut tried, &tuning, exec, watch)?;
        stopped |= found.stopped;
        tried_all.push((found, tried));
        if stopped {
            break;
        }
    }
    let loss = |(found, _): &(Found, Plan<'_>)| {
        let sign = if found.metric.better == Better::Lower { 1.0 } else { -1.0 };
        sign * found.best.score.mean
    };
    let first = (0..tried_all.len()).min_by(|a, b| loss(&tried_all[*a]).total_cmp(&loss(&tried_all[*b])));
    let mut first = first.ok_or(Error::Cancelled)?;
    let mut kept = false;
    if compare && !stopped {
        let finalists: Vec<&Plan<'_>> =
            std::iter::once(&start).chain(tried_all.iter().map(|(_, p)| p)).collect();
        let until = begun + Duration::from_secs_f64(COMPARING * seconds);
        match compared(&finalists, rows, tried_all[first].0.metric, wishes.seed, until, exec, watch) {
            Ok(0) => kept = true,
            Ok(at) => first = at - 1,
            Err(Error::Cancelled) => stopped = true,
            // Folds without all classes, say: the searches decide.
            Err(_) => {}
        }
    }
    let (found, winner) = tried_all.swap_remove(first);
    let winner = if kept { start } else { winner };
    let expected = match &outside {
        Some(outside) if !stopped => {
            Expected::of(&Evaluation::new(&winner.fit(exec, watch)?, outside, exec)?)
        }
        _ => None,
    };
    let why = if kept {
        format!(
            "no setting of a search over kernels and scalings is better by {} beyond noise",
            found.metric.name
        )
    } else {
        format!(
            "best by {} on {} folds, in a search over kernels and scalings",
            found.metric.name, found.folds
        )
    };
    if kept {
        // The quick setting is chosen again, on all rows: those held out are a fifth of what it can learn from.
        quick(plan, wishes.seed, exec, watch)?;
        let kernel = plan.choices.iter_mut().filter(|choice| choice.what == "kernel" && choice.why.is_some());
        kernel.for_each(|choice| choice.why = Some(why.clone()));
    } else {
        plan.settle(winner.recipes.clone(), winner.learner.clone(), &why, exec)?;
    }
    plan.choices.extend(expected.as_ref().map(Expected::choice));
    Ok(Thorough { found, kept, expected, stopped })
}

/// Which finalist wins a repeated cross-validation: the one that leads the first by most beyond its noise, or the first.
fn compared(
    finalists: &[&Plan<'_>],
    rows: &Dataset,
    metric: &'static Metric,
    seed: u64,
    until: Instant,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<usize> {
    let sign = if metric.better == Better::Lower { 1.0 } else { -1.0 };
    let mut losses = vec![Vec::new(); finalists.len()];
    for repetition in 0..REPETITIONS {
        // Seeds of its own: the folds of the searches favour their winners.
        let seed = seed.wrapping_add(repetition) ^ 0x00c0_ffee_5eed;
        let folds = Splits::Folds { folds: FOLDS, times: 1 }.folds(rows, seed)?;
        for (plan, losses) in finalists.iter().zip(&mut losses) {
            let score = cross_validate(rows, &plan.recipes, &plan.learner, &folds, metric, exec, watch)?;
            losses.extend(score.folds.iter().map(|v| sign * v));
        }
        if Instant::now() >= until {
            break;
        }
    }
    let shared = 1.0 / (FOLDS - 1) as f64;
    let leads = losses.iter().map(|own| lead(&losses[0], own, rows, shared, LEAD));
    // A setting that failed on a fold does not lead.
    let best =
        leads.enumerate().skip(1).filter(|(_, lead)| lead.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1));
    Ok(best.filter(|(_, lead)| *lead > 0.0).map_or(0, |(at, _)| at))
}

/// The rows to search on and those held out; `None` if all are needed.
fn held_out(data: &Dataset, seed: u64) -> Result<(Option<Dataset>, Option<Dataset>)> {
    let n = data.len();
    if ((1.0 - HELD_OUT) * n as f64) < FEWEST as f64 {
        return Ok((None, None));
    }
    let share = HELD_OUT.min(MOST_HELD_OUT as f64 / n as f64);
    // A seed of its own, so that inner folds are independent of this split.
    let fold = split::holdout_of(n, &data.targets, share, seed ^ 0x005e_ed0f_4e1d)?;
    Ok((Some(data.gather(&fold.train)), Some(data.gather(&fold.test))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Points, Targets, toy};
    use crate::watch::silent;
    use mercer_testkit::toy::normals;

    #[test]
    fn held_out_rows_judge_what_was_found_without_them() {
        let (points, targets) = toy::banana(300, 2);
        let data = Dataset::new(points, targets).expect("whole");
        let wishes = Wishes::default();
        let mut plan = Plan::new(&data, &wishes, Exec::one()).expect("a plan");
        let found = thorough(&mut plan, &wishes, 2.0, Exec::one(), &mut silent()).expect("found");
        let Some(Expected::Error { rate, between: [low, high], rows }) = found.expected else {
            panic!("classes")
        };
        assert!(rows == 60 && low <= rate && rate <= high && rate < 0.3, "{rate} {low} {high} {rows}");
        assert!(found.kept || plan.learner == found.found.learner);
        assert!(plan.choices.iter().any(|choice| choice.what == "expected error"));
        // The last fit sees all rows.
        assert_eq!(plan.data().len(), 300);
    }

    /// A product of two of many columns is found by a polynomial; of targets at random nothing is better than the quick
    /// setting, although the best of many settings always looks so.
    #[test]
    fn a_search_replaces_the_quick_setting_only_beyond_noise() {
        let (n, d) = (240, 10);
        let x = normals(n, d, 5);
        let product = x.chunks(d).map(|row| row[0] * row[1]).collect();
        for (y, kept) in [(product, false), (normals(n, 1, 6), true)] {
            let points = Points::dense(x.clone(), d).expect("rows");
            let data = Dataset::new(points, Targets::Reals(y)).expect("whole");
            let wishes = Wishes::default();
            let mut plan = Plan::new(&data, &wishes, Exec::one()).expect("a plan");
            let found = thorough(&mut plan, &wishes, 6.0, Exec::one(), &mut silent()).expect("found");
            assert_eq!(found.kept, kept, "{:?}", plan.learner.kernel());
            assert_eq!(kept, plan.learner != found.found.learner);
        }
    }

    #[test]
    fn a_few_rows_get_a_model_and_no_promise() {
        let x: Vec<f64> = (0..40).map(f64::from).collect();
        let y = x.iter().map(|x| (x / 5.0).sin()).collect();
        let data = Dataset::new(Points::dense(x, 1).expect("rows"), Targets::Reals(y)).expect("whole");
        let wishes = Wishes::default();
        let mut plan = Plan::new(&data, &wishes, Exec::one()).expect("a plan");
        let found = thorough(&mut plan, &wishes, 1.0, Exec::one(), &mut silent()).expect("found");
        assert_eq!(found.expected, None);
        assert!(thorough(&mut plan, &wishes, 0.0, Exec::one(), &mut silent()).is_err());
        assert!(plan.fit(Exec::one(), &mut silent()).is_ok());
    }
}
