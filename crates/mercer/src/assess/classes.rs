//! Precision, recall and F1 per class.

use serde::Serialize;

/// Scores of one class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassScores {
    /// Number of rows of the class.
    pub rows: usize,
    /// Number of rows predicted as the class.
    pub answered: usize,
    /// Fraction of the rows predicted as the class that belong to it; NaN if there are none.
    pub precision: f64,
    /// Fraction of the rows of the class that are predicted as it; NaN if there are none.
    pub recall: f64,
    /// The harmonic mean of both; 0 if either is 0, NaN if the class neither occurs nor is predicted.
    pub f1: f64,
}

/// The scores of each class from a k x k confusion matrix (row = true class, column = predicted class).
///
/// ```
/// use mercer::assess::per_class;
/// let scores = per_class(&[3, 1, 0, 4], 2);
/// assert_eq!((scores[0].precision, scores[0].recall), (1.0, 0.75));
/// assert_eq!((scores[1].precision, scores[1].recall), (0.8, 1.0));
/// assert!((scores[0].f1 - 6.0 / 7.0).abs() < 1e-15);
/// ```
pub fn per_class(confusion: &[usize], k: usize) -> Vec<ClassScores> {
    assert_eq!(confusion.len(), k * k, "a square table");
    let score = |c: usize| {
        let right = confusion[c * k + c];
        let rows: usize = confusion[c * k..(c + 1) * k].iter().sum();
        let answered: usize = (0..k).map(|w| confusion[w * k + c]).sum();
        ClassScores {
            rows,
            answered,
            precision: right as f64 / answered as f64,
            recall: right as f64 / rows as f64,
            f1: 2.0 * right as f64 / (rows + answered) as f64,
        }
    };
    (0..k).map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_without_rows_or_answers_have_no_scores() {
        // Class 2 never occurs and is never given; class 1 occurs and is never given.
        let scores = per_class(&[5, 0, 0, 2, 0, 0, 0, 0, 0], 3);
        assert!(scores[2].precision.is_nan() && scores[2].recall.is_nan() && scores[2].f1.is_nan());
        assert!(scores[1].precision.is_nan());
        assert_eq!((scores[1].recall, scores[1].f1), (0.0, 0.0));
        assert_eq!((scores[0].rows, scores[0].answered), (5, 7));
    }
}
