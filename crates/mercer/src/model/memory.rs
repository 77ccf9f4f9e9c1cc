//! How much memory kernel values may take if nobody says: half of what the machine, or its container, has.

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
