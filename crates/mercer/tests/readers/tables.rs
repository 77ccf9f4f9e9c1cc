//! Tables as people have them: text, missing values, dialects.

use mercer::data::io::{Encoding, Missing, ReadOptions, TargetKind, read_bytes};
use mercer::data::table::Kind;
use mercer::data::{Dataset, Targets};

fn read(text: &str, options: &ReadOptions) -> Dataset {
    read_bytes("t.csv", text.as_bytes(), options).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn plain(text: &str) -> Dataset {
    read(text, &ReadOptions::default())
}

/// All cells of a table, row by row; a missing value is empty.
fn cells(data: &Dataset) -> Vec<Vec<String>> {
    let table = data.points.as_table().expect("a table");
    let row = |i: usize| table.columns().iter().map(move |c| c.cell(i).unwrap_or_default().into_owned());
    (0..data.len()).map(|i| row(i).collect()).collect()
}

#[test]
fn numbers_alone_are_dense_and_everything_else_is_a_table() {
    let data = plain("a,b,label\n1,2,x\n3,4,y\n");
    assert_eq!(
        (data.points.kind(), data.points.view().to_f64().expect("numbers")),
        ("dense f64", vec![1.0, 2.0, 3.0, 4.0])
    );
    let data = plain("a,b,c,label\n1,,red,x\n007,4,blue,y\nbig,5,-,x\n");
    assert_eq!(cells(&data), [["1", "", "red"], ["007", "4", "blue"], ["big", "5", ""]]);
    assert_eq!(data.column_names.as_deref(), Some(&["a", "b", "c"].map(String::from)[..]));
    assert_eq!(data.targets.classes().expect("classes").names, ["x", "y"]);
}

#[test]
fn numbers_have_one_form_wherever_text_turns_up() {
    let rows = ReadOptions { header: Some(false), ..ReadOptions::default() };
    for text in ["1.0,x\n1,x\n+1,y\nred,y\n", "red,y\n1.0,x\n1,x\n+1,y\n"] {
        let column = cells(&read(text, &rows)).concat();
        assert_eq!(column.iter().filter(|c| *c == "1").count(), 3, "{column:?}");
    }
}

#[test]
fn missing_values_are_kept_refused_or_their_rows_left_out() {
    let text = "a,b,y\n1,2,p\n?,3,q\n4,5,p\n";
    let with = |missing| ReadOptions { missing, ..ReadOptions::default() };
    assert_eq!(cells(&read(text, &with(Missing::Auto)))[1], ["", "3"]);
    let rows = read(text, &with(Missing::Rows));
    assert_eq!((rows.points.kind(), rows.len()), ("dense f64", 2));
    assert!(
        rows.notes.iter().any(|n| n.contains("1 rows skipped: they have missing values")),
        "{:?}",
        rows.notes
    );
    assert!(read_bytes("t.csv", text.as_bytes(), &with(Missing::Refuse)).is_err());
    let own = ReadOptions { missing_values: Some(vec!["99".into()]), ..ReadOptions::default() };
    assert_eq!(cells(&read("a,b,y\n1,99,p\n4,5,q\n", &own))[0], ["1", ""]);
}

#[test]
fn rows_without_a_label_are_left_out_or_kept() {
    let text = "a,b,y\n1,2,p\n3,3,\n4,5,q\n";
    let data = plain(text);
    assert_eq!((data.len(), data.targets.classes().expect("classes").len()), (2, 2));
    assert!(data.notes.iter().any(|n| n.contains("1 rows skipped: they have no label")), "{:?}", data.notes);
    let keep = ReadOptions { keep_unlabelled: true, ..ReadOptions::default() };
    let data = read(text, &keep);
    assert_eq!((data.len(), data.targets), (3, Targets::None));
    let reals = ReadOptions { targets: TargetKind::Reals, ..ReadOptions::default() };
    let data = read("a,y\n1,2.5\n2,NA\n3,4.5\n", &reals);
    assert_eq!(data.targets, Targets::Reals(vec![2.5, 4.5]));
    let none = read_bytes(
        "t.csv",
        b"a,b,y\n1,2,\n3,4,NA\n",
        &ReadOptions { label: "y".parse().expect("a name"), ..ReadOptions::default() },
    );
    assert_eq!(
        none.expect_err("no label").to_string(),
        "t.csv: got 2 rows and no label in any of them, expected at least one training row"
    );
}

#[test]
fn kinds_are_kept_and_columns_ignored_and_copied() {
    let options = ReadOptions {
        kinds: "zip=category".parse().expect("a kind"),
        ignore: vec!["name".into()],
        copy: vec!["name".into(), "zip".into()],
        ..ReadOptions::default()
    };
    let data = read("name,zip,a,y\nann,02139,1,p\nbob,10115,2,q\n", &options);
    assert_eq!(cells(&data), [["02139", "1"], ["10115", "2"]]);
    let table = data.points.as_table().expect("a table");
    assert_eq!(table.given(), [Some(Kind::Category), None]);
    let copied = data.copied.expect("asked for");
    assert_eq!(
        (copied.names(), copied.columns()[0].cell(1).as_deref()),
        (&["name", "zip"].map(String::from)[..], Some("bob"))
    );
    // By number where there is no header; numbers alone stay dense.
    let options = ReadOptions { ignore: vec!["1".into()], ..ReadOptions::default() };
    let data = read("5,1,2,0\n6,3,4,1\n", &options);
    assert_eq!((data.points.kind(), data.dim()), ("dense f64", 2));
}

#[test]
fn a_models_kinds_apply_by_name_or_by_place() {
    let kinds = vec![("zip".to_owned(), Some(Kind::Category)), ("a".to_owned(), Some(Kind::Number))];
    let options = ReadOptions { model_kinds: kinds, ..ReadOptions::default() };
    for text in ["a,y,zip\n1,p,02139\n2,q,10115\n", "02139,1,p\n10115,2,q\n"] {
        let data = read(text, &options);
        assert!(cells(&data).concat().contains(&"02139".to_owned()), "{text}");
    }
    let wrong = read_bytes("t.csv", b"zip,a,y\n02139,much,p\n", &options).expect_err("text").to_string();
    assert!(wrong.starts_with("t.csv, line 2, column 2 (`a`): got `much`, expected a number"), "{wrong}");
    let fill = ReadOptions { missing: Missing::Fill, ..options };
    assert_eq!(cells(&read("zip,a,y\n02139,much,p\n1,2,q\n", &fill))[0], ["02139", ""]);
}

#[test]
fn dialects_of_spreadsheets_are_read() {
    let comma = plain("Größe;Gewicht;Art\n1,5;2,75;x\n1,25;-3;y\n");
    assert_eq!(comma.points.view().to_f64().expect("numbers"), [1.5, 2.75, 1.25, -3.0]);
    assert!(comma.notes.iter().any(|n| n.contains("decimal comma")));
    // Groups of three digits may be thousands: nobody guesses.
    let thousands = plain("a;b;y\n1,234;2;x\n5,678;3;y\n");
    assert_eq!(cells(&thousands)[0], ["1,234", "2"]);
    // Columns may differ: what a comma is in one is decided by its own cells.
    let mixed = plain("a;b;y\n1.5;2,5;x\n5.5;3,5;y\n");
    assert_eq!(mixed.points.view().to_f64().expect("numbers"), [1.5, 2.5, 5.5, 3.5]);
    for text in ["a,b,y,\n1,2,x,\n3,4,y,\n", "a,b,y\n1,2,x,\n3,4,y,\n", "\u{feff}a,b,y\r\n1,2,x\r\n3,4,y\r\n"]
    {
        let data = plain(text);
        assert_eq!(data.points.view().to_f64().expect(text), [1.0, 2.0, 3.0, 4.0], "{text}");
        assert_eq!(data.targets.classes().expect("classes").names, ["x", "y"], "{text}");
    }
    let options = ReadOptions { encoding: Some(Encoding::Latin1), ..ReadOptions::default() };
    let latin = read_bytes("t.csv", b"stra\xdfe,b,y\nm\xfcller,2,x\nk\xf6nig,3,y\n", &options);
    let latin = latin.expect("Latin-1");
    assert_eq!(
        (cells(&latin)[0][0].as_str(), latin.column_names.expect("names")[0].as_str()),
        ("müller", "straße")
    );
}

#[test]
fn a_first_row_of_categories_is_no_header() {
    let data = plain("p,x,s\ne,x,y\ne,b,s\np,x,y\n");
    assert_eq!((data.len(), data.column_names), (4, None));
    let data = plain("colour,shape,kind\nred,round,a\nblue,square,b\n");
    assert_eq!((data.len(), data.column_names.expect("names").len()), (2, 2));
}

#[test]
fn the_label_is_no_identifier_date_or_free_text() {
    let rows = |line: &dyn Fn(usize) -> String| (0..40).map(line).collect::<String>();
    for (table, wanted) in [
        (format!("a,kind,day\n{}", rows(&|i| format!("{i},k{},2024-01-{:02}\n", i % 3, i % 28 + 1))), 2),
        (format!("a,kind,customer_id\n{}", rows(&|i| format!("{},k{},{i}\n", i % 7, i % 3))), 2),
        (
            format!(
                "a,kind,note\n{}",
                rows(&|i| format!("{i},k{},this is what row {i} has to say\n", i % 3))
            ),
            2,
        ),
        (format!("a,b,kind\n{}", rows(&|i| format!("{i},{},k{}\n", i % 5, i % 3))), 3),
        (format!("a,b,price\n{}", rows(&|i| format!("{i},{},{}.5\n", i % 5, i * i))), 3),
        (format!("day,a,class\n{}", rows(&|i| format!("2024-01-{:02},{i},k{i}\n", i % 28 + 1))), 3),
    ] {
        assert_eq!(plain(&table).target_from.expect("a label").column, wanted, "{table}");
    }
}
