//! Tables as people have them, each through data info, train, predict and evaluate.

use crate::run::{Folder, Run};

/// Numbers from 0 to below 1 that look random and are the same in every run.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// Customers: who buys depends on age, city, membership and the hour, none of which alone tells.
fn customers(rows: usize) -> Vec<Vec<String>> {
    let mut next = random(7);
    let cities = ["Köln", "Zürich", "São Paulo", "東京"];
    let row = |i: usize| {
        let (age, city, member, hour) =
            (18.0 + 60.0 * next(), (4.0 * next()) as usize, next() < 0.4, (24.0 * next()) as usize);
        let score = (age - 45.0) / 15.0
            + [1.5, -1.5, 0.5, -0.5][city]
            + if member { 1.0 } else { -1.0 }
            + (hour as f64 / 24.0 * std::f64::consts::TAU).sin() * 2.0;
        let gap = |share: f64, text: String, next: &mut dyn FnMut() -> f64| {
            if next() < share { String::new() } else { text }
        };
        vec![
            format!("C{i:05}"),
            gap(0.1, format!("{age:.1}"), &mut next),
            gap(0.05, cities[city].to_owned(), &mut next),
            (if member { "yes" } else { "no" }).to_owned(),
            format!("2024-{:02}-{:02} {hour:02}:{:02}", i % 12 + 1, i % 28 + 1, i % 60),
            format!("customer number {i} said something, and then something else"),
            "EUR".to_owned(),
            (if score > 0.0 { "buys" } else { "leaves" }).to_owned(),
        ]
    };
    (0..rows).map(row).collect()
}

const HEADER: [&str; 8] = ["customer", "age", "city", "member", "visit", "remark", "currency", "outcome"];

/// A table with fields in quotes where they need them.
fn table(header: &[&str], rows: &[Vec<String>], delimiter: &str, end: &str) -> String {
    let field = |f: &str| {
        if f.contains([',', ';', '\t', '"']) {
            format!("\"{}\"", f.replace('"', "\"\""))
        } else {
            f.to_owned()
        }
    };
    let line = |cells: Vec<String>| cells.join(delimiter) + end;
    let mut out = line(header.iter().map(|f| field(f)).collect());
    rows.iter().for_each(|row| out += &line(row.iter().map(|f| field(f)).collect()));
    out
}

/// Ends well, whatever notes it gives on standard error.
#[track_caller]
fn well(run: Run) -> Run {
    assert!(run.code == 0 && run.err.lines().all(|line| line.starts_with("note: ")), "{run:#?}");
    run
}

/// The error rate that `evaluate` tells.
fn error_of(folder: &Folder, test: &str, model: &str) -> f64 {
    let run = well(folder.mercer(&format!("evaluate {test} {model} --format json")));
    let json: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    json["error"].as_f64().or(json["evaluation"]["error"].as_f64()).unwrap_or_else(|| panic!("{json}"))
}

/// Through all four commands: what `data info` says, the predictions, the error.
#[track_caller]
fn through(folder: &Folder, train: &str, test: &str) -> (String, String, f64) {
    let info = well(folder.mercer(&format!("data info {train}"))).out;
    well(folder.mercer(&format!("train {train} -o m.mercer -q")));
    well(folder.mercer(&format!("predict {test} m.mercer -o answers.csv -q")));
    (info, folder.read("answers.csv"), error_of(folder, test, "m.mercer"))
}

#[test]
fn customers_with_gaps_text_dates_and_ids() {
    let rows = customers(700);
    let folder = Folder::new()
        .with("train.csv", table(&HEADER, &rows[..400], ",", "\n"))
        .with("test.csv", table(&HEADER, &rows[400..], ",", "\n"));
    let (info, answers, error) = through(&folder, "train.csv", "test.csv");
    for (column, kind) in [
        ("customer", "identifier"),
        ("age", "number"),
        ("city", "category"),
        ("member", "yes/no"),
        ("visit", "date"),
        ("remark", "text"),
        ("currency", "constant"),
    ] {
        let line = info.lines().find(|l| l.trim_start().starts_with(column)).expect(column);
        assert!(line.contains(kind), "{line}");
    }
    assert_eq!(answers.lines().count(), 301);
    // Who always says the more frequent one is wrong for nearly half of the rows.
    assert!(error < 0.2, "{error}");
    let explained = well(folder.mercer("explain m.mercer")).out;
    for part in
        ["city", "0 and 1 for 4 values, missing is a value of its own", "sine and cosine of its parts"]
    {
        assert!(explained.contains(part), "{part}: {explained}");
    }
}

