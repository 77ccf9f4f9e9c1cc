//! Machines on m given centres for n rows, m much smaller than n: Newton steps by conjugate gradients with the Nystroem
//! preconditioner.
//!
//! ```text
//! minimise over c, b    sum_i w_i l(f(x_i), y_i) + lambda / 2 c' M c,     f(x_i) = sum_j N_ij c_j + b
//!
//! N: n x m values of rows against centres,  M: m x m values of the centres,  l: see `loss`
//! ```
//!
//! With `M = L L'` and `A A' = L' D L / m + lambda' I` (D the loss's curvature at the centres, lambda' = lambda / sum w) the
//! coordinates `c = L'^-1 A'^-1 x` make the Hessian nearly the identity, so that a few tens of products with it solve a
//! system, whatever lambda (Rudi, Carratino and Rosasco 2017; Meanti, Carratino, Rosasco and Rudi 2020). The squared loss is
//! one such system; others are a row of them (Marteau-Ferey, Bach and Rudi 2019).
//!
//! Cost: 4 n m k per product, for k outputs, and the n m values N once if they are kept, else once per product; 2 m^3 / 3
//! for the factors, 2 m^2 k per product for solves with them. Memory: a block of N, two m x m matrices, and n k numbers.

mod gradients;
mod loss;
mod means;
mod newton;
mod pass;
mod precondition;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::num::Buffer;
use crate::watch::Info;

pub(crate) use loss::{Hinge, Logistic, Loss, Softmax, Squared};
pub(crate) use means::means;
pub(crate) use newton::fit;
pub(crate) use pass::piece;

/// Values of some rows against all centres, row by row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

/// Some rows.
pub(crate) struct Block<'a> {
    /// The first of them.
    pub(crate) first: usize,
    /// Their values against all centres.
    pub(crate) values: Values<'a>,
    /// What each row should become, in the loss's own words: as many numbers for each.
    pub(crate) targets: &'a [f64],
    /// A weight for each row; none: 1.
    pub(crate) weight: &'a [f64],
}

/// What is done with a block.
pub(crate) type Visit<'v> = dyn FnMut(&Block<'_>) -> Result<()> + 'v;

/// The n x m values of rows against centres and the rows' targets, block by block: they may be computed, kept, or read. Blocks
/// begin at multiples of [`piece`].
pub(crate) trait Design: Sync {
    /// n.
    fn rows(&self) -> usize;

    /// m.
    fn centres(&self) -> usize;

    /// Calls with every block once, in order. The first error, its own or of the call, ends it.
    fn visit(&self, call: &mut Visit<'_>) -> Result<()>;
}

/// The centres' own matrix.
pub(crate) enum Own {
    /// For factors in single precision: half the memory, twice the rate.
    Single(Buffer<f32>),
    /// For factors in double precision.
    Double(Buffer<f64>),
}

/// What is to be solved.
pub(crate) struct LargeProblem<'a> {
    pub(crate) design: &'a dyn Design,
    pub(crate) loss: &'a dyn Loss,
    /// The sum of all weights.
    pub(crate) total: f64,
    /// Whether n k outputs may be kept; else they are computed again in every pass of a loss that needs them.
    pub(crate) keep: bool,
    /// The rows that the centres were, where they were rows, and their targets: the preconditioner takes the curvature there.
    pub(crate) places: Option<(&'a [usize], &'a [f64])>,
    pub(crate) lambda: f64,
    /// Whether there is an offset, which costs nothing.
    pub(crate) offset: bool,
    /// The relative rounding of the design's values.
    pub(crate) rounding: f64,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Length of the gradient that is left, relative to that of the function 0, in the preconditioner's coordinates.
    pub(crate) tol: f64,
    /// Most passes over the rows.
    pub(crate) max_iter: u64,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// m x k.
    pub(crate) coef: Vec<f64>,
    /// k.
    pub(crate) offset: Vec<f64>,
    pub(crate) info: Info,
}
