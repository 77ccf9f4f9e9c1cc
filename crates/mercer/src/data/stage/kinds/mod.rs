//! The table of stages: one file and one row each. Parsing, fitting, saving, help and the tests that every stage must
//! pass read the rows.

mod invariant;

use self::prelude::*;
pub use self::table::CodedColumn;
use super::recipe::Recipe;
use crate::data::targets::Labels;
use crate::param::Param;

/// What the files of stages need.
mod prelude {
    pub(super) use serde::{Deserialize, Serialize};

    pub(super) use super::super::columns::range;
    pub(super) use super::{Array, Asked, BACKGROUND, Entry, Frame, Kind, Line, Op, PER, Per};
    pub(super) use crate::data::call::{Args, arg};
    pub(super) use crate::data::map::{Each, OnSparse, RowMap, map_rows};
    pub(super) use crate::data::points::{Data, ImageShape, Points, View};
    pub(super) use crate::error::{Error, Result};
    pub(super) use crate::exec::Exec;
}

/// A row of the table of stages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its arguments, in the order in which they may be given without names.
    pub args: &'static [Param],
    /// Whether it works on images only.
    pub image: bool,
    /// Whether it works on sequences only; the others work on numbers.
    pub sequence: bool,
    /// Whether it works on tables only: [`Points::table`](crate::data::Points::table).
    pub table: bool,
    /// What it does, in a line.
    pub doc: &'static str,
    /// A line that makes one.
    pub example: &'static str,
}

impl Entry {
    /// A stage on numbers without arguments: what rows leave out.
    const NUMBERS: Entry =
        Entry { name: "", args: &[], image: false, sequence: false, table: false, doc: "", example: "" };
}

/// Declares the stages: those that lines can make, in the order of help, and those that only code makes.
macro_rules! stages {
    (lines { $($file:ident::$kind:ident,)* } code { $($code_file:ident::$code_kind:ident,)* }) => {
        $(mod $file;)*
        $(mod $code_file;)*

        /// What a fitted stage does. The header of a saved stage is this; arrays are left out of it, see `parts`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub(in crate::data::stage) enum Op {
            $($kind($file::$kind),)*
            $($code_kind($code_file::$code_kind),)*
        }

        impl Op {
            pub(in crate::data::stage) fn kind(&self) -> &dyn Kind {
                match self {
                    $(Op::$kind(kind) => kind,)*
                    $(Op::$code_kind(kind) => kind,)*
                }
            }

            pub(in crate::data::stage) fn name(&self) -> &'static str {
                self.kind().name().unwrap_or(match self {
                    $(Op::$kind(_) => $file::$kind::ENTRY.name,)*
                    $(Op::$code_kind(_) => "",)*
                })
            }

            pub(in crate::data::stage) fn arrays(&mut self, at: Frame) -> Vec<Array<'_>> {
                match self {
                    $(Op::$kind(kind) => kind.arrays(at),)*
                    $(Op::$code_kind(kind) => kind.arrays(at),)*
                }
            }
        }

        impl Recipe {
            /// The table of all stages that can be written in a line.
            pub const ALL: &'static [Entry] = &[$(<$file::$kind as Line>::ENTRY),*];
        }

        /// What is done with a recipe, row by row as in [`Recipe::ALL`].
        pub(in crate::data::stage) const ROWS: &[Row] = &[$(Row {
            learns: |args| Ok(matches!($file::$kind::read(args)?, Asked::Fit(_))),
            fit: |args, on| $file::$kind::read(args)?.fitted(on).map(Op::$kind),
        }),*];
    };
}

stages! {
    lines {
        scale::Scale,
        minmax::Minmax,
        standard::Standard,
        unit::Unit,
        power::Power,
        smooth::Smooth,
        centre_mass::CentreMass,
        downsample::Downsample,
        edges::Edges,
        silhouette::Silhouette,
        linear::Linear,
        deskew::Deskew,
        one_hot::OneHot,
        log_odds::LogOdds,
        fourier::Fourier,
        table::Table,
    }
    code {
        pad::Pad,
    }
}

/// The functions of a row.
pub(in crate::data::stage) struct Row {
    /// Whether anything is fitted; fails where an argument is out of range.
    pub(in crate::data::stage) learns: fn(&Args) -> Result<bool>,
    pub(in crate::data::stage) fit: fn(&Args, &Training<'_>) -> Result<Op>,
}

/// The size of rows: columns, and the shape where they are images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::data::stage) struct Frame {
    pub(in crate::data::stage) d: usize,
    pub(in crate::data::stage) image: Option<ImageShape>,
}

impl Frame {
    /// The size of images.
    fn of(shape: ImageShape) -> Self {
        Frame { d: shape.len(), image: Some(shape) }
    }

