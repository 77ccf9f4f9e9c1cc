//! Cholesky factors on the device, in f64, and triangular solves with them. The kernels are those of `kernels/8_factor.cu`.
//!
//! Panels of four tiles: a tile on the diagonal is factored and inverted by one block, what lies below it is multiplied with
//! the inverse, and the rest of the panel follows; then the panel is taken from all that is to its right in one product, which is
//! where nearly all of the `order^3 / 3` multiply-adds are. The inverses of tiles become those of blocks of eight,
//!
//! ```text
//! [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1 C^-1]
//! ```
//!
//! so that a solve goes from block to block, two launches each.

use std::sync::Arc;

use crate::driver::{Gpu, Outcome};
use crate::memory::{Memory, Plain};
use crate::values::argument;

/// Rows of a tile, and of a panel.
pub(crate) const TILE: usize = 128;
const PANEL: usize = 4 * TILE;
/// Rows of a block whose inverse is kept.
const BLOCK: usize = 8 * TILE;

/// Shared memory of products, and of a tile with its padding.
const TIMES_SHARED: usize = 3 * 2 * TILE * 20 * 8;
const TILE_SHARED: usize = TILE * (TILE + 1) * 8;

/// `C = alpha A B'`, or `C += alpha A B'`. Mirrors `Times` of `kernels/8_factor.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) a: u64,
    pub(crate) b: u64,
    pub(crate) c: u64,
    pub(crate) lda: i64,
    pub(crate) ldb: i64,
    pub(crate) ldc: i64,
    pub(crate) m: i32,
    pub(crate) n: i32,
    pub(crate) k: i32,
    pub(crate) lower: i32,
    pub(crate) late: i32,
    pub(crate) add: i32,
    pub(crate) alpha: f64,
    pub(crate) next_a: i64,
    pub(crate) next_b: i64,
    pub(crate) next_c: i64,
}

// SAFETY: numbers in a fixed layout.
unsafe impl Plain for Times {}

impl Times {
    /// `C = A B'` for places and the distances of their rows: m x n from m x k and n x k.
    pub(crate) fn new(
        a: (u64, usize),
        b: (u64, usize),
        c: (u64, usize),
        (m, n, k): (usize, usize, usize),
    ) -> Self {
        Times {
            a: a.0,
            b: b.0,
            c: c.0,
            lda: a.1 as i64,
            ldb: b.1 as i64,
            ldc: c.1 as i64,
            m: m as i32,
            n: n as i32,
            k: k as i32,
            lower: 0,
            late: 0,
            add: 0,
            alpha: 1.0,
            next_a: 0,
            next_b: 0,
            next_c: 0,
        }
    }

    /// Starts it. Matrices are whole tiles, rows begin at multiples of 16 bytes, and k is a multiple of 16.
    pub(crate) fn launch(self, gpu: &Gpu) -> Outcome<()> {
        self.launch_some(gpu, 1)
    }

    /// The same for several products whose matrices lie at equal distances.
    fn launch_some(mut self, gpu: &Gpu, count: usize) -> Outcome<()> {
        let tiles = (self.m as usize / TILE) * (self.n as usize / TILE);
        if tiles == 0 || self.k == 0 || count == 0 {
            return Ok(());
        }
        // SAFETY: the function takes this structure, whose addresses belong to live memory of these sizes.
        unsafe { gpu.launch("factor_times", (tiles, count), 256, TIMES_SHARED, &mut [argument(&mut self)]) }
    }
}

/// What a factorisation does, in order, on rows and columns by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The tile at a place of the diagonal becomes its factor; its inverse is kept.
    Tile(usize),
    /// Rows from `from` on, in the columns of the tile at `at`, are multiplied with the transpose of its inverse.
    Below { at: usize, from: usize },
    /// `A[r, c] -= A[r, k] A[c, k]'` for rows r from `from` on and columns c in `from..to`, k in `first..last`.
    Take { from: usize, to: usize, first: usize, last: usize },
}

