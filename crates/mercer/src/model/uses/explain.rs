//! Explanation of a model: margins, support vectors, the most influential rows and columns, disagreements with
//! labels.
//!
//! With `w = sum_i c_i Phi(x_i)`, |w|^2 is the sum of `c_i (f(x_i) - b)` over the centres, the margin is 1 / |w|, and
//! `R^2 |w|^2`, R the radius of the smallest sphere around the points, bounds the capacity of the machine (Schoelkopf
//! 1997, section 2.6.1): of two machines with the same training error, prefer the one with the smaller capacity.
//! Cost: one evaluation at the centres and one sphere; with data, one prediction of it.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::data::stage::CodedColumn;
use crate::data::{Data, Dataset, Row, Table, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::expansion::Expansion;
use crate::gram::KernelRows;
use crate::kernel::Kernel;
use crate::model::machine::IN_FILES;
use crate::model::svc::Margin;
use crate::model::{Description, Machine, Model, Task, enclosing_radius2};
use crate::watch::Watch;

/// Maximum number of rows, columns or disagreements listed.
const NAMED: usize = 10;
/// Maximum number of values listed per row.
const VALUES: usize = 12;
/// With more points the enclosing sphere takes too long.
const SPHERE: usize = 20_000;
/// Residuals beyond this number of robust standard deviations are listed.
const FAR: f64 = 4.0;

/// The explanation of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The model's description.
    pub model: Description,
    /// Its learner: a name of [`Learner::ALL`](crate::model::Learner::ALL).
    pub learner: &'static str,
    /// How each column of a table is encoded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub coding: Vec<CodedColumn>,
    /// The main parameters, as far as they are known.
    pub settings: Vec<(&'static str, Value)>,
    /// Whether the parameters of the fit are known; files of other libraries do not contain all of them.
    pub settings_known: bool,
    /// Its machines.
    pub machines: Vec<MachineFacts>,
    /// Number of support vectors per class, if known.
    pub support_per_class: Option<Vec<usize>>,
    /// R^2 of the smallest sphere around the points in feature space.
    pub radius2: Option<f64>,
    /// Whether that sphere is around the centres only, not around data.
    pub radius_of_centres: bool,
    /// The centres with the largest coefficients.
    pub influential: Vec<Influence>,
    /// The columns with the largest weights, for linear kernels.
    pub columns: Vec<ColumnWeight>,
    /// Rows of the data with which the model disagrees most.
    pub suspects: Vec<Suspect>,
    /// Their total number; `None` without data.
    pub suspect_count: Option<usize>,
    /// Number of rows examined.
    pub rows: Option<usize>,
}

/// One machine of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineFacts {
    /// The classes it separates; empty if there is only one machine without classes.
    pub name: String,
    /// Number of its training rows, if known.
    pub rows: Option<usize>,
    /// Number of free support vectors.
    pub free: Option<usize>,
    /// Number of bounded support vectors.
    pub bounded: Option<usize>,
    /// |w|^2 in feature space.
    pub norm2: Option<f64>,
    /// Distance from the plane f = 0 to the planes f = 1 and f = -1, for classifiers: 1 / |w|.
    pub margin: Option<f64>,
    /// R^2 |w|^2.
    pub capacity: Option<f64>,
    /// The proven bounds of the margin, for hard-margin machines.
    pub certificate: Option<Margin>,
}

/// A centre and its coefficient.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Influence {
    /// Its row in the training data, from 0; if not known, its index among the centres.
    pub row: usize,
    /// Its name, where the data names rows.
    pub name: Option<String>,
    /// Its coefficient of largest absolute value.
    pub coef: f64,
    /// The machine that has that coefficient, such as `b against a`, where machines have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The class that the coefficient supports, by its sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its target, where data was given.
    pub target: Option<String>,
    /// Its first values with the names of their columns; for sparse rows the non-zero ones. Empty without data, for
    /// images and for sequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, String)>,
}

/// A column and its weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnWeight {
    /// The column, from 0.
    pub column: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its weight; for several outputs the root of the sum of squares.
    pub weight: f64,
}

/// A row with which the model disagrees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// The row, from 0.
    pub row: usize,
    /// The target; `None` if there are none.
    pub given: Option<String>,
    /// The prediction.
    pub answer: String,
    /// The size of the disagreement, in units of the outputs; for regression, in standard deviations of the
    /// residuals.
    pub by: f64,
}

