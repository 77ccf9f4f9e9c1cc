//! The learners. Floor 7.
//!
//! A learner is a plain struct of parameters with `check()` and `fit()`; what it returns holds an expansion, what only
//! that learner knows, and an [`Info`](crate::watch::Info) that says how the fit went. Optimisation happens in
//! `solve`, kernel values come from [`gram`](crate::gram).

pub mod param;
mod sample;

pub use sample::Sample;
