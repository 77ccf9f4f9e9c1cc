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
        ("tune few.csv --label class --folds 9", 2, "folds = 9: must be from 2 to 5, the number of rows"),
        ("tune flowers.csv --seconds -1", 2, "seconds = -1: must be a number above 0"),
        ("tune flowers.csv --kernel multiquadric", 2, "use its negative, `-1*multiquadric`"),
        ("tune flowers.csv -c 1,inf", 2, "c = inf: must be finite numbers in a search"),
        ("tune flowers.csv --metric rmse", 2, "metric = rmse: must be one for data with classes"),
        ("tune flowers.csv --metric best", 2, "metric = best: must be one of error"),
        ("tune flowers.csv -c 10..1", 2, "a range is LOW..HIGH with 0 < LOW < HIGH"),
        ("tune flowers.csv --grid nu=0.1,0.2", 2, "nu = 0.1: svc does not take `nu`"),
        ("tune flowers.csv --learner one-class", 2, "there are no targets to score predictions by"),
        ("tune flowers.csv --kernel linear --gamma 1,2", 2, "no Gaussian kernel is searched"),
    ] {
        let run = folder.mercer(line);
        assert!(run.code == code && run.err.contains(why), "{line}: {run:#?}");
    }
}

#[test]
fn a_search_ends_with_a_model_whatever_the_time() {
    let folder = Folder::new();
    folder.mercer("data toy banana banana.csv --rows 1500 --noise 0.3 -q").fine();
    for line in [
        "tune banana.csv --seconds 0.01 -o m.mercer --format json",
        "tune banana.csv --seconds 0.01 --two-stage --race -o m.mercer --format json",
        "tune banana.csv --seconds 0.3 --kernel poly -o m.mercer --format json",
    ] {
        let told = folder.mercer(line).fine().json();
        let (best, default) = (told["best"]["mean"].as_f64(), told["default"]["mean"].as_f64());
        if let (Some(best), Some(default), None) = (best, default, told["judged_rows"].as_u64()) {
            assert!(best <= default, "{line}: {best} {default}");
        }
        folder.mercer("evaluate banana.csv m.mercer -q").fine();
        std::fs::remove_file(folder.path("m.mercer")).expect("a model");
    }
    folder.mercer("train banana.csv -c auto --search-seconds 0.01 -o m.mercer -q").fine();
    folder.mercer("evaluate banana.csv m.mercer -q").fine();
}

/// However little time there is, what a search ends with is no worse than what a training without one chooses.
#[test]
fn a_search_begins_where_a_training_without_one_would_be() {
    let folder = Folder::new();
    for (seed, name) in [(1, "train.csv"), (2, "test.csv")] {
        folder.mercer(&format!("data toy spirals {name} --rows 300 --noise 0.1 --seed {seed} -q")).fine();
    }
    let error = |line: &str| {
        folder.mercer(&format!("{line} -o m.mercer -q")).fine();
        let told = folder.mercer("evaluate test.csv m.mercer --format json").fine().json();
        std::fs::remove_file(folder.path("m.mercer")).expect("a model");
        told["error"].as_f64().expect("an error")
    };
    let plain = error("train train.csv");
    assert!(plain < error("train train.csv --auto off") - 0.05, "constants must be worse here: {plain}");
    for line in [
        "train train.csv -c auto --search-seconds 0.001",
        "tune train.csv --seconds 0.001",
        "tune train.csv --seconds 0.001 --two-stage --race",
    ] {
        let searched = error(line);
        assert!(searched <= plain + 0.03, "{line}: {searched}, without a search {plain}");
    }
}

