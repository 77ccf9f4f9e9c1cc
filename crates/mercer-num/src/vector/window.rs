//! Sums under a sliding pyramid, for many interleaved images: the arithmetic of image-local and position-local
//! kernels.
//!
//! A pyramid of odd diameter `p = 2 r + 1` has the weight `r + 1 - max(|a|, |b|)` at the offset (a, b), so it is a
//! stack of boxes of 1, 3, .., p pixels. Down a column the boxes are sums that grow by two pixels at a time; what a
//! column then adds to the outputs left and right of it are suffix sums of those. That is `2 r + r + 2 r` additions
//! per pixel instead of `p^2` multiply-adds, and no value is subtracted, so no digits are lost.
//!
//! Images lie pixel by pixel with [`Windows::LANES`] of them side by side: every operation is a vertical one, and the
//! sums of a column stay in registers until they are whole.

use super::lanes::Wide;
use crate::dispatch::{Level, level};

/// Height and width of the images, and the pyramid's diameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Rows of pixels.
    pub height: usize,
    /// Columns of pixels.
    pub width: usize,
    /// Values a pixel, one after the other.
    pub channels: usize,
    /// The pyramid's diameter, an odd number.
    pub diameter: usize,
}

/// Bytes of a line of the first-level cache: a load that crosses two costs as much as two.
const LINE: usize = 64;

impl Frame {
    /// Pixels between the pyramid's centre and its edge.
    pub fn reach(self) -> usize {
        self.diameter / 2
    }

    /// Values of the scratch memory that [`Windows::windows`] wants.
    pub fn scratch(self, lanes: usize) -> usize {
        let pixels = self.height * self.width * self.channels + (self.height + 2 * self.reach()) * self.width;
        pixels * lanes + LINE
    }
}

/// Sliding sums of one float type: a part of [`crate::Real`].
pub trait Windows: Sized {
    /// Images side by side.
    const LANES: usize;

    /// For each row x and each lane l: `out[l] = sum_p (sum_q w(q - p) z_q)^power`, over the pixels p and the pyramid's
    /// weights w, with `z_q = sum_c x_qc y_qc`, y being lane l.
    ///
    /// `x` holds rows of `height width channels` values; `y` as many values of [`Windows::LANES`] images side by side;
    /// `out` has one run of lanes for each row.
    ///
    /// # Panics
    /// If `scratch` is shorter than [`Frame::scratch`] says, or the lengths do not fit together.
    fn windows(x: &[Self], y: &[Self], frame: Frame, power: u32, scratch: &mut [Self], out: &mut [Self]);

    /// The same of a z that the caller brings: lanes side by side, pixel by pixel.
    fn windows_of(z: &[Self], frame: Frame, power: u32, scratch: &mut [Self], out: &mut [Self]);
}

/// z with `reach` rows of zeros above and below. Every operation is of the same lanes, so results do not depend on the
/// instruction set but for sums of channels, which may be rounded once less.
#[inline(always)]
unsafe fn fixed<V: Wide, const P: usize, const SQUARE: bool>(
    z: &[V::Array],
    frame: Frame,
    power: u32,
    zero: V,
    one: V,
) -> V {
    let Frame { height, width, .. } = frame;
    let reach = P / 2;
    assert!(z.len() >= (height + 2 * reach) * width, "a frame of zeros above and below");
    let mut total = zero;
    for i in 0..height {
        // After column j, part c belongs to the output of column j - reach + c.
        let mut outputs = [zero; P];
        for j in 0..width {
            // SAFETY: the rows are below height + 2 reach, which the assert has seen; the caller's word on the instruction
            // set is passed on.
            unsafe {
                let at = |a: usize| V::load(z.get_unchecked((i + a) * width + j));
                let mut boxes = [zero; P];
                boxes[0] = at(reach);
                // Additions and fused products have ports of their own: these go to the one, those below to the other.
                for k in 0..reach {
                    let pair = at(reach - 1 - k).mul_add(one, at(reach + 1 + k));
                    boxes[k + 1] = boxes[k].mul_add(one, pair);
                }
                for k in 0..reach {
                    boxes[reach - 1 - k] = boxes[reach - 1 - k].add(boxes[reach - k]);
                }
                for c in 0..P - 1 {
                    outputs[c] = outputs[c + 1].add(boxes[c.abs_diff(reach)]);
                }
                outputs[P - 1] = boxes[reach];
                if j >= reach {
                    total = add_power::<V, SQUARE>(total, outputs[0], power);
                }
            }
        }
        // The last outputs have their right-hand columns beyond the frame; of a narrow frame all have.
        for j in width..width + reach {
            for c in 0..P - 1 {
                outputs[c] = outputs[c + 1];
            }
            if j >= reach {
                // SAFETY: as above.
                total = unsafe { add_power::<V, SQUARE>(total, outputs[0], power) };
            }
        }
    }
    total
}

/// `SQUARE`: the power is 2.
#[inline(always)]
unsafe fn add_power<V: Wide, const SQUARE: bool>(total: V, v: V, power: u32) -> V {
    // SAFETY: the caller's word on the instruction set is passed on.
    unsafe {
        if SQUARE {
            return v.mul_add(v, total);
        }
        let mut product = v;
        for _ in 1..power {
            product = product.mul(v);
        }
        total.add(product)
    }
}

