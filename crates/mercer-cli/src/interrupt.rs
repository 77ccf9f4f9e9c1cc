//! Ctrl-C and SIGTERM.
//!
//! Before work begins, while data are read, nothing can be lost: the system ends the program at once. Work that leaves
//! something behind when it is interrupted (a partial model, the best setting of a search) is asked to stop, and a second
//! request ends the program. All other work is ended at the first request: some of its steps, such as the factorisation
//! of a large matrix, take minutes, and waiting for them would save nothing.

use std::io::{IsTerminal, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure;

/// The exit code a shell gives to a program that was interrupted.
pub(crate) const CODE: u8 = 130;

/// Work that has not stopped after this time is announced.
const PATIENCE: Duration = Duration::from_secs(1);

static ASKED: AtomicBool = AtomicBool::new(false);
static KEEPS: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C, and a polite request to end (SIGTERM), from here on. Called where work begins that looks at
/// [`asked`]; `keeps` says whether this work leaves something behind when it is stopped. Can be called again.
pub(crate) fn listen(keeps: bool) {
    static HANDLER: Once = Once::new();
    KEEPS.store(keeps, Ordering::SeqCst);
    HANDLER.call_once(|| {
        // Where no handler can be set, the system's own one stays: the program ends at once.
        let _ = ctrlc::set_handler(|| {
            if !KEEPS.load(Ordering::SeqCst) {
                clear();
                failure::say("interrupted: the command did not finish", None);
                end();
            }
            if ASKED.swap(true, Ordering::SeqCst) {
                end();
            }
            std::thread::spawn(|| {
                std::thread::sleep(PATIENCE);
                if asked() && !QUIET.load(Ordering::SeqCst) {
                    clear();
                    failure::note(
                        "stopping after the current step; Ctrl-C again ends at once, without saving",
                    );
                }
            });
        });
    });
}

/// From here on it is not announced that work takes long to stop: for quiet runs and for servers, which have other words.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::SeqCst);
}

/// Whether the work should stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Takes the request back, because what it asked for is done: the next Ctrl-C asks again.
pub(crate) fn again() {
    ASKED.store(false, Ordering::SeqCst);
}

fn end() -> ! {
    std::process::exit(i32::from(CODE))
}

/// Clears the line of a progress bar.
fn clear() {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let _ = write!(err, "\r\u{1b}[K");
    }
}
