//! Matching of columns by name: new data in the order of the training data.

use std::collections::{HashMap, HashSet};

use crate::data::stage::CodedColumn;
use crate::data::table::{Column, Kind, kind::number};
use crate::data::{Csr, Data, Dataset, Points, Stage, Table};
use crate::error::{Error, Fault, Result};
use crate::exec::{Exec, half_of_ram};
use crate::model::Model;
use crate::watch::Note;

/// Maximum number of columns named in a note.
const NAMED: usize = 8;

impl Model {
    /// The required number of columns, if it is fixed.
    pub fn columns(&self) -> Option<usize> {
        if let Some(stage) = self.stages.list.first() {
            return Some(stage.input_dim());
        }
        let centres = self.entry().centres();
        let numbers =
            !matches!(centres.view().data, Data::Sequences { .. } | Data::RowNumbers(_) | Data::Table { .. });
        (numbers && !self.any_columns && !centres.is_empty()).then(|| centres.dim())
    }

    /// What the stage `table` makes of each column; empty if the model has none.
    pub fn coding(&self) -> Vec<CodedColumn> {
        self.stages.list.first().and_then(Stage::coded_columns).unwrap_or_default()
    }

    /// The column kinds that a reader of data for this model needs:
    /// [`ReadOptions::model_kinds`](crate::data::io::ReadOptions::model_kinds).
    pub fn column_kinds(&self) -> Vec<(String, Option<Kind>)> {
        let of_table = self.stages.list.first().and_then(Stage::column_kinds);
        let numbers = || self.names.columns.iter().map(|name| (name.clone(), Some(Kind::Number))).collect();
        of_table.unwrap_or_else(numbers)
    }

    /// Whether data has the columns that the model needs: by name if both have names, else by number.
    pub fn takes(&self, data: &Dataset) -> bool {
        let needed = self.needed();
        let by_name = match &data.column_names {
            Some(names) if !self.names.columns.is_empty() => {
                self.names.columns.iter().zip(&needed).all(|(name, needed)| !needed || names.contains(name))
            }
            _ => false,
        };
        by_name || self.columns().is_none_or(|d| d == data.dim())
    }

    /// Which of the named columns the model needs: those that its stage `table` ignores are not needed.
    fn needed(&self) -> Vec<bool> {
        let coding = self.coding();
        let one = |j: usize| coding.get(j).is_none_or(|c| !c.outputs.is_empty());
        (0..self.names.columns.len()).map(one).collect()
    }

    /// Data with its columns in the order of the model, matched by name; columns unknown to the model are dropped.
    /// Data without names, or for a model without, is not changed. Missing values become the mean of the stored
    /// training rows if the model was trained without missing values. Notes are added.
    pub fn arrange(&self, mut data: Dataset) -> Result<Dataset> {
        self.fit_width(&mut data)?;
        let note = self.spelt_alike(&mut data);
        data.notes.extend(note);
        let unknown = self.unknown(&data);
        if let Some((points, filled)) = self.arranged_and_filled(&data)? {
            data.points = points;
            if data.column_names.is_some() && !self.names.columns.is_empty() {
                data.column_names = Some(self.names.columns.clone());
            }
            if filled > 0 {
                let text = format!(
                    "{filled} missing values are filled with the mean of the rows that the model holds"
                );
                data.notes.push(Note::warning(text));
            }
            if !unknown.is_empty() {
                let list = unknown.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>();
                let more = if unknown.len() > NAMED { ", ..." } else { "" };
                let text =
                    format!("columns that the model does not use are ignored: {}{more}", list.join(", "));
                data.notes.push(Note::warning(text));
            }
        }
        if let Some(stage) = self.stages.list.first() {
            data.notes.extend(stage.remarks(data.points.view(), half_of_ram() as u64)?);
        }
        Ok(data)
    }

