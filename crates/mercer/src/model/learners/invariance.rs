//! Invariant hyperplanes in feature space (Schoelkopf 1997, sections 4.2.2 and D.3).
//!
//! The covariance of the tangents in feature space defines a metric, computed by kernel PCA of differences:
//!
//! ```text
//! delta_j = Phi(L x_j) - Phi(x_j),    C = (1/n) sum_j delta_j delta_j',    C_lambda = (1 - lambda) C + lambda 1
//! T_ij = delta_i . delta_j,   T a = n nu a,   V = sum_j a_j delta_j,   a'Ta = 1,   mu = (1 - lambda) nu + lambda
//! k'(x, y) = Phi(x)' C_lambda^(-1) Phi(y) = (k(x, y) - sum_k (1 - lambda / mu_k) V_k(x) V_k(y)) / lambda
//! ```
//!
//! (The paper's normalisations of a mix eigenvalues of C and of T.) A learner is trained on the values of k', which
//! is a kernel itself. Its solution is then expressed by k alone, since `V_k(x)` is a sum of values of k: one
//! expansion on its own centres, the patterns and the transformed patterns.
//!
//! Cost with g transformations of n patterns and m axes: `(g + 1)^2 n^2 d / 2` for kernel values, then the
//! eigenvectors of a matrix of order `g n`; the values of k' on N rows cost `N^2 (d + m) + N m g n` more.

