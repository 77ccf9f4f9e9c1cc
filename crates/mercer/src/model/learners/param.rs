//! The `params!` macro, which declares a learner's parameters once.
//!
//! ```text
//! params! {
//!     /// Parameters of a machine.
//!     pub struct Params {
//!         c: f64 = 1.0, Above(0.0) => "cost of errors";
//!     }
//! }
//! ```
//!
//! A line is field, type, default, allowed values, and one line of documentation; a description of the default may
//! follow the allowed values. It generates the field with its documentation, `Default`, `TABLE` (which help, flags,
//! `--set` and Python read), `check` and the JSON of files. `where Self::f` names a function that checks combinations
//! of parameters.

use std::any::Any;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::param::Param;

/// Declares a struct of parameters. See the module's documentation.
macro_rules! params {
    (
        $(#[$about:meta])*
        pub struct $name:ident $(where $more:path)? {
            $(
                $(#[$meta:meta])*
                $field:ident : $type:ty = $default:expr, $allowed:expr $(, $words:literal)? => $doc:literal;
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                #[doc = $doc]
                #[doc = ""]
                $(#[$meta])*
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),* }
            }
        }

        impl $name {
            /// Names, ranges, defaults, documentation.
            pub const TABLE: &'static [$crate::param::Param] = {
                use $crate::param::Allowed::*;
                &[$($crate::param::Param::new(
                    stringify!($field),
                    $allowed,
                    Some($crate::model::param::default_words(&[$($words,)? stringify!($default)])),
                    $doc,
                )),*]
            };

            /// Fails if a parameter is outside its range.
            pub fn check(&self) -> $crate::error::Result<()> {
                $crate::model::param::check(Self::TABLE, &[$(&self.$field),*])?;
                $($more(self)?;)?
                Ok(())
            }
        }

        impl $crate::model::learners::Declared for $name {
            fn table(&self) -> &'static [$crate::param::Param] {
                Self::TABLE
            }

            fn check(&self) -> $crate::error::Result<()> {
                $name::check(self)
            }

            fn to_json(&self) -> $crate::error::Result<serde_json::Value> {
                serde_json::to_value(self).map_err(|e| $crate::error::Error::Unsupported(e.to_string()))
            }

            fn read_json(&mut self, written: serde_json::Value) -> serde_json::Result<()> {
                *self = serde_json::from_value(written)?;
                Ok(())
            }

            fn kernel(&self) -> Option<&$crate::kernel::Kernel> {
                self.kernel.as_ref()
            }

            fn set_kernel(&mut self, kernel: $crate::kernel::Kernel) {
                self.kernel = Some(kernel);
            }
        }
    };
}

pub(in crate::model) use params;

/// Serde for a number that may be infinite: a JSON number, or the text "inf" as [`written`](crate::param::written) has it.
pub(in crate::model) mod number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
    pub(in crate::model) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        crate::param::written(*value).serialize(to)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        match Written::deserialize(from)? {
            Written::Number(value) => Ok(value),
            Written::Text(text) if text == "inf" => Ok(f64::INFINITY),
            Written::Text(text) => Err(de::Error::custom(format!("`{text}` is not a number or inf"))),
        }
    }
}

/// The default in words: those given, or the expression, without a fraction that is 0.
pub(in crate::model) const fn default_words(all: &[&'static str]) -> &'static str {
    let text = all[0];
    let bytes = text.as_bytes();
    let n = bytes.len();
    if n > 2 && bytes[n - 2] == b'.' && bytes[n - 1] == b'0' { text.split_at(n - 2).0 } else { text }
}

/// Checks values against their rows; the error names the first one outside its range, its value and the range.
pub(in crate::model) fn check(table: &'static [Param], values: &[&dyn Any]) -> Result<()> {
    for (param, value) in table.iter().zip(values) {
        if let Some(number) = number(*value)
            && !param.allowed.holds(number)
        {
            return Err(Error::param(param.name, number, param.allowed.to_string()));
        }
        if let Some(kernel) = value.downcast_ref::<Option<Kernel>>().and_then(Option::as_ref) {
            kernel.check(None)?;
        }
    }
    Ok(())
}

/// A field as a number, if it is one.
fn number(value: &dyn Any) -> Option<f64> {
    if let Some(v) = value.downcast_ref::<f64>() {
        return Some(*v);
    }
    if let Some(v) = value.downcast_ref::<Option<f64>>() {
        return *v;
    }
    let whole = value.downcast_ref::<u64>().copied();
    let whole = whole.or_else(|| value.downcast_ref::<u32>().copied().map(u64::from));
    let whole = whole.or_else(|| value.downcast_ref::<Option<u64>>().copied().flatten());
    whole.map(|v| v as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{KpcaParams, Learner, LearnerEntry, SvcParams};
    use crate::param::Allowed;

    /// The words of a table are read by serde, and its defaults are the struct's.
    #[test]
    fn tables_say_what_the_structs_do() {
        let kpca = Learner::Kpca(KpcaParams::default());
        for learner in Learner::ALL.iter().map(LearnerEntry::learner).chain([kpca]) {
            // The learner of a row may be a form of its struct: what the table says is the struct's own default.
            for param in learner.table() {
                let name = param.name;
                let at = learner.get(name).unwrap_or_else(|| panic!("no field {name}"));
                let own = ["kind", "loss", "form", "rule"].contains(&name);
                let told = param.default.expect("every parameter of a learner has a default");
                match param.allowed {
                    Allowed::OneOf(words) => {
                        assert!(own || at == told, "{name}: {at} {told}");
                        for word in words {
                            let mut all = learner.params().expect("plain data");
                            all[name] = (*word).into();
                            assert!(learner.clone().with_params(&all).is_ok(), "{name} = {word}");
                        }
                    }
                    Allowed::WholeOrNone(_) | Allowed::Kernel => assert!(at.is_null(), "{name}"),
                    Allowed::Flag => assert_eq!(at.to_string(), told, "{name}"),
                    Allowed::ClassWeights | Allowed::Transformations => {}
                    _ => assert_eq!(at.as_f64(), told.parse().ok(), "{name}"),
                }
            }
            let line = learner.params().expect("plain data");
            assert_eq!(learner.clone().with_params(&line).expect("as written"), learner);
        }
    }

    #[test]
    fn values_outside_their_range_and_broken_kernels_are_named() {
        let bad = |params: SvcParams| params.check().expect_err("out of range").to_string();
        let c = SvcParams { c: f64::NAN, ..SvcParams::default() };
        assert_eq!(bad(c), "c = NaN: must be a number above 0, or inf");
        let none = SvcParams { max_iter: Some(0), ..SvcParams::default() };
        assert_eq!(bad(none), "max_iter = 0: must be a whole number of at least 1, or nothing");
        let kernel = Some(Kernel::Rbf { gamma: -1.0 });
        assert!(bad(SvcParams { virtual_kernel: kernel, ..SvcParams::default() }).contains("gamma"));
    }
}
