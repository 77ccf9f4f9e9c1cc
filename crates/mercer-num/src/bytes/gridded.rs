//! From floats to bytes: detection and conversion of values that are integers times a constant.

use crate::dispatch::dispatch;

/// A float type whose values can be put on a grid of integers.
pub trait Gridded: Sized {
    /// Writes `(v - offset) inverse` as bytes; false where one is farther than `close` from an integer from 0 to 255, or NaN.
    fn quantise(values: &[Self], offset: f64, inverse: f64, close: f64, out: &mut [u8]) -> bool;
    /// The least and the largest of the integers `(v - offset) inverse`; None where one is farther than `close` from an
    /// integer, or NaN, or too large to tell.
    fn range(values: &[Self], offset: f64, inverse: f64, close: f64) -> Option<(f64, f64)>;
}

macro_rules! gridded {
    ($t:ident, $magic:expr) => {
        mod $t {
            use super::*;

            /// Added to a number, its fraction does not fit any more: it is rounded, and its last bits are the integer.
            pub(super) const MAGIC: $t = $magic;

            dispatch! {
                pub(super) fn quantise(values: &[$t], offset: $t, inverse: $t, close: $t, out: &mut [u8]) -> bool {
                    let mut bad = 0u32;
                    for (q, &v) in out.iter_mut().zip(values) {
                        let at = (v - offset) * inverse;
                        let sum = at + MAGIC;
                        let whole = sum - MAGIC;
                        *q = sum.to_bits() as u8;
                        // Comparisons with NaN are false, so this one is the right way round.
                        let good = (whole - at).abs() <= close && (0.0..=255.0).contains(&whole);
                        bad |= u32::from(!good);
                    }
                    bad == 0
                }
            }

            dispatch! {
                pub(super) fn range(values: &[$t], offset: $t, inverse: $t, close: $t) -> (u32, $t, $t) {
                    let (mut bad, mut least, mut most) = ([0u32; 16], [0.0; 16], [0.0; 16]);
                    let (chunks, rest) = values.as_chunks::<16>();
                    let mut last = [offset; 16];
                    last[..rest.len()].copy_from_slice(rest);
                    for chunk in chunks.iter().chain(std::iter::once(&last)) {
                        for lane in 0..16 {
                            let at = (chunk[lane] - offset) * inverse;
                            let whole = (at + MAGIC) - MAGIC;
                            // As above: NaN must not pass.
                            let good = (whole - at).abs() <= close;
                            bad[lane] |= u32::from(!good);
                            least[lane] = if whole < least[lane] { whole } else { least[lane] };
                            most[lane] = if whole > most[lane] { whole } else { most[lane] };
                        }
                    }
                    let (least, most) = (least.iter().copied().fold(0.0, $t::min), most.iter().copied().fold(0.0, $t::max));
                    (bad.iter().sum(), least, most)
                }
            }
        }

        impl Gridded for $t {
            fn quantise(values: &[Self], offset: f64, inverse: f64, close: f64, out: &mut [u8]) -> bool {
                $t::quantise(values, offset as $t, inverse as $t, close as $t, out)
            }

            fn range(values: &[Self], offset: f64, inverse: f64, close: f64) -> Option<(f64, f64)> {
                let (mut least, mut most) = (0.0, 0.0);
                for chunk in values.chunks(1 << 14) {
                    let (bad, low, high) = $t::range(chunk, offset as $t, inverse as $t, close as $t);
                    (least, most) = (f64::min(least, low.into()), f64::max(most, high.into()));
                    // A wider range does not fit into a byte.
                    if bad != 0 || most - least > 255.0 {
                        return None;
                    }
                }
                Some((least, most))
            }
        }
    };
}
gridded!(f32, 12_582_912.0); // 1.5 * 2^23
gridded!(f64, 6_755_399_441_055_744.0); // 1.5 * 2^52
