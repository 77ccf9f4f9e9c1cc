//! Kernel Fisher discriminants: the direction in feature space along which classes lie far apart beside their own spread.
//!
//! ```text
//! maximise   a' M a / a' (N + lambda P) a                       P = I or K        (Mika et al. 1999; Mueller et al. 2001, IV-C)
//! minimise   |xi|^2 + lambda P(a),   K a + 1 b = y + xi,   the mean of xi over each class is 0          (the same as a program)
//! ```
//!
//! The second form has two classes' means at -1 and 1. With `P(a) = a'a` or `a'Ka` both are one linear system; with |a|_1
//! coefficients become zero (sparse, a quadratic program), and with |xi|_1 as well it is a linear program (linear sparse);
//! both go by column generation. The greedy form takes the centre that helps most, again and again, and suits many rows.
//! Several classes: the closed and the greedy form solve the generalised eigenproblem and take the nearest mean; the sparse
//! ones tell each class from the rest. Numbers: least squares with the same penalty.
//!
//! Cost: n^3 closed, n p m greedy with p candidates and m centres, n m^2 a round for the programs.

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

/// Matrices of the closed form: the kernel matrix and what is made of it.
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
    /// The centre that helps most, again and again.
    Greedy,
}

/// What keeps coefficients small, where they need not be zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KfdPenalty {
    /// Their squares.
    #[default]
    Identity,
    /// The length of the direction in feature space.
    Kernel,
}

/// Where two classes are told apart on the direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KfdThreshold {
    /// In the middle between the classes' means.
    #[default]
    Means,
    /// Where a linear machine on the projections puts it.
    Svm,
    /// Where both classes are equally probable, each a normal distribution along the direction; also gives probabilities.
    Probability,
}

params! {
    /// Parameters of a Fisher discriminant. See [`KfdParams::TABLE`] for ranges.
    pub struct KfdParams where Self::together {
        /// The kernel; none: a Gaussian whose width follows from the data's spread.
        kernel: Option<Kernel> = None, Kernel, "rbf, width by the data" => "kernel";
        form: KfdForm = KfdForm::Closed, OneOf(&["closed", "sparse", "linear", "greedy"]), "closed" => "formulation";
        lambda: f64 = 0.1, AtLeast(0.0) => "regularisation strength";
        penalty: KfdPenalty = KfdPenalty::Identity, OneOf(&["identity", "kernel"]), "identity" => "penalty: on the coefficients, or on the norm of the direction";
        threshold: KfdThreshold = KfdThreshold::Means, OneOf(&["means", "svm", "probability"]), "means" => "how the threshold on the projection is chosen";
        /// Most centres of the greedy form.
        centres: u64 = 100, Whole(1) => "maximum number of centres";
        /// Rows that may become centres of the greedy form, drawn from all.
        candidates: u64 = 2000, Whole(1) => "candidate rows per centre";
        /// Whether to tell the leave-one-out error; closed and greedy form.
        leave_one_out: bool = false, Flag => "report the leave-one-out error";
        /// Share of lambda by which a column may violate its condition, in the sparse forms.
        tol: f64 = 1e-3, Above(0.0), "0.001" => "stopping tolerance (maximum KKT violation)";
        seed: u64 = 0, Whole(0) => "random seed";
    }
}

impl KfdParams {
    /// What parameters must obey together.
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

    /// The directions of the generalised eigenproblem, the best first, as features: at most one less than there are classes.
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
