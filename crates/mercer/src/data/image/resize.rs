//! Images of another size: bilinear where they grow, weighted means over the area a pixel covers where they shrink.

use super::super::ImageShape;

/// An image resized to a number of rows and columns; values row by row, channels last.
///
/// Each pixel is a mean under a tent as wide as two pixels of the coarser of the two sizes, so that nothing of a
/// large image is skipped.
pub(in crate::data) fn resized(pixels: &[f32], shape: ImageShape, height: usize, width: usize) -> Vec<f32> {
    let ImageShape { channels, .. } = shape;
    let columns = tents(shape.width, width);
    let mut narrow = Vec::with_capacity(shape.height * width * channels);
    for row in pixels.chunks_exact(shape.width * channels) {
        for (first, weights) in &columns {
            for c in 0..channels {
                let values = row[first * channels + c..].iter().step_by(channels);
                narrow.push(weights.iter().zip(values).map(|(w, v)| w * v).sum::<f32>());
            }
        }
    }
    let line = width * channels;
    let mut out = vec![0.0; height * line];
    for ((first, weights), out) in tents(shape.height, height).iter().zip(out.chunks_exact_mut(line)) {
        for (weight, row) in weights.iter().zip(narrow[first * line..].chunks_exact(line)) {
            out.iter_mut().zip(row).for_each(|(out, v)| *out += weight * v);
        }
    }
    out
}

/// For each new place the first old one under its tent and the weights from there on, which sum to 1.
fn tents(from: usize, to: usize) -> Vec<(usize, Vec<f32>)> {
    let scale = from as f64 / to as f64;
    let reach = scale.max(1.0);
    let tent = |k: usize| {
        let centre = (k as f64 + 0.5) * scale - 0.5;
        let first = (centre - reach).ceil().max(0.0) as usize;
        let last = ((centre + reach).floor().max(0.0) as usize).min(from - 1);
        let weights: Vec<f64> =
            (first..=last).map(|i| (1.0 - (i as f64 - centre).abs() / reach).max(0.0)).collect();
        let sum: f64 = weights.iter().sum();
        (first, weights.into_iter().map(|w| (w / sum) as f32).collect())
    };
    (0..to).map(tent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_size_changes_nothing_and_flat_images_stay_flat() {
        let shape = ImageShape { height: 3, width: 4, channels: 2 };
        let pixels: Vec<f32> = (0..24u8).map(f32::from).collect();
        assert_eq!(resized(&pixels, shape, 3, 4), pixels);
        for (height, width) in [(1, 1), (2, 9), (7, 3), (40, 50)] {
            let out = resized(&[7.0; 24], shape, height, width);
            assert_eq!(out.len(), height * width * 2);
            assert!(out.iter().all(|v| (v - 7.0).abs() <= 1e-4), "{out:?}");
        }
    }

    #[test]
    fn ramps_stay_ramps_and_nothing_is_skipped() {
        let ramp: Vec<f32> = (0..8u8).map(f32::from).collect();
        let half = resized(&ramp, ImageShape::grey(1, 8), 1, 4);
        for (got, want) in half[1..3].iter().zip([2.5, 4.5]) {
            assert!((got - want).abs() <= 1e-5, "{half:?}");
        }
        let double = resized(&[0.0, 4.0], ImageShape::grey(2, 1), 4, 1);
        assert_eq!(double, [0.0, 1.0, 3.0, 4.0]);
        // A single bright pixel is in some new pixel, wherever it is.
        for at in 0..30 {
            let mut dot = [0.0; 30];
            dot[at] = 1.0;
            let sum: f32 = resized(&dot, ImageShape::grey(1, 30), 1, 4).iter().sum();
            assert!(sum > 0.05, "{at}: {sum}");
        }
    }
}