    /// Adjusts the width of sparse rows without names. Such files do not declare their columns: a word that no
    /// training row has makes them wider, and one that no new row has makes them narrower.
    fn fit_width(&self, data: &mut Dataset) -> Result<()> {
        let view = data.points.view();
        let (Data::Csr { start, column, value }, None, Some(width)) =
            (view.data, &data.column_names, self.columns())
        else {
            return Ok(());
        };
        if view.d == width
            || self.any_columns
            || self.stages.list.first().is_some_and(|s| s.coded_columns().is_some())
        {
            return Ok(());
        }
        let kept = |p: &usize| (column[*p] as usize) < width;
        let mut csr = Csr { start: vec![0], column: Vec::new(), value: Vec::new() };
        for row in start.windows(2) {
            for p in (row[0]..row[1]).filter(kept) {
                csr.column.push(column[p]);
                csr.value.push(value[p]);
            }
            csr.start.push(csr.column.len());
        }
        let lost = value.len() - csr.value.len();
        let text = (lost > 0).then(|| {
            format!("columns after the {width} of the training data are ignored, with {lost} values that are not 0")
        });
        data.points = Points::sparse(csr, width)?;
        data.notes.extend(text.map(Note::warning));
        Ok(())
    }

    /// Takes names that differ from the model's in case or in blanks only for the model's own, where that is unambiguous.
    /// Returns a note on them, or on names of which the model knows none.
    fn spelt_alike(&self, data: &mut Dataset) -> Option<Note> {
        let names = data.column_names.as_mut().filter(|_| !self.names.columns.is_empty())?;
        let fold = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let known: HashSet<&String> = self.names.columns.iter().collect();
        let count = |list: &[String]| {
            let mut of: HashMap<String, usize> = HashMap::new();
            list.iter().for_each(|name| *of.entry(fold(name)).or_default() += 1);
            of
        };
        let (ours, theirs) = (count(&self.names.columns), count(names));
        let of_fold: HashMap<String, &String> =
            self.names.columns.iter().map(|name| (fold(name), name)).collect();
        let mut changed = Vec::new();
        for name in names.iter_mut().filter(|name| !known.contains(&**name)) {
            let folded = fold(name);
            if ours.get(&folded) == Some(&1) && theirs[&folded] == 1 {
                changed.push(format!("`{name}`"));
                name.clone_from(of_fold[&folded]);
            }
        }
        if !changed.is_empty() {
            let more = if changed.len() > NAMED { ", ..." } else { "" };
            changed.truncate(NAMED);
            let list = changed.join(", ");
            let text = format!("columns matched without regard to case and spaces: {list}{more}");
            return Some(Note::warning(text));
        }
        let (first, own) = (names.first()?, self.names.columns.first()?);
        let numbered = |name: &String| name.bytes().any(|b| b.is_ascii_digit());
        let foreign = !names.iter().any(|name| known.contains(name)) && !names.iter().all(numbered);
        let unnamed = || self.names.columns.iter().all(numbered);
        (foreign && !unnamed() && self.columns() == Some(names.len())).then(|| {
            Note::warning(format!(
                "no column of the data has a name that the model knows (`{first}`, not `{own}`): columns are matched by position"
            ))
        })
    }

    /// Names in the data that the model does not know.
    fn unknown(&self, data: &Dataset) -> Vec<String> {
        let known: HashSet<&String> = self.names.columns.iter().collect();
        let names = data.column_names.iter().flatten();
        names.filter(|name| !known.is_empty() && !known.contains(name)).cloned().collect()
    }

    /// The points of [`Model::arrange`]; `None` if they do not change.
    pub(super) fn arranged(&self, data: &Dataset) -> Result<Option<Points>> {
        Ok(self.arranged_and_filled(data)?.map(|(points, _)| points))
    }

