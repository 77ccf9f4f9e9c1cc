//! Points, targets, and everything that happens to them before a kernel sees them. Floor 1.

mod points;
mod targets;

pub use points::{Csr, Data, ImageShape, Points, Row, Sequences, View};
pub use targets::{Labels, Targets};
