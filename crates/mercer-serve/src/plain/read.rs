//! From bodies to rows, by the library's own readers: what the command takes and refuses, this does too.

use std::borrow::Cow;

use mercer::Exec;
use mercer::data::io::{LabelColumn, ReadOptions, read_bytes, read_sequences};
use mercer::data::{Data, Points};
use mercer::error::Fault;
use serde::Deserialize;
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

/// A body in JSON: an array of rows, bare or under a key; or a single row as an object.
#[derive(Deserialize)]
#[serde(expecting = "an array or an object")]
struct Body<'a> {
    #[serde(borrow, alias = "instances", alias = "data")]
    rows: Vec<&'a RawValue>,
}

fn json(served: &Served, body: &[u8], limits: &Limits, exec: Exec) -> Result<Rows, Refusal> {
    crate::v2::check_depth(body, limits.depth)?;
    let wrong = |e: serde_json::Error| {
        Refusal::bad(format!(
            "the body is not an array of rows in JSON: {e}; expected [[1, 2], ...], [{{\"column\": 1}}, ...] or {{\"rows\": [...]}}"
        ))
    };
    let text = crate::v2::without_mark(body).trim_ascii();
    // Rows of numbers for a model of numbers need no reader.
    if let (Some(d), false, true) = (served.columns, served.table, text.starts_with(b"[["))
        && let Some(Numbers { values, sides, depth: 2 }) = Numbers::read(text)
        && sides[1] == Some(d)
    {
        return Ok(Rows::Points(with_image(served, Points::dense(values, d)?)?));
    }
    let list: Vec<&RawValue> = if text.starts_with(b"[") {
        serde_json::from_slice(text).map_err(wrong)?
    } else {
        match serde_json::from_slice::<Body<'_>>(text) {
            Ok(body) => body.rows,
            // A single row.
            Err(_) if text.starts_with(b"{") => vec![serde_json::from_slice(text).map_err(wrong)?],
            Err(error) => return Err(wrong(error)),
        }
    };
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
            let line =
                text.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }).collect::<Vec<u8>>();
            return read(served, Form::JsonLines, &line, exec);
        }
    }
    check_rows(list.len(), limits)?;
    let mut lines = Vec::with_capacity(text.len() + list.len());
    for row in list {
        lines.extend(row.get().bytes().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { b }));
        lines.push(b'\n');
    }
    read(served, Form::JsonLines, &lines, exec)
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
    let read = |options| served.model.read_rows(options, |options| read_bytes(BODY, body, options));
    let mut data = read(options.clone())?;
    // A model that does not say how many columns it takes cannot tell rows from rows with a label: those who ask send rows.
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
