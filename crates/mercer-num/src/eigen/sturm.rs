//! Some eigenvalues of a symmetric tridiagonal matrix, by counting.
//!
//! The leading minors of `T - x` are a Sturm sequence,
//!
//! ```text
//! p_0 = 1,   p_i = (d_i - x) p_{i-1} - e_{i-1}^2 p_{i-2},
//! ```
//!
//! and its changes of sign count the eigenvalues below x, exactly so for a matrix that differs from T by rounding (Barth,
//! Martin and Wilkinson 1967). Every count narrows the intervals of all requested eigenvalues. Counts for many x are vector
//! code, because the recurrence has no division and no branch. Cost: about n counts per digit and eigenvalue, against 30 n^2
//! for all eigenvalues by rotations.

use super::Scale;
use crate::dispatch::dispatch;

/// Points counted at once: several independent vectors, since each row of the recurrence waits for the one before.
const POINTS: usize = 32;
/// Rows between two corrections of the scale. In one row minors of a matrix of norm 1 grow to at most three times, and
/// shrink to no less than about 2^-104 in two.
const ROWS: usize = 8;

/// The `top` largest eigenvalues and the `bottom` smallest, falling. At most as many as there are.
///
/// None if the matrix is not finite.
pub(super) fn extremes(diag: &[f64], below: &[f64], top: usize, bottom: usize) -> Option<Vec<f64>> {
    let n = diag.len();
    let top = top.min(n);
    let bottom = bottom.min(n - top);
    if diag.iter().chain(below).any(|v| !v.is_finite()) {
        return None;
    }
    let scale = Scale::of(diag, below);
    let d: Vec<f64> = diag.iter().map(|v| scale.down(*v)).collect();
    let e: Vec<f64> = below.iter().map(|v| scale.down(*v)).collect();
    let sturm = Sturm::new(&d, &e);
    // By rising position.
    let wanted: Vec<usize> = (0..bottom).chain(n - top..n).collect();
    let mut found = sturm.values(&wanted);
    found.reverse();
    found.iter_mut().for_each(|v| *v = scale.up(*v));
    Some(found)
}

/// The recurrence's numbers, for a matrix of entries up to about 1.
struct Sturm {
    diag: Vec<f64>,
    /// `e_{i-1}^2` for row i; 0 for the first row of a block that nothing connects with the rows before.
    squares: Vec<f64>,
    /// Where blocks begin, and n.
    starts: Vec<usize>,
    lowest: f64,
    highest: f64,
}

impl Sturm {
    fn new(diag: &[f64], below: &[f64]) -> Self {
        let n = diag.len();
        let off = |i: usize| below.get(i).copied().unwrap_or(0.0).abs();
        let reach = |i: usize| off(i) + if i > 0 { off(i - 1) } else { 0.0 };
        let lowest = (0..n).map(|i| diag[i] - reach(i)).fold(f64::INFINITY, f64::min);
        let highest = (0..n).map(|i| diag[i] + reach(i)).fold(f64::NEG_INFINITY, f64::max);
        // Entries below rounding move no eigenvalue by more than themselves; with them the minors could vanish.
        let joined = |i: usize| i > 0 && off(i - 1) > f64::EPSILON;
        let squares = (0..n).map(|i| if joined(i) { off(i - 1).powi(2) } else { 0.0 }).collect();
        let starts = (0..n).filter(|&i| !joined(i)).chain([n]).collect();
        let room = 4.0 * f64::EPSILON * (1.0 + lowest.abs().max(highest.abs()));
        Sturm { diag: diag.to_vec(), squares, starts, lowest: lowest - room, highest: highest + room }
    }

    /// The eigenvalues at these rising positions.
    fn values(&self, wanted: &[usize]) -> Vec<f64> {
        let tol = f64::EPSILON * self.lowest.abs().max(self.highest.abs()).max(0.5);
        let mut ends = vec![(self.lowest, self.highest); wanted.len()];
        loop {
            // Eigenvalues that no count has separated yet share an interval and its points.
            let mut open: Vec<(f64, f64)> =
                ends.iter().copied().filter(|(low, high)| high - low > tol && middle(*low, *high)).collect();
            open.dedup();
            if open.is_empty() {
                return ends.iter().map(|(low, high)| 0.5 * (low + high)).collect();
            }
            for few in open.chunks(POINTS) {
                let each = POINTS / few.len();
                let mut points = [self.highest; POINTS];
                for (points, (low, high)) in points.chunks_mut(each).zip(few) {
                    let step = (high - low) / (each + 1) as f64;
                    points.iter_mut().enumerate().for_each(|(i, p)| *p = low + step * (i + 1) as f64);
                }
                let mut counts = [0_u64; POINTS];
                for block in self.starts.windows(2) {
                    let rows = block[0]..block[1];
                    count(&self.diag[rows.clone()], &self.squares[rows], &points, &mut counts);
                }
                for (&point, &below) in points.iter().zip(&counts) {
                    for (&place, (low, high)) in wanted.iter().zip(&mut ends) {
                        if point <= *low || point >= *high {
                            continue;
                        }
                        if below <= place as u64 {
                            *low = point;
                        } else {
                            *high = point;
                        }
                    }
                }
            }
        }
    }
}

/// Whether there is a number between them.
fn middle(low: f64, high: f64) -> bool {
    let half = 0.5 * (low + high);
    low < half && half < high
}

