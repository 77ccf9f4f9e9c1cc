//! Linear-programming machines: sparse sums of kernel functions, found by a linear program.
//!
//! ```text
//! minimise   sum_j |a_j| + C sum_i w_i loss_i,    f(x) = sum_j a_j k(x_j, x) + b
//! ```
//!
//! with the loss `max(0, 1 - y f)` for classes and `|y - f|` for numbers (Mangasarian 2000; Graepel et al. 1999). The
//! kernel need not be positive definite: it only provides columns. Several classes: one-vs-rest. Cost: column
//! generation, n m^2 per round for m columns.

use crate::data::Targets;
use crate::error::Result;
use crate::exec::Exec;
use crate::kernel::Kernel;
use crate::model::Machine;
use crate::model::classified::Coded;
use crate::model::learners::given::Given;
use crate::model::learners::programs::Programs;
use crate::model::param::params;
use crate::model::{Learner, Sample};
use crate::solve::sparse::Cost;
use crate::watch::Watch;

params! {
    /// Parameters of a linear-programming machine. See [`LpMachineParams::TABLE`] for ranges.
    pub struct LpMachineParams {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        /// Penalty on errors relative to that on coefficients.
        c: f64 = 1.0, Above(0.0) => "cost of errors";
        /// Fraction by which a column that was left out may violate its constraint.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
    }
}

impl LpMachineParams {
    /// Fits on the sample's points, targets (classes or numbers) and weights.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{LpMachineParams, Sample};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(100, 1);
    /// let model = LpMachineParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// assert!(model.expansion.len() < 20);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::basis(self, sample, exec)?;
        let cost = if matches!(sample.targets, Targets::Reals(_)) { Cost::Absolute } else { Cost::Hinge };
        let Coded { rows, weight, targets, role } = Coded::of(&sample)?;
        // Losses with weight 1 and coefficients with penalty 1 / C: the same program, better scaled.
        let programs = Programs {
            rows: &rows,
            weight: &weight,
            targets: &targets,
            groups: &[],
            cost,
            c: 1.0 / self.c,
            tol: self.tol,
        };
        let (coef, offset, mut info) = programs.solve(&given, watch)?;
        info.objective = info.objective.map(|v| self.c * v);
        given.machine(&rows, coef, offset, role, Learner::LpMachine(self.clone()), info)
    }
}
