//! Calibration of outputs to probabilities.
//!
//! For one machine `P(positive | f) = 1 / (1 + exp(a f + b))` (Platt 2000), with a and b by maximum likelihood on
//! outputs for rows the machine was not trained on, against smoothed targets; Newton's method with a line search, in
//! a form that neither overflows nor cancels (Lin, Lin and Weng 2007). Pairwise probabilities of one-vs-one machines
//! are coupled to one distribution over all classes by minimising `sum_{i != j} (r_ji p_i - r_ij p_j)^2` (Wu, Lin and
//! Weng 2004, second method).
//!
//! Cost: a few passes over n outputs to fit, k^2 per sweep and row to couple.

use serde::{Deserialize, Serialize};

/// A fitted sigmoid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sigmoid {
    /// The negative slope: below 0 if larger outputs make the positive class more probable, as expected.
    pub a: f64,
    /// The shift: the probability is 1/2 at output `-b / a`.
    pub b: f64,
}

impl Sigmoid {
    /// The probability of the positive class at an output.
    pub fn at(&self, output: f64) -> f64 {
        let z = self.a * output + self.b;
        if z >= 0.0 { (-z).exp() / (1.0 + (-z).exp()) } else { 1.0 / (1.0 + z.exp()) }
    }

    /// The output at which the probability is 1/2, if there is one.
    pub fn middle(&self) -> Option<f64> {
        Some(-self.b / self.a).filter(|m| m.is_finite())
    }

    /// The maximum-likelihood sigmoid for outputs and their classes.
    ///
    /// ```
    /// use mercer::model::Sigmoid;
    /// let outputs = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0];
    /// let sigmoid = Sigmoid::fit(&outputs, &[false, false, true, false, true, true]);
    /// assert!(sigmoid.a < 0.0 && sigmoid.at(2.0) > sigmoid.at(1.0));
    /// ```
    pub fn fit(outputs: &[f64], positive: &[bool]) -> Self {
        assert_eq!(outputs.len(), positive.len(), "an output for each row");
        let yes = positive.iter().filter(|&&p| p).count() as f64;
        let no = positive.len() as f64 - yes;
        // Smoothed targets, as if each class had two more rows (Platt 2000); they avoid probabilities of 0 and 1.
        let (high, low) = ((yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0));
        let rows = || outputs.iter().zip(positive).map(|(&f, &p)| (f, if p { high } else { low }));
        let loss = |s: Sigmoid| -> f64 {
            rows()
                .map(|(f, t)| {
                    let z = s.a * f + s.b;
                    if z >= 0.0 { t * z + (-z).exp().ln_1p() } else { (t - 1.0) * z + z.exp().ln_1p() }
                })
                .sum()
        };
        let mut now = Sigmoid { a: 0.0, b: ((no + 1.0) / (yes + 1.0)).ln() };
        let mut value = loss(now);
        for _ in 0..STEPS {
            // Gradient and Hessian, with a small ridge so that the Hessian is invertible.
            let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, RIDGE, 0.0, RIDGE);
            for (f, t) in rows() {
                let p = now.at(f);
                let (d, h) = (t - p, p * (1.0 - p));
                ga += f * d;
                gb += d;
                haa += f * f * h;
                hab += f * h;
                hbb += h;
            }
            if f64::max(ga.abs(), gb.abs()) < FLAT * outputs.len() as f64 {
                break;
            }
            let det = haa * hbb - hab * hab;
            let (da, db) = (-(hbb * ga - hab * gb) / det, -(haa * gb - hab * ga) / det);
            let slope = ga * da + gb * db;
            let mut step = 1.0;
            let moved = loop {
                let next = Sigmoid { a: now.a + step * da, b: now.b + step * db };
                let new = loss(next);
                if new < value + 1e-4 * step * slope {
                    (now, value) = (next, new);
                    break true;
                }
                step /= 2.0;
                if step < 1e-10 {
                    break false;
                }
            };
            if !moved {
                break;
            }
        }
        now
    }
}

const STEPS: usize = 100;
const RIDGE: f64 = 1e-12;
/// A gradient per row below this counts as zero.
const FLAT: f64 = 1e-9;

