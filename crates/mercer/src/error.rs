//! One error type for the whole library.
//!
//! Every message names what is wrong, the value received, and what is allowed. Hitting an iteration limit is not an
//! error: see [`crate::watch::Stop`].

use std::fmt;
use std::path::PathBuf;

/// The result type of every fallible function of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// All errors of this library.
///
/// ```
/// use mercer::prelude::*;
/// let wrong = Kernel::parse("rbf(gamma=-1)").unwrap_err();
/// assert!(matches!(wrong, Error::Kernel { .. } | Error::Param { .. }));
/// assert!(wrong.to_string().contains("gamma"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{name} = {got}: must be {allowed}")]
    Param {
        /// The parameter's name, as the user writes it.
        name: String,
        /// The value received.
        got: String,
        /// The values that are allowed, in words.
        allowed: String,
    },
    /// A parameter that would have no effect here.
    #[error("{name} = {got}: {why}")]
    Unused {
        /// The parameter's name, as the user writes it.
        name: String,
        /// The value that was got.
        got: String,
        /// Why it is not used, and where it is.
        why: String,
    },
    /// Data that cannot be used: a bad line, a ragged row, a NaN.
    #[error("{0}")]
    Data(Box<Fault>),
    /// Inconsistent inputs: numbers of rows, columns, outputs.
    #[error("{what}: got {got}, expected {expected}")]
    Shape {
        /// The kind of mismatch, for callers that can react to it.
        kind: Mismatch,
        /// What was compared.
        what: String,
        /// The value received.
        got: String,
        /// What was expected.
        expected: String,
    },
    /// A parameter that has no default here was not given.
    #[error("{name} = none: must be {allowed}")]
    Missing {
        /// The parameter's name, as the user writes it.
        name: String,
        /// The values that are allowed, in words.
        allowed: String,
    },
    /// A hard margin was requested, and the classes overlap.
    #[error("kind = hard: must be c or nu here: {0}")]
    NotSeparable(String),
    /// Probabilities were requested of a model that was fitted without them.
    #[error("this model was fitted without probabilities")]
    NoProbabilities,
    /// A line that does not describe a kernel.
    #[error("kernel `{line}`: {why}")]
    Kernel {
        /// The line as given.
        line: String,
        /// What is wrong with it, and what would be valid.
        why: String,
    },
    /// The operation does not exist for this kernel, these points or this model.
    #[error("{0}")]
    Unsupported(String),
    /// A model file that is invalid.
    #[error("model file {}: {why}", path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// An error of the operating system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A computation that would exceed the memory limit.
    #[error("{what} needs {} of memory, more than the {} allowed", size(*needed), size(*allowed))]
    Memory {
        /// What would have been allocated.
        what: String,
        /// Bytes required.
        needed: u64,
        /// Bytes that were allowed.
        allowed: u64,
    },
    /// A computation without a solution: a singular system, for example.
    #[error(transparent)]
    Numeric(#[from] mercer_num::Fault),
    /// Cancelled by the watcher before there was a result.
    #[error("cancelled")]
    Cancelled,
}

/// The kind of an [`Error::Shape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Mismatch {
    /// None of the others.
    #[default]
    Other,
    /// There are no targets.
    NoTargets,
    /// Targets are class labels, but numbers are required.
    ClassTargets,
    /// Targets are real numbers, but classes are required.
    RealTargets,
    /// Classes with numeric names, too many to be plausible.
    Amounts,
    /// Points have other columns than expected.
    Columns,
}

/// A number of hundreds of digits, such as 1e300, in exponent notation; everything else unchanged.
fn readable(got: String) -> String {
    match got.parse::<f64>() {
        Ok(value) if got.len() > 24 => format!("{value:e}"),
        _ => got,
    }
}

/// Bytes in the largest unit of which there is at least one.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let Some(unit) = (bytes.max(1).ilog2() / 10).checked_sub(1) else { return format!("{bytes} bytes") };
    let value = bytes as f64 / 1024f64.powi(unit as i32 + 1);
    format!("{value:.1} {}", UNITS[unit as usize])
}

/// Where in some data something is wrong, what was found there and what was expected.
///
/// Prints as `train.csv, line 12, column 3: got `abc`, expected a number`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fault {
    /// The file or the name of the source, if it has one.
    pub source: Option<String>,
    /// The line in a text file, from 1.
    pub line: Option<u64>,
    /// The row of the table, from 1.
    pub row: Option<u64>,
    /// The column, by name or number.
    pub column: Option<String>,
    /// What was found.
    pub got: Option<String>,
    /// What was expected, in words.
    pub expected: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place: Vec<String> = Vec::new();
        place.extend(self.source.clone());
        place.extend(self.line.map(|l| format!("line {l}")));
        place.extend(self.row.map(|r| format!("row {r}")));
        place.extend(self.column.as_ref().map(|c| format!("column {c}")));
        if !place.is_empty() {
            write!(f, "{}: ", place.join(", "))?;
        }
        match &self.got {
            Some(got) => write!(f, "got {got}, expected {}", self.expected),
            None => write!(f, "expected {}", self.expected),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Data(Box::new(fault))
    }
}

impl Error {
    /// A parameter outside its range.
    pub fn param(name: impl Into<String>, got: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Error::Param { name: name.into(), got: readable(got.to_string()), allowed: allowed.into() }
    }

    /// A parameter that would have no effect.
    pub fn unused(name: impl Into<String>, got: impl fmt::Display, why: impl Into<String>) -> Self {
        Error::Unused { name: name.into(), got: readable(got.to_string()), why: why.into() }
    }

    /// Inconsistent inputs.
    pub fn shape(what: impl Into<String>, got: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Error::mismatch(Mismatch::Other, what, got, expected)
    }

    /// Inconsistent inputs of a given kind.
    pub fn mismatch(
        kind: Mismatch,
        what: impl Into<String>,
        got: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Error::Shape { kind, what: what.into(), got: got.to_string(), expected: expected.to_string() }
    }

    /// Points with other columns than expected.
    pub fn columns(what: impl Into<String>, got: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Error::mismatch(Mismatch::Columns, what, got, expected)
    }

    /// There are no targets.
    pub fn no_targets(expected: impl fmt::Display) -> Self {
        Error::mismatch(Mismatch::NoTargets, "targets", "none", expected)
    }

    /// Targets are class labels.
    pub fn class_targets(expected: impl fmt::Display) -> Self {
        Error::mismatch(Mismatch::ClassTargets, "targets", "class labels", expected)
    }

    /// Targets are real numbers.
    pub fn real_targets(expected: impl fmt::Display) -> Self {
        Error::mismatch(Mismatch::RealTargets, "targets", "real numbers", expected)
    }

    /// An error of the operating system, with the file.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { path: path.into(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_place_value_and_wish() {
        let fault = Fault {
            source: Some("train.csv".into()),
            line: Some(12),
            column: Some("3".into()),
            got: Some("`abc`".into()),
            expected: "a number".into(),
            ..Fault::default()
        };
        assert_eq!(fault.to_string(), "train.csv, line 12, column 3: got `abc`, expected a number");
    }

    #[test]
    fn sizes_are_told_in_units_people_use() {
        let error = Error::Memory { what: "a copy".into(), needed: 17_179_869_176, allowed: 3 << 29 };
        let text = "a copy needs 16.0 GiB of memory, more than the 1.5 GiB allowed";
        assert_eq!(error.to_string(), text);
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(u64::MAX), "16.0 EiB");
    }
}
