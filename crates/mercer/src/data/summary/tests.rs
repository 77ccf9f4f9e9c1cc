//! Each suspicious thing is found, and ordinary data is left in peace.

use mercer_testkit::assert::close;

use super::*;
use crate::data::{Csr, Labels};

fn classes(names: &[&str]) -> Targets {
    Targets::Classes(Labels::new(names))
}

/// Rows that carry a little of everything: an id, a constant, a leak, a wide column.
fn suspicious() -> (Points, Targets) {
    let rows = 24;
    let value = |i: usize| {
        let (id, constant, leak) = (100 + (7 * i) % rows, 3, i % 2);
        [id as f64, f64::from(constant), leak as f64, (i as f64).sin(), 1e4 * (1.7 * i as f64).cos()]
    };
    let names: Vec<String> = (0..rows).map(|i| (i % 2).to_string()).collect();
    let points = Points::dense((0..rows).flat_map(value).collect(), 5).expect("five columns");
    (points, Targets::Classes(Labels::new(names)))
}

#[test]
fn each_suspicious_thing_is_found_and_gravest_first() {
    let (points, targets) = suspicious();
    let summary = Summary::new(&points, &targets);
    let kinds: Vec<u8> = summary.findings.iter().map(Finding::rank).collect();
    assert!(kinds.is_sorted(), "{kinds:?}");
    assert!(summary.findings.contains(&Finding::Leak { column: 2 }));
    assert!(summary.findings.contains(&Finding::RowNumbers { column: 0 }));
    assert!(summary.findings.contains(&Finding::ConstantColumns { count: 1, first: vec![1] }));
    assert!(summary.findings.iter().any(|f| matches!(f, Finding::Scales { wide: 4, .. })));
    assert_eq!(summary.findings.len(), 4, "{:?}", summary.findings);
}

#[test]
fn ordinary_data_is_left_in_peace() {
    let values: Vec<f64> = (0..60).map(|i| (f64::from(i) * 1.3).sin()).collect();
    let points = Points::dense(values, 3).expect("three columns");
    let names: Vec<&str> = (0..20).map(|i| if i % 3 == 0 { "yes" } else { "no" }).collect();
    assert_eq!(Summary::new(&points, &classes(&names)).findings, []);
}

#[test]
fn sparse_and_dense_facts_agree() {
    let csr = Csr {
        start: vec![0, 2, 3, 3, 5],
        column: vec![0, 4, 1, 0, 4],
        value: vec![1.0, -2.0, 3.0, 5.0, 0.5],
    };
    let sparse = Points::sparse(csr, 6).expect("valid rows");
    let dense = sparse.to_dense().expect("numbers");
    let (a, b) = (Summary::new(&sparse, &Targets::None), Summary::new(&dense, &Targets::None));
    assert_eq!(a.findings, b.findings);
    close(a.density, b.density, 1e-15);
    let (va, vb) = (a.values.expect("numbers"), b.values.expect("numbers"));
    for (x, y) in [(va.min, vb.min), (va.max, vb.max), (va.mean, vb.mean), (va.std, vb.std)] {
        close(x, y, 1e-14);
    }
    for column in &a.each {
        let other = b.each[column.column].spread;
        close(column.spread.mean, other.mean, 1e-14);
        close(column.spread.std, other.std, 1e-14);
        assert_eq!((column.spread.min, column.spread.max), (other.min, other.max));
    }
}

#[test]
fn a_million_million_cells_of_nothing_cost_nothing() {
    let csr = Csr { start: vec![0, 1, 2], column: vec![7, u32::MAX - 1], value: vec![1.0, 2.0] };
    let points = Points::sparse(csr, u32::MAX as usize).expect("valid rows");
    let summary = Summary::new(&points, &Targets::None);
    assert_eq!(summary.each.len(), 2);
    let count = u32::MAX as usize - 2;
    assert!(
        summary.findings.contains(&Finding::ConstantColumns { count, first: vec![0, 1, 2, 3, 4, 5, 6, 8] })
    );
}

