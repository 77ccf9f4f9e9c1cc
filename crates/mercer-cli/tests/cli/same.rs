//! The library and the command give the same answers on one file.

use mercer::assess::quick;
use mercer::data::io::{ReadOptions, read};
use mercer::model::{Model, Plan, Wishes};
use mercer::{Exec, watch};

use crate::run::Folder;

#[test]
fn rust_and_the_command_predict_the_same() {
    let folder = Folder::new();
    folder.mercer("data toy clusters train.csv --rows 120 -q").fine();
    folder.mercer("data toy clusters test.csv --rows 50 --seed 3 -q").fine();
    folder.mercer("train train.csv -o m.mercer -q --threads 2").fine();
    let here = |name: &str| read(folder.path(name), &ReadOptions::default()).expect("a data file");
    let (train, test) = (here("train.csv"), here("test.csv"));
    let mut plan = Plan::new(&train, &Wishes::default(), Exec::new(2)).expect("a plan");
    quick(&mut plan, 0, Exec::new(2), &mut watch::silent()).expect("fits").expect("an open choice");
    let model = plan.fit(Exec::new(2), &mut watch::silent()).expect("a fit");
    let loaded = Model::read(folder.path("m.mercer")).expect("a model file");
    let decision = model.decision(test.points.view(), Exec::new(2)).expect("numbers");
    assert_eq!(decision, loaded.decision(test.points.view(), Exec::new(2)).expect("numbers"));

    let told = folder.mercer("predict test.csv m.mercer --decision --format json --threads 2").fine().json();
    let rows = told["values"].as_array().expect("rows");
    let told: Vec<f64> = rows
        .iter()
        .flat_map(|r| r.as_array().expect("a row"))
        .map(|v| v.as_f64().expect("a number"))
        .collect();
    assert_eq!(told, decision);
    let answers = model.predict(test.points.view(), Exec::new(2)).expect("classes");
    let labels = answers.classes().expect("classes");
    let lines = folder.mercer("predict test.csv m.mercer").fine().out;
    let names: Vec<&str> = (0..labels.len()).map(|i| labels.name_of(i)).collect();
    assert_eq!(lines.lines().collect::<Vec<_>>(), names);
}
