//! Dense algebra, vector mathematics and optimisation beneath Mercer.
//!
//! The only crate of the workspace that names a linear-algebra crate and the only one with `unsafe`: everything above
//! is `#![forbid(unsafe_code)]`. It knows no points, kernels or labels.

mod buffer;
pub mod bytes;
#[doc(hidden)]
pub mod counting;
pub mod dispatch;
pub mod eigen;
pub mod factor;
mod lend;
pub mod narrow;
pub mod pass;
pub mod product;
pub mod program;
mod real;
pub mod stream;
pub mod tiles;
pub mod triangular;
pub mod vector;

pub use buffer::{Buffer, release};
pub use lend::{Lent, lend};
pub use product::Mat;
pub use real::{Floats, Real};

/// A computation without a solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A NaN or an infinity in the input.
    #[error("{what} holds a value that is not finite")]
    NotFinite {
        /// What was looked at.
        what: &'static str,
    },
    /// A matrix that should be positive definite is not.
    #[error("matrix of order {n} is not positive definite")]
    NotPositiveDefinite {
        /// Its order.
        n: usize,
    },
    /// An iteration that did not reach its tolerance.
    #[error("{what}: no convergence after {steps} steps, residual {residual:e}")]
    NoConvergence {
        /// What was computed.
        what: &'static str,
        /// Steps taken.
        steps: usize,
        /// Residual reached.
        residual: f64,
    },
    /// A linear or quadratic program that no point solves.
    #[error("a program without a minimum: {why}")]
    NoMinimum {
        /// What the solver said.
        why: String,
    },
}
