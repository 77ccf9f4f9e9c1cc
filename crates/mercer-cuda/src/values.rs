//! Blocks of kernel values and sums of them on the device. Mirrors the structures of `kernels/2_values.cu`.

use std::ffi::c_void;
use std::sync::Arc;

use mercer::num::Floats;

use crate::driver::{Gpu, Outcome};
use crate::memory::{Memory, Plain};
use crate::pack::{Loaded, Packed};
use crate::program::Map;

/// One side of a block.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    pub(crate) x: u64,
    pub(crate) square: u64,
    pub(crate) sums: u64,
    pub(crate) squares: u64,
    pub(crate) rows: u64,
}

/// A block to compute.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) a: Side,
    pub(crate) b: Side,
    pub(crate) m: i32,
    pub(crate) n: i32,
    pub(crate) count: u64,
    pub(crate) place: u64,
    pub(crate) out: u64,
    pub(crate) stride: i64,
    pub(crate) pitch: i32,
    pub(crate) d: i32,
    pub(crate) offset: f64,
    pub(crate) scale: f64,
}

const BYTES_SHARED: usize = 4 * 2 * 128 * 80;
const WIDE_SHARED: usize = 3 * (128 + 64) * 20 * 8;

/// A pointer to an argument of a launch.
pub(crate) fn argument<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

impl Block {
    /// Rows of `a` against rows of `b`, both packed in one form.
    pub(crate) fn new(
        (a, m): (Side, usize),
        (b, n): (Side, usize),
        like: &Packed,
        out: u64,
        stride: usize,
    ) -> Self {
        let (offset, scale) = like.grid();
        Block {
            a,
            b,
            m: m as i32,
            n: n as i32,
            count: 0,
            place: 0,
            out,
            stride: stride as i64,
            pitch: like.pitch as i32,
            d: like.d as i32,
            offset,
            scale,
        }
    }

    /// Computes it. `most` is the number of rows of A where only the device knows it.
    pub(crate) fn launch(mut self, gpu: &Gpu, map: &Map, bytes: bool, wide: bool) -> Outcome<()> {
        let (name, shared, tile) = match (bytes, wide) {
            (true, false) => ("values_bytes_f32", BYTES_SHARED, 128 * 128),
            (true, true) => ("values_bytes_f64", BYTES_SHARED, 128 * 128),
            (false, false) => ("values_wide_f32", WIDE_SHARED, 128 * 64),
            (false, true) => ("values_wide_f64", WIDE_SHARED, 128 * 64),
        };
        let tiles = (self.m as usize).div_ceil(128) * (self.n as usize).div_ceil(tile / 128);
        let mut map = *map;
        // SAFETY: the two arguments are those of all four functions; pointers in the block are those of live memory, whose
        // lengths follow from m, n and the pitch.
        unsafe {
            gpu.launch(
                name,
                (tiles.clamp(1, 2 * gpu.multiprocessors), 1),
                256,
                shared,
                &mut [argument(&mut self), argument(&mut map)],
            )
        }
    }
}

/// Norms of rows that were just copied.
pub(crate) fn launch_squares(
    gpu: &Gpu,
    packed: &Packed,
    loaded: &Loaded,
    shift: Option<&Memory>,
) -> Outcome<()> {
    let mut side = loaded.side(None);
    let (mut pitch, mut n, mut d) = (packed.pitch as i32, packed.n as i32, packed.d as i32);
    let (mut offset, mut scale) = packed.grid();
    let mut shift = shift.map_or(0, Memory::pointer);
    let blocks = packed.n.div_ceil(8);
    // SAFETY: arguments in the functions' order; the arrays have n entries.
    unsafe {
        if packed.is_bytes() {
            gpu.launch(
                "squares_bytes",
                (blocks, 1),
                256,
                0,
                &mut [
                    argument(&mut side.x),
                    argument(&mut pitch),
                    argument(&mut n),
                    argument(&mut d),
                    argument(&mut offset),
                    argument(&mut scale),
                    argument(&mut side.sums),
                    argument(&mut side.squares),
                    argument(&mut side.square),
                ],
            )
        } else {
            gpu.launch(
                "squares_wide",
                (blocks, 1),
                256,
                0,
                &mut [
                    argument(&mut side.x),
                    argument(&mut pitch),
                    argument(&mut n),
                    argument(&mut side.square),
                    argument(&mut shift),
                    argument(&mut side.sums),
                ],
            )
        }
    }
}

