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
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::io::{Source, drawn, gathered};
use crate::data::{Points, Targets};
use crate::error::{Error, Result};
use crate::exec::{Exec, room};
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::classified::{Classified, places, weighted_reals, weighted_rows};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::svc::collapsed;
use crate::model::{Calibration, Learner, Machine, Role, Sample, Sigmoid};
use crate::solve::large::{
    Design, Fitted, Hinge, LargeProblem, Limits, Logistic, Loss, Own, Softmax, Squared, fit,
};
use crate::watch::{Info, Watch};
use centres::{Centres, Rows};
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
/// Rows of a source that tell the kernel's width.
const SOME: usize = 2000;
/// Bytes of the program itself, about, and of what it holds besides: they count where memory must be kept to.
const PROGRAM: u128 = 48 << 20;
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
        let (centres, found) = self.solved(&given, &rows, aim.loss.as_ref(), &targets, watch)?;
        let machine = self.machine(&given.kernel, centres, found, aim, exec)?;
        Ok(given.timed(machine))
    }

    /// Fits on rows that are read in blocks as often as needed. If the watcher breaks, the machine is what there was.
    ///
    /// Memory: within the budget of `exec`, whatever the number of rows. See [`Source`].
    pub fn fit_source(&self, source: &dyn Source, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let clock = Instant::now();
        self.check()?;
        let n = source.rows();
        if n == 0 {
            return Err(Error::shape("training rows", 0, "at least 1"));
        }
        // A kernel is checked, or its width found, on some of the rows.
        let (points, y) = gathered(source, &drawn(n, SOME.min(n), self.seed))?;
        let some = Targets::Reals(if y.is_empty() { vec![0.0; points.len()] } else { y });
        let given = Given::new(self, Sample::new(&points, &some), exec)?;
        let kernel = given.kernel.clone();
        let aim = self.aim(source.classes())?;
        let centres = self.placed(&kernel, &Rows::Source(source), exec)?;
        let (m, k) = (centres.points.len(), aim.loss.outputs());
        let digits = self.digits(n, m);
        let single = digits == Digits::Single && m >= MANY;
        let outputs = n as u128 * k as u128 * 4;
        let keep = outputs <= u128::from(exec.memory() / 8);
        let kept = if keep && !aim.loss.is_quadratic() { outputs } else { 0 };
        let rows = 3 * centres.points.view().bytes() as u128;
        let other = self.other(m, k, single) + kept + rows + PROGRAM;
        room(&format!("{m} centres for {n} rows in blocks"), other, 0, exec.memory())?;
        let left = exec.budget().saturating_sub(usize::try_from(other).unwrap_or(usize::MAX)) / 2;
        let from = From::Source { kernel: &kernel, source, centres: centres.points.view() };
        let design = Blocks::new(from, (&[], &[]), digits, left, exec, watch)?;
        let places = match &centres.rows {
            Some(rows) if !aim.loss.is_quadratic() && keep => {
                Some((rows.as_slice(), gathered(source, rows)?.1))
            }
            _ => None,
        };
        let problem = LargeProblem {
            design: &design,
            loss: aim.loss.as_ref(),
            total: n as f64,
            keep,
            places: places.as_ref().map(|(rows, y)| (*rows, y.as_slice())),
            lambda: self.lambda,
            offset: self.offset,
            rounding: digits.rounding(),
        };
        let mut found = self.found(&problem, &design, single, exec, watch)?;
        found.info.note(centres.note.clone());
        drop(design);
        let mut machine = self.machine(&kernel, centres, found, aim, exec)?;
        machine.info.seconds = clock.elapsed().as_secs_f64();
        Ok(machine)
    }

    /// What is learned: of classes with these names, or of numbers.
    fn aim(&self, names: &[String]) -> Result<Aim> {
        let k = names.len();
        if k == 1 {
            return Err(Error::shape("classes", 1, "at least 2 to tell apart"));
        }
        let outputs = if k == 2 { 1 } else { k.max(1) };
        let role = if k == 0 { Role::Numbers } else { Role::Classes(names.to_vec()) };
        let none = Calibration::None;
        let (loss, calibration): (Box<dyn Loss>, Calibration) = match self.loss {
            LargeLoss::Squared => (Box::new(Squared { outputs, classes: k > 0 }), none),
            // Numbers have no classes: said as for every classifier.
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
        let loss = Squared { outputs: right.len(), classes: false };
        let (centres, found) = self.solved(&given, &rows, &loss, &flat, watch)?;
        let expansion = Expansion::new(given.kernel.clone(), centres.points, found.coef, found.offset)?;
        Ok((expansion, found.info))
    }

    fn machine(
        &self,
        kernel: &Kernel,
        centres: Centres,
        found: Fitted,
        aim: Aim,
        exec: Exec,
    ) -> Result<Machine> {
        let whole = Expansion::new(kernel.clone(), centres.points, found.coef, found.offset)?;
        let expansion = collapsed(whole, exec)?;
        let support = centres.rows.unwrap_or_default().iter().map(|&i| i as u32).collect();
        let machine = Machine::new(expansion, aim.role, Learner::Large(self.clone()), found.info);
        Ok(Machine { calibration: aim.calibration, support, ..machine })
    }

    fn digits(&self, n: usize, m: usize) -> Digits {
        if self.tol < SINGLE || n.saturating_mul(m) <= FEW { Digits::Double } else { Digits::Single }
    }

    /// Bytes of factors and of the solver's own numbers.
    #[expect(clippy::unused_self, reason = "belongs to the counts of a fit")]
    fn other(&self, m: usize, k: usize, single: bool) -> u128 {
        let factors = 3 * (m as u128).pow(2) * if single { 4 } else { 8 };
        factors + (m as u128 * k as u128) * 8 * 64
    }

    /// Centres and coefficients for rows of the sample and their targets; rows of the centres are those of the sample.
    fn solved(
        &self,
        given: &Given<'_>,
        rows: &[u32],
        loss: &dyn Loss,
        targets: &[f64],
        watch: &mut Watch<'_>,
    ) -> Result<(Centres, Fitted)> {
        let (sample, exec) = (&given.sample, given.exec);
        let weight: Vec<f64> = rows.iter().map(|&i| sample.weight(i as usize)).collect();
        let all = rows.len() == sample.points.len();
        let points: Cow<'_, Points> =
            if all { Cow::Borrowed(sample.points) } else { Cow::Owned(given.points(rows)) };
        let part = match sample.gram {
            Some(gram) if !all => Some(gram.subset(rows)),
            _ => None,
        };
        let gram = part.as_deref().or(sample.gram);
        let mut centres = if gram.is_some() {
            self.among_rows(&points)?
        } else {
            self.placed(&given.kernel, &Rows::Points(&points), exec)?
        };
        let (n, m, k) = (rows.len(), centres.points.len(), loss.outputs());
        let digits = self.digits(n, m);
        let single = digits == Digits::Single && m >= MANY;
        let other = self.other(m, k, single) + (n as u128 * k as u128) * 4;
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
        let design = Blocks::new(from, (targets, &weight), digits, left, exec, watch)?;
        let wide = targets.len() / n.max(1);
        let of_centres: Vec<f64> = centres
            .rows
            .iter()
            .flatten()
            .flat_map(|&i| &targets[i * wide..(i + 1) * wide])
            .copied()
            .collect();
        let problem = LargeProblem {
            design: &design,
            loss,
            total: weight.iter().sum(),
            keep: true,
            places: centres.rows.as_deref().map(|rows| (rows, of_centres.as_slice())),
            lambda: self.lambda,
            offset: self.offset,
            rounding: digits.rounding(),
        };
        let mut found = self.found(&problem, &design, single, exec, watch)?;
        found.info.note(centres.note.clone());
        drop(design);
        if let Some(own) = &mut centres.rows {
            let places = places(rows);
            own.iter_mut().for_each(|i| *i = places[*i]);
            if gram.is_some() {
                centres.points = given.points(&own.iter().map(|&i| i as u32).collect::<Vec<_>>());
            }
        }
        Ok((centres, found))
    }

    /// Solves, and notes what that took.
    fn found(
        &self,
        problem: &LargeProblem<'_>,
        design: &Blocks<'_>,
        single: bool,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Fitted> {
        let own = if single { Own::Single(design.own()?) } else { Own::Double(design.own()?) };
        let limits = Limits { tol: self.tol, max_iter: self.max_iter };
        let mut found = fit(problem, own, &limits, exec, watch)?;
        let (kept, passes, m) = (design.kept(), found.info.iterations as f64, design.centres());
        let values = design.rows() as f64 * m as f64;
        found.info.kernel_values = (values * (kept + (1.0 - kept) * passes)) as u64 + (m as u64).pow(2) / 2;
        if kept < 1.0 {
            found.info.note(format!(
                "{:.0} % of the kernel values fit into the memory given; the others are computed in every pass",
                100.0 * kept
            ));
        }
        Ok(found)
    }

    /// Centres where there is a matrix and no points.
    fn among_rows(&self, points: &Points) -> Result<Centres> {
        if self.place != Landmarks::Uniform {
            let word = if self.place == Landmarks::Kmeans { "kmeans" } else { "cholesky" };
            return Err(Error::param("place", word, "uniform for a precomputed kernel"));
        }
        let exec = Exec::one();
        self.placed(&Kernel::Precomputed, &Rows::Points(points), exec)
    }
}

/// What is learned of the rows' targets, and what it is to be.
struct Aim {
    loss: Box<dyn Loss>,
    role: Role,
    calibration: Calibration,
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../../docs/large.md")]
struct Document;
