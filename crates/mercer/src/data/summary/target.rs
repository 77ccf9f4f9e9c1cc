//! Summary of the targets, with possible problems.

use serde::Serialize;

use super::{ENOUGH_ROWS, Finding, Spread};
use crate::data::Targets;

/// Ratio between the largest and the smallest class from which a finding is reported.
const BALANCE_RATIO: usize = 10;
/// A class needs a row in each of five folds.
const FEW_ROWS: usize = 5;

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TargetFacts {
    /// Nothing.
    None,
    /// Classes with their rows, in the labels' order.
    Classes {
        /// One entry per class.
        classes: Vec<ClassCount>,
    },
    /// Real numbers.
    Reals(Spread),
}

/// A class and its rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The class's name.
    pub name: String,
    /// Its rows.
    pub rows: usize,
}

/// The target of each row as a number, where it is one.
pub(super) fn answers(targets: &Targets, n: usize) -> Vec<f64> {
    match targets {
        Targets::Reals(y) => y.clone(),
        Targets::Classes(labels) => {
            let number: Vec<f64> =
                labels.names.iter().map(|s| s.trim().parse().unwrap_or(f64::NAN)).collect();
            labels.of_row.iter().map(|&k| number[k as usize]).collect()
        }
        Targets::None => vec![f64::NAN; n],
    }
}

pub(super) fn target_facts(targets: &Targets) -> TargetFacts {
    match targets {
        Targets::None => TargetFacts::None,
        Targets::Classes(labels) => {
            let of = |(name, rows): (&String, usize)| ClassCount { name: name.clone(), rows };
            TargetFacts::Classes { classes: labels.names.iter().zip(labels.counts()).map(of).collect() }
        }
        Targets::Reals(y) => {
            let n = y.len().max(1) as f64;
            let mean = y.iter().sum::<f64>() / n;
            let std = (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
            let min = y.iter().copied().fold(f64::INFINITY, f64::min);
            let max = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            TargetFacts::Reals(Spread { min, max, mean, std })
        }
    }
}

pub(super) fn target_findings(targets: &TargetFacts, n: usize, findings: &mut Vec<Finding>) {
    let TargetFacts::Classes { classes } = targets else { return };
    let mut held: Vec<&ClassCount> = classes.iter().filter(|c| c.rows > 0).collect();
    held.sort_by_key(|c| c.rows);
    let (Some(&smallest), Some(&largest)) = (held.first(), held.last()) else { return };
    if held.len() == 1 {
        findings.push(Finding::OneClass { name: largest.name.clone() });
        return;
    }
    let numbers = classes.iter().all(|c| c.name.trim().parse::<f64>().is_ok());
    if numbers && n >= 4 * ENOUGH_ROWS && 2 * held.len() > n {
        findings.push(Finding::ManyClasses { count: held.len() });
        return;
    }
    if largest.rows >= BALANCE_RATIO * smallest.rows {
        findings.push(Finding::Unbalanced { largest: largest.clone(), smallest: smallest.clone() });
    }
    let count = held.iter().filter(|c| c.rows < FEW_ROWS).count();
    if count > 0 {
        findings.push(Finding::FewRows { count, first: smallest.clone() });
    }
}
