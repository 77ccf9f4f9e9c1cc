//! Runs that alternate: Mercer, peer, Mercer, peer; the best of several counts.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::Args;
use crate::side::Side;

/// One thing for one side to do, timed by that side.
#[derive(Debug)]
pub(crate) struct Task {
    /// What it is called in the report.
    pub(crate) label: String,
    /// Which side does it.
    pub(crate) side: usize,
    /// The request.
    pub(crate) request: Value,
}

/// How a task went.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) label: String,
    /// The best run.
    pub(crate) seconds: f64,
    /// The first run: memory is fresh, threads start.
    pub(crate) first: f64,
    /// Peak memory of the side during its leanest run.
    pub(crate) peak_mb: Option<f64>,
    /// The last answer, with whatever else the side told.
    pub(crate) answer: Value,
}

/// Asks all tasks in turn, so many rounds; a side that has used up its seconds is left out of later rounds. A task whose side
/// has a limit and failed before any answer has no outcome.
pub(crate) fn run(sides: &mut [Side], tasks: &[Task], args: &Args) -> Result<Vec<Outcome>> {
    let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(|_| None).collect();
    let mut spent = vec![0.0; tasks.len()];
    for _ in 0..args.repeats.max(1) {
        for ((task, outcome), spent) in tasks.iter().zip(&mut outcomes).zip(&mut spent) {
            if *spent >= args.budget {
                continue;
            }
            let answer = match sides[task.side].ask(&task.request) {
                Err(error) if sides[task.side].is_lost() => {
                    eprintln!("bench: {error:#}");
                    *spent = f64::INFINITY;
                    continue;
                }
                answer => answer.with_context(|| task.label.clone())?,
            };
            let seconds = answer["seconds"].as_f64().context("an answer without seconds")?;
            *spent += seconds;
            *outcome = Some(better(outcome.take(), &task.label, seconds, answer));
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
}

fn better(old: Option<Outcome>, label: &str, seconds: f64, answer: Value) -> Outcome {
    let peak_mb = answer["peak_mb"].as_f64();
    let label = label.to_owned();
    match old {
        None => Outcome { label, seconds, first: seconds, peak_mb, answer },
        Some(old) => Outcome {
            label,
            seconds: old.seconds.min(seconds),
            first: old.first,
            peak_mb: old.peak_mb.into_iter().chain(peak_mb).reduce(f64::min),
            answer,
        },
    }
}

/// The outcome with this label.
pub(crate) fn of<'a>(outcomes: &'a [Outcome], label: &str) -> Result<&'a Outcome> {
    outcomes.iter().find(|o| o.label == label).with_context(|| format!("`{label}` was not run"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_fastest_run_counts() {
        let mut outcome = None;
        for (seconds, peak) in [(2.0, 10.0), (1.0, 30.0), (3.0, 20.0)] {
            outcome = Some(better(outcome, "a", seconds, json!({"peak_mb": peak, "sv": seconds})));
        }
        let outcome = outcome.expect("three runs");
        assert_eq!((outcome.seconds, outcome.peak_mb), (1.0, Some(10.0)));
        assert_eq!(outcome.answer["sv"], 3.0);
    }
}
