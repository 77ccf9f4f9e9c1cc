//! Predictions of a machine: the only place that depends on [`Readout`] and [`Role`].
//!
//! ```text
//! rows --expansion--> outputs --readout--> decision values --role--> classes, numbers, clusters
//!                                               |--calibration--> probabilities
//! ```
//!
//! Everything is derived from decision values, so a caller who has them ([`Machine::decision`]) evaluates the
//! expansion once.

use rayon::prelude::*;

use super::multiclass::{self, Sides};
use super::reject::{Reject, Wanted};
use super::{Calibration, Machine, Nearest, Readout, Role, Task, sigmoid};
use crate::data::{Data, Labels, Targets, View};
use crate::error::{Error, Result};
use crate::exec::{Exec, FEW};
use crate::expansion::Precision;
use crate::gram::{self, is_precomputed};
use crate::model::common::{finite_rows, not_finite, outputs, picked};
use crate::model::svc::{Multi, Ties};
use crate::num::{Mat, product};

/// Number of points whose kernel values against all centres are in memory at once.
const CHUNK: usize = 1024;

/// Probabilities of all classes at some points.
#[derive(Debug, Clone, PartialEq)]
pub struct Probabilities {
    /// n x classes, row by row; each row sums to 1.
    pub values: Vec<f64>,
    /// Rows whose most probable class differs from [`Machine::classes_of`]: probabilities and votes are different
    /// functions of the decision values.
    pub contradict: Vec<u32>,
}

impl Machine {
    /// k, the number of decision values per point.
    pub fn outputs(&self) -> usize {
        match &self.readout {
            Readout::Plain | Readout::Pairs(_) | Readout::Ball(_) => self.expansion.outputs(),
            Readout::Votes(votes) => votes.values,
            Readout::Nearest(nearest) => nearest.outputs(),
        }
    }

    /// What it is for.
    pub fn task(&self) -> Task {
        match self.role {
            Role::Classes(_) => Task::Classification,
            Role::Numbers => Task::Regression,
            Role::Novelty => Task::Novelty,
            Role::Clusters(_) => Task::Clustering,
            Role::Features(_) => Task::Features,
        }
    }

    /// The names of classes or clusters, in order; for novelty as in LIBSVM and scikit-learn, `-1` for an outlier and
    /// `1` for an inlier. Empty for numbers and features.
    pub fn classes(&self) -> Vec<String> {
        match &self.role {
            Role::Classes(names) => names.clone(),
            Role::Novelty => vec!["-1".into(), "1".into()],
            Role::Clusters(k) => (1..=*k).map(|c| c.to_string()).collect(),
            Role::Numbers | Role::Features(_) => Vec::new(),
        }
    }

    /// The classes that each decision value separates; empty without classes.
    pub fn sides(&self) -> Vec<Sides> {
        match (&self.role, &self.readout) {
            (Role::Classes(names), Readout::Pairs(_)) => multiclass::machines(names.len(), Multi::OneVsOne),
            (Role::Classes(names), _) => multiclass::machines(names.len(), Multi::OneVsRest),
            _ => Vec::new(),
        }
    }

    /// The number of outputs of the expansion that are decision values of machines: none for votes of hypotheses and
    /// for neighbours, whose outputs mean nothing alone.
    pub fn machines(&self) -> usize {
        match self.readout {
            Readout::Plain | Readout::Pairs(_) | Readout::Ball(_) => self.expansion.outputs(),
            Readout::Votes(_) | Readout::Nearest(_) => 0,
        }
    }

    /// What a centre with these coefficients says: the output on which it weighs most, the classes which that output
    /// separates, and the class that it speaks for (none against the rest).
    pub fn vote_of(&self, coef: &[f64]) -> (usize, Option<Sides>, Option<u32>) {
        let output = (0..coef.len()).fold(0, |a, b| if coef[b].abs() > coef[a].abs() { b } else { a });
        let value = coef.get(output).copied().unwrap_or(0.0);
        let side = self.sides().get(output).filter(|_| self.machines() > 0 && value != 0.0).copied();
        let class = side.and_then(|s| if value > 0.0 { Some(s.positive) } else { s.negative });
        (output, side, class)
    }

