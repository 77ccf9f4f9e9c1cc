//! Splits: partitions, proportions, seeds.

use mercer::data::split::{self, Fold};
use mercer::data::{Labels, Targets};

/// Each fold is all rows, in order, each once.
fn whole(fold: &Fold, n: usize) {
    for part in [&fold.train, &fold.test] {
        assert!(part.windows(2).all(|w| w[0] < w[1]), "rising");
    }
    let mut all = [fold.train.clone(), fold.test.clone()].concat();
    all.sort_unstable();
    assert_eq!(all, (0..n).collect::<Vec<_>>());
}

/// The test parts of the folds are a partition of all rows.
fn partition(folds: &[Fold], n: usize) {
    for fold in folds {
        whole(fold, n);
    }
    let mut tested: Vec<usize> = folds.iter().flat_map(|f| f.test.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, (0..n).collect::<Vec<_>>());
}

fn labels(counts: &[usize]) -> Labels {
    let names = counts.iter().enumerate().flat_map(|(c, &m)| std::iter::repeat_n(c.to_string(), m));
    let names: Vec<String> = names.collect();
    Labels::new(split::shuffle(names.len(), 99).iter().map(|&i| &names[i]))
}

fn sizes(folds: &[Fold]) -> (usize, usize) {
    let sizes = folds.iter().map(|f| f.test.len());
    (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0))
}

#[test]
fn shuffles_are_permutations_and_spread_evenly() {
    let mut counts = [[0u32; 6]; 6];
    for seed in 0..6000 {
        let order = split::shuffle(6, seed);
        order.iter().enumerate().for_each(|(at, &i)| counts[at][i] += 1);
    }
    // 1000 expected in each cell, standard deviation 29.
    assert!(counts.iter().flatten().all(|&c| (850..1150).contains(&c)), "{counts:?}");
    assert_eq!(split::shuffle(50, 3), split::shuffle(50, 3));
    assert_ne!(split::shuffle(50, 3), split::shuffle(50, 4));
    // Fixed for good: a split that changes with a version makes results that cannot be repeated.
    assert_eq!(split::shuffle(8, 1), [5, 6, 2, 4, 1, 7, 0, 3]);
}

#[test]
fn folds_are_partitions_of_even_size() {
    for (n, k) in [(10, 2), (11, 3), (7, 7), (100, 9)] {
        let folds = split::kfold(n, k, 5).expect("k at most n");
        partition(&folds, n);
        let (least, most) = sizes(&folds);
        assert!(folds.len() == k && most - least <= 1);
        assert_eq!(split::kfold(n, k, 5).expect("k at most n"), folds);
        assert_ne!(
            split::kfold(100, 9, 6).expect("k at most n"),
            split::kfold(100, 9, 7).expect("k at most n")
        );
    }
    for (n, k) in [(5, 6), (5, 1), (5, 0), (1, 1), (0, 2)] {
        assert!(split::kfold(n, k, 5).is_err());
    }
}

#[test]
fn stratified_folds_keep_proportions() {
    let labels = labels(&[50, 7, 23, 5]);
    let folds = split::stratified_kfold(&labels, 5, 2).expect("5 rows a class");
    partition(&folds, labels.len());
    for fold in &folds {
        for (&m, &got) in labels.counts().iter().zip(&labels.gather(&fold.test).counts()) {
            assert!(got == m / 5 || got == m.div_ceil(5), "{got} of {m}");
        }
    }
    let (least, most) = sizes(&folds);
    assert!(most - least <= 1);
    assert_eq!(split::stratified_kfold(&labels, 5, 2).expect("the same"), folds);
    let message = split::stratified_kfold(&labels, 6, 2).expect_err("5 rows of a class").to_string();
    assert_eq!(message, "rows of class 3: got 5, expected at least 6, one for each fold");
    // A name no row has any more is no class.
    let rest: Vec<usize> = (0..labels.len()).filter(|&i| labels.of_row[i] != 3).collect();
    assert!(split::stratified_kfold(&labels.gather(&rest), 6, 2).is_ok());
}

