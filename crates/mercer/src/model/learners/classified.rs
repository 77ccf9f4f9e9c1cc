//! Shared by learners on one kernel matrix: which rows are used, their codes, and the resulting expansion.

use crate::data::Targets;
use crate::error::{Error, Result};
use crate::model::{Role, Sample};

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/learners.md")]
struct Document;

/// The rows that a learner uses: those of positive weight, with their weights and classes.
#[derive(Debug)]
pub(in crate::model) struct Classified {
    /// Rows of the sample.
    pub(in crate::model) rows: Vec<u32>,
    /// Their weights.
    pub(in crate::model) weight: Vec<f64>,
    /// Their classes.
    pub(in crate::model) class: Vec<u32>,
    /// The classes' names.
    pub(in crate::model) names: Vec<String>,
}

impl Classified {
    /// The sample's classes, of which at least two must have rows.
    pub(in crate::model) fn of(sample: &Sample<'_>) -> Result<Self> {
        let labels = sample.targets.classes()?;
        let (rows, weight) = weighted_rows(sample)?;
        let class: Vec<u32> = rows.iter().map(|&i| labels.of_row[i as usize]).collect();
        let names = labels.names.clone();
        let mut seen = vec![false; names.len()];
        class.iter().for_each(|&c| seen[c as usize] = true);
        let there = seen.iter().filter(|s| **s).count();
        if there < 2 {
            return Err(Error::shape("classes", there, "at least 2"));
        }
        if let Some(c) = seen.iter().position(|s| !s) {
            return Err(Error::shape(format!("rows of class {}", names[c]), 0, "at least 1"));
        }
        Ok(Classified { rows, weight, class, names })
    }

    /// Codes of 1 and -1: one column for two classes (1: the second), else one per class.
    pub(in crate::model) fn codes(&self) -> Vec<Vec<f64>> {
        let code = |c: u32| self.class.iter().map(|&k| if k == c { 1.0 } else { -1.0 }).collect();
        match self.names.len() {
            2 => vec![code(1)],
            k => (0..k as u32).map(code).collect(),
        }
    }

    /// The role of the machine.
    pub(in crate::model) fn role(&self) -> Role {
        Role::Classes(self.names.clone())
    }
}

/// The rows of positive weight, and their weights.
pub(in crate::model) fn weighted_rows(sample: &Sample<'_>) -> Result<(Vec<u32>, Vec<f64>)> {
    let rows: Vec<u32> =
        (0..sample.points.len() as u32).filter(|&i| sample.weight(i as usize) > 0.0).collect();
    if rows.is_empty() {
        return Err(Error::param("row weights", 0, "above 0 for at least one row"));
    }
    let weight = rows.iter().map(|&i| sample.weight(i as usize)).collect();
    Ok((rows, weight))
}

/// Fails if a number of these rows is not finite.
pub(in crate::model) fn check_reals(y: &[f64], mut rows: impl Iterator<Item = usize>) -> Result<()> {
    match rows.find(|&i| !y[i].is_finite()) {
        Some(i) => Err(Error::param(format!("target of row {}", i + 1), y[i], "a finite number")),
        None => Ok(()),
    }
}

/// The rows of positive weight, their weights and their numbers, which must be finite.
pub(in crate::model) fn weighted_reals(
    sample: &Sample<'_>,
    y: &[f64],
) -> Result<(Vec<u32>, Vec<f64>, Vec<f64>)> {
    let (rows, weight) = weighted_rows(sample)?;
    check_reals(y, rows.iter().map(|&i| i as usize))?;
    let y = rows.iter().map(|&i| y[i as usize]).collect();
    Ok((rows, weight, y))
}

/// The rows that a learner uses, with the target of each output: numbers, or codes of the classes.
pub(in crate::model) struct Coded {
    pub(in crate::model) rows: Vec<u32>,
    pub(in crate::model) weight: Vec<f64>,
    /// Output by output.
    pub(in crate::model) targets: Vec<Vec<f64>>,
    pub(in crate::model) role: Role,
}

impl Coded {
    /// Of a sample's numbers or classes.
    pub(in crate::model) fn of(sample: &Sample<'_>) -> Result<Self> {
        if let Targets::Reals(y) = sample.targets {
            let (rows, weight, y) = weighted_reals(sample, y)?;
            return Ok(Coded { rows, weight, targets: vec![y], role: Role::Numbers });
        }
        let classes = Classified::of(sample)?;
        let (targets, role) = (classes.codes(), classes.role());
        Ok(Coded { rows: classes.rows, weight: classes.weight, targets, role })
    }
}

/// Row numbers as indices.
pub(in crate::model) fn places(rows: &[u32]) -> Vec<usize> {
    rows.iter().map(|&i| i as usize).collect()
}
