//! One element of each function: straight-line code without branches or calls, to be inlined into loops.
//!
//! `e^x = 2^n e^r` with `n` the integer nearest to `x / ln 2` and `|r| <= ln(2) / 2`. The integer is read off the low bits
//! of `x / ln 2 + 1.5 * 2^m`, m being the bits of the mantissa; `e^r - 1 = r + r^2 q(r)` with q the polynomial of least
//! maximal error on that interval (found by Remez' exchange), good to 0.2 units in the last place.

/// The functions for one float type.
macro_rules! scalar {
    ($t:ident, $bits:ident, mantissa $mantissa:literal, bias $bias:literal, round $round:literal,
     ln2 $ln2_hi:literal $ln2_lo:literal, range $low:literal $high:literal, flat $flat:literal,
     q $q:expr, atanh $atanh:expr) => {
        pub(super) mod $t {
            /// `a b + c`, fused where that is one instruction.
            #[inline(always)]
            pub(crate) fn fma<const FMA: bool>(a: $t, b: $t, c: $t) -> $t {
                if FMA { a.mul_add(b, c) } else { a * b + c }
            }

            #[inline(always)]
            fn horner<const FMA: bool, const N: usize>(r: $t, c: [$t; N]) -> $t {
                let mut p = c[N - 1];
                for k in (0..N - 1).rev() {
                    p = fma::<FMA>(p, r, c[k]);
                }
                p
            }

            /// n as bits that, shifted left by the mantissa, stand in the exponent; and `e^r - 1`.
            #[inline(always)]
            fn reduce<const FMA: bool>(x: $t) -> ($bits, $t) {
                let shifted = fma::<FMA>(x, std::$t::consts::LOG2_E, $round);
                let n = shifted - $round;
                let r = fma::<FMA>(-n, $ln2_lo, fma::<FMA>(-n, $ln2_hi, x));
                let q = horner::<FMA, _>(r, $q);
                (shifted.to_bits(), fma::<FMA>(r * r, q, r))
            }

            #[inline(always)]
            pub(crate) fn exp<const FMA: bool>(x: $t) -> $t {
                let (n, p) = reduce::<FMA>(x);
                // Half of 2^n, then twice the whole, so that results up to the largest number are reached.
                let half = $t::from_bits(n.wrapping_add($bias - 1) << $mantissa);
                let e = (fma::<FMA>(half, p, half)) * 2.0;
                let e = if x < $low { 0.0 } else { e };
                if x > $high { $t::INFINITY } else { e }
            }

            /// By `e^y - 1 = 2^n (e^r - 1) + (2^n - 1)` at `y = -2 |x|`, so that nothing cancels near 0.
            #[inline(always)]
            pub(crate) fn tanh<const FMA: bool>(x: $t) -> $t {
                let y = -2.0 * x.abs();
                // The comparison is false for NaN, which is therefore kept.
                let y = if y < $flat { $flat } else { y };
                let (n, p) = reduce::<FMA>(y);
                let power = $t::from_bits(n.wrapping_add($bias) << $mantissa);
                let m = fma::<FMA>(power, p, power - 1.0);
                (-m / (m + 2.0)).copysign(x)
            }

            /// `ln(2^k m) = k ln 2 + 2 atanh(s)`, `s = (m - 1) / (m + 1)`, m between the roots of 1/2 and 2.
            #[inline(always)]
            pub(crate) fn ln<const FMA: bool>(x: $t) -> $t {
                const ONE: $bits = (1.0 as $t).to_bits();
                const ROOT: $bits = std::$t::consts::FRAC_1_SQRT_2.to_bits();
                let moved = x.to_bits().wrapping_sub(ROOT);
                // k as an integer, turned to a float through the low bits of `round`: no 64-bit conversion in AVX2.
                let k_biased = (moved.wrapping_add(ONE) >> $mantissa);
                let k =
                    $t::from_bits(($round as $t).to_bits().wrapping_add(k_biased)) - ($round + $bias as $t);
                let exponent = moved & !(((1 as $bits) << $mantissa) - 1);
                let m = $t::from_bits(x.to_bits().wrapping_sub(exponent));
                let f = m - 1.0;
                let s = f / (2.0 + f);
                let z = s * s;
                // 2 atanh(s) = f - s (f - 2 z (1/3 + z/5 + ...)): f is exact and carries the leading bits.
                let tail = 2.0 * z * horner::<FMA, _>(z, $atanh);
                let small = fma::<FMA>(k, $ln2_lo, -(s * (f - tail)));
                let l = fma::<FMA>(k, $ln2_hi, f + small);
                let l = if x < $t::MIN_POSITIVE { $t::NEG_INFINITY } else { l };
                let l = if x < 0.0 { $t::NAN } else { l };
                // Infinity and NaN are their own logarithms.
                if x < $t::INFINITY { l } else { x }
            }
        }
    };
}

