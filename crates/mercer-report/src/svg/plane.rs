//! Pictures of the plane: regions, contour lines and points, one layer over the other.

use super::canvas::{Anchor, Canvas, SIZE, fitted, text_width};
use super::chart::{axes, gutter};
use super::contour::Grid;
use super::scale::Scale;
use super::{Svg, WIDTH};

/// A picture of a part of the plane.
///
/// ```
/// use mercer_report::svg::{Grid, Layer, Line, Plane};
/// let bowl = Grid::of((-1.0, 1.0), (-1.0, 1.0), 60, 60, |x, y| x * x + y * y);
/// let levels = Layer::Levels { grid: bowl, levels: vec![0.25, 0.5, 1.0], line: Line::Thin };
/// let svg = Plane::new("A bowl", (-1.0, 1.0), (-1.0, 1.0), vec![levels]).draw();
/// assert!(svg.inline().contains("class=\"thin\""));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// What it shows: read aloud, and shown where a pointer rests.
    pub title: String,
    /// The part drawn, from left to right.
    pub x: (f64, f64),
    /// The part drawn, from below to above.
    pub y: (f64, f64),
    /// What is drawn, the first below all others.
    pub layers: Vec<Layer>,
    /// Names of classes, shown above.
    pub names: Vec<String>,
    /// Names of the axes.
    pub labels: (String, String),
}

/// Something drawn on the plane.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// The part where a function is above 0, on the ground of a class.
    Region {
        /// The function.
        grid: Grid,
        /// The class.
        class: usize,
    },
    /// The parts where a function is above each of some levels, one shade over the other.
    Shades {
        /// The function.
        grid: Grid,
        /// The levels.
        levels: Vec<f64>,
        /// Whose colour.
        class: usize,
    },
    /// Lines along which a function has given values.
    Levels {
        /// The function.
        grid: Grid,
        /// The values.
        levels: Vec<f64>,
        /// How they look.
        line: Line,
    },
    /// Marks of a class.
    Points {
        /// Where.
        at: Vec<(f64, f64)>,
        /// The class.
        class: usize,
    },
    /// Circles around points, such as support vectors.
    Circles {
        /// Around what.
        at: Vec<(f64, f64)>,
    },
}

/// How a contour line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// The decision boundary.
    Edge,
    /// The margin.
    Margin,
    /// One of many.
    Thin,
}

impl Plane {
    /// A picture without names.
    pub fn new(title: &str, x: (f64, f64), y: (f64, f64), layers: Vec<Layer>) -> Self {
        Plane { title: title.into(), x, y, layers, names: Vec::new(), labels: (String::new(), String::new()) }
    }

