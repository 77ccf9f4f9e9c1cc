//! Comparison of two models, with significance tests.
//!
//! ```text
//! McNemar (1947)              b rows only the second has wrong, c only the first: b of b + c heads of a fair coin;
//!                             for large numbers (|b - c| - 1)^2 / (b + c) as chi^2 of one degree
//! Nadeau and Bengio (2003)    differences d_j over J folds: mean / sqrt((1/J + test/train) var), Student's t of J - 1
//! ```
//!
//! Folds share training rows, so their differences are not independent, and a plain t-test rejects too often; the
//! term `test/train` corrects for that. Also here: support vectors shared by machines (Schoelkopf 1997, section 2.4).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::assess::distribution::{binomial_below, chi2_beyond, student_beyond};
use crate::data::{Dataset, Targets};
use crate::error::{Error, Result};
use crate::exec::Exec;
use crate::model::Model;

/// Two classifiers on the same test rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct McNemar {
    /// Rows misclassified only by the first.
    pub only_first: usize,
    /// Rows misclassified only by the second.
    pub only_second: usize,
    /// Rows misclassified by both.
    pub both: usize,
    /// Exact p-value: the probability of counts at least this unequal if both classifiers were equally good.
    pub p: f64,
    /// (|b - c| - 1)^2 / (b + c), 0 where there are no differences.
    pub chi2: f64,
    /// p-value of that statistic.
    pub p_chi2: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// McNemar's test from the rows that each classifier gets wrong.
///
/// ```
/// let first = [true, true, true, true, true, true, false, false];
/// let second = [false; 8];
/// let test = mercer::assess::mcnemar(&first, &second)?;
/// assert_eq!((test.only_first, test.only_second), (6, 0));
/// assert!((test.p - 2.0 / 64.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn mcnemar(first_wrong: &[bool], second_wrong: &[bool]) -> Result<McNemar> {
    if first_wrong.len() != second_wrong.len() {
        return Err(Error::shape("predictions of the second", second_wrong.len(), first_wrong.len()));
    }
    let count =
        |a: bool, b: bool| first_wrong.iter().zip(second_wrong).filter(|(x, y)| **x == a && **y == b).count();
    let (only_first, only_second) = (count(true, false), count(false, true));
    let (least, all) = (only_first.min(only_second), only_first + only_second);
    let apart = (only_first.abs_diff(only_second) as f64 - 1.0).max(0.0);
    let chi2 = if all == 0 { 0.0 } else { apart * apart / all as f64 };
    Ok(McNemar {
        only_first,
        only_second,
        both: count(true, true),
        p: (2.0 * binomial_below(least, all, 0.5)).min(1.0),
        chi2,
        p_chi2: chi2_beyond(chi2),
        assumes: "test rows drawn independently, that neither model was trained or chosen on",
    })
}

/// A paired t-test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedT {
    /// The mean difference.
    pub mean: f64,
    /// Its standard error, corrected.
    pub standard_error: f64,
    /// Their quotient.
    pub t: f64,
    /// Degrees of freedom.
    pub freedom: usize,
    /// p-value: the probability of a mean at least this far from 0 if there were no difference.
    pub p: f64,
    /// Its assumptions, in words.
    pub assumes: &'static str,
}

/// The corrected t-test over folds: `differences` of a score between two learners on the same folds, and the number of
/// test rows of a fold over that of its training rows (1 / (k - 1) for k folds; 0: differences are independent).
///
/// ```
/// let t = mercer::assess::paired_t(&[0.02, 0.01, 0.03, 0.02, 0.02], 0.25)?;
/// assert!((t.mean - 0.02).abs() < 1e-12 && t.p < 0.05);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn paired_t(differences: &[f64], test_over_train: f64) -> Result<PairedT> {
    let n = differences.len();
    if n < 2 {
        return Err(Error::shape("differences", n, "at least 2"));
    }
    if !(test_over_train >= 0.0 && test_over_train.is_finite()) {
        return Err(Error::param("test_over_train", test_over_train, "a number of at least 0"));
    }
    let mean = differences.iter().sum::<f64>() / n as f64;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let standard_error = ((1.0 / n as f64 + test_over_train) * variance).sqrt();
    // Equal non-zero differences give t = infinity; all zero gives t = 0.
    let t = if mean == 0.0 { 0.0 } else { mean / standard_error };
    Ok(PairedT {
        mean,
        standard_error,
        t: t.clamp(f64::MIN, f64::MAX),
        freedom: n - 1,
        p: student_beyond(t, (n - 1) as f64),
        assumes: "folds of equal size from random splits; differences approximately normal",
    })
}

