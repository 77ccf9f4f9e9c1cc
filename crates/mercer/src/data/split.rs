//! Splits of n rows into training and test parts: seeded, and the same for the same seed everywhere.
//!
//! Row numbers come back sorted. Every k-fold split is a partition: each row is tested once.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::targets::{Labels, Targets};
use crate::error::{Error, Result};

/// The rows to train on and the rows to test on.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Fold {
    /// Rows to train on, rising.
    pub train: Vec<usize>,
    /// Rows to test on, rising.
    pub test: Vec<usize>,
}

/// The numbers 0 to n - 1 in an order that every seed has its own of.
pub fn shuffle(n: usize, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).collect();
    shuffle_slice(&mut rows, &mut ChaCha8Rng::seed_from_u64(seed));
    rows
}

/// A share of the rows, at least one, set apart for testing.
///
/// ```
/// use mercer::data::split;
/// let fold = split::holdout(10, 0.3, 7)?;
/// assert_eq!((fold.train.len(), fold.test.len()), (7, 3));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn holdout(n: usize, fraction: f64, seed: u64) -> Result<Fold> {
    let size = test_size(n, fraction)?;
    let mut tested = vec![false; n];
    shuffle(n, seed)[..size].iter().for_each(|&i| tested[i] = true);
    Ok(by_flag(&tested))
}

/// [`holdout`] with the classes in the same proportions on both sides. Of each class at least one row stays for
/// training.
pub fn stratified_holdout(labels: &Labels, fraction: f64, seed: u64) -> Result<Fold> {
    let size = test_size(labels.len(), fraction)?;
    let members = shuffled_members(labels, seed);
    let mut take: Vec<usize> = members.iter().map(|m| (m.len() as f64 * fraction).floor() as usize).collect();
    // What rounding down left over goes to the classes with the largest remainders.
    let rest: Vec<f64> =
        members.iter().zip(&take).map(|(m, &t)| m.len() as f64 * fraction - t as f64).collect();
    let mut order: Vec<usize> = (0..members.len()).filter(|&c| rest[c] > 1e-9).collect();
    order.sort_by(|&a, &b| rest[b].total_cmp(&rest[a]).then(a.cmp(&b)));
    let left = size.saturating_sub(take.iter().sum());
    order.retain(|&c| take[c] + 1 < members[c].len());
    for c in order.into_iter().take(left) {
        take[c] += 1;
    }
    if take.iter().all(|&t| t == 0) {
        let biggest = members.iter().map(Vec::len).max().unwrap_or(0);
        let got = format!("{biggest} row of each class");
        let expected = "at least 2 rows of a class, one to train on and one to hold out";
        return Err(Error::shape("rows to split", got, expected));
    }
    let mut tested = vec![false; labels.len()];
    for &i in members.iter().zip(take).flat_map(|(rows, take)| &rows[..take]) {
        tested[i] = true;
    }
    Ok(by_flag(&tested))
}

/// Stratified where the targets are classes, plain where they are not.
pub fn holdout_of(n: usize, targets: &Targets, fraction: f64, seed: u64) -> Result<Fold> {
    match targets {
        Targets::Classes(labels) => stratified_holdout(same_length(labels, n)?, fraction, seed),
        Targets::Reals(_) | Targets::None => holdout(n, fraction, seed),
    }
}

/// k folds whose test parts differ in size by at most one row.
pub fn kfold(n: usize, k: usize, seed: u64) -> Result<Vec<Fold>> {
    check_folds(k, n, "rows")?;
    let mut fold_of = vec![0; n];
    shuffle(n, seed).into_iter().enumerate().for_each(|(at, i)| fold_of[i] = at % k);
    Ok(by_fold(&fold_of, k))
}

/// k folds with the classes in the same proportions: of each class the test parts hold equally many rows, give or
/// take one. A class with fewer rows than folds is refused by name.
///
/// ```
/// use mercer::data::{Labels, split};
/// let labels = Labels::new("aaaabbbbbbbb".chars().map(String::from));
/// for fold in split::stratified_kfold(&labels, 4, 1)? {
///     assert_eq!(labels.gather(&fold.test).counts(), [1, 2]);
/// }
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn stratified_kfold(labels: &Labels, k: usize, seed: u64) -> Result<Vec<Fold>> {
    check_folds(k, labels.len(), "rows")?;
    let members = shuffled_members(labels, seed);
    if let Some(c) = members.iter().position(|m| !m.is_empty() && m.len() < k) {
        let what = format!("rows of class {}", labels.names[c]);
        return Err(Error::shape(what, members[c].len(), format!("at least {k}, one for each fold")));
    }
    // Dealt like cards, on from class to class, so that the folds are of one size too.
    let mut fold_of = vec![0; labels.len()];
    members.iter().flatten().enumerate().for_each(|(at, &i)| fold_of[i] = at % k);
    Ok(by_fold(&fold_of, k))
}

