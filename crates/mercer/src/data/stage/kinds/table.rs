//! Columns of a table as numbers: categories, dates, missing values. How each kind is coded, `data/table/code.rs` says.
//!
//! Fitting costs a pass or two over the columns, applying one. Nothing is learned from the targets.

use rayon::prelude::*;

use super::prelude::*;
use crate::data::points::Csr;
use crate::data::stage::Stage;
use crate::data::table::code::{Cells, Code, How, Numbers, Unseen, Values};
use crate::data::table::Kind as ColumnKind;
use crate::exec::room_for_table;
use crate::watch::Note;

/// Fewer columns than this are cheaper dense.
const WIDE: usize = 64;
/// Of wide rows, those with at most one value in so many that is not 0 are sparse.
const SPARSE: usize = 5;
/// Rows coded at a time where the result is sparse.
const BLOCK: usize = 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::data::stage) struct Table {
    sparse: bool,
    columns: Vec<Code>,
    #[serde(skip)]
    fill: Vec<f64>,
    #[serde(skip)]
    unit: Vec<f64>,
    #[serde(skip)]
    frequency: Vec<f64>,
}

/// A column of a table and what the stage `table` makes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CodedColumn {
    /// Its name in the table.
    pub name: String,
    /// Its kind, a word of [`Kind`](crate::data::table::Kind); `ignored` where it is not used.
    pub kind: &'static str,
    /// How it is coded, in words; why not, where it is not used.
    pub coding: String,
    /// The columns of numbers that it becomes.
    pub outputs: Vec<String>,
}

impl Table {
    fn fit(points: View<'_>) -> Result<Self> {
        let Data::Table { table, first } = points.data else {
            return Err(Error::shape("points to fit stage table on", points.kind(), "a table"));
        };
        if points.n == 0 {
            return Err(Error::shape("rows to fit a stage on", 0, "at least 1"));
        }
        let rows = first..first + points.n;
        let mut stage =
            Table { sparse: false, columns: Vec::new(), fill: Vec::new(), unit: Vec::new(), frequency: Vec::new() };
        for (j, (name, column)) in table.names().iter().zip(table.columns()).enumerate() {
            let found = table.kind_of(j, rows.clone());
            let (code, numbers) = Code::fit(name, &found, &Cells::of(column, rows.clone()))?;
            stage.columns.push(code);
            stage.fill.push(numbers.fill);
            stage.unit.push(numbers.unit);
            stage.frequency.extend(numbers.frequency);
        }
        let width = stage.width();
        if width == 0 {
            let why = stage.columns.iter().map(|c| match &c.how {
                How::Ignored { why } => format!("`{}`: {why}", c.name),
                _ => String::new(),
            });
            let got = format!("none ({})", why.take(8).collect::<Vec<_>>().join("; "));
            return Err(Error::shape("columns that a model can learn from", got, "at least one"));
        }
        let (few, many): (Vec<&Code>, Vec<&Code>) = stage.columns.iter().partition(|c| c.is_sparse());
        let held = few.len() + many.iter().map(|c| c.width()).sum::<usize>();
        stage.sparse = width >= WIDE && held * SPARSE <= width;
        Ok(stage)
    }

    fn width(&self) -> usize {
        self.columns.iter().map(Code::width).sum()
    }

    /// Each column's numbers, as far as there are some.
    fn numbers(&self) -> Vec<Numbers> {
        let mut rest = self.frequency.as_slice();
        let one = |(j, code): (usize, &Code)| {
            let len = match &code.how {
                How::Category { values, own, .. } if values.len() > *own => values.len(),
                _ => 0,
            };
            let (frequency, after) = rest.split_at(len.min(rest.len()));
            rest = after;
            let at = |list: &[f64]| list.get(j).copied().unwrap_or(0.0);
            Numbers { fill: at(&self.fill), unit: at(&self.unit), frequency: frequency.to_vec() }
        };
        self.columns.iter().enumerate().map(one).collect()
    }
}

