//! A cache of kernel matrix rows within a budget of bytes, with least-recently-used eviction.
//!
//! Rows are computed in batches, one matrix product each, so they are requested in batches. A batch that fits into
//! free room is computed in place; only when rows must be evicted is it computed in a buffer and copied.

use mercer_num::{Buffer, Real};
use rayon::prelude::*;

use crate::exec::Exec;

/// Bytes of kernel values that are kept however cheap they are.
const CHEAP: f64 = (384 << 20) as f64;

/// Multiply-adds per value up to which values count as cheap: clearing fresh memory for a value costs about as much.
const CLEARING: f64 = 32.0;

/// At most `capacity` rows of n values.
#[derive(Debug)]
pub(crate) struct RowCache<T: Real> {
    n: usize,
    values: Buffer<T>,
    slot_of: Vec<u32>,
    row_of: Vec<u32>,
    /// When each slot was last requested.
    used: Vec<u64>,
    clock: u64,
    capacity: usize,
    scratch: Buffer<T>,
}

const NONE: u32 = u32::MAX;

impl<T: Real> RowCache<T> {
    /// Bytes of kernel values that are worth keeping, for values of `cost` multiply-adds.
    ///
    /// Fresh memory is not free: the system clears every page before the first write, which can take longer than computing
    /// the values (measured on a virtual machine, processor seconds with room for all rows and with this limit: a9a 4.3 and
    /// 1.5, ijcnn1 1.8 and 1.0, a table of 40,000 x 10 with 9100 support vectors 3.1 and 1.9; solving alone takes up to a
    /// tenth longer). So only rows that are expensive fill large caches.
    pub(crate) fn worth_keeping(cost: f64) -> usize {
        (CHEAP * (cost / CLEARING).max(1.0)) as usize
    }

    /// Number of rows of n values that are computed at once where their memory is used again for the next: 4 MiB per thread, up
    /// to four, so that they are still in cache when they are read. A multiple of eight, as sums take eight rows at a time: they do not
    /// depend on the number of threads then.
    pub(crate) fn batch(n: usize, exec: Exec) -> usize {
        let bytes = (4 << 20) * exec.threads().clamp(1, 4);
        (bytes / (n.max(1) * size_of::<T>()) / 8 * 8).clamp(16, 256)
    }

    /// A cache for as many rows of an n x n matrix as fit into `bytes`, but for at least `least` rows and at most
    /// all. Memory is allocated as rows arrive.
    pub(crate) fn new(n: usize, bytes: usize, least: usize) -> Self {
        let capacity = (bytes / (n.max(1) * size_of::<T>())).max(least).min(n);
        RowCache {
            n,
            values: Buffer::stale(capacity * n),
            slot_of: vec![NONE; n],
            row_of: Vec::with_capacity(capacity),
            used: Vec::with_capacity(capacity),
            clock: 0,
            capacity,
            scratch: Buffer::stale(0),
        }
    }

    /// Maximum number of cached rows.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Whether a row is cached.
    pub(crate) fn has(&self, row: u32) -> bool {
        self.slot_of[row as usize] != NONE
    }

    /// A cached row.
    ///
    /// # Panics
    /// If the row is not cached.
    pub(crate) fn row(&self, row: u32) -> &[T] {
        let slot = self.slot_of[row as usize] as usize;
        &self.values[slot * self.n..(slot + 1) * self.n]
    }

    /// Makes all these rows cached, and returns how many had to be computed. `compute` gets the missing rows and the
    /// memory for their values, row after row.
    ///
    /// # Panics
    /// If there are more rows than fit into the cache.
    pub(crate) fn fetch(
        &mut self,
        rows: &[u32],
        exec: Exec,
        mut compute: impl FnMut(&[u32], &mut [T]),
    ) -> usize {
        self.clock += 1;
        let mut missing: Vec<u32> = Vec::new();
        for &r in rows {
            match self.slot_of[r as usize] {
                NONE => missing.push(r),
                slot => self.used[slot as usize] = self.clock,
            }
        }
        missing.sort_unstable();
        missing.dedup();
        let n = self.n;
        // Fill free room first, then evict the oldest rows.
        let fresh = missing.len().min(self.capacity - self.row_of.len());
        let (first, rest) = missing.split_at(fresh);
        if !first.is_empty() {
            let start = self.row_of.len();
            compute(first, &mut self.values[start * n..(start + fresh) * n]);
            for &r in first {
                self.slot_of[r as usize] = self.row_of.len() as u32;
                self.row_of.push(r);
                self.used.push(self.clock);
            }
        }
        if !rest.is_empty() {
            let victims = self.oldest(rest.len());
            let batch = Self::batch(n, exec).min(self.capacity.max(1));
            if self.scratch.len() < batch.min(rest.len()) * n {
                self.scratch = Buffer::stale(batch.min(rest.len()) * n);
            }
            for (rows, slots) in rest.chunks(batch).zip(victims.chunks(batch)) {
                compute(rows, &mut self.scratch[..rows.len() * n]);
                copy_rows(&mut self.values, slots, &self.scratch, n, exec);
                for (&r, &slot) in rows.iter().zip(slots) {
                    let s = slot as usize;
                    self.slot_of[self.row_of[s] as usize] = NONE;
                    self.slot_of[r as usize] = slot;
                    self.row_of[s] = r;
                    self.used[s] = self.clock;
                }
            }
        }
        missing.len()
    }

