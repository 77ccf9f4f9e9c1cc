//! Lines of equal value and regions above a value, of a function known on a grid: marching squares.
//!
//! Each cell between four nodes is crossed by at most two segments, which keep the larger values on their left; so the
//! end of one is the start of another, and following them gives whole lines. Saddles are decided by the cell's mean.

use std::collections::HashMap;

/// Values of a function at the nodes of a grid over a rectangle.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    x: (f64, f64),
    y: (f64, f64),
    columns: usize,
    values: Vec<f64>,
}

/// A place in the plane of the data.
pub(super) type Place = (f64, f64);

impl Grid {
    /// The nodes of a grid, `x, y, x, y, ...`, row by row from the lowest y on: where the function is to be known.
    pub fn nodes(x: (f64, f64), y: (f64, f64), columns: usize, rows: usize) -> Vec<f64> {
        let along = |(low, high): (f64, f64), i: usize, n: usize| {
            low + (high - low) * i as f64 / (n.max(2) - 1) as f64
        };
        let row = |j: usize| (0..columns).flat_map(move |i| [along(x, i, columns), along(y, j, rows)]);
        (0..rows).flat_map(row).collect()
    }

    /// Values at [`Grid::nodes`].
    ///
    /// # Panics
    /// If the values are not whole rows, or fewer than two rows or columns.
    pub fn new(x: (f64, f64), y: (f64, f64), columns: usize, values: Vec<f64>) -> Self {
        assert!(columns > 1 && values.len().is_multiple_of(columns) && values.len() > columns, "whole rows");
        Grid { x, y, columns, values }
    }

    /// A function by its formula.
    ///
    /// ```
    /// use mercer_report::svg::Grid;
    /// let saddle = Grid::of((-1.0, 1.0), (-1.0, 1.0), 50, 50, |x, y| x * y);
    /// assert_eq!(saddle.range(), (-1.0, 1.0));
    /// ```
    pub fn of(
        x: (f64, f64),
        y: (f64, f64),
        columns: usize,
        rows: usize,
        f: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let values = Self::nodes(x, y, columns, rows).chunks(2).map(|p| f(p[0], p[1])).collect();
        Self::new(x, y, columns, values)
    }

    /// The smallest and the largest finite value.
    pub fn range(&self) -> (f64, f64) {
        let finite = self.values.iter().filter(|v| v.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)))
    }

    /// The same with each value changed.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Grid { values: self.values.iter().map(|v| f(*v)).collect(), ..self.clone() }
    }

    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Lines along which the value is `level`; closed ones end where they start.
    pub(super) fn lines(&self, level: f64) -> Vec<Vec<Place>> {
        Field { grid: self, level, rim: false }.trace()
    }

    /// The outlines of the parts above `level`, those of holes in the other sense; all closed.
    pub(super) fn above(&self, level: f64) -> Vec<Vec<Place>> {
        Field { grid: self, level, rim: true }.trace()
    }
}

/// A grid at a level. With a rim, a frame of nodes that are below the level and lie on the border itself is around it.
struct Field<'a> {
    grid: &'a Grid,
    level: f64,
    rim: bool,
}

