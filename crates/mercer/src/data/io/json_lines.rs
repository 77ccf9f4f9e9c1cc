//! JSON: an object or array per line, or one array of them all.
//!
//! The keys of objects are columns, in the order in which they first occur; a key that a row does not have, and null,
//! are missing values. What is nested in an object becomes columns of its own: `user.age`, and `position.0` for the first value
//! of an array. Arrays are rows without names, all of one length, of numbers, text, true and false. One object that holds a
//! whole table is read as that table: see [`super::json_document`].

use std::collections::HashMap;
use std::fmt;
use std::io::Write;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::ReadOptions;
use super::held::Held;
use super::json_document::rows_within;
use super::source::Input;
use super::table::{Given, assemble};
use super::text::{Lines, number, shown};
use crate::data::{Data, Dataset, Row, Table, Targets};
use crate::error::{Error, Fault, Result};

/// Whether a first line is one of JSON lines: `{` and a key, or an array.
pub(super) fn begins(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if let Some(rest) = line.strip_prefix(b"{") {
        return matches!(rest.trim_ascii_start().first(), Some(b'"' | b'}'));
    }
    line.starts_with(b"[") && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Whether text begins as one array of rows, `[{` and a key, or `[[`, across lines or not; or as one object across lines.
pub(super) fn begins_document(head: &[u8]) -> bool {
    if let Some(rest) = head.trim_ascii_start().strip_prefix(b"{") {
        let end = rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\r'));
        return end.is_some_and(|at| rest[at] == b'\n') && rest.trim_ascii_start().first() == Some(&b'"');
    }
    let Some(rest) = head.trim_ascii_start().strip_prefix(b"[") else { return false };
    let rest = rest.trim_ascii_start();
    match rest.first() {
        Some(b'{') => begins(&rest[..rest.len().min(SOME)]),
        Some(b'[') => matches!(
            rest[1..].trim_ascii_start().first(),
            Some(b'0'..=b'9' | b'-' | b'"' | b'n' | b't' | b'f')
        ),
        _ => false,
    }
}

/// Bytes that show whether a key follows.
const SOME: usize = 200;

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let rows = if begins_document(&input.head) { document(input)? } else { lines(input)? };
    let JsonRows { held, names, key_of, of_object, .. } = rows;
    drop(key_of);
    if held.len() == 0 {
        return Err(input.fault(Some("no rows"), "at least one object or array"));
    }
    let width = names.as_ref().map_or(held.width(), Vec::len);
    if width == 0 {
        let got = if names.is_some() { "objects without keys" } else { "arrays without values" };
        return Err(input.fault(Some(got), "at least one column"));
    }
    let mut next = held.records(&input.name, input.budget, width)?;
    let given = Given { name: &input.name, budget: input.budget, delimiter: b',', names };
    // The values of arrays are never names.
    let mut data = assemble(&given, &mut next, &ReadOptions { header: Some(false), ..options.clone() })?;
    if of_object {
        data.note("one JSON object that holds all rows");
    }
    Ok(data)
}

/// A row on each line.
fn lines(input: &mut Input<'_>) -> Result<JsonRows> {
    let mut rows = JsonRows::default();
    let mut lines = Lines::new(input);
    // A first line that is alone may be a whole table.
    let mut first: Option<(Line, u64)> = None;
    while lines.advance()? {
        if lines.line().trim_ascii().is_empty() {
            continue;
        }
        let bad = |e: &serde_json::Error| {
            let got =
                format!("{}, in which JSON ends at byte {}: {}", shown(lines.line()), e.column(), words(e));
            lines.fault(Some(got), "a JSON object or array on each line")
        };
        let line: Line = serde_json::from_slice(lines.line()).map_err(|e| bad(&e))?;
        let wrong = |(got, expected): Wrong| lines.fault(Some(got), expected);
        if rows.held.len() == 0 && first.is_none() {
            first = Some((line, lines.number));
            continue;
        }
        if let Some((line, number)) = first.take() {
            rows.push(line, number).map_err(wrong)?;
        }
        rows.push(line, lines.number).map_err(wrong)?;
        lines.input.budget.check(&lines.input.name, Some(lines.number), rows.bytes(), 1)?;
    }
    if let Some((line, number)) = first {
        let (list, of_object) = rows_within(line);
        rows.of_object = of_object;
        for line in list {
            // Rows of a table have numbers of their own, so that each may have each key.
            let number = number + rows.held.len() as u64;
            rows.push(line, number).map_err(|(got, expected)| lines.fault(Some(got), expected))?;
            lines.input.budget.check(&lines.input.name, Some(number), rows.bytes(), 1)?;
        }
    }
    Ok(rows)
}

