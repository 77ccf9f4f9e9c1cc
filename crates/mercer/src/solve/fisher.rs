//! Fisher's discriminant on given columns: directions that maximise between-class over within-class scatter.
//!
//! ```text
//! maximise   a' M a / a' (N + lambda P) a,     M = sum_c l_c (m_c - m)(m_c - m)',   N = sum_c sum_{i in c} (z_i - m_c)(z_i - m_c)'
//! ```
//!
//! z_i is a row of kernel values against m centres, m_c the mean of a class of weight l_c (Mika et al. 1999; Mueller
//! et al. 2001, section IV-C). M has rank k - 1, so with `G = N + lambda P` the generalised eigenproblem reduces to
//! that of the k x k matrix `B' G^-1 B`, B the scaled means: one Cholesky factor, no n x n eigenvectors. The nearest
//! mean in the space of all directions is the class with the largest score `m_c' G^-1 z - 1/2 m_c' G^-1 m_c`. Cost: n
//! m^2 for N, m^3 / 3 for the factor.
//!
//! Leaving row i of class c out changes N by a rank-one matrix and moves one mean: with `e = z_i - m_c` and weight w,
//! `N' = N - w l_c / (l_c - w) e e'` and `m_c' = m_c - w / (l_c - w) e`. Leave-one-out scores therefore follow from
//! products under G^-1 (Cawley and Talbot 2003; the row stays among the centres): n m^2 more, without another fit.

use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::num::{Mat, factor, product};

/// The regulariser added to the within-class scatter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Penalty<'a> {
    /// `|a|^2`.
    Identity,
    /// `a' P a`.
    Matrix(&'a [f64]),
}

/// Classes of rows on m columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FisherProblem<'a> {
    /// n x m values, row by row.
    pub values: &'a [f64],
    /// m.
    pub columns: usize,
    /// The class of each row.
    pub class: &'a [u32],
    /// Number of classes; each must have a row of positive weight.
    pub classes: usize,
    /// One weight per row, above 0.
    pub weight: &'a [f64],
    /// lambda.
    pub lambda: f64,
    /// P.
    pub penalty: Penalty<'a>,
}

/// The discriminant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fisher {
    /// m x k: `G^-1 m_c`.
    pub solved: Vec<f64>,
    /// k x m: the classes' means.
    pub means: Vec<f64>,
    /// The classes' weights l_c.
    pub sizes: Vec<f64>,
    /// The ridge that had to be added to G's diagonal.
    pub ridge: f64,
    g: Vec<f64>,
}

/// Directions in descending order of their ratio.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Directions {
    /// m x r, `a' G a = 1` for each.
    pub coef: Vec<f64>,
    /// The ratios they reach, descending.
    pub ratios: Vec<f64>,
}

/// Ratios below this fraction of the largest are rounding errors.
const RANK: f64 = 1e-12;
/// Smallest mean of G's diagonal, as a fraction of the mean square of the values.
const FLOOR: f64 = 1e-14;

/// Means, within-class scatter, and its factor.
pub(crate) fn fisher(problem: &FisherProblem<'_>, exec: Exec) -> Result<Fisher> {
    let (n, m, k) = (problem.class.len(), problem.columns, problem.classes);
    let mut means = vec![0.0; k * m];
    let mut sizes = vec![0.0; k];
    for (i, &c) in problem.class.iter().enumerate() {
        let (c, w) = (c as usize, problem.weight[i]);
        sizes[c] += w;
        let z = &problem.values[i * m..(i + 1) * m];
        means[c * m..(c + 1) * m].iter_mut().zip(z).for_each(|(s, z)| *s += w * z);
    }
    if let Some(c) = sizes.iter().position(|s| *s <= 0.0) {
        return Err(Error::shape(format!("rows of class {}", c + 1), 0, "at least 1"));
    }
    means.chunks_mut(m.max(1)).zip(&sizes).for_each(|(mean, l)| mean.iter_mut().for_each(|v| *v /= l));
    // Subtract the mean first: subtracting l m m' from the product afterwards would cancel digits.
    let mut centred = vec![0.0; n * m];
    for (i, &c) in problem.class.iter().enumerate() {
        let root = problem.weight[i].sqrt();
        let mean = &means[c as usize * m..(c as usize + 1) * m];
        let z = problem.values[i * m..(i + 1) * m].iter().zip(mean);
        centred[i * m..(i + 1) * m].iter_mut().zip(z).for_each(|(o, (z, mean))| *o = root * (z - mean));
    }
    let mut g = vec![0.0; m * m];
    product::tn(&mut g, Mat::new(&centred, n, m), Mat::new(&centred, n, m), exec.threads());
    match problem.penalty {
        Penalty::Identity => (0..m).for_each(|j| g[j * m + j] += problem.lambda),
        Penalty::Matrix(p) => g.iter_mut().zip(p).for_each(|(g, p)| *g += problem.lambda * p),
    }
    // Without within-class scatter and with lambda = 0, a ridge relative to the values decides.
    let size: f64 = problem.values.iter().map(|z| z * z).sum::<f64>() / m.max(1) as f64;
    let floor = FLOOR * size.max(f64::MIN_POSITIVE / FLOOR);
    if (0..m).map(|j| g[j * m + j]).sum::<f64>() < m as f64 * floor {
        (0..m).for_each(|j| g[j * m + j] += floor);
    }
    let right: Vec<f64> =
        (0..m).flat_map(|j| (0..k).map(move |c| (j, c))).map(|(j, c)| means[c * m + j]).collect();
    let (solved, ridge) = factor::solve_spd(&g, m, &right, k)?;
    Ok(Fisher { solved, means, sizes, ridge, g })
}

