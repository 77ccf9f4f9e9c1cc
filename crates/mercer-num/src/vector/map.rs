//! The maps over one slice.

use super::scalar;
use crate::dispatch::dispatch;

dispatch! {
    /// Cosines; a few units in the last place of 1 from the exact ones.
    pub(super) fn cos<const FMA>(x: &mut [f64]) {
        for chunk in x.chunks_mut(64) {
            let mut given = [0.0; 64];
            let given = &mut given[..chunk.len()];
            given.copy_from_slice(chunk);
            let mut near = true;
            for v in chunk.iter_mut() {
                // False for NaN, which the other path keeps.
                near &= v.abs() <= scalar::TURNS;
                *v = scalar::cos::<FMA>(*v);
            }
            if !near {
                for (out, v) in chunk.iter_mut().zip(given) {
                    *out = if v.abs() <= scalar::TURNS { *out } else { v.cos() };
                }
            }
        }
    }
}

macro_rules! maps {
    ($t:ident) => {
        pub(super) mod $t {
            use super::dispatch;
            use super::scalar::$t as one;

            #[inline(always)]
            fn each(x: &mut [$t], f: impl Fn($t) -> $t) {
                for v in x {
                    *v = f(*v);
                }
            }

            #[inline(always)]
            fn power<const N: u32>(v: $t) -> $t {
                let (mut square, mut all, mut rest) = (v, 1.0, N);
                while rest > 0 {
                    if rest & 1 == 1 {
                        all *= square;
                    }
                    square *= square;
                    rest >>= 1;
                }
                all
            }

            dispatch! {
                pub(crate) fn exp<const FMA>(x: &mut [$t]) {
                    each(x, one::exp::<FMA>);
                }
            }

            dispatch! {
                pub(crate) fn ln<const FMA>(x: &mut [$t]) {
                    each(x, one::ln::<FMA>);
                }
            }

            dispatch! {
                pub(crate) fn tanh<const FMA>(x: &mut [$t]) {
                    each(x, one::tanh::<FMA>);
                }
            }

            dispatch! {
                fn exp_of_ln<const FMA>(x: &mut [$t], e: $t) {
                    each(x, |v| one::exp::<FMA>(e * one::ln::<FMA>(v)));
                }
            }

            dispatch! {
                pub(crate) fn powi<const FMA>(x: &mut [$t], n: u32) {
                    // Common degrees are straight-line code.
                    match n {
                        0 => x.fill(1.0),
                        1 => {}
                        2 => each(x, power::<2>),
                        3 => each(x, power::<3>),
                        4 => each(x, power::<4>),
                        5 => each(x, power::<5>),
                        6 => each(x, power::<6>),
                        7 => each(x, power::<7>),
                        8 => each(x, power::<8>),
                        9 => each(x, power::<9>),
                        _ => {
                            // Squarings outside, elements inside, a chunk that stays in registers and first-level cache.
                            for chunk in x.chunks_mut(64) {
                                let mut square = [1.0; 64];
                                let square = &mut square[..chunk.len()];
                                square.copy_from_slice(chunk);
                                if n & 1 == 0 {
                                    chunk.fill(1.0);
                                }
                                let mut rest = n >> 1;
                                while rest > 0 {
                                    each(square, |s| s * s);
                                    if rest & 1 == 1 {
                                        chunk.iter_mut().zip(square.iter()).for_each(|(v, s)| *v *= s);
                                    }
                                    rest >>= 1;
                                }
                            }
                        }
                    }
                }
            }

            dispatch! {
                pub(crate) fn sqrt<const FMA>(x: &mut [$t]) {
                    each(x, $t::sqrt);
                }
            }

            dispatch! {
                pub(crate) fn rsqrt<const FMA>(x: &mut [$t]) {
                    each(x, |v| 1.0 / v.sqrt());
                }
            }

            dispatch! {
                fn recip<const FMA>(x: &mut [$t]) {
                    each(x, |v| 1.0 / v);
                }
            }

            pub(crate) fn powf(x: &mut [$t], e: $t) {
                let whole = e.abs() <= 64.0 && e.fract() == 0.0;
                if e == 0.5 {
                    sqrt(x);
                } else if e == -0.5 {
                    rsqrt(x);
                } else if whole {
                    powi(x, e.abs() as u32);
                    if e < 0.0 {
                        recip(x);
                    }
                } else {
                    exp_of_ln(x, e);
                }
            }

            dispatch! {
                pub(crate) fn affine<const FMA>(x: &mut [$t], s: $t, c: $t) {
                    each(x, |v| one::fma::<FMA>(v, s, c));
                }
            }

            dispatch! {
                pub(crate) fn add<const FMA>(x: &mut [$t], y: &[$t]) {
                    for (x, y) in x.iter_mut().zip(y) {
                        *x += y;
                    }
                }
            }

            dispatch! {
                pub(crate) fn mul<const FMA>(x: &mut [$t], y: &[$t]) {
                    for (x, y) in x.iter_mut().zip(y) {
                        *x *= y;
                    }
                }
            }

            dispatch! {
                pub(crate) fn distance<const FMA>(t: &mut [$t], a: $t, b: &[$t]) {
                    for (t, b) in t.iter_mut().zip(b) {
                        let d = one::fma::<FMA>(-2.0, *t, a + b);
                        *t = if d < 0.0 { 0.0 } else { d };
                    }
                }
            }

            dispatch! {
                pub(crate) fn gauss<const FMA>(t: &mut [$t], a: $t, b: &[$t], gamma: $t) {
                    for (t, b) in t.iter_mut().zip(b) {
                        let d = one::fma::<FMA>(-2.0, *t, a + b);
                        let d = if d < 0.0 { 0.0 } else { d };
                        *t = one::exp::<FMA>(-gamma * d);
                    }
                }
            }
        }
    };
}
maps!(f32);
maps!(f64);
