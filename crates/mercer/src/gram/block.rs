//! Blocks of kernel values: a matrix product into a tile that fits into cache, one map over the tile, one write.
//!
//! Cost of an m x n block with d columns: m n d multiply-adds and m n maps; half of that for the symmetric n x n
//! block.

use rayon::prelude::*;

use crate::data::View;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::door;
use crate::gram::side::{Layout, Ready, Side, SparseRows};
use crate::kernel::Kernel;
use crate::num::{Buffer, Mat, Real, bytes, product, tiles};

/// `out[i * n + j] = k(a_i, b_j)`, n the number of points in `b`.
pub fn block<T: Real>(kernel: &Kernel, a: &Side<T>, b: &Side<T>, out: &mut [T], exec: Exec) {
    assert_eq!(out.len(), a.n * b.n);
    block_strided(kernel, a, b, out, b.n, exec);
}

/// [`block`] into a part of a larger matrix whose rows are `stride` apart.
pub(super) fn block_strided<T: Real>(
    kernel: &Kernel,
    a: &Side<T>,
    b: &Side<T>,
    out: &mut [T],
    stride: usize,
    exec: Exec,
) {
    if a.n == 0 || b.n == 0 {
        return;
    }
    match (&a.ready, &b.ready) {
        (Ready::Dense { .. }, Ready::Dense { .. })
        | (Ready::Bytes { .. }, Ready::Bytes { .. })
        | (Ready::Own(_), Ready::Own(_)) => {
            tiles::rectangular(out, stride, a.n, b.n, exec.threads(), |t, values| {
                tile(kernel, a, b, t, values);
            });
        }
        (Ready::Sparse { rows, sq: a_sq }, Ready::Sparse { rows: other, sq: b_sq }) => {
            sparse_rows(kernel, (rows, a_sq), (other, b_sq), out, stride, exec);
        }
        (Ready::Parts { parts, own }, Ready::Parts { parts: others, own: other_own }) if stride == b.n => {
            combine(kernel, own, other_own, out, |k, p, out| block(k, &parts[p], &others[p], out, exec));
        }
        (Ready::Parts { .. }, Ready::Parts { .. }) => {
            // Parts are combined element by element over whole blocks, which must be contiguous for that.
            let mut whole = Buffer::stale(a.n * b.n);
            block(kernel, a, b, &mut whole, exec);
            whole
                .chunks(b.n)
                .zip(out.chunks_mut(stride))
                .for_each(|(from, to)| to[..b.n].copy_from_slice(from));
        }
        (Ready::Bytes { .. }, Ready::Dense { .. }) | (Ready::Dense { .. }, Ready::Bytes { .. }) => {
            // Some row of one side is not on the grid of the other side.
            let (x, y) = (a.floats(), b.floats());
            block_strided(kernel, x.as_ref().unwrap_or(a), y.as_ref().unwrap_or(b), out, stride, exec);
        }
        _ => unreachable!("both sides of a block are made under one layout"),
    }
}

/// [`block`] for few rows: each is computed alone, so its values do not depend on the other rows.
pub(super) fn row_by_row<T: Real>(kernel: &Kernel, a: &Side<T>, b: &Side<T>, out: &mut [T]) {
    match (&a.ready, &b.ready) {
        (Ready::Dense { x, d, sq }, Ready::Dense { x: y, sq: y_sq, .. }) if *d > 0 => {
            // Number of columns whose data fit into the second-level cache, for reuse by all rows.
            let wide = ((1 << 17) / (d * size_of::<T>())).max(1);
            for (panel, from) in y.chunks(wide * d).zip((0..b.n).step_by(wide)) {
                for (x, line) in x.chunks(*d).zip(out.chunks_mut(b.n)) {
                    // One sum per value in an order that depends on d alone: that is what keeps rows independent of each other.
                    T::dots(x, panel, &mut line[from..from + panel.len() / d]);
                }
            }
            kernel.map(out, sq, y_sq);
        }
        (Ready::Parts { parts, own }, Ready::Parts { parts: others, own: other_own }) => {
            combine(kernel, own, other_own, out, |k, p, out| row_by_row(k, &parts[p], &others[p], out));
        }
        (Ready::Bytes { .. }, Ready::Dense { .. }) | (Ready::Dense { .. }, Ready::Bytes { .. }) => {
            let (x, y) = (a.floats(), b.floats());
            row_by_row(kernel, x.as_ref().unwrap_or(a), y.as_ref().unwrap_or(b), out);
        }
        _ => block(kernel, a, b, out, Exec::one()),
    }
}

