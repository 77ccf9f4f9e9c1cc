//! Machines for one fold and many values of C on one matrix, for cross-validation and searches.
//!
//! The matrix is that of all rows, including the fold's test part, and is shared by all folds and all values of C. A
//! machine at C is warm-started from its solution at the previous C' < C: coefficients times C / C' are feasible, and
//! those at their bound stay there (DeCoste and Wagstaff 2000). Machines with nearly all rows use the whole matrix
//! with the other rows fixed at 0, whose outputs then cost nothing extra; smaller ones use a gathered part of it.
//! Cost per setting: a solve from a good start, and (support vectors) x (test rows) sums.

use super::fit::occurring;
use super::machine::{self, Solved, Task};
use super::params::{Kind, Slack, SvcParams};
use crate::data::Labels;
use crate::data::split::Fold;
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::gram::{Matrix, Rows};
use crate::model::Sides;
use crate::model::machine::multiclass;
use crate::num::Buffer;
use crate::watch::{Stop, Watch};

/// A machine with at least this share of all rows uses the whole matrix.
const NEARLY_ALL: f64 = 0.6;

/// Predictions of a classifier trained on a fold's training part, for the test part.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The predicted class of each test row, as an index of the labels' names.
    pub answers: Vec<u32>,
    /// A score for each test row and class of the labels' names, larger for likelier classes; minus infinity for
    /// classes missing in the training part.
    pub scores: Vec<f64>,
    /// Support vectors, over all machines.
    pub support: usize,
    /// Iterations of the solver, over all machines.
    pub iterations: u64,
}

impl SvcParams {
    /// Trains on a fold's training part and predicts its test part, once for each cost (or each nu, for nu machines).
    /// `gram` holds the kernel values between all rows, including the test part; the kernel in the parameters is
    /// ignored.
    ///
    /// ```
    /// use mercer::data::{split, toy};
    /// use mercer::gram::Matrix;
    /// use mercer::model::SvcParams;
    /// use mercer::{Exec, kernel::Kernel, watch};
    ///
    /// let (points, targets) = toy::banana(100, 3);
    /// let labels = targets.classes()?;
    /// let gram = Matrix::of(&Kernel::Rbf { gamma: 1.0 }, points.view(), Exec::one())?;
    /// let fold = &split::stratified_kfold(labels, 5, 0)?[0];
    /// let (params, costs) = (SvcParams::default(), [0.1, 1.0, 10.0]);
    /// let told = params.left_out(&gram, labels, None, fold, &costs, Exec::one(), &mut watch::silent())?;
    /// assert_eq!((told.len(), told[0].answers.len()), (3, 20));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    #[expect(clippy::too_many_arguments, reason = "what a fold is judged on, and where that runs")]
    pub fn left_out(
        &self,
        gram: &Matrix,
        labels: &Labels,
        weights: Option<&[f64]>,
        fold: &Fold,
        costs: &[f64],
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<LeftOut>> {
        self.check()?;
        if !self.virtual_vectors.is_empty() || self.probability {
            let why = "virtual vectors and probabilities need whole fits, fold by fold";
            return Err(Error::Unsupported(why.into()));
        }
        if labels.len() != gram.len() {
            return Err(Error::shape("labels", labels.len(), format!("{}, one per row", gram.len())));
        }
        let seen = occurring(&labels.gather(&fold.train));
        if seen.names.len() < 2 {
            return Err(Error::shape("classes among a fold's training rows", seen.names.len(), "at least 2"));
        }
        let by_class = self.weights_of(&seen)?;
        let mut weight = vec![0.0; labels.len()];
        let mut class = vec![u32::MAX; labels.len()];
        for (&i, &c) in fold.train.iter().zip(&seen.of_row) {
            weight[i] = weights.map_or(1.0, |w| w[i]) * by_class[c as usize];
            class[i] = c;
        }
        let sides = multiclass::machines(seen.names.len(), self.multi);
        let (t, m) = (fold.test.len(), sides.len());
        let mut outputs = vec![vec![0.0; t * m]; costs.len()];
        let mut spent = vec![(0, 0); costs.len()];
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        let mut buffer = Buffer::zeroed(0);
        for (o, &one) in sides.iter().enumerate() {
            let place =
                Place { gram, fold, class: &class, weight: &weight, names: &seen.names, side: one, exec };
            buffer = place.train(self, costs, &order, buffer, watch, |which, solved, on_test| {
                outputs[which].iter_mut().skip(o).step_by(m).zip(on_test).for_each(|(out, f)| *out = f);
                spent[which].0 += solved.beta.iter().filter(|b| **b != 0.0).count();
                spent[which].1 += solved.info.iterations;
            })?;
        }
        let names: Vec<usize> = (seen.names.iter())
            .map(|name| labels.names.iter().position(|other| other == name).expect("one of the names"))
            .collect();
        let voted = m > 1 && sides[0].negative.is_some();
        let told = outputs.iter().zip(spent).map(|(outputs, (support, iterations))| {
            let (k, own) = (labels.names.len(), names.len());
            let (mut answers, mut scores) = (Vec::with_capacity(t), vec![f64::NEG_INFINITY; t * k]);
            let (mut line, mut sums) = (vec![0.0; own], vec![0.0; own]);
            for (outputs, scores) in outputs.chunks(m).zip(scores.chunks_mut(k)) {
                multiclass::scores(outputs, voted, &mut line, &mut sums);
                answers.push(names[multiclass::winner(&line, self.ties, voted) as usize] as u32);
                names.iter().zip(&line).for_each(|(&at, s)| scores[at] = *s);
            }
            LeftOut { answers, scores, support, iterations }
        });
        Ok(told.collect())
    }
}

/// One machine of a fold.
struct Place<'a> {
    gram: &'a Matrix,
    fold: &'a Fold,
    /// The class of each training row; `u32::MAX` for other rows.
    class: &'a [u32],
    weight: &'a [f64],
    names: &'a [String],
    side: Sides,
    exec: Exec,
}

