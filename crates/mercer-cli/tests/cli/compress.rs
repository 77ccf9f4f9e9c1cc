//! `mercer compress`.

use crate::learn::flowers;
use crate::run::Folder;

#[test]
fn a_model_becomes_smaller_and_says_by_how_much() {
    let folder = Folder::new().with("flowers.csv", flowers());
    folder.mercer("train flowers.csv --auto off -q").fine();
    let line = "compress flowers.mercer flowers.csv --vectors 4 -o small.mercer";
    // Times and bytes decide how wide the table is: no snapshot.
    let told = folder.mercer(line).fine().out;
    for wanted in ["compressed by fixed-point", "smaller by", "2.0 times", "agreement", "✓ small.mercer"] {
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

#[test]
fn a_libsvm_model_stays_one_and_a_page_shows_what_sizes_cost() {
    // LIBSVM's classes are numbers.
    let numbers = ["iris", "lily", "rose"]
        .iter()
        .enumerate()
        .fold(flowers(), |text, (i, name)| text.replace(name, &(i + 1).to_string()));
    let folder = Folder::new().with("flowers.csv", flowers()).with("numbers.csv", numbers);
    folder.mercer("train flowers.csv -q").fine();
    folder.mercer("train numbers.csv --scale none --learner svc -o whole.mercer -q").fine();
    folder.mercer("convert whole.mercer --to libsvm -o whole.model -q").fine();
    // LIBSVM's files do not hold C, and a guess would be another machine.
    let run = folder.mercer("compress whole.model numbers.csv --ratio 3 --retrain -o small.model");
    let why = "error: c = none: must be given to retrain this model: its file does not hold it\n\
               hint: pass the C that the model was trained with: -c C\n";
    run.fails(2, why);
    let line = "compress whole.model numbers.csv --ratio 3 --retrain -c 1 -o small.model --format json";
    let told = folder.mercer(line).fine().json();
    let text = std::fs::read_to_string(folder.path("small.model")).expect("a file");
    let total = format!("total_sv {}\n", told["after"]);
    assert!(text.starts_with("svm_type c_svc\n") && text.contains(&total), "{told} {text}");
    let told = folder.mercer("evaluate numbers.csv small.model --format json").fine().json();
    assert!(told["error"].as_f64().expect("an error") < 0.1, "{told}");
    let line =
        "compress flowers.mercer flowers.csv --vectors 6 --report page.html -o small.mercer --format json";
    let told = folder.mercer(line).fine().json();
    let curve = told["curve"].as_array().expect("sizes");
    let sizes: Vec<u64> = curve.iter().map(|t| t["centres"].as_u64().expect("a number")).collect();
    assert!(sizes.len() > 2 && sizes.is_sorted() && sizes.contains(&6), "{told}");
    let page = std::fs::read_to_string(folder.path("page.html")).expect("a page");
    assert!(page.contains("Accuracy by size") && page.contains("<svg"), "{page}");
    let run = folder.mercer("compress flowers.mercer --retrain -o a.mercer");
    assert!(run.code == 2, "{}", run.err);
}

#[test]
fn a_kernel_that_is_not_positive_definite_is_compressed_and_times_are_not_made_up() {
    let folder = Folder::new();
    folder.mercer("data toy banana banana.csv -q").fine();
    for kernel in ["sigmoid(scale=0.1,shift=-2)", "-1*multiquadric(c=1)"] {
        let line = ["train", "banana.csv", "-k", kernel, "-o", "whole.mercer", "-q"];
        folder.mercer_args(&line).fine();
        let told = folder.mercer("compress whole.mercer -o small.mercer").fine().out;
        assert!(told.contains("compressed by greedy") && told.contains("of the outputs at"), "{told}");
        let words: Vec<&str> = told.split_whitespace().collect();
        let less = words.windows(2).find(|w| w[0].starts_with("0.") && w[1] == "times");
        assert!(less.is_none(), "{less:?} in {told}");
        let told =
            folder.mercer("compress whole.mercer banana.csv -o small.mercer --format json").fine().json();
        assert!(told["agreement"].as_f64().expect("a share") > 0.9, "{told}");
        assert_eq!(told["by_outputs"].as_bool(), Some(true), "{told}");
        for method in ["fixed-point", "gradient", "moved", "exact", "kpca", "l1"] {
            let run = folder.mercer(&format!("compress whole.mercer --method {method} -o a.mercer"));
            assert!(run.code != 0 && run.err.contains("requires a positive definite kernel"), "{}", run.err);
        }
    }
}

#[test]
fn a_model_without_centres_predicts_and_is_not_compressed() {
    let folder = Folder::new();
    folder.mercer("data toy banana banana.csv -q").fine();
    folder.mercer("train banana.csv --tol 100 -o none.mercer -q").fine();
    for line in
        ["predict banana.csv none.mercer", "explain none.mercer banana.csv", "bounds none.mercer banana.csv"]
    {
        folder.mercer(line).fine();
    }
    let run = folder.mercer("compress none.mercer -o a.mercer");
    assert!(run.code == 1 && run.err.contains("there is nothing to compress"), "{} {}", run.code, run.err);
}

#[test]
fn machines_without_a_finite_cost_are_retrained_with_a_given_one() {
    let folder = Folder::new().with("flowers.csv", flowers());
    for (learner, why) in
        [("nu-svc --nu 0.1", "a nu machine has none"), ("svc -c inf", "a hard margin has none")]
    {
        folder
            .mercer(&format!("train flowers.csv --learner {learner} --gamma 5 -o m.mercer -q --force"))
            .fine();
        let run = folder.mercer("compress m.mercer flowers.csv --vectors 6 --retrain -o s.mercer");
        assert!(run.code == 2 && run.err.contains(why) && run.err.contains("-c C"), "{run:#?}");
        let line = "compress m.mercer flowers.csv --vectors 6 --retrain -c 10 -o s.mercer";
        let told = folder.mercer(line).fine().out;
        assert!(told.contains("C = 10"), "{told}");
    }
    let run = folder.mercer("compress m.mercer flowers.csv --retrain -c 0 -o s.mercer");
    assert!(run.code == 2 && run.err.contains("c = 0: must be a number above 0"), "{run:#?}");
}
