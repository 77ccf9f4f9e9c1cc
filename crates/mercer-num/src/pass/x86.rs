//! The eight lanes on x86-64: AVX-512 and AVX2.
//!
//! Every body is intrinsics whose features the trait's caller vouches for; the references to arrays carry the bounds.

#[cfg_attr(
    not(test),
    expect(clippy::wildcard_imports, reason = "seventy intrinsics by name would say less")
)]
use std::arch::x86_64::*;

use super::isa::{Isa, LANES};

/// AVX-512 F, VL, DQ, BW.
#[derive(Clone, Copy)]
pub(super) struct Avx512;

/// AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2;

macro_rules! lanes {
    ($isa:ty { D = $d:ty, S = $s:ty, M = $m:ty, P = $p:ty }
     $(fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $body:expr;)*) => {
        impl Isa for $isa {
            type D = $d;
            type S = $s;
            type M = $m;
            type P = $p;
            $(
                #[inline(always)]
                unsafe fn $name($($arg: $ty),*) $(-> $ret)? {
                    // SAFETY: the features are the caller's word; loads and stores go through references to arrays.
                    unsafe { $body }
                }
            )*
        }
    };
}

lanes! { Avx512 { D = __m512d, S = __m256, M = __mmask8, P = __m256i }
    fn d_splat(v: f64) -> __m512d = _mm512_set1_pd(v);
    fn d_load(v: &[f64; LANES]) -> __m512d = _mm512_loadu_pd(v.as_ptr());
    fn d_store(v: __m512d, to: &mut [f64; LANES]) = _mm512_storeu_pd(to.as_mut_ptr(), v);
    fn d_add(a: __m512d, b: __m512d) -> __m512d = _mm512_add_pd(a, b);
    fn d_sub(a: __m512d, b: __m512d) -> __m512d = _mm512_sub_pd(a, b);
    fn d_mul(a: __m512d, b: __m512d) -> __m512d = _mm512_mul_pd(a, b);
    fn d_min(a: __m512d, b: __m512d) -> __m512d = _mm512_min_pd(a, b);
    fn d_less(a: __m512d, b: __m512d) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
    fn d_pick(mask: __mmask8, a: __m512d, b: __m512d) -> __m512d = _mm512_mask_mov_pd(b, mask, a);
    fn s_splat(v: f32) -> __m256 = _mm256_set1_ps(v);
    fn s_load(v: &[f32; LANES]) -> __m256 = _mm256_loadu_ps(v.as_ptr());
    fn s_store(v: __m256, to: &mut [f32; LANES]) = _mm256_storeu_ps(to.as_mut_ptr(), v);
    fn s_add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
    fn s_sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
    fn s_mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
    fn s_div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
    fn s_max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
    fn s_more(a: __m256, b: __m256) -> __mmask8 = _mm256_cmp_ps_mask::<_CMP_GT_OQ>(a, b);
    fn s_pick(mask: __mmask8, a: __m256, b: __m256) -> __m256 = _mm256_mask_mov_ps(b, mask, a);
    fn narrow(v: __m512d) -> __m256 = _mm512_cvtpd_ps(v);
    fn widen(v: __m256) -> __m512d = _mm512_cvtps_pd(v);
    fn flagged(flags: [u8; LANES], bits: u8) -> __mmask8 =
        _mm_test_epi8_mask(_mm_loadl_epi64(flags.as_ptr().cast()), _mm_set1_epi8(bits as i8)) as __mmask8;
    fn p_splat(v: u32) -> __m256i = _mm256_set1_epi32(v as i32);
    fn p_pick(mask: __mmask8, a: __m256i, b: __m256i) -> __m256i = _mm256_mask_mov_epi32(b, mask, a);
    fn p_store(v: __m256i, to: &mut [u32; LANES]) = _mm256_storeu_si256(to.as_mut_ptr().cast(), v);
}

