//! The next request of a client that sends one after the other: its thread looks for it for a moment before it sleeps.
//!
//! To put a thread to sleep and to wake it costs both sides several microseconds, more than many predictions. Only for the only
//! connection of a thread, whose last request came as quickly, and only for [`LOOK`]: a thread that looks in vain takes time
//! from others, so after each failure it looks half as often.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;
use std::time::{Duration, Instant};

/// How long a thread looks for the next request.
const LOOK: Duration = Duration::from_micros(50);
/// Failures in a row beyond which it does not look more seldom.
const MOST_FAILURES: u32 = 10;

/// Whether and how long to look for the next request of a connection.
#[derive(Debug)]
pub(super) struct Eager {
    /// The connections of the thread; none where there is no processor to spare.
    open: Option<Arc<AtomicUsize>>,
    /// When the last response was sent, until the next request comes or is given up.
    sent: Option<Instant>,
    /// Whether the last request came soon after the response before it.
    quick: bool,
    failures: u32,
    /// Responses to come after which it does not look.
    pause: u32,
}

impl Eager {
    pub(super) fn new(open: Option<Arc<AtomicUsize>>) -> Self {
        Eager { open, sent: None, quick: false, failures: 0, pause: 0 }
    }

    /// A response was written.
    pub(super) fn sent(&mut self) {
        if self.open.is_some() {
            self.sent = Some(Instant::now());
            self.pause = self.pause.saturating_sub(1);
        }
    }

    /// Bytes came.
    pub(super) fn came(&mut self) {
        let Some(sent) = self.sent.take() else { return };
        self.quick = sent.elapsed() <= LOOK;
        if self.quick && self.pause == 0 {
            self.failures = 0;
        }
    }

    /// Nothing came yet: asks to be polled again if it is worth it, after all other work of this thread.
    pub(super) fn look(&mut self, cx: &mut Context<'_>) {
        let (Some(sent), Some(open)) = (self.sent, &self.open) else { return };
        if !self.quick || self.pause > 0 || open.load(Ordering::Relaxed) > 1 {
            return;
        }
        if sent.elapsed() <= LOOK {
            // Wakes this task when the reactor has been asked, without a wait.
            let _ = pin!(tokio::task::yield_now()).poll(cx);
        } else {
            self.sent = None;
            self.quick = false;
            self.failures = (self.failures + 1).min(MOST_FAILURES);
            self.pause = 1 << self.failures;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it asks to be polled again after a response, and then gives up or is answered.
    fn looks(eager: &mut Eager, answered: bool) -> bool {
        let flag = Arc::new(Flag(AtomicUsize::new(0)));
        let waker = Arc::clone(&flag).into();
        eager.sent();
        eager.look(&mut Context::from_waker(&waker));
        let looked = flag.0.load(Ordering::Relaxed) > 0;
        if !answered {
            std::thread::sleep(2 * LOOK);
            eager.look(&mut Context::from_waker(&waker));
        }
        eager.came();
        looked
    }

    struct Flag(AtomicUsize);

    impl std::task::Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Often enough that an interruption between two lines is not taken for a slow client.
    fn becomes_eager(eager: &mut Eager) -> bool {
        (0..2000).any(|_| looks(eager, true))
    }

    #[test]
    fn only_a_quick_client_that_is_alone_is_looked_for() {
        let open = Arc::new(AtomicUsize::new(1));
        let mut eager = Eager::new(Some(Arc::clone(&open)));
        assert!(!looks(&mut eager, false), "nothing is known of it");
        assert!(becomes_eager(&mut eager));
        open.store(2, Ordering::Relaxed);
        assert!(!becomes_eager(&mut eager), "others are served beside it");
        open.store(1, Ordering::Relaxed);
        assert!(!becomes_eager(&mut Eager::new(None)), "no processor to spare");
    }

    #[test]
    fn who_looked_in_vain_looks_more_seldom() {
        let mut eager = Eager::new(Some(Arc::new(AtomicUsize::new(1))));
        let mut pauses = Vec::new();
        for _ in 0..4 {
            assert!(becomes_eager(&mut eager));
            while !looks(&mut eager, false) {
                looks(&mut eager, true);
            }
            pauses.push(eager.pause);
        }
        assert!(pauses.iter().all(|pause| *pause >= 2), "{pauses:?}");
        let mut tired =
            Eager { failures: MOST_FAILURES, quick: true, ..Eager::new(Some(Arc::new(1.into()))) };
        assert!(looks(&mut tired, false));
        let missed = (0..1 << MOST_FAILURES).take_while(|_| !looks(&mut tired, true)).count();
        assert!(missed >= 1000, "{missed}");
    }
}