/// The steps for an order that is a multiple of the tile.
fn steps(order: usize, tile: usize, panel: usize) -> Vec<Step> {
    let mut all = Vec::new();
    for start in (0..order).step_by(panel) {
        let end = (start + panel).min(order);
        for at in (start..end).step_by(tile) {
            let from = at + tile;
            all.push(Step::Tile(at));
            if from < order {
                all.push(Step::Below { at, from });
            }
            if from < end {
                all.push(Step::Take { from, to: end, first: at, last: from });
            }
        }
        if end < order {
            all.push(Step::Take { from: end, to: order, first: start, last: end });
        }
    }
    all
}

/// What is joined, in order, to invert a block of so many tiles whose own inverses are there: first, middle and end.
fn joints(tiles: usize) -> Vec<[usize; 3]> {
    fn within(first: usize, end: usize, all: &mut Vec<[usize; 3]>) {
        if end - first > 1 {
            let middle = first + (end - first) / 2;
            within(first, middle, all);
            within(middle, end, all);
            all.push([first, middle, end]);
        }
    }
    let mut all = Vec::new();
    within(0, tiles, &mut all);
    all
}

/// A symmetric matrix on the device that becomes `L L'`.
#[derive(Debug)]
pub(crate) struct Factor {
    /// Rows and columns, and what they are filled up to.
    pub(crate) m: usize,
    pub(crate) order: usize,
    /// The matrix, then L; its lower triangle is what is read.
    pub(crate) l: Memory,
    /// L' once it is factored.
    pub(crate) turned: Memory,
    /// Inverses of the blocks on the diagonal and their transposes, below one another; zeros on their other side.
    inverse: Memory,
    inverse_turned: Memory,
    /// Of a quarter of each block.
    scratch: Memory,
    fault: Memory,
}

/// Bytes of a factor of an order.
pub(crate) fn bytes(m: usize) -> usize {
    let order = m.next_multiple_of(TILE);
    16 * order * order + 18 * order * BLOCK + 2 * BLOCK * BLOCK
}

impl Factor {
    /// Room for a matrix, all zeros.
    pub(crate) fn room(gpu: &Arc<Gpu>, m: usize) -> Outcome<Self> {
        let order = m.next_multiple_of(TILE);
        Ok(Factor {
            m,
            order,
            l: Memory::filled(gpu, 8 * order * order, 0)?,
            turned: Memory::room(gpu, 8 * order * order)?,
            inverse: Memory::filled(gpu, 8 * order * BLOCK, 0)?,
            inverse_turned: Memory::filled(gpu, 8 * order * BLOCK, 0)?,
            scratch: Memory::room(gpu, 2 * order.next_multiple_of(BLOCK) * BLOCK)?,
            fault: Memory::filled(gpu, 4, 0)?,
        })
    }

    /// Factors the lower triangle in `l`, after a number is added to its diagonal. False: it is not positive definite.
    pub(crate) fn run(&self, gpu: &Arc<Gpu>, add: f64) -> Outcome<bool> {
        let (order, stride) = (self.order, self.order as i64);
        self.fault.write(0, &[0_i32])?;
        let (mut l, mut wide, mut m, mut all, mut add) =
            (self.l.pointer(), stride, self.m as i32, order as i32, add);
        // SAFETY: arguments in the function's order; a square of this order.
        unsafe {
            gpu.launch(
                "factor_border",
                (order.div_ceil(256), 1),
                256,
                0,
                &mut [
                    argument(&mut l),
                    argument(&mut wide),
                    argument(&mut m),
                    argument(&mut all),
                    argument(&mut add),
                ],
            )
        }?;
        let place = |r: usize, c: usize| self.l.pointer() + 8 * (r * order + c) as u64;
        for step in steps(order, TILE, PANEL) {
            match step {
                Step::Tile(at) => self.tile(gpu, at)?,
                Step::Below { at, from } => {
                    let (below, inverse) =
                        ((place(from, at), order), (in_block(&self.inverse, at, at), BLOCK));
                    Times::new(below, inverse, below, (order - from, TILE, TILE)).launch(gpu)?;
                }
                Step::Take { from, to, first, last } => {
                    let (a, c) = ((place(from, first), order), (place(from, from), order));
                    let times = Times::new(a, a, c, (order - from, to - from, last - first));
                    Times { lower: 1, add: 1, alpha: -1.0, ..times }.launch(gpu)?;
                }
            }
        }
        let whole = order / BLOCK;
        self.join(gpu, 0, BLOCK / TILE, whole)?;
        self.join(gpu, whole * BLOCK, order % BLOCK / TILE, 1)?;
        let (mut l, mut turned, mut wide) = (self.l.pointer(), self.turned.pointer(), stride);
        let grid = (order / 32, order / 32);
        // SAFETY: arguments in the function's order; two squares of this order.
        unsafe {
            gpu.launch(
                "factor_turn",
                grid,
                256,
                0,
                &mut [argument(&mut l), argument(&mut turned), argument(&mut wide)],
            )
        }?;
        let mut fault = [0_i32];
        self.fault.read(0, &mut fault)?;
        Ok(fault[0] == 0)
    }

