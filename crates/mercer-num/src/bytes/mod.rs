//! Products of rows of 8-bit integers, exact in 32 bits.
//!
//! Pixels, counts and 0/1 columns are small integers times a constant. Where the processor multiplies bytes (AVX-512
//! VNNI: 64 multiply-adds per instruction, four times those of f32), their dot products and squared distances cost a
//! quarter, and they are exact: only the last step, from the integer to a float, rounds. [`available`] tells whether
//! it does; the plain version below is the reference for the vector code, and is not faster than floats.
//!
//! The instruction multiplies unsigned by signed bytes, so one side is stored less 128 and the sum is corrected: `x.y
//! = x.(y - 128) + 128 sum(x)`.

use std::ops::Range;
use std::sync::OnceLock;

use crate::Real;

mod gridded;
#[cfg(target_arch = "x86_64")]
mod vnni;

pub use gridded::Gridded;

/// Columns of a panel: two registers of sixteen sums.
const PANEL: usize = 32;
/// Rows per inner loop: with two registers per row, 24 of 32 registers hold sums.
const ROWS: usize = 12;
/// Widest rows: sums of so many products of bytes stay below 2^31.
pub const WIDEST: usize = 1 << 15;

/// Whether products of bytes are faster than those of floats on this machine.
pub fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Rows of bytes, padded to whole words, with their sums and squared norms.
#[derive(Debug, Clone)]
pub struct Bytes {
    rows: usize,
    d: usize,
    width: usize,
    values: Vec<u8>,
    sum: Vec<i32>,
    square: Vec<i32>,
    /// The rows in the layout of a right-hand operand, made on first use.
    panels: OnceLock<Vec<u8>>,
}

/// The value computed from the integer dot product of two rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wanted {
    /// `factor |x - y|^2`.
    Distance {
        /// What the squared distance of the integers is multiplied with.
        factor: f64,
    },
    /// The dot product of `offset + scale x` and `offset + scale y`.
    Dot {
        /// The value of 0.
        offset: f64,
        /// The distance between values.
        scale: f64,
    },
}

impl Bytes {
    /// Room for rows of `d` values, to be filled by [`push`](Self::push).
    ///
    /// # Panics
    /// If a row is wider than [`WIDEST`].
    pub fn with_capacity(d: usize, rows: usize) -> Self {
        assert!(d <= WIDEST, "{d} columns of bytes");
        let width = d.next_multiple_of(4);
        Bytes {
            rows: 0,
            d,
            width,
            values: Vec::with_capacity(rows * width),
            sum: Vec::with_capacity(rows),
            square: Vec::with_capacity(rows),
            panels: OnceLock::new(),
        }
    }

    /// One more row.
    pub fn push(&mut self, row: &[u8]) {
        assert_eq!(row.len(), self.d);
        self.values.extend_from_slice(row);
        self.values.resize((self.rows + 1) * self.width, 0);
        self.sum.push(row.iter().map(|&v| i32::from(v)).sum());
        self.square.push(row.iter().map(|&v| i32::from(v) * i32::from(v)).sum());
        self.rows += 1;
        self.panels = OnceLock::new();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.d
    }

    /// A row.
    pub fn row(&self, i: usize) -> &[u8] {
        &self.values[i * self.width..i * self.width + self.d]
    }

    /// The squared norm of a row.
    pub fn square(&self, i: usize) -> i32 {
        self.square[i]
    }

    /// The sum of a row.
    pub fn sum(&self, i: usize) -> i32 {
        self.sum[i]
    }

    /// Some of the rows, in the order asked.
    #[must_use]
    pub fn gather(&self, keep: &[u32]) -> Self {
        let mut out = Self::with_capacity(self.d, keep.len());
        for &i in keep {
            let i = i as usize;
            out.values.extend_from_slice(&self.values[i * self.width..(i + 1) * self.width]);
            out.sum.push(self.sum[i]);
            out.square.push(self.square[i]);
        }
        out.rows = keep.len();
        out
    }

