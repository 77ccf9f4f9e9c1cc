//! Recipes: stages yet to be fitted, written in a line.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::scale::{self, Stats};
use super::table::Entry;
use super::{Op, Stage, invariant};
use crate::data::call::Call;
use crate::data::points::{Data, ImageShape, View};
use crate::data::targets::Labels;
use crate::error::{Error, Result};
use crate::exec::Exec;

/// A stage yet to be fitted. [`Recipe::ALL`] is the table of their names, arguments and meanings.
///
/// ```
/// use mercer::data::stage::Recipe;
/// let recipe = Recipe::parse("minmax(-1, 1)")?;
/// assert_eq!(recipe.to_string(), "minmax(lo=-1, hi=1)");
/// assert_eq!(Recipe::parse(&recipe.to_string())?, recipe);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Recipe {
    /// `x -> by x + add`; nothing is fitted.
    Scale {
        /// The factor.
        by: f64,
        /// Added after.
        add: f64,
    },
    /// The training range to `[lo, hi]`. What was constant in training becomes the value of `[lo, hi]` nearest 0.
    MinMax {
        /// Where the smallest training value goes.
        lo: f64,
        /// Where the largest goes.
        hi: f64,
        /// What shares one range.
        per: Per,
    },
    /// Mean 0 and standard deviation 1 (over n). What was constant in training is centred and not divided.
    Standard {
        /// Whether the mean is subtracted. None: unless fitted on sparse points, which it would make dense.
        centre: Option<bool>,
        /// What shares one mean and deviation.
        per: Per,
    },
    /// Rows to length 1; rows of zeros stay.
    Unit,
    /// `sign(x) |x|^p`.
    Power {
        /// The exponent, above 0.
        p: f64,
    },
    /// Gaussian smoothing of images, edge pixels repeated.
    Smooth {
        /// Width in pixels.
        sigma: f64,
    },
    /// Centre of mass to the frame's centre, by whole pixels.
    CentreMass {
        /// Weigh figure and ground as 1 and 0, told apart at this share of the training range. None: grey values.
        threshold: Option<f64>,
        /// The value of empty pixels. None: the smallest in training.
        background: Option<f64>,
    },
    /// Fewer pixels, each the mean of the area it covers.
    Downsample {
        /// Rows of pixels.
        height: usize,
        /// Columns of pixels.
        width: usize,
    },
    /// Absolute slopes in four directions, as further channels.
    Edges {
        /// Whether the image stays, as the first channel.
        keep: bool,
    },
    /// 1 for figure, 0 for ground.
    Silhouette {
        /// The share of the training range that tells them apart.
        threshold: f64,
        /// The value of empty pixels. None: the smallest in training.
        background: Option<f64>,
    },
    /// Directions in which small transformations move images count less: see `invariant.rs`.
    Invariant {
        /// How much of the identity is mixed in: 1 changes nothing.
        lambda: f64,
        /// Directions left out, those in which images move least.
        drop: usize,
        /// Steps of the differences, in pixels and degrees; 0: not this group.
        shift: f64,
        /// Degrees.
        rotate: f64,
        /// Pixels.
        thickness: f64,
    },
    /// Slant taken out.
    Deskew {
        /// The value of empty pixels. None: the smallest in training.
        background: Option<f64>,
    },
    /// Letters of sequences as unit vectors.
    OneHot,
    /// Letters of sequences as log-odds scores of the classes; fitted with their labels.
    LogOdds,
}

/// What shares one range or one mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Per {
    /// Each column has its own.
    #[default]
    Column,
    /// All pixels of a channel share one; where rows are no images, all values do.
    Channel,
}

