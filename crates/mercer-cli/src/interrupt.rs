//! Ctrl-C: while work is under way the first one asks it to stop where it can be gone on with, and the second one ends the
//! program. Before that, while data are waited for and read, nothing can be lost: the system ends the program at once.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// The code a shell gives to a program that was interrupted.
pub(crate) const CODE: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From here on Ctrl-C, and a polite request to end (SIGTERM), only set a mark. A second one ends the program. Called
/// where work that looks at the mark begins; again does nothing.
pub(crate) fn listen() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Where no handler can be set, the system's own one stays: the program ends at once.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(CODE));
            }
        });
    });
}

/// Whether the work should stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Takes the request back, because what it asked for is done: the next Ctrl-C asks again.
pub(crate) fn again() {
    ASKED.store(false, Ordering::SeqCst);
}
