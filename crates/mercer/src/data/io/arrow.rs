//! Parquet, and Arrow files and streams (Feather): columns of numbers, text, booleans, dates and times.
//!
//! Rows are read in batches like those of a CSV file, so that kinds of columns and labels are detected in the same way.
//! Nulls and NaN are missing values. Dictionaries are looked up. Fields of a struct become columns, `user.age`. Lists, maps
//! and binary columns are dropped with a note.

use std::fs::File;
use std::io::{BufReader, Cursor, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;

use super::ReadOptions;
use super::claims::{check_arrow, check_pages};
use super::foreign::decoded;
use super::records::Record;
use super::source::{Input, Origin, by_row, fault};
use super::table::{Given, assemble};
use super::text::number;
use crate::data::table::Column;
use crate::data::{Data, Dataset, Table, Targets};
use crate::error::{Error, Result};
use crate::watch::Note;

/// Rows that are decoded at once.
const BATCH: usize = 1024;

pub(super) fn read_parquet(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    if let (Origin::File(path), None) = (&input.origin, input.compression) {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let again = file.try_clone().map_err(|e| Error::io(path, e))?;
        return parquet(input, file, &again, options);
    }
    let bytes = bytes::Bytes::from(input.whole(1)?);
    parquet(input, bytes.clone(), &bytes, options)
}

/// Reads `file`, of which `again` is a second handle.
fn parquet<F: ChunkReader + 'static>(
    input: &Input<'_>,
    file: F,
    again: &F,
    options: &ReadOptions,
) -> Result<Dataset> {
    let name = input.name.as_str();
    let bad = |e: parquet::errors::ParquetError| damaged(name, "Parquet", &e);
    let builder =
        decoded(name, "Parquet", || ParquetRecordBatchReaderBuilder::try_new(file))?.map_err(bad)?;
    let mut read = |at, bytes: &mut [u8]| {
        bytes.copy_from_slice(&again.get_bytes(at, bytes.len()).map_err(std::io::Error::other)?);
        Ok(())
    };
    for column in builder.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
        let range = decoded(name, "Parquet", || column.byte_range())?;
        check_pages(name, input.budget, &mut read, again.len(), range)?;
    }
    let builder = builder.with_batch_size(BATCH);
    let reader: ParquetRecordBatchReader = decoded(name, "Parquet", || builder.build())?.map_err(bad)?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    rows(input, &schema, "Parquet", reader, options)
}

pub(super) fn read_arrow(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let (name, budget) = (input.name.clone(), input.budget);
    let bad = |e: ArrowError| damaged(&name, "Arrow", &e);
    let stream = !is_arrow_file(&input.head);
    if let (Origin::File(path), None, false) = (&input.origin, input.compression, stream) {
        let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
        let len = file.metadata().map_err(|e| Error::io(path, e))?.len();
        check_arrow(&name, budget, &mut file, len, false)?;
        let reader = decoded(&name, "Arrow", || FileReader::try_new(BufReader::new(file), None))?;
        let reader = reader.map_err(bad)?;
        let schema = reader.schema();
        return rows(input, &schema, "Arrow", reader, options);
    }
    let bytes = input.whole(1)?;
    decoded(&name, "Arrow", || check_arrow(&name, budget, Cursor::new(&bytes), bytes.len() as u64, stream))??;
    let bytes = Cursor::new(bytes);
    if stream {
        let reader = decoded(&name, "Arrow", || StreamReader::try_new(bytes, None))?.map_err(bad)?;
        let schema = reader.schema();
        return rows(input, &schema, "Arrow", reader, options);
    }
    let reader = decoded(&name, "Arrow", || FileReader::try_new(bytes, None))?.map_err(bad)?;
    let schema = reader.schema();
    rows(input, &schema, "Arrow", reader, options)
}

/// Whether the bytes begin an Arrow file; streams have no mark of their own.
pub(super) fn is_arrow_file(head: &[u8]) -> bool {
    head.starts_with(b"ARROW1")
}

fn damaged(name: &str, what: &str, error: &dyn std::fmt::Display) -> Error {
    fault(name, Some(&format!("a damaged {what} file ({error})")), "a whole one")
}