#[test]
fn spreads_are_those_of_the_definition() {
    let summary = Summary::new(
        &Points::dense(vec![1.0, 10.0, 2.0, 30.0, 6.0, 20.0], 2).expect("two columns"),
        &Targets::Reals(vec![1.0, 2.0, 6.0]),
    );
    let spread = Spread { min: 1.0, max: 6.0, mean: 3.0, std: (14.0f64 / 3.0).sqrt() };
    assert_eq!(summary.each[0].spread, spread);
    assert_eq!(summary.targets, TargetFacts::Reals(spread));
    close(summary.values.expect("numbers").mean, 11.5, 1e-15);
}

#[test]
fn classes_out_of_balance_or_alone_are_told() {
    let points = Points::dense((0..40).map(|i| f64::from(i).sin()).collect(), 1).expect("one column");
    let mut names = vec!["common"; 40];
    let alone = Summary::new(&points, &classes(&names));
    assert_eq!(alone.findings, [Finding::OneClass { name: "common".into() }]);
    names[3] = "rare";
    let rare = ClassCount { name: "rare".into(), rows: 1 };
    let common = ClassCount { name: "common".into(), rows: 39 };
    assert_eq!(
        Summary::new(&points, &classes(&names)).findings,
        [
            Finding::Unbalanced { largest: common, smallest: rare.clone() },
            Finding::FewRows { count: 1, first: rare }
        ]
    );
    let numbers: Vec<String> = (0..40).map(|i| format!("{}", f64::from(i) * 0.1)).collect();
    let many = Summary::new(&points, &Targets::Classes(Labels::new(numbers)));
    assert_eq!(many.findings, [Finding::ManyClasses { count: 40 }]);
}

#[test]
fn not_finite_values_are_told_not_fatal() {
    let points = Points::dense(vec![1.0, f64::NAN, 2.0, 3.0], 2).expect("two columns");
    let summary = Summary::new(&points, &Targets::None);
    assert_eq!(summary.findings[0], Finding::NotFinite { row: 0, column: 1 });
}

#[test]
fn nothing_at_all_is_fine() {
    let points = Points::sparse(Csr { start: vec![0], ..Csr::default() }, 3).expect("no rows");
    let summary = Summary::new(&points, &Targets::None);
    assert_eq!((summary.rows, summary.columns, summary.findings.len()), (0, 3, 0));
}

#[test]
fn clusters_so_far_apart_that_rounding_hides_their_insides_are_told_and_offsets_are_not() {
    let rows = |centre: &dyn Fn(usize) -> f64| {
        let value = |i: usize| [centre(i) + (1.7 * i as f64).sin(), (0.9 * i as f64).cos()];
        Points::dense((0..40).flat_map(value).collect(), 2).expect("two columns")
    };
    let told = |points: &Points| {
        let found = Summary::new(points, &Targets::None).findings;
        found.into_iter().find(|f| matches!(f, Finding::FarApart { .. }))
    };
    let apart = rows(&|i| if i % 2 == 0 { 1e8 } else { -1e8 });
    let Some(Finding::FarApart { spread, neighbour, lost }) = told(&apart) else { panic!("two clusters") };
    close(spread / 1e8, 1.0, 1e-3);
    assert!(neighbour < 1.0 && lost > 1.0, "{neighbour} {lost}");
    let csr = Csr {
        start: (0..=40).collect(),
        column: vec![0; 40],
        value: apart.view().to_f64().expect("numbers").chunks(2).map(|r| r[0]).collect(),
    };
    assert!(told(&Points::sparse(csr, 1).expect("valid rows")).is_some());
    // One offset for all rows, clusters that are only 1000 apart, and a lone outlier leave neighbours as they are.
    assert_eq!(told(&rows(&|_| 1e8)), None);
    assert_eq!(told(&rows(&|i| if i % 2 == 0 { 1e3 } else { -1e3 })), None);
    assert_eq!(told(&rows(&|i| if i == 7 { 1e5 } else { 0.0 })), None);
}
