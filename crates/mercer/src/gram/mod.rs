//! Kernel values in blocks and rows. Floor 3.
//!
//! [`Side`] makes points ready for a kernel, [`block()`] and [`symmetric`] compute values, [`Centres`] sums them against
//! coefficients without holding them, and [`Rows`] is what a solver sees of all this.

mod apply;
mod block;
mod cache;
mod centre;
mod classes;
mod kernel_rows;
mod lowrank;
mod matrix;
mod rows;
mod side;

pub use apply::Centres;
pub(crate) use block::check;
pub use block::{block, cross, square, symmetric};
pub use cache::RowCache;
pub use centre::Means;
pub use classes::{Classes, PairRows};
pub use kernel_rows::{KernelRows, is_precomputed};
pub use lowrank::{LowRank, nystroem, pivoted_cholesky};
pub use matrix::Matrix;
pub use rows::Rows;
pub use side::{Layout, Side};
