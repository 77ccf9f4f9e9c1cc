//! Kernel values in blocks and rows. Floor 3.
//!
//! [`Side`] prepares points for a kernel, [`block()`] and [`symmetric`] compute values, [`Centres`] multiplies them
//! by coefficients without storing them, and [`Rows`] is the interface to solvers.
//!
//! ```
//! use mercer::prelude::*;
//! let points = Points::dense(vec![0.0, 1.0, 3.0], 1)?;
//! let k = mercer::gram::square::<f64>(&Kernel::Rbf { gamma: 1.0 }, points.view(), Exec::one())?;
//! assert!((k[1] - (-1.0_f64).exp()).abs() < 1e-15 && k[0] == 1.0);
//! # Ok::<(), Error>(())
//! ```
//!
//! Other modules get kernel values through four functions: [`square`], [`cross`], rows ([`KernelRows`], [`Classes`])
//! and [`apply`]. They run on the CPU or, if the call's [`Exec`](crate::Exec) names a device, on its [`GramBackend`].

mod apply;
mod block;
mod cache;
mod centre;
mod classes;
mod door;
mod grid;
mod kernel_rows;
mod lowrank;
mod matrix;
mod pattern;
mod pivots;
mod rows;
mod side;

pub use apply::{Centres, Kept, apply};
pub(crate) use block::{Columns, check};
pub use block::{block, cross, square, symmetric};
pub(crate) use cache::RowCache;
pub use centre::Means;
pub use classes::{Classes, PairRows};
pub use door::{GramBackend, GramDoor, Sum};
pub use grid::Grid;
pub use kernel_rows::{KernelRows, is_precomputed};
pub use lowrank::{LowRank, nystroem, pivoted_cholesky};
pub use matrix::Matrix;
pub use pivots::{Pivots, random_pivots};
pub(crate) use rows::exact;
pub use rows::{Owner, Rows};
pub use side::{Layout, Side};
