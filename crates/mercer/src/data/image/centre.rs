//! Centring by mass: the image moves by whole pixels until its centre of mass is nearest the frame's centre.
//!
//! Whole pixels leave every value as it was; what moves out is lost and what moves in is background. Schoelkopf (1997,
//! App. A) weighs the binarised image, MNIST's makers the grey values: [`Mass`] does either.

use super::moments::Mass;
use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// Centring of images of one shape.
#[derive(Debug)]
pub(in crate::data) struct CentreMass {
    shape: ImageShape,
    mass: Mass,
}

impl CentreMass {
    pub(in crate::data) fn new(shape: ImageShape, mass: Mass) -> Self {
        CentreMass { shape, mass }
    }
}

impl RowMap for CentreMass {
    fn dim_out(&self) -> usize {
        self.shape.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        let ImageShape { height, width, channels } = self.shape;
        let moments = self.mass.moments(x, self.shape);
        if moments.mass <= 0.0 {
            out.copy_from_slice(x);
            return;
        }
        let right = whole((width - 1) as f64 / 2.0 - moments.x);
        let down = whole((height - 1) as f64 / 2.0 - moments.y);
        out.fill(self.mass.background);
        let (columns, from_column, to_column) = overlap(width, right);
        let (rows, from_row, to_row) = overlap(height, down);
        for i in 0..rows {
            let from = ((from_row + i) * width + from_column) * channels;
            let to = ((to_row + i) * width + to_column) * channels;
            out[to..to + columns * channels].copy_from_slice(&x[from..from + columns * channels]);
        }
    }
}

/// The nearest whole number, halves towards zero, so that a centred image does not move again.
fn whole(way: f64) -> isize {
    // The slack swallows the rounding in the moments, which could push a half over its edge.
    ((way.abs() - 0.5 - 1e-9).ceil().max(0.0) * way.signum()) as isize
}

/// How many of `len` pixels stay in the frame when moved by `way`, the first that does, and where it goes.
fn overlap(len: usize, way: isize) -> (usize, usize, usize) {
    let by = way.unsigned_abs().min(len);
    if way >= 0 { (len - by, 0, by) } else { (len - by, by, 0) }
}
