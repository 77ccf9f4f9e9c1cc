//! `mercer train`, `predict`, `evaluate`, `explain`, `bounds`, `compare`, `novelty`, `convert`.

use std::fmt::Write as _;

use crate::run::Folder;

/// Flowers with names: three clusters, one far away, in centimetres and millimetres.
pub(crate) fn flowers() -> String {
    let mut text = String::from("length,width,species\n");
    for i in 0..30 {
        let wave = |k: f64| (f64::from(i) * k).sin();
        let (species, x, y) = [("iris", 1.0, 90.0), ("lily", 3.0, 60.0), ("rose", 3.6, 30.0)][i as usize % 3];
        writeln!(text, "{:.3},{:.2},{species}", x + 0.4 * wave(1.3), y + 12.0 * wave(2.1)).expect("room");
    }
    text
}

fn trained() -> Folder {
    let folder = Folder::new().with("flowers.csv", flowers());
    folder.mercer("train flowers.csv -q").fine();
    folder
}

fn houses() -> Folder {
    let mut text = String::from("rooms,age,price\n");
    for i in 0..40 {
        let (rooms, age) = (1 + i % 6, (i * 7) % 50);
        let odd = if i == 17 { 300.0 } else { 0.0 };
        writeln!(text, "{rooms},{age},{}", 40.5 * f64::from(rooms) - 0.5 * f64::from(age) + odd)
            .expect("room");
    }
    Folder::new().with("houses.csv", text)
}

#[test]
fn train_says_what_it_chose_and_why() {
    let folder = Folder::new().with("flowers.csv", flowers());
    folder.mercer("train flowers.csv").fine().without("trained").snapshot("train-classes");
    assert!(folder.path("flowers.mercer").exists());
    let line = "train flowers.csv -c 10 --gamma 0.5 --scale minmax --multiclass ovr --class-weight rose=2 -o b.mercer";
    folder.mercer(line).fine().without("trained").snapshot("train-asked");
    assert_eq!(folder.mercer("train flowers.csv -q").fine().out, "");
}

#[test]
fn train_for_programs() {
    let folder = Folder::new().with("flowers.csv", flowers());
    let facts = folder.mercer("train flowers.csv --format json").fine().json();
    assert_eq!((&facts["rows"], &facts["file"]), (&30.into(), &"flowers.mercer".into()));
    let choices = facts["choices"].as_array().expect("a list");
    let of = |what: &str| choices.iter().find(|c| c["what"] == what).expect("settled").clone();
    assert_eq!(of("task")["why"], "the targets are 3 classes");
    assert_eq!(of("scaling")["why"], "chosen together with the kernel");
    assert!(
        of("kernel")["why"].as_str().expect("a reason").contains("22 settings by 5-fold cross-validation")
    );
    assert_eq!(facts["model"]["info"]["stop"], "converged");
    assert_eq!(facts["training"]["task"], "classification");
    let facts = folder.mercer("train flowers.csv --auto off --format json").fine().json();
    let choices = facts["choices"].as_array().expect("a list");
    let scaling = choices.iter().find(|c| c["what"] == "scaling").expect("settled");
    assert_eq!(scaling["why"], "ranges differ: `width` spans 73, `length` only 3.39");
}

#[test]
fn regression_from_end_to_end() {
    let folder = houses();
    folder.mercer("train houses.csv").fine().without("trained").snapshot("train-numbers");
    folder.mercer("evaluate houses.csv houses.mercer").fine().snapshot("evaluate-numbers");
    let run = folder.mercer("explain houses.mercer houses.csv").fine().without("trained");
    run.snapshot("explain-numbers");
    assert!(run.out.contains("18  533.5"), "the odd house is found: {}", run.out);
    for learner in ["nu-svr", "huber", "laplace", "ridge"] {
        folder.mercer(&format!("train houses.csv --learner {learner} -o {learner}.m")).fine();
        let run = folder.mercer(&format!("evaluate houses.csv {learner}.m --format json")).fine().json();
        assert!(run["r2"].as_f64().expect("a number") > 0.3, "{learner}: {run}");
    }
}

