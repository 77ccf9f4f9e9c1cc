//! Tables that are one JSON object: by columns, by rows, or as rows beside other facts, as pandas and web services write them.

use super::json_lines::{Cell, Line};

/// Keys of an object that hold its rows, where other facts stand beside them.
const ROWS: [&str; 4] = ["data", "records", "results", "rows"];

/// The rows that an object holds, and whether it is a table. One that is none is a row itself.
pub(super) fn rows_within(line: Line) -> (Vec<Line>, bool) {
    match line {
        Line::Object(cells) => match table(cells) {
            Ok(rows) => (rows, true),
            Err(cells) => (vec![Line::Object(cells)], false),
        },
        Line::Array(_) => (vec![line], false),
    }
}

type Cells = Vec<(String, Cell)>;

/// The rows of a table in one of these forms, or the object again:
/// - `{"a": [1, 2], "b": [3, 4]}`, and `{"a": {"0": 1, "1": 2}, ...}`: columns;
/// - `{"0": {"a": 1, "b": 3}, "1": ...}`: rows by number;
/// - `{"columns": ["a", "b"], "data": [[1, 3], [2, 4]]}`: names, and rows of values;
/// - `{"results": [{"a": 1, "b": 3}, ...], "count": 2}`: rows beside other facts.
fn table(cells: Cells) -> Result<Vec<Line>, Cells> {
    let number = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    let plain = |cell: &Cell| matches!(cell, Cell::Text(_) | Cell::Missing);
    let rows = match cells.first() {
        Some((_, Cell::Array(first))) => first.len(),
        Some((_, Cell::Object(first))) => first.len(),
        _ => 0,
    };
    let lists =
        |(_, cell): &(String, Cell)| matches!(cell, Cell::Array(c) if c.len() == rows && c.iter().all(plain));
    if rows > 1 && cells.iter().all(lists) {
        return Ok(across(cells, rows));
    }
    let objects = || cells.iter().all(|(_, cell)| matches!(cell, Cell::Object(_)));
    if rows > 0 && cells.len() > 1 && objects() && cells.iter().all(|(key, _)| number(key)) {
        return Ok(cells.into_iter().filter_map(|(_, cell)| object(cell)).collect());
    }
    let numbered = |(_, cell): &(String, Cell)| matches!(cell, Cell::Object(c) if c.len() == rows && c.iter().all(|(key, cell)| number(key) && plain(cell)));
    let keys = |cell: &Cell| match cell {
        Cell::Object(c) => c.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    };
    if rows > 1 && cells.iter().all(numbered) {
        let first = keys(&cells[0].1);
        if cells.iter().all(|(_, cell)| keys(cell) == first) {
            return Ok(across(cells, rows));
        }
    }
    if let Some(names) = split_names(&cells) {
        let data = cells.into_iter().find(|(key, _)| key == "data");
        let Some((_, Cell::Array(data))) = data else { return Err(Vec::new()) };
        let row = |cell: Cell| match cell {
            Cell::Array(values) => Some(Line::Object(names.iter().cloned().zip(values).collect())),
            _ => None,
        };
        return Ok(data.into_iter().filter_map(row).collect());
    }
    let holds = |(key, cell): &(String, Cell)| {
        let called = cells.len() == 1 || ROWS.contains(&key.as_str());
        called
            && matches!(cell, Cell::Array(c) if !c.is_empty() && c.iter().all(|c| matches!(c, Cell::Object(_))))
    };
    match cells.iter().position(holds) {
        Some(at) => match cells.into_iter().nth(at) {
            Some((_, Cell::Array(list))) => Ok(list.into_iter().filter_map(object).collect()),
            _ => Err(Vec::new()),
        },
        None => Err(cells),
    }
}

fn object(cell: Cell) -> Option<Line> {
    match cell {
        Cell::Object(cells) => Some(Line::Object(cells)),
        _ => None,
    }
}

/// Columns as rows.
fn across(columns: Cells, rows: usize) -> Vec<Line> {
    let mut out: Vec<Cells> = (0..rows).map(|_| Vec::with_capacity(columns.len())).collect();
    for (name, cell) in columns {
        let values: Vec<Cell> = match cell {
            Cell::Array(values) => values,
            Cell::Object(values) => values.into_iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        out.iter_mut().zip(values).for_each(|(row, value)| row.push((name.clone(), value)));
    }
    out.into_iter().map(Line::Object).collect()
}

/// The names of the columns, where `columns` has them and `data` as many values in each row.
fn split_names(cells: &[(String, Cell)]) -> Option<Vec<String>> {
    let of = |name: &str| cells.iter().find(|(key, _)| key == name).map(|(_, cell)| cell);
    let (Some(Cell::Array(names)), Some(Cell::Array(data))) = (of("columns"), of("data")) else {
        return None;
    };
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => Some(text.clone()),
        _ => None,
    };
    let names = names.iter().map(text).collect::<Option<Vec<String>>>()?;
    let whole = |cell: &Cell| matches!(cell, Cell::Array(values) if values.len() == names.len());
    (!data.is_empty() && data.iter().all(whole)).then_some(names)
}