scalar!(f32, u32, mantissa 23, bias 127, round 12_582_912.0,
    ln2 0.693_115_25 3.194_618_5e-5, range -86.643_4 88.722_84, flat -20.0,
    q [0.5, 0.166_665_76, 0.041_666_374, 0.008_363_295, 0.001_394_132_3],
    atanh [1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0]);

scalar!(f64, u64, mantissa 52, bias 1023, round 6_755_399_441_055_744.0,
    ln2 0.693_147_180_369_123_8 1.908_214_929_270_587_8e-10, range -707.703_271 709.782_712_893_384, flat -40.0,
    q [0.500_000_000_000_000_1, 0.166_666_666_666_666_75, 0.041_666_666_666_623_47, 0.008_333_333_333_322_036,
       0.001_388_888_891_753_999, 0.000_198_412_698_871_13, 2.480_152_079_033_294e-5, 2.755_724_174_765_170_7e-6,
       2.762_032_835_503_647e-7, 2.511_027_140_046_238_4e-8],
    atanh [1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0,
           1.0 / 21.0, 1.0 / 23.0]);

/// Largest magnitude that [`cos`] reduces: beyond it the multiples of pi / 2 are no longer exact.
pub(super) const TURNS: f64 = 1e6;

/// The cosine for magnitudes up to [`TURNS`]: `x = n pi / 2 + r` with pi / 2 in three parts of 33 bits, of which n times each
/// is exact; then a sine or a cosine of r by n's last bit (the polynomials of fdlibm's kernels).
#[inline(always)]
pub(super) fn cos<const FMA: bool>(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const HALF_PI: [f64; 3] =
        [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
    const SINE: [f64; 6] = [
        -1.666_666_666_666_663_2e-1,
        8.333_333_333_322_49e-3,
        -1.984_126_982_985_795e-4,
        2.755_731_370_707_006_8e-6,
        -2.505_076_025_340_686_3e-8,
        1.589_690_995_211_55e-10,
    ];
    const COSINE: [f64; 6] = [
        4.166_666_666_666_66e-2,
        -1.388_888_888_887_411e-3,
        2.480_158_728_947_673e-5,
        -2.755_731_435_139_066_3e-7,
        2.087_572_321_298_175e-9,
        -1.135_964_755_778_819_5e-11,
    ];
    let fma = self::f64::fma::<FMA>;
    let horner = |z: f64, c: [f64; 6]| c.into_iter().rev().reduce(|p, c| fma(p, z, c)).unwrap_or(0.0);
    let shifted = fma(x, std::f64::consts::FRAC_2_PI, ROUND);
    let n = shifted - ROUND;
    let r = HALF_PI.into_iter().fold(x, |r, part| fma(-n, part, r));
    let z = r * r;
    let sine = fma(r * z, horner(z, SINE), r);
    let half = 0.5 * z;
    let whole = 1.0 - half;
    let cosine = whole + fma(z * z, horner(z, COSINE), (1.0 - whole) - half);
    let turns = shifted.to_bits();
    let value = if turns & 1 == 1 { sine } else { cosine };
    // Quarters 1 and 2 are negative.
    f64::from_bits(value.to_bits() ^ ((turns.wrapping_add(1) >> 1 & 1) << 63))
}
