//! Misclassified rows of labelled data, the most confident mistake first.
//!
//! A wrong prediction near the decision boundary is to be expected; one far from it indicates a wrong label, a row
//! unlike the training data, or missing information. Cost: one prediction.

use serde::Serialize;

use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::{Model, Query, Task};

/// The wrong predictions on a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mistakes {
    /// The measure of [`Mistake::by`]: `probability` of the predicted class, `margin` between the scores of the
    /// predicted and of the true class, or absolute `error` of a number.
    pub measure: &'static str,
    /// Number of rows examined.
    pub rows: usize,
    /// Number of wrong predictions; for numbers, all that are not exact.
    pub count: usize,
    /// The worst of them, the most confident first.
    pub worst: Vec<Mistake>,
}

/// A row that is predicted wrongly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mistake {
    /// The row, from 0.
    pub row: usize,
    /// Its name, where the data names rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The target.
    pub given: String,
    /// The prediction.
    pub predicted: String,
    /// Confidence: see [`Mistakes::measure`]. `None` if the model does not know the class.
    pub by: Option<f64>,
}

/// The most confident mistakes of a model, at most `most`. Not supported for clusters and features, nor for novelty
/// unless the classes are `1` and `-1`.
///
/// ```
/// use mercer::assess::mistakes;
/// use mercer::data::{Dataset, Labels, Points, Targets};
/// use mercer::model::{Plan, Wishes};
/// use mercer::{Exec, watch};
/// let points = Points::dense(vec![0.0, 0.1, 0.2, 0.3, 1.0, 1.1, 1.2, 1.3], 1)?;
/// let data = Dataset::new(points, Targets::Classes(Labels::new(["a", "a", "a", "a", "b", "b", "b", "b"])))?;
/// let model = Plan::new(&data, &Wishes::default(), Exec::one())?.fit(Exec::one(), &mut watch::silent())?;
/// let test = Points::dense(vec![0.6, 0.0, 1.2], 1)?;
/// let test = Dataset::new(test, Targets::Classes(Labels::new(["a", "b", "b"])))?;
/// let found = mistakes(&model, &test, 10, Exec::one())?;
/// assert_eq!((found.worst[0].row, found.worst[0].predicted.as_str()), (1, "a"));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn mistakes(model: &Model, data: &Dataset, most: usize, exec: Exec) -> Result<Mistakes> {
    let name = |row: usize| data.row_names.as_ref().map(|names| names[row].clone());
    let (measure, mut all) = match (model.task(), &data.targets) {
        (_, Targets::None) => return Err(Error::no_targets("true labels or targets")),
        (Task::Regression, targets) => {
            let want = targets.reals()?;
            let found = model.predict_data(data, &Query::default(), exec)?;
            let got = found.targets.reals()?;
            let wrong = (0..want.len()).filter(|&i| want[i] != got[i]).map(|row| Mistake {
                row,
                name: name(row),
                given: want[row].to_string(),
                predicted: got[row].to_string(),
                by: Some((want[row] - got[row]).abs()),
            });
            ("error", wrong.collect::<Vec<_>>())
        }
        (Task::Classification | Task::Novelty, targets) => {
            let want = targets.classes()?;
            let classes = model.classes();
            if model.task() == Task::Novelty && !want.names.iter().all(|name| classes.contains(name)) {
                let got = want.names.join(", ");
                return Err(Error::shape("classes of the data", got, "1 (like the training data) and -1"));
            }
            let probabilities = model.machine.has_probabilities();
            let query = Query { probabilities, scores: true, ..Query::default() };
            let found = model.predict_data(data, &query, exec)?;
            let got = found.targets.classes()?;
            let (k, scores) = (classes.len(), found.scores.unwrap_or_default());
            let by = |row: usize| {
                let place = |name: &str| classes.iter().position(|class| class == name);
                let guess = place(got.name_of(row))?;
                match &found.probabilities {
                    Some(p) => Some(p.values[row * k + guess]),
                    None => place(want.name_of(row)).map(|c| scores[row * k + guess] - scores[row * k + c]),
                }
            };
            let wrong = (0..want.len()).filter(|&i| want.name_of(i) != got.name_of(i));
            let wrong = wrong.map(|row| Mistake {
                row,
                name: name(row),
                given: want.name_of(row).to_owned(),
                predicted: got.name_of(row).to_owned(),
                by: by(row),
            });
            (if probabilities { "probability" } else { "margin" }, wrong.collect())
        }
        (task, _) => {
            return Err(Error::Unsupported(format!(
                "a model trained to {} has no misclassified rows",
                task.verb()
            )));
        }
    };
    // Classes unknown to the model come last: it cannot predict them.
    let size = |m: &Mistake| m.by.unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.row.cmp(&b.row)));
    let count = all.len();
    all.truncate(most);
    Ok(Mistakes { measure, rows: data.len(), count, worst: all })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Points, toy};
    use crate::model::{OneClassParams, Sample, SvcParams};
    use crate::watch::silent;

    #[test]
    fn probabilities_margins_errors_and_unknown_classes() {
        let (x, y) = toy::banana(100, 3);
        let data = Dataset::new(x.clone(), y.clone()).expect("whole");
        let Targets::Classes(mut labels) = y else { panic!("classes") };
        labels.names.push("new".into());
        for row in [4, 50] {
            labels.of_row[row] = 1 - labels.of_row[row];
        }
        labels.of_row[9] = 2;
        let test = Dataset::new(x, Targets::Classes(labels)).expect("whole");
        for probability in [false, true] {
            let params = SvcParams { probability, ..SvcParams::default() };
            let sample = Sample::new(&data.points, &data.targets);
            let model = Model::from(params.fit(sample, Exec::one(), &mut silent()).expect("a fit"));
            let found = mistakes(&model, &test, 100, Exec::one()).expect("labels");
            assert_eq!(found.measure, if probability { "probability" } else { "margin" });
            assert!(found.worst[..6].iter().any(|m| m.row == 4), "{found:?}");
            let sizes: Vec<f64> = found.worst.iter().filter_map(|m| m.by).collect();
            assert!(sizes.windows(2).all(|w| w[0] >= w[1]), "{sizes:?}");
            let new = found.worst.iter().find(|m| m.given == "new").expect("no model knows it");
            assert_eq!(new.by.is_some(), probability);
            assert_eq!(mistakes(&model, &test, 1, Exec::one()).expect("labels").worst.len(), 1);
        }
    }

    #[test]
    fn novelty_has_mistakes_where_its_own_classes_are_known() {
        let (x, _) = toy::three_clusters(60, 1);
        let params = OneClassParams { nu: 0.1, ..OneClassParams::default() };
        let sample = Sample::new(&x, &Targets::None);
        let model = Model::from(params.fit(sample, Exec::one(), &mut silent()).expect("a fit"));
        let far = Points::dense(vec![90.0, 90.0], 2).expect("a row");
        let labelled =
            |name: &str| Dataset::new(far.clone(), Targets::Classes(Labels::new([name]))).expect("a label");
        let found = mistakes(&model, &labelled("1"), 5, Exec::one()).expect("labels");
        assert_eq!((found.count, found.worst[0].predicted.as_str()), (1, "-1"));
        assert_eq!(mistakes(&model, &labelled("-1"), 5, Exec::one()).expect("labels").count, 0);
        assert!(mistakes(&model, &labelled("ring"), 5, Exec::one()).is_err());
        let bare = Dataset::new(far.clone(), Targets::None).expect("a row");
        assert!(mistakes(&model, &bare, 5, Exec::one()).is_err());
    }
}
