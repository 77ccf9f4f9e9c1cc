//! What most learners end in: an expansion, and how its outputs are read.
//!
//! Fisher discriminants, perceptrons, linear-programming and Bayes point machines, RBF networks, boosted hypotheses, Parzen
//! windows, neighbours and clusters differ in how they find coefficients, not in what they are afterwards. They share this
//! one model, so that saving, predicting, explaining, compressing and drawing are written once for all of them. How outputs
//! become answers is the model's [`Readout`].

mod hypotheses;
mod persist;
mod readout;

pub use readout::{Nearest, Normals, Readout, Votes};

use crate::data::{Labels, Targets, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::{self, Rows};
use crate::kernel::Kernel;
use crate::model::common::finite_rows;
use crate::model::svc::Probabilities;
use crate::model::{Learner, Sample, Task};
use crate::watch::Info;

/// What a model's answers are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Classes of these names: one output for two of them (positive: the second), else one a class, the largest wins.
    Classes(Vec<String>),
    /// Numbers.
    Numbers,
    /// Points like the data (positive) or not.
    Novelty,
    /// The number of the nearest of so many clusters, by the largest output.
    Clusters(usize),
}

/// A function that a learner has found, and how it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionModel {
    /// The function; what each output is says the [`Readout`].
    pub expansion: Expansion,
    /// How outputs become decision values.
    pub readout: Readout,
    /// What the decision values are of.
    pub role: Role,
    /// The learner with its parameters.
    pub learner: Learner,
    /// How decision values are distributed on both sides, one an output; empty where that was not looked at.
    pub normals: Vec<Normals>,
    /// The training rows that are centres, in their order; empty where centres are no rows.
    pub support: Vec<u32>,
    /// What only this learner knows, by names of [`FunctionModel::FACTS`].
    pub facts: Vec<(&'static str, f64)>,
    /// How the fit went.
    pub info: Info,
}