    /// Inverts some blocks of so many tiles from those of their tiles.
    fn join(&self, gpu: &Gpu, at: usize, tiles: usize, count: usize) -> Outcome<()> {
        let (order, block) = (self.order, (BLOCK * BLOCK) as i64);
        for [first, middle, end] in joints(tiles) {
            let (a, c) = (at + first * TILE, at + middle * TILE);
            let (p, q) = ((middle - first) * TILE, (end - middle) * TILE);
            let side = (self.scratch.pointer(), q);
            // (B A^-1)', then what lies below, and its transpose.
            let turned = (in_block(&self.inverse_turned, a, a), BLOCK);
            let below = (self.l.pointer() + 8 * (c * order + a) as u64, order);
            let next = (BLOCK * BLOCK / 4) as i64;
            let times = Times::new(turned, below, side, (p, q, p));
            Times { next_a: block, next_b: (BLOCK * order + BLOCK) as i64, next_c: next, ..times }
                .launch_some(gpu, count)?;
            let own = (in_block(&self.inverse, c, c), BLOCK);
            let times = Times::new(own, side, (in_block(&self.inverse, c, a), BLOCK), (q, p, q));
            Times { alpha: -1.0, next_a: block, next_b: next, next_c: block, ..times }
                .launch_some(gpu, count)?;
            let times = Times::new(side, own, (in_block(&self.inverse_turned, a, c), BLOCK), (p, q, q));
            Times { alpha: -1.0, next_a: next, next_b: block, next_c: block, ..times }
                .launch_some(gpu, count)?;
        }
        Ok(())
    }

    fn tile(&self, gpu: &Gpu, at: usize) -> Outcome<()> {
        let mut a = self.l.pointer() + 8 * (at * self.order + at) as u64;
        let (mut stride, mut fault) = (self.order as i64, self.fault.pointer());
        let mut inverse = in_block(&self.inverse, at, at);
        let mut turned = in_block(&self.inverse_turned, at, at);
        let mut wide = BLOCK as i32;
        // SAFETY: arguments in the function's order; a tile of the square, and room for a tile each.
        unsafe {
            gpu.launch(
                "factor_tile",
                (1, 1),
                256,
                TILE_SHARED,
                &mut [
                    argument(&mut a),
                    argument(&mut stride),
                    argument(&mut inverse),
                    argument(&mut turned),
                    argument(&mut wide),
                    argument(&mut fault),
                ],
            )
        }
    }