    /// The same, and how many missing values were filled.
    fn arranged_and_filled(&self, data: &Dataset) -> Result<Option<(Points, usize)>> {
        let order = self.order(data)?;
        let view = data.points.view();
        if let Data::Table { table, .. } = view.data {
            let own = self.stages.list.first().filter(|s| s.coded_columns().is_some());
            return match (order, own) {
                (None, Some(stage)) => stage.check_cells(view, Exec::one()).map(|()| None),
                (Some(order), Some(stage)) => {
                    let points = Points::table(selected(table, &order, &self.names.columns)?);
                    stage.check_cells(points.view(), Exec::one())?;
                    Ok(Some((points, 0)))
                }
                (Some(order), None) => self.numbers(&selected(table, &order, &self.names.columns)?).map(Some),
                (None, None) => self.numbers(table).map(Some),
            };
        }
        let Some(order) = order else { return Ok(None) };
        let width = order.len();
        let Some(order) = order.iter().copied().collect::<Option<Vec<usize>>>() else {
            // Ignored columns are missing: only a table can represent that.
            let x = view.to_f64()?;
            let column = |at: usize| x.iter().skip(at).step_by(view.d.max(1)).copied().collect::<Vec<f64>>();
            let columns = order
                .iter()
                .map(|at| Column::Numbers(at.map_or_else(|| vec![f64::NAN; view.n], column)))
                .collect();
            return Ok(Some((Points::table(Table::new(self.names.columns.clone(), columns)?), 0)));
        };
        let points = match view.data {
            Data::F32(x) => {
                let rows = x.chunks(view.d.max(1));
                Points::dense_f32(rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(), width)?
            }
            Data::F64(x) => {
                let rows = x.chunks(view.d.max(1));
                Points::dense(rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(), width)?
            }
            // Named columns come from tables, which are dense unless requested otherwise.
            _ => {
                let x = view.to_f64()?;
                let rows = x.chunks(view.d.max(1));
                Points::dense(rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(), width)?
            }
        };
        Ok(Some((points, 0)))
    }

    /// The index in the data of each of the model's columns; `None` if the data does not change. A column that is
    /// missing and not needed has no index.
    fn order(&self, data: &Dataset) -> Result<Option<Vec<Option<usize>>>> {
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
        let places: HashMap<&String, usize> = names.iter().enumerate().map(|(j, name)| (name, j)).collect();
        // With no name in common the names are not meaningful, as in a header that numbers its columns.
        if !self.names.columns.iter().any(|name| places.contains_key(name)) {
            return Ok(None);
        }
        let place = |(name, needed): (&String, bool)| match places.get(name) {
            None if needed => {
                let got = format!("no column `{name}` among {}", names.join(", "));
                Err(Error::shape("columns of the data", got, "all columns that the model was trained with"))
            }
            at => Ok(at.copied()),
        };
        let order = self.names.columns.iter().zip(self.needed()).map(place);
        order.collect::<Result<Vec<Option<usize>>>>().map(Some)
    }

    /// A table as dense numbers, for a model without the stage `table`.
    fn numbers(&self, table: &Table) -> Result<(Points, usize)> {
        let (n, d) = (table.rows(), table.columns().len());
        let mut out = vec![0.0; n * d];
        let (mut fill, mut filled) = (None, 0);
        for (j, (name, column)) in table.names().iter().zip(table.columns()).enumerate() {
            for i in 0..n {
                let value = match column {
                    Column::Numbers(x) => Some(x[i]).filter(|v| !v.is_nan()),
                    Column::Text { .. } => match column.cell(i) {
                        Some(text) => Some(number(&text).ok_or_else(|| {
                            wrong(name, i, format!("`{text}`"), "a number, as the model was trained with")
                        })?),
                        None => None,
                    },
                };
                out[i * d + j] = if let Some(value) = value {
                    value
                } else {
                    if fill.is_none() {
                        let expected = "a value: the model was trained without missing ones, and its stages cannot be undone";
                        let mean =
                            self.mean_row(d).ok_or_else(|| wrong(name, i, "no value".into(), expected))?;
                        fill = Some(mean);
                    }
                    filled += 1;
                    fill.as_ref().map_or(0.0, |mean| mean[j])
                };
            }
        }
        Ok((Points::dense(out, d)?, filled))
    }

