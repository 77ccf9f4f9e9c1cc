//! Sets of transformations that should not change what a point is: the source of virtual examples and of tangents.
//!
//! Those of images are written in a line and are shared with the command; those of anything else are code of the program
//! that uses this library. A member of a set is a chain: first this, then that.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::image::{Transform, background, joined, set_of, split};
use super::map::{RowMap, map_rows};
use super::points::{Data, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::line::number;

/// A transformation of points from the program that uses this library. Closures of the same form have a shorter way:
/// [`Transformations::with_fn`].
pub trait Transformation: Send + Sync {
    /// A name for messages.
    fn name(&self) -> &str;

    /// The transformed points: as many rows, of the same kind and width, in the same order.
    fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points>;
}

/// A step of a chain.
#[derive(Clone)]
enum Step {
    Image(Transform),
    Own(Arc<dyn Transformation>),
}

/// A set of transformations, each made of one step or of several.
///
/// A line holds items separated by commas, as [`Transform::ALL`] shows them; `*` between items combines each member of
/// the one with each of the other, the left one first. `background=-1` among them is [`Transformations::with_background`].
///
/// ```
/// use mercer::Exec;
/// use mercer::data::{ImageShape, Points, Transformations};
///
/// let set = Transformations::parse("shift=1, rotate=10, thickness, shift=1*rotate=10")?;
/// assert_eq!(set.len(), 4 + 2 + 2 + 4 * 2);
/// let digits = Points::dense(vec![-1.0; 3 * 256], 256)?.with_image(ImageShape::grey(16, 16))?;
/// // Row i under transformation t is row 3 t + i.
/// assert_eq!(set.apply(digits.view(), Exec::one())?.len(), 16 * 3);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(try_from = "String")]
pub struct Transformations {
    chains: Vec<Vec<Step>>,
    background: Option<f64>,
    line: String,
}

impl Transformations {
    /// Reads a set from its line.
    pub fn parse(line: &str) -> Result<Self> {
        let mut set = Transformations::default();
        let mut items = Vec::new();
        for item in split(line, ',') {
            if let Some(value) = item.strip_prefix("background=") {
                let wrong = || Error::param("background", value, "a finite number");
                set.background = Some(number(value).ok_or_else(wrong)?);
                continue;
            }
            items.push(item);
            let mut product: Vec<Vec<Step>> = vec![Vec::new()];
            for factor in split(item, '*') {
                let factor = set_of(factor)?;
                if product.len() * factor.len() > MOST {
                    let allowed = format!("at most {MOST} transformations");
                    return Err(Error::param("transformations", format!("`{item}`"), allowed));
                }
                let behind =
                    |chain: &Vec<Step>, &t: &Transform| [chain.as_slice(), &[Step::Image(t)]].concat();
                product = product.iter().flat_map(|chain| factor.iter().map(|t| behind(chain, t))).collect();
            }
            set.chains.append(&mut product);
        }
        set.line = items.join(", ");
        Ok(set)
    }

    /// The same set with a transformation of the program's own.
    #[must_use]
    pub fn with(mut self, own: impl Transformation + 'static) -> Self {
        self.line =
            format!("{}{}custom({})", self.line, if self.line.is_empty() { "" } else { ", " }, own.name());
        self.chains.push(vec![Step::Own(Arc::new(own))]);
        self
    }

    /// The same set and a function of rows of numbers beside it: it changes a row in place.
    ///
    /// ```
    /// use mercer::Exec;
    /// use mercer::data::{Points, Transformations};
    ///
    /// // A spectrum is the same at half the volume.
    /// let set = Transformations::default().with_fn("softer", |row| row.iter_mut().for_each(|v| *v *= 0.5));
    /// let points = Points::dense(vec![2.0, 4.0], 2)?;
    /// assert_eq!(set.apply(points.view(), Exec::one())?.view().to_f64()?, [1.0, 2.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    #[must_use]
    pub fn with_fn(self, name: &str, f: impl Fn(&mut [f64]) + Send + Sync + 'static) -> Self {
        self.with(InPlace { name: name.to_owned(), f })
    }

    /// The same set with this background for images, in place of the smallest value of the points it is applied to.
    #[must_use]
    pub fn with_background(self, background: f64) -> Self {
        Transformations { background: Some(background), ..self }
    }

    /// The background, where one was given.
    pub fn background(&self) -> Option<f64> {
        self.background
    }

    /// Number of transformations.
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Whether all are transformations of images, and so need images and can be saved.
    pub fn all_of_images(&self) -> bool {
        self.chains.iter().flatten().all(|step| matches!(step, Step::Image(_)))
    }

    /// Transformation t in words.
    ///
    /// # Panics
    /// If there is no transformation t.
    pub fn name(&self, t: usize) -> String {
        let step = |step: &Step| match step {
            Step::Image(transform) => transform.to_string(),
            Step::Own(own) => format!("custom({})", own.name()),
        };
        self.chains[t].iter().map(step).collect::<Vec<_>>().join(" * ")
    }

    /// The points under each transformation: row i under transformation t is row `t n + i` of the result.
    pub fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        let ground = self.ground(points)?;
        let parts = (0..self.len()).map(|t| self.chain(t, points, ground, exec)).collect::<Result<_>>()?;
        Ok(joined(parts)?.unwrap_or_else(|| points.gather(&[])))
    }

    /// The points under transformation t alone, in the rows' order and kind.
    ///
    /// # Panics
    /// If there is no transformation t.
    pub fn apply_one(&self, t: usize, points: View<'_>, exec: Exec) -> Result<Points> {
        self.chain(t, points, self.ground(points)?, exec)
    }

    /// Fails where the points are not of the kind that these transformations are made for.
    pub fn check_points(&self, points: View<'_>) -> Result<()> {
        let image = self.chains.iter().flatten().any(|step| matches!(step, Step::Image(_)));
        if image && points.image.is_none() {
            let what = format!("points to transform by {self}");
            return Err(Error::shape(what, "rows without image shape", "images"));
        }
        Ok(())
    }

    /// The background, which only transformations of images ask for.
    fn ground(&self, points: View<'_>) -> Result<f64> {
        self.check_points(points)?;
        match self.background {
            Some(given) => Ok(given),
            None if points.n == 0 || points.image.is_none() => Ok(0.0),
            None => background(points),
        }
    }

    fn chain(&self, t: usize, points: View<'_>, ground: f64, exec: Exec) -> Result<Points> {
        let mut now: Option<Points> = None;
        for step in &self.chains[t] {
            let from = now.as_ref().map_or(points, Points::view);
            now = Some(match step {
                Step::Image(transform) => transform.apply(from, ground, exec)?,
                Step::Own(own) => checked(own.as_ref(), from, exec)?,
            });
        }
        Ok(now.unwrap_or_else(|| points.gather(&(0..points.n).collect::<Vec<_>>())))
    }
}

