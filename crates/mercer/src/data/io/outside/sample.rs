//! A seeded sample of rows that come one after the other: each row that has come so far is in it with the same probability
//! (Vitter 1985), and rows that must be in it are there besides.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of a sample, at most.
const MOST: usize = 20_000;
/// Rows of a sample, at least.
const LEAST: usize = 256;

/// Number of rows of this size to draw within a memory limit.
pub(super) fn size(row: usize, memory: usize) -> usize {
    (memory / 16 / row.max(1)).clamp(LEAST, MOST)
}

/// The sample so far.
pub(super) struct Reservoir<T> {
    rng: ChaCha8Rng,
    most: usize,
    seen: u64,
    drawn: Vec<(u64, T)>,
    /// Rows that are taken whatever is drawn.
    always: Vec<(u64, T)>,
}

impl<T: Clone> Reservoir<T> {
    pub(super) fn new(most: usize, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Reservoir { rng, most, seen: 0, drawn: Vec::new(), always: Vec::new() }
    }

    /// A row comes by; whether it must be in the sample.
    pub(super) fn push(&mut self, row: &T, always: bool) {
        let at = self.seen;
        self.seen += 1;
        if always {
            self.always.push((at, row.clone()));
        }
        if self.drawn.len() < self.most {
            self.drawn.push((at, row.clone()));
        } else {
            let place = self.rng.random_range(0..self.seen);
            if place < self.most as u64 {
                self.drawn[place as usize] = (at, row.clone());
            }
        }
    }

    /// Rows that came by.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// The rows in the order in which they came, none twice.
    pub(super) fn finish(self) -> Vec<T> {
        let mut all: Vec<(u64, T)> = self.drawn.into_iter().chain(self.always).collect();
        all.sort_by_key(|(at, _)| *at);
        all.dedup_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, row)| row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_same_chance_and_some_have_none_to_be_missed() {
        let mut hits = [0_u32; 50];
        for seed in 0..2000 {
            let mut sample = Reservoir::new(10, seed);
            (0..50).for_each(|i| sample.push(&i, false));
            assert_eq!(sample.seen(), 50);
            let rows = sample.finish();
            assert_eq!(rows.len(), 10);
            assert!(rows.is_sorted());
            rows.iter().for_each(|&i| hits[i as usize] += 1);
        }
        // 400 expected, deviation 18.
        assert!(hits.iter().all(|&h| (310..490).contains(&h)), "{hits:?}");
        let mut sample = Reservoir::new(2, 1);
        (0..100).for_each(|i| sample.push(&i, i == 3 || i == 99));
        let rows = sample.finish();
        assert!(rows.contains(&3) && rows.contains(&99) && rows.len() <= 4);
        assert!(size(1 << 30, 1 << 20) == LEAST && size(8, usize::MAX) == MOST);
    }
}
