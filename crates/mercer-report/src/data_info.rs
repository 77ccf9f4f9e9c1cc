//! What `mercer data info` says of a file.

use serde::Serialize;

use crate::picture::{Captioned, cropped, side_by_side};
use crate::scatter::MARKS;
use crate::{Align, Page, Report, Table, Tone, bytes, clean, count, number, percent, picture, scatter};
use mercer::data::{
    ClassCount, Column, Dataset, Finding, ImageShape, Spread, Summary, TableColumn, TargetFacts, Targets,
};
use mercer::watch::{Note, NoteKind};

/// With no more columns than this each is shown without being asked for.
const FEW_COLUMNS: usize = 12;
/// Classes shown in a table; more are summed up.
const CLASSES: usize = 12;
/// Characters for pictures.
const ROOM: usize = 76;
/// Fewer points than this make no picture.
const ENOUGH: usize = 20;
/// No more points than this are drawn.
const DRAWN: usize = 2000;

/// Facts of a file's data.
#[derive(Debug, Clone, Serialize)]
pub struct DataInfo {
    /// The file, or another name for where the data came from.
    pub source: String,
    /// What the reader decided: format, label column.
    pub notes: Vec<Note>,
    /// Name of the target's column, where there is one.
    pub target_name: Option<String>,
    /// How the target's column was guessed; none where it was given or its name says it.
    pub target_guess: Option<String>,
    /// Names of the columns, where the file has them.
    pub column_names: Option<Vec<String>>,
    /// The facts.
    #[serde(flatten)]
    pub summary: Summary,
    /// The findings in words, in the summary's order.
    pub messages: Vec<String>,
    #[serde(skip)]
    columns_shown: bool,
    #[serde(skip)]
    pub(crate) drawing: Vec<String>,
}

impl DataInfo {
    /// The facts of a data set. Single columns are listed when they are few or `each_column` asks for them.
    pub fn new(source: impl Into<String>, data: &Dataset, each_column: bool) -> Self {
        let mut summary = Summary::new(&data.points, &data.targets);
        let names = Names(data.column_names.as_deref());
        let (apart, notes): (Vec<Note>, Vec<Note>) =
            data.notes.iter().cloned().partition(|note| note.kind == NoteKind::OtherRun);
        let mut messages: Vec<String> =
            apart.into_iter().map(|note| format!("This file is {note}.")).collect();
        messages.extend(summary.findings.iter().map(|finding| message(finding, &names)));
        let few = summary.columns <= FEW_COLUMNS && summary.image.is_none();
        let columns_shown = each_column || few;
        let drawing = drawing(data, &summary);
        if !columns_shown {
            summary.each.clear();
        }
        DataInfo {
            source: source.into(),
            notes,
            target_name: data.target_name.clone(),
            target_guess: data
                .target_from
                .as_ref()
                .filter(|from| from.guessed)
                .and_then(|from| from.why.clone()),
            column_names: data.column_names.clone().filter(|_| columns_shown),
            summary,
            messages,
            columns_shown,
            drawing,
        }
    }
}

impl Report for DataInfo {
    fn write(&self, page: &mut Page) {
        let s = &self.summary;
        page.title(&self.source, &self.notes.join("; "));
        page.blank();
        if let Some(columns) = &s.table {
            page.table(&kinds_table(columns, self.columns_shown));
            page.blank();
        }
        page.facts(self.facts());
        if let TargetFacts::Classes { classes } = &s.targets {
            page.blank();
            page.table(&class_table(classes, s.rows, s.columns == 2 && !self.drawing.is_empty()));
        }
        if !self.drawing.is_empty() {
            page.blank();
            page.drawing(&self.drawing, s.image.is_none());
        }
        if self.columns_shown && s.columns > 0 && !s.each.is_empty() {
            page.blank();
            page.table(&column_table(&s.each, &Names(self.column_names.as_deref())));
        }
        page.blank();
        if self.messages.is_empty() {
            page.remark(Tone::Good, '✓', "Nothing suspicious.");
        } else {
            page.heading("Worth a look");
            for message in &self.messages {
                page.remark(Tone::Warn, '!', message);
            }
        }
    }
}

impl DataInfo {
    fn facts(&self) -> Vec<(&'static str, String)> {
        let s = &self.summary;
        let mut facts = vec![("rows", count(s.rows))];
        match &s.sequences {
            Some(seq) if seq.shortest == seq.longest => {
                facts.push(("sequences", format!("of {} letters {}", count(seq.longest), seq.alphabet)));
            }
            Some(seq) => facts.push((
                "sequences",
                format!("of {} to {} letters {}", count(seq.shortest), count(seq.longest), seq.alphabet),
            )),
            None => facts.push(("columns", count(s.columns))),
        }
        if let Some(ImageShape { height, width, channels }) = s.image {
            let channels = if channels == 1 { String::new() } else { format!(", {channels} channels") };
            facts.push(("images", format!("{height} x {width} pixels{channels}")));
        }
        if let Some(values) = &s.values {
            facts.push(("values", spread(values)));
            facts.push(("zeros", percent(1.0 - s.density)));
        }
        facts.push(("stored", format!("{}, {}", s.storage, bytes(s.bytes))));
        let name: Vec<String> = (self.target_name.as_ref().map(|n| format!("column {n}")).into_iter())
            .chain(self.target_guess.clone())
            .collect();
        let name = if name.is_empty() { String::new() } else { format!(" ({})", name.join("; ")) };
        facts.push((
            "target",
            match &s.targets {
                TargetFacts::None => "none".into(),
                TargetFacts::Classes { classes } => format!("{} classes{name}", count(classes.len())),
                TargetFacts::Reals(y) => format!("real numbers, {}{name}", spread(y)),
            },
        ));
        facts
    }
}

