//! XLSX: the sheets of Excel workbooks.
//!
//! The first sheet that has two rows and two columns, or the one asked for. Its cells are read as those of a CSV file would be: numbers, text, true and false,
//! dates as `2024-12-31` or `2024-12-31 12:30:15`, and empty cells are missing values. Cells with an error, such as
//! `#DIV/0!`, are missing values too, and a note says how many there are. Formulas count with their last result.

use std::io::{Cursor, Read};

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, Xlsx, XlsxError};

use super::ReadOptions;
use super::foreign::decoded;
use super::held::Held;
use super::limits::Budget;
use super::source::{Input, by_row, fault};
use super::table::{Given, assemble};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::watch::Note;

/// Bytes in memory per byte of a sheet, about: short texts that cells share have a header each.
const EACH: u64 = 2;

/// The day after 9999-12-31, the last that Excel knows.
const LAST_DAY: f64 = 2_958_466.0;

pub(super) fn read(input: &mut Input<'_>, options: &ReadOptions) -> Result<Dataset> {
    let bytes = input.whole(1)?;
    let (name, budget) = (input.name.as_str(), input.budget);
    decoded(name, "XLSX", || check_unpacked(&bytes, name, budget))??;
    let bad = |e: &XlsxError| damaged(name, e);
    let mut book: Xlsx<_> =
        decoded(name, "XLSX", || Xlsx::new(Cursor::new(bytes.as_slice())))?.map_err(|e| bad(&e))?;
    let sheets = sheets(&book, name, options)?;
    let mut taken = None;
    for sheet in &sheets {
        let (held, errors) = decoded(name, "XLSX", || cells(&mut book, sheet, name, budget))??;
        // A sheet of remarks is no table, unless there is nothing else.
        let table = held.width() > 1 && held.len() > 1;
        if table || taken.is_none() {
            taken = Some((sheet, held, errors));
        }
        if table {
            break;
        }
    }
    let Some((sheet, held, errors)) = taken else {
        return Err(fault(name, Some("a workbook without sheets"), "at least one sheet"));
    };
    if held.len() == 0 {
        return Err(fault(name, Some(&format!("the sheet `{sheet}` without cells")), "at least one row"));
    }
    let mut next = held.records(name, budget, held.width())?;
    let given = Given { name, budget, delimiter: b',', names: None };
    let mut data = assemble(&given, &mut next, options).map_err(by_row)?;
    let others: Vec<String> =
        sheets.iter().filter(|other| *other != sheet).take(5).map(|other| format!("`{other}`")).collect();
    let rest = if others.is_empty() { String::new() } else { format!("; others: {}", others.join(", ")) };
    data.note(format!("sheet `{sheet}`{rest}"));
    if errors > 0 {
        data.note(Note::warning(format!("{errors} cells with errors such as #DIV/0! count as missing")));
    }
    Ok(data)
}

fn damaged(name: &str, error: &dyn std::fmt::Display) -> Error {
    fault(name, Some(&format!("a damaged workbook ({error})")), "a complete XLSX file")
}

/// Decompresses everything once and counts: an archive's declared sizes need not be true.
fn check_unpacked(bytes: &[u8], name: &str, budget: Budget) -> Result<()> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged(name, &e))?;
    let mut total = 0;
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(|e| damaged(name, &e))?;
        let left = budget.bytes().saturating_sub(total);
        let count = std::io::copy(&mut entry.take(left.saturating_add(1)), &mut std::io::sink());
        total += count.map_err(|e| damaged(name, &e))?;
        budget.check(name, None, usize::try_from(total).unwrap_or(usize::MAX), EACH)?;
    }
    Ok(())
}

/// The names of the sheets that may be read, in their order: the one asked for, or all.
fn sheets<R: Read + std::io::Seek>(book: &Xlsx<R>, name: &str, options: &ReadOptions) -> Result<Vec<String>> {
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    match &options.sheet {
        Some(asked) if sheets.contains(asked) => Ok(vec![asked.clone()]),
        Some(asked) => {
            Err(Error::param("sheet", asked, format!("one of the sheets of {name}: {}", sheets.join(", "))))
        }
        None => Ok(sheets),
    }
}

