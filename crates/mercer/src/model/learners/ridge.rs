//! Kernel ridge regression; with an offset, the least-squares support vector machine.
//!
//! ```text
//! minimise over f   lambda |w|^2 + sum_i w_i (y_i - f(x_i))^2,      f(x) = w . Phi(x) + b
//!
//! (K + lambda W^-1) c + b 1 = y,   sum c = 0        (Saunders et al. 1998; with b: Suykens and Vandewalle 1999)
//! ```
//!
//! With `A = K + lambda W^-1`, `A u = y` and `A v = 1` give `b = sum u / sum v` and `c = u - b v`. Classes are
//! regressed on codes of +1 and -1: one output for two classes (positive: the second), else one per class, the
//! largest wins. Cost: n^2 values and n^3 / 3 for a Cholesky factor if that fits into memory, otherwise conjugate
//! gradients with n^2 per iteration. Every row has a coefficient; the solution is not sparse.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::Targets;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{self, Rows};
use crate::kernel::Kernel;
use crate::model::classified::{check_reals, weighted_rows};
use crate::model::common::kernel_or_default;
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::svc::collapsed;
use crate::model::{Learner, Machine, Role, Sample};
use crate::num::{Mat, factor, product};
use crate::solve::{LinearParams, System, linear_on_device, solve_linear};
use crate::watch::{Info, Step, Watch};

/// Solver of the linear system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RidgeMethod {
    /// Cholesky if the factor fits into the memory budget, else conjugate gradients.
    #[default]
    Auto,
    /// A Cholesky factorisation of the full matrix.
    Cholesky,
    /// Conjugate gradients.
    Gradients,
}

params! {
    /// Parameters of a ridge regression. See [`RidgeParams::TABLE`] for ranges.
    ///
    /// ```
    /// use mercer::prelude::*;
    /// let (points, targets) = mercer::data::toy::sinc(80, 1);
    /// let params = RidgeParams { lambda: 0.01, kernel: Some(Kernel::Rbf { gamma: 0.2 }), ..RidgeParams::default() };
    /// let machine = params.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// let found = machine.decision(points.view(), Exec::one())?;
    /// assert!(mercer::assess::metric::r2(&found, targets.reals()?) > 0.8);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub struct RidgeParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        lambda: f64 = 1.0, Above(0.0) => "regularisation strength";
        offset: bool = true, Flag => "add an unpenalised offset";
        method: RidgeMethod = RidgeMethod::Auto, OneOf(&["auto", "cholesky", "gradients"]), "auto" => "solver of the linear system";
        tol: f64 = 1e-8, Above(0.0) => "stopping tolerance of conjugate gradients (relative residual)";
    }
}