impl FunctionModel {
    /// What learners tell about themselves.
    pub const FACTS: &'static [&'static str] = &[
        "leave_one_out_error",
        "ratio",
        "hypotheses",
        "least_margin",
        "mean_margin",
        "lp_margin",
        "updates",
        "bounces",
        "version_space",
        "gamma",
        "inertia",
        "starts",
        "threshold",
    ];

    /// A plain function: each output of the expansion is a decision value.
    pub(super) fn plain(expansion: Expansion, role: Role, learner: Learner, info: Info) -> Self {
        FunctionModel {
            expansion,
            readout: Readout::Plain,
            role,
            learner,
            normals: Vec::new(),
            support: Vec::new(),
            facts: Vec::new(),
            info,
        }
    }

    /// Tells a fact.
    pub(super) fn tell(&mut self, name: &'static str, value: f64) {
        let place = |name: &str| Self::FACTS.iter().position(|f| *f == name);
        debug_assert!(place(name).is_some(), "{name} is not in the table");
        if value.is_finite() {
            self.facts.push((name, value));
            self.facts.sort_by_key(|f| place(f.0));
        }
    }

    /// k, the number of decision values a point.
    pub fn outputs(&self) -> usize {
        match &self.readout {
            Readout::Plain => self.expansion.outputs(),
            Readout::Votes(votes) => votes.outputs(),
            Readout::Nearest(nearest) => nearest.outputs(),
        }
    }

    /// Decision values at new points, n x k row by row.
    pub fn decision(&self, points: View<'_>, exec: Exec) -> Result<Vec<f64>> {
        self.readout.values(&self.expansion, points, exec)
    }

    /// Classes, numbers or clusters for new points.
    pub fn predict(&self, points: View<'_>, exec: Exec) -> Result<Targets> {
        let values = self.decision(points, exec)?;
        Ok(match self.task() {
            Task::Regression => Targets::Reals(values),
            _ => Targets::Classes(Labels { names: self.names(), of_row: largest(&values, self.outputs()) }),
        })
    }

    /// What it is for.
    pub fn task(&self) -> Task {
        match self.role {
            Role::Classes(_) => Task::Classification,
            Role::Numbers => Task::Regression,
            Role::Novelty => Task::Novelty,
            Role::Clusters(_) => Task::Clustering,
        }
    }

    /// The names of classes or clusters, in order; empty for numbers.
    pub fn names(&self) -> Vec<String> {
        match &self.role {
            Role::Classes(names) => names.clone(),
            Role::Numbers => Vec::new(),
            Role::Novelty => vec!["-1".into(), "1".into()],
            Role::Clusters(k) => (1..=*k).map(|c| c.to_string()).collect(),
        }
    }

    /// `|Phi(x) - mean_c|^2` for each point and cluster. Fails unless this is a clustering.
    ///
    /// ```
    /// use mercer::data::{Points, Targets};
    /// use mercer::kernel::Kernel;
    /// use mercer::model::{ClusterParams, Sample};
    /// use mercer::{Exec, watch};
    ///
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
            return Err(Error::Unsupported("only clusters have distances".into()));
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

    /// Probabilities of the classes, from the normal distributions on both sides of each output. Fails where there are none.
    pub fn probabilities(&self, points: View<'_>, exec: Exec) -> Result<Probabilities> {
        let Role::Classes(names) = &self.role else {
            return Err(Error::Unsupported("only classifiers have probabilities".into()));
        };
        if self.normals.is_empty() {
            return Err(Error::Unsupported(format!("a {} has no probabilities", self.learner.entry().name)));
        }
        let values = self.decision(points, exec)?;
        let mut out = Vec::with_capacity(points.n * names.len());
        for line in values.chunks(self.outputs()) {
            match (line, self.normals.as_slice()) {
                ([f], [one]) => out.extend([1.0 - one.positive(*f), one.positive(*f)]),
                (line, all) => {
                    let raw: Vec<f64> =
                        line.iter().zip(all).map(|(f, n)| n.positive(*f).max(1e-12)).collect();
                    let sum: f64 = raw.iter().sum();
                    out.extend(raw.into_iter().map(|p| p / sum));
                }
            }
        }
        let likely = out
            .chunks(names.len())
            .map(|p| if p.len() == 2 { u32::from(p[1] > 0.5) } else { largest(p, p.len())[0] });
        let answers = largest(&values, self.outputs());
        let contradict =
            (0u32..).zip(likely.zip(answers)).filter(|(_, (p, a))| p != a).map(|(i, _)| i).collect();
        Ok(Probabilities { values: out, contradict })
    }
}

/// Runs the examples of the document for users.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/learners.md")]
struct Document;

/// The class of each row of decision values: the sign of a single one, else the largest.
pub(super) fn largest(values: &[f64], k: usize) -> Vec<u32> {
    let one = |line: &[f64]| match line {
        [one] => u32::from(*one > 0.0),
        more => {
            let first = (0, f64::NEG_INFINITY);
            (0..).zip(more).fold(first, |best, (o, &v)| if v > best.1 { (o, v) } else { best }).0
        }
    };
    values.chunks(k.max(1)).map(one).collect()
}

/// The rows a learner takes part in: those of positive weight, with their weights and classes.
#[derive(Debug)]
pub(super) struct Classified {
    /// Rows of the sample.
    pub(super) rows: Vec<u32>,
    /// Their weights.
    pub(super) weight: Vec<f64>,
    /// Their classes.
    pub(super) class: Vec<u32>,
    /// The classes' names.
    pub(super) names: Vec<String>,
}