impl Model {
    /// Explains the model; with its training data also the influential rows, and those it disagrees with.
    ///
    /// ```
    /// use mercer::data::{Dataset, Labels, Points, Targets};
    /// use mercer::model::{Plan, Wishes};
    /// use mercer::{Exec, watch};
    ///
    /// // The last row lies among the others' class.
    /// let points = Points::dense(vec![0.0, 0.1, 0.2, 0.3, 1.0, 1.1, 1.2, 1.3, 0.15], 1)?;
    /// let labels = Labels::new(["a", "a", "a", "a", "b", "b", "b", "b", "b"]);
    /// let data = Dataset::new(points, Targets::Classes(labels))?;
    /// let model = Plan::new(&data, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
    /// let seen = model.explain(Some(&data), Exec::one(), &mut watch::silent())?;
    /// assert_eq!((seen.suspects[0].row, seen.suspect_count), (8, Some(1)));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn explain(&self, data: Option<&Dataset>, exec: Exec, watch: &mut Watch<'_>) -> Result<Explanation> {
        let m = &self.machine;
        if !self.layers.is_empty() || self.task() == Task::Features {
            return Err(Error::Unsupported(
                "kernel features are not explained: columns stand behind them".into(),
            ));
        }
        let (learner, f) = (&m.learner, &m.expansion);
        let (radius2, radius_of_centres) = self.radius2(data, exec, watch)?;
        let settings_known = self.params_known();
        let mut settings = learner.settings();
        settings.retain(|(name, _)| settings_known || IN_FILES.contains(name));
        let norms = norms2(f, exec)?;
        let sparse_support = self.support();
        let svc = m.svc().is_some();
        let machines = (0..m.machines())
            .map(|o| {
                let norm2 = norms.as_ref().map(|n| n[o]);
                let machine = m.parts.get(o);
                // Models from other libraries and compressed ones do not know their training rows.
                let solved = machine.filter(|m| m.free.len() + m.bounded.len() > 0);
                let bounded = m.fact("bounded").filter(|_| !m.support.is_empty()).map(|b| b as usize);
                MachineFacts {
                    name: m.output_name(o),
                    rows: machine.map(|m| m.rows).filter(|&n| n > 0),
                    free: solved
                        .map(|m| m.free.len())
                        .or(bounded.map(|b| sparse_support.map_or(0, <[u32]>::len).saturating_sub(b))),
                    bounded: solved.map(|m| m.bounded.len()).or(bounded),
                    norm2,
                    margin: norm2.filter(|&n| n > 0.0 && svc).map(|n| 1.0 / n.sqrt()),
                    capacity: norm2.zip(radius2).map(|(n, r)| n * r).filter(|_| svc),
                    certificate: machine.and_then(|m| m.margin),
                }
            })
            .collect();
        let (suspects, suspect_count) = match data {
            Some(data) => {
                let all = self.suspects(data, exec)?;
                let count = all.len();
                (all.into_iter().take(NAMED).collect(), Some(count))
            }
            None => (Vec::new(), None),
        };
        Ok(Explanation {
            model: self.describe(),
            learner: learner.entry().name,
            coding: self.coding(),
            settings,
            settings_known,
            machines,
            support_per_class: svc.then(|| support_per_class(m, data)).flatten(),
            radius2,
            radius_of_centres,
            influential: self.influential(data),
            columns: self.column_weights(data),
            suspects,
            suspect_count,
            rows: data.map(Dataset::len),
        })
    }

    fn radius2(
        &self,
        data: Option<&Dataset>,
        exec: Exec,
        watch: &mut Watch<'_>,
    ) -> Result<(Option<f64>, bool)> {
        if let Some(ball) = self.machine.ball() {
            return Ok((Some(ball.radius2), false));
        }
        let f = &self.machine.expansion;
        let rows = data.filter(|d| d.len() <= SPHERE).map(|d| self.stages.apply(d.points.view(), exec));
        let (points, of_centres) = match rows.transpose()? {
            Some(points) if points.dim() == f.centres().dim() => (points, false),
            _ => (f.centres().clone(), true),
        };
        let usable = !points.is_empty() && points.len() <= SPHERE;
        // The single weight vector of a reduced linear machine gives no radius of the data.
        let collapsed = of_centres && self.support().is_some_and(|rows| rows.len() != f.len());
        if !usable || collapsed || matches!(f.centres().view().data, Data::RowNumbers(_)) {
            return Ok((None, of_centres));
        }
        let rows = KernelRows::new(f.kernel(), &points, exec)?;
        Ok((Some(enclosing_radius2(&rows, exec, watch)?.0), of_centres))
    }

    fn influential(&self, data: Option<&Dataset>) -> Vec<Influence> {
        let f = &self.machine.expansion;
        let k = f.outputs();
        let support = self.support();
        if support.is_some_and(|rows| rows.len() != f.len()) {
            return Vec::new();
        }
        let classes = self.classes();
        let sum = |j: usize| f.coef()[j * k..(j + 1) * k].iter().map(|c| c.abs()).sum::<f64>();
        let mut order: Vec<usize> = (0..f.len()).collect();
        order.sort_by(|&a, &b| sum(b).total_cmp(&sum(a)).then(a.cmp(&b)));
        order.truncate(NAMED);
        let at = |j: usize| {
            let row = support.map_or(j, |rows| rows[j] as usize);
            let data = data.filter(|d| row < d.len() && support.is_some());
            let coef = &f.coef()[j * k..(j + 1) * k];
            let (output, side, class) = self.machine.vote_of(coef);
            Influence {
                row,
                name: data.and_then(|d| d.row_names.as_ref()).map(|names| names[row].clone()),
                coef: coef[output],
                machine: side.map(|_| self.machine.output_name(output)),
                class: class.and_then(|c| classes.get(c as usize)).cloned(),
                target: data.and_then(|d| target(&d.targets, row)),
                values: data.map(|d| values(d, row)).unwrap_or_default(),
            }
        };
        order.into_iter().map(at).collect()
    }

    fn column_weights(&self, data: Option<&Dataset>) -> Vec<ColumnWeight> {
        let f = &self.machine.expansion;
        let (k, d) = (f.outputs(), f.centres().dim());
        if *f.kernel() != Kernel::Linear || d == 0 {
            return Vec::new();
        }
        let mut weights = std::collections::BTreeMap::<usize, Vec<f64>>::new();
        for j in 0..f.len() {
            let coef = &f.coef()[j * k..(j + 1) * k];
            let mut add = |column: usize, value: f64| {
                if value != 0.0 {
                    let w = weights.entry(column).or_insert_with(|| vec![0.0; k]);
                    w.iter_mut().zip(coef).for_each(|(w, c)| *w += c * value);
                }
            };
            match f.centres().row(j) {
                Row::F32(x) => x.iter().enumerate().for_each(|(i, &v)| add(i, f64::from(v))),
                Row::F64(x) => x.iter().enumerate().for_each(|(i, &v)| add(i, v)),
                Row::Sparse { column, value, .. } => {
                    column.iter().zip(value).for_each(|(&i, &v)| add(i as usize, v));
                }
                _ => return Vec::new(),
            }
        }
        let coded = self.coding();
        let coded: Vec<String> = coded.into_iter().flat_map(|c| c.outputs).collect();
        let names = match data.and_then(|d| d.column_names.as_ref()) {
            _ if !coded.is_empty() => &coded,
            Some(names) => names,
            None => &self.names.columns,
        };
        // Names are those of the file's columns; after a stage that makes other columns they do not apply.
        let names = if names.len() == d { names.as_slice() } else { &[] };
        let one = |w: &[f64]| if let [w] = w { *w } else { w.iter().map(|w| w * w).sum::<f64>().sqrt() };
        let mut out: Vec<ColumnWeight> = weights
            .iter()
            .map(|(&column, w)| ColumnWeight { column, name: names.get(column).cloned(), weight: one(w) })
            .collect();
        out.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(a.column.cmp(&b.column)));
        out.truncate(NAMED);
        out
    }

    /// Rows much farther from their cluster's mean than the median distance.
    fn strays(&self, data: &Dataset, exec: Exec) -> Result<Vec<Suspect>> {
        let points = data.points.view();
        let far = self.cluster_distances(points, exec)?;
        let own: Vec<f64> = far
            .chunks(self.outputs())
            .map(|line| line.iter().copied().fold(f64::INFINITY, f64::min))
            .collect();
        let usual = median(own.clone());
        let answers = self.predict(points, exec)?;
        let answers = answers.classes()?;
        let suspect = |row: usize| Suspect {
            row,
            given: target(&data.targets, row),
            answer: answers.name_of(row).to_owned(),
            by: if usual > 0.0 { own[row] / usual } else { 0.0 },
        };
        Ok((0..data.len()).map(suspect).filter(|s| s.by > FAR).collect())
    }

    /// Rows whose target the model disagrees with, in descending order.
    fn suspects(&self, data: &Dataset, exec: Exec) -> Result<Vec<Suspect>> {
        let points = data.points.view();
        let mut out: Vec<Suspect> = match (self.task(), &data.targets) {
            (Task::Clustering, _) => self.strays(data, exec)?,
            (Task::Novelty, _) => {
                let outside = self.decision(points, exec)?.into_iter().enumerate().filter(|(_, f)| *f <= 0.0);
                let suspect = |(row, f): (usize, f64)| Suspect {
                    row,
                    given: target(&data.targets, row),
                    answer: "-1".into(),
                    by: -f,
                };
                outside.map(suspect).collect()
            }
            (_, Targets::None) => return Err(Error::no_targets("true labels or targets")),
            (_, Targets::Reals(want)) => {
                let Targets::Reals(got) = self.predict(points, exec)? else {
                    return Err(Error::real_targets("class labels"));
                };
                let residual: Vec<f64> = got.iter().zip(want).map(|(g, w)| w - g).collect();
                let size = 1.4826 * median(residual.iter().map(|r| r.abs()).collect());
                let far = |r: f64| if size > 0.0 { r.abs() / size } else { 0.0 };
                let rows = residual.iter().enumerate().filter(|(_, r)| far(**r) > FAR);
                let suspect = |(row, r): (usize, &f64)| Suspect {
                    row,
                    given: Some(want[row].to_string()),
                    answer: got[row].to_string(),
                    by: far(*r),
                };
                rows.map(suspect).collect()
            }
            (_, Targets::Classes(labels)) => {
                let values = self.decision(points, exec)?;
                let Targets::Classes(got) = self.machine.predicted(&values, exec)? else {
                    return Err(Error::class_targets("real numbers"));
                };
                let scores = self.machine.scores_of(&values)?;
                let classes = self.classes();
                let k = classes.len();
                let mut out = Vec::new();
                for row in 0..data.len() {
                    let (given, answer) = (labels.name_of(row), got.name_of(row));
                    if given == answer {
                        continue;
                    }
                    let score =
                        |name: &str| classes.iter().position(|c| c == name).map(|c| scores[row * k + c]);
                    let by = score(answer).zip(score(given)).map_or(f64::INFINITY, |(a, g)| a - g);
                    out.push(Suspect { row, given: Some(given.into()), answer: answer.into(), by });
                }
                out
            }
        };
        out.sort_by(|a, b| b.by.total_cmp(&a.by).then(a.row.cmp(&b.row)));
        Ok(out)
    }
}