    /// `y = L^-1 b`, or `L'^-1 b`, for k vectors of `order` numbers that lie one after another; b is used up.
    pub(crate) fn solve(&self, gpu: &Gpu, transposed: bool, b: &Memory, y: &Memory, k: usize) -> Outcome<()> {
        let (order, blocks) = (self.order, self.order.div_ceil(BLOCK));
        for step in 0..blocks {
            let at = BLOCK * if transposed { blocks - 1 - step } else { step };
            let end = (at + BLOCK).min(order);
            // What comes after: rows above, or below.
            let (of, w) =
                if transposed { (&self.l, &self.inverse) } else { (&self.turned, &self.inverse_turned) };
            let own = (w.pointer() + 8 * (at * BLOCK) as u64, BLOCK);
            multiply(gpu, own, (b, y), (at, end), (at, end), (order, k), false)?;
            let after = if transposed { (0, at) } else { (end, order) };
            let rest = (of.pointer() + 8 * (at * order + after.0) as u64, order);
            multiply(gpu, rest, (y, b), (at, end), after, (order, k), true)?;
        }
        Ok(())
    }
}

/// The place of a row and a column, by the numbers of the matrix, in blocks below one another.
fn in_block(blocks: &Memory, row: usize, column: usize) -> u64 {
    blocks.pointer() + 8 * (row * BLOCK + column % BLOCK) as u64
}

