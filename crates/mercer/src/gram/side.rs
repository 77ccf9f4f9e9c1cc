//! Points prepared for one kernel: in one float type, shifted, with squared norms, so that blocks of kernel values
//! are a matrix product followed by a map.

use crate::data::{Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::{Exec, room_for_table};
use crate::gram::grid::Grid;
use crate::kernel::{Combine, Form, Kernel};
use crate::num::Real;
use crate::num::bytes::Bytes;

/// Points on one side of a block, prepared for one kernel.
#[derive(Debug, Clone)]
pub struct Side<T> {
    pub(super) n: usize,
    pub(super) ready: Ready<T>,
}

#[derive(Debug, Clone)]
pub(super) enum Ready<T> {
    /// Rows and their squared norms, for functions of dot products.
    Dense { x: Vec<T>, d: usize, sq: Vec<T> },
    /// Rows of small integers times a constant.
    Bytes {
        rows: Bytes,
        grid: Grid,
        /// The shift of float rows beside them that are not on the grid.
        shift: f64,
    },
    /// The same, sparse.
    Sparse { rows: SparseRows<T>, sq: Vec<T> },
    /// The points unchanged, for kernels with their own block routine.
    Own(Points),
    /// One side per part of a composite kernel, whose parts need different preparation.
    Parts {
        parts: Vec<Side<T>>,
        /// The part's self-values, if the whole kernel is normalised by them.
        own: Vec<f64>,
    },
}

/// Sparse rows in the block's float type.
#[derive(Debug, Clone)]
pub(super) struct SparseRows<T> {
    pub(super) d: usize,
    pub(super) start: Vec<usize>,
    pub(super) column: Vec<u32>,
    pub(super) value: Vec<T>,
}

/// How both sides of a block prepare their points, so that they agree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// Subtracted from every dense row. Kernels of differences are invariant to it, and f32 products lose fewer
    /// digits.
    pub shift: Option<Vec<f64>>,
    /// Keep sparse rows sparse.
    pub sparse: bool,
    /// Store rows on this grid as bytes.
    pub(super) grid: Option<Grid>,
}

impl Layout {
    /// The best layout for these points.
    ///
    /// A dense product does a multiply-add in about a fortieth of the time of a sparse one, so sparse rows are
    /// multiplied as dense ones when more than one entry in forty is present.
    pub fn of(kernel: &Kernel, points: View<'_>, exec: Exec) -> Self {
        let grid = if kernel.form() == Form::Dot { Grid::of(points, exec) } else { None };
        match points.data {
            Data::Csr { start, .. } => {
                let entries = start[points.n] - start[0];
                let thin = entries.saturating_mul(40) < points.n.saturating_mul(points.d);
                Layout { shift: None, sparse: thin && grid.is_none(), grid }
            }
            // Sparse rows are never shifted: that would make them dense.
            Data::F32(_) | Data::F64(_) if kernel.translation_invariant() => {
                // The middle of the grid keeps bytes and floats beside them in the same coordinates.
                let shift = grid.map_or_else(|| mean(points), |g| vec![g.middle(); points.d]);
                Layout { shift: Some(shift), sparse: false, grid }
            }
            _ => Layout { grid, ..Layout::default() },
        }
    }

    /// A layout for both sets: dense if either is, with the first one's shift.
    #[must_use]
    pub fn with(mut self, other: View<'_>) -> Self {
        // There is no product of sparse with dense rows.
        self.sparse &= matches!(other.data, Data::Csr { .. });
        self
    }
}

fn mean(points: View<'_>) -> Vec<f64> {
    fn sums<T: Real>(values: &[T], d: usize) -> Vec<f64> {
        let mut sum = vec![0.0; d];
        for row in values.chunks(d) {
            sum.iter_mut().zip(row).for_each(|(s, v)| *s += v.f64());
        }
        sum
    }
    let mut sum = match points.data {
        Data::F32(x) => sums(x, points.d),
        Data::F64(x) => sums(x, points.d),
        _ => vec![0.0; points.d],
    };
    sum.iter_mut().for_each(|s| *s /= points.n.max(1) as f64);
    sum
}

