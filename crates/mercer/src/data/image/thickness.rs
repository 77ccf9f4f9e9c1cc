//! Thicker and thinner lines: grey-value dilation and erosion by a disc, a fraction of a pixel at a time.
//!
//! Dilating by a small radius r adds `r |grad v|` to an image (the line-thickness transformation of Drucker, Schapire
//! and Simard 1993, used by Schoelkopf 1997, Sec. 4.4.1). The slope is taken uphill only,
//! `|grad v|^2 = max(left - v, right - v, 0)^2 + max(up - v, down - v, 0)^2` (Rouy and Tourin 1992): in steps of at
//! most half a pixel no value passes its neighbours', so strokes grow and no ripple appears. Erosion is the dilation
//! of the negative image.

use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// The longest single step, in pixels; the scheme is stable up to `1 / sqrt 2`.
const STEP: f64 = 0.5;

/// A change of line thickness.
#[derive(Debug)]
pub(super) struct Thickness {
    shape: ImageShape,
    pixels: f64,
    background: f64,
}

impl Thickness {
    /// Strokes grow by this number of pixels on each side, or shrink if it is negative.
    pub(super) fn new(shape: ImageShape, pixels: f64, background: f64) -> Self {
        Thickness { shape, pixels, background }
    }
}

impl RowMap for Thickness {
    fn dim_out(&self) -> usize {
        self.shape.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        // The ink is on that side of the background where the image's mass is.
        let ink: f64 = x.iter().map(|v| v - self.background).sum();
        let uphill = if (ink < 0.0) == (self.pixels < 0.0) { 1.0 } else { -1.0 };
        let steps = (self.pixels.abs() / STEP).ceil();
        let step = self.pixels.abs() / steps.max(1.0);
        out.copy_from_slice(x);
        for _ in 0..steps as usize {
            scratch.clear();
            scratch.extend_from_slice(out);
            dilate(scratch, out, self.shape, step, uphill);
        }
    }
}

/// One step; `sign` -1 erodes.
fn dilate(x: &[f64], out: &mut [f64], shape: ImageShape, step: f64, sign: f64) {
    let ImageShape { height, width, channels } = shape;
    let stride = width * channels;
    for (p, out) in out.iter_mut().enumerate() {
        let (i, j) = (p / stride, p % stride / channels);
        let rise = |inside: bool, to: usize| if inside { (sign * (x[to] - x[p])).max(0.0) } else { 0.0 };
        let across = rise(j > 0, p.wrapping_sub(channels)).max(rise(j + 1 < width, p + channels));
        let along = rise(i > 0, p.wrapping_sub(stride)).max(rise(i + 1 < height, p + stride));
        *out = x[p] + sign * step * (across * across + along * along).sqrt();
    }
}
