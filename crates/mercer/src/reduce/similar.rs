//! Denoising of photographs by principal components of similar patches.
//!
//! A photograph repeats itself: similar patches are samples of one distribution, whose leading principal components
//! contain the image, while noise is in all directions. For a patch y with its n most similar neighbours, with mean m
//! and covariance S, the estimate with the smallest expected squared error is linear in y (Lebrun, Buades and Morel
//! 2013, equations 6 and 9):
//!
//! ```text
//! first:   z = m + (S - sigma^2 I)_+ S^-1 (y - m)        S of the noisy squares
//! second:  z = m + T (T + sigma^2 I)^-1 (y - m)          T and neighbours of the first estimate
//! ```
//!
//! Each component is shrunk by its share of noise instead of being kept or dropped. Patches overlap, and all
//! estimates of a pixel are averaged; clipping at black or white is corrected at the end (`clipped.rs`). Unlike
//! components of whole images (kernel PCA), these adapt to their position in the image.
//!
//! Cost: for patches of d pixels and n neighbours, `n d^2 + d^3` per group of patches; there are about a tenth as
//! many groups as pixels. The search for neighbours costs `(2 w + 1)^2 d` per group.

use rayon::prelude::*;

use super::clipped::restore;
use crate::data::{ImageShape, Points, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::factor::{self, Spd};
use crate::num::{Mat, product};
use crate::watch::{Step, Watch};

/// Side of a patch in pixels, for less and for more noise.
const SIDES: [usize; 2] = [5, 6];
/// Noise above this fraction of the image's range uses the larger patch.
const NOISY: f64 = 0.08;
/// Radius of the search for neighbours, in pixels.
const WINDOW: usize = 16;
/// Number of neighbours per pixel of a patch.
const NEIGHBOURS: f64 = 1.8;
/// Distance between the reference patches of groups.
const STEP: usize = 3;
/// Rows of reference patches processed together: within a band, a patch that was in a group is not a reference again.
const BAND: usize = 24;
/// A group whose variance exceeds the noise by no more than this factor is flat.
const FLAT: f64 = 1.05;

/// Parameters of denoising.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarParams {
    /// Standard deviation of the noise.
    pub noise: f64,
    /// Side of a patch in pixels; `None`: 5, or 6 where there is much noise.
    pub patch: Option<usize>,
}

/// Denoises rows that are images, each from its own patches.
///
/// ```
/// use mercer::data::{ImageShape, Points};
/// use mercer::reduce::similar::{SimilarParams, denoise};
/// use mercer::{Exec, watch};
/// let shape = ImageShape::grey(24, 24);
/// let stripe = |i: usize| if i % 24 < 12 { 50.0 } else { 200.0 };
/// let noise = |i: usize| ((i * 7919) % 101) as f64 / 5.0 - 10.0;
/// let noisy = Points::dense((0..576).map(|i| stripe(i) + noise(i)).collect(), 576)?.with_image(shape)?;
/// let params = SimilarParams { noise: 6.0, patch: None };
/// let clean = denoise(noisy.view(), shape, &params, Exec::one(), &mut watch::silent())?.view().to_f64()?;
/// let off: f64 = clean.iter().enumerate().map(|(i, v)| (v - stripe(i)).powi(2)).sum();
/// assert!(off / 576.0 < 10.0); // of 34
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn denoise(
    images: View<'_>,
    shape: ImageShape,
    params: &SimilarParams,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Points> {
    if shape.is_empty() || shape.len() != images.d {
        return Err(Error::shape("pixels of an image", images.d, shape.len()));
    }
    if !(params.noise > 0.0 && params.noise.is_finite()) {
        return Err(Error::param("noise", params.noise, "a number above 0"));
    }
    let least = shape.height.min(shape.width);
    if let Some(side) = params.patch.filter(|&side| side < 2 || side > least.min(16)) {
        let allowed = format!("from 2 to {}", least.min(16));
        return Err(Error::param("patch", side, allowed));
    }
    let mut out = Vec::with_capacity(images.n * images.d);
    for i in 0..images.n {
        let step = Step::new("denoise", i as u64, Some(images.n as u64));
        if watch(&step).is_break() {
            return Err(Error::Cancelled);
        }
        let pixels = images.row(i).to_f64();
        if let Some(at) = pixels.iter().position(|v| !v.is_finite()) {
            return Err(Error::param(
                format!("pixel {} of image {}", at + 1, i + 1),
                pixels[at],
                "a finite number",
            ));
        }
        let noisy = Picture::new(&pixels, shape);
        let side = params.patch.unwrap_or_else(|| side_for(&pixels, params.noise)).min(least);
        let job = Job { noisy: &noisy, side, noise2: params.noise * params.noise };
        // The first estimate guides the second pass: similar patches and covariances are found with less noise in it.
        let first = job.pass(None, exec);
        let mut second = job.pass(Some(&first), exec);
        for (noisy, clean) in noisy.channels.iter().zip(&mut second.channels) {
            restore(noisy, clean, params.noise);
        }
        out.extend(second.pixels(shape));
    }
    Points::dense(out, images.d)?.with_image(shape)
}

fn side_for(pixels: &[f64], noise: f64) -> usize {
    let (low, high) =
        pixels.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    SIDES[usize::from(noise > NOISY * (high - low))]
}

/// An image, one channel after another.
struct Picture {
    height: usize,
    width: usize,
    channels: Vec<Vec<f64>>,
}

impl Picture {
    fn new(pixels: &[f64], shape: ImageShape) -> Self {
        let c = shape.channels;
        let channels = (0..c).map(|k| pixels.iter().skip(k).step_by(c).copied().collect()).collect();
        Picture { height: shape.height, width: shape.width, channels }
    }

    fn pixels(&self, shape: ImageShape) -> Vec<f64> {
        let n = shape.height * shape.width;
        (0..n).flat_map(|i| self.channels.iter().map(move |channel| channel[i])).collect()
    }

    /// The squared distance of two patches, given by their first pixels.
    fn distance2(&self, a: usize, b: usize, side: usize) -> f64 {
        let mut sum = 0.0;
        for channel in &self.channels {
            for line in 0..side {
                let (a, b) = (a + line * self.width, b + line * self.width);
                let off = channel[a..a + side].iter().zip(&channel[b..b + side]);
                sum += off.map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
            }
        }
        sum
    }

    /// Patches of a channel, one after another.
    fn squares(&self, channel: usize, places: &[usize], side: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(places.len() * side * side);
        for &place in places {
            for line in 0..side {
                let at = place + line * self.width;
                out.extend_from_slice(&self.channels[channel][at..at + side]);
            }
        }
        out
    }
}

/// One image to denoise.
struct Job<'a> {
    noisy: &'a Picture,
    side: usize,
    noise2: f64,
}

