//! Machines on m given centres for n rows, m much smaller than n: Newton steps by conjugate gradients with the
//! Nystroem preconditioner.
//!
//! ```text
//! minimise over c, b    sum_i w_i l(f(x_i), y_i) + lambda / 2 c' M c,     f(x_i) = sum_j N_ij c_j + b
//!
//! N: n x m values of rows against centres,  M: m x m values of the centres,  l: see `loss`
//! ```
//!
//! With `M = L L'` and `A A' = V D V' / s + lambda' I` (V: `L^-1 k(z, x)` of s representative rows, the centres or a
//! sketch; D: the loss's curvature there; lambda' = lambda / sum w) the coordinates `c = L'^-1 A'^-1 x` make the
//! Hessian nearly the identity, so that a few tens of products with it solve a system for any lambda (Rudi, Carratino
//! and Rosasco 2017; Meanti, Carratino, Rosasco and Rudi 2020). The squared loss is one such system; other losses are
//! sequences of them (Marteau-Ferey, Bach and Rudi 2019). The solver accesses rows through [`LargeRows`], one pass at
//! a time, wherever they are.
//!
//! Cost: 4 n m k per product, for k outputs, and the n m values N once if they are kept, else once per product; 2 m^3
//! / 3 for the factors, 2 m^2 k per product for solves with them. Memory: a block of N, two m x m matrices, and n k
//! numbers.

mod gradients;
mod judge;
mod kept;
mod loss;
mod means;
mod newton;
mod pass;
mod polled;
mod precondition;
mod rows;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::num::Buffer;
use crate::solve::Nystrom;
use crate::watch::Info;

pub(crate) use judge::Judge;
pub(crate) use kept::OnDevice;
pub(crate) use loss::{Hinge, Logistic, Loss, Softmax, Squared};
pub(crate) use means::{means, means_of_bytes};
pub(crate) use newton::fit;
pub(crate) use pass::piece;
pub(crate) use polled::Polled;
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
    /// The targets of the rows, in the form of the loss: equally many numbers for each.
    pub(crate) targets: &'a [f64],
    /// A weight for each row; empty: 1.
    pub(crate) weight: &'a [f64],
}

/// Processes a block.
pub(crate) type Visit<'v> = dyn FnMut(&Block<'_>) -> Result<()> + 'v;

/// The n x m values of rows against centres and the rows' targets, block by block: they may be computed, kept, or read. Blocks
/// begin at multiples of [`piece`].
pub(crate) trait Design: Sync {
    /// n.
    fn rows(&self) -> usize;

    /// m.
    fn centres(&self) -> usize;

    /// Calls a function with every block once, in order. Stops at the first error, its own or of the call.
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

/// The rows of the preconditioner's sketch.
pub(crate) struct Stand {
    /// Their values against all centres, row by row.
    pub(crate) values: Own,
}

/// What the preconditioner is made from.
pub(crate) enum Start<'a> {
    /// The centres' own matrix, and a sketch if they do not stand for all rows.
    Here(Own, Option<Stand>),
    /// What a device keeps, with the diagonal of that matrix.
    Kept(&'a dyn Nystrom, Vec<f64>),
}

/// The problem.
pub(crate) struct LargeProblem<'a> {
    pub(crate) rows: &'a dyn LargeRows,
    pub(crate) loss: &'a dyn Loss,
    /// m.
    pub(crate) centres: usize,
    /// Targets of the preconditioner's rows (the centres, or a sketch), several numbers for each; empty if they have
    /// none, as for means of clusters.
    pub(crate) targets: &'a [f64],
    /// Their weights, of mean 1 over all rows; empty: 1.
    pub(crate) weight: &'a [f64],
    pub(crate) lambda: f64,
    /// Whether there is an offset, which is not penalised.
    pub(crate) offset: bool,
    /// The relative rounding of the values of rows against centres.
    pub(crate) rounding: f64,
    /// Held-out rows for early stopping: the function with the smallest error on them is returned.
    pub(crate) judge: Option<&'a Judge<'a>>,
}

/// Stopping criteria.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Tolerance on the norm of the gradient, relative to that at the function 0, in the preconditioner's
    /// coordinates.
    pub(crate) tol: f64,
    /// Maximum number of passes over the rows.
    pub(crate) max_iter: u64,
}

/// The result.
#[derive(Debug)]
pub(crate) struct Fitted {
    /// m x k.
    pub(crate) coef: Vec<f64>,
    /// k.
    pub(crate) offset: Vec<f64>,
    /// The error on held-out rows, if there are any.
    pub(crate) held_out: Option<f64>,
    pub(crate) info: Info,
}