/// The symmetric matrix of `a` with itself: half of the values are computed and mirrored.
pub fn symmetric<T: Real>(kernel: &Kernel, a: &Side<T>, out: &mut [T], exec: Exec) {
    assert_eq!(out.len(), a.n * a.n);
    match &a.ready {
        Ready::Dense { .. } | Ready::Bytes { .. } | Ready::Own(_) => {
            tiles::symmetric(out, a.n, exec.threads(), |t, values| tile(kernel, a, a, t, values));
        }
        // Half of a sparse product is not worth the branch per entry; sums run over columns in the same order, so it is symmetric.
        Ready::Sparse { .. } => block(kernel, a, a, out, exec),
        Ready::Parts { parts, own } => {
            combine(kernel, own, own, out, |k, p, out| symmetric(k, &parts[p], out, exec));
            // Row-by-row arithmetic need not be symmetric to the last bit, so the lower half is mirrored.
            for i in 0..a.n {
                for j in 0..i {
                    out[j * a.n + i] = out[i * a.n + j];
                }
            }
        }
    }
}

/// The matrix of `x` against `y`, row by row, under the layout that is best for both.
///
/// ```
/// use mercer::{data::Points, gram, kernel::Kernel, Exec};
/// let x = Points::dense(vec![0.0, 1.0, 3.0], 1)?;
/// let k = gram::cross::<f64>(&Kernel::Linear, x.view(), x.view(), Exec::one())?;
/// assert_eq!(k[5], 3.0);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn cross<T: Real>(kernel: &Kernel, x: View<'_>, y: View<'_>, exec: Exec) -> Result<Buffer<T>> {
    check(kernel, x, y, exec.memory())?;
    let mut out = Buffer::stale(x.n * y.n);
    // Every door asks the device first; stale memory is fine, as either side writes all of it.
    if door::cross(kernel, x, y, &mut out, exec)? {
        return Ok(out);
    }
    let layout = Layout::of(kernel, y, exec).with(x);
    let (a, b) = (Side::new(kernel, x, &layout, exec)?, Side::new(kernel, y, &layout, exec)?);
    block(kernel, &a, &b, &mut out, exec);
    Ok(out)
}

/// Points prepared once, against which many blocks of rows are computed.
///
/// Rows are computed in runs that begin at multiples of a given height, each on one thread. So a value does not
/// depend on the number of threads, nor on how rows are divided into blocks if blocks begin at such multiples too.
pub(crate) struct Columns<'a, T: Real> {
    kernel: &'a Kernel,
    points: View<'a>,
    layout: Layout,
    side: Side<T>,
}

impl<'a, T: Real> Columns<'a, T> {
    pub(crate) fn new(kernel: &'a Kernel, points: View<'a>, exec: Exec) -> Result<Self> {
        let layout = Layout::of(kernel, points, exec);
        let side = Side::new(kernel, points, &layout, exec)?;
        Ok(Columns { kernel, points, layout, side })
    }

