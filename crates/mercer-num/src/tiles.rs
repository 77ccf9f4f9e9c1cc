//! Large matrices filled tile by tile: a tile stays in cache while it is computed and mapped, then it is written
//! once.
//!
//! The tile function computes values; this file divides the work, distributes it over threads, and writes. A
//! symmetric matrix is computed on and below the diagonal only and mirrored from the tile in cache.

use std::cell::Cell;

use rayon::prelude::*;

use crate::Real;
use crate::dispatch::dispatch;
use crate::stream;

/// Rows and columns of a tile: 256 KiB of f32, a quarter of a usual second-level cache, so that the tile and the
/// packed operands of its product fit together. 192 to 384 are equally fast.
pub const TILE: usize = 256;

/// Columns per inner loop of a product where it is widest (f32 under AVX-512); other widths divide it.
const PANEL: usize = 96;

/// Results larger than this bypass the caches: they do not fit into third-level caches.
const LARGE: usize = 64 << 20;

/// Where a tile lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// First row.
    pub row: usize,
    /// Number of rows.
    pub rows: usize,
    /// First column.
    pub col: usize,
    /// Number of columns.
    pub cols: usize,
}

/// Memory written by several threads, each its own part.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T, usize);

// SAFETY: the functions below hand each tile's part of the memory to one thread only.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The run of `len` values from `at`.
    ///
    /// # Safety
    /// No other thread may hold an overlapping run.
    #[expect(clippy::mut_from_ref, reason = "the caller promises that runs do not overlap")]
    unsafe fn run(&self, at: usize, len: usize) -> &mut [T] {
        assert!(at + len <= self.1);
        // SAFETY: in bounds by the assert, exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(at), len) }
    }
}

/// Fills the m x n matrix `out` (row-major, rows `stride` apart) from tiles. `fill` writes a tile's rows * cols values.
pub fn rectangular<T: Real>(
    out: &mut [T],
    stride: usize,
    m: usize,
    n: usize,
    threads: usize,
    fill: impl Fn(Tile, &mut [T]) + Sync,
) {
    if m == 0 || n == 0 {
        return;
    }
    assert!(n <= stride && out.len() >= (m - 1) * stride + n);
    // With few rows tiles are wider, so that each product is large enough; in whole panels of the product's inner
    // loop.
    let high = TILE.min(m.max(1));
    let wide = (TILE * TILE / high).clamp(TILE, 4096).next_multiple_of(PANEL);
    let tiles: Vec<Tile> = (0..n)
        .step_by(wide)
        .flat_map(|col| (0..m).step_by(high).map(move |row| (row, col)))
        .map(|(row, col)| Tile { row, rows: high.min(m - row), col, cols: wide.min(n - col) })
        .collect();
    let shared = Shared(out.as_mut_ptr(), out.len());
    each(&tiles, threads, |t, values| {
        fill(t, values);
        for (r, line) in values.chunks(t.cols).enumerate() {
            // SAFETY: tiles do not overlap, and each is written by the one thread that has it.
            unsafe { shared.run((t.row + r) * stride + t.col, t.cols) }.copy_from_slice(line);
        }
    });
}

