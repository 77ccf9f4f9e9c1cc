//! Decoders of other crates, on files of strangers.
//!
//! Some of them panic on damaged files: a PNG file with more colours in its palette than a byte can count, an Arrow
//! buffer outside its message. The call of such a decoder is a place where that becomes an error about the file.
//! Memory is not covered: what a file claims is checked before it is allocated.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::source::fault;
use crate::error::Result;

thread_local! {
    /// How many decoders the thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Whether the thread is inside a decoder of another crate, whose panic becomes an error: programs whose panic hook
/// prints or aborts ask this first.
pub fn in_decoder() -> bool {
    DEPTH.get() > 0
}

/// Counts itself, also when it goes by a panic.
struct Inside;

impl Inside {
    fn new() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// What the decoder returns, or an error about the file `name`, which is `what`, where it panics.
///
/// Whatever the decoder has changed by then must be dropped, not used again.
pub(super) fn decoded<T>(name: &str, what: &str, decoder: impl FnOnce() -> T) -> Result<T> {
    let inside = Inside::new();
    let result = catch_unwind(AssertUnwindSafe(decoder));
    drop(inside);
    result.map_err(|_| fault(name, Some(&format!("a damaged {what} file")), "a whole one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_file_and_the_guard_ends_with_it() {
        assert!(!in_decoder());
        let told = decoded("a.png", "PNG", || {
            assert!(in_decoder());
            7
        });
        assert_eq!(told.expect("no panic"), 7);
        let error = decoded("a.png", "PNG", || -> usize { panic!("inside") }).expect_err("a panic");
        assert_eq!(error.to_string(), "a.png: got a damaged PNG file, expected a whole one");
        assert!(!in_decoder());
    }
}