fn rows(
    input: &Input<'_>,
    schema: &Schema,
    what: &str,
    mut batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    options: &ReadOptions,
) -> Result<Dataset> {
    let name = input.name.as_str();
    let (mut columns, mut others) = (Vec::new(), Vec::new());
    for (at, field) in schema.fields().iter().enumerate() {
        columns_of(field, "", vec![at], &mut columns, &mut others);
    }
    if columns.is_empty() {
        let expected = "columns of numbers, text, booleans, dates and times";
        return Err(fault(name, Some(others.first().map_or("no columns", String::as_str)), expected));
    }
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let mut batch: Vec<Cells> = Vec::new();
    let (mut length, mut at, mut line, mut text) = (0, 0, 0, String::new());
    let mut next = |record: &mut Record| {
        while at == length {
            let Some(more) = decoded(name, what, || batches.next())? else { return Ok(false) };
            let more = more.map_err(|e| damaged(name, what, &e))?;
            batch = columns.iter().map(|(_, path)| Cells::at(more.columns(), path)).collect();
            (length, at) = (more.num_rows(), 0);
        }
        record.clear();
        for column in &batch {
            text.clear();
            column.push(at, &mut text);
            record.push(text.as_bytes());
        }
        (at, line) = (at + 1, line + 1);
        record.line = line;
        Ok(true)
    };
    let given = Given { name, budget: input.budget, delimiter: b',', names: Some(names) };
    let mut data = assemble(&given, &mut next, options).map_err(by_row)?;
    if !others.is_empty() {
        let list = others.join(", ");
        data.note(Note::warning(format!("columns that a table cannot hold are ignored: {list}")));
    }
    Ok(data)
}

/// The columns that a field becomes, each with its name and the places from the batch down to it; and what cannot be one.
fn columns_of(
    field: &Field,
    above: &str,
    path: Vec<usize>,
    columns: &mut Vec<(String, Vec<usize>)>,
    others: &mut Vec<String>,
) {
    let name = if above.is_empty() { field.name().clone() } else { format!("{above}.{}", field.name()) };
    match field.data_type() {
        DataType::Struct(fields) => {
            for (at, inner) in fields.iter().enumerate() {
                columns_of(inner, &name, [path.as_slice(), &[at]].concat(), columns, others);
            }
        }
        kind if is_plain(kind) => columns.push((name, path)),
        kind => others.push(format!("column `{name}` of type {kind}")),
    }
}

