//! Files as strangers have them, each through data info, train, predict and evaluate: the outcome of each is stated.
//!
//! `tests/messy` holds what other programs wrote; the tables below are written here.

use std::path::Path;

use crate::run::{Folder, Run};

/// Ends well, whatever notes it gives on standard error.
#[track_caller]
fn well(run: Run) -> Run {
    assert!(run.code == 0 && run.err.lines().all(|line| line.starts_with("note: ")), "{run:#?}");
    run
}

/// Through all four commands with these flags: what `data info` says, how many predictions, the evaluation.
#[track_caller]
fn through(folder: &Folder, file: &str, flags: &str) -> (String, usize, serde_json::Value) {
    let info = well(folder.mercer(&format!("data info {file} {flags}"))).out;
    well(folder.mercer(&format!("train {file} {flags} -o m.mercer -q")));
    well(folder.mercer(&format!("predict {file} m.mercer {flags} -o p.csv -q")));
    let rows = folder.read("p.csv").lines().count() - 1;
    let json = well(folder.mercer(&format!("evaluate {file} m.mercer {flags} --format json"))).json();
    (info, rows, json)
}

/// A file of `tests/messy`, in a folder of its own.
fn messy(name: &str) -> Folder {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy").join(name);
    let content = std::fs::read(&from).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
    Folder::new().with(name, content)
}

#[test]
fn files_of_other_programs_give_the_same_predictions() {
    let mut files = vec![
        "customers.csv.bz2",
        "customers.zip",
        "customers-utf16.csv",
        "customers.jsonl",
        "customers.xlsx",
    ];
    if cfg!(feature = "parquet") {
        files.extend(["customers.parquet", "customers.feather"]);
    }
    let mut wanted: Option<String> = None;
    for name in files {
        let folder = messy(name);
        let (info, rows, json) = through(&folder, name, "--label outcome");
        for (column, kind) in
            [("customer", "identifier"), ("age", "number"), ("city", "category"), ("visit", "date")]
        {
            let line =
                info.lines().find(|l| l.trim_start().starts_with(&format!("{column} "))).expect(column);
            assert!(line.contains(kind), "{name}: {line}");
        }
        assert_eq!(rows, 160, "{name}");
        let error = json["evaluation"]["error"].as_f64().or(json["error"].as_f64()).expect("an error");
        assert!(error < 0.15, "{name}: {error}");
        let predictions = folder.read("p.csv");
        assert_eq!(*wanted.get_or_insert_with(|| predictions.clone()), predictions, "{name}");
    }
}

#[test]
fn jpeg_folders_of_mixed_sizes_are_resized() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy/photographs");
    let pictures = from.display();
    let folder = Folder::new();
    let refused = folder.mercer(&format!("data info {pictures}"));
    assert!(refused.code == 1 && refused.err.contains("--image HxW"), "{refused:#?}");
    let (info, rows, json) = through(&folder, &pictures.to_string(), "--image 8x8 --grey");
    assert!(info.contains("2 classes") && rows == 20, "{info}");
    assert_eq!(json["evaluation"]["error"].as_f64().or(json["error"].as_f64()), Some(0.0));
    // The model knows its pictures: no flag is needed later.
    let with = folder.mercer(&format!("predict {pictures} m.mercer --image 8x8 --grey")).fine();
    let without = well(folder.mercer(&format!("predict {pictures} m.mercer")));
    assert_eq!(without.out, with.out);
    assert!(without.err.contains("pictures are brought to 8 x 8 pixels"), "{without:#?}");
    well(folder.mercer(&format!("evaluate {pictures} m.mercer")));
}

/// Rows of a table: a number that tells the class, and one that does not.
fn rows(count: usize, line: impl Fn(usize, f64, f64, bool) -> String) -> String {
    let row = |i: usize| {
        let (a, b) = ((i * 37 % 101) as f64 / 10.0, (i * 53 % 89) as f64 / 10.0);
        line(i, a, b, a > 5.0)
    };
    (0..count).map(row).collect()
}

fn class(yes: bool) -> &'static str {
    if yes { "high" } else { "low" }
}

/// One file that a stranger has.
struct Case {
    name: &'static str,
    text: String,
    flags: &'static str,
    /// Rows that are predicted.
    rows: usize,
    /// What `data info` says.
    told: &'static [&'static str],
}

