//! Cholesky factors on the device, in f64, and triangular solves with them. The kernels are those of `kernels/8_factor.cu`.
//!
//! Panels of four tiles: a tile on the diagonal is factored and inverted by one block, what lies below it is multiplied with
//! the inverse, and the rest of the panel follows; then the panel is taken from all that is to its right in one product, which is
//! where nearly all of the `order^3 / 3` multiply-adds are. A solve goes from tile to tile.

use std::sync::Arc;

use crate::driver::{Gpu, Outcome};
use crate::memory::{Memory, Plain};
use crate::values::argument;

/// Rows of a tile, and of a panel.
pub(crate) const TILE: usize = 128;
const PANEL: usize = 4 * TILE;

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
}

// SAFETY: numbers in a fixed layout.
unsafe impl Plain for Times {}

impl Times {
    /// Starts it. Matrices are whole tiles, rows begin at multiples of 16 bytes, and k is a multiple of 16.
    pub(crate) fn launch(mut self, gpu: &Gpu) -> Outcome<()> {
        let tiles = (self.m as usize / TILE) * (self.n as usize / TILE);
        if tiles == 0 || self.k == 0 {
            return Ok(());
        }
        // SAFETY: the function takes this structure, whose addresses belong to live memory of these sizes.
        unsafe { gpu.launch("factor_times", (tiles, 1), 256, TIMES_SHARED, &mut [argument(&mut self)]) }
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
    /// Inverses of the tiles on the diagonal, and their transposes.
    inverse: Memory,
    inverse_turned: Memory,
    fault: Memory,
}

/// Bytes of a factor of an order.
pub(crate) fn bytes(m: usize) -> usize {
    let order = m.next_multiple_of(TILE);
    16 * order * order + 16 * order * TILE
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
            inverse: Memory::room(gpu, 8 * order * TILE)?,
            inverse_turned: Memory::room(gpu, 8 * order * TILE)?,
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
        let product = |a: u64, b: (u64, i64), c: u64, (m, n, k): (usize, usize, usize)| Times {
            a,
            b: b.0,
            c,
            lda: stride,
            ldb: b.1,
            ldc: stride,
            m: m as i32,
            n: n as i32,
            k: k as i32,
            lower: 0,
            late: 0,
            add: 0,
            alpha: 1.0,
        };
        for step in steps(order, TILE, PANEL) {
            match step {
                Step::Tile(at) => self.tile(gpu, at)?,
                Step::Below { at, from } => {
                    let inverse = self.inverse.pointer() + 8 * (at * TILE) as u64;
                    let below = place(from, at);
                    product(below, (inverse, TILE as i64), below, (order - from, TILE, TILE)).launch(gpu)?;
                }
                Step::Take { from, to, first, last } => {
                    let (a, c) = (place(from, first), place(from, from));
                    let sizes = (order - from, to - from, last - first);
                    Times { lower: 1, add: 1, alpha: -1.0, ..product(a, (a, stride), c, sizes) }
                        .launch(gpu)?;
                }
            }
        }
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

    fn tile(&self, gpu: &Gpu, at: usize) -> Outcome<()> {
        let mut a = self.l.pointer() + 8 * (at * self.order + at) as u64;
        let (mut stride, mut fault) = (self.order as i64, self.fault.pointer());
        let mut inverse = self.inverse.pointer() + 8 * (at * TILE) as u64;
        let mut turned = self.inverse_turned.pointer() + 8 * (at * TILE) as u64;
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
                    argument(&mut fault),
                ],
            )
        }
    }

    /// `y = L^-1 b`, or `L'^-1 b`, for k vectors of `order` numbers that lie one after another; b is used up.
    pub(crate) fn solve(&self, gpu: &Gpu, transposed: bool, b: &Memory, y: &Memory, k: usize) -> Outcome<()> {
        let tiles = self.order / TILE;
        for step in 0..tiles {
            let tile = if transposed { tiles - 1 - step } else { step };
            let at = tile * TILE;
            // What comes after: rows below, or above.
            let (first, last) = if transposed { (0, at) } else { (at + TILE, self.order) };
            let (of, w) =
                if transposed { (&self.l, &self.inverse) } else { (&self.turned, &self.inverse_turned) };
            let mut m = of.pointer() + 8 * (at * self.order) as u64;
            let (mut stride, mut w) = (self.order as i64, w.pointer() + 8 * (at * TILE) as u64);
            let (mut b, mut y) = (b.pointer(), y.pointer());
            let (mut at, mut from, mut to) = (at as i32, first as i32, last as i32);
            let (mut order, mut vectors) = (self.order as i32, k as i32);
            let grid = (((last - first) / TILE).max(1), k.div_ceil(8));
            // SAFETY: arguments in the function's order; a square, tiles, and k vectors of this order each.
            unsafe {
                gpu.launch(
                    "factor_solve",
                    grid,
                    256,
                    0,
                    &mut [
                        argument(&mut m),
                        argument(&mut stride),
                        argument(&mut w),
                        argument(&mut b),
                        argument(&mut y),
                        argument(&mut at),
                        argument(&mut from),
                        argument(&mut to),
                        argument(&mut order),
                        argument(&mut vectors),
                    ],
                )
            }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert, reference, toy};

    #[test]
    fn structures_have_the_sizes_that_the_device_code_gives_them() {
        assert_eq!(size_of::<Times>(), 80);
        // The smallest limit of the devices with fast f64.
        const { assert!(TIMES_SHARED + crate::driver::STATIC_SHARED <= 163 << 10) };
        const { assert!(TILE_SHARED + crate::driver::STATIC_SHARED <= 163 << 10) };
    }

    /// The steps on the CPU, with the arithmetic of the kernels: tiles with their inverses, products of blocks, solves from tile
    /// to tile.
    #[test]
    fn the_steps_factor_a_matrix_and_solve_with_it() {
        let (tile, panel) = (4, 16);
        for order in [4, 16, 20, 44, 64] {
            let x = toy::normals(order, order + 3, 7);
            let mut a = vec![0.0; order * order];
            for i in 0..order {
                for j in 0..order {
                    a[i * order + j] =
                        (0..order + 3).map(|p| x[i * (order + 3) + p] * x[j * (order + 3) + p]).sum();
                }
            }
            let whole = a.clone();
            let mut inverse = vec![0.0; order * tile];
            for step in steps(order, tile, panel) {
                mirrored(step, &mut a, &mut inverse, order, tile);
            }
            let l: Vec<f64> =
                (0..order * order).map(|p| if p % order > p / order { 0.0 } else { a[p] }).collect();
            let turned: Vec<f64> = (0..order * order).map(|p| l[p % order * order + p / order]).collect();
            assert::close_to_scale(&reference::product(&l, &turned, order, order, order), &whole, 1e-11);
            let right = toy::normals(order, 1, 3);
            for transposed in [false, true] {
                let of = if transposed { &l } else { &turned };
                let (mut b, mut y) = (right.clone(), vec![0.0; order]);
                for step in 0..order / tile {
                    let at = if transposed { order - tile * (step + 1) } else { tile * step };
                    for r in 0..tile {
                        let w = |c: usize| {
                            if transposed {
                                inverse[(at + c) * tile + r]
                            } else {
                                inverse[(at + r) * tile + c]
                            }
                        };
                        y[at + r] = (0..tile).map(|c| w(c) * b[at + c]).sum();
                    }
                    let after = if transposed { 0..at } else { at + tile..order };
                    for r in after {
                        b[r] -= (0..tile).map(|c| of[(at + c) * order + r] * y[at + c]).sum::<f64>();
                    }
                }
                // What it was made from comes back.
                let of = if transposed { &turned } else { &l };
                assert::close_to_scale(&reference::product(of, &y, order, order, 1), &right, 1e-9);
            }
        }
    }

    fn mirrored(step: Step, a: &mut [f64], inverse: &mut [f64], order: usize, tile: usize) {
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
                        let sum: f64 =
                            (0..r).map(|k| a[(at + r) * order + at + k] * inverse[(at + k) * tile + c]).sum();
                        inverse[(at + r) * tile + c] = (unit - sum) / a[(at + r) * order + at + r];
                    }
                }
            }
            Step::Below { at, from } => {
                for r in from..order {
                    let row: Vec<f64> = a[r * order + at..r * order + at + tile].to_vec();
                    for c in 0..tile {
                        a[r * order + at + c] =
                            (0..tile).map(|k| row[k] * inverse[(at + c) * tile + k]).sum();
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
