//! Grey images that are stored as coloured ones: every channel the same.

use super::super::{Data, ImageShape, Points};
use crate::error::{Error, Result};

impl Points {
    /// Images with one channel: these, or one of the channels if they are equal at every pixel. None for colour
    /// images and rows that are not images.
    pub fn grey(&self) -> Option<Points> {
        let shape = self.image()?;
        if shape.channels == 1 {
            return Some(self.clone());
        }
        let flat = ImageShape { channels: 1, ..shape };
        let points = match self.view().data {
            Data::F32(x) => Points::dense_f32(first(x, shape.channels)?, flat.len()),
            Data::F64(x) => Points::dense(first(x, shape.channels)?, flat.len()),
            _ => return None,
        };
        points.and_then(|points| points.with_image(flat)).ok()
    }

    /// Grey images with this number of equal channels.
    pub fn with_channels(&self, channels: usize) -> Result<Points> {
        let Some(shape) = self.image().filter(|shape| shape.channels == 1 && channels > 0) else {
            return Err(Error::shape("images to give channels", self.kind(), "images of one channel"));
        };
        let values = self.view().to_f64()?;
        let wide = values.iter().flat_map(|v| std::iter::repeat_n(*v, channels)).collect();
        let shape = ImageShape { channels, ..shape };
        Points::dense(wide, shape.len())?.with_image(shape)
    }
}

/// The first channel of every pixel, where all channels are equal.
fn first<T: Copy + PartialEq>(values: &[T], channels: usize) -> Option<Vec<T>> {
    let same = |pixel: &[T]| pixel.iter().all(|v| *v == pixel[0]);
    values.chunks(channels).map(|pixel| same(pixel).then(|| pixel[0])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_images_in_colour_are_found_and_brought_back() {
        let shape = ImageShape { height: 1, width: 2, channels: 3 };
        let values = vec![1.0, 1.0, 1.0, 7.0, 7.0, 7.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0];
        let double = Points::dense(values.clone(), 6).and_then(|p| p.with_image(shape)).expect("two");
        let single = values.iter().map(|v| *v as f32).collect();
        let single = Points::dense_f32(single, 6).and_then(|p| p.with_image(shape)).expect("two");
        for points in [double, single] {
            let grey = points.grey().expect("all channels are equal");
            assert_eq!((grey.image(), grey.kind()), (Some(ImageShape::grey(1, 2)), points.kind()));
            assert_eq!(grey.view().to_f64().expect("numbers"), [1.0, 7.0, 2.0, 4.0]);
            assert_eq!(grey.grey().as_ref(), Some(&grey));
            let back = grey.with_channels(3).expect("grey");
            assert_eq!((back.image(), back.view().to_f64().expect("numbers")), (Some(shape), values.clone()));
        }
        let mut colour = values;
        colour[4] = 6.0;
        let colour = Points::dense(colour, 6).and_then(|p| p.with_image(shape)).expect("two");
        assert!(colour.grey().is_none() && colour.with_channels(3).is_err());
        assert!(Points::dense(vec![1.0; 6], 6).expect("a row").grey().is_none());
    }
}
