//! Tables as other programs write them, each through data info, split, train, predict and evaluate.

use crate::run::{Folder, Run};

/// Whole numbers that look random and are the same in every run.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// Who buys: an age, a city, a day, and the class, which age and city tell.
fn people(rows: usize) -> Vec<(u64, &'static str, String, &'static str)> {
    let mut next = random(5);
    let row = |i: usize| {
        let (age, city) = (18 + next(60), ["Köln", "Bonn", "Wien"][next(3) as usize]);
        let day = format!("2024/{:02}/{:02} {:02}:{:02}:00", i % 12 + 1, i % 28 + 1, i % 12 + 1, i % 60);
        let class = if age + if city == "Wien" { 20 } else { 0 } > 55 { "kauft" } else { "geht" };
        (age, city, day, class)
    };
    (0..rows).map(row).collect()
}

/// Ends well, whatever notes it gives on standard error.
#[track_caller]
fn well(run: Run) -> Run {
    assert!(run.code == 0 && run.err.lines().all(|line| line.starts_with("note: ")), "{run:#?}");
    run
}

/// The words of a text, whatever its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Through the commands with no flag: what `data info` says, and the error rate on held-out rows.
#[track_caller]
fn through(folder: &Folder, file: &str) -> (String, f64) {
    let info = words(&well(folder.mercer(&format!("data info {file}"))).out);
    well(folder.mercer(&format!("data split {file} train.csv test.csv -q")));
    well(folder.mercer("train train.csv -o m.mercer -q"));
    let told = well(folder.mercer("predict test.csv m.mercer")).out;
    assert!(told.lines().all(|line| matches!(line, "kauft" | "geht")), "{told}");
    let json = well(folder.mercer("evaluate test.csv m.mercer --format json")).json();
    let error = json["error"].as_f64().or(json["evaluation"]["error"].as_f64());
    (info, error.unwrap_or_else(|| panic!("{json}")))
}

/// The table with a head, a line per row, and a note that `data info` gives.
#[track_caller]
fn exported(name: &str, text: impl AsRef<[u8]>, note: &str) {
    let folder = Folder::new().with(name, text);
    let (info, error) = through(&folder, name);
    assert!(info.contains("kauft") && info.contains(note), "{name}: {info}");
    // The more frequent class alone is wrong for more than a third of the rows.
    assert!(error < 0.2, "{name}: {error}");
    // What was trained on the split reads the file itself, too.
    let whole = well(folder.mercer(&format!("predict {name} m.mercer"))).out;
    assert_eq!(whole.lines().count(), 160, "{name}");
}

fn lines(head: &str, line: impl Fn(usize, &(u64, &'static str, String, &'static str)) -> String) -> String {
    let rows = people(160);
    head.to_owned() + &rows.iter().enumerate().map(|(i, row)| line(i, row)).collect::<String>()
}

#[test]
fn row_names_of_r_stand_before_the_columns_of_the_header() {
    let note = "the first field is a row's name, as R writes it";
    let commas = lines("\"age\",\"city\",\"outcome\"\n", |i, (age, city, _, class)| {
        format!("\"{}\",{age},\"{city}\",\"{class}\"\n", i + 1)
    });
    exported("t.csv", commas, note);
    let blanks = lines("age city outcome\n", |i, (age, city, _, class)| {
        format!("\"{}\" {age} \"{city}\" \"{class}\"\n", i + 1)
    });
    exported("t.txt", blanks, note);
    // One row that is too long is a broken file.
    let folder = Folder::new().with("b.csv", "a,b,c\n1,2,3,4\n");
    let refused = folder.mercer("data info b.csv");
    assert!(refused.code == 1 && refused.err.contains("got 4 fields, expected 3"), "{refused:?}");
}

#[test]
fn excel_text_in_windows_1252_is_read_with_a_note() {
    let text = lines("Alter;Größe (€);Stadt;Ergebnis\r\n", |i, (age, city, _, class)| {
        format!("{age},5;{},25;{city};{class}\r\n", i % 9)
    });
    let bytes: Vec<u8> = text.chars().map(|c| if c == '€' { 0x80 } else { c as u8 }).collect();
    exported("t.csv", &bytes, "not UTF-8 and is read as Latin-1 (Windows-1252)");
    let folder = Folder::new().with("t.csv", &bytes);
    let told = well(folder.mercer("data info t.csv --encoding latin-1")).out;
    assert!(told.contains("Größe (€)") && !told.contains("not UTF-8"), "{told}");
    let refused = folder.mercer("data info t.csv --encoding utf-8");
    assert!(refused.code == 1 && refused.err.contains("pass --encoding latin-1"), "{refused:?}");
}

