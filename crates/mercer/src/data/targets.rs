//! Targets: class labels as given, real numbers, or none.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The targets of a data set.
///
/// ```
/// use mercer::prelude::*;
/// let classes = Targets::Classes(Labels::new(["no", "yes", "no"]));
/// assert_eq!(classes.classes()?.counts(), [2, 1]);
/// assert!(classes.reals().is_err());
/// assert_eq!(Targets::Reals(vec![0.5]).reals()?, [0.5]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub enum Targets {
    /// No targets: unsupervised work.
    #[default]
    None,
    /// Class labels.
    Classes(Labels),
    /// Real numbers, for regression.
    Reals(Vec<f64>),
}

/// Class labels: names as they were given, and for each row the number of its name.
///
/// Names are ordered as numbers when all of them are numbers, else as text, so that the order does not depend on the
/// rows' order.
///
/// ```
/// use mercer::data::Labels;
/// let labels = Labels::new(["10", "9", "10"]);
/// assert_eq!(labels.names, ["9", "10"]);
/// assert_eq!(labels.of_row, [1, 0, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Labels {
    /// The distinct names, in order.
    pub names: Vec<String>,
    /// For each row, the place of its name in `names`.
    pub of_row: Vec<u32>,
}

/// The type that class labels had in the program that gave them. In files they are text, and text alone does not say
/// whether `1` was a number or a string, or `True` a truth value. Types are called as in numpy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LabelType {
    /// Text of any length.
    Str,
    /// Text, in an array of objects.
    Object,
    /// `False` and `True`.
    Bool,
    /// Whole numbers of 8 bits with a sign.
    Int8,
    /// Whole numbers of 16 bits with a sign.
    Int16,
    /// Whole numbers of 32 bits with a sign.
    Int32,
    /// Whole numbers of 64 bits with a sign.
    Int64,
    /// Whole numbers of 8 bits.
    Uint8,
    /// Whole numbers of 16 bits.
    Uint16,
    /// Whole numbers of 32 bits.
    Uint32,
    /// Whole numbers of 64 bits.
    Uint64,
    /// Numbers of half precision. Whole ones are written without a point, as everywhere in class names.
    Float16,
    /// Numbers of single precision.
    Float32,
    /// Numbers of double precision.
    Float64,
}

impl LabelType {
    /// All types with their names.
    pub const ALL: [(&'static str, LabelType); 14] = [
        ("str", LabelType::Str),
        ("object", LabelType::Object),
        ("bool", LabelType::Bool),
        ("int8", LabelType::Int8),
        ("int16", LabelType::Int16),
        ("int32", LabelType::Int32),
        ("int64", LabelType::Int64),
        ("uint8", LabelType::Uint8),
        ("uint16", LabelType::Uint16),
        ("uint32", LabelType::Uint32),
        ("uint64", LabelType::Uint64),
        ("float16", LabelType::Float16),
        ("float32", LabelType::Float32),
        ("float64", LabelType::Float64),
    ];

    /// The type of this name.
    pub fn find(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names = Self::ALL.map(|(n, _)| n).join(", ");
            Error::param("type of the class labels", name, format!("one of {names}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("str", |(name, _)| name)
    }

    /// Whether names are labels of this type, each written in the one way it has, so that different names are different
    /// labels and every label gets its own name back.
    pub fn holds(self, names: &[String]) -> bool {
        fn whole<T: std::str::FromStr + ToString>(name: &str) -> bool {
            name.parse::<T>().is_ok_and(|v| v.to_string() == name)
        }
        let all = |test: fn(&str) -> bool| names.iter().all(|name| test(name));
        match self {
            LabelType::Str | LabelType::Object => true,
            LabelType::Bool => all(|name| name == "False" || name == "True"),
            LabelType::Int8 => all(whole::<i8>),
            LabelType::Int16 => all(whole::<i16>),
            LabelType::Int32 => all(whole::<i32>),
            LabelType::Int64 => all(whole::<i64>),
            LabelType::Uint8 => all(whole::<u8>),
            LabelType::Uint16 => all(whole::<u16>),
            LabelType::Uint32 => all(whole::<u32>),
            LabelType::Uint64 => all(whole::<u64>),
            LabelType::Float16 | LabelType::Float32 | LabelType::Float64 => {
                let values = names.iter().map(|name| name.parse::<f64>().ok().filter(|v| v.is_finite()));
                let Some(mut values) = values.collect::<Option<Vec<f64>>>() else { return false };
                values.sort_by(f64::total_cmp);
                values.windows(2).all(|pair| pair[0] < pair[1])
            }
        }
    }
}

impl Labels {
    /// Labels from one name per row.
    pub fn new<S: AsRef<str>>(rows: impl IntoIterator<Item = S>) -> Self {
        let mut place = std::collections::HashMap::<String, u32>::new();
        let mut names: Vec<String> = Vec::new();
        let of_row: Vec<u32> = rows
            .into_iter()
            .map(|name| {
                let name = name.as_ref();
                if let Some(&k) = place.get(name) {
                    return k;
                }
                let k = names.len() as u32;
                names.push(name.to_owned());
                place.insert(name.to_owned(), k);
                k
            })
            .collect();
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        let number = |s: &String| s.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        if names.iter().all(|n| number(n).is_some()) {
            order.sort_by(|&a, &b| {
                let (a, b) = (&names[a as usize], &names[b as usize]);
                number(a).partial_cmp(&number(b)).unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b))
            });
        } else {
            order.sort_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
        }
        let mut new_place = vec![0u32; names.len()];
        for (new, &old) in order.iter().enumerate() {
            new_place[old as usize] = new as u32;
        }
        Labels {
            names: order.iter().map(|&k| names[k as usize].clone()).collect(),
            of_row: of_row.into_iter().map(|k| new_place[k as usize]).collect(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.of_row.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.of_row.is_empty()
    }

    /// Rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &k in &self.of_row {
            counts[k as usize] += 1;
        }
        counts
    }

    /// The row's own name.
    pub fn name_of(&self, row: usize) -> &str {
        &self.names[self.of_row[row] as usize]
    }

    /// The labels of some rows; all names are kept, also those that no longer occur.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        Labels { names: self.names.clone(), of_row: rows.iter().map(|&i| self.of_row[i]).collect() }
    }
}