#[test]
fn predict_prints_and_writes() {
    let folder = trained();
    let run = folder.mercer("predict flowers.csv flowers.mercer").fine();
    assert_eq!(run.out.lines().count(), 30);
    assert!(run.out.starts_with("iris\nlily\nrose\n"), "{}", run.out);
    folder.mercer("predict flowers.csv flowers.mercer -o a.csv").fine().snapshot("predict-file");
    assert!(folder.read("a.csv").starts_with("prediction\niris\n"));
    let run = folder.mercer("predict flowers.csv flowers.mercer --decision").fine();
    let head = "prediction,lily against iris,rose against iris,rose against lily\niris,-";
    assert!(run.out.starts_with(head), "{}", run.out);
    let json = folder.mercer("predict flowers.csv flowers.mercer --decision --format json").fine().json();
    assert_eq!(json["values"][0].as_array().expect("a row").len(), 3);
    let refused = "error: this model was fitted without probabilities\nhint: train with \
                   `mercer train ... --proba`\n";
    folder.mercer("predict flowers.csv flowers.mercer --proba").fails(1, refused);
}

#[test]
fn predict_takes_data_without_labels_and_in_another_order() {
    let folder = trained();
    let whole = folder.mercer("predict flowers.csv flowers.mercer").fine().out;
    let mut turned = String::new();
    let mut bare = String::new();
    let mut headless = String::new();
    for (i, line) in flowers().lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(turned, "{},{},{}", cells[2], cells[1], cells[0]).expect("room");
        writeln!(bare, "{},{}", cells[0], cells[1]).expect("room");
        if i > 0 {
            writeln!(headless, "{},{}", cells[0], cells[1]).expect("room");
        }
    }
    let folder = folder.with("turned.csv", turned).with("bare.csv", bare).with("headless.csv", headless);
    for file in ["turned.csv", "bare.csv", "headless.csv"] {
        assert_eq!(folder.mercer(&format!("predict {file} flowers.mercer")).fine().out, whole, "{file}");
    }
    let mut command = folder.command(&["predict", "-", "flowers.mercer"]);
    let file = std::fs::File::open(folder.path("bare.csv")).expect("just written");
    let output = command.stdin(file).output().expect("the built command starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), whole);
}

#[test]
fn probabilities_and_rejects() {
    let folder = Folder::new();
    folder.mercer("data toy banana b.csv --rows 120 -q").fine();
    folder.mercer("data toy banana t.csv --rows 80 --seed 5 -q").fine();
    folder.mercer("train b.csv --probability -q -o p.mercer").fine();
    let json = folder.mercer("predict t.csv p.mercer --proba --format json").fine().json();
    for row in json["values"].as_array().expect("rows") {
        let sum: f64 = row.as_array().expect("a row").iter().map(|p| p.as_f64().expect("a number")).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{row}");
    }
    let run = folder.mercer("predict t.csv p.mercer --reject-rate 0.2").fine();
    assert_eq!(run.out.lines().filter(|&line| line == "?").count(), 16);
    let line = "predict t.csv p.mercer --reject-error 0.01 --reject-on b.csv -o a.csv --format json";
    let facts = folder.mercer(line).fine().json();
    assert!(facts["rejected"].as_u64().expect("a count") > 0, "{facts}");
    assert_eq!(folder.mercer("evaluate t.csv p.mercer --format json").fine().json()["rows"], 80);
    folder.mercer("evaluate t.csv p.mercer").fine().snapshot("evaluate-probability");
}

#[test]
fn evaluate_shows_who_is_taken_for_whom() {
    let folder = trained();
    folder.mercer("evaluate flowers.csv flowers.mercer").fine().snapshot("evaluate-classes");
    let json = folder.mercer("evaluate flowers.csv flowers.mercer --format json").fine().json();
    assert_eq!(json["task"], "classification");
    assert_eq!(json["roc"][0]["points"][0], serde_json::json!([0.0, 0.0]));
    assert_eq!(json["confusion"].as_array().expect("a table").len(), 3);
}

#[test]
fn explain_with_data_and_without() {
    let mut text = flowers();
    // A rose that calls itself an iris.
    text.push_str("3.6,30,iris\n");
    let folder = Folder::new().with("flowers.csv", text);
    folder.mercer("train flowers.csv -q").fine();
    let run = folder.mercer("explain flowers.mercer flowers.csv").fine().without("trained");
    run.snapshot("explain-classes");
    assert!(run.out.contains("31  iris   rose"), "{}", run.out);
    folder.mercer("explain flowers.mercer").fine().without("trained").snapshot("explain-alone");
    folder.mercer("train flowers.csv --kernel linear --scale none -q -o l.mercer").fine();
    let linear = folder.mercer("explain l.mercer").fine().out;
    assert!(linear.contains("Columns with the largest weights") && linear.contains("length"), "{linear}");
}

