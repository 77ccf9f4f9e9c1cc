//! The four forms of a discriminant: how coefficients are found.

use super::{KfdForm, KfdParams, KfdPenalty, Threshold};
use crate::data::View;
use crate::data::split::shuffle;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram;
use crate::kernel::Kernel;
use crate::model::classified::{self, Classified, places};
use crate::model::common::on_rows;
use crate::model::learners::programs::Programs;
use crate::model::{Learner, Sample};
use crate::model::{Machine, Role};
use crate::solve::fisher::{Fisher, FisherProblem, Penalty, fisher, least_squares};
use crate::solve::greedy::{GreedyProblem, greedy};
use crate::solve::sparse::Cost;
use crate::watch::{Info, Step, Stop, Watch};

/// Coefficients on some rows, before they are an expansion.
pub(super) struct Found {
    /// Places among the rows that take part.
    centres: Vec<u32>,
    /// centres x k.
    coef: Vec<f64>,
    offset: Vec<f64>,
    /// What the discriminant of all others says, n x k, where it was asked.
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
    pub(super) fn model(
        &self,
        kernel: Kernel,
        sample: &Sample<'_>,
        rows: &[u32],
        role: Role,
        found: Found,
        exec: Exec,
    ) -> Result<Machine> {
        let centres: Vec<u32> = found.centres.iter().map(|&c| rows[c as usize]).collect();
        let (expansion, support) =
            classified::expansion(kernel, sample, &centres, found.coef, found.offset, exec)?;
        let mut model = Machine::new(expansion, role, Learner::Kfd(self.clone()), found.info);
        model.support = support;
        if let Some(ratio) = found.ratio {
            model.tell("ratio", ratio);
        }
        Ok(model)
    }

    /// The kernel matrix, if there is room for it and what is made of it.
    pub(super) fn whole(kernel: &Kernel, sample: &Sample<'_>, rows: &[u32], exec: Exec) -> Result<Vec<f64>> {
        classified::room(rows.len(), 4, exec.budget())?;
        classified::matrix(kernel, sample, rows, exec)
    }

    pub(super) fn problem<'a>(
        &self,
        values: &'a [f64],
        gram: &'a [f64],
        classes: &'a Classified,
    ) -> FisherProblem<'a> {
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

    pub(super) fn classes(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        classes: &Classified,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let n = classes.rows.len();
        match self.form {
            KfdForm::Closed => {
                if watch(&Step::new("kernel values", 0, Some(2))).is_break() {
                    return Err(Error::Cancelled);
                }
                let k = Self::whole(kernel, sample, &classes.rows, exec)?;
                if watch(&Step::new("discriminant", 1, Some(2))).is_break() {
                    return Err(Error::Cancelled);
                }
                let info = Info { iterations: 1, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
                self.discriminant(&self.problem(&k, &k, classes), (0..n as u32).collect(), info, exec)
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
                    exec,
                    watch,
                )?;
                let (values, gram) = columns(kernel, sample, &classes.rows, &chosen, exec)?;
                self.discriminant(&self.problem(&values, &gram, classes), chosen, info, exec)
            }
            KfdForm::Sparse | KfdForm::Linear => {
                let codes = classes.codes();
                let side = |y: &Vec<f64>| y.iter().map(|&y| u32::from(y > 0.0)).collect();
                let groups: Vec<Vec<u32>> = codes.iter().map(side).collect();
                let programs = self.programs((&classes.rows, &classes.weight), &codes, &groups);
                programs.solve(kernel, sample, exec, watch).map(|found| Found::of(n, found))
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
        let wanted = self.leave_one_out || self.threshold == Threshold::Probability;
        let left_out = match wanted.then(|| found.left_out(problem, exec)).transpose()? {
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
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Vec<u32>, Info)> {
        let n = rows.len();
        let room = exec.budget() / (4 * n.max(1));
        let pool = (self.candidates as usize).min(n).min(room.max(1));
        let mut candidates: Vec<u32> = match pool {
            all if all == n => (0..n as u32).collect(),
            some => shuffle(n, self.seed)[..some].iter().map(|&i| i as u32).collect(),
        };
        candidates.sort_unstable();
        on_rows(kernel, sample, exec, |all| {
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
            let mut found = greedy(&problem, exec, watch)?;
            // A discriminant needs a column; one that was cancelled before the first is not a bad discriminant but none.
            if found.info.stop == Stop::Cancelled && found.chosen.is_empty() {
                return Err(Error::Cancelled);
            }
            if pool < n {
                found.info.note(format!("centres were chosen among {pool} rows drawn from {n}"));
            }
            Ok((found.chosen, found.info))
        })
    }

    /// Programs with absolute coefficients: for classes one for two of them, else one a class.
    fn programs<'a>(
        &self,
        (rows, weight): (&'a [u32], &'a [f64]),
        targets: &'a [Vec<f64>],
        groups: &'a [Vec<u32>],
    ) -> Programs<'a> {
        let cost = if self.form == KfdForm::Linear { Cost::Absolute } else { Cost::Squared };
        Programs { rows, weight, targets, groups, cost, c: self.lambda, tol: self.tol }
    }

    #[expect(clippy::too_many_arguments, reason = "the rows, their targets, and what solving obeys")]
    pub(super) fn numbers(
        &self,
        kernel: &Kernel,
        sample: &Sample<'_>,
        rows: &[u32],
        weight: &[f64],
        y: &[f64],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Found> {
        let n = rows.len();
        let (values, gram, centres, info) = match self.form {
            KfdForm::Closed => {
                let k = Self::whole(kernel, sample, rows, exec)?;
                let info = Info { iterations: 1, kernel_values: (n as u64).pow(2) / 2, ..Info::default() };
                (k.clone(), k, (0..n as u32).collect(), info)
            }
            KfdForm::Greedy => {
                let (chosen, info) = self.chosen(kernel, sample, rows, weight, y, 1, exec, watch)?;
                let (values, gram) = columns(kernel, sample, rows, &chosen, exec)?;
                (values, gram, chosen, info)
            }
            _ => {
                let targets = [y.to_vec()];
                let programs = self.programs((rows, weight), &targets, &[]);
                return programs.solve(kernel, sample, exec, watch).map(|found| Found::of(n, found));
            }
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
        let (coef, offset) = least_squares(&problem, y, exec)?;
        Ok(Found { centres, coef, offset: vec![offset], left_out: None, ratio: None, info })
    }
}

/// Kernel values of all rows that take part against some of them, and of those against each other.
fn columns(
    kernel: &Kernel,
    sample: &Sample<'_>,
    rows: &[u32],
    chosen: &[u32],
    exec: Exec,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (n, m) = (rows.len(), chosen.len());
    let values = match sample.gram {
        None => {
            let all = sample.points.gather(&places(rows));
            let centres: Vec<usize> = chosen.iter().map(|&c| rows[c as usize] as usize).collect();
            let centres = sample.points.gather(&centres);
            let (x, c): (View<'_>, View<'_>) = (all.view(), centres.view());
            gram::cross::<f64>(kernel, x, c, exec)?.to_vec()
        }
        Some(gram) => {
            let part = gram.subset(rows);
            let mut out = vec![0.0; n * m];
            let mut column = vec![0.0; n];
            for (j, &c) in chosen.iter().enumerate() {
                column.fill(0.0);
                part.apply(&[c], &[1.0], &mut column, exec);
                (0..n).for_each(|i| out[i * m + j] = column[i]);
            }
            out
        }
    };
    let gram = chosen.iter().flat_map(|&c| values[c as usize * m..(c as usize + 1) * m].to_vec()).collect();
    Ok((values, gram))
}