    /// Panels of columns: four bytes of each of 32 rows, then the next four, all less 128.
    fn panels(&self) -> &[u8] {
        self.panels.get_or_init(|| {
            let mut out = vec![0x80; self.rows.div_ceil(PANEL) * PANEL * self.width];
            for (panel, out) in out.chunks_mut(PANEL * self.width).enumerate() {
                for c in 0..PANEL.min(self.rows - panel * PANEL) {
                    let row = &self.values[(panel * PANEL + c) * self.width..][..self.width];
                    for (word, four) in row.chunks_exact(4).enumerate() {
                        let to = &mut out[(word * PANEL + c) * 4..][..4];
                        to.iter_mut().zip(four).for_each(|(to, v)| *to = v ^ 0x80);
                    }
                }
            }
            out
        })
    }
}

/// `out[i * columns.len() + j]` is what is wanted of row `rows.start + i` of `a` and row `columns.start + j` of `b`.
///
/// # Panics
/// If the sizes disagree.
pub fn block<T: Real>(
    out: &mut [T],
    a: &Bytes,
    rows: Range<usize>,
    b: &Bytes,
    columns: Range<usize>,
    wanted: Wanted,
) {
    assert!(rows.end <= a.rows && columns.end <= b.rows && a.width == b.width && a.d == b.d);
    assert_eq!(out.len(), rows.len() * columns.len());
    if out.is_empty() {
        return;
    }
    let finish = Finish::new(a, b, wanted);
    #[cfg(target_arch = "x86_64")]
    if available() {
        // SAFETY: `available` has just seen that this machine has these instructions.
        unsafe { vnni::block(out, a, rows, b, columns, &finish) };
        return;
    }
    plain(out, a, rows, b, columns, &finish);
}

/// The same by its definition.
fn plain<T: Real>(
    out: &mut [T],
    a: &Bytes,
    rows: Range<usize>,
    b: &Bytes,
    columns: Range<usize>,
    finish: &Finish,
) {
    for (i, line) in rows.zip(out.chunks_mut(columns.len())) {
        for (j, out) in columns.clone().zip(line) {
            let pairs = a.row(i).iter().zip(b.row(j));
            let dot: i32 = pairs.map(|(&x, &y)| i32::from(x) * (i32::from(y) - 128)).sum();
            *out = finish.value(dot, finish.row(a, i), finish.column(b, j));
        }
    }
}

/// From the sum of a row with a shifted column to the value wanted: `factor (times sum + row + column) + beside`.
struct Finish {
    times: i32,
    distance: bool,
    factor: f64,
    /// What the offset adds to a dot product, by the sum of a row and once for all.
    per_sum: f64,
    constant: f64,
}

impl Finish {
    fn new(a: &Bytes, b: &Bytes, wanted: Wanted) -> Self {
        debug_assert_eq!(a.d, b.d);
        match wanted {
            Wanted::Distance { factor } => {
                Finish { times: -2, distance: true, factor, per_sum: 0.0, constant: 0.0 }
            }
            Wanted::Dot { offset, scale } => Finish {
                times: 1,
                distance: false,
                factor: scale * scale,
                per_sum: offset * scale,
                constant: offset * offset * a.d as f64,
            },
        }
    }

    /// What a row adds: an integer, and beside it a float.
    #[inline(always)]
    fn row(&self, a: &Bytes, i: usize) -> (i32, f64) {
        if self.distance {
            (a.square[i] - 256 * a.sum[i], 0.0)
        } else {
            (128 * a.sum[i], self.per_sum * f64::from(a.sum[i]) + self.constant)
        }
    }

    #[inline(always)]
    fn column(&self, b: &Bytes, j: usize) -> (i32, f64) {
        if self.distance { (b.square[j], 0.0) } else { (0, self.per_sum * f64::from(b.sum[j])) }
    }

    #[inline(always)]
    fn value<T: Real>(&self, sum: i32, row: (i32, f64), column: (i32, f64)) -> T {
        let whole = self.times * sum + row.0 + column.0;
        T::of(f64::from(whole) * self.factor + row.1 + column.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, d: usize, seed: u32) -> Bytes {
        let mut out = Bytes::with_capacity(d, n);
        let mut state = seed;
        for _ in 0..n {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            };
            let row: Vec<u8> = (0..d).map(|_| next()).collect();
            out.push(&row);
        }
        out
    }