#[test]
fn json_of_pandas_and_of_web_services_is_a_table() {
    let rows = people(160);
    let record = |(age, city, _, class): &(u64, &str, String, &str)| serde_json::json!({"age": age, "city": city, "outcome": class});
    let records: Vec<serde_json::Value> = rows.iter().map(record).collect();
    let list = |key: &str| records.iter().map(|r| r[key].clone()).collect::<Vec<_>>();
    let numbered = |key: &str| {
        // Rows in their order, as pandas writes them: serde_json's own maps sort keys as text.
        let cells: Vec<String> =
            list(key).iter().enumerate().map(|(i, value)| format!("\"{i}\":{value}")).collect();
        format!("\"{key}\":{{{}}}", cells.join(","))
    };
    let keys = ["age", "city", "outcome"];
    let values: Vec<serde_json::Value> =
        records.iter().map(|r| keys.iter().map(|key| r[*key].clone()).collect()).collect();
    let columns = serde_json::json!({"age": list("age"), "city": list("city"), "outcome": list("outcome")});
    let note = "one JSON object that holds all rows";
    exported("columns.json", columns.to_string(), note);
    exported("pretty.json", serde_json::to_string_pretty(&columns).expect("text"), note);
    exported("pandas.json", format!("{{{}}}", keys.map(numbered).join(",")), note);
    exported("split.json", serde_json::json!({"columns": keys, "data": values}).to_string(), note);
    exported("api.json", serde_json::json!({"count": 160, "results": records}).to_string(), note);
    let pretty: String =
        records.iter().map(|r| serde_json::to_string_pretty(r).expect("text") + "\n").collect();
    exported("records.json", pretty, "read as jsonl");
}

#[test]
fn rules_of_dashes_below_a_header_are_no_rows() {
    let note = "line 2 skipped: it contains only dashes";
    let markdown =
        lines("| age | city | outcome |\n|----:|:-----|:--------|\n", |_, (age, city, _, class)| {
            format!("| {age} | {city} | {class} |\n")
        });
    exported("t.md", markdown, note);
    let console = lines("age,city,outcome\n---,----,-------\n", |_, (age, city, _, class)| {
        format!("{age},{city},{class}\n")
    });
    exported("t.csv", console, note);
}

#[test]
fn times_of_forms_have_a_zone() {
    for zone in ["AM GMT+2", "PM MEZ", "UTC", "AM CEST", "EST"] {
        let text = lines("Timestamp,age,city,outcome\n", |_, (age, city, day, class)| {
            format!("{day} {zone},{age},{city},{class}\n")
        });
        exported("t.csv", text, "Timestamp date");
    }
}

#[test]
fn an_amount_in_the_middle_is_no_target_before_classes_at_the_end() {
    for name in ["income", "salary", "total_cost", "rating"] {
        let text = lines(&format!("city,{name},age,cls\n"), |i, (age, city, _, class)| {
            format!("{city},{},{age},{class}\n", 1000 + i * 7 % 991)
        });
        exported("t.csv", text, "column cls; a guess: the last column; --label COLUMN selects another");
    }
}

#[test]
fn names_that_differ_in_case_and_blanks_match_and_foreign_names_are_told() {
    let text = lines("Age,City Name,outcome\n", |_, (age, city, _, class)| format!("{age},{city},{class}\n"));
    let folder = Folder::new()
        .with("t.csv", &text)
        .with("turned.csv", "outcome,CITY  NAME, age\nkauft,Wien,70\ngeht,Bonn,20\n")
        .with("foreign.csv", "years,town\n70,Wien\n20,Bonn\n");
    well(folder.mercer("train t.csv -o m.mercer -q"));
    let told = well(folder.mercer("predict turned.csv m.mercer"));
    assert_eq!(told.out, "kauft\ngeht\n");
    assert!(told.err.contains("columns matched without regard to case and spaces"), "{}", told.err);
    let told = well(folder.mercer("predict foreign.csv m.mercer --label none"));
    assert_eq!(told.out, "kauft\ngeht\n");
    assert!(told.err.contains("columns are matched by position"), "{}", told.err);
}

#[test]
fn rows_that_cannot_be_split_are_refused_in_words() {
    let folder = Folder::new().with("t.csv", "a,b,what\n1,2,x\n3,4,y\n");
    let refused = folder.mercer("data split t.csv a.csv b.csv");
    let wanted = "got 1 row of each class, expected at least 2 rows of a class";
    assert!(refused.code == 1 && refused.err.contains(wanted), "{refused:?}");
}
