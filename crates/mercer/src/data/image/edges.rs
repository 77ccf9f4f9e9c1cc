//! Edge maps in four directions (Schoelkopf 1997, App. A).
//!
//! "Four one-dimensional differential operators (vertical, horizontal, and two diagonal ones) were applied to the
//! images, followed by taking the modulus." The paper does not say which operators: here they are central differences
//! a pixel of distance, `|v(p + e) - v(p - e)| / (2 |e|)` with `e` = (1, 0), (0, 1), (1, 1), (1, -1), and the edge
//! pixels repeated beyond the frame.

use std::f64::consts::SQRT_2;

use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// Images with their edge maps beside them as further channels.
#[derive(Debug)]
pub(in crate::data) struct Edges {
    from: ImageShape,
    keep: bool,
}

/// Steps in x and y, and their length.
const DIRECTIONS: [(isize, isize, f64); 4] = [(1, 0, 1.0), (0, 1, 1.0), (1, 1, SQRT_2), (1, -1, SQRT_2)];

impl Edges {
    /// With `keep`, each channel becomes five: itself and its maps; without, four.
    pub(in crate::data) fn new(from: ImageShape, keep: bool) -> Self {
        Edges { from, keep }
    }

    /// Channels that come from one.
    pub(in crate::data) fn maps(keep: bool) -> usize {
        DIRECTIONS.len() + usize::from(keep)
    }
}

impl RowMap for Edges {
    fn dim_out(&self) -> usize {
        self.from.len() * Self::maps(self.keep)
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        let ImageShape { height, width, channels } = self.from;
        let inside = |at: usize, step: isize, len: usize| at.saturating_add_signed(step).min(len - 1);
        let mut to = out.iter_mut();
        let mut put = |v: f64| *to.next().expect("as many values as the maps have") = v;
        for i in 0..height {
            for j in 0..width {
                for c in 0..channels {
                    let at = |i: usize, j: usize| x[(i * width + j) * channels + c];
                    if self.keep {
                        put(at(i, j));
                    }
                    for (dx, dy, length) in DIRECTIONS {
                        let ahead = at(inside(i, dy, height), inside(j, dx, width));
                        let behind = at(inside(i, -dy, height), inside(j, -dx, width));
                        put((ahead - behind).abs() / (2.0 * length));
                    }
                }
            }
        }
    }
}
