//! A map of rows run over all points: the one loop behind every stage and every image transformation.
//!
//! A map sees f64 rows. Points keep their kind: f32 rows are widened on the way in and rounded once on the way out,
//! sparse rows stay sparse unless the map turns zeros into something else.

use std::ops::Range;

use rayon::prelude::*;

use super::points::{Csr, Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::{Exec, room, room_for_table};
use crate::num::Real;

/// What a map does to sparse rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnSparse {
    /// Changes stored entries only: zeros stay zeros, columns stay where they are. See [`RowMap::run_entries`].
    Entries,
    /// Mixes columns; the result is stored sparse again.
    Rows,
    /// Turns zeros into other values: the result is dense.
    Dense,
}

/// A map from one row to another.
pub(super) trait RowMap: Sync {
    /// Values of a result.
    fn dim_out(&self) -> usize;

    /// The result of one row. `scratch` is the thread's own: any length, any content.
    fn run(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>);

    /// What it does to sparse rows.
    fn on_sparse(&self) -> OnSparse {
        OnSparse::Rows
    }

    /// The new values of a sparse row's entries; asked only of maps that say [`OnSparse::Entries`].
    fn run_entries(&self, _columns: &[u32], value: &[f64], out: &mut [f64]) {
        out.copy_from_slice(value);
    }
}

/// A map that is a function of a row's values: of all of them, or of the stored ones where it keeps zeros.
pub(super) struct Each<F> {
    pub(super) d_out: usize,
    pub(super) on_sparse: OnSparse,
    pub(super) run: F,
}

impl<F: Fn(&[f64], &mut [f64]) + Sync> RowMap for Each<F> {
    fn dim_out(&self) -> usize {
        self.d_out
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        (self.run)(x, out);
    }

    fn on_sparse(&self) -> OnSparse {
        self.on_sparse
    }

    fn run_entries(&self, _columns: &[u32], value: &[f64], out: &mut [f64]) {
        (self.run)(value, out);
    }
}

/// The map of every row. Sparse rows may have fewer columns than `d`: those they lack are zeros.
pub(super) fn map_rows(view: View<'_>, d: usize, map: &dyn RowMap, exec: Exec) -> Result<Points> {
    let (n, d_out) = (view.n, map.dim_out());
    match view.data {
        Data::F32(x) => Points::dense_f32(dense(x, n, d, map, exec), d_out),
        Data::F64(x) => Points::dense(dense(x, n, d, map, exec), d_out),
        Data::Csr { start, column, value } => match map.on_sparse() {
            OnSparse::Entries => {
                let stored = start[0]..start[n];
                let mut out = vec![0.0; stored.len()];
                for i in 0..n {
                    let row = start[i]..start[i + 1];
                    let to = &mut out[row.start - stored.start..row.end - stored.start];
                    map.run_entries(&column[row.clone()], &value[row], to);
                }
                let start = start.iter().map(|s| s - stored.start).collect();
                Points::sparse(Csr { start, column: column[stored].to_vec(), value: out }, d_out)
            }
            OnSparse::Rows => {
                // Each thread has a dense row before and after.
                let dense = 2 * exec.threads();
                room_for_table(
                    "dense copies of sparse rows",
                    dense,
                    d.max(d_out),
                    view.bytes(),
                    exec.memory(),
                )?;
                let rows = |range: Range<usize>| sparse_rows(view, d, map, range);
                let parts: Vec<Csr> = pieces(n, exec).into_par_iter().map(rows).collect();
                let mut all = Csr { start: vec![0], ..Csr::default() };
                for part in parts {
                    let end = all.column.len();
                    all.start.extend(part.start.iter().skip(1).map(|s| s + end));
                    all.column.extend(part.column);
                    all.value.extend(part.value);
                }
                Points::sparse(all, d_out)
            }
            OnSparse::Dense => {
                // Beside the result each thread has a dense row.
                let columns = d.max(d_out);
                let bytes = (n as u128 + exec.threads() as u128).saturating_mul(8 * columns as u128);
                let what = format!("sparse points that this stage makes dense ({n} x {columns} values)");
                room(&what, bytes, view.bytes() as u128, exec.memory())?;
                let mut out = vec![0.0; n * d_out];
                let rows = n.div_ceil(exec.threads()).max(1);
                out.par_chunks_mut(rows * d_out).enumerate().for_each(|(piece, out)| {
                    let (mut x, mut scratch) = (vec![0.0; d], Vec::new());
                    for (i, out) in out.chunks_exact_mut(d_out).enumerate() {
                        fill(view, piece * rows + i, &mut x);
                        map.run(&x, out, &mut scratch);
                    }
                });
                Points::dense(out, d_out)
            }
        },
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
            Err(Error::shape("points to transform", view.kind(), "rows of numbers"))
        }
    }
}