/// All rows in one array.
fn document(input: &mut Input<'_>) -> Result<JsonRows> {
    // A cell of one digit takes several times its bytes until all are in their columns.
    let bytes = input.whole(8)?;
    let wrong = |e: serde_json::Error| {
        let got = format!("JSON that ends in line {}, byte {}: {}", e.line(), e.column(), words(&e));
        input.fault(Some(&got), "an array of objects or of arrays")
    };
    let (list, of_object) = if bytes.trim_ascii_start().starts_with(b"{") {
        // Objects may follow each other, each across lines.
        let all = serde_json::Deserializer::from_slice(&bytes).into_iter::<Line>();
        let mut list = all.collect::<std::result::Result<Vec<Line>, _>>().map_err(wrong)?;
        if list.len() == 1 { rows_within(list.remove(0)) } else { (list, false) }
    } else {
        (serde_json::from_slice::<Vec<Line>>(&bytes).map_err(wrong)?, false)
    };
    let mut rows = JsonRows { of_object, ..JsonRows::default() };
    for (row, line) in list.into_iter().enumerate() {
        let number = row as u64 + 1;
        rows.push(line, number).map_err(|(got, expected)| {
            let fault = Fault { source: Some(input.name.clone()), row: Some(number), ..Fault::default() };
            Error::from(Fault { got: Some(got), expected, ..fault })
        })?;
        input.budget.check(&input.name, None, rows.bytes(), 1)?;
    }
    Ok(rows)
}

/// Rows as they are read.
#[derive(Default)]
struct JsonRows {
    held: Held,
    /// The keys so far, of objects; none for arrays.
    names: Option<Vec<String>>,
    key_of: HashMap<String, u32>,
    key_bytes: usize,
    /// The last row that had a key, by column: a key may occur once in an object.
    last: Vec<u64>,
    /// Whether one object held all rows.
    of_object: bool,
}

/// What was got, and what was expected.
type Wrong = (String, String);

impl JsonRows {
    fn bytes(&self) -> usize {
        self.held.bytes() + self.key_bytes
    }

    fn push(&mut self, line: Line, number: u64) -> std::result::Result<(), Wrong> {
        match line {
            Line::Object(cells) => {
                if self.held.len() > 0 && self.names.is_none() {
                    return Err(("an object".into(), "an array, as in the rows before".into()));
                }
                self.names.get_or_insert_default();
                for (key, cell) in cells {
                    self.push_cell(&key, cell, number)?;
                }
            }
            Line::Array(cells) => {
                if self.names.is_some() {
                    return Err(("an array".into(), "an object, as in the rows before".into()));
                }
                let width = self.last.len();
                if self.held.len() > 0 && cells.len() != width {
                    let expected = format!("{width} as in the first row");
                    return Err((format!("{} values", cells.len()), expected));
                }
                self.last.resize(cells.len(), 0);
                for (k, cell) in cells.iter().enumerate() {
                    let what = match cell {
                        Cell::Missing => "",
                        Cell::Text(text) => text,
                        Cell::Object(_) | Cell::Array(_) => {
                            let what = if matches!(cell, Cell::Object(_)) { "an object" } else { "an array" };
                            let expected =
                                "a number, text, true, false or null; objects stand on lines of their own";
                            return Err((format!("{what} at place {} of the array", k + 1), expected.into()));
                        }
                    };
                    self.held.push(k as u32, what.as_bytes());
                }
            }
        }
        self.held.end_row(number);
        Ok(())
    }

    /// Takes a cell; what is nested becomes columns of its own, `user.age` and `position.0`.
    fn push_cell(&mut self, key: &str, cell: Cell, number: u64) -> std::result::Result<(), Wrong> {
        let text = match cell {
            Cell::Object(inner) => {
                let mut inner = inner.into_iter().map(|(name, cell)| (format!("{key}.{name}"), cell));
                return inner.try_for_each(|(key, cell)| self.push_cell(&key, cell, number));
            }
            Cell::Array(inner) => {
                let mut inner = inner.into_iter().enumerate().map(|(k, cell)| (format!("{key}.{k}"), cell));
                return inner.try_for_each(|(key, cell)| self.push_cell(&key, cell, number));
            }
            Cell::Missing => String::new(),
            Cell::Text(text) => text,
        };
        let column = self.column(key);
        let seen = std::mem::replace(&mut self.last[column as usize], number);
        if seen == number {
            return Err((format!("the key `{key}` twice"), "each key once".into()));
        }
        self.held.push(column, text.as_bytes());
        Ok(())
    }