dispatch! {
    /// Adds the number of eigenvalues below each point. No entry of `squares` but the first is 0.
    fn count<const FMA>(diag: &[f64], squares: &[f64], points: &[f64; POINTS], counts: &mut [u64; POINTS]) {
        let (mut before, mut last) = ([0.0_f64; POINTS], [1.0_f64; POINTS]);
        for (diag, squares) in diag.chunks(ROWS).zip(squares.chunks(ROWS)) {
            for (&d, &s) in diag.iter().zip(squares) {
                for l in 0..POINTS {
                    let old = s * before[l];
                    let next = if FMA {
                        (d - points[l]).mul_add(last[l], -old)
                    } else {
                        (d - points[l]) * last[l] - old
                    };
                    // A minor that is 0 takes the sign it happens to have: its neighbours' signs differ, so that exactly
                    // one of both is a change.
                    counts[l] += (next.to_bits() ^ last[l].to_bits()) >> 63;
                    before[l] = last[l];
                    last[l] = next;
                }
            }
            for l in 0..POINTS {
                // The power of two that brings the larger of both to between 1 and 2.
                let exponent = before[l].abs().max(last[l].abs()).to_bits() >> 52;
                let scale = f64::from_bits((2046 - exponent.clamp(1, 2045)) << 52);
                before[l] *= scale;
                last[l] *= scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    fn dense(diag: &[f64], below: &[f64]) -> Vec<f64> {
        let n = diag.len();
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            a[i * n + i] = diag[i];
            if i + 1 < n {
                (a[i * n + i + 1], a[(i + 1) * n + i]) = (below[i], below[i]);
            }
        }
        a
    }

    /// Random; nearly equal; equal in blocks; graded over 300 powers of ten; without diagonal (values of both signs); one
    /// value alone; Wilkinson's, whose large values come in pairs closer than rounding.
    fn kinds(n: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
        let m = n.saturating_sub(1);
        let normals = |seed: u64, len: usize| toy::normals(len, 1, seed);
        let graded = |len: usize| (0..len).map(|i| 10.0_f64.powf(-300.0 * i as f64 / n as f64)).collect();
        vec![
            (normals(3, n), normals(4, m)),
            (vec![1.0; n], normals(5, m).iter().map(|v| 1e-9 * v).collect()),
            ((0..n).map(|i| (i % 3) as f64 - 1.0).collect(), vec![0.0; m]),
            (normals(6, n), (0..m).map(|i| if i % 4 == 1 { 0.0 } else { 1.0 }).collect()),
            (graded(n), graded(m)),
            (vec![0.0; n], vec![1.0; m]),
            (vec![-7.0; n], vec![1e-18; m]),
            ((0..n).map(|i| (i as f64 - 0.5 * m as f64).abs()).collect(), vec![1.0; m]),
            (vec![0.0; n], vec![0.0; m]),
        ]
    }

    #[test]
    fn counted_values_are_those_of_the_reference() {
        for n in [1, 2, 3, 7, 8, 9, 33, 64, 121] {
            for (kind, (diag, below)) in kinds(n).into_iter().enumerate() {
                let (want, _) = reference::eigen(&dense(&diag, &below), n);
                let norm = want.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                for (top, bottom) in [(1, 0), (0, 1), (3, 2), (n, 0), (0, n), (n, n), (n / 2, 5)] {
                    for size in [1.0, 1e-300, 1e300] {
                        if size * norm > 1e305 || size < 1.0 && kind == 4 {
                            continue;
                        }
                        let scaled = |v: &[f64]| v.iter().map(|v| v * size).collect::<Vec<f64>>();
                        let found = extremes(&scaled(&diag), &scaled(&below), top, bottom).expect("finite");
                        let (top, places) = (top.min(n), bottom.min(n - top.min(n)));
                        let expected: Vec<f64> =
                            want[..top].iter().chain(&want[n - places..]).map(|v| v * size).collect();
                        assert!(found.is_sorted_by(|a, b| a >= b), "{n} {kind}");
                        assert_eq!(found.len(), expected.len());
                        assert::all_close(&found, &expected, (1e-14 * n as f64 * norm).max(1e-300) * size);
                    }
                }
            }
        }
    }

    /// Eigenvalues of -1, 2, -1 are known: `2 - 2 cos(pi k / (n + 1))`. Long enough for minors to leave the range of f64.
    #[test]
    fn long_matrices_are_counted_without_overflow() {
        let n = 5000;
        for (d, e) in [(2.0, -1.0), (0.0, 1.0), (1e-5, 1e-5)] {
            let found = extremes(&vec![d; n], &vec![e; n - 1], 40, 3).expect("finite");
            let angle = |k: usize| std::f64::consts::PI * k as f64 / (n + 1) as f64;
            let want: Vec<f64> =
                (1..=40).chain(n - 2..=n).map(|k| d + 2.0 * f64::abs(e) * angle(k).cos()).collect();
            assert::all_close(&found, &want, 1e-14 * (f64::abs(d) + 2.0 * f64::abs(e)));
        }
    }

    #[test]
    fn what_is_not_finite_is_reported() {
        assert!(extremes(&[1.0, f64::NAN], &[0.0], 1, 0).is_none());
        assert!(extremes(&[1.0, 2.0], &[f64::NAN], 1, 0).is_none());
        assert!(extremes(&[1.0, f64::INFINITY], &[0.0], 1, 0).is_none());
        assert_eq!(extremes(&[], &[], 3, 2), Some(Vec::new()));
    }
}
