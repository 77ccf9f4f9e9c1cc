//! Calls written as text: `name`, `name(1, 2)` or `name(key=value, ...)`, parsed by a table of arguments.
//!
//! The tables of stages and of image transformations are such tables: help and parser both use them and cannot
//! disagree.

use std::fmt;

use crate::error::{Error, Result};
use crate::line::{Reader, number};
use crate::param::{Allowed, Param};

/// A row of a table of arguments, whose values are described in words. An empty default means that the argument is
/// required.
pub(super) const fn arg(
    name: &'static str,
    default: &'static str,
    allowed: &'static str,
    doc: &'static str,
) -> Param {
    let default = if default.is_empty() { None } else { Some(default) };
    Param::new(name, Allowed::Words(allowed), default, doc)
}

/// A parsed call: the name, and the arguments in the order of a table.
#[derive(Debug)]
pub(super) struct Call<'a> {
    name: &'a str,
    args: Vec<(Option<&'a str>, &'a str)>,
}

impl<'a> Call<'a> {
    /// Takes `name(a, key=b)` apart. `what` is what the line describes, for the message.
    pub(super) fn parse(what: &str, line: &'a str) -> Result<Self> {
        let wrong =
            || Error::param(what, format!("`{line}`"), "written as name or name(argument, key=value)");
        let mut reader = Reader::new(line);
        let (name, mut args) = (reader.dashed_name(), Vec::new());
        if name.is_empty() {
            return Err(wrong());
        }
        if reader.eat('(') && !reader.eat(')') {
            loop {
                let start = reader;
                let key = Some(reader.name()).filter(|key| !key.is_empty() && reader.eat('='));
                if key.is_none() {
                    reader = start;
                }
                let value = reader.until(&[',', ')']);
                if value.is_empty() {
                    return Err(wrong());
                }
                args.push((key, value));
                if !reader.eat(',') {
                    break;
                }
            }
            if !reader.eat(')') {
                return Err(wrong());
            }
        }
        if !reader.is_done() {
            return Err(wrong());
        }
        Ok(Call { name, args })
    }

    /// The name before the bracket.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// The arguments in the table's order: given by place first, then by name, else the default.
    pub(super) fn bind(&self, table: &'static [Param]) -> Result<Args> {
        let mut values: Vec<Option<String>> = vec![None; table.len()];
        let names = || table.iter().map(|a| a.name).collect::<Vec<_>>().join(", ");
        for (place, &(key, value)) in self.args.iter().enumerate() {
            let slot = match key {
                None if self.args[..place].iter().any(|a| a.0.is_some()) => {
                    return Err(Error::param(
                        self.name,
                        format!("`{value}` after a named argument"),
                        "given with unnamed arguments first",
                    ));
                }
                None => place,
                Some(key) => table.iter().position(|a| a.name == key).unwrap_or(usize::MAX),
            };
            if slot >= table.len() {
                let allowed = if table.is_empty() { "without arguments".into() } else { names() };
                return Err(Error::param(format!("{} argument", self.name), key.unwrap_or(value), allowed));
            }
            if values[slot].replace(value.to_owned()).is_some() {
                return Err(Error::param(format!("{} {}", self.name, table[slot].name), value, "given once"));
            }
        }
        Ok(Args { name: self.name.to_owned(), table, values })
    }
}

/// Arguments bound to a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Args {
    name: String,
    table: &'static [Param],
    values: Vec<Option<String>>,
}

impl Args {
    /// The same in canonical form: numbers as decimals, including omitted ones; words only where they differ from the
    /// default.
    pub(super) fn settled(mut self) -> Self {
        let decimal = |text: &str| number(text).map_or(text.to_owned(), |v| v.to_string());
        for (value, param) in self.values.iter_mut().zip(self.table) {
            let given = value.as_deref().or(param.default).map(decimal);
            let is_word = param.default.is_some_and(|text| number(text).is_none());
            *value = given.filter(|text| !is_word || Some(text.as_str()) != param.default);
        }
        self
    }

    /// The text of an argument, as given or by default.
    pub(super) fn text(&self, key: &str) -> Result<&str> {
        let slot =
            self.table.iter().position(|a| a.name == key).expect("the table names every argument asked for");
        let arg = &self.table[slot];
        match &self.values[slot] {
            Some(value) => Ok(value),
            None => arg.default.ok_or_else(|| self.wrong(key, "nothing")),
        }
    }

    /// A number: `0.5`, `-1`, `1/255`.
    pub(super) fn real(&self, key: &str) -> Result<f64> {
        let text = self.text(key)?;
        number(text).ok_or_else(|| self.wrong(key, text))
    }

    /// A number, or the word that means none.
    pub(super) fn real_or(&self, key: &str, none: &str) -> Result<Option<f64>> {
        if self.text(key)? == none { Ok(None) } else { self.real(key).map(Some) }
    }

    /// A whole number from 0.
    pub(super) fn count(&self, key: &str) -> Result<usize> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.wrong(key, text))
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &str) -> Result<bool> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.wrong(key, text))
    }

    /// Fails where a value that could be read is not allowed.
    pub(super) fn need(&self, key: &str, ok: bool) -> Result<()> {
        if ok { Ok(()) } else { Err(self.wrong(key, self.text(key)?)) }
    }

    /// The message for a value the table does not allow.
    pub(super) fn wrong(&self, key: &str, got: &str) -> Error {
        let allowed = self.table.iter().find(|a| a.name == key).map_or(Allowed::Words(""), |a| a.allowed);
        Error::param(format!("{} {key}", self.name), got, allowed.to_string())
    }
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = self.table.iter().zip(&self.values);
        let list: Vec<String> =
            given.filter_map(|(param, v)| Some(format!("{}={}", param.name, v.as_ref()?))).collect();
        f.write_str(&list.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Param] = &[arg("lo", "0", "a number", ""), arg("hi", "", "a number", "")];

    fn pair(line: &str) -> Result<(f64, f64)> {
        let args = Call::parse("thing", line)?.bind(TABLE)?;
        Ok((args.real("lo")?, args.real("hi")?))
    }

    #[test]
    fn places_names_defaults_and_fractions() {
        for (line, want) in [
            ("t(1,2)", (1.0, 2.0)),
            (" t ( hi = 1/4 ) ", (0.0, 0.25)),
            ("t(-1, hi=3e2)", (-1.0, 300.0)),
            ("t(hi=1, lo=2)", (2.0, 1.0)),
        ] {
            assert_eq!(pair(line).expect(line), want);
        }
    }

    #[test]
    fn wrong_lines_are_refused_by_name() {
        for (line, part) in [
            ("t(1", "`t(1`"),
            ("t(1,)", "`t(1,)`"),
            ("", "``"),
            ("t(1,2,3)", "t argument = 3: must be lo, hi"),
            ("t(x=3)", "t argument = x"),
            ("t(1,2,lo=2)", "t lo = 2: must be given once"),
            ("t(1)", "t hi = nothing"),
            ("t(1,nan)", "t hi = nan: must be a number"),
            ("t(hi=1,2)", "after a named argument"),
            ("t(1,1/0)", "t hi = 1/0"),
        ] {
            let message = pair(line).expect_err(line).to_string();
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