/// The cells of a sheet from its first column on, and how many hold errors. Places are taken from the cells alone: a
/// sheet may claim any size.
fn cells<R: Read + std::io::Seek>(
    book: &mut Xlsx<R>,
    sheet: &str,
    name: &str,
    budget: Budget,
) -> Result<(Held, usize)> {
    let bad = |e: &XlsxError| damaged(name, e);
    let mut reader = book.worksheet_cells_reader(sheet).map_err(|e| bad(&e))?;
    let (mut held, mut errors, mut row) = (Held::default(), 0, 0);
    while let Some(cell) = reader.next_cell().map_err(|e| bad(&e))? {
        let (at, column) = cell.get_position();
        let text = match cell.get_value() {
            DataRef::Empty => continue,
            DataRef::Int(value) => value.to_string(),
            DataRef::Float(value) => value.to_string(),
            DataRef::Bool(value) => value.to_string(),
            DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
            DataRef::SharedString(text) => (*text).to_owned(),
            DataRef::DateTime(value) => date(value),
            DataRef::Error(_) => {
                errors += 1;
                String::new()
            }
        };
        let number = u64::from(at) + 1;
        if number < row {
            return Err(damaged(name, &format!("row {number} after row {row}")));
        }
        if number > row && held.has_cells() {
            held.end_row(row);
        }
        row = number;
        held.push(column, text.as_bytes());
        budget.check(name, None, held.bytes(), 1)?;
    }
    if held.has_cells() {
        held.end_row(row);
    }
    held.begin_at_first_column();
    Ok((held, errors))
}

