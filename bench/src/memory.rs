//! What the system tells of memory and load. Peaks can be forgotten between runs.

use std::fs;

/// Makes the kernel forget the peak so far. Where it cannot, peaks are since the start of the process.
pub(crate) fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak since the last reset, in MB of 10^6 bytes, where the system tells it.
pub(crate) fn peak_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// Processes that wanted a core during the last minute, where the system tells it.
pub(crate) fn load_average() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_seen_and_forgotten() {
        reset_peak();
        let before = peak_mb().expect("Linux tells it");
        let block = vec![1_u8; 200_000_000];
        let during = peak_mb().expect("Linux tells it");
        assert_eq!(
            block.iter().step_by(4096).map(|&b| usize::from(b)).sum::<usize>(),
            200_000_000_usize.div_ceil(4096)
        );
        assert!(during - before > 150.0, "{before} then {during}");
    }
}