    fn column(&mut self, key: &str) -> u32 {
        if let Some(&column) = self.key_of.get(key) {
            return column;
        }
        let column = self.last.len() as u32;
        self.key_of.insert(key.to_owned(), column);
        self.names.get_or_insert_default().push(key.to_owned());
        self.last.push(0);
        self.key_bytes += 2 * key.len() + 128;
        column
    }
}

/// serde's error for a line, without the position.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// A line: keys with values in their order, or values.
pub(super) enum Line {
    Object(Vec<(String, Cell)>),
    Array(Vec<Cell>),
}

/// A value as a table writes it, or several.
pub(super) enum Cell {
    Missing,
    Text(String),
    Object(Vec<(String, Cell)>),
    Array(Vec<Cell>),
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = Line;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or an array")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Line, A::Error> {
                let mut cells = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    cells.push(pair);
                }
                Ok(Line::Object(cells))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Line, A::Error> {
                let mut cells = Vec::new();
                while let Some(cell) = seq.next_element()? {
                    cells.push(cell);
                }
                Ok(Line::Array(cells))
            }
        }
        from.deserialize_any(Lines)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Cells;
        impl<'de> Visitor<'de> for Cells {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> std::result::Result<Cell, E> {
                Ok(Cell::Missing)
            }

            fn visit_bool<E>(self, value: bool) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(value.to_string()))
            }

            fn visit_str<E>(self, value: &str) -> std::result::Result<Cell, E> {
                Ok(Cell::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Cell, A::Error> {
                let mut cells = Vec::new();
                while let Some(cell) = seq.next_element()? {
                    cells.push(cell);
                }
                Ok(Cell::Array(cells))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Cell, A::Error> {
                let mut cells = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    cells.push(pair);
                }
                Ok(Cell::Object(cells))
            }
        }
        from.deserialize_any(Cells)
    }
}

/// Writes an object per row, the target last; numbers as short as they can be and still be read back the same.
pub(super) fn write(out: &mut dyn Write, data: &Dataset, source: &str, memory: u64) -> Result<()> {
    let view = data.points.view();
    if matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_)) {
        return Err(Error::shape("points to write as JSON lines", view.kind(), "rows of numbers"));
    }
    crate::exec::room_for_table("a row of all columns", 16, view.d, view.bytes(), memory)?;
    let own = data.points.as_table().map(Table::names);
    let names = data.column_names.as_deref().or(own).unwrap_or_default();
    let key = |name: &str| format!("{}:", quoted(name));
    let keys: Vec<String> = (0..view.d)
        .map(|j| names.get(j).map_or_else(|| key(&format!("x{}", j + 1)), |name| key(name)))
        .collect();
    let target = key(data.target_name.as_deref().unwrap_or("label"));
    if data.targets != Targets::None && keys.contains(&target) {
        let allowed = "a name not used by any column";
        return Err(Error::param("name of the target", target.trim_end_matches(':'), allowed));
    }
    let mut line = String::new();
    for i in 0..view.n {
        line.clear();
        let mut push = |key: &str, value: &str| {
            line.push(if line.is_empty() { '{' } else { ',' });
            line.push_str(key);
            line.push_str(value);
        };
        if let Row::Cells { table, row } = view.row(i) {
            for (key, column) in keys.iter().zip(table.columns()) {
                let text = matches!(column, crate::data::table::Column::Text { .. });
                match column.cell(row) {
                    None => push(key, "null"),
                    Some(cell) if text => push(key, &quoted(&cell)),
                    Some(cell) => push(key, &cell),
                }
            }
        }
        for (key, value) in keys.iter().zip(view.row(i).to_f64()) {
            push(key, &value.to_string());
        }
        match &data.targets {
            Targets::None => {}
            Targets::Classes(labels) => push(&target, &number_or_text(labels.name_of(i))),
            Targets::Reals(y) => push(&target, &y[i].to_string()),
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes()).map_err(|e| Error::io(source, e))?;
    }
    Ok(())
}

