//! Streaming stores, which bypass the caches.
//!
//! A large matrix is written once and read much later. An ordinary store first reads the line it will overwrite and
//! then pushes the operands of the next product out of the cache; a streaming store does neither.

use crate::Real;
use crate::dispatch::{Level, level};

/// Copies `from` to `to` without leaving `to` in the caches, where the machine can.
///
/// Streaming stores are weakly ordered: call [`fence`] on the same thread before others may read.
#[inline]
pub fn copy<T: Real>(to: &mut [T], from: &[T]) {
    assert_eq!(to.len(), from.len());
    #[cfg(target_arch = "x86_64")]
    if level() != Level::Plain {
        let skip = ((to.as_ptr() as usize).wrapping_neg() % 32 / size_of::<T>()).min(to.len());
        let lanes = 32 / size_of::<T>();
        let body = (to.len() - skip) / lanes * lanes;
        let (head, rest) = to.split_at_mut(skip);
        let (middle, tail) = rest.split_at_mut(body);
        head.copy_from_slice(&from[..skip]);
        tail.copy_from_slice(&from[skip + body..]);
        // SAFETY: AVX is there (level), `middle` starts at a multiple of 32 bytes and has as many numbers as the source.
        unsafe { avx(middle.as_mut_ptr().cast(), from[skip..].as_ptr().cast(), body / lanes) };
        return;
    }
    to.copy_from_slice(from);
}

/// Makes everything [`copy`] has written on this thread visible to others.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    if level() != Level::Plain {
        // SAFETY: SSE is part of x86-64.
        unsafe { std::arch::x86_64::_mm_sfence() };
    }
}

/// # Safety
/// `to` is aligned to 32 bytes; both have `count` times 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn avx(to: *mut f32, from: *const f32, count: usize) {
    use std::arch::x86_64::{_mm256_loadu_ps, _mm256_stream_ps};
    for i in 0..count {
        // SAFETY: within the caller's count; the load needs no alignment, the store has it.
        unsafe { _mm256_stream_ps(to.add(8 * i), _mm256_loadu_ps(from.add(8 * i))) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_start_and_length_is_copied_exactly() {
        let from: Vec<f32> = (0..200).map(|v| v as f32).collect();
        for start in 0..17 {
            for len in [0, 1, 7, 8, 9, 31, 64, 150] {
                let mut to = vec![-1.0f32; 200];
                copy(&mut to[start..start + len], &from[start..start + len]);
                fence();
                for (i, &v) in to.iter().enumerate() {
                    assert_eq!(v, if (start..start + len).contains(&i) { i as f32 } else { -1.0 });
                }
            }
        }
        let mut to = [0.0f64; 13];
        copy(&mut to[1..], &[2.5; 12]);
        fence();
        assert_eq!((to[0], to[1], to[12]), (0.0, 2.5, 2.5));
    }
}
