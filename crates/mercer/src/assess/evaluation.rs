//! Evaluation of a model on labelled data.

use serde::Serialize;

use crate::assess::curve::{Curve, pr_curve, roc_curve};
use crate::assess::metric;
use crate::assess::{ClassScores, per_class};
use crate::data::{Dataset, Labels, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Model, Query, Task};

/// The evaluation of a model on data.
///
/// ```
/// use mercer::prelude::*;
/// let (points, targets) = mercer::data::toy::banana(80, 1);
/// let svc = SvcParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
/// let (model, data) = (Model::from(svc), Dataset::new(points, targets)?);
/// let Evaluation::Classification(found) = Evaluation::new(&model, &data, Exec::one())? else { panic!("a classifier") };
/// assert!(found.rows == 80 && found.error < 0.2);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Evaluation {
    /// A classifier.
    Classification(ClassEvaluation),
    /// A regression.
    Regression(RealEvaluation),
    /// A novelty detector.
    Novelty(NoveltyEvaluation),
    /// Clusters.
    Clustering(ClusterEvaluation),
}

/// The evaluation of a classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassEvaluation {
    /// Rows.
    pub rows: usize,
    /// The classes' names: the model's, then those that only the data has.
    pub classes: Vec<String>,
    /// Error rate.
    pub error: f64,
    /// 95 % confidence interval of the error.
    pub interval: [f64; 2],
    /// Mean of the classes' error rates.
    pub balanced_error: f64,
    /// The error of always predicting the most frequent class.
    pub baseline: f64,
    /// Confusion matrix: true class (rows) by predicted class (columns).
    pub confusion: Vec<Vec<usize>>,
    /// Precision, recall and F1 of each class.
    pub scores: Vec<ClassScores>,
    /// ROC curve of each class against the others.
    pub roc: Vec<Curve>,
    /// Precision-recall curve of each class against the others.
    pub pr: Vec<Curve>,
    /// Log loss: mean of -log of the true class's probability, where the model has probabilities.
    pub log_loss: Option<f64>,
    /// Misclassified rows, numbered from 0.
    pub wrong: Vec<usize>,
}

/// The evaluation of a regression.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RealEvaluation {
    /// Rows.
    pub rows: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// R^2, the share of the variance that is explained.
    pub r2: f64,
    /// The root mean squared error of always predicting the mean.
    pub baseline: f64,
    /// Mean of target minus prediction.
    pub bias: f64,
    /// Largest absolute error, and its row, numbered from 0.
    pub worst: (f64, usize),
    /// Target and prediction of each row.
    pub pairs: Vec<[f64; 2]>,
}

/// The evaluation of a novelty detector.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoveltyEvaluation {
    /// Rows.
    pub rows: usize,
    /// Number of rows predicted as outliers.
    pub outside: usize,
    /// The data's classes, with their number of rows and of outliers.
    pub classes: Vec<(String, usize, usize)>,
    /// ROC curve of `1` (inlier) against `-1`, where those are the classes.
    pub roc: Option<Curve>,
}

/// The evaluation of clusters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterEvaluation {
    /// Rows.
    pub rows: usize,
    /// Number of rows per cluster.
    pub sizes: Vec<usize>,
    /// Mean squared distance to the nearest mean, in feature space.
    pub distance: f64,
    /// Where the data has classes: the share of rows that belong to the most frequent class of their cluster.
    pub purity: Option<f64>,
}

impl Evaluation {
    /// Compares a model's predictions with the data's targets. Classes are matched by name.
    ///
    /// ```
    /// use mercer::assess::Evaluation;
    /// use mercer::data::{Dataset, toy};
    /// use mercer::model::{Plan, Wishes};
    /// use mercer::{Exec, watch};
    ///
    /// let banana = |seed| { let (x, y) = toy::banana(80, seed); Dataset::new(x, y) };
    /// let (train, test) = (banana(1)?, banana(2)?);
    /// let model = Plan::new(&train, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
    /// let Evaluation::Classification(found) = Evaluation::new(&model, &test, Exec::one())? else { panic!() };
    /// assert!(found.error < found.baseline);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn new(model: &Model, data: &Dataset, exec: Exec) -> Result<Self> {
        if data.is_empty() {
            return Err(Error::shape("rows to evaluate on", 0, "at least 1"));
        }
        match model.task() {
            Task::Classification => classification(model, data, exec).map(Evaluation::Classification),
            Task::Regression => regression(model, data, exec).map(Evaluation::Regression),
            Task::Novelty => novelty(model, data, exec).map(Evaluation::Novelty),
            Task::Clustering => clusters(model, data, exec).map(Evaluation::Clustering),
            Task::Features => {
                Err(Error::Unsupported("feature extractors make no predictions to evaluate".into()))
            }
        }
    }
}

