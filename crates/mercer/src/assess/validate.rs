//! Cross-validation: a learner is fitted on a part of the rows and judged on the rest, fold by fold.
//!
//! Everything that learns from data is fitted inside the fold, the columns' scaling too: rows that judge have no part in
//! what they judge. Cost: a fit and a prediction a fold; `trials.rs` says what several settings share.

use serde::{Deserialize, Serialize};

use crate::assess::metric::{self, Metric};
use crate::assess::trials::Trials;
use crate::data::split::{self, Fold};
use crate::data::stage::Recipe;
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::Learner;
use crate::watch::Watch;

/// How rows are divided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Splits {
    /// So many folds, classes in the same proportions in each; so many times over, each time another division. The only row
    /// of a class is always trained on and never tested.
    Folds {
        /// Folds.
        folds: usize,
        /// Times.
        times: usize,
    },
    /// Folds that keep groups (writers, patients) whole.
    Grouped {
        /// Folds.
        folds: usize,
        /// The group of each row.
        groups: Vec<u32>,
    },
    /// Every row by itself.
    LeaveOneOut,
    /// Divisions that somebody else made.
    Given(Vec<Fold>),
}

impl Splits {
    /// The folds of some data.
    pub fn folds(&self, data: &Dataset, seed: u64) -> Result<Vec<Fold>> {
        let n = data.len();
        match self {
            Splits::Folds { folds, times: 1 } => kfold(data, *folds, seed),
            Splits::Folds { times: 0, .. } => Err(Error::param("repeats", 0, "at least 1")),
            Splits::Folds { folds, times } => split::repeated(*times, seed, |seed| kfold(data, *folds, seed)),
            Splits::Grouped { groups, .. } if groups.len() != n => {
                Err(Error::shape("groups", groups.len(), format!("{n}, one per row")))
            }
            Splits::Grouped { folds, groups } => split::grouped_kfold(groups, *folds, seed),
            Splits::LeaveOneOut => Ok(split::leave_one_out(n)?.collect()),
            Splits::Given(folds) => {
                let outside = |f: &Fold| f.train.iter().chain(&f.test).any(|&i| i >= n);
                if folds.iter().any(|f| f.train.is_empty() || f.test.is_empty() || outside(f)) {
                    return Err(Error::shape(
                        "folds",
                        "a split with an empty part or with rows that do not exist",
                        format!("parts of {n} rows"),
                    ));
                }
                Ok(folds.clone())
            }
        }
    }

    /// What is worth saying about the folds of some data, in words: classes that they cannot judge.
    pub fn notes(&self, data: &Dataset) -> Vec<String> {
        let (Splits::Folds { .. }, Targets::Classes(labels)) = (self, &data.targets) else {
            return Vec::new();
        };
        let counts = labels.counts();
        let single: Vec<&str> = labels
            .names
            .iter()
            .zip(&counts)
            .filter(|(_, rows)| **rows == 1)
            .map(|(n, _)| n.as_str())
            .collect();
        match single[..] {
            [] => Vec::new(),
            [one] => {
                vec![format!(
                    "class {one} has one row: it is in the training part of every fold and never tested"
                )]
            }
            [first, ..] => vec![format!(
                "{} classes have one row ({first}, ..): they are in the training part of every fold and never tested",
                single.len()
            )],
        }
    }

    /// The usual choice: five folds.
    pub fn usual() -> Self {
        Splits::Folds { folds: 5, times: 1 }
    }
}

fn kfold(data: &Dataset, folds: usize, seed: u64) -> Result<Vec<Fold>> {
    match &data.targets {
        Targets::Classes(labels) => split::lenient_kfold(labels, folds, seed),
        Targets::Reals(_) | Targets::None => split::kfold(data.len(), folds, seed),
    }
}

/// What a setting reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// On each fold; NaN where a fold was not come to.
    pub folds: Vec<f64>,
    /// The mean over folds.
    pub mean: f64,
    /// The mean's standard error: what another division might change. NaN on a single fold.
    pub error: f64,
}

impl Score {
    /// From the scores of folds, those that there are.
    pub fn new(folds: Vec<f64>) -> Self {
        let there: Vec<f64> = folds.iter().copied().filter(|s| !s.is_nan()).collect();
        let m = there.len() as f64;
        let mean = there.iter().sum::<f64>() / m;
        let off: f64 = there.iter().map(|s| (s - mean).powi(2)).sum();
        Score { error: (off / (m - 1.0) / m).sqrt(), mean, folds }
    }
}

/// The metric that targets are usually judged by.
pub fn usual_metric(targets: &Targets) -> &'static Metric {
    let name = match targets {
        Targets::Reals(_) => "rmse",
        _ => "error",
    };
    metric::find(name).expect("one of the table")
}

/// Cross-validates one learner behind some stages.
///
/// ```
/// use mercer::assess::{Splits, cross_validate, metric};
/// use mercer::data::{Dataset, toy};
/// use mercer::kernel::Kernel;
/// use mercer::model::{Learner, SvcParams};
/// use mercer::{Exec, watch};
///
/// let (points, targets) = toy::banana(150, 1);
/// let data = Dataset::new(points, targets)?;
/// let learner = Learner::Svc(SvcParams { kernel: Some(Kernel::Rbf { gamma: 1.0 }), ..SvcParams::default() });
/// let folds = Splits::usual().folds(&data, 0)?;
/// let score = cross_validate(&data, &[], &learner, &folds, metric::find("error")?, Exec::one(), &mut watch::silent())?;
/// assert!(score.mean < 0.2 && score.folds.len() == 5);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn cross_validate(
    data: &Dataset,
    recipes: &[Recipe],
    learner: &Learner,
    folds: &[Fold],
    metric: &'static Metric,
    exec: Exec,
    watch: &mut Watch<'_>,
) -> Result<Score> {
    let trials = Trials::new(data, recipes, folds, metric, exec)?;
    let mut scores = vec![f64::NAN; folds.len()];
    trials.run(
        std::slice::from_ref(learner),
        &|_, _| true,
        &mut |_, fold, score| {
            scores[fold] = score;
            Ok(())
        },
        watch,
    )?;
    Ok(Score::new(scores))
}
