//! One sequence of symbols against many side by side: matches, and runs of matches.
//!
//! Symbols are whole numbers held as floats, so that a comparison gives a mask as wide as what is summed. Lanes of no
//! sequence hold a number that is no symbol.

use super::Windows;
use crate::dispatch::dispatch;

/// Comparisons of one float type: a part of [`crate::Real`].
pub trait Symbols: Windows {
    /// `z[p] += weight` in each lane where `x[p]` is `y[p]`, over as many places as all three have.
    fn add_matches(x: &[Self], y: &[Self], weight: Self, z: &mut [Self]);

    /// `out[l] += weight sum_p r (2 degree - r + 1)`, r being how many places from p on match without a gap, but at most
    /// `degree`; over as many places as both have.
    fn add_runs(x: &[Self], y: &[Self], degree: Self, weight: Self, out: &mut [Self]);
}

macro_rules! symbols {
    ($t:ident) => {
        mod $t {
            use super::{Windows, dispatch};

            const LANES: usize = <$t as Windows>::LANES;

            dispatch! {
                pub(super) fn add_matches(x: &[$t], y: &[$t], weight: $t, z: &mut [$t]) {
                    let (y, z) = (y.as_chunks::<LANES>().0, z.as_chunks_mut::<LANES>().0);
                    for (x, (y, z)) in x.iter().zip(y.iter().zip(z)) {
                        for l in 0..LANES {
                            z[l] += if *x == y[l] { weight } else { 0.0 };
                        }
                    }
                }
            }

            dispatch! {
                pub(super) fn add_runs(x: &[$t], y: &[$t], degree: $t, weight: $t, out: &mut [$t]) {
                    let (mut run, mut sum) = ([0.0; LANES], [0.0; LANES]);
                    let y = y.as_chunks::<LANES>().0;
                    // From the end, so that a run is known where it starts; its length stays a small whole number.
                    for (x, y) in x.iter().zip(y).rev() {
                        for l in 0..LANES {
                            let longer = if run[l] < degree { run[l] + 1.0 } else { degree };
                            let r: $t = if *x == y[l] { longer } else { 0.0 };
                            sum[l] += r * (2.0 * degree + 1.0 - r);
                            run[l] = r;
                        }
                    }
                    for (out, sum) in out.iter_mut().zip(sum) {
                        *out += weight * sum;
                    }
                }
            }
        }

        impl Symbols for $t {
            fn add_matches(x: &[$t], y: &[$t], weight: $t, z: &mut [$t]) {
                $t::add_matches(x, y, weight, z);
            }

            fn add_runs(x: &[$t], y: &[$t], degree: $t, weight: $t, out: &mut [$t]) {
                $t::add_runs(x, y, degree, weight, out);
            }
        }
    };
}
symbols!(f32);
symbols!(f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_symbols_differ_or_the_degree_is_reached() {
        let x = [0.0_f64, 1.0, 1.0, 2.0, 0.0];
        let lanes = [[0.0, 1.0, 1.0, 2.0, 0.0], [0.0, 1.0, 2.0, 2.0, 0.0], [-1.0; 5]];
        let n = <f64 as Windows>::LANES;
        let mut y = vec![-1.0; 5 * n];
        for (l, lane) in lanes.iter().enumerate() {
            lane.iter().enumerate().for_each(|(p, &s)| y[p * n + l] = s);
        }
        let mut out = vec![0.5; n];
        f64::add_runs(&x, &y, 3.0, 2.0, &mut out);
        let of = |runs: &[f64]| 0.5 + 2.0 * runs.iter().map(|r| r * (7.0 - r)).sum::<f64>();
        assert_eq!(out[..3], [of(&[3.0, 3.0, 3.0, 2.0, 1.0]), of(&[2.0, 1.0, 2.0, 1.0]), 0.5]);
        let mut z = vec![0.0; 5 * n];
        f64::add_matches(&x, &y, 0.25, &mut z);
        assert_eq!([z[0], z[1], z[2], z[2 * n], z[2 * n + 1]], [0.25, 0.25, 0.0, 0.25, 0.0]);
    }
}