/// Least squares with an offset on the same columns, `(coef, offset)`: the discriminant with one class, whose scatter
/// is that of all rows.
pub(crate) fn least_squares(
    problem: &FisherProblem<'_>,
    target: &[f64],
    exec: Exec,
) -> Result<(Vec<f64>, f64)> {
    let (n, m) = (target.len(), problem.columns);
    let class = vec![0; n];
    let all = fisher(&FisherProblem { class: &class, classes: 1, ..*problem }, exec)?;
    let mean = target.iter().zip(problem.weight).map(|(y, w)| w * y).sum::<f64>() / all.sizes[0];
    let pull: Vec<f64> = target.iter().zip(problem.weight).map(|(y, w)| w * (y - mean)).collect();
    let mut right = vec![0.0; m];
    product::tn(&mut right, Mat::new(problem.values, n, m), Mat::new(&pull, n, 1), exec.threads());
    let (coef, _) = factor::solve_spd(&all.g, m, &right, 1)?;
    let offset = mean - coef.iter().zip(&all.means).map(|(a, m)| a * m).sum::<f64>();
    Ok((coef, offset))
}

impl Fisher {
    fn classes(&self) -> usize {
        self.sizes.len()
    }

    fn columns(&self) -> usize {
        self.means.len() / self.classes()
    }

    /// `m_a' G^-1 m_b` for all pairs of classes.
    fn products(&self) -> Vec<f64> {
        let (m, k) = (self.columns(), self.classes());
        let mut out = vec![0.0; k * k];
        product::nn(&mut out, Mat::new(&self.means, k, m), Mat::new(&self.solved, m, k), 1);
        out
    }

    /// The squared distance of the first two classes' means in the metric of the within-class scatter.
    pub(crate) fn apart(&self) -> f64 {
        let (k, p) = (self.classes(), self.products());
        p[k + 1] - p[1] - p[k] + p[0]
    }

    /// One output for two classes, `(coef, offset)`, scaled so that the class means have outputs -1 and 1.
    pub(crate) fn binary(&self) -> Result<(Vec<f64>, f64)> {
        let (m, p) = (self.columns(), self.products());
        let apart = self.apart();
        if apart.is_nan() || apart <= 1e-14 * (p[0].abs() + p[3].abs()) {
            return Err(Error::shape("classes in feature space", "one mean for both", "two that differ"));
        }
        let coef = (0..m).map(|j| 2.0 / apart * (self.solved[2 * j + 1] - self.solved[2 * j])).collect();
        Ok((coef, (p[0] - p[3]) / apart))
    }

    /// One output per class, `m x k` coefficients and k offsets: the largest is that of the nearest mean in the
    /// metric of the within-class scatter.
    pub(crate) fn scores(&self) -> (Vec<f64>, Vec<f64>) {
        let (k, p) = (self.classes(), self.products());
        let freedom = (self.sizes.iter().sum::<f64>() - k as f64).max(1.0);
        // Subtracting what all scores share does not change their order, and keeps the numbers small.
        let mean: Vec<f64> = self.solved.chunks(k).map(|line| line.iter().sum::<f64>() / k as f64).collect();
        let coef = self
            .solved
            .chunks(k)
            .zip(&mean)
            .flat_map(|(line, mean)| line.iter().map(move |v| freedom * (v - mean)));
        (coef.collect(), (0..k).map(|c| -0.5 * freedom * p[c * k + c]).collect())
    }

