//! The readers and writers from outside: what they read, what they say about what they cannot, what comes back from
//! what was written, and that no bytes at all make them panic.

#![expect(clippy::print_stderr, reason = "a test that finds no real data says so")]

mod arrays;
mod formats;
mod messages;
mod property;
mod real;
mod regress;
mod round_trip;
mod tables;

use mercer::data::Dataset;
use mercer::data::io::{ReadOptions, read_bytes};

/// Reads text with the options as they are by themselves.
fn read_text(text: &str) -> Dataset {
    read_bytes("test", text.as_bytes(), &ReadOptions::default()).expect("fine data")
}

/// All values, row by row.
fn values(data: &Dataset) -> Vec<f64> {
    data.points.view().to_f64().expect("numbers")
}