    /// The mean of the centres as a row of d columns before the stages, if these can be inverted.
    fn mean_row(&self, d: usize) -> Option<Vec<f64>> {
        let centres = self.entry().centres();
        let n = centres.len();
        let mut mean = vec![0.0; centres.dim()];
        for i in 0..n {
            let row = centres.row(i).to_f64();
            if row.len() != mean.len() {
                return None;
            }
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64);
        }
        let mean = Points::dense(mean, centres.dim()).ok()?;
        let row = self.stages.undo(mean.view(), Exec::one()).ok()?.view().to_f64().ok()?;
        (n > 0 && row.len() == d).then_some(row)
    }
}

/// Columns of a table in a given order, under the model's names; those without an index are missing values.
fn selected(table: &Table, order: &[Option<usize>], names: &[String]) -> Result<Table> {
    let kinds = order.iter().map(|at| at.and_then(|at| table.given()[at].clone())).collect();
    let absent = || Column::Numbers(vec![f64::NAN; table.rows()]);
    let columns = order.iter().map(|at| at.map_or_else(absent, |at| table.columns()[at].clone())).collect();
    Table::new(names.to_vec(), columns)?.with_kinds(kinds)
}

fn wrong(column: &str, row: usize, got: String, expected: &str) -> Error {
    Fault {
        row: Some(row as u64 + 1),
        column: Some(format!("`{column}`")),
        got: Some(got),
        expected: expected.into(),
        ..Fault::default()
    }
    .into()
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
    use crate::data::Stages;
    use crate::data::{Labels, Targets};
    use crate::exec::Exec;
    use crate::model::{Plan, Scaling, Wishes};

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
        let foreign = model.arrange(named(vec![6.0, 9.0], &["height", "weight"])).expect("as many columns");
        assert_eq!(foreign.points.view().to_f64().expect("numbers"), [6.0, 9.0]);
        assert!(foreign.notes[0].text.contains("matched by position"), "{:?}", foreign.notes);
        let capital = model.arrange(named(vec![6.0, 9.0, 1.0], &["Y", "z", " X "])).expect("all there");
        assert_eq!(capital.points.view().to_f64().expect("numbers"), [1.0, 6.0]);
        assert!(capital.notes[0].text.contains("without regard to case and spaces: `Y`, ` X `"));
        let both = model.arrange(named(vec![6.0, 9.0, 1.0], &["Y", "y", "x"])).expect("all there");
        assert_eq!(both.points.view().to_f64().expect("numbers"), [1.0, 9.0]);
    }

    #[test]
    fn sparse_rows_may_have_more_and_fewer_columns_than_those_of_the_training() {
        let sparse = |columns: &[u32], d: usize| {
            let csr = Csr {
                start: (0..=columns.len()).collect(),
                column: columns.to_vec(),
                value: vec![1.0; columns.len()],
            };
            Points::sparse(csr, d).expect("one entry a row")
        };
        let classes = Targets::Classes(Labels::new(["a", "b", "a", "b"]));
        let train = Dataset::new(sparse(&[0, 1, 0, 1], 3), classes).expect("whole");
        for line in ["", "unit", "standard"] {
            let scaling = Scaling::Given(Stages::parse(line).expect("a line"));
            let plan =
                Plan::new(&train, &Wishes { scaling, ..Wishes::default() }, Exec::one()).expect("a plan");
            let model = plan.fit(Exec::one(), &mut crate::watch::silent()).expect("a fit");
            let told = |columns: &[u32], d: usize| {
                let new = Dataset::new(sparse(columns, d), Targets::None).expect("whole");
                let fitting = model.arrange(new).expect("sparse rows");
                let f = model.decision(fitting.points.view(), Exec::one()).expect("as many columns");
                (f, fitting.notes.len())
            };
            let (same, none) = told(&[0, 1], 3);
            assert_eq!(told(&[0, 1], 2), (same.clone(), none), "{line}: narrower");
            let (wider, notes) = told(&[0, 1, 7], 8);
            assert_eq!((&wider[..2], notes), (&same[..], none + 1), "{line}: wider");
        }
    }
}