    /// The directions of the generalised eigenproblem, at most k - 1.
    pub(crate) fn directions(&self) -> Result<Directions> {
        let (m, k) = (self.columns(), self.classes());
        let total: f64 = self.sizes.iter().sum();
        let p = self.products();
        // B = means . mix, so B' G^-1 B = mix' p mix.
        let mix: Vec<f64> = (0..k * k)
            .map(|at| {
                let (a, c) = (at / k, at % k);
                self.sizes[c].sqrt() * (f64::from(u8::from(a == c)) - self.sizes[a] / total)
            })
            .collect();
        let (mut half, mut small) = (vec![0.0; k * k], vec![0.0; k * k]);
        product::nn(&mut half, Mat::new(&p, k, k), Mat::new(&mix, k, k), 1);
        product::tn(&mut small, Mat::new(&mix, k, k), Mat::new(&half, k, k), 1);
        let (ratios, vectors) = factor::eigen(&small, k)?;
        let rank = ratios.iter().take(k - 1).filter(|r| **r > RANK * ratios[0].max(0.0) && **r > 0.0).count();
        let mut mixed = vec![0.0; k * k];
        product::nn(&mut mixed, Mat::new(&mix, k, k), Mat::new(&vectors, k, k), 1);
        let mut all = vec![0.0; m * k];
        product::nn(&mut all, Mat::new(&self.solved, m, k), Mat::new(&mixed, k, k), 1);
        let coef = all.chunks(k).flat_map(|line| (0..rank).map(|r| line[r] / ratios[r].sqrt())).collect();
        Ok(Directions { coef, ratios: ratios[..rank].to_vec() })
    }

