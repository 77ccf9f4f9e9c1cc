//! The memory limit, and the check that refuses allocations beyond it.
//!
//! Files declare sizes: a sparse row with one value may declare two billion columns. Stored data is bounded by the
//! size of the file; allocations derived from declared sizes must be checked here first. The rule: a working copy may
//! take [`MULTIPLE`] times the bytes of its source, plus the budget of the call
//! ([`Exec::memory`](crate::Exec::memory)). So the peak stays below a small multiple of the bytes read plus the
//! budget, and running out of it is an [`Error::Memory`], not an abort.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Result};

/// Used if the machine's memory cannot be determined.
const FALLBACK: u64 = 8 << 30;

/// Size of a working copy that is allowed without a budget, in multiples of its source.
pub const MULTIPLE: u64 = 16;

/// Half of the memory available to this process, in bytes: the smallest of the machine's memory, the limit of its
/// control group (version 1 or 2), and the limit on its address space (`ulimit -v`).
pub fn half_of_ram() -> usize {
    static HALF: OnceLock<usize> = OnceLock::new();
    *HALF.get_or_init(|| {
        let least = [total(), group(), address_space()].into_iter().flatten().min();
        usize::try_from(least.unwrap_or(FALLBACK) / 2).unwrap_or(usize::MAX)
    })
}

/// Fails if an allocation of `needed` bytes from data of `held` bytes exceeds `memory` bytes plus a multiple of
/// `held`. `what` is the subject of the message.
///
/// ```
/// use mercer::exec::room;
/// assert!(room("a small table", 1 << 20, 0, 1 << 20).is_ok());
/// let error = room("a dense copy of 3 rows", u128::MAX, 36, 1 << 20).unwrap_err().to_string();
/// assert!(error.starts_with("a dense copy of 3 rows needs"), "{error}");
/// ```
pub fn room(what: &str, needed: u128, held: u128, memory: u64) -> Result<()> {
    let allowed = held.saturating_mul(u128::from(MULTIPLE)).saturating_add(u128::from(memory));
    if needed <= allowed {
        return Ok(());
    }
    let short = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
    Err(Error::Memory { what: what.to_owned(), needed: short(needed), allowed: short(allowed) })
}

/// [`room`] for a dense table of `rows` x `columns` values of 8 bytes.
pub(crate) fn room_for_table(
    what: &str,
    rows: usize,
    columns: usize,
    held: usize,
    memory: u64,
) -> Result<()> {
    let bytes = (rows as u128 * columns as u128).saturating_mul(8);
    if bytes <= u128::from(MULTIPLE) * held as u128 {
        return Ok(());
    }
    room(&format!("{what} ({rows} x {columns} values)"), bytes, held as u128, memory)
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The machine's memory (Linux).
fn total() -> Option<u64> {
    let text = text("/proc/meminfo")?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// The smallest limit of this process's control groups and their parents (Linux).
fn group() -> Option<u64> {
    limits(&text("/proc/self/cgroup")?, Path::new("/sys/fs/cgroup")).into_iter().min()
}

/// All limits of the control groups in `/proc/self/cgroup`. Inside a container the path is the host's and does not
/// exist there; the root group then has the limit.
fn limits(lines: &str, root: &Path) -> Vec<u64> {
    let mut out = Vec::new();
    for line in lines.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (base, file): (PathBuf, &str) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|c| c == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            continue;
        };
        let own = base.join(path.trim_start_matches('/'));
        let groups = own.ancestors().take_while(|group| group.starts_with(&base));
        // `max` means no limit; version 1 writes a number near 2^63 instead.
        out.extend(groups.filter_map(|group| text(group.join(file))?.trim().parse::<u64>().ok()));
    }
    out
}

/// The limit on this process's address space (Linux).
fn address_space() -> Option<u64> {
    soft_limit(&text("/proc/self/limits")?)
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_both_versions_and_of_groups_above_count() {
        let root = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let file = root.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        };
        put("memory.max", "max\n");
        put("a/memory.max", "3000\n");
        put("a/b/memory.max", "5000\n");
        put("memory/memory.limit_in_bytes", "9223372036854771712\n");
        put("memory/docker/x/memory.limit_in_bytes", "4000\n");
        let of = |lines: &str| limits(lines, root.path()).into_iter().min();
        assert_eq!(of("0::/a/b\n"), Some(3000));
        assert_eq!(of("0::/\n"), None);
        assert_eq!(of("0::/not/here\n"), None);
        assert_eq!(of("4:memory:/docker/x\n3:cpu:/a\n"), Some(4000));
        assert_eq!(of("4:cpu,memory:/\n"), Some(9_223_372_036_854_771_712));
        assert_eq!(of("garbage\n"), None);
    }

    #[test]
    fn the_limit_on_the_address_space_is_read() {
        let line = "Limit                     Soft Limit           Hard Limit           Units     \n";
        let space = |soft: &str| {
            format!("{line}Max address space         {soft}   unlimited            bytes     \n")
        };
        assert_eq!(soft_limit(&space("2147483648")), Some(1 << 31));
        assert_eq!(soft_limit(&space("unlimited ")), None);
        assert_eq!(soft_limit(line), None);
    }

    #[test]
    fn what_is_held_counts_and_no_size_overflows() {
        assert!(half_of_ram() > 0);
        let huge =
            room_for_table("a copy", usize::MAX, usize::MAX, 12, 1 << 40).expect_err("too much").to_string();
        assert!(huge.contains("a copy (18446744073709551615 x"), "{huge}");
        // A copy of data that are there is allowed whatever the limit.
        assert!(room("a copy", u128::from(u64::MAX), u128::from(u64::MAX / 16 + 1), 1).is_ok());
        assert!(room("a copy", u128::from(u64::MAX), 0, 1 << 40).is_err());
    }
}
