//! Charts: series of numbers over an axis, linear or logarithmic.

use super::canvas::{Anchor, Canvas, SIZE, fitted, text_width};
use super::scale::Scale;
use super::{Svg, WIDTH};

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows: read aloud, and shown where a pointer rests.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis at the left.
    pub y: Axis,
    /// What is drawn, in this order.
    pub series: Vec<Series>,
    /// Whether both axes are as long as each other.
    pub square: bool,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it counts.
    pub label: String,
    /// Whether it is logarithmic; values that are not above 0 are then left out.
    pub log: bool,
    /// Its ends; none: so that all values have room.
    pub range: Option<(f64, f64)>,
}

/// Some numbers of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend; empty: not there.
    pub name: String,
    /// Places, in order.
    pub points: Vec<(f64, f64)>,
    /// How it looks.
    pub look: Look,
    /// Which of the eight colours; none: the next.
    pub colour: Option<usize>,
}

/// How a series looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// A line through the points.
    Line,
    /// A broken line: what others are compared with.
    Dashed,
    /// A mark at each point.
    Dots,
    /// A mark at each point, circled.
    Rings,
    /// A column from the axis to each point.
    Bars,
    /// The area between the points and these values at the same x.
    Band(Vec<f64>),
}

impl Axis {
    /// A linear axis with room for all values.
    pub fn new(label: &str) -> Self {
        Axis { label: label.into(), log: false, range: None }
    }

    /// The same, logarithmic.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// The same between these ends.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    fn scale(&self, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        match self.range {
            Some((low, high)) if low < high && (!self.log || low > 0.0) => {
                Scale::new((low, high), self.log, from, to)
            }
            _ => Scale::around(values, self.log, from, to),
        }
    }
}

impl Series {
    /// Points that look in some way.
    pub fn new(name: &str, look: Look, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, look, colour: None }
    }

    /// A line.
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Line, points)
    }

    /// Marks.
    pub fn dots(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Dots, points)
    }

    /// The same in one of the eight colours.
    #[must_use]
    pub fn colour(mut self, colour: usize) -> Self {
        self.colour = Some(colour);
        self
    }
}

const LEFT: f64 = 54.0;
const RIGHT: f64 = 14.0;
const LEGEND_LINE: f64 = 18.0;

impl Chart {
    /// A chart wider than high.
    pub fn new(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Chart { title: title.into(), x, y, series, square: false }
    }

    /// Draws it.
    pub fn draw(&self) -> Svg {
        let mut canvas = Canvas::default();
        let colours = self.colours();
        let top = self.legend(&mut canvas, &colours) + 8.0;
        let right = WIDTH - RIGHT;
        let bottom = top + if self.square { right - LEFT } else { 230.0 };
        let all = || self.series.iter().flat_map(|s| &s.points);
        let bands = self
            .series
            .iter()
            .filter_map(|s| if let Look::Band(other) = &s.look { Some(other) } else { None });
        let bars = self.series.iter().any(|s| s.look == Look::Bars && !self.y.log).then_some(0.0);
        let y = self.y.scale(all().map(|p| p.1).chain(bands.flatten().copied()).chain(bars), bottom, top);
        let left = LEFT.max(gutter(&y, &self.y.label));
        let x = self.x.scale(all().map(|p| p.0), left, right);
        axes(&mut canvas, (&x, &self.x.label), (&y, &self.y.label), (left, right), (top, bottom));
        for (series, colour) in self.series.iter().zip(&colours) {
            series.draw(&mut canvas, *colour, &x, &y, (top, bottom));
        }
        canvas.finish(&self.title, bottom + 42.0)
    }

    fn colours(&self) -> Vec<usize> {
        let mut next = 0;
        let mut pick = |s: &Series| {
            s.colour.unwrap_or_else(|| {
                next += 1;
                next - 1
            }) % 8
        };
        self.series.iter().map(&mut pick).collect()
    }

    /// Draws the names above the chart; how much room they took.
    fn legend(&self, canvas: &mut Canvas, colours: &[usize]) -> f64 {
        let named = self.series.iter().zip(colours).filter(|(s, _)| !s.name.is_empty());
        let (mut at, mut line) = (LEFT, 14.0);
        let mut any = false;
        for (series, &colour) in named {
            let name = fitted(&series.name, WIDTH - RIGHT - LEFT - 20.0, SIZE);
            let width = 20.0 + text_width(&name);
            if any && at + width > WIDTH - RIGHT {
                (at, line) = (LEFT, line + LEGEND_LINE);
            }
            any = true;
            let middle = line - 4.0;
            match series.look {
                Look::Line => canvas.line(&format!("k{colour} line"), (at, middle), (at + 13.0, middle)),
                Look::Dashed => canvas.line(&format!("k{colour} dash"), (at, middle), (at + 13.0, middle)),
                Look::Dots => canvas.marks(colour, &[(at + 6.0, middle)], 3.4),
                Look::Rings => canvas.ring("ring", (at + 6.0, middle), 4.5),
                Look::Bars => canvas.rect(&format!("k{colour} bar"), at, middle - 5.0, 12.0, 10.0),
                Look::Band(_) => canvas.rect(&format!("k{colour} fill"), at, middle - 5.0, 13.0, 10.0),
            }
            canvas.text("", (at + 18.0, line), Anchor::Start, &name);
            at += width + 14.0;
        }
        if any { line + 4.0 } else { 2.0 }
    }
}

