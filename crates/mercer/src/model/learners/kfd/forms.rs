//! The four forms of the discriminant, which differ in how coefficients are found.

use super::{COPIES, KfdForm, KfdParams, KfdPenalty, KfdThreshold};
use crate::data::split::shuffle;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram;
use crate::model::Learner;
use crate::model::classified::Classified;
use crate::model::learners::given::Given;
use crate::model::learners::programs::Programs;
use crate::model::{Machine, Role};
use crate::solve::fisher::{Fisher, FisherProblem, Penalty, fisher, least_squares};
use crate::solve::greedy::{GreedyProblem, greedy};
use crate::solve::sparse::Cost;
use crate::watch::{Info, Step, Stop, Watch};

/// Coefficients on some rows, before they become an expansion.
pub(super) struct Found {
    /// Indices among the rows in use.
    centres: Vec<u32>,
    /// centres x k.
    coef: Vec<f64>,
    offset: Vec<f64>,
    /// Leave-one-out outputs, n x k, if requested.
    pub(super) left_out: Option<Vec<f64>>,
    ratio: Option<f64>,
    info: Info,
}

impl Found {
    /// Coefficients of all n rows, offsets and how it went.
    fn of(n: usize, (coef, offset, info): (Vec<f64>, Vec<f64>, Info)) -> Self {
        Found { centres: (0..n as u32).collect(), coef, offset, left_out: None, ratio: None, info }
    }
}

impl KfdParams {
    pub(super) fn model(&self, given: &Given<'_>, rows: &[u32], role: Role, found: Found) -> Result<Machine> {
        let centres: Vec<u32> = found.centres.iter().map(|&c| rows[c as usize]).collect();
        let learner = Learner::Kfd(self.clone());
        let mut model = given.machine(&centres, found.coef, found.offset, role, learner, found.info)?;
        if let Some(ratio) = found.ratio {
            model.tell("ratio", ratio);
        }
        Ok(model)
    }

