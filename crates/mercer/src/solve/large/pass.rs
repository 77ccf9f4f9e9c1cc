//! One pass over all rows: outputs, their loss derivatives, and the products of these with the values.
//!
//! Products run in the type of the values, on pieces small enough that a piece is still in the cache when it is
//! multiplied the second time; sums over pieces are f64. Pieces begin at multiples of their height, and a piece is
//! assigned to one of a fixed number of sums by its index, so that the order of summation does not depend on blocks
//! or threads. This matters: coefficients of similar centres are large and cancel, and the last bit of a sum, rounded
//! to f32, affects the third digit of an output.

use rayon::prelude::*;

use super::polled::WORK;
use super::rows::Poll;
use super::{Block, Design, LargeSums as Sums, Values};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::{Mat, Real, narrow};

/// Bytes of a piece of values: what it is summed up in, about 40 bytes per centre and output, is read and written once for
/// each, so pieces are as large as the cache that threads share allows.
const PIECE: usize = 4 << 20;

/// Number of sums to which pieces are added in turn, and maximum number of threads.
const SUMS: usize = 32;

/// Rows of a piece for so many centres, of so many bytes each: a power of two.
pub(crate) fn piece(centres: usize, bytes: usize) -> usize {
    1 << (PIECE / (centres * bytes).max(1)).clamp(16, 256).ilog2()
}

/// Numbers aligned to a cache line. The order of summation of matrix-vector products depends on the alignment.
struct Aligned<T> {
    values: Vec<T>,
    first: usize,
    len: usize,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl<T: Real> Aligned<T> {
    fn new(len: usize) -> Self {
        let values = vec![T::ZERO; len + LINE / size_of::<T>()];
        let first = values.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        Aligned { values, first, len }
    }

    fn of(from: impl ExactSizeIterator<Item = T>) -> Self {
        let mut out = Self::new(from.len());
        out.slice().iter_mut().zip(from).for_each(|(to, v)| *to = v);
        out
    }

    fn get(&self) -> &[T] {
        &self.values[self.first..self.first + self.len]
    }

    fn slice(&mut self) -> &mut [T] {
        &mut self.values[self.first..self.first + self.len]
    }
}

/// Transforms a row's outputs: its target and weight, its outputs at the current point, and the outputs of this pass,
/// which are replaced. Returns two numbers that are summed over rows.
pub(super) type Row<'r> = dyn Fn(&[f64], f64, &[f32], &mut [f64]) -> [f64; 2] + Sync + 'r;

/// Whether a pass may skip a row, by its target and its outputs at the current point: its numbers would all be 0.
pub(super) type Flat<'r> = dyn Fn(&[f64], &[f32]) -> bool + Sync + 'r;

/// What a pass does with the outputs of a row, and which rows it may skip.
#[derive(Clone, Copy)]
pub(super) struct Call<'r> {
    pub(super) row: &'r Row<'r>,
    pub(super) flat: Option<&'r Flat<'r>>,
}

/// Outputs at the current point, n x k.
pub(super) enum Outputs<'a> {
    /// None are needed.
    None,
    /// Of an earlier pass.
    Read(&'a [f32]),
    /// To be kept of this pass.
    Write(&'a mut [f32]),
    /// Too many to be kept: recomputed from coefficients and offsets.
    Again(&'a [f64], &'a [f64]),
}

/// Coefficients of a pass in the type of the values, output by output, with offsets.
struct Function<'a, T> {
    coef: &'a [T],
    offset: &'a [f64],
}

