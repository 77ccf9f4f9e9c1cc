//! Automatic denoising: the noise level is estimated from the data, the kernel and the number of components on
//! held-out rows.
//!
//! Numbers of components under the linear kernel and Gaussians of three widths are compared on held-out rows, and the
//! smallest error is selected: `min_n sum_i |z_n(x_i + e_i) - x_i|^2`, with z_n(x) the pre-image of the projection of
//! Phi(x) onto n components (Mika et al. 1999; Schoelkopf et al. 1999). If rows are clean, noise is added to them. If
//! they are noisy, x is not known, but with added noise e of the same level, `y + e` and `y - e` have independent
//! noise, so that `|z_n(y + e) - (y - e)|^2` is the error against x plus a constant, the d 2 sigma^2 of the second
//! copy. Cost: for each kernel a PCA on the other rows, and about ten times the denoising of the held-out rows.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::KpcaParams;
use crate::data::noise::normal;
use crate::data::{Points, Targets, View, median_distance2};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::Sample;
use crate::reduce::preimage::PreimageParams;
use crate::watch::Watch;

/// Maximum number of rows on which components are computed: pre-images need products with all of them.
const ROWS: usize = 3000;
/// Maximum number of held-out rows.
const ASIDE: usize = 300;
/// Maximum number of components tried.
const MOST: usize = 512;
/// Widths tried, as fractions of the median squared distance: narrower ones spread the variance over more components.
const WIDTHS: [f64; 3] = [1.0, 0.5, 0.25];

/// Parameters of denoising; all are optional.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DenoiseParams {
    /// The kernel; `None`: the best of the linear one and Gaussians with widths up to the median distance between
    /// rows.
    pub kernel: Option<Kernel>,
    /// Number of components; `None`: selected on held-out rows.
    pub components: Option<usize>,
    /// Standard deviation of the noise; `None`: estimated.
    pub noise: Option<f64>,
    /// Parameters of the pre-images.
    pub back: PreimageParams,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// A number of components, and its mean squared error on the held-out rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tried {
    /// Number of components.
    pub components: usize,
    /// Estimated mean squared distance from the rows without noise.
    pub error: f64,
}

/// Components for denoising, and how they were selected.
#[derive(Debug, Clone)]
pub struct Denoiser {
    /// The components.
    pub model: Machine,
    /// Number of components used.
    pub components: usize,
    /// The noise level that was assumed; `None` if it was not needed.
    pub noise: Option<f64>,
    /// The numbers tried; empty if the number was given.
    pub tried: Vec<Tried>,
    /// The error before denoising, if numbers were tried.
    pub before: Option<f64>,
}

/// The standard deviation of isotropic noise: directions of smallest variance vary by noise alone. Computed from the
/// median variance of the lower half of the linear principal components.
///
/// Constant columns are ignored. With n rows in more than n dimensions only n - 1 directions are observed, and these
/// contain the noise of all. Zero if the rows vary in fewer directions than possible: they have no such noise, or
/// duplicated columns hide it.
pub fn noise_level(points: &Points, exec: Exec, watch: &mut Watch<'_>) -> Result<f64> {
    let params = KpcaParams { kernel: Some(Kernel::Linear), ..KpcaParams::default() };
    let fitted = params.fit(Sample::new(points, &Targets::None), exec, watch)?;
    let mut variance: Vec<f64> =
        fitted.components()?.features.values.iter().map(|v| v.max(0.0) / points.len() as f64).collect();
    let moving = moving_columns(points, exec)?;
    let seen = moving.min(points.len().saturating_sub(1));
    if seen == 0 {
        return Ok(0.0);
    }
    // Components with zero variance are not listed.
    variance.resize(seen.max(variance.len()), 0.0);
    variance.sort_unstable_by(f64::total_cmp);
    let share = if seen < moving { points.len() as f64 / moving as f64 } else { 1.0 };
    let level2 = variance[variance.len() / 4] * share;
    // A variance within rounding error is zero.
    let most = variance.last().copied().unwrap_or(0.0);
    Ok(if level2 > 1e-12 * most { level2.sqrt() } else { 0.0 })
}