#[test]
fn novelties_are_found() {
    let folder = Folder::new();
    folder.mercer("data toy ring ring.csv --rows 100 -q").fine();
    let mut rows: Vec<String> = folder.read("ring.csv").lines().skip(1).map(str::to_owned).collect();
    rows.iter_mut().for_each(|row| *row = row.rsplit_once(',').map_or(row.clone(), |(x, _)| x.to_owned()));
    let folder = folder.with("usual.csv", rows.join("\n")).with("new.csv", format!("{}\n40,40\n", rows[0]));
    folder.mercer("novelty usual.csv").fine().without("trained").snapshot("novelty");
    assert_eq!(folder.mercer("predict new.csv usual.mercer").fine().out.lines().last(), Some("-1"));
    folder.mercer("evaluate new.csv usual.mercer").fine().snapshot("evaluate-novelty");
    let same =
        folder.mercer("train usual.csv --task novelty --learner sphere --nu 0 -o s.mercer --format json");
    // The row that touches the smallest ball counts as outside.
    let outside = same.fine().json()["training"]["outside"].as_u64().expect("a count");
    assert!(outside <= 2, "{outside}");
}

#[test]
fn convert_there_and_back() {
    let folder = Folder::new();
    folder.mercer("data toy clusters a.csv --rows 60 -q").fine();
    folder.mercer("train a.csv --scale none -q").fine();
    folder.mercer("convert a.mercer --to libsvm -o a.model").fine();
    folder.mercer("convert a.mercer --to json -o a.json").fine().snapshot("convert-json");
    folder.mercer("convert a.json --to safetensors -o b.mercer -q").fine();
    let bytes = |name: &str| std::fs::read(folder.path(name)).expect("written");
    assert_eq!(bytes("a.mercer"), bytes("b.mercer"));
    let decisions = |model: &str| -> Vec<f64> {
        let json = folder.mercer(&format!("predict a.csv {model} --decision --format json")).fine().json();
        let rows = json["values"].as_array().expect("rows").clone();
        rows.iter()
            .flat_map(|r| r.as_array().expect("a row").clone())
            .map(|v| v.as_f64().expect("a number"))
            .collect()
    };
    for (a, b) in decisions("a.mercer").iter().zip(&decisions("a.model")) {
        assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "{a} {b}");
    }
    let scaled = Folder::new().with("flowers.csv", flowers());
    scaled.mercer("train flowers.csv -q").fine();
    scaled.mercer("convert flowers.mercer --to onnx -o flowers.onnx").fine().snapshot("convert-onnx");
    let here = mercer::model::Model::read(scaled.path("flowers.mercer")).expect("a model file");
    let bytes = std::fs::read(scaled.path("flowers.onnx")).expect("written");
    assert_eq!(bytes, mercer::model::onnx::write(&here).expect("a kernel that ONNX can hold"));
    let run = scaled.mercer("convert flowers.mercer --to libsvm -o x.model");
    assert!(run.code == 1 && run.err.contains("stages"), "{run:?}");
}

#[test]
fn threads_and_seeds_give_the_same_model() {
    let folder = Folder::new();
    folder.mercer("data toy banana a.csv --rows 200 -q").fine();
    let bytes = |name: &str| std::fs::read(folder.path(name)).expect("written");
    let answers = |line: &str| folder.mercer(line).fine().out;
    folder.mercer("train a.csv --probability -o 1.m -q --threads 1").fine();
    folder.mercer("train a.csv --probability -o 2.m -q --threads 1").fine();
    let without_time = |name: &str| {
        let text = String::from_utf8_lossy(&bytes(name)).into_owned();
        let at = text.find("\\\"seconds\\\":").expect("how long it took");
        text[..at].to_owned()
    };
    assert_eq!(without_time("1.m"), without_time("2.m"));
    folder.mercer("train a.csv --probability -o 3.m -q --threads 2").fine();
    assert_eq!(answers("predict a.csv 1.m"), answers("predict a.csv 3.m"));
}