#[test]
fn three_dialects_of_one_table_give_the_same_predictions() {
    let rows = customers(300);
    let comma: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .enumerate()
                .map(|(j, f)| if j == 1 { f.replace('.', ",") } else { f.clone() })
                .collect()
        })
        .collect();
    let english = table(&HEADER, &rows, ",", "\n");
    let german = format!("\u{feff}{}", table(&HEADER, &comma, ";", "\r\n"));
    let tabs = table(&HEADER, &comma, "\t", "\r\n");
    let trailing = table(&HEADER, &rows, ",", ",\r\n");
    let mut wanted: Option<String> = None;
    for text in [english, german, tabs, trailing] {
        let folder = Folder::new().with("t.csv", text);
        let (_, answers, error) = through(&folder, "t.csv", "t.csv");
        assert!(error < 0.2, "{error}");
        assert_eq!(*wanted.get_or_insert(answers.clone()), answers);
    }
}

#[test]
fn columns_are_matched_by_name_and_what_is_missing_is_named() {
    let rows = customers(300);
    let pick = |columns: &[usize]| -> String {
        let header: Vec<&str> = columns.iter().map(|&j| HEADER[j]).collect();
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| columns.iter().map(|&j| row[j].clone()).collect()).collect();
        table(&header, &rows, ",", "\n")
    };
    let folder = Folder::new()
        .with("train.csv", table(&HEADER, &rows, ",", "\n"))
        // Another order, no label, and none of the columns that are not used.
        .with("turned.csv", pick(&[4, 3, 2, 1]))
        .with("more.csv", pick(&[4, 3, 2, 1, 0]).replacen("customer", "extra", 1))
        .with("less.csv", pick(&[4, 3, 1]))
        .with("text.csv", pick(&[1, 2, 3, 4]).replacen(&format!("\n{},", rows[0][1]), "\nmany,", 1));
    well(folder.mercer("train train.csv -o m.mercer -q"));
    let wanted = well(folder.mercer("predict train.csv m.mercer")).out;
    assert_eq!(folder.mercer("predict turned.csv m.mercer").fine().out, wanted);
    let more = well(folder.mercer("predict more.csv m.mercer"));
    assert_eq!(more.out, wanted);
    assert_eq!(more.err, "note: columns that the model does not use are ignored: `extra`\n");
    let less = folder.mercer("predict less.csv m.mercer");
    assert!(less.code == 1 && less.err.contains("no column `city` among visit, member, age"), "{less:?}");
    let text = folder.mercer("predict text.csv m.mercer");
    assert!(
        text.code == 1 && text.err.starts_with("error: text.csv, line 2, column 1 (`age`): got `many`"),
        "{text:?}"
    );
    let filled = well(folder.mercer("predict text.csv m.mercer --missing fill"));
    assert_eq!(filled.out.lines().count(), 300);
    let own = well(folder.mercer("predict text.csv m.mercer --missing-values many,"));
    assert_eq!(own.out, filled.out);
}

#[test]
fn rows_without_a_label_are_left_out_in_training_and_predicted_later() {
    let mut rows = customers(300);
    rows.iter_mut().step_by(10).for_each(|row| row[7].clear());
    let folder = Folder::new().with("t.csv", table(&HEADER, &rows, ",", "\n"));
    let trained = well(folder.mercer("train t.csv -o m.mercer"));
    assert!(trained.out.contains("30 rows skipped: they have no label"), "{}", trained.out);
    let told = well(folder.mercer("predict t.csv m.mercer"));
    assert_eq!(told.out.lines().count(), 300);
    let evaluated = well(folder.mercer("evaluate t.csv m.mercer"));
    assert!(
        evaluated.err.contains("30 rows skipped: they have no label") && evaluated.out.contains("270"),
        "{evaluated:?}"
    );
}

#[test]
fn a_code_stays_a_code_and_kinds_can_be_given() {
    let mut next = random(3);
    let zips = ["02139", "10115", "00501", "94305"];
    let sizes = ["small", "medium", "large"];
    let rows: Vec<Vec<String>> = (0..200)
        .map(|_| {
            let (zip, size) = ((4.0 * next()) as usize, (3.0 * next()) as usize);
            let y = usize::from((zip % 2) + size > 1);
            vec![zips[zip].into(), sizes[size].into(), format!("{:.2}", next()), format!("k{y}")]
        })
        .collect();
    let header = ["zip", "size", "x", "class"];
    let folder = Folder::new()
        .with("t.csv", table(&header, &rows, ",", "\n"))
        .with("new.csv", "x,size,zip\n0.5,large,02139\n0.5,small,00501\n");
    let kinds = "zip=category,size=ordered(small<medium<large)";
    folder.mercer_args(&["train", "t.csv", "-o", "m.mercer", "-q", "--columns", kinds]).fine();
    let told = folder.mercer("predict new.csv m.mercer --with zip,size").fine().out;
    assert_eq!(told, "zip,size,prediction\n02139,large,k1\n00501,small,k0\n");
    let explained = folder.mercer("explain m.mercer").fine().out;
    assert!(explained.contains("0 and 1 for 4 values") && explained.contains("3 ranks"), "{explained}");
    let wrong =
        folder.mercer_args(&["train", "t.csv", "--columns", "size=ordered(small<big)", "-o", "n.mercer"]);
    assert!(
        wrong.code == 1
            && wrong.err.contains("column `size`")
            && wrong.err.contains("expected one of small, big"),
        "{wrong:?}"
    );
    let wrong = folder.mercer_args(&["train", "t.csv", "--columns", "town=category", "-o", "n.mercer"]);
    assert!(wrong.err.contains("columns = town: must be one of the columns of t.csv"), "{wrong:?}");
    folder.mercer("train t.csv --ignore zip,x -o n.mercer -q").fine();
    assert!(folder.mercer("explain n.mercer").fine().out.contains("size"));
}

