//! Values that are small integers times a constant: pixels, counts, 0/1 columns.
//!
//! Rows on such a grid are stored as bytes (`num::bytes`): a quarter of the memory of f32, and exact products at four
//! times the rate on processors with byte products. The grid is found from the values themselves, so readers and
//! stages need not know of it, and rows that do not lie on it are computed as floats.

use rayon::prelude::*;

use crate::data::{Data, View};
use crate::exec::Exec;
use crate::num::Real;
use crate::num::bytes::{self, Bytes, Wanted};

/// Values `offset + scale q` for q from 0 to 255: how rows of small integers are kept as bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    offset: f64,
    scale: f64,
    /// The middle of the range of values.
    middle: f64,
}

/// Sparse rows are worth storing as bytes if more than one value in this many is present.
const DENSITY: usize = 160;

impl Grid {
    /// The grid on which all values lie, if there is one and this processor benefits from it.
    pub(crate) fn of(points: View<'_>, exec: Exec) -> Option<Grid> {
        if !bytes::available() || points.d > bytes::WIDEST {
            return None;
        }
        Self::search(points, exec)
    }

    /// The grid on which all values lie, if there is one.
    ///
    /// ```
    /// use mercer::{Exec, data::Points, gram::Grid};
    /// let points = Points::dense(vec![0.0, 0.5, 1.5, 1.0], 2)?;
    /// let grid = Grid::search(points.view(), Exec::one()).expect("halves");
    /// let mut rows = [0; 6];
    /// assert!(grid.write(points.view(), 3, &mut rows));
    /// assert_eq!((grid.offset(), grid.scale(), rows), (0.0, 0.5, [0, 1, 0, 3, 2, 0]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn search(points: View<'_>, exec: Exec) -> Option<Grid> {
        if points.d == 0 || points.n == 0 {
            return None;
        }
        match points.data {
            Data::F32(x) => find(x, false, exec),
            Data::F64(x) => find(x, false, exec),
            Data::Csr { start, value, .. } => {
                let entries = start[points.n] - start[0];
                if entries.saturating_mul(DENSITY) < points.n.saturating_mul(points.d) {
                    return None;
                }
                find(&value[start[0]..start[points.n]], true, exec)
            }
            _ => None,
        }
    }

    /// The value of integer 0.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The distance between neighbouring values.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Writes the rows' integers, `pitch` bytes from one row to the next; padding bytes are not written. Returns
    /// false if some value is not on the grid.
    ///
    /// # Panics
    /// If `out` is too short.
    pub fn write(&self, points: View<'_>, pitch: usize, out: &mut [u8]) -> bool {
        let d = points.d;
        assert!(d <= pitch && out.len() >= points.n * pitch, "room for every row");
        let mut rows = out.chunks_mut(pitch.max(1)).take(points.n);
        match points.data {
            Data::F32(x) => rows.zip(x.chunks(d)).all(|(out, row)| self.quantise(row, &mut out[..d])),
            Data::F64(x) => rows.zip(x.chunks(d)).all(|(out, row)| self.quantise(row, &mut out[..d])),
            Data::Csr { start, column, value } => {
                let (mut zero, mut some) = ([0], vec![0; d]);
                self.quantise(&[0.0], &mut zero)
                    && rows.by_ref().zip(start.windows(2)).all(|(out, run)| {
                        let run = run[0]..run[1];
                        let some = &mut some[..run.len()];
                        out[..d].fill(zero[0]);
                        let fine = self.quantise(&value[run.clone()], some);
                        column[run].iter().zip(some.iter()).for_each(|(&c, &q)| out[c as usize] = q);
                        fine
                    })
            }
            _ => false,
        }
    }

    /// The rows as bytes, or None if some value is not on the grid.
    pub(crate) fn rows(&self, points: View<'_>) -> Option<Bytes> {
        let mut out = Bytes::with_capacity(points.d, points.n);
        let mut row = vec![0; points.d];
        match points.data {
            Data::F32(x) => x
                .chunks(points.d)
                .try_for_each(|values| self.quantise(values, &mut row).then(|| out.push(&row)))?,
            Data::F64(x) => x
                .chunks(points.d)
                .try_for_each(|values| self.quantise(values, &mut row).then(|| out.push(&row)))?,
            Data::Csr { start, column, value } => {
                let mut zero = [0];
                if !self.quantise(&[0.0], &mut zero) {
                    return None;
                }
                let mut some = vec![0; points.d];
                for i in 0..points.n {
                    let run = start[i]..start[i + 1];
                    let some = &mut some[..run.len()];
                    if !self.quantise(&value[run.clone()], some) {
                        return None;
                    }
                    row.fill(zero[0]);
                    column[run].iter().zip(some.iter()).for_each(|(&c, &q)| row[c as usize] = q);
                    out.push(&row);
                }
            }
            _ => return None,
        }
        Some(out)
    }

    /// Writes the integers of values; false if one is not an integer from 0 to 255.
    fn quantise<S: Real>(&self, values: &[S], out: &mut [u8]) -> bool {
        S::quantise(values, self.offset, 1.0 / self.scale, self.tolerance::<S>(), out)
    }

    /// Allowed distance of a value from its integer, in units of the scale: the rounding of the value itself.
    fn tolerance<S: Real>(&self) -> f64 {
        4.0 * S::EPSILON.f64() * (256.0 + self.offset.abs() / self.scale)
    }

    /// The middle of the range. Kernels of differences subtract it from rows that are not on the grid, which loses
    /// fewer digits.
    pub(super) fn middle(&self) -> f64 {
        self.middle
    }

    /// The values of a row of bytes, less a shift.
    pub(crate) fn values<T: Real>(&self, row: &[u8], shift: f64, out: &mut [T]) {
        out.iter_mut()
            .zip(row)
            .for_each(|(out, &q)| *out = T::of(self.offset + self.scale * f64::from(q) - shift));
    }

    /// The squared norm of a row, as kernels of dot products need it.
    pub(super) fn square(&self, rows: &Bytes, i: usize) -> f64 {
        let (d, sum, square) = (rows.columns() as f64, f64::from(rows.sum(i)), f64::from(rows.square(i)));
        self.scale * self.scale * square
            + 2.0 * self.offset * self.scale * sum
            + self.offset * self.offset * d
    }

    /// What products of rows are used for: distances are computed as `-|x - y|^2 / 2`, which is a dot product with
    /// both norms subtracted.
    pub(super) fn wanted(&self, distances: bool) -> Wanted {
        if distances {
            Wanted::Distance { factor: -0.5 * self.scale * self.scale }
        } else {
            Wanted::Dot { offset: self.offset, scale: self.scale }
        }
    }
}

