//! What comes out of an experiment: one row a number, the paper's beside Mercer's.

use mercer_report::html::{self, Figure, Section};
use mercer_report::{Align, Page, Report, Table, Tone};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// What is the better of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// The smaller: errors.
    Lower,
    /// The larger.
    Higher,
    /// Neither: numbers that should be about the same.
    Near,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Hundredths.
    #[serde(rename = "%")]
    Percent,
    /// Things.
    #[serde(rename = "count")]
    Count,
    /// A number without a unit.
    #[serde(rename = "1")]
    One,
}

/// How the setting was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Chosen {
    /// It is the paper's.
    Paper,
    /// By validation on training rows, never on the test set.
    Validation,
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it has in common with its neighbours: the copy of the data, the paper's table.
    pub group: String,
    /// The setting it was measured in.
    pub setting: String,
    /// What was measured.
    pub quantity: &'static str,
    /// The paper's number; none where the run is not quite the paper's.
    pub paper: Option<f64>,
    /// Mercer's.
    pub mercer: f64,
    /// What both count.
    pub unit: Unit,
    /// What is better.
    pub better: Better,
    /// How the setting was chosen.
    pub chosen: Chosen,
}

impl Row {
    /// The row in a line.
    pub fn label(&self) -> String {
        format!("{}, {}: {}", self.group, self.setting, self.quantity)
    }

    fn shown(&self) -> [String; 2] {
        let digits = match self.unit {
            Unit::Percent | Unit::One => 2,
            Unit::Count => 0,
        };
        [self.paper.map_or_else(String::new, |p| p.to_string()), format!("{:.digits$}", self.mercer)]
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Row", 6)?;
        row.serialize_field("label", &self.label())?;
        row.serialize_field("paper", &self.paper)?;
        row.serialize_field("mercer", &self.mercer)?;
        row.serialize_field("unit", &self.unit)?;
        row.serialize_field("better", &self.better)?;
        row.serialize_field("chosen", &self.chosen)?;
        row.end()
    }
}

/// All numbers of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The experiment.
    pub name: &'static str,
    /// The numbers.
    pub rows: Vec<Row>,
    /// How long it took.
    pub seconds: f64,
    /// Its pictures.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

impl Outcome {
    /// Numbers and pictures as a page.
    pub fn page(&self) -> html::Page {
        let experiment = crate::find(self.name).ok();
        let shows = experiment.map_or("", |e| e.shows);
        let paper = experiment.map_or("", |e| e.paper);
        let mut sections = Vec::new();
        if !self.figures.is_empty() {
            sections.push(Section {
                heading: "Pictures".into(),
                figures: self.figures.clone(),
                ..Section::default()
            });
        }
        for group in self.rows.chunk_by(|a, b| a.group == b.group) {
            let columns =
                [("", Align::Left), ("", Align::Left), ("paper", Align::Right), ("mercer", Align::Right)];
            let cells = |row: &Row| {
                let [paper, mercer] = row.shown();
                let unit = if row.unit == Unit::Percent { ", %" } else { "" };
                vec![row.setting.clone(), format!("{}{unit}", row.quantity), paper, mercer]
            };
            sections.push(Section {
                heading: group[0].group.clone(),
                tables: vec![html::Table {
                    columns: columns.map(|(head, align)| (head.to_owned(), align)).to_vec(),
                    rows: group.iter().map(cells).collect(),
                    ..html::Table::default()
                }],
                ..Section::default()
            });
        }
        html::Page {
            title: self.name.into(),
            intro: format!("{shows}. {paper}.\n\n{}", experiment.map_or(&[][..], |e| e.notes).join(" ")),
            sections,
            footer: format!("{:.1} seconds", self.seconds),
            ..html::Page::default()
        }
    }
}

impl Report for Outcome {
    fn write(&self, page: &mut Page) {
        let experiment = crate::find(self.name).ok();
        page.title(self.name, experiment.map_or("", |e| e.paper));
        if let Some(experiment) = experiment {
            page.paragraph(&format!("{}.", experiment.shows));
        }
        for group in self.rows.chunk_by(|a, b| a.group == b.group) {
            page.heading(&group[0].group);
            page.table(&side_by_side(group));
        }
        page.blank();
        if self.rows.iter().any(|row| row.chosen == Chosen::Validation) {
            page.remark(Tone::Quiet, '*', "chosen by validation on training rows, not on the test set");
        }
        for note in experiment.map_or(&[][..], |e| e.notes) {
            page.remark(Tone::Quiet, '-', note);
        }
        page.remark(Tone::Quiet, '-', &format!("{:.1} seconds", self.seconds));
    }
}