/// Whether cells of this type are single values that a table can hold.
fn is_plain(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => is_plain(value) && !matches!(**value, DataType::Dictionary(..)),
        DataType::Null
        | DataType::Boolean
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Duration(_)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// A column of a batch, and for a dictionary the place of each row's value.
struct Cells {
    values: ArrayRef,
    rows: ArrayRef,
    keys: Option<Vec<usize>>,
    /// The structs that it is a field of.
    above: Vec<ArrayRef>,
}

impl Cells {
    /// The column at the end of a path through structs.
    fn at(columns: &[ArrayRef], path: &[usize]) -> Self {
        let mut array = Arc::clone(&columns[path[0]]);
        let mut above = Vec::new();
        for &at in &path[1..] {
            let inner = Arc::clone(array.as_struct().column(at));
            above.push(std::mem::replace(&mut array, inner));
        }
        Cells { above, ..Cells::new(&array) }
    }

    fn new(array: &ArrayRef) -> Self {
        let (rows, above) = (Arc::clone(array), Vec::new());
        match array.as_any_dictionary_opt() {
            Some(dictionary) => {
                let values = Arc::clone(dictionary.values());
                // Without values, all rows are missing.
                let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
                Cells { values, rows, keys: Some(keys), above }
            }
            None => Cells { values: Arc::clone(array), rows, keys: None, above },
        }
    }

    /// Writes a cell as a CSV file would have it; nothing where it is missing.
    fn push(&self, row: usize, out: &mut String) {
        if self.rows.is_null(row) || self.above.iter().any(|array| array.is_null(row)) {
            return;
        }
        let at = match &self.keys {
            Some(keys) => match keys.get(row) {
                Some(&key) => key,
                None => return,
            },
            None => row,
        };
        if !self.values.is_null(at) {
            push_value(&self.values, at, out);
        }
    }
}

fn push_value(array: &dyn Array, at: usize, out: &mut String) {
    use std::fmt::Write as _;
    macro_rules! plain {
        ($kind:ty) => {
            write!(out, "{}", array.as_primitive::<$kind>().value(at))
        };
    }
    macro_rules! moment {
        ($kind:ty, $per_second:expr) => {
            push_moment(out, array.as_primitive::<$kind>().value(at), $per_second)
        };
    }
    macro_rules! time {
        ($kind:ty, $per_second:expr) => {
            push_clock(out, i64::from(array.as_primitive::<$kind>().value(at)), $per_second)
        };
    }
    macro_rules! seconds {
        ($kind:ty, $per_second:expr) => {
            write!(out, "{}", array.as_primitive::<$kind>().value(at) as f64 / $per_second)
        };
    }
    let mut float = |value: f64| if value.is_nan() { Ok(()) } else { write!(out, "{value}") };
    // Writing to a string cannot fail.
    let _ = match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(at)),
        DataType::Int8 => plain!(Int8Type),
        DataType::Int16 => plain!(Int16Type),
        DataType::Int32 => plain!(Int32Type),
        DataType::Int64 => plain!(Int64Type),
        DataType::UInt8 => plain!(UInt8Type),
        DataType::UInt16 => plain!(UInt16Type),
        DataType::UInt32 => plain!(UInt32Type),
        DataType::UInt64 => plain!(UInt64Type),
        DataType::Float16 => float(array.as_primitive::<Float16Type>().value(at).to_f64()),
        DataType::Float32 => float(f64::from(array.as_primitive::<Float32Type>().value(at))),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(at)),
        DataType::Decimal128(..) => {
            out.push_str(&array.as_primitive::<Decimal128Type>().value_as_string(at));
            Ok(())
        }
        DataType::Decimal256(..) => {
            out.push_str(&array.as_primitive::<Decimal256Type>().value_as_string(at));
            Ok(())
        }
        DataType::Utf8 => write!(out, "{}", array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => write!(out, "{}", array.as_string::<i64>().value(at)),
        DataType::Utf8View => write!(out, "{}", array.as_string_view().value(at)),
        DataType::Date32 => push_day(out, i64::from(array.as_primitive::<Date32Type>().value(at))),
        DataType::Date64 => moment!(Date64Type, 1_000),
        DataType::Timestamp(TimeUnit::Second, _) => moment!(TimestampSecondType, 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => moment!(TimestampMillisecondType, 1_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => moment!(TimestampMicrosecondType, 1_000_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => moment!(TimestampNanosecondType, 1_000_000_000),
        DataType::Time32(TimeUnit::Second) => time!(Time32SecondType, 1),
        DataType::Time32(_) => time!(Time32MillisecondType, 1_000),
        DataType::Time64(TimeUnit::Microsecond) => time!(Time64MicrosecondType, 1_000_000),
        DataType::Time64(_) => time!(Time64NanosecondType, 1_000_000_000),
        DataType::Duration(TimeUnit::Second) => seconds!(DurationSecondType, 1.0),
        DataType::Duration(TimeUnit::Millisecond) => seconds!(DurationMillisecondType, 1e3),
        DataType::Duration(TimeUnit::Microsecond) => seconds!(DurationMicrosecondType, 1e6),
        DataType::Duration(TimeUnit::Nanosecond) => seconds!(DurationNanosecondType, 1e9),
        // Nulls have no values; other types were left out.
        _ => Ok(()),
    };
}

/// A moment in parts of a second from 1970-01-01: a date where it is midnight, else with the time.
fn push_moment(out: &mut String, value: i64, per_second: i64) -> std::fmt::Result {
    let day = 86_400 * per_second;
    push_day(out, value.div_euclid(day))?;
    match value.rem_euclid(day) {
        0 => Ok(()),
        rest => {
            out.push(' ');
            push_clock(out, rest, per_second)
        }
    }
}

/// A time of the day in parts of a second.
fn push_clock(out: &mut String, value: i64, per_second: i64) -> std::fmt::Result {
    use std::fmt::Write as _;
    let (seconds, part) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    if part > 0 {
        let digits = per_second.ilog10() as usize;
        write!(out, ".{}", format!("{part:0digits$}").trim_end_matches('0'))?;
    }
    Ok(())
}

/// A day counted from 1970-01-01, by the Gregorian calendar.
fn push_day(out: &mut String, day: i64) -> std::fmt::Result {
    use std::fmt::Write as _;
    // Years begin in March here, so that a leap day is the last of its year; 719,468 days are from 0000-03-01.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    write!(out, "{year:04}-{month:02}-{:02}", of_year - (153 * shifted + 2) / 5 + 1)
}

/// The whole data set as one batch, the target last.
fn batch(data: &Dataset, memory: u64) -> Result<RecordBatch> {
    let view = data.points.view();
    if matches!(view.data, Data::Sequences { .. } | Data::RowNumbers(_)) {
        return Err(Error::shape("points to write as a table", view.kind(), "rows of numbers"));
    }
    let own = data.points.as_table().map(Table::names);
    let names = data.column_names.as_deref().or(own).unwrap_or_default();
    let numbers = |values: Vec<Option<f64>>| Arc::new(Float64Array::from(values)) as ArrayRef;
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(view.d + 1);
    if let Some(table) = data.points.as_table() {
        for column in table.columns() {
            columns.push(match column {
                Column::Numbers(x) => numbers(x.iter().map(|v| (!v.is_nan()).then_some(*v)).collect()),
                Column::Text { .. } => {
                    let cells: Vec<_> = (0..table.rows()).map(|row| column.cell(row)).collect();
                    Arc::new(StringArray::from_iter(cells)) as ArrayRef
                }
            });
        }
    } else {
        let x = view.to_f64_within(memory)?;
        for j in 0..view.d {
            columns.push(numbers(x.iter().skip(j).step_by(view.d).map(|v| Some(*v)).collect()));
        }
    }
    let mut names: Vec<String> =
        (0..view.d).map(|j| names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1))).collect();
    let target = data.target_name.clone().unwrap_or_else(|| "label".into());
    match &data.targets {
        Targets::None => {}
        Targets::Reals(y) => columns.push(numbers(y.iter().map(|v| Some(*v)).collect())),
        Targets::Classes(labels) => {
            let as_numbers: Option<Vec<f64>> =
                labels.names.iter().map(|n| number(n.as_bytes()).filter(|v| v.to_string() == *n)).collect();
            let of_row = (0..labels.len()).map(|i| labels.name_of(i));
            columns.push(match as_numbers {
                Some(_) => numbers(of_row.map(|name| number(name.as_bytes())).collect()),
                None => Arc::new(StringArray::from_iter_values(of_row)),
            });
        }
    }
    if columns.len() > names.len() {
        if names.contains(&target) {
            return Err(Error::param("name of the target", target, "a name not used by any column"));
        }
        names.push(target);
    }
    let fields: Vec<Field> = names
        .into_iter()
        .zip(&columns)
        .map(|(name, c)| Field::new(name, c.data_type().clone(), true))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|e| Error::Unsupported(format!("a table for Arrow: {e}")))
}

