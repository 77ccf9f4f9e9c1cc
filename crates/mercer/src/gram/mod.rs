//! Kernel values in blocks and rows. Floor 3.

mod matrix;
mod rows;

pub use matrix::Matrix;
pub use rows::Rows;