/// Columns of a table shown without being asked for.
const TABLE_COLUMNS: usize = 40;

/// What the columns of a table are.
fn kinds_table(columns: &[TableColumn], all: bool) -> Table {
    let mut table = Table::new()
        .column("column", Align::Left)
        .column("kind", Align::Left)
        .column("missing", Align::Right)
        .column("values", Align::Right)
        .column("for example", Align::Left);
    let shown = if all { columns.len() } else { TABLE_COLUMNS.min(columns.len()) };
    for c in &columns[..shown] {
        let missing = if c.missing == 0.0 { "-".into() } else { percent(c.missing) };
        let examples: Vec<String> = c.examples.iter().map(|e| shortened(e)).collect();
        table.row([c.name.clone(), c.kind.into(), missing, count(c.values), examples.join(", ")]);
    }
    if shown < columns.len() {
        let more = format!("{} more", count(columns.len() - shown));
        table.toned_row([more, "--each shows them".into()].map(|cell| (cell, Tone::Quiet)));
    }
    table
}

/// The beginning of a long text.
fn shortened(text: &str) -> String {
    const MOST: usize = 20;
    let short: String = text.chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() { short + "..." } else { short }
}

fn spread(s: &Spread) -> String {
    format!("{} to {}, mean {}, std {}", number(s.min), number(s.max), number(s.mean), number(s.std))
}

fn class_table(classes: &[ClassCount], n: usize, marks: bool) -> Table {
    let mut table = Table::new();
    if marks {
        table = table.column("", Align::Left);
    }
    table = table
        .column("class", Align::Left)
        .column("rows", Align::Right)
        .column("share", Align::Right)
        .column("", Align::Left);
    let most = classes.iter().map(|c| c.rows).max().unwrap_or(0).max(1);
    let share = |rows: usize| percent(rows as f64 / n.max(1) as f64);
    for (k, class) in classes.iter().take(CLASSES).enumerate() {
        let bar = "█".repeat((24.0 * class.rows as f64 / most as f64).round() as usize);
        let mark = marks.then(|| (MARKS[k % MARKS.len()].to_string(), Tone::class(k)));
        let cells = [
            (class.name.clone(), Tone::Strong),
            (count(class.rows), Tone::Plain),
            (share(class.rows), Tone::Plain),
            (bar, Tone::class(if marks { k } else { 0 })),
        ];
        table.toned_row(mark.into_iter().chain(cells));
    }
    let rest = &classes[classes.len().min(CLASSES)..];
    if !rest.is_empty() {
        let rows = rest.iter().map(|c| c.rows).sum::<usize>();
        let cells = [format!("{} more", count(rest.len())), count(rows), share(rows)];
        let mark = marks.then(String::new);
        table.toned_row(mark.into_iter().chain(cells).map(|cell| (cell, Tone::Quiet)));
    }
    table
}

fn column_table(each: &[Column], names: &Names<'_>) -> Table {
    let mut table = Table::new()
        .column("column", Align::Left)
        .column("kind", Align::Left)
        .column("least", Align::Right)
        .column("most", Align::Right)
        .column("mean", Align::Right)
        .column("std", Align::Right);
    for Column { column, kind, spread } in each {
        let name = names.plain(*column);
        let numbers = [spread.min, spread.max, spread.mean, spread.std].map(number);
        table.row([name, (*kind).to_owned()].into_iter().chain(numbers));
    }
    table
}

/// Columns by their names, where they have some, else by their numbers from 1.
pub(super) struct Names<'a>(pub(super) Option<&'a [String]>);

impl Names<'_> {
    fn plain(&self, column: usize) -> String {
        self.0.and_then(|names| names.get(column)).cloned().unwrap_or_else(|| (column + 1).to_string())
    }

    fn of(&self, column: usize) -> String {
        match self.0.and_then(|names| names.get(column)) {
            Some(name) => format!("`{name}`"),
            None => (column + 1).to_string(),
        }
    }
}

