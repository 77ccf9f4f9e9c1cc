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

mod threshold;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::data::split::shuffle;
use crate::data::{Targets, View};
use crate::error::{Error, Result};
use crate::expansion::Expansion;
use crate::gram;
use crate::kernel::Kernel;
use crate::model::common::{budget, kernel_or_default, on_rows};
use crate::model::function::{self, Classified, FunctionModel, Role, largest, places, weighted_rows};
use crate::model::param::{self, Allowed, ParamSpec, spec};
use crate::model::{Learner, Sample};
use crate::par::Par;
use crate::solve::fisher::{Fisher, FisherProblem, Penalty, fisher, least_squares};
use crate::solve::greedy::{GreedyProblem, greedy};
use crate::solve::sparse::{Cost, KernelColumns, SparseParams, SparseProblem, solve_sparse};
use crate::watch::{Info, Step, Stop, Watch};

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
pub enum Threshold {
    /// In the middle between the classes' means.
    #[default]
    Means,
    /// Where a linear machine on the projections puts it.
    Svm,
    /// Where both classes are equally probable, each a normal distribution along the direction; also gives probabilities.
    Probability,
}

/// Parameters of a Fisher discriminant. See [`KfdParams::TABLE`] for ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KfdParams {
    /// The kernel; none: a Gaussian whose width follows from the data's spread.
    pub kernel: Option<Kernel>,
    /// How coefficients are found.
    pub form: KfdForm,
    /// Weight of the penalty.
    pub lambda: f64,
    /// What is penalised, in the closed form.
    pub penalty: KfdPenalty,
    /// Where two classes are told apart.
    pub threshold: Threshold,
    /// Most centres of the greedy form.
    pub centres: u64,
    /// Rows that may become centres of the greedy form, drawn from all.
    pub candidates: u64,
    /// Whether to tell the leave-one-out error; closed and greedy form.
    pub leave_one_out: bool,
    /// Share of lambda by which a column may violate its condition, in the sparse forms.
    pub tol: f64,
    /// Seed of the candidates.
    pub seed: u64,
    /// Bytes for kernel values; none: half of the machine's memory.
    pub memory: Option<u64>,
}

impl Default for KfdParams {
    fn default() -> Self {
        KfdParams {
            kernel: None,
            form: KfdForm::Closed,
            lambda: 0.1,
            penalty: KfdPenalty::Identity,
            threshold: Threshold::Means,
            centres: 100,
            candidates: 2000,
            leave_one_out: false,
            tol: 1e-3,
            seed: 0,
            memory: None,
        }
    }
}

/// Coefficients on some rows, before they are an expansion.
struct Found {
    /// Places among the rows that take part.
    centres: Vec<u32>,
    /// centres x k.
    coef: Vec<f64>,
    offset: Vec<f64>,
    /// What the discriminant of all others says, n x k, where it was asked.
    left_out: Option<Vec<f64>>,
    ratio: Option<f64>,
    info: Info,
}

