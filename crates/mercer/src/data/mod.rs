//! Points, targets, and everything that happens to them before a kernel sees them. Floor 1.

mod bundle;
mod call;
mod dataset;
mod digits;
pub mod image;
pub mod io;
mod map;
pub mod noise;
mod points;
pub mod split;
pub mod stage;
mod summary;
pub mod table;
mod targets;
pub mod toy;
mod transformations;
mod values;

pub use bundle::{Bundle, Tensor, Values};
pub use dataset::{Dataset, TargetFrom};
pub use digits::digits;
pub use image::Patches;
pub use points::{Csr, Data, ImageShape, Points, Row, Sequences, View};
pub use stage::{Recipe, Stage, Stages};
pub use summary::{
    ClassCount, Column, Finding, SequenceFacts, Spread, Summary, TableColumn, TargetFacts, median_distance2,
};
pub use table::Table;
pub use targets::{LabelType, Labels, Targets};
pub use transformations::{Transformation, Transformations};
