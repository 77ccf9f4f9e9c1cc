//! Metrics: functions of predictions and targets.
//!
//! [`ALL`] is the table used by cross-validation, search and reports. All metrics take slices of equal length, and
//! return NaN where they are undefined (no rows, a single class, constant targets).

use crate::error::{Error, Result};

/// One metric.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Whether lower or higher is better.
    pub better: Better,
    /// Its inputs and its function.
    pub measure: Measure,
    /// One line of description.
    pub doc: &'static str,
}

/// Whether lower or higher is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lower is better.
    Lower,
    /// Higher is better.
    Higher,
}

/// The inputs of a metric.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// Predicted and true classes.
    Classes(fn(&[u32], &[u32]) -> f64),
    /// A score for each row, and whether the row is positive.
    Ranking(fn(&[f64], &[bool]) -> f64),
    /// A probability for each row and class (n x k), and the true classes.
    Probabilities(fn(&[f64], usize, &[u32]) -> f64),
    /// Predicted and true numbers.
    Reals(fn(&[f64], &[f64]) -> f64),
}

/// All metrics.
pub const ALL: &[Metric] = &[
    Metric {
        name: "error",
        better: Better::Lower,
        measure: Measure::Classes(error_rate),
        doc: "fraction of rows whose predicted class is wrong",
    },
    Metric {
        name: "accuracy",
        better: Better::Higher,
        measure: Measure::Classes(|got, want| 1.0 - error_rate(got, want)),
        doc: "fraction of rows whose predicted class is right",
    },
    Metric {
        name: "balanced-error",
        better: Better::Lower,
        measure: Measure::Classes(balanced_error),
        doc: "error rate of each class, averaged over the classes that occur",
    },
    Metric {
        name: "roc-area",
        better: Better::Higher,
        measure: Measure::Ranking(roc_area),
        doc: "probability that a positive row scores above a negative one, ties counting half",
    },
    Metric {
        name: "pr-area",
        better: Better::Higher,
        measure: Measure::Ranking(pr_area),
        doc: "precision averaged over the recall steps (average precision)",
    },
    Metric {
        name: "log-loss",
        better: Better::Lower,
        measure: Measure::Probabilities(log_loss),
        doc: "mean of -log of the predicted probability of the true class",
    },
    Metric {
        name: "rmse",
        better: Better::Lower,
        measure: Measure::Reals(rmse),
        doc: "root mean squared error",
    },
    Metric { name: "mae", better: Better::Lower, measure: Measure::Reals(mae), doc: "mean absolute error" },
    Metric {
        name: "r2",
        better: Better::Higher,
        measure: Measure::Reals(r2),
        doc: "1 - (sum of squared errors) / (sum of squared deviations from the mean)",
    },
];

/// The metric of this name.
pub fn find(name: &str) -> Result<&'static Metric> {
    ALL.iter().find(|m| m.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|m| m.name).collect();
        Error::param("metric", name, format!("one of {}", names.join(", ")))
    })
}

/// Share of misclassified rows.
///
/// ```
/// assert_eq!(mercer::assess::metric::error_rate(&[0, 1, 2, 1], &[0, 1, 1, 1]), 0.25);
/// ```
pub fn error_rate(got: &[u32], want: &[u32]) -> f64 {
    assert_eq!(got.len(), want.len(), "a prediction for each row");
    got.iter().zip(want).filter(|(g, w)| g != w).count() as f64 / got.len() as f64
}

/// Mean of the error rates of the classes that occur.
pub fn balanced_error(got: &[u32], want: &[u32]) -> f64 {
    let k = got.iter().chain(want).max().map_or(0, |&c| c as usize + 1);
    let table = confusion(got, want, k);
    let rates: Vec<f64> = (0..k)
        .filter_map(|c| {
            let row = &table[c * k..(c + 1) * k];
            let all: usize = row.iter().sum();
            (all > 0).then(|| 1.0 - row[c] as f64 / all as f64)
        })
        .collect();
    mean(rates.iter().copied(), rates.len())
}

/// The k x k table of counts: row = true class, column = predicted class.
pub fn confusion(got: &[u32], want: &[u32], k: usize) -> Vec<usize> {
    assert_eq!(got.len(), want.len(), "a prediction for each row");
    let mut table = vec![0; k * k];
    for (&g, &w) in got.iter().zip(want) {
        table[w as usize * k + g as usize] += 1;
    }
    table
}