impl KfdParams {
    /// Names, ranges, defaults.
    pub const TABLE: &'static [ParamSpec] = &[
        spec("kernel", Allowed::Kernel, "rbf, width by the data", "the kernel"),
        spec(
            "form",
            Allowed::OneOf(&["closed", "sparse", "linear", "greedy"]),
            "closed",
            "how coefficients are found",
        ),
        spec("lambda", Allowed::AtLeast(0.0), "0.1", "weight of smoothness"),
        spec(
            "penalty",
            Allowed::OneOf(&["identity", "kernel"]),
            "identity",
            "what is kept small: coefficients, or the direction's length",
        ),
        spec(
            "threshold",
            Allowed::OneOf(&["means", "svm", "probability"]),
            "means",
            "how two classes are told apart on the direction",
        ),
        spec("centres", Allowed::Whole(1), "100", "most centres"),
        spec("candidates", Allowed::Whole(1), "2000", "rows that may become centres"),
        spec("leave_one_out", Allowed::Flag, "false", "tell the leave-one-out error"),
        spec("tol", Allowed::Above(0.0), "0.001", "optimality violation left"),
        spec("seed", Allowed::Whole(0), "0", "seed of what is drawn"),
        spec("memory", Allowed::WholeOrNone(1), "half of RAM", "bytes for kernel values"),
    ];

    /// Fails if a parameter is outside its range.
    pub fn check(&self) -> Result<()> {
        let numbers = [
            ("lambda", self.lambda),
            ("centres", self.centres as f64),
            ("candidates", self.candidates as f64),
            ("tol", self.tol),
            ("memory", self.memory.unwrap_or(1) as f64),
        ];
        param::check(Self::TABLE, &numbers)?;
        if self.form != KfdForm::Closed && self.lambda <= 0.0 {
            return Err(Error::param("lambda", self.lambda, "above 0 where centres are chosen"));
        }
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.check(None))
    }

    /// Fits on the sample's points, targets (classes or numbers) and weights.
    ///
    /// ```
    /// use mercer::data::toy;
    /// use mercer::model::{KfdForm, KfdParams, Sample};
    /// use mercer::{Par, watch};
    ///
    /// let (points, targets) = toy::banana(100, 1);
    /// let sample = Sample::new(&points, &targets);
    /// let all = KfdParams { leave_one_out: true, ..KfdParams::default() }.fit(sample, Par::one(), &mut watch::silent())?;
    /// assert!(all.facts.iter().any(|(name, error)| *name == "leave_one_out_error" && *error < 0.3));
    /// let few = KfdParams { form: KfdForm::Sparse, lambda: 1.0, ..KfdParams::default() };
    /// assert!(few.fit(sample, Par::one(), &mut watch::silent())?.expansion.len() < 25);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(&self, sample: Sample<'_>, par: Par, watch: &mut Watch<'_>) -> Result<FunctionModel> {
        let clock = Instant::now();
        self.check()?;
        sample.check()?;
        let kernel = kernel_or_default(self.kernel.as_ref(), &sample)?;
        let mut model = if let Targets::Reals(y) = sample.targets {
            if let Some(i) = y.iter().position(|y| !y.is_finite()) {
                return Err(Error::param(format!("target of row {}", i + 1), y[i], "a finite number"));
            }
            let (rows, weight) = weighted_rows(&sample)?;
            let y: Vec<f64> = rows.iter().map(|&i| y[i as usize]).collect();
            let found = self.numbers(&kernel, &sample, &rows, &weight, &y, par, watch)?;
            self.model(kernel, &sample, &rows, Role::Numbers, found, par)?
        } else {
            let classes = Classified::of(&sample)?;
            let found = self.classes(&kernel, &sample, &classes, par, watch)?;
            let left = found.left_out.clone();
            let mut model = self.model(kernel, &sample, &classes.rows, classes.role(), found, par)?;
            if let Some(left) = &left {
                let k = model.outputs();
                let got = largest(left, k);
                let wrong =
                    (0..got.len()).filter(|&i| got[i] != classes.class[i] || left[i * k].is_nan()).count();
                model.tell("leave_one_out_error", wrong as f64 / classes.rows.len() as f64);
            }
            self.place(&mut model, &sample, &classes, left.as_deref(), par, watch)?;
            model
        };
        model.info.seconds = clock.elapsed().as_secs_f64();
        Ok(model)
    }

    /// The directions of the generalised eigenproblem, the best first, as features: at most one less than there are classes.
    pub fn directions(&self, sample: Sample<'_>, par: Par) -> Result<Expansion> {
        self.check()?;
        sample.check()?;
        let kernel = kernel_or_default(self.kernel.as_ref(), &sample)?;
        let classes = Classified::of(&sample)?;
        let k = self.whole(&kernel, &sample, &classes.rows, par)?;
        let problem = self.problem(&k, &k, &classes);
        let found = fisher(&problem, par)?.directions()?;
        let centres = sample.points.gather(&places(&classes.rows));
        let outputs = found.ratios.len();
        Expansion::new(kernel, centres, found.coef, vec![0.0; outputs])
    }

    fn model(
        &self,
        kernel: Kernel,
        sample: &Sample<'_>,
        rows: &[u32],
        role: Role,
        found: Found,
        par: Par,
    ) -> Result<FunctionModel> {
        let centres: Vec<u32> = found.centres.iter().map(|&c| rows[c as usize]).collect();
        let (expansion, support) =
            function::expansion(kernel, sample, &centres, found.coef, found.offset, par)?;
        let mut model = FunctionModel::plain(expansion, role, Learner::Kfd(self.clone()), found.info);
        model.support = support;
        if let Some(ratio) = found.ratio {
            model.tell("ratio", ratio);
        }
        Ok(model)
    }

    /// The kernel matrix, if there is room for it and what is made of it.
    fn whole(&self, kernel: &Kernel, sample: &Sample<'_>, rows: &[u32], par: Par) -> Result<Vec<f64>> {
        let n = rows.len();
        if n.saturating_mul(n).saturating_mul(4 * 8) > budget(self.memory) {
            let most = ((budget(self.memory) / 32) as f64).sqrt() as usize;
            let allowed = format!("at most {most} in this memory; learner kfd-greedy takes any number");
            return Err(Error::param("training rows", n, allowed));
        }
        function::matrix(kernel, sample, rows, par)
    }

    fn problem<'a>(&self, values: &'a [f64], gram: &'a [f64], classes: &'a Classified) -> FisherProblem<'a> {
        FisherProblem {
            values,
            columns: values.len() / classes.rows.len(),
            class: &classes.class,
            classes: classes.names.len(),
            weight: &classes.weight,
            lambda: self.lambda,
            penalty: match self.penalty {
                KfdPenalty::Identity => Penalty::Identity,
                KfdPenalty::Kernel => Penalty::Matrix(gram),
            },
        }
    }

    fn classes(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        classes: &Classified,
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let n = classes.rows.len();
        match self.form {
            KfdForm::Closed => {
                if watch(&Step::new("kernel values", 0, Some(2))).is_break() {
                    return Err(Error::Cancelled);
                }
                let k = self.whole(kernel, sample, &classes.rows, par)?;
                if watch(&Step::new("discriminant", 1, Some(2))).is_break() {
                    return Err(Error::Cancelled);
                }
                let info = Info { iterations: 1, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
                self.discriminant(&self.problem(&k, &k, classes), (0..n as u32).collect(), info, par)
            }
            KfdForm::Greedy => {
                let codes = classes.codes();
                let target: Vec<f64> = (0..n).flat_map(|i| codes.iter().map(move |y| y[i])).collect();
                let (chosen, info) = self.chosen(
                    kernel,
                    sample,
                    &classes.rows,
                    &classes.weight,
                    &target,
                    codes.len(),
                    par,
                    watch,
                )?;
                let (values, gram) = columns(kernel, sample, &classes.rows, &chosen, par)?;
                self.discriminant(&self.problem(&values, &gram, classes), chosen, info, par)
            }
            KfdForm::Sparse | KfdForm::Linear => self.programs(kernel, sample, classes, par, watch),
        }
    }

    /// The discriminant on given columns.
    fn discriminant(
        &self,
        problem: &FisherProblem<'_>,
        centres: Vec<u32>,
        mut info: Info,
        par: Par,
    ) -> Result<Found> {
        let found: Fisher = fisher(problem, par)?;
        if found.ridge > 0.0 {
            info.notes
                .push(format!("the spread within classes is singular: {:e} was added to it", found.ridge));
        }
        let ratio = found.directions()?.ratios.first().copied();
        let two = problem.classes == 2;
        let (coef, offset) =
            if two { found.binary().map(|(coef, offset)| (coef, vec![offset]))? } else { found.scores() };
        let wanted = self.leave_one_out || self.threshold == Threshold::Probability;
        let left_out = match wanted.then(|| found.left_out(problem, par)).transpose()? {
            // In the units of the output, whose distance between means is 2.
            Some(s) if two => Some(s.chunks(2).map(|s| 2.0 / found.apart() * (s[1] - s[0])).collect()),
            other => other,
        };
        Ok(Found { centres, coef, offset, left_out, ratio, info })
    }

    /// Centres by greedy least squares, as places among the rows that take part.
    #[expect(clippy::too_many_arguments, reason = "the rows, their targets, and what choosing obeys")]
    fn chosen(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        rows: &[u32],
        weight: &[f64],
        target: &[f64],
        outputs: usize,
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<u32>, Info)> {
        let n = rows.len();
        let room = budget(self.memory) / (4 * n.max(1));
        let pool = (self.candidates as usize).min(n).min(room.max(1));
        let mut candidates: Vec<u32> = match pool {
            all if all == n => (0..n as u32).collect(),
            some => shuffle(n, self.seed)[..some].iter().map(|&i| i as u32).collect(),
        };
        candidates.sort_unstable();
        on_rows(kernel, sample, |all| {
            let part = (n != all.len()).then(|| all.subset(rows));
            let problem = GreedyProblem {
                rows: part.as_deref().unwrap_or(all),
                target,
                outputs,
                weight,
                lambda: self.lambda,
                candidates: &candidates,
                size: (self.centres as usize).min(n),
            };
            let mut found = greedy(&problem, par, watch)?;
            if pool < n {
                found.info.notes.push(format!("centres were chosen among {pool} rows drawn from {n}"));
            }
            Ok((found.chosen, found.info))
        })
    }

    /// One sparse program for two classes, else one a class.
    fn programs(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        classes: &Classified,
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let group: Vec<Vec<u32>> =
            classes.codes().iter().map(|y| y.iter().map(|&y| u32::from(y > 0.0)).collect()).collect();
        self.sparse(kernel, sample, &classes.rows, &classes.weight, &classes.codes(), &group, par, watch)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the rows, their targets and groups, and what solving obeys"
    )]
    fn sparse(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        rows: &[u32],
        weight: &[f64],
        targets: &[Vec<f64>],
        groups: &[Vec<u32>],
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let (n, k) = (rows.len(), targets.len());
        on_rows(kernel, sample, |all| {
            let part = (n != all.len()).then(|| all.subset(rows));
            let columns = KernelColumns { rows: part.as_deref().unwrap_or(all), par };
            let params = SparseParams { tol: self.tol, ..SparseParams::default() };
            let cost = if self.form == KfdForm::Linear { Cost::Absolute } else { Cost::Squared };
            let mut whole = Info { objective: Some(0.0), ..Info::default() };
            let mut coef = vec![0.0; n * k];
            let mut offset = Vec::new();
            for (o, target) in targets.iter().enumerate() {
                let group = groups.get(o).map_or(&[][..], Vec::as_slice);
                let problem = SparseProblem { target, weight, cost, group, c: self.lambda };
                let found = solve_sparse(&columns, &problem, &params, watch)?;
                found.coef.iter().for_each(|&(j, c)| coef[j as usize * k + o] = c);
                offset.push(found.offset);
                whole.iterations += found.info.iterations;
                whole.gap = whole.gap.max(found.info.gap);
                whole.objective = whole.objective.zip(found.info.objective).map(|(a, b)| a + b);
                if found.info.stop != Stop::Converged {
                    whole.stop = found.info.stop;
                }
                if found.info.stop == Stop::Cancelled {
                    offset.resize(k, 0.0);
                    break;
                }
            }
            Ok(Found {
                centres: (0..n as u32).collect(),
                coef,
                offset,
                left_out: None,
                ratio: None,
                info: whole,
            })
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the rows, their targets, and what solving obeys")]
    fn numbers(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        rows: &[u32],
        weight: &[f64],
        y: &[f64],
        par: Par,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let n = rows.len();
        let (values, gram, centres, info) = match self.form {
            KfdForm::Closed => {
                let k = self.whole(kernel, sample, rows, par)?;
                let info = Info { iterations: 1, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
                (k.clone(), k, (0..n as u32).collect(), info)
            }
            KfdForm::Greedy => {
                let (chosen, info) = self.chosen(kernel, sample, rows, weight, y, 1, par, watch)?;
                let (values, gram) = columns(kernel, sample, rows, &chosen, par)?;
                (values, gram, chosen, info)
            }
            _ => return self.sparse(kernel, sample, rows, weight, &[y.to_vec()], &[], par, watch),
        };
        let penalty = match self.penalty {
            KfdPenalty::Identity => Penalty::Identity,
            KfdPenalty::Kernel => Penalty::Matrix(&gram),
        };
        let problem = FisherProblem {
            values: &values,
            columns: centres.len(),
            class: &[],
            classes: 1,
            weight,
            lambda: self.lambda,
            penalty,
        };
        let (coef, offset) = least_squares(&problem, y, par)?;
        Ok(Found { centres, coef, offset: vec![offset], left_out: None, ratio: None, info })
    }
}

/// Kernel values of all rows that take part against some of them, and of those against each other.
fn columns(
    kernel: &Kernel,
    sample: &Sample<'_>,
    rows: &[u32],
    chosen: &[u32],
    par: Par,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (rows.len(), chosen.len());
    let values = match sample.gram {
        None => {
            let all = sample.points.gather(&places(rows));
            let centres: Vec<usize> = chosen.iter().map(|&c| rows[c as usize] as usize).collect();
            let centres = sample.points.gather(&centres);
            let (x, c): (View<'_>, View<'_>) = (all.view(), centres.view());
            gram::cross::<f64>(kernel, x, c, par)?.to_vec()
        }
        Some(gram) => {
            let part = gram.subset(rows);
            let mut out = vec![0.0; n * m];
            let mut column = vec![0.0; n];
            for (j, &c) in chosen.iter().enumerate() {
                column.fill(0.0);
                part.apply(&[c], &[1.0], &mut column, par);
                (0..n).for_each(|i| out[i * m + j] = column[i]);
            }
            out
        }
    };
    let gram = chosen.iter().flat_map(|&c| values[c as usize * m..(c as usize + 1) * m].to_vec()).collect();
    Ok((values, gram))
}
