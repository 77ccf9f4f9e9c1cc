//! Large buffers on huge pages, reused between calls.
//!
//! A Gram matrix of hundreds of megabytes is touched for the first time while it is computed. With 4 KiB pages the
//! page faults cost more than the kernel values (measured: 157 ms against 115 ms for a 7291 x 7291 f32 Gram of 256
//! columns), so large buffers are mapped directly and advised to use huge pages. Even then the system clears every
//! page it gives out, which on virtual machines can cost more than all arithmetic (a9a: half of a whole fit). So
//! dropped mappings are kept and marked as reclaimable (MADV_FREE): the system takes them back when memory runs
//! short, and until then the next buffer of that size reuses one without page faults. Small buffers are plain
//! vectors.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::Real;

/// Memory for `len` numbers.
pub struct Buffer<T: Real>(Inner<T>);

enum Inner<T: Real> {
    Vec(Vec<T>),
    #[cfg(target_os = "linux")]
    Map(map::Map<T>),
}

/// Size from which memory is mapped.
const LARGE: usize = 8 << 20;

impl<T: Real> Buffer<T> {
    /// `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        #[cfg(target_os = "linux")]
        if len.saturating_mul(size_of::<T>()) >= LARGE
            && let Some(map) = map::Map::new(len, true)
        {
            return Buffer(Inner::Map(map));
        }
        Buffer(Inner::Vec(vec![T::ZERO; len]))
    }

    /// `len` numbers of any value, for code that writes before it reads: large buffers may contain values of earlier
    /// ones.
    ///
    /// ```
    /// let mut squares = mercer_num::Buffer::<f64>::stale(4);
    /// squares.iter_mut().enumerate().for_each(|(i, v)| *v = (i * i) as f64);
    /// assert_eq!(squares[..], [0.0, 1.0, 4.0, 9.0]);
    /// ```
    pub fn stale(len: usize) -> Self {
        #[cfg(target_os = "linux")]
        if len.saturating_mul(size_of::<T>()) >= LARGE
            && let Some(map) = map::Map::new(len, false)
        {
            return Buffer(Inner::Map(map));
        }
        Buffer(Inner::Vec(vec![T::ZERO; len]))
    }

    /// Declares that only the first `len` numbers are still needed; the others become 0. Memory that was never
    /// touched is then not counted as kept when the buffer goes.
    pub fn keep_first(&mut self, len: usize) {
        match &mut self.0 {
            Inner::Vec(v) => v.iter_mut().skip(len).for_each(|v| *v = T::ZERO),
            #[cfg(target_os = "linux")]
            Inner::Map(m) => m.keep_first(len),
        }
    }
}

/// Returns memory kept for later buffers to the system.
pub fn release() {
    #[cfg(target_os = "linux")]
    map::release();
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
mod map;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_buffers_are_zero_and_hold_what_is_written() {
        for len in [0, 5, LARGE / 8 + 3, LARGE / 8 + 3, LARGE / 4] {
            let mut b = Buffer::<f64>::zeroed(len);
            assert!(b.iter().all(|&v| v == 0.0));
            b.iter_mut().enumerate().for_each(|(i, v)| *v = i as f64);
            let c = b.clone();
            drop(b);
            assert!(c.iter().enumerate().all(|(i, &v)| v == i as f64));
        }
    }
    #[test]
    fn what_is_left_behind_is_seen_only_by_those_who_ask() {
        let len = LARGE;
        let mut first = Buffer::<f32>::zeroed(len);
        first.fill(7.0);
        drop(first);
        // Whatever is there may be read, and holds still while others come and go.
        let stale = Buffer::<f32>::stale(len);
        let before: Vec<u32> = stale.iter().map(|v| v.to_bits()).collect();
        drop(Buffer::<f32>::zeroed(2 * len));
        assert!(stale.iter().zip(&before).all(|(v, b)| v.to_bits() == *b));
        drop(stale);
        assert!(Buffer::<f32>::zeroed(len).iter().all(|&v| v == 0.0));
        assert!(Buffer::<f64>::zeroed(len / 2 - 5).iter().all(|&v| v == 0.0));
        super::release();
        assert!(Buffer::<f32>::zeroed(len).iter().all(|&v| v == 0.0));
    }

    #[test]
    fn numbers_given_up_are_zero_and_stay_zero_for_the_next() {
        let len = LARGE;
        let mut all = Buffer::<f32>::stale(len);
        all.fill(3.0);
        all.keep_first(1000);
        assert!(all[..1000].iter().all(|&v| v == 3.0) && all[1000..].iter().all(|&v| v == 0.0));
        drop(all);
        assert!(Buffer::<f32>::zeroed(len).iter().all(|&v| v == 0.0));
        let mut few = Buffer::from(vec![1.0_f64; 3]);
        few.keep_first(2);
        assert_eq!(few[..], [1.0, 1.0, 0.0]);
    }
}