/// Between the left axis and its numbers.
const TICK: f64 = 6.0;

/// The room that the numbers of the left axis and its label take.
pub(super) fn gutter(y: &Scale, label: &str) -> f64 {
    let widest = y.ticks(6).iter().map(|(_, word)| text_width(word)).fold(0.0, f64::max);
    let title = if label.is_empty() { 2.0 } else { SIZE + 8.0 };
    title + widest + TICK
}

/// Grid lines, ticks and labels of a frame.
pub(super) fn axes(
    canvas: &mut Canvas,
    (x, x_label): (&Scale, &str),
    (y, y_label): (&Scale, &str),
    (left, right): (f64, f64),
    (top, bottom): (f64, f64),
) {
    // A number that would touch the one before is left out; its grid line stays.
    let mut last = f64::INFINITY;
    for (v, word) in y.ticks(6) {
        canvas.line("grid", (left, y.at(v)), (right, y.at(v)));
        if last - y.at(v) > SIZE + 2.0 {
            canvas.text("", (left - TICK, y.at(v) + 4.0), Anchor::End, &word);
            last = y.at(v);
        }
    }
    let mut last = 0.0;
    for (v, word) in x.ticks(6) {
        canvas.line("grid", (x.at(v), top), (x.at(v), bottom));
        let half = text_width(&word) / 2.0;
        if x.at(v) - half > last {
            // At the right end a number is moved inwards rather than cut off.
            let middle = x.at(v).min(WIDTH - half);
            canvas.text("", (middle, bottom + 16.0), Anchor::Middle, &word);
            last = middle + half;
        }
    }
    canvas.line("box", (left, bottom), (right, bottom));
    canvas.line("box", (left, top), (left, bottom));
    let x_label = fitted(x_label, right - left, SIZE);
    canvas.text("", (f64::midpoint(left, right), bottom + 35.0), Anchor::Middle, &x_label);
    canvas.upwards(12.0, f64::midpoint(top, bottom), &fitted(y_label, bottom - top, SIZE));
}

impl Series {
    fn draw(&self, canvas: &mut Canvas, colour: usize, x: &Scale, y: &Scale, (top, bottom): (f64, f64)) {
        let place = |&(a, b): &(f64, f64)| {
            let (px, py) = (x.at(a), y.at(b));
            // What lies outside a given range is drawn at the frame.
            (px, if py.is_finite() { py.clamp(top, bottom) } else { py })
        };
        let places: Vec<(f64, f64)> = self.points.iter().map(place).collect();
        let finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
        match &self.look {
            Look::Line | Look::Dashed => {
                let class = if self.look == Look::Line { "line" } else { "dash" };
                let parts: Vec<Vec<(f64, f64)>> =
                    places.split(|p| !finite(p)).map(<[(f64, f64)]>::to_vec).collect();
                canvas.lines(&format!("k{colour} {class}"), &parts, false);
            }
            Look::Dots => {
                let r = if places.len() > 400 { 2.0 } else { 2.8 };
                canvas.marks(colour, &places, r);
            }
            Look::Rings => places.iter().filter(|p| finite(p)).for_each(|&p| canvas.ring("ring", p, 5.0)),
            Look::Bars => {
                let step = places.windows(2).map(|w| (w[1].0 - w[0].0).abs()).fold(24.0, f64::min);
                for &(px, py) in places.iter().filter(|p| finite(p)) {
                    let base = y.base();
                    let width = (0.72 * step).max(1.0);
                    canvas.rect(
                        &format!("k{colour} bar"),
                        px - width / 2.0,
                        py.min(base),
                        width,
                        (py - base).abs(),
                    );
                }
            }
            Look::Band(other) => {
                let back = self.points.iter().zip(other).rev().map(|(&(a, _), &b)| place(&(a, b)));
                let ring: Vec<(f64, f64)> = places.iter().copied().chain(back).filter(finite).collect();
                canvas.lines(&format!("k{colour} fill"), &[ring], true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::well_formed;
    use super::*;

    #[test]
    fn every_look_is_drawn_and_named() {
        let line: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), f64::from(i * i))).collect();
        let band = Look::Band(line.iter().map(|p| p.1 + 9.0).collect());
        let looks = [Look::Line, Look::Dashed, Look::Dots, Look::Rings, Look::Bars, band];
        let series =
            looks.into_iter().enumerate().map(|(i, look)| Series::new(&format!("<{i}>"), look, line.clone()));
        let svg =
            Chart::new("All", Axis::new("x"), Axis::new("y").log(), series.collect()).draw().standalone();
        assert!(well_formed(&svg), "{svg}");
        for part in ["&lt;5&gt;", "k0 line", "k1 dash", "k2 dot", "\"ring\"", "k4 bar", "k5 fill"] {
            assert!(svg.contains(part), "{part}");
        }
    }

    #[test]
    fn nothing_and_nonsense_make_a_chart_too() {
        for points in
            [vec![], vec![(f64::NAN, 1.0)], vec![(1.0, f64::INFINITY), (0.0, -1.0)], vec![(5.0, 5.0)]]
        {
            for look in [Look::Line, Look::Dots, Look::Bars, Look::Band(vec![])] {
                let chart = Chart::new(
                    "",
                    Axis::new("").log(),
                    Axis::new("").log(),
                    vec![Series::new("a", look, points.clone())],
                );
                let svg = chart.draw().inline();
                assert!(well_formed(&svg) && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }
}
