//! Bytes in use and their peak, for tests that hold the library to a bound on memory.
//!
//! A test program makes [`Counting`] its global allocator; large buffers, which are mapped and not allocated, count
//! themselves. In other programs nothing is counted but those buffers: two additions per mapping.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting what it gives out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

pub(crate) fn taken(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

pub(crate) fn given_back(bytes: usize) {
    NOW.fetch_sub(bytes, Ordering::Relaxed);
}

/// What some work returns, and the most bytes in use during it beyond those in use before it. Work of other threads counts
/// too, so only one such measurement may run at a time. Memory kept for later buffers is released first.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    crate::release();
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = work();
    (PEAK.load(Ordering::Relaxed).saturating_sub(before), result)
}

// SAFETY: every call is passed on to the system's allocator with its arguments unchanged, and what that returns is returned;
// counting touches two atomic numbers only and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        let at = unsafe { System.alloc(layout) };
        if !at.is_null() {
            taken(layout.size());
        }
        at
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        let at = unsafe { System.alloc_zeroed(layout) };
        if !at.is_null() {
            taken(layout.size());
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`, and all blocks come from `System`.
        unsafe { System.dealloc(at, layout) };
        given_back(layout.size());
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`, and all blocks come from `System`.
        let moved = unsafe { System.realloc(at, layout, size) };
        if !moved.is_null() {
            // A block that moves is there twice for a moment.
            taken(size);
            given_back(layout.size());
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_when_taken_grown_and_given_back() {
        let layout = Layout::from_size_align(1 << 20, 8).expect("a small block");
        let (peak, now) = peak_of(|| {
            let before = NOW.load(Ordering::Relaxed);
            // SAFETY: the layout has a size; the block is grown and given back with the layouts it has.
            unsafe {
                let at = Counting.alloc_zeroed(layout);
                assert!(!at.is_null() && *at == 0);
                let at = Counting.realloc(at, layout, 3 << 20);
                assert!(!at.is_null());
                Counting.dealloc(at, Layout::from_size_align(3 << 20, 8).expect("a small block"));
            }
            NOW.load(Ordering::Relaxed).abs_diff(before)
        });
        // Other tests of this program may map a buffer meanwhile, but never less than nothing.
        assert!(peak >= 4 << 20, "{peak}");
        assert!(now % (1 << 20) == 0, "{now}");
    }
}
