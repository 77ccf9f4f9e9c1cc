//! A fitted classifier: what it holds and what it answers.

use super::checkpoint::Checkpoint;
use super::machine::Margin;
use super::multiclass::{self, Sides};
use super::params::SvcParams;
use super::platt::{self, Sigmoid};
use super::reject::{Reject, Wanted};
use crate::data::{Data, Labels, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::{Expansion, Precision};
use crate::model::common::{finite_rows, outputs};
use crate::watch::Info;

/// A fitted support vector classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct SvcModel {
    /// The classes' names; classes are numbered by their place here.
    pub classes: Vec<String>,
    /// All machines at once: one output each, centres shared.
    pub expansion: Expansion,
    /// What is known of each machine, in the order of the outputs.
    pub machines: Vec<Machine>,
    /// The training rows that have a coefficient in some machine: the centres, unless the kernel is linear and they
    /// were collapsed to one a machine.
    pub support: Vec<u32>,
    /// What it was fitted with.
    pub params: SvcParams,
    /// Rows without an answer, where a rule was made for them.
    pub reject: Option<Reject>,
    /// From where to go on, where the fit was broken off or ran into its limit.
    pub checkpoint: Option<Checkpoint>,
    /// How the fit went.
    pub info: Info,
}

/// One machine of a classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Which classes it tells apart; f > 0 means the positive one.
    pub sides: Sides,
    /// Training rows it saw.
    pub rows: usize,
    /// Training rows strictly inside their box: they lie on the margin.
    pub free: Vec<u32>,
    /// Training rows on their bound: inside the margin or beyond it.
    pub bounded: Vec<u32>,
    /// The value of the quadratic form reached.
    pub objective: f64,
    /// How wide the margin is, where errors are not allowed.
    pub margin: Option<Margin>,
    /// From outputs to probabilities, where asked for.
    pub sigmoid: Option<Sigmoid>,
}

/// Probabilities of all classes at some points.
#[derive(Debug, Clone, PartialEq)]
pub struct Probabilities {
    /// n x classes, row by row; each row sums to 1.
    pub values: Vec<f64>,
    /// Rows whose likeliest class is not the one that [`SvcModel::predict`] gives: probabilities and votes come from
    /// the same outputs in different ways, and where they disagree this says so.
    pub contradict: Vec<u32>,
}

