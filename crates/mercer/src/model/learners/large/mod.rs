//! Machines for large data: a sum over m centres, trained on all n rows.
//!
//! ```text
//! minimise over f   sum_i w_i l(f(x_i), y_i) + lambda / 2 |w|^2,      f(x) = sum_j c_j k(z_j, x) + b
//!
//! l: (f - y)^2 / 2,   log(1 + exp(-y f)) or its form for several classes,   max(0, 1 - y f)^2 / 2
//! ```
//!
//! With every row a centre the squared loss is kernel ridge regression with the same lambda. Solved by Newton steps
//! of preconditioned conjugate gradients (Rudi, Carratino and Rosasco 2017; Meanti et al. 2020; Marteau-Ferey, Bach
//! and Rudi 2019). Cost: n m d for kernel values and n m k per pass, some tens of passes for squared errors and a few
//! hundred for others; m^3. Memory: 3 m^2 numbers and a block of values; the values themselves are kept where they
//! fit.

mod centres;
mod design;
mod held;
mod same;
mod shard;
mod solved;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::Targets;
use crate::data::io::{Source, drawn, gathered};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::classified::{Classified, weighted_reals, weighted_rows};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::svc::collapsed;
use crate::model::{Calibration, Learner, Machine, Role, Sample, Sigmoid};
use crate::solve::large::{Fitted, Hinge, Logistic, Loss, Softmax, Squared};
pub use crate::solve::large::{LargeAsk, LargeFunction, LargeRows, LargeSums};
use crate::watch::{Info, Watch};
pub use centres::LargeCentres;
pub(in crate::model::learners) use design::{Blocks, Digits, From};
use held::Without;
pub use shard::LargeShard;
use solved::Training;

/// The loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LargeLoss {
    /// Squared errors; classes are coded as 1 and -1.
    #[default]
    Squared,
    /// The negative log-likelihood of the class.
    Logistic,
    /// Squared hinge loss.
    SquaredHinge,
}

/// Placement of the centres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landmarks {
    /// Rows drawn uniformly.
    #[default]
    Uniform,
    /// Means of clusters.
    Kmeans,
    /// Rows drawn by randomly pivoted Cholesky.
    Cholesky,
}

/// Number of rows of a source that determine the kernel's width.
const SOME: usize = 2000;

