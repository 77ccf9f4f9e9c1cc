//! Tables of parameters: what a learner's parameters are called, what they may be, what they are if nobody says.
//!
//! Each `Params` struct has one such table. Its `check()`, the command's help, Python's errors and the lab's sliders
//! all read it, so a range is written down once. Names are those of the struct's fields, as serde writes them.

use std::fmt;

use crate::error::{Error, Result};

/// One parameter of a learner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParamSpec {
    /// Its name, as the field is called.
    pub name: &'static str,
    /// What it may be.
    pub allowed: Allowed,
    /// What it is if nobody says, in words.
    pub default: &'static str,
    /// One line about it.
    pub doc: &'static str,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Allowed {
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
    /// A whole number of at least this one, or nothing.
    WholeOrNone(u64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// A kernel's line, or nothing.
    Kernel,
    /// A positive weight for each class that is named.
    ClassWeights,
    /// A line of transformations.
    Transformations,
}

impl Allowed {
    /// Whether a number is allowed. Words and kernels are told by their types: for them this is always so.
    pub fn holds(&self, value: f64) -> bool {
        match *self {
            Allowed::Above(low) => value > low && value.is_finite(),
            Allowed::AboveOrInf(low) => value > low,
            Allowed::AtLeast(low) => value >= low && value.is_finite(),
            Allowed::UpTo(low, high) => value > low && value <= high,
            Allowed::Within(low, high) => value >= low && value <= high,
            Allowed::Between(low, high) => value > low && value < high,
            Allowed::Whole(low) | Allowed::WholeOrNone(low) => value >= low as f64 && value.fract() == 0.0,
            Allowed::OneOf(_)
            | Allowed::Flag
            | Allowed::Kernel
            | Allowed::ClassWeights
            | Allowed::Transformations => true,
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Above(low) => write!(f, "a number above {low}"),
            Allowed::AboveOrInf(low) => write!(f, "a number above {low}, or inf"),
            Allowed::AtLeast(low) => write!(f, "a number of at least {low}"),
            Allowed::UpTo(low, high) => write!(f, "a number above {low} and at most {high}"),
            Allowed::Within(low, high) => write!(f, "a number from {low} to {high}"),
            Allowed::Between(low, high) => write!(f, "a number above {low} and below {high}"),
            Allowed::Whole(low) => write!(f, "a whole number of at least {low}"),
            Allowed::WholeOrNone(low) => write!(f, "a whole number of at least {low}, or nothing"),
            Allowed::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Allowed::Flag => f.write_str("true or false"),
            Allowed::Kernel => f.write_str("a kernel, or nothing"),
            Allowed::ClassWeights => f.write_str("positive weights by class name"),
            Allowed::Transformations => f.write_str("transformations such as shift=1, rotate=10"),
        }
    }
}

/// A row of a table.
pub(super) const fn spec(
    name: &'static str,
    allowed: Allowed,
    default: &'static str,
    doc: &'static str,
) -> ParamSpec {
    ParamSpec { name, allowed, default, doc }
}

impl ParamSpec {
    /// The row of this name.
    pub fn find(table: &'static [ParamSpec], name: &str) -> Option<&'static ParamSpec> {
        table.iter().find(|spec| spec.name == name)
    }
}

/// A number as parameters are written: JSON has no infinity and no NaN, and null would mean something else.
///
/// ```
/// use mercer::model::param::written;
/// assert_eq!(written(0.5).to_string(), "0.5");
/// assert_eq!(written(f64::INFINITY).to_string(), "\"inf\"");
/// ```
pub fn written(value: f64) -> serde_json::Value {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}

/// Serde for a number that may be infinite: a JSON number, or the text "inf" as [`written`] has it.
pub(super) mod number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(in crate::model) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        super::written(*value).serialize(to)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        match Written::deserialize(from)? {
            Written::Number(value) => Ok(value),
            Written::Text(text) if text == "inf" => Ok(f64::INFINITY),
            Written::Text(text) => Err(de::Error::custom(format!("`{text}` is not a number or inf"))),
        }
    }
}

