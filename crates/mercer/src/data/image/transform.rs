//! Transformations of images that should not change what they show: the source of virtual examples.
//!
//! A machine trained once, then again on its support vectors moved by such transformations, knows the invariance
//! (virtual support vectors, Schoelkopf 1997, Sec. 4.2.1). Between pixels values are interpolated linearly; what comes
//! in from beyond the frame is background.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::deskew::Deskew;
use super::thickness::Thickness;
use super::warp::{Affine, Warp};
use crate::data::call::{Arg, Call, real};
use crate::data::map::{RowMap, each_row, map_rows};
use crate::data::points::{Points, View};
use crate::error::{Error, Result};
use crate::par::Par;

/// One transformation of an image.
///
/// Written `shift(dx=1, dy=0)` when it is meant alone; a set of them is read by [`Transform::parse_set`].
///
/// ```
/// use mercer::Par;
/// use mercer::data::image::Transform;
/// use mercer::data::{ImageShape, Points};
///
/// let image = Points::dense(vec![1.0, 2.0, 3.0, 4.0], 4)?.with_image(ImageShape::grey(2, 2))?;
/// let right: Transform = "shift(1, 0)".parse()?;
/// let moved = right.apply(image.view(), 0.0, Par::one())?;
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

/// A row of the table of transformations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransformEntry {
    /// Its name.
    pub name: &'static str,
    /// The arguments of a single one, `name(...)`; none where the name stands for a set only.
    pub args: Option<&'static [Arg]>,
    /// How a set is written.
    pub set: &'static str,
    /// What the set holds.
    pub doc: &'static str,
}

const fn arg(name: &'static str, default: &'static str, allowed: &'static str, doc: &'static str) -> Arg {
    Arg { name, default, allowed, doc }
}

const SHIFT: &[Arg] =
    &[arg("dx", "", "a number", "pixels to the right"), arg("dy", "", "a number", "pixels downwards")];
const ROTATE: &[Arg] = &[arg("degrees", "", "a number", "counter-clockwise")];
const SCALE: &[Arg] = &[arg("factor", "", "a number above 0", "new size over old")];
const MIRROR: &[Arg] = &[arg("axis", "horizontal", "horizontal or vertical", "which sides change places")];
const THICKNESS: &[Arg] = &[arg("pixels", "", "a number from -20 to 20", "growth on each side of a stroke")];

impl Transform {
    /// The table of all transformations: feeds help, and the parser obeys it.
    pub const ALL: &'static [TransformEntry] = &[
        TransformEntry {
            name: "shift",
            args: Some(SHIFT),
            set: "shift=1",
            doc: "right, left, down and up by so many pixels",
        },
        TransformEntry {
            name: "jitter",
            args: None,
            set: "jitter=1",
            doc: "all whole shifts by up to so many pixels along both axes, 8 or 24 or ...",
        },
        TransformEntry {
            name: "rotate",
            args: Some(ROTATE),
            set: "rotate=10",
            doc: "by so many degrees both ways",
        },
        TransformEntry {
            name: "scale",
            args: Some(SCALE),
            set: "scale=1.1",
            doc: "so many times larger, and smaller",
        },
        TransformEntry {
            name: "mirror",
            args: Some(MIRROR),
            set: "mirror",
            doc: "left and right swapped; mirror=vertical: top and bottom; mirror=both: each",
        },
        TransformEntry {
            name: "thickness",
            args: Some(THICKNESS),
            set: "thickness=0.5",
            doc: "strokes thicker and thinner by so many pixels on each side",
        },
        TransformEntry { name: "deskew", args: Some(&[]), set: "deskew", doc: "the slant taken out" },
    ];

    /// A set of transformations from one line, items separated by commas.
    ///
    /// `name=value` is a set, as [`Transform::ALL`] says: `shift=1` is the four one-pixel shifts, `rotate=10` both
    /// turns by ten degrees. `name(...)` is one transformation.
    ///
    /// ```
    /// use mercer::data::image::Transform;
    /// assert_eq!(Transform::parse_set("shift=1, rotate=10, mirror")?.len(), 4 + 2 + 1);
    /// assert_eq!(Transform::parse_set("shift(1, 0), jitter=2")?.len(), 1 + 24);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn parse_set(line: &str) -> Result<Vec<Transform>> {
        let mut set = Vec::new();
        let (mut depth, mut from) = (0i32, 0);
        for (at, c) in line.char_indices().chain([(line.len(), ',')]) {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                ',' if depth == 0 || at == line.len() => {
                    parse_item(line[from..at].trim(), &mut set)?;
                    from = at + 1;
                }
                _ => {}
            }
        }
        Ok(set)
    }

    /// The transformed images, in the rows' order and kind. [`background`] gives a set's own background.
    pub fn apply(&self, points: View<'_>, background: f64, par: Par) -> Result<Points> {
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
            Transform::Shift { .. }
            | Transform::Rotate { .. }
            | Transform::Scale { .. }
            | Transform::Mirror { .. } => Box::new(Warp::new(shape, self.affine(), background)),
        };
        map_rows(points, shape.len(), map.as_ref(), par)?.with_image(shape)
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
                (factor.is_finite() && factor > 0.0, "scale factor", factor, SCALE[0].allowed)
            }
            Transform::Thickness { pixels } => {
                (pixels.abs() <= 20.0, "thickness pixels", pixels, THICKNESS[0].allowed)
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
            Transform::Thickness { .. } | Transform::Deskew => diagonal(1.0, 1.0),
        }
    }
}

