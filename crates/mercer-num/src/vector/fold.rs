//! Products over the coordinates of two points, for functions given by the caller.

use crate::dispatch::dispatch;

/// Coordinates worked on at once.
pub const LANES: usize = 8;

/// What a coordinate contributes, for [`LANES`] coordinates at once. Write loops over the lanes innermost and without
/// branches, and mark `parts` `#[inline(always)]`: it is compiled into vector code for each instruction set.
pub trait Parts {
    /// Numbers that a coordinate is described by.
    const PLANES: usize;

    /// The parts of [`LANES`] coordinates: `x[p][l]` is number p of lane l.
    fn parts(&self, x: &[[f64; LANES]], y: &[[f64; LANES]]) -> [f64; LANES];
}

dispatch! {
    /// `out[j] = prod of all parts of x and y_j`. A row is blocks of [`Parts::PLANES`] lane arrays, `width` of them
    /// in all; the padding of the last block must give the part 1.
    pub fn products<P: Parts>(parts: &P, x: &[[f64; LANES]], y: &[[f64; LANES]], width: usize, out: &mut [f64]) {
        for (out, y) in out.iter_mut().zip(y.chunks_exact(width)) {
            let mut all = [1.0; LANES];
            for (x, y) in x.chunks_exact(P::PLANES).zip(y.chunks_exact(P::PLANES)) {
                let part = parts.parts(x, y);
                for l in 0..LANES {
                    all[l] *= part[l];
                }
            }
            *out = all.iter().product();
        }
    }
}
