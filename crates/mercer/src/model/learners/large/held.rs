//! Held-out rows, which are not trained on and measure the error during training.

use std::ops::Range;
use std::time::Instant;

use super::{LargeCentres, LargeParams};
use crate::data::Points;
use crate::data::io::{Source, drawn};
use crate::error::Result;
use crate::solve::large::Fitted;
use crate::watch::HeldOut;

/// Default maximum number of held-out rows for a path.
const MOST: usize = 5000;
/// Makes the held-out rows independent of the centres.
const SEED: u64 = 0x5eed_0f1e;

impl LargeParams {
    /// The held-out rows among n, in order: as many as requested, but at most half.
    pub(super) fn held_rows(&self, n: usize) -> Vec<usize> {
        let asked = match self.held_out {
            0 if self.path > 0 => (n / 10).min(MOST),
            rows => usize::try_from(rows).unwrap_or(usize::MAX),
        };
        let mut rows = if asked == 0 { Vec::new() } else { drawn(n, asked.min(n / 2), self.seed ^ SEED) };
        rows.sort_unstable();
        rows
    }

    /// The numbers of centres of the path, ascending; the last is that of the machine.
    pub(super) fn sizes(&self, n: usize) -> Vec<u64> {
        let all = self.centres.min(n as u64);
        let halved = (1..=self.path.min(63)).map(|by| all >> by).take_while(|m| *m >= 2);
        let mut sizes: Vec<u64> = std::iter::once(all).chain(halved).collect();
        sizes.reverse();
        sizes
    }
}

/// A source without some of its rows.
pub(super) struct Without<'a> {
    source: &'a dyn Source,
    /// In order.
    held: &'a [usize],
}

impl<'a> Without<'a> {
    pub(super) fn new(source: &'a dyn Source, held: &'a [usize]) -> Self {
        Without { source, held }
    }

    /// The index of a row in the source.
    pub(super) fn place(&self, row: usize) -> usize {
        // The held row h is before it if no more than `row` others are before h.
        let (mut from, mut to) = (0, self.held.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.held[middle] - middle <= row {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        row + from
    }
}

impl Source for Without<'_> {
    fn rows(&self) -> usize {
        self.source.rows() - self.held.len()
    }

    fn columns(&self) -> usize {
        self.source.columns()
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
        if self.held.is_empty() || rows.is_empty() {
            return self.source.read(rows);
        }
        let whole = self.place(rows.start)..self.place(rows.end - 1) + 1;
        let (points, targets) = self.source.read(whole.clone())?;
        if points.len() == rows.len() {
            return Ok((points, targets));
        }
        let ours: Vec<usize> = whole
            .clone()
            .filter(|row| self.held.binary_search(row).is_err())
            .map(|row| row - whole.start)
            .collect();
        let kept = ours.iter().filter_map(|&i| targets.get(i).copied()).collect();
        Ok((points.gather(&ours), kept))
    }
}

/// The held-out error of a fit.
pub(super) fn held_out(
    centres: &LargeCentres,
    found: &Fitted,
    held: Option<&(Points, Vec<f64>)>,
    clock: Instant,
) -> Option<HeldOut> {
    let (error, rows) = (found.held_out?, held?.0.len());
    let (centres, seconds) = (centres.points.len(), clock.elapsed().as_secs_f64());
    Some(HeldOut { centres, rows, error, passes: found.info.iterations, seconds })
}

/// Reports held-out errors.
pub(super) fn told(errors: Vec<HeldOut>, found: &mut Fitted) {
    if let [.., a, b] = errors.as_slice() {
        let words = if b.error < a.error && a.error > 0.0 {
            format!("lower the held-out error by {:.0} %", 100.0 * (1.0 - b.error / a.error))
        } else {
            "do not lower the held-out error".into()
        };
        found.info.note(format!("twice as many centres ({} instead of {}) {words}", b.centres, a.centres));
    }
    found.info.held_out = errors;
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Count(usize);

    impl Source for Count {
        fn rows(&self) -> usize {
            self.0
        }
        fn columns(&self) -> usize {
            1
        }
        fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
            let x: Vec<f64> = rows.map(|i| i as f64).collect();
            Ok((Points::dense(x.clone(), 1)?, x))
        }
    }

    #[test]
    fn the_others_are_read_in_order_whatever_the_range() {
        for held in [vec![], vec![0], vec![9], vec![0, 1, 2], vec![2, 3, 7], vec![1, 3, 5, 7, 9]] {
            let source = Count(10);
            let without = Without::new(&source, &held);
            let want: Vec<f64> = (0..10).filter(|i| !held.contains(i)).map(|i| i as f64).collect();
            assert_eq!(without.rows(), want.len());
            for from in 0..want.len() {
                for to in from + 1..=want.len() {
                    let (points, y) = without.read(from..to).expect("rows");
                    assert_eq!(y, want[from..to], "{held:?} {from}..{to}");
                    assert_eq!(points.view().to_f64().expect("numbers"), y);
                }
            }
        }
    }

    #[test]
    fn paths_double_and_held_rows_leave_half() {
        let params = LargeParams { centres: 1000, path: 3, ..LargeParams::default() };
        assert_eq!(params.sizes(10_000), [125, 250, 500, 1000]);
        assert_eq!(params.sizes(5), [2, 5]);
        assert_eq!(params.held_rows(10_000).len(), 1000);
        let asked = LargeParams { held_out: 70, ..LargeParams::default() };
        assert_eq!((asked.held_rows(10_000).len(), asked.held_rows(100).len()), (70, 50));
        assert!(asked.held_rows(10_000).is_sorted());
        assert!(LargeParams::default().held_rows(10_000).is_empty());
        assert_eq!(LargeParams::default().sizes(500), [500]);
    }
}
