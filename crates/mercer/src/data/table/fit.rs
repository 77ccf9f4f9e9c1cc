//! Fitting of one column's code: values of categories, the format of dates, medians, skewness.

use std::borrow::Cow;
use std::collections::HashMap;

use super::MISSING;
use super::code::{Cells, How};
use super::date::Format;
use crate::error::{Error, Result};

/// Values of a category that get a column of their own.
const MOST_OWN: usize = 50;
/// Numbers are brought to a logarithm only if they are more skewed than this.
const SKEWED: f64 = 2.0;

/// The values of a category: rare ones are pooled, and of many only the most frequent have their own column.
pub(super) fn category(cells: &Cells<'_>) -> How {
    let mut count: HashMap<Cow<'_, str>, usize> = HashMap::new();
    match cells {
        Cells::Numbers(x) => {
            for v in x.iter().filter(|v| !v.is_nan()) {
                *count.entry(Cow::Owned((v + 0.0).to_string())).or_default() += 1;
            }
        }
        Cells::Text { pool, of_row } => {
            let mut each = vec![0usize; pool.len()];
            of_row.iter().filter(|&&k| k != MISSING).for_each(|&k| each[k as usize] += 1);
            for (text, rows) in pool.iter().zip(each).filter(|(_, rows)| *rows > 0) {
                count.insert(Cow::Borrowed(text), rows);
            }
        }
    }
    let rare = rare_below(cells.len());
    let mut kept: Vec<(&str, usize)> =
        count.iter().map(|(text, &rows)| (&**text, rows)).filter(|(_, rows)| *rows >= rare).collect();
    // Most frequent first; among equals in order, so that it does not depend on the rows' order.
    kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let own = kept.len().min(MOST_OWN);
    kept[..own].sort_unstable();
    kept[own..].sort_unstable();
    let other = count.len() > own;
    How::Category { values: kept.into_iter().map(|(text, _)| text.to_owned()).collect(), own, other }
}

/// Values of fewer rows are pooled: 1 in 1,000 rows, in small data 1 in 100, which beyond 500 rows is 5.
fn rare_below(n: usize) -> usize {
    (n / 1000).max((n / 100).min(5)).max(1)
}

pub(super) fn date_format(name: &str, cells: &Cells<'_>) -> Result<Format> {
    let Cells::Text { pool, of_row } = cells else {
        return Err(Error::shape(format!("column `{name}`"), "numbers", "dates, as its kind was given"));
    };
    let mut count = vec![0usize; pool.len()];
    of_row.iter().filter(|&&k| k != MISSING).for_each(|&k| count[k as usize] += 1);
    let texts = pool.iter().map(String::as_str).zip(count).filter(|(_, rows)| *rows > 0);
    let format = Format::of(texts).map(|(format, _)| format);
    format.ok_or_else(|| {
        let expected = "dates such as 2024-12-31, 31.12.2024 or 12/31/2024 12:30, or times such as 12:30";
        Error::shape(format!("column `{name}`"), "no date that can be read", expected)
    })
}

/// The logarithm of a share of the rows.
pub(super) fn share(count: usize, n: usize) -> f64 {
    // A value that is not there at all counts as half a row.
    ((count as f64).max(0.5) / n.max(1) as f64).ln()
}

pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    let mid = sorted.len() / 2;
    let (_, &mut high, _) = sorted.select_nth_unstable_by(mid, f64::total_cmp);
    high
}

/// What to divide by under `ln(1 + x / unit)`, where numbers that are not negative are strongly skewed and the logarithm
/// halves that.
pub(super) fn log_unit(values: &[f64]) -> Option<f64> {
    if values.iter().any(|v| *v < 0.0) {
        return None;
    }
    let positive: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    if positive.is_empty() {
        return None;
    }
    let before = skewness(&values.iter().copied())?;
    let unit = median(&positive);
    let after = skewness(&values.iter().map(|v| (v / unit).ln_1p()))?;
    (before > SKEWED && after.abs() <= before / 2.0 && unit > 0.0).then_some(unit)
}

fn skewness(values: &(impl Iterator<Item = f64> + Clone)) -> Option<f64> {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let moment = |p: i32| values.clone().map(|v| (v - mean).powi(p)).sum::<f64>() / n;
    let skew = moment(3) / moment(2).powf(1.5);
    skew.is_finite().then_some(skew)
}
