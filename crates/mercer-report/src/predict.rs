//! Predictions: as lines for other programs, and as a summary if they were written to a file.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Align, Page, Report, Table, Tone, count, number, percent, visible};
use mercer::data::io::spreadsheet_safe;
use mercer::data::table::Column;
use mercer::data::{Dataset, Points, Targets};
use mercer::model::{Model, Prediction, Reject};

/// One prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// A class.
    Class(String),
    /// A number.
    Real(f64),
    /// None: the reject rule says that it would be a guess.
    Rejected,
}

/// A column as the data have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Copied {
    /// Its name.
    pub name: String,
    /// One value a row.
    pub values: Vec<String>,
}

/// Predictions for some rows.
#[derive(Debug, Clone, Serialize)]
pub struct Predictions {
    /// One a row.
    pub predictions: Vec<Answer>,
    /// What the further columns hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The further columns, row by row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Vec<f64>>,
    /// Columns of the data, copied as they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<Copied>,
    /// What the rows are known to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<Copied>,
    /// The reject rule, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reject: Option<Reject>,
    #[serde(skip)]
    classes: Vec<String>,
    /// Whether these rows follow others, whose header is theirs.
    #[serde(skip)]
    further: bool,
}

impl Predictions {
    /// What a model predicted, with decision values and probabilities where they were asked for.
    pub fn new(model: &Model, found: &Prediction) -> Self {
        let classes = model.classes();
        let rejected = |i: usize| found.rejected.get(i) == Some(&true);
        let predictions = match &found.targets {
            Targets::Classes(labels) => (0..labels.len())
                .map(|i| if rejected(i) { Answer::Rejected } else { Answer::Class(labels.name_of(i).into()) })
                .collect(),
            Targets::Reals(values) => values.iter().copied().map(Answer::Real).collect(),
            Targets::None => Vec::new(),
        };
        let mut columns = Vec::new();
        let mut values = Vec::new();
        if let Some(decision) = &found.decision {
            let k = model.outputs();
            let name = |o: usize| match model.machine.output_name(o) {
                name if name.is_empty() => "decision".to_owned(),
                name => name,
            };
            columns.extend((0..k).map(name));
            beside(&mut values, decision, k);
        }
        if let Some(probabilities) = &found.probabilities {
            columns.extend(classes.iter().cloned());
            beside(&mut values, &probabilities.values, classes.len());
        }
        let (copied, truth) = (Vec::new(), None);
        Predictions {
            predictions,
            columns,
            values,
            copied,
            truth,
            reject: found.reject,
            classes,
            further: false,
        }
    }

    /// The same behind copied columns, and before the truth.
    #[must_use]
    pub fn with(mut self, copied: Vec<Copied>, truth: Option<Copied>) -> Self {
        self.copied = copied;
        self.truth = truth;
        self
    }

    /// The same as a part that follows others: its lines have no header.
    #[must_use]
    pub fn further(mut self) -> Self {
        self.further = true;
        self
    }

    /// One line per row. Several columns get a header and are parted by `delimiter`; a single one gets a header if
    /// asked. Names are as they are, in quotes where they hold what would end a field or a line.
    pub fn lines(&self, delimiter: char, header: bool) -> String {
        self.written(delimiter, header, false)
    }

    /// [`Predictions::lines`] for people: control characters in names are escaped.
    pub fn text(&self) -> String {
        self.written(',', false, true)
    }

    /// The same with names that a spreadsheet takes for text and not for formulas: see
    /// [`spreadsheet_safe`](mercer::data::io::spreadsheet_safe).
    #[must_use]
    pub fn spreadsheet_safe(mut self) -> Self {
        let safe = |name: &mut String| *name = spreadsheet_safe(name).into_owned();
        self.columns.iter_mut().for_each(safe);
        for answer in &mut self.predictions {
            if let Answer::Class(name) = answer {
                safe(name);
            }
        }
        for column in self.copied.iter_mut().chain(&mut self.truth) {
            safe(&mut column.name);
            column.values.iter_mut().for_each(safe);
        }
        self.classes.iter_mut().for_each(safe);
        self
    }