/// The support vectors that two sets have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SupportOverlap {
    /// Size of the first set.
    pub first: usize,
    /// Size of the second set.
    pub second: usize,
    /// Number of rows in both.
    pub both: usize,
    /// The share of the first's rows that the second has.
    pub of_first: f64,
    /// The share of the second's rows that the first has.
    pub of_second: f64,
}

/// Compares two sets of support vectors by row numbers, each without repeats.
pub fn support_overlap(first: &[u32], second: &[u32]) -> SupportOverlap {
    let counts = shared_by(&[first, second]);
    let both = counts[1];
    let share = |n: usize| if n == 0 { 0.0 } else { both as f64 / n as f64 };
    SupportOverlap {
        first: first.len(),
        second: second.len(),
        both,
        of_first: share(first.len()),
        of_second: share(second.len()),
    }
}

/// How many rows are in exactly one of some sets, in exactly two, and so on.
///
/// ```
/// assert_eq!(mercer::assess::shared_by(&[&[1, 2, 3], &[2, 3], &[3]]), [1, 1, 1]);
/// ```
pub fn shared_by(sets: &[&[u32]]) -> Vec<usize> {
    let mut found = BTreeMap::<u32, usize>::new();
    sets.iter().copied().flatten().for_each(|&row| *found.entry(row).or_default() += 1);
    let mut counts = vec![0; sets.len()];
    found.values().for_each(|&n| counts[n.min(sets.len()) - 1] += 1);
    counts
}

/// Two models on the same test rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Number of rows.
    pub rows: usize,
    /// The measure of `errors`: `error rate` or `mean squared error`.
    pub measure: &'static str,
    /// Of the first model and of the second.
    pub errors: [f64; 2],
    /// The share of rows with equal predictions, for classifiers.
    pub agree: Option<f64>,
    /// McNemar's test, for classifiers.
    pub mcnemar: Option<McNemar>,
    /// A t-test on the squared errors of the rows, for regression.
    pub paired: Option<PairedT>,
    /// Shared support vectors, where both models know their training rows; meaningful only if these were the same.
    pub support: Option<SupportOverlap>,
}

