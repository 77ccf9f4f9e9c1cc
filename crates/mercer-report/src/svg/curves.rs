//! The charts that are drawn again and again.

use super::{Axis, Chart, Look, Series, Svg};
use crate::number;

/// A curve with its name and the area under it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedCurve<'a> {
    /// Its name, such as that of a class.
    pub name: &'a str,
    /// Its points, x rising.
    pub points: &'a [[f64; 2]],
    /// The area below it.
    pub area: f64,
}

/// The receiver operating characteristic: true positives over false positives, a curve each name, with its area.
pub fn roc(curves: &[NamedCurve<'_>]) -> Svg {
    let mut series = vec![Series::new("", Look::Dashed, vec![(0.0, 0.0), (1.0, 1.0)]).colour(7)];
    series.extend(curves.iter().enumerate().map(|(k, c)| c.series(k)));
    shares("Receiver operating characteristic", "false positive rate", "true positive rate", series)
}

/// Precision over recall, a curve each name, with its area.
pub fn precision_recall(curves: &[NamedCurve<'_>]) -> Svg {
    let series = curves.iter().enumerate().map(|(k, c)| c.series(k));
    shares("Precision and recall", "recall", "precision", series.collect())
}

impl NamedCurve<'_> {
    fn series(&self, k: usize) -> Series {
        let points = self.points.iter().map(|p| (p[0], p[1])).collect();
        Series::line(format!("{} {:.4}", self.name, self.area).trim(), points).colour(k)
    }
}

fn shares(title: &str, x: &str, y: &str, series: Vec<Series>) -> Svg {
    let axis = |label| Axis::new(label).range(-0.02, 1.02);
    Chart { square: true, ..Chart::new(title, axis(x), axis(y), series) }.draw()
}

/// How a solver came near its optimum: the gap by its steps, with the tolerance asked for.
pub fn progress(gaps: &[(f64, f64)], tol: Option<f64>) -> Svg {
    let last = gaps.iter().map(|g| g.0).fold(1.0, f64::max);
    let goal = tol.map(|tol| {
        let line = vec![(0.0, tol), (last, tol)];
        Series::new(&format!("tolerance {}", number(tol)), Look::Dashed, line).colour(1)
    });
    let series = std::iter::once(Series::line("gap", gaps.to_vec()).colour(0)).chain(goal);
    Chart::new("Convergence", Axis::new("iterations"), Axis::new("gap").log(), series.collect()).draw()
}

/// A reliability diagram: for predictions with a confidence of about p, the share that is correct. A row has its
/// confidence and whether the prediction was correct; ten groups by confidence, without those of only a few rows.
pub fn reliability(answers: &[(f64, bool)]) -> Svg {
    const GROUPS: usize = 10;
    const FEW: usize = 5;
    let mut groups = [(0usize, 0usize, 0.0); GROUPS];
    for &(p, right) in answers.iter().filter(|(p, _)| p.is_finite()) {
        let group = &mut groups[((p * GROUPS as f64) as usize).min(GROUPS - 1)];
        *group = (group.0 + 1, group.1 + usize::from(right), group.2 + p);
    }
    let told = groups.iter().filter(|g| g.0 >= FEW);
    let points: Vec<(f64, f64)> =
        told.map(|&(n, right, sum)| (sum / n as f64, right as f64 / n as f64)).collect();
    let ideal = Series::new("perfect calibration", Look::Dashed, vec![(0.0, 0.0), (1.0, 1.0)]).colour(7);
    let series = vec![
        ideal,
        Series::line("", points.clone()).colour(0),
        Series::dots("predictions", points).colour(0),
    ];
    shares("Reliability diagram", "predicted probability", "fraction correct", series)
}

/// Numbers in order, such as eigenvalues, as columns.
pub fn spectrum(title: &str, label: &str, values: &[f64], log: bool) -> Svg {
    let points = values.iter().enumerate().map(|(i, v)| (i as f64 + 1.0, *v)).collect();
    let y = Axis { label: label.into(), log, range: None };
    Chart::new(title, Axis::new("number"), y, vec![Series::new("", Look::Bars, points)]).draw()
}

#[cfg(test)]
mod tests {
    use super::super::well_formed;
    use super::*;

    #[test]
    fn curves_have_their_names_and_areas() {
        let curve = NamedCurve { name: "banana", points: &[[0.0, 0.0], [0.1, 0.9], [1.0, 1.0]], area: 0.93 };
        for svg in [roc(&[curve]), precision_recall(&[curve])] {
            let svg = svg.inline();
            assert!(well_formed(&svg) && svg.contains("banana 0.9300"), "{svg}");
        }
        let answers: Vec<(f64, bool)> = (0..100).map(|i| (0.75, i % 4 != 0)).chain([(0.2, true)]).collect();
        assert_eq!(
            reliability(&answers).inline().matches('Z').count(),
            2,
            "one group, and its mark in the legend"
        );
        let svg = progress(&[(0.0, 2.0), (100.0, 1e-3)], Some(1e-3)).inline();
        assert!(svg.contains("tolerance 0.001") && svg.contains("k0 line"));
        assert_eq!(
            spectrum("s", "eigenvalue", &[3.0, 1.0, 0.5], false).inline().matches("k0 bar").count(),
            3
        );
    }
}
