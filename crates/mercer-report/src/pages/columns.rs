//! Which columns matter, how predictions depend on them, and where the model is confident and wrong.

use super::{first_left, heads, targets, tiled};
use crate::explain::{mean, measure, response_in_words, rise, rise_in_words, short, told, wrong_in_words};
use crate::html::{Figure, Section, Table, Tile};
use crate::svg::{Axis, Chart, Heat, Look, Series, brief};
use crate::{Align, count, number};
use mercer::assess::{Dependence, Dependences, Importances, Mistakes};
use mercer::data::Dataset;
use mercer::model::Task;

/// Columns in the table.
const COLUMNS: usize = 60;
/// Classes with a curve each; of more, those whose curves change most.
const CURVES: usize = 6;

/// Columns by their importance, a line each; of images, a map of the pixels.
pub(super) fn important(found: &Importances) -> Section {
    let mut section = Section::new("Which columns matter", rise_in_words(found) + ".");
    section.figures.extend(map(found));
    let row =
        |c: &mercer::assess::Importance| vec![c.column.clone(), rise(found, c.rise), rise(found, c.spread)];
    section.tables.push(Table {
        caption: String::new(),
        columns: first_left(&["column", "increase of the error", "standard deviation"]),
        rows: found.columns.iter().take(COLUMNS).map(row).collect(),
    });
    section
}

/// Squares of images where they lie, each with the increase of the error without it.
fn map(found: &Importances) -> Option<Figure> {
    let shape = found.image?;
    let place = |square: &mercer::assess::Importance| {
        let first = square.members.first().map_or(0, |j| j / shape.channels);
        (first / shape.width, first % shape.width)
    };
    let sorted = |mut all: Vec<usize>| {
        all.sort_unstable();
        all.dedup();
        all
    };
    let tops = sorted(found.columns.iter().map(|square| place(square).0).collect());
    let lefts = sorted(found.columns.iter().map(|square| place(square).1).collect());
    let mut values = vec![vec![f64::NAN; lefts.len()]; tops.len()];
    for square in &found.columns {
        let (top, left) = place(square);
        if let (Ok(i), Ok(j)) = (tops.binary_search(&top), lefts.binary_search(&left)) {
            values[i][j] = square.rise;
        }
    }
    let names = |all: &[usize]| all.iter().map(|at| (at + 1).to_string()).collect();
    let share = found.metric != "rmse";
    let heat = Heat {
        title: "Importance of each square of pixels".into(),
        along: ("first column of the square".into(), "first line".into()),
        columns: names(&lefts),
        rows: names(&tops),
        values,
        write: if share { |v| format!("{:.1}", 100.0 * v) } else { brief },
        lower: false,
        mark: None,
    };
    let unit = if share { "points" } else { "in units of the target" };
    let caption = format!("Darker squares raise the error more when shuffled ({unit}).");
    Some(Figure::svg(heat.draw(), caption))
}

/// A increase of the error in a sentence.
pub(super) fn rise_of(found: &Importances, value: f64) -> String {
    match found.metric {
        "error" => format!("the error rate rises by {}", rise(found, value)),
        "changed" => format!("{} of the predictions change", rise(found, value)),
        _ => format!("the root mean squared error rises by {}", rise(found, value)),
    }
}

/// A picture for each column, or a table for categories.
pub(super) fn dependent(found: &Dependences) -> Option<Section> {
    let text = format!(
        "Partial dependence on the most important columns: all {} rows get the same value of a column, the other columns \
         keep theirs, and the predictions are averaged. If columns are correlated, some of these rows are unrealistic.",
        count(found.rows)
    );
    let mut section = Section::new("Partial dependence on these columns", text);
    for curve in &found.columns {
        if curve.numeric && curve.places.len() > 3 {
            section.figures.push(drawn(found, curve));
        } else {
            section.tables.push(listed(found, curve));
        }
    }
    let row = |(column, why): &(String, String)| vec![column.clone(), why.clone()];
    if !found.skipped.is_empty() {
        let columns = heads(&[("column without a curve", Align::Left), ("why", Align::Left)]);
        let rows = found.skipped.iter().map(row).collect();
        section.tables.push(Table { columns, rows, ..Table::default() });
    }
    (!section.figures.is_empty() || !section.tables.is_empty()).then_some(section)
}

