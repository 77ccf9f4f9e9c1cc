//! Kernels as one line: `0.5*rbf(gamma=1/128) + poly(degree=3)^2`.
//!
//! ```text
//! kernel := term ('+' term)*                   a sum
//! term   := (number '*')* factor ('*' factor)*  multiples of a product
//! factor := atom ('^' whole)*                  powers
//! atom   := '(' kernel ')' | name | name '(' argument (',' argument)* ')'
//! argument := [name '='] (number | list | kernel)
//! number := decimal ['/' decimal | '^' whole]   1/256, 2^-7
//! list   := '[' number (',' number)* ']'
//! ```
//!
//! Printing gives the shortest decimals that read back unchanged, and omits parameters at their defaults.

mod print;

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::kernel::table::{KernelEntry, Value, admits};
use crate::kernel::{Kernel, MAX_DEPTH};
use crate::line::{Read, Reader, head};
use crate::param::{Allowed, Param};

pub(super) use print::show;

impl FromStr for Kernel {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self> {
        parse(line)
    }
}

pub(super) fn parse(line: &str) -> Result<Kernel> {
    let fail = |why: String| {
        let mut shown: String = line.chars().take(200).collect();
        if shown.len() < line.len() {
            shown.push_str("...");
        }
        Error::Kernel { line: shown, why }
    };
    let mut reader = Kernels { at: Reader::new(line), depth: 0 };
    let kernel = reader.kernel().map_err(fail)?;
    reader.at.skip();
    if !reader.at.rest.is_empty() {
        return Err(fail(format!("`{}` is unexpected after the kernel", head(reader.at.rest))));
    }
    kernel.check(None).map_err(|e| fail(e.to_string()))?;
    Ok(kernel)
}

/// A parser of kernels with its nesting depth.
struct Kernels<'a> {
    at: Reader<'a>,
    depth: usize,
}

impl Kernels<'_> {
    fn kernel(&mut self) -> Read<Kernel> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        let mut terms = vec![self.term()?];
        while self.at.eat('+') {
            terms.push(self.term()?);
        }
        self.depth -= 1;
        Ok(if terms.len() == 1 { terms.remove(0) } else { Kernel::Sum(terms) })
    }

    fn term(&mut self) -> Read<Kernel> {
        let mut multiples = Vec::new();
        while self.at.at_number() {
            multiples.push(self.at.number()?);
            self.at.expect('*', "a factor")?;
        }
        let mut factors = vec![self.factor()?];
        while self.at.eat('*') {
            if self.at.at_number() {
                return Err("a number must come before the kernels that it multiplies: `2*linear`".into());
            }
            factors.push(self.factor()?);
        }
        let product = if factors.len() == 1 { factors.remove(0) } else { Kernel::Product(factors) };
        if multiples.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} factors"));
        }
        let scaled = |of, factor| Kernel::Scaled { factor, of: Box::new(of) };
        Ok(multiples.into_iter().rev().fold(product, scaled))
    }

    fn factor(&mut self) -> Read<Kernel> {
        let mut kernel = self.atom()?;
        let mut powers = 0;
        while self.at.eat('^') {
            powers += 1;
            if powers > MAX_DEPTH {
                return Err(format!("more than {MAX_DEPTH} powers"));
            }
            let Value::Whole(degree) = whole(self.at.decimal()?) else {
                return Err("a power must be a whole number of at least 1".into());
            };
            kernel = Kernel::Power { degree, of: Box::new(kernel) };
        }
        Ok(kernel)
    }

    fn atom(&mut self) -> Read<Kernel> {
        if self.at.eat('(') {
            let kernel = self.kernel()?;
            self.at.expect(')', "the kernel in brackets")?;
            return Ok(kernel);
        }
        let name = self.at.name();
        if name.is_empty() {
            let got =
                if self.at.rest.is_empty() { "nothing".into() } else { format!("`{}`", head(self.at.rest)) };
            return Err(format!("expected a kernel, got {got}; kernels are {}", names()));
        }
        let lower = name.to_ascii_lowercase();
        let entry = KernelEntry::find(&lower).ok_or_else(|| unknown_kernel(name))?;
        let mut given: Vec<Option<Value>> = vec![None; entry.params.len()];
        if self.at.eat('(') && !self.at.eat(')') {
            loop {
                self.argument(entry, &mut given)?;
                if self.at.eat(')') {
                    break;
                }
                self.at.expect(',', "an argument")?;
            }
        }
        let values = entry.params.iter().zip(given).map(|(param, value)| fill(entry, param, value));
        Ok((entry.build)(&values.collect::<Read<Vec<_>>>()?))
    }

    /// Assigns one argument of a call. Kernels need no name.
    fn argument(&mut self, entry: &'static KernelEntry, given: &mut [Option<Value>]) -> Read<()> {
        self.at.skip();
        let start = self.at.rest;
        let name = self.at.name();
        if name.is_empty() || !self.at.eat('=') {
            self.at.rest = start;
            let place =
                entry.params.iter().position(|p| matches!(p.allowed, Allowed::Kernel | Allowed::Kernels));
            let unnamed = || format!("`{}` needs a name; {}", head(start), parameters(entry));
            let place = place.filter(|_| !start.starts_with('[')).ok_or_else(unnamed)?;
            let number = self.at.at_number();
            // A number may start a kernel, as in `0.5*linear`; otherwise its parameter name is missing.
            let kernel = self.kernel().map_err(|why| if number { unnamed() } else { why })?;
            return match (&mut given[place], entry.params[place].allowed) {
                (Some(Value::Kernels(kernels)), _) => {
                    kernels.push(kernel);
                    Ok(())
                }
                (slot @ None, Allowed::Kernels) => {
                    *slot = Some(Value::Kernels(vec![kernel]));
                    Ok(())
                }
                (slot @ None, _) => {
                    *slot = Some(Value::Kernel(Box::new(kernel)));
                    Ok(())
                }
                _ => Err(format!("{} takes one kernel", entry.name)),
            };
        }
        let Some(place) = entry.params.iter().position(|p| p.name == name) else {
            return Err(format!("{} has no parameter `{name}`; {}", entry.name, parameters(entry)));
        };
        if given[place].is_some() {
            return Err(format!("{name} is given twice"));
        }
        let value = match entry.params[place].allowed {
            Allowed::Kernel => Value::Kernel(Box::new(self.kernel()?)),
            Allowed::Kernels => Value::Kernels(vec![self.kernel()?]),
            Allowed::Weights => Value::List(self.at.list()?.into()),
            Allowed::Count(..) => whole(self.at.number()?),
            _ => Value::Real(self.at.number()?),
        };
        given[place] = Some(value);
        Ok(())
    }
}