/// The outputs `N v + b` of every row, through the call's function, against the values.
pub(super) fn pass(
    design: &dyn Design,
    (coef, offset): (&[f64], &[f64]),
    mut outputs: Outputs<'_>,
    row: Call<'_>,
    (poll, exec): (Option<&Poll<'_>>, Exec),
) -> Result<Sums> {
    let (m, k) = (design.centres(), offset.len());
    let mut parts: Vec<Sums> = (0..SUMS).map(|_| Sums::zero(m, k)).collect();
    let turned = |v: &[f64]| -> Vec<f64> { (0..v.len()).map(|p| v[p % m * k + p / m]).collect() };
    let short = |v: &[f64]| Aligned::of(v.iter().map(|c| *c as f32));
    let coef = turned(coef);
    let (single, double) = (short(&coef), Aligned::of(coef.iter().copied()));
    let (here, here_offset) = match &outputs {
        Outputs::Again(coef, offset) => (turned(coef), *offset),
        _ => (Vec::new(), &[][..]),
    };
    let (here_single, here_double) = (short(&here), Aligned::of(here.iter().copied()));
    let mut polls = Polls { poll, each: 2 * m * k, every: WORK, done: 0 };
    design.visit(&mut |block| match block.values {
        Values::Single(values) => {
            let now = Function { coef: single.get(), offset };
            let here = Function { coef: here_single.get(), offset: here_offset };
            let functions = (&now, &here);
            in_parts(block, values, functions, &mut outputs, row, (&mut parts, &mut polls, exec))
        }
        Values::Double(values) => {
            let now = Function { coef: double.get(), offset };
            let here = Function { coef: here_double.get(), offset: here_offset };
            let functions = (&now, &here);
            in_parts(block, values, functions, &mut outputs, row, (&mut parts, &mut polls, exec))
        }
    })?;
    let mut all = Sums::zero(m, k);
    parts.iter().for_each(|part| all.add(part));
    // Output by output so far.
    all.against = (0..m * k).map(|p| all.against[p % k * m + p / k]).collect();
    Ok(all)
}

/// The rows of a piece.
struct Piece<'a, T> {
    values: &'a [T],
    targets: &'a [f64],
    weight: &'a [f64],
    read: &'a [f32],
    written: &'a mut [f32],
}

/// When a pass asks whether to stop: after so much work.
struct Polls<'a> {
    poll: Option<&'a Poll<'a>>,
    /// Multiply-adds per row.
    each: usize,
    /// Multiply-adds between questions.
    every: usize,
    /// Multiply-adds since it was asked.
    done: usize,
}