fn classification(model: &Model, data: &Dataset, exec: Exec) -> Result<ClassEvaluation> {
    let labels = data.targets.classes()?;
    let mut classes = model.classes();
    let known = classes.len();
    let want = in_order(labels, &mut classes);
    if want.iter().all(|&c| c as usize >= known) {
        let got = labels.names.join(", ");
        return Err(Error::shape(
            "classes of the data",
            got,
            format!("some of {}", classes[..known].join(", ")),
        ));
    }
    let k = classes.len();
    let probabilities = model.machine.has_probabilities() && k == known;
    let query = Query { scores: true, probabilities, ..Query::default() };
    let found = model.predict_data(data, &query, exec)?;
    let got = &found.targets.classes()?.of_row;
    let scores = found.scores.unwrap_or_default();
    let confusion = metric::confusion(got, &want, k);
    let curves = |draw: fn(&[f64], &[bool]) -> Curve| -> Vec<Curve> {
        let of = |c: usize| {
            let score: Vec<f64> = scores.chunks(known).map(|line| line[c]).collect();
            let positive: Vec<bool> = want.iter().map(|&w| w as usize == c).collect();
            draw(&score, &positive)
        };
        (0..known).map(of).collect()
    };
    let log_loss = found.probabilities.map(|p| metric::log_loss(&p.values, k, &want));
    let wrong: Vec<usize> = (0..want.len()).filter(|&i| want[i] != got[i]).collect();
    let most = (0..k).map(|c| want.iter().filter(|&&w| w as usize == c).count()).max().unwrap_or(0);
    Ok(ClassEvaluation {
        rows: data.len(),
        error: metric::error_rate(got, &want),
        interval: interval(wrong.len(), data.len()),
        balanced_error: metric::balanced_error(got, &want),
        baseline: 1.0 - most as f64 / data.len() as f64,
        scores: per_class(&confusion, k),
        confusion: confusion.chunks(k).map(<[usize]>::to_vec).collect(),
        roc: curves(roc_curve),
        pr: curves(pr_curve),
        log_loss,
        wrong,
        classes,
    })
}

/// The labels as indices into a list of names, to which missing names are added.
fn in_order(labels: &Labels, classes: &mut Vec<String>) -> Vec<u32> {
    let place: Vec<u32> = labels
        .names
        .iter()
        .map(|name| {
            let at = classes.iter().position(|c| c == name).unwrap_or_else(|| {
                classes.push(name.clone());
                classes.len() - 1
            });
            at as u32
        })
        .collect();
    labels.of_row.iter().map(|&c| place[c as usize]).collect()
}

fn regression(model: &Model, data: &Dataset, exec: Exec) -> Result<RealEvaluation> {
    let want = data.targets.reals()?;
    let found = model.predict_data(data, &Query::default(), exec)?;
    let got = found.targets.reals()?;
    let n = want.len() as f64;
    let size = |i: usize| (want[i] - got[i]).abs();
    let worst = (0..want.len()).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(0);
    Ok(RealEvaluation {
        rows: want.len(),
        rmse: metric::rmse(got, want),
        mae: metric::mae(got, want),
        r2: metric::r2(got, want),
        baseline: metric::baseline(want),
        bias: want.iter().zip(got).map(|(w, g)| w - g).sum::<f64>() / n,
        worst: (size(worst), worst),
        pairs: want.iter().zip(got).map(|(&w, &g)| [w, g]).collect(),
    })
}

fn novelty(model: &Model, data: &Dataset, exec: Exec) -> Result<NoveltyEvaluation> {
    let query = Query { decision: true, ..Query::NOTHING };
    let decision = model.predict_data(data, &query, exec)?.decision.unwrap_or_default();
    let outside = |i: usize| decision[i] <= 0.0;
    let mut classes = Vec::new();
    let mut roc = None;
    if let Targets::Classes(labels) = &data.targets {
        classes = labels.names.iter().map(|name| (name.clone(), 0, 0)).collect();
        for (i, &c) in labels.of_row.iter().enumerate() {
            classes[c as usize].1 += 1;
            classes[c as usize].2 += usize::from(outside(i));
        }
        if labels.names == ["-1", "1"] {
            let positive: Vec<bool> = labels.of_row.iter().map(|&c| c == 1).collect();
            roc = Some(roc_curve(&decision, &positive));
        }
    }
    let outside = (0..decision.len()).filter(|&i| outside(i)).count();
    Ok(NoveltyEvaluation { rows: data.len(), outside, classes, roc })
}