/// The columns of a view.
fn cells(points: View<'_>, memory: u64) -> Result<Vec<Cells<'_>>> {
    if let Data::Table { table, first } = points.data {
        let rows = first..first + points.n;
        return Ok(table.columns().iter().map(|c| Cells::of(c, rows.clone())).collect());
    }
    let values = points.to_f64_within(memory)?;
    let column = |j: usize| values.iter().skip(j).step_by(points.d).copied().collect::<Vec<f64>>();
    Ok((0..points.d).map(|j| Cells::Numbers(column(j).into())).collect())
}

impl Line for Table {
    const ENTRY: Entry = Entry {
        name: "table",
        table: true,
        doc: "columns of a table as numbers: categories as 0 and 1, dates as parts, missing values filled and marked",
        example: "table",
        ..Entry::NUMBERS
    };

    fn read(_args: &Args) -> Result<Asked<Self>> {
        Ok(Asked::fit(|on| Table::fit(on.points)))
    }
}

impl Kind for Table {
    fn describe(&self, at: Frame) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for code in &self.columns {
            let word = word(&code.how);
            match counts.iter_mut().find(|(w, _)| *w == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
        let counts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
        format!("table: {} columns ({}) as {} columns of numbers", at.d, counts.join(", "), self.width())
    }

    fn apply(&self, at: Frame, points: View<'_>, exec: Exec) -> Result<Points> {
        if points.d < at.d {
            return Err(Error::columns("columns of the points for stage table", points.d, at.d));
        }
        let width = self.width();
        let cells = cells(points, exec.memory())?;
        let numbers = self.numbers();
        let values: Vec<Values<'_>> = self
            .columns
            .iter()
            .zip(&cells)
            .map(|(code, cells)| code.values(cells, false, None))
            .collect::<Result<_>>()?;
        let write = |i: usize, out: &mut [f64]| {
            let mut rest = out;
            for ((code, numbers), values) in self.columns.iter().zip(&numbers).zip(&values) {
                let (own, after) = rest.split_at_mut(code.width());
                code.write(values.at(i), numbers, own);
                rest = after;
            }
        };
        if !self.sparse {
            room_for_table("the numbers of a table", points.n, width, points.bytes(), exec.memory())?;
            let mut out = vec![0.0; points.n * width];
            let rows = points.n.div_ceil(exec.threads()).max(1);
            out.par_chunks_mut(rows * width).enumerate().for_each(|(piece, out)| {
                out.chunks_exact_mut(width).enumerate().for_each(|(i, out)| write(piece * rows + i, out));
            });
            return Points::dense(out, width);
        }
        let block = |begin: usize| {
            let mut row = vec![0.0; width];
            let mut csr = Csr { start: vec![0], ..Csr::default() };
            for i in begin..(begin + BLOCK).min(points.n) {
                row.fill(0.0);
                write(i, &mut row);
                for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    csr.column.push(j as u32);
                    csr.value.push(v);
                }
                csr.start.push(csr.column.len());
            }
            csr
        };
        let begins: Vec<usize> = (0..points.n).step_by(BLOCK).collect();
        let parts: Vec<Csr> = if exec.threads() == 1 {
            begins.into_iter().map(block).collect()
        } else {
            begins.into_par_iter().map(block).collect()
        };
        let mut all = Csr { start: vec![0], ..Csr::default() };
        for part in parts {
            let end = all.column.len();
            all.start.extend(part.start.iter().skip(1).map(|s| s + end));
            all.column.extend(part.column);
            all.value.extend(part.value);
        }
        Points::sparse(all, width)
    }

    fn output(&self, _at: Frame) -> Frame {
        Frame { d: self.width(), image: None }
    }

    fn arrays(&mut self, at: Frame) -> Vec<Array<'_>> {
        vec![
            Array { name: "fill", shape: Some(vec![at.d]), values: &mut self.fill },
            Array { name: "unit", shape: Some(vec![at.d]), values: &mut self.unit },
            Array::new("frequency", &mut self.frequency),
        ]
    }

    fn is_valid(&self, at: Frame) -> bool {
        let numbers = self.numbers();
        let frequencies: usize = numbers.iter().map(|n| n.frequency.len()).sum();
        self.columns.len() == at.d
            && self.fill.len() == at.d
            && self.unit.len() == at.d
            && frequencies == self.frequency.len()
            && self.width() > 0
            && self.columns.iter().zip(&numbers).all(|(code, numbers)| code.is_valid(numbers))
    }
}

/// The word for a coding.
fn word(how: &How) -> &'static str {
    match how {
        How::Ignored { .. } => "ignored",
        How::Number { .. } => "number",
        How::Category { .. } => "category",
        How::Ordered { .. } => "ordered",
        How::YesNo {} => "yes/no",
        How::Date { .. } => "date",
    }
}

