//! The bootstrap: error estimates from training on rows drawn with replacement, and confidence intervals of a test
//! error.
//!
//! ```text
//! .632      0.368 error on the training rows + 0.632 error on rows that were not drawn               (Efron 1983)
//! .632+     with a weight from 0.632 to 1 that grows as the machine overfits      (Efron and Tibshirani 1997)
//! interval  quantiles of the error over redrawn test rows                                             (Efron 1979)
//! ```
//!
//! A draw of n out of n leaves out a share of (1 - 1/n)^n, about 0.368. Cost: one fit per draw; none for the
//! interval.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::error::{Error, Result};

/// Trains on some rows and predicts the classes of others.
pub type Answers<'a> = dyn FnMut(&[usize], &[usize]) -> Result<Vec<u32>> + 'a;

/// Parameters of a bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// Number of draws.
    pub rounds: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { rounds: 50, seed: 0 }
    }
}

/// Error estimates by the bootstrap.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BootstrapError {
    /// On the training rows.
    pub training: f64,
    /// On rows that were not drawn; pessimistic, because fewer distinct rows are trained on.
    pub left_out: f64,
    /// The .632 estimate.
    pub e632: f64,
    /// The .632+ estimate.
    pub e632_plus: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

impl Bootstrap {
    /// The error of a classifier. `answers(train, test)` trains on rows (some of them several times) and returns the
    /// predicted class of each row of `test`; `want` are the true classes.
    pub fn error(&self, want: &[u32], answers: &mut Answers<'_>) -> Result<BootstrapError> {
        let n = want.len();
        if n < 2 || self.rounds == 0 {
            return Err(Error::shape("rows and draws", format!("{n}, {}", self.rounds), "at least 2 and 1"));
        }
        let all: Vec<usize> = (0..n).collect();
        let told = answers(&all, &all)?;
        let training = share((0..n).filter(|&i| told[i] != want[i]).count(), n);
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let (mut wrong, mut tested) = (vec![0usize; n], vec![0usize; n]);
        for _ in 0..self.rounds {
            let train: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
            let mut drawn = vec![false; n];
            train.iter().for_each(|&i| drawn[i] = true);
            let test: Vec<usize> = (0..n).filter(|&i| !drawn[i]).collect();
            let classes = |rows: &[usize]| rows.iter().any(|&i| want[i] != want[rows[0]]);
            // A draw with one class only cannot be trained on.
            if test.is_empty() || !classes(&train) {
                continue;
            }
            for (&i, told) in test.iter().zip(answers(&train, &test)?) {
                tested[i] += 1;
                wrong[i] += usize::from(told != want[i]);
            }
        }
        let seen: Vec<f64> =
            wrong.iter().zip(&tested).filter(|(_, t)| **t > 0).map(|(w, t)| share(*w, *t)).collect();
        if seen.is_empty() {
            return Err(Error::param("rounds", self.rounds, "large enough that some draw omits a row"));
        }
        let left_out = seen.iter().sum::<f64>() / seen.len() as f64;
        Ok(BootstrapError {
            training,
            left_out,
            e632: 0.368 * training + 0.632 * left_out,
            e632_plus: plus(training, left_out, no_information(&told, want)),
            assumes: "rows drawn independently; .632 is too low for machines that fit their training rows perfectly",
        })
    }
}

/// The no-information error rate: predictions and true classes paired at random.
fn no_information(told: &[u32], want: &[u32]) -> f64 {
    let n = want.len() as f64;
    let most = told.iter().chain(want).max().map_or(0, |&c| c + 1);
    let part = |classes: &[u32], c: u32| classes.iter().filter(|&&v| v == c).count() as f64 / n;
    (0..most).map(|c| part(want, c) * (1.0 - part(told, c))).sum()
}

fn plus(training: f64, left_out: f64, gamma: f64) -> f64 {
    let capped = left_out.min(gamma);
    let overfit =
        if capped > training && gamma > training { (capped - training) / (gamma - training) } else { 0.0 };
    let weight = 0.632 / (1.0 - 0.368 * overfit);
    (1.0 - weight) * training + weight * capped
}

/// The confidence interval of a test error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BootstrapInterval {
    /// The error rate.
    pub error: f64,
    /// Its quantiles.
    pub interval: [f64; 2],
    /// Its standard deviation.
    pub deviation: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// Quantiles of the mean of a loss (1 for a wrong row, 0 for a correct one) over resampled rows; `1 - level` lies
/// outside them.
pub fn bootstrap_interval(loss: &[f64], level: f64, rounds: usize, seed: u64) -> Result<BootstrapInterval> {
    if !(level > 0.0 && level < 1.0) {
        return Err(Error::param("level", level, "a number above 0 and below 1"));
    }
    let n = loss.len();
    if n == 0 || rounds == 0 {
        return Err(Error::shape("rows and draws", format!("{n}, {rounds}"), "at least 1 each"));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut means: Vec<f64> =
        (0..rounds).map(|_| (0..n).map(|_| loss[rng.random_range(0..n)]).sum::<f64>() / n as f64).collect();
    means.sort_by(f64::total_cmp);
    let at = |q: f64| means[((q * (rounds - 1) as f64).round() as usize).min(rounds - 1)];
    let mean = means.iter().sum::<f64>() / rounds as f64;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / rounds.max(2) as f64;
    Ok(BootstrapInterval {
        error: loss.iter().sum::<f64>() / n as f64,
        interval: [at((1.0 - level) / 2.0), at(f64::midpoint(1.0, level))],
        deviation: variance.sqrt(),
        assumes: "test rows drawn independently, and enough of them: with no errors the interval is a point",
    })
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
