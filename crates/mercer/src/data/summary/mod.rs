//! Summary of a data set, with possible problems, before training.
//!
//! Two passes over the stored values (the second for the spread about the mean) and one hash per row for duplicates:
//! O(n d) for dense rows, O(entries) time and memory for sparse ones however many columns they declare.

mod distance;
mod repeats;
mod scan;
mod table;
mod target;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use self::distance::median_distance2;
use self::distance::neighbour_distance2;
use self::repeats::{Repeats, repeats};
use self::scan::Scan;
pub use self::table::TableColumn;
pub use self::target::{ClassCount, TargetFacts};
use self::target::{answers, target_facts, target_findings};
use crate::data::{Data, ImageShape, Points, Targets, View};

/// A column whose range is so many times that of the smaller quarter of the columns drowns them in every distance.
const SCALE_RATIO: f64 = 20.0;
/// With fewer rows an ascending column indicates nothing.
const ENOUGH_ROWS: usize = 8;
/// Rounding of squared distances above this share of what neighbours differ by changes kernels of distances visibly.
const ROUNDING: f64 = 1e-3;
/// How many columns a finding names.
const NAMED: usize = 8;

/// The facts of a data set. Rows and columns count from 0 here; what shows them to people counts from 1.
///
/// ```
/// use mercer::data::{Finding, Labels, Points, Summary, Targets};
/// let points = Points::dense(vec![1.0, 7.0, 2.0, 7.0, 1.0, 7.0], 2)?;
/// let targets = Targets::Classes(Labels::new(["a", "b", "b"]));
/// let summary = Summary::new(&points, &targets);
/// assert_eq!(summary.rows, 3);
/// assert!(summary.findings.contains(&Finding::ConstantColumns { count: 1, first: vec![1] }));
/// assert!(summary.findings.contains(&Finding::ConflictingRows { count: 1, first: [0, 2] }));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Rows.
    pub rows: usize,
    /// Columns; for sequences, the longest length.
    pub columns: usize,
    /// How the rows are held: `dense f64`, `sparse`, `sequences`.
    pub storage: &'static str,
    /// Bytes they take in memory.
    pub bytes: usize,
    /// Share of values that are not zero; 1 for sequences.
    pub density: f64,
    /// Shape of a row, where rows are images.
    pub image: Option<ImageShape>,
    /// All values together, where they are numbers.
    pub values: Option<Spread>,
    /// What only sequences have.
    pub sequences: Option<SequenceFacts>,
    /// What only tables have: each column with its kind.
    pub table: Option<Vec<TableColumn>>,
    /// The targets.
    pub targets: TargetFacts,
    /// What looks wrong, gravest first.
    pub findings: Vec<Finding>,
    /// Each column with values; in sparse data, columns that never occur are not listed.
    pub each: Vec<Column>,
}

/// Where some numbers lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, over all n.
    pub std: f64,
}

/// Where one column's numbers lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Column {
    /// Its number.
    pub column: usize,
    /// What its values are: `constant`, `0/1`, `whole number` or `number`. A kernel takes all of them for numbers.
    pub kind: &'static str,
    /// Its values, stored and implied zeros.
    #[serde(flatten)]
    pub spread: Spread,
}

/// Facts of sequences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SequenceFacts {
    /// The letters.
    pub alphabet: String,
    /// Length of the shortest.
    pub shortest: usize,
    /// Length of the longest.
    pub longest: usize,
}

