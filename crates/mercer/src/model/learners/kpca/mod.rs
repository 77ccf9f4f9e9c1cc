//! Kernel principal component analysis: directions of largest variance of the points' images.
//!
//! ```text
//! Phi~(x) = Phi(x) - mean,   K~ = H K H,   K~ a_k = lambda_k a_k,   V_k = sum_i a_ik Phi~(x_i),   |V_k| = 1
//! feature  beta_k(x) = V_k . Phi~(x)             (Schoelkopf, Smola and Mueller 1996)
//! back     P_n Phi(x) = mean + sum_k beta_k(x) V_k
//! ```
//!
//! Centring is absorbed into the expansion, with r the row means and g the mean of K, s the sum of a: coefficients
//! `a_i - s/n` and offset `g s - sum_i a_i r_i`. The mean is stored as well, for pre-images. Cost: n^2 d / 2 for the
//! kernel values, then about 10 n^3 for all components, or n^2 per vector of a basis of a few k for the first k,
//! whichever is less ([`solve::eigen`](crate::solve::eigen)). If K does not fit into memory it is recomputed in each
//! product.
//!
//! Further methods ([`KpcaMethod`]): Nystroem and incomplete Cholesky (n m d + n m^2 for m landmarks, with a reported
//! error), and sparse axes. Under the linear kernel this is PCA, done on the smaller of the two matrices n x n and d
//! x d.

mod denoise;
mod lowrank;
mod maps;
mod pca;
mod sparse;
mod whole;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::io::{Source, drawn as drawn_of, gathered};
use crate::data::{Targets, split};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::{Definiteness, Kernel};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Features, LargeCentres, LargeRows, Learner, Machine, Role, Sample};
use crate::watch::{Info, Watch};

pub use denoise::{DenoiseParams, Denoiser, Tried, noise_level};
pub use maps::{empirical_map, whitening_map};

/// Number of rows of a source that determine the kernel's width.
const SOME: usize = 2000;

/// Method for the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KpcaMethod {
    /// The cheaper of [`KpcaMethod::Complete`] and [`KpcaMethod::Krylov`]; PCA for the linear kernel.
    #[default]
    Auto,
    /// The eigen-decomposition of the whole kernel matrix in memory, exact to rounding.
    Complete,
    /// The leading eigenvectors by products with the kernel matrix.
    Krylov,
    /// PCA in the span of random rows.
    Nystroem,
    /// PCA in the span of rows selected by incomplete Cholesky factorisation.
    Cholesky,
    /// Axes in the span of as many points as there are components: the direction of largest variance among vectors of
    /// L1 norm 1, then the same in the orthogonal complement (Smola, Mangasarian and Schoelkopf 1999).
    Sparse,
}

params! {
    /// Parameters of a kernel PCA. See [`KpcaParams::TABLE`] for ranges.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let (points, _) = mercer::data::toy::half_circle(60, 1);
    /// let params = KpcaParams { kernel: Some(Kernel::Rbf { gamma: 2.0 }), components: Some(3), ..KpcaParams::default() };
    /// let machine = params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut watch::silent())?;
    /// assert_eq!(machine.decision(points.view(), Exec::one())?.len(), 60 * 3);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub struct KpcaParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        /// Number of components; `None`: all with non-zero eigenvalue, or as many as the share requires.
        components: Option<u64> = None, WholeOrNone(1), "all that are not zero" => "number of components";
        share: f64 = 1.0, UpTo(0.0, 1.0) => "fraction of the variance to explain";
        /// Whether the mean in feature space is subtracted first.
        centred: bool = true, Flag => "centre in feature space";
        /// Whether features are scaled to unit variance on the training rows.
        whiten: bool = false, Flag => "scale features to unit variance";
        method: KpcaMethod = KpcaMethod::Auto, OneOf(&["auto", "complete", "krylov", "nystroem", "cholesky", "sparse"]), "auto" => "eigensolver or approximation";
        /// Number of random rows to fit on (for Nystroem landmarks, for Cholesky the maximum number of pivots);
        /// `None`: all.
        rows: Option<u64> = None, WholeOrNone(1), "all" => "number of rows to fit on, drawn at random";
        /// Residual of an eigenvector, relative to its eigenvalue; for Cholesky the remaining share of the trace.
        /// Below 1e-5 kernel values and products are in f64, otherwise in f32 where there are many rows and f32 is
        /// accurate enough.
        tol: f64 = 1e-5, Above(0.0) => "stopping tolerance (relative eigenvector residual)";
        seed: u64 = 1, Whole(0) => "random seed";
    }
}

