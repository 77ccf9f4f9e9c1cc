//! The image-local kernel: products of pixels within a neighbourhood, then products of neighbourhoods.
//!
//! `k(x, y) = (sum_p z_p^d1 / s)^d2` with `z_p = sum_q w(q - p) x_q y_q`, w a pyramid of diameter p over the pixels
//! around (Schoelkopf 1997, Sec. 4.3). It is a polynomial kernel of degree `d1 d2` on correlations that are local in
//! groups of d1. The scale s is the sum for two images of ones, so that `k(1, 1) = 1` for any size of image and
//! pyramid. Where a pixel has several values, `x_q y_q` is their dot product.
//!
//! Cost per value: `5 r + 2` vector operations per pixel for a pyramid of radius r; see `mercer_num`'s windows.

use mercer_num::Real;
use mercer_num::vector::Frame;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::block::Dense;
use crate::kernel::definite::Definiteness;
use crate::kernel::derivative::{Second, power};
use crate::kernel::rows::{self, Span};
use crate::kernel::table::KernelEntry;
use crate::param::{Allowed, Param};

/// Maximum height and width of an image, so that products of the sides do not overflow.
const MOST: u32 = 1 << 15;

pub(in crate::kernel) const ENTRY: KernelEntry = KernelEntry {
    name: "local",
    formula: "(sum_p (sum_q w(q - p) x_q y_q)^d1 / s)^d2, w a pyramid, k(1, 1) = 1",
    doc: "Image-local: correlations of d1 pixels within a neighbourhood, then of d2 neighbourhoods.",
    params: &[
        Param::new("p", Allowed::Count(1, 1023), None, "diameter of the pyramid, odd"),
        Param::new("d1", Allowed::Count(1, 100), Some("2"), "power of each neighbourhood's sum"),
        Param::new("d2", Allowed::Count(1, 100), Some("2"), "power of the sum over neighbourhoods"),
        Param::new(
            "height",
            Allowed::Count(0, MOST as u64),
            Some("0"),
            "rows of pixels; 0: images are square and grey",
        ),
        Param::new("width", Allowed::Count(0, MOST as u64), Some("0"), "columns of pixels"),
    ],
    definiteness: "positive",
    known: Definiteness::Positive,
    examples: &[
        "local(p=3, height=1, width=5)",
        "local(p=5, d1=3, d2=1, height=5, width=1)",
        "local(p=3, d1=1, d2=3, height=1, width=1)",
    ],
    build: |v| Kernel::Local {
        diameter: v[0].whole(),
        inner: v[1].whole(),
        outer: v[2].whole(),
        height: v[3].whole(),
        width: v[4].whole(),
    },
    ..KernelEntry::EMPTY
};

/// The kernel prepared for points of d columns.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Local {
    frame: Frame,
    inner: u32,
    outer: u32,
}

impl Local {
    /// None for other kernels, and where the image shape does not match d columns.
    pub(in crate::kernel) fn of(kernel: &Kernel, d: usize) -> Option<Self> {
        let Kernel::Local { diameter, inner, outer, height, width } = *kernel else { return None };
        let (height, width) = match (height as usize, width as usize) {
            (0, 0) => (d.isqrt(), d.isqrt()),
            given => given,
        };
        let pixels = height * width;
        let fits = pixels > 0 && d.is_multiple_of(pixels) && d > 0;
        let square = height == width && d == pixels;
        let given = matches!(*kernel, Kernel::Local { height: 1.., width: 1.., .. });
        (fits && (given || square)).then(|| Local {
            frame: Frame { height, width, channels: d / pixels, diameter: diameter as usize },
            inner,
            outer,
        })
    }

    /// Pixels within the pyramid around pixel p, with their weights.
    fn around(&self, p: usize) -> impl Iterator<Item = (usize, f64)> {
        let Frame { height, width, .. } = self.frame;
        let (reach, i, j) = (self.frame.reach(), p / width, p % width);
        let near = move |at: usize, len: usize| at.saturating_sub(reach)..(at + reach + 1).min(len);
        near(i, height).flat_map(move |k| {
            near(j, width)
                .map(move |l| (k * width + l, (reach + 1 - k.abs_diff(i).max(l.abs_diff(j))) as f64))
        })
    }