fn cases() -> Vec<Case> {
    let n = 120;
    let case = |name, text, told| Case { name, text, flags: "", rows: n, told };
    let plain = rows(n, |_, a, b, y| format!("{a},{b},{}\n", class(y)));
    let text = |i: usize| ["red", "green", "blue"][i % 3];
    vec![
        case(
            "line ends in quotes",
            "id,remark,a,class\n".to_owned()
                + &rows(n, |i, a, _, y| {
                    format!("{i},\"said \"\"{i}\"\"\nand left, then\ncame back\",{a},{}\n", class(y))
                }),
            &["remark"],
        ),
        case(
            "byte order mark and semicolons",
            "\u{feff}a;b;class\r\n".to_owned()
                + &rows(n, |_, a, b, y| format!("{a:.2};{b:.2};{}\r\n", class(y)).replace('.', ",")),
            &["decimal comma"],
        ),
        case(
            "thousands separators",
            "income,b,class\n".to_owned()
                + &rows(n, |_, a, b, y| {
                    format!(
                        "\"{},{:03}.50\",{b},{}\n",
                        1 + (a * 10.0) as u32,
                        (b * 100.0) as u32 % 1000,
                        class(y)
                    )
                }),
            &["is read as"],
        ),
        case(
            "thousands in points, decimal commas",
            "income;b;class\n".to_owned()
                + &rows(n, |_, a, b, y| {
                    format!(
                        "{}.{:03},50;{:.1};{}\n",
                        1 + (a * 10.0) as u32,
                        (b * 100.0) as u32 % 1000,
                        b,
                        class(y)
                    )
                    .replacen(
                        &format!("{b:.1};"),
                        &format!("{b:.1};").replace('.', ","),
                        1,
                    )
                }),
            &["is read as"],
        ),
        case(
            "percent signs",
            "share,b,class\n".to_owned() + &rows(n, |_, a, b, y| format!("{a} %,{b},{}\n", class(y))),
            &["is read as"],
        ),
        case(
            "currency, losses in parentheses",
            "balance,b,class\n".to_owned()
                + &rows(n, |_, a, b, y| {
                    let cell =
                        if a < 5.0 { format!("($ {:.2})", 5.0 - a) } else { format!("$ {:.2}", a - 5.0) };
                    format!("{cell},{b},{}\n", class(y))
                }),
            &["is read as"],
        ),
        case(
            "units in cells",
            "weight,height,class\n".to_owned() + &rows(n, |_, a, b, y| format!("{a} kg,{b}m,{}\n", class(y))),
            &["`weight`", "`height`", "is read as"],
        ),
        case(
            "dates in several forms",
            "when,a,class\n".to_owned()
                + &rows(n, |i, a, _, y| {
                    let (day, month) = (i % 28 + 1, i % 12 + 1);
                    let date = match i % 3 {
                        0 => format!("2024-{month:02}-{day:02}"),
                        1 => format!("{day:02}.{month:02}.2024"),
                        _ => format!("{day} {} 2024", ["Jan", "February", "Mar"][i % 3]),
                    };
                    format!("{date},{a},{}\n", class(y))
                }),
            &["date"],
        ),
        case(
            "American dates with AM and PM",
            "when,a,class\n".to_owned()
                + &rows(n, |i, a, _, y| {
                    let half = if i % 2 == 0 { "AM" } else { "PM" };
                    format!(
                        "{}/{}/2024 {}:{:02} {half},{a},{}\n",
                        i % 12 + 1,
                        i % 28 + 1,
                        i % 12 + 1,
                        i % 60,
                        class(y)
                    )
                }),
            &["date"],
        ),
        case(
            "a header that comes again, as in joined files",
            {
                let lines: Vec<&str> = plain.lines().collect();
                format!("a,b,class\n{}\na,b,class\n{}\n", lines[..60].join("\n"), lines[60..].join("\n"))
            },
            &["repeat the header"],
        ),
        case(
            "comment lines at the top",
            format!("# exported by a program\n# on a day\na,b,class\n{plain}"),
            &[],
        ),
        case(
            "titles at the top",
            format!(
                "Report of the year\nGenerated:,2024-12-31\n\na,b,c,class\n{}",
                rows(n, |i, a, b, y| format!("{a},{b},{},{}\n", i % 5, class(y)))
            ),
            &["2 lines above the table skipped"],
        ),
        case(
            "titles padded with delimiters",
            format!(
                "Report of the year;;\n;;\na;b;class\n{}",
                rows(n, |_, a, b, y| format!("{a:.0};{b:.0};{}\n", class(y)))
            ),
            &["above the table skipped"],
        ),
        case(
            "totals and a source at the end",
            format!("a,b,class\n{plain}Total,530.5,\nSource: somebody said so\n"),
            &["2 lines at the end skipped"],
        ),
        case(
            "a line of units below the header",
            format!("time,force,class\n[s],[N],[-]\n{plain}"),
            &["line 2 skipped"],
        ),
        case(
            "yes and no in several spellings",
            "member,a,class\n".to_owned()
                + &rows(n, |i, a, _, y| {
                    let word = ["Yes", "no", "TRUE", "false", "Y", "N", "on", "off"][i % 8];
                    format!("{word},{a},{}\n", class(y))
                }),
            &["yes/no"],
        ),
        case(
            "numbers in quotes",
            "a,b,class\n".to_owned() + &rows(n, |_, a, b, y| format!("\"{a}\",\"{b}\",\"{}\"\n", class(y))),
            &[],
        ),
        case(
            "an index column without a name",
            ",a,colour,class\n".to_owned()
                + &rows(n, |i, a, _, y| format!("{i},{a},{},{}\n", text(i), class(y))),
            &["identifier"],
        ),
        case(
            "several empty columns without names",
            "a,,b,,class\n".to_owned() + &rows(n, |_, a, b, y| format!("{a},,{b},,{}\n", class(y))),
            &["Unnamed: 1", "constant"],
        ),
        case(
            "blank lines and rows of delimiters alone",
            "a,colour,class\n".to_owned()
                + &rows(n, |i, a, _, y| {
                    format!("{a},{},{}\n{}", text(i), class(y), if i % 10 == 0 { "\n" } else { "" })
                }),
            &[],
        ),
        case(
            "apostrophes between thousands, as in Switzerland",
            "income;b;class\n".to_owned()
                + &rows(n, |_, a, b, y| {
                    format!(
                        "{}'{:03}.05;{b};{}\n",
                        1 + (a * 10.0) as u32,
                        (b * 100.0) as u32 % 1000,
                        class(y)
                    )
                }),
            &["is read as"],
        ),
        case(
            "errors of formulas and other marks of missing values",
            "a,b,class\n".to_owned()
                + &rows(n, |i, a, b, y| {
                    let gap = ["#N/A", "#DIV/0!", "n.a.", "<NA>", ".", "\\N", "\u{2013}", "#VALUE!"][i % 8];
                    let b = if i % 5 == 0 { gap.to_owned() } else { b.to_string() };
                    format!("{a},{b},{}\n", class(y))
                }),
            &["b       number"],
        ),
        case(
            "words among numbers",
            "a,b,class\n".to_owned()
                + &rows(n, |i, a, b, y| {
                    let word = ["unknown", "see note", "<0.5", "90+"][i % 4];
                    let b = if i % 6 == 0 { word.to_owned() } else { b.to_string() };
                    format!("{a},{b},{}\n", class(y))
                }),
            &["b       number"],
        ),
        case(
            "a minus behind the number, as SAP writes it",
            "balance,b,class\n".to_owned()
                + &rows(n, |_, a, b, y| {
                    let cell = if a < 5.0 { format!("{:.2}-", 5.0 - a) } else { format!("{:.2}", a - 5.0) };
                    format!("{cell},{b},{}\n", class(y))
                }),
            &["is read as"],
        ),
        case(
            "months with and without days, in several languages",
            "when,since,a,class\n".to_owned()
                + &rows(n, |i, a, _, y| {
                    let when =
                        ["3. März 2024", "14 juillet 2023", "2 de enero de 2022", "5 maggio 2021"][i % 4];
                    let since = ["Jan 2020", "2021-02", "Mar-22", "Oktober 2023"][i % 4];
                    format!("{when},{since},{a},{}\n", class(y))
                }),
            &["when    date", "since   date"],
        ),
        case(
            "durations of more than a day",
            "took,b,class\n".to_owned()
                + &rows(n, |i, a, b, y| {
                    format!("{}:{:02}:{:02},{b},{}\n", (a * 5.0) as u32, i % 60, i * 7 % 60, class(y))
                }),
            &["took    date"],
        ),
        case("bars between fields", "a|b|class\n".to_owned() + &plain.replace(',', "|"), &[]),
        case(
            "a separator that is named above the header",
            "sep=;\r\na;b;class\r\n".to_owned() + &plain.replace(',', ";").replace('\n', "\r\n"),
            &[],
        ),
        case("carriage returns alone", format!("a,b,class\n{plain}").replace('\n', "\r"), &[]),
        case("the end of a text of DOS", format!("a,b,class\n{plain}\u{1a}"), &[]),
        case(
            "one array of JSON with nested objects",
            {
                let object = |i: usize, a: f64, b: f64, y: bool| {
                    let b = if i.is_multiple_of(9) { "null".to_owned() } else { b.to_string() };
                    format!(
                        r#"{{"user": {{"a": {a}, "b": {b}}}, "tags": [1, "x"], "class": "{}"}},"#,
                        class(y)
                    )
                };
                format!("[\n{}\n]\n", rows(n, object).trim_end_matches(','))
            },
            &["user.a", "user.b", "tags.1"],
        ),
        case(
            "old line ends and trailing blanks",
            "a , b , class \r\n".to_owned() + &rows(n, |_, a, b, y| format!("{a} , {b} , {} \r\n", class(y))),
            &[],
        ),
    ]
}

