//! How long a model takes per row, learned from the batches it has computed.
//!
//! Handing a request to a worker and its answer back costs two wake-ups of threads, which is more than many predictions
//! themselves. So a request whose prediction is known to be short is computed where it was read. Only when it is computed
//! depends on this clock; what is computed does not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::outputs::{Output, Wanted};

/// A prediction as short as this does not make the other connections of its thread wait for long.
const SHORT: Duration = Duration::from_micros(200);

/// Nanoseconds per row, for each set of outputs that may be asked for; 0 where nothing is known.
#[derive(Debug)]
pub(crate) struct Pace([AtomicU64; 1 << Output::ALL.len()]);

impl Default for Pace {
    fn default() -> Self {
        Pace([const { AtomicU64::new(0) }; 1 << Output::ALL.len()])
    }
}

impl Pace {
    /// Takes note of a batch. The shortest time counts, and is forgotten slowly: a thread that was interrupted says nothing
    /// about the model.
    pub(crate) fn note(&self, wanted: Wanted, rows: usize, took: Duration) {
        let Some(pace) = self.0.get(wanted.index()) else { return };
        let now = (took.as_nanos() as u64 / rows.max(1) as u64).max(1);
        let old = pace.load(Ordering::Relaxed);
        let slower = if old == 0 { u64::MAX } else { old + old / 16 + 1 };
        pace.store(now.min(slower), Ordering::Relaxed);
    }

    /// Whether so many rows are known to take a short time.
    pub(crate) fn is_short(&self, wanted: Wanted, rows: usize) -> bool {
        let pace = self.0.get(wanted.index()).map_or(0, |pace| pace.load(Ordering::Relaxed));
        pace > 0 && pace.saturating_mul(rows as u64) <= SHORT.as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_is_no_pace_and_a_slower_model_is_noticed() {
        let (pace, label) = (Pace::default(), Wanted::default().with(Output::Label));
        assert!(!pace.is_short(label, 1), "nothing is known at first");
        pace.note(label, 2, Duration::from_micros(40));
        assert!(pace.is_short(label, 10) && !pace.is_short(label, 11));
        pace.note(label, 1, Duration::from_millis(30));
        assert!(pace.is_short(label, 9), "interrupted once");
        for _ in 0..100 {
            pace.note(label, 1, Duration::from_millis(30));
        }
        assert!(!pace.is_short(label, 1), "slower for good");
        let other = label.with(Output::Denoised);
        assert!(!pace.is_short(other, 1), "other outputs take another time");
    }
}