/// Any diameter, by the definition of the weights.
#[inline(always)]
unsafe fn any<V: Wide>(z: &[V::Array], frame: Frame, power: u32, zero: V, weights: &[V::T]) -> V {
    let Frame { height, width, diameter, .. } = frame;
    let reach = frame.reach();
    let mut total = zero;
    for i in 0..height {
        for j in 0..width {
            let mut output = zero;
            for a in 0..diameter {
                for c in j.saturating_sub(reach)..(j + reach + 1).min(width) {
                    let weight = weights[a.abs_diff(reach).max(c.abs_diff(j))];
                    // SAFETY: the caller's word on the instruction set is passed on.
                    output = unsafe { V::load(&z[(i + a) * width + c]).mul_add(V::splat(weight), output) };
                }
            }
            // SAFETY: as above.
            total = unsafe { add_power::<V, false>(total, output, power) };
        }
    }
    total
}

/// A function compiled for each instruction set, and the choice of what this machine has.
macro_rules! on_wide {
    ($name:ident = $inner:ident($($arg:ident: $ty:ty),*), $plain:ty, $avx512:ty, $avx2:ty) => {
        pub(super) fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
                fn avx512($($arg: $ty),*) {
                    // SAFETY: the features are this function's own.
                    unsafe { $inner::<$avx512>($($arg),*) }
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) {
                    // SAFETY: the features are this function's own.
                    unsafe { $inner::<$avx2>($($arg),*) }
                }
                match level() {
                    // SAFETY: `level` has just seen that this machine has these instructions.
                    Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    Level::Avx2 => return unsafe { avx2($($arg),*) },
                    Level::Plain => {}
                }
            }
            // SAFETY: arrays need no instruction set.
            unsafe { $inner::<$plain>($($arg),*) }
        }
    };
}

