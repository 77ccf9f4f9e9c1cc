//! The receiver operating characteristic and the precision-recall curve.
//!
//! Rows with equal scores enter together, so the curves do not depend on their order. Points on the line between
//! their neighbours are omitted from the ROC curve. Cost: one sort.

use serde::Serialize;

use crate::assess::metric::{pr_area, roc_area, steps};

/// A curve and the area under it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// Its points (x, y), x ascending.
    pub points: Vec<[f64; 2]>,
    /// The area; NaN if one class has no rows.
    pub area: f64,
}

/// The ROC curve: false positive rate (x) against true positive rate (y).
///
/// ```
/// let curve = mercer::assess::roc_curve(&[0.9, 0.4, 0.6, 0.1], &[true, true, false, false]);
/// assert_eq!(curve.points, [[0.0, 0.0], [0.0, 0.5], [0.5, 0.5], [0.5, 1.0], [1.0, 1.0]]);
/// assert_eq!(curve.area, 0.75);
/// ```
pub fn roc_curve(score: &[f64], positive: &[bool]) -> Curve {
    let steps = steps(score, positive);
    let (yes, no) = steps.iter().fold((0, 0), |(a, b), s| (a + s.0, b + s.1));
    let mut points: Vec<[f64; 2]> = Vec::new();
    let (mut hits, mut alarms) = (0usize, 0usize);
    let mut corners = vec![(0usize, 0usize)];
    for (y, n) in steps {
        (hits, alarms) = (hits + y, alarms + n);
        while let [.., a, b] = corners[..] {
            // On the line from a to the new corner; exact, because the numbers are integers.
            let on = (b.0 - a.0) * (hits - a.1) == (b.1 - a.1) * (alarms - a.0);
            if !on {
                break;
            }
            corners.pop();
        }
        corners.push((alarms, hits));
    }
    if yes > 0 && no > 0 {
        points.extend(corners.iter().map(|&(a, h)| [a as f64 / no as f64, h as f64 / yes as f64]));
    }
    Curve { points, area: roc_area(score, positive) }
}

/// The precision-recall curve: recall (x) against precision (y), by descending score; the area is average precision.
///
/// ```
/// let curve = mercer::assess::pr_curve(&[0.9, 0.4, 0.6], &[true, true, false]);
/// assert_eq!(curve.points, [[0.0, 1.0], [0.5, 1.0], [0.5, 0.5], [1.0, 2.0 / 3.0]]);
/// ```
pub fn pr_curve(score: &[f64], positive: &[bool]) -> Curve {
    let steps = steps(score, positive);
    let yes: usize = steps.iter().map(|s| s.0).sum();
    let mut points: Vec<[f64; 2]> = Vec::new();
    let (mut hits, mut all) = (0usize, 0usize);
    for (y, n) in steps {
        (hits, all) = (hits + y, all + y + n);
        let point = [hits as f64 / yes as f64, hits as f64 / all as f64];
        if points.is_empty() {
            points.push([0.0, point[1]]);
        }
        points.push(point);
        // Rows after the last positive only lower precision at recall 1.
        if hits == yes {
            break;
        }
    }
    if yes == 0 {
        points.clear();
    }
    Curve { points, area: pr_area(score, positive) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::toy;

    /// The area by the trapezoidal rule.
    fn trapezoids(points: &[[f64; 2]]) -> f64 {
        points.windows(2).map(|w| (w[1][0] - w[0][0]) * (w[1][1] + w[0][1]) / 2.0).sum()
    }

    #[test]
    fn the_area_under_the_drawn_curve_is_the_area_told() {
        // Rounded, so that scores tie.
        let score: Vec<f64> = toy::normals(300, 1, 8).iter().map(|v| (v * 6.0).round()).collect();
        let noise = toy::normals(300, 1, 9);
        let positive: Vec<bool> = score.iter().zip(&noise).map(|(s, e)| s + 5.0 * e > 2.0).collect();
        let curve = roc_curve(&score, &positive);
        assert!((trapezoids(&curve.points) - curve.area).abs() < 1e-12);
        assert_eq!((curve.points[0], curve.points[curve.points.len() - 1]), ([0.0, 0.0], [1.0, 1.0]));
        let pr = pr_curve(&score, &positive);
        let steps: f64 = pr.points.windows(2).map(|w| (w[1][0] - w[0][0]) * w[1][1]).sum();
        assert!((steps - pr.area).abs() < 1e-12, "{steps} {}", pr.area);
    }

    #[test]
    fn one_sided_data_have_no_curve() {
        let curve = roc_curve(&[1.0, 2.0], &[true, true]);
        assert!(curve.points.is_empty() && curve.area.is_nan());
        assert!(pr_curve(&[1.0], &[false]).points.is_empty());
    }
}
