//! Kernel principal component analysis: the axes along which the images of the points vary most.
//!
//! ```text
//! Phi~(x) = Phi(x) - mean,   K~ = H K H,   K~ a_k = lambda_k a_k,   V_k = sum_i a_ik Phi~(x_i),   |V_k| = 1
//! feature  beta_k(x) = V_k . Phi~(x)             (Schoelkopf, Smola and Mueller 1996)
//! back     P_n Phi(x) = mean + sum_k beta_k(x) V_k
//! ```
//!
//! Centring folds into the expansion, with r the row means and g the mean of K, s the sum of a: coefficients
//! `a_i - s/n` and offset `g s - sum_i a_i r_i`; the mean is kept beside it, for the way back. Cost: n^2 d / 2 for the
//! kernel values, then about 10 n^3 for all components or n^2 a vector of a basis of a few k for k of them, whichever is
//! less ([`solve::eigen`](crate::solve::eigen)); where K does not fit into memory it is computed anew in each product.
//!
//! Further ways, by [`KpcaMethod`]: Nystroem and incomplete Cholesky (n m d + n m^2 for m landmarks, error told), and
//! sparse axes. Under the linear kernel this is PCA, done on the smaller of the two matrices n x n and d x d.

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

/// Rows of a source that tell the kernel's width.
const SOME: usize = 2000;

/// How the components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KpcaMethod {
    /// What costs least of [`KpcaMethod::Complete`] and [`KpcaMethod::Krylov`]; PCA where the kernel is linear.
    #[default]
    Auto,
    /// The complete eigen-decomposition of the kernel matrix.
    Complete,
    /// The first eigenvectors by products with the kernel matrix.
    Krylov,
    /// PCA in the span of some rows drawn at random.
    Nystroem,
    /// PCA in the span of the rows an incomplete Cholesky factor picks.
    Cholesky,
    /// Axes in the span of as many points as there are components: of all vectors of L1 length 1 the one that varies
    /// most, then the same beyond it (Smola, Mangasarian and Schoelkopf 1999).
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
        kernel: Option<Kernel> = None, Kernel, "rbf, width by the data" => "kernel";
        /// Number of components; none: all that are not zero, or those the share asks for.
        components: Option<u64> = None, WholeOrNone(1), "all that are not zero" => "number of components";
        share: f64 = 1.0, UpTo(0.0, 1.0) => "fraction of the variance to explain";
        /// Whether the mean in feature space is taken away first.
        centred: bool = true, Flag => "centre in feature space";
        /// Whether features are scaled to unit variance on the training rows.
        whiten: bool = false, Flag => "scale features to unit variance";
        method: KpcaMethod = KpcaMethod::Auto, OneOf(&["auto", "complete", "krylov", "nystroem", "cholesky", "sparse"]), "auto" => "eigensolver or approximation";
        /// Fit on so many rows drawn at random (for Nystroem: landmarks; for Cholesky: most pivots); none: on all.
        rows: Option<u64> = None, WholeOrNone(1), "all" => "number of rows to fit on, drawn at random";
        /// Residual of an eigenvector left, relative to its eigenvalue; for Cholesky the share of the trace left. Below 1e-5
        /// kernel values and products are in f64, else in f32 where there are many rows and f32 is enough.
        tol: f64 = 1e-5, Above(0.0) => "stopping tolerance (relative eigenvector residual)";
        seed: u64 = 1, Whole(0) => "random seed";
    }
}

/// What a way of finding axes returns: unit axes with centring folded in.
pub(in crate::model) struct Found {
    pub expansion: Expansion,
    pub mean: Option<Expansion>,
    /// Its squared length.
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
    /// Fails if more components are asked for than there are, or if there are none: points that all have one image.
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

    /// Fits on rows that are read in blocks, on landmarks: methods `nystroem` and `cholesky`; `auto` takes the first. `rows` is
    /// the number of landmarks, 1000 if nobody says.
    ///
    /// Memory: within the budget of `exec`, whatever the number of rows. See [`Source`].
    ///
    /// ```
    /// use std::ops::Range;
    /// use mercer::data::Points;
    /// use mercer::data::io::Source;
    /// use mercer::model::KpcaParams;
    /// use mercer::{Exec, Result, watch};
    ///
    /// /// A circle that nobody keeps.
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

    /// Fits on landmarks and on all rows, wherever they are: see [`LargeShard`](crate::model::LargeShard). `trace` is the sum
    /// of `k(x, x)` over all rows.
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

    /// How many of the eigenvalues, first ones first, are components; fails if more are asked for than there are.
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

    /// Whether eigenvalues below 0 can be more than rounding.
    fn indefinite(&self, kernel: &Kernel) -> bool {
        match kernel.definiteness() {
            Definiteness::Positive => false,
            Definiteness::Conditional => !self.centred,
            _ => true,
        }
    }
}

/// So many different rows, rising.
fn drawn(n: usize, count: usize, seed: u64) -> Result<Vec<usize>> {
    if count > n {
        return Err(Error::param("rows", count, format!("at most {n}, the number of training rows")));
    }
    let mut rows = split::shuffle(n, seed);
    rows.truncate(count);
    rows.sort_unstable();
    Ok(rows)
}
