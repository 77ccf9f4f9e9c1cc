//! Slow obvious references, toy data and two-sided asserts for Mercer's tests.
//!
//! Depends on no other crate of the workspace, so that every crate may test against it: everything here speaks plain
//! slices of `f64`.

pub mod assert;
pub mod qp;
pub mod reference;
pub mod toy;