/// Into how many parts the columns of a product are shared out: so that blocks fill the device some times over, and each has
/// columns enough.
fn parts(blocks: usize, n: usize, multiprocessors: usize) -> usize {
    (6 * multiprocessors).div_ceil(blocks.max(1)).min(n / 1024).clamp(1, 16)
}

/// A matrix on the device with the distance of its rows, in f32 or f64. Rows are padded with zeros to whole steps of 32.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a> {
    Narrow(&'a Memory, usize),
    /// Needs the shared memory of devices with fast f64.
    Wide(&'a Memory, usize),
}

/// `out = A x` for vectors that lie one after another: A has m x n values.
pub(crate) fn launch_times(
    gpu: &Arc<Gpu>,
    matrix: Values<'_>,
    x: &Memory,
    out: &Memory,
    (m, n): (usize, usize),
    vectors: usize,
) -> Outcome<()> {
    let (values, stride, size) = match matrix {
        Values::Narrow(values, stride) => (values, stride, 4),
        Values::Wide(values, stride) => (values, stride, 8),
    };
    let (name, wide, stages) = match (size, vectors <= 16) {
        (8, _) => ("times_few_f64", 16, 3),
        (_, true) => ("times_few_f32", 16, 3),
        _ => ("times_many_f32", 64, 2),
    };
    let (high, across) = (m.div_ceil(128), vectors.div_ceil(wide));
    let parts = parts(high * across, n, gpu.multiprocessors);
    let sums = if parts > 1 { Some(Memory::room(gpu, 8 * m * vectors * parts)?) } else { None };
    let to = sums.as_ref().unwrap_or(out);
    let (mut values, mut stride) = (values.pointer(), stride as i64);
    let (mut x, mut to, mut k) = (x.pointer(), to.pointer(), vectors as i32);
    let (mut rows, mut columns, mut shares) = (m as i32, n as i32, parts as i32);
    let shared = stages * (128 * 36 * size + wide * 36 * 8);
    // SAFETY: arguments in the functions' order; the matrix has m padded rows, x has n numbers a vector and the output m, for
    // each of the parts.
    unsafe {
        gpu.launch(
            name,
            (high, across * parts),
            256,
            shared,
            &mut [
                argument(&mut values),
                argument(&mut stride),
                argument(&mut x),
                argument(&mut to),
                argument(&mut rows),
                argument(&mut columns),
                argument(&mut k),
                argument(&mut shares),
            ],
        )
    }?;
    if parts == 1 {
        return Ok(());
    }
    let (mut out, mut count) = (out.pointer(), (m * vectors) as i32);
    // SAFETY: arguments in the function's order; parts of m numbers a vector, and room for one of them.
    unsafe {
        gpu.launch(
            "times_sum",
            ((m * vectors).div_ceil(256), 1),
            256,
            0,
            &mut [argument(&mut to), argument(&mut out), argument(&mut count), argument(&mut shares)],
        )
    }
}

/// Two sides of rows, packed in one form, on the device.
pub(crate) struct Pair<'a> {
    pub(crate) gpu: &'a Arc<Gpu>,
    pub(crate) map: &'a Map,
    pub(crate) like: &'a Packed,
    pub(crate) a: (Side, usize),
    pub(crate) b: (Side, usize),
}

/// Bytes of values that are held on the device at once: a share of what is free, and no more than this.
pub(crate) const MOST_SCRATCH: usize = 4 << 30;

