//! SPDX licence expressions: `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0`, the old `MIT/Apache-2.0`.
//!
//! `WITH` binds tightest, then `AND`, then `OR`.

use anyhow::{Result, bail};

/// Whether the expression can be met with accepted licences alone.
pub(crate) fn is_met(expression: &str, accepted: &dyn Fn(&str) -> bool) -> Result<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, at: 0, accepted };
    let met = reader.any()?;
    if reader.at != words.len() {
        bail!("licence `{expression}`: `{}` was not expected", words[reader.at]);
    }
    Ok(met)
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    accepted: &'a dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|w| w.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<bool> {
        let mut met = self.all()?;
        while self.takes("OR") {
            met |= self.all()?;
        }
        Ok(met)
    }

    fn all(&mut self) -> Result<bool> {
        let mut met = self.one()?;
        while self.takes("AND") {
            met &= self.one()?;
        }
        Ok(met)
    }

    fn one(&mut self) -> Result<bool> {
        if self.takes("(") {
            let met = self.any()?;
            if !self.takes(")") {
                bail!("licence `{}`: a bracket is not closed", self.words.join(" "));
            }
            return Ok(met);
        }
        let mut name = self.word()?.to_owned();
        if self.takes("WITH") {
            name = format!("{name} WITH {}", self.word()?);
        }
        Ok((self.accepted)(&name))
    }

    fn word(&mut self) -> Result<&str> {
        match self.words.get(self.at) {
            Some(&word) if !["OR", "AND", "WITH", "(", ")"].contains(&word) => {
                self.at += 1;
                Ok(word)
            }
            got => bail!("licence `{}`: got {got:?}, expected a licence's name", self.words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expression: &str) -> bool {
        let accepted = |name: &str| ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].contains(&name);
        is_met(expression, &accepted).expect("well formed")
    }

    #[test]
    fn or_needs_one_and_needs_all() {
        assert!(met("MIT"));
        assert!(!met("GPL-3.0"));
        assert!(met("GPL-3.0 OR MIT"));
        assert!(!met("GPL-3.0 AND MIT"));
        assert!(met("MIT/GPL-2.0"));
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert!(met("MIT OR Apache-2.0 AND GPL-3.0"));
        assert!(!met("(MIT OR Apache-2.0) AND GPL-3.0"));
        assert!(met("GPL-3.0 AND NCSA OR MIT"));
    }

    #[test]
    fn an_exception_is_part_of_the_name() {
        assert!(met("Apache-2.0 WITH LLVM-exception"));
        assert!(!met("MIT WITH LLVM-exception"));
        assert!(met("Apache-2.0 WITH LLVM-exception AND MIT"));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in ["", "MIT OR", "(MIT", "MIT)", "OR MIT", "MIT MIT", "MIT WITH"] {
            assert!(is_met(bad, &|_| true).is_err(), "`{bad}` was accepted");
        }
    }
}
