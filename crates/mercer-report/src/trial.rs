//! How a classifier does on rows it has not seen.

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone, count, percent, seconds};
use mercer::assess::metric;
use mercer::data::Dataset;
use mercer::error::{Error, Result};
use mercer::exec::Exec;
use mercer::model::Machine;
use mercer::watch::Info;

/// A fitted classifier and its answers on test rows.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    /// The kernel, as its line is printed.
    pub kernel: String,
    /// Rows it learned from.
    pub train_rows: usize,
    /// Rows it was tested on.
    pub test_rows: usize,
    /// Training rows that the answer is made of.
    pub support: usize,
    /// How the fit went.
    pub info: Info,
    /// The classes' names.
    pub classes: Vec<String>,
    /// Share of wrong answers.
    pub error: f64,
    /// Test rows by true class (rows) and answer (columns).
    pub confusion: Vec<Vec<usize>>,
}

impl Trial {
    /// Tests a model that learned from so many rows. The test rows' classes are told by name.
    pub fn new(model: &Machine, train_rows: usize, test: &Dataset, exec: Exec) -> Result<Self> {
        let labels = test.targets.classes()?;
        let classes = model.classes();
        let place = |name: &String| {
            let at = classes.iter().position(|class| class == name);
            let known = || format!("one of {}", classes.join(", "));
            at.map(|k| k as u32).ok_or_else(|| Error::shape("class of the test rows", name, known()))
        };
        let places = labels.names.iter().map(place).collect::<Result<Vec<u32>>>()?;
        let want: Vec<u32> = labels.of_row.iter().map(|&k| places[k as usize]).collect();
        let got = model.labels(test.points.view(), exec)?.of_row;
        let k = classes.len();
        Ok(Trial {
            kernel: model.expansion.kernel().to_string(),
            train_rows,
            test_rows: test.len(),
            support: model.support.len(),
            info: model.info.clone(),
            classes,
            error: metric::error_rate(&got, &want),
            confusion: metric::confusion(&got, &want, k).chunks(k).map(<[usize]>::to_vec).collect(),
        })
    }
}

impl Report for Trial {
    fn write(&self, page: &mut Page) {
        let right = self.test_rows - (self.error * self.test_rows as f64).round() as usize;
        page.facts([
            (
                "trained",
                format!(
                    "on {} rows in {}; {} support vectors",
                    count(self.train_rows),
                    seconds(self.info.seconds),
                    count(self.support)
                ),
            ),
            (
                "tested",
                format!(
                    "{} of {} new rows right, error {}",
                    count(right),
                    count(self.test_rows),
                    percent(self.error)
                ),
            ),
        ]);
        page.blank();
        let mut table = Table::new().column("class", Align::Left);
        for class in &self.classes {
            table = table.column(&format!("predicted {class}"), Align::Right);
        }
        for (k, (class, row)) in self.classes.iter().zip(&self.confusion).enumerate() {
            let tone = |j: usize| match (j == k, row[j]) {
                (true, _) => Tone::Good,
                (false, 0) => Tone::Quiet,
                (false, _) => Tone::Warn,
            };
            let cells = (0..row.len()).map(|j| (count(row[j]), tone(j)));
            table.toned_row(std::iter::once((class.clone(), Tone::Strong)).chain(cells));
        }
        page.table(&table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::{Labels, Points, Targets};
    use mercer::kernel::Kernel;
    use mercer::model::{Sample, SvcParams};

    fn data(values: &[f64], names: &[&str]) -> Dataset {
        let points = Points::dense(values.to_vec(), 1).expect("one column");
        Dataset::new(points, Targets::Classes(Labels::new(names))).expect("as many labels as points")
    }

    #[test]
    fn classes_of_test_rows_are_matched_by_name() {
        let train = data(&[0.0, 0.1, 1.0, 1.1, 2.0, 2.1], &["a", "a", "b", "b", "c", "c"]);
        let params = SvcParams { kernel: Some(Kernel::Rbf { gamma: 2.0 }), c: 10.0, ..SvcParams::default() };
        let sample = Sample::new(&train.points, &train.targets);
        let model = params.fit(sample, Exec::one(), &mut mercer::watch::silent()).expect("a fit");
        // Among the test rows `c` is class 0 and `b` does not occur.
        let trial =
            Trial::new(&model, 6, &data(&[2.2, 1.05], &["c", "c"]), Exec::one()).expect("known classes");
        assert_eq!(trial.confusion, [[0, 0, 0], [0, 0, 0], [0, 1, 1]]);
        assert_eq!((trial.error, trial.test_rows), (0.5, 2));
        let refused = Trial::new(&model, 6, &data(&[1.0], &["d"]), Exec::one()).expect_err("never seen");
        assert_eq!(refused.to_string(), "class of the test rows: got d, expected one of a, b, c");
    }
}