/// A finding in words: what was seen, why it matters, what to do.
pub(super) fn message(finding: &Finding, names: &Names<'_>) -> String {
    match finding {
        Finding::NotFinite { row, column } => {
            format!("Row {}, column {}: not a finite number.", row + 1, names.of(*column))
        }
        Finding::OneClass { name } => {
            format!("All rows are of class {name}: there is nothing to classify.")
        }
        Finding::Leak { column } => format!(
            "Column {} determines the target in every row. Pass --ignore unless its value is known when a prediction is \
             made.",
            names.of(*column)
        ),
        Finding::ConflictingRows { count: 1, first } => format!(
            "Row {} equals row {} but has another target: one of the two is wrong, or the columns are not sufficient.",
            first[1] + 1,
            first[0] + 1
        ),
        Finding::ConflictingRows { count: n, first } => format!(
            "{} rows equal an earlier row and have another target (first: row {} against row {}).",
            count(*n),
            first[1] + 1,
            first[0] + 1
        ),
        Finding::RowNumbers { column } => format!(
            "Column {} looks like a row number or a date: whole numbers, all different. Remove it unless it \
             is informative.",
            names.of(*column)
        ),
        Finding::Scales { wide, wide_range, narrow, narrow_range } => format!(
            "Columns are on very different scales: column {} spans {}, column {} spans {}. Distances depend only \
             on the wide ones: scale the columns first.",
            names.of(*wide),
            number(*wide_range),
            names.of(*narrow),
            number(*narrow_range)
        ),
        Finding::FarApart { spread, neighbour, lost } => format!(
            "Rows lie {} from their mean, but only {} from their nearest neighbours: rounding changes squared distances by \
             up to {}, so rbf and other kernels of distances are inexact. Scale the columns, or split the data into its \
             groups.",
            number(*spread),
            number(*neighbour),
            number(*lost)
        ),
        Finding::ConstantColumns { count: 1, first } => {
            format!(
                "Column {} has the same value in every row.",
                first.first().map_or(String::new(), |&c| names.of(c))
            )
        }
        Finding::ConstantColumns { count: n, first } => {
            let listed = first.iter().map(|&c| names.of(c)).collect::<Vec<_>>().join(", ");
            let end = if first.len() < *n { ", ..." } else { "." };
            format!("{} columns have the same value in every row: {listed}{end}", count(*n))
        }
        Finding::DuplicateRows { count: 1, first } => {
            format!("Row {} repeats row {}.", first[1] + 1, first[0] + 1)
        }
        Finding::DuplicateRows { count: n, first } => format!(
            "{} rows repeat an earlier row (first: row {} is row {} again). Keep duplicates out of the test set.",
            count(*n),
            first[1] + 1,
            first[0] + 1
        ),
        Finding::ZeroRows { count: 1, first } => format!("Row {} holds only zeros.", first + 1),
        Finding::ZeroRows { count: n, first } => {
            format!("{} rows hold only zeros (first: row {}).", count(*n), first + 1)
        }
        Finding::Unbalanced { largest, smallest } => format!(
            "Classes are unbalanced: {} rows of {}, {} of {}. Accuracy will look too good; pass --class-weight balanced.",
            count(largest.rows),
            largest.name,
            count(smallest.rows),
            smallest.name
        ),
        Finding::FewRows { count: 1, first } => format!(
            "Class {} has {}: too few for five-fold cross-validation.",
            first.name,
            if first.rows == 1 { "1 row".into() } else { format!("{} rows", first.rows) }
        ),
        Finding::FewRows { count: n, .. } => {
            format!(
                "{} classes have fewer than five rows: too few for five-fold cross-validation.",
                count(*n)
            )
        }
        Finding::ManyClasses { count: n } => {
            format!("The {} classes are numbers, nearly all different: is this a regression?", count(*n))
        }
    }
}

/// A look at the data itself: a digit of each class, or a scatter plot of two columns.
fn drawing(data: &Dataset, summary: &Summary) -> Vec<String> {
    let (points, n) = (&data.points, data.points.len());
    if n == 0 || points.first_not_finite().is_some() {
        return Vec::new();
    }
    if let (Some(shape), Some(values)) = (points.image(), &summary.values) {
        let rows: Vec<(String, usize)> = match &data.targets {
            Targets::Classes(labels) => (0..labels.names.len() as u32)
                .filter_map(|k| labels.of_row.iter().position(|&l| l == k))
                .map(|i| (labels.name_of(i).to_owned(), i))
                .collect(),
            _ => (0..n.min(8)).map(|i| (format!("row {}", i + 1), i)).collect(),
        };
        let (names, images): (Vec<String>, Vec<Vec<f64>>) =
            rows.into_iter().take(10).map(|(name, i)| (clean(&name), points.row(i).to_f64())).unzip();
        let (images, shape) = cropped(&images, shape);
        let draw = |(caption, image): (String, &Vec<f64>)| Captioned {
            caption,
            lines: picture(image, shape, values.min, values.max),
        };
        let pictures: Vec<Captioned> = names.into_iter().zip(&images).map(draw).collect();
        return side_by_side(&pictures, ROOM, 2);
    }
    if points.dim() == 2
        && n >= ENOUGH
        && let Ok(values) = points.view().slice(0..n.min(DRAWN)).to_f64()
    {
        let pairs: Vec<(f64, f64)> = values.chunks(2).map(|p| (p[0], p[1])).collect();
        let class = match &data.targets {
            Targets::Classes(labels) => labels.of_row.as_slice(),
            _ => &[],
        };
        return scatter(&pairs, class, 64, 18);
    }
    Vec::new()
}