impl Classified {
    /// The sample's classes, of which there must be two at least with a row each.
    pub(super) fn of(sample: &Sample<'_>) -> Result<Self> {
        let labels = sample.targets.classes()?;
        let (rows, weight) = weighted_rows(sample)?;
        let class: Vec<u32> = rows.iter().map(|&i| labels.of_row[i as usize]).collect();
        let names = labels.names.clone();
        let mut seen = vec![false; names.len()];
        class.iter().for_each(|&c| seen[c as usize] = true);
        let there = seen.iter().filter(|s| **s).count();
        if there < 2 {
            return Err(Error::shape("classes", there, "at least 2 to tell apart"));
        }
        if let Some(c) = seen.iter().position(|s| !s) {
            return Err(Error::shape(format!("rows of class {}", names[c]), 0, "at least 1"));
        }
        Ok(Classified { rows, weight, class, names })
    }

    /// Codes of 1 and -1: one column for two classes (1: the second), else one a class.
    pub(super) fn codes(&self) -> Vec<Vec<f64>> {
        let code = |c: u32| self.class.iter().map(|&k| if k == c { 1.0 } else { -1.0 }).collect();
        match self.names.len() {
            2 => vec![code(1)],
            k => (0..k as u32).map(code).collect(),
        }
    }

    /// What answers are.
    pub(super) fn role(&self) -> Role {
        Role::Classes(self.names.clone())
    }
}

/// The rows of positive weight, and their weights.
pub(super) fn weighted_rows(sample: &Sample<'_>) -> Result<(Vec<u32>, Vec<f64>)> {
    let rows: Vec<u32> =
        (0..sample.points.len() as u32).filter(|&i| sample.weight(i as usize) > 0.0).collect();
    if rows.is_empty() {
        return Err(Error::param("row weights", 0, "above 0 for at least one row"));
    }
    let weight = rows.iter().map(|&i| sample.weight(i as usize)).collect();
    Ok((rows, weight))
}

/// The kernel matrix on some rows of a sample, in f64. Fails if it would not fit into the memory budget, twice:
/// learners work on it beside a copy or two of their own.
pub(super) fn matrix(kernel: &Kernel, sample: &Sample<'_>, rows: &[u32], exec: Exec) -> Result<Vec<f64>> {
    let n = rows.len();
    room(n, 2, exec.budget())?;
    let Some(gram) = sample.gram else {
        let points = sample.points.gather(&places(rows));
        return Ok(gram::square::<f64>(kernel, points.view(), exec)?.to_vec());
    };
    let part = gram.subset(rows);
    let part: &dyn Rows = part.as_ref();
    let mut out = vec![0.0; n * n];
    for (i, line) in out.chunks_mut(n.max(1)).enumerate() {
        part.apply(&[i as u32], &[1.0], line, exec);
    }
    Ok(out)
}

/// Fails if so many n x n matrices of f64 need more than these bytes.
pub(super) fn room(n: usize, copies: usize, bytes: usize) -> Result<()> {
    let most = ((bytes / (8 * copies)) as f64).sqrt() as usize;
    if n <= most {
        return Ok(());
    }
    let allowed = format!("at most {most} in this memory; learners svc and kfd-greedy take any number");
    Err(Error::param("training rows", n, allowed))
}

/// Row numbers as places.
pub(super) fn places(rows: &[u32]) -> Vec<usize> {
    rows.iter().map(|&i| i as usize).collect()
}

/// An expansion of k outputs on some rows of a sample, and the rows that stayed: those with a coefficient that is not zero.
pub(super) fn expansion(
    kernel: Kernel,
    sample: &Sample<'_>,
    rows: &[u32],
    coef: Vec<f64>,
    offset: Vec<f64>,
    exec: Exec,
) -> Result<(Expansion, Vec<u32>)> {
    let k = offset.len();
    let support = rows
        .iter()
        .zip(coef.chunks(k.max(1)))
        .filter(|(_, c)| c.iter().any(|c| *c != 0.0))
        .map(|(&i, _)| i)
        .collect();
    let whole = Expansion::new(kernel, sample.points.gather(&places(rows)), coef, offset)?;
    Ok((crate::model::svc::collapsed(whole, exec)?, support))
}