#[test]
fn sequences_small_classes_and_negated_kernels_are_searched() {
    let read = |i: usize| format!("{}\t{}\n", i % 2, ["ACGTACGTAC", "TTGTACCTAC"][i % 2]);
    let lines = (0..40).map(read).collect::<Vec<_>>().concat();
    let folder = Folder::new()
        .with("reads.txt", lines)
        .with("few.csv", "x,class\n1,a\n2,a\n3,a\n4,b\n5,a\n6,a\n7,c\n8,c\n")
        .with("flowers.csv", flowers());
    for kernel in ["kmer_spectrum(k=2)", "normalised(kmer_spectrum(k=2))"] {
        let args = [
            "tune",
            "reads.txt",
            "--from",
            "sequences",
            "-k",
            kernel,
            "-c",
            "1,10",
            "--folds",
            "2",
            "-o",
            "m.mercer",
        ];
        folder.mercer_args(&args).fine();
    }
    let told = folder.mercer("tune few.csv --label class --folds 2 -c 1,10").fine().out;
    assert!(told.contains("class b has one row"), "{told}");
    for command in [
        &["train", "flowers.csv", "-k", "-1*multiquadric(c=1)", "-o", "m.mercer"][..],
        &["tune", "flowers.csv", "-k", "-1*multiquadric(c=1)", "-c", "1,10", "--folds", "3"],
        &["kernel", "check", "-1*multiquadric(c=1)"],
        &["kernel", "geometry", "-1*multiquadric(c=1)"],
        &["kernel", "gram", "flowers.csv", "-k", "-1*multiquadric(c=1)"],
        &["pca", "fit", "flowers.csv", "-k", "-1*multiquadric(c=1)", "-o", "p.mercer"],
    ] {
        let run = folder.mercer_args(command);
        assert!(!run.err.contains("unexpected argument"), "{command:?}: {run:#?}");
        assert!(command[1] == "geometry" || run.code == 0, "{command:?}: {run:#?}");
    }
    let run = folder.mercer("train flowers.csv -k multiquadric -o m.mercer");
    assert!(run.code == 2 && run.err.contains("`-1*multiquadric`"), "{run:#?}");
}

#[test]
fn numbers_by_the_hundred_are_no_classes_unless_somebody_insists() {
    let row = |i: i32| format!("{},{}\n", f64::from(i) / 10.0, i % 225);
    let rows = (0..450).map(row).collect::<Vec<_>>().concat();
    let folder = Folder::new().with("houses.csv", format!("x,price\n{rows}"));
    for line in ["train houses.csv --learner svc -o m.mercer", "tune houses.csv --learner svc"] {
        let run = folder.mercer(line);
        assert!(run.code == 1 && run.err.contains("classes: got 225 different numbers"), "{run:#?}");
        assert!(run.err.contains("--targets reals") && run.err.contains("--targets classes"), "{run:#?}");
    }
    folder.mercer("train houses.csv --learner svc --targets classes -o m.mercer").fine();
    let dense = 450 * 225 * 224 / 2 * 8;
    let bytes = std::fs::metadata(folder.path("m.mercer")).expect("a model").len();
    assert!(bytes < dense / 10, "{bytes}");
    let told = folder.mercer("evaluate houses.csv m.mercer --format json").fine().json();
    assert!(told["error"].as_f64().is_some_and(|e| e < 1.0), "{told}");
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
    let (mut grew, mut slower) = (0, 0);
    for round in 0..20_u64 {
        let before = std::fs::metadata(folder.path("search.txt")).map_or(0, |m| m.len());
        let mut child = folder.command(&args).stdout(Stdio::null()).spawn().expect("it starts");
        // Moments that do not repeat: the golden ratio's multiples, from 10 to 160 ms; later on a machine that is too busy to
        // come to a score by then.
        std::thread::sleep(Duration::from_millis((10 + round * 93 % 150) << slower));
        child.kill().expect("it can be killed");
        child.wait().expect("it ended");
        let after = std::fs::metadata(folder.path("search.txt")).map_or(0, |m| m.len());
        grew += usize::from(after > before);
        slower = (slower + u32::from(round % 4 == 3 && after <= before)).min(5);
    }
    assert!(grew > 0, "no run came to write anything");
    let told = folder.mercer_args(&args).fine().json();
    assert!(told["known"].as_u64().expect("a number") > 0);
    assert_eq!(table(told), whole);
    let other = folder.mercer("tune banana.csv --folds 3 --checkpoint search.txt");
    assert!(other.code != 0 && other.err.contains("another search"), "{}", other.err);
}