/// Fills the symmetric n x n matrix `out` from the tiles on and below its diagonal.
pub fn symmetric<T: Real>(out: &mut [T], n: usize, threads: usize, fill: impl Fn(Tile, &mut [T]) + Sync) {
    assert_eq!(out.len(), n * n);
    // Twice as wide numbers: smaller tiles, so that they stay in cache as well.
    let tile = if size_of::<T>() > 4 { 3 * TILE / 4 } else { TILE };
    let tiles: Vec<Tile> = (0..n)
        .step_by(tile)
        .flat_map(|col| (col..n).step_by(tile).map(move |row| (row, col)))
        .map(|(row, col)| Tile { row, rows: tile.min(n - row), col, cols: tile.min(n - col) })
        .collect();
    let shared = Shared(out.as_mut_ptr(), out.len());
    let put = writer::<T>(size_of_val(out));
    each(&tiles, threads, |t, values| {
        fill(t, values);
        if t.row == t.col {
            // Products need not be symmetric to the last bit, so the lower half is mirrored.
            for r in 0..t.rows {
                for c in r + 1..t.cols {
                    values[r * t.cols + c] = values[c * t.cols + r];
                }
            }
        }
        for (r, line) in values.chunks(t.cols).enumerate() {
            // SAFETY: tiles below the diagonal do not overlap; each is written by the one thread that has it.
            put(unsafe { shared.run((t.row + r) * n + t.col, t.cols) }, line);
        }
        if t.row != t.col {
            let mut band = [T::ZERO; 8 * TILE];
            for first in (0..t.cols).step_by(8) {
                let wide = 8.min(t.cols - first);
                transpose_band(values, t.rows, t.cols, first, &mut band);
                for c in 0..wide {
                    // SAFETY: the mirror images of those tiles overlap neither each other nor the tiles.
                    let line = unsafe { shared.run((t.col + first + c) * n + t.row, t.rows) };
                    put(line, &band[c * TILE..c * TILE + t.rows]);
                }
            }
        }
        stream::fence();
    });
}

/// Copies the m x n part at (row, col) of a matrix with rows `stride` apart to its mirror image at (col, row).
pub fn mirror<T: Real>(out: &mut [T], stride: usize, row: usize, m: usize, col: usize, n: usize) {
    let mut band = [T::ZERO; 8 * TILE];
    for r in (row..row + m).step_by(TILE) {
        let rows = TILE.min(row + m - r);
        for c in (col..col + n).step_by(8) {
            let wide = 8.min(col + n - c);
            if wide == 8 {
                T::band8(&out[r * stride..], rows, stride, c, &mut band);
            } else {
                for k in 0..wide * rows {
                    band[k / rows * TILE + k % rows] = out[(r + k % rows) * stride + c + k / rows];
                }
            }
            for k in 0..wide {
                out[(c + k) * stride + r..][..rows].copy_from_slice(&band[k * TILE..k * TILE + rows]);
            }
        }
    }
}

/// The copy function for a result of this size: streaming if it does not fit into the caches.
fn writer<T: Real>(bytes: usize) -> fn(&mut [T], &[T]) {
    if bytes > LARGE { stream::copy } else { <[T]>::copy_from_slice }
}

/// Runs every tile with a scratch tile, on the given number of threads.
fn each<T: Real>(tiles: &[Tile], threads: usize, work: impl Fn(Tile, &mut [T]) + Sync) {
    // No larger than the largest tile: fresh memory costs more than the values of a small tile.
    let size = tiles.iter().map(|t| t.rows * t.cols).max().unwrap_or(0);
    let run = |tiles: &[Tile], scratch: &mut [T]| {
        for &t in tiles {
            work(t, &mut scratch[..t.rows * t.cols]);
        }
    };
    if threads <= 1 || tiles.len() <= 1 {
        T::with_scratch(size, |scratch| run(tiles, scratch));
        return;
    }
    // Pieces small enough to even out a thread that is held up, large enough to keep its operand in cache.
    let piece = tiles.len().div_ceil(threads * 16);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let pieces: Vec<&[Tile]> = tiles.chunks(piece).collect();
    (0..threads.min(pieces.len())).into_par_iter().for_each(|_| {
        let take = || pieces.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        // A thread that arrives when all tiles are done needs no scratch memory.
        let Some(first) = take() else { return };
        T::with_scratch(size, |scratch| {
            run(first, scratch);
            while let Some(piece) = take() {
                run(piece, scratch);
            }
        });
    });
}

fn transpose_band<T: Real>(values: &[T], rows: usize, cols: usize, first: usize, band: &mut [T; 8 * TILE]) {
    if cols - first < 8 {
        for c in first..cols {
            for r in 0..rows {
                band[(c - first) * TILE + r] = values[r * cols + c];
            }
        }
        return;
    }
    T::band8(values, rows, cols, first, band);
}