#[test]
fn holdouts_keep_proportions() {
    let labels = labels(&[60, 31, 9, 1]);
    let n = labels.len();
    for fraction in [0.01, 0.1, 0.25, 0.5, 0.9] {
        let fold = split::holdout(n, fraction, 4).expect("enough rows");
        whole(&fold, n);
        assert_eq!(fold.test.len(), ((n as f64 * fraction).round() as usize).max(1));
        let fold = split::stratified_holdout(&labels, fraction, 4).expect("enough rows");
        whole(&fold, n);
        assert!(fold.test.len().abs_diff((n as f64 * fraction).round() as usize) <= 1);
        for (&m, &got) in labels.counts().iter().zip(&labels.gather(&fold.test).counts()) {
            let exact = m as f64 * fraction;
            assert!(got as f64 >= exact.floor() && got as f64 <= exact.ceil() && got < m, "{got} of {m}");
        }
        assert_eq!(split::stratified_holdout(&labels, fraction, 4).expect("the same"), fold);
    }
    for fraction in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(split::holdout(n, fraction, 4).is_err());
        assert!(split::stratified_holdout(&labels, fraction, 4).is_err());
    }
    assert!(split::holdout(1, 0.5, 4).is_err());
    assert!(split::stratified_holdout(&Labels::new(["a", "b", "c"]), 0.5, 1).is_err());
}

#[test]
fn targets_choose_the_split() {
    let labels = labels(&[20, 10]);
    let classes = Targets::Classes(labels.clone());
    let reals = Targets::Reals(vec![0.0; 30]);
    assert_eq!(
        split::kfold_of(30, &classes, 5, 1).expect("classes"),
        split::stratified_kfold(&labels, 5, 1).expect("classes")
    );
    assert_eq!(split::kfold_of(30, &reals, 5, 1).expect("reals"), split::kfold(30, 5, 1).expect("rows"));
    assert_eq!(
        split::holdout_of(30, &classes, 0.2, 1).expect("classes"),
        split::stratified_holdout(&labels, 0.2, 1).expect("classes")
    );
    assert_eq!(
        split::holdout_of(30, &Targets::None, 0.2, 1).expect("none"),
        split::holdout(30, 0.2, 1).expect("rows")
    );
    assert!(split::kfold_of(31, &classes, 5, 1).is_err());
}

#[test]
fn groups_stay_together() {
    let group_of_row: Vec<u32> = (0..90).map(|i| (i * i % 17) as u32).collect();
    let folds = split::grouped_kfold(&group_of_row, 4, 3).expect("more groups than folds");
    partition(&folds, 90);
    for fold in &folds {
        for &i in &fold.test {
            assert!(fold.train.iter().all(|&j| group_of_row[i] != group_of_row[j]));
        }
        assert!((15..=30).contains(&fold.test.len()), "{}", fold.test.len());
    }
    assert_eq!(split::grouped_kfold(&group_of_row, 4, 3).expect("the same"), folds);
    let message = split::grouped_kfold(&[1, 1, 2, 2], 3, 0).expect_err("two groups").to_string();
    assert_eq!(message, "folds = 3: must be from 2 to 2, the number of groups");
}

#[test]
fn one_out_and_again() {
    let folds: Vec<Fold> = split::leave_one_out(6).expect("six rows").collect();
    partition(&folds, 6);
    assert!(folds.iter().enumerate().all(|(i, f)| f.test == [i]));
    assert!(split::leave_one_out(1).is_err());

    let again = split::repeated(3, 8, |seed| split::kfold(12, 4, seed)).expect("12 rows");
    again.chunks(4).for_each(|folds| partition(folds, 12));
    assert!(again[..4] != again[4..8] && again[4..8] != again[8..]);
    assert_eq!(split::repeated(3, 8, |seed| split::kfold(12, 4, seed)).expect("the same"), again);
}
