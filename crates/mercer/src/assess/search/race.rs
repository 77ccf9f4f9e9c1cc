//! Evaluates the folds of a stage, all at once or in two heats with hopeless settings dropped in between.
//!
//! After a first heat of m of k folds a setting is behind the leader by `g = sum of differences` and could only win
//! by being better on the remaining k - m folds by `g / (k - m)` on average. It is dropped if that exceeds [`CHANCE`]
//! times the standard deviation of such differences between folds, over all settings near the leader.

use super::journal::Journal;
use super::table::Table;
use crate::assess::trials::{Batch, Trials};
use crate::error::Result;
use crate::model::Learner;
use crate::watch::Watch;

/// Number of standard deviations that a setting may have to catch up.
const CHANCE: f64 = 3.0;
/// Minimum number of folds for racing, and size of the first heat.
const WORTH: usize = 4;
const HEAT: usize = 2;

/// The inputs of a race.
pub(super) struct Heat<'a> {
    pub trials: &'a Trials<'a>,
    pub learners: &'a [Learner],
    /// The settings to evaluate, in order.
    pub order: &'a [usize],
    /// The number of the first setting in the journal.
    pub first: usize,
    /// Whether lower is better.
    pub lower: bool,
    /// Whether hopeless settings are dropped.
    pub race: bool,
    /// A setting that is never dropped, because others are compared with it.
    pub keep: Option<usize>,
}

/// Fills the rows of the table that are to be evaluated, and marks dropped and failed ones.
pub(super) fn run(
    heat: &Heat<'_>,
    table: &mut Table,
    mut journal: Option<&mut Journal>,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let folds = table.folds;
    let race = heat.race && folds >= WORTH;
    let first = if race { HEAT } else { folds };
    for part in [0..first, first..folds] {
        if part.is_empty() {
            continue;
        }
        if part.start > 0 {
            let hopeless = hopeless(&table.lines, part.start, heat.lower);
            for &cell in heat.order.iter().filter(|&&cell| Some(cell) != heat.keep) {
                table.dropped[cell] |= hopeless[cell] && !table.whole(cell);
            }
        }
        let (dropped, failed) = (table.dropped.clone(), table.failed.clone());
        let known: Vec<bool> = table.lines.iter().flatten().map(|score| !score.is_nan()).collect();
        let wanted =
            |cell: usize, fold: usize| !dropped[cell] && failed[cell].is_none() && part.contains(&fold);
        let batch = Batch {
            settings: heat.learners,
            order: heat.order,
            wanted: &wanted,
            known: &|cell, fold| known[cell * folds + fold],
        };
        let mut told = |cell: usize, fold: usize, score: Result<f64>| match score {
            Ok(score) => {
                table.lines[cell][fold] = score;
                journal.as_mut().map_or(Ok(()), |j| j.add(heat.first + cell, fold, score))
            }
            Err(why) => {
                table.fail(cell, why);
                Ok(())
            }
        };
        heat.trials.run_batch(&batch, &mut told, watch)?;
    }
    Ok(())
}

/// The settings that cannot win any more after these folds.
fn hopeless(table: &[Vec<f64>], seen: usize, lower: bool) -> Vec<bool> {
    let sign = if lower { 1.0 } else { -1.0 };
    let folds = table.first().map_or(0, Vec::len);
    let sum = |line: &Vec<f64>| line[..seen].iter().map(|s| sign * s).sum::<f64>();
    let order = |a: &&Vec<f64>, b: &&Vec<f64>| sum(a).total_cmp(&sum(b));
    let Some(leader) = table.iter().filter(|l| !sum(l).is_nan()).min_by(order) else {
        return vec![false; table.len()];
    };
    let differences = |line: &Vec<f64>| (0..seen).map(|f| sign * (line[f] - leader[f])).collect::<Vec<f64>>();
    // Variation of the differences to the leader, over the nearer half of all settings: distant ones vary for other
    // reasons.
    let mut near: Vec<&Vec<f64>> = table.iter().filter(|l| !sum(l).is_nan()).collect();
    near.sort_by(order);
    near.truncate(near.len().div_ceil(2).max(2));
    let mut vary = 0.0;
    for line in &near {
        let d = differences(line);
        let mean = d.iter().sum::<f64>() / seen as f64;
        vary += d.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (seen - 1).max(1) as f64;
    }
    let deviation = (vary / near.len().saturating_sub(1).max(1) as f64).sqrt();
    let left = (folds - seen) as f64;
    table
        .iter()
        .map(|line| {
            let behind: f64 = differences(line).iter().sum();
            behind.is_nan() || behind / left > CHANCE * deviation / left.sqrt() && deviation > 0.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_behind_is_dropped() {
        let nan = f64::NAN;
        let table = vec![
            vec![0.10, 0.12, nan, nan, nan],
            vec![0.11, 0.11, nan, nan, nan],
            vec![0.13, 0.12, nan, nan, nan],
            vec![0.45, 0.47, nan, nan, nan],
        ];
        assert_eq!(hopeless(&table, 2, true), [false, false, false, true]);
        let higher: Vec<Vec<f64>> = table.iter().map(|l| l.iter().map(|v| 1.0 - v).collect()).collect();
        assert_eq!(hopeless(&higher, 2, false), [false, false, false, true]);
    }
}