#[test]
fn train_warns_of_what_weighs_on_the_result() {
    let mut text = String::from("id,x,class\n");
    for i in 0..60 {
        writeln!(text, "{},{},{}", i + 1, i % 7, if i % 20 == 0 { "rare" } else { "usual" }).expect("room");
    }
    let folder = Folder::new().with("a.csv", text);
    let out = folder.mercer("train a.csv").fine().out;
    assert!(out.contains("! Column `id` looks like a row number"), "{out}");
    assert!(out.contains("! Classes are unbalanced: 57 rows of usual, 3 of rare."), "{out}");
    let ages: String = (0..60).map(|i| if i == 0 { "x,class\n".into() } else { age(i) }).collect();
    let out = Folder::new().with("a.csv", ages).mercer("train a.csv").fine().out;
    let told = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = "The 15 classes are all numbers: if they are quantities, pass `--task regress`";
    assert!(told.contains(hint), "{out}");
}

fn age(i: i32) -> String {
    format!("{},{}\n", f64::from(i * i % 17) / 3.0, i % 15)
}

#[test]
fn pages_hold_everything_they_show() {
    let folder = trained();
    folder.mercer("train flowers.csv --report train.html -o t.mercer").fine();
    let line = "explain flowers.mercer flowers.csv --report explain.html";
    assert!(
        folder.mercer(line).fine().out.ends_with("explain.html: the same with pictures, for a browser\n")
    );
    assert_eq!(
        folder.mercer("evaluate flowers.csv flowers.mercer --report e.html -q --format json").fine().json()["rows"],
        30
    );
    for (page, pictures) in [("train.html", 4), ("explain.html", 1), ("e.html", 4)] {
        let text = folder.read(page);
        assert_eq!(text.matches("<svg").count(), pictures, "{page}");
        for outside in ["<script", "http:", "https:", "src=\"/"] {
            assert!(!text.contains(outside), "{page} holds {outside}");
        }
    }
    let line = |i: i32| format!("{} 1:{} 2:1 3:0.5 4:{}\n", i % 2, i % 2, 0.1 * f64::from(i));
    let digits: String = (0..12).map(line).collect();
    let folder = Folder::new().with("d.svm", digits);
    folder.mercer("train d.svm --image 2x2 --report d.html -q").fine();
    assert!(folder.read("d.html").contains("data:image/png;base64,"));
    folder
        .mercer("train d.svm --report nowhere/d.html")
        .fails(1, "error: nowhere: No such file or directory (os error 2)\n");
}

#[test]
fn bounds_need_the_training_rows() {
    let folder = trained();
    folder.mercer("bounds flowers.mercer flowers.csv").fine().snapshot("bounds-classes");
    let facts = folder.mercer("bounds flowers.mercer flowers.csv --format json").fine().json();
    let machine = &facts["machines"][0];
    assert!(machine["span"]["rate"].as_f64() <= machine["support"]["rate"].as_f64());
    assert!(machine["vc"]["assumes"].is_string());
    folder.mercer("train flowers.csv --learner ridge -o r.mercer -q").fine();
    folder.mercer("bounds r.mercer flowers.csv").fine().snapshot("bounds-ridge");
    let other = folder.with("few.csv", flowers().lines().take(20).collect::<Vec<_>>().join("\n"));
    let refused = other.mercer("bounds flowers.mercer few.csv");
    assert!(refused.code == 1 && refused.err.contains("trained on"), "{}", refused.err);
}

#[test]
fn two_models_are_compared() {
    let folder = trained();
    folder.mercer("train flowers.csv --kernel linear -c 0.001 -o l.mercer -q").fine();
    folder.mercer("compare flowers.mercer l.mercer flowers.csv").fine().snapshot("compare-classes");
    let facts =
        folder.mercer("compare flowers.mercer flowers.mercer flowers.csv --format json").fine().json();
    assert_eq!((&facts["agree"], &facts["mcnemar"]["p"]), (&1.0.into(), &1.0.into()));
    let houses = houses();
    houses.mercer("train houses.csv -q").fine();
    houses.mercer("train houses.csv --kernel linear -o l.mercer -q").fine();
    houses.mercer("compare houses.mercer l.mercer houses.csv").fine().snapshot("compare-numbers");
}