    /// Leave-one-out scores: n x k, as those of [`Fisher::scores`] up to a common factor and summand per row; NaN for
    /// the only row of a class.
    pub(crate) fn left_out(&self, problem: &FisherProblem<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (n, m, k) = (problem.class.len(), problem.columns, self.classes());
        let e: Vec<f64> = (0..n)
            .flat_map(|i| {
                let mean = &self.means[problem.class[i] as usize * m..];
                (0..m).map(move |j| problem.values[i * m + j] - mean[j])
            })
            .collect();
        let right: Vec<f64> =
            (0..m).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| e[i * m + j]).collect();
        let (back, _) = factor::solve_spd(&self.g, m, &right, n)?;
        let mut to_means = vec![0.0; k * n];
        product::nn(&mut to_means, Mat::new(&self.means, k, m), Mat::new(&back, m, n), exec.threads());
        let p = self.products();
        let mut out = vec![0.0; n * k];
        for i in 0..n {
            let (own, w) = (problem.class[i] as usize, problem.weight[i]);
            let rest = self.sizes[own] - w;
            if rest <= 1e-12 * self.sizes[own] {
                out[i * k..(i + 1) * k].fill(f64::NAN);
                continue;
            }
            let ee: f64 = (0..m).map(|j| e[i * m + j] * back[j * n + i]).sum();
            let (shift, rho) = (w / rest, w * self.sizes[own] / rest);
            let below = 1.0 - rho * ee;
            // Products under G'^-1 of a = m_a + s_a e and b = m_b + s_b e.
            let under = |a: usize, sa: f64, b: usize, sb: f64| {
                let (ae, be) = (to_means[a * n + i] + sa * ee, to_means[b * n + i] + sb * ee);
                let plain = p[a * k + b] + sb * to_means[a * n + i] + sa * be;
                plain + rho * ae * be / below
            };
            for c in 0..k {
                let s = if c == own { -shift } else { 0.0 };
                // z = m_own + e.
                out[i * k + c] = under(c, s, own, 1.0) - 0.5 * under(c, s, c, s);
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, reference, toy};

    fn rows(n: usize, m: usize, k: usize) -> (Vec<f64>, Vec<u32>) {
        let mut z = toy::normals(n, m, 3);
        let class: Vec<u32> = (0..n as u32).map(|i| i % k as u32).collect();
        for i in 0..n {
            z[i * m] += 2.0 * f64::from(class[i]);
            z[i * m + 1] += f64::from(class[i] * class[i]);
        }
        (z, class)
    }

    #[test]
    fn directions_reach_their_ratios_and_no_other_direction_does_better() {
        let (n, m, k) = (60, 5, 3);
        let (z, class) = rows(n, m, k);
        let weight: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
        let problem = FisherProblem {
            values: &z,
            columns: m,
            class: &class,
            classes: k,
            weight: &weight,
            lambda: 0.7,
            penalty: Penalty::Identity,
        };
        let f = fisher(&problem, Exec::one()).expect("three classes");
        let d = f.directions().expect("symmetric");
        assert_eq!(d.ratios.len(), 2);
        // The plain definition: weighted means, both scatters, entry by entry.
        let total: f64 = weight.iter().sum();
        let mean = |of: Option<u32>| -> (f64, Vec<f64>) {
            let inside: Vec<usize> = (0..n).filter(|&i| of.is_none_or(|c| class[i] == c)).collect();
            let l: f64 = inside.iter().map(|&i| weight[i]).sum();
            (l, (0..m).map(|j| inside.iter().map(|&i| weight[i] * z[i * m + j]).sum::<f64>() / l).collect())
        };
        let all = mean(None).1;
        close(mean(None).0, total, 1e-12);
        let (mut between, mut within) = (vec![0.0; m * m], vec![0.0; m * m]);
        for c in 0..k as u32 {
            let (l, own) = mean(Some(c));
            for (p, q) in (0..m * m).map(|at| (at / m, at % m)) {
                between[p * m + q] += l * (own[p] - all[p]) * (own[q] - all[q]);
                for i in (0..n).filter(|&i| class[i] == c) {
                    within[p * m + q] += weight[i] * (z[i * m + p] - own[p]) * (z[i * m + q] - own[q]);
                }
            }
        }
        (0..m).for_each(|j| within[j * m + j] += 0.7);
        let form =
            |a: &[f64], s: &[f64]| reference::product(&reference::product(a, s, 1, m, m), a, 1, m, 1)[0];
        for r in 0..2 {
            let a: Vec<f64> = (0..m).map(|j| d.coef[j * 2 + r]).collect();
            close(form(&a, &within), 1.0, 1e-10);
            close(form(&a, &between), d.ratios[r], 1e-9 * d.ratios[0]);
        }
        let others = toy::normals(200, m, 9);
        assert!(others.chunks(m).all(|a| form(a, &between) / form(a, &within) <= d.ratios[0] + 1e-12));
    }

    #[test]
    fn left_out_is_a_fit_without_the_row() {
        let (n, m, k) = (25, 4, 3);
        let (z, class) = rows(n, m, k);
        let weight: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let problem = FisherProblem {
            values: &z,
            columns: m,
            class: &class,
            classes: k,
            weight: &weight,
            lambda: 0.3,
            penalty: Penalty::Identity,
        };
        let fast =
            fisher(&problem, Exec::one()).and_then(|f| f.left_out(&problem, Exec::one())).expect("classes");
        for i in 0..n {
            let keep: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            let some: Vec<f64> = keep.iter().flat_map(|&j| z[j * m..(j + 1) * m].to_vec()).collect();
            let (c, w): (Vec<u32>, Vec<f64>) = keep.iter().map(|&j| (class[j], weight[j])).unzip();
            let slow = FisherProblem { values: &some, class: &c, weight: &w, ..problem };
            let f = fisher(&slow, Exec::one()).expect("classes");
            let (coef, offset) = f.scores();
            let freedom = f.sizes.iter().sum::<f64>() - k as f64;
            let score = |c: usize| (0..m).map(|j| z[i * m + j] * coef[j * k + c]).sum::<f64>() + offset[c];
            for c in 1..k {
                close((fast[i * k + c] - fast[i * k]) * freedom, score(c) - score(0), 1e-7 * freedom);
            }
        }
    }

    #[test]
    fn equal_means_and_missing_classes_are_told() {
        let z = [0.0, 1.0, 0.0, 1.0];
        let problem = FisherProblem {
            values: &z,
            columns: 1,
            class: &[0, 0, 1, 1],
            classes: 2,
            weight: &[1.0; 4],
            lambda: 0.1,
            penalty: Penalty::Identity,
        };
        let same = fisher(&problem, Exec::one()).expect("two classes");
        assert!(same.binary().expect_err("no difference").to_string().contains("one mean for both"));
        let one = FisherProblem { class: &[0; 4], ..problem };
        assert!(fisher(&one, Exec::one()).is_err());
        // Without spread within classes and without lambda the answer is still the direction between the means.
        let flat = FisherProblem { values: &[0.0, 0.0, 2.0, 2.0], lambda: 0.0, ..problem };
        let (coef, offset) = fisher(&flat, Exec::one()).and_then(|f| f.binary()).expect("two means");
        close(coef[0], 1.0, 1e-9);
        close(offset, -1.0, 1e-9);
    }
}