pub(super) fn write_parquet(out: &mut dyn Write, data: &Dataset, name: &str, memory: u64) -> Result<()> {
    let batch = batch(data, memory)?;
    let bad = |e: parquet::errors::ParquetError| Error::io(name, std::io::Error::other(e));
    let mut bytes = Vec::new();
    let codec = parquet::basic::Compression::SNAPPY;
    let settings = parquet::file::properties::WriterProperties::builder().set_compression(codec).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(settings)).map_err(bad)?;
    writer.write(&batch).map_err(bad)?;
    writer.close().map_err(bad)?;
    out.write_all(&bytes).map_err(|e| Error::io(name, e))
}

pub(super) fn write_arrow(out: &mut dyn Write, data: &Dataset, name: &str, memory: u64) -> Result<()> {
    let batch = batch(data, memory)?;
    let bad = |e: ArrowError| Error::io(name, std::io::Error::other(e));
    let mut writer = arrow_ipc::writer::FileWriter::try_new(out, &batch.schema()).map_err(bad)?;
    writer.write(&batch).map_err(bad)?;
    writer.finish().map_err(bad)
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        BooleanArray, Date32Array, DictionaryArray, Int32Array, ListArray, TimestampMillisecondArray,
    };

    use super::super::{Format, read_bytes, write_to};
    use super::*;

    fn day(day: i64) -> String {
        let mut out = String::new();
        push_day(&mut out, day).expect("text");
        out
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (number, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_782, "2024-02-29"),
            (19_783, "2024-03-01"),
            (-719_468, "0000-03-01"),
        ] {
            assert_eq!(day(number), text);
        }
    }

    /// A batch as a Parquet file, as an Arrow file and as an Arrow stream.
    fn files(batch: &RecordBatch) -> [Vec<u8>; 3] {
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        let mut parquet = ArrowWriter::try_new(&mut all[0], batch.schema(), None).expect("a schema");
        parquet.write(batch).expect("memory");
        parquet.close().expect("memory");
        let mut file =
            arrow_ipc::writer::FileWriter::try_new(&mut all[1], &batch.schema()).expect("a schema");
        file.write(batch).and_then(|()| file.finish()).expect("memory");
        drop(file);
        let mut stream =
            arrow_ipc::writer::StreamWriter::try_new(&mut all[2], &batch.schema()).expect("a schema");
        stream.write(batch).and_then(|()| stream.finish()).expect("memory");
        drop(stream);
        all
    }

    #[test]
    fn every_plain_type_becomes_cells() {
        let words: DictionaryArray<Int32Type> = vec![Some("a"), None, Some("b")].into_iter().collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("whole", Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))),
            ("real", Arc::new(Float64Array::from(vec![0.5, f64::NAN, -2.0]))),
            ("fine", Arc::new(BooleanArray::from(vec![true, false, true]))),
            ("day", Arc::new(Date32Array::from(vec![0, 1, 2]))),
            ("moment", Arc::new(TimestampMillisecondArray::from(vec![0, 1_500, 86_400_000]))),
            ("word", Arc::new(words)),
            ("label", Arc::new(StringArray::from(vec!["p", "q", "p"]))),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)));
        for (bytes, format) in
            files(&batch.expect("a batch")).iter().zip([Format::Parquet, Format::Arrow, Format::Arrow])
        {
            let data = read_bytes("t", bytes, &ReadOptions::default()).expect("a table");
            assert_eq!(data.format, Some(format));
            let table = data.points.as_table().expect("a table");
            let row = |row: usize| -> Vec<String> {
                table.columns().iter().map(|c| c.cell(row).unwrap_or_default().into_owned()).collect()
            };
            assert_eq!(row(0), ["1", "0.5", "true", "1970-01-01", "1970-01-01", "a"]);
            assert_eq!(row(1), ["", "", "false", "1970-01-02", "1970-01-01 00:00:01.5", ""]);
            assert_eq!(row(2), ["3", "-2", "true", "1970-01-03", "1970-01-02", "b"]);
            assert_eq!(data.targets.classes().expect("classes").names, ["p", "q"]);
        }
    }

    #[test]
    fn structs_are_columns_and_lists_are_left_out_with_a_note() {
        let ages = Arc::new(Int32Array::from(vec![Some(31), None, Some(5)])) as ArrayRef;
        let fields: arrow_schema::Fields = vec![Field::new("age", DataType::Int32, true)].into();
        let nulls = arrow_array::BooleanArray::from(vec![true, true, false]);
        let user = arrow_array::StructArray::new(fields, vec![ages], Some(nulls.values().clone().into()));
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>((0..3).map(|i| Some(vec![Some(i)])));
        let waited = arrow_array::DurationMillisecondArray::from(vec![1500, 0, -250]);
        let label = StringArray::from(vec!["p", "q", "p"]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("user", Arc::new(user)),
            ("tags", Arc::new(list)),
            ("waited", Arc::new(waited)),
            ("label", Arc::new(label)),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)));
        for bytes in files(&batch.expect("a batch")) {
            let data = read_bytes("t", &bytes, &ReadOptions::default()).expect("a table");
            assert_eq!(data.column_names.as_deref(), Some(&["user.age", "waited"].map(String::from)[..]));
            let table = data.points.as_table().expect("a table");
            let column = |at: usize| -> Vec<Option<String>> {
                (0..3).map(|row| table.columns()[at].cell(row).map(std::borrow::Cow::into_owned)).collect()
            };
            assert_eq!(column(0), [Some("31".to_owned()), None, None]);
            assert_eq!(column(1), ["1.5", "0", "-0.25"].map(|t| Some(t.to_owned())));
            let note = |n: &Note| {
                n.text.starts_with("columns that a table cannot hold are ignored: column `tags` of type List")
            };
            assert!(data.notes.iter().any(note), "{:?}", data.notes);
        }
    }

    #[test]
    fn nothing_but_lists_and_damaged_files_are_refused() {
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
        let batch = RecordBatch::try_from_iter(vec![("l", Arc::new(list) as ArrayRef)]).expect("a batch");
        for bytes in files(&batch) {
            let refused = read_bytes("t", &bytes, &ReadOptions::default()).expect_err("a list").to_string();
            assert!(refused.contains("column `l` of type List"), "{refused}");
        }
        let numbers = Arc::new(Float64Array::from(vec![0.5; 100])) as ArrayRef;
        let batch =
            RecordBatch::try_from_iter(vec![("x", Arc::clone(&numbers)), ("y", numbers)]).expect("a batch");
        for bytes in files(&batch) {
            for end in [bytes.len() / 2, bytes.len() * 3 / 4] {
                assert!(read_bytes("t", &bytes[..end], &ReadOptions::default()).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn tables_come_back() {
        let text = "a,b,c,label\n1.5,x,1,1\n,y,2,2\n-3,,3,1\n";
        let mut data = read_bytes("t.csv", text.as_bytes(), &ReadOptions::default()).expect("a table");
        data.notes.clear();
        for format in [Format::Parquet, Format::Arrow] {
            let mut bytes = Vec::new();
            write_to(&mut bytes, "t", &data, format).expect("written");
            let mut back = read_bytes("t", &bytes, &ReadOptions::default()).expect("read");
            back.notes.clear();
            back.format = data.format;
            assert_eq!(back, data);
        }
    }
}