/// The result of a method: unit axes with centring absorbed.
pub(in crate::model) struct Found {
    pub expansion: Expansion,
    pub mean: Option<Expansion>,
    /// Its squared norm.
    pub mean2: f64,
    /// Eigenvalues of the kernel matrix.
    pub values: Vec<f64>,
    /// Its trace.
    pub total: f64,
    pub info: Info,
}

impl KpcaParams {
    /// Fits on the sample's points; targets and weights are not looked at.
    ///
    /// Fails if more components are requested than exist, or if all points have the same image.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let n = sample.points.len();
        let drawn = self.rows.map(|rows| drawn(n, rows as usize, self.seed)).transpose()?;
        let landmarks = matches!(self.method, KpcaMethod::Nystroem | KpcaMethod::Cholesky);
        let before = exec.device().answered();
        let (used, mut found) = match &drawn {
            Some(rows) if !landmarks => {
                let points = sample.points.gather(rows);
                let keep: Vec<u32> = rows.iter().map(|&i| i as u32).collect();
                let gram = sample.gram.map(|rows| rows.subset(&keep));
                let part = Sample { points: &points, gram: gram.as_deref(), ..sample };
                (rows.len(), self.axes(&given.kernel, part, None, exec, watch)?)
            }
            _ => (n, self.axes(&given.kernel, sample, drawn.as_deref(), exec, watch)?),
        };
        if used < n {
            found.info.note(format!("fitted on {used} of {n} rows"));
        }
        found.info.computed_on(exec, before);
        Ok(given.timed(self.machine(found, used)))
    }

    /// Fits on rows that are read in blocks, on landmarks: methods `nystroem` and `cholesky`; `auto` is the first.
    /// `rows` is the number of landmarks, 1000 by default.
    ///
    /// Memory: within the budget of `exec`, for any number of rows. See [`Source`].
    ///
    /// ```
    /// use std::ops::Range;
    /// use mercer::data::Points;
    /// use mercer::data::io::Source;
    /// use mercer::model::KpcaParams;
    /// use mercer::{Exec, Result, watch};
    ///
    /// /// Points on a circle, computed on demand.
    /// struct Circle;
    /// impl Source for Circle {
    ///     fn rows(&self) -> usize {
    ///         5000
    ///     }
    ///     fn columns(&self) -> usize {
    ///         2
    ///     }
    ///     fn read(&self, rows: Range<usize>) -> Result<(Points, Vec<f64>)> {
    ///         let x = rows.flat_map(|i| [(i as f64).cos(), (i as f64).sin()]).collect();
    ///         Ok((Points::dense(x, 2)?, Vec::new()))
    ///     }
    /// }
    /// let params = KpcaParams { components: Some(3), rows: Some(50), ..KpcaParams::default() };
    /// let machine = params.fit_source(&Circle, Exec::one(), &mut watch::silent())?;
    /// assert_eq!(machine.outputs(), 3);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit_source(&self, source: &dyn Source, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        let method = match self.method {
            KpcaMethod::Auto => KpcaMethod::Nystroem,
            KpcaMethod::Nystroem | KpcaMethod::Cholesky => self.method,
            _ => {
                return Err(Error::Unsupported(
                    "only components on landmarks (methods nystroem and cholesky) read rows in blocks".into(),
                ));
            }
        };
        let n = source.rows();
        if n == 0 {
            return Err(Error::shape("training rows", 0, "at least 1"));
        }
        let params = KpcaParams { method, ..self.clone() };
        let (points, _) = gathered(source, &drawn_of(n, SOME.min(n), self.seed))?;
        let none = Targets::None;
        let given = Given::new(self, Sample::new(&points, &none), exec)?;
        let found = lowrank::fit_source(&params, &given.kernel, source, exec, watch)?;
        let mut machine = params.machine(found, n);
        machine.info.seconds = clock.elapsed().as_secs_f64();
        Ok(machine)
    }

    /// Fits on landmarks and on all rows, which may be distributed: see [`LargeShard`](crate::model::LargeShard).
    /// `trace` is the sum of `k(x, x)` over all rows.
    pub fn fit_rows(
        &self,
        centres: &LargeCentres,
        rows: &dyn LargeRows,
        trace: f64,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        let (kernel, n) = (&centres.kernel, rows.rows());
        lowrank::check(self, kernel)?;
        let given = Some(kernel.clone());
        let params = KpcaParams { method: KpcaMethod::Nystroem, kernel: given, ..self.clone() };
        let found = lowrank::axes(&params, kernel, centres.points.clone(), rows, trace, exec, watch)?;
        let mut machine = params.machine(found, n);
        machine.info.seconds = clock.elapsed().as_secs_f64();
        Ok(machine)
    }

    fn machine(&self, found: Found, rows: usize) -> Machine {
        let features = Features {
            mean: found.mean,
            mean2: if self.centred { found.mean2 } else { 0.0 },
            values: found.values,
            total: found.total,
            rows,
            whiten: self.whiten,
        };
        Machine::new(found.expansion, Role::Features(features), Learner::Kpca(self.clone()), found.info)
    }

    fn axes(
        &self,
        kernel: &Kernel,
        sample: Sample<'_>,
        landmarks: Option<&[usize]>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        match self.method {
            KpcaMethod::Nystroem | KpcaMethod::Cholesky => {
                lowrank::fit(self, kernel, &sample, landmarks, exec, watch)
            }
            KpcaMethod::Sparse => sparse::fit(self, kernel, &sample, exec, watch),
            KpcaMethod::Auto if pca::cheap(kernel, &sample) => pca::fit(self, &sample, exec),
            _ => whole::fit(self, kernel, &sample, exec, watch),
        }
    }

    /// The number of leading eigenvalues that are components; fails if more are requested than exist.
    fn chosen(&self, values: &[f64], total: f64, floor: f64) -> Result<usize> {
        let top = values.first().map_or(0.0, |v| v.abs());
        let rank = values.iter().take_while(|v| v.abs() > floor * top).count();
        if rank == 0 || top <= f64::MIN_POSITIVE {
            return Err(Error::Unsupported(
                "there are no components: all points have the same image in feature space".into(),
            ));
        }
        let mut count = rank;
        if self.share < 1.0 {
            let mut sum = 0.0;
            let enough = values.iter().position(|v| {
                sum += v.abs();
                sum >= self.share * total
            });
            count = count.min(enough.map_or(rank, |p| p + 1));
        }
        match self.components {
            Some(asked) if asked as usize > rank => Err(Error::param(
                "components",
                asked,
                format!("at most {rank}: the kernel matrix has no more eigenvalues that are not zero"),
            )),
            Some(asked) => Ok(count.min(asked as usize)),
            None => Ok(count),
        }
    }

    /// Whether eigenvalues below 0 can be more than rounding errors.
    fn indefinite(&self, kernel: &Kernel) -> bool {
        match kernel.definiteness() {
            Definiteness::Positive => false,
            Definiteness::Conditional => !self.centred,
            _ => true,
        }
    }
}

/// Distinct random rows in ascending order.
fn drawn(n: usize, count: usize, seed: u64) -> Result<Vec<usize>> {
    if count > n {
        return Err(Error::param("rows", count, format!("at most {n}, the number of training rows")));
    }
    let mut rows = split::shuffle(n, seed);
    rows.truncate(count);
    rows.sort_unstable();
    Ok(rows)
}