impl Place<'_> {
    /// Trains for all values of C in ascending order, and returns each solution with the outputs on the test rows.
    fn train(
        &self,
        params: &SvcParams,
        costs: &[f64],
        order: &[usize],
        buffer: Buffer<f32>,
        watch: &mut Watch<'_>,
        mut found: impl FnMut(usize, &Solved, Vec<f64>),
    ) -> Result<Buffer<f32>> {
        let Sides { positive, negative } = self.side;
        let own = |&i: &usize| negative.is_none_or(|n| self.class[i] == n || self.class[i] == positive);
        let mut index: Vec<usize> = self.fold.train.iter().copied().filter(own).collect();
        let whole = index.len() as f64 >= NEARLY_ALL * self.gram.len() as f64;
        let (mut part, mut buffer) = (None, Some(buffer));
        if whole {
            index = (0..self.gram.len()).collect();
        } else {
            part = buffer.take().map(|b| self.gram.part(&index, b));
        }
        let rows: &dyn Rows = part.as_ref().unwrap_or(self.gram);
        // Rows of other classes are fixed at 0, as those of the test part.
        let weight: Vec<f64> = index.iter().map(|&i| if own(&i) { self.weight[i] } else { 0.0 }).collect();
        let is_positive: Vec<bool> = index.iter().map(|&i| self.class[i] == positive).collect();
        let names =
            [negative.map_or("the rest", |c| &self.names[c as usize]), &self.names[positive as usize]];
        let task = Task { rows, vectors: None, positive: &is_positive, weight: &weight, names };
        let mut last: Option<(f64, Vec<f64>)> = None;
        for &which in order {
            let cost = costs[which];
            let params = match params.kind {
                Kind::Nu => SvcParams { nu: cost, ..params.clone() },
                _ => SvcParams { c: cost, ..params.clone() },
            };
            params.check()?;
            let start = last.take().map(|(before, beta)| warm(&params, &task, beta, cost / before));
            let solver = params.solver(self.exec.with_threads(1));
            let solved = machine::train(&params, &task, start, &solver, watch, None)?;
            if solved.info.stop == Stop::Cancelled {
                return Err(Error::Cancelled);
            }
            found(which, &solved, self.on_test(&index, whole, &solved));
            if params.kind == Kind::C {
                last = Some((cost, solved.beta));
            }
        }
        Ok(part.map_or_else(|| Buffer::zeroed(0), Matrix::into_buffer))
    }

    fn on_test(&self, index: &[usize], whole: bool, solved: &Solved) -> Vec<f64> {
        if whole {
            return self.fold.test.iter().map(|&i| solved.output[i]).collect();
        }
        let mut out = vec![solved.offset; self.fold.test.len()];
        for (&i, b) in index.iter().zip(&solved.beta).filter(|(_, b)| **b != 0.0) {
            let (row, b) = (self.gram.row(i), b * solved.scale);
            out.iter_mut().zip(&self.fold.test).for_each(|(f, &t)| *f += b * f64::from(row[t]));
        }
        out
    }
}

