//! Writes tables as CSV and TSV: a header and rows, the target last.

use std::io::Write;

use crate::data::{Data, Dataset, Row, Table, Targets};
use crate::error::{Error, Result};

pub(super) fn write_csv(out: &mut dyn Write, data: &Dataset, source: &str, memory: u64) -> Result<()> {
    write(out, data, (source, memory), b',')
}

pub(super) fn write_tsv(out: &mut dyn Write, data: &Dataset, source: &str, memory: u64) -> Result<()> {
    write(out, data, (source, memory), b'\t')
}

/// Writes a header and rows, the target last; numbers as short as they can be and still be read back the same.
fn write(out: &mut dyn Write, data: &Dataset, (source, memory): (&str, u64), delimiter: u8) -> Result<()> {
    let view = data.points.view();
    if matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_)) {
        return Err(Error::shape("points to write as a table", view.kind(), "rows of numbers"));
    }
    // A row as numbers and as text, and all names.
    crate::exec::room_for_table("a table of all columns", 8, view.d, view.bytes(), memory)?;
    let refused = |e| Error::io(source, e);
    let mut line = Vec::new();
    let own = data.points.as_table().map(Table::names);
    let names = data.column_names.as_deref().or(own).unwrap_or_default();
    // In a table of one column nothing but quotes tells that blanks do not separate fields.
    let delimiter = Delimiter { byte: delimiter, alone: view.d == 1 && data.targets == Targets::None };
    for j in 0..view.d {
        let given = names.get(j).cloned();
        push_field(&mut line, &given.unwrap_or_else(|| format!("x{}", j + 1)), delimiter);
    }
    if data.targets != Targets::None {
        push_field(&mut line, data.target_name.as_deref().unwrap_or("label"), delimiter);
    }
    end_line(&mut line);
    out.write_all(&line).map_err(refused)?;
    for i in 0..view.n {
        line.clear();
        if let Row::Cells { table, row } = view.row(i) {
            for column in table.columns() {
                push_field(&mut line, &column.cell(row).unwrap_or_default(), delimiter);
            }
        }
        for value in view.row(i).to_f64() {
            push_field(&mut line, &value.to_string(), delimiter);
        }
        match &data.targets {
            Targets::None => {}
            Targets::Classes(labels) => push_field(&mut line, labels.name_of(i), delimiter),
            Targets::Reals(y) => push_field(&mut line, &y[i].to_string(), delimiter),
        }
        end_line(&mut line);
        out.write_all(&line).map_err(refused)?;
    }
    Ok(())
}

/// What separates fields, and whether a line has only one.
#[derive(Clone, Copy)]
struct Delimiter {
    byte: u8,
    alone: bool,
}

/// Adds a field and a delimiter, with quotes where it needs them.
fn push_field(line: &mut Vec<u8>, field: &str, Delimiter { byte: delimiter, alone }: Delimiter) {
    let alone = |b: u8| alone && (b.is_ascii_whitespace() || matches!(b, b',' | b';'));
    let special = |b: u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r' | b'#') || alone(b);
    let blank_ends = field.trim() != field || field.is_empty();
    if field.bytes().any(special) || blank_ends {
        line.push(b'"');
        line.extend(field.replace('"', "\"\"").bytes());
        line.push(b'"');
    } else {
        line.extend(field.bytes());
    }
    line.push(delimiter);
}

/// Replaces the last delimiter by the line's end.
fn end_line(line: &mut Vec<u8>) {
    line.pop();
    line.push(b'\n');
}
