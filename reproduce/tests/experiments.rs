//! Every experiment of the table: its entry, what it says without data, and, where `MERCER_DATA` (or `data/local`) has the
//! data, a run on the first rows.
#![expect(clippy::print_stderr, reason = "a test that cannot run here says so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mercer::Exec;
use mercer_reproduce::{ALL, Chosen, Experiment, Lab, List, Outcome, Row, Settings, data, find, run};
use serde_json::Value;

fn settings(folder: &Path) -> Settings {
    Settings { exec: Exec::new(2), folder: folder.to_owned(), rows: Some(200), ..Settings::default() }
}

fn ran(experiment: &Experiment, folder: &Path) -> mercer::Result<Outcome> {
    run(experiment, &mut Lab::new(settings(folder), &mut mercer::watch::silent()))
}

/// An experiment on the first rows, where its data is there.
fn small(name: &str) -> Option<Outcome> {
    let local = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/local");
    let folder = std::env::var_os("MERCER_DATA").map_or_else(|| PathBuf::from(local), PathBuf::from);
    let experiment = find(name).expect("a name of the table");
    if let Err(missing) = data::check(experiment.needs, &folder) {
        eprintln!("skipped: {missing}");
        return None;
    }
    let outcome = ran(experiment, &folder).expect("good data");
    let labels: BTreeSet<String> = outcome.rows.iter().map(mercer_reproduce::Row::label).collect();
    assert_eq!(labels.len(), outcome.rows.len(), "two rows of {name} have one label");
    let json: Value = serde_json::from_str(&mercer_report::json(&outcome)).expect("JSON");
    assert_eq!(keys(&json), ["name", "rows", "seconds"]);
    for row in json["rows"].as_array().expect("rows") {
        assert_eq!(keys(row), ["better", "chosen", "label", "mercer", "paper", "unit"]);
        assert!(row["mercer"].is_number(), "{row}");
    }
    let text = mercer_report::text(&outcome, false);
    assert!(text.starts_with(name) && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    Some(outcome)
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn names_are_unique_and_entries_are_whole() {
    let names: BTreeSet<&str> = ALL.iter().map(|e| e.name).collect();
    assert_eq!(names.len(), ALL.len());
    for e in ALL {
        assert!(e.seconds <= 120, "{}: the default is for two minutes", e.name);
        assert!(e.needs.iter().all(|set| e.needs_full.contains(set)), "{}", e.name);
        assert!(!e.shows.ends_with('.') && e.paper.contains(|c: char| c.is_ascii_digit()), "{}", e.name);
    }
    assert!(find("no-such").expect_err("no such name").to_string().contains("one of usps-kernels"));
}

#[test]
fn missing_data_is_named_file_by_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("usps")).expect("a fresh folder");
    std::fs::write(folder.path().join("usps/usps.train.svm.xz"), b"").expect("a fresh folder");
    let message = ran(find("usps-kernels").expect("in the table"), folder.path()).expect_err("no test file");
    let place = folder.path().display();
    assert!(
        message.to_string().starts_with(&format!(
            "the USPS digits were not found: no usps/usps.test.svm.xz in {place}; set MERCER_DATA to the folder that contains \
             them. Origin: zip.train and zip.test"
        )),
        "{message}"
    );
    let message = ran(find("reject").expect("in the table"), folder.path()).expect_err("no file");
    assert!(
        message
            .to_string()
            .starts_with("the MNIST digits were not found: no mnist/train-images-idx3-ubyte.gz, no ")
    );
}