use crate::data::{Points, Transformations, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{self, Matrix};
use crate::kernel::{Definiteness, Kernel};
use crate::model::Machine;
use crate::model::Sample;
use crate::model::learners::kpca::KpcaParams;
use crate::model::svc::SvcParams;
use crate::num::{Mat, product};
use crate::solve::eigen::{self, Dense, EigenParams, Which};
use crate::watch::Watch;

/// Eigenvalues below this fraction of the largest are rounding errors.
const FLOOR: f64 = 1e-12;

/// Parameters of an invariant kernel.
#[derive(Debug, Clone)]
pub struct InvarianceParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Label-preserving transformations: tangents are `L x - x` for each L.
    pub transformations: Transformations,
    /// From 1, no invariance, towards 0, strict invariance. The scale depends on the eigenvalues of C, and so on the
    /// kernel.
    pub lambda: f64,
    /// Maximum number of tangent axes; `None`: all. Orthogonal directions do not change.
    pub components: Option<usize>,
    /// Number of patterns, drawn at random, whose tangents are used; `None`: all.
    pub rows: Option<usize>,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for InvarianceParams {
    fn default() -> Self {
        InvarianceParams {
            kernel: Kernel::Linear,
            transformations: Transformations::default(),
            lambda: 0.5,
            components: None,
            rows: None,
            seed: 1,
        }
    }
}

impl InvarianceParams {
    /// Finds the tangent axes at these points.
    ///
    /// ```
    /// use mercer::data::{Points, Transformations};
    /// use mercer::kernel::Kernel;
    /// use mercer::model::InvarianceParams;
    /// use mercer::{Exec, watch};
    ///
    /// // What is the same along the first axis should not be told apart by it.
    /// let along = Transformations::default().with_fn("along", |row| row[0] += 1.0);
    /// let params = InvarianceParams { transformations: along, lambda: 0.25, ..InvarianceParams::default() };
    /// let points = Points::dense(vec![0.0, 0.0, 1.0, 1.0], 2)?;
    /// let invariance = params.fit(&points, Exec::one(), &mut watch::silent())?;
    /// let values = invariance.values(&points, Exec::one())?;
    /// // (1, 1) with itself: the first axis counts as it did, the second 1 / 0.25 times.
    /// assert!((values[3] - 5.0).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, points: &Points, exec: Exec, watch: &mut Watch<'_>) -> Result<Invariance> {
        self.check()?;
        let drawn = match self.rows {
            Some(rows) if rows < points.len() => {
                let mut drawn = split::shuffle(points.len(), self.seed);
                drawn.truncate(rows);
                drawn.sort_unstable();
                Some(points.gather(&drawn))
            }
            _ => None,
        };
        let points = drawn.as_ref().unwrap_or(points);
        let (n, g) = (points.len(), self.transformations.len());
        if n == 0 {
            return Err(Error::shape("patterns of an invariance", 0, "at least 1"));
        }
        let all = points.concat(&self.transformations.apply(points.view(), exec)?)?;
        let k = gram::square::<f64>(&self.kernel, all.view(), exec)?;
        let (order, m) = ((g + 1) * n, g * n);
        // Row n + p is pattern p % n transformed.
        let mut tangents = vec![0.0; m * m];
        for (p, line) in tangents.chunks_mut(m).enumerate() {
            let (there, here) = (&k[(n + p) * order..(n + p + 1) * order], &k[(p % n) * order..][..order]);
            for (q, t) in line.iter_mut().enumerate() {
                *t = there[n + q] - there[q % n] - here[n + q] + here[q % n];
            }
        }
        drop(k);
        let wanted = self.components.unwrap_or(m).min(m);
        let found = if wanted < m && eigen::cheaper(m, wanted) {
            let params =
                EigenParams { count: wanted, tol: 1e-6, seed: self.seed, exec, ..EigenParams::default() };
            eigen::partial(&Dense { values: &tangents, n: m }, &params, watch)?
        } else {
            eigen::complete(tangents, m, Which::Largest, exec)?
        };
        let floor = FLOOR.max(m as f64 * f64::EPSILON) * found.values[0];
        let count = found.values.iter().take(wanted).take_while(|v| **v > floor && **v > 0.0).count();
        if count == 0 {
            let expected = "ones that move at least one pattern in feature space";
            return Err(Error::shape("transformations", &self.transformations, expected));
        }
        let mut coef = vec![0.0; order * count];
        for (o, (axis, value)) in found.vectors.chunks(m).zip(&found.values).take(count).enumerate() {
            for (p, a) in axis.iter().map(|a| a / value.sqrt()).enumerate() {
                coef[(n + p) * count + o] = a;
                coef[(p % n) * count + o] -= a;
            }
        }
        Ok(Invariance {
            axes: Expansion::new(self.kernel.clone(), all, coef, vec![0.0; count])?,
            values: found.values[..count].iter().map(|v| v / n as f64).collect(),
            lambda: self.lambda,
        })
    }

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        let least = |name, value: Option<usize>| match value {
            Some(0) => Err(Error::param(name, 0, "at least 1")),
            _ => Ok(()),
        };
        least("components", self.components)?;
        least("rows", self.rows)?;
        if !(self.lambda > 0.0 && self.lambda <= 1.0) {
            return Err(Error::param("lambda", self.lambda, "a number above 0 and at most 1"));
        }
        if self.transformations.is_empty() {
            return Err(Error::param("transformations", "none", "at least one"));
        }
        if self.kernel.definiteness() != Definiteness::Positive {
            let allowed = "positive definite: the metric is that of a feature space";
            return Err(Error::param("kernel", &self.kernel, allowed));
        }
        self.kernel.check(None)
    }
}

/// The metric of tangents in feature space.
#[derive(Debug, Clone, PartialEq)]
pub struct Invariance {
    axes: Expansion,
    values: Vec<f64>,
    lambda: f64,
}

impl Invariance {
    /// The tangent axes: projections on unit vectors, in descending order of movement.
    pub fn axes(&self) -> &Expansion {
        &self.axes
    }

