//! The report of a compression.

use std::path::PathBuf;

use serde::Serialize;

use crate::html::{self, Figure, Ink, Section, Tile, Tiles};
use crate::svg::{Axis, Chart, Series};
use crate::{Align, Page, Report, Table, Tone, bytes, count, number, percent};
use mercer::model::{CompressionFacts, Model};

/// A model's size and speed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Weight {
    /// Its centres: kernel values a point costs.
    pub centres: usize,
    /// Bytes of its file.
    pub bytes: u64,
    /// Microseconds a row's outputs take, measured.
    pub micros_per_row: f64,
    /// Its error on labelled data: error rate, or root mean squared error.
    pub error: Option<f64>,
}

/// Accuracy by size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TradeOff {
    /// Centres.
    pub centres: usize,
    /// `|Psi - Psi'| / |Psi|`.
    pub distance: f64,
    /// The share of unchanged predictions; for numbers, of their variance.
    pub agreement: f64,
    /// The error on labelled data.
    pub error: Option<f64>,
}

/// A compressed model compared with the original.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompressReport {
    /// The model's file.
    pub model: String,
    /// The file written.
    pub file: PathBuf,
    /// The original model.
    pub whole: Weight,
    /// The smaller one.
    pub small: Weight,
    /// Whether errors are shares of wrong classes.
    pub classes: bool,
    /// Other sizes for comparison, ascending; empty if not requested.
    pub curve: Vec<TradeOff>,
    /// The report of the compression.
    #[serde(flatten)]
    pub about: CompressionFacts,
}

impl CompressReport {
    /// What the distance is a share of.
    fn length(&self) -> &'static str {
        if self.about.set.by_outputs {
            "the outputs at the model's centres"
        } else {
            "the length in feature space"
        }
    }
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
        // Below a few centres a row costs what the call costs: a ratio of two such times would say nothing.
        let faster = |a: f64, b: f64| if a < 1.05 * b { "no faster".to_owned() } else { times(a, b) };
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
            "time per row".into(),
            micros(a.micros_per_row),
            micros(b.micros_per_row),
            faster(a.micros_per_row, b.micros_per_row),
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
            ("distance", format!("{} of {}", percent(self.about.set.error), self.length())),
        ]);
        page.blank();
        for note in &self.about.notes {
            page.remark(Tone::Quiet, '-', note);
        }
        page.remark(Tone::Good, '✓', &format!("{}: the smaller model", self.file.display()));
    }
}

/// Images of centres shown.
const IMAGES: usize = 120;

/// The page of a compressed model: sizes, what other sizes would cost, and the new centres where they are images.
pub fn compressed_page(report: &CompressReport, small: &Model) -> html::Page {
    let (a, b, set) = (&report.whole, &report.small, &report.about.set);
    let mut sizes = Section::new("Before and after", report.about.notes.join(". "));
    let arrow = |a: String, b: String| format!("{a} → {b}");
    let micros = |v: f64| format!("{} us", number(v));
    let fact = |name: &str, value: String| (name.to_owned(), value);
    sizes.facts = vec![
        fact("centres", arrow(count(a.centres), count(b.centres))),
        fact("file", arrow(bytes(a.bytes as usize), bytes(b.bytes as usize))),
        fact("time per row", arrow(micros(a.micros_per_row), micros(b.micros_per_row))),
        fact("predictions unchanged", percent(report.about.agreement)),
        fact("distance", format!("{} of {}", percent(set.error), report.length())),
    ];
    if let (Some(x), Some(y)) = (a.error, b.error) {
        let shown = |v: f64| if report.classes { percent(v) } else { number(v) };
        sizes.facts.push(fact("error on the data", arrow(shown(x), shown(y))));
    }
    let mut sections = vec![sizes];
    let mut costs = Section::new("Accuracy by size", "");
    costs.figures = trade_off(&report.curve, report.classes, a.error, &set.path);
    if !costs.figures.is_empty() {
        sections.push(costs);
    }
    if let Some(figure) = centre_images(small) {
        let mut images = Section::new("The centres", "");
        images.figures = vec![figure];
        sections.push(images);
    }
    html::Page {
        title: report.file.display().to_string(),
        intro: format!("`{}` with fewer centres, found by {}.", report.model, set.method.name()),
        verdict: format!(
            "{} centres instead of {}. {} of the predictions stay the same.",
            count(b.centres),
            count(a.centres),
            percent(report.about.agreement)
        ),
        sections,
        ..html::Page::default()
    }
}

