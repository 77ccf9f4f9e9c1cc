//! Every learner by its name, parameters by `--set`, and `mercer cluster`.

use crate::run::Folder;

#[test]
fn each_learner_trains_predicts_evaluates_and_explains() {
    let folder = Folder::new();
    folder.mercer("data toy banana b.csv --rows 80 -q").fine();
    folder.mercer("data toy banana t.csv --rows 60 --seed 5 -q").fine();
    let names = [
        "kfd",
        "kfd-sparse",
        "kfd-lp",
        "kfd-greedy --set centres=10",
        "adaboost --set rounds=10 --set base=stump",
        "arc-gv --set rounds=10",
        "adaboost-reg --set rounds=10 -c 0.1",
        "lpboost --set rounds=10 --nu 0.2",
        "rbf-network --set centres=8",
        "bayes-point --set bounces=500",
        "perceptron",
        "adatron",
        "lp-machine",
        "parzen",
        "knn --set neighbours=3",
        "large --set centres=40",
        "large-logistic --set centres=40 --set place=kmeans",
        "large-hinge --set centres=40 --set place=cholesky --lambda 0.5",
    ];
    for name in names {
        folder.mercer(&format!("train b.csv --learner {name} -o m.mercer -q")).fine();
        assert_eq!(folder.mercer("predict t.csv m.mercer").fine().out.lines().count(), 60, "{name}");
        let json = folder.mercer("evaluate t.csv m.mercer --format json").fine().json();
        assert!(json["error"].as_f64().expect("an error") < 0.35, "{name}: {json}");
        let seen =
            folder.mercer("explain m.mercer b.csv --importance t.csv --repeats 1 --report e.html").fine().out;
        assert!(seen.contains("Partial dependence on these columns"), "{name}: {seen}");
        assert!(folder.read("e.html").contains("matters most"), "{name}");
        assert!(seen.contains(name.split(' ').next().unwrap_or(name)), "{name}: {seen}");
    }
    let odd = folder.mercer("train b.csv --learner kfd --set centre=3 -q");
    assert!(odd.code == 2 && odd.err.contains("kfd has no parameter centre"), "{odd:?}");
    let nobody = folder.mercer("train b.csv --set centres=3 -q");
    assert!(nobody.code == 2 && nobody.err.contains("needs --learner"), "{nobody:?}");
}

#[test]
fn a_single_cluster_holds_every_row() {
    let folder = Folder::new();
    folder.mercer("data toy clusters c.csv --rows 30 -q").fine();
    folder.mercer("cluster c.csv -n 1 -o g.mercer --label label -q").fine();
    folder.mercer("predict c.csv g.mercer -o p.csv -q").fine();
    let told = folder.read("p.csv");
    assert!(told.lines().skip(1).count() == 30 && told.lines().skip(1).all(|line| line == "1"), "{told}");
    folder.mercer("explain g.mercer c.csv -q").fine();
    // Outliers and clusters need no labels; features predict nothing.
    folder.mercer("novelty c.csv -o n.mercer -q").fine();
    for model in ["g.mercer", "n.mercer"] {
        let seen = folder.mercer(&format!("explain {model} --importance c.csv")).fine().out;
        assert!(seen.contains("Fraction of predictions on 30 rows that change"), "{model}: {seen}");
    }
    folder.mercer("pca fit c.csv -o k.mercer --components 2 -q").fine();
    assert_eq!(folder.mercer("explain k.mercer --importance c.csv").code, 1);
    folder.mercer("evaluate c.csv g.mercer -q").fine();
    folder.mercer("convert g.mercer --to onnx -o g.onnx -q").fine();
    folder.mercer("compress g.mercer --vectors 3 -o s.mercer -q").fine();
}

#[test]
fn clusters_are_found_and_answered() {
    let folder = Folder::new();
    folder.mercer("data toy clusters c.csv --rows 90 -q").fine();
    folder
        .mercer("cluster c.csv -n 3 -o g.mercer --label label")
        .fine()
        .without("trained")
        .snapshot("cluster");
    let json = folder.mercer("evaluate c.csv g.mercer --format json").fine().json();
    assert_eq!(json["purity"], 1.0);
    folder.mercer("evaluate c.csv g.mercer").fine().snapshot("evaluate-clusters");
    let answers = folder.mercer("predict c.csv g.mercer").fine().out;
    let answers: Vec<&str> = answers.lines().collect();
    assert!((0..90).all(|i| answers[i] == answers[i % 3]));
    folder.mercer("explain g.mercer").fine();
}
