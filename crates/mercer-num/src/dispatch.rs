//! One source, compiled for several instruction sets, chosen when the program runs.
//!
//! `dispatch! { pub fn name(args) -> Ret { body } }` compiles the body three times: for AVX-512, for AVX2 with FMA, and
//! for the build's own target, and picks at the call. The body is ordinary safe Rust written so that the compiler
//! turns it into vector code: loops over chunks of a fixed number of lanes. A plain release build is as fast as a
//! native one.

/// The supported instruction sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// What the build targets: on x86-64 that is SSE2, on aarch64 NEON.
    Plain,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 F, VL, DQ and BW.
    Avx512,
}

/// The best instruction set of this machine.
pub fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bw");
        if avx2 && avx512 {
            return Level::Avx512;
        }
        if avx2 {
            return Level::Avx2;
        }
    }
    Level::Plain
}

/// See the module's text. With `<const FMA>` after the name, the body may ask `FMA`: whether a fused multiply-add is one
/// instruction here (where it is not, `mul_add` is a slow call to the C library).
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident <const FMA> ( $($arg:ident : $ty:ty),* $(,)? ) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn plain<const FMA: bool> ($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 ($($arg: $ty),*) $(-> $ret)? { plain::<true>($($arg),*) }
                #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
                fn avx512 ($($arg: $ty),*) $(-> $ret)? { plain::<true>($($arg),*) }
                match $crate::dispatch::level() {
                    // SAFETY: `level` has just seen that this machine has these instructions.
                    $crate::dispatch::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::dispatch::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::dispatch::Level::Plain => {}
                }
            }
            plain::<{ cfg!(any(target_arch = "aarch64", target_feature = "fma")) }>($($arg),*)
        }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<$t:ident : $bound:path>)? ( $($arg:ident : $ty:ty),* $(,)? ) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn plain $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? { plain($($arg),*) }
                #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
                fn avx512 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? { plain($($arg),*) }
                match $crate::dispatch::level() {
                    // SAFETY: `level` has just seen that this machine has these instructions.
                    $crate::dispatch::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::dispatch::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::dispatch::Level::Plain => {}
                }
            }
            plain($($arg),*)
        }
    };
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    dispatch! {
        fn sum(x: &[f64]) -> f64 {
            let mut lanes = [0.0; 8];
            let (chunks, rest) = x.as_chunks::<8>();
            for chunk in chunks {
                for (lane, v) in lanes.iter_mut().zip(chunk) {
                    *lane += v;
                }
            }
            lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
        }
    }

    #[test]
    fn a_dispatched_sum_is_the_sum() {
        let x: Vec<f64> = (0..1003).map(f64::from).collect();
        assert_eq!(sum(&x), 1002.0 * 1003.0 / 2.0);
    }
}
