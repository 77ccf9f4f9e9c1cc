//! Kernel Fisher discriminants: directions in feature space that maximise between-class over within-class scatter.
//!
//! ```text
//! maximise   a' M a / a' (N + lambda P) a                       P = I or K        (Mika et al. 1999; Mueller et al. 2001, IV-C)
//! minimise   |xi|^2 + lambda P(a),   K a + 1 b = y + xi,   the mean of xi over each class is 0          (the same as a program)
//! ```
//!
//! In the second form the means of two classes are at -1 and 1. With `P(a) = a'a` or `a'Ka` both are one linear
//! system. With |a|_1 coefficients become sparse (a quadratic program), and with |xi|_1 as well it is a linear
//! program; both are solved by column generation. The greedy form repeatedly adds the centre that reduces the
//! objective most, and is suitable for many rows. Several classes: the closed and the greedy form solve the
//! generalised eigenproblem and predict the nearest mean; the sparse ones are one-vs-rest. Numbers: least squares
//! with the same penalty.
//!
//! Cost: n^3 closed, n p m greedy with p candidates and m centres, n m^2 per round for the programs.

mod forms;
mod threshold;

use serde::{Deserialize, Serialize};

use crate::data::Targets;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::kernel::Kernel;
use crate::model::Sample;
use crate::model::classified::Classified;
use crate::model::classified::{check_reals, weighted_reals};
use crate::model::learners::given::Given;
use crate::model::param::params;
use crate::model::{Machine, Role, machine::largest};
use crate::solve::fisher::fisher;
use crate::watch::Watch;

/// Matrices of the closed form: the kernel matrix and matrices derived from it.
const COPIES: usize = 4;

/// How coefficients are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KfdForm {
    /// One linear system; every row is a centre.
    #[default]
    Closed,
    /// Squared errors and the sum of absolute coefficients: a quadratic program.
    Sparse,
    /// Absolute errors and the sum of absolute coefficients: a linear program.
    Linear,
    /// Greedy selection of centres.
    Greedy,
}

/// The regulariser of dense forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KfdPenalty {
    /// The squared norm of the coefficients.
    #[default]
    Identity,
    /// The squared norm of the direction in feature space.
    Kernel,
}

/// Placement of the threshold between two classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KfdThreshold {
    /// In the middle between the classes' means.
    #[default]
    Means,
    /// By a linear machine on the projections.
    Svm,
    /// Where both classes are equally probable under a normal distribution per class; also gives probabilities.
    Probability,
}

params! {
    /// Parameters of a Fisher discriminant. See [`KfdParams::TABLE`] for ranges.
    pub struct KfdParams where Self::together {
        /// The kernel; `None`: a Gaussian with its width chosen from the data.
        kernel: Option<Kernel> = None, Kernel, "rbf, width chosen from the data" => "kernel";
        form: KfdForm = KfdForm::Closed, OneOf(&["closed", "sparse", "linear", "greedy"]), "closed" => "formulation";
        lambda: f64 = 0.1, AtLeast(0.0) => "regularisation strength";
        penalty: KfdPenalty = KfdPenalty::Identity, OneOf(&["identity", "kernel"]), "identity" => "penalty: on the coefficients, or on the norm of the direction";
        threshold: KfdThreshold = KfdThreshold::Means, OneOf(&["means", "svm", "probability"]), "means" => "how the threshold on the projection is chosen";
        /// Maximum number of centres of the greedy form.
        centres: u64 = 100, Whole(1) => "maximum number of centres";
        /// Number of rows drawn as candidates for centres of the greedy form.
        candidates: u64 = 2000, Whole(1) => "candidate rows per centre";
        /// Whether to report the leave-one-out error; closed and greedy form.
        leave_one_out: bool = false, Flag => "report the leave-one-out error";
        /// Fraction of lambda by which a column may violate its constraint, in the sparse forms.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl KfdParams {
    /// Checks combinations of parameters.
    fn together(&self) -> Result<()> {
        if self.form != KfdForm::Closed && self.lambda <= 0.0 {
            return Err(Error::param("lambda", self.lambda, "above 0 where centres are chosen"));
        }
        Ok(())
    }

    /// Fits on the sample's points, targets (classes or numbers) and weights.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{KfdForm, KfdParams, Sample};
    /// use mercer::{Exec, watch};
    ///
    /// let (points, targets) = toy::banana(100, 1);
    /// let sample = Sample::new(&points, &targets);
    /// let all = KfdParams { leave_one_out: true, ..KfdParams::default() }.fit(sample, Exec::one(), &mut watch::silent())?;
    /// assert!(all.facts.iter().any(|(name, error)| *name == "leave_one_out_error" && *error < 0.3));
    /// let few = KfdParams { form: KfdForm::Sparse, lambda: 1.0, ..KfdParams::default() };
    /// assert!(few.fit(sample, Exec::one(), &mut watch::silent())?.expansion.len() < 25);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, exec: Exec, watch: &mut Watch<'_>) -> Result<Machine> {
        let given = Given::new(self, sample, exec)?;
        let model = if let Targets::Reals(y) = sample.targets {
            check_reals(y, 0..y.len())?;
            let (rows, weight, y) = weighted_reals(&sample, y)?;
            let found = self.numbers(&given, (&rows, &weight), &y, watch)?;
            self.model(&given, &rows, Role::Numbers, found)?
        } else {
            let classes = Classified::of(&sample)?;
            let found = self.classes(&given, &classes, watch)?;
            let left = found.left_out.clone();
            let mut model = self.model(&given, &classes.rows, classes.role(), found)?;
            if let Some(left) = &left {
                let k = model.outputs();
                let got = largest(left, k);
                let wrong =
                    (0..got.len()).filter(|&i| got[i] != classes.class[i] || left[i * k].is_nan()).count();
                model.tell("leave_one_out_error", wrong as f64 / classes.rows.len() as f64);
            }
            self.place(&mut model, &given, &classes, left.as_deref(), watch)?;
            model
        };
        Ok(given.timed(model))
    }

    /// The directions of the generalised eigenproblem as features, in descending order; at most one fewer than there
    /// are classes.
    pub fn directions(&self, sample: Sample<'_>, exec: Exec) -> Result<Expansion> {
        let given = Given::new(self, sample, exec)?;
        let classes = Classified::of(&sample)?;
        let k = given.matrix(&classes.rows, COPIES)?;
        let problem = self.problem(&k, &k, (&classes.class, classes.names.len()), &classes.weight);
        let found = fisher(&problem, exec)?.directions()?;
        let outputs = found.ratios.len();
        Expansion::new(given.kernel.clone(), given.points(&classes.rows), found.coef, vec![0.0; outputs])
    }
}