/// A date, a time or both as text; a duration, and what is no date, as a number of days.
fn date(value: &ExcelDateTime) -> String {
    let days = value.as_f64();
    if !value.is_datetime() || !(0.0..LAST_DAY).contains(&days) {
        return days.to_string();
    }
    let (year, month, day, hour, minute, second, milli) = value.to_ymd_hms_milli();
    let part = if milli > 0 { format!(".{milli:03}") } else { String::new() };
    let time = format!("{hour:02}:{minute:02}:{second:02}{part}");
    match (days < 1.0, (hour, minute, second, milli) == (0, 0, 0, 0)) {
        (true, _) => time,
        (false, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02} {time}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::super::{Format, read_bytes};
    use super::*;

    /// A workbook whose sheets are given by the XML of their rows.
    pub(in super::super) fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, text: &str| {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
            zip.write_all(text.as_bytes()).expect("memory");
        };
        add(
            "[Content_Types].xml",
            r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#,
        );
        let relation = |id: usize, kind: &str, target: &str| {
            format!(
                r#"<Relationship Id="rId{id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"#
            )
        };
        let relations = |inside: &str| {
            format!(
                r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>"#
            )
        };
        add("_rels/.rels", &relations(&relation(1, "officeDocument", "xl/workbook.xml")));
        let main = r#"xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main""#;
        let mut list = Vec::new();
        let mut targets = relation(1000, "styles", "styles.xml");
        for (k, (name, rows)) in sheets.iter().enumerate() {
            let k = k + 1;
            list.push(format!(r#"<sheet name="{name}" sheetId="{k}" r:id="rId{k}"/>"#));
            targets += &relation(k, "worksheet", &format!("worksheets/sheet{k}.xml"));
            let sheet = format!("<worksheet {main}><sheetData>{rows}</sheetData></worksheet>");
            add(&format!("xl/worksheets/sheet{k}.xml"), &sheet);
        }
        add("xl/_rels/workbook.xml.rels", &relations(&targets));
        let rel = r#"xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;
        add(
            "xl/workbook.xml",
            &format!("<workbook {main} {rel}><sheets>{}</sheets></workbook>", list.concat()),
        );
        // The second cell format is a date.
        let formats =
            r#"<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs>"#;
        add("xl/styles.xml", &format!("<styleSheet {main}>{formats}</styleSheet>"));
        zip.finish().expect("memory").into_inner()
    }

    fn text(place: &str, text: &str) -> String {
        format!(r#"<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    }

    fn number(place: &str, value: &str) -> String {
        format!(r#"<c r="{place}"><v>{value}</v></c>"#)
    }

    fn row(number: usize, cells: &[String]) -> String {
        format!(r#"<row r="{number}">{}</row>"#, cells.concat())
    }

    fn cells_of(data: &Dataset) -> Vec<Vec<Option<String>>> {
        let table = data.points.as_table().expect("a table");
        let cell = |row| table.columns().iter().map(move |c| c.cell(row).map(std::borrow::Cow::into_owned));
        (0..table.rows()).map(|row| cell(row).collect()).collect()
    }

    #[test]
    fn a_sheet_is_a_table_with_dates_and_missing_values() {
        let head = ["age", "day", "fine", "ratio", "label"];
        let head: Vec<String> =
            ["C", "D", "E", "F", "G"].iter().zip(head).map(|(c, t)| text(&format!("{c}3"), t)).collect();
        let rows = [
            row(3, &head),
            row(
                4,
                &[
                    number("C4", "31.5"),
                    r#"<c r="D4" s="1"><v>45657</v></c>"#.into(),
                    r#"<c r="E4" t="b"><v>1</v></c>"#.into(),
                    r#"<c r="F4" t="e"><v>#DIV/0!</v></c>"#.into(),
                    text("G4", "a"),
                ],
            ),
            row(6, &[r#"<c r="D6" s="1"><v>45658.5</v></c>"#.into(), number("F6", "2"), text("G6", "b")]),
        ];
        let bytes = workbook(&[
            ("First", &rows.concat()),
            ("Second", &row(1, &[number("A1", "7"), number("B1", "8")])),
        ]);
        let data = read_bytes("t.xlsx", &bytes, &ReadOptions::default()).expect("a sheet");
        assert_eq!((data.format, data.target_name.as_deref()), (Some(Format::Xlsx), Some("label")));
        assert_eq!(data.column_names.as_deref().expect("names"), ["age", "day", "fine", "ratio"]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            cells_of(&data),
            [
                [some("31.5"), some("2024-12-31"), some("true"), None],
                [None, some("2025-01-01 12:00:00"), None, some("2")]
            ]
        );
        assert!(data.notes.iter().any(|n| n.contains("1 cells with errors")), "{:?}", data.notes);
        let options = ReadOptions {
            sheet: Some("Second".into()),
            label: "none".parse().expect("any"),
            ..ReadOptions::default()
        };
        let second = read_bytes("t.xlsx", &bytes, &options).expect("the other sheet");
        assert_eq!(second.points.view().to_f64().expect("numbers"), [7.0, 8.0]);
        let options = ReadOptions { sheet: Some("Third".into()), ..ReadOptions::default() };
        let refused = read_bytes("t.xlsx", &bytes, &options).expect_err("no such sheet").to_string();
        assert_eq!(refused, "sheet = Third: must be one of the sheets of t.xlsx: First, Second");
    }

    #[test]
    fn errors_name_the_row_of_the_sheet() {
        let rows = [
            row(1, &[text("A1", "a"), text("B1", "b")]),
            row(2, &[number("A2", "1"), number("B2", "2")]),
            row(9, &[text("A9", "x"), number("B9", "2")]),
        ];
        let options = ReadOptions { kinds: "a=number".parse().expect("kinds"), ..ReadOptions::default() };
        let refused = read_bytes("t.xlsx", &workbook(&[("S", &rows.concat())]), &options)
            .expect_err("text")
            .to_string();
        assert!(
            refused.starts_with("t.xlsx, row 9, column 1 (`a`): got `x`, expected a number"),
            "{refused}"
        );
    }

    #[test]
    fn far_cells_and_damaged_workbooks_are_refused() {
        let far = row(1, &[number("A1", "1")]) + &row(1_048_576, &[number("XFD1048576", "1")]);
        let options = ReadOptions { max_bytes: Some(1 << 20), ..ReadOptions::default() };
        let wide = (1..200)
            .map(|k| row(k, &[number(&format!("XFD{k}"), "1"), number(&format!("A{k}"), "1")]))
            .collect::<Vec<_>>()
            .concat();
        assert!(read_bytes("t.xlsx", &workbook(&[("S", &far)]), &options).is_err());
        // Two rows with a cell each are two rows, wherever the cells are.
        let none = ReadOptions { label: "none".parse().expect("any"), ..ReadOptions::default() };
        let data = read_bytes("t.xlsx", &workbook(&[("S", &far)]), &none).expect("two rows");
        assert_eq!((data.len(), data.dim()), (2, 16_384));
        assert!(read_bytes("t.xlsx", &workbook(&[("S", &wide)]), &options).is_err());
        let bytes = workbook(&[("S", &row(1, &[number("A1", "1"), number("B1", "2")]))]);
        for end in [bytes.len() / 2, bytes.len() - 1, 100] {
            let refused =
                read_bytes("t.xlsx", &bytes[..end], &ReadOptions::default()).expect_err("cut").to_string();
            assert!(refused.contains("a damaged workbook"), "{refused}");
        }
        assert!(read_bytes("t.xlsx", &workbook(&[("S", "")]), &ReadOptions::default()).is_err(), "no cells");
    }
}