/// Sums of estimates and their counts, for some rows of pixels.
struct Sums {
    first: usize,
    values: Vec<Vec<f64>>,
    count: Vec<f64>,
}

impl Job<'_> {
    /// The average of all estimates. The second pass is guided by the image of the first.
    fn pass(&self, guide: Option<&Picture>, exec: Exec) -> Picture {
        let (h, w) = (self.noisy.height, self.noisy.width);
        let bands: Vec<usize> = (0..=h - self.side).step_by(BAND).collect();
        let work = |&top: &usize| self.band(top, guide);
        let sums: Vec<Sums> = if exec.threads() > 1 {
            bands.par_iter().map(work).collect()
        } else {
            bands.iter().map(work).collect()
        };
        let mut values = vec![vec![0.0; h * w]; self.noisy.channels.len()];
        let mut count = vec![0.0; h * w];
        // In the order of bands, so that the number of threads does not change the sums.
        for part in &sums {
            let at = part.first * w;
            for (sum, part) in values.iter_mut().zip(&part.values) {
                sum[at..at + part.len()].iter_mut().zip(part).for_each(|(s, v)| *s += v);
            }
            count[at..at + part.count.len()].iter_mut().zip(&part.count).for_each(|(s, v)| *s += v);
        }
        for channel in &mut values {
            channel.iter_mut().zip(&count).for_each(|(v, n)| *v /= n.max(1.0));
        }
        Picture { height: h, width: w, channels: values }
    }

    fn band(&self, top: usize, guide: Option<&Picture>) -> Sums {
        let (h, w, side) = (self.noisy.height, self.noisy.width, self.side);
        let (last_y, last_x) = (h - side, w - side);
        let end = (top + BAND).min(last_y + 1);
        let first = top.saturating_sub(WINDOW);
        let lines = (end - 1 + WINDOW).min(last_y) + side - first;
        let mut sums = Sums {
            first,
            values: vec![vec![0.0; lines * w]; self.noisy.channels.len()],
            count: vec![0.0; lines * w],
        };
        // A patch that was a neighbour of another has an estimate already and need not begin a group of its own.
        let mut done = vec![false; (end - top) * w];
        let at_step = |v: usize, last: usize| v.is_multiple_of(STEP) || v == last;
        let mut group = Vec::new();
        for y in (top..end).filter(|&y| at_step(y, last_y) || y + 1 == end) {
            for x in (0..=last_x).filter(|&x| at_step(x, last_x)) {
                if done[(y - top) * w + x] {
                    continue;
                }
                self.neighbours((y, x), guide.unwrap_or(self.noisy), &mut group);
                for c in 0..self.noisy.channels.len() {
                    let squares = self.estimate(c, &group, guide);
                    let own = squares.chunks(side * side);
                    for (&place, square) in group.iter().zip(own) {
                        for (line, values) in square.chunks(side).enumerate() {
                            let at = place + line * w - first * w;
                            let sum = sums.values[c][at..at + side].iter_mut();
                            sum.zip(values).for_each(|(s, v)| *s += v);
                            // All channels of a pixel have the same number of estimates.
                            if c == 0 {
                                sums.count[at..at + side].iter_mut().for_each(|n| *n += 1.0);
                            }
                        }
                    }
                }
                for place in &group {
                    let (row, col) = (place / w, place % w);
                    if (top..end).contains(&row) {
                        done[(row - top) * w + col] = true;
                    }
                }
            }
        }
        sums
    }

    /// The first pixels of the patches most similar to one in its neighbourhood, itself first.
    fn neighbours(&self, (y, x): (usize, usize), guide: &Picture, group: &mut Vec<usize>) {
        let (h, w, side) = (guide.height, guide.width, self.side);
        let wanted = ((side * side) as f64 * NEIGHBOURS) as usize;
        let own = y * w + x;
        let mut found: Vec<(f64, usize)> = Vec::with_capacity((2 * WINDOW + 1).pow(2));
        for row in y.saturating_sub(WINDOW)..=(y + WINDOW).min(h - side) {
            for col in x.saturating_sub(WINDOW)..=(x + WINDOW).min(w - side) {
                let place = row * w + col;
                found.push((guide.distance2(own, place, side), place));
            }
        }
        // Ties are broken by place, so that the group does not depend on the selection algorithm.
        if found.len() > wanted {
            found.select_nth_unstable_by(wanted, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            found.truncate(wanted);
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        group.clear();
        group.extend(found.into_iter().map(|(_, place)| place));
    }

    /// The denoised patches of a group.
    fn estimate(&self, channel: usize, group: &[usize], guide: Option<&Picture>) -> Vec<f64> {
        let (n, d) = (group.len(), self.side * self.side);
        let mut noisy = self.noisy.squares(channel, group, self.side);
        let mut model = guide.map_or_else(|| noisy.clone(), |guide| guide.squares(channel, group, self.side));
        let mut mean = vec![0.0; d];
        model.chunks(d).for_each(|s| mean.iter_mut().zip(s).for_each(|(m, v)| *m += v / n as f64));
        // In a flat region differences between patches are noise alone: one mean over all pixels removes most of it.
        if guide.is_none() {
            let level = mean.iter().sum::<f64>() / d as f64;
            let varies = noisy.iter().map(|v| (v - level).powi(2)).sum::<f64>() / (n * d) as f64;
            if varies <= FLAT * self.noise2 {
                noisy.fill(level);
                return noisy;
            }
        }
        let centre = |rows: &mut [f64]| {
            rows.chunks_mut(d).for_each(|s| s.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m));
        };
        centre(&mut model);
        centre(&mut noisy);
        let mut cov = vec![0.0; d * d];
        for s in model.chunks(d) {
            // The lower triangle only: the matrix is symmetric.
            for i in 0..d {
                let v = s[i];
                cov[i * d..=i * d + i].iter_mut().zip(s).for_each(|(c, u)| *c += v * u);
            }
        }
        let scale = 1.0 / (n.max(2) - 1) as f64;
        for i in 0..d {
            for j in 0..=i {
                let v = cov[i * d + j] * scale;
                (cov[i * d + j], cov[j * d + i]) = (v, v);
            }
            // The guide is nearly free of noise; the covariance of the noisy patches is its own plus sigma^2 I.
            if guide.is_some() {
                cov[i * d + i] += self.noise2;
            }
        }
        let shrunk = if guide.is_some() { self.second(&cov, &noisy, d) } else { self.first(&cov, &noisy, d) };
        // Rounding left no usable covariance: use the mean alone.
        let mut out = shrunk.unwrap_or_else(|| vec![0.0; n * d]);
        out.chunks_mut(d).for_each(|s| s.iter_mut().zip(&mean).for_each(|(v, m)| *v += m));
        out
    }

    /// Components whose variance does not exceed the noise's are dropped: with few neighbours smaller ones occur by
    /// chance.
    fn first(&self, cov: &[f64], centred: &[f64], d: usize) -> Option<Vec<f64>> {
        let (variance, axes) = factor::eigen(cov, d).ok()?;
        let kept = variance.iter().take_while(|v| **v > self.noise2).count();
        let n = centred.len() / d;
        let some: Vec<f64> = axes.chunks(d).flat_map(|line| line[..kept].iter().copied()).collect();
        let mut parts = vec![0.0; n * kept];
        product::nn(&mut parts, Mat::new(centred, n, d), Mat::new(&some, d, kept), 1);
        // Each variance is that of signal and noise; the Wiener factor keeps the share of the signal.
        let shares: Vec<f64> = variance[..kept].iter().map(|v| 1.0 - self.noise2 / v).collect();
        parts.chunks_mut(kept.max(1)).for_each(|p| p.iter_mut().zip(&shares).for_each(|(p, s)| *p *= s));
        let mut out = vec![0.0; n * d];
        if kept > 0 {
            product::nt(&mut out, Mat::new(&parts, n, kept), Mat::new(&some, d, kept), 1);
        }
        Some(out)
    }

    /// y - m minus the noise's share of each component, sigma^2 (T + sigma^2 I)^-1 (y - m).
    fn second(&self, cov: &[f64], centred: &[f64], d: usize) -> Option<Vec<f64>> {
        let mut share = centred.to_vec();
        Spd::new(cov, d).ok()?.solve(&mut share, centred.len() / d);
        Some(centred.iter().zip(&share).map(|(v, s)| v - self.noise2 * s).collect())
    }
}