/// Area under the receiver operating characteristic, ties counting half.
///
/// ```
/// let area = mercer::assess::metric::roc_area(&[0.9, 0.4, 0.4, 0.1], &[true, true, false, false]);
/// assert_eq!(area, (1.0 + 1.0 + 0.5 + 1.0) / 4.0);
/// ```
pub fn roc_area(score: &[f64], positive: &[bool]) -> f64 {
    let (mut below, mut won) = (0usize, 0.0);
    let steps = steps(score, positive);
    for &(yes, no) in steps.iter().rev() {
        won += yes as f64 * (below as f64 + no as f64 / 2.0);
        below += no;
    }
    let yes: usize = steps.iter().map(|s| s.0).sum();
    won / (yes as f64 * below as f64)
}

/// Area under the precision-recall curve, as average precision: rows that tie enter together.
pub fn pr_area(score: &[f64], positive: &[bool]) -> f64 {
    let steps = steps(score, positive);
    let (mut yes, mut all, mut area) = (0usize, 0usize, 0.0);
    for &(y, n) in &steps {
        yes += y;
        all += y + n;
        area += y as f64 * yes as f64 / all as f64;
    }
    area / yes as f64
}

/// Numbers of positives and negatives at each distinct score, in descending order.
pub(super) fn steps(score: &[f64], positive: &[bool]) -> Vec<(usize, usize)> {
    assert_eq!(score.len(), positive.len(), "a score for each row");
    let mut order: Vec<usize> = (0..score.len()).collect();
    order.sort_by(|&i, &j| score[j].total_cmp(&score[i]));
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut last = f64::NAN;
    for i in order {
        if score[i] != last {
            out.push((0, 0));
            last = score[i];
        }
        if let Some(step) = out.last_mut() {
            *if positive[i] { &mut step.0 } else { &mut step.1 } += 1;
        }
    }
    out
}

/// Mean of -log of the probability of the true class; probabilities are n x k.
pub fn log_loss(probability: &[f64], k: usize, want: &[u32]) -> f64 {
    assert_eq!(probability.len(), k * want.len(), "a probability for each row and class");
    let of = |(line, &w): (&[f64], &u32)| -line[w as usize].max(f64::MIN_POSITIVE).ln();
    mean(probability.chunks(k.max(1)).zip(want).map(of), want.len())
}

/// Root of the mean squared difference.
pub fn rmse(got: &[f64], want: &[f64]) -> f64 {
    let (sum, unit) = squares(differences(got, want));
    (sum / got.len() as f64).sqrt() * unit
}

/// The same of the mean as prediction: the standard deviation of the targets.
pub(crate) fn baseline(want: &[f64]) -> f64 {
    let centre = centre(want);
    let (sum, unit) = squares(want.iter().map(|w| w - centre));
    (sum / want.len() as f64).sqrt() * unit
}

/// Mean absolute difference.
pub fn mae(got: &[f64], want: &[f64]) -> f64 {
    mean(differences(got, want).map(f64::abs), got.len())
}

/// Coefficient of determination; NaN where the targets are constant.
pub fn r2(got: &[f64], want: &[f64]) -> f64 {
    let centre = centre(want);
    let (total, unit) = squares(want.iter().map(|w| w - centre));
    if total == 0.0 {
        return f64::NAN;
    }
    let (off, own) = squares(differences(got, want));
    1.0 - off / total * (own / unit) * (own / unit)
}

/// The sum of the squares in a unit, a power of two: squares of numbers such as 1e200 and 1e-200 are no 64-bit numbers.
/// The unit changes no bit of others.
fn squares(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let unit = unit(values.clone());
    (values.map(|v| (v / unit) * (v / unit)).sum(), unit)
}

/// About the largest of the numbers.
fn unit(values: impl Iterator<Item = f64>) -> f64 {
    let largest = values.fold(0.0_f64, |most, v| most.max(v.abs()));
    if largest > 0.0 && largest.is_finite() { largest.log2().floor().exp2() } else { 1.0 }
}

