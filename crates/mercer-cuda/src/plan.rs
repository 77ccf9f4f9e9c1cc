//! Whether a call is worth a device: by counts of multiply-adds, never by a clock, so that the same call always goes the
//! same way.
//!
//! Starting a device costs some 0.3 seconds once per process, in which each thread of the CPU does some 1e10 multiply-adds.
//! Once it runs, what counts is copying: a value that goes back to the host costs as much as some 64 columns of its product.

/// Multiply-adds a thread below which a device that is not running stays off.
const START: f64 = 1e10;
/// The same where it runs already.
const RUNNING: f64 = 2e8;

/// What is known of a device before a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// Whether the device was asked for by name: then it takes whatever it can do.
    pub(crate) named: bool,
    /// Whether it runs.
    pub(crate) running: bool,
    /// Threads that the CPU has for the call.
    pub(crate) threads: usize,
}

impl Rule {
    fn worth(self, work: f64) -> bool {
        let each = work / self.threads.max(1) as f64;
        self.named || each >= if self.running { RUNNING } else { START }
    }

    /// Rows for solvers: each is read many times, which counts like 64 columns.
    pub(crate) fn rows(self, n: usize, d: usize) -> bool {
        self.worth(n as f64 * n as f64 * (d as f64 + 64.0))
    }

    /// Values of n rows against m centres, tens of products with them, and two factors of order m.
    pub(crate) fn columns(self, n: usize, m: usize, d: usize) -> bool {
        let (n, m) = (n as f64, m as f64);
        self.worth(n * m * (d as f64 + 256.0) + m * m * m)
    }

    /// A sum against m centres with k outputs.
    pub(crate) fn apply(self, n: usize, m: usize, d: usize, k: usize) -> bool {
        self.worth(n as f64 * m as f64 * (d + k) as f64)
    }

    /// A block that is copied back.
    pub(crate) fn block(self, n: usize, m: usize, d: usize) -> bool {
        self.named || (d >= 64 && self.worth(n as f64 * m as f64 * (d as f64 - 32.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_stays_on_the_cpu_and_a_named_device_takes_all() {
        let auto = Rule { named: false, running: false, threads: 16 };
        // Digits of 16 x 16, letters and a table of few columns are done on the CPU before a device has started.
        assert!(!auto.rows(7291, 256) && !auto.rows(15_000, 16) && !auto.rows(40_000, 10));
        assert!(auto.rows(60_000, 784) && auto.rows(32_561, 123) && auto.rows(49_990, 22));
        // So are decision values of 10,000 digits, but not of 60,000.
        assert!(!auto.apply(10_000, 13_000, 784, 45) && auto.apply(60_000, 13_000, 784, 45));
        assert!(auto.columns(60_000, 20_000, 784) && !auto.columns(20_000, 1000, 20));
        let two = Rule { threads: 2, ..auto };
        assert!(two.rows(40_000, 10) && !two.rows(7291, 256) && two.apply(10_000, 13_000, 784, 45));
        let running = Rule { running: true, ..auto };
        assert!(running.rows(7291, 256) && running.rows(15_000, 16) && !running.rows(1000, 256));
        assert!(running.apply(10_000, 13_000, 784, 45) && !running.apply(100, 13_000, 784, 45));
        // Values of few columns cost more to copy than to compute.
        assert!(!running.block(60_000, 60_000, 10) && running.block(20_000, 20_000, 784));
        let named = Rule { named: true, ..auto };
        assert!(named.rows(1, 1) && named.block(1, 1, 1) && named.apply(1, 1, 1, 1));
    }
}
