//! How large working sets are, and how many rows are kept: by counts and the memory there is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::driver::{Gpu, Outcome, Trouble};
use crate::memory::Memory;

/// Variables of a working set where few machines leave most of the device idle, or machines are large: what keys have bits for.
const LARGE: usize = 1024;
/// The same where many small machines advance together, and where very many do.
const MEDIUM: usize = 512;
pub(crate) const SMALL: usize = 256;
/// Machines that are many, and very many.
const MANY: usize = 12;
const VERY_MANY: usize = 80;
/// Rows are all kept where that takes no more than so many bytes.
const SMALL_STORE: usize = 8 << 30;

/// Variables of each working set, and how exactly it is solved as a share of the violation there is: large sets take few
/// rounds, and need not be solved as far.
pub(crate) fn set_size(machines: usize, most: usize) -> (usize, f64) {
    let size = match machines {
        ..MANY => LARGE,
        MANY..VERY_MANY if most >= 8 * LARGE => LARGE,
        MANY..VERY_MANY => MEDIUM,
        _ => SMALL,
    };
    // Whole warps of two variables a thread, or of four.
    let whole = most.next_multiple_of(64);
    let whole = if whole > SMALL { most.next_multiple_of(128) } else { whole };
    let size = whole.min(size);
    (if size > MEDIUM { LARGE } else { size }, if size > MEDIUM && machines < MANY { 0.3 } else { 0.1 })
}

/// How many rows to keep, from the most that is wanted to the least that works; none: not even that fits.
fn sizes(n: usize, line: usize, free: usize, least: usize) -> Vec<usize> {
    let most = n.min((free / 10 * 8) / line).min((SMALL_STORE / line).max(n.div_ceil(2)));
    std::iter::successors(Some(most), |rows| Some(rows / 2))
        .take_while(|&rows| rows >= least.max(1))
        .collect()
}

/// Room for rows: all of them where that is little, else half of them or what there is.
pub(crate) fn store(
    gpu: &Arc<Gpu>,
    n: usize,
    stride: usize,
    q: usize,
    machines: usize,
) -> Outcome<(Memory, usize)> {
    let line = 4 * stride;
    let free = gpu.free.saturating_sub(gpu.used.load(Ordering::Relaxed));
    // One machine's set must fit, and two are better than one after the other.
    let least = n.min(q * machines.min(2));
    for rows in sizes(n, line, free, least) {
        match Memory::room(gpu, rows * line) {
            Ok(memory) => return Ok((memory, rows)),
            Err(Trouble::Memory) => {}
            Err(trouble) => return Err(trouble),
        }
    }
    Err(Trouble::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_sets_are_whole_warps_and_smaller_where_machines_are_many() {
        assert_eq!(
            (set_size(1, 50_000), set_size(45, 12_000), set_size(45, 3000).0),
            ((1024, 0.3), (1024, 0.1), 512)
        );
        assert_eq!(set_size(325, 1200).0, 256);
        assert_eq!((set_size(1, 1).0, set_size(1, 65).0, set_size(3, 700).0), (64, 128, 1024));
        for most in [1, 40, 64, 300, 511, 513, 1000, 5000] {
            for machines in [1, 11, 12, 79, 80, 1000] {
                let (q, _) = set_size(machines, most);
                assert!(q % if q > SMALL { 128 } else { 64 } == 0 && q <= LARGE, "{machines}, {most}: {q}");
            }
        }
    }

    #[test]
    fn the_store_shrinks_with_the_memory_and_is_given_up_where_no_set_fits() {
        let line = |n: usize| 4 * n.next_multiple_of(32);
        // All rows where they are few; half of them on a large device; what there is on a small one.
        assert_eq!(sizes(20_000, line(20_000), 100 << 30, 448)[0], 20_000);
        assert_eq!(sizes(300_000, line(300_000), 400 << 30, 448)[0], 150_000);
        let small = sizes(300_000, line(300_000), 10 << 30, 448);
        assert!(small[0] < 7200 && small.iter().all(|&rows| rows >= 448) && small.len() > 3, "{small:?}");
        assert!(sizes(300_000, line(300_000), 100 << 20, 448).is_empty());
    }
}
