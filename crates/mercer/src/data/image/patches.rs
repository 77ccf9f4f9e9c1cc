//! Patches of large images: overlapping squares, which are joined again by averaging.
//!
//! A photograph is a single row, which is not enough to train on; its squares are thousands of rows. The mean of each
//! square is subtracted, so that dark and bright regions become similar; it is kept and added when squares are
//! joined.

use super::super::{ImageShape, Points, View};
use crate::error::{Error, Result};

/// Where squares were cut, and their means.
#[derive(Debug, Clone, PartialEq)]
pub struct Patches {
    shape: ImageShape,
    size: usize,
    /// First pixels along each side.
    down: Vec<usize>,
    across: Vec<usize>,
    images: usize,
    /// One a square and channel.
    means: Vec<f64>,
}

impl Patches {
    /// Cuts squares of `size` pixels, every `step` pixels and at the far ends, out of rows that are images: image by
    /// image, line by line.
    ///
    /// ```
    /// use mercer::data::{ImageShape, Patches, Points};
    /// let image = Points::dense((0..20).map(f64::from).collect(), 20)?.with_image(ImageShape::grey(4, 5))?;
    /// let (patches, squares) = Patches::cut(image.view(), ImageShape::grey(4, 5), 2, 2)?;
    /// assert_eq!((squares.len(), squares.dim()), (6, 4));
    /// let back = patches.join(squares.view())?.view().to_f64()?;
    /// assert!((0..20).all(|i| (back[i] - i as f64).abs() < 1e-12));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn cut(images: View<'_>, shape: ImageShape, size: usize, step: usize) -> Result<(Self, Points)> {
        if shape.is_empty() || shape.len() != images.d {
            return Err(Error::shape("pixels of an image", images.d, shape.len()));
        }
        let least = shape.height.min(shape.width);
        if size == 0 || size > least {
            return Err(Error::param("patch", size, format!("from 1 to {least}, the image's shorter side")));
        }
        if step == 0 || step > size {
            return Err(Error::param("step", step, format!("from 1 to {size}, the patch's side")));
        }
        let along = |side: usize| -> Vec<usize> {
            let mut at: Vec<usize> = (0..=side - size).step_by(step).collect();
            if at.last() != Some(&(side - size)) {
                at.push(side - size);
            }
            at
        };
        let (down, across) = (along(shape.height), along(shape.width));
        let mut patches = Patches { shape, size, down, across, images: images.n, means: Vec::new() };
        let (c, own) = (shape.channels, patches.shape().len());
        let pixels = images.to_f64()?;
        let mut squares = Vec::with_capacity(patches.len() * own);
        for image in pixels.chunks(shape.len()) {
            for (top, left) in patches.places() {
                let start = squares.len();
                for y in top..top + size {
                    let line = (y * shape.width + left) * c;
                    squares.extend_from_slice(&image[line..line + size * c]);
                }
                let square = &mut squares[start..];
                for channel in 0..c {
                    let mean = square.iter().skip(channel).step_by(c).sum::<f64>() / (size * size) as f64;
                    square.iter_mut().skip(channel).step_by(c).for_each(|v| *v -= mean);
                    patches.means.push(mean);
                }
            }
        }
        let squares = Points::dense(squares, own)?.with_image(patches.shape())?;
        Ok((patches, squares))
    }

    /// The shape of a square.
    pub fn shape(&self) -> ImageShape {
        ImageShape { height: self.size, width: self.size, channels: self.shape.channels }
    }

    /// How many squares there are.
    pub fn len(&self) -> usize {
        self.images * self.down.len() * self.across.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The images of these squares; overlapping values are averaged.
    pub fn join(&self, squares: View<'_>) -> Result<Points> {
        let (own, c) = (self.shape().len(), self.shape.channels);
        if squares.n != self.len() || squares.d != own {
            let wanted = format!("{} x {own}", self.len());
            return Err(Error::shape("squares", format!("{} x {}", squares.n, squares.d), wanted));
        }
        let values = squares.to_f64()?;
        let mut squares = values.chunks(own).zip(self.means.chunks(c));
        let mut out = Vec::with_capacity(self.images * self.shape.len());
        for _ in 0..self.images {
            let mut sum = vec![0.0; self.shape.len()];
            let mut times = vec![0.0; self.shape.len()];
            for ((top, left), (square, means)) in self.places().zip(&mut squares) {
                for (p, value) in square.iter().enumerate() {
                    let (y, x) = (top + p / c / self.size, left + p / c % self.size);
                    let at = (y * self.shape.width + x) * c + p % c;
                    sum[at] += value + means[p % c];
                    times[at] += 1.0;
                }
            }
            out.extend(sum.iter().zip(&times).map(|(s, t)| s / t));
        }
        Points::dense(out, self.shape.len())?.with_image(self.shape)
    }

    /// First pixels of the squares of one image.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let across = self.across.clone();
        self.down
            .clone()
            .into_iter()
            .flat_map(move |top| across.clone().into_iter().map(move |left| (top, left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_what_they_cover_and_join_to_the_image() {
        let shape = ImageShape { height: 5, width: 7, channels: 3 };
        let values: Vec<f64> = (0..2 * shape.len()).map(|i| (i as f64 * 0.7).sin()).collect();
        let images =
            Points::dense(values.clone(), shape.len()).and_then(|p| p.with_image(shape)).expect("two");
        for (size, step, count) in [(1, 1, 35), (3, 2, 2 * 3), (5, 5, 2), (4, 3, 2 * 2)] {
            let (patches, squares) = Patches::cut(images.view(), shape, size, step).expect("they fit");
            assert_eq!((squares.len(), patches.len()), (2 * count, 2 * count), "{size}, {step}");
            assert_eq!(squares.image(), Some(patches.shape()));
            let back = patches.join(squares.view()).expect("as many as were cut");
            mercer_testkit::assert::all_close(&back.view().to_f64().expect("numbers"), &values, 1e-14);
        }
        // The first square's first channel, about its mean.
        let (_, squares) = Patches::cut(images.view(), shape, 2, 2).expect("they fit");
        let own: Vec<f64> = [0, 1, 7, 8].iter().map(|p| values[p * 3]).collect();
        let mean = own.iter().sum::<f64>() / 4.0;
        let got: Vec<f64> = squares.row(0).to_f64().into_iter().step_by(3).collect();
        mercer_testkit::assert::all_close(&got, &own.iter().map(|v| v - mean).collect::<Vec<_>>(), 1e-15);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let shape = ImageShape::grey(4, 3);
        let image = Points::dense(vec![0.0; 12], 12).expect("one");
        let error =
            |size, step| Patches::cut(image.view(), shape, size, step).expect_err("too large").to_string();
        assert_eq!(error(4, 1), "patch = 4: must be from 1 to 3, the image's shorter side");
        assert_eq!(error(2, 3), "step = 3: must be from 1 to 2, the patch's side");
        assert!(Patches::cut(image.view(), ImageShape::grey(3, 3), 2, 1).is_err());
        let (patches, _) = Patches::cut(image.view(), shape, 2, 1).expect("fits");
        assert!(patches.join(image.view()).is_err());
    }
}
