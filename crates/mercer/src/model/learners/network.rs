//! Radial basis function networks: few Gaussians whose centres are placed first or trained with their weights.
//!
//! ```text
//! f(x) = sum_j a_j k(c_j, x) + b,   centres by k-means in each class, support vectors, or trained together with the width
//! ```
//!
//! Weights by least squares with decay (the pseudo-inverse), or by gradient descent through logistic outputs as in
//! back-propagation (Schoelkopf, Sung et al. 1997; Schoelkopf 1997, section 2.5; Moody and Darken 1989). All
//! Gaussians of a network share one width, so that it is an ordinary expansion. Cost: that of k-means, and n m (m +
//! d) per training step.

use serde::{Deserialize, Serialize};

use crate::data::{Points, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::model::classified::Coded;
use crate::model::classified::places;
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::svc::Multi;
use crate::model::{Learner, Sample, SvcParams};
use crate::model::{Machine, Role};
use crate::solve::kmeans::lloyd;
use crate::solve::network::{NetworkProblem, adapt, logistic_weights, weights};
use crate::watch::{Info, Step, Stop, Watch, noting};

/// Placement of the centres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Placed by k-means, then trained together with the width.
    #[default]
    Adapted,
    /// By k-means, with equal numbers in each class.
    Kmeans,
    /// At the support vectors of a machine with the same kernel.
    SupportVectors,
}

/// Computation of the weights for given centres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// By least squares with decay.
    #[default]
    PseudoInverse,
    /// By gradient descent through logistic outputs, with squared errors and decay; classes only.
    Descent,
}

