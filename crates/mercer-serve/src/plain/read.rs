//! From bodies to rows, by the library's own readers: what the command takes and refuses, this does too.

use std::borrow::Cow;
use std::fmt;

use mercer::Exec;
use mercer::data::io::{LabelColumn, ReadOptions, read_bytes, read_sequences};
use mercer::data::{Data, Points};
use mercer::error::Fault;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Form;
use crate::error::Refusal;
use crate::models::Served;
use crate::outputs::Rows;
use crate::shell::Limits;
use crate::v2::{Flat, Numbers};

/// What the body is called in messages.
const BODY: &str = "request";

/// The rows of a body.
pub fn rows(served: &Served, form: Form, body: &[u8], limits: &Limits, exec: Exec) -> Result<Rows, Refusal> {
    let exec = limits.reading(exec);
    let rows =
        if form == Form::Json { json(served, body, limits, exec)? } else { read(served, form, body, exec)? };
    check_rows(rows.len(), limits)?;
    Ok(rows)
}

/// Fails for no rows and for too many.
pub(crate) fn check_rows(rows: usize, limits: &Limits) -> Result<(), Refusal> {
    if rows == 0 {
        return Err(Refusal::bad("the request has no rows"));
    }
    if rows > limits.rows {
        let message =
            format!("{rows} rows, more than {}, the limit of this server for a request", limits.rows);
        return Err(Refusal::too_large(message));
    }
    Ok(())
}

/// Fails for numbers that are none, in the words of the readers.
pub(crate) fn finite(points: &Points) -> Result<(), Refusal> {
    let Some((row, column)) = points.first_not_finite() else { return Ok(()) };
    let fault = Fault {
        row: Some(row as u64 + 1),
        column: Some((column + 1).to_string()),
        got: Some("a value that is missing or not finite".into()),
        expected: "a finite number".into(),
        ..Fault::default()
    };
    Err(mercer::Error::from(fault).into())
}

/// Under which key an object has its rows.
const KEYS: [&str; 3] = ["rows", "instances", "data"];

/// The keys and values of an object, as they stand.
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
        let mut all = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            all.push((key, map.next_value()?));
        }
        Ok(Pairs(all))
    }
}

/// A key, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

fn wrong(error: &serde_json::Error) -> Refusal {
    Refusal::bad(format!(
        "the body is not an array of rows in JSON: {error}; expected [[1, 2], ...], [{{\"column\": 1}}, ...] or {{\"rows\": [...]}}"
    ))
}

/// A body in JSON: an array of rows, bare or in an object, beside the names of its columns or without; or a single row.
fn json(served: &Served, body: &[u8], limits: &Limits, exec: Exec) -> Result<Rows, Refusal> {
    crate::v2::check_depth(body, limits.depth)?;
    let text = crate::v2::without_mark(body).trim_ascii();
    if text.starts_with(b"[") {
        return array(served, text, None, limits, exec);
    }
    let Pairs(pairs) = serde_json::from_slice(text).map_err(|e| wrong(&e))?;
    let mut rows =
        pairs.iter().filter(|(key, value)| KEYS.contains(&key.as_ref()) && value.get().starts_with('['));
    let Some((key, value)) = rows.next() else {
        let list = [serde_json::from_slice(text).map_err(|e| wrong(&e))?];
        return lines(served, &list, exec);
    };
    if let Some((other, _)) = rows.next() {
        return Err(Refusal::bad(format!("rows under both `{key}` and `{other}`, expected one of them")));
    }
    let mut named = pairs.iter().filter(|(key, _)| key == "columns");
    let names = named.next().map(|(_, names)| {
        serde_json::from_str::<Vec<Cow<'_, str>>>(names.get())
            .map_err(|e| Refusal::bad(format!("`columns` is not an array of names: {e} of it")))
    });
    if named.next().is_some() {
        return Err(Refusal::bad("the key `columns` occurs twice"));
    }
    array(served, value.get().as_bytes(), names.transpose()?.as_deref(), limits, exec)
}

/// The rows of an array, whose values have these names.
fn array(
    served: &Served,
    text: &[u8],
    names: Option<&[Cow<'_, str>]>,
    limits: &Limits,
    exec: Exec,
) -> Result<Rows, Refusal> {
    let ordered = names.is_none_or(|names| names.iter().eq(served.model.names.columns.iter()));
    // Rows of numbers for a model of numbers need no reader.
    if let (Some(d), false, true, true) = (served.columns, served.table, ordered, text.starts_with(b"[["))
        && let Some(Numbers { values, sides, depth: 2 }) = Numbers::read(text)
        && sides[1] == Some(d)
    {
        check_rows(values.len() / d.max(1), limits)?;
        return Ok(Rows::Points(with_image(served, Points::dense(values, d)?)?));
    }
    let list: Vec<&RawValue> = serde_json::from_slice(text).map_err(|e| wrong(&e))?;
    if let Some(names) = names {
        return named(served, names, &list, limits, exec);
    }
    // One row of numbers may stand alone.
    let flat = list.first().is_some_and(|first| !first.get().starts_with(['[', '{']));
    if flat {
        let single = served.columns.is_some() || served.table;
        if served.alphabet.is_some()
            && let Ok(Flat::Texts(texts)) = serde_json::from_slice(text)
        {
            let texts: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or_default()).collect();
            return sequences(served, &texts, exec);
        }
        if single {
            return lines(served, &[serde_json::from_slice(text).map_err(|e| wrong(&e))?], exec);
        }
    }
    check_rows(list.len(), limits)?;
    lines(served, &list, exec)
}

