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
//! Printing gives the shortest decimals that read back the same, and leaves out what is at its default.

mod print;

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::kernel::table::{Entry, Param, Range, Value};
use crate::kernel::{Kernel, MAX_DEPTH};

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
    let mut reader = Reader { rest: line, depth: 0 };
    let kernel = reader.kernel().map_err(fail)?;
    reader.skip();
    if !reader.rest.is_empty() {
        return Err(fail(format!("`{}` is left over behind the kernel", head(reader.rest))));
    }
    kernel.check(None).map_err(|e| fail(e.to_string()))?;
    Ok(kernel)
}

/// What failed, in words; the line is added at the door.
type Read<T> = std::result::Result<T, String>;

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

fn head(rest: &str) -> String {
    rest.chars().take(20).collect()
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, token: char) -> bool {
        self.skip();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn expect(&mut self, token: char, after: &str) -> Read<()> {
        if self.eat(token) {
            return Ok(());
        }
        let got = if self.rest.is_empty() { "the end".to_owned() } else { format!("`{}`", head(self.rest)) };
        Err(format!("expected `{token}` after {after}, got {got}"))
    }

    fn kernel(&mut self) -> Read<Kernel> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        let mut terms = vec![self.term()?];
        while self.eat('+') {
            terms.push(self.term()?);
        }
        self.depth -= 1;
        Ok(if terms.len() == 1 { terms.remove(0) } else { Kernel::Sum(terms) })
    }

    fn term(&mut self) -> Read<Kernel> {
        let mut multiples = Vec::new();
        while self.at_number() {
            multiples.push(self.number()?);
            self.expect('*', "a factor")?;
        }
        let mut factors = vec![self.factor()?];
        while self.eat('*') {
            if self.at_number() {
                return Err("a number must stand before the kernels it multiplies: `2*linear`".into());
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
        while self.eat('^') {
            powers += 1;
            if powers > MAX_DEPTH {
                return Err(format!("more than {MAX_DEPTH} powers"));
            }
            let Value::Whole(degree) = whole(self.decimal()?) else {
                return Err("a power must be a whole number of at least 1".into());
            };
            kernel = Kernel::Power { degree, of: Box::new(kernel) };
        }
        Ok(kernel)
    }

    fn atom(&mut self) -> Read<Kernel> {
        if self.eat('(') {
            let kernel = self.kernel()?;
            self.expect(')', "the kernel in brackets")?;
            return Ok(kernel);
        }
        let name = self.name();
        if name.is_empty() {
            let got = if self.rest.is_empty() { "nothing".into() } else { format!("`{}`", head(self.rest)) };
            return Err(format!("expected a kernel, got {got}; kernels are {}", names()));
        }
        let lower = name.to_ascii_lowercase();
        let entry = Entry::find(&lower).ok_or_else(|| unknown_kernel(name))?;
        let mut given: Vec<Option<Value>> = vec![None; entry.params.len()];
        if self.eat('(') && !self.eat(')') {
            loop {
                self.argument(entry, &mut given)?;
                if self.eat(')') {
                    break;
                }
                self.expect(',', "an argument")?;
            }
        }
        let values = entry.params.iter().zip(given).map(|(param, value)| fill(entry, param, value));
        Ok((entry.build)(&values.collect::<Read<Vec<_>>>()?))
    }

    /// One argument of a call, put in its place. Kernels need no name.
    fn argument(&mut self, entry: &'static Entry, given: &mut [Option<Value>]) -> Read<()> {
        self.skip();
        let start = self.rest;
        let name = self.name();
        if name.is_empty() || !self.eat('=') {
            self.rest = start;
            let place = entry.params.iter().position(|p| matches!(p.range, Range::Kernel | Range::Kernels));
            let unnamed = || format!("`{}` needs a name; {}", head(start), parameters(entry));
            let place = place.filter(|_| !start.starts_with('[')).ok_or_else(unnamed)?;
            let number = self.at_number();
            // A number may start a kernel, as in `0.5*linear`; if it does not, it lacks its name.
            let kernel = self.kernel().map_err(|why| if number { unnamed() } else { why })?;
            return match (&mut given[place], entry.params[place].range) {
                (Some(Value::Kernels(kernels)), _) => {
                    kernels.push(kernel);
                    Ok(())
                }
                (slot @ None, Range::Kernels) => {
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
        let value = match entry.params[place].range {
            Range::Kernel => Value::Kernel(Box::new(self.kernel()?)),
            Range::Kernels => Value::Kernels(vec![self.kernel()?]),
            Range::Weights => Value::List(self.list()?.into()),
            Range::Whole(..) => whole(self.number()?),
            _ => Value::Real(self.number()?),
        };
        given[place] = Some(value);
        Ok(())
    }

    fn name(&mut self) -> &'a str {
        self.skip();
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let end = match self.rest.chars().next() {
            Some(c) if letter(c) => {
                self.rest.find(|c: char| !letter(c) && !c.is_ascii_digit()).unwrap_or(self.rest.len())
            }
            _ => 0,
        };
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    fn at_number(&mut self) -> bool {
        self.skip();
        self.rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
    }

    fn decimal(&mut self) -> Read<f64> {
        self.skip();
        let bytes = self.rest.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let sign = |at: usize| at + usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        let mut end = digits(sign(0));
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let exponent = digits(sign(end + 1));
            if bytes.get(exponent - 1).is_some_and(u8::is_ascii_digit) {
                end = exponent;
            }
        }
        let (number, rest) = self.rest.split_at(end);
        match number.parse::<f64>() {
            Ok(v) if v.is_finite() => {
                self.rest = rest;
                Ok(v)
            }
            _ => Err(format!("expected a number, got `{}`", head(self.rest))),
        }
    }

    fn number(&mut self) -> Read<f64> {
        let v = self.decimal()?;
        let v = if self.eat('/') {
            v / self.decimal()?
        } else if self.eat('^') {
            v.powf(self.decimal()?)
        } else {
            v
        };
        if v.is_finite() { Ok(v) } else { Err("a number that is not finite".into()) }
    }

    fn list(&mut self) -> Read<Vec<f64>> {
        if !self.eat('[') {
            return Ok(vec![self.number()?]);
        }
        let mut list = vec![self.number()?];
        while self.eat(',') {
            list.push(self.number()?);
        }
        self.expect(']', "a list")?;
        Ok(list)
    }
}

/// A whole number as such; anything else stays a real, which the range then refuses.
fn whole(v: f64) -> Value {
    if v.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&v) {
        Value::Whole(v as u32)
    } else {
        Value::Real(v)
    }
}

/// The value given, or the default; in range either way.
fn fill(entry: &'static Entry, param: &Param, value: Option<Value>) -> Read<Value> {
    let value = match (value, param.default) {
        (Some(value), _) => value,
        (None, Some(default)) => default_value(param.range, default),
        (None, None) => return Err(format!("{} lacks `{}`; {}", entry.name, param.name, parameters(entry))),
    };
    if param.range.admits(&value) {
        return Ok(value);
    }
    Err(format!("{} = {}: must be {}", param.name, show(&value), param.range))
}

fn default_value(range: Range, text: &str) -> Value {
    let number = text.parse().unwrap_or(f64::NAN);
    if matches!(range, Range::Whole(..)) { whole(number) } else { Value::Real(number) }
}

fn names() -> String {
    Kernel::ALL.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")
}

fn unknown_kernel(name: &str) -> String {
    if name.eq_ignore_ascii_case("custom") {
        return "a custom kernel is code of the program that made it and cannot be read from a line".into();
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

/// Letters to change, add or drop on the way from one word to the other.
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
fn parameters(entry: &Entry) -> String {
    if entry.params.is_empty() {
        return format!("{} has no parameters", entry.name);
    }
    let one = |p: &Param| match p.default {
        Some(default) => format!("{} ({}; default {default})", p.name, p.range),
        None => format!("{} ({})", p.name, p.range),
    };
    let list: Vec<String> = entry.params.iter().map(one).collect();
    format!("parameters of {} are {}", entry.name, list.join(", "))
}

#[cfg(test)]
mod tests;
