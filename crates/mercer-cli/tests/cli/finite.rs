//! A row that a model has no finite output for is an error that names it, never a class.

use mercer::model::Learner;

use crate::run::Folder;

#[test]
fn every_learner_names_the_row_it_has_no_output_for() {
    let folder = Folder::new();
    folder.mercer("data toy banana b.csv --rows 40 -q").fine();
    let row = |i: usize| format!("{},{},{}\n", i % 7, i % 5, (i as f64 * 0.4).sin());
    let table: String = (0..30).map(row).collect();
    let folder = folder
        .with("r.csv", format!("x1,x2,target\n{table}"))
        .with("wide.csv", "x1,x2\n0.5,0.5\n1e200,1e200\n")
        .with("wide.svm", "1:0.5 2:0.5\n1:1e200 2:1e200\n");
    let lines = [
        "svc",
        "nu-svc --nu 0.1",
        "ridge",
        "kfd",
        "kfd-sparse",
        "kfd-lp",
        "kfd-greedy --set centres=10",
        "lp-machine",
        "perceptron",
        "adatron",
        "bayes-point --set bounces=100",
        "parzen",
        "knn --set neighbours=3",
        "large",
        "large-logistic",
        "large-hinge",
        "one-class",
        "sphere",
    ];
    // Votes, networks and clusters are finite wherever a row lies; the hard margin is a svc.
    let bounded = ["hard-margin", "adaboost", "arc-gv", "adaboost-reg", "lpboost", "rbf-network", "kmeans"];
    let reals = ["svr", "nu-svr", "huber", "laplace", "ridge", "kfd", "knn", "large"];
    for entry in Learner::ALL {
        let tried = lines.iter().chain(&reals).any(|line| line.split(' ').next() == Some(entry.name));
        assert!(tried != bounded.contains(&entry.name), "{} is in no list, or in both", entry.name);
    }
    let classes = lines.iter().map(|name| ("b.csv", *name));
    let numbers = reals.iter().map(|name| ("r.csv", *name));
    for (data, name) in classes.chain(numbers) {
        let line = format!("train {data} --learner {name} --scale none -o m.mercer -q");
        let mut args: Vec<&str> = line.split_whitespace().collect();
        args.extend(["--kernel", "poly(degree=5)"]);
        folder.mercer_args(&args).fine();
        for rows in ["wide.csv", "wide.svm"] {
            for extra in ["", " --decision", " --format json"] {
                let run = folder.mercer(&format!("predict {rows} m.mercer{extra}"));
                assert!(run.code == 1 && run.out.is_empty(), "{name} on {rows}{extra}: {run:?}");
                assert!(run.err.starts_with("error: row 2: got "), "{name} on {rows}{extra}: {run:?}");
                assert!(run.err.contains("expected a finite number"), "{name} on {rows}{extra}: {run:?}");
            }
        }
    }
}