    fn pixels(&self) -> usize {
        self.frame.height * self.frame.width
    }

    /// The sums under the pyramid at every pixel, as nested box sums, as in the block routine.
    fn sums(&self, z: &[f64]) -> Vec<f64> {
        let Frame { height, width, .. } = self.frame;
        let reach = self.frame.reach();
        let (mut out, mut boxes) = (vec![0.0; z.len()], vec![0.0; reach + 1]);
        for i in 0..height {
            for j in 0..width {
                // boxes[s]: the column of 2 s + 1 pixels around (i, j), built by growing it one pixel at each end.
                let mut sum = 0.0;
                for (s, boxed) in boxes.iter_mut().enumerate() {
                    let above = if s <= i { z[(i - s) * width + j] } else { 0.0 };
                    let below = if s > 0 && i + s < height { z[(i + s) * width + j] } else { 0.0 };
                    sum += above + below;
                    *boxed = sum;
                }
                // A pixel at horizontal distance c lies in the boxes of half-width c, c + 1, ..: sums from the outside in.
                (0..reach).rev().for_each(|s| boxes[s] += boxes[s + 1]);
                let (from, to) = (j.saturating_sub(reach), (j + reach + 1).min(width));
                for (c, out) in (from..to).zip(&mut out[i * width + from..i * width + to]) {
                    *out += boxes[c.abs_diff(j)];
                }
            }
        }
        out
    }

    /// `x_q y_q` for every pixel.
    fn products(&self, x: Span<'_>, y: Span<'_>) -> Vec<f64> {
        let mut z = vec![0.0; self.pixels()];
        rows::pairs(x, y, |i, x, y| z[i / self.frame.channels] += x * y);
        z
    }

    /// The sum of powers for two images of ones.
    fn scale(&self) -> f64 {
        // The pyramid's weights within the image around pixel (i, j) are sums over nested boxes, each a product of
        // two lengths.
        let Frame { height, width, channels, .. } = self.frame;
        let length = |at: usize, len: usize, s: usize| (at + s + 1).min(len) - at.saturating_sub(s);
        let mut sum = 0.0;
        for i in 0..height {
            for j in 0..width {
                let boxes = (0..=self.frame.reach()).map(|s| length(i, height, s) * length(j, width, s));
                sum += ((boxes.sum::<usize>() * channels) as f64).powi(self.inner as i32);
            }
        }
        sum
    }

    fn value(&self, x: Span<'_>, y: Span<'_>) -> f64 {
        let sums = self.sums(&self.products(x, y));
        let sum: f64 = sums.iter().map(|v| v.powi(self.inner as i32)).sum();
        (sum / self.scale()).powi(self.outer as i32)
    }

    /// `out += weight dk(x, y)/dx`. The gradient of the sums passes through the same pyramid, which equals its
    /// transpose.
    pub(in crate::kernel) fn add_gradient(&self, weight: f64, x: Span<'_>, y: Span<'_>, out: &mut [f64]) {
        let (slopes, outer) = self.slopes(x, y);
        let slopes = self.sums(&slopes);
        rows::each(y, |i, y| out[i] += weight * outer[1] * slopes[i / self.frame.channels] * y);
    }

    /// The derivative of the scaled sum S with respect to each window's sum, and `S^d2` with its two derivatives.
    fn slopes(&self, x: Span<'_>, y: Span<'_>) -> (Vec<f64>, [f64; 3]) {
        let (n, scale) = (self.inner as i32, self.scale());
        let sums = self.sums(&self.products(x, y));
        let sum = sums.iter().map(|v| v.powi(n)).sum::<f64>() / scale;
        let slopes = sums.iter().map(|v| f64::from(n) * v.powi(n - 1) / scale).collect();
        (slopes, power(sum, self.outer))
    }

