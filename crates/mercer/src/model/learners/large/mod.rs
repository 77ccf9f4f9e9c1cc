//! Machines for large data: a sum over m centres, learned from all n rows.
//!
//! ```text
//! minimise over f   sum_i w_i l(f(x_i), y_i) + lambda / 2 |w|^2,      f(x) = sum_j c_j k(z_j, x) + b
//!
//! l: (f - y)^2 / 2,   log(1 + exp(-y f)) or its form for several classes,   max(0, 1 - y f)^2 / 2
//! ```
//!
//! With every row a centre the squared loss is kernel ridge regression with the same lambda. Solved by Newton steps of
//! preconditioned conjugate gradients (Rudi, Carratino and Rosasco 2017; Meanti et al. 2020; Marteau-Ferey, Bach and Rudi 2019).
//! Cost: n m d for kernel values and n m k per pass, some tens of passes for squared errors and a few hundred for others;
//! m^3. Memory: 3 m^2 numbers and a block of values; the values themselves are kept where they fit.

mod centres;
mod design;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::data::Points;
use crate::error::{Error, Result};
use crate::exec::{Exec, room};
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::classified::{Classified, Coded, places, weighted_rows};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::svc::collapsed;
use crate::model::{Calibration, Learner, Machine, Role, Sample, Sigmoid};
use crate::solve::large::{
    Design, Fitted, Hinge, LargeProblem, Limits, Logistic, Loss, Own, Softmax, Squared, fit,
};
use crate::watch::{Info, Watch};
use centres::Centres;
use design::{Blocks, Digits, From};

/// How errors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LargeLoss {
    /// By their squares; classes are regressed on codes of 1 and -1.
    #[default]
    Squared,
    /// By the negative logarithm of the class's probability.
    Logistic,
    /// By the square of what is missing to the margin.
    SquaredHinge,
}

/// How centres are placed.
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

/// Below this tolerance values are f64.
const SINGLE: f64 = 1e-6;
/// Values that are f64 whatever the tolerance: single precision would gain nothing.
const FEW: usize = 4_000_000;
/// From so many centres on factors are f32 where values are.
const MANY: usize = 4096;

