//! Memory limits of reading: memory is granted piece by piece, never by a file's declared size alone.
//!
//! By default a source may use [`MULTIPLE`] times its (compressed) size plus [`ReadOptions::memory`]: a small file
//! that decompresses to a large one, or declares many columns, exceeds this and is refused.

use super::ReadOptions;
use crate::error::{Error, Result};
use crate::exec::{MULTIPLE, half_of_ram};

/// Memory per column in summaries of dense data, besides its values: name, range, mean.
const COLUMN: u64 = 128;

/// Bytes that the data may take in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    bytes: u64,
    given: bool,
}

impl Budget {
    /// The requested limit, or the default for the source.
    pub(super) fn new(asked: Option<u64>, memory: Option<u64>) -> Self {
        let memory = memory.unwrap_or_else(|| half_of_ram() as u64);
        Budget { bytes: asked.unwrap_or(memory), given: asked.is_some() }
    }

    /// The limits of a reader's options.
    pub(super) fn of(options: &ReadOptions) -> Self {
        Self::new(options.max_bytes, options.memory)
    }

    /// The same for a source of this (compressed) size; `None`: not known.
    pub(super) fn with_source(self, len: Option<u64>) -> Self {
        let (false, Some(len)) = (self.given, len) else { return self };
        // Never more than the machine has.
        let most = half_of_ram() as u64 / 2 * 3;
        Budget {
            bytes: self.bytes.saturating_add(len.saturating_mul(MULTIPLE)).min(most.max(self.bytes)),
            ..self
        }
    }

    /// The limit.
    pub(super) fn bytes(self) -> u64 {
        self.bytes
    }

    /// Whether this many values of this many bytes fit.
    pub(super) fn allows(self, values: u128, bytes_each: u64) -> bool {
        values.saturating_mul(u128::from(bytes_each)) <= u128::from(self.bytes)
    }

    /// Fails if the limit is exceeded; `line` is the position in a text file.
    pub(super) fn check(self, source: &str, line: Option<u64>, values: usize, bytes_each: u64) -> Result<()> {
        if self.allows(values as u128, bytes_each) {
            return Ok(());
        }
        let place = line.map(|line| format!(", line {line}")).unwrap_or_default();
        Err(self
            .error(format!("{source}{place}: the data up to here"), values as u128 * u128::from(bytes_each)))
    }

    /// Fails if a table of n x d values exceeds the limit, or if summaries of its columns would.
    pub(super) fn check_table(self, source: &str, n: usize, d: usize, bytes_each: u64) -> Result<()> {
        let needed = (n as u128 * d as u128)
            .saturating_mul(u128::from(bytes_each))
            .saturating_add(d as u128 * u128::from(COLUMN));
        if needed <= u128::from(self.bytes) {
            return Ok(());
        }
        Err(self.error(format!("{source}: a dense table of {n} rows and {d} columns"), needed))
    }

    fn error(self, what: String, needed: u128) -> Error {
        Error::Memory { what, needed: u64::try_from(needed).unwrap_or(u64::MAX), allowed: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_exact_and_named() {
        let budget = Budget::new(Some(80), None);
        assert!(budget.check("f", None, 10, 8).is_ok());
        let message = budget.check("f", Some(3), 11, 8).expect_err("one too many").to_string();
        assert_eq!(
            message,
            "f, line 3: the data up to here needs 88 bytes of memory, more than the 80 bytes allowed"
        );
        assert!(budget.check_table("f", usize::MAX, usize::MAX, 8).is_err());
        assert_eq!(budget.with_source(Some(1 << 30)).bytes(), 80, "what was asked for stays");
    }

    #[test]
    fn columns_cost_more_than_their_values() {
        let budget = Budget::new(Some(1 << 20), None);
        assert!(budget.check_table("f", 1, 1 << 12, 4).is_ok());
        assert!(budget.check_table("f", 1, 1 << 14, 4).is_err());
    }

    #[test]
    fn there_is_a_limit_when_none_is_asked_and_files_raise_it() {
        let budget = Budget::new(None, None);
        assert!(!budget.allows(u128::from(u64::MAX), 8));
        assert!(budget.allows(1 << 20, 8));
        assert_eq!(budget.with_source(Some(1 << 20)).bytes(), budget.bytes() + (16 << 20));
        assert!(budget.with_source(Some(u64::MAX)).bytes() < u64::MAX / 2);
    }
}