/// A start for a C that is `times` the previous one.
fn warm(params: &SvcParams, task: &Task<'_>, mut beta: Vec<f64>, times: f64) -> Vec<f64> {
    if params.slack == Slack::Squared {
        return beta;
    }
    for (i, b) in beta.iter_mut().enumerate() {
        let most = task.bound(params, i);
        // Rounding must not leave the box.
        *b = (*b * times).clamp(-most, most);
    }
    beta
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Targets, split, toy};
    use crate::kernel::Kernel;
    use crate::model::Sample;
    use crate::model::svc::Multi;
    use crate::watch::silent;

    /// Each fold and cost beside a fit on the training part alone.
    fn beside_whole_fits(points: &crate::data::Points, targets: &Targets, params: &SvcParams, costs: &[f64]) {
        let labels = targets.classes().expect("classes");
        let kernel = Kernel::Rbf { gamma: 0.7 };
        let gram = Matrix::of(&kernel, points.view(), Exec::one()).expect("numbers");
        let params = SvcParams { tol: 1e-6, ..params.clone() };
        for fold in &split::stratified_kfold(labels, 4, 9).expect("enough rows") {
            let told = params
                .left_out(&gram, labels, None, fold, costs, Exec::one(), &mut silent())
                .expect("trained");
            for (told, &c) in told.iter().zip(costs) {
                let mut one = SvcParams { kernel: Some(kernel.clone()), ..params.clone() };
                match one.kind {
                    Kind::Nu => one.nu = c,
                    _ => one.c = c,
                }
                let (train, y) = (points.gather(&fold.train), labels.gather(&fold.train));
                let y = Targets::Classes(y);
                let model = one.fit(Sample::new(&train, &y), Exec::one(), &mut silent()).expect("fits");
                let test = points.gather(&fold.test);
                let outputs = model.decision(test.view(), Exec::one()).expect("numbers");
                let scores = model.scores_of(&outputs).expect("classes");
                for (got, want) in told.scores.iter().zip(&scores) {
                    assert!((got - want).abs() < 2e-4, "{got} {want} at {c}");
                }
                assert_eq!(told.answers, model.classes_of(&outputs), "{c}");
            }
        }
    }

    #[test]
    fn a_fold_answers_as_a_fit_on_its_training_part_does() {
        let (points, targets) = toy::banana(90, 5);
        beside_whole_fits(&points, &targets, &SvcParams::default(), &[10.0, 0.1, 1.0]);
        let nu = SvcParams { kind: Kind::Nu, ..SvcParams::default() };
        beside_whole_fits(&points, &targets, &nu, &[0.3, 0.5]);
        let squared = SvcParams { slack: Slack::Squared, ..SvcParams::default() };
        beside_whole_fits(&points, &targets, &squared, &[1.0, 5.0]);
    }

    #[test]
    fn several_classes_too() {
        let (points, _) = toy::banana(120, 6);
        let label = |i: usize| ["a", "b", "c"][(i * 7 % 11) % 3];
        let targets = Targets::Classes(Labels::new((0..120).map(label)));
        for multi in [Multi::OneVsOne, Multi::OneVsRest] {
            let params = SvcParams { multi, ..SvcParams::default() };
            beside_whole_fits(&points, &targets, &params, &[0.5, 2.0]);
        }
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let (points, targets) = toy::banana(20, 5);
        let labels = targets.classes().expect("classes");
        let gram = Matrix::of(&Kernel::Linear, points.view(), Exec::one()).expect("numbers");
        let one: Vec<usize> = (0..20).filter(|&i| labels.of_row[i] == 0).collect();
        let fold = Fold { train: one, test: vec![0] };
        let params = SvcParams::default();
        assert!(params.left_out(&gram, labels, None, &fold, &[1.0], Exec::one(), &mut silent()).is_err());
        let fold = &split::stratified_kfold(labels, 2, 0).expect("enough")[0];
        assert!(params.left_out(&gram, labels, None, fold, &[-1.0], Exec::one(), &mut silent()).is_err());
    }
}