/// Arrays whose values have names, as data frames are written.
fn named(
    served: &Served,
    names: &[Cow<'_, str>],
    list: &[&RawValue],
    limits: &Limits,
    exec: Exec,
) -> Result<Rows, Refusal> {
    check_rows(list.len(), limits)?;
    let mut cells: Vec<&RawValue> = Vec::with_capacity(list.len() * names.len());
    for (i, row) in list.iter().enumerate() {
        let before = cells.len();
        let row: Vec<&RawValue> = serde_json::from_str(row.get()).map_err(|_| {
            Refusal::bad(format!("row {}: expected an array, as `columns` has the names", i + 1))
        })?;
        cells.extend(row);
        let got = cells.len() - before;
        if got != names.len() {
            let (row, names) = (i + 1, names.len());
            return Err(Refusal::bad(format!(
                "row {row}: got {got} values, but `columns` has {names} names"
            )));
        }
    }
    if names.is_empty() {
        return Err(Refusal::bad("`columns` has no names"));
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let cell = |i: usize, j: usize| without_breaks(cells[i * names.len() + j].get());
    read_cells(served, list.len(), Some(&names), cell, exec)
}

/// Rows as lines of JSON.
fn lines(served: &Served, rows: &[&RawValue], exec: Exec) -> Result<Rows, Refusal> {
    let mut lines = String::with_capacity(rows.iter().map(|row| row.get().len() + 1).sum());
    for row in rows {
        lines.push_str(&without_breaks(row.get()));
        lines.push('\n');
    }
    read(served, Form::JsonLines, lines.as_bytes(), exec)
}

/// JSON on one line: breaks between values are blanks, and strings have none.
fn without_breaks(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

/// Sequences of a model's letters, as the readers take them.
pub(crate) fn sequences(served: &Served, texts: &[&str], exec: Exec) -> Result<Rows, Refusal> {
    let data = served.model.read_rows(options(exec), |options| read_sequences(BODY, texts, options))?;
    Ok(Rows::Points(data.points))
}

fn options(exec: Exec) -> ReadOptions {
    ReadOptions { keep_unlabelled: true, memory: Some(exec.memory()), ..ReadOptions::default() }
}

/// Reads a body as a file would be read for the model.
fn read(served: &Served, form: Form, body: &[u8], exec: Exec) -> Result<Rows, Refusal> {
    // Sequences alone, one per line: files of the command have a class before each.
    if let (Some(_), Ok(text)) = (&served.alphabet, std::str::from_utf8(body))
        && form != Form::JsonLines
        && !text.contains('\t')
        && !text.starts_with('>')
    {
        let texts: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        return sequences(served, &texts, exec);
    }
    let mut options = ReadOptions { format: form.format(), ..options(exec) };
    if let Some(shape) = served.image {
        options.resize = Some((shape.height, shape.width));
        options.grey = shape.channels == 1;
    }
    // A model that does not say how many columns it takes cannot tell rows from rows with a label: those who ask send rows.
    if served.columns.is_none() && form == Form::JsonLines {
        options.label = LabelColumn::None;
    }
    let read = |options| served.model.read_rows(options, |options| read_bytes(BODY, body, options));
    let mut data = read(options.clone())?;
    if served.columns.is_none() && data.target_from.as_ref().is_some_and(|from| from.guessed) {
        data = read(ReadOptions { label: LabelColumn::None, ..options })?;
    }
    Ok(Rows::Data(Box::new(data)))
}

fn with_image(served: &Served, points: Points) -> Result<Points, Refusal> {
    finite(&points)?;
    Ok(match served.image {
        Some(shape) if shape.len() == points.dim() => points.with_image(shape)?,
        _ => points,
    })
}

/// Rows from cells that are JSON values: read like lines of JSON, by column name where there are names.
pub(crate) fn read_cells<'a>(
    served: &Served,
    rows: usize,
    names: Option<&[&str]>,
    cell: impl Fn(usize, usize) -> Cow<'a, str>,
    exec: Exec,
) -> Result<Rows, Refusal> {
    let keys: Option<Vec<String>> =
        names.map(|names| names.iter().map(|name| format!("{}:", serde_json::Value::from(*name))).collect());
    let width = keys.as_ref().map_or(served.columns.unwrap_or(1), Vec::len);
    let (open, close) = if keys.is_some() { ('{', '}') } else { ('[', ']') };
    let mut lines = String::new();
    for i in 0..rows {
        lines.push(open);
        for j in 0..width {
            if j > 0 {
                lines.push(',');
            }
            if let Some(keys) = &keys {
                lines.push_str(&keys[j]);
            }
            lines.push_str(&cell(i, j));
        }
        lines.push(close);
        lines.push('\n');
    }
    let rows = read(served, Form::JsonLines, lines.as_bytes(), exec)?;
    // A table that became numbers has none that are missing.
    if !matches!(rows.points().view().data, Data::Table { .. }) {
        finite(rows.points())?;
    }
    Ok(rows)
}