/// Something that looks wrong. The enum is exhaustive, so that who shows findings shows every one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Finding {
    /// A NaN or an infinity.
    NotFinite {
        /// Row of the first.
        row: usize,
        /// Column of the first.
        column: usize,
    },
    /// Only one class has rows.
    OneClass {
        /// Its name.
        name: String,
    },
    /// A column that equals the target in every row, or has a value of its own for each class.
    Leak {
        /// The column.
        column: usize,
    },
    /// Equal rows with different targets.
    ConflictingRows {
        /// Rows that contradict an earlier one.
        count: usize,
        /// The first such pair.
        first: [usize; 2],
    },
    /// A column of whole numbers, all different, in order or without a gap.
    RowNumbers {
        /// The column.
        column: usize,
    },
    /// Columns of very different ranges.
    Scales {
        /// The column of the widest range.
        wide: usize,
        /// Its range.
        wide_range: f64,
        /// A column a quarter of all columns do not exceed.
        narrow: usize,
        /// Its range.
        narrow_range: f64,
    },
    /// Groups of rows so far apart that rounding hides how rows within a group differ. What is common to all rows does no
    /// harm: distances are computed around the mean.
    FarApart {
        /// Root mean square distance of the rows from their mean.
        spread: f64,
        /// Median distance of a row from its nearest neighbour.
        neighbour: f64,
        /// Rounding error of squared distances.
        lost: f64,
    },
    /// Columns of one value.
    ConstantColumns {
        /// How many.
        count: usize,
        /// The first few.
        first: Vec<usize>,
    },
    /// Rows equal to an earlier row.
    DuplicateRows {
        /// How many.
        count: usize,
        /// The first such pair.
        first: [usize; 2],
    },
    /// Rows of zeros only.
    ZeroRows {
        /// How many.
        count: usize,
        /// The first.
        first: usize,
    },
    /// A class with many times the rows of another.
    Unbalanced {
        /// The largest class.
        largest: ClassCount,
        /// The smallest class that has rows.
        smallest: ClassCount,
    },
    /// Classes with hardly a row.
    FewRows {
        /// How many classes.
        count: usize,
        /// The first of them.
        first: ClassCount,
    },
    /// Labels that are numbers, nearly all different: perhaps a regression.
    ManyClasses {
        /// How many.
        count: usize,
    },
}

impl Summary {
    /// Scans every value once or twice.
    pub fn new(points: &Points, targets: &Targets) -> Self {
        let view = points.view();
        let (rows, columns) = (view.n, view.d);
        let mut summary = Summary {
            rows,
            columns,
            storage: points.kind(),
            bytes: bytes(&view),
            density: 1.0,
            image: points.image(),
            values: None,
            sequences: None,
            table: points.as_table().map(TableColumn::of_all),
            targets: target_facts(targets),
            findings: Vec::new(),
            each: Vec::new(),
        };
        if let Some((row, column)) = points.first_not_finite() {
            summary.findings.push(Finding::NotFinite { row, column });
        }
        target_findings(&summary.targets, rows, &mut summary.findings);
        match view.data {
            Data::Sequences { alphabet, start, .. } => {
                let lengths = || start.windows(2).map(|w| w[1] - w[0]);
                summary.sequences = Some(SequenceFacts {
                    alphabet: String::from_utf8_lossy(alphabet).into_owned(),
                    shortest: lengths().min().unwrap_or(0),
                    longest: lengths().max().unwrap_or(0),
                });
            }
            Data::Table { table, first } if rows >= ENOUGH_ROWS => {
                let leaks = self::table::leaks(table, first, targets).into_iter();
                summary.findings.extend(leaks.map(|column| Finding::Leak { column }));
            }
            Data::RowNumbers(_) | Data::Table { .. } => {}
            _ => {
                summary.look_at_columns(&view, targets);
                summary.findings.extend(far_apart(points, &summary));
            }
        }
        let repeats = repeats(&view, targets);
        summary.look_at_rows(&repeats);
        summary.findings.sort_by_key(Finding::rank);
        summary
    }

    fn look_at_columns(&mut self, view: &View<'_>, targets: &Targets) {
        let (n, d) = (view.n, view.d);
        let scan = Scan::new(view, &answers(targets, n));
        self.density = if n * d == 0 { 1.0 } else { scan.nonzero as f64 / (n as f64 * d as f64) };
        self.each = scan.spreads(n);
        self.values = whole(&self.each, d);
        if n < 2 {
            return;
        }
        // Of one or two columns a zero is nothing odd.
        if let Some(first) = scan.first_zero_row.filter(|_| d > 2) {
            self.findings.push(Finding::ZeroRows { count: scan.zero_rows, first });
        }
        let constant: Vec<usize> =
            self.each.iter().filter(|c| c.spread.min == c.spread.max).map(|c| c.column).collect();
        let absent = d - self.each.len();
        if constant.len() + absent > 0 {
            let mut first = constant.clone();
            if absent > 0 {
                let held = |c: &usize| self.each.binary_search_by_key(c, |e| e.column).is_ok();
                first.extend((0..d).filter(|c| !held(c)).take(NAMED));
            }
            first.sort_unstable();
            first.truncate(NAMED);
            self.findings.push(Finding::ConstantColumns { count: constant.len() + absent, first });
        }
        for (column, track) in scan.columns() {
            if track.entries == n && track.answers && n >= ENOUGH_ROWS && track.min < track.max {
                self.findings.push(Finding::Leak { column });
            } else if n >= ENOUGH_ROWS && track.numbers_rows(n, view, column) {
                self.findings.push(Finding::RowNumbers { column });
            }
        }
        // Neighbouring pixels differ in range naturally, and are not scaled separately.
        if view.image.is_none() {
            self.findings.extend(scales(&self.each));
        }
    }