#[test]
fn an_infinite_cost_is_the_hard_margin_from_training_to_explanation() {
    let folder = Folder::new()
        .with("apart.csv", "x,class\n0,a\n1,a\n4,b\n5,b\n")
        .with("clash.csv", "x,class\n1,a\n1,b\n2,a\n")
        .with("amounts.csv", "x,price\n1,1.5\n2,2.5\n3,3.25\n");
    folder.mercer("train apart.csv -k linear -c inf -o inf.mercer").fine();
    folder.mercer("train apart.csv -k linear --set c=inf --learner svc -o set.mercer").fine();
    folder.mercer("train apart.csv -k linear --learner hard-margin -o hard.mercer").fine();
    let outputs = |model: &str| folder.mercer(&format!("predict apart.csv {model} --decision")).fine().out;
    for model in ["inf.mercer", "set.mercer", "hard.mercer"] {
        assert_eq!(outputs(model), outputs("hard.mercer"), "{model}");
        let told = folder.mercer(&format!("explain {model} --format json")).fine().json();
        assert!(
            told.to_string().contains("\"c\",\"inf\"") || told.to_string().contains("\"c\":\"inf\""),
            "{told}"
        );
        let text = folder.mercer(&format!("explain {model}")).fine().out;
        assert!(text.contains("inf") && !text.contains("null"), "{text}");
        folder.mercer(&format!("explain {model} --report page.html")).fine();
        assert!(!folder.read("page.html").contains(">null<"));
    }
    let clash = folder.mercer("train clash.csv -c inf");
    let hard = folder.mercer("train clash.csv --learner hard-margin");
    assert!(clash.code == 2 && clash.err.contains("two classes overlap"), "{clash:#?}");
    assert_eq!(clash.err, hard.err);
    let amounts = folder.mercer("train amounts.csv --task regress -c inf");
    let words = "c = inf: must be a number above 0; only svc takes inf, which is the hard margin";
    assert!(amounts.code == 2 && amounts.err.contains(words), "{amounts:#?}");
}

#[test]
fn class_names_that_libsvm_would_change_are_refused() {
    let folder = Folder::new().with("a.csv", "x,class\n1,001\n2,7\n1.5,001\n2.5,7\n");
    folder.mercer("train a.csv --scale none -o a.mercer -q").fine();
    let run = folder.mercer("convert a.mercer --to libsvm -o a.model");
    assert!(run.code == 2 && run.err.contains("class name = 001: must be a whole number"), "{run:#?}");
    assert!(!folder.path("a.model").exists());
    let folder = folder.with("b.csv", "x,class\n1,-1\n2,7\n1.5,-1\n2.5,7\n");
    folder.mercer("train b.csv --scale none -o b.mercer -q").fine();
    folder.mercer("convert b.mercer --to libsvm -o b.model -q").fine();
    assert!(folder.read("b.model").contains("label -1 7\n"));
}

#[test]
fn options_of_libsvm_are_understood_or_named() {
    let folder = Folder::new().with("flowers.csv", flowers());
    let told = folder.mercer("train flowers.csv -v 5 -c 1 -g 0.5 --format json").fine().json();
    assert_eq!(told["folds"].as_array().map(Vec::len), Some(5));
    assert_eq!(told["metric"], "error");
    assert!(told["mean"].as_f64().is_some_and(|error| (0.0..0.3).contains(&error)), "{told}");
    assert!(!folder.path("flowers.mercer").exists(), "cross-validation writes no model");
    for (option, here) in [
        ("-t 2", "-k rbf"),
        ("-s 3", "svr"),
        ("-b 1", "--proba"),
        ("-e 0.01", "--tol"),
        ("-p 0.2", "--epsilon"),
        ("-n 0.3", "--nu"),
        ("-m 100", "--memory"),
        ("-d 3", "poly(degree=3)"),
        ("-r 1", "coef0"),
        ("-w1 2", "--class-weight"),
    ] {
        let told = folder.mercer(&format!("train flowers.csv {option}"));
        assert_eq!(told.code, 2, "{option}");
        assert!(told.err.contains("LIBSVM") && told.err.contains(here), "{option}: {}", told.err);
    }
}
