//! Prediction: rows in; predictions, decision values, scores, probabilities and rejected rows out.
//!
//! Called by the command, Python and the service. Everything is derived from the same decision values, so the
//! expansion is evaluated once for any request.

use crate::data::{Dataset, Points, Targets, View};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Model, Probabilities, Reject, Wanted};

/// The outputs requested of a model.
///
/// The default requests predictions alone.
///
/// ```
/// use mercer::prelude::*;
/// let query = Query { decision: true, ..Query::default() }; // predictions and decision values
/// assert!(query.predictions && !query.probabilities);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each asks for one thing, in any combination")]
pub struct Query {
    /// Classes, numbers, novelty or clusters. Not supported for features.
    pub predictions: bool,
    /// Decision values.
    pub decision: bool,
    /// A score for each class. Not supported without classes.
    pub scores: bool,
    /// Probabilities of the classes. Not supported for models fitted without them.
    pub probabilities: bool,
    /// The rows to reject.
    pub reject: Rejection,
}

impl Default for Query {
    fn default() -> Self {
        Query { predictions: true, ..Query::NOTHING }
    }
}

impl Query {
    /// Requests nothing: for `Query { decision: true, ..Query::NOTHING }`.
    pub const NOTHING: Query = Query {
        predictions: false,
        decision: false,
        scores: false,
        probabilities: false,
        reject: Rejection::Never,
    };
}

/// The reject rule.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rejection {
    /// No row is rejected.
    #[default]
    Never,
    /// The rule stored in the model: see [`Model::set_reject`]. Without one no row is rejected.
    Own,
    /// A rule determined on the rows themselves. [`Wanted::Error`] requires their labels.
    Made(Wanted),
}

/// The outputs of a model.
///
/// ```
/// use mercer::prelude::*;
/// let (points, targets) = mercer::data::toy::banana(60, 1);
/// let svc = SvcParams::default().fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
/// let query = Query { decision: true, ..Query::default() };
/// let found: Prediction = Model::from(svc).predict_rows(points.view(), &query, Exec::one())?;
/// assert_eq!((found.rows, found.decision.map(|d| d.len())), (60, Some(60)));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Number of rows.
    pub rows: usize,
    /// The predictions, including those of rejected rows; none if not requested.
    pub targets: Targets,
    /// Decision values, rows x [`Model::outputs`].
    pub decision: Option<Vec<f64>>,
    /// A score for each class, rows x classes: the larger, the likelier.
    pub scores: Option<Vec<f64>>,
    /// Probabilities of the classes.
    pub probabilities: Option<Probabilities>,
    /// Whether each row is rejected; empty without a rule.
    pub rejected: Vec<bool>,
    /// The rule that was applied.
    pub reject: Option<Reject>,
}