    fn written(&self, delimiter: char, header: bool, escaped: bool) -> String {
        let field = |name: &str| {
            let name = if escaped { visible(name) } else { Cow::Borrowed(name) };
            quoted(&name, delimiter)
        };
        let mut out = String::new();
        let alone = self.columns.is_empty() && self.copied.is_empty() && self.truth.is_none();
        if (header || !alone) && !self.further {
            let front = self.copied.iter().map(|c| c.name.as_str());
            let truth = self.truth.iter().map(|c| c.name.as_str());
            let back = truth.chain(self.columns.iter().map(String::as_str));
            let names: Vec<String> = front.chain(["prediction"]).chain(back).map(field).collect();
            let _ = writeln!(out, "{}", names.join(&delimiter.to_string()));
        }
        for (i, answer) in self.predictions.iter().enumerate() {
            for column in &self.copied {
                out.push_str(&field(&column.values[i]));
                out.push(delimiter);
            }
            match answer {
                // A line of its own needs no quotes but for a line's end.
                Answer::Class(name) if alone && !header && (escaped || !name.contains(['\n', '\r'])) => {
                    out.push_str(&if escaped { visible(name) } else { Cow::Borrowed(name.as_str()) });
                }
                Answer::Class(name) => out.push_str(&field(name)),
                Answer::Real(value) => {
                    let _ = write!(out, "{value}");
                }
                Answer::Rejected => out.push('?'),
            }
            if let Some(column) = &self.truth {
                out.push(delimiter);
                out.push_str(&field(&column.values[i]));
            }
            for value in self.values.get(i).into_iter().flatten() {
                let _ = write!(out, "{delimiter}{value}");
            }
            out.push('\n');
        }
        out
    }

    /// The same as data, for formats that keep columns: copied columns, the prediction, the truth, further columns.
    /// For rejected rows the prediction is missing.
    ///
    /// # Errors
    ///
    /// Where two columns have one name.
    pub fn dataset(&self) -> mercer::Result<Dataset> {
        let mut names = Vec::new();
        let mut columns = Vec::new();
        let copied =
            |c: &Copied| Column::text(c.values.iter().map(|v| (!v.is_empty()).then_some(v.as_str())));
        for column in &self.copied {
            names.push(column.name.clone());
            columns.push(copied(column));
        }
        names.push("prediction".to_owned());
        let real = |a: &Answer| if let Answer::Real(v) = a { *v } else { f64::NAN };
        let class = |a: &Answer| if let Answer::Class(name) = a { Some(name.clone()) } else { None };
        columns.push(if self.predictions.iter().any(|a| matches!(a, Answer::Class(_))) {
            let cells: Vec<Option<String>> = self.predictions.iter().map(class).collect();
            Column::text(cells.iter().map(Option::as_deref))
        } else {
            Column::Numbers(self.predictions.iter().map(real).collect())
        });
        if let Some(column) = &self.truth {
            names.push(column.name.clone());
            columns.push(copied(column));
        }
        for (j, name) in self.columns.iter().enumerate() {
            names.push(name.clone());
            columns.push(Column::Numbers(self.values.iter().map(|row| row[j]).collect()));
        }
        Dataset::new(Points::table(mercer::data::Table::new(names, columns)?), Targets::None)
    }

