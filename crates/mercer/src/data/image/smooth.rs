//! Gaussian smoothing: two one-dimensional passes, edge pixels repeated beyond the frame.
//!
//! Schoelkopf (1997, App. C) smooths the USPS digits with a width of 0.75 pixels. The window reaches `ceil(4 sigma)`
//! pixels to each side, where the Gaussian has fallen to 0.0003 of its height, and its weights sum to one. Cost:
//! `2 (2 r + 1)` multiply-adds a value.

use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// Smoothing of images of one shape.
#[derive(Debug)]
pub(in crate::data) struct Smooth {
    shape: ImageShape,
    weights: Vec<f64>,
}

impl Smooth {
    pub(in crate::data) fn new(shape: ImageShape, sigma: f64) -> Self {
        let reach = (4.0 * sigma).ceil() as i64;
        let bell = |k: i64| if k == 0 { 1.0 } else { (-0.5 * (k as f64 / sigma).powi(2)).exp() };
        let sum: f64 = (-reach..=reach).map(bell).sum();
        Smooth { shape, weights: (-reach..=reach).map(|k| bell(k) / sum).collect() }
    }
}

impl RowMap for Smooth {
    fn dim_out(&self) -> usize {
        self.shape.len()
    }

    fn run(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        let ImageShape { height, width, channels } = self.shape;
        let (stride, reach) = (width * channels, self.weights.len() / 2);
        scratch.clear();
        scratch.resize(x.len() + stride + 2 * reach * channels, 0.0);
        let (across, padded) = scratch.split_at_mut(x.len());
        for (row, across) in x.chunks_exact(stride).zip(across.chunks_exact_mut(stride)) {
            let (left, rest) = padded.split_at_mut(reach * channels);
            let (middle, right) = rest.split_at_mut(stride);
            left.chunks_exact_mut(channels).for_each(|pixel| pixel.copy_from_slice(&row[..channels]));
            middle.copy_from_slice(row);
            right
                .chunks_exact_mut(channels)
                .for_each(|pixel| pixel.copy_from_slice(&row[stride - channels..]));
            across.fill(0.0);
            for (k, w) in self.weights.iter().enumerate() {
                add_scaled(across, &padded[k * channels..k * channels + stride], *w);
            }
        }
        for (i, out) in out.chunks_exact_mut(stride).enumerate() {
            out.fill(0.0);
            for (k, w) in self.weights.iter().enumerate() {
                let row = (i + k).saturating_sub(reach).min(height - 1);
                add_scaled(out, &across[row * stride..(row + 1) * stride], *w);
            }
        }
    }
}

fn add_scaled(to: &mut [f64], from: &[f64], weight: f64) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
}