impl Recipe {
    /// Reads `name` or `name(argument, key=value)`; arguments left out take the defaults of [`Recipe::ALL`].
    pub fn parse(line: &str) -> Result<Self> {
        let call = Call::parse("stage", line)?;
        let entry: &Entry = Self::ALL.iter().find(|e| e.name == call.name()).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|e| e.name).collect();
            Error::param("stage", format!("`{line}`"), format!("one of {}", names.join(", ")))
        })?;
        let args = call.bind(entry.args)?;
        let per = || match args.text("per")? {
            "column" => Ok(Per::Column),
            "channel" => Ok(Per::Channel),
            other => Err(args.wrong("per", other)),
        };
        let background = || args.real_or("background", "auto");
        let recipe = match entry.name {
            "scale" => Recipe::Scale { by: args.real("by")?, add: args.real("add")? },
            "minmax" => Recipe::MinMax { lo: args.real("lo")?, hi: args.real("hi")?, per: per()? },
            "standard" => {
                let centre = if args.text("centre")? == "auto" { None } else { Some(args.flag("centre")?) };
                Recipe::Standard { centre, per: per()? }
            }
            "unit" => Recipe::Unit,
            "power" => Recipe::Power { p: args.real("p")? },
            "smooth" => Recipe::Smooth { sigma: args.real("sigma")? },
            "centre-mass" => Recipe::CentreMass {
                threshold: args.real_or("threshold", "none")?,
                background: background()?,
            },
            "downsample" => Recipe::Downsample { height: args.count("height")?, width: args.count("width")? },
            "edges" => Recipe::Edges { keep: args.flag("keep")? },
            "invariant" => Recipe::Invariant {
                lambda: args.real("lambda")?,
                drop: args.count("drop")?,
                shift: args.real("shift")?,
                rotate: args.real("rotate")?,
                thickness: args.real("thickness")?,
            },
            "silhouette" => {
                Recipe::Silhouette { threshold: args.real("threshold")?, background: background()? }
            }
            "one-hot" => Recipe::OneHot,
            "log-odds" => Recipe::LogOdds,
            _ => Recipe::Deskew { background: background()? },
        };
        recipe.check()?;
        Ok(recipe)
    }

    /// Whether anything is fitted: what is not can be done before rows are divided into folds.
    pub fn learns(&self) -> bool {
        match self {
            Recipe::Scale { .. }
            | Recipe::Unit
            | Recipe::Power { .. }
            | Recipe::Smooth { .. }
            | Recipe::Downsample { .. }
            | Recipe::Edges { .. } => false,
            Recipe::CentreMass { threshold, background } => threshold.is_some() || background.is_none(),
            Recipe::Deskew { background } => background.is_none(),
            _ => true,
        }
    }

    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Recipe::Scale { .. } => "scale",
            Recipe::MinMax { .. } => "minmax",
            Recipe::Standard { .. } => "standard",
            Recipe::Unit => "unit",
            Recipe::Power { .. } => "power",
            Recipe::Smooth { .. } => "smooth",
            Recipe::CentreMass { .. } => "centre-mass",
            Recipe::Downsample { .. } => "downsample",
            Recipe::Edges { .. } => "edges",
            Recipe::Invariant { .. } => "invariant",
            Recipe::Silhouette { .. } => "silhouette",
            Recipe::Deskew { .. } => "deskew",
            Recipe::OneHot => "one-hot",
            Recipe::LogOdds => "log-odds",
        }
    }

    /// Fails where an argument is out of its range.
    pub fn check(&self) -> Result<()> {
        let entry = Self::ALL.iter().find(|e| e.name == self.name()).expect("the table has every stage");
        let need = |ok: bool, key: &str, got: f64| {
            let allowed =
                entry.args.iter().find(|a| a.name == key).map_or(String::new(), |a| a.allowed.to_string());
            if ok { Ok(()) } else { Err(Error::param(format!("{} {key}", entry.name), got, allowed)) }
        };
        let finite = |key, v: Option<f64>| need(v.is_none_or(f64::is_finite), key, v.unwrap_or(0.0));
        match *self {
            Recipe::Scale { by, add } => finite("by", Some(by)).and(finite("add", Some(add))),
            Recipe::MinMax { lo, hi, .. } => {
                finite("lo", Some(lo))?;
                need(hi > lo && (hi - lo).is_finite(), "hi", hi)
            }
            Recipe::Power { p } => need(p > 0.0 && p.is_finite(), "p", p),
            Recipe::Smooth { sigma } => need((0.0..=100.0).contains(&sigma), "sigma", sigma),
            Recipe::CentreMass { threshold, background } => {
                let share = threshold.unwrap_or(0.0);
                need((0.0..1.0).contains(&share), "threshold", share).and(finite("background", background))
            }
            Recipe::Silhouette { threshold, background } => {
                need((0.0..1.0).contains(&threshold), "threshold", threshold)
                    .and(finite("background", background))
            }
            Recipe::Downsample { height, width } => {
                need(height > 0, "height", height as f64).and(need(width > 0, "width", width as f64))
            }
            Recipe::Deskew { background } => finite("background", background),
            Recipe::Invariant { lambda, shift, rotate, thickness, .. } => {
                need(lambda > 0.0 && lambda <= 1.0, "lambda", lambda)?;
                let step = |key, v: f64| need((0.0..=90.0).contains(&v), key, v);
                step("shift", shift).and(step("rotate", rotate)).and(step("thickness", thickness))
            }
            Recipe::Standard { .. }
            | Recipe::Unit
            | Recipe::Edges { .. }
            | Recipe::OneHot
            | Recipe::LogOdds => Ok(()),
        }
    }

    /// The stage fitted on these points. Fails where it wants labels: see [`Recipe::fit_with`].
    pub fn fit(&self, points: View<'_>, exec: Exec) -> Result<Stage> {
        self.fit_with(points, None, exec)
    }

    /// The same where the points' classes are known.
    pub fn fit_with(&self, points: View<'_>, labels: Option<&Labels>, exec: Exec) -> Result<Stage> {
        self.check()?;
        match (self, labels) {
            (Recipe::OneHot, _) => return Stage::one_hot(points),
            (Recipe::LogOdds, Some(labels)) => return Stage::log_odds(points, labels),
            (Recipe::LogOdds, None) => {
                let what = "labels to fit stage log-odds with";
                return Err(Error::shape(what, "none", "a class for every sequence"));
            }
            _ => {}
        }
        if matches!(points.data, Data::Sequences { .. } | Data::RowNumbers(_)) || points.d == 0 {
            let what = format!("points to fit stage {} on", self.name());
            return Err(Error::shape(what, points.kind(), "rows of numbers, at least one column"));
        }
        let image = points.image.filter(|shape| !shape.is_empty());
        let shape = || {
            let what = format!("points to fit stage {} on", self.name());
            image.ok_or_else(|| Error::shape(what, "rows without image shape", "images"))
        };
        let op = match *self {
            Recipe::Invariant { lambda, drop, shift, rotate, thickness } => {
                shape()?;
                let steps = [shift, rotate, thickness];
                return invariant::of_groups(points, lambda, drop, steps, exec);
            }
            Recipe::OneHot | Recipe::LogOdds => unreachable!("fitted above, on sequences"),
            Recipe::Scale { by, add } => Op::Scale { by, add },
            Recipe::MinMax { lo, hi, per } => {
                let Stats { min, max, .. } = Stats::of(points, per.groups(points.d, image), exec)?;
                Op::MinMax { lo, hi, min, max }
            }
            Recipe::Standard { centre, per } => {
                let mut stats = Stats::of(points, per.groups(points.d, image), exec)?;
                let centred = centre.unwrap_or(!matches!(points.data, Data::Csr { .. }));
                if !centred {
                    stats.mean.fill(0.0);
                }
                stats.std.iter_mut().filter(|s| **s == 0.0).for_each(|s| *s = 1.0);
                Op::Standard { centred, mean: stats.mean, std: stats.std }
            }
            Recipe::Unit => Op::Unit,
            Recipe::Power { p } => Op::Power { p },
            Recipe::Smooth { sigma } => shape().map(|_| Op::Smooth { sigma })?,
            Recipe::Edges { keep } => shape().map(|_| Op::Edges { keep })?,
            Recipe::Downsample { height, width } => shape().map(|_| Op::Downsample { height, width })?,
            Recipe::CentreMass { threshold, background } => {
                let (least, range) = shape().and_then(|_| scale::range(points))?;
                let level = threshold.map(|share| share * range);
                Op::CentreMass { background: background.unwrap_or(least), level }
            }
            Recipe::Silhouette { threshold, background } => {
                let (least, range) = shape().and_then(|_| scale::range(points))?;
                Op::Silhouette { background: background.unwrap_or(least), level: threshold * range }
            }
            Recipe::Deskew { background } => {
                let (least, _) = shape().and_then(|_| scale::range(points))?;
                Op::Deskew { background: background.unwrap_or(least) }
            }
        };
        Stage { d: points.d, image, op }.checked()
    }
}