    /// The name of a decision value: `b against a`, `b against the rest`, `cluster 2`, or empty.
    pub fn output_name(&self, output: usize) -> String {
        let classes = self.classes();
        let name = |k: u32| classes[k as usize].as_str();
        match (self.sides().get(output), &self.role) {
            (Some(sides), _) => {
                format!("{} against {}", name(sides.positive), sides.negative.map_or("the rest", name))
            }
            (None, Role::Clusters(_)) => format!("cluster {}", classes[output]),
            (None, _) => String::new(),
        }
    }

    /// Decision values at points, n x k row by row.
    ///
    /// Under a precomputed kernel a point is the row of its kernel values against all training points. Kernel values
    /// are f64; f32 for features where that is accurate enough.
    pub fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let precision = match &self.role {
            Role::Features(_) => self.components()?.precision(),
            _ => Precision::F64,
        };
        self.decision_in(points, precision, exec)
    }

    /// [`Machine::decision`] with kernel values in a float type of choice.
    pub fn decision_in(&self, points: View<'_>, precision: Precision, exec: Exec) -> Result<Vec<f64>> {
        let f = &self.expansion;
        let plain = || match f.centres().view().data {
            Data::RowNumbers(_) => outputs(f, points, exec),
            _ => finite_rows(f.evaluate_in(points, precision, exec)?, f.outputs()),
        };
        match (&self.readout, &self.role) {
            (_, Role::Features(_)) => self.components()?.transform_in(points, precision, exec),
            (Readout::Plain | Readout::Pairs(_), _) => plain(),
            (Readout::Votes(votes), _) => {
                let t = f.outputs();
                let signs: Vec<f64> =
                    plain()?.into_iter().map(|v| if v > 0.0 { 1.0 } else { -1.0 }).collect();
                let mut out = vec![0.0; points.n * votes.values];
                if points.n <= FEW {
                    // Row by row, as for their kernel values.
                    for (out, signs) in out.chunks_mut(votes.values.max(1)).zip(signs.chunks(t)) {
                        for (sign, weight) in signs.iter().zip(votes.weight.chunks(votes.values.max(1))) {
                            out.iter_mut().zip(weight).for_each(|(out, weight)| *out += sign * weight);
                        }
                    }
                } else {
                    let (a, b) = (Mat::new(&signs, points.n, t), Mat::new(&votes.weight, t, votes.values));
                    product::nn(&mut out, a, b, exec.threads());
                }
                finite_rows(out, votes.values)
            }
            (Readout::Nearest(nearest), _) => self.by_neighbours(nearest, points, exec),
            (Readout::Ball(_), _) if is_precomputed(f.kernel()) => {
                let why = "a sphere under a precomputed kernel requires k(x, x) besides the kernel values: use decision_values";
                Err(Error::Unsupported(why.into()))
            }
            (Readout::Ball(_), _) => {
                let mut own = vec![0.0; points.n];
                f.kernel().diag(points, &mut own);
                self.inside(&plain()?, &own)
            }
        }
    }

    /// [`Machine::decision`] from kernel values: `rows` against all training points, and `own` with k(x, x), which
    /// only spheres use.
    pub fn decision_values(&self, rows: View<'_>, own: &[f64], exec: Exec) -> Result<Vec<f64>> {
        if own.len() != rows.n {
            return Err(Error::shape("values of k(x, x)", own.len(), rows.n));
        }
        match self.readout {
            Readout::Ball(_) => self.inside(&outputs(&self.expansion, rows, exec)?, own),
            _ => self.decision(rows, exec),
        }
    }

    /// `R^2 - |Phi(x) - c|^2` from the outputs `c . Phi(x)` and `k(x, x)`.
    fn inside(&self, outputs: &[f64], own: &[f64]) -> Result<Vec<f64>> {
        let Readout::Ball(ball) = self.readout else { return Ok(outputs.to_vec()) };
        let distance2 = |(f, k): (&f64, &f64)| k - 2.0 * f + ball.norm2;
        // `f64::max` would turn NaN into 0.
        let clamped = |far: f64| if far < 0.0 { 0.0 } else { far };
        finite_rows(outputs.iter().zip(own).map(|pair| ball.radius2 - clamped(distance2(pair))).collect(), 1)
    }

    fn by_neighbours(&self, nearest: &Nearest, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        let (f, m) = (&self.expansion, self.expansion.len());
        let mut out = Vec::with_capacity(points.n * nearest.outputs());
        for start in (0..points.n).step_by(CHUNK) {
            let some = points.slice(start..points.n.min(start + CHUNK));
            let values = match f.centres().view().data {
                Data::RowNumbers(centres) => picked(some, centres)?,
                _ => gram::cross::<f64>(f.kernel(), some, f.centres().view(), exec)?.to_vec(),
            };
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                return Err(not_finite(values[at], start + at / m.max(1)));
            }
            values.chunks(m.max(1)).for_each(|line| out.extend(nearest.read(line)));
        }
        Ok(out)
    }

    /// Classes, numbers, novelty or clusters for new points. Fails for features.
    pub fn predict(&self, points: View<'_>, exec: Exec) -> Result<Targets> {
        self.predicted(&self.decision(points, exec)?, exec)
    }

    /// [`Machine::predict`] from given decision values.
    pub fn predicted(&self, values: &[f64], exec: Exec) -> Result<Targets> {
        match &self.role {
            Role::Numbers => Ok(Targets::Reals(values.to_vec())),
            Role::Features(_) => Err(Error::Unsupported(
                "kernel principal components predict nothing: their outputs are features".into(),
            )),
            _ => {
                let of_row = self.classes_by(values, exec);
                Ok(Targets::Classes(Labels { names: self.classes(), of_row }))
            }
        }
    }

    /// The predicted classes of new points as labels. Fails where there are no classes.
    pub fn labels(&self, points: View<'_>, exec: Exec) -> Result<Labels> {
        match self.predict(points, exec)? {
            Targets::Classes(labels) => Ok(labels),
            _ => Err(self.no_classes()),
        }
    }

    /// The predicted class of each row of decision values.
    pub fn classes_of(&self, values: &[f64]) -> Vec<u32> {
        self.classes_by(values, Exec::one())
    }

    /// [`Machine::classes_of`] on several threads.
    fn classes_by(&self, values: &[f64], exec: Exec) -> Vec<u32> {
        // The sign of a single value separates two classes; a single cluster contains every row.
        if let Role::Clusters(1) = self.role {
            return vec![0; values.len()];
        }
        let k = self.outputs();
        let Readout::Pairs(ties) = self.readout else { return largest(values, k) };
        let classes = self.classes().len();
        let winners = |lines: &[f64]| {
            let (mut line, mut sums) = (vec![0.0; classes], vec![0.0; classes]);
            let winner = |values: &[f64]| {
                multiclass::scores(values, true, &mut line, &mut sums);
                multiclass::winner(&line, ties, true)
            };
            lines.chunks(k).map(winner).collect::<Vec<u32>>()
        };
        let piece = multiclass::lines_a_piece(k) * k;
        if exec.threads() > 1 && values.len() > piece {
            values.par_chunks(piece).flat_map_iter(winners).collect()
        } else {
            winners(values)
        }
    }

    /// A score for each class from decision values, n x classes: the decision value itself for one-vs-rest; votes,
    /// with ties broken by sums of decision values, for one-vs-one. Fails without classes.
    pub fn scores_of(&self, values: &[f64]) -> Result<Vec<f64>> {
        match &self.role {
            Role::Numbers | Role::Features(_) => Err(self.no_classes()),
            Role::Classes(_) | Role::Novelty | Role::Clusters(_) => Ok(self.scored(values)),
        }
    }

    fn scored(&self, values: &[f64]) -> Vec<f64> {
        let (k, m) = (self.classes().len(), self.outputs());
        match self.readout {
            Readout::Pairs(_) => {
                let (mut scores, mut sums) = (vec![0.0; values.len() / m * k], vec![0.0; k]);
                for (line, values) in scores.chunks_mut(k).zip(values.chunks(m)) {
                    multiclass::scores(values, true, line, &mut sums);
                }
                scores
            }
            // A single value is positive for the second class, as in all two-class machines.
            _ if m == 1 && k == 2 => values.iter().flat_map(|f| [-f, *f]).collect(),
            _ => values.to_vec(),
        }
    }

    fn no_classes(&self) -> Error {
        let what = if self.task() == Task::Features { "components have" } else { "a regression has" };
        Error::Unsupported(format!("{what} no classes"))
    }

    /// The difference between the two largest scores of each row of decision values. Fails without classes.
    pub fn gaps_of(&self, values: &[f64]) -> Result<Vec<f64>> {
        let k = self.classes().len();
        Ok(self.scores_of(values)?.chunks(k).map(multiclass::gap).collect())
    }

    /// Predicted classes, or `None` for rejected rows. Fails without classes.
    pub fn unrejected(&self, values: &[f64]) -> Result<Vec<Option<u32>>> {
        let kept = |gap: f64| !self.reject.is_some_and(|rule| rule.rejects(gap));
        let pairs = self.classes_of(values).into_iter().zip(self.gaps_of(values)?);
        Ok(pairs.map(|(class, gap)| kept(gap).then_some(class)).collect())
    }

    /// A reject rule from decision values of labelled rows, preferably not trained on. Without labels only a share of
    /// rows to reject can be given.
    pub fn reject_rule(&self, values: &[f64], labels: Option<&Labels>, wanted: Wanted) -> Result<Reject> {
        let Role::Classes(names) = &self.role else {
            return Err(Error::Unsupported(format!("a model of kind {} has no reject rule", self.kind())));
        };
        let gaps = self.gaps_of(values)?;
        let right: Vec<bool> = match (labels, wanted) {
            (Some(labels), _) if labels.len() != gaps.len() => {
                return Err(Error::shape("labels", labels.len(), format!("{}, one per point", gaps.len())));
            }
            (Some(labels), _) => {
                let named = |(i, &c): (usize, &u32)| names[c as usize] == labels.name_of(i);
                self.classes_of(values).iter().enumerate().map(named).collect()
            }
            (None, Wanted::Rejected(_)) => vec![true; gaps.len()],
            (None, Wanted::Error(_)) => {
                return Err(Error::shape("labels to fit the reject rule on", "none", "one per row"));
            }
        };
        Reject::fit(&gaps, &right, wanted)
    }

    /// Whether it gives probabilities.
    pub fn has_probabilities(&self) -> bool {
        !matches!(self.calibration, Calibration::None)
    }

    /// Probabilities of all classes at points. Fails if the machine was fitted without.
    pub fn probabilities(&self, points: View<'_>, exec: Exec) -> Result<Probabilities> {
        self.probabilities_of(&self.decision(points, exec)?)
    }

    /// Probabilities from given decision values.
    pub fn probabilities_of(&self, values: &[f64]) -> Result<Probabilities> {
        let Role::Classes(names) = &self.role else {
            return Err(Error::Unsupported(format!("a model of kind {} has no probabilities", self.kind())));
        };
        let (k, m) = (names.len(), self.outputs());
        let mut out = vec![0.0; values.len() / m * k];
        match &self.calibration {
            Calibration::None => {
                return Err(match self.svc() {
                    Some(_) => Error::NoProbabilities,
                    None => {
                        Error::Unsupported(format!("a model of kind {} has no probabilities", self.kind()))
                    }
                });
            }
            Calibration::Sigmoids(sigmoids) => {
                let sides = self.sides();
                let mut pairwise = vec![0.0; k * k];
                for (line, values) in out.chunks_mut(k).zip(values.chunks(m)) {
                    for ((sides, sigmoid), &f) in sides.iter().zip(sigmoids).zip(values) {
                        let (p, positive) = (sigmoid.at(f), sides.positive as usize);
                        match sides.negative {
                            None => line[positive] = p,
                            Some(negative) => {
                                // Kept away from 0 and 1, because coupling divides by them.
                                let p = p.clamp(1e-7, 1.0 - 1e-7);
                                pairwise[positive * k + negative as usize] = p;
                                pairwise[negative as usize * k + positive] = 1.0 - p;
                            }
                        }
                    }
                    if k == 2 {
                        line.copy_from_slice(&[pairwise[1], pairwise[2]]);
                    } else if sides[0].negative.is_none() {
                        sigmoid::normalise(line);
                    } else {
                        sigmoid::couple(&pairwise, line);
                    }
                }
            }
            Calibration::Softmax => {
                for (line, values) in out.chunks_mut(k).zip(values.chunks(m)) {
                    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    line.iter_mut().zip(values).for_each(|(p, f)| *p = (f - top).exp());
                    sigmoid::normalise(line);
                }
            }
            Calibration::Normals(normals) => {
                for (line, values) in out.chunks_mut(k).zip(values.chunks(m)) {
                    if let ([f], [one]) = (values, normals.as_slice()) {
                        line.copy_from_slice(&[1.0 - one.positive(*f), one.positive(*f)]);
                        continue;
                    }
                    for ((p, f), n) in line.iter_mut().zip(values).zip(normals) {
                        *p = n.positive(*f).max(1e-12);
                    }
                    let sum: f64 = line.iter().sum();
                    line.iter_mut().for_each(|p| *p /= sum);
                }
            }
        }
        let likeliest =
            |line: &[f64]| (1..k).fold(0, |best, c| if line[c] > line[best] { c } else { best }) as u32;
        let told = self.classes_of(values);
        let contradict = (0u32..)
            .zip(told.iter().zip(out.chunks(k)))
            .filter(|(_, (class, line))| likeliest(line) != **class);
        let contradict = contradict.map(|(row, _)| row).collect();
        Ok(Probabilities { values: out, contradict })
    }

    /// `|Phi(x) - mean_c|^2` for each point and cluster. Fails unless this is a clustering.
    ///
    /// ```
    /// use mercer::data::{Points, Targets};
    /// use mercer::kernel::Kernel;
    /// use mercer::model::{ClusterParams, Sample};
    /// use mercer::{Exec, watch};
    /// let points = Points::dense(vec![0.0, 2.0, 10.0, 12.0], 1)?;
    /// let params = ClusterParams { kernel: Some(Kernel::Linear), clusters: 2, ..ClusterParams::default() };
    /// let model = params.fit(Sample::new(&points, &Targets::None), Exec::one(), &mut watch::silent())?;
    /// let mut far = model.cluster_distances(Points::dense(vec![1.0], 1)?.view(), Exec::one())?;
    /// far.sort_by(f64::total_cmp);
    /// assert!(far[0].abs() < 1e-9 && (far[1] - 100.0).abs() < 1e-9);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn cluster_distances(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        if !matches!(self.role, Role::Clusters(_)) {
            return Err(Error::Unsupported(format!("a model of kind {} has no clusters", self.kind())));
        }
        let k = self.outputs();
        let mut own = vec![0.0; points.n];
        self.expansion.kernel().diag(points, &mut own);
        let values = self.decision(points, exec)?;
        let far = values.chunks(k).zip(own).flat_map(|(line, own)| line.iter().map(move |f| own - 2.0 * f));
        let mut far = finite_rows(far.collect(), k)?;
        far.iter_mut().for_each(|v| *v = v.max(0.0));
        Ok(far)
    }

    /// How ties between votes are broken; the first class for machines without votes.
    pub fn ties(&self) -> Ties {
        if let Readout::Pairs(ties) = self.readout { ties } else { Ties::First }
    }
}

/// The class of each row of decision values: by the sign of a single one, else the largest.
pub(crate) fn largest(values: &[f64], k: usize) -> Vec<u32> {
    let one = |line: &[f64]| match line {
        [one] => u32::from(*one > 0.0),
        more => {
            let first = (0, f64::NEG_INFINITY);
            (0..).zip(more).fold(first, |best, (o, &v)| if v > best.1 { (o, v) } else { best }).0
        }
    };
    values.chunks(k.max(1)).map(one).collect()
}