impl Field<'_> {
    fn size(&self) -> (usize, usize) {
        let rim = 2 * usize::from(self.rim);
        (self.grid.columns + rim, self.grid.rows() + rim)
    }

    /// A node's place, its value and whether it is above the level.
    fn node(&self, i: usize, j: usize) -> (Place, f64) {
        let (g, (columns, rows)) = (self.grid, self.size());
        let rim = usize::from(self.rim);
        let inside = |k: usize, n: usize| (k.max(rim) - rim).min(n - 1);
        let (ci, cj) = (inside(i, g.columns), inside(j, g.rows()));
        let along =
            |(low, high): (f64, f64), k: usize, n: usize| low + (high - low) * k as f64 / (n - 1) as f64;
        let place = (along(g.x, ci, g.columns), along(g.y, cj, g.rows()));
        let on_rim = self.rim && (i == 0 || j == 0 || i + 1 == columns || j + 1 == rows);
        (place, if on_rim { self.level - 1.0 } else { g.values[cj * g.columns + ci] })
    }

    /// Where the edge of this number crosses the level.
    fn crossing(&self, edge: usize) -> Place {
        let columns = self.size().0;
        let (i, j) = (edge / 2 % columns, edge / 2 / columns);
        let (a, va) = self.node(i, j);
        let (b, vb) = if edge.is_multiple_of(2) { self.node(i + 1, j) } else { self.node(i, j + 1) };
        let t = (self.level - va) / (vb - va);
        let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.5 };
        (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1))
    }

    /// Segments from edge to edge. Edge `2 (j columns + i)` goes right from node (i, j), the next number up from it.
    fn segments(&self) -> HashMap<usize, usize> {
        let (columns, rows) = self.size();
        let mut next = HashMap::new();
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let value = [
                    self.node(i, j).1,
                    self.node(i + 1, j).1,
                    self.node(i + 1, j + 1).1,
                    self.node(i, j + 1).1,
                ];
                let case = (0..4).fold(0, |case, c| case | usize::from(value[c] > self.level) << c);
                let at = j * columns + i;
                let (b, l, r, t) = (2 * at, 2 * at + 1, 2 * at + 3, 2 * (at + columns));
                let full = value.iter().sum::<f64>() / 4.0 > self.level;
                let found: &[(usize, usize)] = match case {
                    1 => &[(b, l)],
                    2 => &[(r, b)],
                    3 => &[(r, l)],
                    4 => &[(t, r)],
                    5 if full => &[(b, r), (t, l)],
                    5 => &[(b, l), (t, r)],
                    6 => &[(t, b)],
                    7 => &[(t, l)],
                    8 => &[(l, t)],
                    9 => &[(b, t)],
                    10 if full => &[(l, b), (r, t)],
                    10 => &[(r, b), (l, t)],
                    11 => &[(r, t)],
                    12 => &[(l, r)],
                    13 => &[(b, r)],
                    14 => &[(l, b)],
                    _ => &[],
                };
                next.extend(found.iter().copied());
            }
        }
        next
    }

    fn trace(&self) -> Vec<Vec<Place>> {
        let mut next = self.segments();
        let ends: std::collections::HashSet<usize> = next.values().copied().collect();
        let mut starts: Vec<usize> = next.keys().copied().collect();
        // Open lines first, from their loose end; what is left are rings.
        starts.sort_unstable_by_key(|edge| (ends.contains(edge), *edge));
        let mut lines = Vec::new();
        for start in starts {
            let mut at = start;
            let mut line = Vec::new();
            while let Some(to) = next.remove(&at) {
                if line.is_empty() {
                    line.push(self.crossing(at));
                }
                line.push(self.crossing(to));
                at = to;
            }
            if !line.is_empty() {
                lines.push(line);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_testkit::assert::close;

    fn area(lines: &[Vec<Place>]) -> f64 {
        let ring =
            |line: &Vec<Place>| line.windows(2).map(|w| w[0].0 * w[1].1 - w[1].0 * w[0].1).sum::<f64>() / 2.0;
        lines.iter().map(ring).sum()
    }

    #[test]
    fn a_circle_is_one_ring_of_the_right_size() {
        let grid = Grid::of((-2.0, 2.0), (-2.0, 2.0), 81, 61, |x, y| 1.0 - x * x - y * y);
        let lines = grid.lines(0.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        for (x, y) in &lines[0] {
            close(x.hypot(*y), 1.0, 2e-3);
        }
        close(area(&grid.above(0.0)), std::f64::consts::PI, 0.01);
        // The other side: the square without the disc.
        close(area(&grid.map(|v| -v).above(0.0)), 16.0 - std::f64::consts::PI, 0.01);
    }

    #[test]
    fn regions_are_cut_at_the_border_and_lines_end_there() {
        let slope = Grid::of((0.0, 1.0), (0.0, 2.0), 11, 7, |x, _| x - 0.25);
        let lines = slope.lines(0.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|p| (p.0 - 0.25).abs() < 1e-12));
        close(area(&slope.above(0.0)), 1.5, 1e-12);
        close(area(&slope.above(-9.0)), 2.0, 1e-12);
        assert!(slope.above(9.0).is_empty() && slope.lines(9.0).is_empty());
    }

    #[test]
    fn saddles_and_values_that_are_none_do_no_harm() {
        let board =
            Grid::new((0.0, 2.0), (0.0, 2.0), 3, vec![1.0, -0.5, 1.0, -0.5, 1.0, -0.5, 1.0, -0.5, 1.0]);
        let both = area(&board.above(0.0)) + area(&board.map(|v| -v).above(0.0));
        close(both, 4.0, 1e-12);
        let odd = board.map(|v| if v > 0.0 { f64::NAN } else { v });
        assert!(odd.lines(0.0).iter().flatten().all(|p| p.0.is_finite() && p.1.is_finite()));
    }
}
