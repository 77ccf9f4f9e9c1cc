//! Rows that are images: filters, and the transformations that make virtual examples.
//!
//! An image is a row with an [`ImageShape`](super::ImageShape): pixels row by row, channels last. Columns of pixels
//! are x, to the right; rows of pixels are y, downwards; the centre is at `((width - 1) / 2, (height - 1) / 2)`. Mass
//! is how far a pixel is from the background, so that dark ink on white and white ink on black weigh the same.

mod deskew;
mod elastic;
mod grey;
mod moments;
mod patches;
mod resize;
mod smooth;
mod table;
mod thickness;
mod transform;
mod warp;

pub(super) use deskew::Deskew;
pub(super) use moments::Mass;
pub use patches::Patches;
pub(super) use resize::resized;
pub(super) use smooth::Smooth;
pub use table::TransformEntry;
pub(super) use table::{set_of, split};
pub(super) use transform::joined;
pub use transform::{Axis, Transform, apply_all, background};