    #[test]
    fn blocks_are_the_definition_on_every_shape() {
        let distance = Wanted::Distance { factor: -0.5 };
        let dot = Wanted::Dot { offset: -1.0, scale: 2.0 / 255.0 };
        let plain_dot = Wanted::Dot { offset: 0.0, scale: 1.0 };
        for (n, m, d) in
            [(1, 1, 1), (3, 33, 5), (12, 32, 64), (13, 31, 63), (25, 70, 784), (40, 65, 3), (9, 40, 16)]
        {
            let (a, b) = (rows(n, d, 1), rows(m, d, 2));
            for wanted in [distance, dot, plain_dot] {
                for (r, c) in [(0..n, 0..m), (n / 3..n, m / 4..m), (0..n.div_ceil(2), 0..m.div_ceil(3))] {
                    let len = r.len() * c.len();
                    let (mut fast, mut slow) = (vec![0.0f64; len], vec![0.0f64; len]);
                    block(&mut fast, &a, r.clone(), &b, c.clone(), wanted);
                    plain(&mut slow, &a, r.clone(), &b, c.clone(), &Finish::new(&a, &b, wanted));
                    let obvious: Vec<f64> = r
                        .clone()
                        .flat_map(|i| c.clone().map(move |j| (i, j)))
                        .map(|(i, j)| {
                            let pairs =
                                || a.row(i).iter().zip(b.row(j)).map(|(&x, &y)| (f64::from(x), f64::from(y)));
                            match wanted {
                                Wanted::Distance { factor } => {
                                    factor * pairs().map(|(x, y)| (x - y) * (x - y)).sum::<f64>()
                                }
                                Wanted::Dot { offset, scale } => {
                                    pairs().map(|(x, y)| (offset + scale * x) * (offset + scale * y)).sum()
                                }
                            }
                        })
                        .collect();
                    for ((f, s), o) in fast.iter().zip(&slow).zip(&obvious) {
                        assert!((f - s).abs() <= 1e-12 * s.abs().max(1.0), "{n} {m} {d} {wanted:?}: {f} {s}");
                        assert!((f - o).abs() <= 1e-10 * o.abs().max(1.0), "{n} {m} {d} {wanted:?}: {f} {o}");
                    }
                    let mut single = vec![0.0f32; len];
                    block(&mut single, &a, r.clone(), &b, c.clone(), wanted);
                    for (s, o) in single.iter().zip(&obvious) {
                        let off = (f64::from(*s) - o).abs();
                        assert!(off <= 3e-7 * o.abs().max(1.0), "{n} {m} {d} {wanted:?}: {s} {o}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_sums_stay_in_range() {
        for fill in [(255, 255), (255, 0), (0, 255)] {
            let side = |v: u8| {
                let mut out = Bytes::with_capacity(WIDEST, 1);
                out.push(&vec![v; WIDEST]);
                out
            };
            let (a, b) = (side(fill.0), side(fill.1));
            let mut out = [0.0f64];
            block(&mut out, &a, 0..1, &b, 0..1, Wanted::Dot { offset: 0.0, scale: 1.0 });
            assert_eq!(out[0], f64::from(fill.0) * f64::from(fill.1) * WIDEST as f64);
            block(&mut out, &a, 0..1, &b, 0..1, Wanted::Distance { factor: 1.0 });
            let difference = f64::from(fill.0) - f64::from(fill.1);
            assert_eq!(out[0], difference * difference * WIDEST as f64);
        }
    }

    #[test]
    fn gathered_rows_are_the_rows() {
        let a = rows(9, 7, 3);
        let some = a.gather(&[8, 0, 3]);
        assert_eq!((some.len(), some.columns()), (3, 7));
        for (i, &from) in [8usize, 0, 3].iter().enumerate() {
            assert_eq!((some.row(i), some.sum(i)), (a.row(from), a.sum(from)));
            assert_eq!(some.square(i), a.square(from));
        }
    }
}
