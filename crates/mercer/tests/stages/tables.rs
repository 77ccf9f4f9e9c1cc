//! The stage `table`: what every kind of column becomes, what is saved, and what never leaks.

use mercer::Exec;
use mercer::data::stage::Parts;
use mercer::data::table::{Column, Kind, Table};
use mercer::data::{Labels, Points, Recipe, Stage, Stages};
use serde_json::json;

use crate::{fit, values};

/// A table of every kind of column.
pub(crate) fn small() -> Points {
    let n = 24;
    let text = |f: &dyn Fn(usize) -> Option<String>| {
        let cells: Vec<Option<String>> = (0..n).map(f).collect();
        Column::text(cells.iter().map(Option::as_deref))
    };
    let columns = vec![
        ("age", Column::Numbers((0..n).map(|i| if i == 3 { f64::NAN } else { 20.0 + i as f64 }).collect())),
        ("income", Column::Numbers((0..n).map(|i| (i as f64 / 2.0).exp()).collect())),
        ("colour", text(&|i| (i != 5).then(|| ["red", "green", "blue"][i % 3].to_owned()))),
        ("member", text(&|i| Some(if i % 4 == 0 { "yes" } else { "no" }.into()))),
        ("day", text(&|i| Some(format!("2024-{:02}-{:02} {:02}:00", i % 12 + 1, i + 1, i)))),
        ("size", text(&|i| Some(["small", "medium", "large"][i % 3].into()))),
        ("name", text(&|i| Some(format!("p{i}")))),
        ("same", text(&|_| Some("x".into()))),
    ];
    let (names, columns): (Vec<&str>, Vec<Column>) = columns.into_iter().unzip();
    let ordered = Kind::Ordered(["small", "medium", "large"].map(String::from).to_vec());
    let kinds = names.iter().map(|n| (*n == "size").then(|| ordered.clone())).collect();
    let names = names.into_iter().map(String::from).collect();
    Points::table(Table::new(names, columns).and_then(|t| t.with_kinds(kinds)).expect("a table"))
}

fn coded(stage: &Stage, points: &Points) -> Vec<(String, Vec<f64>)> {
    let out = stage.apply(points.view(), Exec::one()).expect("a table");
    let (d, x) = (out.dim(), values(&out));
    let names: Vec<String> =
        stage.coded_columns().expect("a table").into_iter().flat_map(|c| c.outputs).collect();
    assert_eq!(names.len(), d);
    names
        .into_iter()
        .enumerate()
        .map(|(j, name)| (name, x.iter().skip(j).step_by(d).copied().collect()))
        .collect()
}

fn column(stage: &Stage, points: &Points, name: &str) -> Vec<f64> {
    let all = coded(stage, points);
    all.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name} in {all:?}")).1.clone()
}

fn one(name: &str, column: Column) -> Points {
    Points::table(Table::new(vec![name.into()], vec![column]).expect("a table"))
}

fn texts(name: &str, cells: &[&str]) -> Points {
    one(name, Column::text(cells.iter().map(|c| Some(*c).filter(|c| !c.is_empty()))))
}