impl<T: Real> Side<T> {
    /// Prepares points for a kernel under a layout.
    pub fn new(kernel: &Kernel, points: View<'_>, layout: &Layout, exec: Exec) -> Result<Self> {
        let ready = match kernel.form() {
            Form::Dot => dot_ready(points, layout, exec)?,
            Form::Own => Ready::Own(points.slice(0..points.n).gather(&(0..points.n).collect::<Vec<_>>())),
            Form::Parts => {
                let (combine, kernels) =
                    kernel.parts().ok_or_else(|| Error::Unsupported(format!("{kernel} has no parts")))?;
                let mut own = vec![0.0; if combine == Combine::Normalise { points.n } else { 0 }];
                if let (Combine::Normalise, [part]) = (combine, kernels) {
                    // From the points themselves: a part without dot products has no other source for its self-values.
                    part.diag(points, &mut own);
                }
                Ready::Parts {
                    parts: kernels
                        .iter()
                        .map(|k| Side::new(k, points, layout, exec))
                        .collect::<Result<_>>()?,
                    own,
                }
            }
            Form::Precomputed => {
                let why = "values of a precomputed kernel come from the matrix, not from points";
                return Err(Error::Unsupported(why.into()));
            }
        };
        Ok(Side { n: points.n, ready })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Some of the points, in the order asked.
    #[must_use]
    pub fn gather(&self, keep: &[u32]) -> Self {
        let ready = match &self.ready {
            Ready::Dense { x, d, sq } => Ready::Dense {
                x: pick(keep, |i| &x[i * d..(i + 1) * d]),
                d: *d,
                sq: keep.iter().map(|&i| sq[i as usize]).collect(),
            },
            Ready::Bytes { rows, grid, shift } => {
                Ready::Bytes { rows: rows.gather(keep), grid: *grid, shift: *shift }
            }
            Ready::Sparse { rows, sq } => {
                let run = |i: usize| rows.start[i]..rows.start[i + 1];
                let mut start = vec![0];
                start.extend(keep.iter().scan(0, |at, &i| {
                    *at += run(i as usize).len();
                    Some(*at)
                }));
                let rows = SparseRows {
                    d: rows.d,
                    start,
                    column: pick(keep, |i| &rows.column[run(i)]),
                    value: pick(keep, |i| &rows.value[run(i)]),
                };
                Ready::Sparse { rows, sq: keep.iter().map(|&i| sq[i as usize]).collect() }
            }
            Ready::Own(points) => {
                Ready::Own(points.gather(&keep.iter().map(|&i| i as usize).collect::<Vec<_>>()))
            }
            Ready::Parts { parts, own } => Ready::Parts {
                parts: parts.iter().map(|p| p.gather(keep)).collect(),
                own: if own.is_empty() {
                    Vec::new()
                } else {
                    keep.iter().map(|&i| own[i as usize]).collect()
                },
            },
        };
        Side { n: keep.len(), ready }
    }

    /// Whether centres on a grid can stay bytes beside these rows: they are bytes, or are not used as rows at all.
    pub(super) fn is_bytes(&self) -> bool {
        !matches!(self.ready, Ready::Dense { .. })
    }

    /// Byte rows as floats, for a block with rows that are not on their grid.
    pub(super) fn floats(&self) -> Option<Self> {
        let Ready::Bytes { rows, grid, shift } = &self.ready else { return None };
        let d = rows.columns();
        let mut x = vec![T::ZERO; rows.len() * d];
        for (i, row) in x.chunks_mut(d).enumerate() {
            grid.values(rows.row(i), *shift, row);
        }
        // From the floats just made, so that norms and products are rounded alike and |x - x|^2 is 0.
        let sq = x.chunks(d).map(|row| T::of(square(row.iter().map(|v| v.f64())))).collect();
        Some(Side { n: self.n, ready: Ready::Dense { x, d, sq } })
    }

    /// Multiply-adds per kernel value.
    pub fn cost(&self) -> f64 {
        match &self.ready {
            Ready::Dense { d, .. } => *d as f64,
            // Measured against a dense f32 product: bytes take a quarter of the time; sparse entries and kernels with their
            // own routines about forty times as long.
            Ready::Bytes { rows, .. } => 0.25 * rows.columns() as f64,
            Ready::Sparse { rows, .. } => 40.0 * rows.value.len() as f64 / self.n.max(1) as f64,
            Ready::Own(points) => 40.0 * points.dim() as f64,
            Ready::Parts { parts, .. } => parts.iter().map(Side::cost).sum(),
        }
    }
}

fn pick<'a, T: Copy + 'a>(keep: &[u32], row: impl Fn(usize) -> &'a [T]) -> Vec<T> {
    let mut out = Vec::with_capacity(keep.iter().map(|&i| row(i as usize).len()).sum());
    keep.iter().for_each(|&i| out.extend_from_slice(row(i as usize)));
    out
}

fn dot_ready<T: Real>(points: View<'_>, layout: &Layout, exec: Exec) -> Result<Ready<T>> {
    let d = points.d;
    if let (Data::Csr { start, column, value }, true) = (points.data, layout.sparse) {
        let run = start[0]..start[points.n];
        let values = &value[run.clone()];
        // A view may begin in the middle of its arrays; the copy begins at 0.
        let begin: Vec<usize> = start.iter().map(|s| s - start[0]).collect();
        let sq = begin.windows(2).map(|w| T::of(square(values[w[0]..w[1]].iter().copied()))).collect();
        let value = values.iter().map(|&v| T::of(v)).collect();
        let rows = SparseRows { d, start: begin, column: column[run].to_vec(), value };
        return Ok(Ready::Sparse { rows, sq });
    }
    if let Data::Csr { .. } = points.data {
        room_for_table(
            "dense copies of sparse rows",
            points.n.saturating_add(2),
            d,
            points.bytes(),
            exec.memory(),
        )?;
    }
    if let Some(grid) = layout.grid
        && d <= crate::num::bytes::WIDEST
        && let Some(rows) = grid.rows(points)
    {
        let shift = if layout.shift.is_some() { grid.middle() } else { 0.0 };
        return Ok(Ready::Bytes { rows, grid, shift });
    }
    let zero = vec![0.0; d];
    let shift = layout.shift.as_deref().unwrap_or(&zero);
    if shift.len() != d {
        return Err(Error::shape("columns", d, shift.len()));
    }
    let mut x = vec![T::ZERO; points.n * d];
    let mut sq = vec![T::ZERO; points.n];
    let rows = x.chunks_mut(d).zip(&mut sq);
    match points.data {
        Data::F32(v) => rows.zip(v.chunks(d)).for_each(|((x, sq), v)| *sq = put(x, v, shift)),
        Data::F64(v) => rows.zip(v.chunks(d)).for_each(|((x, sq), v)| *sq = put(x, v, shift)),
        Data::Csr { start, column, value } => {
            let mut row = vec![0.0; d];
            for (i, (x, sq)) in rows.enumerate() {
                // One dense row at a time, so that the shift and the norm are the same code as for dense data.
                row.fill(0.0);
                (start[i]..start[i + 1]).for_each(|p| row[column[p] as usize] = value[p]);
                *sq = put(x, &row, shift);
            }
        }
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
            return Err(Error::shape("points of a kernel on vectors", points.kind(), "rows of numbers"));
        }
    }
    Ok(Ready::Dense { x, d, sq })
}

/// Writes a shifted row and returns its squared norm.
fn put<T: Real, S: Real>(out: &mut [T], row: &[S], shift: &[f64]) -> T {
    // Subtracting in f64 before rounding is the point of the shift: the products are of small numbers.
    out.iter_mut().zip(row).zip(shift).for_each(|((o, v), s)| *o = T::of(v.f64() - s));
    // From the rounded values, so that |x - x|^2 comes out as zero to rounding; in eight sums, so that it is vector code.
    let mut lanes = [0.0; 8];
    let (chunks, rest) = out.as_chunks::<8>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(l, v)| *l += v.f64() * v.f64());
    }
    T::of(lanes.iter().sum::<f64>() + square(rest.iter().map(|v| v.f64())))
}

fn square(row: impl Iterator<Item = f64>) -> f64 {
    row.map(|v| v * v).sum()
}
