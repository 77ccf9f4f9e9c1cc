//! Sums over the coordinates of two points: one row against many.

use crate::dispatch::dispatch;

/// `out[j] = sum_i term(x_i, y_ji)` over `LANES` partial sums.
macro_rules! sums {
    ($t:ident, $lanes:literal) => {
        pub(super) mod $t {
            use super::dispatch;

            const LANES: usize = $lanes;

            #[inline(always)]
            fn sums(x: &[$t], y: &[$t], out: &mut [$t], term: impl Fn($t, $t, $t) -> $t) {
                if x.is_empty() {
                    out.fill(0.0);
                    return;
                }
                for (out, y) in out.iter_mut().zip(y.chunks_exact(x.len())) {
                    let (x, x_rest) = x.as_chunks::<LANES>();
                    let (y, y_rest) = y.as_chunks::<LANES>();
                    let mut sum = [0.0; LANES];
                    for (x, y) in x.iter().zip(y) {
                        for l in 0..LANES {
                            sum[l] = term(sum[l], x[l], y[l]);
                        }
                    }
                    let mut rest = 0.0;
                    for (x, y) in x_rest.iter().zip(y_rest) {
                        rest = term(rest, *x, *y);
                    }
                    *out = total(sum) + rest;
                }
            }

            /// The sum of all partial sums, by halves: one after the other they would wait for each other for longer than the
            /// products take.
            #[inline(always)]
            fn total(mut sums: [$t; LANES]) -> $t {
                let mut half = LANES / 2;
                while half > 0 {
                    for l in 0..half {
                        sums[l] += sums[l + half];
                    }
                    half /= 2;
                }
                sums[0]
            }

            dispatch! {
                pub(crate) fn dots<const FMA>(x: &[$t], y: &[$t], out: &mut [$t]) {
                    sums(x, y, out, |s, x, y| if FMA { x.mul_add(y, s) } else { x * y + s });
                }
            }

            dispatch! {
                pub(crate) fn squares<const FMA>(x: &[$t], y: &[$t], out: &mut [$t]) {
                    sums(x, y, out, |s, x, y| {
                        let d = x - y;
                        if FMA { d.mul_add(d, s) } else { d * d + s }
                    });
                }
            }

            dispatch! {
                pub(crate) fn manhattan<const FMA>(x: &[$t], y: &[$t], out: &mut [$t]) {
                    sums(x, y, out, |s, x, y| s + (x - y).abs());
                }
            }

            dispatch! {
                pub(crate) fn chi_squares<const FMA>(x: &[$t], y: &[$t], out: &mut [$t]) {
                    sums(x, y, out, |s, x, y| {
                        let (sum, d) = (x + y, x - y);
                        let (sum, d) = if sum <= 0.0 { (1.0, 0.0) } else { (sum, d) };
                        s + d * d / sum
                    });
                }
            }

            dispatch! {
                pub(crate) fn harmonic_means<const FMA>(x: &[$t], y: &[$t], out: &mut [$t]) {
                    sums(x, y, out, |s, x, y| {
                        let (sum, p) = (x + y, x * y);
                        let (sum, p) = if sum <= 0.0 { (1.0, 0.0) } else { (sum, p) };
                        s + 2.0 * p / sum
                    });
                }
            }
        }
    };
}
sums!(f32, 32);
sums!(f64, 16);