/// Calls `f` with each row: the columns of its entries where the rows are sparse, and the values.
pub(super) fn each_row(
    view: View<'_>,
    mut f: impl FnMut(Option<&[u32]>, &[f64]) -> Result<()>,
) -> Result<()> {
    match view.data {
        Data::F32(x) => {
            let mut row = vec![0.0; view.d];
            for x in x.chunks_exact(view.d) {
                row.iter_mut().zip(x).for_each(|(to, &from)| *to = f64::from(from));
                f(None, &row)?;
            }
            Ok(())
        }
        Data::F64(x) => x.chunks_exact(view.d).try_for_each(|x| f(None, x)),
        Data::Csr { start, column, value } => start.windows(2).try_for_each(|w| {
            let row = w[0]..w[1];
            f(Some(&column[row.clone()]), &value[row])
        }),
        Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. } => {
            Err(Error::shape("points", view.kind(), "rows of numbers"))
        }
    }
}

fn dense<R: Real>(x: &[R], n: usize, d: usize, map: &dyn RowMap, exec: Exec) -> Vec<R> {
    let d_out = map.dim_out();
    let mut out = vec![R::ZERO; n * d_out];
    let run = |(x, out): (&[R], &mut [R])| {
        let (mut a, mut b, mut scratch) = (vec![0.0; d], vec![0.0; d_out], Vec::new());
        for (x, out) in x.chunks_exact(d).zip(out.chunks_exact_mut(d_out)) {
            a.iter_mut().zip(x).for_each(|(to, from)| *to = from.f64());
            map.run(&a, &mut b, &mut scratch);
            out.iter_mut().zip(&b).for_each(|(to, &from)| *to = R::of(from));
        }
    };
    let rows = n.div_ceil(exec.threads()).max(1);
    if rows >= n {
        run((x, &mut out));
    } else {
        x.par_chunks(rows * d).zip(out.par_chunks_mut(rows * d_out)).for_each(run);
    }
    out
}

fn sparse_rows(view: View<'_>, d: usize, map: &dyn RowMap, rows: Range<usize>) -> Csr {
    let mut csr = Csr { start: vec![0], ..Csr::default() };
    let (mut x, mut out, mut scratch) = (vec![0.0; d], vec![0.0; map.dim_out()], Vec::new());
    for i in rows {
        fill(view, i, &mut x);
        map.run(&x, &mut out, &mut scratch);
        for (j, &v) in out.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.column.push(j as u32);
            csr.value.push(v);
        }
        csr.start.push(csr.column.len());
    }
    csr
}

/// Row i of sparse points as a dense row.
fn fill(view: View<'_>, i: usize, x: &mut [f64]) {
    x.fill(0.0);
    if let Data::Csr { start, column, value } = view.data {
        for p in start[i]..start[i + 1] {
            x[column[p] as usize] = value[p];
        }
    }
}

fn pieces(n: usize, exec: Exec) -> Vec<Range<usize>> {
    let rows = n.div_ceil(exec.threads()).max(1);
    (0..n).step_by(rows).map(|at| at..(at + rows).min(n)).collect()
}
