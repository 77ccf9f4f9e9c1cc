//! From tensors to rows: one matrix, or a tensor per column, by name.

use std::borrow::Cow;

use mercer::Exec;
use mercer::data::Points;
use serde_json::Value;

use super::request::Request;
use super::tensor::{Datatype, Flat, shape};
use crate::error::Refusal;
use crate::models::Served;
use crate::outputs::Rows;
use crate::plain;
use crate::shell::Limits;

/// Inputs that a request may have beyond the columns of the model.
const MOST_UNKNOWN: usize = 10_000;

/// The rows of a request, as the model takes them.
pub(super) fn rows(
    served: &Served,
    request: &mut Request<'_>,
    limits: &Limits,
    exec: Exec,
) -> Result<Rows, Refusal> {
    let exec = limits.reading(exec);
    // Columns that the model does not know are ignored; this many have no other purpose than to keep the server busy.
    let (inputs, known) = (request.inputs.len(), served.model.names.columns.len());
    if inputs > MOST_UNKNOWN + known {
        return Err(Refusal::bad(format!("{inputs} inputs, but the model has {known} columns")));
    }
    let mut all = Vec::with_capacity(inputs);
    for input in &request.inputs {
        let values = input.data.as_ref().map_or(0, Flat::len);
        let (rows, columns) = shape(&input.name, &input.shape, values)?;
        let texts = matches!(input.data, Some(Flat::Texts(_)));
        if texts != (input.datatype == Datatype::Bytes) && values > 0 {
            let (got, want) = if texts { ("texts", "numbers") } else { ("numbers", "texts") };
            return Err(Refusal::bad(format!("input `{}`: {got}, but its datatype says {want}", input.name)));
        }
        if let Some(values) = &input.data {
            input.datatype.check(&input.name, values)?;
        }
        all.push((input.name.clone(), rows, columns, input.shape.len()));
    }
    let Some((first, rows, columns, dimensions)) = all.first().cloned() else {
        return Err(Refusal::bad("the request has no inputs"));
    };
    plain::check_rows(rows, limits)?;
    if let Some((name, ..)) = all.iter().find(|input| input.2 == 0) {
        return Err(Refusal::bad(format!("input `{name}` has rows without columns")));
    }
    if let Some((name, other, ..)) = all.iter().find(|input| input.1 != rows) {
        let message =
            format!("input `{name}` has {other} rows, `{first}` has {rows}: all inputs must have as many");
        return Err(Refusal::bad(message));
    }
    let by_name =
        all.len() > 1 || served.model.names.columns.iter().any(|name| *name == first) && columns == 1;
    if by_name {
        if let Some((name, ..)) = all.iter().find(|input| input.2 != 1) {
            return Err(Refusal::bad(format!(
                "input `{name}` has several columns, expected one: each input is a column"
            )));
        }
        let names: Vec<&str> = all.iter().map(|input| input.0.as_ref()).collect();
        let columns: Vec<&Flat> = request.inputs.iter().filter_map(|input| input.data.as_ref()).collect();
        let numbers = columns.iter().all(|column| !matches!(column, Flat::Texts(_)));
        // Columns in the model's own order need no reader.
        if numbers && !served.table && names.iter().eq(served.model.names.columns.iter()) {
            let mut values = Vec::with_capacity(rows * names.len());
            for i in 0..rows {
                values.extend(columns.iter().map(|column| number(column, i)));
            }
            return finite(Points::dense(values, names.len())?);
        }
        return plain::read_cells(served, rows, Some(&names), |row, column| cell(columns[column], row), exec);
    }
    let datatype = request.inputs[0].datatype;
    let Some(flat) = request.inputs[0].data.take() else {
        return Err(Refusal::bad("the request has no data"));
    };
    if let (Some(_), Flat::Texts(texts)) = (&served.alphabet, &flat) {
        let texts: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or_default()).collect();
        return plain::sequences(served, &texts, exec);
    }
    // One row may come as a vector.
    let (rows, columns) = match (dimensions, served.columns) {
        (1, Some(d)) if d == rows && d != 1 => (1, d),
        _ => (rows, columns),
    };
    if served.table || matches!(flat, Flat::Texts(_)) {
        let names: Vec<&str> = served.model.names.columns.iter().map(String::as_str).collect();
        if !names.is_empty() && names.len() != columns {
            return Err(mercer::Error::columns("columns of the points", columns, names.len()).into());
        }
        let names = (!names.is_empty()).then_some(names);
        return plain::read_cells(served, rows, names.as_deref(), |i, j| cell(&flat, i * columns + j), exec);
    }
    let points = match (flat, datatype) {
        (Flat::F32(x), _) => Points::dense_f32(x, columns)?,
        (Flat::F64(x), Datatype::Fp32 | Datatype::Fp16 | Datatype::Bf16) => {
            Points::dense_f32(x.iter().map(|v| *v as f32).collect(), columns)?
        }
        (Flat::F64(x), _) => Points::dense(x, columns)?,
        (Flat::Texts(_), _) => return Err(Refusal::bad("texts, expected numbers")),
    };
    let points = match served.image {
        Some(shape) if shape.len() == points.dim() => points.with_image(shape)?,
        _ => points,
    };
    finite(points)
}

fn finite(points: Points) -> Result<Rows, Refusal> {
    plain::finite(&points)?;
    Ok(Rows::Points(points))
}

fn number(column: &Flat, row: usize) -> f64 {
    match column {
        Flat::F64(x) => x[row],
        Flat::F32(x) => f64::from(x[row]),
        Flat::Texts(_) => f64::NAN,
    }
}

/// A value as JSON has it.
fn cell(column: &Flat, at: usize) -> Cow<'_, str> {
    match column {
        Flat::Texts(x) => match &x[at] {
            Some(text) => Value::from(text.as_str()).to_string().into(),
            None => "null".into(),
        },
        numbers => match number(numbers, at) {
            value if value.is_nan() => "null".into(),
            value => Value::from(value).to_string().into(),
        },
    }
}