/// An integer as such; other numbers stay reals, which the range check then refuses.
fn whole(v: f64) -> Value {
    if v.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&v) {
        Value::Whole(v as u32)
    } else {
        Value::Real(v)
    }
}

/// The given value or the default, checked against its range.
fn fill(entry: &'static KernelEntry, param: &Param, value: Option<Value>) -> Read<Value> {
    let value = match (value, param.default) {
        (Some(value), _) => value,
        (None, Some(default)) => default_value(param.allowed, default),
        (None, None) => return Err(format!("{} lacks `{}`; {}", entry.name, param.name, parameters(entry))),
    };
    if admits(param.allowed, &value) {
        return Ok(value);
    }
    Err(format!("{} = {}: must be {}", param.name, show(&value), param.allowed))
}

fn default_value(allowed: Allowed, text: &str) -> Value {
    let number = text.parse().unwrap_or(f64::NAN);
    if matches!(allowed, Allowed::Count(..)) { whole(number) } else { Value::Real(number) }
}

fn names() -> String {
    Kernel::ALL.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")
}

fn unknown_kernel(name: &str) -> String {
    if name.eq_ignore_ascii_case("custom") {
        return "a custom kernel is code and cannot be read from a line".into();
    }
    let lower = name.to_ascii_lowercase();
    let all = || Kernel::ALL.iter().flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied()));
    let near = |known: &str| {
        known.starts_with(lower.as_str())
            || lower.starts_with(known)
            || edits(&lower, known) <= 2.min(known.len() / 2)
    };
    let mut close: Vec<&str> = all().filter(|known| near(known)).collect();
    close.sort_by_key(|known| edits(&lower, known));
    close.truncate(3);
    if close.is_empty() {
        format!("no kernel is called `{}`; kernels are {}", head(name), names())
    } else {
        format!("no kernel is called `{}`; did you mean {}?", head(name), close.join(" or "))
    }
}

/// Levenshtein distance between two words.
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(40).collect();
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (j, cb) in b.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = j + 1;
        for i in 0..a.len() {
            let change = diagonal + usize::from(a[i] != cb);
            diagonal = row[i + 1];
            row[i + 1] = change.min(row[i] + 1).min(diagonal + 1);
        }
    }
    row[a.len()]
}

/// The parameters of a kernel, for messages.
fn parameters(entry: &KernelEntry) -> String {
    if entry.params.is_empty() {
        return format!("{} has no parameters", entry.name);
    }
    let one = |p: &Param| match p.default {
        Some(default) => format!("{} ({}; default {default})", p.name, p.allowed),
        None => format!("{} ({})", p.name, p.allowed),
    };
    let list: Vec<String> = entry.params.iter().map(one).collect();
    format!("parameters of {} are {}", entry.name, list.join(", "))
}

#[cfg(test)]
mod tests;
