//! Eight lanes of the instruction sets the passes are written for.
//!
//! The compiler does not vectorise loops that mix f64 values, f32 rows and byte flags well (measured: a third of the
//! speed), so these few operations are written with intrinsics. Each is one or two instructions.

use crate::real::Real;

/// Lanes of every value here.
pub(super) const LANES: usize = 8;

/// Eight lanes of f64, f32, places and truths on one instruction set.
///
/// # Safety
/// Every method may only run where the instruction set exists.
pub trait Isa: Copy {
    /// Eight f64.
    type D: Copy;
    /// Eight f32.
    type S: Copy;
    /// Eight truths.
    type M: Copy;
    /// Eight places.
    type P: Copy;

    unsafe fn d_splat(v: f64) -> Self::D;
    unsafe fn d_load(v: &[f64; LANES]) -> Self::D;
    unsafe fn d_store(v: Self::D, to: &mut [f64; LANES]);
    unsafe fn d_add(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn d_sub(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn d_mul(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn d_min(a: Self::D, b: Self::D) -> Self::D;
    /// `a < b`.
    unsafe fn d_less(a: Self::D, b: Self::D) -> Self::M;
    /// `a` where the mask holds, else `b`.
    unsafe fn d_pick(mask: Self::M, a: Self::D, b: Self::D) -> Self::D;

    unsafe fn s_splat(v: f32) -> Self::S;
    unsafe fn s_load(v: &[f32; LANES]) -> Self::S;
    unsafe fn s_store(v: Self::S, to: &mut [f32; LANES]);
    unsafe fn s_add(a: Self::S, b: Self::S) -> Self::S;
    unsafe fn s_sub(a: Self::S, b: Self::S) -> Self::S;
    unsafe fn s_mul(a: Self::S, b: Self::S) -> Self::S;
    unsafe fn s_div(a: Self::S, b: Self::S) -> Self::S;
    unsafe fn s_max(a: Self::S, b: Self::S) -> Self::S;
    /// `a > b`.
    unsafe fn s_more(a: Self::S, b: Self::S) -> Self::M;
    unsafe fn s_pick(mask: Self::M, a: Self::S, b: Self::S) -> Self::S;

    /// Rounds to f32.
    unsafe fn narrow(v: Self::D) -> Self::S;
    /// The same values in f64.
    unsafe fn widen(v: Self::S) -> Self::D;

    /// Which flags have a bit of `bits`.
    unsafe fn flagged(flags: [u8; LANES], bits: u8) -> Self::M;

    unsafe fn p_splat(v: u32) -> Self::P;
    unsafe fn p_pick(mask: Self::M, a: Self::P, b: Self::P) -> Self::P;
    unsafe fn p_store(v: Self::P, to: &mut [u32; LANES]);
}

/// What a row of a matrix may hold.
pub trait Element: Real {
    /// Eight differences, as f64.
    #[doc(hidden)]
    unsafe fn minus<I: Isa>(a: &[Self; LANES], b: &[Self; LANES]) -> I::D;
    /// Eight values, as f32.
    #[doc(hidden)]
    unsafe fn narrowed<I: Isa>(a: &[Self; LANES]) -> I::S;
    /// Eight values, as f64.
    #[doc(hidden)]
    unsafe fn widened<I: Isa>(a: &[Self; LANES]) -> I::D;
}

impl Element for f32 {
    #[inline(always)]
    unsafe fn minus<I: Isa>(a: &[f32; LANES], b: &[f32; LANES]) -> I::D {
        // SAFETY: the caller's word on the instruction set is passed on.
        unsafe { I::d_sub(I::widen(I::s_load(a)), I::widen(I::s_load(b))) }
    }
    #[inline(always)]
    unsafe fn narrowed<I: Isa>(a: &[f32; LANES]) -> I::S {
        // SAFETY: as above.
        unsafe { I::s_load(a) }
    }
    #[inline(always)]
    unsafe fn widened<I: Isa>(a: &[f32; LANES]) -> I::D {
        // SAFETY: as above.
        unsafe { I::widen(I::s_load(a)) }
    }
}

impl Element for f64 {
    #[inline(always)]
    unsafe fn minus<I: Isa>(a: &[f64; LANES], b: &[f64; LANES]) -> I::D {
        // SAFETY: the caller's word on the instruction set is passed on.
        unsafe { I::d_sub(I::d_load(a), I::d_load(b)) }
    }
    #[inline(always)]
    unsafe fn narrowed<I: Isa>(a: &[f64; LANES]) -> I::S {
        // SAFETY: as above.
        unsafe { I::narrow(I::d_load(a)) }
    }
    #[inline(always)]
    unsafe fn widened<I: Isa>(a: &[f64; LANES]) -> I::D {
        // SAFETY: as above.
        unsafe { I::d_load(a) }
    }
}

/// Arrays: any machine.
#[derive(Clone, Copy)]
pub(super) struct Plain;

#[inline(always)]
fn each<A: Copy, B: Copy, C>(a: [A; LANES], b: [B; LANES], f: impl Fn(A, B) -> C) -> [C; LANES] {
    std::array::from_fn(|l| f(a[l], b[l]))
}

#[inline(always)]
fn pick<A: Copy>(mask: [bool; LANES], a: [A; LANES], b: [A; LANES]) -> [A; LANES] {
    std::array::from_fn(|l| if mask[l] { a[l] } else { b[l] })
}

impl Isa for Plain {
    type D = [f64; LANES];
    type S = [f32; LANES];
    type M = [bool; LANES];
    type P = [u32; LANES];

    #[inline(always)]
    unsafe fn d_splat(v: f64) -> Self::D {
        [v; LANES]
    }
    #[inline(always)]
    unsafe fn d_load(v: &[f64; LANES]) -> Self::D {
        *v
    }
    #[inline(always)]
    unsafe fn d_store(v: Self::D, to: &mut [f64; LANES]) {
        *to = v;
    }
    #[inline(always)]
    unsafe fn d_add(a: Self::D, b: Self::D) -> Self::D {
        each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn d_sub(a: Self::D, b: Self::D) -> Self::D {
        each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn d_mul(a: Self::D, b: Self::D) -> Self::D {
        each(a, b, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn d_min(a: Self::D, b: Self::D) -> Self::D {
        each(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    unsafe fn d_less(a: Self::D, b: Self::D) -> Self::M {
        each(a, b, |a, b| a < b)
    }
    #[inline(always)]
    unsafe fn d_pick(mask: Self::M, a: Self::D, b: Self::D) -> Self::D {
        pick(mask, a, b)
    }
    #[inline(always)]
    unsafe fn s_splat(v: f32) -> Self::S {
        [v; LANES]
    }
    #[inline(always)]
    unsafe fn s_load(v: &[f32; LANES]) -> Self::S {
        *v
    }
    #[inline(always)]
    unsafe fn s_store(v: Self::S, to: &mut [f32; LANES]) {
        *to = v;
    }
    #[inline(always)]
    unsafe fn s_add(a: Self::S, b: Self::S) -> Self::S {
        each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    unsafe fn s_sub(a: Self::S, b: Self::S) -> Self::S {
        each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    unsafe fn s_mul(a: Self::S, b: Self::S) -> Self::S {
        each(a, b, |a, b| a * b)
    }
    #[inline(always)]
    unsafe fn s_div(a: Self::S, b: Self::S) -> Self::S {
        each(a, b, |a, b| a / b)
    }
    #[inline(always)]
    unsafe fn s_max(a: Self::S, b: Self::S) -> Self::S {
        each(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    unsafe fn s_more(a: Self::S, b: Self::S) -> Self::M {
        each(a, b, |a, b| a > b)
    }
    #[inline(always)]
    unsafe fn s_pick(mask: Self::M, a: Self::S, b: Self::S) -> Self::S {
        pick(mask, a, b)
    }
    #[inline(always)]
    unsafe fn narrow(v: Self::D) -> Self::S {
        v.map(|v| v as f32)
    }
    #[inline(always)]
    unsafe fn widen(v: Self::S) -> Self::D {
        v.map(f64::from)
    }
    #[inline(always)]
    unsafe fn flagged(flags: [u8; LANES], bits: u8) -> Self::M {
        flags.map(|f| f & bits != 0)
    }
    #[inline(always)]
    unsafe fn p_splat(v: u32) -> Self::P {
        [v; LANES]
    }
    #[inline(always)]
    unsafe fn p_pick(mask: Self::M, a: Self::P, b: Self::P) -> Self::P {
        pick(mask, a, b)
    }
    #[inline(always)]
    unsafe fn p_store(v: Self::P, to: &mut [u32; LANES]) {
        *to = v;
    }
}
