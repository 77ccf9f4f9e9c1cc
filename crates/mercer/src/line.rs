//! The parser of everything written as one line of text: kernels, stages, transformations.
//!
//! It reads blanks, names, numbers and single characters; the grammar is in its callers.

/// A value, or an error message, to which callers add the line.
pub(crate) type Read<T> = std::result::Result<T, String>;

/// The unread part of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// What has not been read yet.
    pub(crate) rest: &'a str,
}

/// The first characters of a text, for a message.
pub(crate) fn head(rest: &str) -> String {
    rest.chars().take(20).collect()
}

impl<'a> Reader<'a> {
    /// A reader at the start of a line.
    pub(crate) fn new(line: &'a str) -> Self {
        Reader { rest: line }
    }

    /// Skips blanks.
    pub(crate) fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Whether the next character is this one, which is then read.
    pub(crate) fn eat(&mut self, token: char) -> bool {
        self.skip();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    /// Reads this character, or fails with what is there instead.
    pub(crate) fn expect(&mut self, token: char, after: &str) -> Read<()> {
        if self.eat(token) {
            return Ok(());
        }
        let got = if self.rest.is_empty() { "the end".to_owned() } else { format!("`{}`", head(self.rest)) };
        Err(format!("expected `{token}` after {after}, got {got}"))
    }

    /// A name: letters, digits and underscores, not starting with a digit. Empty where there is none.
    pub(crate) fn name(&mut self) -> &'a str {
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

    /// Whether a number comes next.
    pub(crate) fn at_number(&mut self) -> bool {
        self.skip();
        self.rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
    }

    /// A decimal number.
    pub(crate) fn decimal(&mut self) -> Read<f64> {
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

    /// A number: `0.5`, `1/256`, `2^-7`.
    pub(crate) fn number(&mut self) -> Read<f64> {
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

    /// Numbers in square brackets, or a single number.
    pub(crate) fn list(&mut self) -> Read<Vec<f64>> {
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

    /// A name that may hold dashes, as those of stages do.
    pub(crate) fn dashed_name(&mut self) -> &'a str {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name
    }

    /// The text up to one of these characters, without the blanks around it.
    pub(crate) fn until(&mut self, stops: &[char]) -> &'a str {
        let (text, rest) = self.rest.split_at(self.rest.find(stops).unwrap_or(self.rest.len()));
        self.rest = rest;
        text.trim()
    }

    /// Whether only blanks are left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.skip();
        self.rest.is_empty()
    }
}

/// A text that is a number and nothing else.
pub(crate) fn number(text: &str) -> Option<f64> {
    let mut reader = Reader::new(text);
    let value = reader.number().ok()?;
    reader.is_done().then_some(value)
}