/// |w|^2 of each output; `None` if the centres are row numbers of a matrix that is not available.
fn norms2(f: &Expansion, exec: Exec) -> Result<Option<Vec<f64>>> {
    if f.is_empty() || matches!(f.centres().view().data, Data::RowNumbers(_)) {
        return Ok(None);
    }
    let k = f.outputs();
    let values = f.evaluate(f.centres().view(), exec)?;
    let mut out = vec![0.0; k];
    for (coef, value) in f.coef().chunks(k).zip(values.chunks(k)) {
        for o in 0..k {
            out[o] += coef[o] * (value[o] - f.offset()[o]);
        }
    }
    out.iter_mut().for_each(|n| *n = n.max(0.0));
    Ok(Some(out))
}

fn support_per_class(m: &Machine, data: Option<&Dataset>) -> Option<Vec<usize>> {
    let (classes, sides) = (m.classes(), m.sides());
    let mut count = vec![0; classes.len()];
    // Constructed or selected centres do not represent the rows of a class.
    if m.origin.compressed {
        return None;
    }
    if let Some(Targets::Classes(labels)) = data.map(|d| &d.targets)
        && !m.support.is_empty()
        && m.support.iter().all(|&r| (r as usize) < labels.len())
    {
        for &row in &m.support {
            let name = labels.name_of(row as usize);
            count[classes.iter().position(|c| c == name)?] += 1;
        }
        return Some(count);
    }
    // The sign of a pair's coefficients gives the class; with one-vs-rest most are on the unnamed side.
    let f = &m.expansion;
    let k = f.outputs();
    let pairs = sides.iter().all(|sides| sides.negative.is_some());
    if !pairs || (!m.support.is_empty() && m.support.len() != f.len()) {
        return None;
    }
    for coef in f.coef().chunks(k) {
        let (o, c) = coef.iter().enumerate().find(|(_, c)| **c != 0.0)?;
        let sides = sides[o];
        let class = if *c > 0.0 { sides.positive } else { sides.negative? };
        count[class as usize] += 1;
    }
    Some(count)
}

