//! Declarations of parameters: name, allowed values, default, one line of documentation.
//!
//! Learners, kernels, stages and transformations declare their parameters in tables of [`Param`]. Checks, help, the
//! command's flags, Python's errors and the parsers of lines read the same rows, so a range is written down once.

use std::fmt;

/// One parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Param {
    /// Its name, as the field is called and as lines and files write it.
    pub name: &'static str,
    /// Its allowed values.
    pub allowed: Allowed,
    /// The default, in words; `None`: the parameter is required.
    pub default: Option<&'static str>,
    /// One line about it.
    pub doc: &'static str,
}

/// The allowed values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Allowed {
    /// A finite number.
    Finite,
    /// A finite number other than 0.
    NotZero,
    /// A finite number above this one.
    Above(f64),
    /// A number above this one, infinity included.
    AboveOrInf(f64),
    /// A finite number of at least this one.
    AtLeast(f64),
    /// A number above the first and at most the second.
    UpTo(f64, f64),
    /// A number between two, both included.
    Within(f64, f64),
    /// A number between two, both excluded.
    Between(f64, f64),
    /// A whole number of at least this one.
    Whole(u64),
    /// A whole number of at least this one, or none.
    WholeOrNone(u64),
    /// A whole number between two, both included.
    Count(u64, u64),
    /// A list of finite numbers, none negative, one at least positive.
    Weights,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// A kernel's line, or none.
    Kernel,
    /// One or more kernels.
    Kernels,
    /// A positive weight for each class that is named.
    ClassWeights,
    /// A line of transformations.
    Transformations,
    /// A description of the allowed values.
    Words(&'static str),
}

impl Param {
    /// A row of a table.
    pub const fn new(
        name: &'static str,
        allowed: Allowed,
        default: Option<&'static str>,
        doc: &'static str,
    ) -> Self {
        Param { name, allowed, default, doc }
    }

    /// The row of this name.
    pub fn find(table: &'static [Param], name: &str) -> Option<&'static Param> {
        table.iter().find(|param| param.name == name)
    }
}

impl Allowed {
    /// Whether a number is allowed. Always true for words, kernels and lists, which are checked by type.
    pub fn holds(&self, value: f64) -> bool {
        match *self {
            Allowed::Finite => value.is_finite(),
            Allowed::NotZero => value.is_finite() && value != 0.0,
            Allowed::Above(low) => value > low && value.is_finite(),
            Allowed::AboveOrInf(low) => value > low,
            Allowed::AtLeast(low) => value >= low && value.is_finite(),
            Allowed::UpTo(low, high) => value > low && value <= high,
            Allowed::Within(low, high) => value >= low && value <= high,
            Allowed::Between(low, high) => value > low && value < high,
            Allowed::Whole(low) | Allowed::WholeOrNone(low) => value >= low as f64 && value.fract() == 0.0,
            Allowed::Count(low, high) => value >= low as f64 && value <= high as f64 && value.fract() == 0.0,
            _ => true,
        }
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Allowed::Finite
                | Allowed::NotZero
                | Allowed::Above(_)
                | Allowed::AboveOrInf(_)
                | Allowed::AtLeast(_)
                | Allowed::UpTo(..)
                | Allowed::Within(..)
                | Allowed::Between(..)
        ) || self.is_whole()
    }

    /// Whether none is allowed too.
    pub fn is_none_too(&self) -> bool {
        matches!(self, Allowed::WholeOrNone(_) | Allowed::Kernel)
    }

    /// Whether it is a whole number, or none.
    pub fn is_whole(&self) -> bool {
        matches!(self, Allowed::Whole(_) | Allowed::WholeOrNone(_) | Allowed::Count(..))
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Finite => f.write_str("a finite number"),
            Allowed::NotZero => f.write_str("a number other than 0"),
            Allowed::Above(low) => write!(f, "a number above {low}"),
            Allowed::AboveOrInf(low) => write!(f, "a number above {low}, or inf"),
            Allowed::AtLeast(low) => write!(f, "a number of at least {low}"),
            Allowed::UpTo(low, high) => write!(f, "a number above {low} and at most {high}"),
            Allowed::Within(low, high) => write!(f, "a number from {low} to {high}"),
            Allowed::Between(low, high) => write!(f, "a number above {low} and below {high}"),
            Allowed::Whole(low) => write!(f, "a whole number of at least {low}"),
            Allowed::WholeOrNone(low) => write!(f, "a whole number of at least {low}, or nothing"),
            Allowed::Count(low, high) if *high >= u64::from(u32::MAX) => {
                write!(f, "a whole number of at least {low}")
            }
            Allowed::Count(low, high) => write!(f, "a whole number from {low} to {high}"),
            Allowed::Weights => f.write_str("a list of numbers, none negative and one at least above 0"),
            Allowed::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Allowed::Flag => f.write_str("true or false"),
            Allowed::Kernel => f.write_str("a kernel"),
            Allowed::Kernels => f.write_str("one or more kernels"),
            Allowed::ClassWeights => f.write_str("positive weights by class name"),
            Allowed::Transformations => f.write_str("transformations such as shift=1, rotate=10"),
            Allowed::Words(words) => f.write_str(words),
        }
    }
}

/// A number as parameters are written: JSON has no infinity and no NaN, and null would mean something else.
///
/// ```
/// use mercer::param::written;
/// assert_eq!(written(0.5).to_string(), "0.5");
/// assert_eq!(written(f64::INFINITY).to_string(), "\"inf\"");
/// ```
pub fn written(value: f64) -> serde_json::Value {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_their_words_say() {
        for (allowed, inside, outside, words) in [
            (Allowed::Above(0.0), 1e-300, 0.0, "a number above 0"),
            (Allowed::AboveOrInf(0.0), f64::INFINITY, 0.0, "a number above 0, or inf"),
            (Allowed::AtLeast(0.0), 0.0, f64::INFINITY, "a number of at least 0"),
            (Allowed::UpTo(0.0, 1.0), 1.0, 0.0, "a number above 0 and at most 1"),
            (Allowed::Within(0.0, 1.0), 0.0, -1e-300, "a number from 0 to 1"),
            (Allowed::Between(0.0, 1.0), 0.5, 1.0, "a number above 0 and below 1"),
            (Allowed::Whole(2), 2.0, 2.5, "a whole number of at least 2"),
            (Allowed::WholeOrNone(1), 1.0, 0.0, "a whole number of at least 1, or nothing"),
        ] {
            assert!(allowed.holds(inside), "{allowed}");
            assert!(!allowed.holds(outside), "{allowed}");
            assert!(!allowed.holds(f64::NAN), "{allowed}");
            assert_eq!(allowed.to_string(), words);
        }
    }
}