#[test]
fn every_kind_becomes_what_the_document_says() {
    let points = small();
    let stage = fit("table", &points);
    let names: Vec<String> = coded(&stage, &points).into_iter().map(|(name, _)| name).collect();
    let wanted = "age, age is missing, log income, colour=blue, colour=green, colour=red, colour is missing, member, day, \
                  day.hour.sin, day.hour.cos, day.weekday.sin, day.weekday.cos, day.month.sin, day.month.cos, size";
    assert_eq!(names.join(", "), wanted);
    let age = column(&stage, &points, "age");
    // The median of 23 values from 20 to 43 without 23 is 32.
    assert_eq!((age[0], age[3], age[12]), (-12.0, 0.0, 0.0));
    assert_eq!(column(&stage, &points, "age is missing")[2..5], [0.0, 1.0, 0.0]);
    assert_eq!(column(&stage, &points, "colour=red")[..6], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(column(&stage, &points, "colour is missing")[5], 1.0);
    assert_eq!(column(&stage, &points, "colour=blue")[5], 0.0);
    assert_eq!(column(&stage, &points, "member")[..5], [1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(column(&stage, &points, "size")[..3], [-0.5, 0.0, 0.5]);
    let six = (column(&stage, &points, "day.hour.sin")[6], column(&stage, &points, "day.hour.cos")[6]);
    assert!((six.0 - 1.0).abs() < 1e-12 && six.1.abs() < 1e-12, "{six:?}");
    let ignored: Vec<String> = stage
        .coded_columns()
        .expect("a table")
        .into_iter()
        .filter(|c| c.outputs.is_empty())
        .map(|c| format!("{}: {}", c.name, c.coding))
        .collect();
    assert_eq!(ignored, ["name: 24 different values in 24 rows", "same: it is the same in every row"]);
}

#[test]
fn it_comes_back_from_its_parts_bit_for_bit_and_tampering_is_refused() {
    let many = texts(
        "dest",
        &(0..3000)
            .map(|i| format!("d{}", i * i % 307))
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    for points in [small(), many] {
        let stage = fit("table", &points);
        let parts = stage.to_parts();
        let back = Stage::from_parts(parts.clone()).expect("its own parts");
        assert_eq!(back, stage);
        let bits = |s: &Stage| {
            let out = s.apply(points.view(), Exec::new(2)).expect("a table");
            values(&out).into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(bits(&back), bits(&stage));
        let json = serde_json::to_string(&stage).expect("numbers and words");
        assert_eq!(serde_json::from_str::<Stage>(&json).expect("its own JSON"), stage);
        let refused = |change: &dyn Fn(&mut Parts)| {
            let mut parts = parts.clone();
            change(&mut parts);
            assert!(Stage::from_parts(parts).is_err());
        };
        refused(&|p| p.header["columns"] = json!(99));
        refused(&|p| p.header["stage"]["columns"] = json!([]));
        refused(&|p| {
            p.header["stage"]["columns"][0]["how"] =
                json!({"kind": "category", "values": ["a"], "own": 2, "other": false});
        });
        refused(&|p| p.header["stage"]["columns"][0]["how"] = json!({"kind": "guess"}));
        refused(&|p| p.header["stage"]["columns"][0]["marker"] = json!("yes"));
        refused(&|p| p.tensors[0].values[0] = f64::NAN);
        refused(&|p| drop(p.tensors.remove(0)));
        refused(&|p| p.tensors.iter_mut().for_each(|t| t.values.push(1.0)));
    }
}

#[test]
fn unseen_values_and_gaps_at_prediction_do_what_was_said() {
    // All values are frequent: an unseen one is none of them.
    let train = texts("c", &["a", "b", "a", "b"]);
    let stage = fit("table", &train);
    let out = coded(&stage, &texts("c", &["a", "z", ""]));
    assert_eq!(out, [("c=a".to_owned(), vec![1.0, 0.0, 1.0]), ("c=b".to_owned(), vec![0.0, 0.0, 0.0])]);
    // Rare values share a column, and so do unseen ones.
    let cells: Vec<String> =
        (0..1000).map(|i| if i < 3 { format!("rare{i}") } else { format!("v{}", i % 2) }).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let stage = fit("table", &texts("c", &cells));
    let other = column(&stage, &texts("c", &["rare1", "unseen", "v1"]), "c=(other)");
    assert_eq!(other, [1.0, 1.0, 0.0]);
    // A number that was never missing is its median.
    let stage = fit("table", &one("x", Column::Numbers(vec![1.0, 2.0, 30.0])));
    assert_eq!(column(&stage, &one("x", Column::Numbers(vec![f64::NAN, 3.0])), "x"), [0.0, 1.0]);
    // Text where numbers were is an error that names column and row.
    let text = texts("x", &["1", "much"]);
    let wrong = stage.check_cells(text.view(), Exec::one()).expect_err("text").to_string();
    assert_eq!(wrong, "row 2, column `x`: got `much`, expected a number, as in training");
    // In a fold whose training rows had none of it, it counts as missing.
    assert_eq!(column(&stage, &text, "x"), [-1.0, 0.0]);
}

#[test]
fn dense_numbers_are_a_table_of_numbers() {
    let numbers = [3.0, 1.0, 2.0, 8.0];
    let train = Points::table(
        Table::new(
            vec!["zip".into(), "x".into()],
            vec![
                Column::text([Some("7"), Some("8"), Some("7"), Some("8")]),
                Column::Numbers(numbers.to_vec()),
            ],
        )
        .and_then(|t| t.with_kinds(vec![Some(Kind::Category), None]))
        .expect("a table"),
    );
    let stage = fit("table", &train);
    let dense = Points::dense(vec![7.0, 3.0, 8.0, 1.0, 7.0, 2.0, 8.0, 8.0], 2).expect("four rows");
    assert_eq!(coded(&stage, &dense), coded(&stage, &train));
    let narrow = Points::dense_f32(vec![7.0, 3.0], 2).expect("a row");
    assert_eq!(coded(&stage, &narrow), coded(&stage, &train.gather(&[0])));
}

#[test]
fn many_values_are_sparse_and_the_same_as_dense() {
    let n = 5000;
    let make = |rows: usize| {
        let city: Vec<String> = (0..rows).map(|i| format!("city{}", i * 7 % 45)).collect();
        let street: Vec<String> = (0..rows).map(|i| format!("street{}", i * 13 % 40)).collect();
        let text = |cells: &[String]| Column::text(cells.iter().map(|c| Some(c.as_str())));
        let x = Column::Numbers((0..rows).map(|i| i as f64 % 10.0).collect());
        let names = ["city", "street", "x"].map(String::from).to_vec();
        Points::table(Table::new(names, vec![text(&city), text(&street), x]).expect("a table"))
    };
    let points = make(n);
    let stage = fit("table", &points);
    let out = stage.apply(points.view(), Exec::new(2)).expect("a table");
    assert_eq!((out.kind(), out.dim()), ("sparse", 86));
    for i in [0, 17, 4999] {
        let row = out.row(i).to_f64();
        let city = column(&stage, &points.gather(&[i]), &format!("city=city{}", i * 7 % 45));
        assert_eq!((city[0], row.iter().filter(|v| **v == 1.0).count() >= 2), (1.0, true));
    }
    for threads in [1, 3] {
        let again = stage.apply(points.view(), Exec::new(threads)).expect("a table");
        assert_eq!(again, out);
        assert_eq!(
            stage.apply(points.view().slice(10..2000), Exec::new(threads)).expect("a table"),
            out.view().slice(10..2000).gather(&(0..1990).collect::<Vec<_>>())
        );
    }
}

#[test]
fn a_category_of_many_values_keeps_fifty_and_a_frequency() {
    let cells: Vec<String> = (0..20_000).map(|i| format!("v{:03}", i * i % 401)).collect();
    let refs: Vec<&str> = cells.iter().map(String::as_str).collect();
    let points = texts("v", &refs);
    let stage = fit("table", &points);
    assert_eq!(stage.output_dim(), 52);
    let frequency = column(&stage, &points.gather(&[0, 1, 2]), "v.frequency");
    assert!(frequency.iter().all(|f| *f >= 0.0), "{frequency:?}");
    assert!(column(&stage, &texts("v", &["never"]), "v.frequency")[0] <= frequency[1]);
}

#[test]
fn no_label_has_any_influence() {
    let points = small();
    let recipes = Stages::parse("table | standard(indicators=keep)").expect("two stages");
    let with = |labels: Option<&Labels>| {
        let (stages, out) = Stages::fit_with(&recipes, points.view(), labels, Exec::one()).expect("a table");
        (stages.to_parts(), out)
    };
    let labels = |f: &dyn Fn(usize) -> bool| Labels::new((0..24).map(|i| if f(i) { "a" } else { "b" }));
    let none = with(None);
    assert_eq!(with(Some(&labels(&|i| i % 2 == 0))), none);
    assert_eq!(with(Some(&labels(&|i| i < 12))), none);
}

#[test]
fn what_is_fitted_depends_on_its_rows_alone() {
    // A fold must not know of the rows that are held out, nor of their values.
    let points = small();
    let rows: Vec<usize> = (0..18).collect();
    let part = points.gather(&rows);
    assert_eq!(
        fit("table", &part),
        Recipe::parse("table")
            .expect("a stage")
            .fit(points.view().slice(0..18), Exec::one())
            .expect("a table")
    );
    let other = points.gather(&(0..24).map(|i| if i < 18 { i } else { 0 }).collect::<Vec<_>>());
    let first = other.view().slice(0..18);
    assert_eq!(
        Recipe::parse("table").expect("a stage").fit(first, Exec::one()).expect("a table"),
        fit("table", &part)
    );
}

#[test]
fn indicators_are_kept_and_others_scaled() {
    let points = Points::dense(vec![0.0, 1.0, 5.0, 1.0, 0.0, 7.0, 0.0, 0.0, 9.0], 3).expect("three rows");
    for points in [points.clone(), crate::sparse(&points)] {
        let out = values(
            &fit("standard(indicators=keep)", &points).apply(points.view(), Exec::one()).expect("numbers"),
        );
        assert_eq!([&out[0..2], &out[3..5], &out[6..8]].concat(), [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert!((out[8] - out[2] - 4.0 / (8.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }
    assert!(Recipe::parse("standard(per=channel, indicators=keep)").is_err());
}

#[test]
fn tables_without_a_usable_column_are_refused() {
    let names: Vec<String> = (0..30).map(|i| format!("n{i}")).collect();
    let points = texts("name", &names.iter().map(String::as_str).collect::<Vec<_>>());
    let message = Recipe::parse("table")
        .expect("a stage")
        .fit(points.view(), Exec::one())
        .expect_err("nothing")
        .to_string();
    assert_eq!(
        message,
        "columns that a model can learn from: got none (`name`: 30 different values in 30 rows), expected at least one"
    );
}

proptest::proptest! {
    #[test]
    fn any_table_gives_finite_numbers_or_a_message(
        train in table(), test in table(), cut in 0usize..40, threads in 1usize..4,
    ) {
        let (train, test) = (Points::table(train), Points::table(test));
        let recipe = Recipe::parse("table").expect("a stage");
        if let Ok(stage) = recipe.fit(train.view().slice(0..cut.min(train.len())), Exec::one()) {
            assert_eq!(Stage::from_parts(stage.to_parts()).expect("its own parts"), stage);
            for points in [&train, &test] {
                let Ok(out) = stage.apply(points.view(), Exec::new(threads)) else { continue };
                assert_eq!((out.len(), out.dim()), (points.len(), stage.output_dim()));
                assert_eq!(out.first_not_finite(), None);
            }
        }
    }
}

/// Three columns of cells as people write them, and as nobody does.
fn table() -> impl proptest::strategy::Strategy<Value = Table> {
    use proptest::prelude::*;
    let cell = prop_oneof![
        3 => Just(None),
        3 => (0i32..5).prop_map(|v| Some(v.to_string())),
        2 => (-1e300f64..1e300).prop_map(|v| Some(v.to_string())),
        3 => "[a-c]".prop_map(Some),
        2 => "(yes|no|T|f)".prop_map(Some),
        2 => (1u32..14, 0u32..33).prop_map(|(m, d)| Some(format!("2024-{m:02}-{d:02}"))),
        1 => ".{0,6}".prop_map(Some),
    ];
    let text = proptest::collection::vec(cell, 40)
        .prop_map(|cells| Column::text(cells.iter().map(Option::as_deref)));
    let number = prop_oneof![Just(f64::NAN), -3.0..3.0f64, Just(1e308), Just(-1e308), Just(5e-324)];
    let numbers = proptest::collection::vec(number, 40).prop_map(Column::Numbers);
    (text.clone(), text, numbers).prop_map(|(a, b, c)| {
        Table::new(["a", "b", "c"].map(String::from).to_vec(), vec![a, b, c]).expect("a table")
    })
}