#[test]
fn two_hundred_classes_and_a_rare_one() {
    let mut next = random(11);
    let mut rows: Vec<Vec<String>> = (0..1200)
        .map(|i| {
            let k = i % 200;
            vec![
                format!("{:.2}", (k % 20) as f64 + 0.2 * next()),
                format!("g{}", k / 20),
                format!("class {k:03}"),
            ]
        })
        .collect();
    rows.push(vec!["99".into(), "g3".into(), "the only one of its kind".into()]);
    let folder = Folder::new().with("t.csv", table(&["x", "group", "what"], &rows, ",", "\n"));
    let (info, answers, error) = through(&folder, "t.csv", "t.csv");
    assert!(info.contains("201 classes"), "{info}");
    assert_eq!(answers.lines().count(), 1202);
    assert!(error < 0.15, "{error}");
}

#[test]
fn numbers_with_gaps_and_a_model_that_never_saw_one() {
    let mut next = random(5);
    let rows: Vec<[f64; 2]> = (0..200).map(|_| [next(), next()]).collect();
    let line = |r: &[f64; 2]| format!("{:.3},{:.3},{:.3}\n", r[0], r[1], 2.0 * r[0] - r[1]);
    let clean: String = rows.iter().map(line).collect();
    let gaps = clean.lines().enumerate().map(|(i, l)| {
        let mut cells: Vec<&str> = l.split(',').collect();
        if i % 9 == 0 {
            cells[i % 2] = "NA";
        }
        cells.join(",") + "\n"
    });
    let folder = Folder::new()
        .with("clean.csv", format!("a,b,y\n{clean}"))
        .with("gaps.csv", format!("a,b,y\n{}", gaps.collect::<String>()));
    // Trained without gaps: filled with what the model holds, and said so.
    well(folder.mercer("train clean.csv -o m.mercer -q"));
    let told = well(folder.mercer("predict gaps.csv m.mercer"));
    assert_eq!(told.out.lines().count(), 200);
    assert!(told.err.starts_with("note: 23 missing values are filled with the mean"), "{}", told.err);
    let refused = folder.mercer("predict gaps.csv m.mercer --missing refuse");
    assert!(
        refused.code == 1 && refused.err.contains("gaps.csv, line 2, column 1 (`a`): got `NA`"),
        "{refused:?}"
    );
    let fewer = well(folder.mercer("predict gaps.csv m.mercer --missing rows"));
    assert_eq!(fewer.out.lines().count(), 177);
    // Trained with gaps, then used without any.
    well(folder.mercer("train gaps.csv -o g.mercer -q"));
    assert_eq!(folder.mercer("predict clean.csv g.mercer").fine().out.lines().count(), 200);
}

#[test]
fn tables_are_tuned_split_converted_and_give_components() {
    let rows = customers(120);
    let folder = Folder::new().with("t.csv", table(&HEADER, &rows, ",", "\n"));
    let tuned =
        well(folder.mercer("tune t.csv --kernel rbf --c 1,10 --gamma 0.03,0.1 --folds 3 -o m.mercer"));
    assert!(tuned.out.contains("rbf"), "{}", tuned.out);
    assert!(error_of(&folder, "t.csv", "m.mercer") < 0.25);
    well(folder.mercer("data split t.csv a.csv b.csv -q"));
    well(folder.mercer("train a.csv -o m.mercer -q"));
    well(folder.mercer("evaluate b.csv m.mercer"));
    well(folder.mercer("data convert t.csv t.tsv -q"));
    let same = |file: &str| well(folder.mercer(&format!("predict {file} m.mercer"))).out;
    assert_eq!(same("t.tsv"), same("t.csv"));
    let libsvm = folder.mercer("data convert t.csv t.svm -q");
    assert!(libsvm.code == 1 && libsvm.err.contains("got table, expected rows of numbers"), "{libsvm:?}");
    well(folder.mercer("pca fit t.csv --kernel rbf(gamma=0.1) -o c.mercer -q"));
}

