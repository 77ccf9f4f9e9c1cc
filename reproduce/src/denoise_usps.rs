//! Noisy digits brought back from their components (Schoelkopf et al. 1999, Figs. 8 to 10).
//!
//! Components of 300 smoothed digits of each kind, linear and under `exp(-|x-y|^2 / (0.5 * 256))`; 50 test digits of each
//! kind get Gaussian noise of deviation 0.5, or speckle: a pixel in five turned black or white. Projected onto the first n
//! components and brought back, they are compared with what they were. Mean of five draws of digits and noise. The best n
//! of each kind is taken on the test digits, as the paper does; then width and n are chosen on training digits that are
//! held out, and judged on the test digits.

use mercer::Result;
use mercer::data::{Dataset, Points};
use mercer::kernel::Kernel;
use mercer::model::KpcaModel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Experiment;
use crate::components::{mean_squared, normal, plain};
use crate::data::{USPS, Usps};
use crate::kernels::rbf;
use crate::lab::Lab;
use crate::outcome::{Better, Chosen, Row};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "denoise-usps",
    shows: "kernel components bring noisy digits back better than linear ones",
    paper: "Schoelkopf et al. 1999, Figs. 8 to 10",
    notes: &[
        "Mean of five draws (two by default); squared distance of a digit of 256 pixels in [-1, 1] from what it was.",
        "At the paper's width the numbers of components are the best on the test digits, as in the paper.",
    ],
    needs: &[USPS],
    needs_full: &[USPS],
    seconds: 90,
    full: Some(240),
    run,
};

/// The paper's own numbers of components, those of its figures, and some between.
const LINEAR: [usize; 9] = [1, 4, 8, 16, 32, 48, 64, 128, 256];
const KERNEL: [usize; 10] = [1, 4, 16, 32, 64, 128, 256, 384, 512, 768];
/// The paper's width and others, in units of 256.
const WIDTHS: [f64; 3] = [0.5, 0.75, 1.0];
const NOISES: [(&str, f64); 2] = [("gaussian", 1.6), ("speckle", 1.2)];

/// Digits to learn from, held out of them, and to test with, of each kind.
struct Draw {
    train: Points,
    held: Points,
    test: Points,
}