params! {
    /// Parameters of a machine for large data. See [`LargeParams::TABLE`] for ranges.
    pub struct LargeParams {
        /// The kernel; none: a Gaussian whose width follows from the data's spread.
        kernel: Option<Kernel> = None, Kernel, "rbf, width by the data" => "kernel";
        loss: LargeLoss = LargeLoss::Squared, OneOf(&["squared", "logistic", "squared_hinge"]), "squared" => "loss function";
        /// How many centres; no more than there are rows.
        centres: u64 = 1000, Whole(1) => "number of centres";
        place: Landmarks = Landmarks::Uniform, OneOf(&["uniform", "kmeans", "cholesky"]), "uniform" => "how centres are placed";
        lambda: f64 = 0.1, Above(0.0) => "regularisation strength";
        offset: bool = true, Flag => "an offset that costs nothing";
        tol: f64 = 1e-4, Above(0.0), "0.0001" => "stopping tolerance (relative length of the gradient)";
        max_iter: u64 = 1000, Whole(1) => "maximum number of passes over the rows";
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
        if self.loss == LargeLoss::Squared {
            let Coded { targets, role, .. } = Coded::of(&sample)?;
            let k = targets.len();
            let n = targets.first().map_or(0, Vec::len);
            let flat: Vec<f64> = (0..n).flat_map(|i| targets.iter().map(move |y| y[i])).collect();
            let loss = Squared { targets: &flat, outputs: k };
            return self.machine(&given, &loss, role, Calibration::None, watch);
        }
        let classes = Classified::of(&sample)?;
        let role = classes.role();
        let k = classes.names.len();
        match self.loss {
            LargeLoss::Logistic if k == 2 => {
                let calibration = Calibration::Sigmoids(vec![Sigmoid { a: -1.0, b: 0.0 }]);
                self.machine(&given, &Logistic { class: &classes.class }, role, calibration, watch)
            }
            LargeLoss::Logistic => {
                let loss = Softmax { class: &classes.class, classes: k };
                self.machine(&given, &loss, role, Calibration::Softmax, watch)
            }
            _ => {
                let codes = classes.codes();
                let n = classes.rows.len();
                let flat: Vec<f64> = (0..n).flat_map(|i| codes.iter().map(move |y| y[i])).collect();
                let loss = Hinge { targets: &flat, outputs: codes.len() };
                self.machine(&given, &loss, role, Calibration::None, watch)
            }
        }
    }

    /// Squared errors for several columns of numbers at once, an output each: the function and how it went.
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
        let (centres, found) =
            self.solved(&given, &Squared { targets: &flat, outputs: right.len() }, watch)?;
        let expansion = Expansion::new(given.kernel.clone(), centres.points, found.coef, found.offset)?;
        Ok((expansion, found.info))
    }

    fn machine(
        &self,
        given: &Given<'_>,
        loss: &dyn Loss,
        role: Role,
        calibration: Calibration,
        watch: &mut Watch<'_>,
    ) -> Result<Machine> {
        let (centres, found) = self.solved(given, loss, watch)?;
        let whole = Expansion::new(given.kernel.clone(), centres.points, found.coef, found.offset)?;
        let expansion = collapsed(whole, given.exec)?;
        let support = centres.rows.unwrap_or_default().iter().map(|&i| i as u32).collect();
        let machine = Machine::new(expansion, role, Learner::Large(self.clone()), found.info);
        Ok(given.timed(Machine { calibration, support, ..machine }))
    }

    /// Centres and coefficients; rows of the centres are those of the sample.
    fn solved(&self, given: &Given<'_>, loss: &dyn Loss, watch: &mut Watch<'_>) -> Result<(Centres, Fitted)> {
        let (sample, exec) = (&given.sample, given.exec);
        let (rows, weight) = weighted_rows(sample)?;
        let all = rows.len() == sample.points.len();
        let points: Cow<'_, Points> =
            if all { Cow::Borrowed(sample.points) } else { Cow::Owned(given.points(&rows)) };
        let part = match sample.gram {
            Some(gram) if !all => Some(gram.subset(&rows)),
            _ => None,
        };
        let gram = part.as_deref().or(sample.gram);
        let mut centres = if gram.is_some() {
            self.among_rows(&points)?
        } else {
            self.placed(&given.kernel, &points, exec)?
        };
        let (n, m, k) = (rows.len(), centres.points.len(), loss.outputs());
        let digits =
            if self.tol < SINGLE || n.saturating_mul(m) <= FEW { Digits::Double } else { Digits::Single };
        let single = digits == Digits::Single && m >= MANY;
        let factors = 3 * (m as u128).pow(2) * if single { 4 } else { 8 };
        let other = factors + (n as u128 * k as u128) * 4 + (m as u128 * k as u128) * 8 * 16;
        room(
            &format!("{m} centres for {n} rows"),
            other,
            sample.points.view().bytes() as u128,
            exec.memory(),
        )?;
        let left = exec.budget().saturating_sub(usize::try_from(other).unwrap_or(usize::MAX)) / 4 * 3;
        let numbers: Vec<u32> = centres.rows.iter().flatten().map(|&i| i as u32).collect();
        let from = match gram {
            Some(gram) => From::Matrix { rows: gram, centres: &numbers },
            None => {
                From::Points { kernel: &given.kernel, points: points.view(), centres: centres.points.view() }
            }
        };
        let design = Blocks::new(from, digits, left, exec, watch)?;
        let own = if single { Own::Single(design.own()?) } else { Own::Double(design.own()?) };
        let problem = LargeProblem {
            design: &design,
            loss,
            weight: &weight,
            places: centres.rows.as_deref(),
            lambda: self.lambda,
            offset: self.offset,
            rounding: digits.rounding(),
        };
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let mut found = fit(&problem, own, &limits, exec, watch)?;
        let (kept, passes) = (design.kept(), found.info.iterations as f64);
        let values = design.rows() as f64 * m as f64;
        found.info.kernel_values = (values * (kept + (1.0 - kept) * passes)) as u64 + (m as u64).pow(2) / 2;
        found.info.note(centres.note.clone());
        if kept < 1.0 {
            found.info.note(format!(
                "{:.0} % of the kernel values fit into the memory given; the others are computed in every pass",
                100.0 * kept
            ));
        }
        drop(design);
        if let Some(own) = &mut centres.rows {
            let places = places(&rows);
            own.iter_mut().for_each(|i| *i = places[*i]);
            if gram.is_some() {
                centres.points = given.points(&own.iter().map(|&i| i as u32).collect::<Vec<_>>());
            }
        }
        Ok((centres, found))
    }

    /// Centres where there is a matrix and no points.
    fn among_rows(&self, points: &Points) -> Result<Centres> {
        if self.place != Landmarks::Uniform {
            let word = if self.place == Landmarks::Kmeans { "kmeans" } else { "cholesky" };
            return Err(Error::param("place", word, "uniform for a precomputed kernel"));
        }
        let exec = Exec::one();
        self.placed(&Kernel::Precomputed, points, exec)
    }
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../../docs/large.md")]
struct Document;