/// Rows of one group as a table: a line a setting, for each quantity the paper's number and ours.
fn side_by_side(rows: &[Row]) -> Table {
    let mut quantities: Vec<&Row> = Vec::new();
    let mut settings: Vec<&Row> = Vec::new();
    for row in rows {
        if !quantities.iter().any(|q| q.quantity == row.quantity) {
            quantities.push(row);
        }
        if !settings.iter().any(|s| s.setting == row.setting) {
            settings.push(row);
        }
    }
    // A quantity without a number of the paper's has one column only.
    let beside: Vec<bool> = quantities
        .iter()
        .map(|q| rows.iter().any(|row| row.quantity == q.quantity && row.paper.is_some()))
        .collect();
    let mut table = Table::new().column("", Align::Left);
    let mut heads = vec![String::new()];
    for (row, &beside) in quantities.iter().zip(&beside) {
        let unit = if row.unit == Unit::Percent { ", %" } else { "" };
        table = table.column(&format!("{}{unit}", row.quantity), Align::Right);
        if beside {
            table = table.column("", Align::Right);
            heads.push("paper".into());
        }
        heads.push("mercer".into());
    }
    if beside.contains(&true) {
        table.toned_row(heads.into_iter().map(|head| (head, Tone::Quiet)));
    }
    for first in settings {
        let mark = if first.chosen == Chosen::Validation { " *" } else { "" };
        let mut cells = vec![(format!("{}{mark}", first.setting), Tone::Plain)];
        for (quantity, &beside) in quantities.iter().zip(&beside) {
            let cell = rows.iter().find(|r| r.setting == first.setting && r.quantity == quantity.quantity);
            let [paper, mercer] = cell.map(Row::shown).unwrap_or_default();
            if beside {
                cells.push((paper, Tone::Quiet));
            }
            cells.push((mercer, Tone::Plain));
        }
        table.toned_row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(setting: &str, quantity: &'static str, paper: Option<f64>, mercer: f64, unit: Unit) -> Row {
        Row {
            group: "smoothed".into(),
            setting: setting.into(),
            quantity,
            paper,
            mercer,
            unit,
            better: if unit == Unit::Percent { Better::Lower } else { Better::Near },
            chosen: Chosen::Paper,
        }
    }

    fn outcome() -> Outcome {
        let mut rows = vec![
            row("poly d=1", "test error", Some(8.9), 8.571, Unit::Percent),
            row("poly d=1", "SVs", Some(282.0), 301.4, Unit::Count),
            row("sigmoid", "test error", None, 5.0, Unit::Percent),
        ];
        rows[2].chosen = Chosen::Validation;
        Outcome { name: "made up", rows, seconds: 1.5, figures: Vec::new() }
    }

    #[test]
    fn programs_get_these_keys_and_no_others() {
        assert_eq!(
            serde_json::to_value(outcome()).expect("plain structs"),
            serde_json::json!({
                "name": "made up",
                "rows": [
                    { "label": "smoothed, poly d=1: test error", "paper": 8.9, "mercer": 8.571, "unit": "%",
                      "better": "lower", "chosen": "paper" },
                    { "label": "smoothed, poly d=1: SVs", "paper": 282.0, "mercer": 301.4, "unit": "count",
                      "better": "near", "chosen": "paper" },
                    { "label": "smoothed, sigmoid: test error", "paper": null, "mercer": 5.0, "unit": "%",
                      "better": "lower", "chosen": "validation" },
                ],
                "seconds": 1.5,
            })
        );
    }

    #[test]
    fn people_get_numbers_side_by_side() {
        let text = mercer_report::text(&outcome(), false);
        let wanted = "\
made up

  smoothed
             test error, %            SVs
                     paper  mercer  paper  mercer
  poly d=1             8.9    8.57    282     301
  sigmoid *                   5.00

  * chosen by validation on training rows, not on the test set
  - 1.5 seconds
";
        assert_eq!(text, wanted);
    }
}