/// Checks numbers against a table: the first one outside its range is named with its value and the range.
///
/// ```
/// use mercer::model::param::{Allowed, ParamSpec, check};
/// const TABLE: &[ParamSpec] = &[ParamSpec { name: "c", allowed: Allowed::Above(0.0), default: "1", doc: "cost" }];
/// assert!(check(TABLE, &[("c", 2.0)]).is_ok());
/// assert_eq!(check(TABLE, &[("c", -1.0)]).unwrap_err().to_string(), "c = -1: must be a number above 0");
/// ```
pub fn check(table: &'static [ParamSpec], values: &[(&str, f64)]) -> Result<()> {
    for &(name, value) in values {
        let spec = ParamSpec::find(table, name).expect("a learner checks the parameters of its own table");
        if !spec.allowed.holds(value) {
            return Err(Error::param(name, value, spec.allowed.to_string()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table has a row for each field, its words are read by serde, and its defaults are the struct's.
    fn table_is_the_struct<T>(table: &'static [ParamSpec])
    where
        T: Default + PartialEq + fmt::Debug + serde::Serialize + serde::de::DeserializeOwned,
    {
        let value = serde_json::to_value(T::default()).expect("plain data");
        let mut fields: Vec<&String> = value.as_object().expect("a struct").keys().collect();
        let mut names: Vec<&str> = table.iter().map(|s| s.name).collect();
        fields.sort();
        names.sort_unstable();
        assert_eq!(fields, names);
        for spec in table {
            let at = &value[spec.name];
            match spec.allowed {
                Allowed::OneOf(words) => {
                    assert_eq!(at, spec.default, "{}", spec.name);
                    for word in words {
                        let text = format!("{{\"{}\": \"{word}\"}}", spec.name);
                        assert!(serde_json::from_str::<T>(&text).is_ok(), "{text}");
                    }
                }
                Allowed::WholeOrNone(_) | Allowed::Kernel => assert!(at.is_null(), "{}", spec.name),
                Allowed::Flag => assert_eq!(at.to_string(), spec.default, "{}", spec.name),
                _ => assert_eq!(at.as_f64(), spec.default.parse().ok(), "{}", spec.name),
            }
        }
        let line = serde_json::to_string(&T::default()).expect("plain data");
        assert_eq!(serde_json::from_str::<T>(&line).expect("as written"), T::default());
    }

    #[test]
    fn tables_are_their_structs() {
        use crate::model::{
            BayesPointParams, BoostParams, ClusterParams, KfdParams, KnnParams, LpMachineParams,
            NetworkParams, OneClassParams, ParzenParams, PerceptronParams, RidgeParams, SphereParams,
            SvrParams,
        };
        table_is_the_struct::<SvrParams>(SvrParams::TABLE);
        table_is_the_struct::<RidgeParams>(RidgeParams::TABLE);
        table_is_the_struct::<OneClassParams>(OneClassParams::TABLE);
        table_is_the_struct::<SphereParams>(SphereParams::TABLE);
        table_is_the_struct::<KfdParams>(KfdParams::TABLE);
        table_is_the_struct::<BoostParams>(BoostParams::TABLE);
        table_is_the_struct::<NetworkParams>(NetworkParams::TABLE);
        table_is_the_struct::<LpMachineParams>(LpMachineParams::TABLE);
        table_is_the_struct::<PerceptronParams>(PerceptronParams::TABLE);
        table_is_the_struct::<BayesPointParams>(BayesPointParams::TABLE);
        table_is_the_struct::<ParzenParams>(ParzenParams::TABLE);
        table_is_the_struct::<KnnParams>(KnnParams::TABLE);
        table_is_the_struct::<ClusterParams>(ClusterParams::TABLE);
    }

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