/// A class by name: a number where it is written as one.
fn number_or_text(name: &str) -> String {
    match number(name.as_bytes()) {
        Some(value) if value.to_string() == name => name.to_owned(),
        _ => quoted(name),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{Format, read_bytes, write_to};
    use super::*;

    fn read(text: &str) -> Result<Dataset> {
        read_bytes("t.jsonl", text.as_bytes(), &ReadOptions::default())
    }

    fn cells(data: &Dataset) -> Vec<Vec<Option<String>>> {
        let table = data.points.as_table().expect("a table");
        let cell = |row| table.columns().iter().map(move |c| c.cell(row).map(std::borrow::Cow::into_owned));
        (0..table.rows()).map(|row| cell(row).collect()).collect()
    }

    #[test]
    fn keys_are_columns_in_their_order_and_missing_where_they_are_not() {
        let data = read(
            "{\"z\": 1, \"a\": \"x\", \"label\": \"p\"}\n\n{\"a\": \"y\", \"late\": true, \"label\": \"q\", \"z\": null}\n",
        )
        .expect("JSON lines");
        assert_eq!(data.format, Some(Format::JsonLines));
        let names = data.column_names.as_deref().expect("names");
        assert_eq!(
            (names, data.target_name.as_deref()),
            (&["z", "a", "late"].map(String::from)[..], Some("label"))
        );
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(cells(&data), [[some("1"), some("x"), None], [None, some("y"), some("true")]]);
    }

    #[test]
    fn arrays_of_numbers_are_dense_rows() {
        let options = ReadOptions { label: super::super::LabelColumn::None, ..ReadOptions::default() };
        let data = read_bytes("t.jsonl", b"[1, 2.5e3]\n[-0.25, 18446744073709551615]\n", &options);
        let data = data.expect("arrays");
        let numbers = data.points.view().to_f64().expect("numbers");
        assert_eq!(numbers, [1.0, 2500.0, -0.25, 18_446_744_073_709_551_615.0]);
    }

    #[test]
    fn one_array_of_all_rows_is_read_like_lines() {
        let lines =
            "{\"a\": 1, \"b\": \"x\", \"label\": \"p\"}\n{\"a\": 2.5, \"b\": null, \"label\": \"q\"}\n";
        let list: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let wanted = read(lines).expect("lines");
        for text in [
            serde_json::to_string(&list).expect("text"),
            serde_json::to_string_pretty(&list).expect("text"),
            format!(" \n{}\n", serde_json::to_string(&list).expect("text")),
        ] {
            let data = read(&text).expect("an array");
            assert_eq!((&data.points, &data.targets), (&wanted.points, &wanted.targets), "{text}");
        }
        let rows = read("[[1, 2, 0], [3, 4, 1]]").expect("an array of arrays");
        assert_eq!(rows.points.view().to_f64().expect("numbers"), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn one_object_with_all_rows_is_read_like_lines() {
        let lines =
            "{\"a\": 1, \"b\": \"x\", \"label\": \"p\"}\n{\"a\": 2.5, \"b\": null, \"label\": \"q\"}\n";
        let wanted = read(lines).expect("lines");
        for text in [
            "{\"a\": [1, 2.5], \"b\": [\"x\", null], \"label\": [\"p\", \"q\"]}",
            "{\"a\":{\"0\":1,\"1\":2.5},\"b\":{\"0\":\"x\",\"1\":null},\"label\":{\"0\":\"p\",\"1\":\"q\"}}",
            "{\"0\":{\"a\":1,\"b\":\"x\",\"label\":\"p\"},\"1\":{\"a\":2.5,\"b\":null,\"label\":\"q\"}}",
            "{\"columns\":[\"a\",\"b\",\"label\"],\"index\":[0,1],\"data\":[[1,\"x\",\"p\"],[2.5,null,\"q\"]]}",
            "{\"count\": 2, \"results\": [{\"a\": 1, \"b\": \"x\", \"label\": \"p\"}, {\"a\": 2.5, \"b\": null, \"label\": \"q\"}]}",
            "{\"a\": 1, \"b\": \"x\", \"label\": \"p\"} {\"a\": 2.5, \"b\": null, \"label\": \"q\"}",
        ] {
            let values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
            let values = values.collect::<std::result::Result<Vec<_>, _>>().expect("JSON");
            let pretty: String =
                values.iter().map(|v| serde_json::to_string_pretty(v).expect("text") + "\n").collect();
            // Two objects on a line are refused.
            let both = [text.to_owned(), pretty];
            for text in &both[usize::from(values.len() > 1)..] {
                let mut data = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
                // serde_json sorts keys.
                assert_eq!((&data.points, &data.targets), (&wanted.points, &wanted.targets), "{text}");
                data.notes.retain(|note| note.text.contains("one JSON object"));
                assert_eq!(data.notes.len(), usize::from(values.len() == 1), "{text}");
            }
        }
        // One row with what is nested stays one row.
        for text in ["{\"at\": [1, 2], \"label\": 3}\n", "{\"user\": {\"x\": 1}, \"home\": {\"x\": 2}}\n"] {
            assert_eq!(read(text).expect("a row").len(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_nested_becomes_columns_of_its_own() {
        let data = read(
            "{\"user\": {\"age\": 3, \"home\": {\"city\": \"Bonn\"}}, \"at\": [1, 2], \"label\": 1}\n{\"user\": null, \"at\": [5], \"none\": {}, \"label\": 2}\n",
        )
        .expect("JSON lines");
        let names = data.column_names.as_deref().expect("names");
        assert_eq!(names, ["user.age", "user.home.city", "at.0", "at.1", "user"]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            cells(&data),
            [[some("3"), some("Bonn"), some("1"), some("2"), None], [None, None, some("5"), None, None]]
        );
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_place() {
        for (text, part) in [
            ("{\"a\": {\"b\": 1}, \"a.b\": 2}\n", "line 1: got the key `a.b` twice"),
            ("[{\"a\": 1}, {\"a\": {\"b\": 1}, \"a.b\": 2}]\n", "row 2: got the key `a.b` twice"),
            ("[{\"a\": 1},\n {\"a\": }]\n", "JSON that ends in line 2"),
            ("[[1, 2], [[1], 2]]\n", "row 2: got an array at place 1"),
            ("[1, 2]\n[1, [2]]\n", "line 2: got an array at place 2 of the array"),
            ("[1, 2]\n[1]\n", "line 2: got 1 values, expected 2 as in the first row"),
            ("[1, 2]\n{\"a\": 1}\n", "line 2: got an object, expected an array"),
            ("{\"a\": 1}\n[1]\n", "line 2: got an array, expected an object"),
            ("{\"a\": 1, \"a\": 2}\n", "line 1: got the key `a` twice"),
            ("{\"a\": 1}\n{\"a\": \n", "line 2: got `{\"a\": `"),
            ("{\"a\": 1}\n7\n", "line 2: got `7`"),
            ("{\"a\": 1} {\"a\": 2}\n", "trailing characters"),
            ("{\"a\": 1e999}\n", "number out of range"),
            ("{}\n{}\n", "objects without keys"),
            ("[]\n[]\n", "arrays without values"),
        ] {
            let message = read(text).expect_err(text).to_string();
            assert!(message.contains(&part.replace('"', "\\\"")) || message.contains(part), "{message}");
        }
    }

    #[test]
    fn new_keys_in_each_line_stay_within_the_budget() {
        let text = (0..2000).map(|k| format!("{{\"k{k}\": 1}}\n")).collect::<Vec<_>>().concat();
        let options = ReadOptions { max_bytes: Some(1 << 20), ..ReadOptions::default() };
        let refused =
            read_bytes("t.jsonl", text.as_bytes(), &options).expect_err("4 million cells").to_string();
        assert!(refused.contains("a dense table of 2000 rows and 2000 columns"), "{refused}");
    }

    #[test]
    fn tables_come_back_with_odd_names_and_values() {
        let text = "\"a\"\"b\",zip,\"line\nend\",label\n1.5,007,x,1\n,010,\"y,\"\"z\",2\n-3e-9,020,,1\n";
        let mut data = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).expect("a table");
        let mut bytes = Vec::new();
        write_to(&mut bytes, "t.jsonl", &data, Format::JsonLines).expect("written");
        let mut back = read_bytes("t.jsonl", &bytes, &ReadOptions::default()).expect("read");
        for data in [&mut data, &mut back] {
            data.notes.clear();
            data.format = None;
        }
        assert_eq!(back, data, "{}", String::from_utf8_lossy(&bytes));
    }
}