    /// The shape of images; rows that are none are images one pixel high.
    fn shape(self) -> ImageShape {
        self.image.unwrap_or(ImageShape::grey(1, self.d))
    }
}

/// An array of a stage, saved under a name. A shape of None: any length.
pub(in crate::data::stage) struct Array<'a> {
    pub(in crate::data::stage) name: &'static str,
    pub(in crate::data::stage) shape: Option<Vec<usize>>,
    pub(in crate::data::stage) values: &'a mut Vec<f64>,
}

impl<'a> Array<'a> {
    fn new(name: &'static str, values: &'a mut Vec<f64>) -> Self {
        Array { name, shape: None, values }
    }
}

/// A fitted stage. `at` is the size of the rows it was fitted on.
pub(in crate::data::stage) trait Kind {
    /// The name, where it is not that of its row.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// What it does, in a line for people that starts with the name.
    fn describe(&self, at: Frame) -> String;

    /// The map of a row. A stage that is no such map has its own `apply`.
    fn map(&self, _at: Frame) -> Option<Box<dyn RowMap + '_>> {
        None
    }

    /// The points under the map; their columns have been checked.
    fn apply(&self, at: Frame, points: View<'_>, exec: Exec) -> Result<Points> {
        let map = self.map(at).ok_or_else(|| Error::Unsupported("a stage without a map of rows".into()))?;
        map_rows(points, at.d, map.as_ref(), exec)
    }

    /// The inverse map, where there is one.
    fn inverse(&self, _at: Frame) -> Option<Box<dyn RowMap>> {
        None
    }

    /// The size of results.
    fn output(&self, at: Frame) -> Frame {
        at
    }

    /// Whether sparse points stay sparse.
    fn keeps_sparse(&self, at: Frame) -> bool {
        self.map(at).is_some_and(|map| map.on_sparse() != OnSparse::Dense)
    }

    /// The arrays to save, which the header leaves out.
    fn arrays(&mut self, _at: Frame) -> Vec<Array<'_>> {
        Vec::new()
    }

    /// Whether parameters and arrays are in range and fit together; nothing is trusted.
    fn is_valid(&self, _at: Frame) -> bool {
        true
    }
}

/// A stage that a line makes.
pub(in crate::data::stage) trait Line: Kind + Sized {
    /// Its row for the parser and for help.
    const ENTRY: Entry;

    /// The stage that these arguments ask for; fails where one is out of range.
    fn read(args: &Args) -> Result<Asked<Self>>;
}

/// A stage before it is fitted.
pub(in crate::data::stage) enum Asked<K> {
    /// Nothing is fitted.
    Ready(K),
    /// Fitted on training points.
    Fit(Fit<K>),
}

type Fit<K> = Box<dyn FnOnce(&Training<'_>) -> Result<K>>;

impl<K> Asked<K> {
    fn fit(fit: impl FnOnce(&Training<'_>) -> Result<K> + 'static) -> Self {
        Asked::Fit(Box::new(fit))
    }

    fn fitted(self, on: &Training<'_>) -> Result<K> {
        match self {
            Asked::Ready(kind) => Ok(kind),
            Asked::Fit(fit) => fit(on),
        }
    }
}

/// What a stage is fitted on: numbers with at least one column, images or sequences as its row says.
pub(in crate::data::stage) struct Training<'a> {
    pub(in crate::data::stage) points: View<'a>,
    pub(in crate::data::stage) image: Option<ImageShape>,
    pub(in crate::data::stage) labels: Option<&'a Labels>,
    pub(in crate::data::stage) exec: Exec,
}

const PER: Param = arg(
    "per",
    "column",
    "column or channel",
    "scope of one range: a column, or all pixels of a channel (all values if rows are not images)",
);
const BACKGROUND: Param = arg(
    "background",
    "auto",
    "a number or auto",
    "the value of empty pixels; auto: the smallest in training",
);

/// The argument [`PER`]: into how many groups the columns fall.
#[derive(Debug, Clone, Copy)]
enum Per {
    Column,
    Channel,
}

impl Per {
    fn read(args: &Args) -> Result<Self> {
        match args.text("per")? {
            "column" => Ok(Per::Column),
            "channel" => Ok(Per::Channel),
            other => Err(args.wrong("per", other)),
        }
    }

    fn groups(self, on: &Training<'_>) -> usize {
        match self {
            Per::Column => on.points.d,
            Per::Channel => on.image.map_or(1, |shape| shape.channels),
        }
    }

    /// The groups in words.
    fn words(groups: usize, d: usize) -> String {
        match groups {
            1 => "all values together".to_owned(),
            g if g == d => format!("each of {g} columns"),
            g => format!("each of {g} channels"),
        }
    }
}