    /// The least recently used slots that are not part of the current request.
    fn oldest(&self, count: usize) -> Vec<u32> {
        let mut slots: Vec<u32> =
            (0..self.used.len() as u32).filter(|&s| self.used[s as usize] < self.clock).collect();
        assert!(count <= slots.len(), "{count} rows must make way, {} may", slots.len());
        slots.sort_unstable_by_key(|&s| (self.used[s as usize], s));
        slots.truncate(count);
        slots.sort_unstable();
        slots
    }
}

/// Copies consecutive rows of n values to these slots, which ascend, on all threads: one thread would take as long as all
/// together need to compute the rows.
fn copy_rows<T: Real>(values: &mut [T], slots: &[u32], rows: &[T], n: usize, exec: Exec) {
    let (mut rest, mut passed) = (values, 0);
    let places = slots.iter().map(|&slot| {
        let (_, from) = std::mem::take(&mut rest).split_at_mut((slot as usize - passed) * n);
        let (place, behind) = from.split_at_mut(n);
        (rest, passed) = (behind, slot as usize + 1);
        place
    });
    let pairs = places.zip(rows.chunks_exact(n));
    if exec.for_work(slots.len() * n).threads() == 1 {
        pairs.for_each(|(place, row)| place.copy_from_slice(row));
    } else {
        let pairs: Vec<_> = pairs.collect();
        pairs.into_par_iter().for_each(|(place, row)| place.copy_from_slice(row));
    }
}

impl<T: Real> Drop for RowCache<T> {
    fn drop(&mut self) {
        // Most of the memory may never have been touched; only the used part is worth keeping for the next cache.
        self.values.keep_first(self.row_of.len() * self.n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(r: u32, j: usize) -> f32 {
        (r * 1000) as f32 + j as f32
    }

    #[test]
    fn rows_are_right_whatever_had_to_make_way() {
        // Short rows, and rows so long that several threads copy them.
        for (n, room, threads) in [(37, 2, 1), (37, 5, 2), (37, 37, 2), (40_000, 30, 3)] {
            let mut cache = RowCache::<f32>::new(n, room * n * 4, 1);
            assert_eq!(cache.capacity(), room);
            let mut computed = 0;
            for round in 0..if n == 37 { 200 } else { 4_u32 } {
                let want: Vec<u32> = (0..room as u32).map(|p| (round * 7 + p * p * 3) % n as u32).collect();
                computed += cache.fetch(&want, Exec::one().with_threads(threads), |rows, out| {
                    for (&r, out) in rows.iter().zip(out.chunks_mut(n)) {
                        out.iter_mut().enumerate().for_each(|(j, v)| *v = value(r, j));
                    }
                });
                for &r in &want {
                    assert!(cache.has(r));
                    assert!(cache.row(r).iter().enumerate().all(|(j, &v)| v == value(r, j)));
                }
            }
            if room == n {
                assert_eq!(computed, n, "with room for all, each row is computed once");
            }
        }
    }

    #[test]
    fn expensive_rows_are_worth_more_memory_than_cheap_ones() {
        let worth_keeping = RowCache::<f32>::worth_keeping;
        assert_eq!(worth_keeping(0.0), 384 << 20);
        assert_eq!(worth_keeping(10.0), worth_keeping(32.0));
        assert_eq!(worth_keeping(320.0), 10 * worth_keeping(32.0));
        // More than any memory: no overflow.
        assert_eq!(worth_keeping(1e30), usize::MAX);
    }

    #[test]
    fn the_least_recently_used_goes() {
        let mut cache = RowCache::<f32>::new(10, 3 * 10 * 4, 1);
        let fill = |_: &[u32], _: &mut [f32]| {};
        cache.fetch(&[0], Exec::one(), fill);
        cache.fetch(&[1], Exec::one(), fill);
        cache.fetch(&[2], Exec::one(), fill);
        cache.fetch(&[0], Exec::one(), fill);
        cache.fetch(&[3], Exec::one(), fill);
        assert!(cache.has(0) && !cache.has(1) && cache.has(2) && cache.has(3));
    }
}
