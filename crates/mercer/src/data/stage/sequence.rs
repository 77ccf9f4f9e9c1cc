//! Sequences as numbers, place by place: what the stages on sequences share.

use rayon::prelude::*;

use crate::data::points::{Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;

/// A table of numbers for each place and letter, `channels` of them.
pub(super) struct Places<'a> {
    pub(super) d: usize,
    pub(super) letters: usize,
    pub(super) channels: usize,
    /// Empty: the letter's unit vector.
    pub(super) table: &'a [f64],
}

impl Places<'_> {
    /// Places that a sequence lacks and letters that the alphabet lacks are zeros.
    pub(super) fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let Data::Sequences { start, symbol, .. } = points.data else {
            return Err(Error::shape("points for a stage on sequences", points.kind(), "sequences"));
        };
        let width = self.d * self.channels;
        let mut out = vec![0.0_f32; points.n * width];
        let one = |(i, out): (usize, &mut [f32])| {
            let row = &symbol[start[i]..start[i + 1]];
            for (p, (&s, out)) in row.iter().zip(out.chunks_exact_mut(self.channels)).enumerate() {
                let s = usize::from(s);
                if s >= self.letters {
                    continue;
                }
                if self.table.is_empty() {
                    out[s] = 1.0;
                } else {
                    let scores = &self.table[(p * self.letters + s) * self.channels..][..self.channels];
                    out.iter_mut().zip(scores).for_each(|(out, &v)| *out = v as f32);
                }
            }
        };
        if exec.threads() == 1 {
            out.chunks_exact_mut(width).enumerate().for_each(one);
        } else {
            out.par_chunks_exact_mut(width).enumerate().for_each(one);
        }
        Points::dense_f32(out, width)
    }
}

/// Letters of the alphabet; fails for points that are no sequences.
pub(super) fn letters(points: View<'_>) -> Result<usize> {
    match points.data {
        Data::Sequences { alphabet, .. } if points.n > 0 && points.d > 0 => Ok(alphabet.len()),
        _ => Err(Error::shape("points to fit a sequence stage on", points.kind(), "sequences")),
    }
}
