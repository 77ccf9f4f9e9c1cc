//! Points as the device wants them: rows of bytes where values are small integers times a constant, else rows of f64,
//! both padded with zeros to whole steps of the products.
//!
//! Products of bytes are exact. Products of f64 lose `|x|^2 / |x - y|^2` of 1e-16, which is less than f32 keeps for any data
//! that f32 could hold; rows of kernels that see differences are moved to their mean first, as on the CPU. Where the kernel
//! sees dot products too, as a product of a Gaussian with a polynomial does, these are put right afterwards.

use std::sync::Arc;

use mercer::Exec;
use mercer::data::{Data, Points, View};
use mercer::gram::Grid;
use mercer::kernel::Kernel;
use rayon::prelude::*;

use crate::driver::{Gpu, Outcome};
use crate::memory::{Memory, bytes_of};
use crate::program::Map;
use crate::values::{Side, launch_squares};

/// Bytes of a row that a step of the product takes.
const BYTE_STEP: usize = 64;
/// Columns of f64 that a step of the product takes.
const WIDE_STEP: usize = 16;
/// Beyond this sums of squares of bytes do not fit 32 bits.
const WIDEST: usize = 32_000;
/// Dense copies of sparse rows may be so many times larger than their entries.
const THIN: usize = 2000;

/// Rows that a thread packs at once.
const PIECE: usize = 512;
/// Rows from which a grid is guessed.
const FEW: usize = 256;

/// How rows of both sides of a block are written.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    Bytes(Grid),
    /// Values less a shift (empty: none) on some columns (none: all). `dots`: the kernel sees dot products of the rows as
    /// they were, too.
    Wide {
        shift: Arc<[f64]>,
        columns: Option<Arc<[u32]>>,
        dots: bool,
    },
}

/// Rows, packed on the host.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    pub(crate) n: usize,
    /// Columns that are kept.
    pub(crate) d: usize,
    pub(crate) pitch: usize,
    pub(crate) form: Form,
    store: Store,
}

#[derive(Debug, Clone)]
enum Store {
    Bytes(Vec<u8>),
    Wide(Vec<f64>),
}

/// Rows on the device.
#[derive(Debug)]
pub(crate) struct Loaded {
    x: Memory,
    square: Memory,
    sums: Option<Memory>,
    squares: Option<Memory>,
}

/// Points packed in the form that suits them. None: these are no rows of numbers, or dense copies of them would be far
/// larger than they are.
pub(crate) fn one(kernel: &Kernel, points: View<'_>, exec: Exec) -> Option<Packed> {
    if !is_numbers(points) {
        return None;
    }
    on_grid(points, exec).or_else(|| Some(Packed::floats(points, &wide(kernel, &[points], exec)?, exec)))
}

/// Points, and others that are to be multiplied with them, in one form.
pub(crate) fn two(
    kernel: &Kernel,
    points: View<'_>,
    others: View<'_>,
    exec: Exec,
) -> Option<(Packed, Packed)> {
    if !(is_numbers(points) && is_numbers(others)) {
        return None;
    }
    if let Some(first) = on_grid(points, exec)
        && let Form::Bytes(grid) = first.form
        && let Some(rows) = bytes(others, grid, exec)
    {
        return Some((first, Packed::of_bytes(others, grid, rows)));
    }
    let form = wide(kernel, &[points, others], exec)?;
    Some((Packed::floats(points, &form, exec), Packed::floats(others, &form, exec)))
}