#[test]
fn each_goes_through_all_four_commands() {
    for Case { name, text, flags, rows, told } in cases() {
        let folder = Folder::new().with("t.csv", text);
        let (info, predicted, json) = through(&folder, "t.csv", flags);
        for part in told {
            assert!(info.contains(part), "{name}: no {part} in {info}");
        }
        assert_eq!(predicted, rows, "{name}");
        let error = json["evaluation"]["error"].as_f64().or(json["error"].as_f64()).expect("an error");
        assert!(error < 0.1, "{name}: {error}");
    }
}

#[test]
fn utf16_without_a_mark_needs_no_flag() {
    let text = "a,b,class\n".to_owned() + &rows(120, |_, a, b, y| format!("{a},{b},{}\n", class(y)));
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let folder = Folder::new()
        .with("plain.csv", text.as_bytes())
        .with("little.csv", wide(u16::to_le_bytes))
        .with("big.csv", wide(u16::to_be_bytes));
    let mut wanted: Option<String> = None;
    for file in ["plain.csv", "little.csv", "big.csv"] {
        let (_, rows, _) = through(&folder, file, "");
        assert_eq!(rows, 120, "{file}");
        let predictions = folder.read("p.csv");
        assert_eq!(*wanted.get_or_insert_with(|| predictions.clone()), predictions, "{file}");
    }
}

