//! Confusion matrices.

use super::canvas::{Anchor, Canvas, SIZE, fitted, text_width};
use super::{Svg, WIDTH};
use crate::count;

/// Room for the classes' names beside the cells.
const NAMES: f64 = 110.0;

/// A confusion matrix: rows are true classes, columns are predicted ones. The deeper a cell, the larger its share of
/// the row.
///
/// # Panics
/// If the matrix is not square with a row for each class.
pub fn confusion(classes: &[String], matrix: &[Vec<usize>]) -> Svg {
    let k = classes.len();
    assert!(
        k > 0 && matrix.len() == k && matrix.iter().all(|row| row.len() == k),
        "one row and one column per class"
    );
    let names: Vec<String> = classes.iter().map(|name| fitted(name, NAMES, SIZE)).collect();
    let widest = names.iter().map(|n| text_width(n)).fold(0.0, f64::max);
    let (left, top) = (30.0 + widest, 42.0);
    let cell = ((WIDTH - left - 4.0) / k as f64).min(96.0);
    let size = (0.36 * cell).clamp(5.0, 14.0);
    let name_size = (0.5 * cell).clamp(5.0, 12.0);
    let mut canvas = Canvas::default();
    canvas.text("", (left + cell * k as f64 / 2.0, 13.0), Anchor::Middle, "predicted");
    canvas.upwards(12.0, top + cell * k as f64 / 2.0, "true class");
    for (j, name) in names.iter().enumerate() {
        let middle = (j as f64 + 0.5) * cell;
        // Names wider than their column are cut to what fits.
        let fitting = fitted(name, cell - 2.0, name_size);
        canvas.sized_text("strong", (left + middle, top - 8.0), Anchor::Middle, Some(name_size), &fitting);
        canvas.sized_text(
            "strong",
            (left - 7.0, top + middle + 0.35 * name_size),
            Anchor::End,
            Some(name_size),
            name,
        );
    }
    for (i, row) in matrix.iter().enumerate() {
        let all = row.iter().sum::<usize>().max(1) as f64;
        for (j, &n) in row.iter().enumerate() {
            let share = n as f64 / all;
            let at = (left + j as f64 * cell + 1.0, top + i as f64 * cell + 1.0);
            let side = cell - 2.0;
            let (class, depth) = match (i == j, n) {
                (_, 0) => ("plain", 0.05),
                (true, _) => ("right", 0.08 + 0.3 * share),
                (false, _) => ("wrong", 0.25 + 0.6 * share),
            };
            canvas.tint(class, at, (side, side), depth);
            if n > 0 {
                let middle = (at.0 + side / 2.0, at.1 + side / 2.0 + 0.36 * size);
                let text = count(n);
                let size = size.min(1.6 * side / text.chars().count() as f64);
                canvas.sized_text("strong", middle, Anchor::Middle, Some(size), &text);
            }
        }
    }
    canvas.finish("Confusion matrix", top + cell * k as f64 + 6.0)
}

#[cfg(test)]
mod tests {
    use super::super::well_formed;
    use super::*;

    #[test]
    fn every_count_that_is_not_zero_is_told() {
        let names = ["cat".to_owned(), "a very long dog's name".to_owned()];
        let svg = confusion(&names, &[vec![1200, 3], vec![0, 7]]).inline();
        assert!(well_formed(&svg));
        for part in [">1,200<", ">3<", ">7<", "a very long d…"] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(!svg.contains(">0<"));
        let many: Vec<String> = (0..40).map(|i| format!("class {i}")).collect();
        let svg = confusion(&many, &vec![vec![1; 40]; 40]);
        assert!(svg.size().1 < 480.0, "as high as wide");
    }
}