    /// What to say when they went to a file. With the rows' own targets it says how many are right.
    pub fn summary(&self, file: PathBuf, targets: &Targets) -> Predicted {
        let is = |class: &str| {
            self.predictions.iter().filter(|a| matches!(a, Answer::Class(c) if c == class)).count()
        };
        let reals: Vec<f64> = self
            .predictions
            .iter()
            .filter_map(|a| if let Answer::Real(v) = a { Some(*v) } else { None })
            .collect();
        let classes: Vec<(String, usize)> = self.classes.iter().map(|c| (c.clone(), is(c))).collect();
        let right = match targets {
            Targets::Classes(labels)
                if !self.classes.is_empty() && labels.len() == self.predictions.len() =>
            {
                let same = |(i, a): (usize, &Answer)| matches!(a, Answer::Class(c) if c == labels.name_of(i));
                let known = labels.names.iter().any(|name| self.classes.contains(name));
                known.then(|| self.predictions.iter().enumerate().filter(|&p| same(p)).count())
            }
            _ => None,
        };
        let rejected = self.predictions.iter().filter(|a| matches!(a, Answer::Rejected)).count();
        Predicted { file, rows: self.predictions.len(), classes, range: range(&reals), rejected, right }
    }
}

impl Report for Predictions {
    fn write(&self, page: &mut Page) {
        for line in self.text().lines() {
            page.line(line);
        }
    }
}

impl Predicted {
    /// Merges with predictions that were written after these.
    pub fn add(&mut self, more: &Predicted) {
        let share = |rows: usize| rows as f64 / (self.rows + more.rows).max(1) as f64;
        self.range = match (self.range, more.range) {
            (Some([low, mean, high]), Some([a, b, c])) => {
                Some([low.min(a), mean * share(self.rows) + b * share(more.rows), high.max(c)])
            }
            (one, other) => one.or(other),
        };
        self.right = self.right.zip(more.right).map(|(a, b)| a + b);
        self.rows += more.rows;
        self.rejected += more.rejected;
        self.classes.iter_mut().zip(&more.classes).for_each(|(own, (_, rows))| own.1 += rows);
    }
}

/// Predictions that were written to a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Predicted {
    /// The file.
    pub file: PathBuf,
    /// Rows in it.
    pub rows: usize,
    /// How often each class was answered.
    pub classes: Vec<(String, usize)>,
    /// Smallest, mean and largest prediction, for numbers.
    pub range: Option<[f64; 3]>,
    /// Number of rejected rows.
    pub rejected: usize,
    /// Number of correct predictions, for labelled data.
    pub right: Option<usize>,
}

impl Report for Predicted {
    fn write(&self, page: &mut Page) {
        page.remark(Tone::Good, '✓', &format!("{}: {} predictions", self.file.display(), count(self.rows)));
        if let Some([low, mean, high]) = self.range {
            page.facts([("range", format!("{} to {}, mean {}", number(low), number(high), number(mean)))]);
        }
        if !self.classes.is_empty() && self.classes.len() <= 20 {
            page.blank();
            let mut table = Table::new()
                .column("prediction", Align::Left)
                .column("rows", Align::Right)
                .column("share", Align::Right);
            let share = |n: usize| percent(n as f64 / self.rows.max(1) as f64);
            for (name, rows) in &self.classes {
                table.row([name.clone(), count(*rows), share(*rows)]);
            }
            if self.rejected > 0 {
                table.row(["? (rejected)".into(), count(self.rejected), share(self.rejected)]);
            }
            page.table(&table);
        }
        if let Some(right) = self.right {
            let answered = self.rows - self.rejected;
            page.blank();
            page.paragraph(&format!(
                "The data have labels: {} of {} predictions are correct. See `mercer evaluate` for details.",
                count(right),
                count(answered)
            ));
        }
    }
}

/// Adds k further values to each row.
fn beside(rows: &mut Vec<Vec<f64>>, values: &[f64], k: usize) {
    rows.resize(values.len() / k.max(1), Vec::new());
    rows.iter_mut().zip(values.chunks(k.max(1))).for_each(|(row, more)| row.extend(more));
}

/// A field of a table: in quotes where it holds what would end it.
fn quoted(text: &str, delimiter: char) -> String {
    if text.contains([delimiter, '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn range(values: &[f64]) -> Option<[f64; 3]> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some([low, values.iter().sum::<f64>() / values.len() as f64, high])
}