/// Number of values that nearly always suffice to see that there is no grid.
const FIRST: usize = 64;
/// Number of values that suffice to see that there is no grid, and number from which it is guessed.
const FEW: usize = 512;
const SAMPLE: usize = 1 << 14;

/// Number of values that one thread checks.
const PIECE: usize = 1 << 18;

/// Guesses the grid from some values, then checks all of them.
fn find<S: Real>(values: &[S], zero: bool, exec: Exec) -> Option<Grid> {
    if is_dense(&values[..values.len().min(FIRST)]) {
        return None;
    }
    distinct(&values[..values.len().min(FEW)], 1, zero)?;
    let seen = distinct(values, values.len().div_ceil(SAMPLE).max(1), zero)?;
    let (low, high) = (seen[0], seen[seen.len() - 1]);
    let gap = seen.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    if low == high {
        let scale = if low == 0.0 { 1.0 } else { low.abs() };
        return check(values, low.min(0.0), scale, exec);
    }
    // The range is known more precisely than the smallest gap and must be a multiple of it. Values that were not
    // sampled may divide the gap by two or three.
    let steps = (high - low) / gap;
    (1..=3).find_map(|part| {
        let steps = (steps * f64::from(part)).round();
        if steps > 255.0 {
            return None;
        }
        check(values, low, (high - low) / steps, exec)
    })
}

/// Whether two of the values are closer to each other than two points of any grid that holds all of them. Of 64 values
/// without a common divisor, two nearly always are, and the check takes less than a microsecond.
fn is_dense<S: Real>(values: &[S]) -> bool {
    let mut some = [0.0; FIRST];
    let some = &mut some[..values.len()];
    some.iter_mut().zip(values).for_each(|(to, v)| *to = v.f64());
    some.sort_unstable_by(f64::total_cmp);
    let (Some(low), Some(high)) = (some.first(), some.last()) else { return false };
    // Closer values may be the same point of a grid up to rounding.
    let rounding = 64.0 * S::EPSILON.f64() * low.abs().max(high.abs());
    let least = (high - low) / 256.0;
    some.windows(2).any(|pair| (rounding..0.98 * least).contains(&(pair[1] - pair[0])))
}

/// Distinct values in a sample of every `step`-th, sorted; None where there are more than a byte can hold.
fn distinct<S: Real>(values: &[S], step: usize, zero: bool) -> Option<Vec<f64>> {
    let mut seen: Vec<f64> = values.iter().step_by(step).map(|v| v.f64()).collect();
    if zero {
        seen.push(0.0);
    }
    seen.sort_unstable_by(f64::total_cmp);
    let size = seen.first()?.abs().max(seen.last()?.abs());
    // Equal up to rounding.
    let close = 8.0 * S::EPSILON.f64() * size;
    seen.dedup_by(|b, a| *b - *a <= close);
    (seen.len() <= 256 && size.is_finite()).then_some(seen)
}

