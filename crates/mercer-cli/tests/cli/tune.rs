//! `mercer tune`, and the search behind `train -c auto`.

use std::process::Stdio;
use std::time::Duration;

use crate::learn::flowers;
use crate::run::Folder;

#[test]
fn a_search_shows_its_table_and_trains_the_best() {
    let folder = Folder::new().with("flowers.csv", flowers());
    let line = "tune flowers.csv --folds 4 -c 0.1..10:3 --gamma 0.1,1 -o best.mercer --report page.html";
    let told = folder.mercer(line).fine().out;
    for wanted in [
        "6 settings of svc on 4 folds",
        "by gamma (down) and c (across)",
        "best",
        "flatness",
        "✓ best.mercer",
    ] {
        assert!(told.contains(wanted), "no `{wanted}` in {told}");
    }
    assert!(folder.read("page.html").contains("<svg"));
    let json =
        folder.mercer("tune flowers.csv --folds 4 -c 0.1..10:3 --gamma 0.1,1 --format json").fine().json();
    let cells = json["stages"][0]["cells"].as_array().expect("a list");
    let best = cells.iter().filter_map(|c| c["mean"].as_f64()).fold(f64::INFINITY, f64::min);
    assert_eq!((cells.len(), json["best"]["mean"].as_f64()), (6, Some(best)));
    let told = folder.mercer("evaluate flowers.csv best.mercer --format json").fine().json();
    assert!(told["error"].as_f64().expect("an error") < 0.1, "{told}");
}

#[test]
fn kernels_are_compared_and_train_can_ask_for_it() {
    let folder = Folder::new().with("flowers.csv", flowers());
    let line = "tune flowers.csv --folds 3 --kernel auto --two-stage --race --format json";
    let told = folder.mercer(line).fine().json();
    let families: Vec<&str> = told["stages"][0]["cells"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["family"].as_str())
        .collect();
    for family in ["rbf", "poly", "linear"] {
        assert!(families.contains(&family), "{families:?}");
    }
    let told = folder.mercer("train flowers.csv -c auto --kernel auto --format json").fine().json();
    let choices = told["choices"].as_array().expect("a list");
    let c = choices.iter().find(|c| c["what"] == "c").expect("a choice");
    assert!(c["why"].as_str().expect("a reason").contains("folds"), "{c}");
}

#[test]
fn what_cannot_be_searched_is_refused_in_words() {
    let folder = Folder::new()
        .with("flowers.csv", flowers())
        .with("few.csv", "x,class\n1,a\n2,a\n3,a\n4,b\n5,a\n6,a\n");
    for (line, code, why) in [
        ("tune few.csv --label class", 1, "rows of class b: got 1, expected at least 5, one for each fold"),
        ("tune flowers.csv --metric rmse", 2, "metric = rmse: must be one for data with classes"),
        ("tune flowers.csv --metric best", 2, "metric = best: must be one of error"),
        ("tune flowers.csv -c 10..1", 2, "a range goes from a number above 0 to a larger one"),
        ("tune flowers.csv --grid nu=0.1,0.2", 2, "nu = 0.1: must be left out"),
        ("tune flowers.csv --learner one-class", 2, "no answers to be judged by"),
        ("tune flowers.csv --kernel linear --gamma 1,2", 2, "no Gaussian is searched"),
    ] {
        let run = folder.mercer(line);
        assert!(run.code == code && run.err.contains(why), "{line}: {run:#?}");
    }
}

/// Killed at twenty moments, a search ends in the table it would have ended in.
#[test]
fn a_killed_search_goes_on() {
    let folder = Folder::new();
    folder.mercer("data toy banana banana.csv --rows 240 -q").fine();
    let line = "tune banana.csv --folds 4 --two-stage --format json";
    let table = |mut told: serde_json::Value| {
        for own in ["seconds", "known"] {
            told[own] = serde_json::Value::Null;
        }
        told
    };
    let whole = table(folder.mercer(line).fine().json());
    let args: Vec<&str> = line.split(' ').chain(["--checkpoint", "search.txt"]).collect();
    let mut grew = 0;
    for round in 0..20_u64 {
        let before = std::fs::metadata(folder.path("search.txt")).map_or(0, |m| m.len());
        let mut child = folder.command(&args).stdout(Stdio::null()).spawn().expect("it starts");
        // Moments that do not repeat: the golden ratio's multiples, from 10 to 160 ms.
        std::thread::sleep(Duration::from_millis(10 + round * 93 % 150));
        child.kill().expect("it can be killed");
        child.wait().expect("it ended");
        let after = std::fs::metadata(folder.path("search.txt")).map_or(0, |m| m.len());
        grew += usize::from(after > before);
    }
    assert!(grew > 0, "no run came to write anything");
    let told = folder.mercer_args(&args).fine().json();
    assert!(told["known"].as_u64().expect("a number") > 0);
    assert_eq!(table(told), whole);
    let other = folder.mercer("tune banana.csv --folds 3 --checkpoint search.txt");
    assert!(other.code != 0 && other.err.contains("another search"), "{}", other.err);
}