impl SvcModel {
    /// The machines' outputs, n x machines row by row.
    ///
    /// Under a precomputed kernel a point is the row of its kernel values against all training points.
    pub fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        outputs(&self.expansion, points, exec)
    }

    /// [`SvcModel::decision`] with kernel values in a float type of choice.
    pub fn decision_in(&self, points: View<'_>, precision: Precision, exec: Exec) -> Result<Vec<f64>> {
        match self.expansion.centres().view().data {
            Data::RowNumbers(_) => outputs(&self.expansion, points, exec),
            _ => finite_rows(self.expansion.evaluate_in(points, precision, exec)?, self.expansion.outputs()),
        }
    }

    /// The number of the winning class for each point.
    pub fn predict(&self, points: View<'_>, exec: Exec) -> Result<Vec<u32>> {
        Ok(self.classes_of(&self.decision(points, exec)?))
    }

    /// Winning classes as labels, with their names.
    pub fn predict_labels(&self, points: View<'_>, exec: Exec) -> Result<Labels> {
        Ok(Labels { names: self.classes.clone(), of_row: self.predict(points, exec)? })
    }

    /// Winning classes from outputs that are at hand (n x machines).
    pub fn classes_of(&self, outputs: &[f64]) -> Vec<u32> {
        let voted = self.votes();
        let scores = self.scores_of(outputs);
        scores
            .chunks(self.classes.len())
            .map(|line| multiclass::winner(line, self.params.ties, voted))
            .collect()
    }

    /// A score for each class from outputs that are at hand, n x classes: the output itself against the rest, votes and
    /// then sums of outputs for pairs.
    pub fn scores_of(&self, outputs: &[f64]) -> Vec<f64> {
        let (k, m) = (self.classes.len(), self.machines.len());
        let sides = self.sides();
        let mut scores = vec![0.0; outputs.len() / m * k];
        for (line, outputs) in scores.chunks_mut(k).zip(outputs.chunks(m)) {
            multiclass::scores(outputs, &sides, line);
        }
        scores
    }

    /// How far the winning score is above the second, point by point.
    pub fn gaps(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let scores = self.scores_of(&self.decision(points, exec)?);
        Ok(scores.chunks(self.classes.len()).map(multiclass::gap).collect())
    }

    /// Winning classes, or nothing where the reject rule says that the gap is too small.
    pub fn predict_or_reject(&self, points: View<'_>, exec: Exec) -> Result<Vec<Option<u32>>> {
        let outputs = self.decision(points, exec)?;
        let scores = self.scores_of(&outputs);
        let least = self.reject.map_or(0.0, |r| r.gap);
        let answer = |(class, line): (u32, &[f64])| (multiclass::gap(line) >= least).then_some(class);
        Ok(self.classes_of(&outputs).into_iter().zip(scores.chunks(self.classes.len())).map(answer).collect())
    }

    /// Makes the reject rule on points whose labels are known and that were best not trained on; keeps and returns it.
    pub fn set_reject(
        &mut self,
        points: View<'_>,
        labels: &Labels,
        wanted: Wanted,
        exec: Exec,
    ) -> Result<Reject> {
        if labels.len() != points.n {
            return Err(Error::shape("labels", labels.len(), format!("{}, one a point", points.n)));
        }
        let outputs = self.decision(points, exec)?;
        let scores = self.scores_of(&outputs);
        let gaps: Vec<f64> = scores.chunks(self.classes.len()).map(multiclass::gap).collect();
        let right: Vec<bool> = self
            .classes_of(&outputs)
            .iter()
            .enumerate()
            .map(|(i, &c)| self.classes[c as usize] == labels.name_of(i))
            .collect();
        let rule = Reject::fit(&gaps, &right, wanted)?;
        self.reject = Some(rule);
        Ok(rule)
    }

    /// Probabilities of all classes. Fails unless the model was fitted with `probability`.
    pub fn probabilities(&self, points: View<'_>, exec: Exec) -> Result<Probabilities> {
        self.probabilities_of(&self.decision(points, exec)?)
    }

    /// Probabilities from outputs that are at hand (n x machines).
    pub fn probabilities_of(&self, outputs: &[f64]) -> Result<Probabilities> {
        let sigmoids: Option<Vec<Sigmoid>> = self.machines.iter().map(|m| m.sigmoid).collect();
        let Some(sigmoids) = sigmoids else {
            return Err(Error::Unsupported("this model was fitted without probabilities".into()));
        };
        let (k, m) = (self.classes.len(), self.machines.len());
        let mut values = vec![0.0; outputs.len() / m * k];
        let mut pairwise = vec![0.0; k * k];
        for (line, outputs) in values.chunks_mut(k).zip(outputs.chunks(m)) {
            for ((machine, sigmoid), &f) in self.machines.iter().zip(&sigmoids).zip(outputs) {
                let p = sigmoid.at(f);
                let positive = machine.sides.positive as usize;
                match machine.sides.negative {
                    None => line[positive] = p,
                    Some(negative) => {
                        // Never quite sure of a pair: coupling divides by these.
                        let p = p.clamp(1e-7, 1.0 - 1e-7);
                        pairwise[positive * k + negative as usize] = p;
                        pairwise[negative as usize * k + positive] = 1.0 - p;
                    }
                }
            }
            if self.machines[0].sides.negative.is_none() {
                platt::normalise(line);
            } else if k == 2 {
                line.copy_from_slice(&[pairwise[1], pairwise[2]]);
            } else {
                platt::couple(&pairwise, line);
            }
        }
        let likeliest =
            |line: &[f64]| (1..k).fold(0, |best, c| if line[c] > line[best] { c } else { best }) as u32;
        let contradict = (0u32..)
            .zip(self.classes_of(outputs))
            .zip(values.chunks(k))
            .filter(|((_, class), line)| likeliest(line) != *class)
            .map(|((row, _), _)| row)
            .collect();
        Ok(Probabilities { values, contradict })
    }

    /// Whether classes win by votes of pairs.
    fn votes(&self) -> bool {
        self.machines.len() > 1 && self.machines[0].sides.negative.is_some()
    }

    fn sides(&self) -> Vec<Sides> {
        self.machines.iter().map(|m| m.sides).collect()
    }
}