    /// All derivatives up to the second.
    pub(in crate::kernel) fn second(&self, x: Span<'_>, y: Span<'_>) -> Second {
        let (d, n, scale) = (x.len(), self.inner as i32, self.scale());
        let (window_slopes, [value, slope, curve]) = self.slopes(x, y);
        let slopes = self.sums(&window_slopes);
        let pixel = |i: usize| i / self.frame.channels;
        let (xs, ys) = (x.to_f64(), y.to_f64());
        // Second derivatives of S with respect to two pixels' products: the windows that contain both contribute.
        let mut bend = vec![0.0; self.pixels() * self.pixels()];
        if n > 1 {
            let sums = self.sums(&self.products(x, y));
            for (p, v) in sums.iter().enumerate() {
                let size = f64::from(n) * f64::from(n - 1) * v.powi(n - 2) / scale;
                for (q, w) in self.around(p) {
                    self.around(p).for_each(|(r, u)| bend[q * self.pixels() + r] += size * w * u);
                }
            }
        }
        let first = |of: &[f64]| -> Vec<f64> { (0..d).map(|i| slopes[pixel(i)] * of[i]).collect() };
        let (sx, sy) = (first(&ys), first(&xs));
        let mut out = Second {
            value,
            x: sx.iter().map(|s| slope * s).collect(),
            y: sy.iter().map(|s| slope * s).collect(),
            xx: vec![0.0; d * d],
            xy: vec![0.0; d * d],
        };
        for i in 0..d {
            for j in 0..d {
                let bend = slope * bend[pixel(i) * self.pixels() + pixel(j)];
                // Chain rule: the curvature of the outer power, and that of S through the two pixels' products.
                out.xx[i * d + j] = curve * sx[i] * sx[j] + bend * ys[i] * ys[j];
                out.xy[i * d + j] = curve * sx[i] * sy[j] + bend * ys[i] * xs[j];
            }
            // The product x_i y_i depends on both arguments itself.
            out.xy[i * d + i] += slope * slopes[pixel(i)];
        }
        out
    }

    fn block<T: Real>(&self, a: &Dense<'_, T>, b: &Dense<'_, T>, out: &mut [T]) {
        let (d, lanes) = (a.d, T::LANES);
        // Integer powers of a small number underflow in f32: the scale is therefore distributed over the factors
        // first.
        let by = self.scale().powf(-1.0 / f64::from(self.inner));
        let rows: Vec<T> = a.values.iter().map(|v| T::of(v.f64() * by)).collect();
        let mut scratch = vec![T::ZERO; self.frame.scratch(lanes)];
        let (mut panel, mut sums) = (vec![T::ZERO; d * lanes], vec![T::ZERO; a.n * lanes]);
        for from in (0..b.n).step_by(lanes) {
            let count = lanes.min(b.n - from);
            // Interleaved, one image per lane; unused lanes hold the images of the step before and are not copied out.
            for (l, row) in b.values[from * d..(from + count) * d].chunks(d).enumerate() {
                row.iter().enumerate().for_each(|(q, &v)| panel[q * lanes + l] = v);
            }
            T::windows(&rows, &panel, self.frame, self.inner, &mut scratch, &mut sums);
            T::powi_all(&mut sums, self.outer);
            for (sums, out) in sums.chunks(lanes).zip(out.chunks_mut(b.n)) {
                out[from..from + count].copy_from_slice(&sums[..count]);
            }
        }
    }
}

/// Checks that the diameter is odd and the image fits the columns.
pub(in crate::kernel) fn check(kernel: &Kernel, d: Option<usize>) -> Result<()> {
    let Kernel::Local { diameter, height, width, .. } = *kernel else { return Ok(()) };
    if diameter % 2 == 0 {
        return Err(Error::param("local p", diameter, "an odd number: a pyramid has a pixel at its centre"));
    }
    if (height == 0) != (width == 0) {
        let (name, value) = if height == 0 { ("local height", height) } else { ("local width", width) };
        return Err(Error::param(name, value, "given together with the other dimension"));
    }
    match d {
        Some(d) if Local::of(kernel, d).is_none() => {
            let allowed = if height == 0 {
                format!("given as height and width: {d} columns are not a square grey image")
            } else {
                format!("an image of {d} values, with any number of channels")
            };
            Err(Error::param("local height x width", format!("{height} x {width}"), allowed))
        }
        _ => Ok(()),
    }
}