/// The form of rows of f64 for all of these.
fn wide(kernel: &Kernel, views: &[View<'_>], exec: Exec) -> Option<Form> {
    let columns = used_columns(views);
    let d = columns.as_ref().map_or(views[0].d, |used| used.len()).max(1);
    for view in views {
        if let Data::Csr { start, .. } = view.data
            && view.n.saturating_mul(d) > THIN.saturating_mul(start[view.n] - start[0] + view.n + 1024)
        {
            return None;
        }
    }
    let dense = views.iter().all(|view| !matches!(view.data, Data::Csr { .. }));
    let apart = Map::of(kernel).is_some_and(|map| map.sees_distances());
    let shift = if dense && apart { mean(views[0], exec) } else { Vec::new() };
    let dots = !shift.is_empty() && !kernel.translation_invariant();
    Some(Form::Wide { shift: shift.into(), columns, dots })
}

fn is_numbers(view: View<'_>) -> bool {
    view.n > 0 && view.d > 0 && matches!(view.data, Data::F32(_) | Data::F64(_) | Data::Csr { .. })
}

/// Rows as bytes, if all values lie on a grid: guessed from some rows and then found to hold, or looked for among all.
fn on_grid(points: View<'_>, exec: Exec) -> Option<Packed> {
    if points.d > WIDEST {
        return None;
    }
    if points.n > 4 * FEW {
        let some: Vec<usize> = (0..FEW).map(|i| i * (points.n / FEW)).collect();
        // Values that are on no grid show it in few rows.
        let guess = Grid::search(points.gather(&some).view(), exec)?;
        if let Some(rows) = bytes(points, guess, exec) {
            return Some(Packed::of_bytes(points, guess, rows));
        }
    }
    let grid = Grid::search(points, exec)?;
    Some(Packed::of_bytes(points, grid, bytes(points, grid, exec)?))
}

/// Writes rows as bytes; none where a value is not on the grid.
fn bytes(points: View<'_>, grid: Grid, exec: Exec) -> Option<Vec<u8>> {
    let pitch = points.d.next_multiple_of(BYTE_STEP);
    let mut out = vec![0; points.n * pitch];
    let write = |(p, out): (usize, &mut [u8])| {
        let rows = out.len() / pitch;
        grid.write(points.slice(p * PIECE..p * PIECE + rows), pitch, out)
    };
    let fine = if exec.threads() == 1 {
        out.chunks_mut(PIECE * pitch).enumerate().all(write)
    } else {
        out.par_chunks_mut(PIECE * pitch).enumerate().all(write)
    };
    fine.then_some(out)
}

/// Columns that hold anything, where sparse rows have far more columns than entries.
fn used_columns(views: &[View<'_>]) -> Option<Arc<[u32]>> {
    let mut used: Vec<u32> = Vec::new();
    let mut entries = 0;
    for view in views {
        let Data::Csr { start, column, .. } = view.data else { return None };
        let run = &column[start[0]..start[view.n]];
        entries += run.len();
        used.extend_from_slice(run);
    }
    if views[0].d <= 1024 && views[0].d <= 4 * entries {
        return None;
    }
    used.sort_unstable();
    used.dedup();
    Some(used.into())
}

fn mean(points: View<'_>, exec: Exec) -> Vec<f64> {
    let d = points.d;
    let sums = |view: View<'_>| {
        let mut sum = vec![0.0; d];
        match view.data {
            Data::F32(x) => {
                x.chunks(d).for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += f64::from(*v)));
            }
            Data::F64(x) => x.chunks(d).for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += v)),
            _ => {}
        }
        sum
    };
    // Pieces of a fixed size, added in their order: the same bits for any number of threads.
    let starts: Vec<usize> = (0..points.n).step_by(PIECE).collect();
    let piece = |&at: &usize| sums(points.slice(at..(at + PIECE).min(points.n)));
    let parts: Vec<Vec<f64>> = if exec.threads() == 1 {
        starts.iter().map(piece).collect()
    } else {
        starts.par_iter().map(piece).collect()
    };
    let mut sum = vec![0.0; d];
    parts.iter().for_each(|part| sum.iter_mut().zip(part).for_each(|(s, p)| *s += p));
    sum.iter_mut().for_each(|s| *s /= points.n as f64);
    sum
}

fn write_floats(points: View<'_>, i: usize, shift: &[f64], columns: Option<&[u32]>, out: &mut [f64]) {
    let d = points.d;
    let less = |c: usize| shift.get(c).copied().unwrap_or(0.0);
    match points.data {
        Data::F32(x) => {
            let row = &x[i * d..(i + 1) * d];
            out.iter_mut().zip(row).enumerate().for_each(|(c, (o, v))| *o = f64::from(*v) - less(c));
        }
        Data::F64(x) => {
            let row = &x[i * d..(i + 1) * d];
            out.iter_mut().zip(row).enumerate().for_each(|(c, (o, v))| *o = v - less(c));
        }
        Data::Csr { start, column, value } => {
            for e in start[i]..start[i + 1] {
                let at = match columns {
                    None => Some(column[e] as usize),
                    Some(used) => used.binary_search(&column[e]).ok(),
                };
                if let Some(at) = at {
                    out[at] = value[e];
                }
            }
        }
        _ => {}
    }
}

