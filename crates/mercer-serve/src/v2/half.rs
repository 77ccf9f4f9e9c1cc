//! Floats of 16 bits.

/// IEEE half precision.
pub(super) fn f16(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1f, u32::from(bits) & 0x3ff);
    match exponent {
        // Zeros and subnormal numbers, in units of 2^-24.
        0 => {
            let size = fraction as f32 * 2f32.powi(-24);
            if sign == 0 { size } else { -size }
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// The upper half of an f32.
pub(super) fn bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_the_standard_says() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x03ff, 1023.0 * 2f32.powi(-24)),
            (0x0400, 2f32.powi(-14)),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(f16(bits).to_bits(), f32::to_bits(value), "{bits:x}");
        }
        assert!(f16(0x7e00).is_nan() && f16(0x8000).to_bits() == (-0f32).to_bits());
        assert_eq!(bf16(0x3f80), 1.0);
    }
}