/// The number of columns with more than one distinct value.
fn moving_columns(points: &Points, exec: Exec) -> Result<usize> {
    let values = points.view().to_f64_within(exec.memory())?;
    let Some(first) = values.chunks(points.dim()).next() else { return Ok(0) };
    let mut moving = vec![false; points.dim()];
    for row in values.chunks(points.dim()) {
        moving.iter_mut().zip(row.iter().zip(first)).for_each(|(moves, (v, f))| *moves |= v != f);
    }
    Ok(moving.into_iter().filter(|moves| *moves).count())
}

impl DenoiseParams {
    /// Finds components in `points`. The points are assumed to be noisy themselves, unless `noisy` rows are given
    /// from which the noise is estimated.
    pub fn fit(
        &self,
        points: &Points,
        noisy: Option<&Points>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Denoiser> {
        if points.len() < 5 {
            return Err(Error::shape("training rows", points.len(), "at least 5"));
        }
        if let Some(noise) = self.noise.filter(|s| !(*s > 0.0 && s.is_finite())) {
            return Err(Error::param("noise", noise, "above 0"));
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.shuffle(&mut rng);
        let aside = (points.len() / 5).clamp(1, ASIDE);
        let learning = points.gather(&order[aside..points.len().min(aside + ROWS)]);
        let noise = match self.noise {
            Some(noise) => noise,
            None => noise_level(noisy.unwrap_or(&learning), exec, watch)?,
        };
        if noise == 0.0 {
            return Err(Error::Unsupported(
                "no noise was found: the rows vary in fewer directions than they have columns; set its standard \
                 deviation by noise = LEVEL"
                    .into(),
            ));
        }
        let kernels = if let Some(kernel) = &self.kernel {
            vec![kernel.clone()]
        } else {
            let width = width(&learning, self.seed);
            let gaussians = WIDTHS.iter().map(|share| Kernel::Rbf { gamma: 1.0 / (share * width) });
            // Where rows lie near a plane, or noise dominates, linear components are better.
            std::iter::once(Kernel::Linear).chain(gaussians).collect()
        };
        if let (Some(components), [kernel]) = (self.components, kernels.as_slice()) {
            let model = self.components(kernel, &learning, exec, watch)?;
            return Ok(Denoiser { noise: Some(noise), ..Denoiser::new(model, components)? });
        }
        let rows = points.gather(&order[..aside]).view().to_f64_within(exec.memory())?;
        let more: Vec<f64> = rows.iter().map(|_| noise * normal(&mut rng)).collect();
        let with = |sign: f64| rows.iter().zip(&more).map(|(x, e)| x + sign * e).collect::<Vec<f64>>();
        let (given, wanted) = (with(1.0), with(if noisy.is_some() { 0.0 } else { -1.0 }));
        let known = if noisy.is_some() { 0.0 } else { 2.0 * noise * noise * points.dim() as f64 };
        let error = |found: &[f64]| distance2(found, &wanted) / aside as f64 - known;
        let before = error(&given);
        let given = Points::dense(given, points.dim())?;
        let mut best: Option<Denoiser> = None;
        let mut least = f64::INFINITY;
        for kernel in kernels {
            let model = self.components(&kernel, &learning, exec, watch)?;
            let numbers = match self.components {
                Some(components) => vec![components],
                None => counts(model.components()?.count().min(MOST)),
            };
            let mut tried = Vec::new();
            for components in numbers {
                let found = model.components()?.denoise(given.view(), components, &self.back, exec, watch)?;
                tried.push(Tried {
                    components,
                    error: error(&found.points.view().to_f64_within(exec.memory())?),
                });
            }
            let Some(top) = tried.iter().min_by(|a, b| a.error.total_cmp(&b.error)).copied() else {
                continue;
            };
            if best.is_none() || top.error < least {
                least = top.error;
                let (components, noise, before) = (top.components, Some(noise), Some(before));
                best = Some(Denoiser { model, components, noise, tried, before });
            }
        }
        // If the number of components was given it is used as is; otherwise the best of all tried must reduce the
        // error.
        if self.components.is_none() && least > before {
            return Err(Error::Unsupported(format!(
                "denoising does not help: on held-out rows the mean squared error rises from {before:.4} to {least:.4}; \
                 {} rows are too few, or have too little in common, to separate signal from noise",
                points.len()
            )));
        }
        best.ok_or_else(|| Error::shape("components", 0, "at least 1"))
    }

    /// As many components as may be tried.
    fn components(
        &self,
        kernel: &Kernel,
        points: &Points,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let mut find = |components: Option<u64>| {
            let params = KpcaParams { kernel: Some(kernel.clone()), components, ..KpcaParams::default() };
            params.fit(Sample::new(points, &Targets::None), exec, watch)
        };
        match self.components {
            Some(wanted) => find(Some(wanted as u64)),
            // There may be fewer components than requested, which shows only when they are computed.
            None if points.len() > 2 * MOST => find(Some(MOST as u64)).or_else(|_| find(None)),
            None => find(None),
        }
    }
}

impl Denoiser {
    /// Denoises with the first `components` of existing components.
    pub fn new(model: Machine, components: usize) -> Result<Self> {
        let most = model.components()?.count();
        if components == 0 || components > most {
            return Err(Error::param("components", components, format!("from 1 to {most}")));
        }
        Ok(Denoiser { model, components, noise: None, tried: Vec::new(), before: None })
    }

    /// The points projected onto the components and mapped back by pre-images.
    pub fn denoise(
        &self,
        points: View<'_>,
        back: &PreimageParams,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Points> {
        Ok(self.model.components()?.denoise(points, self.components, back, exec, watch)?.points)
    }
}

/// The median squared distance between rows; 1 where all are equal.
fn width(points: &Points, seed: u64) -> f64 {
    median_distance2(points, seed).filter(|w| *w > 0.0).unwrap_or(1.0)
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Numbers to try: powers of two, from 8 on with one value in between, and the total.
fn counts(all: usize) -> Vec<usize> {
    let mut out: Vec<usize> = (0..16).map(|e| 1 << e).chain((2..16).map(|e| 3 << e)).collect();
    out.retain(|&n| n < all);
    out.push(all);
    out.sort_unstable();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::silent;
    use mercer_testkit::toy;

    /// A half circle in the first two of ten coordinates, with noise in all.
    fn arc(n: usize, noise: f64, seed: u64) -> (Points, Vec<f64>) {
        let (angle, e) =
            (toy::uniforms(n, 1, 0.0, std::f64::consts::PI, seed), toy::normals(n, 10, seed + 1));
        let mut clean = vec![0.0; n * 10];
        for (row, a) in clean.chunks_mut(10).zip(&angle) {
            (row[0], row[1]) = (2.0 * a.cos(), 2.0 * a.sin());
        }
        let noisy = clean.iter().zip(&e).map(|(x, e)| x + noise * e).collect();
        (Points::dense(noisy, 10).expect("whole rows"), clean)
    }

    #[test]
    fn the_level_of_noise_is_found() {
        for noise in [0.05, 0.3] {
            let (points, _) = arc(800, noise, 3);
            let found = noise_level(&points, Exec::one(), &mut silent()).expect("numbers");
            assert!((0.85 * noise..1.15 * noise).contains(&found), "{found} for {noise}");
        }
    }

    #[test]
    fn noise_goes_and_the_curve_stays() {
        let (points, clean) = arc(400, 0.2, 5);
        let params = DenoiseParams::default();
        let denoiser = params.fit(&points, None, Exec::one(), &mut silent()).expect("a fit");
        let got = denoiser.denoise(points.view(), &params.back, Exec::one(), &mut silent()).expect("points");
        let before = distance2(&points.view().to_f64().expect("numbers"), &clean);
        let after = distance2(&got.view().to_f64().expect("numbers"), &clean);
        assert!(after < 0.35 * before && after > 0.0, "{before} to {after}, {:?}", denoiser.tried);
        // What it thinks it left is what it left: the estimate needs no clean rows. It is for twice the noise.
        let kept = denoiser.tried.iter().find(|t| t.components == denoiser.components).expect("it was tried");
        assert!(denoiser.tried.iter().all(|t| t.error >= kept.error));
        let expected = 2.0 * 0.04 * 10.0;
        let told = denoiser.before.expect("numbers were tried");
        assert!((0.7 * expected..1.3 * expected).contains(&told), "{told}");
        // Told clean rows, it does better still on the same noise.
        let (_, truth) = arc(400, 0.0, 77);
        let truth = Points::dense(truth, 10).expect("whole rows");
        let told = params.fit(&truth, Some(&points), Exec::one(), &mut silent()).expect("a fit");
        let got = told.denoise(points.view(), &params.back, Exec::one(), &mut silent()).expect("points");
        let best = distance2(&got.view().to_f64().expect("numbers"), &clean);
        assert!(best < 0.2 * before && best < after, "{before} to {best}");
        assert!(params.fit(&points.gather(&[0, 1, 2]), None, Exec::one(), &mut silent()).is_err());
        // Components that are there already: as many as there are, and no more.
        let all = told.model.outputs();
        assert!(
            Denoiser::new(told.model.clone(), 0).is_err()
                && Denoiser::new(told.model.clone(), all + 1).is_err()
        );
        assert_eq!(Denoiser::new(told.model, all).expect("all of them").before, None);
    }

    #[test]
    fn rows_in_single_precision_are_denoised_as_in_double() {
        let (points, _) = arc(150, 0.2, 5);
        let values = points.view().to_f64().expect("numbers").iter().map(|v| *v as f32).collect();
        let single = Points::dense_f32(values, 10).expect("whole rows");
        let params = DenoiseParams::default();
        let run = |points: &Points| {
            let denoiser = params.fit(points, None, Exec::one(), &mut silent()).expect("a fit");
            let clean =
                denoiser.denoise(points.view(), &params.back, Exec::one(), &mut silent()).expect("points");
            (denoiser.components, clean.view().to_f64().expect("numbers"))
        };
        let ((used, clean), (wanted_used, wanted)) = (run(&single), run(&points));
        assert_eq!(used, wanted_used);
        mercer_testkit::assert::all_close(&clean, &wanted, 1e-3);
    }

    #[test]
    fn columns_that_never_change_and_few_rows_do_not_hide_noise() {
        let (points, _) = arc(400, 0.2, 7);
        let still: Vec<f64> = points
            .view()
            .to_f64()
            .expect("numbers")
            .chunks(10)
            .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(3.0, 30)))
            .collect();
        let still = Points::dense(still, 40).expect("whole rows");
        let found = noise_level(&still, Exec::one(), &mut silent()).expect("numbers");
        assert!((0.17..0.23).contains(&found), "{found}");
        // Fewer rows than columns: what is seen of the noise is in fewer directions.
        let few = Points::dense(toy::normals(30, 120, 1), 120).expect("whole rows");
        let found = noise_level(&few, Exec::one(), &mut silent()).expect("numbers");
        assert!((0.7..1.1).contains(&found), "{found}");
    }

    #[test]
    fn what_cannot_be_denoised_is_refused() {
        let refused = |points: &Points| {
            let fitted = DenoiseParams::default().fit(points, None, Exec::one(), &mut silent());
            fitted.expect_err("nonsense").to_string()
        };
        // Every column three times: no direction is free of signal.
        let (points, _) = arc(60, 0.2, 9);
        let copies: Vec<f64> =
            points.view().to_f64().expect("numbers").iter().flat_map(|v| [*v; 3]).collect();
        let message = refused(&Points::dense(copies, 30).expect("whole rows"));
        assert!(message.starts_with("no noise was found"), "{message}");
        // Rows that have nothing in common, more columns than rows.
        let strange = Points::dense(toy::uniforms(42, 200, 0.0, 100.0, 3), 200).expect("whole rows");
        let told = DenoiseParams { noise: Some(0.5), ..DenoiseParams::default() };
        let message = told.fit(&strange, None, Exec::one(), &mut silent()).expect_err("harm").to_string();
        assert!(message.starts_with("denoising does not help"), "{message}");
    }

    #[test]
    fn numbers_to_try_rise_to_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(10), [1, 2, 4, 8, 10]);
        assert_eq!(counts(40), [1, 2, 4, 8, 12, 16, 24, 32, 40]);
    }
}