/// Maximum number of transformations of a line.
const MOST: usize = 100_000;

/// Code of others may give anything back.
fn checked(own: &dyn Transformation, points: View<'_>, exec: Exec) -> Result<Points> {
    let out = own.apply(points, exec)?;
    let sequences = matches!(points.data, Data::Sequences { .. });
    if out.len() != points.n || out.kind() != points.kind() || (out.dim() != points.d && !sequences) {
        let told = |n: usize, d: usize, kind: &str| format!("{n} rows of {d} columns, {kind}");
        return Err(Error::shape(
            format!("points under the transformation {}", own.name()),
            told(out.len(), out.dim(), out.kind()),
            told(points.n, points.d, points.kind()),
        ));
    }
    match points.image {
        Some(shape) if out.image().is_none() => out.with_image(shape),
        _ => Ok(out),
    }
}

struct InPlace<F> {
    name: String,
    f: F,
}

impl<F: Fn(&mut [f64]) + Send + Sync> Transformation for InPlace<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn apply(&self, points: View<'_>, exec: Exec) -> Result<Points> {
        map_rows(points, points.d, &Row { d: points.d, f: &self.f }, exec)
    }
}

/// A closure as a map of rows.
struct Row<'a, F> {
    d: usize,
    f: &'a F,
}

impl<F: Fn(&mut [f64]) + Sync> RowMap for Row<'_, F> {
    fn dim_out(&self) -> usize {
        self.d
    }

    fn run(&self, x: &[f64], out: &mut [f64], _scratch: &mut Vec<f64>) {
        out.copy_from_slice(x);
        (self.f)(out);
    }
}

impl FromStr for Transformations {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self> {
        Transformations::parse(line)
    }
}

impl TryFrom<String> for Transformations {
    type Error = Error;

    fn try_from(line: String) -> Result<Self> {
        // The empty set prints as nothing.
        if line.is_empty() { Ok(Transformations::default()) } else { Transformations::parse(&line) }
    }
}

impl Serialize for Transformations {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if !self.all_of_images() {
            let why = format!("transformations `{self}`: a custom one is code and cannot be saved");
            return Err(serde::ser::Error::custom(why));
        }
        serializer.collect_str(self)
    }
}

impl fmt::Display for Transformations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)?;
        let comma = if self.line.is_empty() { "" } else { ", " };
        self.background.map_or(Ok(()), |v| write!(f, "{comma}background={v}"))
    }
}

impl fmt::Debug for Transformations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = (0..self.len()).map(|t| self.name(t));
        f.debug_struct("Transformations")
            .field("background", &self.background)
            .field("each", &names.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// Own transformations are the same if they are one and the same; others by what they do.
impl PartialEq for Transformations {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Step, &Step)| match (a, b) {
            (Step::Image(a), Step::Image(b)) => a == b,
            (Step::Own(a), Step::Own(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let chain = |(a, b): (&Vec<Step>, &Vec<Step>)| a.len() == b.len() && a.iter().zip(b).all(same);
        self.background == other.background
            && self.len() == other.len()
            && self.chains.iter().zip(&other.chains).all(chain)
    }
}