fn run(lab: &mut Lab<'_>) -> Result<Vec<Row>> {
    lab.step("reading", 0, 1)?;
    let digits = lab.usps(Usps::Smoothed)?;
    let draws = if lab.settings.rows.is_some() {
        1
    } else if lab.settings.full {
        5
    } else {
        2
    };
    let mut at_paper = vec![vec![Vec::new(); KERNEL.len()]; 2];
    let mut linear = vec![vec![Vec::new(); LINEAR.len()]; 2];
    let mut chosen = vec![Vec::new(); 2];
    for draw in 0..draws {
        let seed = 1000 + draw as u64;
        let parts = drawn(&digits.train, &digits.test, seed)?;
        lab.step(format!("draw {}, linear", draw + 1), draw, draws)?;
        let pca = lab.components(Kernel::Linear, &parts.train, 256, true)?;
        // For each noise the best on held-out digits: its error there, and what it makes of the test digits.
        let mut best = [(f64::INFINITY, f64::NAN); 2];
        for (w, width) in WIDTHS.into_iter().enumerate() {
            lab.step(format!("draw {}, width {width}", draw + 1), draw, draws)?;
            let model = lab.components(rbf(width, 256), &parts.train, *KERNEL.last().expect("some"), true)?;
            for noise in 0..2 {
                let held = noisy(&parts.held, noise, seed + 77)?;
                let test = noisy(&parts.test, noise, seed)?;
                if w == 0 {
                    for (n, &used) in LINEAR.iter().enumerate() {
                        linear[noise][n].push(error(lab, &pca, &test, &parts.test, used)?);
                    }
                }
                for (n, &used) in KERNEL.iter().enumerate() {
                    if w == 0 {
                        at_paper[noise][n].push(error(lab, &model, &test, &parts.test, used)?);
                    }
                    if used < 128 {
                        continue;
                    }
                    let there = error(lab, &model, &held, &parts.held, used)?;
                    if there < best[noise].0 {
                        best[noise] = (there, error(lab, &model, &test, &parts.test, used)?);
                    }
                }
            }
        }
        (0..2).for_each(|noise| chosen[noise].push(best[noise].1));
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let mut rows = Vec::new();
    for (noise, (name, factor)) in NOISES.into_iter().enumerate() {
        let (kernel, plainly): (Vec<f64>, Vec<f64>) = (
            at_paper[noise].iter().map(|e| mean(e)).collect(),
            linear[noise].iter().map(|e| mean(e)).collect(),
        );
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let (k, l) = (least(&kernel), least(&plainly));
        let group = format!("{name} noise");
        rows.push(plain(&group, "best of each", "linear / kernel", lab.paper(factor), l / k, Better::Higher));
        let held = l / mean(&chosen[noise]);
        rows.push(Row {
            chosen: Chosen::Validation,
            ..plain(&group, "width and n held out", "linear / kernel", None, held, Better::Higher)
        });
        let equal = KERNEL
            .iter()
            .enumerate()
            .filter_map(|(i, n)| LINEAR.iter().position(|m| m == n).map(|j| plainly[j] / kernel[i]));
        let most = equal.fold(0.0, f64::max);
        let eight = lab.paper(8.0).filter(|_| noise == 0);
        rows.push(plain(&group, "at equal n, most", "linear / kernel", eight, most, Better::Higher));
        for (n, e) in LINEAR.iter().zip(&plainly) {
            rows.push(plain(
                format!("{name} noise, errors"),
                format!("linear n={n}"),
                "squared error",
                None,
                *e,
                Better::Lower,
            ));
        }
        for (n, e) in KERNEL.iter().zip(&kernel) {
            rows.push(plain(
                format!("{name} noise, errors"),
                format!("kernel n={n}"),
                "squared error",
                None,
                *e,
                Better::Lower,
            ));
        }
        let e = mean(&chosen[noise]);
        rows.push(plain(
            format!("{name} noise, errors"),
            "kernel, held out",
            "squared error",
            None,
            e,
            Better::Lower,
        ));
    }
    Ok(rows)
}

fn error(lab: &mut Lab<'_>, model: &KpcaModel, noisy: &Points, clean: &Points, used: usize) -> Result<f64> {
    Ok(mean_squared(&lab.restored(model, noisy, used)?, &clean.view().to_f64()?, clean.dim()))
}

/// 300 digits of each kind to learn from and 50 held out, of the training rows, and 50 of the test rows.
fn drawn(train: &Dataset, test: &Dataset, seed: u64) -> Result<Draw> {
    let (few, many) = (50.min(test.len() / 40), 300.min(train.len() / 20));
    let pick = |data: &Dataset, seed: u64| -> Result<Vec<Vec<usize>>> {
        let labels = data.targets.classes()?;
        let order = mercer::data::split::shuffle(data.len(), seed);
        let of = |k: u32| order.iter().copied().filter(|&i| labels.of_row[i] == k).collect();
        Ok((0..labels.names.len() as u32).map(of).collect())
    };
    let some = |of: &[Vec<usize>], from: usize, to: usize| -> Vec<usize> {
        of.iter().flat_map(|rows| rows[from.min(rows.len())..to.min(rows.len())].iter().copied()).collect()
    };
    let (a, b) = (pick(train, seed)?, pick(test, seed)?);
    Ok(Draw {
        train: train.points.gather(&some(&a, 0, many)),
        held: train.points.gather(&some(&a, many, many + few)),
        test: test.points.gather(&some(&b, 0, few)),
    })
}

/// Noise of deviation 0.5 on every pixel, or one pixel in five black or white.
fn noisy(points: &Points, noise: usize, seed: u64) -> Result<Points> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut one = |v: f64| match noise {
        0 => v + 0.5 * normal(&mut rng),
        _ if rng.random::<f64>() < 0.2 => {
            if rng.random::<f64>() < 0.5 {
                -1.0
            } else {
                1.0
            }
        }
        _ => v,
    };
    Points::dense(points.view().to_f64()?.into_iter().map(&mut one).collect(), points.dim())
}