/// The value by the definition; `None` for other kernels, NaN where the rows are not such images.
pub(in crate::kernel) fn value(kernel: &Kernel, x: Span<'_>, y: Span<'_>) -> Option<f64> {
    matches!(kernel, Kernel::Local { .. }).then(|| {
        let local = Local::of(kernel, x.len()).filter(|_| x.len() == y.len() && rows::numbers(x, y));
        local.map_or(f64::NAN, |local| local.value(x, y))
    })
}

/// A block; `false` for other kernels.
pub(in crate::kernel) fn block<T: Real>(
    kernel: &Kernel,
    a: &Dense<'_, T>,
    b: &Dense<'_, T>,
    out: &mut [T],
) -> bool {
    if !matches!(kernel, Kernel::Local { .. }) {
        return false;
    }
    match Local::of(kernel, a.d) {
        Some(local) => local.block(a, b, out),
        None => out.fill(T::of(f64::NAN)),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;

    /// The formula of the paper, loop by loop.
    fn slow(x: &[f64], y: &[f64], [h, w, c, p, d1, d2]: [i64; 6]) -> f64 {
        let sum = |x: &[f64], y: &[f64]| -> f64 {
            let mut sum = 0.0;
            for (i, j) in (0..h).flat_map(|i| (0..w).map(move |j| (i, j))) {
                let mut window = 0.0;
                for (k, l) in (0..h).flat_map(|k| (0..w).map(move |l| (k, l))) {
                    let weight = ((p + 1) / 2 - (k - i).abs().max((l - j).abs())).max(0) as f64;
                    for q in 0..c {
                        let at = ((k * w + l) * c + q) as usize;
                        window += weight * x[at] * y[at];
                    }
                }
                sum += window.powi(d1 as i32);
            }
            sum
        };
        let ones = vec![1.0; x.len()];
        (sum(x, y) / sum(&ones, &ones)).powi(d2 as i32)
    }

    #[test]
    fn values_blocks_and_derivatives_are_the_formula() {
        for [h, w, c, p, d1, d2] in [
            [4, 6, 1, 3, 2, 2],
            [5, 5, 1, 7, 2, 2],
            [3, 4, 2, 5, 3, 1],
            [6, 6, 1, 1, 4, 1],
            [2, 9, 3, 13, 2, 1],
        ] {
            let d = (h * w * c) as usize;
            let line = format!("local(p={p}, d1={d1}, d2={d2}, height={h}, width={w})");
            let kernel: Kernel = line.parse().expect("a kernel");
            let n = 19;
            let x: Vec<f64> = (0..n * d).map(|i| (i as f64 * 1.7).sin() + 0.1).collect();
            let points = crate::data::Points::dense(x.clone(), d).expect("rows");
            let mut block = vec![0.0; n * n];
            kernel.own_block(points.view(), points.view(), &mut block);
            for (i, xi) in x.chunks(d).enumerate() {
                for (j, xj) in x.chunks(d).enumerate() {
                    let want = slow(xi, xj, [h, w, c, p, d1, d2]);
                    let own =
                        (slow(xi, xi, [h, w, c, p, d1, d2]) * slow(xj, xj, [h, w, c, p, d1, d2])).sqrt();
                    let value = kernel.value(Row::F64(xi), Row::F64(xj));
                    assert!((value - want).abs() <= 1e-13 * own, "{line}: {value} for {want}");
                    assert!((block[i * n + j] - want).abs() <= 1e-13 * own, "{line}: {}", block[i * n + j]);
                }
            }
            assert!((kernel.value(Row::F64(&vec![1.0; d]), Row::F64(&vec![1.0; d])) - 1.0).abs() < 1e-14);
            if c == 1 {
                let square: Kernel = format!("local(p={p}, d1={d1}, d2={d2})").parse().expect("a kernel");
                assert_eq!(square.check(Some(d)).is_ok(), h == w);
            }
        }
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let message = |line: &str, d| {
            let kernel = Kernel::parse(line);
            kernel.and_then(|k| k.check(Some(d))).expect_err(line).to_string()
        };
        assert!(message("local(p=4)", 9).contains("an odd number"));
        assert!(message("local(p=3, height=3)", 9).contains("local width = 0"));
        assert!(message("local(p=3)", 10).contains("10 columns are not a square grey image"));
        assert!(message("local(p=3, height=3, width=4)", 16).contains("an image of 16 values"));
    }
}