params! {
    /// Parameters of a network. See [`NetworkParams::TABLE`] for ranges.
    pub struct NetworkParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data. Only a Gaussian's centres can move.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        /// Number of centres; with support vectors their number is given.
        centres: u64 = 20, Whole(1) => "maximum number of centres";
        place: Place = Place::Adapted, OneOf(&["adapted", "kmeans", "support_vectors"]), "adapted" => "how centres are placed";
        weights: Weights = Weights::PseudoInverse, OneOf(&["pseudo_inverse", "descent"]), "pseudo_inverse" => "how output weights are fitted";
        lambda: f64 = 0.01, AtLeast(0.0) => "regularisation strength";
        /// Maximum number of training steps of the centres; of weights alone, which are cheaper, ten times as many.
        steps: u64 = 20, Whole(0) => "maximum gradient steps";
        c: f64 = 1.0, Above(0.0) => "cost of errors of the machine that provides the support vectors";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl NetworkParams {
    /// Fits on the sample's points, targets (classes or numbers) and weights.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{NetworkParams, Sample};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(200, 1);
    /// let params = NetworkParams { centres: 10, ..NetworkParams::default() };
    /// let model = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// assert_eq!(model.expansion.len(), 10);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::basis(self, sample, exec)?;
        if let Targets::Reals(_) = sample.targets {
            if self.weights == Weights::Descent {
                return Err(Error::param("weights", "descent", "pseudo-inverse for numbers"));
            }
            if self.place == Place::SupportVectors {
                return Err(Error::param("place", "support vectors", "adapted or kmeans for numbers"));
            }
        }
        let Coded { rows, weight, targets: target, role } = Coded::of(&sample)?;
        let points = given.points(&rows);
        let n = rows.len();
        if watch(&Step::new("centres", 0, None)).is_break() {
            return Err(Error::Cancelled);
        }
        let (expansion, support, info) = if self.place == Place::SupportVectors {
            self.on_support(given.kernel.clone(), &points, &rows, (&weight, &target), exec, watch)?
        } else {
            let x = points.view().to_f64_within(exec.memory())?;
            let k = target.len();
            let flat: Vec<f64> = (0..n).flat_map(|i| target.iter().map(move |y| y[i])).collect();
            let problem = NetworkProblem {
                x: &x,
                dim: points.dim(),
                target: &flat,
                outputs: k,
                weight: &weight,
                lambda: self.lambda,
            };
            let centres = self.started(&problem, matches!(role, Role::Classes(_)), exec);
            let kernel = given.kernel.clone();
            let (found, broken) = noting(watch, |watch| self.network(&problem, centres, kernel, exec, watch));
            let (expansion, mut info) = found?;
            if broken {
                info.stop = Stop::Cancelled;
            }
            (expansion, Vec::new(), info)
        };
        let mut model = Machine::new(expansion, role, Learner::Network(self.clone()), info);
        if let Kernel::Rbf { gamma } = model.expansion.kernel() {
            let gamma = *gamma;
            model.tell("gamma", gamma);
        }
        Ok(given.timed(Machine { support, ..model }))
    }

    /// Centres by k-means: for classes equal numbers in each, whatever their sizes.
    pub(in crate::model) fn started(
        &self,
        problem: &NetworkProblem<'_>,
        classes: bool,
        exec: Exec,
    ) -> Vec<f64> {
        let (n, d, k) = (problem.weight.len(), problem.dim, problem.outputs);
        let m = (self.centres as usize).min(n);
        if !classes {
            return lloyd(problem.x, d, m, 50, self.seed, exec).0;
        }
        let side = |i: usize| match &problem.target[i * k..(i + 1) * k] {
            [one] => usize::from(*one > 0.0),
            more => more.iter().position(|y| *y > 0.0).unwrap_or(0),
        };
        let groups = k.max(2);
        let mut centres = Vec::with_capacity(m * d);
        for g in 0..groups {
            let rows: Vec<usize> = (0..n).filter(|&i| side(i) == g).collect();
            let share = m / groups + usize::from(g < m % groups);
            let x: Vec<f64> =
                rows.iter().flat_map(|&i| problem.x[i * d..(i + 1) * d].iter().copied()).collect();
            if share > 0 && !rows.is_empty() {
                centres.extend(lloyd(&x, d, share, 50, self.seed.wrapping_add(g as u64), exec).0);
            }
        }
        centres
    }

    /// Weights for centres, which are trained first if requested.
    fn network(
        &self,
        problem: &NetworkProblem<'_>,
        centres: Vec<f64>,
        kernel: Kernel,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Expansion, Info)> {
        let d = problem.dim;
        let (centres, kernel, moved) = if self.place == Place::Adapted {
            let Kernel::Rbf { gamma } = kernel else {
                return Err(Error::param("kernel", kernel, "rbf where centres move; or set place=kmeans"));
            };
            let net = adapt(problem, &centres, gamma, true, self.steps as usize, exec, watch)?;
            let kernel = Kernel::Rbf { gamma: net.gamma };
            let steps = u64::from(net.steps);
            if self.weights == Weights::PseudoInverse {
                let info = Info { iterations: steps, objective: Some(net.objective), ..Info::default() };
                let f = Expansion::new(kernel, Points::dense(net.centres, d)?, net.coef, net.offset)?;
                return Ok((f, info));
            }
            (net.centres, kernel, steps)
        } else {
            (centres, kernel, 0)
        };
        let (x, c) = (Points::dense(problem.x.to_vec(), d)?, Points::dense(centres, d)?);
        let values = gram::cross::<f64>(&kernel, x.view(), c.view(), exec)?;
        let (coef, offset, steps) = self.solved(&values, c.len(), problem, exec, watch)?;
        let info = Info { iterations: moved + u64::from(steps), ..Info::default() };
        Ok((Expansion::new(kernel, c, coef, offset)?, info))
    }

    fn solved(
        &self,
        values: &[f64],
        m: usize,
        problem: &NetworkProblem<'_>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>, u32)> {
        match self.weights {
            Weights::PseudoInverse => {
                weights(values, m, problem, exec).map(|(coef, offset)| (coef, offset, 1))
            }
            Weights::Descent => {
                let bits: Vec<f64> = problem.target.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect();
                let steps = (self.steps as usize).max(1) * 10;
                let problem = NetworkProblem { target: &bits, ..*problem };
                logistic_weights(values, m, &problem, steps, exec, watch)
            }
        }
    }

    /// Each output on the support vectors of its own machine.
    fn on_support(
        &self,
        kernel: Kernel,
        points: &Points,
        rows: &[u32],
        (weight, target): (&[f64], &[Vec<f64>]),
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Expansion, Vec<u32>, Info)> {
        let k = target.len();
        let mut coef = vec![0.0; points.len() * k];
        let mut offset = vec![0.0; k];
        let mut info = Info::default();
        for (o, y) in target.iter().enumerate() {
            let labels = crate::data::Labels {
                names: vec!["-".into(), "+".into()],
                of_row: y.iter().map(|y| u32::from(*y > 0.0)).collect(),
            };
            let both = Targets::Classes(labels);
            let params = SvcParams {
                kernel: Some(kernel.clone()),
                c: self.c,
                multi: Multi::OneVsOne,
                ..SvcParams::default()
            };
            let svc = params.fit(Sample::new(points, &both).weighted(weight), exec, watch)?;
            let centres = points.gather(&places(&svc.support));
            let values = gram::cross::<f64>(&kernel, points.view(), centres.view(), exec)?;
            let problem =
                NetworkProblem { x: &[], dim: 1, target: y, outputs: 1, weight, lambda: self.lambda };
            let (a, b, steps) = self.solved(&values, centres.len(), &problem, exec, watch)?;
            svc.support.iter().zip(&a).for_each(|(&i, a)| coef[i as usize * k + o] = *a);
            offset[o] = b[0];
            info.iterations += u64::from(steps) + svc.info.iterations;
        }
        let support: Vec<u32> = (0..points.len())
            .filter(|i| coef[i * k..(i + 1) * k].iter().any(|c| *c != 0.0))
            .map(|i| rows[i])
            .collect();
        Ok((Expansion::new(kernel, points.clone(), coef, offset)?, support, info))
    }
}
