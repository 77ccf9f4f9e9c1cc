//! Label-preserving transformations of images, for virtual examples.
//!
//! Retraining a machine on its transformed support vectors teaches it the invariance (virtual support vectors,
//! Schoelkopf 1997, Sec. 4.2.1). Between pixels values are interpolated linearly; what comes in from beyond the frame
//! is background.

use serde::{Deserialize, Serialize};

use super::deskew::Deskew;
use super::elastic;
use super::thickness::Thickness;
use super::warp::{Affine, Warp};
use crate::data::map::{RowMap, each_row, map_rows};
use crate::data::points::{Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;

/// One transformation of an image.
///
/// Written `shift(dx=1, dy=0)` when it is meant alone; a set of them is read by [`Transform::parse_set`].
///
/// ```
/// use mercer::Exec;
/// use mercer::data::image::Transform;
/// use mercer::data::{ImageShape, Points};
///
/// let image = Points::dense(vec![1.0, 2.0, 3.0, 4.0], 4)?.with_image(ImageShape::grey(2, 2))?;
/// let right: Transform = "shift(1, 0)".parse()?;
/// let moved = right.apply(image.view(), 0.0, Exec::one())?;
/// assert_eq!(moved.view().to_f64()?, [0.0, 1.0, 0.0, 3.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Transform {
    /// Moves the image, in pixels; fractions are interpolated.
    Shift {
        /// To the right.
        dx: f64,
        /// Downwards.
        dy: f64,
    },
    /// Turns it about the frame's centre, counter-clockwise. Quarter turns of square images are exact.
    Rotate {
        /// Degrees.
        degrees: f64,
    },
    /// Makes the figure larger or smaller about the frame's centre.
    Scale {
        /// Its new size over its old.
        factor: f64,
    },
    /// Swaps left and right, or top and bottom.
    Mirror {
        /// Along which axis.
        axis: Axis,
    },
    /// Makes strokes thicker, or thinner where negative: grey-value dilation and erosion.
    Thickness {
        /// By how many pixels on each side.
        pixels: f64,
    },
    /// Any linear map of the plane about the frame's centre, then a shift: the figure's point (x, y), x to the right
    /// and y downwards, goes to `(xx x + xy y + dx, yx x + yy y + dy)`.
    Affine {
        /// The matrix, row by row: `[xx, xy, yx, yy]`; its determinant from 0.0001 to 10000 in size.
        matrix: [f64; 4],
        /// To the right.
        dx: f64,
        /// Downwards.
        dy: f64,
    },
    /// Moves every pixel by a smooth random field, one and the same for all images.
    Elastic {
        /// Root mean square of the way pixels go along each axis.
        pixels: f64,
        /// Width of the Gaussian that smooths the field, in pixels.
        sigma: f64,
        /// Which field.
        seed: u32,
    },
    /// Takes out the slant that the image's moments show.
    Deskew,
}

/// The axis along which a mirror swaps pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axis {
    /// Left and right change places.
    #[default]
    Horizontal,
    /// Top and bottom change places.
    Vertical,
}

impl Transform {
    /// The transformed images, in the rows' order and kind. [`background`] gives a set's own background.
    pub fn apply(&self, points: View<'_>, background: f64, exec: Exec) -> Result<Points> {
        self.check()?;
        let shape = points.image.filter(|s| !s.is_empty()).ok_or_else(|| {
            Error::shape(format!("points to transform by {self}"), "rows without image shape", "images")
        })?;
        if !background.is_finite() {
            return Err(Error::param("background", background, "a finite number"));
        }
        let map: Box<dyn RowMap> = match *self {
            Transform::Thickness { pixels } => Box::new(Thickness::new(shape, pixels, background)),
            Transform::Deskew => Box::new(Deskew::new(shape, background)),
            Transform::Elastic { pixels, sigma, seed } => {
                let field = elastic::field(shape, pixels, sigma, seed);
                Box::new(Warp::moved(shape, &field, background))
            }
            Transform::Affine { .. }
            | Transform::Shift { .. }
            | Transform::Rotate { .. }
            | Transform::Scale { .. }
            | Transform::Mirror { .. } => Box::new(Warp::new(shape, self.affine(), background)),
        };
        map_rows(points, shape.len(), map.as_ref(), exec)?.with_image(shape)
    }