/// The mean, of numbers whose sum may be too large.
fn centre(want: &[f64]) -> f64 {
    let unit = unit(want.iter().copied());
    mean(want.iter().map(|w| w / unit), want.len()) * unit
}

fn differences<'a>(got: &'a [f64], want: &'a [f64]) -> impl Iterator<Item = f64> + Clone + 'a {
    assert_eq!(got.len(), want.len(), "a prediction for each row");
    got.iter().zip(want).map(|(g, w)| g - w)
}

fn mean(values: impl Iterator<Item = f64>, n: usize) -> f64 {
    values.sum::<f64>() / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::{assert::close, toy};

    #[test]
    fn classes_are_counted_by_truth_and_prediction() {
        let (got, want) = ([0, 1, 1, 2, 2, 2], [0, 0, 1, 2, 2, 1]);
        assert_eq!(confusion(&got, &want, 3), [1, 1, 0, 0, 1, 1, 0, 0, 2]);
        close(error_rate(&got, &want), 2.0 / 6.0, 1e-15);
        close(balanced_error(&got, &want), (0.5 + 0.5 + 0.0) / 3.0, 1e-15);
        assert!(error_rate(&[], &[]).is_nan() && balanced_error(&[], &[]).is_nan());
    }

    #[test]
    fn areas_are_what_counting_pairs_and_prefixes_gives() {
        // Rounded scores, so that many tie.
        let score: Vec<f64> = toy::normals(80, 1, 3).iter().map(|v| (v * 3.0).round()).collect();
        let positive: Vec<bool> =
            toy::normals(80, 1, 4).iter().zip(&score).map(|(e, s)| s + 3.0 * e > 0.5).collect();
        let (mut won, mut pairs) = (0.0, 0.0);
        for i in (0..80).filter(|&i| positive[i]) {
            for j in (0..80).filter(|&j| !positive[j]) {
                pairs += 1.0;
                won +=
                    if score[i] > score[j] { 1.0 } else { f64::from(u8::from(score[i] == score[j])) / 2.0 };
            }
        }
        close(roc_area(&score, &positive), won / pairs, 1e-14);
        let precision = |i: usize| {
            let above: Vec<usize> = (0..80).filter(|&j| score[j] >= score[i]).collect();
            above.iter().filter(|&&j| positive[j]).count() as f64 / above.len() as f64
        };
        let yes: Vec<usize> = (0..80).filter(|&i| positive[i]).collect();
        close(
            pr_area(&score, &positive),
            yes.iter().map(|&i| precision(i)).sum::<f64>() / yes.len() as f64,
            1e-14,
        );
        assert!(roc_area(&[1.0, 2.0], &[true, true]).is_nan());
        assert!(pr_area(&[1.0, 2.0], &[false, false]).is_nan());
    }

    #[test]
    fn reals_are_compared_two_sided() {
        let (got, want) = ([1.0, 2.0, 5.0], [2.0, 2.0, 3.0]);
        close(rmse(&got, &want), (5.0_f64 / 3.0).sqrt(), 1e-15);
        close(mae(&got, &want), 1.0, 1e-15);
        close(r2(&got, &want), 1.0 - 5.0 / (2.0 / 3.0), 1e-14);
        assert!(r2(&got, &[1.0; 3]).is_nan());
        // In any unit.
        for unit in [1e-300, 1e-200, 1e160, 1e307] {
            let (got, want) = (got.map(|v| v * unit), want.map(|v| v * unit));
            close(rmse(&got, &want) / unit, (5.0_f64 / 3.0).sqrt(), 1e-14);
            close(baseline(&want) / unit, (2.0_f64 / 9.0).sqrt(), 1e-14);
            close(r2(&got, &want), 1.0 - 5.0 / (2.0 / 3.0), 1e-13);
        }
        close(log_loss(&[0.5, 0.5, 0.1, 0.9], 2, &[0, 1]), -(0.5_f64.ln() + 0.9_f64.ln()) / 2.0, 1e-15);
    }

    #[test]
    fn names_are_distinct_and_found() {
        for (i, m) in ALL.iter().enumerate() {
            assert!(ALL[..i].iter().all(|other| other.name != m.name));
            assert_eq!(find(m.name).expect("in the table").doc, m.doc);
        }
        assert!(find("f17").is_err());
    }
}
