//! What a call may use of the machine: threads, a value that is passed, never a global, and memory.

/// The number of pieces a call may cut its work into. Pieces run on rayon's pool.
///
/// ```
/// use mercer::Par;
/// assert_eq!(Par::one().threads(), 1);
/// assert!(Par::default().threads() >= 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Par(usize);

impl Par {
    /// No second thread.
    pub fn one() -> Self {
        Par(1)
    }

    /// So many threads; 0 means as many as the machine has.
    pub fn new(threads: usize) -> Self {
        if threads == 0 { Self::default() } else { Par(threads) }
    }

    /// The number of threads.
    pub fn threads(self) -> usize {
        self.0
    }
}

impl Default for Par {
    fn default() -> Self {
        Par(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Used where the machine does not say how much it has.
const FALLBACK: usize = 4 << 30;

/// Half of the machine's memory, or of what a container may use, in bytes.
pub fn half_of_ram() -> usize {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok().map(|kib| kib * 1024)
    });
    let limit = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<usize>().ok());
    total.into_iter().chain(limit).min().unwrap_or(FALLBACK) / 2
}
