//! One register's worth of floats: eight f32 or four f64, on every instruction set.
//!
//! Wider registers are not faster where they occupy the same units twice, and their images would not fit into the
//! first-level cache.
//!
//! The compiler's vectoriser does not keep an array of short arrays in registers (measured: a tenth of the speed), so
//! the sliding sums are written with these few operations.

use std::fmt::Debug;

/// So many floats at once.
///
/// # Safety
/// Methods may only run where the instruction set exists.
pub(super) trait Wide: Copy + Debug {
    /// The float.
    type T: Copy;
    /// The floats as they lie in memory.
    type Array: Copy;

    unsafe fn splat(v: Self::T) -> Self;
    unsafe fn load(from: &Self::Array) -> Self;
    unsafe fn store(self, to: &mut Self::Array);
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * by + plus`, rounded once where that is one instruction.
    unsafe fn mul_add(self, by: Self, plus: Self) -> Self;
}

/// Arrays: any machine.
macro_rules! plain {
    ($t:ident, $n:literal) => {
        impl Wide for [$t; $n] {
            type T = $t;
            type Array = [$t; $n];

            #[inline(always)]
            unsafe fn splat(v: $t) -> Self {
                [v; $n]
            }
            #[inline(always)]
            unsafe fn load(from: &[$t; $n]) -> Self {
                *from
            }
            #[inline(always)]
            unsafe fn store(self, to: &mut [$t; $n]) {
                *to = self;
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                std::array::from_fn(|l| self[l] + other[l])
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                std::array::from_fn(|l| self[l] * other[l])
            }
            #[inline(always)]
            unsafe fn mul_add(self, by: Self, plus: Self) -> Self {
                std::array::from_fn(|l| self[l] * by[l] + plus[l])
            }
        }
    };
}
plain!(f32, 8);
plain!(f64, 4);

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use std::arch::x86_64::{
        __m256, __m256d, _mm256_add_pd, _mm256_add_ps, _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_loadu_pd,
        _mm256_loadu_ps, _mm256_mul_pd, _mm256_mul_ps, _mm256_set1_pd, _mm256_set1_ps, _mm256_storeu_pd,
        _mm256_storeu_ps,
    };

    use super::Wide;

    /// A register of its own type, loaded from and stored to arrays of its size.
    macro_rules! one {
        ($name:ident, $reg:ident, $t:ident, $n:literal, $splat:ident, $load:ident, $store:ident, $add:ident, $mul:ident, $fma:ident) => {
            #[derive(Debug, Clone, Copy)]
            pub(in super::super) struct $name($reg);

            impl Wide for $name {
                type T = $t;
                type Array = [$t; $n];

                #[inline(always)]
                unsafe fn splat(v: $t) -> Self {
                    // SAFETY: the caller's word on the instruction set is passed on, here and below.
                    unsafe { $name($splat(v)) }
                }
                #[inline(always)]
                unsafe fn load(from: &[$t; $n]) -> Self {
                    // SAFETY: the array is as long as the register.
                    unsafe { $name($load(from.as_ptr())) }
                }
                #[inline(always)]
                unsafe fn store(self, to: &mut [$t; $n]) {
                    // SAFETY: the array is as long as the register.
                    unsafe { $store(to.as_mut_ptr(), self.0) }
                }
                #[inline(always)]
                unsafe fn add(self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $name($add(self.0, other.0)) }
                }
                #[inline(always)]
                unsafe fn mul(self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $name($mul(self.0, other.0)) }
                }
                #[inline(always)]
                unsafe fn mul_add(self, by: Self, plus: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $name($fma(self.0, by.0, plus.0)) }
                }
            }
        };
    }
    one!(
        F32x8,
        __m256,
        f32,
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps
    );
    one!(
        F64x4,
        __m256d,
        f64,
        4,
        _mm256_set1_pd,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd
    );
}