fn clusters(model: &Model, data: &Dataset, exec: Exec) -> Result<ClusterEvaluation> {
    let points = data.points.view();
    let far = model.cluster_distances(points, exec)?;
    let k = model.outputs();
    let mut sizes = vec![0; k];
    let mut total = 0.0;
    let nearest: Vec<usize> = far
        .chunks(k)
        .map(|line| {
            let c = (0..k).fold(0, |best, c| if line[c] < line[best] { c } else { best });
            sizes[c] += 1;
            total += line[c];
            c
        })
        .collect();
    let purity = if let Targets::Classes(labels) = &data.targets {
        let mut table = vec![0usize; k * labels.names.len()];
        nearest
            .iter()
            .zip(&labels.of_row)
            .for_each(|(c, &l)| table[c * labels.names.len() + l as usize] += 1);
        let most: usize =
            table.chunks(labels.names.len()).map(|line| line.iter().max().copied().unwrap_or(0)).sum();
        Some(most as f64 / data.len() as f64)
    } else {
        None
    };
    Ok(ClusterEvaluation { rows: data.len(), sizes, distance: total / data.len() as f64, purity })
}

/// The 95 % confidence interval of a rate from `hits` of `n` (Wilson 1927).
///
/// ```
/// let [low, high] = mercer::assess::interval(5, 100);
/// assert!((low - 0.0215).abs() < 1e-4 && (high - 0.1118).abs() < 1e-4);
/// ```
pub fn interval(hits: usize, n: usize) -> [f64; 2] {
    if n == 0 {
        return [0.0, 1.0];
    }
    let (n, p, z) = (n as f64, hits as f64 / n as f64, 1.959_963_984_540_054_f64);
    let middle = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    [((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Points;
    use crate::kernel::Kernel;
    use crate::model::{Plan, Wishes};
    use crate::watch::silent;

    fn set(values: &[f64], targets: Targets) -> Dataset {
        Dataset::new(Points::dense(values.to_vec(), 1).expect("one column"), targets).expect("as many")
    }

    fn fitted(data: &Dataset, kernel: &str) -> Model {
        let wishes = Wishes { kernel: Some(kernel.into()), ..Wishes::default() };
        Plan::new(data, &wishes, Exec::one()).expect("a plan").fit(Exec::one(), &mut silent()).expect("a fit")
    }

    #[test]
    fn classes_are_matched_by_name_and_new_ones_are_wrong() {
        let names = Targets::Classes(Labels::new(["a", "a", "b", "b", "c", "c"]));
        let model = fitted(&set(&[0.0, 0.1, 1.0, 1.1, 2.0, 2.1], names), "rbf(gamma=2)");
        let test = set(&[2.2, 1.05, 0.0, 0.0], Targets::Classes(Labels::new(["c", "c", "z", "a"])));
        let Evaluation::Classification(found) = Evaluation::new(&model, &test, Exec::one()).expect("labels")
        else {
            panic!("a classifier")
        };
        assert_eq!(found.classes, ["a", "b", "c", "z"]);
        assert_eq!((found.error, found.wrong.as_slice()), (0.5, &[1, 2][..]));
        assert_eq!(found.confusion[2], [0, 1, 1, 0]);
        assert_eq!((found.roc.len(), found.scores.len()), (3, 4));
        assert!(found.interval[0] < 0.5 && found.interval[1] > 0.5);
        let other = set(&[0.0], Targets::Classes(Labels::new(["q"])));
        let refused =
            Evaluation::new(&model, &other, Exec::one()).expect_err("nothing in common").to_string();
        assert_eq!(refused, "classes of the data: got q, expected some of a, b, c");
    }

    #[test]
    fn regressions_and_novelties() {
        let line = set(&[0.0, 1.0, 2.0, 3.0], Targets::Reals(vec![1.0, 3.0, 5.0, 7.0]));
        let model = fitted(&line, "linear");
        let Evaluation::Regression(found) = Evaluation::new(&model, &line, Exec::one()).expect("numbers")
        else {
            panic!("a regression")
        };
        assert!(found.r2 > 0.9 && found.rmse < found.baseline && found.worst.0 >= found.mae);
        let model = fitted(&set(&[0.0, 0.1, 0.2, 0.3, 0.4], Targets::None), "rbf(gamma=1)");
        assert!(matches!(model.machine.expansion.kernel(), Kernel::Rbf { .. }));
        let mixed = set(&[0.2, 9.0, 8.0], Targets::Classes(Labels::new(["1", "-1", "-1"])));
        let Evaluation::Novelty(found) = Evaluation::new(&model, &mixed, Exec::one()).expect("labels") else {
            panic!("a detector")
        };
        assert_eq!((found.outside, found.roc.expect("both classes").area), (2, 1.0));
    }
}
