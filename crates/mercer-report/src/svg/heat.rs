//! A table of numbers as tinted cells: scores over two parameters.

use super::canvas::{Anchor, Canvas, SIZE, fitted, text_width};
use super::{Svg, WIDTH};

/// Opacity of the worst and of the best cell. Numbers stay readable on both, in both themes.
const PALEST: f64 = 0.04;
const DEEPEST: f64 = 0.5;

/// A table with names for its rows and columns.
#[derive(Debug, Clone)]
pub struct Heat {
    /// The picture's title.
    pub title: String,
    /// What columns and rows are.
    pub along: (String, String),
    /// Their names.
    pub columns: Vec<String>,
    /// The rows' names.
    pub rows: Vec<String>,
    /// Rows of values; NaN stays empty.
    pub values: Vec<Vec<f64>>,
    /// How a value is written.
    pub write: fn(f64) -> String,
    /// Whether less is better: the better, the deeper.
    pub lower: bool,
    /// The cell to mark, row and column.
    pub mark: Option<(usize, usize)>,
}

impl Heat {
    /// Draws it.
    pub fn draw(&self) -> Svg {
        let all = || self.values.iter().flatten().copied().filter(|v| !v.is_nan());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let widest = self.rows.iter().map(|n| text_width(n)).fold(0.0, f64::max);
        let (left, top) = (30.0 + widest, 42.0);
        let count = self.columns.len().max(1) as f64;
        let wide = ((WIDTH - left - 4.0) / count).min(96.0);
        // All columns have letters of one size, small enough for the longest name.
        let longest = self.columns.iter().map(|n| text_width(n) / SIZE).fold(1.0, f64::max);
        let letters = ((wide - 3.0) / longest).clamp(6.0, 11.0);
        let high_of = wide.min(34.0);
        let mut canvas = Canvas::default();
        canvas.text("", (left + wide * count / 2.0, 13.0), Anchor::Middle, &self.along.0);
        canvas.upwards(12.0, top + high_of * self.rows.len() as f64 / 2.0, &self.along.1);
        for (j, name) in self.columns.iter().enumerate() {
            let at = (left + (j as f64 + 0.5) * wide, top - 8.0);
            let name = fitted(name, wide, letters);
            canvas.sized_text("strong", at, Anchor::Middle, Some(letters), &name);
        }
        for (i, (name, line)) in self.rows.iter().zip(&self.values).enumerate() {
            let middle = top + (i as f64 + 0.5) * high_of + 4.0;
            canvas.sized_text("strong", (left - 7.0, middle), Anchor::End, Some(11.0), name);
            for (j, &value) in line.iter().enumerate() {
                let at = (left + j as f64 * wide + 1.0, top + i as f64 * high_of + 1.0);
                let size = (wide - 2.0, high_of - 2.0);
                if value.is_nan() {
                    canvas.tint("plain", at, size, 0.04);
                    continue;
                }
                let share = if high > low { (value - low) / (high - low) } else { 0.0 };
                let good = if self.lower { 1.0 - share } else { share };
                // Most settings are good and near each other: the eye should see differences there.
                canvas.tint("right", at, size, PALEST + (DEEPEST - PALEST) * good.powi(3));
                let text = (self.write)(value);
                let class = if self.mark == Some((i, j)) { "strong" } else { "ink" };
                let letters = (1.6 * size.0 / text.chars().count().max(1) as f64).min(12.0);
                canvas.sized_text(class, (at.0 + size.0 / 2.0, middle), Anchor::Middle, Some(letters), &text);
                if self.mark == Some((i, j)) {
                    let (x, y) = at;
                    let corners = [(x, y), (x + size.0, y), (x + size.0, y + size.1), (x, y + size.1)];
                    canvas.lines("best", &[corners.to_vec()], true);
                }
            }
        }
        canvas.finish(&self.title, top + high_of * self.rows.len() as f64 + 6.0)
    }
}

/// A parameter's value in so few letters that many stand side by side: three digits.
pub fn tick(value: f64) -> String {
    if value == 0.0 || !value.is_finite() || !(1e-3..1e5).contains(&value.abs()) {
        return brief(value);
    }
    let digits = (2 - value.abs().log10().floor() as i32).max(0);
    let scale = 10f64.powi(digits);
    ((value * scale).round() / scale).to_string()
}

/// A parameter's value in few letters.
pub fn brief(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e5).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    if value.abs() >= 100.0 { format!("{value:.0}") } else { ((value * 1e4).round() / 1e4).to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::well_formed;
    use super::*;

    /// Red, green and blue of a variable of the style, in the light theme or the dark one, which comes second.
    fn colour(name: &str, theme: usize) -> [f64; 3] {
        let at = super::super::STYLE.match_indices(&format!("{name}: #")).nth(theme).expect(name).0;
        let digits = &super::super::STYLE[at + name.len() + 3..][..6];
        [0, 2, 4].map(|k| f64::from(u8::from_str_radix(&digits[k..k + 2], 16).expect("hexadecimal")) / 255.0)
    }

    fn luminance(colour: [f64; 3]) -> f64 {
        let linear = colour.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    #[test]
    fn numbers_can_be_read_on_the_deepest_cell_in_both_themes() {
        assert!(super::super::STYLE.contains(".fig .ink { fill: var(--ink); }"));
        for theme in [0, 1] {
            let (paper, tint) = (colour("--paper", theme), colour("--c0", theme));
            for depth in [PALEST, DEEPEST] {
                let cell = luminance([0, 1, 2].map(|k| depth * tint[k] + (1.0 - depth) * paper[k]));
                let ink = luminance(colour("--ink", theme));
                let contrast = (cell.max(ink) + 0.05) / (cell.min(ink) + 0.05);
                // What the guidelines for accessible pages ask of small letters.
                assert!((4.5..21.0).contains(&contrast), "theme {theme}, depth {depth}: {contrast}");
            }
        }
    }

    #[test]
    fn every_value_is_told_and_the_best_marked() {
        let heat = Heat {
            title: "scores".into(),
            along: ("C".into(), "gamma".into()),
            columns: vec!["1".into(), "10".into()],
            rows: vec!["0.1".into(), "<b>".into()],
            values: vec![vec![0.5, 0.25], vec![f64::NAN, 0.125]],
            write: |v| format!("{v:.3}"),
            lower: true,
            mark: Some((1, 1)),
        };
        let svg = heat.draw().inline();
        assert!(well_formed(&svg) && svg.contains("&lt;b&gt;"), "{svg}");
        for value in ["0.500", "0.250", "0.125"] {
            assert!(svg.contains(value), "{svg}");
        }
        assert!(!svg.contains("NaN"));
        // A class without a style would be filled with black and hide the number.
        assert_eq!(svg.matches("class=\"best\"").count(), 1);
        assert!(super::super::STYLE.contains(".fig .best { fill: none;"));
        assert_eq!([0.01, 1.0, 1e7, 215.44].map(brief), ["0.01", "1", "1e7", "215"]);
        assert_eq!(
            [0.27826, 2.15443, 46.4159, 1291.55, 0.0, 1.0, 2e-7].map(tick),
            ["0.278", "2.15", "46.4", "1292", "0", "1", "2e-7"]
        );
    }
}