/// What tiles need of a type: transposing eight columns at a time, compiled for each instruction set, and scratch memory.
pub trait Transpose: Sized {
    /// Calls `work` with `size` numbers of any value, which stay with the thread for its next tile: blocks of few rows are
    /// computed thousands of times per fit, and clearing new memory for each would cost as much as their values.
    fn with_scratch<R>(size: usize, work: impl FnOnce(&mut [Self]) -> R) -> R;

    /// `band[c * TILE + r] = values[r * cols + first + c]` for c below 8.
    fn band8(values: &[Self], rows: usize, cols: usize, first: usize, band: &mut [Self; 8 * TILE]);
}

macro_rules! transpose {
    ($t:ty, $name:ident) => {
        dispatch! {
            fn $name(values: &[$t], rows: usize, cols: usize, first: usize, band: &mut [$t; 8 * TILE]) {
                let whole = rows / 8 * 8;
                for r in (0..whole).step_by(8) {
                    let mut block = [[0.0; 8]; 8];
                    for (k, line) in block.iter_mut().enumerate() {
                        line.copy_from_slice(&values[(r + k) * cols + first..(r + k) * cols + first + 8]);
                    }
                    for c in 0..8 {
                        let mut line = [0.0; 8];
                        for k in 0..8 {
                            line[k] = block[k][c];
                        }
                        band[c * TILE + r..c * TILE + r + 8].copy_from_slice(&line);
                    }
                }
                for r in whole..rows {
                    for c in 0..8 {
                        band[c * TILE + r] = values[r * cols + first + c];
                    }
                }
            }
        }
        impl Transpose for $t {
            fn with_scratch<R>(size: usize, work: impl FnOnce(&mut [$t]) -> R) -> R {
                thread_local! {
                    static KEPT: Cell<Vec<$t>> = const { Cell::new(Vec::new()) };
                }
                // Taken out while it is used: `work` may need scratch memory of its own.
                let mut scratch = KEPT.take();
                if scratch.len() < size {
                    scratch.resize(size, 0.0);
                }
                let result = work(&mut scratch[..size]);
                KEPT.set(scratch);
                result
            }

            fn band8(values: &[$t], rows: usize, cols: usize, first: usize, band: &mut [$t; 8 * TILE]) {
                $name(values, rows, cols, first, band);
            }
        }
    };
}
transpose!(f32, band8_f32);
transpose!(f64, band8_f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn value(i: usize, j: usize) -> f64 {
        (i.max(j) * 1000 + i.min(j)) as f64
    }

    #[test]
    fn every_entry_is_written_once_with_its_value() {
        for n in [1, 7, 255, 256, 257, 530] {
            for threads in [1, 2, 5] {
                let mut out = vec![f64::NAN; n * n];
                symmetric(&mut out, n, threads, |t, v| {
                    for r in 0..t.rows {
                        for c in 0..t.cols {
                            v[r * t.cols + c] = value(t.row + r, t.col + c);
                        }
                    }
                });
                assert!((0..n * n).all(|p| out[p] == value(p / n, p % n)), "n {n}, {threads} threads");
            }
        }
        let n = 700;
        let mut out: Vec<f64> = (0..n * n).map(|p| if p % n > p / n { p as f64 } else { 0.0 }).collect();
        mirror(&mut out, n, 0, 301, 301, 399);
        assert!((0..301).all(|i| (301..700).all(|j| out[j * n + i] == (i * n + j) as f64)));
        for (m, n) in [(1, 1), (3, 9000), (300, 10), (600, 700), (2, 0), (0, 3)] {
            let mut out = vec![f32::NAN; m * n];
            rectangular(&mut out, n, m, n, 2, |t, v| {
                for r in 0..t.rows {
                    for c in 0..t.cols {
                        v[r * t.cols + c] = ((t.row + r) * n + t.col + c) as f32;
                    }
                }
            });
            assert!(out.iter().enumerate().all(|(p, &v)| v == p as f32), "{m} x {n}");
        }
    }
}