/// The first values of a row with the names of their columns.
fn values(data: &Dataset, row: usize) -> Vec<(String, String)> {
    let names = data.points.as_table().map(Table::names).or(data.column_names.as_deref());
    let name = |j: usize| names.and_then(|n| n.get(j)).cloned().unwrap_or_else(|| (j + 1).to_string());
    let numbers =
        |x: &[f64]| x.iter().take(VALUES).enumerate().map(|(j, v)| (name(j), v.to_string())).collect();
    match data.points.row(row) {
        _ if data.points.image().is_some() => Vec::new(),
        Row::F32(x) => numbers(&x.iter().take(VALUES).map(|&v| f64::from(v)).collect::<Vec<_>>()),
        Row::F64(x) => numbers(x),
        Row::Sparse { column, value, .. } => {
            let pairs = column.iter().zip(value).take(VALUES);
            pairs.map(|(&j, v)| (name(j as usize), v.to_string())).collect()
        }
        Row::Cells { table, row } => {
            let cell = |j: usize| table.columns()[j].cell(row).map_or_else(String::new, Cow::into_owned);
            (0..table.columns().len().min(VALUES)).map(|j| (name(j), cell(j))).collect()
        }
        Row::Sequence(_) | Row::Number(_) => Vec::new(),
    }
}