impl Polls<'_> {
    /// Rows that may be processed before the next question, in whole pieces for every thread.
    fn rows(&self, piece: usize, threads: usize) -> usize {
        if self.poll.is_none() {
            return usize::MAX;
        }
        let step = piece * threads.max(1);
        (self.every / self.each.max(1) / step).max(1) * step
    }

    fn ask(&mut self, rows: usize) -> Result<()> {
        self.done = self.done.saturating_add(rows.saturating_mul(self.each));
        if self.done < self.every {
            return Ok(());
        }
        self.done = 0;
        if self.poll.is_some_and(|poll| poll()) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// One block; between parts of it that take long, the call is asked whether to stop.
fn in_parts<T: Real>(
    block: &Block<'_>,
    values: &[T],
    functions: (&Function<'_, T>, &Function<'_, T>),
    outputs: &mut Outputs<'_>,
    row: Call<'_>,
    (parts, polls, exec): (&mut [Sums], &mut Polls<'_>, Exec),
) -> Result<()> {
    let m = functions.0.coef.len() / functions.0.offset.len();
    let n = values.len() / m;
    let wide = block.targets.len() / n.max(1);
    let high = polls.rows(piece(m, size_of::<T>()), exec.threads());
    let mut first = 0;
    while first < n {
        let end = first.saturating_add(high).min(n);
        let part = Block {
            first: block.first + first,
            values: block.values,
            targets: &block.targets[first * wide..end * wide],
            weight: block.weight.get(first..end).unwrap_or_default(),
        };
        let values = &values[first * m..end * m];
        shared_out(&part, values, functions, outputs, row, (parts, exec.threads()));
        polls.ask(end - first)?;
        first = end;
    }
    Ok(())
}

/// One block, its pieces shared out among the sums, and these among the threads.
fn shared_out<T: Real>(
    block: &Block<'_>,
    values: &[T],
    functions: (&Function<'_, T>, &Function<'_, T>),
    outputs: &mut Outputs<'_>,
    row: Call<'_>,
    (parts, threads): (&mut [Sums], usize),
) {
    let k = functions.0.offset.len();
    let m = functions.0.coef.len() / k;
    let n = values.len() / m;
    let wide = block.targets.len() / n.max(1);
    let high = piece(m, size_of::<T>());
    let first = block.first;
    let (mut read, mut written): (&[f32], &mut [f32]) = match outputs {
        Outputs::None | Outputs::Again(..) => (&[], &mut []),
        Outputs::Read(all) => (&all[first * k..(first + n) * k], &mut []),
        Outputs::Write(all) => (&[], &mut all[first * k..(first + n) * k]),
    };
    let (mut targets, mut weight) = (block.targets, block.weight);
    let mut jobs: Vec<(&mut Sums, Vec<Piece<'_, T>>)> = parts.iter_mut().map(|p| (p, Vec::new())).collect();
    for (p, values) in values.chunks(high * m).enumerate() {
        let rows = values.len() / m;
        let (ours, rest) = read.split_at((rows * k).min(read.len()));
        let (own, others) = written.split_at_mut((rows * k).min(written.len()));
        (read, written) = (rest, others);
        let (t, after) = targets.split_at(rows * wide);
        let (w, later) = weight.split_at(rows.min(weight.len()));
        (targets, weight) = (after, later);
        let piece = Piece { values, targets: t, weight: w, read: ours, written: own };
        jobs[(first / high + p) % SUMS].1.push(piece);
    }
    let work = |(part, pieces): &mut (&mut Sums, Vec<Piece<'_, T>>)| {
        if !pieces.is_empty() {
            piece_by_piece(std::mem::take(pieces), functions, row, part);
        }
    };
    if threads == 1 {
        jobs.iter_mut().for_each(work);
    } else {
        jobs.retain(|(_, pieces)| !pieces.is_empty());
        let each = jobs.len().div_ceil(threads).max(1);
        jobs.par_chunks_mut(each).for_each(|jobs| jobs.iter_mut().for_each(work));
    }
}

fn piece_by_piece<T: Real>(
    pieces: Vec<Piece<'_, T>>,
    (now, here): (&Function<'_, T>, &Function<'_, T>),
    call: Call<'_>,
    part: &mut Sums,
) {
    let k = now.offset.len();
    let m = now.coef.len() / k;
    let high = piece(m, size_of::<T>());
    let (mut out, mut against) = (Aligned::new(high * k), Aligned::new(m * k));
    let mut again = Aligned::new(if here.coef.is_empty() { 0 } else { high * k });
    let (out, against, again) = (out.slice(), against.slice(), again.slice());
    let mut moved = None;
    let (mut line, mut at_point) = (vec![0.0; k], vec![0.0_f32; k]);
    // As at the beginning of a fit.
    let zero = now.coef.iter().all(|c| *c == T::ZERO);
    let mut rows = Vec::with_capacity(high);
    for Piece { values, targets, weight, read, written } in pieces {
        let n = values.len() / m;
        let wide = targets.len() / n;
        rows.clear();
        rows.extend(0..n);
        if let (Some(flat), false) = (call.flat, read.is_empty()) {
            rows.retain(|&i| !flat(&targets[i * wide..(i + 1) * wide], &read[i * k..(i + 1) * k]));
            if rows.is_empty() {
                continue;
            }
        }
        let skipped = n - rows.len();
        let n = rows.len();
        let out = &mut out[..n * k];
        let values = if skipped == 0 && values.as_ptr().align_offset(LINE) == 0 {
            values
        } else {
            let to: &mut Aligned<T> = moved.get_or_insert_with(|| Aligned::new(high * m));
            for (to, &i) in to.slice().chunks_mut(m).zip(&rows) {
                to.copy_from_slice(&values[i * m..(i + 1) * m]);
            }
            &to.get()[..n * m]
        };
        let values = Mat::new(values, n, m);
        if zero {
            out.fill(T::ZERO);
        } else {
            narrow::dots(out, values, Mat::new(now.coef, k, m));
        }
        if !here.coef.is_empty() {
            narrow::dots(&mut again[..n * k], values, Mat::new(here.coef, k, m));
        }
        for ((j, &at), short) in rows.iter().enumerate().zip(out.chunks_mut(k)) {
            line.iter_mut().zip(&*short).zip(now.offset).for_each(|((w, o), b)| *w = o.f64() + b);
            if !written.is_empty() {
                let to = &mut written[at * k..(at + 1) * k];
                to.iter_mut().zip(&line).for_each(|(t, w)| *t = *w as f32);
            }
            let point: &[f32] = if !read.is_empty() {
                &read[at * k..(at + 1) * k]
            } else if again.is_empty() {
                &[]
            } else {
                let from = again[j * k..(j + 1) * k].iter().zip(here.offset);
                at_point.iter_mut().zip(from).for_each(|(to, (v, b))| *to = (v.f64() + b) as f32);
                &at_point
            };
            let weight = weight.get(at).copied().unwrap_or(1.0);
            let sums = (call.row)(&targets[at * wide..(at + 1) * wide], weight, point, &mut line);
            part.values.iter_mut().zip(sums).for_each(|(to, s)| *to += s);
            part.ones.iter_mut().zip(&line).for_each(|(s, w)| *s += w);
            short.iter_mut().zip(&line).for_each(|(o, w)| *o = T::of(*w));
        }
        narrow::sums(against, values, out);
        part.against.iter_mut().zip(&*against).for_each(|(s, a)| *s += a.f64());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use mercer_testkit::toy;

    /// A block in parts has the sums of the whole, and a pass stops where the call says so.
    #[test]
    fn a_block_in_parts_asks_between_them_and_has_the_same_sums() {
        let (n, m, k) = (1500, 24, 2);
        let values = toy::normals(n, m, 1);
        let (targets, weight, coef) = (toy::normals(n, 1, 2), vec![0.5; n], toy::normals(m, k, 3));
        let block = Block { first: 0, values: Values::Double(&values), targets: &targets, weight: &weight };
        let row = |target: &[f64], weight: f64, _: &[f32], f: &mut [f64]| {
            f.iter_mut().for_each(|f| *f = weight * (*f - target[0]));
            [weight, 1.0]
        };
        let sums = |every: usize, stop_at: usize| {
            let asked = AtomicUsize::new(0);
            let poll = || asked.fetch_add(1, Ordering::Relaxed) + 1 == stop_at;
            let poll: Option<&Poll<'_>> = (every > 0).then_some(&poll);
            let mut polls = Polls { poll, each: 2 * m * k, every, done: 0 };
            let now = Function { coef: &coef, offset: &[0.25, -1.0] };
            let none = Function { coef: &[], offset: &[] };
            let mut parts: Vec<Sums> = (0..SUMS).map(|_| Sums::zero(m, k)).collect();
            let mut outputs = vec![0.0; n * k];
            let call = Call { row: &row, flat: None };
            let run = (&mut parts[..], &mut polls, Exec::one());
            let done = in_parts(&block, &values, (&now, &none), &mut Outputs::Write(&mut outputs), call, run);
            (done, parts, outputs, asked.into_inner())
        };
        let (done, want, wrote, asked) = sums(0, 0);
        assert!(done.is_ok() && asked == 0 && want.iter().filter(|s| s.values[1] > 0.0).count() > 3);
        let (done, got, written, asked) = sums(1, 0);
        assert!(done.is_ok() && asked == n.div_ceil(piece(m, 8)) && got == want && written == wrote);
        let (done, got, _, asked) = sums(1, 3);
        assert!(matches!(done, Err(Error::Cancelled)) && asked == 3);
        assert_eq!(got.iter().map(|s| s.values[1]).sum::<f64>(), 3.0 * piece(m, 8) as f64);
    }
}