impl Stage {
    fn as_table(&self) -> Option<&Table> {
        match &self.op {
            Op::Table(table) => Some(table),
            _ => None,
        }
    }

    /// What the stage `table` makes of each column; nothing for other stages.
    pub fn coded_columns(&self) -> Option<Vec<CodedColumn>> {
        let table = self.as_table()?;
        let one = |(code, numbers): (&Code, Numbers)| CodedColumn {
            name: code.name.clone(),
            kind: word(&code.how),
            coding: coding(code, &numbers),
            outputs: code.output_names(),
        };
        Some(table.columns.iter().zip(table.numbers()).map(one).collect())
    }

    /// What a reader must know of the columns that the stage `table` was fitted on, so that a code such as `02139` stays
    /// one: see [`ReadOptions::model_kinds`](crate::data::io::ReadOptions::model_kinds).
    pub fn column_kinds(&self) -> Option<Vec<(String, Option<ColumnKind>)>> {
        let kind = |how: &How| match how {
            How::Ignored { .. } | How::Number { lenient: true, .. } => None,
            How::Number { .. } => Some(ColumnKind::Number),
            How::Category { .. } => Some(ColumnKind::Category),
            How::Ordered { values } => Some(ColumnKind::Ordered(values.clone())),
            How::YesNo {} => Some(ColumnKind::YesNo),
            How::Date { .. } => Some(ColumnKind::Date),
        };
        Some(self.as_table()?.columns.iter().map(|c| (c.name.clone(), kind(&c.how))).collect())
    }

    /// Refuses text in columns that were numbers, yes and no or ranks in training, with row and column. Applied as they are,
    /// such cells count as missing. Nothing is refused for other stages.
    pub fn check_cells(&self, points: View<'_>, exec: Exec) -> Result<()> {
        let Some(table) = self.as_table().filter(|_| matches!(points.data, Data::Table { .. })) else {
            return Ok(());
        };
        for (code, cells) in table.columns.iter().zip(&cells(points, exec.memory())?) {
            code.values(cells, true, None)?;
        }
        Ok(())
    }

    /// What is worth a word about new points: values that training did not have, and what becomes of them.
    pub(crate) fn remarks(&self, points: View<'_>, memory: u64) -> Result<Vec<Note>> {
        let fits = points.d == self.at.d && (points.is_numbers() || matches!(points.data, Data::Table { .. }));
        let Some(table) = self.as_table().filter(|_| fits) else { return Ok(Vec::new()) };
        let mut notes = Vec::new();
        for (code, cells) in table.columns.iter().zip(&cells(points, memory)?) {
            let mut unseen = Unseen::default();
            code.values(cells, false, Some(&mut unseen))?;
            let fate = match &code.how {
                How::Category { other: true, .. } => "rare or new",
                How::Category { .. } => "new, and none of the known ones",
                _ => "not readable, and missing",
            };
            if unseen.count > 0 {
                let (values, first) = (counted(unseen.count, "value"), unseen.first.join("`, `"));
                let more = if unseen.count > unseen.first.len() { ", ..." } else { "" };
                let text = format!("column `{}`: {values} (`{first}`{more}) taken as {fate}", code.name);
                notes.push(Note::warning(text));
            }
        }
        Ok(notes)
    }
}

/// A number of things.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} different {what}s") }
}

/// How a column is coded, in words.
fn coding(code: &Code, numbers: &Numbers) -> String {
    let filled = if code.marker { ", missing values marked" } else { "" };
    match &code.how {
        How::Ignored { why } => why.clone(),
        How::Number { log, .. } => {
            let log = if *log { "logarithm, " } else { "" };
            format!("{log}missing is {}{filled}", numbers.fill)
        }
        How::Category { values, own, other } => {
            let mut text = format!("0 and 1 for {own} values");
            if *other {
                text.push_str(", one more for all others");
            }
            if values.len() > *own {
                text.push_str(", and the frequency");
            }
            text + if code.marker { ", missing is a value of its own" } else { "" }
        }
        How::Ordered { values } => format!("{} ranks{filled}", values.len()),
        How::YesNo {} => format!("0 and 1{filled}"),
        How::Date { parts, .. } => {
            let circles = if parts.is_empty() { "" } else { ", sine and cosine of its parts" };
            format!("days{circles}{filled}")
        }
    }
}