/// The grid through `low` with this scale, if all values lie on it, shifted so that the smallest is at 0.
fn check<S: Real>(values: &[S], low: f64, scale: f64, exec: Exec) -> Option<Grid> {
    let close = Grid { offset: low, scale, middle: low }.tolerance::<S>();
    let range = |values: &[S]| S::range(values, low, 1.0 / scale, close);
    let (least, most) = if exec.threads() == 1 || values.len() <= PIECE {
        range(values)?
    } else {
        let join = |a: (f64, f64), b: (f64, f64)| Some((a.0.min(b.0), a.1.max(b.1)));
        values.par_chunks(PIECE).map(range).try_reduce(|| (0.0, 0.0), join)?
    };
    let middle = low + scale * 0.5 * (least + most);
    (most - least <= 255.0).then_some(Grid { offset: low + scale * least, scale, middle })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Csr, Points};

    fn grid(values: Vec<f64>, d: usize) -> Option<Grid> {
        Grid::of(Points::dense(values, d).expect("whole rows").view(), Exec::one())
    }

    #[test]
    fn grids_are_found_where_values_are_integers_times_a_constant() {
        if !bytes::available() {
            return;
        }
        let pixel = |i: usize| ((i * i * 7) % 256) as f64;
        let maps: [&dyn Fn(f64) -> f64; 6] =
            [&|v| v, &|v| v / 255.0, &|v| v / 127.5 - 1.0, &|v| (v / 64.0).floor(), &|v| -v, &|v| {
                0.37 * v + 12.0
            }];
        for map in maps {
            let values: Vec<f64> = (0..600).map(|i| map(pixel(i))).collect();
            let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
            for points in [
                Points::dense(values.clone(), 6).expect("whole rows"),
                Points::dense_f32(single, 6).expect("whole rows"),
            ] {
                let grid = Grid::of(points.view(), Exec::one()).expect("integers times a constant");
                let rows = grid.rows(points.view()).expect("on its own grid");
                let mut back = vec![0.0f64; 6];
                for i in 0..100 {
                    grid.values(rows.row(i), 0.0, &mut back);
                    for (b, v) in back.iter().zip(&values[i * 6..]) {
                        assert!((b - v).abs() <= 1e-6 * (1.0 + v.abs()), "{b} {v}");
                    }
                    let square: f64 = back.iter().map(|v| v * v).sum();
                    assert!((grid.square(&rows, i) - square).abs() <= 1e-6 * (1.0 + square));
                }
            }
        }
    }

    #[test]
    fn other_values_have_no_grid() {
        assert_eq!(grid(mercer_testkit::toy::normals(50, 4, 1), 4), None);
        assert_eq!(grid((0..300).map(f64::from).collect(), 3), None, "more than 256 values");
        let mut values: Vec<f64> = (0..3000).map(|i| f64::from(i % 256)).collect();
        values[2990] = 0.5;
        assert_eq!(grid(values.clone(), 3), None, "one value between");
        values[2990] = f64::NAN;
        assert_eq!(grid(values, 3), None, "a missing value");
    }

    #[test]
    fn a_first_look_takes_no_grid_away() {
        for n in [2, 3, 64, 65, 500] {
            for levels in [1, 2, 3, 17, 255, 256] {
                for (scale, offset) in
                    [(1.0, 0.0), (1.0 / 255.0, -0.5), (0.1, 1000.0), (1e-3, 7.0), (1e9, -1e9)]
                {
                    let value = |i: usize| offset + scale * ((i * i * 31 + 7 * i) % levels) as f64;
                    let wide: Vec<f64> = (0..n).map(value).collect();
                    let single: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
                    assert!(!is_dense(&wide[..n.min(FIRST)]), "{n} {levels} {scale} {offset}");
                    assert!(!is_dense(&single[..n.min(FIRST)]), "{n} {levels} {scale} {offset}, f32");
                }
            }
        }
        let mut seen = 0;
        for seed in 0..50 {
            seen += usize::from(is_dense(&mercer_testkit::toy::normals(FIRST, 1, seed)));
        }
        assert!(seen >= 49, "{seen} of 50 were told at once");
        assert!(!is_dense::<f64>(&[]));
    }

    #[test]
    fn rows_off_the_grid_are_told() {
        if !bytes::available() {
            return;
        }
        let grid = grid(vec![0.0, 1.0, 2.0, 3.0], 2).expect("integers");
        for (value, on) in
            [(255.0, true), (256.0, false), (0.5, false), (-1.0, false), (f64::NAN, false), (1e300, false)]
        {
            let points = Points::dense(vec![value, 1.0], 2);
            let Ok(points) = points else { continue };
            assert_eq!(grid.rows(points.view()).is_some(), on, "{value}");
        }
        // Zeros of sparse rows must lie on it too.
        let far = Grid { offset: 1.0, scale: 1.0, middle: 1.0 };
        let csr = Csr { start: vec![0, 1], column: vec![0], value: vec![3.0] };
        let sparse = Points::sparse(csr, 2).expect("a row");
        assert!(far.rows(sparse.view()).is_none());
    }
}