/// [`stratified_kfold`] for classes of any size: a class with fewer rows than folds is tested in as many folds as it has
/// rows, and the only row of a class is in every training part and never tested.
///
/// ```
/// use mercer::data::{Labels, split};
/// let labels = Labels::new("aaaabbbbcdd".chars().map(String::from));
/// let folds = split::lenient_kfold(&labels, 4, 1)?;
/// assert!(folds.iter().all(|f| labels.gather(&f.train).counts().iter().all(|&rows| rows > 0)));
/// assert_eq!(folds.iter().map(|f| f.test.len()).sum::<usize>(), 10);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn lenient_kfold(labels: &Labels, k: usize, seed: u64) -> Result<Vec<Fold>> {
    let members = shuffled_members(labels, seed);
    let tested: usize = members.iter().map(Vec::len).filter(|&rows| rows > 1).sum();
    check_folds(k, tested, "rows")?;
    let mut fold_of = vec![usize::MAX; labels.len()];
    let dealt = members.iter().filter(|m| m.len() > 1).flatten();
    dealt.enumerate().for_each(|(at, &i)| fold_of[i] = at % k);
    Ok(by_fold(&fold_of, k))
}

/// Stratified where the targets are classes, plain where they are not.
pub fn kfold_of(n: usize, targets: &Targets, k: usize, seed: u64) -> Result<Vec<Fold>> {
    match targets {
        Targets::Classes(labels) => stratified_kfold(same_length(labels, n)?, k, seed),
        Targets::Reals(_) | Targets::None => kfold(n, k, seed),
    }
}

/// k folds that keep groups whole: rows of one group (one writer, one patient) are never on both sides. The largest
/// groups go first, each to the fold that is smallest so far.
pub fn grouped_kfold(group_of_row: &[u32], k: usize, seed: u64) -> Result<Vec<Fold>> {
    let mut rows_of = std::collections::BTreeMap::<u32, Vec<usize>>::new();
    for (i, &group) in group_of_row.iter().enumerate() {
        rows_of.entry(group).or_default().push(i);
    }
    check_folds(k, rows_of.len(), "groups")?;
    let mut groups: Vec<Vec<usize>> = rows_of.into_values().collect();
    shuffle_slice(&mut groups, &mut ChaCha8Rng::seed_from_u64(seed));
    groups.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    let mut size = vec![0; k];
    let mut fold_of = vec![0; group_of_row.len()];
    for rows in groups {
        let smallest = (0..k).min_by_key(|&f| size[f]).unwrap_or(0);
        size[smallest] += rows.len();
        for i in rows {
            fold_of[i] = smallest;
        }
    }
    Ok(by_fold(&fold_of, k))
}

/// Every row tested by itself, in order. One fold at a time: all n of them would hold n^2 row numbers.
pub fn leave_one_out(n: usize) -> Result<impl Iterator<Item = Fold>> {
    check_folds(n, n, "rows")?;
    Ok((0..n).map(move |i| Fold { train: (0..i).chain(i + 1..n).collect(), test: vec![i] }))
}

/// A split made again and again, each time with another seed drawn from the first.
///
/// ```
/// use mercer::data::split;
/// let folds = split::repeated(3, 1, |seed| split::kfold(20, 5, seed))?;
/// assert_eq!(folds.len(), 15);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn repeated(
    times: usize,
    seed: u64,
    mut split: impl FnMut(u64) -> Result<Vec<Fold>>,
) -> Result<Vec<Fold>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut folds = Vec::new();
    for _ in 0..times {
        folds.extend(split(rng.next_u64())?);
    }
    Ok(folds)
}

/// Rows of each class, shuffled.
fn shuffled_members(labels: &Labels, seed: u64) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); labels.names.len()];
    for (i, &c) in labels.of_row.iter().enumerate() {
        members[c as usize].push(i);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for rows in &mut members {
        shuffle_slice(rows, &mut rng);
    }
    members
}

/// Fisher and Yates, written out so that splits do not change with a library's version.
fn shuffle_slice<T>(items: &mut [T], rng: &mut impl Rng) {
    for i in (1..items.len()).rev() {
        let j = ((u128::from(rng.next_u64()) * (i as u128 + 1)) >> 64) as usize;
        items.swap(i, j);
    }
}

fn by_flag(tested: &[bool]) -> Fold {
    let (test, train) = (0..tested.len()).partition(|&i| tested[i]);
    Fold { train, test }
}

fn by_fold(fold_of: &[usize], k: usize) -> Vec<Fold> {
    (0..k).map(|f| by_flag(&fold_of.iter().map(|&g| g == f).collect::<Vec<_>>())).collect()
}

fn test_size(n: usize, fraction: f64) -> Result<usize> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Error::param("fraction to hold out", fraction, "between 0 and 1"));
    }
    if n < 2 {
        return Err(Error::shape("rows to split", n, "at least 2"));
    }
    Ok(((n as f64 * fraction).round() as usize).clamp(1, n - 1))
}

fn check_folds(k: usize, most: usize, of: &str) -> Result<()> {
    if most < 2 {
        return Err(Error::shape(format!("{of} to split"), most, "at least 2"));
    }
    if !(2..=most).contains(&k) {
        return Err(Error::param("folds", k, format!("from 2 to {most}, the number of {of}")));
    }
    Ok(())
}

fn same_length(labels: &Labels, n: usize) -> Result<&Labels> {
    if labels.len() == n {
        Ok(labels)
    } else {
        Err(Error::shape("labels", labels.len(), format!("{n} rows")))
    }
}