    /// [`cross`] of some rows with these points, in runs of `run` rows.
    pub(crate) fn cross(&self, x: View<'_>, run: usize, exec: Exec) -> Result<Buffer<T>> {
        let (kernel, m) = (self.kernel, self.points.n);
        check(kernel, x, self.points, exec.memory())?;
        let mut out = Buffer::stale(x.n * m);
        if door::cross(kernel, x, self.points, &mut out, exec)? {
            return Ok(out);
        }
        // Dense rows against columns prepared as sparse: prepared again, both dense.
        if self.layout.clone().with(x).sparse != self.layout.sparse {
            return cross(kernel, x, self.points, exec);
        }
        // The runs are the parallel work; each must be computed alike on any number of threads.
        let one = exec.with_threads(1);
        let fill = |(i, to): (usize, &mut [T])| {
            let rows = x.slice(i * run..(i * run + run).min(x.n));
            block(kernel, &Side::new(kernel, rows, &self.layout, one)?, &self.side, to, one);
            Ok::<(), Error>(())
        };
        let wide = (run * m).max(1);
        if exec.threads() == 1 {
            out.chunks_mut(wide).enumerate().try_for_each(fill)?;
        } else {
            out.par_chunks_mut(wide).enumerate().try_for_each(fill)?;
        }
        Ok(out)
    }
}

/// The symmetric matrix of `x` with itself.
pub fn square<T: Real>(kernel: &Kernel, x: View<'_>, exec: Exec) -> Result<Buffer<T>> {
    check(kernel, x, x, exec.memory())?;
    let mut out = Buffer::stale(x.n * x.n);
    if door::square(kernel, x, &mut out, exec)? {
        return Ok(out);
    }
    let a = Side::new(kernel, x, &Layout::of(kernel, x, exec), exec)?;
    symmetric(kernel, &a, &mut out, exec);
    Ok(out)
}

/// Checks that a kernel can be computed between these points.
pub(crate) fn check(kernel: &Kernel, x: View<'_>, y: View<'_>, memory: u64) -> Result<()> {
    check_columns(x, y)?;
    kernel.check_points_within(x, memory)?;
    kernel.check_points_within(y, memory)
}

/// Checks that two sets of points have equal numbers of columns.
pub(super) fn check_columns(x: View<'_>, y: View<'_>) -> Result<()> {
    if x.d != y.d && !matches!(x.data, crate::data::Data::Sequences { .. }) {
        return Err(Error::columns("columns of the points", x.d, y.d));
    }
    Ok(())
}

/// One tile of rows against columns.
fn tile<T: Real>(kernel: &Kernel, a: &Side<T>, b: &Side<T>, t: tiles::Tile, values: &mut [T]) {
    let (rows, cols) = (t.row..t.row + t.rows, t.col..t.col + t.cols);
    match (&a.ready, &b.ready) {
        (Ready::Dense { x, d, sq }, Ready::Dense { x: y, sq: y_sq, .. }) => {
            // One thread: the tiles themselves are spread over the threads.
            let left = Mat::new(&x[rows.start * d..rows.end * d], t.rows, *d);
            let right = Mat::new(&y[cols.start * d..cols.end * d], t.cols, *d);
            product::nt(values, left, right, 1);
            kernel.map(values, &sq[rows], &y_sq[cols]);
        }
        (Ready::Bytes { rows: x, grid, .. }, Ready::Bytes { rows: y, .. }) => {
            let distances = kernel.translation_invariant();
            bytes::block(values, x, rows.clone(), y, cols.clone(), grid.wanted(distances));
            let squares = |of: &bytes::Bytes, run: std::ops::Range<usize>| -> Vec<T> {
                // Bytes give -|x - y|^2 / 2 exactly: the norms to add are 0.
                run.map(|i| if distances { T::ZERO } else { T::of(grid.square(of, i)) }).collect()
            };
            kernel.map(values, &squares(x, rows), &squares(y, cols));
        }
        (Ready::Own(x), Ready::Own(y)) => {
            kernel.own_block(x.view().slice(rows), y.view().slice(cols), values);
        }
        _ => unreachable!("only these are cut into tiles"),
    }
}

