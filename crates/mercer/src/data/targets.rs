//! What is to be predicted: class labels kept as they were given, real numbers, or nothing.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The targets of a data set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Targets {
    /// No targets: unsupervised work.
    #[default]
    None,
    /// Class labels.
    Classes(Labels),
    /// Real numbers, for regression.
    Reals(Vec<f64>),
}

/// Class labels: names as they were given, and for each row the number of its name.
///
/// Names are ordered as numbers when all of them are numbers, else as text, so that the order does not depend on the
/// rows' order.
///
/// ```
/// use mercer::data::Labels;
/// let labels = Labels::new(["10", "9", "10"]);
/// assert_eq!(labels.names, ["9", "10"]);
/// assert_eq!(labels.of_row, [1, 0, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// The distinct names, in order.
    pub names: Vec<String>,
    /// For each row, the place of its name in `names`.
    pub of_row: Vec<u32>,
}

impl Labels {
    /// Labels from one name a row.
    pub fn new<S: AsRef<str>>(rows: impl IntoIterator<Item = S>) -> Self {
        let mut place = std::collections::HashMap::<String, u32>::new();
        let mut names: Vec<String> = Vec::new();
        let of_row: Vec<u32> = rows
            .into_iter()
            .map(|name| {
                let name = name.as_ref();
                if let Some(&k) = place.get(name) {
                    return k;
                }
                let k = names.len() as u32;
                names.push(name.to_owned());
                place.insert(name.to_owned(), k);
                k
            })
            .collect();
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        let number = |s: &String| s.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        if names.iter().all(|n| number(n).is_some()) {
            order.sort_by(|&a, &b| {
                let (a, b) = (&names[a as usize], &names[b as usize]);
                number(a).partial_cmp(&number(b)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b))
            });
        } else {
            order.sort_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
        }
        let mut new_place = vec![0u32; names.len()];
        for (new, &old) in order.iter().enumerate() {
            new_place[old as usize] = new as u32;
        }
        Labels {
            names: order.iter().map(|&k| names[k as usize].clone()).collect(),
            of_row: of_row.into_iter().map(|k| new_place[k as usize]).collect(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.of_row.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.of_row.is_empty()
    }

    /// Rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &k in &self.of_row {
            counts[k as usize] += 1;
        }
        counts
    }

    /// The row's own name.
    pub fn name_of(&self, row: usize) -> &str {
        &self.names[self.of_row[row] as usize]
    }

    /// The labels of some rows; all names are kept, also those that no longer occur.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        Labels { names: self.names.clone(), of_row: rows.iter().map(|&i| self.of_row[i]).collect() }
    }
}

impl Targets {
    /// Number of rows, where there are targets.
    pub fn len(&self) -> Option<usize> {
        match self {
            Targets::None => None,
            Targets::Classes(labels) => Some(labels.len()),
            Targets::Reals(y) => Some(y.len()),
        }
    }

    /// Whether there are no targets, or none for any row.
    pub fn is_empty(&self) -> bool {
        self.len().is_none_or(|n| n == 0)
    }

    /// The targets of some rows.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        match self {
            Targets::None => Targets::None,
            Targets::Classes(labels) => Targets::Classes(labels.gather(rows)),
            Targets::Reals(y) => Targets::Reals(rows.iter().map(|&i| y[i]).collect()),
        }
    }

    /// The labels, or a message that says what there is instead.
    pub fn classes(&self) -> Result<&Labels> {
        match self {
            Targets::Classes(labels) => Ok(labels),
            Targets::Reals(_) => Err(Error::shape("targets", "real numbers", "class labels")),
            Targets::None => Err(Error::shape("targets", "none", "class labels")),
        }
    }

    /// The numbers, or a message that says what there is instead.
    pub fn reals(&self) -> Result<&[f64]> {
        match self {
            Targets::Reals(y) => Ok(y),
            Targets::Classes(_) => Err(Error::shape("targets", "class labels", "real numbers")),
            Targets::None => Err(Error::shape("targets", "none", "real numbers")),
        }
    }
}