impl Form {
    /// What was taken from every row; nothing: empty.
    fn shift(&self) -> &[f64] {
        match self {
            Form::Wide { shift, .. } => shift,
            Form::Bytes(_) => &[],
        }
    }
}

impl Packed {
    fn of_bytes(points: View<'_>, grid: Grid, rows: Vec<u8>) -> Self {
        let pitch = points.d.next_multiple_of(BYTE_STEP);
        Packed { n: points.n, d: points.d, pitch, form: Form::Bytes(grid), store: Store::Bytes(rows) }
    }

    /// Rows of f64 in a form.
    fn floats(points: View<'_>, form: &Form, exec: Exec) -> Self {
        let (shift, columns) = match form {
            Form::Wide { shift, columns, .. } => (&**shift, columns.as_deref()),
            Form::Bytes(_) => (&[][..], None),
        };
        let d = columns.map_or(points.d, <[u32]>::len).max(1);
        let pitch = d.next_multiple_of(WIDE_STEP);
        let mut out = vec![0.0; points.n * pitch];
        let write = |(p, out): (usize, &mut [f64])| {
            for (r, out) in out.chunks_mut(pitch).enumerate() {
                write_floats(points, p * PIECE + r, shift, columns, out);
            }
        };
        if exec.threads() == 1 {
            out.chunks_mut(PIECE * pitch).enumerate().for_each(write);
        } else {
            out.par_chunks_mut(PIECE * pitch).enumerate().for_each(write);
        }
        Packed { n: points.n, d, pitch, form: form.clone(), store: Store::Wide(out) }
    }

    /// Some rows as points again, for the CPU: on fewer columns, which kernels do not see.
    pub(crate) fn points(&self, rows: &[u32]) -> Points {
        let mut out = vec![0.0; rows.len() * self.d];
        for (&r, out) in rows.iter().zip(out.chunks_mut(self.d)) {
            let at = r as usize * self.pitch;
            match (&self.store, &self.form) {
                (Store::Bytes(x), Form::Bytes(grid)) => {
                    let row = &x[at..at + self.d];
                    out.iter_mut()
                        .zip(row)
                        .for_each(|(o, &q)| *o = grid.offset() + grid.scale() * f64::from(q));
                }
                (Store::Wide(x), form) => {
                    out.copy_from_slice(&x[at..at + self.d]);
                    out.iter_mut().zip(form.shift()).for_each(|(o, s)| *o += s);
                }
                _ => unreachable!("bytes are written on a grid"),
            }
        }
        Points::dense(out, self.d).expect("whole rows")
    }

    /// Squared norms of the rows as they were, in f64.
    pub(crate) fn squares(&self) -> Vec<f64> {
        let row = |i: usize| -> f64 {
            let at = i * self.pitch;
            match (&self.store, &self.form) {
                (Store::Bytes(x), Form::Bytes(grid)) => {
                    let row = &x[at..at + self.d];
                    let (sum, square) = row.iter().fold((0_u64, 0_u64), |(s, q), &v| {
                        (s + u64::from(v), q + u64::from(v) * u64::from(v))
                    });
                    let (offset, scale) = (grid.offset(), grid.scale());
                    scale * scale * square as f64
                        + 2.0 * offset * scale * sum as f64
                        + offset * offset * self.d as f64
                }
                (Store::Wide(x), form) => {
                    let shift = form.shift().iter().copied().chain(std::iter::repeat(0.0));
                    x[at..at + self.d].iter().zip(shift).map(|(v, s)| (v + s) * (v + s)).sum()
                }
                _ => unreachable!("bytes are written on a grid"),
            }
        };
        (0..self.n).into_par_iter().map(row).collect()
    }

    /// Offset and scale of bytes.
    pub(crate) fn grid(&self) -> (f64, f64) {
        match &self.form {
            Form::Bytes(grid) => (grid.offset(), grid.scale()),
            Form::Wide { .. } => (0.0, 1.0),
        }
    }

    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self.form, Form::Bytes(_))
    }

    /// Copies the rows to the device and computes their norms there.
    pub(crate) fn load(&self, gpu: &Arc<Gpu>, exec: Exec) -> Outcome<Loaded> {
        let x = match &self.store {
            Store::Bytes(x) => Memory::of_many(gpu, x, exec)?,
            Store::Wide(x) => Memory::of_many(gpu, bytes_of(x), exec)?,
        };
        let square = Memory::room(gpu, 8 * self.n)?;
        let room = |size: usize| (size > 0).then(|| Memory::room(gpu, size * self.n)).transpose();
        let (shift, sums, squares) = match &self.form {
            Form::Bytes(_) => (None, room(4)?, room(4)?),
            Form::Wide { shift, dots: true, .. } => {
                let mut padded = shift.to_vec();
                padded.resize(self.pitch, 0.0);
                (Some(Memory::of(gpu, &padded)?), room(8)?, None)
            }
            Form::Wide { .. } => (None, None, None),
        };
        let loaded = Loaded { x, square, sums, squares };
        launch_squares(gpu, self, &loaded, shift.as_ref())?;
        Ok(loaded)
    }
}

