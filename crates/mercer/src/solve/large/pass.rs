//! One pass over all rows: outputs, what a loss makes of them, and the sums of that against the values.
//!
//! Products run in the type of the values, on pieces small enough that a piece is still in the cache when it is multiplied the
//! second time; sums over pieces are f64. Each thread has the same rows of a block whoever else runs, so the same number of
//! threads gives the same bits.

use rayon::prelude::*;

use super::{Design, Values};
use crate::error::Result;
use crate::exec::Exec;
use crate::num::{Mat, Real, product};

/// Bytes of a piece of values.
const PIECE: usize = 1 << 20;

/// What a row's outputs become: row, its outputs at the current point (kept from an earlier pass), and the outputs of this
/// pass, which are replaced. Returns what is summed over rows.
pub(super) type Row<'r> = dyn Fn(usize, &[f32], &mut [f64]) -> f64 + Sync + 'r;

/// The sums of a pass.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// `N' R`, m x k, R being what rows became.
    pub(super) against: Vec<f64>,
    /// The sum of R over rows, k.
    pub(super) ones: Vec<f64>,
    /// The sum of what [`Row`] returned.
    pub(super) value: f64,
}

/// Outputs that are kept for later passes, n x k.
pub(super) enum Outputs<'a> {
    /// None are needed.
    None,
    /// Of an earlier pass.
    Read(&'a [f32]),
    /// To be kept of this pass.
    Write(&'a mut [f32]),
}

/// The outputs `N v + b` of every row, through `row`, against the values.
pub(super) fn pass(
    design: &dyn Design,
    (coef, offset): (&[f64], &[f64]),
    mut outputs: Outputs<'_>,
    row: &Row<'_>,
    exec: Exec,
) -> Result<Sums> {
    let (m, k) = (design.centres(), offset.len());
    let zero = || Sums { against: vec![0.0; m * k], ones: vec![0.0; k], value: 0.0 };
    let mut parts: Vec<Sums> = (0..exec.threads()).map(|_| zero()).collect();
    let single: Vec<f32> = coef.iter().map(|c| *c as f32).collect();
    design.visit(&mut |first, values| {
        match values {
            Values::Single(values) => {
                block(first, (values, &single, m), offset, &mut outputs, row, &mut parts);
            }
            Values::Double(values) => block(first, (values, coef, m), offset, &mut outputs, row, &mut parts),
        }
        Ok(())
    })?;
    let mut all = zero();
    for part in parts {
        all.against.iter_mut().zip(&part.against).for_each(|(a, p)| *a += p);
        all.ones.iter_mut().zip(&part.ones).for_each(|(a, p)| *a += p);
        all.value += part.value;
    }
    Ok(all)
}

/// One block, its rows cut among the threads.
fn block<T: Real>(
    first: usize,
    (values, coef, m): (&[T], &[T], usize),
    offset: &[f64],
    outputs: &mut Outputs<'_>,
    row: &Row<'_>,
    parts: &mut [Sums],
) {
    let (n, k) = (values.len() / m, offset.len());
    let share = n.div_ceil(parts.len()).max(1);
    let (mut read, mut written): (&[f32], &mut [f32]) = match outputs {
        Outputs::None => (&[], &mut []),
        Outputs::Read(all) => (&all[first * k..(first + n) * k], &mut []),
        Outputs::Write(all) => (&[], &mut all[first * k..(first + n) * k]),
    };
    let mut jobs = Vec::new();
    for (p, (part, values)) in parts.iter_mut().zip(values.chunks(share * m)).enumerate() {
        let rows = values.len() / m * k;
        let (ours, rest) = read.split_at(rows.min(read.len()));
        let (own, others) = written.split_at_mut(rows.min(written.len()));
        (read, written) = (rest, others);
        jobs.push((first + p * share, values, part, ours, own));
    }
    let work = |(first, values, part, read, written): (usize, &[T], &mut Sums, &[f32], &mut [f32])| {
        piece_by_piece(first, (values, coef, m), offset, (read, written), row, part);
    };
    if let [_] = jobs.as_slice() {
        jobs.into_iter().for_each(work);
    } else {
        jobs.into_par_iter().for_each(work);
    }
}

fn piece_by_piece<T: Real>(
    first: usize,
    (values, coef, m): (&[T], &[T], usize),
    offset: &[f64],
    (read, written): (&[f32], &mut [f32]),
    row: &Row<'_>,
    part: &mut Sums,
) {
    let k = offset.len();
    let high = (PIECE / (m * size_of::<T>()).max(1)).clamp(16, 256);
    let (mut out, mut against) = (vec![T::ZERO; high * k], vec![T::ZERO; m * k]);
    let mut wide = vec![0.0; k];
    for (p, values) in values.chunks(high * m).enumerate() {
        let n = values.len() / m;
        let out = &mut out[..n * k];
        let values = Mat::new(values, n, m);
        product::nn(out, values, Mat::new(coef, m, k), 1);
        for (i, line) in out.chunks_mut(k).enumerate() {
            let at = p * high + i;
            wide.iter_mut().zip(&*line).zip(offset).for_each(|((w, o), b)| *w = o.f64() + b);
            if !written.is_empty() {
                let to = &mut written[at * k..(at + 1) * k];
                to.iter_mut().zip(&wide).for_each(|(t, w)| *t = *w as f32);
            }
            let read = if read.is_empty() { read } else { &read[at * k..(at + 1) * k] };
            part.value += row(first + at, read, &mut wide);
            part.ones.iter_mut().zip(&wide).for_each(|(s, w)| *s += w);
            line.iter_mut().zip(&wide).for_each(|(o, w)| *o = T::of(*w));
        }
        product::tn(&mut against, values, Mat::new(out, n, k), 1);
        part.against.iter_mut().zip(&against).for_each(|(s, a)| *s += a.f64());
    }
}