impl Targets {
    /// Number of rows, where there are targets.
    pub fn len(&self) -> Option<usize> {
        match self {
            Targets::None => None,
            Targets::Classes(labels) => Some(labels.len()),
            Targets::Reals(y) => Some(y.len()),
        }
    }

    /// Whether there are no targets, or none for any row.
    pub fn is_empty(&self) -> bool {
        self.len().is_none_or(|n| n == 0)
    }

    /// The targets of some rows.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        match self {
            Targets::None => Targets::None,
            Targets::Classes(labels) => Targets::Classes(labels.gather(rows)),
            Targets::Reals(y) => Targets::Reals(rows.iter().map(|&i| y[i]).collect()),
        }
    }

    /// The labels, or an error that names the actual kind.
    pub fn classes(&self) -> Result<&Labels> {
        match self {
            Targets::Classes(labels) => Ok(labels),
            Targets::Reals(_) => Err(Error::real_targets("class labels")),
            Targets::None => Err(Error::no_targets("class labels")),
        }
    }

    /// The numbers, or an error that names the actual kind.
    pub fn reals(&self) -> Result<&[f64]> {
        match self {
            Targets::Reals(y) => Ok(y),
            Targets::Classes(_) => Err(Error::class_targets("real numbers")),
            Targets::None => Err(Error::no_targets("real numbers")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_holds_names_that_come_back_from_it() {
        let held = |kind: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            LabelType::find(kind).expect("a type").holds(&names)
        };
        for (kind, names) in [
            ("str", ["1", "01"]),
            ("object", ["", "True"]),
            ("bool", ["False", "True"]),
            ("int8", ["-128", "127"]),
            ("uint64", ["0", "18446744073709551615"]),
            ("float32", ["1", "2.5"]),
            ("float64", ["-1", "1e300"]),
        ] {
            assert!(held(kind, &names), "{kind} {names:?}");
        }
        for (kind, names) in [
            ("bool", ["0", "1"]),
            ("int64", ["1", "01"]),
            ("int64", ["+1", "-1"]),
            ("int8", ["1", "200"]),
            ("uint8", ["-1", "1"]),
            ("float64", ["1", "1.0"]),
            ("float64", ["a", "1"]),
            ("float64", ["nan", "1"]),
        ] {
            assert!(!held(kind, &names), "{kind} {names:?}");
        }
    }

    #[test]
    fn every_type_is_found_by_its_name_and_written_so() {
        for (name, kind) in LabelType::ALL {
            assert_eq!((LabelType::find(name).expect("known"), kind.name()), (kind, name));
            assert_eq!(serde_json::to_value(kind).expect("a word"), name);
        }
        assert!(LabelType::find("complex64").is_err());
    }
}