/// A 32-bit mask spread to the two halves of eight 64-bit lanes.
#[inline(always)]
unsafe fn halves(mask: __m256i) -> (__m256d, __m256d) {
    // SAFETY: the caller vouches for AVX2.
    unsafe {
        let low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(mask));
        let high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(mask));
        (_mm256_castsi256_pd(low), _mm256_castsi256_pd(high))
    }
}

type Pair = (__m256d, __m256d);

lanes! { Avx2 { D = Pair, S = __m256, M = __m256i, P = __m256i }
    fn d_splat(v: f64) -> Pair = (_mm256_set1_pd(v), _mm256_set1_pd(v));
    fn d_load(v: &[f64; LANES]) -> Pair = (_mm256_loadu_pd(v.as_ptr()), _mm256_loadu_pd(v.as_ptr().add(4)));
    fn d_store(v: Pair, to: &mut [f64; LANES]) = {
        _mm256_storeu_pd(to.as_mut_ptr(), v.0);
        _mm256_storeu_pd(to.as_mut_ptr().add(4), v.1);
    };
    fn d_add(a: Pair, b: Pair) -> Pair = (_mm256_add_pd(a.0, b.0), _mm256_add_pd(a.1, b.1));
    fn d_sub(a: Pair, b: Pair) -> Pair = (_mm256_sub_pd(a.0, b.0), _mm256_sub_pd(a.1, b.1));
    fn d_mul(a: Pair, b: Pair) -> Pair = (_mm256_mul_pd(a.0, b.0), _mm256_mul_pd(a.1, b.1));
    fn d_min(a: Pair, b: Pair) -> Pair = (_mm256_min_pd(a.0, b.0), _mm256_min_pd(a.1, b.1));
    fn d_less(a: Pair, b: Pair) -> __m256i = {
        let low = _mm256_castpd_ps(_mm256_cmp_pd::<_CMP_LT_OQ>(a.0, b.0));
        let high = _mm256_castpd_ps(_mm256_cmp_pd::<_CMP_LT_OQ>(a.1, b.1));
        // Every other 32-bit half of the two, then the 64-bit pieces in their order.
        let mixed = _mm256_castps_pd(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
        _mm256_castpd_si256(_mm256_permute4x64_pd::<0b11_01_10_00>(mixed))
    };
    fn d_pick(mask: __m256i, a: Pair, b: Pair) -> Pair = {
        let (low, high) = halves(mask);
        (_mm256_blendv_pd(b.0, a.0, low), _mm256_blendv_pd(b.1, a.1, high))
    };
    fn s_splat(v: f32) -> __m256 = _mm256_set1_ps(v);
    fn s_load(v: &[f32; LANES]) -> __m256 = _mm256_loadu_ps(v.as_ptr());
    fn s_store(v: __m256, to: &mut [f32; LANES]) = _mm256_storeu_ps(to.as_mut_ptr(), v);
    fn s_add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
    fn s_sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
    fn s_mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
    fn s_div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
    fn s_max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
    fn s_more(a: __m256, b: __m256) -> __m256i = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(a, b));
    fn s_pick(mask: __m256i, a: __m256, b: __m256) -> __m256 = _mm256_blendv_ps(b, a, _mm256_castsi256_ps(mask));
    fn narrow(v: Pair) -> __m256 = _mm256_set_m128(_mm256_cvtpd_ps(v.1), _mm256_cvtpd_ps(v.0));
    fn widen(v: __m256) -> Pair =
        (_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(v)));
    fn flagged(flags: [u8; LANES], bits: u8) -> __m256i = {
        let wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(flags.as_ptr().cast()));
        _mm256_cmpgt_epi32(_mm256_and_si256(wide, _mm256_set1_epi32(i32::from(bits))), _mm256_setzero_si256())
    };
    fn p_splat(v: u32) -> __m256i = _mm256_set1_epi32(v as i32);
    fn p_pick(mask: __m256i, a: __m256i, b: __m256i) -> __m256i = _mm256_blendv_epi8(b, a, mask);
    fn p_store(v: __m256i, to: &mut [u32; LANES]) = _mm256_storeu_si256(to.as_mut_ptr().cast(), v);
}
