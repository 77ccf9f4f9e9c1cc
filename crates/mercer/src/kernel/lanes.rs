//! Blocks of kernels that are products over coordinates, vectorised.

use mercer_num::Real;
use mercer_num::vector::{LANES, Parts, products};

use crate::kernel::block::{Dense, PANEL};

/// Points laid out for [`products`]: for each run of coordinates, the numbers that describe them, contiguously.
struct Laid {
    width: usize,
    lanes: Vec<[f64; LANES]>,
}

impl Laid {
    /// `numbers` describes a coordinate by its value. The last run is padded with coordinates of value 0, whose
    /// contribution with another 0 must be 1.
    fn of<T: Real, const P: usize>(points: &Dense<'_, T>, numbers: impl Fn(f64) -> [f64; P]) -> Self {
        let runs = points.d.div_ceil(LANES);
        let mut lanes = vec![[0.0; LANES]; points.n * runs * P];
        for (row, lanes) in points.values.chunks(points.d).zip(lanes.chunks_mut(runs * P)) {
            for (run, lanes) in lanes.chunks_mut(P).enumerate() {
                for l in 0..LANES {
                    let value = row.get(run * LANES + l).map_or(0.0, |v| v.f64());
                    for (plane, number) in lanes.iter_mut().zip(numbers(value)) {
                        plane[l] = number;
                    }
                }
            }
        }
        Laid { width: runs * P, lanes }
    }
}

/// `out[i * m + j] = prod of the parts of a_i and b_j`.
pub(super) fn block<T: Real, P: Parts, const N: usize>(
    parts: &P,
    a: &Dense<'_, T>,
    b: &Dense<'_, T>,
    numbers: impl Fn(f64) -> [f64; N],
    out: &mut [T],
) {
    debug_assert_eq!(N, P::PLANES, "as many numbers as the parts take");
    let (x, y) = (Laid::of(a, &numbers), Laid::of(b, &numbers));
    let width = x.width;
    let rows = (PANEL / (width * size_of::<[f64; LANES]>())).max(1);
    let mut values = vec![0.0; rows.min(b.n)];
    for (from, y) in y.lanes.chunks(rows * width).enumerate() {
        let count = y.len() / width;
        let values = &mut values[..count];
        for (i, x) in x.lanes.chunks(width).enumerate() {
            products(parts, x, y, width, values);
            let at = i * b.n + from * rows;
            out[at..at + count].iter_mut().zip(values.iter()).for_each(|(out, &v)| *out = T::of(v));
        }
    }
}