#[test]
fn rows_that_a_spreadsheet_trimmed_are_read_with_missing_values() {
    let header = ["age", "city", "outcome", "remark", "score"];
    let rows: Vec<Vec<String>> = customers(120)
        .into_iter()
        .enumerate()
        .map(|(i, row)| {
            let mut cells = vec![row[1].clone(), row[2].clone(), row[7].clone()];
            if i % 3 == 0 {
                cells.extend(["ok".to_owned(), (i % 7).to_string()]);
            }
            cells
        })
        .collect();
    let folder = Folder::new().with("t.csv", table(&header, &rows, ",", "\n"));
    let info = well(folder.mercer("data info t.csv --label outcome")).out;
    assert!(info.contains("80 rows are shorter than the header"), "{info}");
    well(folder.mercer("train t.csv --label outcome -o m.mercer -q"));
    well(folder.mercer("predict t.csv m.mercer -o answers.csv -q"));
    assert_eq!(folder.read("answers.csv").lines().count(), 121);
    let refused = folder.mercer("train t.csv --label outcome --missing refuse -o n.mercer");
    assert!(refused.code == 1 && refused.err.contains("got 3 fields"), "{refused:#?}");
    // Where all features are numbers, a short row is rather a broken file; a long one always is.
    let folder = folder.with("n.csv", "a,b,c,class\n1,2,3,x\n4,5\n7,8,9,y\n");
    let refused = folder.mercer("data info n.csv");
    assert!(refused.code == 1 && refused.err.contains("line 3: got 2 fields, expected 4"), "{refused:#?}");
    let folder = folder.with("l.csv", "a,b,class\nred,2,x\ngreen,2,y,4,5\n");
    assert_eq!(folder.mercer("data info l.csv").code, 1);
}

#[test]
fn the_truth_stands_beside_the_prediction_where_it_is_known() {
    let mut rows = customers(80);
    let folder = Folder::new().with("t.csv", table(&HEADER, &rows, ",", "\n"));
    well(folder.mercer("train t.csv --label outcome -o m.mercer -q"));
    rows.truncate(4);
    rows[1][7].clear();
    rows[3][7] = "NA".into();
    let folder = folder.with("new.csv", table(&HEADER, &rows, ",", "\n"));
    well(folder.mercer("predict new.csv m.mercer --with customer -o p.csv -q"));
    let told: Vec<Vec<String>> =
        folder.read("p.csv").lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert_eq!(told[0], ["customer", "prediction", "outcome"]);
    let truth: Vec<&str> = told[1..].iter().map(|line| line[2].as_str()).collect();
    assert_eq!(truth, [rows[0][7].as_str(), "", rows[2][7].as_str(), "NA"]);
    // Asked for by name, it stands where it was asked for.
    let run = well(folder.mercer("predict new.csv m.mercer --with outcome,customer"));
    assert!(run.out.starts_with("outcome,customer,prediction\n"), "{}", run.out);
}

#[test]
fn an_explanation_with_held_out_rows_tells_columns_curves_and_mistakes() {
    let rows = customers(260);
    let folder = Folder::new()
        .with("t.csv", table(&HEADER, &rows[..160], ",", "\n"))
        .with("test.csv", table(&HEADER, &rows[160..], ",", "\n"));
    well(folder.mercer("train t.csv --label outcome -o m.mercer -q"));
    let line = "explain m.mercer t.csv --importance test.csv --repeats 2 --curves 8 --report e.html";
    let text = well(folder.mercer(line)).out;
    for part in
        ["Which columns matter", "Partial dependence on these columns", "Confident mistakes", "supports", "▁"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = folder.read("e.html");
    for part in
        ["class=\"verdict\"", "matters most", "By <code>city</code>", "checksum ", "UTC", "Fraction of rows"]
    {
        assert!(page.contains(part), "{part}");
    }
    let json = well(folder.mercer(&format!("{line} --format json"))).json();
    let columns = json["dependences"]["columns"].as_array().expect("a list");
    let city = columns.iter().find(|c| c["column"] == "city").expect("it matters");
    let value = |name: &str| {
        let places = city["places"].as_array().expect("a list");
        let place = places.iter().find(|p| p["value"] == name).expect("a city");
        place["mean"][0].as_f64().expect("a share")
    };
    // The first class buys, and most of those in the first city do.
    assert!(value("Köln") > value("Zürich"), "{city}");
    let skipped = json["dependences"]["skipped"].to_string();
    assert!(skipped.contains("remark") && skipped.contains("ignores"), "{skipped}");
    let mistakes = json["mistakes"]["worst"].as_array().expect("a list");
    assert!(!mistakes.is_empty() && mistakes.iter().all(|m| m["given"] != m["predicted"]), "{mistakes:?}");
}
