//! Rows that equal an earlier row: found by hash, confirmed by comparing.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::data::{Row, Targets, View};

/// Rows that repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// Rows equal to an earlier row.
    pub count: usize,
    /// The first such pair: the earlier row, then the later.
    pub first: Option<[usize; 2]>,
    /// Rows whose target differs from that of the first row they equal.
    pub conflicts: usize,
    /// The first such pair.
    pub first_conflict: Option<[usize; 2]>,
}

/// Finds the repeats among all rows.
pub(crate) fn repeats(view: &View<'_>, targets: &Targets) -> Repeats {
    let mut keyed: Vec<(u64, usize)> = (0..view.n).map(|i| (key(view.row(i)), i)).collect();
    keyed.sort_unstable();
    let mut found = Repeats::default();
    for run in keyed.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        // Nearly always one distinct row a run; more only where hashes collide.
        let mut distinct: Vec<usize> = Vec::new();
        for &(_, i) in run {
            let Some(&earlier) = distinct.iter().find(|&&e| equal(view.row(e), view.row(i))) else {
                distinct.push(i);
                continue;
            };
            found.count += 1;
            keep_earliest(&mut found.first, [earlier, i]);
            if differ(targets, earlier, i) {
                found.conflicts += 1;
                keep_earliest(&mut found.first_conflict, [earlier, i]);
            }
        }
    }
    found
}

fn keep_earliest(kept: &mut Option<[usize; 2]>, pair: [usize; 2]) {
    if kept.is_none_or(|k| pair[1] < k[1]) {
        *kept = Some(pair);
    }
}

fn differ(targets: &Targets, i: usize, j: usize) -> bool {
    match targets {
        Targets::None => false,
        Targets::Classes(labels) => labels.of_row.get(i) != labels.of_row.get(j),
        Targets::Reals(y) => y.get(i) != y.get(j),
    }
}

fn key(row: Row<'_>) -> u64 {
    let mut hash = DefaultHasher::new();
    // Adding 0 makes the two zeros one.
    match row {
        Row::F32(x) => x.iter().for_each(|v| (v + 0.0).to_bits().hash(&mut hash)),
        Row::F64(x) => x.iter().for_each(|v| (v + 0.0).to_bits().hash(&mut hash)),
        Row::Sparse { column, value, .. } => {
            nonzero(column, value).for_each(|(c, v)| (c, v.to_bits()).hash(&mut hash));
        }
        Row::Sequence(s) => s.hash(&mut hash),
        Row::Number(r) => r.hash(&mut hash),
        Row::Cells { table, row } => table.columns().iter().for_each(|c| c.key(row).hash(&mut hash)),
    }
    hash.finish()
}

fn equal(a: Row<'_>, b: Row<'_>) -> bool {
    match (a, b) {
        (Row::F32(a), Row::F32(b)) => a == b,
        (Row::F64(a), Row::F64(b)) => a == b,
        (Row::Sparse { column: ac, value: av, .. }, Row::Sparse { column: bc, value: bv, .. }) => {
            nonzero(ac, av).eq(nonzero(bc, bv))
        }
        (Row::Sequence(a), Row::Sequence(b)) => a == b,
        (Row::Number(a), Row::Number(b)) => a == b,
        (Row::Cells { table, row: a }, Row::Cells { row: b, .. }) => {
            table.columns().iter().all(|c| c.key(a) == c.key(b))
        }
        _ => false,
    }
}

fn nonzero<'a>(column: &'a [u32], value: &'a [f64]) -> impl Iterator<Item = (u32, f64)> + 'a {
    column.iter().copied().zip(value.iter().copied()).filter(|&(_, v)| v != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Csr, Labels, Points};

    #[test]
    fn signs_of_zero_and_stored_zeros_do_not_matter() {
        let dense = Points::dense(vec![0.0, 1.0, -0.0, 1.0, 0.0, 2.0], 2).expect("two columns");
        let found = repeats(&dense.view(), &Targets::None);
        assert_eq!((found.count, found.first, found.conflicts), (1, Some([0, 1]), 0));
        let csr = Csr { start: vec![0, 2, 3, 3], column: vec![0, 1, 1], value: vec![0.0, 1.0, 1.0] };
        let sparse = Points::sparse(csr, 2).expect("valid rows");
        assert_eq!(repeats(&sparse.view(), &Targets::None).first, Some([0, 1]));
    }

    #[test]
    fn pairs_are_the_earliest_and_conflicts_are_counted() {
        let points = Points::dense(vec![5.0, 4.0, 3.0, 4.0, 5.0, 4.0], 1).expect("one column");
        let labels = Targets::Classes(Labels::new(["a", "a", "a", "a", "b", "b"]));
        let found = repeats(&points.view(), &labels);
        let wanted = Repeats { count: 3, first: Some([1, 3]), conflicts: 2, first_conflict: Some([0, 4]) };
        assert_eq!(found, wanted);
    }
}
