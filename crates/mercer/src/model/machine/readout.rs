//! Readouts and calibrations: from the outputs of an expansion to decision values, and from those to probabilities.

use serde::{Deserialize, Serialize};

use super::Sigmoid;
use crate::model::svc::Ties;

/// How the outputs of an expansion become decision values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Readout {
    /// An output is a decision value.
    Plain,
    /// An output is a decision value that separates two of three or more classes, and votes for one of them.
    Pairs(Ties),
    /// An output is a sphere's centre: the decision value is the squared radius minus the squared distance from it.
    Ball(Ball),
    /// An output is a hypothesis: its sign votes.
    Votes(Votes),
    /// Centres are neighbours: the nearest ones vote.
    Nearest(Nearest),
}

/// A sphere in feature space.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ball {
    /// R^2.
    pub radius2: f64,
    /// The squared length of the centre.
    pub norm2: f64,
}

/// How decision values become probabilities.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Calibration {
    /// No probabilities.
    #[default]
    None,
    /// By a sigmoid for each decision value.
    Sigmoids(Vec<Sigmoid>),
    /// By the normal distributions on both sides of each decision value.
    Normals(Vec<Normals>),
    /// By `exp(f_c) / sum_k exp(f_k)`: decision values, one per class, are log-odds. For machines of three or more
    /// classes fitted by logistic loss.
    Softmax,
}

/// The weight of each hypothesis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Votes {
    /// T x k: the weight of each hypothesis in each decision value.
    pub weight: Vec<f64>,
    /// k.
    pub values: usize,
}

/// The votes of nearest centres.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// Number of voting neighbours.
    pub neighbours: usize,
    /// m x k: the vote of each centre; for classes 1 for its own and 0 for others.
    pub says: Vec<f64>,
    /// k.
    pub values: usize,
    /// `k(c, c)` of each centre.
    pub own: Vec<f64>,
}

impl Nearest {
    /// For two classes the difference of their votes is the single decision value.
    pub(super) fn outputs(&self) -> usize {
        if self.values == 2 { 1 } else { self.values }
    }

    pub(super) fn read(&self, line: &[f64]) -> Vec<f64> {
        let (k, m) = (self.values, line.len());
        let take = self.neighbours.min(m);
        // Squared distances without k(x, x), which is the same for all centres.
        let mut far: Vec<(f64, usize)> =
            line.iter().zip(&self.own).map(|(v, own)| own - 2.0 * v).zip(0..m).collect();
        if take < m {
            far.select_nth_unstable_by(take, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        let mut out = vec![0.0; k];
        for &(_, j) in &far[..take] {
            out.iter_mut().zip(&self.says[j * k..(j + 1) * k]).for_each(|(o, s)| *o += s / take as f64);
        }
        // Ties between two classes go to the first, as everywhere.
        if k == 2 { vec![out[1] - out[0]] } else { out }
    }
}

/// Normal distributions of the decision values of the negative and the positive class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Normals {
    /// The sides' means.
    pub mean: [f64; 2],
    /// The sides' standard deviations, above 0.
    pub deviation: [f64; 2],
    /// The sides' shares of the rows.
    pub share: [f64; 2],
}

impl Normals {
    /// From decision values and true sides. Deviations are at least a thousandth of the distance between the means.
    pub fn fit(values: &[f64], positive: &[bool], weight: &[f64]) -> Self {
        let mut sums = [[0.0; 3]; 2];
        for ((&f, &p), &w) in values.iter().zip(positive).zip(weight).filter(|((f, _), _)| f.is_finite()) {
            let side = &mut sums[usize::from(p)];
            [side[0], side[1], side[2]] = [side[0] + w, side[1] + w * f, side[2] + w * f * f];
        }
        let total = (sums[0][0] + sums[1][0]).max(f64::MIN_POSITIVE);
        let mean = sums.map(|s| if s[0] > 0.0 { s[1] / s[0] } else { 0.0 });
        let least = (1e-3 * (mean[1] - mean[0]).abs()).max(1e-12);
        let spread = |s: [f64; 3], mean: f64| {
            if s[0] > 0.0 { (s[2] / s[0] - mean * mean).max(0.0).sqrt() } else { 0.0 }
        };
        Normals {
            mean,
            deviation: [spread(sums[0], mean[0]).max(least), spread(sums[1], mean[1]).max(least)],
            share: sums.map(|s| s[0] / total),
        }
    }

    /// Probability of the positive class.
    pub fn positive(&self, value: f64) -> f64 {
        let log = |s: usize| {
            let z = (value - self.mean[s]) / self.deviation[s];
            self.share[s].max(1e-300).ln() - self.deviation[s].ln() - 0.5 * z * z
        };
        1.0 / (1.0 + (log(0) - log(1)).clamp(-700.0, 700.0).exp())
    }

    /// The value between the means at which both classes are equally probable; the middle if there is none.
    pub fn threshold(&self) -> f64 {
        let (mut low, mut high) = (self.mean[0], self.mean[1]);
        if low >= high || self.positive(low) > 0.5 || self.positive(high) < 0.5 {
            return 0.5 * (self.mean[0] + self.mean[1]);
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.positive(middle) > 0.5 { high = middle } else { low = middle }
        }
        0.5 * (low + high)
    }

    pub(in crate::model) fn usable(&self) -> bool {
        let finite = self.mean.iter().chain(&self.deviation).chain(&self.share).all(|v| v.is_finite());
        finite && self.deviation.iter().all(|d| *d > 0.0) && self.share.iter().all(|s| *s >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::assert::close;

    #[test]
    fn equal_spreads_put_the_threshold_where_shares_say() {
        let one = Normals { mean: [-1.0, 1.0], deviation: [0.5, 0.5], share: [0.5, 0.5] };
        close(one.threshold(), 0.0, 1e-12);
        close(one.positive(0.0), 0.5, 1e-12);
        // With equal deviations s the point is s^2 ln(p0 / p1) / (m1 - m0).
        let rare = Normals { share: [0.8, 0.2], ..one };
        close(rare.threshold(), 0.25 * 4.0f64.ln() / 2.0, 1e-9);
        let fitted = Normals::fit(&[-2.0, 0.0, 1.0, 3.0], &[false, false, true, true], &[1.0; 4]);
        assert_eq!((fitted.mean, fitted.deviation, fitted.share), ([-1.0, 2.0], [1.0, 1.0], [0.5, 0.5]));
    }
}
