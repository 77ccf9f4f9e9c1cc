//! Large zeroed memory on huge pages.
//!
//! A Gram matrix of hundreds of megabytes is touched for the first time while it is computed. With 4 KiB pages the
//! page faults cost more than the kernel values (measured: 157 ms against 115 ms for a 7291 x 7291 f32 Gram of 256
//! columns); so large buffers are mapped directly and advised to use huge pages. Small ones are plain vectors.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::Real;

/// Zeroed memory for `len` numbers.
pub struct Buffer<T: Real>(Inner<T>);

enum Inner<T: Real> {
    Vec(Vec<T>),
    #[cfg(target_os = "linux")]
    Map(map::Map<T>),
}

/// From here on memory is mapped.
const LARGE: usize = 8 << 20;

impl<T: Real> Buffer<T> {
    /// `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        #[cfg(target_os = "linux")]
        if len.saturating_mul(size_of::<T>()) >= LARGE
            && let Some(map) = map::Map::new(len)
        {
            return Buffer(Inner::Map(map));
        }
        Buffer(Inner::Vec(vec![T::ZERO; len]))
    }
}

impl<T: Real> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer(Inner::Vec(values))
    }
}

impl<T: Real> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.0 {
            Inner::Vec(v) => v,
            #[cfg(target_os = "linux")]
            Inner::Map(m) => m.slice(),
        }
    }
}

impl<T: Real> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Inner::Vec(v) => v,
            #[cfg(target_os = "linux")]
            Inner::Map(m) => m.slice_mut(),
        }
    }
}

impl<T: Real> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Real> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Real> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} numbers)", self.len())
    }
}

#[cfg(target_os = "linux")]
mod map {
    use std::marker::PhantomData;
    use std::ptr::NonNull;

    use crate::Real;

    /// A private anonymous mapping, aligned to a huge page.
    pub(super) struct Map<T: Real> {
        data: NonNull<T>,
        len: usize,
        base: *mut libc::c_void,
        bytes: usize,
        owns: PhantomData<T>,
    }

    // SAFETY: the mapping is owned by this value alone and `T: Real` is f32 or f64, which are Send.
    unsafe impl<T: Real> Send for Map<T> {}
    // SAFETY: shared access only reads plain numbers.
    unsafe impl<T: Real> Sync for Map<T> {}

    const HUGE: usize = 2 << 20;

    impl<T: Real> Map<T> {
        pub(super) fn new(len: usize) -> Option<Self> {
            let bytes = len.checked_mul(size_of::<T>())?.checked_add(HUGE)?;
            // SAFETY: a fresh anonymous mapping; the result is checked.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            if base == libc::MAP_FAILED {
                return None;
            }
            let skip = (base as usize).wrapping_neg() % HUGE;
            // SAFETY: skip < HUGE bytes lie inside the mapping, which has HUGE bytes to spare.
            let data = unsafe { base.cast::<u8>().add(skip) };
            // SAFETY: the range lies inside the mapping; advice changes no contents.
            unsafe { libc::madvise(data.cast(), bytes - skip, libc::MADV_HUGEPAGE) };
            Some(Map { data: NonNull::new(data.cast())?, len, base, bytes, owns: PhantomData })
        }

        pub(super) fn slice(&self) -> &[T] {
            // SAFETY: len numbers lie inside the mapping; fresh pages read as zero bits, which are 0.0.
            unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
        }

        pub(super) fn slice_mut(&mut self) -> &mut [T] {
            // SAFETY: as above, and `&mut self` makes the access exclusive.
            unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
        }
    }

    impl<T: Real> Drop for Map<T> {
        fn drop(&mut self) {
            // SAFETY: base and bytes are what mmap gave; nothing borrows them any more.
            unsafe { libc::munmap(self.base, self.bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_buffers_are_zero_and_hold_what_is_written() {
        for len in [0, 5, LARGE / 8 + 3] {
            let mut b = Buffer::<f64>::zeroed(len);
            assert!(b.iter().all(|&v| v == 0.0));
            b.iter_mut().enumerate().for_each(|(i, v)| *v = i as f64);
            let c = b.clone();
            drop(b);
            assert!(c.iter().enumerate().all(|(i, &v)| v == i as f64));
        }
    }
}