    pub(super) fn problem<'a>(
        &self,
        values: &'a [f64],
        gram: &'a [f64],
        (class, classes): (&'a [u32], usize),
        weight: &'a [f64],
    ) -> FisherProblem<'a> {
        FisherProblem {
            values,
            columns: values.len() / weight.len(),
            class,
            classes,
            weight,
            lambda: self.lambda,
            penalty: match self.penalty {
                KfdPenalty::Identity => Penalty::Identity,
                KfdPenalty::Kernel => Penalty::Matrix(gram),
            },
        }
    }

    pub(super) fn classes(
        &self,
        given: &Given<'_>,
        classes: &Classified,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let n = classes.rows.len();
        match self.form {
            KfdForm::Closed => {
                if watch(&Step::new("kernel values", 0, Some(2))).is_break() {
                    return Err(Error::Cancelled);
                }
                let k = given.matrix(&classes.rows, COPIES)?;
                if watch(&Step::new("discriminant", 1, Some(2))).is_break() {
                    return Err(Error::Cancelled);
                }
                let info = Info { iterations: 1, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
                self.discriminant(
                    &self.problem(&k, &k, (&classes.class, classes.names.len()), &classes.weight),
                    (0..n as u32).collect(),
                    info,
                    given.exec,
                )
            }
            KfdForm::Greedy => {
                let codes = classes.codes();
                let target: Vec<f64> = (0..n).flat_map(|i| codes.iter().map(move |y| y[i])).collect();
                let part = (classes.rows.as_slice(), classes.weight.as_slice());
                let (chosen, info) = self.chosen(given, part, &target, codes.len(), watch)?;
                let (values, gram) = columns(given, &classes.rows, &chosen)?;
                self.discriminant(
                    &self.problem(&values, &gram, (&classes.class, classes.names.len()), &classes.weight),
                    chosen,
                    info,
                    given.exec,
                )
            }
            KfdForm::Sparse | KfdForm::Linear => {
                let codes = classes.codes();
                let side = |y: &Vec<f64>| y.iter().map(|&y| u32::from(y > 0.0)).collect();
                let groups: Vec<Vec<u32>> = codes.iter().map(side).collect();
                let programs = self.programs((&classes.rows, &classes.weight), &codes, &groups);
                programs.solve(given, watch).map(|found| Found::of(n, found))
            }
        }
    }

    /// The discriminant on given columns.
    fn discriminant(
        &self,
        problem: &FisherProblem<'_>,
        centres: Vec<u32>,
        mut info: Info,
        exec: Exec,
    ) -> Result<Found> {
        let found: Fisher = fisher(problem, exec)?;
        if found.ridge > 0.0 {
            info.note(format!("the spread within classes is singular: {:e} was added to it", found.ridge));
        }
        let ratio = found.directions()?.ratios.first().copied();
        let two = problem.classes == 2;
        let (coef, offset) =
            if two { found.binary().map(|(coef, offset)| (coef, vec![offset]))? } else { found.scores() };
        let wanted = self.leave_one_out || self.threshold == KfdThreshold::Probability;
        let left_out = match wanted.then(|| found.left_out(problem, exec)).transpose()? {
            // In the unit of the output, in which the class means are 2 apart.
            Some(s) if two => Some(s.chunks(2).map(|s| 2.0 / found.apart() * (s[1] - s[0])).collect()),
            other => other,
        };
        Ok(Found { centres, coef, offset, left_out, ratio, info })
    }

    /// Centres selected by greedy least squares, as indices among the rows in use.
    fn chosen(
        &self,
        given: &Given<'_>,
        (rows, weight): (&[u32], &[f64]),
        target: &[f64],
        outputs: usize,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<u32>, Info)> {
        let n = rows.len();
        let room = given.exec.budget() / (4 * n.max(1));
        let pool = (self.candidates as usize).min(n).min(room.max(1));
        let mut candidates: Vec<u32> = match pool {
            all if all == n => (0..n as u32).collect(),
            some => shuffle(n, self.seed)[..some].iter().map(|&i| i as u32).collect(),
        };
        candidates.sort_unstable();
        given.on_rows(|all| {
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
            let mut found = greedy(&problem, given.exec, watch)?;
            // A fit cancelled before the first centre has no discriminant at all.
            if found.info.stop == Stop::Cancelled && found.chosen.is_empty() {
                return Err(Error::Cancelled);
            }
            if pool < n {
                found.info.note(format!("centres were chosen among {pool} rows drawn from {n}"));
            }
            Ok((found.chosen, found.info))
        })
    }

    /// Programs with absolute coefficients: for classes one for two of them, else one per class.
    fn programs<'a>(
        &self,
        (rows, weight): (&'a [u32], &'a [f64]),
        targets: &'a [Vec<f64>],
        groups: &'a [Vec<u32>],
    ) -> Programs<'a> {
        let cost = if self.form == KfdForm::Linear { Cost::Absolute } else { Cost::Squared };
        Programs { rows, weight, targets, groups, cost, c: self.lambda, tol: self.tol }
    }

    pub(super) fn numbers(
        &self,
        given: &Given<'_>,
        (rows, weight): (&[u32], &[f64]),
        y: &[f64],
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let n = rows.len();
        let (values, gram, centres, info) = match self.form {
            KfdForm::Closed => {
                let k = given.matrix(rows, COPIES)?;
                let info = Info { iterations: 1, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
                (k.clone(), k, (0..n as u32).collect(), info)
            }
            KfdForm::Greedy => {
                let (chosen, info) = self.chosen(given, (rows, weight), y, 1, watch)?;
                let (values, gram) = columns(given, rows, &chosen)?;
                (values, gram, chosen, info)
            }
            _ => {
                let targets = [y.to_vec()];
                let programs = self.programs((rows, weight), &targets, &[]);
                return programs.solve(given, watch).map(|found| Found::of(n, found));
            }
        };
        let problem = self.problem(&values, &gram, (&[], 1), weight);
        let (coef, offset) = least_squares(&problem, y, given.exec)?;
        Ok(Found { centres, coef, offset: vec![offset], left_out: None, ratio: None, info })
    }
}

/// Kernel values of all rows in use against some of them, and of those against each other.
fn columns(given: &Given<'_>, rows: &[u32], chosen: &[u32]) -> Result<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (rows.len(), chosen.len());
    let values = match given.sample.gram {
        None => {
            let centres: Vec<u32> = chosen.iter().map(|&c| rows[c as usize]).collect();
            let (all, centres) = (given.points(rows), given.points(&centres));
            gram::cross::<f64>(&given.kernel, all.view(), centres.view(), given.exec)?.to_vec()
        }
        Some(gram) => {
            let part = gram.subset(rows);
            let mut out = vec![0.0; n * m];
            let mut column = vec![0.0; n];
            for (j, &c) in chosen.iter().enumerate() {
                column.fill(0.0);
                part.apply(&[c], &[1.0], &mut column, given.exec);
                (0..n).for_each(|i| out[i * m + j] = column[i]);
            }
            out
        }
    };
    let gram = chosen.iter().flat_map(|&c| values[c as usize * m..(c as usize + 1) * m].to_vec()).collect();
    Ok((values, gram))
}