/// Sizes against what they cost, and the distance vector by vector.
fn trade_off(curve: &[TradeOff], classes: bool, whole: Option<f64>, path: &[f64]) -> Vec<Figure> {
    let centres = || Axis::new("centres").log();
    let points = |of: &dyn Fn(&TradeOff) -> Option<f64>| -> Vec<(f64, f64)> {
        curve.iter().filter_map(|t| of(t).map(|v| (t.centres as f64, v))).collect()
    };
    let both = |name: &str, points: &[(f64, f64)], colour: usize| {
        [Series::line(name, points.to_vec()).colour(colour), Series::dots("", points.to_vec()).colour(colour)]
    };
    let mut out = Vec::new();
    if curve.len() > 1 {
        let stayed = points(&|t| Some(100.0 * (1.0 - t.agreement)));
        let chart = Chart::new(
            "Changed predictions over size",
            centres(),
            Axis::new("changed, per cent"),
            both("", &stayed, 0).into(),
        );
        out.push(Figure::svg(
            chart.draw(),
            "Fraction of predictions that differ from the original model, over size.",
        ));
        let unit = if classes { 100.0 } else { 1.0 };
        let errors = points(&|t| t.error.map(|e| unit * e));
        if errors.len() > 1 {
            let label = if classes { "error, per cent" } else { "root mean square error" };
            let mut series: Vec<Series> = both("compressed", &errors, 0).into();
            if let (Some(whole), Some(first), Some(last)) = (whole, errors.first(), errors.last()) {
                let line = vec![(first.0, unit * whole), (last.0, unit * whole)];
                series.push(Series::line("whole", line).colour(1));
            }
            let chart = Chart::new("Error by size", centres(), Axis::new(label), series);
            out.push(Figure::svg(chart.draw(), "Error on the data by number of centres."));
        }
    }
    if path.len() > 2 {
        let line: Vec<(f64, f64)> = path.iter().enumerate().map(|(i, e)| (i as f64, 100.0 * e)).collect();
        let chart = Chart::new(
            "Distance by vector",
            Axis::new("vectors of each set"),
            Axis::new("distance, per cent"),
            vec![Series::line("", line).colour(0)],
        );
        out.push(Figure::svg(
            chart.draw(),
            "Phase one: remaining squared distance in feature space after each vector.",
        ));
    }
    out
}

/// The centres as images with their coefficients, machine by machine, the largest first; none if they are no images.
pub fn centre_images(model: &Model) -> Option<Figure> {
    let f = &model.machine.expansion;
    let (shape, k) = (f.centres().image()?, f.outputs());
    let each = (IMAGES / k).clamp(4, IMAGES);
    let mut tiles = Vec::new();
    for o in 0..k {
        let coef = |j: usize| f.coef()[j * k + o];
        let mut order: Vec<usize> = (0..f.len()).filter(|&j| coef(j) != 0.0).collect();
        order.sort_by(|&a, &b| coef(b).abs().total_cmp(&coef(a).abs()));
        order.truncate(each);
        order.sort_by(|&a, &b| coef(b).total_cmp(&coef(a)));
        let name = model.machine.output_name(o);
        let name = name.split(' ').next().filter(|_| k > 1).map_or(String::new(), |n| format!("{n}: "));
        let tile = |j: usize| Tile::new(f.centres().row(j).to_f64(), format!("{name}{:+.2}", coef(j)));
        tiles.extend(order.into_iter().map(tile));
    }
    tiles.truncate(2 * IMAGES);
    let ink = Ink::levels(tiles.iter().flat_map(|t| &t.pixels));
    let caption = "The new centres with their coefficients: positive ones support the class of the machine, negative ones \
                   oppose it.";
    Some(Figure::tiles(Tiles { shape, ink, tiles }, caption))
}
