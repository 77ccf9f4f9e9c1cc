//! A data set: points, targets, and their names.

use super::io::Format;
use super::{Points, Row, Table, Targets};
use crate::error::{Error, Result};
use crate::watch::Note;

/// Points and their targets, as a file gives them.
///
/// ```
/// use mercer::prelude::*;
/// let points = Points::dense(vec![0.0, 1.0, 2.0], 1)?;
/// let data = Dataset::new(points, Targets::Reals(vec![0.1, 0.9, 2.1]))?;
/// assert_eq!((data.len(), data.dim()), (3, 1));
/// assert_eq!(data.gather(&[2]).targets, Targets::Reals(vec![2.1]));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The points.
    pub points: Points,
    /// One target per point, or none.
    pub targets: Targets,
    /// Names of the columns, where the source has them.
    pub column_names: Option<Vec<String>>,
    /// Name of the target's column, where the source has one.
    pub target_name: Option<String>,
    /// Which column of a table the target was taken from.
    pub target_from: Option<TargetFrom>,
    /// Names of the rows, where the source has them (FASTA).
    pub row_names: Option<Vec<String>>,
    /// Columns copied verbatim, if requested: see [`ReadOptions::copy`](super::io::ReadOptions::copy).
    pub copied: Option<Table>,
    /// What a reader decided or ignored, in words: the format it recognised, the label column it took.
    pub notes: Vec<Note>,
    /// The format it was read from.
    pub format: Option<Format>,
}

/// How a reader found the target of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFrom {
    /// The column's number in the file, from 1.
    pub column: usize,
    /// Why this one; nothing where it was asked for.
    pub why: Option<String>,
    /// Whether it might as well be another: the place alone decided, or several names would do.
    pub guessed: bool,
}

impl Dataset {
    /// Points with their targets; there must be one target a point, or none at all.
    ///
    /// ```
    /// use mercer::data::{Dataset, Labels, Points, Targets};
    /// let points = Points::dense(vec![0.0, 1.0, 2.0, 3.0], 2)?;
    /// let data = Dataset::new(points, Targets::Classes(Labels::new(["a", "b"])))?;
    /// assert_eq!((data.len(), data.dim()), (2, 2));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn new(points: Points, targets: Targets) -> Result<Self> {
        if let Some(n) = targets.len().filter(|&n| n != points.len()) {
            return Err(Error::shape("targets", n, format!("one for each of {} points", points.len())));
        }
        Ok(Dataset {
            points,
            targets,
            column_names: None,
            target_name: None,
            target_from: None,
            row_names: None,
            copied: None,
            notes: Vec::new(),
            format: None,
        })
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: impl Into<Note>) {
        self.notes.push(note.into());
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Number of columns (for sequences, the longest length).
    pub fn dim(&self) -> usize {
        self.points.dim()
    }

    /// A number that tells whether two data sets hold the same rows and targets in the same order: FNV-1a (Fowler, Noll
    /// and Vo 1991) over all of them. Storage does not matter: dense, sparse and whole numbers in either precision agree.
    /// No proof against somebody who wants two sets to agree.
    ///
    /// ```
    /// use mercer::data::{Dataset, Points, Targets};
    /// let set = |x: f64| Dataset::new(Points::dense(vec![1.0, x], 2)?, Targets::Reals(vec![3.0]));
    /// assert_eq!(set(2.0)?.checksum(), set(2.0)?.checksum());
    /// assert_ne!(set(2.0)?.checksum(), set(2.5)?.checksum());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn checksum(&self) -> u64 {
        let mut sum = Sum(0xcbf2_9ce4_8422_2325);
        sum.number(self.dim() as f64);
        for i in 0..self.len() {
            match self.points.row(i) {
                // Zeros are not counted, so that a sparse row is its dense self.
                Row::F32(x) => x.iter().enumerate().for_each(|(j, &v)| sum.at(j, f64::from(v))),
                Row::F64(x) => x.iter().enumerate().for_each(|(j, &v)| sum.at(j, v)),
                Row::Sparse { column, value, .. } => {
                    column.iter().zip(value).for_each(|(&j, &v)| sum.at(j as usize, v));
                }
                Row::Sequence(symbols) => sum.bytes(symbols),
                Row::Number(n) => sum.number(f64::from(n)),
                Row::Cells { table, row } => {
                    for column in table.columns() {
                        match column.cell(row) {
                            Some(text) => sum.bytes(text.as_bytes()),
                            None => sum.number(f64::NAN),
                        }
                    }
                }
            }
            sum.number(i as f64);
        }
        match &self.targets {
            Targets::None => {}
            Targets::Reals(y) => y.iter().for_each(|&v| sum.number(v)),
            Targets::Classes(labels) => {
                (0..labels.len()).for_each(|i| sum.bytes(labels.name_of(i).as_bytes()));
            }
        }
        sum.0
    }

    /// Copies of some rows with their targets, in the order asked.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        Dataset {
            points: self.points.gather(rows),
            targets: self.targets.gather(rows),
            column_names: self.column_names.clone(),
            target_name: self.target_name.clone(),
            target_from: self.target_from.clone(),
            row_names: self.row_names.as_ref().map(|names| rows.iter().map(|&i| names[i].clone()).collect()),
            copied: self.copied.as_ref().map(|table| table.gather(&rows.iter().copied())),
            notes: self.notes.clone(),
            format: self.format,
        }
    }
}

