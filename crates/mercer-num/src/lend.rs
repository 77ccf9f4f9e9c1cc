//! Slices lent without a lifetime, to work that is over when the call is.
//!
//! Long work runs on a thread of its own, and such a thread may hold nothing that is borrowed. A copy of the rows would do,
//! but rows are often most of the memory there is. [`lend`] hands out the slice as a value of its own, and does not return
//! before that value is dropped: on whatever thread, and also where the work panics or is given up.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Interval of looking whether a slice has come back.
const TICK: Duration = Duration::from_micros(200);

/// A slice that was lent: it may be sent to another thread, and has to be dropped there.
pub struct Lent<T: 'static> {
    first: NonNull<T>,
    len: usize,
    /// Counts what is out. Dropped last, when nothing here can read any more.
    _home: Arc<()>,
}

// SAFETY: a shared slice of values that threads may share, and nothing else: there is no way to write to it.
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> Deref for Lent<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the pointer and the length are those of the slice that `lend` borrows, and `lend` does not return while
        // this value lives; the reference lives no longer than this value.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Waits until everything that was lent has come back.
struct Home(Arc<()>);

impl Drop for Home {
    fn drop(&mut self) {
        while Arc::get_mut(&mut self.0).is_none() {
            thread::sleep(TICK);
        }
    }
}

/// Does work on a slice that may go to threads without a lifetime. Returns when the work has, and when the slice has been
/// dropped wherever it went. Work that keeps it, or returns it, makes this wait for ever.
///
/// ```
/// let rows = vec![1.0, 2.0, 3.0];
/// let sum = mercer_num::lend(&rows, |lent| {
///     std::thread::spawn(move || lent.iter().sum::<f64>()).join().expect("a sum")
/// });
/// assert_eq!(sum, 6.0);
/// ```
pub fn lend<T: Sync + 'static, R>(values: &[T], work: impl FnOnce(Lent<T>) -> R) -> R {
    let home = Home(Arc::new(()));
    work(Lent { first: NonNull::from(values).cast(), len: values.len(), _home: Arc::clone(&home.0) })
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_slice_is_where_it_was() {
        let rows = [1.5_f32, 2.5];
        lend(&rows, |lent| assert!(std::ptr::eq(&raw const *lent, &raw const rows[..])));
        lend(&rows[..0], |lent| assert!(lent.is_empty()));
    }

    #[test]
    fn a_thread_that_is_not_waited_for_is_waited_for() {
        let done = Arc::new(AtomicBool::new(false));
        let (rows, theirs, clock) = (vec![1.0, 2.0], Arc::clone(&done), Instant::now());
        lend(&rows, |lent| {
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                assert_eq!(lent.iter().sum::<f64>(), 3.0);
                theirs.store(true, Ordering::Release);
            });
        });
        assert!(done.load(Ordering::Acquire) && clock.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn a_panic_waits_too() {
        let done = Arc::new(AtomicBool::new(false));
        let (rows, theirs) = ([1_u8], Arc::clone(&done));
        let caught: thread::Result<()> = catch_unwind(AssertUnwindSafe(|| {
            lend(&rows, |lent| {
                thread::spawn(move || {
                    thread::sleep(Duration::from_millis(30));
                    theirs.store(lent[0] == 1, Ordering::Release);
                });
                panic!("given up");
            });
        }));
        assert!(caught.is_err() && done.load(Ordering::Acquire));
    }
}