impl Per {
    /// Into how many groups the columns fall.
    fn groups(self, d: usize, image: Option<ImageShape>) -> usize {
        match self {
            Per::Column => d,
            Per::Channel => image.map_or(1, |shape| shape.channels),
        }
    }
}

impl fmt::Display for Recipe {
    /// Numbers always, words only where they are not the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |key: &str, v: f64| Some(format!("{key}={v}"));
        let word = |key: &str, v: Option<String>| v.map(|v| format!("{key}={v}"));
        let per = |per: Per| word("per", (per == Per::Channel).then(|| "channel".into()));
        let ground = |v: Option<f64>| word("background", v.map(|v| v.to_string()));
        let args = match *self {
            Recipe::Scale { by, add } => vec![number("by", by), number("add", add)],
            Recipe::MinMax { lo, hi, per: p } => vec![number("lo", lo), number("hi", hi), per(p)],
            Recipe::Standard { centre, per: p } => {
                vec![word("centre", centre.map(|c| c.to_string())), per(p)]
            }
            Recipe::Unit | Recipe::OneHot | Recipe::LogOdds => vec![],
            Recipe::Power { p } => vec![number("p", p)],
            Recipe::Smooth { sigma } => vec![number("sigma", sigma)],
            Recipe::CentreMass { threshold, background } => {
                vec![word("threshold", threshold.map(|t| t.to_string())), ground(background)]
            }
            Recipe::Downsample { height, width } => {
                vec![number("height", height as f64), number("width", width as f64)]
            }
            Recipe::Invariant { lambda, drop, shift, rotate, thickness } => vec![
                number("lambda", lambda),
                number("drop", drop as f64),
                number("shift", shift),
                number("rotate", rotate),
                number("thickness", thickness),
            ],
            Recipe::Edges { keep } => vec![word("keep", (!keep).then(|| "false".into()))],
            Recipe::Silhouette { threshold, background } => {
                vec![number("threshold", threshold), ground(background)]
            }
            Recipe::Deskew { background } => vec![ground(background)],
        };
        let args: Vec<String> = args.into_iter().flatten().collect();
        f.write_str(self.name())?;
        if args.is_empty() { Ok(()) } else { write!(f, "({})", args.join(", ")) }
    }
}

impl std::str::FromStr for Recipe {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self> {
        Self::parse(line)
    }
}

impl TryFrom<String> for Recipe {
    type Error = Error;

    fn try_from(line: String) -> Result<Self> {
        Self::parse(&line)
    }
}

impl From<Recipe> for String {
    fn from(recipe: Recipe) -> Self {
        recipe.to_string()
    }
}