/// `to[rows] = M from[columns]`, or what is taken from it, for k vectors of `order` numbers; M is given transposed.
fn multiply(
    gpu: &Gpu,
    (m, stride): (u64, usize),
    (from, to): (&Memory, &Memory),
    columns: (usize, usize),
    rows: (usize, usize),
    (order, k): (usize, usize),
    take: bool,
) -> Outcome<()> {
    if rows.0 == rows.1 {
        return Ok(());
    }
    let (mut m, mut stride) = (m, stride as i64);
    let (mut x, mut out) = (from.pointer(), to.pointer());
    let (mut at, mut count) = (columns.0 as i32, (columns.1 - columns.0) as i32);
    let (mut first, mut last) = (rows.0 as i32, rows.1 as i32);
    let (mut order, mut vectors, mut take) = (order as i32, k as i32, i32::from(take));
    let grid = ((rows.1 - rows.0).div_ceil(32), k.div_ceil(8));
    // SAFETY: arguments in the function's order; whole tiles of rows and columns, and k vectors of this order each.
    unsafe {
        gpu.launch(
            "factor_solve",
            grid,
            256,
            0,
            &mut [
                argument(&mut m),
                argument(&mut stride),
                argument(&mut x),
                argument(&mut out),
                argument(&mut at),
                argument(&mut count),
                argument(&mut first),
                argument(&mut last),
                argument(&mut order),
                argument(&mut vectors),
                argument(&mut take),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn structures_have_the_sizes_that_the_device_code_gives_them() {
        assert_eq!(size_of::<Times>(), 104);
        // The smallest limit of the devices with fast f64.
        const { assert!(TIMES_SHARED + crate::driver::STATIC_SHARED <= 163 << 10) };
        const { assert!(TILE_SHARED + crate::driver::STATIC_SHARED <= 163 << 10) };
    }

    /// The steps on the CPU, with the arithmetic of the kernels: tiles with their inverses, products of blocks, inverses of
    /// blocks, solves from block to block.
    #[test]
    fn the_steps_factor_a_matrix_and_solve_with_it() {
        let (tile, panel, block) = (4, 16, 32);
        for order in [4, 16, 20, 44, 64, 92] {
            let x = toy::normals(order, order + 3, 7);
            let mut a = vec![0.0; order * order];
            for i in 0..order {
                for j in 0..order {
                    let row = |i: usize| &x[i * (order + 3)..(i + 1) * (order + 3)];
                    a[i * order + j] = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                }
            }
            let whole = a.clone();
            // As on the device: a tile's inverse at its place in blocks below one another.
            let mut inverse = vec![0.0; order * block];
            for step in steps(order, tile, panel) {
                mirrored(step, &mut a, &mut inverse, order, (tile, block));
            }
            for at in (0..order).step_by(block) {
                for [first, middle, end] in joints((order - at).min(block) / tile) {
                    let [first, middle, end] = [first, middle, end].map(|t| at + t * tile);
                    joined(&a, &mut inverse, order, block, (first, middle, end));
                }
            }
            let l: Vec<f64> =
                (0..order * order).map(|p| if p % order > p / order { 0.0 } else { a[p] }).collect();
            let turned: Vec<f64> = (0..order * order).map(|p| l[p % order * order + p / order]).collect();
            assert::close_to_scale(&reference::product(&l, &turned, order, order, order), &whole, 1e-11);
            let right = toy::normals(order, 1, 3);
            for transposed in [false, true] {
                let of = if transposed { &l } else { &turned };
                let (mut b, mut y) = (right.clone(), vec![0.0; order]);
                let blocks = order.div_ceil(block);
                for step in 0..blocks {
                    let at = block * if transposed { blocks - 1 - step } else { step };
                    let end = (at + block).min(order);
                    for r in at..end {
                        let w = |c: usize| {
                            let (row, column) = if transposed { (c, r) } else { (r, c) };
                            inverse[row * block + column - at]
                        };
                        y[r] = (at..end).map(|c| w(c) * b[c]).sum();
                    }
                    for r in if transposed { 0..at } else { end..order } {
                        b[r] -= (at..end).map(|c| of[c * order + r] * y[c]).sum::<f64>();
                    }
                }
                // What it was made from comes back.
                let of = if transposed { &turned } else { &l };
                assert::close_to_scale(&reference::product(of, &y, order, order, 1), &right, 1e-9);
            }
        }
    }

    /// Below: `-C^-1 B A^-1`, from places of the matrix.
    fn joined(
        a: &[f64],
        inverse: &mut [f64],
        order: usize,
        block: usize,
        (first, middle, end): (usize, usize, usize),
    ) {
        let at = first / block * block;
        let own = |inverse: &[f64], r: usize, c: usize| inverse[r * block + c - at];
        let mut side = vec![0.0; (middle - first) * (end - middle)];
        for c in first..middle {
            for r in middle..end {
                side[(c - first) * (end - middle) + r - middle] =
                    (first..middle).map(|k| own(inverse, k, c) * a[r * order + k]).sum();
            }
        }
        for r in middle..end {
            for c in first..middle {
                let sum: f64 = (middle..end)
                    .map(|k| own(inverse, r, k) * side[(c - first) * (end - middle) + k - middle])
                    .sum();
                inverse[r * block + c - at] = -sum;
            }
        }
    }

    fn mirrored(step: Step, a: &mut [f64], inverse: &mut [f64], order: usize, (tile, block): (usize, usize)) {
        match step {
            Step::Tile(at) => {
                for j in 0..tile {
                    let root = a[(at + j) * order + at + j].sqrt();
                    for r in j..tile {
                        a[(at + r) * order + at + j] /= root;
                    }
                    for r in j + 1..tile {
                        for c in j + 1..=r {
                            a[(at + r) * order + at + c] -=
                                a[(at + r) * order + at + j] * a[(at + c) * order + at + j];
                        }
                    }
                }
                for c in 0..tile {
                    for r in 0..tile {
                        let unit = f64::from(u8::from(r == c));
                        let column = at % block + c;
                        let sum: f64 = (0..r)
                            .map(|k| a[(at + r) * order + at + k] * inverse[(at + k) * block + column])
                            .sum();
                        inverse[(at + r) * block + column] = (unit - sum) / a[(at + r) * order + at + r];
                    }
                }
            }
            Step::Below { at, from } => {
                for r in from..order {
                    let row: Vec<f64> = a[r * order + at..r * order + at + tile].to_vec();
                    for c in 0..tile {
                        a[r * order + at + c] =
                            (0..tile).map(|k| row[k] * inverse[(at + c) * block + at % block + k]).sum();
                    }
                }
            }
            Step::Take { from, to, first, last } => {
                for r in from..order {
                    for c in from..to.min(r + 1) {
                        let sum: f64 = (first..last).map(|k| a[r * order + k] * a[c * order + k]).sum();
                        a[r * order + c] -= sum;
                    }
                }
            }
        }
    }
}