    /// The eigenvalues of the tangents' covariance C: the mean squared movement along each axis.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.values
    }

    /// The same axes with another lambda, which changes only a factor per axis.
    pub fn with_lambda(&self, lambda: f64) -> Result<Self> {
        if !(lambda > 0.0 && lambda <= 1.0) {
            return Err(Error::param("lambda", lambda, "a number above 0 and at most 1"));
        }
        Ok(Invariance { lambda, ..self.clone() })
    }

    /// `1 - lambda / mu` of each axis: the share of the component that is removed.
    fn shares(&self) -> impl Iterator<Item = f64> + Clone {
        self.values.iter().map(|v| 1.0 - self.lambda / ((1.0 - self.lambda) * v + self.lambda))
    }

    /// The values of k' between points, n x n row by row, symmetric to the bit.
    pub fn values(&self, points: &Points, exec: Exec) -> Result<Vec<f64>> {
        let (n, m) = (points.len(), self.axes.outputs());
        let mut k = gram::square::<f64>(self.axes.kernel(), points.view(), exec)?.to_vec();
        let mut v = self.axes.evaluate(points.view(), exec)?;
        for (value, share) in v.iter_mut().zip(self.shares().cycle()) {
            *value *= share.max(0.0).sqrt();
        }
        let mut taken = vec![0.0; n * n];
        product::nt(&mut taken, Mat::new(&v, n, m), Mat::new(&v, n, m), exec.threads());
        k.iter_mut().zip(&taken).for_each(|(k, taken)| *k = (*k - taken) / self.lambda);
        for i in 0..n {
            for j in 0..i {
                k[j * n + i] = k[i * n + j];
            }
        }
        Ok(k)
    }

    /// The same as a matrix that learners can be fitted on ([`Sample::with_gram`]).
    pub fn gram(&self, points: &Points, exec: Exec) -> Result<Matrix> {
        Matrix::new(self.values(points, exec)?, points.len())
    }

    /// Converts an expansion with coefficients for k' into one under k.
    pub fn folded(&self, f: &Expansion, exec: Exec) -> Result<Expansion> {
        let (m, k, centres) = (self.axes.outputs(), f.outputs(), self.axes.len());
        // The components of f's vectors on the axes, and the share of them to remove.
        let mut on_axes = self.axes.inner(f, exec)?;
        for (line, share) in on_axes.chunks_mut(k).zip(self.shares()) {
            line.iter_mut().for_each(|v| *v *= -share / self.lambda);
        }
        let mut coef = vec![0.0; centres * k];
        product::nn(
            &mut coef,
            Mat::new(self.axes.coef(), centres, m),
            Mat::new(&on_axes, m, k),
            exec.threads(),
        );
        let along =
            Expansion::new(self.axes.kernel().clone(), self.axes.centres().clone(), coef, vec![0.0; k])?;
        let own: Vec<f64> = f.coef().iter().map(|c| c / self.lambda).collect();
        Expansion::new(f.kernel().clone(), f.centres().clone(), own, f.offset().to_vec())?.sum(&along)
    }

    /// A classifier trained on k' and expressed by k. The kernel in the parameters is ignored.
    ///
    /// The factor `1 / lambda` of k' is part of the machine: the C of equal effect is `lambda c`.
    pub fn classifier(
        &self,
        params: &SvcParams,
        sample: Sample<'_>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let gram = self.gram(sample.points, exec)?;
        let params = SvcParams { kernel: Some(self.axes.kernel().clone()), ..params.clone() };
        if !params.virtual_vectors.is_empty() {
            let why = "virtual vectors and an invariance in feature space cannot be combined";
            return Err(Error::Unsupported(why.into()));
        }
        let mut model = params.fit(sample.with_gram(&gram), exec, watch)?;
        model.expansion = self.folded(&model.expansion, exec)?;
        model.checkpoint = None;
        model.info.note(format!(
            "invariance in feature space: {} tangent axes, lambda {}",
            self.axes.outputs(),
            self.lambda
        ));
        Ok(model)
    }

    /// Kernel principal components under k', as features expressed by k; a machine can be trained on them
    /// ([`Model::behind`](crate::model::Model::behind)).
    pub fn components(
        &self,
        params: &KpcaParams,
        sample: Sample<'_>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Expansion> {
        let gram = self.gram(sample.points, exec)?;
        let params = KpcaParams { kernel: Some(self.axes.kernel().clone()), ..params.clone() };
        self.folded(&params.fit(sample.with_gram(&gram), exec, watch)?.components()?.layer()?, exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Stage, Targets};
    use crate::watch::silent;
    use mercer_testkit::{assert, toy};

    fn turning() -> Transformations {
        let turn = |row: &mut [f64]| {
            let (x, y) = (row[0], row[1]);
            (row[0], row[1]) = (0.9 * x - 0.3 * y, 0.3 * x + 0.9 * y);
        };
        Transformations::default().with_fn("turn", turn).with_fn("stretch", |row| row[2] *= 1.1)
    }

    fn fitted(kernel: &str, points: &Points, lambda: f64) -> Invariance {
        let kernel = kernel.parse().expect("a kernel");
        let transformations = turning();
        let params = InvarianceParams { kernel, transformations, lambda, ..InvarianceParams::default() };
        params.fit(points, Exec::one(), &mut silent()).expect("tangents")
    }

    #[test]
    fn under_the_linear_kernel_it_is_the_stage() {
        let points = Points::dense(toy::normals(30, 4, 5), 4).expect("rows");
        for lambda in [0.1, 0.6, 1.0] {
            let stage = Stage::invariant(points.view(), &turning(), lambda, 0, Exec::one()).expect("a map");
            let seen = stage.apply(points.view(), Exec::one()).expect("rows");
            let want = gram::square::<f64>(&Kernel::Linear, seen.view(), Exec::one()).expect("values");
            let got = fitted("linear", &points, lambda).values(&points, Exec::one()).expect("values");
            assert::close_to_scale(&got, &want, 1e-10);
        }
    }

    #[test]
    fn under_a_polynomial_it_is_the_stage_on_products() {
        // (x.y)^2 is the dot product of all products of two coordinates: there tangents can be written down.
        let (n, d) = (40, 3);
        let points = Points::dense(toy::normals(n, d, 6), d).expect("rows");
        let products = |p: &Points| -> Vec<f64> {
            let rows = p.view().to_f64().expect("numbers");
            let pairs =
                |x: &[f64]| -> Vec<f64> { x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect() };
            rows.chunks(d).flat_map(pairs).collect()
        };
        let here = products(&points);
        let there = products(&turning().apply(points.view(), Exec::one()).expect("rows"));
        let (e, lambda) = (d * d, 0.2);
        let mut c = vec![0.0; e * e];
        for (p, moved) in there.chunks(e).enumerate() {
            let from = &here[(p % n) * e..][..e];
            let t: Vec<f64> = moved.iter().zip(from).map(|(a, b)| a - b).collect();
            for i in 0..e {
                (0..e).for_each(|j| c[i * e + j] += (1.0 - lambda) * t[i] * t[j] / n as f64);
            }
        }
        (0..e).for_each(|i| c[i * e + i] += lambda);
        let mut columns = vec![0.0; e * n];
        here.iter().enumerate().for_each(|(p, v)| columns[(p % e) * n + p / e] = *v);
        let (solved, _) = crate::num::factor::solve_spd(&c, e, &columns, n).expect("positive");
        let mut want = vec![0.0; n * n];
        product::nn(&mut want, Mat::new(&here, n, e), Mat::new(&solved, e, n), 1);
        let got = fitted("poly(degree=2)", &points, lambda).values(&points, Exec::one()).expect("values");
        assert::close_to_scale(&got, &want, 1e-9);
    }

    #[test]
    fn what_is_learned_is_written_with_the_plain_kernel() {
        let (n, d) = (60, 3);
        let points = Points::dense(toy::normals(n, d, 7), d).expect("rows");
        let rows = points.view().to_f64().expect("numbers");
        let names = rows.chunks(d).map(|row| if row[2] > 0.2 { "a" } else { "b" });
        let targets = Targets::Classes(Labels::new(names));
        let lambda = 0.001;
        let invariance = fitted("rbf(gamma=0.3)", &points, lambda);
        let sample = Sample::new(&points, &targets);
        let params = SvcParams { c: lambda, tol: 1e-8, ..SvcParams::default() };
        let model = invariance.classifier(&params, sample, Exec::one(), &mut silent()).expect("a machine");
        // The same machine, its outputs by the values of k'.
        let gram = invariance.gram(&points, Exec::one()).expect("values");
        let plain = SvcParams { kernel: Some("rbf(gamma=0.3)".parse().expect("a kernel")), ..params };
        let raw = plain.fit(sample.with_gram(&gram), Exec::one(), &mut silent()).expect("a machine");
        let values = invariance.values(&points, Exec::one()).expect("values");
        let columns: Vec<usize> = raw.support.iter().map(|&j| j as usize).collect();
        let picked: Vec<f64> = values.chunks(n).flat_map(|row| columns.iter().map(|&j| row[j])).collect();
        let want = raw.expansion.evaluate_values(&picked, Exec::one()).expect("outputs");
        let got = model.decision(points.view(), Exec::one()).expect("outputs");
        assert::close_to_scale(&got, &want, 1e-9);
        let usual = SvcParams { c: 1.0, ..plain };
        let usual = usual.fit(sample, Exec::one(), &mut silent()).expect("a machine");
        let off = change(&model, &points) / change(&usual, &points);
        assert!(off < 0.8, "outputs move {off} times as much as without the invariance");

        let kpca = KpcaParams { components: Some(4), tol: 1e-10, ..KpcaParams::default() };
        let features = invariance.components(&kpca, sample, Exec::one(), &mut silent()).expect("features");
        let f = features.evaluate(points.view(), Exec::one()).expect("values");
        // Components are centred and do not go together on the rows they come from.
        for a in 0..4 {
            let mean = f.iter().skip(a).step_by(4).sum::<f64>() / n as f64;
            assert!(mean.abs() < 1e-8, "mean {mean}");
            for b in 0..a {
                let together: f64 = f.chunks(4).map(|row| row[a] * row[b]).sum();
                let own: f64 = f.chunks(4).map(|row| row[a] * row[a]).sum();
                assert!(together.abs() < 1e-6 * own, "{together} beside {own}");
            }
        }
    }

    /// Root mean square of what transformations change in outputs, over the outputs' spread.
    fn change(model: &Machine, points: &Points) -> f64 {
        let moved = turning().apply(points.view(), Exec::one()).expect("rows");
        let here = model.decision(points.view(), Exec::one()).expect("outputs");
        let there = model.decision(moved.view(), Exec::one()).expect("outputs");
        let mean = here.iter().sum::<f64>() / here.len() as f64;
        let spread = here.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / here.len() as f64;
        let off = there.iter().zip(here.iter().cycle()).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        (off / there.len() as f64 / spread).sqrt()
    }

    #[test]
    fn what_makes_no_metric_is_refused() {
        let points = Points::dense(toy::normals(5, 3, 8), 3).expect("rows");
        let refused = |params: InvarianceParams| {
            params.fit(&points, Exec::one(), &mut silent()).expect_err("refused").to_string()
        };
        let good = InvarianceParams { transformations: turning(), ..InvarianceParams::default() };
        assert!(refused(InvarianceParams { lambda: 0.0, ..good.clone() }).contains("lambda = 0"));
        assert!(refused(InvarianceParams { components: Some(0), ..good.clone() }).contains("components = 0"));
        let none = Transformations::default();
        assert!(refused(InvarianceParams { transformations: none, ..good.clone() }).contains("at least one"));
        let still = Transformations::default().with_fn("still", |_| {});
        assert!(refused(InvarianceParams { transformations: still, ..good.clone() }).contains("move"));
        let kernel = "sigmoid".parse().expect("a kernel");
        assert!(refused(InvarianceParams { kernel, ..good }).contains("positive definite"));
    }
}
