//! What learners share that train on rows of classes or numbers in one matrix: which rows, which codes, which expansion.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{self, Rows};
use crate::kernel::Kernel;
use crate::model::{Role, Sample};

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/learners.md")]
struct Document;

/// The rows a learner takes part in: those of positive weight, with their weights and classes.
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
    /// The sample's classes, of which there must be two at least with a row each.
    pub(in crate::model) fn of(sample: &Sample<'_>) -> Result<Self> {
        let labels = sample.targets.classes()?;
        let (rows, weight) = weighted_rows(sample)?;
        let class: Vec<u32> = rows.iter().map(|&i| labels.of_row[i as usize]).collect();
        let names = labels.names.clone();
        let mut seen = vec![false; names.len()];
        class.iter().for_each(|&c| seen[c as usize] = true);
        let there = seen.iter().filter(|s| **s).count();
        if there < 2 {
            return Err(Error::shape("classes", there, "at least 2 to tell apart"));
        }
        if let Some(c) = seen.iter().position(|s| !s) {
            return Err(Error::shape(format!("rows of class {}", names[c]), 0, "at least 1"));
        }
        Ok(Classified { rows, weight, class, names })
    }

    /// Codes of 1 and -1: one column for two classes (1: the second), else one a class.
    pub(in crate::model) fn codes(&self) -> Vec<Vec<f64>> {
        let code = |c: u32| self.class.iter().map(|&k| if k == c { 1.0 } else { -1.0 }).collect();
        match self.names.len() {
            2 => vec![code(1)],
            k => (0..k as u32).map(code).collect(),
        }
    }

    /// What answers are.
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

/// The kernel matrix on some rows of a sample, in f64. Fails if it would not fit into the memory budget, twice:
/// learners work on it beside a copy or two of their own.
pub(in crate::model) fn matrix(
    kernel: &Kernel,
    sample: &Sample<'_>,
    rows: &[u32],
    exec: Exec,
) -> Result<Vec<f64>> {
    let n = rows.len();
    room(n, 2, exec.budget())?;
    let Some(gram) = sample.gram else {
        let points = sample.points.gather(&places(rows));
        return Ok(gram::square::<f64>(kernel, points.view(), exec)?.to_vec());
    };
    let part = gram.subset(rows);
    let part: &dyn Rows = part.as_ref();
    let mut out = vec![0.0; n * n];
    for (i, line) in out.chunks_mut(n.max(1)).enumerate() {
        part.apply(&[i as u32], &[1.0], line, exec);
    }
    Ok(out)
}

/// Fails if so many n x n matrices of f64 need more than these bytes.
pub(in crate::model) fn room(n: usize, copies: usize, bytes: usize) -> Result<()> {
    let most = ((bytes / (8 * copies)) as f64).sqrt() as usize;
    if n <= most {
        return Ok(());
    }
    let allowed = format!("at most {most} in this memory; learners svc and kfd-greedy take any number");
    Err(Error::param("training rows", n, allowed))
}

/// Row numbers as places.
pub(in crate::model) fn places(rows: &[u32]) -> Vec<usize> {
    rows.iter().map(|&i| i as usize).collect()
}

/// An expansion of k outputs on some rows of a sample, and the rows that stayed: those with a coefficient that is not zero.
pub(in crate::model) fn expansion(
    kernel: Kernel,
    sample: &Sample<'_>,
    rows: &[u32],
    coef: Vec<f64>,
    offset: Vec<f64>,
    exec: Exec,
) -> Result<(Expansion, Vec<u32>)> {
    let k = offset.len();
    let support = rows
        .iter()
        .zip(coef.chunks(k.max(1)))
        .filter(|(_, c)| c.iter().any(|c| *c != 0.0))
        .map(|(&i, _)| i)
        .collect();
    let whole = Expansion::new(kernel, sample.points.gather(&places(rows)), coef, offset)?;
    Ok((crate::model::svc::collapsed(whole, exec)?, support))
}
