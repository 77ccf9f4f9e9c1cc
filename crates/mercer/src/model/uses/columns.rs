//! Columns by name: new data in the order that a model was trained with.

use crate::data::{Data, Dataset, Points};
use crate::error::{Error, Result};
use crate::model::Model;

impl Model {
    /// How many columns points must have, where that is fixed.
    pub fn columns(&self) -> Option<usize> {
        if let Some(stage) = self.stages.list.first() {
            return Some(stage.input_dim());
        }
        let centres = self.entry().centres();
        let numbers =
            !matches!(centres.view().data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. });
        (numbers && !self.any_columns && !centres.is_empty()).then(|| centres.dim())
    }

    /// Data with its columns in the order the model knows, told by their names; columns that the model does not know are
    /// left out. Data without names, or for a model without, stay as they are.
    pub fn arrange(&self, data: Dataset) -> Result<Dataset> {
        Ok(match self.arranged(&data)? {
            Some(points) => Dataset { points, column_names: Some(self.names.columns.clone()), ..data },
            None => data,
        })
    }

    /// The points of [`Model::arrange`]; none where they stay as they are.
    pub(super) fn arranged(&self, data: &Dataset) -> Result<Option<Points>> {
        let (Some(names), false) = (&data.column_names, self.names.columns.is_empty()) else {
            return Ok(None);
        };
        if *names == self.names.columns {
            return Ok(None);
        }
        for (whose, list) in [("the data", names), ("the model", &self.names.columns)] {
            if let Some(name) = same_name(list) {
                let got = format!("column `{name}` twice in {whose}");
                return Err(Error::shape("columns of the data", got, "a different name for each column"));
            }
        }
        // Without a single name in common, the names mean nothing: a header that numbers its columns, for example.
        if !names.iter().any(|name| self.names.columns.contains(name)) {
            return Ok(None);
        }
        let place = |name: &String| {
            names.iter().position(|n| n == name).ok_or_else(|| {
                let got = format!("no column `{name}` among {}", names.join(", "));
                Error::shape("columns of the data", got, "all columns that the model was trained with")
            })
        };
        let order = self.names.columns.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let view = data.points.view();
        let points = match view.data {
            Data::F32(x) => {
                let rows = x.chunks(view.d.max(1));
                Points::dense_f32(rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(), order.len())?
            }
            Data::F64(x) => {
                let rows = x.chunks(view.d.max(1));
                Points::dense(rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(), order.len())?
            }
            // Named columns come from tables, which are dense unless someone asks otherwise.
            _ => {
                let x = view.to_f64()?;
                let rows = x.chunks(view.d.max(1));
                Points::dense(rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(), order.len())?
            }
        };
        Ok(Some(points))
    }
}

/// A name that occurs twice.
fn same_name(names: &[String]) -> Option<&String> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|w| w[0] == w[1]).map(|w| w[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Targets};
    use crate::exec::Exec;
    use crate::model::{Plan, Wishes};

    fn named(values: Vec<f64>, names: &[&str]) -> Dataset {
        let points = Points::dense(values, names.len()).expect("whole rows");
        let names = names.iter().map(ToString::to_string).collect();
        Dataset { column_names: Some(names), ..Dataset::new(points, Targets::None).expect("no targets") }
    }

    #[test]
    fn columns_come_in_the_models_order_and_missing_ones_are_named() {
        let train = Dataset {
            targets: Targets::Classes(Labels::new(["a", "b"])),
            ..named(vec![0.0, 5.0, 1.0, 6.0], &["x", "y"])
        };
        let plan = Plan::new(&train, &Wishes::default(), Exec::one()).expect("a plan");
        let model = plan.fit(Exec::one(), &mut crate::watch::silent()).expect("a fit");
        assert_eq!(model.columns(), Some(2));
        let turned = model.arrange(named(vec![6.0, 9.0, 1.0], &["y", "z", "x"])).expect("all there");
        assert_eq!(turned.points.view().to_f64().expect("numbers"), [1.0, 6.0]);
        let short = model.arrange(named(vec![6.0, 9.0], &["y", "z"])).expect_err("no x").to_string();
        assert!(short.starts_with("columns of the data: got no column `x` among y, z"), "{short}");
        let twins =
            model.arrange(named(vec![6.0, 1.0, 9.0], &["y", "x", "y"])).expect_err("two y").to_string();
        assert!(twins.contains("column `y` twice in the data"), "{twins}");
        let other = named(vec![6.0, 9.0], &["c1", "c2"]);
        assert_eq!(model.arrange(other.clone()).expect("left alone"), other);
    }
}
