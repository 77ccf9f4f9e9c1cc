//! Points of the plane as text.

/// Marks of the classes, in order, then from the start again.
pub(crate) const MARKS: [char; 8] = ['o', '+', '×', '▪', '△', '◇', '*', '•'];

/// The part of the plane that is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    /// The smallest one that holds all points.
    pub(crate) fn around(points: &[(f64, f64)]) -> Self {
        let ends = |value: fn(&(f64, f64)) -> f64| {
            points
                .iter()
                .map(value)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        Frame { x: ends(|p| p.0), y: ends(|p| p.1) }
    }

    /// The cell of a point: column from the left, line from the top.
    fn cell(&self, (x, y): (f64, f64), width: usize, height: usize) -> (usize, usize) {
        let place = |v: f64, (low, high): (f64, f64), cells: usize| {
            let share = if high > low { (v - low) / (high - low) } else { 0.5 };
            ((share * (cells - 1) as f64).round() as usize).min(cells - 1)
        };
        (place(x, self.x, width), height - 1 - place(y, self.y, height))
    }

    /// The point in the middle of a cell.
    pub(crate) fn centre(&self, column: usize, line: usize, width: usize, height: usize) -> [f64; 2] {
        let along = |at: usize, (low, high): (f64, f64), cells: usize| {
            low + (high - low) * at as f64 / (cells - 1).max(1) as f64
        };
        [along(column, self.x, width), along(height - 1 - line, self.y, height)]
    }
}

/// The mark's number in each cell, line by line: that of the class with the most points there.
pub(crate) fn marks(
    points: &[(f64, f64)],
    class: &[u32],
    frame: &Frame,
    width: usize,
    height: usize,
) -> Vec<Option<usize>> {
    let mut votes = vec![[0u32; MARKS.len()]; width * height];
    for (i, &point) in points.iter().enumerate().filter(|(_, p)| p.0.is_finite() && p.1.is_finite()) {
        let (column, line) = frame.cell(point, width, height);
        votes[line * width + column][class.get(i).map_or(0, |&k| k as usize) % MARKS.len()] += 1;
    }
    let most = |votes: &[u32; MARKS.len()]| (0..MARKS.len()).rev().max_by_key(|&k| votes[k]);
    votes.iter().map(|votes| most(votes).filter(|&k| votes[k] > 0)).collect()
}

/// A scatter plot of `(x, y)` pairs, y upwards, with one mark a class; where several fall together the most frequent
/// class shows. `width` and `height` count characters.
///
/// ```
/// use mercer_report::scatter;
/// let lines = scatter(&[(0.0, 0.0), (1.0, 1.0)], &[0, 1], 5, 2);
/// assert_eq!(lines, ["    +", "o    "]);
/// ```
pub fn scatter(points: &[(f64, f64)], class: &[u32], width: usize, height: usize) -> Vec<String> {
    let marks = marks(points, class, &Frame::around(points), width, height);
    marks.chunks(width).map(|line| line.iter().map(|mark| mark.map_or(' ', |k| MARKS[k])).collect()).collect()
}