/// The outputs that are shown: the second of two classes, else those that change most.
fn shown(found: &Dependences, curve: &Dependence) -> Vec<usize> {
    if found.outputs.len() <= 2 {
        return vec![told(found, curve)];
    }
    let mut order: Vec<usize> = (0..found.outputs.len()).collect();
    order.sort_by(|&a, &b| curve.range(b).total_cmp(&curve.range(a)).then(a.cmp(&b)));
    order.truncate(CURVES);
    order.sort_unstable();
    order
}

fn drawn(found: &Dependences, curve: &Dependence) -> Figure {
    let outputs = shown(found, curve);
    let several = outputs.len() > 1;
    let line = |&o: &usize| {
        let points = curve.places.iter().filter_map(|p| p.number.map(|x| (x, p.mean[o]))).collect();
        Series::new(if several { &found.outputs[o] } else { "" }, Look::Line, points).colour(o % 6)
    };
    let what = match (several, found.response) {
        (false, _) => response_in_words(found, outputs[0]),
        (true, "probability") => "mean probability of each class".into(),
        (true, _) => "fraction of rows predicted as each class".into(),
    };
    let y = match found.response {
        "prediction" => Axis::new("mean prediction"),
        // One scale for all columns: a flat line is a column that matters little.
        "probability" => Axis::new("probability").range(0.0, 1.0),
        _ => Axis::new("fraction of rows").range(0.0, 1.0),
    };
    let title = format!("{what} by {}", curve.column);
    let x = Axis::new(&curve.column);
    Figure::svg(Chart::new(&capital(&title), x, y, outputs.iter().map(line).collect()).draw(), "")
}

fn listed(found: &Dependences, curve: &Dependence) -> Table {
    let outputs = shown(found, curve);
    let mut columns = vec![(curve.column.clone(), Align::Left)];
    columns.extend(outputs.iter().map(|&o| (response_in_words(found, o), Align::Right)));
    let row = |p: &mercer::assess::Place| {
        let value = p.number.map_or_else(|| p.value.clone(), number);
        std::iter::once(value).chain(outputs.iter().map(|&o| mean(found, p.mean[o]))).collect()
    };
    Table { caption: format!("By `{}`", curve.column), columns, rows: curve.places.iter().map(row).collect() }
}

/// Wrong rows, the most confident first; images with what they are and what they were taken for.
pub(super) fn mistaken(task: Task, found: &Mistakes, test: Option<&Dataset>) -> Section {
    let heading = if found.measure == "error" { "Largest errors" } else { "Confident mistakes" };
    let mut section = Section::new(heading, wrong_in_words(found) + ".");
    if found.worst.is_empty() {
        return section;
    }
    if let Some((data, shape)) = test.and_then(|data| data.points.image().map(|shape| (data, shape))) {
        let tile = |m: &mercer::assess::Mistake| Tile {
            marked: true,
            ..Tile::new(data.points.row(m.row).to_f64(), format!("{} as {}", m.given, m.predicted))
        };
        let tiles = tiled(shape, found.worst.iter().map(tile).collect());
        section.figures.push(Figure::tiles(tiles, "True class and prediction."));
    }
    let named = found.worst.iter().any(|m| m.name.is_some());
    let mut columns = vec![("row", Align::Right)];
    if named {
        columns.push(("name", Align::Left));
    }
    columns.extend([("true", targets(task)), ("predicted", targets(task)), (measure(found), Align::Right)]);
    let row = |m: &mercer::assess::Mistake| {
        let name = named.then(|| m.name.clone().unwrap_or_default());
        let by = m.by.map_or_else(|| "unknown class".into(), number);
        let cells = [short(task, &m.given), short(task, &m.predicted), by];
        std::iter::once(count(m.row + 1)).chain(name).chain(cells).collect()
    };
    section.tables.push(Table {
        columns: heads(&columns),
        rows: found.worst.iter().map(row).collect(),
        ..Table::default()
    });
    section
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
