//! How good a model is. Floor 8.

pub mod metric;