/// The images under each transformation of a set: row i under transformation t is row `t n + i` of the result.
///
/// ```
/// use mercer::Par;
/// use mercer::data::image::{Transform, apply_all, background};
/// use mercer::data::{ImageShape, Points};
///
/// let images = Points::dense(vec![0.0; 3 * 16], 16)?.with_image(ImageShape::grey(4, 4))?;
/// let set = Transform::parse_set("shift=1")?;
/// let ground = background(images.view())?;
/// assert_eq!(apply_all(&set, images.view(), ground, Par::one())?.len(), 4 * 3);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn apply_all(set: &[Transform], points: View<'_>, background: f64, par: Par) -> Result<Points> {
    let mut parts: Vec<Points> =
        set.iter().map(|t| t.apply(points, background, par)).collect::<Result<_>>()?;
    // Joined in pairs: each value is copied log2 times rather than once for every part after it.
    while parts.len() > 1 {
        let join = |pair: &[Points]| if let [a, b] = pair { a.concat(b) } else { Ok(pair[0].clone()) };
        parts = parts.chunks(2).map(join).collect::<Result<_>>()?;
    }
    Ok(parts.pop().unwrap_or_else(|| points.gather(&[])))
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

fn parse_item(item: &str, set: &mut Vec<Transform>) -> Result<()> {
    if item.contains('(') {
        set.push(item.parse()?);
        return Ok(());
    }
    let (name, value) = item.split_once('=').map_or((item, None), |(n, v)| (n.trim(), Some(v.trim())));
    let entry = entry(name)?;
    let wrong = || {
        Error::param(name, value.unwrap_or("nothing"), format!("written like {}: {}", entry.set, entry.doc))
    };
    let number = || value.and_then(real).ok_or_else(wrong);
    match name {
        "shift" => {
            let r = number()?;
            set.extend(
                [(r, 0.0), (-r, 0.0), (0.0, r), (0.0, -r)].map(|(dx, dy)| Transform::Shift { dx, dy }),
            );
        }
        "jitter" => {
            let r = number()?;
            if r.fract() != 0.0 || !(1.0..=10.0).contains(&r) {
                return Err(Error::param(name, r, "a whole number from 1 to 10"));
            }
            let box_of = |r: i32| (-r..=r).flat_map(move |dy| (-r..=r).map(move |dx| (dx, dy)));
            let shifts = box_of(r as i32).filter(|&shift| shift != (0, 0));
            set.extend(shifts.map(|(dx, dy)| Transform::Shift { dx: f64::from(dx), dy: f64::from(dy) }));
        }
        "rotate" => {
            let r = number()?;
            set.extend([r, -r].map(|degrees| Transform::Rotate { degrees }));
        }
        "scale" => {
            let r = number()?;
            set.extend([r, 1.0 / r].map(|factor| Transform::Scale { factor }));
        }
        "thickness" => {
            let r = number()?;
            set.extend([r, -r].map(|pixels| Transform::Thickness { pixels }));
        }
        "mirror" => {
            let (h, v) = (Axis::Horizontal, Axis::Vertical);
            let axes: &[Axis] = match value {
                None | Some("horizontal") => &[h],
                Some("vertical") => &[v],
                Some("both") => &[h, v],
                Some(_) => return Err(wrong()),
            };
            set.extend(axes.iter().map(|&axis| Transform::Mirror { axis }));
        }
        _ if value.is_none() => set.push(Transform::Deskew),
        _ => return Err(wrong()),
    }
    set.iter().try_for_each(Transform::check)
}

fn entry(name: &str) -> Result<&'static TransformEntry> {
    Transform::ALL.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = Transform::ALL.iter().map(|e| e.name).collect();
        Error::param("transformation", format!("`{name}`"), format!("one of {}", names.join(", ")))
    })
}

impl FromStr for Transform {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self> {
        let call = Call::parse("transformation", line)?;
        let entry = entry(call.name())?;
        let Some(table) = entry.args else {
            let allowed = format!("written as a set, {}", entry.set);
            return Err(Error::param("transformation", format!("`{line}`"), allowed));
        };
        let args = call.bind(table)?;
        let transform = match entry.name {
            "shift" => Transform::Shift { dx: args.real("dx")?, dy: args.real("dy")? },
            "rotate" => Transform::Rotate { degrees: args.real("degrees")? },
            "scale" => Transform::Scale { factor: args.real("factor")? },
            "mirror" => match args.text("axis")? {
                "horizontal" => Transform::Mirror { axis: Axis::Horizontal },
                "vertical" => Transform::Mirror { axis: Axis::Vertical },
                other => return Err(args.wrong("axis", other)),
            },
            "thickness" => Transform::Thickness { pixels: args.real("pixels")? },
            _ => Transform::Deskew,
        };
        transform.check()?;
        Ok(transform)
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transform::Shift { dx, dy } => write!(f, "shift(dx={dx}, dy={dy})"),
            Transform::Rotate { degrees } => write!(f, "rotate(degrees={degrees})"),
            Transform::Scale { factor } => write!(f, "scale(factor={factor})"),
            Transform::Mirror { axis: Axis::Horizontal } => write!(f, "mirror(axis=horizontal)"),
            Transform::Mirror { axis: Axis::Vertical } => write!(f, "mirror(axis=vertical)"),
            Transform::Thickness { pixels } => write!(f, "thickness(pixels={pixels})"),
            Transform::Deskew => write!(f, "deskew"),
        }
    }
}

impl TryFrom<String> for Transform {
    type Error = Error;

    fn try_from(line: String) -> Result<Self> {
        line.parse()
    }
}

impl From<Transform> for String {
    fn from(transform: Transform) -> Self {
        transform.to_string()
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
