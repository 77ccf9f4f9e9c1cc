//! The handwritten digits that ship with the library: 1797 images of 8 x 8 pixels with values from 0 to 16
//! (Alpaydin and Kaynak 1998; CC BY 4.0, see `data/README.md`).

use std::io::Read as _;

use flate2::read::GzDecoder;

use super::dataset::Dataset;
use super::points::{ImageShape, Points};
use super::targets::{Labels, Targets};

const FILE: &[u8] = include_bytes!("../../data/digits.csv.gz");

/// All of them, in the order of the file; the classes are `0` to `9`.
///
/// ```
/// let digits = mercer::data::digits();
/// assert_eq!((digits.len(), digits.dim()), (1797, 64));
/// assert_eq!(digits.targets.classes()?.counts()[0], 178);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn digits() -> Dataset {
    const OURS: &str = "the file is part of this library and was tested with it";
    let mut text = String::new();
    GzDecoder::new(FILE).read_to_string(&mut text).expect(OURS);
    let mut pixels = Vec::with_capacity(1797 * 64);
    let mut classes = Vec::new();
    for line in text.lines() {
        let (image, class) = line.rsplit_once(',').expect(OURS);
        pixels.extend(image.split(',').map(|v| v.parse::<f64>().expect(OURS)));
        classes.push(class);
    }
    let points = Points::dense(pixels, 64).and_then(|p| p.with_image(ImageShape::grey(8, 8))).expect(OURS);
    Dataset::new(points, Targets::Classes(Labels::new(classes))).expect(OURS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_counts_and_every_digit_is_there() {
        let digits = digits();
        let values = digits.points.view().to_f64().expect("numbers");
        assert!(values.iter().all(|v| (0.0..=16.0).contains(v) && v.fract() == 0.0));
        assert_eq!(values.iter().sum::<f64>(), 561_718.0);
        let labels = digits.targets.classes().expect("classes");
        assert_eq!(labels.names, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        assert_eq!(labels.counts(), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
    }
}