macro_rules! windows {
    ($t:ident, $lanes:literal, $avx512:ty, $avx2:ty) => {
        mod $t {
            use super::*;

            pub(super) const LANES: usize = $lanes;
            type Lanes = [$t; LANES];

            #[inline(always)]
            unsafe fn sums<V: Wide<T = $t, Array = Lanes>>(z: &[Lanes], frame: Frame, power: u32) -> Lanes {
                let mut out = [0.0; LANES];
                // SAFETY: the caller's word on the instruction set is passed on.
                unsafe {
                    // Hidden from the compiler, which would otherwise remove the multiplication by 1.
                    let (zero, one) = (V::splat(0.0), V::splat(std::hint::black_box(1.0)));
                    let total: V = match (frame.diameter, power == 2) {
                        (1, true) => fixed::<V, 1, true>(z, frame, power, zero, one),
                        (1, false) => fixed::<V, 1, false>(z, frame, power, zero, one),
                        (3, true) => fixed::<V, 3, true>(z, frame, power, zero, one),
                        (3, false) => fixed::<V, 3, false>(z, frame, power, zero, one),
                        (5, true) => fixed::<V, 5, true>(z, frame, power, zero, one),
                        (5, false) => fixed::<V, 5, false>(z, frame, power, zero, one),
                        (7, true) => fixed::<V, 7, true>(z, frame, power, zero, one),
                        (7, false) => fixed::<V, 7, false>(z, frame, power, zero, one),
                        (9, true) => fixed::<V, 9, true>(z, frame, power, zero, one),
                        (9, false) => fixed::<V, 9, false>(z, frame, power, zero, one),
                        (11, true) => fixed::<V, 11, true>(z, frame, power, zero, one),
                        (11, false) => fixed::<V, 11, false>(z, frame, power, zero, one),
                        _ => {
                            let reach = frame.reach();
                            let weights: Vec<$t> = (0..=reach).map(|k| (reach + 1 - k) as $t).collect();
                            any::<V>(z, frame, power, zero, &weights)
                        }
                    };
                    total.store(&mut out);
                }
                out
            }

            /// The scratch memory from the start of a line on: place for z, the rows of zeros around it cleared, and where in
            /// it the image is; and place for y.
            #[inline(always)]
            fn clear(
                scratch: &mut [$t],
                frame: Frame,
            ) -> (&mut [Lanes], std::ops::Range<usize>, &mut [Lanes]) {
                let skip = scratch.as_ptr().align_offset(LINE).min(LINE);
                let edge = frame.reach() * frame.width;
                let inside = edge..edge + frame.height * frame.width;
                let (z, y) = scratch[skip..].as_chunks_mut::<LANES>().0.split_at_mut(inside.end + edge);
                z[..edge].fill([0.0; LANES]);
                z[inside.end..].fill([0.0; LANES]);
                (z, inside, y)
            }

            #[inline(always)]
            unsafe fn windows_on<V: Wide<T = $t, Array = Lanes>>(
                x: &[$t],
                y: &[$t],
                frame: Frame,
                power: u32,
                scratch: &mut [$t],
                out: &mut [$t],
            ) {
                let d = frame.height * frame.width * frame.channels;
                let (z, inside, lines) = clear(scratch, frame);
                let lines = &mut lines[..d];
                lines.copy_from_slice(&y.as_chunks::<LANES>().0[..d]);
                let y = &*lines;
                for (x, out) in x.chunks_exact(d).zip(out.as_chunks_mut::<LANES>().0) {
                    let pixels = z[inside.clone()].iter_mut();
                    let (x, y) = (x.chunks_exact(frame.channels), y.chunks_exact(frame.channels));
                    // SAFETY: the caller's word on the instruction set is passed on.
                    unsafe {
                        for (z, (x, y)) in pixels.zip(x.zip(y)) {
                            let mut sum = V::splat(x[0]).mul(V::load(&y[0]));
                            for (x, y) in x[1..].iter().zip(&y[1..]) {
                                sum = V::splat(*x).mul_add(V::load(y), sum);
                            }
                            sum.store(z);
                        }
                        *out = sums::<V>(z, frame, power);
                    }
                }
            }

            #[inline(always)]
            unsafe fn windows_of_on<V: Wide<T = $t, Array = Lanes>>(
                values: &[$t],
                frame: Frame,
                power: u32,
                scratch: &mut [$t],
                out: &mut [$t],
            ) {
                let (z, inside, _) = clear(scratch, frame);
                z[inside].copy_from_slice(values.as_chunks::<LANES>().0);
                // SAFETY: the caller's word on the instruction set is passed on.
                out.copy_from_slice(&unsafe { sums::<V>(z, frame, power) });
            }

            on_wide!(windows = windows_on(x: &[$t], y: &[$t], frame: Frame, power: u32, scratch: &mut [$t], out: &mut [$t]), Lanes, $avx512, $avx2);
            on_wide!(windows_of = windows_of_on(z: &[$t], frame: Frame, power: u32, scratch: &mut [$t], out: &mut [$t]), Lanes, $avx512, $avx2);
        }

        impl Windows for $t {
            const LANES: usize = $t::LANES;

            fn windows(x: &[$t], y: &[$t], frame: Frame, power: u32, scratch: &mut [$t], out: &mut [$t]) {
                $t::windows(x, y, frame, power, scratch, out);
            }

            fn windows_of(z: &[$t], frame: Frame, power: u32, scratch: &mut [$t], out: &mut [$t]) {
                $t::windows_of(z, frame, power, scratch, out);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
use super::lanes::x86::{F32x8, F64x4};
windows!(f32, 8, F32x8, F32x8);
windows!(f64, 4, F64x4, F64x4);

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, one image.
    fn slow(z: &[f64], frame: Frame, power: u32) -> f64 {
        let (h, w, r) = (frame.height as i64, frame.width as i64, frame.reach() as i64);
        let at = |i: i64, j: i64| z[(i * w + j) as usize];
        let output = |i: i64, j: i64| -> f64 {
            let weight = |k: i64, l: i64| (r + 1 - (k - i).abs().max((l - j).abs())).max(0) as f64;
            (0..h).flat_map(|k| (0..w).map(move |l| (k, l))).map(|(k, l)| weight(k, l) * at(k, l)).sum()
        };
        (0..h).flat_map(|i| (0..w).map(move |j| (i, j))).map(|(i, j)| output(i, j).powi(power as i32)).sum()
    }

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        (0..n).map(|_| next() - 0.3).collect()
    }

    fn check<T: crate::Real>(tol: f64) {
        for (height, width) in [(5, 7), (1, 9), (16, 16), (3, 2), (1, 1), (2, 30)] {
            for diameter in [1, 3, 5, 7, 9, 11, 13] {
                for (power, channels) in [(1, 1), (2, 1), (3, 2), (4, 1)] {
                    let frame = Frame { height, width, channels, diameter };
                    let d = height * width * channels;
                    let (x, y) = (noise(2 * d, 1), noise(d * T::LANES, 2));
                    let narrow = |v: &[f64]| v.iter().map(|&v| T::of(v)).collect::<Vec<T>>();
                    let mut out = vec![T::ZERO; 2 * T::LANES];
                    let mut scratch = vec![T::of(7.0); frame.scratch(T::LANES)];
                    T::windows(&narrow(&x), &narrow(&y), frame, power, &mut scratch, &mut out);
                    for (at, got) in out.iter().enumerate() {
                        let (row, lane) = (at / T::LANES, at % T::LANES);
                        let product = |q: usize| x[row * d + q] * y[q * T::LANES + lane];
                        let pixels = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
                            let pixel = |p| (p * channels..(p + 1) * channels).map(|q| of(product(q))).sum();
                            (0..height * width).map(pixel).collect()
                        };
                        let (z, sizes) = (pixels(&|v| v), pixels(&f64::abs));
                        let (want, size) = (slow(&z, frame, power), slow(&sizes, frame, power));
                        assert!(
                            (got.f64() - want).abs() <= tol * size,
                            "{frame:?} {power}: {got} for {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn sums_under_pyramids_are_their_definition() {
        check::<f64>(1e-14);
        check::<f32>(2e-6);
    }
}
