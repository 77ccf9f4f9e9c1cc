//! Deskewing: the shear that makes x and y uncorrelated under the image's mass.
//!
//! With the covariances of the mass, `s = cov(x, y) / var(y)` is the slope of the line x(y) along which the figure
//! leans. The result takes `v(x + s (y - y_0), y)`, linearly between pixels: the centre of mass (x_0, y_0) stays. As
//! is usual for MNIST (DeCoste and Schoelkopf 2002). A flat figure has almost no extent in y and an ill-defined
//! slope, so slopes are limited to two pixels per row; MNIST's steepest digit leans by 1.9, one in 600 by more than
//! 1.

use super::moments::Mass;
use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// The largest slope that is taken out.
const STEEPEST: f64 = 2.0;

/// Deskewing of images of one shape.
#[derive(Debug)]
pub(in crate::data) struct Deskew {
    shape: ImageShape,
    background: f64,
}

impl Deskew {
    pub(in crate::data) fn new(shape: ImageShape, background: f64) -> Self {
        Deskew { shape, background }
    }
}

impl RowMap for Deskew {
    fn dim_out(&self) -> usize {
        self.shape.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        let ImageShape { width, channels, .. } = self.shape;
        let moments = Mass { background: self.background, level: None }.moments(x, self.shape);
        // Rounding leaves about 1e-16 for a figure that is one pixel high and has no extent.
        if moments.mass <= 0.0 || moments.yy <= 1e-9 {
            out.copy_from_slice(x);
            return;
        }
        let slope = (moments.xy / moments.yy).clamp(-STEEPEST, STEEPEST);
        let stride = width * channels;
        for (i, (row, out)) in x.chunks_exact(stride).zip(out.chunks_exact_mut(stride)).enumerate() {
            let way = slope * (i as f64 - moments.y);
            let (whole, part) = (way.floor(), way - way.floor());
            for (j, out) in out.chunks_exact_mut(channels).enumerate() {
                let from = j as i64 + whole as i64;
                for (c, out) in out.iter_mut().enumerate() {
                    let at = |j: i64| {
                        if (0..width as i64).contains(&j) {
                            row[j as usize * channels + c]
                        } else {
                            self.background
                        }
                    };
                    *out = (1.0 - part) * at(from) + part * at(from + 1);
                }
            }
        }
    }
}