impl Model {
    /// All requested outputs for a data set, from one evaluation. Columns are matched by name: see
    /// [`Model::arrange`].
    ///
    /// ```
    /// use mercer::data::{Dataset, toy};
    /// use mercer::model::{Model, Query, Sample, SvcParams};
    /// use mercer::{Exec, watch};
    /// let (points, targets) = toy::banana(60, 1);
    /// let svc = SvcParams { probability: true, ..SvcParams::default() };
    /// let svc = svc.fit(Sample::new(&points, &targets), Exec::one(), &mut watch::silent())?;
    /// let (model, data) = (Model::from(svc), Dataset::new(points, targets)?);
    /// let query = Query { decision: true, probabilities: true, ..Query::default() };
    /// let found = model.predict_data(&data, &query, Exec::one())?;
    /// assert_eq!(found.targets.len(), Some(60));
    /// assert_eq!(found.decision.map(|values| values.len()), Some(60));
    /// assert_eq!(found.probabilities.map(|p| p.values.len()), Some(120));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn predict_data(&self, data: &Dataset, query: &Query, exec: Exec) -> Result<Prediction> {
        let arranged = self.arranged(data)?;
        let points = arranged.as_ref().map_or(data.points.view(), Points::view);
        self.queried(points, &data.targets, query, exec)
    }

    /// [`Model::predict_data`] for rows without names and labels: their columns are those of the training data, in order.
    pub fn predict_rows(&self, points: View<'_>, query: &Query, exec: Exec) -> Result<Prediction> {
        self.queried(points, &Targets::None, query, exec)
    }

    fn queried(&self, points: View<'_>, known: &Targets, query: &Query, exec: Exec) -> Result<Prediction> {
        let labels = match query.reject {
            Rejection::Made(Wanted::Error(_)) => Some(known.classes()?),
            _ => None,
        };
        let asked = [query.predictions, query.decision, query.scores, query.probabilities];
        if !asked.contains(&true) && query.reject == Rejection::Never {
            return Err(Error::Unsupported("no output was requested of the model".into()));
        }
        let machine = &self.machine;
        // Classes alone do not depend on the last digits of decision values.
        let classes_alone = asked == [true, false, false, false] && query.reject == Rejection::Never;
        let values = if classes_alone {
            self.decision_for_classes(points, exec)?
        } else {
            self.decision(points, exec)?
        };
        let reject = match query.reject {
            Rejection::Never => None,
            Rejection::Own => machine.reject,
            Rejection::Made(wanted) => Some(machine.reject_rule(&values, labels, wanted)?),
        };
        let rejected = match (reject, query.reject) {
            (Some(rule), _) => machine.gaps_of(&values)?.into_iter().map(|gap| rule.rejects(gap)).collect(),
            (None, Rejection::Never) => Vec::new(),
            (None, _) => vec![false; points.n],
        };
        Ok(Prediction {
            rows: points.n,
            targets: if query.predictions { machine.predicted(&values, exec)? } else { Targets::None },
            scores: query.scores.then(|| machine.scores_of(&values)).transpose()?,
            probabilities: query.probabilities.then(|| machine.probabilities_of(&values)).transpose()?,
            decision: query.decision.then_some(values),
            rejected,
            reject,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, toy};
    use crate::kernel::Kernel;
    use crate::model::{KpcaParams, Sample, SvcParams};
    use crate::watch::silent;

    fn fitted() -> (Model, Dataset) {
        let (points, targets) = toy::three_clusters(60, 3);
        let params = SvcParams { probability: true, ..SvcParams::default() };
        let svc = params.fit(Sample::new(&points, &targets), Exec::one(), &mut silent()).expect("a fit");
        (Model::from(svc), Dataset::new(points, targets).expect("a target a row"))
    }

    #[test]
    fn all_together_is_what_each_is_alone() {
        let (mut model, data) = fitted();
        let (view, exec) = (data.points.view(), Exec::one());
        let wanted = Wanted::Rejected(0.2);
        let query = Query {
            predictions: true,
            decision: true,
            scores: true,
            probabilities: true,
            reject: Rejection::Made(wanted),
        };
        let found = model.predict_data(&data, &query, exec).expect("a classifier");
        assert_eq!(found.targets, model.predict(view, exec).expect("classes"));
        assert_eq!(found.decision, model.decision(view, exec).ok());
        assert_eq!(found.scores, model.class_scores(view, exec).ok());
        assert_eq!(found.probabilities, model.probabilities(view, exec).ok());
        assert_eq!(found.reject, model.set_reject(view, None, wanted, exec).ok());
        let kept = model.predict_or_reject(view, exec).expect("classes");
        assert_eq!(found.rejected, kept.iter().map(Option::is_none).collect::<Vec<_>>());
        assert!(found.rejected.contains(&true) && found.rejected.contains(&false));
        let own = Query { reject: Rejection::Own, ..Query::default() };
        assert_eq!(model.predict_rows(view, &own, exec).expect("a rule").rejected, found.rejected);
    }

    #[test]
    fn what_was_not_asked_for_is_not_there_and_what_cannot_be_is_refused() {
        let (model, data) = fitted();
        let view = data.points.view();
        let plain = model.predict_rows(view, &Query::default(), Exec::one()).expect("classes");
        assert_eq!((plain.decision, plain.scores, plain.probabilities), (None, None, None));
        assert!(plain.rejected.is_empty() && plain.reject.is_none());
        let by_error = Query { reject: Rejection::Made(Wanted::Error(0.1)), ..Query::default() };
        assert!(model.predict_data(&data, &by_error, Exec::one()).is_ok());
        let refused = model.predict_rows(view, &by_error, Exec::one()).expect_err("no labels").to_string();
        assert_eq!(refused, "targets: got none, expected class labels");
        assert!(model.predict_rows(view, &Query::NOTHING, Exec::one()).is_err());
        let kpca = KpcaParams { components: Some(2), kernel: Some(Kernel::Linear), ..KpcaParams::default() };
        let sample = Sample::new(&data.points, &data.targets);
        let kpca = Model::from(kpca.fit(sample, Exec::one(), &mut silent()).expect("components"));
        assert!(kpca.predict_rows(view, &Query::default(), Exec::one()).is_err());
        let features = Query { decision: true, ..Query::NOTHING };
        let features = kpca.predict_rows(view, &features, Exec::one()).expect("features").decision;
        assert_eq!(features, kpca.decision(view, Exec::one()).ok());
    }

    #[test]
    fn columns_are_matched_by_name_in_either_precision() {
        let turned = |x: &[f64]| x.chunks(2).flat_map(|row| [row[1], row[0]]).collect::<Vec<f64>>();
        let (mut model, mut data) = fitted();
        model.names.columns = vec!["x".into(), "y".into()];
        let values = data.points.view().to_f64().expect("numbers");
        let query = Query { decision: true, ..Query::default() };
        let want = model.predict_data(&data, &query, Exec::one()).expect("classes");
        data.column_names = Some(vec!["y".into(), "x".into()]);
        data.points = Points::dense(turned(&values), 2).expect("two columns");
        assert_eq!(model.predict_data(&data, &query, Exec::one()).expect("classes"), want);
        let narrow = turned(&values).into_iter().map(|v| v as f32).collect();
        data.points = Points::dense_f32(narrow, 2).expect("two columns");
        let got = model.predict_data(&data, &query, Exec::one()).expect("classes");
        let (a, b) = (got.decision.expect("asked for"), want.decision.expect("asked for"));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-3), "{a:?} {b:?}");
        data.column_names = Some(vec!["y".into(), "z".into()]);
        assert!(model.predict_data(&data, &query, Exec::one()).is_err());
        let other = Targets::Classes(Labels::new(["a"; 60]));
        data.column_names = None;
        data.targets = other;
        assert!(model.predict_data(&data, &query, Exec::one()).is_ok());
    }
}
