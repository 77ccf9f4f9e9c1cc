//! Machines on m given centres for n rows, m much smaller than n: Newton steps by conjugate gradients with the Nystroem
//! preconditioner.
//!
//! ```text
//! minimise over c, b    sum_i w_i l(f(x_i), y_i) + lambda / 2 c' M c,     f(x_i) = sum_j N_ij c_j + b
//!
//! N: n x m values of rows against centres,  M: m x m values of the centres,  l: see `loss`
//! ```
//!
//! With `M = L L'` and `A A' = V D V' / s + lambda' I` (V: `L^-1 k(z, x)` of s rows that stand for all, the centres or a
//! sketch; D: the loss's curvature there; lambda' = lambda / sum w) the coordinates `c = L'^-1 A'^-1 x` make the Hessian nearly
//! the identity, so that a few tens of products with it solve a system, whatever lambda (Rudi, Carratino and Rosasco 2017;
//! Meanti, Carratino, Rosasco and Rudi 2020). The squared loss is one such system; others are a row of them (Marteau-Ferey,
//! Bach and Rudi 2019). The solver sees rows through [`LargeRows`]: one pass at a time, wherever they are.
//!
//! Cost: 4 n m k per product, for k outputs, and the n m values N once if they are kept, else once per product; 2 m^3 / 3
//! for the factors, 2 m^2 k per product for solves with them. Memory: a block of N, two m x m matrices, and n k numbers.

mod gradients;
mod judge;
mod loss;
mod means;
mod newton;
mod pass;
mod precondition;
mod rows;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::num::Buffer;
use crate::watch::Info;

pub(crate) use judge::Judge;
pub(crate) use loss::{Hinge, Logistic, Loss, Softmax, Squared};
pub(crate) use means::means;
pub(crate) use newton::fit;
pub(crate) use pass::piece;
pub(crate) use rows::Local;
pub use rows::{LargeAsk, LargeFunction, LargeRows, LargeSums};

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

impl Own {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Own::Single(values) => values.len(),
            Own::Double(values) => values.len(),
        }
    }
}

/// Rows that stand for all in the preconditioner, drawn for this.
pub(crate) struct Stand {
    /// Their values against all centres, row by row.
    pub(crate) values: Own,
}

/// What is to be solved.
pub(crate) struct LargeProblem<'a> {
    pub(crate) rows: &'a dyn LargeRows,
    pub(crate) loss: &'a dyn Loss,
    /// m.
    pub(crate) centres: usize,
    /// Targets of the rows that stand for all in the preconditioner (the centres, or a sketch), a few numbers for each; empty
    /// where they have none, as means of clusters.
    pub(crate) targets: &'a [f64],
    /// Their weights, of mean 1 over all rows; empty: 1.
    pub(crate) weight: &'a [f64],
    pub(crate) lambda: f64,
    /// Whether there is an offset, which costs nothing.
    pub(crate) offset: bool,
    /// The relative rounding of the values of rows against centres.
    pub(crate) rounding: f64,
    /// Rows that tell when to stop early: the function with the least error on them is the answer.
    pub(crate) judge: Option<&'a Judge<'a>>,
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
    /// The error on held-out rows, where there are some.
    pub(crate) held_out: Option<f64>,
    pub(crate) info: Info,
}
