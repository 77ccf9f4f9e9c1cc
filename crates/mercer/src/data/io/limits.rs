//! How much memory reading may take: what a file asks for is granted piece by piece, never on its word alone.

use crate::error::{Error, Result};

/// The limit where the system does not say how much memory it has.
const FALLBACK: u64 = 8 << 30;

/// Bytes that what is read may take in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    bytes: u64,
}

impl Budget {
    /// The limit asked for, or three quarters of the memory that is free.
    pub(super) fn new(asked: Option<u64>) -> Self {
        Budget { bytes: asked.or_else(|| free_memory().map(|b| b / 4 * 3)).unwrap_or(FALLBACK) }
    }

    /// The limit.
    pub(super) fn bytes(self) -> u64 {
        self.bytes
    }

    /// Whether this many values of this many bytes fit.
    pub(super) fn allows(self, values: u128, bytes_each: u64) -> bool {
        values.saturating_mul(u128::from(bytes_each)) <= u128::from(self.bytes)
    }

    /// Refuses what does not fit; `line` is where the limit was passed, in a text file.
    pub(super) fn check(self, source: &str, line: Option<u64>, values: usize, bytes_each: u64) -> Result<()> {
        if self.allows(values as u128, bytes_each) {
            return Ok(());
        }
        Err(crate::error::Fault {
            source: Some(source.to_owned()),
            line,
            got: Some(format!("{values} values of {bytes_each} bytes")),
            expected: format!("at most {} bytes in memory (`max_bytes`)", self.bytes),
            ..Default::default()
        }
        .into())
    }

    /// Refuses a table of n x d values that does not fit.
    pub(super) fn check_table(self, source: &str, n: usize, d: usize, bytes_each: u64) -> Result<()> {
        if self.allows(n as u128 * d as u128, bytes_each) {
            return Ok(());
        }
        Err(Error::from(crate::error::Fault {
            source: Some(source.to_owned()),
            got: Some(format!("{n} rows of {d} columns, {bytes_each} bytes each value")),
            expected: format!("at most {} bytes in memory (`max_bytes`)", self.bytes),
            ..Default::default()
        }))
    }
}

/// Memory that can be had without swapping, where the system tells (Linux).
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_exact_and_named() {
        let budget = Budget::new(Some(80));
        assert!(budget.check("f", None, 10, 8).is_ok());
        let message = budget.check("f", Some(3), 11, 8).expect_err("one too many").to_string();
        assert_eq!(
            message,
            "f, line 3: got 11 values of 8 bytes, expected at most 80 bytes in memory (`max_bytes`)"
        );
        assert!(budget.check_table("f", usize::MAX, usize::MAX, 8).is_err());
    }

    #[test]
    fn there_is_a_limit_when_none_is_asked() {
        assert!(!Budget::new(None).allows(u128::from(u64::MAX), 8));
        assert!(Budget::new(None).allows(1 << 20, 8));
    }
}
