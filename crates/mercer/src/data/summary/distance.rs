//! The median distance between points, the usual first estimate of a kernel's width.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::data::{Points, Row};

/// Number of pairs up to which all are used; otherwise this many are drawn, and the median is accurate to about a
/// hundredth of the pairs.
const PAIRS: usize = 10_000;

/// The median squared distance between two different rows, or `None` where there are no two that differ, or no numbers.
///
/// `rbf(gamma = 1 / median)` is neither so narrow that points are similar only to themselves nor so wide that all are alike.
///
/// ```
/// use mercer::data::{Points, median_distance2};
/// let points = Points::dense(vec![0.0, 0.0, 3.0, 4.0], 2)?;
/// assert_eq!(median_distance2(&points, 0), Some(25.0));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn median_distance2(points: &Points, seed: u64) -> Option<f64> {
    let n = points.len();
    if n < 2 {
        return None;
    }
    let between = |i: usize, j: usize| distance2(points.row(i), points.row(j));
    let mut found: Vec<f64> = if n * (n - 1) / 2 <= PAIRS {
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| between(i, j)).collect()
    } else {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut pair = || {
            let i = rng.random_range(0..n);
            // Any other row with the same chance.
            (i, (i + rng.random_range(1..n)) % n)
        };
        (0..PAIRS).map(|_| pair()).map(|(i, j)| between(i, j)).collect()
    };
    // Duplicated rows give no information about a width.
    found.retain(|&v| v > 0.0 && v.is_finite());
    let middle = found.len() / 2;
    (!found.is_empty()).then(|| *found.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Rows among which neighbours are looked for.
const NEIGHBOURS: usize = 200;
/// Differences of values that this may take, for rows of many columns.
const DIFFERENCES: usize = 20_000_000;

/// The median squared distance of a row to its nearest different row, within some rows taken evenly; `None` where no two
/// differ. Among all rows neighbours are nearer still.
pub(super) fn neighbour_distance2(points: &Points, values_per_row: usize) -> Option<f64> {
    let n = points.len();
    let k = NEIGHBOURS.min((DIFFERENCES / values_per_row.max(1)).isqrt()).clamp(2, n.max(2));
    if n < 2 {
        return None;
    }
    let mut nearest = vec![f64::INFINITY; k];
    for i in 0..k {
        for j in 0..i {
            let far = distance2(points.row(i * n / k), points.row(j * n / k));
            if far > 0.0 {
                nearest[i] = nearest[i].min(far);
                nearest[j] = nearest[j].min(far);
            }
        }
    }
    nearest.retain(|v| v.is_finite());
    let middle = nearest.len() / 2;
    (!nearest.is_empty()).then(|| *nearest.select_nth_unstable_by(middle, f64::total_cmp).1)
}

fn distance2(x: Row<'_>, y: Row<'_>) -> f64 {
    match (x, y) {
        (Row::F32(x), Row::F32(y)) => x.iter().zip(y).map(|(a, b)| f64::from(a - b).powi(2)).sum(),
        (Row::F64(x), Row::F64(y)) => x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum(),
        (Row::Sparse { column: xc, value: xv, .. }, Row::Sparse { column: yc, value: yv, .. }) => {
            let (mut i, mut j, mut sum) = (0, 0, 0.0);
            while i < xc.len() || j < yc.len() {
                let (a, b) = (xc.get(i).copied().unwrap_or(u32::MAX), yc.get(j).copied().unwrap_or(u32::MAX));
                let mut difference = 0.0;
                if a <= b {
                    difference += xv[i];
                    i += 1;
                }
                if b <= a {
                    difference -= yv[j];
                    j += 1;
                }
                sum += difference * difference;
            }
            sum
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use mercer_testkit::assert::close;

    use super::*;
    use crate::data::{Csr, Sequences, toy};

    #[test]
    fn sparse_and_dense_distances_agree() {
        let csr = Csr {
            start: vec![0, 2, 3, 3, 5],
            column: vec![0, 4, 1, 0, 4],
            value: vec![1.0, -2.0, 3.0, 5.0, 0.5],
        };
        let sparse = Points::sparse(csr, 6).expect("valid rows");
        let dense = sparse.to_dense().expect("numbers");
        for i in 0..4 {
            for j in 0..4 {
                let (a, b) = (distance2(sparse.row(i), sparse.row(j)), distance2(dense.row(i), dense.row(j)));
                close(a, b, 1e-15);
            }
        }
    }

    #[test]
    fn drawn_pairs_find_the_median_of_all() {
        let (points, _) = toy::banana(600, 1);
        let values = points.view().to_f64().expect("numbers");
        let all = values.chunks(2).flat_map(|p| {
            values.chunks(2).map(move |q| (p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2)).filter(|&v| v > 0.0)
        });
        let mut all: Vec<f64> = all.collect();
        all.sort_by(f64::total_cmp);
        let (low, high) = (all[all.len() * 47 / 100], all[all.len() * 53 / 100]);
        let median = median_distance2(&points, 3).expect("points differ");
        assert!((low..=high).contains(&median), "{low} {median} {high}");
        assert_eq!(median_distance2(&points, 3), Some(median));
    }

    #[test]
    fn points_that_do_not_differ_have_none() {
        let same = Points::dense(vec![1.0; 8], 2).expect("two columns");
        assert_eq!(median_distance2(&same, 0), None);
        let letters = Sequences { alphabet: b"AB".to_vec(), start: vec![0, 1, 2], symbol: vec![0, 1] };
        assert_eq!(median_distance2(&Points::sequences(letters).expect("letters"), 0), None);
    }
}
