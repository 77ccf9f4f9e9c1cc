//! What is said after a model was compressed.

use std::path::PathBuf;

use serde::Serialize;

use crate::model::Compression;
use crate::report::{Align, Page, Report, Table, Tone, bytes, count, number, percent};

/// A model's size and speed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weight {
    /// Its centres: kernel values a point costs.
    pub centres: usize,
    /// Bytes of its file.
    pub bytes: u64,
    /// Microseconds a row's outputs take, measured.
    pub micros_per_row: f64,
    /// Its error on the data, where that has answers: the share of wrong classes, or the root mean square.
    pub error: Option<f64>,
}

/// A compressed model beside the one it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompressReport {
    /// The model's file.
    pub model: String,
    /// The file written.
    pub file: PathBuf,
    /// The model as it was.
    pub whole: Weight,
    /// The smaller one.
    pub small: Weight,
    /// Whether errors are shares of wrong classes.
    pub classes: bool,
    /// How it went.
    #[serde(flatten)]
    pub about: Compression,
}

impl Report for CompressReport {
    fn write(&self, page: &mut Page) {
        page.title(&self.model, &format!("compressed by {}", self.about.set.method.name()));
        page.blank();
        let mut table = Table::new().column("", Align::Left);
        for head in ["before", "after", "smaller by"] {
            table = table.column(head, Align::Right);
        }
        let times = |a: f64, b: f64| if b > 0.0 { format!("{:.1} times", a / b) } else { String::new() };
        let (a, b) = (&self.whole, &self.small);
        let centres = (a.centres as f64, b.centres as f64);
        table.row(["centres".into(), count(a.centres), count(b.centres), times(centres.0, centres.1)]);
        table.row([
            "file".into(),
            bytes(a.bytes as usize),
            bytes(b.bytes as usize),
            times(a.bytes as f64, b.bytes as f64),
        ]);
        let micros = |v: f64| format!("{} us", number(v));
        table.row([
            "a row takes".into(),
            micros(a.micros_per_row),
            micros(b.micros_per_row),
            times(a.micros_per_row, b.micros_per_row),
        ]);
        if let (Some(x), Some(y)) = (a.error, b.error) {
            let shown = |v: f64| if self.classes { percent(v) } else { number(v) };
            table.row(["error on the data".into(), shown(x), shown(y), String::new()]);
        }
        page.table(&table);
        page.blank();
        let rows = if self.about.given { "rows of the data" } else { "centres of the model" };
        page.facts([
            ("agreement", format!("{} on {} {rows}", percent(self.about.agreement), count(self.about.rows))),
            ("distance", format!("{} of the length in feature space", percent(self.about.set.error))),
        ]);
        page.blank();
        for note in &self.about.notes {
            page.remark(Tone::Quiet, '-', note);
        }
        page.remark(Tone::Good, '✓', &format!("{}: the smaller model", self.file.display()));
    }
}
