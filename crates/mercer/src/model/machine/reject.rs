//! The reject option: rows whose two largest scores are too close are rejected.
//!
//! The threshold on the gap is determined on labelled rows, for a given error rate on accepted rows or a given share
//! of rejected rows (Schoelkopf 1997, section 4.4.1). Cost: one sort.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The target of a reject rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wanted {
    /// At most this error rate on accepted rows, with as few rejections as possible.
    Error(f64),
    /// At most this share of rejected rows, and as many as possible.
    Rejected(f64),
}

/// A reject rule: rows with a smaller gap are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reject {
    /// Gaps below this are rejected.
    pub gap: f64,
    /// Error rate on the accepted rows on which the rule was determined; 0 if all were rejected.
    pub error: f64,
    /// Share of rejected rows among them.
    pub rejected: f64,
}

impl Reject {
    /// Whether a row with this gap between its two largest scores is rejected.
    pub fn rejects(&self, gap: f64) -> bool {
        gap < self.gap
    }

    /// The rule for rows with known gaps and known correctness.
    ///
    /// ```
    /// use mercer::model::{Reject, Wanted};
    /// let (gaps, right) = ([0.1, 0.5, 1.0, 2.0], [false, true, false, true]);
    /// let rule = Reject::fit(&gaps, &right, Wanted::Rejected(0.25))?;
    /// assert_eq!((rule.rejected, rule.error), (0.25, 1.0 / 3.0));
    /// let rule = Reject::fit(&gaps, &right, Wanted::Error(0.0))?;
    /// assert_eq!((rule.rejected, rule.gap), (0.75, 2.0));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn fit(gaps: &[f64], right: &[bool], wanted: Wanted) -> Result<Self> {
        let n = gaps.len();
        if n == 0 || right.len() != n {
            return Err(Error::shape(
                "rows to fit a reject rule on",
                right.len(),
                format!("{}, at least 1", n.max(1)),
            ));
        }
        let (name, rate) = match wanted {
            Wanted::Error(rate) => ("target error rate", rate),
            Wanted::Rejected(rate) => ("target rejection rate", rate),
        };
        if !(0.0..=1.0).contains(&rate) {
            return Err(Error::param(name, rate, "from 0 to 1"));
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| gaps[i].total_cmp(&gaps[j]));
        // A rule cuts the sorted gaps in two; rows with equal gaps cannot be separated.
        let mut wrong = right.iter().filter(|&&r| !r).count();
        let mut best = None;
        for cut in 0..=n {
            if cut > 0 && !right[order[cut - 1]] {
                wrong -= 1;
            }
            if cut > 0 && cut < n && gaps[order[cut]] <= gaps[order[cut - 1]] {
                continue;
            }
            let rule = Reject {
                gap: match cut {
                    0 => 0.0,
                    // A number larger than any gap that JSON can represent.
                    _ if cut == n => f64::MAX,
                    _ => gaps[order[cut]],
                },
                error: if cut == n { 0.0 } else { wrong as f64 / (n - cut) as f64 },
                rejected: cut as f64 / n as f64,
            };
            match wanted {
                Wanted::Error(rate) if rule.error <= rate => return Ok(rule),
                Wanted::Rejected(rate) if rule.rejected <= rate => best = Some(rule),
                _ => {}
            }
        }
        Ok(best.expect("rejecting nothing, or everything, always meets the wish"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::toy;

    #[test]
    fn rules_meet_the_wish_and_the_next_one_would_not() {
        // Ties in plenty.
        let gaps: Vec<f64> = toy::normals(400, 1, 5).iter().map(|v| (v.abs() * 8.0).round() / 8.0).collect();
        let right: Vec<bool> =
            toy::normals(400, 1, 6).iter().zip(&gaps).map(|(e, g)| e + 2.0 * g > -0.5).collect();
        let rates = |gap: f64| {
            let answered: Vec<usize> = (0..400).filter(|&i| gaps[i] >= gap).collect();
            let wrong = answered.iter().filter(|&&i| !right[i]).count();
            (wrong as f64 / answered.len().max(1) as f64, (400 - answered.len()) as f64 / 400.0)
        };
        for rate in [0.0, 0.01, 0.03, 0.1, 1.0] {
            let rule = Reject::fit(&gaps, &right, Wanted::Error(rate)).expect("rows");
            assert_eq!((rule.error, rule.rejected), rates(rule.gap));
            assert!(rule.error <= rate);
            assert!(
                gaps.iter().filter(|&&g| g < rule.gap).all(|&g| rates(g).0 > rate),
                "a smaller gap would do"
            );
            let rule = Reject::fit(&gaps, &right, Wanted::Rejected(rate)).expect("rows");
            assert!(rule.rejected <= rate);
            let next = gaps.iter().copied().filter(|&g| g > rule.gap).fold(f64::INFINITY, f64::min);
            assert!(rates(next).1 > rate || rate == 1.0, "a larger gap would do");
        }
        assert!(Reject::fit(&gaps, &right, Wanted::Error(1.5)).is_err());
        assert!(Reject::fit(&[], &[], Wanted::Error(0.5)).is_err());
    }
}
