//! The table of transformations, and how one of them or a set of them is written in a line.

use std::fmt;
use std::str::FromStr;

use super::transform::{Axis, Transform};
use crate::data::call::{Call, arg};
use crate::error::{Error, Result};
use crate::line::number;
use crate::param::Param;

/// A row of the table of transformations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransformEntry {
    /// Its name.
    pub name: &'static str,
    /// The arguments of a single one, `name(...)`; `None` if the name denotes a set only.
    pub args: Option<&'static [Param]>,
    /// How a set is written.
    pub set: &'static str,
    /// What the set holds.
    pub doc: &'static str,
}

const SHIFT: &[Param] =
    &[arg("dx", "", "a number", "pixels to the right"), arg("dy", "", "a number", "pixels downwards")];
const ROTATE: &[Param] = &[arg("degrees", "", "a number", "counter-clockwise")];
const SCALE: &[Param] = &[arg("factor", "", "a number from 0.01 to 100", "new size divided by old size")];
const MIRROR: &[Param] = &[arg("axis", "horizontal", "horizontal or vertical", "axis of the reflection")];
const THICKNESS: &[Param] =
    &[arg("pixels", "", "a number from -20 to 20", "growth on each side of a stroke")];
const AFFINE: &[Param] = &[
    arg("xx", "1", "a number", "x of the result from x"),
    arg("xy", "0", "a number", "x of the result from y"),
    arg("yx", "0", "a number", "y of the result from x"),
    arg("yy", "1", "a number", "y of the result from y"),
    arg("dx", "0", "a number", "pixels to the right"),
    arg("dy", "0", "a number", "pixels downwards"),
];
const ELASTIC: &[Param] = &[
    arg("pixels", "1", "a number from -100 to 100", "root-mean-square displacement along each axis"),
    arg("sigma", "4", "a number from 0.1 to 100", "smoothness of the field, in pixels"),
    arg("seed", "0", "a whole number", "which field"),
];

impl Transform {
    /// The table of all transformations, used by help and parser.
    pub const ALL: &'static [TransformEntry] = &[
        TransformEntry {
            name: "shift",
            args: Some(SHIFT),
            set: "shift=1",
            doc: "shifts right, left, down and up by this many pixels",
        },
        TransformEntry {
            name: "jitter",
            args: None,
            set: "jitter=1",
            doc: "all whole shifts by up to this many pixels along both axes: 8, 24, ... of them",
        },
        TransformEntry {
            name: "rotate",
            args: Some(ROTATE),
            set: "rotate=10",
            doc: "rotations by this many degrees in both directions",
        },
        TransformEntry {
            name: "scale",
            args: Some(SCALE),
            set: "scale=1.1",
            doc: "larger and smaller by this factor",
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
            doc: "strokes thicker and thinner by this many pixels on each side",
        },
        TransformEntry {
            name: "shear",
            args: None,
            set: "shear=0.1",
            doc: "shears by this many pixels to the right and to the left per pixel upwards",
        },
        TransformEntry {
            name: "affine",
            args: Some(AFFINE),
            set: "affine(1, 0.1, 0, 1)",
            doc: "a linear map given row by row, followed by a shift",
        },
        TransformEntry {
            name: "elastic",
            args: Some(ELASTIC),
            set: "elastic=2",
            doc: "this many smooth random displacement fields of one pixel; others: elastic(pixels=1, sigma=4, seed=9)",
        },
        TransformEntry { name: "deskew", args: Some(&[]), set: "deskew", doc: "the slant removed" },
    ];

    /// A set of transformations from one line, items separated by commas.
    ///
    /// `name=value` is a set, as [`Transform::ALL`] says: `shift=1` is the four one-pixel shifts, `rotate=10` both
    /// turns by ten degrees. Without a value, that of the table holds. `name(...)` is one transformation.
    /// [`Transformations`](crate::data::Transformations) reads the same lines and combinations besides.
    ///
    /// ```
    /// use mercer::data::image::Transform;
    /// assert_eq!(Transform::parse_set("shift=1, rotate=10, mirror")?.len(), 4 + 2 + 1);
    /// assert_eq!(Transform::parse_set("shift(1, 0), jitter=2")?.len(), 1 + 24);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn parse_set(line: &str) -> Result<Vec<Transform>> {
        let items: Vec<Vec<Transform>> = split(line, ',').map(set_of).collect::<Result<_>>()?;
        Ok(items.concat())
    }
}

/// The pieces between separators outside brackets.
pub(in crate::data) fn split(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    line.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == separator && depth <= 0
    })
    .map(str::trim)
}

/// The set of transformations of one item.
pub(in crate::data) fn set_of(item: &str) -> Result<Vec<Transform>> {
    let mut set = Vec::new();
    parse_item(item, &mut set)?;
    Ok(set)
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
    let usual = entry.set.split_once('=').map(|(_, v)| v);
    let number = || value.or(usual).and_then(number).ok_or_else(wrong);
    match name {
        "shift" => {
            let r = number()?;
            set.extend(
                [(r, 0.0), (-r, 0.0), (0.0, r), (0.0, -r)].map(|(dx, dy)| Transform::Shift { dx, dy }),
            );
        }
        "jitter" => {
            let r = count(name, number()?, 10.0)?;
            let box_of = |r: i32| (-r..=r).flat_map(move |dy| (-r..=r).map(move |dx| (dx, dy)));
            let shifts = box_of(r).filter(|&shift| shift != (0, 0));
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
        "shear" => {
            let r = number()?;
            let slant = |xy| Transform::Affine { matrix: [1.0, xy, 0.0, 1.0], dx: 0.0, dy: 0.0 };
            set.extend([-r, r].map(slant));
        }
        "elastic" => {
            let fields = 0..count(name, number()?, 1000.0)?;
            set.extend(fields.map(|seed| Transform::Elastic {
                pixels: 1.0,
                sigma: 4.0,
                seed: seed.unsigned_abs(),
            }));
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
        "deskew" if value.is_none() => set.push(Transform::Deskew),
        _ => return Err(wrong()),
    }
    set.iter().try_for_each(Transform::check)
}

/// A whole number from 1 to `most`.
fn count(name: &str, value: f64, most: f64) -> Result<i32> {
    if value.fract() == 0.0 && (1.0..=most).contains(&value) {
        return Ok(value as i32);
    }
    Err(Error::param(name, value, format!("a whole number from 1 to {most}")))
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
            "affine" => {
                let [a, b, c, d, dx, dy] = ["xx", "xy", "yx", "yy", "dx", "dy"].map(|key| args.real(key));
                Transform::Affine { matrix: [a?, b?, c?, d?], dx: dx?, dy: dy? }
            }
            "elastic" => {
                let text = args.text("seed")?;
                Transform::Elastic {
                    pixels: args.real("pixels")?,
                    sigma: args.real("sigma")?,
                    seed: text.parse().map_err(|_| args.wrong("seed", text))?,
                }
            }
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
            Transform::Affine { matrix: [a, b, c, d], dx, dy } => {
                write!(f, "affine(xx={a}, xy={b}, yx={c}, yy={d}, dx={dx}, dy={dy})")
            }
            Transform::Elastic { pixels, sigma, seed } => {
                write!(f, "elastic(pixels={pixels}, sigma={sigma}, seed={seed})")
            }
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