/// Sparse rows against sparse columns: each entry of a row is combined only with the entries of its column.
fn sparse_rows<T: Real>(
    kernel: &Kernel,
    (a, a_sq): (&SparseRows<T>, &[T]),
    (b, b_sq): (&SparseRows<T>, &[T]),
    out: &mut [T],
    stride: usize,
    exec: Exec,
) {
    use rayon::prelude::*;
    let n = b_sq.len();
    // Within a larger matrix `out` goes on behind the last row.
    let end = ((a_sq.len() - 1) * stride + n).min(out.len());
    let out = &mut out[..end];
    let used = used_columns(b);
    // Columns of `a` that no row of `b` has contribute nothing and have no place.
    let place = |c: u32| match &used {
        None => Some(c as usize),
        Some(used) => used.binary_search(&c).ok(),
    };
    let columns = transposed(b, n, used.as_ref().map_or(b.d, Vec::len), place);
    // Four pieces per thread, because rows differ in their numbers of entries.
    let high = a_sq.len().div_ceil(exec.threads() * 4).max(1);
    let work = |first: usize, out: &mut [T]| {
        for (r, line) in out.chunks_mut(stride).enumerate() {
            let (i, line) = (first + r, &mut line[..n]);
            line.fill(T::ZERO);
            for p in a.start[i]..a.start[i + 1] {
                let Some(c) = place(a.column[p]) else { continue };
                for q in columns.start[c]..columns.start[c + 1] {
                    line[columns.column[q] as usize] += a.value[p] * columns.value[q];
                }
            }
            kernel.map(line, &a_sq[i..=i], b_sq);
        }
    };
    if exec.threads() == 1 {
        work(0, out);
    } else {
        out.par_chunks_mut(high * stride).enumerate().for_each(|(piece, out)| work(piece * high, out));
    }
}

/// The columns that have entries, if they are far fewer than all. A table must not be as long as the largest index,
/// which can be any number in a file.
fn used_columns<T: Real>(rows: &SparseRows<T>) -> Option<Vec<u32>> {
    if rows.d <= 4 * rows.column.len() + 1024 {
        return None;
    }
    let mut used = rows.column.clone();
    used.sort_unstable();
    used.dedup();
    Some(used)
}

fn transposed<T: Real>(
    rows: &SparseRows<T>,
    n: usize,
    width: usize,
    place: impl Fn(u32) -> Option<usize>,
) -> SparseRows<T> {
    let place = |c: u32| place(c).expect("a column of these rows");
    let mut start = vec![0; width + 1];
    rows.column.iter().for_each(|&c| start[place(c) + 1] += 1);
    // Counts become starts: a counting sort, linear in the entries.
    (0..width).for_each(|c| start[c + 1] += start[c]);
    let mut next = start.clone();
    let (mut column, mut value) = (vec![0; rows.column.len()], vec![T::ZERO; rows.value.len()]);
    for i in 0..n {
        for p in rows.start[i]..rows.start[i + 1] {
            let at = &mut next[place(rows.column[p])];
            (column[*at], value[*at]) = (i as u32, rows.value[p]);
            *at += 1;
        }
    }
    SparseRows { d: n, start, column, value }
}

/// Combines the blocks of a composite kernel's parts into `out`.
fn combine<T: Real>(
    kernel: &Kernel,
    row_self: &[f64],
    col_self: &[f64],
    out: &mut [T],
    fill: impl Fn(&Kernel, usize, &mut [T]),
) {
    let Some((combine, kernels)) = kernel.parts() else { return };
    let mut scratch = Buffer::stale(if kernels.len() > 1 { out.len() } else { 0 });
    for (p, k) in kernels.iter().enumerate() {
        if p == 0 {
            fill(k, p, out);
        } else {
            fill(k, p, &mut scratch);
            combine.join(out, &scratch);
        }
    }
    combine.finish(out, row_self, col_self);
}
