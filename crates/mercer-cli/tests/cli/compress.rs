//! `mercer compress`.

use crate::learn::flowers;
use crate::run::Folder;

#[test]
fn a_model_becomes_smaller_and_says_by_how_much() {
    let folder = Folder::new().with("flowers.csv", flowers());
    folder.mercer("train flowers.csv -q").fine();
    let line = "compress flowers.mercer flowers.csv --vectors 4 -o small.mercer";
    // Times and bytes decide how wide the table is: no snapshot.
    let told = folder.mercer(line).fine().out;
    for wanted in ["compressed by fixed-point", "smaller by", "3.0 times", "agreement", "✓ small.mercer"] {
        assert!(told.contains(wanted), "no `{wanted}` in {told}");
    }
    let told = folder.mercer("evaluate flowers.csv small.mercer --format json").fine().json();
    assert!(told["error"].as_f64().expect("an error") < 0.1, "{told}");
    let line = "compress flowers.mercer --ratio 3 --method greedy -o b.mercer --format json";
    let told = folder.mercer(line).fine().json();
    assert_eq!((told["method"].as_str(), told["given"].as_bool()), (Some("greedy"), Some(false)));
    let [before, after] = ["whole", "small"].map(|w| told[w]["centres"].as_u64().expect("a number"));
    assert!(after < before && after > 0, "{told}");
    let line = "compress flowers.mercer flowers.csv --agreement 0.95 --method l1 -o c.mercer --format json";
    let told = folder.mercer(line).fine().json();
    assert!(told["agreement"].as_f64().expect("a share") >= 0.95, "{told}");
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let folder = Folder::new().with("flowers.csv", flowers());
    folder.mercer("train flowers.csv -q").fine();
    let run = folder.mercer("compress flowers.mercer --vectors 0 -o a.mercer");
    assert!(run.code != 0 && run.err.contains("vectors = 0: must be at least 1"), "{}", run.err);
    let run = folder.mercer("compress flowers.mercer --method square -o a.mercer");
    assert!(run.code != 0 && run.err.contains("method square is for (x.y)^2"), "{}", run.err);
    let run = folder.mercer("compress flowers.mercer --method best -o a.mercer");
    assert!(run.code == 2 && run.err.contains("must be one of auto, fixed-point"), "{}", run.err);
    let run = folder.mercer("compress flowers.mercer --vectors 3 --ratio 2 -o a.mercer");
    assert!(run.code == 2 && run.err.contains("cannot be used with"), "{}", run.err);
    assert!(!folder.path("a.mercer").exists());
}