params! {
    /// Parameters of a machine for large data. See [`LargeParams::TABLE`] for ranges.
    pub struct LargeParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        loss: LargeLoss = LargeLoss::Squared, OneOf(&["squared", "logistic", "squared_hinge"]), "squared" => "loss function";
        /// Number of centres; at most the number of rows.
        centres: u64 = 1000, Whole(1) => "number of centres";
        place: Landmarks = Landmarks::Uniform, OneOf(&["uniform", "kmeans", "cholesky"]), "uniform" => "how centres are placed";
        lambda: f64 = 0.1, Above(0.0) => "regularisation strength";
        offset: bool = true, Flag => "add an unpenalised offset";
        tol: f64 = 1e-4, Above(0.0), "0.0001" => "stopping tolerance (relative length of the gradient)";
        max_iter: u64 = 1000, Whole(1) => "maximum number of passes over the rows";
        held_out: u64 = 0, Whole(0) => "rows held out for early stopping and for an error estimate; 0: none, or those of the path";
        path: u64 = 0, Whole(0) => "number of times the number of centres is halved, for a path of held-out errors";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl LargeParams {
    /// Fits on the sample's points, targets (classes or numbers) and weights.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{LargeLoss, LargeParams, Sample};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(2000, 1);
    /// let params = LargeParams { centres: 50, loss: LargeLoss::Logistic, ..LargeParams::default() };
    /// let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// assert_eq!(machine.expansion.len(), 50);
    /// let probabilities = machine.probabilities(points.view(), Exec::one())?;
    /// assert!((probabilities.values[0] + probabilities.values[1] - 1.0).abs() < 1e-12);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let (names, targets, rows) = match sample.targets {
            Targets::Reals(y) if self.loss == LargeLoss::Squared => {
                let (rows, _, y) = weighted_reals(&sample, y)?;
                (Vec::new(), y, rows)
            }
            _ => {
                let classes = Classified::of(&sample)?;
                (classes.names, classes.class.iter().map(|&c| f64::from(c)).collect(), classes.rows)
            }
        };
        let aim = self.aim(&names)?;
        let amounts = self.loss == LargeLoss::Squared && names.is_empty();
        let training = Training::new(self, &given, rows, targets, amounts)?;
        let (centres, found) = training.solved(aim.loss.as_ref(), watch)?;
        let machine = self.machine(centres, found, aim, exec)?;
        Ok(given.timed(machine))
    }

    /// Fits on rows that are read in blocks as often as needed. If the watcher cancels, the machine is the current
    /// one.
    ///
    /// Memory: within the budget of `exec`, for any number of rows. See [`Source`].
    pub fn fit_source(&self, source: &dyn Source, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        let n = source.rows();
        if n == 0 {
            return Err(Error::shape("training rows", 0, "at least 1"));
        }
        // The kernel is checked, or its width determined, on some of the rows.
        let (points, y) = gathered(source, &drawn(n, SOME.min(n), self.seed))?;
        let some = Targets::Reals(if y.is_empty() { vec![0.0; points.len()] } else { y });
        let given = Given::new(self, Sample::new(&points, &some), exec)?;
        let kernel = given.kernel.clone();
        let aim = self.aim(source.classes())?;
        let held = self.held_rows(n);
        let without = Without::new(source, &held);
        let judged = if held.is_empty() { None } else { Some(gathered(source, &held)?) };
        let (centres, found) =
            self.solved_source(&kernel, (&without, judged), aim.loss.as_ref(), exec, watch)?;
        let mut machine = self.machine(centres, found, aim, exec)?;
        machine.info.seconds = clock.elapsed().as_secs_f64();
        Ok(machine)
    }

    /// The loss and role for classes with these names, or for numbers.
    fn aim(&self, names: &[String]) -> Result<Aim> {
        let k = names.len();
        if k == 1 {
            return Err(Error::shape("classes", 1, "at least 2"));
        }
        let outputs = if k == 2 { 1 } else { k.max(1) };
        let role = if k == 0 { Role::Numbers } else { Role::Classes(names.to_vec()) };
        let none = Calibration::None;
        let (loss, calibration): (Box<dyn Loss>, Calibration) = match self.loss {
            LargeLoss::Squared => (Box::new(Squared { outputs, classes: k > 0 }), none),
            // Numbers have no classes; the same error as for every classifier.
            _ if k == 0 => {
                return Err(Targets::Reals(Vec::new()).classes().err().unwrap_or(Error::Cancelled));
            }
            LargeLoss::Logistic if k == 2 => {
                (Box::new(Logistic), Calibration::Sigmoids(vec![Sigmoid { a: -1.0, b: 0.0 }]))
            }
            LargeLoss::Logistic => (Box::new(Softmax { classes: k }), Calibration::Softmax),
            LargeLoss::SquaredHinge => (Box::new(Hinge { outputs }), none),
        };
        Ok(Aim { loss, role, calibration })
    }

    /// Squared errors for several columns of numbers at once, an output each: the function and statistics.
    pub fn fit_columns(
        &self,
        sample: Sample<'_>,
        right: &[Vec<f64>],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Expansion, Info)> {
        let given = Given::new(self, sample, exec)?;
        if let Some(y) = right.iter().find(|y| y.len() != sample.points.len()) {
            return Err(Error::shape("targets", y.len(), sample.points.len()));
        }
        if right.is_empty() || right.iter().flatten().any(|y| !y.is_finite()) {
            return Err(Error::shape("columns of targets", right.len(), "at least 1, of finite numbers"));
        }
        let (rows, _) = weighted_rows(&sample)?;
        let flat: Vec<f64> = rows.iter().flat_map(|&i| right.iter().map(move |y| y[i as usize])).collect();
        let loss = Squared { outputs: right.len(), classes: false };
        let training = Training::new(self, &given, rows, flat, true)?;
        let (centres, found) = training.solved(&loss, watch)?;
        let expansion = Expansion::new(given.kernel.clone(), centres.points, found.coef, found.offset)?;
        Ok((expansion, found.info))
    }

    fn machine(&self, centres: LargeCentres, found: Fitted, aim: Aim, exec: Exec) -> Result<Machine> {
        let whole = Expansion::new(centres.kernel, centres.points, found.coef, found.offset)?;
        let expansion = collapsed(whole, exec)?;
        let support = centres.rows.unwrap_or_default().iter().map(|&i| i as u32).collect();
        let machine = Machine::new(expansion, aim.role, Learner::Large(self.clone()), found.info);
        Ok(Machine { calibration: aim.calibration, support, ..machine })
    }
}

/// The loss and the role of a machine.
struct Aim {
    loss: Box<dyn Loss>,
    role: Role,
    calibration: Calibration,
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../../docs/large.md")]
struct Document;