fn target(targets: &Targets, row: usize) -> Option<String> {
    match targets {
        Targets::Classes(labels) => Some(labels.name_of(row).to_owned()),
        Targets::Reals(y) => Some(y[row].to_string()),
        Targets::None => None,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0.0 } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Points, toy};
    use crate::model::{Plan, Sample, SvcParams, Wishes};
    use crate::watch::silent;

    fn points(values: Vec<f64>, d: usize) -> Points {
        Points::dense(values, d).expect("whole rows")
    }

    #[test]
    fn the_margin_of_two_points_is_half_their_distance() {
        let data =
            Dataset::new(points(vec![0.0, 0.0, 3.0, 4.0], 2), Targets::Classes(Labels::new(["a", "b"])))
                .expect("two rows");
        let params = SvcParams { kernel: Some(Kernel::Linear), c: 1e3, ..SvcParams::default() };
        let body =
            params.fit(Sample::new(&data.points, &data.targets), Exec::one(), &mut silent()).expect("fit");
        let seen = Model::from(body).explain(Some(&data), Exec::one(), &mut silent()).expect("a look");
        let machine = &seen.machines[0];
        let margin = machine.margin.expect("a classifier");
        assert!((margin - 2.5).abs() < 1e-6, "{margin}");
        assert_eq!((machine.name.as_str(), machine.free, machine.bounded), ("b against a", Some(2), Some(0)));
        // The smallest sphere around two points has half their distance as radius: R^2 |w|^2 = 1.
        let capacity = machine.capacity.expect("a radius");
        assert!((capacity - 1.0).abs() < 1e-3, "{capacity}");
        assert_eq!((seen.suspect_count, seen.support_per_class), (Some(0), Some(vec![1, 1])));
        assert_eq!(seen.columns[0].column, 1);
    }

    #[test]
    fn flipped_labels_are_found() {
        let (x, targets) = toy::banana(120, 4);
        let Targets::Classes(mut labels) = targets else { panic!("classes") };
        let flipped = [7usize, 33, 90];
        for &row in &flipped {
            labels.of_row[row] = 1 - labels.of_row[row];
        }
        let data = Dataset::new(x, Targets::Classes(labels)).expect("one per row");
        let plan = Plan::new(&data, &Wishes::default(), Exec::one()).expect("a plan");
        let model = plan.fit(Exec::one(), &mut silent()).expect("a fit");
        let seen = model.explain(Some(&data), Exec::one(), &mut silent()).expect("a look");
        let found: Vec<usize> = seen.suspects.iter().map(|s| s.row).collect();
        assert!(flipped.iter().all(|row| found.contains(row)), "{found:?}");
        // A row weighs for its own class, flipped or not, and is shown as the data has it.
        for i in &seen.influential {
            assert!(i.target.is_some() && i.target == i.class, "{i:?}");
            let want: Vec<String> = data.points.row(i.row).to_f64().iter().map(f64::to_string).collect();
            assert_eq!(i.values.iter().map(|v| v.1.clone()).collect::<Vec<_>>(), want);
        }
        // Without data the support vectors of pairs are still known by class.
        let bare = model.explain(None, Exec::one(), &mut silent()).expect("a look");
        assert_eq!(bare.support_per_class, seen.support_per_class);
        assert!(bare.radius_of_centres && bare.suspect_count.is_none());
    }
}