#[test]
fn a_run_can_be_broken_off() {
    let Some(folder) = std::env::var_os("MERCER_DATA").map(PathBuf::from) else { return };
    let experiment = find("one-class").expect("in the table");
    if data::check(experiment.needs, &folder).is_err() {
        return;
    }
    let mut steps = 0;
    let mut watch = |_: &mercer::watch::Step| {
        steps += 1;
        if steps < 3 { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
    };
    let broken = run(experiment, &mut Lab::new(settings(&folder), &mut watch));
    assert!(matches!(broken, Err(mercer::Error::Cancelled)), "{broken:?}");
}

#[test]
fn the_list_names_every_experiment() {
    let text = mercer_report::text(&List, false);
    let json: Value = serde_json::from_str(&mercer_report::json(&List)).expect("JSON");
    for (line, e) in json.as_array().expect("a list").iter().zip(ALL) {
        assert_eq!(line["name"], e.name);
        assert!(text.contains(e.name) && text.contains(e.paper));
    }
}

#[test]
fn usps_kernels_scans_and_validates() {
    let Some(outcome) = small("usps-kernels") else { return };
    // The whole scan at C = 10, and again with C chosen; each an error and a number of support vectors.
    assert_eq!(outcome.rows.len(), 2 * 2 * (7 + 7 + 17));
    let chosen = |row: &&Row| row.chosen == Chosen::Validation;
    assert_eq!(outcome.rows.iter().filter(chosen).count(), 2 * (7 + 7 + 17));
    assert!(outcome.rows.iter().all(|row| row.paper.is_none()), "the paper did not take the first rows");
    // Two hundred digits teach something: guessing would be wrong nine times in ten.
    let error = |name: &str| outcome.rows.iter().find(|r| r.label() == name).expect("a row").mercer;
    assert!(error("smoothed, rbf c=0.5: test error") < 30.0);
    assert!(error("smoothed, poly d=3: test error") < 30.0);
}

#[test]
fn prior_knowledge_is_no_hindrance() {
    let Some(outcome) = small("local-kernels") else { return };
    // C = 10 on both sets, C by validation on the USPS digits and for the polynomials of the other set.
    assert_eq!(outcome.rows.len(), 2 * (4 + 5 + 4 + 2));
    assert!(outcome.rows.iter().filter(|r| r.quantity == "test error").all(|r| r.mercer < 30.0));
    let Some(outcome) = small("objects") else { return };
    assert!(outcome.rows.iter().all(|r| r.mercer < 40.0), "{:?}", outcome.rows);
    let Some(outcome) = small("dna") else { return };
    let errors: Vec<_> = outcome.rows.iter().filter(|r| r.quantity == "test error").collect();
    assert!(errors.len() == 5 && errors.iter().all(|r| r.mercer < 40.0), "{errors:?}");
}

#[test]
fn virtual_vectors_and_invariant_hyperplanes_help_few_digits() {
    let errors = |outcome: &Outcome, group: &str| -> Vec<(String, f64)> {
        let rows = outcome.rows.iter().filter(|r| r.quantity == "test error" && r.group.starts_with(group));
        let rows = rows.filter(|r| !r.group.contains("C=50") && !r.group.contains("validation"));
        rows.map(|r| (r.setting.clone(), r.mercer)).collect()
    };
    let Some(usps) = small("virtual-sv-usps") else { return };
    for copy in ["smoothed", "raw"] {
        let all = errors(&usps, copy);
        for (plain, kernel) in all.iter().filter(|(s, _)| !s.contains(',')).map(|(s, e)| (*e, s)) {
            let moved = all.iter().filter(|(s, _)| s.starts_with(&format!("{kernel},")));
            assert!(moved.clone().count() >= 2 && moved.clone().all(|(_, e)| *e < plain), "{copy}: {all:?}");
        }
    }
    let Some(mnist) = small("virtual-sv-mnist") else { return };
    let all = errors(&mnist, "200");
    assert!(all.len() == 5 && all[1..].iter().all(|(_, e)| *e < all[0].1), "{all:?}");
    let Some(few) = small("vsv-reduced-set") else { return };
    for group in ["poly", "k_7"] {
        let (all, values) =
            (errors(&few, group), few.rows.iter().filter(|r| r.quantity == "kernel values per digit"));
        let values: Vec<f64> = values.filter(|r| r.group.starts_with(group)).map(|r| r.mercer).collect();
        assert!(all.len() >= 2 && all[1..].iter().all(|(_, e)| *e < all[0].1 + 15.0), "{all:?}");
        // Twenty times fewer a machine; machines had some in common before.
        assert!(values[1..].iter().all(|v| 8.0 * v < values[0]), "{values:?}");
    }
    let Some(plane) = small("invariant-hyperplane") else { return };
    for group in ["poly d=4, by lambda", "poly d=4, in feature space"] {
        let changes = plane.rows.iter().filter(|r| r.group == group && r.quantity == "change under shifts");
        let mut changes: Vec<(f64, f64)> =
            changes.map(|r| (r.setting["lambda=".len()..].parse().expect("a number"), r.mercer)).collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(changes.len() >= 2 && changes.windows(2).all(|w| w[0].1 < w[1].1), "{group}: {changes:?}");
    }
}

#[test]
fn sv_overlap_is_large() {
    let Some(outcome) = small("sv-overlap") else { return };
    let overlaps: Vec<f64> =
        outcome.rows.iter().filter(|r| r.quantity.starts_with("SVs of")).map(|r| r.mercer).collect();
    assert!(overlaps.iter().all(|share| (0.0..=100.0).contains(share)));
    let mean = overlaps.iter().sum::<f64>() / overlaps.len() as f64;
    assert!(mean > 50.0, "{mean}");
}

#[test]
fn bounds_choose_and_estimate() {
    let Some(outcome) = small("vc-degree") else { return };
    let degrees: Vec<f64> =
        outcome.rows.iter().filter(|r| r.quantity == "degree").map(|r| r.mercer).collect();
    assert!(degrees.len() == 60 && degrees.iter().all(|d| (2.0..=7.0).contains(d)), "{degrees:?}");
    let total = |group: &str, quantity: &str| {
        let row = outcome
            .rows
            .iter()
            .find(|r| r.setting == "all ten" && r.group.contains(group) && r.quantity == quantity);
        row.expect("a row").mercer
    };
    assert!(total("C by degree", "errors") >= total("C by degree", "best of 1-7"));
    let Some(outcome) = small("auto-c") else { return };
    assert_eq!(outcome.rows.len(), 3 * (6 * 4 + 10 * 5) + 1);
    // Without training errors there is nothing to choose yet: two hundred digits teach something.
    let start = outcome.rows.iter().find(|r| r.quantity == "ten classes").expect("a row").mercer;
    assert!(start < 50.0, "{start}");
    let Some(outcome) = small("span") else { return };
    let correlation = outcome.rows.iter().find(|r| r.quantity == "correlation").expect("a row").mercer;
    assert!((0.5..=1.0).contains(&correlation), "{correlation}");
}

#[test]
fn rejecting_lowers_the_error() {
    let Some(outcome) = small("reject") else { return };
    let [error, rejected, support] = outcome.rows.as_slice() else { panic!("three rows") };
    assert!(error.mercer < 40.0 && rejected.mercer >= error.mercer - 0.5, "{error:?} {rejected:?}");
    assert!(support.mercer > 1.0 && support.mercer < 200.0);
}

#[test]
fn nu_bounds_outliers_and_support_vectors() {
    let Some(outcome) = small("one-class") else { return };
    let digits: Vec<_> = outcome.rows.iter().filter(|r| r.group != "toy").collect();
    let bound = |label: &str| -> f64 {
        let (_, after) = label.split_once("nu=").expect("a share");
        100.0 * after.split([',', ':']).next().and_then(|nu| nu.parse::<f64>().ok()).expect("a number")
    };
    for row in digits.iter().filter(|r| r.quantity == "outliers") {
        assert!(row.mercer <= bound(&row.label()), "{row:?}");
    }
    for row in digits.iter().filter(|r| r.quantity == "SVs") {
        assert!(row.mercer >= bound(&row.label()), "{row:?}");
    }
    let all = outcome.rows.last().expect("rows");
    assert_eq!((all.quantity, all.mercer), ("both bounds hold", 100.0));
    let corner: Vec<f64> =
        outcome.rows.iter().filter(|r| r.quantity == "corner left out").map(|r| r.mercer).collect();
    assert!(corner[0] > 80.0, "a large nu leaves the corner out: {corner:?}");
    assert!(corner[1] < 20.0 && corner[2] < corner[0], "a small nu, or a small width, does not: {corner:?}");
}

#[test]
fn components_of_toys_are_what_the_pictures_show() {
    let Some(outcome) = small("kpca-toys") else { return };
    let value = |name: &str| outcome.rows.iter().find(|r| r.label() == name).expect(name).mercer;
    for degree in 1..=4 {
        assert_eq!(value(&format!("parabola, degree {degree}: components")), f64::from(degree + 1));
    }
    assert!(value("parabola, degree 2: across, most of three") > 0.6);
    for component in 1..=2 {
        assert!(value(&format!("clusters, Gaussian, component {component}: between clusters")) > 0.9);
    }
    let rebuilt = |what: &str| value(&format!("rebuilt, {what}: squared distance"));
    assert!(rebuilt("2 of the Gaussian's") < 0.5 * rebuilt("as they are"));
    assert!(rebuilt("2 of the Gaussian's") < rebuilt("8 of the Gaussian's"));
    assert!(rebuilt("1 linear") > rebuilt("as they are"));
    // Degree 1 has two components, the others three maps; the clusters eight under each kernel.
    assert_eq!(outcome.figures.len(), 2 + 3 * 3 + 2 * 8);
}

#[test]
fn kernel_components_find_sources_and_curves() {
    let Some(outcome) = small("denoise-gaussians") else { return };
    assert_eq!(outcome.rows.len(), 5 * 2 * 9);
    let first: Vec<f64> =
        outcome.rows.iter().filter(|r| r.group == "sigma 0.05, width 20 sigma^2").map(|r| r.mercer).collect();
    assert!(first.iter().all(|ratio| *ratio > 5.0), "{first:?}");
    let Some(outcome) = small("denoise-curves") else { return };
    for curve in ["half circle", "square"] {
        let off = |what: &str| {
            let name = format!("{curve}, {what}: distance");
            outcome.rows.iter().find(|r| r.label() == name).expect("a row").mercer
        };
        assert!(off("kernel, 4 components") < off("as they are"), "{curve}");
        assert!(off("kernel, 4 components") < 0.5 * off("linear, 1 component"), "{curve}");
    }
    assert_eq!(outcome.figures.len(), 2 * 3);
}

#[test]
fn digits_come_back_and_are_told_apart_by_components() {
    let Some(outcome) = small("denoise-usps") else { return };
    assert!(outcome.rows.iter().all(|r| r.paper.is_none() && r.mercer > 0.0));
    let page = outcome.page().html();
    for picture in
        ["Variance of each component", "Pre-images of kernel", "With speckle noise", "Errors, gaussian"]
    {
        assert!(page.contains(picture), "{picture}");
    }
    let Some(outcome) = small("kpca-usps") else { return };
    assert!(outcome.rows.iter().all(|r| r.paper.is_none() && r.mercer < 60.0), "{:?}", outcome.rows);
}

#[test]
fn reduced_sets_lose_less_the_more_vectors_they_have() {
    for name in ["rs-construction", "rs-selection-kpca", "rs-selection-l1"] {
        let Some(outcome) = small(name) else { return };
        let off: Vec<_> = outcome.rows.iter().filter(|r| r.quantity.starts_with("|Psi")).collect();
        assert!(off.iter().all(|r| (0.0..=100.0).contains(&r.mercer)), "{off:?}");
        for pair in off.windows(2).filter(|p| p[0].group == p[1].group && p[0].group != "shared by all ten") {
            assert!(pair[1].mercer <= pair[0].mercer, "{pair:?}");
        }
        let errors = outcome.rows.iter().filter(|r| r.quantity == "test error");
        assert!(errors.clone().count() > 3 && errors.clone().all(|r| r.mercer < 80.0), "{name}");
    }
}

#[test]
fn learners_beside_support_vector_machines() {
    let Some(outcome) = small("ida") else { return };
    assert_eq!(outcome.rows.len(), 10);
    assert!(outcome.rows.iter().filter(|r| r.quantity == "test error").all(|r| r.mercer < 35.0));
    let Some(outcome) = small("fisher") else { return };
    let centres = |form: &str| {
        outcome
            .rows
            .iter()
            .find(|r| r.setting == form && r.quantity == "centres" && r.group == "heart")
            .expect("a form")
            .mercer
    };
    assert!(centres("sparse") < 0.5 * centres("closed") && centres("greedy") < centres("closed"));
    let Some(outcome) = small("rbf-networks") else { return };
    assert_eq!(outcome.rows.len(), 10 + 3 * 10 + 3 * 2);
}
