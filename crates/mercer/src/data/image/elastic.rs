//! Elastic deformations by a smooth random displacement field.
//!
//! The field is noise for each pixel and axis, smoothed by a Gaussian and brought to a root mean square length
//! (Simard, Steinkraus and Platt 2003). A field depends on its seed and not on the image, so a transformation is the
//! same for every row; several seeds give several virtual examples of a row.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::smooth::Smooth;
use crate::data::map::RowMap;
use crate::data::points::ImageShape;

/// Ways in x and y, one for each pixel of the frame.
pub(super) fn field(shape: ImageShape, pixels: f64, sigma: f64, seed: u32) -> Vec<[f64; 2]> {
    let flat = ImageShape { channels: 2, ..shape };
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(seed));
    let noise: Vec<f64> = (0..flat.len()).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect();
    let mut smooth = vec![0.0; noise.len()];
    Smooth::new(flat, sigma).run(&noise, &mut smooth, &mut Vec::new());
    let mut field = smooth.as_chunks::<2>().0.to_vec();
    let n = field.len() as f64;
    for axis in 0..2 {
        // Without the mean it would partly be a shift, which is a transformation of its own.
        let mean = field.iter().map(|way| way[axis]).sum::<f64>() / n;
        field.iter_mut().for_each(|way| way[axis] -= mean);
        let rms = (field.iter().map(|way| way[axis] * way[axis]).sum::<f64>() / n).sqrt();
        let by = if rms > 0.0 { pixels / rms } else { 0.0 };
        field.iter_mut().for_each(|way| way[axis] *= by);
    }
    field
}