/// A running checksum.
struct Sum(u64);

impl Sum {
    fn bytes(&mut self, bytes: &[u8]) {
        // The length keeps two short texts from being one long one.
        for &byte in bytes.iter().chain(&(bytes.len() as u32).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, value: f64) {
        self.bytes(&value.to_le_bytes());
    }

    fn at(&mut self, column: usize, value: f64) {
        if value != 0.0 {
            self.number(column as f64);
            self.number(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;

    #[test]
    fn the_checksum_sees_rows_order_and_targets_but_not_storage() {
        let set = |points: Points, y: [&str; 2]| {
            Dataset::new(points, Targets::Classes(Labels::new(y))).expect("two rows").checksum()
        };
        let dense = |x: [f64; 4]| Points::dense(x.to_vec(), 2).expect("rows");
        let x = [1.0, 0.0, 0.0, -2.5];
        let one = set(dense(x), ["a", "b"]);
        let csr = crate::data::Csr { start: vec![0, 1, 2], column: vec![0, 1], value: vec![1.0, -2.5] };
        assert_eq!(one, set(Points::sparse(csr, 2).expect("rows"), ["a", "b"]));
        let single = x.iter().map(|&v| v as f32).collect();
        assert_eq!(one, set(Points::dense_f32(single, 2).expect("rows"), ["a", "b"]));
        for other in [
            set(dense([0.0, -2.5, 1.0, 0.0]), ["a", "b"]),
            set(dense(x), ["b", "a"]),
            set(dense([1.0, 0.0, 0.0, 2.5]), ["a", "b"]),
            set(dense([0.0, 1.0, 0.0, -2.5]), ["a", "b"]),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn gather_keeps_rows_together_and_lengths_must_agree() {
        let points = Points::dense(vec![0.0, 1.0, 2.0], 1).expect("three rows");
        let labels = Targets::Classes(Labels::new(["a", "b", "a"]));
        let mut data = Dataset::new(points.clone(), labels).expect("three labels");
        data.row_names = Some(vec!["p".into(), "q".into(), "r".into()]);
        let part = data.gather(&[2, 1]);
        assert_eq!(part.points.view().to_f64().expect("numbers"), [2.0, 1.0]);
        assert_eq!(part.targets.classes().expect("labels").name_of(0), "a");
        assert_eq!(part.row_names, Some(vec!["r".into(), "q".into()]));
        assert!(Dataset::new(points, Targets::Reals(vec![1.0; 2])).is_err());
    }
}
