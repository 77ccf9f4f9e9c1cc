//! Bias correction for pixels whose noise was clipped at black or white.
//!
//! An 8-bit pixel cannot be darker than black. Negative values are clipped, so the mean of such pixels is brighter
//! than the image was: for noise with standard deviation s around a value t s above black, by
//!
//! ```text
//! mean / s = t Phi(t) + phi(t)        phi, Phi: density and distribution of the standard normal
//! ```
//!
//! which is 0.4 at t = 0. Any average of noisy pixels has this bias; this module inverts the formula. White is the
//! mirror image of black.

/// Share of pixels at an end of the range from which the image counts as clipped there.
const SHARE: f64 = 0.002;
/// Distance from the end, in standard deviations, beyond which clipping is negligible.
const FAR: f64 = 4.0;
/// Table entries per standard deviation.
const FINE: usize = 256;

/// Corrects a denoised channel, given the noisy channel it was computed from.
pub(super) fn restore(noisy: &[f64], clean: &mut [f64], noise: f64) {
    let fold = |f: fn(f64, f64) -> f64, start| noisy.iter().copied().fold(start, f);
    let (low, high) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
    let at = |end: f64| noisy.iter().filter(|v| **v == end).count() as f64 >= SHARE * noisy.len() as f64;
    // If the range is not much wider than the noise, clipping cannot be recognised.
    if high - low <= 2.0 * FAR * noise {
        return;
    }
    let (black, white) = (at(low), at(high));
    if !black && !white {
        return;
    }
    let means = means();
    for v in clean {
        if black && *v < low + FAR * noise {
            *v = low + noise * undone(&means, (*v - low) / noise);
        } else if white && *v > high - FAR * noise {
            *v = high - noise * undone(&means, (high - *v) / noise);
        }
    }
}

/// The mean at each entry of the table.
fn means() -> Vec<f64> {
    let density = |t: f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    let step = 1.0 / FINE as f64;
    let mut below = 0.5;
    let count = (FAR as usize) * FINE;
    let place = |k: usize| {
        let t = k as f64 * step;
        let mean = t * below + density(t);
        // Simpson's rule.
        below += step / 6.0 * (density(t) + 4.0 * density(t + step / 2.0) + density(t + step));
        mean
    };
    (0..=count).map(place).collect()
}

/// The value that has this mean, both in standard deviations from the end.
fn undone(means: &[f64], mean: f64) -> f64 {
    let after = means.partition_point(|m| *m <= mean);
    if after == 0 {
        return 0.0;
    }
    let Some(next) = means.get(after) else { return mean };
    let before = means[after - 1];
    ((after - 1) as f64 + (mean - before) / (next - before)) / FINE as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_clipped_noise_leads_back_to_its_value() {
        let means = means();
        let mut next = mercer_testkit::toy::normals(400_000, 1, 3).into_iter();
        for t in [0.0_f64, 0.3, 1.0, 2.5] {
            let mean = next.by_ref().take(100_000).map(|e| (t + e).max(0.0)).sum::<f64>() / 1e5;
            assert!((undone(&means, mean) - t).abs() < 0.02, "{t}: {mean}");
        }
        assert_eq!(undone(&means, -1.0), 0.0);
        assert!((undone(&means, FAR + 1.0) - FAR - 1.0).abs() < 1e-12);
    }

    #[test]
    fn only_what_was_cut_off_is_changed() {
        let noise = mercer_testkit::toy::normals(4000, 1, 5);
        let level = |i: usize| if i < 2000 { 10.0 } else { 200.0 };
        let clipped: Vec<f64> =
            noise.iter().enumerate().map(|(i, e)| (level(i) + 20.0 * e).clamp(0.0, 255.0)).collect();
        let whole: Vec<f64> = noise.iter().enumerate().map(|(i, e)| level(i) + 20.0 * e).collect();
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let smoothed = |noisy: &[f64]| {
            let (dark, light) = (mean(&noisy[..2000]), mean(&noisy[2000..]));
            (0..4000).map(|i| if i < 2000 { dark } else { light }).collect::<Vec<f64>>()
        };
        let mut clean = smoothed(&clipped);
        assert!(clean[0] > 13.0, "{}", clean[0]);
        restore(&clipped, &mut clean, 20.0);
        assert!(
            (clean[0] - 10.0).abs() < 1.5 && (clean[3000] - 200.0).abs() < 2.0,
            "{} {}",
            clean[0],
            clean[3000]
        );
        let mut clean = smoothed(&whole);
        let before = clean.clone();
        restore(&whole, &mut clean, 20.0);
        assert_eq!(clean, before);
    }
}
