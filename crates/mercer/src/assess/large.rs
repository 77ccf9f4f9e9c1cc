//! The kernel's width and lambda of a machine for large data, by held-out rows of a part of the data.
//!
//! What suits a machine of a thousand rows is too smooth for one of a million: the width is looked for where centres and rows
//! are many. From where the plan stands gamma goes in steps of 4 and of 2, and lambda in steps of 10, as long as the error on
//! held-out rows falls. Every setting is a fit of at most a thousand centres on at most 16,000 rows.
//!
//! Cost: some ten such fits, a few seconds, whatever the number of rows. It decides by errors alone, so the same seed gives the
//! same settings.

use serde_json::{Value, json};

use crate::data::{Dataset, Targets, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::{Learner, Plan, Sample, Wishes};
use crate::watch::{Step, Stop, Watch};

/// Rows that settings are judged with, and the share of them that is held out.
const ROWS: usize = 20_000;
const HELD_OUT: usize = 5;
/// The part of the memory that they may take.
const SHARE: usize = 24;
/// Centres of a setting that is judged, at most, and rows for each.
const CENTRES: u64 = 1000;
const ROWS_PER_CENTRE: u64 = 8;
/// With fewer rows held-out ones say little.
const FEWEST: usize = 1000;
/// Steps of gamma and of lambda, and how often each is gone at most.
const WIDE: f64 = 4.0;
const NARROW: f64 = 2.0;
const LAMBDA: f64 = 10.0;
const STEPS: usize = 4;
/// The share by which an error must fall: less is chance.
const GAIN: f64 = 0.003;

/// What was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargeChoice {
    /// How many settings.
    pub settings: usize,
    /// On how many rows.
    pub rows: usize,
    /// The held-out error where it began: the share of wrong classes, or the mean square of errors.
    pub before: f64,
    /// That of the setting taken.
    pub after: f64,
}

/// Settles gamma and lambda of a plan for the learner `large` or one of its forms, as far as nobody asked for them. `None`, and
/// the plan as it was, for other learners, where both were given, or where there are too few rows.
///
/// ```
/// use mercer::assess::choose_large;
/// use mercer::data::{Dataset, toy};
/// use mercer::model::{Plan, Wishes};
/// use mercer::{Exec, watch};
///
/// let (points, targets) = toy::banana(2000, 1);
/// let data = Dataset::new(points, targets)?;
/// let wishes = Wishes { learner: Some("large".into()), ..Wishes::default() };
/// let mut plan = Plan::new(&data, &wishes, Exec::one())?;
/// let found = choose_large(&mut plan, &wishes, 0, Exec::one(), &mut watch::silent())?.expect("nothing was given");
/// assert!(found.after <= found.before);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn choose_large(
    plan: &mut Plan<'_>,
    wishes: &Wishes,
    seed: u64,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Option<LargeChoice>> {
    let Learner::Large(params) = &plan.learner else { return Ok(None) };
    let free = !wishes.params.iter().any(|(name, _)| *name == "lambda");
    let gamma = match plan.learner.kernel() {
        Some(Kernel::Rbf { gamma }) if plan.open.kernel => Some(*gamma),
        _ => None,
    };
    if gamma.is_none() && !free || plan.is_layered() || plan.data().len() < FEWEST {
        return Ok(None);
    }
    // Rows twice, and their kernel values, within a part of the memory.
    let line =
        2 * plan.points().view().bytes() / plan.data().len() + 8 * params.centres.min(CENTRES) as usize;
    let most = ROWS.min(exec.budget() / SHARE / line.max(1));
    if most < FEWEST {
        return Ok(None);
    }
    let part = part(plan, most, seed)?;
    if !varied(&part.targets) {
        return Ok(None);
    }
    let n = part.len();
    let mut judged = params.clone();
    judged.centres = params.centres.min(CENTRES).min(n as u64 / ROWS_PER_CENTRE);
    (judged.held_out, judged.path) = ((n / HELD_OUT) as u64, 0);
    let mut run = Run { part: &part, base: Learner::Large(judged), exec, settings: 0 };
    let start = Setting { gamma: gamma.unwrap_or(0.0), lambda: params.lambda };
    let Some(before) = run.error(start, watch)? else { return Ok(None) };
    let mut best = (start, before);
    if gamma.is_some() {
        run.walk(&mut best, |s, by| Setting { gamma: two_digits(s.gamma * by), ..s }, WIDE, STEPS, watch)?;
    }
    if free {
        run.walk(
            &mut best,
            |s, by| Setting { lambda: two_digits(s.lambda * by), ..s },
            LAMBDA,
            STEPS,
            watch,
        )?;
    }
    if gamma.is_some() {
        run.walk(&mut best, |s, by| Setting { gamma: two_digits(s.gamma * by), ..s }, NARROW, 1, watch)?;
    }
    let (setting, after) = best;
    let found = LargeChoice { settings: run.settings, rows: n, before, after };
    let mut learner = plan.learner.clone();
    if gamma.is_some() {
        learner.set_kernel(Kernel::Rbf { gamma: setting.gamma });
    }
    learner.set("lambda", json!(setting.lambda))?;
    let (name, of) = match &part.targets {
        Targets::Reals(_) => ("root mean squared error", f64::sqrt as fn(f64) -> f64),
        _ => ("error rate", f64::abs as fn(f64) -> f64),
    };
    let why = format!(
        "best of {} settings on {} held-out rows of {n}: {name} {:.4}, before {:.4}",
        found.settings,
        n / HELD_OUT,
        of(after),
        of(before)
    );
    let recipes = plan.recipes.clone();
    plan.settle(recipes, learner, &why, exec)?;
    Ok(Some(found))
}