impl RidgeParams {
    /// Fits on the sample's points, targets (numbers or classes) and weights.
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let (right, names) = right_sides(sample.targets)?;
        let (expansion, support, info) = self.fit_columns(sample, &right, exec, watch)?;
        let role = names.map_or(Role::Numbers, Role::Classes);
        let expansion = collapsed(expansion, exec)?;
        Ok(Machine { support, ..Machine::new(expansion, role, Learner::Ridge(self.clone()), info) })
    }

    /// The same for several columns of numbers at once, an output each, with one shared factorisation: the functions,
    /// the rows of their centres, and statistics.
    pub fn fit_columns(
        &self,
        sample: Sample<'_>,
        right: &[Vec<f64>],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Expansion, Vec<u32>, Info)> {
        let clock = Instant::now();
        let given = Given::new(self, sample, exec)?;
        if let Some(y) = right.iter().find(|y| y.len() != sample.points.len()) {
            return Err(Error::shape("targets", y.len(), sample.points.len()));
        }
        let (keep, weight) = weighted_rows(&sample)?;
        let shift: Vec<f64> = weight.iter().map(|w| self.lambda / w).collect();
        let mut right: Vec<Vec<f64>> =
            right.iter().map(|y| keep.iter().map(|&i| y[i as usize]).collect()).collect();
        let k = right.len();
        if self.offset {
            right.push(vec![1.0; keep.len()]);
        }
        let all = keep.len() == sample.points.len();
        let (mut solved, info) = given.on_rows(|rows| {
            if all {
                return self.solve(&given.kernel, &sample, rows, (&shift, &right), exec, watch);
            }
            let points = given.points(&keep);
            let part = rows.subset(&keep);
            let some = Sample { points: &points, gram: sample.gram.map(|_| part.as_ref()), ..sample };
            self.solve(&given.kernel, &some, part.as_ref(), (&shift, &right), exec, watch)
        })?;
        let mut offset = vec![0.0; k];
        if self.offset {
            let v = solved.pop().expect("the last right side is the offset's");
            let below: f64 = v.iter().sum();
            for (u, b) in solved.iter_mut().zip(&mut offset) {
                *b = u.iter().sum::<f64>() / below;
                u.iter_mut().zip(&v).for_each(|(u, v)| *u -= *b * v);
            }
        }
        let coef = (0..keep.len()).flat_map(|i| solved.iter().map(move |u| u[i])).collect();
        let info = Info { seconds: clock.elapsed().as_secs_f64(), ..info };
        Ok((Expansion::new(given.kernel.clone(), given.points(&keep), coef, offset)?, keep, info))
    }

    /// The given kernel, or the default for the sample.
    pub(crate) fn kernel_for(&self, sample: &Sample<'_>) -> Result<Kernel> {
        kernel_or_default(self.kernel.as_ref(), sample)
    }

    /// `(K + diag(shift)) x = right` for each right-hand side.
    fn solve(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        rows: &dyn Rows,
        (shift, right): (&[f64], &[Vec<f64>]),
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<Vec<f64>>, Info)> {
        let n = rows.len();
        if self.method != RidgeMethod::Cholesky {
            let system = System { rows, shift, right, tol: self.tol };
            if let Some(solved) = linear_on_device(&system, exec, watch)? {
                return Ok(solved);
            }
        }
        // The matrix, its copy with the shift, and the factor.
        let fits = n.saturating_mul(n).saturating_mul(3 * 8) <= exec.budget();
        if self.method == RidgeMethod::Gradients || (self.method == RidgeMethod::Auto && !fits) {
            let params = LinearParams { tol: self.tol, exec, ..LinearParams::default() };
            return solve_linear(rows, shift, right, &params, watch);
        }
        if watch(&Step::new("kernel values", 0, Some(2))).is_break() {
            return Err(Error::Cancelled);
        }
        let mut a = match sample.gram {
            Some(rows) => gram::exact(rows, exec),
            None => gram::square::<f64>(kernel, sample.points.view(), exec)?.to_vec(),
        };
        if watch(&Step::new("factor", 1, Some(2))).is_break() {
            return Err(Error::Cancelled);
        }
        (0..n).for_each(|i| a[i * n + i] += shift[i]);
        let k = right.len();
        let b: Vec<f64> = (0..n).flat_map(|i| right.iter().map(move |y| y[i])).collect();
        let (x, ridge) = factor::solve_spd(&a, n, &b, k)?;
        let mut back = vec![0.0; n * k];
        product::nn(&mut back, Mat::new(&a, n, n), Mat::new(&x, n, k), exec.threads());
        let column = |v: &[f64], o: usize| v.iter().skip(o).step_by(k).copied().collect::<Vec<f64>>();
        let length = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let gap = right
            .iter()
            .enumerate()
            .map(|(o, y)| {
                let off = length(&mut column(&back, o).iter().zip(y).map(|(g, y)| g - y));
                off / length(&mut y.iter().copied()).max(f64::MIN_POSITIVE)
            })
            .fold(0.0, f64::max);
        let mut info = Info { iterations: 1, gap, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
        info.note("Cholesky factorisation of the full matrix");
        if ridge > 0.0 {
            info.note(format!("the matrix is singular to rounding: {ridge:e} was added to its diagonal"));
        }
        Ok(((0..k).map(|o| column(&x, o)).collect(), info))
    }
}

/// Columns of numbers for regression.
pub(crate) type RightSides = Vec<Vec<f64>>;

/// The numbers for regression, and the classes' names.
pub(crate) fn right_sides(targets: &Targets) -> Result<(RightSides, Option<Vec<String>>)> {
    match targets {
        Targets::Reals(y) => {
            check_reals(y, 0..y.len())?;
            Ok((vec![y.clone()], None))
        }
        Targets::Classes(labels) => {
            let code = |class: u32| -> Vec<f64> {
                labels.of_row.iter().map(|&k| if k == class { 1.0 } else { -1.0 }).collect()
            };
            let right = match labels.names.len() {
                0 | 1 => return Err(Error::shape("classes", labels.names.len(), "at least 2")),
                2 => vec![code(1)],
                more => (0..more as u32).map(code).collect(),
            };
            Ok((right, Some(labels.names.clone())))
        }
        Targets::None => Err(Error::no_targets("real numbers or class labels")),
    }
}