    /// A range with air around some values, for [`Plane::x`] and [`Plane::y`].
    pub fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return (0.0, 1.0);
        }
        let air = if high > low { 0.07 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        (low - air, high + air)
    }

    /// Points of the plane, a colour and a mark each class.
    pub fn scatter(title: &str, points: &[(f64, f64)], class: &[u32], names: &[String]) -> Self {
        let kinds = class.iter().max().map_or(1, |k| *k as usize + 1);
        let of = |k: usize| {
            let mine =
                points.iter().enumerate().filter(move |(i, _)| class.get(*i).map_or(0, |c| *c as usize) == k);
            Layer::Points { at: mine.map(|(_, p)| *p).collect(), class: k }
        };
        let (x, y) = (Self::range(points.iter().map(|p| p.0)), Self::range(points.iter().map(|p| p.1)));
        Plane { names: names.to_vec(), ..Self::new(title, x, y, (0..kinds).map(of).collect()) }
    }

    /// Draws it.
    pub fn draw(&self) -> Svg {
        let mut canvas = Canvas::default();
        let top = self.legend(&mut canvas);
        let least = if self.labels.1.is_empty() { 38.0 } else { 54.0 };
        let right = WIDTH - 10.0;
        let ratio = ((self.y.1 - self.y.0) / (self.x.1 - self.x.0)).clamp(0.6, 1.0);
        let bottom = top + ratio * (right - least);
        let y = Scale::new(self.y, false, bottom, top);
        let left = gutter(&y, &self.labels.1).max(least);
        let x = Scale::new(self.x, false, left, right);
        let place = |p: &(f64, f64)| (x.at(p.0), y.at(p.1));
        let within = |p: &(f64, f64)| {
            let slack = 1e-9 * (1.0 + WIDTH);
            p.0 >= left - slack && p.0 <= right + slack && p.1 >= top - slack && p.1 <= bottom + slack
        };
        let all = |lines: Vec<Vec<(f64, f64)>>| -> Vec<Vec<(f64, f64)>> {
            lines.iter().map(|line| line.iter().map(place).collect()).collect()
        };
        axes(&mut canvas, (&x, &self.labels.0), (&y, &self.labels.1), (left, right), (top, bottom));
        for layer in &self.layers {
            match layer {
                Layer::Region { grid, class } => {
                    canvas.lines(&format!("k{} fill", class % 8), &all(grid.above(0.0)), true);
                }
                Layer::Shades { grid, levels, class } => {
                    for level in levels {
                        canvas.lines(&format!("k{} shade", class % 8), &all(grid.above(*level)), true);
                    }
                }
                Layer::Levels { grid, levels, line } => {
                    let class = match line {
                        Line::Edge => "edge",
                        Line::Margin => "margin",
                        Line::Thin => "thin",
                    };
                    let lines = levels.iter().flat_map(|level| all(grid.lines(*level))).collect::<Vec<_>>();
                    canvas.lines(class, &lines, false);
                }
                Layer::Points { at, class } => {
                    let places: Vec<(f64, f64)> = at.iter().map(place).filter(within).collect();
                    let r = if places.len() > 300 { 2.2 } else { 2.9 };
                    canvas.marks(*class, &places, r);
                }
                Layer::Circles { at } => {
                    at.iter().map(place).filter(within).for_each(|p| canvas.ring("ring", p, 5.2));
                }
            }
        }
        canvas.rect("box", left, top, right - left, bottom - top);
        let below = if self.labels.0.is_empty() { 22.0 } else { 42.0 };
        canvas.finish(&self.title, bottom + below)
    }

    /// Draws the classes' names above; how much room they took.
    fn legend(&self, canvas: &mut Canvas) -> f64 {
        if self.names.is_empty() {
            return 6.0;
        }
        let (first, end) = (40.0, WIDTH - 10.0);
        let (mut at, mut line) = (first, 14.0);
        for (k, name) in self.names.iter().enumerate() {
            let name = fitted(name, end - first - 16.0, SIZE);
            let width = 16.0 + text_width(&name);
            if at > first && at + width > end {
                (at, line) = (first, line + 18.0);
            }
            canvas.marks(k, &[(at + 5.0, line - 4.0)], 3.4);
            canvas.text("", (at + 13.0, line), Anchor::Start, &name);
            at += width + 12.0;
        }
        line + 10.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::well_formed;
    use super::*;

    #[test]
    fn layers_are_drawn_and_what_is_outside_is_not() {
        let grid = Grid::of((0.0, 1.0), (0.0, 1.0), 20, 20, |x, y| x - y);
        let layers = vec![
            Layer::Region { grid: grid.clone(), class: 0 },
            Layer::Shades { grid: grid.clone(), levels: vec![0.0, 0.5], class: 1 },
            Layer::Levels { grid, levels: vec![0.0], line: Line::Edge },
            Layer::Points { at: vec![(0.5, 0.5), (7.0, 7.0)], class: 1 },
            Layer::Circles { at: vec![(0.5, 0.5), (7.0, 7.0)] },
        ];
        let plane = Plane {
            names: vec!["in".into(), "out".into()],
            ..Plane::new("p", (0.0, 1.0), (0.0, 1.0), layers)
        };
        let svg = plane.draw().inline();
        assert!(well_formed(&svg), "{svg}");
        assert_eq!(svg.matches("shade").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(svg.contains("\"edge\"") && svg.contains(">out<"));
    }

    #[test]
    fn a_scatter_has_a_layer_a_class() {
        let plane = Plane::scatter("s", &[(0.0, 1.0), (2.0, 3.0), (f64::NAN, 0.0)], &[0, 2, 1], &[]);
        assert_eq!(plane.layers.len(), 3);
        assert!(plane.x.0 < 0.0 && plane.x.1 > 2.0);
        assert!(!plane.draw().inline().contains("NaN"));
        assert_eq!(Plane::range([]), (0.0, 1.0));
    }
}