impl Comparison {
    /// Compares two models of the same task on labelled rows.
    pub fn of(first: &Model, second: &Model, data: &Dataset, exec: Exec) -> Result<Self> {
        let answers = [first.predict(data.points.view(), exec)?, second.predict(data.points.view(), exec)?];
        let n = data.len();
        if n == 0 {
            return Err(Error::shape("rows to compare on", 0, "at least 1"));
        }
        let support = first.support().zip(second.support()).map(|(a, b)| support_overlap(a, b));
        let base = Comparison {
            rows: n,
            measure: "error rate",
            errors: [0.0; 2],
            agree: None,
            mcnemar: None,
            paired: None,
            support,
        };
        match (&answers, &data.targets) {
            ([Targets::Classes(a), Targets::Classes(b)], Targets::Classes(want)) => {
                let wrong = [a, b]
                    .map(|got| (0..n).map(|i| got.name_of(i) != want.name_of(i)).collect::<Vec<bool>>());
                let rate = |wrong: &[bool]| wrong.iter().filter(|w| **w).count() as f64 / n as f64;
                let same = (0..n).filter(|&i| a.name_of(i) == b.name_of(i)).count();
                Ok(Comparison {
                    errors: [rate(&wrong[0]), rate(&wrong[1])],
                    agree: Some(same as f64 / n as f64),
                    mcnemar: Some(mcnemar(&wrong[0], &wrong[1])?),
                    ..base
                })
            }
            ([Targets::Reals(a), Targets::Reals(b)], Targets::Reals(want)) => {
                let squares = [a, b]
                    .map(|got| got.iter().zip(want).map(|(g, w)| (g - w).powi(2)).collect::<Vec<f64>>());
                let mean = |v: &[f64]| v.iter().sum::<f64>() / n as f64;
                let differences: Vec<f64> = squares[0].iter().zip(&squares[1]).map(|(a, b)| a - b).collect();
                Ok(Comparison {
                    measure: "mean squared error",
                    errors: [mean(&squares[0]), mean(&squares[1])],
                    paired: if n > 1 { Some(paired_t(&differences, 0.0)?) } else { None },
                    ..base
                })
            }
            _ => Err(Error::shape(
                "predictions and targets",
                "different kinds",
                "two classifiers and labels, or two regressions and numbers",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, Points, toy};
    use crate::model::{Plan, Wishes};
    use crate::watch::silent;
    use mercer_testkit::assert;

    #[test]
    fn mcnemar_is_a_coin() {
        let wrong = |rows: std::ops::Range<usize>| (0..100).map(|i| rows.contains(&i)).collect::<Vec<bool>>();
        let same = mcnemar(&wrong(0..10), &wrong(0..10)).expect("as many");
        assert_eq!((same.both, same.p, same.p_chi2), (10, 1.0, 1.0));
        // 15 against 5: 2 P(X <= 5 of 20) = 0.041389..., chi^2 = 81 / 20.
        let test = mcnemar(&wrong(0..20), &wrong(15..30)).expect("as many");
        assert_eq!((test.only_first, test.only_second, test.both), (15, 10, 5));
        let test = mcnemar(&wrong(0..15), &wrong(15..20)).expect("as many");
        assert::close(test.p, 0.041_389_465, 1e-8);
        assert::close(test.chi2, 4.05, 1e-12);
        assert::close(test.p_chi2, 0.044_171_2, 1e-6);
        assert!(mcnemar(&[true], &[]).is_err());
    }

    #[test]
    fn shared_training_rows_widen_the_error() {
        let d = [0.1, 0.2, -0.05, 0.15, 0.1];
        let (plain, corrected) = (paired_t(&d, 0.0).expect("five"), paired_t(&d, 0.25).expect("five"));
        // sqrt((1/5 + 1/4) / (1/5)) = 1.5.
        assert::close(corrected.standard_error / plain.standard_error, 1.5, 1e-12);
        assert::close(plain.t, 0.1 / (0.035f64 / 4.0 / 5.0).sqrt(), 1e-9);
        assert!(corrected.p > plain.p && plain.p > 0.0);
        let none = paired_t(&[0.0; 5], 0.25).expect("five");
        assert_eq!((none.t, none.p), (0.0, 1.0));
        let sure = paired_t(&[0.1; 2], 0.25).expect("two");
        assert!(sure.p < 1e-6 && sure.t.is_finite());
        assert!(paired_t(&[0.1], 0.25).is_err());
    }

    #[test]
    fn models_are_compared_on_rows() {
        let (points, targets) = toy::banana(200, 1);
        let data = Dataset::new(points, targets).expect("one per row");
        let fit = |line: &str| {
            let wishes = Wishes { kernel: Some(line.to_owned()), ..Wishes::default() };
            let plan = Plan::new(&data, &wishes, Exec::one()).expect("a plan");
            plan.fit(Exec::one(), &mut silent()).expect("a fit")
        };
        let (narrow, plane) = (fit("rbf(gamma=1)"), fit("linear"));
        let got = Comparison::of(&plane, &narrow, &data, Exec::one()).expect("classifiers");
        let test = got.mcnemar.expect("classes");
        assert!(got.errors[0] > got.errors[1] && test.p < 0.05, "{test:?}");
        assert::close(got.errors[0] * 200.0, (test.only_first + test.both) as f64, 1e-9);
        assert!(got.support.is_some_and(|s| s.both <= s.first.min(s.second)));
        let same = Comparison::of(&plane, &plane, &data, Exec::one()).expect("itself");
        assert_eq!((same.agree, same.mcnemar.map(|m| m.p)), (Some(1.0), Some(1.0)));
        let reals = Dataset::new(Points::dense(vec![0.0, 0.0], 2).expect("a row"), Targets::Reals(vec![1.0]))
            .expect("one");
        assert!(Comparison::of(&plane, &narrow, &reals, Exec::one()).is_err());
        let other = Dataset::new(
            Points::dense(vec![0.0, 0.0], 2).expect("a row"),
            Targets::Classes(Labels::new(["unknown"])),
        )
        .expect("one");
        assert_eq!(Comparison::of(&plane, &plane, &other, Exec::one()).expect("classes").errors, [1.0, 1.0]);
    }
}
