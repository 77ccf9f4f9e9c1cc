//! One table in every format of tables gives the same data.

use super::{FORMATS, Format, ReadOptions, read_bytes, write_to};
use crate::data::Dataset;

const TEXT: &str = "age,colour,day,member,size,label
31.5,red,2024-12-31,true,1,a
,blue,2025-01-01,false,-2e-7,b
58,,2025-01-02 12:00:00,true,3,a
0.1,\"light, \"\"blue\"\"\",,,1234567.875,b
";

/// The data without what the format itself says.
fn bare(mut data: Dataset) -> Dataset {
    data.notes.clear();
    data.format = None;
    data
}

fn read(bytes: &[u8]) -> Dataset {
    bare(read_bytes("table", bytes, &ReadOptions::default()).expect("a table"))
}

/// The same table as a sheet: dates are numbers of days with a format.
#[cfg(feature = "xlsx")]
fn sheet() -> Vec<u8> {
    let text = |t: &str| format!(r#"<c t="inlineStr"><is><t>{t}</t></is></c>"#);
    let number = |v: &str| format!("<c><v>{v}</v></c>");
    let date = |v: &str| format!(r#"<c s="1"><v>{v}</v></c>"#);
    let truth = |v: u8| format!(r#"<c t="b"><v>{v}</v></c>"#);
    let none = || "<c/>".to_owned();
    let rows = [
        ["age", "colour", "day", "member", "size", "label"].map(text),
        [number("31.5"), text("red"), date("45657"), truth(1), number("1"), text("a")],
        [none(), text("blue"), date("45658"), truth(0), number("-2E-7"), text("b")],
        [number("58"), none(), date("45659.5"), truth(1), number("3"), text("a")],
        [number("0.1"), text("light, &quot;blue&quot;"), none(), none(), number("1234567.875"), text("b")],
    ];
    let rows: Vec<String> = rows.iter().map(|cells| format!("<row>{}</row>", cells.concat())).collect();
    super::xlsx::tests::workbook(&[("Sheet", &rows.concat())])
}

#[test]
fn every_format_of_tables_gives_the_same_data() {
    let wanted = read(TEXT.as_bytes());
    assert_eq!((wanted.len(), wanted.dim(), wanted.points.kind()), (4, 5, "table"));
    for row in FORMATS {
        let bytes = match row.format {
            Format::Csv | Format::Tsv | Format::JsonLines | Format::Parquet | Format::Arrow => {
                let mut bytes = Vec::new();
                match write_to(&mut bytes, "table", &wanted, row.format) {
                    Ok(()) => bytes,
                    Err(_) if !row.writable() => continue,
                    Err(e) => panic!("{}: {e}", row.name),
                }
            }
            #[cfg(feature = "xlsx")]
            Format::Xlsx => sheet(),
            // Numbers, sequences or pictures: a table is refused where there is a writer.
            _ => {
                assert!(write_to(&mut Vec::new(), "table", &wanted, row.format).is_err(), "{}", row.name);
                continue;
            }
        };
        let data = read_bytes("table", &bytes, &ReadOptions::default()).expect(row.name);
        assert_eq!(data.format, Some(row.format));
        assert_eq!(bare(data), wanted, "{}", row.name);
    }
    let wide: Vec<u8> =
        "\u{feff}".encode_utf16().chain(TEXT.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    assert_eq!(read(&wide), wanted, "UTF-16");
}

#[test]
fn a_format_that_this_build_lacks_says_how_to_get_it() {
    for (begin, feature, has) in [
        (&b"PAR1...."[..], "parquet", cfg!(feature = "parquet")),
        (b"ARROW1\0\0....", "parquet", cfg!(feature = "parquet")),
        (b"\xff\xd8\xff\xe0....", "pictures", cfg!(feature = "pictures")),
    ] {
        let refused = read_bytes("f", begin, &ReadOptions::default()).expect_err("no file").to_string();
        assert_eq!(refused.contains(&format!("--features {feature}")), !has, "{refused}");
    }
}