/// One distribution over k classes from pairwise ones: `pairwise[i * k + j]` is the probability of class i when it is i
/// or j. Writes to `p`.
///
/// The minimum of the convex quadratic form `p' Q p` on the simplex, by the fixed-point sweeps of Wu, Lin and Weng, which
/// converge from any start.
pub(super) fn couple(pairwise: &[f64], p: &mut [f64]) {
    let k = p.len();
    p.fill(1.0 / k as f64);
    let mut q = vec![0.0; k * k];
    for i in 0..k {
        for j in (0..k).filter(|&j| j != i) {
            let (own, other) = (pairwise[i * k + j], pairwise[j * k + i]);
            q[i * k + i] += other * other;
            q[i * k + j] = -other * own;
        }
    }
    let mut qp = vec![0.0; k];
    for _ in 0..SWEEPS {
        for (i, v) in qp.iter_mut().enumerate() {
            *v = q[i * k..(i + 1) * k].iter().zip(p.iter()).map(|(q, p)| q * p).sum();
        }
        let mut pqp: f64 = p.iter().zip(&qp).map(|(p, v)| p * v).sum();
        let off = qp.iter().map(|v| (v - pqp).abs()).fold(0.0, f64::max);
        if off < 1e-9 / k as f64 {
            break;
        }
        for i in 0..k {
            if q[i * k + i] == 0.0 {
                continue;
            }
            let change = (pqp - qp[i]) / q[i * k + i];
            p[i] += change;
            pqp = (pqp + change * (change * q[i * k + i] + 2.0 * qp[i])) / (1.0 + change).powi(2);
            for j in 0..k {
                qp[j] = (qp[j] + change * q[i * k + j]) / (1.0 + change);
                p[j] /= 1.0 + change;
            }
        }
    }
    normalise(p);
}

const SWEEPS: usize = 1000;

/// Normalises to sum 1; uniform if the sum is 0.
pub(super) fn normalise(p: &mut [f64]) {
    for v in p.iter_mut() {
        *v = v.max(0.0);
    }
    let sum: f64 = p.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        for v in p.iter_mut() {
            *v /= sum;
        }
    } else {
        let even = 1.0 / p.len() as f64;
        p.fill(even);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    fn loss(s: Sigmoid, f: &[f64], positive: &[bool]) -> f64 {
        let yes = positive.iter().filter(|&&p| p).count() as f64;
        let no = f.len() as f64 - yes;
        f.iter()
            .zip(positive)
            .map(|(&f, &p)| {
                let t = if p { (yes + 1.0) / (yes + 2.0) } else { 1.0 / (no + 2.0) };
                let q = s.at(f);
                -(t * q.ln() + (1.0 - t) * (1.0 - q).ln())
            })
            .sum()
    }

    #[test]
    fn the_fit_recovers_the_sigmoid_it_was_drawn_from_and_is_a_minimum() {
        let want = Sigmoid { a: -1.7, b: 0.4 };
        let f: Vec<f64> = toy::normals(20_000, 1, 1).iter().map(|v| 2.0 * v).collect();
        let positive: Vec<bool> =
            toy::uniforms(20_000, 1, 0.0, 1.0, 2).iter().zip(&f).map(|(u, &f)| *u < want.at(f)).collect();
        let got = Sigmoid::fit(&f, &positive);
        close(got.a, want.a, 0.05);
        close(got.b, want.b, 0.1);
        let best = loss(got, &f, &positive);
        for (da, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            assert!(loss(Sigmoid { a: got.a + da, b: got.b + db }, &f, &positive) > best);
        }
    }

    #[test]
    fn separable_and_constant_outputs_have_an_answer() {
        let got = Sigmoid::fit(&[-1.0, -1.0, 1.0, 1.0], &[false, false, true, true]);
        close(got.at(1.0), 0.75, 1e-6);
        close(got.at(-1.0), 0.25, 1e-6);
        let flat = Sigmoid::fit(&[0.0; 4], &[false, false, true, true]);
        close(flat.at(0.0), 0.5, 1e-9);
        let huge = Sigmoid::fit(&[-1e6, 1e6], &[false, true]);
        assert!(huge.at(1e6) > 0.5 && huge.at(1e6).is_finite() && huge.at(-1e300) < 0.5);
    }

    #[test]
    fn coupling_gives_back_a_distribution_its_pairs_come_from() {
        let want = [0.5, 0.25, 0.15, 0.1];
        let k = want.len();
        let pairs: Vec<f64> = (0..k * k).map(|at| want[at / k] / (want[at / k] + want[at % k])).collect();
        let mut p = vec![0.0; k];
        couple(&pairs, &mut p);
        for (got, want) in p.iter().zip(want) {
            close(*got, want, 1e-7);
        }
        // Pairs that contradict each other still give a distribution, and the stronger class the larger share.
        let mut p = [0.0; 3];
        couple(&[0.0, 0.9, 0.4, 0.1, 0.0, 0.5, 0.6, 0.5, 0.0], &mut p);
        close(p.iter().sum(), 1.0, 1e-12);
        assert!(p[0] > p[1] && p.iter().all(|&v| v > 0.0));
    }
}