    fn look_at_rows(&mut self, repeats: &Repeats) {
        let Repeats { count, first, conflicts, first_conflict } = *repeats;
        self.findings.extend(first.map(|first| Finding::DuplicateRows { count, first }));
        self.findings
            .extend(first_conflict.map(|first| Finding::ConflictingRows { count: conflicts, first }));
    }
}

impl Finding {
    /// Most severe first: what invalidates results, then what degrades them, then information.
    fn rank(&self) -> u8 {
        match self {
            Finding::NotFinite { .. } => 0,
            Finding::OneClass { .. } => 1,
            Finding::Leak { .. } => 2,
            Finding::ConflictingRows { .. } => 3,
            Finding::RowNumbers { .. } => 4,
            Finding::FarApart { .. } | Finding::Scales { .. } => 5,
            Finding::ManyClasses { .. } => 6,
            Finding::Unbalanced { .. } => 7,
            Finding::FewRows { .. } => 8,
            Finding::DuplicateRows { .. } => 9,
            Finding::ConstantColumns { .. } => 10,
            Finding::ZeroRows { .. } => 11,
        }
    }
}

/// Whether rounding hides how neighbours differ.
fn far_apart(points: &Points, summary: &Summary) -> Option<Finding> {
    let variance: f64 = summary.each.iter().map(|c| c.spread.std.powi(2)).sum();
    if !variance.is_finite() {
        return None;
    }
    let per_row = summary.density * summary.columns as f64;
    let neighbour2 = neighbour_distance2(points, per_row.ceil() as usize)?;
    let lost = 2.0 * f64::EPSILON * variance;
    (lost > ROUNDING * neighbour2).then(|| Finding::FarApart {
        spread: variance.sqrt(),
        neighbour: neighbour2.sqrt(),
        lost,
    })
}

/// The spread of all columns' values together, those that are never stored counting as zero.
fn whole(each: &[Column], d: usize) -> Option<Spread> {
    let absent = (d - each.len()) as f64;
    let zero = if absent > 0.0 { Some((0.0, 0.0)) } else { None };
    let ends = each.iter().map(|c| (c.spread.min, c.spread.max)).chain(zero);
    let (min, max) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let mean = each.iter().map(|c| c.spread.mean).sum::<f64>() / d as f64;
    let about = |c: &Column| c.spread.std.powi(2) + (c.spread.mean - mean).powi(2);
    let square = each.iter().map(about).sum::<f64>() + absent * mean.powi(2);
    Some(Spread { min, max, mean, std: (square / d as f64).sqrt() })
}

/// Ranges rather than standard deviations are compared: a rare word's indicator has a small deviation and is on no
/// other scale than a frequent one's.
fn scales(each: &[Column]) -> Option<Finding> {
    let range = |c: &&Column| c.spread.max - c.spread.min;
    let mut by_range: Vec<&Column> = each.iter().filter(|c| range(c) > 0.0).collect();
    by_range.sort_by(|a, b| range(a).total_cmp(&range(b)));
    let wide = by_range.last()?;
    let narrow = by_range[(by_range.len() - 1) / 4];
    let (wide_range, narrow_range) = (range(wide), range(&narrow));
    (wide_range >= SCALE_RATIO * narrow_range).then_some(Finding::Scales {
        wide: wide.column,
        wide_range,
        narrow: narrow.column,
        narrow_range,
    })
}

fn bytes(view: &View<'_>) -> usize {
    let (n, d) = (view.n, view.d);
    match view.data {
        Data::F32(_) => 4 * n * d,
        Data::F64(_) => 8 * n * d,
        Data::Csr { start, .. } => 12 * (start[n] - start[0]) + 8 * (n + 1),
        Data::Sequences { start, .. } => start[n] - start[0] + 8 * (n + 1),
        Data::RowNumbers(_) => 4 * n,
        Data::Table { table, .. } => table.bytes(n),
    }
}