impl Pair<'_> {
    /// Rows of A whose values are held at once.
    fn high(&self, wide: bool) -> usize {
        let line = self.b.1 * if wide { 8 } else { 4 };
        let rows = (self.gpu.left() / 4).min(MOST_SCRATCH) / line.max(1);
        let rows = if rows >= 128 { rows / 128 * 128 } else { rows.max(1) };
        rows.min(self.a.1)
    }

    /// A run of A's rows as a side: by the numbers given, or by moving on in all arrays.
    pub(crate) fn part(&self, from: usize) -> Side {
        let mut side = self.a.0;
        if side.rows != 0 {
            side.rows += 4 * from as u64;
        } else {
            let size = if self.like.is_bytes() { 1 } else { 8 };
            side.x += (from * self.like.pitch * size) as u64;
            side.square += 8 * from as u64;
            if self.like.is_bytes() {
                side.sums += 4 * from as u64;
                side.squares += 4 * from as u64;
            } else if side.sums != 0 {
                side.sums += 8 * from as u64;
            }
        }
        side
    }

    /// All values, row by row, on the host.
    pub(crate) fn values(&self, out: Floats<'_>) -> Outcome<()> {
        match out {
            Floats::F32(out) => self.copied(out, false),
            Floats::F64(out) => self.copied(out, true),
        }
    }

    fn copied<T: Plain>(&self, out: &mut [T], wide: bool) -> Outcome<()> {
        let (n, high) = (self.b.1, self.high(wide));
        let scratch = Memory::room(self.gpu, high * n * size_of::<T>())?;
        for (p, out) in out.chunks_mut(high * n).enumerate() {
            let block =
                Block::new((self.part(p * high), out.len() / n), self.b, self.like, scratch.pointer(), n);
            block.launch(self.gpu, self.map, self.like.is_bytes(), wide)?;
            scratch.read(0, out)?;
        }
        Ok(())
    }

    /// `out[i * k + o] += sum_j k(a_i, b_j) coef[j * k + o]`, `out` and `coef` on the device.
    pub(crate) fn sums(&self, coef: &Memory, k: usize, out: &Memory, wide: bool) -> Outcome<()> {
        let (m, high) = (self.b.1, self.high(wide));
        let size = if wide { 8 } else { 4 };
        let scratch = Memory::room(self.gpu, high * m * size)?;
        for from in (0..self.a.1).step_by(high) {
            let rows = high.min(self.a.1 - from);
            let block = Block::new((self.part(from), rows), self.b, self.like, scratch.pointer(), m);
            block.launch(self.gpu, self.map, self.like.is_bytes(), wide)?;
            let (mut values, mut stride, mut coef) = (scratch.pointer(), m as i64, coef.pointer());
            let mut out = out.pointer() + (8 * from * k) as u64;
            let (mut rows, mut m, mut k) = (rows as i32, m as i32, k as i32);
            let name = match (k == 1, wide) {
                (true, false) => "apply_one_f32",
                (true, true) => "apply_one_f64",
                (false, false) => "apply_many_f32",
                (false, true) => "apply_many_f64",
            };
            let grid = if k == 1 {
                ((rows as usize).div_ceil(8), 1)
            } else {
                ((rows as usize).div_ceil(32), (k as usize).div_ceil(32))
            };
            let mut list = vec![
                argument(&mut values),
                argument(&mut stride),
                argument(&mut coef),
                argument(&mut out),
                argument(&mut rows),
                argument(&mut m),
            ];
            if k > 1 {
                list.push(argument(&mut k));
            }
            // SAFETY: arguments in the functions' order; scratch holds rows x m values, coef m x k, out from here on rows x k.
            unsafe { self.gpu.launch(name, grid, 256, 0, &mut list) }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::STATIC_SHARED;

    #[test]
    fn few_blocks_share_the_columns_and_many_have_them_all() {
        assert_eq!((parts(469, 60_000, 132), parts(157, 60_000, 132), parts(32, 60_000, 132)), (2, 6, 16));
        assert_eq!((parts(5000, 600_000, 132), parts(1, 900, 132), parts(1, 5000, 132)), (1, 1, 4));
    }

    #[test]
    fn structures_have_the_sizes_that_the_device_code_gives_them() {
        assert_eq!((size_of::<Side>(), size_of::<Block>()), (40, 144));
        assert_eq!(size_of::<Map>(), 8 + 24 * 32);
        // The smallest limit of the architectures that are taken.
        const { assert!(BYTES_SHARED + STATIC_SHARED <= 99 << 10 && WIDE_SHARED + STATIC_SHARED <= 99 << 10) };
    }
}