    /// Fails where a number is out of its range.
    pub fn check(&self) -> Result<()> {
        let (ok, name, value, allowed) = match *self {
            Transform::Shift { dx, dy } if dx.is_finite() => {
                (dy.is_finite(), "shift dy", dy, "a finite number")
            }
            Transform::Shift { dx, .. } => (false, "shift dx", dx, "a finite number"),
            Transform::Rotate { degrees } => {
                (degrees.is_finite(), "rotate degrees", degrees, "a finite number")
            }
            Transform::Scale { factor } => {
                ((0.01..=100.0).contains(&factor), "scale factor", factor, "a number from 0.01 to 100")
            }
            Transform::Thickness { pixels } => {
                (pixels.abs() <= 20.0, "thickness pixels", pixels, "a number from -20 to 20")
            }
            Transform::Affine { matrix: [a, b, c, d], dx, dy } => {
                let [size, dx, dy] = [a * d - b * c, dx, dy];
                if !(dx.is_finite() && dy.is_finite() && [a, b, c, d].iter().all(|v| v.is_finite())) {
                    return Err(Error::param("affine", self, "finite numbers"));
                }
                let allowed = "a number of size 0.0001 to 10000";
                ((1e-4..=1e4).contains(&size.abs()), "affine determinant", size, allowed)
            }
            Transform::Elastic { sigma, .. } if !(0.1..=100.0).contains(&sigma) => {
                (false, "elastic sigma", sigma, "a number from 0.1 to 100")
            }
            Transform::Elastic { pixels, .. } => {
                (pixels.abs() <= 100.0, "elastic pixels", pixels, "a number from -100 to 100")
            }
            Transform::Mirror { .. } | Transform::Deskew => return Ok(()),
        };
        if ok { Ok(()) } else { Err(Error::param(name, value, allowed)) }
    }

    /// Where the result's pixels come from.
    fn affine(&self) -> Affine {
        let diagonal = |a: f64, d: f64| Affine { matrix: [[a, 0.0], [0.0, d]], offset: [0.0, 0.0] };
        match *self {
            Transform::Shift { dx, dy } => Affine { offset: [-dx, -dy], ..diagonal(1.0, 1.0) },
            Transform::Rotate { degrees } => {
                let (sin, cos) = sin_cos(degrees);
                Affine { matrix: [[cos, -sin], [sin, cos]], offset: [0.0, 0.0] }
            }
            Transform::Scale { factor } => diagonal(1.0 / factor, 1.0 / factor),
            Transform::Mirror { axis: Axis::Horizontal } => diagonal(-1.0, 1.0),
            Transform::Mirror { axis: Axis::Vertical } => diagonal(1.0, -1.0),
            // The result is computed by looking up source pixels, so the map is inverted.
            Transform::Affine { matrix: [a, b, c, d], dx, dy } => {
                let by = 1.0 / (a * d - b * c);
                let inverse = [[d * by, -b * by], [-c * by, a * by]];
                Affine { matrix: inverse, offset: inverse.map(|[p, q]| -(p * dx + q * dy)) }
            }
            Transform::Thickness { .. } | Transform::Elastic { .. } | Transform::Deskew => diagonal(1.0, 1.0),
        }
    }
}

/// The images under each transformation of a set: row i under transformation t is row `t n + i` of the result.
///
/// ```
/// use mercer::Exec;
/// use mercer::data::image::{Transform, apply_all, background};
/// use mercer::data::{ImageShape, Points};
///
/// let images = Points::dense(vec![0.0; 3 * 16], 16)?.with_image(ImageShape::grey(4, 4))?;
/// let set = Transform::parse_set("shift=1")?;
/// let ground = background(images.view())?;
/// assert_eq!(apply_all(&set, images.view(), ground, Exec::one())?.len(), 4 * 3);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn apply_all(set: &[Transform], points: View<'_>, background: f64, exec: Exec) -> Result<Points> {
    let parts = set.iter().map(|t| t.apply(points, background, exec)).collect::<Result<_>>()?;
    Ok(joined(parts)?.unwrap_or_else(|| points.gather(&[])))
}

/// All parts, one after the other; none where there is none.
pub(in crate::data) fn joined(mut parts: Vec<Points>) -> Result<Option<Points>> {
    // Joined in pairs: each value is copied log2 times rather than once for every part after it.
    while parts.len() > 1 {
        let join = |pair: &[Points]| if let [a, b] = pair { a.concat(b) } else { Ok(pair[0].clone()) };
        parts = parts.chunks(2).map(join).collect::<Result<_>>()?;
    }
    Ok(parts.pop())
}

/// The background of a set of images: its smallest value.
pub fn background(points: View<'_>) -> Result<f64> {
    let mut least = f64::INFINITY;
    each_row(points, |columns, values| {
        least = values.iter().fold(least, |m, &v| m.min(v));
        if columns.is_some_and(|c| c.len() < points.d) {
            least = least.min(0.0);
        }
        Ok(())
    })?;
    if least.is_finite() {
        Ok(least)
    } else {
        Err(Error::shape("smallest value of the images", least, "a finite number"))
    }
}

/// Sine and cosine, exact at quarter turns, where the library's own leave 6e-17.
fn sin_cos(degrees: f64) -> (f64, f64) {
    let turn = degrees.rem_euclid(360.0);
    match turn {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        _ => turn.to_radians().sin_cos(),
    }
}