#[test]
fn files_of_programs_that_are_not_read_are_named_with_a_way_out() {
    for (content, part) in [
        (&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest"[..], "save it as .xlsx or CSV"),
        (b"SQLite format 3\0rest", "export a table as CSV"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"@relation x\n@data\n1,2\n", "an ARFF file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    ] {
        let folder = Folder::new().with("t.csv", content);
        for line in ["data info t.csv", "train t.csv -o m.mercer"] {
            let refused = folder.mercer(line);
            assert!(refused.code == 1 && refused.err.contains(part), "{line}: {refused:#?}");
        }
    }
    let infinite = Folder::new().with("t.csv", "a,b,class\n1,2,x\ninf,3,y\n4,5,x\n");
    let refused = infinite.mercer("data info t.csv");
    assert!(refused.code == 1 && refused.err.contains("--missing-values"), "{refused:#?}");
    let info = well(infinite.mercer("data info t.csv --missing-values inf")).out;
    assert!(info.contains("33.3 %"), "{info}");
}

#[test]
fn amounts_as_a_target_are_a_regression() {
    let text = "area,city,price\n".to_owned()
        + &rows(120, |i, a, _, _| {
            format!("{a},{},\"${},{:03}\"\n", ["Bonn", "Köln"][i % 2], 10 + (a * 9.0) as u32, i % 1000)
        });
    let folder = Folder::new().with("t.csv", text);
    let (_, rows, json) = through(&folder, "t.csv", "");
    let r2 = json["evaluation"]["r2"].as_f64().or(json["r2"].as_f64()).unwrap_or_else(|| panic!("{json}"));
    assert!(rows == 120 && r2 > 0.9, "{json}");
}

#[test]
fn a_target_with_missing_values_leaves_rows_out_and_predicts_them() {
    let text = "a,b,class\n".to_owned()
        + &rows(120, |i, a, b, y| format!("{a},{b},{}\n", if i % 6 == 0 { "" } else { class(y) }));
    let folder = Folder::new().with("t.csv", text);
    let (info, rows, _) = through(&folder, "t.csv", "");
    assert!(info.contains("20 rows skipped: they have no label") && rows == 120, "{info}");
}

#[test]
fn what_cannot_be_learned_is_said_plainly() {
    let one = "a,b,class\n".to_owned() + &rows(40, |_, a, b, _| format!("{a},{b},same\n"));
    let folder = Folder::new().with("one.csv", one);
    let refused = folder.mercer("train one.csv -o m.mercer");
    assert!(refused.code == 1 && refused.err.contains("got 1, `same`, expected at least 2"), "{refused:#?}");
}

#[test]
fn a_copy_of_the_target_among_the_columns_is_told() {
    let copy = "a,copy,class\n".to_owned()
        + &rows(120, |_, a, _, y| format!("{a},{},{}\n", if y { "H" } else { "L" }, class(y)));
    let numbers = "a,copy,y\n".to_owned() + &rows(120, |_, a, b, _| format!("{a},{b},{b}\n"));
    let folder = Folder::new().with("copy.csv", copy).with("numbers.csv", numbers);
    for file in ["copy.csv", "numbers.csv"] {
        for line in [format!("data info {file}"), format!("train {file} -o m.mercer")] {
            let run = well(folder.mercer(&line));
            assert!(run.out.contains("Column `copy` determines the target in every row"), "{line}: {run:#?}");
        }
    }
}
