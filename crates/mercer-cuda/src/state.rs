//! The solver's structures as the device code has them. Mirrors `kernels/4_choose.cu`.

use crate::memory::Plain;

/// Where a machine's rows and variables are, and how many.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) row0: i64,
    pub(crate) var0: i64,
    pub(crate) most: i64,
    pub(crate) n: i32,
    pub(crate) total: i32,
    pub(crate) groups: i32,
    pub(crate) pad: i32,
}

/// How far a machine is.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub(crate) gap: f64,
    pub(crate) target: f64,
    pub(crate) middle: [f64; 2],
    pub(crate) iterations: i64,
    pub(crate) done: i32,
    pub(crate) count: i32,
    pub(crate) fresh: i32,
    pub(crate) idle: i32,
    pub(crate) changed: i32,
    pub(crate) kept: i32,
}

impl State {
    /// Before the first round.
    pub(crate) fn new(target: f64) -> Self {
        State {
            gap: f64::INFINITY,
            target,
            middle: [0.0; 2],
            iterations: 0,
            done: 0,
            count: 0,
            fresh: 0,
            idle: 0,
            changed: 0,
            kept: 0,
        }
    }
}

pub(crate) const CONVERGED: i32 = 1;
pub(crate) const LIMIT: i32 = 2;

/// All that a round works on: addresses on the device, and sizes.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub(crate) machine: u64,
    pub(crate) state: u64,
    pub(crate) f: u64,
    pub(crate) beta: u64,
    pub(crate) lower: u64,
    pub(crate) upper: u64,
    pub(crate) linear: u64,
    pub(crate) shift: u64,
    pub(crate) group: u64,
    pub(crate) mark: u64,
    pub(crate) key_up: u64,
    pub(crate) key_low: u64,
    pub(crate) index: u64,
    pub(crate) set: u64,
    pub(crate) slot: u64,
    pub(crate) stamp: u64,
    pub(crate) owner: u64,
    pub(crate) need: u64,
    pub(crate) fresh_rows: u64,
    pub(crate) fresh_slots: u64,
    pub(crate) counters: u64,
    pub(crate) order: u64,
    pub(crate) store: u64,
    pub(crate) local: u64,
    pub(crate) change_slot: u64,
    pub(crate) change: u64,
    pub(crate) part: u64,
    pub(crate) hist: u64,
    pub(crate) stride: i64,
    pub(crate) capacity: i32,
    pub(crate) n: i32,
    pub(crate) q: i32,
    pub(crate) parts: i32,
    pub(crate) inner: f64,
}

// SAFETY: numbers in a fixed layout.
unsafe impl Plain for Machine {}
// SAFETY: numbers in a fixed layout.
unsafe impl Plain for State {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_that_the_device_code_gives_them() {
        assert_eq!(
            (size_of::<Machine>(), size_of::<State>(), size_of::<Work>()),
            (40, 64, 28 * 8 + 8 + 16 + 8)
        );
    }
}
