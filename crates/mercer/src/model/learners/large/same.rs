//! Merging of equal rows into one row with the sum of their weights: the same problem with fewer rows. Squared errors depend
//! on the targets of equal rows only through their mean, so these targets need not be equal.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use crate::data::{Points, Row};
use crate::exec::Exec;

/// Minimum share of duplicated rows for which merging pays.
const SHARE: f64 = 0.1;

/// A row's bits; -0 is 0.
fn hash(row: Row<'_>, target: &[f64], to: &mut DefaultHasher) {
    let bits = |v: f64| (v + 0.0).to_bits();
    match row {
        Row::F32(x) => x.iter().for_each(|v| (v + 0.0).to_bits().hash(to)),
        Row::F64(x) => x.iter().for_each(|v| bits(*v).hash(to)),
        Row::Sparse { column, value, .. } => {
            column.hash(to);
            value.iter().for_each(|v| bits(*v).hash(to));
        }
        Row::Sequence(symbols) => symbols.hash(to),
        Row::Number(number) => number.hash(to),
        Row::Cells { row, .. } => row.hash(to),
    }
    target.iter().for_each(|v| bits(*v).hash(to));
}

fn equal(a: Row<'_>, b: Row<'_>) -> bool {
    match (a, b) {
        (Row::F32(a), Row::F32(b)) => a == b,
        (Row::F64(a), Row::F64(b)) => a == b,
        (Row::Sparse { column, value, .. }, Row::Sparse { column: c, value: v, .. }) => {
            column == c && value == v
        }
        (Row::Sequence(a), Row::Sequence(b)) => a == b,
        _ => false,
    }
}

/// The rows after merging.
#[derive(Debug, PartialEq)]
pub(super) struct Merged {
    pub(super) rows: Vec<u32>,
    /// Sums of weights.
    pub(super) weight: Vec<f64>,
    pub(super) targets: Vec<f64>,
    /// Half the weighted squares of targets about the means that replace them.
    pub(super) within: f64,
}

/// The first of each set of equal rows with equal targets, and the sums of their weights; `None` if few are equal. `amounts`:
/// targets are numbers with squared errors, so that only the rows need to be equal and targets are replaced by their mean.
///
/// `rows` are places in the points, with a weight and a few numbers of a target each.
pub(super) fn merged(
    points: &Points,
    rows: &[u32],
    weight: &[f64],
    targets: &[f64],
    amounts: bool,
    exec: Exec,
) -> Option<Merged> {
    let view = points.view();
    let wide = targets.len() / rows.len().max(1);
    let target = |at: usize| &targets[at * wide..(at + 1) * wide];
    let hashed = |(at, &row): (usize, &u32)| {
        let mut hasher = DefaultHasher::new();
        hash(view.row(row as usize), if amounts { &[] } else { target(at) }, &mut hasher);
        hasher.finish()
    };
    let hashes: Vec<u64> = if exec.threads() == 1 {
        rows.iter().enumerate().map(hashed).collect()
    } else {
        rows.par_iter().enumerate().map(hashed).collect()
    };
    let mut first: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut kept: Vec<(usize, f64)> = Vec::new();
    let (mut means, mut within) = (Vec::new(), 0.0);
    for (at, &row) in rows.iter().enumerate() {
        let own = view.row(row as usize);
        let same = first.entry(hashes[at]).or_default();
        let is_same = |&&k: &&usize| {
            let other = kept[k].0;
            (amounts || target(other) == target(at)) && equal(view.row(rows[other] as usize), own)
        };
        if let Some(&k) = same.iter().find(is_same) {
            let (before, more) = (kept[k].1, weight[at]);
            kept[k].1 += more;
            if more > 0.0 {
                for (mean, y) in means[k * wide..(k + 1) * wide].iter_mut().zip(target(at)) {
                    let off: f64 = y - *mean;
                    *mean += off * (more / (before + more));
                    within += off * off * (before * more / (before + more)) / 2.0;
                }
            }
        } else {
            same.push(kept.len());
            kept.push((at, weight[at]));
            means.extend_from_slice(target(at));
        }
    }
    if (rows.len() - kept.len()) as f64 <= SHARE * rows.len() as f64 {
        return None;
    }
    let places = kept.iter().map(|(at, _)| rows[*at]).collect();
    Some(Merged { rows: places, weight: kept.iter().map(|(_, w)| *w).collect(), targets: means, within })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_with_equal_targets_are_one() {
        let points = Points::dense(vec![1.0, 2.0, 1.0, 0.0, -0.0, 2.0, 1.0], 1).expect("rows");
        let rows: Vec<u32> = (0..7).collect();
        let weight = [1.0, 1.0, 2.0, 1.0, 0.5, 1.0, 1.0];
        let targets = [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 6.0];
        let got = merged(&points, &rows, &weight, &targets, false, Exec::new(2)).expect("many are equal");
        let want = |rows: &[u32], weight: &[f64], targets: &[f64], within| Merged {
            rows: rows.to_vec(),
            weight: weight.to_vec(),
            targets: targets.to_vec(),
            within,
        };
        assert_eq!(got, want(&[0, 1, 3, 6], &[3.0, 2.0, 1.5, 1.0], &[5.0, 5.0, 5.0, 6.0], 0.0));
        // Weights 3 and 1 of 5 and 6: the mean is 5.25, half the squares about it 3 / 8.
        let got = merged(&points, &rows, &weight, &targets, true, Exec::new(2)).expect("many are equal");
        assert_eq!(got, want(&[0, 1, 3], &[4.0, 2.0, 1.5], &[5.25, 5.0, 5.0], 0.375));
        assert_eq!(merged(&points, &[0, 1, 3], &[1.0; 3], &[5.0; 3], false, Exec::one()), None);
    }
}