/// A sample of at most so many rows after all stages, stratified by class.
fn part(plan: &Plan<'_>, most: usize, seed: u64) -> Result<Dataset> {
    let (data, n) = (plan.data(), plan.data().len());
    let rows = if n <= most {
        (0..n).collect()
    } else {
        split::holdout_of(n, &data.targets, most as f64 / n as f64, seed)?.test
    };
    Dataset::new(plan.points().gather(&rows), data.targets.gather(&rows))
}

fn varied(targets: &Targets) -> bool {
    match targets {
        Targets::Classes(labels) => labels.counts().iter().filter(|&&rows| rows > 1).count() > 1,
        Targets::Reals(y) => y.iter().any(|v| *v != y[0]),
        Targets::None => false,
    }
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    gamma: f64,
    lambda: f64,
}

/// What settings are judged with.
struct Run<'a> {
    part: &'a Dataset,
    base: Learner,
    exec: Exec,
    settings: usize,
}

impl Run<'_> {
    /// Goes up, or where that gains nothing down, as long as the error falls.
    fn walk(
        &mut self,
        best: &mut (Setting, f64),
        moved: impl Fn(Setting, f64) -> Setting,
        by: f64,
        most: usize,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        for by in [by, 1.0 / by] {
            let mut gained = false;
            for _ in 0..most {
                let next = moved(best.0, by);
                match self.error(next, watch)? {
                    Some(error) if error < best.1 * (1.0 - GAIN) => (*best, gained) = ((next, error), true),
                    _ => break,
                }
            }
            if gained {
                break;
            }
        }
        Ok(())
    }

    /// The held-out error of a setting; none where it cannot be fitted.
    fn error(&mut self, setting: Setting, watch: &mut Watch<'_>) -> Result<Option<f64>> {
        let mut learner = self.base.clone();
        if setting.gamma > 0.0 {
            learner.set_kernel(Kernel::Rbf { gamma: setting.gamma });
        }
        learner.set("lambda", Value::from(setting.lambda))?;
        self.settings += 1;
        let done = self.settings as u64;
        let mut inner = |_: &Step| watch(&Step::new("width and lambda", done, None));
        let sample = Sample::new(&self.part.points, &self.part.targets);
        match learner.fit(sample, self.exec, &mut inner) {
            Ok(machine) if machine.info.stop == Stop::Cancelled => Err(Error::Cancelled),
            Ok(machine) => {
                Ok(machine.info.held_out.last().map(|held| held.error).filter(|error| error.is_finite()))
            }
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(_) => Ok(None),
        }
    }
}

fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}