impl Loaded {
    /// As a side of a block: some rows, or all in their order.
    pub(crate) fn side(&self, rows: Option<&Memory>) -> Side {
        let at = |memory: Option<&Memory>| memory.map_or(0, Memory::pointer);
        Side {
            x: self.x.pointer(),
            square: self.square.pointer(),
            sums: at(self.sums.as_ref()),
            squares: at(self.squares.as_ref()),
            rows: at(rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::Csr;
    use mercer_testkit::toy;

    fn packed(points: &Points) -> Option<Packed> {
        one(&Kernel::Rbf { gamma: 1.0 }, points.view(), Exec::one())
    }

    #[test]
    fn rows_come_back_as_they_were_but_for_a_shift() {
        let pixels: Vec<f64> = (0..3000 * 7).map(|i| ((i * i) % 251) as f64 / 255.0).collect();
        let points = Points::dense(pixels.clone(), 7).expect("whole rows");
        let rows = packed(&points).expect("numbers");
        assert!(rows.is_bytes() && rows.pitch == 64);
        let back = rows.points(&[5, 2999]).view().to_f64().expect("numbers");
        assert!(back[..7].iter().zip(&pixels[35..42]).all(|(a, b)| (a - b).abs() < 1e-12));
        let square: f64 = pixels[35..42].iter().map(|v| v * v).sum();
        assert!((rows.squares()[5] - square).abs() < 1e-10);

        let values: Vec<f64> = toy::normals(40, 3, 1).iter().map(|v| v + 1e9).collect();
        let points = Points::dense(values.clone(), 3).expect("whole rows");
        let rows = packed(&points).expect("numbers");
        assert!(!rows.is_bytes() && rows.pitch == 16);
        let back = rows.points(&[1, 4]).view().to_f64().expect("numbers");
        for c in 0..3 {
            assert!((back[c] - values[3 + c]).abs() < 1e-6 && (back[3 + c] - values[12 + c]).abs() < 1e-6);
        }
        assert!(matches!(rows.form, Form::Wide { dots: false, .. }) && rows.form.shift().len() == 3);
        // Dot products are of the rows as they were, and a kernel of nothing else needs no shift.
        let both = "poly(degree=2, coef0=1) * rbf(gamma=0.1)".parse().expect("a kernel");
        let rows = one(&both, points.view(), Exec::one()).expect("numbers");
        assert!(matches!(rows.form, Form::Wide { dots: true, .. }));
        let square: f64 = values[3..6].iter().map(|v| v * v).sum();
        assert!((rows.squares()[1] - square).abs() < 1e-12 * square);
        let rows = one(&Kernel::Linear, points.view(), Exec::one()).expect("numbers");
        assert!(rows.form.shift().is_empty());
    }

    #[test]
    fn wide_sparse_rows_keep_the_columns_in_use_and_very_thin_ones_are_declined() {
        let csr = Csr { start: vec![0, 2, 3], column: vec![7, 99_000, 99_000], value: vec![0.5, 1.37, -2.0] };
        let points = Points::sparse(csr, 100_000).expect("rows");
        let rows = packed(&points).expect("numbers");
        assert_eq!(
            (rows.d, rows.points(&[0, 1]).view().to_f64().expect("numbers")),
            (2, vec![0.5, 1.37, 0.0, -2.0])
        );
        let n = 5000;
        let csr = Csr {
            start: (0..=n).collect(),
            column: (0..n as u32).map(|i| 3 * i).collect(),
            value: (0..n).map(|i| 0.1 + (i as f64).sqrt()).collect(),
        };
        assert!(packed(&Points::sparse(csr, 3 * n).expect("rows")).is_none());
        assert!(packed(&Points::row_numbers(vec![0, 1])).is_none());
    }
}
